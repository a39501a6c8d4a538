"""What ``referee judge`` and ``referee calibrate`` do: loads vision, which their help does without."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import click
import cv2
import numpy as np

from calibration.camera import camera_text, load_camera
from calibration.lens import find_board, fit_lens
from calibration.mat import detect_mats
from calibration.palette import PRIOR_PIXELS, Palette, load_palette, save_palette
from calibration.quality import picture_faults, rig_quality
from cards.card import Card
from cards.errors import BadCard
from cards.pieces import PieceSet
from referee.commands.judge_options import JudgeOptions
from referee.commands.named_files import named_deck, named_piece_set, writing
from referee.errors import BadCamera, BadImage, CannotSee, FewPieces
from referee.session.heap import limit_heap
from referee.vision.image.files import read_picture, write_picture
from referee.vision.observer import SIZES_TOLD, Judgement, Observer, ZoneStudy
from referee.vision.verdict.visibility import size_fault

LEAST_BOARDS = 12
"""Views of the ChArUco board that a lens file is made from."""
GOOD_LENS_PX, BAD_VIEW_PX, LEAST_COVERED = 0.8, 1.5, 0.5
"""RMS error of a good fit and of a view that spoils one; share of the picture's cells with corners."""


def judge(asked: JudgeOptions) -> None:
    """Print the verdicts on the pictures, and draw them where that is asked for."""
    limit_heap()
    piece_set = named_piece_set(asked.pieces)
    card = _card(asked, piece_set)
    frames = [read_picture(path) for path in asked.images]
    observer = _observer(piece_set, frames, asked)
    for path, frame in zip(asked.images, frames, strict=True):
        studies: list[ZoneStudy] = []
        judgement = _judged(observer, frame, card, asked, studies.append)
        if asked.as_json:
            click.echo(json.dumps(judgement.to_json(str(path), card.id)))
        else:
            click.echo(judgement_text(judgement, str(path), card))
        if asked.overlay:
            from referee.vision.overlay import with_panel  # here: letters take a while to load, and few ask for them

            target = asked.overlay
            if len(asked.images) > 1 or target.is_dir():
                target = _made(target, "several pictures") / f"{path.stem}_judged.png"
            write_picture(target, with_panel(frame, judgement, card))
        if asked.steps:
            from referee.vision.steps import step_pictures  # here: as above

            prefix = f"{path.stem}_" if len(asked.images) > 1 else ""
            for name, picture in step_pictures(frame, judgement, studies, card):
                write_picture(_made(asked.steps, "the steps") / f"{prefix}{name}.jpg", picture)


def _card(asked: JudgeOptions, piece_set: PieceSet) -> Card:
    card = named_deck(asked.deck).card(asked.card_id)
    for problem in card.inventory_problems(piece_set):
        raise BadCard(f"{asked.deck}: card {asked.card_id} does not fit the piece set {asked.pieces}: {problem}")
    return card


def _observer(piece_set: PieceSet, frames: list[np.ndarray], asked: JudgeOptions) -> Observer:
    empty = asked.empty
    camera = load_camera(asked.camera_file) if asked.camera_file else None
    known = load_palette(asked.palette, piece_set) if asked.palette else None
    bare = read_picture(empty) if empty else None
    for path, frame in zip(asked.images, frames, strict=True):
        if bare is not None and bare.shape != frame.shape:
            raise BadImage(
                f"{empty}: has {bare.shape[1]} x {bare.shape[0]} pixels, {path} has {frame.shape[1]} x {frame.shape[0]}"
            )
    observer = Observer(piece_set, camera, known, bare)
    if asked.colors and not asked.palette:
        try:
            learn_from_picture(observer, asked.colors)
        except FewPieces as doubt:  # an aid that does not fit is left out, and said so
            observer.left_out = (f"{doubt}; left out",)
    return observer


def learn_from_picture(observer: Observer, colors: Path) -> Palette:
    """Have the observer learn the pieces' colours and sizes from a picture. Raises CannotSee, BadCamera, FewPieces."""
    picture = read_picture(colors)
    try:
        observer.learn_colors(picture)
        observer.learn_sizes(picture)
    except (CannotSee, BadCamera) as error:
        raise type(error)(f"{colors}: {error}") from None
    assert observer.palette is not None, "learnt above"
    return observer.palette


def _judged(
    observer: Observer, frame: np.ndarray, card: Card, asked: JudgeOptions, studied: Callable[[ZoneStudy], None]
) -> Judgement:
    try:
        judgement = observer.judge([frame], card, asked.zones or None, studied=studied)
    except BadCamera as error:
        raise BadCamera(f"{asked.camera_file}: {error}") from None
    missing = [f"mat {z} is not in view" for z in asked.zones if z not in judgement.zones]
    faults = () if judgement.zones else picture_faults(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY))
    return dataclasses.replace(judgement, notes=(*judgement.notes, *faults, *missing))


def _made(folder: Path, what: str) -> Path:
    """The folder, made where there is none. Raises BadImage."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadImage(f"{folder}: for {what} a folder is needed ({error.strerror})") from None
    return folder


def judgement_text(judgement: Judgement, image: str, card: Card) -> str:
    """A judgement in words, a line a fact."""
    lines = [f"{image}: card {card.id}, {judgement.seconds:.2f} s"]
    for zone, verdict in sorted(judgement.zones.items()):
        leans = f", leans to {verdict.leaning}" if verdict.leaning else ""
        lines.append(f"  {zone}: {verdict.ruling} ({100 * verdict.confidence:.0f} % sure{leans})")
        lines += [f"     - {reason.text}" for reason in verdict.reasons]
    return "\n".join(lines + [f"  note: {note}" for note in judgement.notes])


def colors(image: Path, pieces: str, camera_file: Path | None, output: Path) -> None:
    """Learn what the pieces' colours look like, and write it."""
    piece_set = named_piece_set(pieces)
    observer = Observer(piece_set, load_camera(camera_file) if camera_file else None)
    palette = learn_from_picture(observer, image)
    with writing(output):
        save_palette(palette, output)
    for name, pixels in zip(palette.names, palette.learnt, strict=True):
        few = "" if pixels > PRIOR_PIXELS else ", too few: nearly the nominal colour"
        click.echo(f"{name}: {int(pixels)} pixels{few}")
    if abs(observer.size_factor - 1) > SIZES_TOLD:
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
    with writing(output):
        output.write_text(camera_text(fit.camera), encoding="utf-8")
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
