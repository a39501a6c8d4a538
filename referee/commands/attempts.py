"""``referee rejudge``, ``keep``, ``import`` and ``timeline``: recorded attempts from the command line."""

import json
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import click

from cards.sentences import sentence
from referee.commands.named_files import DECK_HELP, DeckFile
from referee.commands.options import argument, option, takes_options
from referee.commands.progress import Bar
from referee.errors import BadAttempt
from referee.journal.chain import Entry
from referee.journal.journal import Journal
from referee.match.foul import foul_sentence
from referee.recording import Attempt, load_attempt
from referee.recording.address import AttemptSource, attempt_sources, fetched_attempt, text_beside
from referee.recording.folder import AT_GO, CAMERA, DECK, EMPTY, META, PALETTE, PIECES, PLACED, STOP, TORN, write_json
from referee.recording.retention import LOG as RETENTION
from referee.recording.retention import parse_removals
from referee.recording.writer import truncation_record
from referee.review.batch import Interrupted
from referee.review.batch import rejudge as judge_all
from referee.review.import_video import ImportOptions, broken_words, import_video
from referee.review.options import RejudgeOptions
from referee.review.report import write_report
from referee.review.signing import load_public
from referee.review.timeline import pace, stored_timeline
from referee.review.verify import Checked, missing_attempts, sealed_at_table_of
from referee.review.verify import verify as check
from referee.web.i18n.texts import WRITTEN, translate

ATTEMPTS = click.argument("attempts", nargs=-1, required=True)
"""Paths and addresses: what they are is found out in ``referee.recording.address``."""

UNVOUCHED, IMPORTED = 3, 4
"""Exit status of ``verify`` where every attempt is consistent in itself and nothing outside vouches for one or for what
was said of it later; and where nothing ever sealed one, because it was imported."""

FILE = click.Path(exists=True, dir_okay=False, resolve_path=True)
DECK_FILE = DeckFile(exists=True, dir_okay=False, resolve_path=True)


@dataclass(frozen=True, kw_only=True)
class Rejudging:
    """What ``rejudge`` may be asked for."""

    attempts: tuple[str, ...] = argument(nargs=-1, required=True)
    deck: str | None = option(type=DECK_FILE, help="Judge against this deck's cards of the same ids.")
    rules: str | None = option(type=FILE, help="Award by these house rules (house_rules.toml).")
    palette: str | None = option(type=FILE, help="See colours by this palette instead of the recorded one.")
    look: bool | None = option(
        "--look/--stored",
        default=None,
        help="Look at the pixels again, or apply the rules to the builds as understood then. "
        "Default: look, unless only --deck or --rules differ.",
    )
    watch: bool = option(is_flag=True, help="Read the videos anew too: did it fall after Stop, by itself?")
    jobs: int | None = option("-j", "--jobs", type=click.IntRange(1), help="Processes (default: one a core).")
    eye: str = option(
        default=RejudgeOptions.eye,
        show_default=False,
        metavar="MODULE:FUNCTION",
        help="See with this function instead of the program's own vision; see referee.review.options.RejudgeOptions.",
    )
    out: Path = option(
        "-o",
        "--out",
        type=click.Path(path_type=Path),
        default=Path("rejudged"),
        help="Folder for the report and for going on after an interruption.",
    )

    @property
    def options(self) -> RejudgeOptions:
        """How each attempt is to be judged."""
        look = self.palette is not None or not (self.deck or self.rules) if self.look is None else self.look
        return RejudgeOptions(look, self.watch, self.deck, self.rules, self.palette, self.eye)


@click.command()
@takes_options(Rejudging)
def rejudge(asked: Rejudging) -> None:
    """Judge ATTEMPTS again: attempt folders, zip bundles, archives of them. Nothing recorded is altered.

    Each may be an address, s3://bucket/archive say. Exit status 1 when one could not be judged: the same command tries
    those again, and no others.
    """
    with tempfile.TemporaryDirectory(prefix="referee-") as temporary:
        every = gather_attempts(asked.attempts, Path(temporary))
        with Bar(total=len(every), unit="attempt") as bar:
            try:
                rows = judge_all(every, asked.options, asked.out, asked.jobs, lambda n, _: bar.update(n - bar.n))
            except Interrupted as stop:
                click.echo(f"referee: {stop}", err=True)
                raise click.exceptions.Exit(130) from None
        found = write_report(rows, asked.out)
        rows.close()
    _say(found, asked.out)
    if found["problems"]:
        raise click.exceptions.Exit(1)


def gather_attempts(places: tuple[str, ...], temporary: Path) -> list[AttemptSource]:
    """The attempts that the arguments name, each once. Raises BadAttempt naming a bad argument."""
    found: dict[str, AttemptSource] = {}
    for n, place in enumerate(places):
        found |= {source.address: source for source in attempt_sources(place, temporary / str(n))}
    return list(found.values())


def _say(found: dict, out: Path) -> None:
    for row in found["changes"]:
        zones = ", ".join(f"{z} {_word(p['was'])} -> {_word(p['now'])}" for z, p in row["zones"].items())
        click.echo(
            f"{row['attempt']}  {row['card']}  {zones}  card to {row['award_was'] or 'nobody'}"
            f" -> {row['award_now'] or 'nobody'}"
        )
    for fault in found["faults"]:
        click.echo(f"{fault['attempt']}  not judged: {fault['problem']}", err=True)
    click.echo(
        "{attempts} attempts, {changed} changed, {awards_moved} cards moved, {problems} not judged".format_map(found)
    )
    click.echo(out / "report.html")


def _word(row: dict | None) -> str:
    return row["verdict"] if row else "not seen"


TRUTH = "truth.json"


def expected_rulings(attempt: Attempt, said: Mapping[str, str]) -> dict[str, str]:
    """Zone -> the right ruling: what is ``said``, else a human's ruling, else the recorded verdict."""
    right = {z: row["verdict"] for z, row in attempt.verdicts.items()}
    reviewed = [r for r in attempt.reviews() if r.get("kind") == "ruling"]
    for ruling in [*(attempt.meta.get("human") or ()), *reviewed]:
        zone = ruling.get("zone") or attempt.caller
        if zone and ruling.get("ruling") in ("match", "mismatch"):
            right[zone] = ruling["ruling"]
    return right | dict(said)


def keep_case(attempt: Attempt, golden: Path, said: Mapping[str, str]) -> Path:
    """Copy what judging needs, and the right rulings as ``truth.json``, under ``golden``; gives the folder.

    The video stays behind, so it is small enough to commit. Raises BadAttempt when the case is there already or nothing
    was ruled.
    """
    right, target = expected_rulings(attempt, said), golden / attempt.name
    if not right:
        raise BadAttempt(f"{attempt.folder}: no verdict to keep, say what is right with --expect")
    if target.exists():
        raise BadAttempt(f"{target}: is there already")
    target.mkdir(parents=True)
    judged = [n for row in attempt.meta.get("judged") or () for n in row["files"]] or [STOP]
    for name in [*judged, CAMERA, PALETTE, PIECES, DECK, EMPTY, AT_GO, PLACED]:
        if (attempt.folder / name).exists():
            shutil.copyfile(attempt.folder / name, target / name)
    kept = ("card", "zones", "judged", "verdicts", "stop", "rules", "findings", "simulated", "versions")
    write_json(
        target / META,
        {k: attempt.meta[k] for k in kept if k in attempt.meta} | truncation_record(sentence("cut_kept")),
    )
    write_json(target / TRUTH, {"card": attempt.meta["card"], "expected": right})
    return target


@click.command()
@click.argument("attempt", type=click.Path(path_type=Path))
@click.argument("golden", type=click.Path(path_type=Path))
@click.option(
    "--expect",
    multiple=True,
    metavar="ZONE=RULING",
    help="What is right, where the record is not: A=match, B=mismatch. "
    "Default: a human's ruling, else the recorded verdict.",
)
def keep(attempt, golden, expect) -> None:
    """Keep ATTEMPT's judged frames and the right verdict under GOLDEN as a regression test."""
    click.echo(keep_case(load_attempt(attempt), golden, dict(_pair(text) for text in expect)))


def _pair(text: str) -> tuple[str, str]:
    zone, _, ruling = text.partition("=")
    if ruling not in ("match", "mismatch", "undecided"):
        raise BadAttempt(f"--expect {text}: write ZONE=match, ZONE=mismatch or ZONE=undecided")
    return zone, ruling


def _player(text: str) -> tuple[str, str]:
    zone, _, name = text.partition("=")
    if not zone or not name:
        raise BadAttempt(f"--player {text}: write ZONE=NAME, A=Ann say")
    return zone, name


def film_time(text: str) -> float:
    """Seconds in a film, also written as m:ss or h:mm:ss. Raises BadParameter."""
    try:
        return sum(float(part) * 60.0**n for n, part in enumerate(reversed(str(text).split(":"))))
    except ValueError:
        raise click.BadParameter(f"{text!r} is no time: write seconds, m:ss or h:mm:ss") from None


@dataclass(frozen=True, kw_only=True)
class Importing:
    """What ``import`` may be asked for."""

    video: Path = argument(type=click.Path(exists=True, path_type=Path))
    card: str | None = option(help="Id of the card that was built.")
    stop: float | None = option(type=film_time, metavar="TIME", help="Video time of the Stop: seconds, or h:mm:ss.")
    go: float | None = option(type=film_time, metavar="TIME", help="Video time of the go (default 0, or --from).")
    begin: float | None = option(
        "--from", type=film_time, metavar="TIME", help="Read from here (default: before the go)."
    )
    end: float | None = option(
        "--to", type=film_time, metavar="TIME", help="Read up to here (default: after the Stop)."
    )
    zone: str | None = option(help="Zone whose player called Stop.")
    players: tuple[str, ...] = option("--player", multiple=True, metavar="ZONE=NAME")
    deck: str | None = option(type=DECK_FILE, help=DECK_HELP)
    pieces: str | None = option(type=FILE)
    camera: str | None = option(type=FILE)
    palette: str | None = option(type=FILE)
    empty: str | None = option(type=FILE, help="A picture of the rig with nothing on the mats.")
    no_empty: bool = option(is_flag=True, help="Take no such picture from beside the video either.")
    colors: str | None = option(
        type=FILE, help="A picture of the rig with every piece standing apart: colours are learnt."
    )
    out: Path | None = option(
        "-o",
        "--out",
        type=click.Path(path_type=Path),
        help="Attempt folder to make (default: attempts/ and the video's name).",
    )

    @property
    def given(self) -> ImportOptions:
        """What is said of the video."""
        files = {
            "deck.json": self.deck,
            "pieces.json": self.pieces,
            "camera.yaml": self.camera,
            "palette.json": self.palette,
            "empty.png": self.empty,
        }
        players = dict(map(_player, self.players))
        part = self.begin, self.end
        return ImportOptions(self.card, self.stop, self.go, self.zone, players, files, self.colors, self.no_empty, part)


@click.command("import")
@takes_options(Importing)
def import_(asked: Importing) -> None:
    """Make an attempt of VIDEO (or of a folder that holds video.mp4), so that it can be judged.

    What is not given is taken from the files beside the video, as an attempt folder names them. Of a long film only the
    part around the duel is kept; all times count from the film's first picture.
    """
    default = Path("attempts") / (asked.video.name if asked.video.is_dir() else asked.video.stem)
    with Bar(unit="frame", leave=False) as bar:
        attempt = import_video(asked.video, asked.given, asked.out or default, lambda: bar.update())
    if late_s := attempt.meta["imported"]["starts_late_s"]:
        said = f"the first picture comes {late_s:.2f} s into the file; --stop and all times count from that picture"
        click.echo(f"referee: {said}", err=True)
    if broken := attempt.meta["imported"]["broken"]:
        click.echo(f"referee: the film is {broken_words(broken)}: nothing in there counts", err=True)
    if not attempt.meta["judged"][0]["unobstructed"]:
        click.echo("referee: no still view without hands after the Stop; the best there is was judged", err=True)
    for z, row in attempt.verdicts.items():
        click.echo(
            f"{z}: {row['verdict']} {row.get('confidence', 0):.2f} "
            + "; ".join([*(attempt.meta["findings"].get(z, ())), *(r["text"] for r in row.get("reasons", ()))])
        )
    click.echo(attempt.folder)


@click.command()
@ATTEMPTS
@click.option("--json", "as_json", is_flag=True, help="One JSON object an attempt.")
def timeline(attempts, as_json) -> None:
    """What happened when in ATTEMPTS, read from their videos; for several also the players' pace."""
    told: list[tuple[Attempt, dict]] = []
    with tempfile.TemporaryDirectory(prefix="referee-") as temporary, Bar(unit="frame", leave=False) as bar:
        for source in gather_attempts(attempts, Path(temporary)):
            with fetched_attempt(source) as folder:
                attempt = load_attempt(folder)
                told.append((attempt, stored_timeline(attempt, lambda: bar.update())))
    for attempt, story in told:
        if as_json:
            click.echo(json.dumps({"attempt": attempt.name, **story}, ensure_ascii=False))
        else:
            click.echo(f"{attempt.name}  card {attempt.meta['card']}")
            for seconds, zone, text in sorted(_events(attempt, story)):
                click.echo(f"{seconds:8.2f} s  {zone:1}  {text}")
    if not as_json:
        _say_pace(told)


def _events(attempt: Attempt, story: Mapping) -> list[tuple[float, str, str]]:
    """(video time, zone or nothing, what happened) of an attempt and its time line."""
    found = [
        (s, z or "", text)
        for s, z, text in ((attempt.go_s, None, "go"), (attempt.stop_s, attempt.caller, "Stop"))
        if s is not None
    ]
    for zone, rows in story["zones"].items():
        for piece in rows["placed"]:
            unsure = f" (within {piece['within_s']:.1f} s: a hand hid the place)" if piece["within_s"] else ""
            found.append((piece["seconds"], zone, f"placed {piece['color']} {piece['shape'] or 'piece'}{unsure}"))
        found += [(came, zone, f"hand over the field until {left:.2f} s") for came, left in rows["hands"]]
    for foul in story.get("fouls", ()):
        whose = f", the hand of {foul['culprit']}" if foul["culprit"] not in (None, foul["zone"]) else ""
        text = f"proposed foul: {foul_sentence(foul['kind'], foul['zone'])}{whose}, {100 * foul['sure']:.0f} % sure"
        found.append((foul["seconds"], foul["zone"], text))
    told = ((row, translate(WRITTEN, f"finding.{row['finding']}")) for row in story.get("findings", ()))
    found += [(row["seconds"], row["zone"], f"finding: {said}") for row, said in told]
    return found


def _say_pace(told: list[tuple[Attempt, dict]]) -> None:
    for row in pace((a.players, a.go_s, a.stop_s, story) for a, story in told):
        seconds = {k: "–" if row[k] is None else f"{row[k]:.1f} s" for k in row if k.endswith(("_s", "_piece"))}
        click.echo(
            f"{row['player']}: {row['duels']} duels, {row['pieces']} pieces, {seconds['seconds_per_piece']} a "
            f"piece, idle {seconds['idle_s']}, first touch {seconds['first_touch_s']} after the go"
        )


@click.command()
@ATTEMPTS
@click.option("--journal", "journal_at", type=FILE, help="The table's record: the seal must be in it too.")
@click.option("--key", type=FILE, help="The operator's public key: each must be signed with it.")
def verify(attempts: tuple[str, ...], journal_at: str | None, key: str | None) -> None:
    """Is every one of ATTEMPTS (folders, zip bundles, archives) what was recorded? Is one missing? Offline.

    Exit status 0: whole, and the journal or the key vouches for it; 3: consistent in itself, but nothing
    outside vouches for it, because neither --journal nor --key is given, or for what was said of it later; 4: imported,
    so that nothing ever sealed it; 1: changed, not sealed, or missing. What was sealed in a match and is not in the
    archive is missing, unless its retention.jsonl says that it was removed.
    """
    signer, found = load_public(Path(key)) if key else None, dict[str, list[Checked]]()
    with tempfile.TemporaryDirectory(prefix="referee-") as temporary, ExitStack() as opened:
        journal = opened.enter_context(closing(Journal(journal_at, reading=True))) if journal_at else None
        for source in gather_attempts(attempts, Path(temporary)):
            with fetched_attempt(source) as folder:
                checked = check(folder, journal.entries if journal else None, signer)
            found.setdefault(source.name, []).append(checked)
            click.echo(f"{source.name}  {_checked(checked)}")
        every = [checked for rows in found.values() for checked in rows]
        seals = [seal for checked in every for seal in checked.seals]
        seals += sealed_at_table_of(every, journal) if journal else []
        sealed = {name for name, rows in found.items() if not all(checked.imported for checked in rows)}
        gone = _say_missing(attempts, sealed, seals)
    if gone or any(checked.changed or not (checked.consistent or checked.imported) for checked in every):
        raise click.exceptions.Exit(1)
    if not all(checked.consistent for checked in every):
        raise click.exceptions.Exit(IMPORTED)
    if not all(checked.whole for checked in every):
        raise click.exceptions.Exit(UNVOUCHED)


def _checked(found: Checked) -> str:
    if found.changed:
        kind = "torn" if all(fault.endswith(TORN) for fault in found.changed) else "changed"
        return f"{kind}: {'; '.join(found.changed)}"
    if not found.consistent:
        return f"imported, never sealed: {found.unsealed}" if found.imported else f"not sealed: {found.unsealed}"
    seal = found.seal
    sealed = f"sealed by event {seal.seq} of match {seal.match_id}, {seal.hash[:16]}" if seal else "not sealed"
    signed = f", signed by key {found.signer[:16]}" if found.signer else ""
    if found.whole:
        return f"whole, {sealed}{signed}"
    if found.vouched:
        return f"as recorded, {sealed}{signed}; but {'; '.join(found.unknown)}"
    return f"consistent in itself, {sealed}{signed}; nothing outside vouches for it: --journal or --key"


def _say_missing(places: Sequence[str], names: Collection[str], seals: Iterable[Entry]) -> bool:
    """Name the attempts that the archives among the places lack; whether any is missing without a word of why."""
    archives = [p for p in places if not p.endswith(".zip") and Path(p).resolve().name not in names]
    removed = {row["removed"]: row for place in archives for row in parse_removals(text_beside(place, RETENTION))}
    lost = missing_attempts(names, seals) if archives else {}
    for name, seal in lost.items():
        if row := removed.get(name):
            why = "removed on request" if row.get("who") else "went to make room"
            click.echo(f"{name}  not here: {why}, {str(row.get('at', ''))[:16]} by {RETENTION}")
        else:
            click.echo(f"{name}  missing: sealed by event {seal.seq} of match {seal.match_id} and not in the archive")
    return any(name not in removed for name in lost)
