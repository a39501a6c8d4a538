"""``referee attempts``: the archive of recorded duels as a whole."""

from __future__ import annotations

from pathlib import Path

import click

from referee.commands.attempts import Bar
from referee.commands.options import Commands
from referee.recording import find_attempts, load_attempt
from referee.recording.errors import BadAttempt
from referee.recording.folder import SIGNATURE
from referee.recording.index import Index
from referee.review.signing import load_private, new_key, sign
from referee.review.verify import changed_files


@click.group(cls=Commands)
def attempts() -> None:
    """The archive of recorded duels: its index; keys and signatures."""


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
    known = Index(archive)
    try:
        if anew:
            known.empty()
        _bring_up_to_date(known)
        if known.store.in_memory:
            click.echo(f"referee: {archive}: takes no index; every program will read the attempts again", err=True)
        click.echo(_said(known))
    except KeyboardInterrupt:
        click.echo("referee: interrupted; the same command goes on", err=True)
        raise click.exceptions.Exit(130) from None
    finally:
        known.close()


def _bring_up_to_date(known: Index) -> None:
    with Bar(unit="attempt") as bar:

        def told(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        known.refresh(thorough=True, progress=told)


def _said(known: Index) -> str:
    unread = len(known.unread())
    said = f"{known.count()} attempts, {known.total_bytes() / 1e9:.1f} GB"
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
