"""What ``referee calibrate`` does: loads vision, which its help does without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import cv2
import numpy as np

from calibration.camera import load_camera, save_camera
from calibration.lens import find_board, fit_lens
from calibration.mat import detect_mats
from calibration.palette import PRIOR_PIXELS
from calibration.palette_file import save_palette
from calibration.quality import picture_faults, rig_quality
from referee.commands.judging import learn
from referee.commands.named_files import named_piece_set
from referee.errors import CannotSee, RefereeError
from referee.vision.image.files import read_picture
from referee.vision.observer import Observer
from referee.vision.parameters import SIZES_TOLD
from referee.vision.verdict.visibility import size_fault

LEAST_BOARDS = 12
"""Views of the ChArUco board that a lens file is made from."""
GOOD_LENS_PX, BAD_VIEW_PX, LEAST_COVERED = 0.8, 1.5, 0.5
"""RMS error of a good fit and of a view that spoils one; share of the picture's cells with corners."""


def colors(image: Path, pieces: str, camera_file: Path | None, output: Path) -> None:
    """Learn what the pieces' colours look like, and write it."""
    piece_set = named_piece_set(pieces)
    observer = Observer(piece_set, load_camera(camera_file) if camera_file else None)
    palette = learn(observer, image)
    _saved(save_palette, palette, output)
    for name, pixels in zip(palette.names, palette.learnt, strict=True):
        few = "" if pixels > PRIOR_PIXELS else ", too few: nearly the nominal colour"
        click.echo(f"{name}: {int(pixels)} pixels{few}")
    if abs(observer.size_factor - 1) > SIZES_TOLD.value:
        click.echo(f"warning: {size_fault(observer.size_factor)}")
    click.echo(f"{output}: written")


def lens(pictures: tuple[Path, ...], output: Path) -> None:
    """Fit the lens from pictures of the board, and write it. Ends the program where the fit is not good enough."""
    views = {path: find_board(cv2.cvtColor(read_picture(path), cv2.COLOR_BGR2GRAY)) for path in pictures}
    for path, view in views.items():
        if view is None:
            click.echo(f"{path}: BAD VIEW, the board is not seen well enough")
    seen = {path: view for path, view in views.items() if view is not None}
    if len(seen) < LEAST_BOARDS:
        raise CannotSee(
            f"a lens file needs {LEAST_BOARDS} views of the board, {len(seen)} of {len(pictures)} pictures show it"
        )
    fit = fit_lens(list(seen.values()))
    errors = {path: view_error_px(fit.camera, view) for path, view in seen.items()}
    for path, error in errors.items():
        click.echo(f"{path}: {error:.2f} px" + (" BAD VIEW" if error > BAD_VIEW_PX else ""))
    _saved(save_camera, fit.camera, output)
    good = fit.error_px <= GOOD_LENS_PX and fit.covered >= LEAST_COVERED
    click.echo(
        f"{output}: {'pass' if good else 'FAIL'}, {fit.error_px:.2f} px over {len(seen)} views, "
        f"corners in {100 * fit.covered:.0f} % of the picture's cells"
    )
    if not good:
        click.echo("take the bad views anew, hold the board into the corners of the picture, and flat")
        raise SystemExit(1)


def view_error_px(camera, view) -> float:
    """RMS distance in pixels of a board's corners from where the lens puts them, best pose taken."""
    _, rotation, translation = cv2.solvePnP(view.board, view.pixels, camera.matrix, camera.distortion)
    at = cv2.projectPoints(view.board, rotation, translation, camera.matrix, camera.distortion)[0]
    return float(np.sqrt(((at.reshape(-1, 2) - view.pixels) ** 2).sum(1).mean()))


def rig(image: Path, camera_file: Path | None) -> None:
    """Say whether a rig is fit to judge. Ends the program where it is not."""
    gray = cv2.cvtColor(read_picture(image), cv2.COLOR_BGR2GRAY)
    mats = detect_mats(gray, load_camera(camera_file) if camera_file else None)
    if not mats.poses:
        raise CannotSee(f"{image}: " + "; ".join(("no mat is in view", *picture_faults(gray))))
    found = rig_quality(gray, mats)
    for zone, figures in found.items():
        click.echo(f"mat {zone}")
        for one in figures:
            click.echo(f"  {one.line()}")
    if not all(one.passed for figures in found.values() for one in figures):
        raise SystemExit(1)


def _saved(save: Callable, value: object, output: Path) -> None:
    try:
        save(value, output)
    except OSError as error:
        raise RefereeError(f"{output}: {error.strerror or error}") from None
