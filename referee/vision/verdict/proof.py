"""What speaks for a ruling by itself, without comparing it with a rival: the pixels must show what the reading says.

A reading may be far ahead of the next and still be wrong: skin taken for orange pieces is ahead of a right build with a
hand before it, for the right build explains no hand. So the pixels in which the two readings differ are tested by
themselves: each must show, by its own colour, the paint or the table that the reading ahead has there, and not glare,
skin, a mixture, or something between two colours. Each piece is tested in the same way; a proof is as good as its
weakest part.
"""

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np

from cards.build import Build, Piece
from cards.pieces import PieceSet
from referee.vision.image.evidence import Evidence
from referee.vision.image.view import ZoneView
from referee.vision.render.solids import piece_tags
from referee.vision.search.canvas import FEW_PX

RIM_PX = 1
"""About an outline pixels are mixtures, and a pose is right to so much."""


class ShownPixels(NamedTuple):
    """How many pixels of one view bear out what a build says of them, and how many it says it of: of those in which it
    differs from its rival (2,), without one of those that show it; and of each of its pieces' own (n, 2), none of a
    piece of which hardly any are seen, or that looks like paper."""

    differing: np.ndarray
    pieces: np.ndarray


def shown_of(view: ZoneView, evidence: Evidence, piece_set: PieceSet, build: Build, rival: Build | None) -> ShownPixels:
    """How far the pixels of a view themselves show ``build``."""
    tags, where, shown = claims(view, evidence, piece_set, build, rival)
    told = [evidence.names.index(piece.color) not in evidence.untold for piece in build.pieces]
    pieces = [_painted(view, tags == i, shown) if told[i] else (0, 0) for i in range(len(build.pieces))]
    return ShownPixels(np.array([(shown & evidence.known)[where].sum(), where.sum()]), np.array(pieces).reshape(-1, 2))


def proof_of(views: Sequence[ShownPixels]) -> float:
    """How far the pixels of all views together show a build, 0 to 1.

    The less of two shares: of those pixels in which it differs from its rival, how many are known and show what it says
    there; and of the piece that shows least of its colour, how much does. The first view says which pieces are of the
    build: another that puts one on the other side of the field's line counts none of them.
    """
    alike = [one.pieces for one in views if len(one.pieces) == len(views[0].pieces)]
    rows = np.vstack([sum(one.differing for one in views), sum(alike)])
    rows = rows[rows[:, 1] > 0]
    return float((rows[:, 0] / rows[:, 1]).min(initial=1.0))


class Claims(NamedTuple):
    """What a build says of the view's pixels, each (h, w): ``tags``, which piece they show, loose ones after its own,
    -1 for none; ``differs``, where its rival says otherwise, without the rim; ``shown``, where their own colour is what
    the build says."""

    tags: np.ndarray
    differs: np.ndarray
    shown: np.ndarray


def claims(view: ZoneView, evidence: Evidence, piece_set: PieceSet, build: Build, rival: Build | None) -> Claims:
    """What a build says of the pixels beside its rival, or beside the bare table."""
    tags, colors = _claimed_colors(view, evidence, piece_set, build)
    standing = (tags >= 0) & (tags < len(build.pieces))
    differs = standing if rival is None else colors != _claimed_colors(view, evidence, piece_set, rival)[1]
    return Claims(tags, _inner(differs & view.valid), evidence.labels == colors)


def _claimed_colors(
    view: ZoneView, evidence: Evidence, piece_set: PieceSet, build: Build
) -> tuple[np.ndarray, np.ndarray]:
    """(h, w) which piece each pixel shows by a build, loose ones after its own, and (h, w) which colour: -1 none."""
    pieces: Sequence[Piece] = (*build.pieces, *build.loose)
    tags = piece_tags(view, piece_set, pieces)
    colors = np.array([*(evidence.names.index(p.color) for p in pieces), -1], np.int8)
    return tags, colors[tags]


def _inner(mask: np.ndarray, sliver: bool = True) -> np.ndarray:
    """A mask (h, w) without its rim; where hardly anything is left, the whole of a ``sliver``, else nothing."""
    inner = cv2.erode(mask.astype(np.uint8), np.ones((2 * RIM_PX + 1,) * 2, np.uint8)) > 0
    if inner.sum() >= FEW_PX:
        return inner
    return mask if sliver else np.zeros_like(mask)


def _painted(view: ZoneView, mine: np.ndarray, shown: np.ndarray) -> tuple[int, int]:
    """How many of a piece's pixels (h, w) bool, without its rim, show its colour, and how many there are; ``shown`` as
    in ``Claims``."""
    x, y, w, h = cv2.boundingRect(mine.astype(np.uint8))
    box = slice(max(y - RIM_PX, 0), y + h + RIM_PX), slice(max(x - RIM_PX, 0), x + w + RIM_PX)
    mask = mine[box] & view.valid[box]
    inner = _inner(mask, sliver=False) if w else mask
    return int(shown[box][inner].sum()), int(inner.sum())
