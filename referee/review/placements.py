"""Which piece was placed when: colours that come to stay in the field, resting on it or on what stands.

A patch is a piece when it covers enough for one of its colour, fills its outline, and stands with its lower
edge on the field or on pieces that came before: so a loose piece that a hand uncovers is none, nor is a
sleeve or a pair of tongs of a piece's colour. A player on the camera's side hides the build while placing:
then the piece was placed between the last sight of its empty place and the first sight of it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from cards.pieces import PieceSet
from referee.review.patches import LEAST_SIGHTS, RELEASE_PERCENTILE, STAY_S, ColorPatch, candidate_patches, color_turns
from referee.review.tracks import OTHER_LABEL, SCALE, UNCHANGED_LABEL, ZoneTrack
from referee.vision.image.parts import around

QUICKEST_S = 0.3
"""Nobody can place a piece sooner after the go."""

IN_SIGHT_S, IN_SIGHT_SHARE = 0.3, 0.08
"""A pixel that was seen so shortly before it turned shows when it did; so many show it for the piece."""

RELEASE_S = 0.09
"""The tongs let go so long after a piece shows where it stays: it is set down slowly. Measured on the two shared
recordings and three simulated ones."""

HAND_GAP_MM = 16.0
"""Between parts of a hand that are no farther apart than twice this nothing is seen of the place behind it. Measured on
the two shared recordings and seven simulated ones: half of it changed less."""

BARE_PERCENTILE = 75.0
"""Percentile of the last sights of a place without its piece: the piece comes after most of them, whatever part of a
hand had its colour before."""

HIDDEN_SHARE = 0.5
"""Behind a hand a piece is set down after this share of the time that its place is hidden. Measured on the two shared
recordings and seven simulated ones: 0.65 told it 0.02 s later, 0.4 was wider off."""

STANDS_SHARE, BELOW_PX = 0.2, 8
"""So much of a lower edge, so near what carries it: a wide piece on a narrow one, half behind others."""

LEAST_SOLIDITY = 0.5
"""Placed pieces of the shared recordings have 0.85 and more, tongs, sleeves and shaded edges 0.1 to 0.46; of
simulated ones, half behind others, 0.51."""


@dataclass(frozen=True, eq=False)
class PlacedPiece:
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
        return {
            "seconds": round(self.seconds, 3),
            "within_s": round(self.within_s, 2),
            "color": self.color,
            "shape": self.shape,
            "area_mm2": round(self.area_mm2),
        }


def placed_pieces(
    strip: ZoneTrack, piece_set: PieceSet, from_s: float = 0.0, until_s: float = math.inf
) -> list[PlacedPiece]:
    """The pieces that were placed between those times (go and Stop), in the order of time."""
    turned, before = color_turns(_uncovered(strip), max(LEAST_SIGHTS + 1, round(STAY_S * strip.rate_hz)))
    patches = [p for k in range(len(strip.colors)) for p in candidate_patches(strip, turned, before, k, piece_set)]
    standing: list[PlacedPiece] = []
    for patch in sorted(patches, key=lambda p: (p.there_s, p.seconds)):
        under = [p for p in standing if (np.roll(patch.mask, BELOW_PX, 0) & p.mask).any()]  # some is right above it
        candidate = _placed(strip, patch, under)
        same_color = [p.mask for p in standing if p.color == patch.color]
        seen_again = any((mask & patch.mask).sum() > 0.5 * patch.mask.sum() for mask in same_color)  # was covered
        carrying = np.any([p.mask for p in standing] or [strip.field & False], axis=0)
        if (
            from_s + QUICKEST_S < candidate.seconds <= until_s
            and not seen_again
            and stands_in_field(patch.mask, strip.field, carrying)
        ):
            standing.append(candidate)  # what is half hidden is not named, but carries what comes on it
    found = [p for p in standing if solidity(p.mask) >= LEAST_SOLIDITY]
    released = (replace(p, seconds=min(p.seconds + (0.0 if p.within_s else RELEASE_S), until_s)) for p in found)
    return sorted(released, key=lambda p: p.seconds)


def _uncovered(strip: ZoneTrack) -> np.ndarray:
    """The strip's labels (t, h, w) without sights of bare paper in the midst of a hand, pale sleeves and tongs, and
    without what is as grey as paper beside one: a sleeve, or the hand's shadow."""
    reach = round(HAND_GAP_MM * strip.view.px_per_mm * SCALE)
    small, large = np.ones((3, 3), np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1,) * 2)
    out = strip.labels.copy()
    for labels, dim in zip(out, strip.dim, strict=True):
        hand = cv2.morphologyEx((labels == OTHER_LABEL).astype(np.uint8), cv2.MORPH_OPEN, small)
        inside = cv2.morphologyEx(hand, cv2.MORPH_CLOSE, large) > 0
        grey = cv2.morphologyEx(dim.astype(np.uint8), cv2.MORPH_OPEN, small)
        arm = around(hand > 0, (grey > 0) | (hand > 0))
        labels[(inside | arm) & (labels == UNCHANGED_LABEL)] = OTHER_LABEL
    return out


def solidity(mask: np.ndarray) -> float:
    """How much of its convex hull a mask fills: pieces nearly all of it, tongs and sleeves about half."""
    points = np.argwhere(mask)[:, ::-1].astype(np.int32)
    hull = np.zeros(mask.shape, np.uint8)
    cv2.fillConvexPoly(hull, cv2.convexHull(points), 1)
    return float(mask.sum() / (hull > 0).sum())


def _placed(strip: ZoneTrack, patch: ColorPatch, under: Sequence[PlacedPiece]) -> PlacedPiece:
    """In sight: when most pixels in sight had turned, and most of its place was not bare any more; what is seen at one
    look came on average half a step before. Behind a hand: between the sights around it, and after what it stands on
    (``under``)."""
    area, empty, there = float(patch.mask.sum() * strip.mm2), patch.empty_s, patch.there_s
    in_sight = patch.mask & (patch.seen - patch.hidden <= IN_SIGHT_S)
    if there - empty <= IN_SIGHT_S or in_sight.sum() >= IN_SIGHT_SHARE * patch.mask.sum():
        step_s = 1.0 / strip.rate_hz
        turned_s = float(np.percentile(patch.seen[in_sight if in_sight.any() else patch.mask], RELEASE_PERCENTILE))
        bare_s = float(np.percentile(patch.hidden[patch.mask], BARE_PERCENTILE))
        seen_s = max(turned_s, min(bare_s + step_s, patch.seconds))
        return PlacedPiece(seen_s - 0.5 * step_s, patch.color, area, patch.mask)
    empty = min(there, max([empty, *(p.seconds for p in under)]))
    hidden_s = there - empty
    return PlacedPiece(
        empty + HIDDEN_SHARE * hidden_s, patch.color, area, patch.mask, None, max(HIDDEN_SHARE * hidden_s, 0.01)
    )


def stands_in_field(mask: np.ndarray, field: np.ndarray, standing: np.ndarray) -> bool:
    """Whether enough of the mask's lower edge lies in the field or just above what stands; (h, w) bool each."""
    columns = np.flatnonzero(mask.any(0))
    bottom = len(mask) - 1 - mask[::-1].argmax(0)[columns]
    on_field = field[bottom, columns]
    below = [standing[b + 1 : b + 1 + BELOW_PX, c].any() for b, c in zip(bottom, columns, strict=True)]
    return bool((on_field | np.array(below)).mean() > STANDS_SHARE)


def name_shapes(
    found: Sequence[PlacedPiece], strip: ZoneTrack, piece_set: PieceSet, known: Sequence[Mapping]
) -> list[PlacedPiece]:
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


def _distance(known: Mapping, piece: PlacedPiece, strip: ZoneTrack) -> float:
    row, column = strip.pixel(known["x"], known.get("y", 0.0), known["z"])
    rows, columns = np.nonzero(piece.mask)
    return float(np.hypot(rows.mean() - row, columns.mean() - column))
