"""``referee judge`` and ``referee calibrate``: pictures in, verdicts or calibration files out."""

from pathlib import Path

import click

from referee.commands.judge_options import FILE, PIECES, JudgeOptions
from referee.commands.options import takes_options

_pieces = click.option("--pieces", show_default=True, **PIECES)
_camera = click.option("--camera", "camera_file", type=FILE, help="camera.yaml of the calibrated lens.")


@click.command()
@takes_options(JudgeOptions)
def judge(asked: JudgeOptions) -> None:
    """Judge the builds in IMAGES against a card.

    Exit status: 0 judged (undecided is a verdict too), 2 unusable input.
    """
    from referee.commands import judging  # here, as below: what a help text needs not to load

    judging.judge(asked)


@click.group()
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
