"""``referee example``: pictures and a recorded duel to try the other commands on."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from referee.commands.named_files import writing


@click.command()
@click.argument("folder", metavar="DIR", default="example", type=click.Path(path_type=Path))
def example(folder: Path) -> None:
    """Write rendered sessions and a recorded duel, to try commands on, into the new DIR."""
    with writing(folder), TemporaryDirectory(prefix=".example-", dir=folder.parent) as draft:
        Path(shutil.copytree(Path(__file__).parents[1] / "example", Path(draft, "whole"))).rename(folder)
    click.echo(f"{folder}: {', '.join(sorted(p.name for p in folder.iterdir()))}")
