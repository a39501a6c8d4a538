"""``referee attempts``: the archive of recorded duels as a whole."""

from __future__ import annotations

from pathlib import Path

import click

from referee.commands.attempts import Bar
from referee.commands.options import Commands
from referee.recording.errors import BadAttempt
from referee.recording.index import Index


@click.group(cls=Commands)
def attempts() -> None:
    """The archive of recorded duels: its index."""


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
