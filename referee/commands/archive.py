"""``referee attempts``: the archive of recorded duels as a whole."""

import tempfile
import webbrowser
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import click

from referee.commands.options import BrowsedOptions, argument, takes_options
from referee.commands.progress import Bar
from referee.errors import BadAttempt
from referee.recording import find_attempts, load_attempt
from referee.recording.address import Mirror, is_address
from referee.recording.folder import SIGNATURE
from referee.recording.index import ArchiveFilter, Index
from referee.review.signing import load_private, new_key, sign
from referee.review.verify import changed_files


@click.group()
def attempts() -> None:
    """The archive of recorded duels: its pages, its index; keys and signatures."""


@attempts.command()
@click.argument("archive", type=click.Path(path_type=Path), default=Path("referee-data") / "attempts")
@click.option("--anew", is_flag=True, help="Read every attempt again, whatever the index knows.")
def index(archive: Path, anew: bool) -> None:
    """Bring the index of ARCHIVE up to date: every attempt that has come, gone or changed.

    Pages, filters and the disk budget ask the index, and keep it up as they write; this is for an archive that was
    copied here or changed by hand. Interrupted, it goes on where it was.
    """
    if not archive.is_dir():
        raise BadAttempt(f"{archive}: no such folder")
    with closing(Index(archive)) as known:
        try:
            if anew:
                known.rows("DELETE FROM attempts")
            with Bar(unit="attempt") as bar:
                known.refresh(thorough=True, enough=bar.show)
            if known.file is None:
                click.echo(f"referee: {archive}: takes no index; every program will read the attempts again", err=True)
            click.echo(_said(known))
        except KeyboardInterrupt:
            click.echo("referee: interrupted; the same command goes on", err=True)
            raise click.exceptions.Exit(130) from None


def _said(known: Index) -> str:
    unread = known.rows("SELECT count(*) FROM attempts WHERE listed = 0")[0][0]
    said = f"{known.count(ArchiveFilter())} attempts, {known.total_bytes() / 1e9:.1f} GB"
    return f"{said}; {unread} that cannot be read" if unread else said


@attempts.command()
@click.argument("private", type=click.Path(path_type=Path))
def key(private: Path) -> None:
    """Make an operator's key pair: PRIVATE, to keep, and PRIVATE.pub, to give away."""
    click.echo(f"{private}: keep it to yourself; sign with it by run --sign-with or attempts sign")
    click.echo(f"{new_key(private)}: give it to whoever shall check, by verify --key")


@attempts.command("sign")
@click.argument("private", type=click.Path(path_type=Path))
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
def sign_(private: Path, folders: tuple[Path, ...]) -> None:
    """Sign the whole attempts in FOLDERS with the operator's key PRIVATE; what is not whole is refused."""
    operator, refused = load_private(private), 0
    for folder in (found for place in folders for found in find_attempts(place)):
        (folder / SIGNATURE).unlink(missing_ok=True)
        attempt = load_attempt(folder)
        faults = changed_files(attempt) if attempt.meta.get("hashes") else ["it was never closed"]
        refused += bool(faults)
        if not faults:
            sign(folder, operator)
        click.echo(f"{folder.name}  " + (f"not signed: {'; '.join(faults)}" if faults else "signed"))
    if refused:
        raise click.exceptions.Exit(1)


@dataclass(frozen=True, kw_only=True)
class ShowOptions(BrowsedOptions):
    """What ``attempts show`` may be asked for."""

    archive: str = argument(default=str(Path("referee-data") / "attempts"))


@attempts.command()
@takes_options(ShowOptions)
def show(asked: ShowOptions) -> None:
    """Look at ARCHIVE, a folder or an address (s3://…), in the browser, without a table; until Ctrl-C.

    Of an archive at an address the records are brought here, and of what is looked at the rest; notes go back.
    """
    from referee.commands.serving import interrupted, page_server, pin_for  # here: signing needs no dashboard
    from referee.web.app import create_archive_app

    with ExitStack() as stack:
        over = stack.enter_context(interrupted())
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="referee-")))
        place, mirror = _brought(asked.archive, scratch / "attempts")
        app = create_archive_app(place, scratch, pin_for(asked, "referee's", scratch), asked.host, mirror)
        address = stack.enter_context(page_server(app, asked)) + "attempts"
        click.echo(f"attempts: {address}")
        if not asked.no_browser:
            webbrowser.open(address)
        over.wait()


def _brought(archive: str, root: Path) -> tuple[Path, Mirror | None]:
    """The folder of the archive, and what fills it under ``root`` where it lies elsewhere. Raises BadAttempt."""
    archive = archive.removeprefix("file://")
    if is_address(archive):
        mirror = Mirror(archive, root)
        with Bar(unit="attempt") as bar:
            mirror.refresh(bar.show)
        return root, mirror
    if not Path(archive).is_dir():
        raise BadAttempt(f"{archive}: no such folder")
    return Path(archive).resolve(), None
