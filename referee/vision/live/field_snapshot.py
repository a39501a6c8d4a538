"""Did a piece come before the press or after it, when a hand was before the build? Each pixel is asked. Pure.

Compared are the reduced pictures around the press with the last *clear* one before it, over which no hand was, and
with the settled one. A pixel of a standing piece that looked as clear after the press, and in no two looks before it as
now: the piece came after it. One that looked before the press as now, and not as clear after it: it stood then. All
else a hand, sleeve or shadow hid, nobody knows. Only what is as large as a piece counts: the rest is noise or a rim.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from skimage.measure import label, regionprops

from referee.match.stop_views import Placed
from referee.vision.image.shadow import CHANGED, channel_max
from referee.vision.measured import measured

UNFOCUSED = measured(0.6, "of the sharpness before", "out of focus both fields have 0.22 to 0.44; with hands one 0.87")
SMALLEST_PIECE_SHARE = measured(0.012, "of the field", "half of what the smallest piece covers, but for its rim")
BESIDE_PX = 2 * measured(8, "reduced px", "by hand: a long piece's corner may be so far beside the field, 25 mm") + 1
TOGETHER_S = measured(0.65, "s", "nobody places two pieces in less, simulated players neither")
SECOND_COLOR_SHARE = SMALLEST_PIECE_SHARE / 2
"""Came in ``TOGETHER_S`` of a second colour: 0 in 36 clean duels, 0.008 and more of 24 pushed in."""
MOVED = measured(2, "times its area before", "by hand: a piece that fell shows no larger side")
ON_GROUND = measured(0.6, "of a piece's foot", "by hand: so much of it is in the field when its corner is beside it")


@dataclass(frozen=True, eq=False)
class FieldSnapshot:
    """One zone in the reduced copy: ``at`` the window's first row and column; ``image`` (h, w, 3) uint8; ``piece``
    (h, w) bool, where builds are seen and the colour is a piece's; ``field``: how many pixels the field has; whether a
    ``hand`` is over it; ``ground`` (h, w) bool, the field itself on the table, and ``labels`` (h, w) int8, the colours
    of the whole window, >= 0 a piece's (None: the whole window is the field); ``rest`` (h, w) bool, what is still and
    of no hand."""

    at: tuple[int, int]
    image: np.ndarray
    piece: np.ndarray
    field: int
    hand: bool = False
    ground: np.ndarray | None = None
    labels: np.ndarray | None = None
    rest: np.ndarray | None = None

    @property
    def coloured(self) -> np.ndarray:
        """(h, w) bool: what has a piece's colour, in the field or beside it."""
        return self.piece if self.labels is None else self.labels >= 0

    @cached_property
    def sharpness(self) -> float:
        """How much neighbouring pixels differ, on average."""
        return float(np.abs(cv2.Laplacian(self.image, cv2.CV_16S)).mean())

    @property
    def is_bare(self) -> bool:
        """Whether nothing as large as a piece stands in the field."""
        return not is_piece(self.coloured if self.ground is None else _standing(self.coloured, self.ground), self.field)

    def has_changed_since(self, other: "FieldSnapshot") -> bool:
        """Whether anything as large as a piece looks otherwise than there, or the window is another."""
        return not _same_window(self, other) or is_piece(~_like(self, other), self.field)

    def unlike(self, other: "FieldSnapshot") -> float:
        """How much of what is a piece here looks otherwise there, as a share of the field's pixels; all of it where the
        windows are not of one size."""
        if self.image.shape != other.image.shape:
            return 1.0
        return float((self.piece & ~_like(self, other)).sum()) / max(1, self.field)


def pieces_placed(before: Sequence[FieldSnapshot], after: Sequence[FieldSnapshot]) -> Placed:
    """When the pieces of the last sight of ``after`` came: sights before the press, and after it, in order."""
    last = after[-1] if after else None
    clear = _clear(before, last)
    if last is None or clear is None:
        return "unknown"
    new = last.piece & ~_like(clear, last)
    came = new & _twice(clear, after)
    if is_piece(came & ~_twice(last, before), last.field):
        return "after"
    hidden = came | new & ~_looks_like(last, before).any(0)
    return "unknown" if is_piece(hidden, last.field) else "before"


@dataclass(frozen=True)
class Arrival:
    """When a piece came: numbers of the last sight in which its place was ``bare``, and of the first after that in
    which it ``stands`` there as it does in the end."""

    bare: int
    stands: int


def arrival(before: Sequence[FieldSnapshot], after: Sequence[FieldSnapshot]) -> Arrival | None:
    """When something as large as a piece, and of a piece's colour, came that stands in the field in the last sight of
    ``after``; None where nothing came. What stood there before the Stop as it does now was not brought after it: a
    sleeve as pale as paper shows its place bare."""
    if not after:
        return None
    last = after[-1]
    clear = _clear([*before, *after[:1]], last)  # right after the Stop it is the newest
    if clear is None:
        return None
    new = last.coloured & ~clear.coloured & ~_like(clear, last) & ~_twice(last, before)
    # it was bare in two looks in a row, or in one over which no hand is
    new &= _twice(clear, after) | _looks_like(clear, [s for s in after if not s.hand]).any(0)
    new = _in_field(new, clear, last)
    if not is_piece(new, last.field):
        return None
    shows = [(n, s) for n, s in enumerate(after) if _same_window(s, last)]
    bare = [n for n, s in shows if is_piece(new & _like(s, clear), last.field)]
    if not bare:
        return None
    return Arrival(bare[-1], next(n for n, s in shows if n > bare[-1] and is_piece(new & _like(s, last), last.field)))


def came_together(looks: Sequence[tuple[float, FieldSnapshot]], bare_field: FieldSnapshot) -> float | None:
    """When pieces of two colours began to come, faster than anybody places one after the other, to where the last sight
    shows them, more than has gone from elsewhere in the field (a build that falls moves there; what was seen there at
    the go stands beside it); None where none did. Time counts from the first look in which a place is not bare, or a
    little after the last in which it is where looks are rare. ``looks``: times and sights in order; no hand is over the
    first and the last. Where the first does not look as the duel's ``bare_field`` did an arm may hide what is there."""
    times, sights = zip(*looks, strict=True)
    clear, last = sights[0], sights[-1]
    if last.labels is None or clear.labels is None or not _same_window(clear, last):
        return None
    differs = (clear.labels != last.labels) & ~_like(clear, last)
    same = _same_window(bare_field, clear)
    as_bare = _like(bare_field, clear) if same else np.zeros(differs.shape, bool)
    gone_from_beside, pixels = np.unique(clear.labels[differs & clear.coloured & as_bare], return_counts=True)
    taken = gone_from_beside[pixels >= SMALLEST_PIECE_SHARE * last.field]
    fresh = last.piece & differs & (~clear.coloured | np.isin(last.labels, taken))  # else it was behind what went
    new = _in_field(fresh & as_bare if same else fresh, clear, last)
    if not is_piece(new, last.field):
        return None
    gone = _in_field(clear.coloured, clear, last) & ~_like(clear, last) & ~as_bare
    none, found = np.zeros(new.shape, bool), None
    bare, there = (
        [new & _like(one, sight) if _same_window(sight, last) else none for sight in sights] for one in (clear, last)
    )
    for n, from_s in enumerate(times[:-1]):
        since_s = min(times[n + 1], from_s + TOGETHER_S / 3)  # between two looks nobody knows
        later = [there[m] for m in range(n + 1, len(times)) if times[m] - since_s <= TOGETHER_S]
        came = bare[n] & np.any([none, *later], 0)
        colors = np.unique(last.labels[came])
        areas = [_opened(came & (last.labels == k)).sum() - MOVED * (gone & (clear.labels == k)).sum() for k in colors]
        if len(areas) > 1 and sorted(areas)[-2] >= SECOND_COLOR_SHARE * last.field:
            found = from_s
    return found


def _in_field(new: np.ndarray, clear: FieldSnapshot, last: FieldSnapshot) -> np.ndarray:
    """(h, w) bool: what of the mask stands in the field, on what stood in it, or on more of the mask that does. What is
    put down behind the field is seen over it, and what lies before it is seen into it."""
    if last.ground is None:
        return new
    ground, opened = _grown(last.ground), _opened(new)
    ground |= _grown(_standing(clear.coloured, ground))
    stands, below = _standing(opened, ground), np.zeros(new.shape, bool)
    while (stands & ~below).any():
        below, stands = stands, _standing(opened, ground | _grown(_grown(stands)))  # an edge has no colour
    return stands


def _standing(mask: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """(h, w) bool: the connected parts of the mask whose lowest pixels are mostly on the ground, or just over it. One
    whose lowest corner is a little beside the ground stands on it when most of its foot does."""
    found, beside = np.zeros(mask.shape, bool), cv2.dilate(ground.astype(np.uint8), np.ones((1, BESIDE_PX))) > 0
    for part in regionprops(label(mask, connectivity=1)):
        lowest = part.slice[0].stop - 1 - np.argmax(part.image[::-1], 0)
        foot = lowest >= lowest.max() - 1
        under = np.minimum(lowest + 1, len(mask) - 1), np.arange(part.slice[1].start, part.slice[1].stop)
        on, near = ground[under], beside[under]
        mostly = on.mean() > ON_GROUND and 2 * near[foot].sum() > foot.sum()
        found[part.slice] |= part.image & (mostly or 2 * on[foot].sum() > foot.sum())
    return found


def _clear(before: Sequence[FieldSnapshot], last: FieldSnapshot | None) -> FieldSnapshot | None:
    return next((s for s in reversed(before) if last and _same_window(s, last) and not s.hand), None)


def _twice(like: FieldSnapshot, among: Sequence[FieldSnapshot]) -> np.ndarray:
    """(h, w) bool: looked like that sight in two of those in a row: once may be chance."""
    looks = _looks_like(like, among)
    return np.asarray((looks[1:] & looks[:-1]).any(0))


def _looks_like(like: FieldSnapshot, among: Sequence[FieldSnapshot]) -> np.ndarray:
    """(n, h, w) bool: looked like that sight, in each of those that show its window."""
    looks = [_like(one, like) for one in among if _same_window(one, like)]
    return np.array(looks, bool).reshape(-1, *like.piece.shape)


def _same_window(one: FieldSnapshot, other: FieldSnapshot) -> bool:
    """A mat that was located anew may have moved it by a pixel."""
    return one.at == other.at and one.image.shape == other.image.shape


def _like(one: FieldSnapshot, other: FieldSnapshot) -> np.ndarray:
    """(h, w) bool: the same is to be seen there."""
    return np.asarray(channel_max(cv2.absdiff(one.image, other.image)) <= CHANGED)


def is_piece(mask: np.ndarray, field: int) -> bool:
    """Whether some connected part of the mask (h, w), without what is thin, is as large as a piece."""
    least = SMALLEST_PIECE_SHARE * field
    few = np.count_nonzero(mask) < least  # for time: most masks are empty
    return not few and any(part.area >= least for part in regionprops(label(_opened(mask), connectivity=1)))


def _opened(mask: np.ndarray) -> np.ndarray:
    """(h, w) uint8: the mask without what is thin."""
    return cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))


def _grown(mask: np.ndarray) -> np.ndarray:
    """(h, w) bool: the mask and what is next to it."""
    return np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0)
