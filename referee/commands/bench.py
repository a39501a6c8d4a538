"""``referee bench``: the observer held against sessions with truth; what was right, wrong, undecided."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--no-empty", is_flag=True, help="Without the empty frame.")
@click.option("--no-colors", is_flag=True, help="Without the colours frame.")
@click.option("--no-camera", is_flag=True, help="Without the lens file.")
@click.option("--wrong-cards", is_flag=True, help="Judge every build against the deck's other cards instead.")
@click.option("--steps", is_flag=True, help="Score each step of seeing on its own too.")
@click.option("--doubts", is_flag=True, help="What each doubt is worth, instead: wrong and right rulings it withholds.")
@click.option("--leave-one-out", is_flag=True, help="Rule each session by the trust that the others teach.")
@click.option("--scaling", is_flag=True, help="Cost against pieces and pixels instead (one process).")
@click.option("--stress", is_flag=True, help="Draw the effects of cameras and careless people upon every frame.")
@click.option("--effects", metavar="A,B…", help="Of the stress, only these effects.")
@click.option(
    "--seed",
    multiple=True,
    default=(0,),
    show_default=True,
    help="Of the stress: where things lie and how they look; each one given once more.",
)
@click.option(
    "--pictures",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Of the stress: keep the pictures judged here.",
)
@click.option(
    "--rows",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of the stress: keep the scores here as they come, and do not judge again what is here.",
)
@click.option("--fit", is_flag=True, help="Of the stress: fit how far to trust match and mismatch, and write it.")
@click.option(
    "--trust",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of --fit: the file written; the one that ships when left out.",
)
@click.option(
    "--lessons",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of --fit: keep here what it was made of; of --leave-one-out: what was kept teaches, not what is judged.",
)
@click.option("--no-more", is_flag=True, help="Of --rows: judge nothing that is not there.")
@click.option("--aids", is_flag=True, help="With each of the eight combinations of empty frame, colours and lens.")
@click.option("--every", type=click.IntRange(min=1), default=1, help="Only every so manieth frame.")
@click.option("--processes", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="All scores as one JSON object.")
def bench(folders: tuple[Path, ...], **options: Any) -> None:
    """Judge every frame of the session folders DIR… (or of those in them) and hold it against its truth."""
    from referee.commands import benching  # here: what a help text needs not to load

    benching.bench(folders, benching.Options(**options))
