"""``referee example``: pictures and a recorded duel to try the other commands on."""

import shutil
from pathlib import Path

import click

from cards.errors import RefereeError

EXAMPLE = Path(__file__).parents[1] / "example"


@click.command()
@click.argument("folder", metavar="DIR", default="example", type=click.Path(path_type=Path))
def example(folder: Path) -> None:
    """Write rendered sessions and a recorded duel, to try commands on, into the new DIR."""
    try:
        shutil.copytree(EXAMPLE, folder)
    except OSError as error:
        reason = error.strerror or "files could not be copied"  # shutil.Error lists each
        raise RefereeError(f"{folder}: {reason}") from None
    click.echo(f"{folder}: {', '.join(sorted(p.name for p in folder.iterdir()))}")
