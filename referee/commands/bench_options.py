"""What ``referee bench`` may be asked for."""

import os
from dataclasses import dataclass
from pathlib import Path

import click

from referee.commands.options import argument, option

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """What ``bench`` may be asked for."""

    folders: tuple[Path, ...] = argument(nargs=-1, required=True, metavar="DIR…", type=FOLDER)
    no_empty: bool = option(is_flag=True, help="Without the empty frame.")
    no_colors: bool = option(is_flag=True, help="Without the colours frame.")
    no_camera: bool = option(is_flag=True, help="Without the lens file.")
    one_camera: bool = option(is_flag=True, help="Without a second camera's pictures.")
    steps: bool = option(is_flag=True, help="Score each step of seeing on its own too.")
    doubts: bool = option(is_flag=True, help="What each doubt is worth, instead: wrong and right rulings it withholds.")
    leave_one_out: bool = option(is_flag=True, help="Rule each session by the trust that the others teach.")
    stress: bool = option(is_flag=True, help="Draw the effects of cameras and careless people upon every frame.")
    effects: str | None = option(metavar="A,B…", help="Of the stress, only these effects.")
    seed: tuple[int, ...] = option(
        multiple=True,
        default=(0,),
        help="With --stress: seed of where things lie and how they look; may be given several times.",
    )
    pictures: Path | None = option(type=FOLDER, help="With --stress: save the judged pictures in this folder.")
    rows: Path | None = option(
        type=FILE, help="With --stress: save scores to this file and skip pictures already in it."
    )
    fit: bool = option(is_flag=True, help="With --stress: fit how far to trust match and mismatch, and write it.")
    trust: Path | None = option(type=FILE, help="With --fit: the file to write; without it the one that ships.")
    lessons: Path | None = option(
        type=FILE,
        help="With --fit: save what it was fitted on; with --leave-one-out: fit on what was saved.",
    )
    consistency: bool = option(
        is_flag=True, help="What must hold of verdicts on any picture, with --stress also of stressed ones."
    )
    aids: bool = option(is_flag=True, help="With each of the eight combinations of empty frame, colours and lens.")
    every: int = option(type=click.IntRange(min=1), default=1, show_default=False, help="Only every Nth frame.")
    processes: int = option(type=click.IntRange(min=1), default=os.cpu_count() or 1)
    as_json: bool = option("--json", is_flag=True, help="All scores as one JSON object.")
