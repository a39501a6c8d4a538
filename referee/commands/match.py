"""``referee schedule``, ``export``, ``journal`` and ``backup``: matches on paper and in files."""

from contextlib import closing
from functools import partial
from pathlib import Path

import click

from referee.commands.named_files import writing
from referee.commands.options import names_in
from referee.errors import JournalDamaged, RefereeError
from referee.journal import export as exports
from referee.journal.backup import back_up, restore
from referee.journal.chain import Entry
from referee.journal.export import export_game, is_game
from referee.journal.file_lock import private_files
from referee.journal.journal import Journal
from referee.journal.recovery import check_journal, salvage
from referee.journal.seeds import check_seed
from referee.match.evolve import fold
from referee.match.house_rules import load_rules, rules_toml
from referee.match.schedule import player_letter, schedule_text
from referee.web.i18n.texts import command_sentence, line_words

JOURNAL = click.option(
    "--journal",
    "-j",
    envvar="REFEREE_JOURNAL",
    default="referee-data/journal.db",
    show_default=True,
    metavar="FILE|URL",
    help="The record: an SQLite file or postgresql://…",
)


FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


class BadArgument(RefereeError):
    """A command line that asks for what is not there."""


def open_journal(where: str) -> Journal:
    """The existing record, to be read and left as it is. Raises BadArgument when there is no such file."""
    if "://" not in where and not Path(where).is_file():
        raise BadArgument(f"{where}: no such journal")
    return Journal(where, reading=True)


@click.command()
@click.argument("number", type=int)
@click.option("--players", help="Names, youngest first, with commas between.")
@click.option("--rules", type=click.Path(exists=True, dir_okay=False), help="A house_rules.toml.")
def schedule(number: int, players: str | None, rules: str | None) -> None:
    """Print who meets whom in a match of NUMBER players."""
    names = names_in(players) if players else [player_letter(i) for i in range(number)]
    if len(names) != number:
        raise BadArgument(f"{number} players, but {len(names)} names")
    click.echo(schedule_text(names, load_rules(rules).duels_per_round if rules else 3))


@click.command()
@click.argument("match_id", metavar="[MATCH]", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "csv", "html", "sheet"]),
    default="json",
    show_default=True,
    help="sheet: a score sheet to print and sign (HTML).",
)
@JOURNAL
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write here, not to the screen.")
def export(match_id: str | None, form: str, journal: str, out: Path | None) -> None:
    """Write a MATCH out of the record; without MATCH, list what the record holds.

    Of what is not over only what its board shows is written.
    """
    with closing(open_journal(journal)) as store:
        if match_id is None:
            click.echo("\n".join(exports.match_listing(store)))
            return
        entries = store.entries(match_id)
    if not entries:
        raise BadArgument(f"{journal}: no match {match_id!r}")
    if is_game(entries):
        write_output(export_game(form, entries, partial(command_sentence, "en"), partial(line_words, "en")), out)
    else:
        write_output(exports.FORMATS[form](fold(e.event for e in entries), entries), out)


def write_output(content: str, out: Path | None) -> None:
    """Write to the file or the screen. Raises RefereeError when the file cannot be written."""
    if out is None:
        click.echo(content, nl=False)
        return
    with writing(out):
        out.write_text(content, encoding="utf-8")


@click.group()
def journal() -> None:
    """Check the record, or get back what a damaged one still proves."""


@journal.command()
@JOURNAL
def verify(journal: str) -> None:
    """Check every event against the chain, and every shuffle against the seed; name the first that is wrong."""
    with closing(open_journal(journal)) as store:
        for match_id, count in check_journal(store).items():
            try:
                seed = ", shuffled by the seed that was promised" if check_seed(store.events(match_id)) else ""
            except JournalDamaged as error:
                raise JournalDamaged(f"{journal}: match {match_id}: {error}") from None
            click.echo(f"{match_id}: {count} events, sound{seed}, last hash {store.head(match_id)[1][:16]}")


@journal.command("salvage")
@click.argument("damaged", type=click.Path(exists=True, dir_okay=False))
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--confirm", "who", help="Your name: offers what lies beyond a gap, for you to confirm.")
def salvage_(damaged: str, target: str, who: str | None) -> None:
    """Write what the DAMAGED journal file and its second copy still prove into the new journal TARGET."""

    def confirm(match_id: str, kept: int, rest: list[Entry]) -> str | None:
        click.echo(f"match {match_id}: {kept} events are kept, then {rest[0].seq - kept - 1} are gone, then come:")
        for entry in rest:
            click.echo(f"  {entry.seq}  {entry.event.at}  {entry.event.kind}  {entry.event.who}")
        return who if click.confirm("Did it happen so?") else None

    with private_files():
        click.echo(salvage(damaged, target, f"read {damaged}", confirm if who else None).text())


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--data-dir", type=FOLDER, default="referee-data", show_default=True, help="The folder to copy.")
def backup(file: Path, data_dir: Path) -> None:
    """Copy records, people and settings into the tar FILE, as they are at one moment; a match may be running.

    Recordings are left out: copy their folder as it is. FILE holds names and the key of the pages: keep it to yourself.
    A record on a PostgreSQL server is copied with pg_dump.
    """
    click.echo(f"{file}: {len(back_up(data_dir, file))} files of {data_dir}, without recordings")


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
def restore_(file: Path, folder: Path) -> None:
    """Unpack the backup FILE into the new or empty FOLDER, and check its records."""
    click.echo(restore(file, folder))


@click.command()
def rules() -> None:
    """Print a house_rules.toml with every setting, its question and its default."""
    click.echo(rules_toml(), nl=False)
