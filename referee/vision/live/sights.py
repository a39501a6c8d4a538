"""Did a piece come before the press or after it, when a hand was before the build? Each pixel is asked. Pure.

Compared are the reduced pictures around the press with the last *clear* one before it, over which no hand was, and
with the settled one. A pixel of a standing piece that looked as clear after the press, and now does not: the piece came
after it. One that looked as it does now before the press: it stood then. All else was hidden by hand, sleeve or shadow,
and nobody knows. A few pixels are noise, or the rim of a build that was nudged; what is as large as a piece counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from referee.match.stop_views import Placed
from referee.vision.live import parameters

PIECE = parameters.PIECE_SHARE.value
CHANGED = parameters.CHANGED.value


@dataclass(frozen=True, eq=False)
class Sight:
    """One zone in the reduced copy: ``at`` the window's first row and column; ``image`` (h, w, 3) uint8; ``piece``
    (h, w) bool, where builds are seen and the colour is a piece's; ``field``: how many pixels the field has; whether a
    ``hand`` is over it."""

    at: tuple[int, int]
    image: np.ndarray
    piece: np.ndarray
    field: int
    hand: bool = False


def placed(before: Sequence[Sight], after: Sequence[Sight]) -> Placed:
    """When the pieces of the last sight of ``after`` came: sights before the press, and after it, in order."""
    last = after[-1] if after else None
    clear = next((s for s in reversed(before) if last and _same_window(s, last) and not s.hand), None)
    if last is None or clear is None:
        return "unknown"
    new = last.piece & ~_like(clear, last)
    lacked, stood = np.zeros(new.shape, bool), np.zeros(new.shape, bool)
    for one, other in pairwise(s for s in after if _same_window(s, last)):  # twice in a row: once may be chance
        lacked |= _like(one, clear) & _like(other, clear)
    for sight in before:
        stood |= _like(sight, last) if _same_window(sight, last) else False
    if _is_piece(new & lacked, last.field):
        return "after"
    return "unknown" if _is_piece(new & ~stood, last.field) else "before"


def _same_window(one: Sight, other: Sight) -> bool:
    """A mat that was located anew may have moved it by a pixel."""
    return one.at == other.at and one.image.shape == other.image.shape


def _like(one: Sight, other: Sight) -> np.ndarray:
    """(h, w) bool: the same is to be seen there."""
    return np.asarray(np.abs(one.image.astype(np.int16) - other.image).max(-1) <= CHANGED)


def _is_piece(mask: np.ndarray, field: int) -> bool:
    """Whether some connected part of the mask (h, w), without what is thin, is as large as a piece."""
    thick = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    _, _, boxes, _ = cv2.connectedComponentsWithStats(thick, connectivity=4)
    return bool((boxes[1:, cv2.CC_STAT_AREA] >= PIECE * field).any())
