"""Which piece was placed when: colours that come to stay in the field, resting on it or on what stands.

A pixel *turns* to a colour at the first frame from which on it shows that colour for most of a second;
what a hand covers meanwhile keeps its colour, and the time it is covered does not count. Pixels that turn
together, side by side, are one piece, with those beside them that were hidden then, when they cover enough
for a piece of that colour, fill their outline, and stand with their lower edge on the field or on pieces that
came before: so a loose piece that a hand uncovers is none, nor is a sleeve or a pair of tongs of a piece's
colour. A player on the camera's side hides the build while placing: then the piece was placed between the
last sight of its empty place and the first sight of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from scipy import ndimage

from cards.pieces import PieceSet
from referee.timeline.strip import AS_BEFORE, OBLIQUE, OTHER, Strip

QUICKEST_S = 0.3
"""Nobody can place a piece sooner after the go."""

STAY_S, STAY_SHARE, LEAST_SIGHTS = 0.8, 0.8, 3
"""A colour that comes to stay: its share of the sights in the next STAY_S of uncovered time, and how many
sights there must be when the video or the player's patience ends sooner."""

TOGETHER_S, AT_ONCE_S = 0.5, 0.2
"""Pixels of one piece turn within this of one another: the last of a placing is slow. Within the shorter time
where there are more of them than one piece can have."""

LEAST_SHARE = 0.4
"""Of the smallest front of a piece of that colour; the rest may be behind tongs or other pieces."""

FRAGMENT_SHARE = 0.25
"""Of that: smaller patches are not looked at again."""

SMALL_SHARE, FRAGMENT_S = 0.7, 1.0
"""What covers less than this of a front, beside a larger patch that came within this time, is part of it."""

IN_SIGHT_S, IN_SIGHT_SHARE = 0.3, 0.08
"""A pixel that was seen so shortly before it turned shows when it did; so many show it for the piece."""

STANDS_SHARE, BELOW_PX = 0.2, 8
LEAST_SOLIDITY = 0.5
"""Placed pieces of the shared recordings have 0.85 and more, tongs, sleeves and shaded edges 0.1 to 0.46; of
simulated ones, half behind others, 0.51."""

RELEASED = 80.0
"""Percentile of a piece's pixels: most have turned when the tongs let go, the rest when they are gone."""

FEW = 10.0
"""Percentile of a piece's pixels that may be misread without harm."""


@dataclass(frozen=True, eq=False)
class Placed:
    """A piece that came to stay. ``mask`` (h, w) bool: the strip's pixels that turned; ``shape`` if known.

    ``within_s``: how far the true time may be off because a hand hid the place, 0 when it was in sight.
    """

    seconds: float
    color: str
    area_mm2: float
    mask: np.ndarray
    shape: str | None = None
    within_s: float = 0.0

    def to_json(self) -> dict:
        """JSON-able, without the mask."""
        return {"seconds": round(self.seconds, 3), "within_s": round(self.within_s, 2), "color": self.color,
                "shape": self.shape, "area_mm2": round(self.area_mm2)}


@dataclass(frozen=True, eq=False)
class _Patch:
    """Pixels of one colour that turned together. ``mask`` (h, w) bool; ``hidden``, ``seen`` (h, w) seconds of
    the last sight without the colour and the first with it, valid where ``mask`` is."""

    color: str
    mask: np.ndarray
    hidden: np.ndarray
    seen: np.ndarray

    @property
    def seconds(self) -> float:
        return float(np.percentile(self.seen[self.mask], RELEASED))

    @property
    def empty_s(self) -> float:
        return float(np.percentile(self.hidden[self.mask], 100 - FEW))

    @property
    def there_s(self) -> float:
        return float(np.percentile(self.seen[self.mask], FEW))


def placed(strip: Strip, piece_set: PieceSet, from_s: float = 0.0, until_s: float = math.inf) -> list[Placed]:
    """The pieces that were placed between those times (go and Stop), in the order of time."""
    turned, before = turns(strip.labels, max(LEAST_SIGHTS + 1, round(STAY_S * strip.rate_hz)))
    patches = [p for k in range(len(strip.colors)) for p in _candidates(strip, turned, before, k, piece_set)]
    standing: list[Placed] = []
    for patch in sorted(patches, key=lambda p: (p.there_s, p.seconds)):
        under = [p for p in standing if _rests_on(patch.mask, p.mask)]
        candidate = _placed(strip, patch, under)
        carrying = np.any([p.mask for p in standing] or [strip.field & False], axis=0)
        if from_s + QUICKEST_S < candidate.seconds <= until_s and not _there_already(candidate, standing) \
                and stands(patch.mask, strip.field, carrying):
            standing.append(candidate)  # what is half hidden is not named, but carries what comes on it
    found = [p for p in standing if solidity(p.mask) >= LEAST_SOLIDITY]
    return sorted(found, key=lambda p: p.seconds)


def _rests_on(mask: np.ndarray, other: np.ndarray) -> bool:
    """Whether some of the mask (h, w) is right above some of the other."""
    return bool((np.roll(mask, BELOW_PX, 0) & other).any())


def _there_already(piece: Placed, found: Sequence[Placed]) -> bool:
    """Whether it is one of the found pieces, seen again after something covered it."""
    return any(p.color == piece.color and (p.mask & piece.mask).sum() > 0.5 * piece.mask.sum() for p in found)


def _hull(mask: np.ndarray) -> np.ndarray:
    """The mask's convex hull, (h, w) bool."""
    points = np.argwhere(mask)[:, ::-1].astype(np.int32)
    out = np.zeros(mask.shape, np.uint8)
    cv2.fillConvexPoly(out, cv2.convexHull(points), 1)
    return out > 0


def solidity(mask: np.ndarray) -> float:
    """How much of its convex hull a mask fills: pieces nearly all of it, tongs and sleeves about half."""
    return float(mask.sum() / _hull(mask).sum())


def turns(labels: np.ndarray, stay: int) -> tuple[np.ndarray, np.ndarray]:
    """(t, h, w) int8: the colour each pixel turns to at that frame, AS_BEFORE where it turns to none; and
    (t, h, w) int16: the frame of its last sight without that colour, -1 for none.

    ``labels`` (t, h, w). What is neither a colour nor the background covers a pixel and is no sight of it.
    """
    lasting = _lasting(labels, stay)
    state = _opening_state(labels[:stay], range(int(labels.max(initial=0)) + 1))
    out, before = np.full(labels.shape, AS_BEFORE, np.int8), np.full(labels.shape, -1, np.int16)
    without = {k: np.full(state.shape, -1, np.int16) for k in range(int(labels.max(initial=0)) + 1)}
    for t, now in enumerate(labels):
        for k, last in without.items():
            new = (lasting[t] == k) & (state != k)
            out[t][new], before[t][new] = k, last[new]
            last[(now != k) & (now != OTHER)] = t
        changed = lasting[t] != OTHER
        state[changed] = lasting[t][changed]
    return out, before


def _lasting(labels: np.ndarray, stay: int) -> np.ndarray:
    """(t, h, w) int8: the label a pixel shows when it comes to stay, for most of its next ``stay`` sights;
    OTHER where it does not, or is covered."""
    coming = np.full((stay, *labels.shape[1:]), OTHER, np.int8)  # the next sights of each pixel
    out = np.full(labels.shape, OTHER, np.int8)
    for t in range(len(labels) - 1, -1, -1):
        now, sight = labels[t], labels[t] != OTHER
        coming[1:, sight] = coming[:-1, sight]
        coming[0, sight] = now[sight]
        sights = (coming != OTHER).sum(0)
        stays = (coming == now).sum(0) >= np.maximum(STAY_SHARE * sights, LEAST_SIGHTS)
        out[t][sight & stays] = now[sight & stays]
    return out


def _opening_state(first: np.ndarray, colors: Iterable[int]) -> np.ndarray:
    """(h, w) int8: the colour that a pixel mostly shows at first, AS_BEFORE where it shows none."""
    state = np.full(first.shape[1:], AS_BEFORE, np.int8)
    for k in colors:
        state[(first == k).mean(0) > 0.5] = k
    return state


def _candidates(strip: Strip, turned: np.ndarray, before: np.ndarray, k: int, piece_set: PieceSet
                ) -> list[_Patch]:
    """What may be pieces of the k-th colour, by their size; ``turned`` and ``before`` as ``turns`` gives them."""
    color = strip.colors[k]
    front = smallest_front(piece_set, color) / strip.mm2
    patches = list(_patches(strip, turned == k, before, k, FRAGMENT_SHARE * LEAST_SHARE * front))
    most = largest_sight(piece_set, color) / strip.mm2
    patches = [part for patch in patches for part in _split(patch, LEAST_SHARE * front, most)]
    patches = _without_fragments(patches, SMALL_SHARE * front)
    found = []
    while patches:
        patches.sort(key=lambda p: p.seconds)
        piece, patches = _completed(patches[0], patches[1:], most)
        found.append(piece)
    return [p for p in found if p.mask.sum() >= LEAST_SHARE * front]


def _patches(strip: Strip, turned: np.ndarray, before: np.ndarray, k: int, least_px: float) -> Iterator[_Patch]:
    near = np.ones((max(3, round(TOGETHER_S * strip.rate_hz) | 1), 3, 3), bool)
    groups, _ = ndimage.label(ndimage.binary_dilation(turned, near), np.ones((3, 3, 3)))
    groups[~turned] = 0
    for n, box in enumerate(ndimage.find_objects(groups), 1):
        if box is not None and (mine := groups[box] == n).any(0).sum() >= least_px:
            yield _patch(strip, k, mine, before[box], box)


def _split(patch: _Patch, least_px: float, most_px: float) -> list[_Patch]:
    """One patch, or two where a good part of it was seen without the colour when the first part had it."""
    first = float(np.percentile(patch.seen[patch.mask], FEW))
    slow = TOGETHER_S if patch.mask.sum() <= most_px else AT_ONCE_S
    later = patch.mask & (patch.hidden > first + slow)
    if min(later.sum(), patch.mask.sum() - later.sum()) < least_px:
        return [patch]
    return [replace(patch, mask=patch.mask & ~later),
            *_split(replace(patch, mask=later), least_px, most_px)]


def _without_fragments(patches: Sequence[_Patch], small_px: float) -> list[_Patch]:
    """The patches with the small ones made part of a larger one beside them that came within a second."""
    large = [p for p in patches if p.mask.sum() >= small_px]
    for piece in (p for p in patches if p.mask.sum() < small_px):
        n = next((n for n, p in enumerate(large) if abs(p.seconds - piece.seconds) < FRAGMENT_S
                  and _around(piece.mask, p.mask | piece.mask).sum() > piece.mask.sum()), None)
        if n is None:
            large.append(piece)
        else:
            large[n] = _joined(large[n], piece, piece.mask, large[n].seconds)
    return large


def _joined(piece: _Patch, other: _Patch, theirs: np.ndarray, seen_s: float) -> _Patch:
    """The piece with ``theirs``, pixels (h, w) of the other patch, as seen from ``seen_s`` on."""
    theirs = theirs & ~piece.mask
    return replace(piece, mask=piece.mask | theirs, hidden=np.where(theirs, other.hidden, piece.hidden),
                   seen=np.where(theirs, seen_s, piece.seen))


def _patch(strip: Strip, k: int, mine: np.ndarray, before: np.ndarray, box: tuple) -> _Patch:
    mask = np.zeros(strip.field.shape, bool)
    hidden, seen = np.zeros(mask.shape), np.zeros(mask.shape)
    first = mine.argmax(0)
    last = np.take_along_axis(before, first[None], 0)[0]
    mask[box[1:]] = mine.any(0)
    seen[box[1:]] = strip.seconds[first + box[0].start]
    hidden[box[1:]] = np.where(last >= 0, strip.seconds[last], 0.0)
    return _Patch(strip.colors[k], mask, hidden, seen)


def _completed(piece: _Patch, later: Sequence[_Patch], most_px: float) -> tuple[_Patch, list[_Patch]]:
    """The piece with those pixels of later patches beside it that were hidden when it was first seen, unless
    that is more than a piece covers; and what is left of the later ones."""
    left = []
    for patch in later:
        hers = patch.mask & (patch.hidden < piece.seconds) & ~piece.mask
        both = _around(piece.mask, piece.mask | hers)
        if (both & hers).any() and both.sum() <= most_px:
            piece = _joined(piece, patch, both & hers, piece.seconds)
            patch = replace(patch, mask=patch.mask & ~both)
        if patch.mask.any():
            left.append(patch)
    return piece, left


def _around(seed: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The parts of the mask (h, w) that hold some of the seed."""
    _, parts = cv2.connectedComponents(mask.astype(np.uint8))
    return np.isin(parts, np.unique(parts[seed])) & mask


def _placed(strip: Strip, patch: _Patch, under: Sequence[Placed]) -> Placed:
    """In sight: when most pixels in sight had turned. Behind a hand: half way between the sights around it,
    and after what it stands on (``under``)."""
    area, empty, there = float(patch.mask.sum() * strip.mm2), patch.empty_s, patch.there_s
    in_sight = patch.mask & (patch.seen - patch.hidden <= IN_SIGHT_S)
    if there - empty <= IN_SIGHT_S or in_sight.sum() >= IN_SIGHT_SHARE * patch.mask.sum():
        when = patch.seen[in_sight if in_sight.any() else patch.mask]
        return Placed(float(np.percentile(when, RELEASED)), patch.color, area, patch.mask)
    empty = min(there, max([empty, *(p.seconds for p in under)]))
    return Placed((empty + there) / 2, patch.color, area, patch.mask, None, (there - empty) / 2)


def largest_sight(piece_set: PieceSet, color: str) -> float:
    """The most that one piece of that colour can cover, seen from obliquely above, mm²."""
    shapes = [piece_set.shapes[shape] for shape, its_color, _ in piece_set.pieces if its_color == color]
    return OBLIQUE * max(x * z for shape in shapes for x, _, z in map(shape.size, shape.poses()))


def smallest_front(piece_set: PieceSet, color: str) -> float:
    """Area in mm² of the smallest face that a piece of that colour may turn to the camera."""
    areas = []
    for shape, its_color, _ in piece_set.pieces:
        if its_color == color:
            solid = piece_set.shapes[shape]
            sizes = (solid.size(pose) for pose in solid.poses())
            areas += [x * z * (0.5 if solid.kind in ("triangle", "crescent") else 1.0) for x, _, z in sizes]
    return min(areas)


def stands(mask: np.ndarray, field: np.ndarray, standing: np.ndarray) -> bool:
    """Whether most of the mask's lower edge lies in the field or just above what stands; (h, w) bool each."""
    columns = np.flatnonzero(mask.any(0))
    bottom = len(mask) - 1 - mask[::-1].argmax(0)[columns]
    on_field = field[bottom, columns]
    below = [standing[b + 1:b + 1 + BELOW_PX, c].any() for b, c in zip(bottom, columns, strict=True)]
    return bool((on_field | np.array(below)).mean() > STANDS_SHARE)


def name_shapes(found: Sequence[Placed], strip: Strip, piece_set: PieceSet,
                known: Sequence[Mapping]) -> list[Placed]:
    """The same with shapes: that of the nearest piece of the colour in ``known`` (the contract's or
    the card's pieces), else the only shape of the colour; None where neither tells."""
    left = list(known)
    named = []
    for piece in found:
        options = [p for p in left if p["color"] == piece.color]
        if options:
            nearest = min(options, key=lambda p: _distance(p, piece, strip))
            left.remove(nearest)
            named.append(replace(piece, shape=nearest["shape"]))
        else:
            shapes = {shape for shape, color, _ in piece_set.pieces if color == piece.color}
            named.append(replace(piece, shape=shapes.pop() if len(shapes) == 1 else None))
    return named


def _distance(known: Mapping, piece: Placed, strip: Strip) -> float:
    row, column = strip.pixel(known["x"], known.get("y", 0.0), known["z"])
    rows, columns = np.nonzero(piece.mask)
    return float(np.hypot(rows.mean() - row, columns.mean() - column))
