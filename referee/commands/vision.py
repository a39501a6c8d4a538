"""``referee judge`` and ``referee calibrate``: pictures in, verdicts or calibration files out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from calibration import ZONES
from referee.commands.options import Commands, Words

FILE = click.Path(path_type=Path)
_pieces = click.option(
    "--pieces",
    default="challenge",
    show_default=True,
    help="The piece set: a pieces.json, or the name of one that ships with the program.",
)
_camera = click.option("--camera", "camera_file", type=FILE, help="camera.yaml of the calibrated lens.")


def _rig_options(command: Callable) -> Callable:
    """The options that say what is known of the rig."""
    for option in reversed(
        (
            _pieces,
            _camera,
            click.option("--empty", type=FILE, help="The same rig with nothing on the mats."),
            click.option("--colors", type=FILE, help="The same rig with every piece standing apart."),
            click.option("--palette", type=FILE, help="What calibrate colors made of such a picture."),
        )
    ):
        command = option(command)
    return command


@click.command()
@click.argument("images", nargs=-1, required=True, type=FILE)
@click.option("--card", "card_id", required=True, help="Id of the card that was asked for.")
@click.option(
    "--deck",
    default="challenge80",
    show_default=True,
    help="The deck: a deck.json, or the name of one that ships with the program.",
)
@_rig_options
@click.option("--zone", "zones", multiple=True, type=Words(list(ZONES)), help="Only this zone.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per image and line.")
@click.option("--overlay", type=FILE, help="Draw the verdict: a picture, or a folder for several.")
@click.option("--steps", type=FILE, help="A folder for a picture of every stage, from the mats to the verdict.")
def judge(**asked: Any) -> None:
    """Judge the builds in IMAGES against a card.

    Exit status: 0 judged (undecided is a verdict too), 2 unusable input.
    """
    from referee.commands import judging  # here, as below: what a help text needs not to load

    judging.judge(judging.Judging(**asked))


@click.group(cls=Commands)
def calibrate() -> None:
    """Learn colours or a lens from pictures; say whether a rig is fit to judge."""


@calibrate.command()
@click.argument("image", type=FILE)
@_pieces
@_camera
@click.option("-o", "--output", type=FILE, default=Path("palette.json"), show_default=True)
def colors(image: Path, pieces: str, camera_file: Path | None, output: Path) -> None:
    """Learn what the pieces' colours look like from IMAGE, in which every piece stands apart."""
    from referee.commands import judging

    judging.colors(image, pieces, camera_file, output)


@calibrate.command()
@click.argument("pictures", nargs=-1, required=True, type=FILE)
@click.option("-o", "--output", type=FILE, default=Path("camera.yaml"), show_default=True)
def lens(pictures: tuple[Path, ...], output: Path) -> None:
    """Fit the lens from PICTURES (12 or more) of the ChArUco board (referee print charuco).

    Prints each view's reprojection error. Exit status 1 when the fit is not good enough.
    """
    from referee.commands import judging

    judging.lens(pictures, output)


@calibrate.command()
@click.argument("image", type=FILE)
@_camera
def rig(image: Path, camera_file: Path | None) -> None:
    """Say whether the rig in IMAGE is fit to judge: each figure with pass or fail and advice."""
    from referee.commands import judging

    judging.rig(image, camera_file)
