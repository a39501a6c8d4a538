"""Stands with a piece that one camera does not see and another does: behind the build, or what stands before it.

Three ways by turns: the card's build with one of its pieces hidden by a loose one that stands before the field, the
same with another piece in the hidden one's place, and the card's build with one piece too many hidden behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import numpy as np
from witness_builds import FIELD_MM, Pieces, Stand, right_build, spares

from cards.build import Build, Piece, bottom, shape_of
from cards.card import Card
from cards.contact import overlapping
from cards.errors import BadCard
from cards.pieces import PieceSet, Pose
from cards.stability import stands

HIDDEN_SHARE = 0.12
"""So little of the hidden piece's surface is to be seen, of what would be of it alone."""
SHOWN_SHARE = 0.4
"""So much of it the other camera sees at least."""
BESIDE_MM, LINE_MM = 8.0, 18.0
"""A loose piece stands so far outside the field at least; a build so far inside of its line."""
TRIES = 40
CLEAR_MM = 8.0
"""A wrong build is wrong too with the hidden piece so far to any side: no camera tells a gap of some millimetres."""

Way = Callable[[Card, PieceSet, np.ndarray, Random], Iterator[tuple[str, Pieces, Pieces, Piece]]]
"""From card, pieces, the camera's place (3,) in the mat's frame and chance: what is expected, the build, what is loose,
and the piece that is to be hidden."""


def hidden_stand(card: Card, pieces: PieceSet, eyes: tuple[np.ndarray, np.ndarray], way: int, rng: Random) -> Stand:
    """A stand with a piece hidden from the first of two cameras at ``eyes`` (3,) mm in the mat's frame, and shown to
    the other; ``way`` counts through the three. Raises BadCard when none is found."""
    make = WAYS[way % len(WAYS)]
    for _ in range(TRIES):
        for expected, built, loose, hidden in make(card, pieces, eyes[0], rng):
            whole = (*built, *loose)
            if (
                overlapping(pieces, whole)
                or not all(stands(pieces, some) for some in (built, *((one,) for one in loose)))
                or seen_share(pieces, whole, hidden, eyes[0]) > HIDDEN_SHARE
                or seen_share(pieces, whole, hidden, eyes[1]) < SHOWN_SHARE
            ):
                continue
            if all(
                card.is_right(Build(pieces, near)) == (expected == "match") for near in _near(built, hidden, expected)
            ):
                return Stand(expected, f"hidden: {make.__name__.strip('_')}", built, loose)
    raise BadCard(f"card {card.id}: no piece can be hidden")


def _near(built: Pieces, hidden: Piece, expected: str) -> Iterator[Pieces]:
    """The build, and a wrong one with the hidden piece moved a little."""
    steps = [(0.0, 0.0)]
    if expected == "mismatch":
        steps += [(CLEAR_MM, 0.0), (-CLEAR_MM, 0.0), (0.0, CLEAR_MM), (0.0, -CLEAR_MM)]
    for dx, dy in steps:
        yield tuple(p.at(x=p.x + dx, y=p.y + dy) if p is hidden else p for p in built)


def seen_share(pieces: PieceSet, whole: Pieces, of: Piece, eye: np.ndarray) -> float:
    """How much of a piece's surface is seen from ``eye`` among all pieces, of what is seen of it alone; by boxes."""
    size = np.array(shape_of(pieces, of).size(of.pose))
    steps = [(np.arange(7) + 0.5) / 7 - 0.5] * 2
    a, b = (grid.ravel() for grid in np.meshgrid(*steps))
    faces = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            face = np.insert(np.c_[a, b], axis, side, 1) * size
            normal = np.zeros(3)
            normal[axis] = np.sign(side)
            if (eye - np.array([of.x, of.y, of.z]) - normal * size / 2) @ normal > 0:
                faces.append(face)
    points = np.concatenate(faces) + (of.x, of.y, of.z)
    seen = np.ones(len(points), bool)
    for piece in whole:
        if piece is of:
            continue
        half = np.array(shape_of(pieces, piece).size(piece.pose)) / 2 * 0.98
        with np.errstate(all="ignore"):
            ends = [(np.array([piece.x, piece.y, piece.z]) + k * half - points) / (eye - points) for k in (-1, 1)]
        near, far = np.minimum(*ends).max(1), np.maximum(*ends).min(1)
        seen &= ~((far > np.maximum(near, 1e-6)) & (near < 1))
    return float(seen.mean())


def _near_line(card: Card, pieces: PieceSet, eye: np.ndarray, rng: Random) -> Pieces:
    """The card's build near the field's line on the camera's side."""
    built = right_build(card, pieces, rng)
    x, y = rng.uniform(-15, 15), np.sign(eye[1]) * (FIELD_MM[1] - LINE_MM)
    return tuple(p.at(x=p.x + x, y=p.y + y) for p in built)


def _right_behind_another(card, pieces, eye, rng) -> Iterator[tuple[str, Pieces, Pieces, Piece]]:
    built = _near_line(card, pieces, eye, rng)
    kinds = spares(pieces, built)
    for of in rng.sample(built, len(built)):
        for shape, color in rng.sample(kinds, len(kinds)):
            for pose in (Pose(90, "front"), Pose(0, "front")):
                if loose := _before(pieces, of, eye, Piece(shape, color, pose, 0.0, 0.0, 0.0), rng):
                    yield "match", built, (loose,), of


def _other_behind_another(card, pieces, eye, rng) -> Iterator[tuple[str, Pieces, Pieces, Piece]]:
    for _, built, loose, of in _right_behind_another(card, pieces, eye, rng):
        taken = [(p.shape, p.color) for p in loose]
        for shape, color in spares(pieces, built):
            if (shape, color) in taken or (shape, color) == (of.shape, of.color):
                continue
            other = replace(of, shape=shape, color=color, pose=Pose(0, "front"))
            other = other.at(z=bottom(pieces, of) + shape_of(pieces, other).size(other.pose)[2] / 2)
            yield "mismatch", tuple(other if p is of else p for p in built), loose, other


def _extra_behind(card, pieces, eye, rng) -> Iterator[tuple[str, Pieces, Pieces, Piece]]:
    built = _near_line(card, pieces, eye, rng)
    kinds = spares(pieces, built)
    for shape, color in rng.sample(kinds, len(kinds)):
        high = pieces.shapes[shape].size(Pose(0, "front"))[2]
        for before in built:
            away = np.array([before.x, before.y]) - eye[:2]
            x, y = np.array([before.x, before.y]) + away / np.linalg.norm(away) * rng.uniform(30, 48)
            if abs(x) < FIELD_MM[0] - 14 and abs(y) < FIELD_MM[1] - 14:
                extra = Piece(shape, color, Pose(0, "front"), float(x), float(y), high / 2)
                yield "mismatch", (*built, extra), (), extra


def _before(pieces: PieceSet, of: Piece, eye: np.ndarray, hider: Piece, rng: Random) -> Piece | None:
    """The hider on the table outside the field, on the line from the camera to a piece."""
    _, deep, high = shape_of(pieces, hider).size(hider.pose)
    y = np.sign(eye[1]) * (FIELD_MM[1] + deep / 2 + BESIDE_MM)
    along = (y - of.y) / (eye[1] - of.y)
    x = of.x + along * (eye[0] - of.x) + rng.uniform(-6, 6)
    return hider.at(x=float(x), y=float(y), z=high / 2)


WAYS: tuple[Way, ...] = (_right_behind_another, _other_behind_another, _extra_behind)
