"""Which piece was placed when: colours that come to stay in the field, resting on it or on what stands.

A pixel *turns* to a colour at the first frame from which on it shows that colour for most of a second;
what a hand covers meanwhile keeps its colour. Pixels that turn together, side by side, are one piece, when
they cover enough for a piece of that colour, fill their outline, and stand with their lower edge on the
field or on pieces that came before: so a loose piece that a hand uncovers is none, nor is a sleeve or a
pair of tongs of a piece's colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from scipy import ndimage

from cards.pieces import PieceSet
from referee.timeline.strip import AS_BEFORE, Strip

QUICKEST_S = 0.3
"""Nobody can place a piece sooner after the go."""

STAY_S, STAY_SHARE, SEEN_SHARE, LOST_STAYS = 1.0, 0.8, 0.3, 3
TOGETHER_S = 0.5
"""Pixels of one piece turn within this of one another: the last of a placing is slow."""

LEAST_SHARE = 0.4
"""Of the smallest front of a piece of that colour; the rest may be behind tongs or other pieces."""

STANDS_SHARE = 0.5
LEAST_SOLIDITY = 0.55
"""Placed pieces of the shared recordings have 0.85 and more, tongs, sleeves and shaded edges 0.1 to 0.5."""

RELEASED = 80.0
"""Percentile of a piece's pixels: most have turned when the tongs let go, the rest when they are gone."""


@dataclass(frozen=True, eq=False)
class Placed:
    """A piece that came to stay. ``mask`` (h, w) bool: the strip's pixels that turned; ``shape`` if known."""

    seconds: float
    color: str
    area_mm2: float
    mask: np.ndarray
    shape: str | None = None

    def to_json(self) -> dict:
        """JSON-able, without the mask."""
        return {"seconds": round(self.seconds, 3), "color": self.color, "shape": self.shape,
                "area_mm2": round(self.area_mm2)}


def placed(strip: Strip, piece_set: PieceSet, from_s: float = 0.0, until_s: float = math.inf) -> list[Placed]:
    """The pieces that were placed between those times (go and Stop), in the order of time."""
    candidates = [c for k in range(len(strip.colors)) for c in _clusters(strip, k, piece_set)]
    standing = np.zeros(strip.field.shape, bool)
    found: list[Placed] = []
    for candidate in sorted(candidates, key=lambda c: c.seconds):
        if not (from_s + QUICKEST_S < candidate.seconds <= until_s) or _there_already(candidate, found) \
                or not stands(candidate.mask, strip.field, standing):
            continue
        standing |= candidate.mask  # what is half hidden is not named, but carries what comes on it
        if solidity(candidate.mask) >= LEAST_SOLIDITY:
            found.append(candidate)
    return found


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


def turns(labels: np.ndarray, stay: int) -> np.ndarray:
    """(t, h, w) int8: the colour each pixel turns to at that frame, AS_BEFORE where it turns to none.

    ``labels`` (t, h, w). A pixel turns to a colour when it shows it now and, in the next ``stay`` frames, for
    SEEN_SHARE of all and for STAY_SHARE of those that show this colour or the background: what covers it
    meanwhile says nothing. It loses its colour when it shows the background for as long, or none at all for
    LOST_STAYS times that.
    """
    colors = range(int(labels.max(initial=0)) + 1)
    state = _opening_state(labels[:stay], colors)
    out = np.full(labels.shape, AS_BEFORE, np.int8)
    for t, now in enumerate(labels):
        window = labels[t:t + stay]
        ground = (window == AS_BEFORE).sum(0)
        for k in colors:
            shown = (window == k).sum(0)
            new = ((now == k) & (state != k) & (shown >= SEEN_SHARE * len(window))
                   & (shown >= STAY_SHARE * (shown + ground)))
            state[new] = out[t][new] = k
        long = labels[t:t + LOST_STAYS * stay]
        state[(ground >= STAY_SHARE * stay) | ((long < 0).sum(0) >= STAY_SHARE * LOST_STAYS * stay)] = AS_BEFORE
    return out


def _opening_state(first: np.ndarray, colors: Iterable[int]) -> np.ndarray:
    """(h, w) int8: the colour that a pixel mostly shows at first, AS_BEFORE where it shows none."""
    state = np.full(first.shape[1:], AS_BEFORE, np.int8)
    for k in colors:
        state[(first == k).mean(0) > 0.5] = k
    return state


def _clusters(strip: Strip, k: int, piece_set: PieceSet) -> list[Placed]:
    rate = strip.rate_hz
    turned = turns(strip.labels, max(2, round(STAY_S * rate))) == k
    near = np.ones((max(3, round(TOGETHER_S * rate) | 1), 3, 3), bool)
    groups, _ = ndimage.label(ndimage.binary_dilation(turned, near), np.ones((3, 3, 3)))
    groups[~turned] = 0
    least = LEAST_SHARE * smallest_front(piece_set, strip.colors[k])
    found = []
    for n, box in enumerate(ndimage.find_objects(groups), 1):
        if box is not None:
            mine = groups[box] == n
            area = mine.any(0).sum() * strip.mm2
            if area >= least:
                found.append(_placed(strip, k, mine, box, area))
    return found


def _placed(strip: Strip, k: int, mine: np.ndarray, box: tuple, area: float) -> Placed:
    mask = np.zeros(strip.field.shape, bool)
    mask[box[1:]] = mine.any(0)
    when = strip.seconds[np.nonzero(mine)[0] + box[0].start]
    return Placed(float(np.percentile(when, RELEASED)), strip.colors[k], float(area), mask)


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
    below = [standing[b + 1:b + 5, c].any() for b, c in zip(bottom, columns, strict=True)]
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
