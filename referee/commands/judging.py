"""What ``referee judge`` does: loads vision, which its help does without."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import click
import cv2
import numpy as np

from calibration.camera import load_camera
from calibration.palette import Palette
from calibration.palette_file import load_palette
from calibration.quality import picture_faults
from cards.card import Card, inventory_problems
from cards.errors import BadCard
from cards.pieces import PieceSet
from referee.commands.named_files import named_deck, named_piece_set
from referee.errors import BadCamera, BadImage, CannotSee, FewPieces
from referee.vision.image.files import read_picture, write_picture
from referee.vision.observer import Judgement, Observer


@dataclass(frozen=True)
class Judging:
    """What ``judge`` may be asked for; each is explained there."""

    images: tuple[Path, ...]
    card_id: str
    deck: str
    zones: tuple[str, ...]
    as_json: bool
    overlay: Path | None
    pieces: str
    camera_file: Path | None
    empty: Path | None
    colors: Path | None
    palette: Path | None


def judge(asked: Judging) -> None:
    """Print the verdicts on the pictures, and draw them where that is asked for."""
    piece_set = named_piece_set(asked.pieces)
    card = _card(asked, piece_set)
    frames = [read_picture(path) for path in asked.images]
    observer = _observer(piece_set, frames, asked)
    for path, frame in zip(asked.images, frames, strict=True):
        judgement = _judged(observer, frame, card, asked.zones, asked.camera_file)
        if asked.as_json:
            click.echo(json.dumps(judgement.to_json(str(path), card.id)))
        else:
            click.echo(told(judgement, str(path), card))
        if asked.overlay:
            from referee.vision.render.overlay import draw  # here: letters take a while to load, and few ask for them

            write_picture(_overlay_path(asked.overlay, path, len(asked.images)), draw(frame, judgement, card))


def _card(asked: Judging, piece_set: PieceSet) -> Card:
    card = named_deck(asked.deck).card(asked.card_id)
    for problem in inventory_problems(card, piece_set):
        raise BadCard(f"{asked.deck}: card {asked.card_id} does not fit the piece set {asked.pieces}: {problem}")
    return card


def _observer(piece_set: PieceSet, frames: list[np.ndarray], asked: Judging) -> Observer:
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
            learn(observer, asked.colors)
        except FewPieces as doubt:  # an aid that does not fit is left out, and said so
            observer.left_out = (f"{doubt}; left out",)
    return observer


def learn(observer: Observer, colors: Path) -> Palette:
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
    observer: Observer, frame: np.ndarray, card: Card, zones: tuple[str, ...], camera_file: Path | None
) -> Judgement:
    try:
        judgement = observer.judge([frame], card, zones or None)
    except BadCamera as error:
        raise BadCamera(f"{camera_file}: {error}") from None
    missing = [f"mat {z} is not in view" for z in zones if z not in judgement.zones]
    faults = () if judgement.zones else picture_faults(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY))
    return dataclasses.replace(judgement, notes=(*judgement.notes, *faults, *missing))


def _overlay_path(overlay: Path, image: Path, count: int) -> Path:
    if count == 1 and not overlay.is_dir():
        return overlay
    try:
        overlay.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadImage(f"{overlay}: for several pictures a folder is needed ({error.strerror})") from None
    return overlay / f"{image.stem}_judged.png"


def told(judgement: Judgement, image: str, card: Card) -> str:
    """A judgement in words, a line a fact."""
    lines = [f"{image}: card {card.id}, {judgement.seconds:.2f} s"]
    for zone, verdict in sorted(judgement.zones.items()):
        leans = f", leans to {verdict.leaning}" if verdict.leaning else ""
        lines.append(f"  {zone}: {verdict.ruling} ({100 * verdict.confidence:.0f} % sure{leans})")
        lines += [f"     - {reason.text}" for reason in verdict.reasons]
    return "\n".join(lines + [f"  note: {note}" for note in judgement.notes])
