"""What is not a piece: pixels that fit neither the bare table, in light or in shadow, nor any learned colour.

A phone, a hand, a cup in the field is never explained by a piece; it is *unknown*. What is known is told by four
things: the table as it would show there (the empty frame's own pixel, else the paper's own light) as bright or
darker, the tint of a shadow growing with its depth as the room's second light fills it; gloss, which is as light as
paper; a palette's colour; and wood where paint has worn off, beside paint. Rims, where two known things mix, are
thin; what is left after thin things are taken away is a patch. And whatever its colour, what is larger than all pieces
of that colour together is no piece.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from skimage.measure import label, regionprops
from skimage.morphology import remove_small_objects

from calibration.palette import Palette, lit_as
from cards.pieces import PieceSet
from referee.vision.image.background import DEEPEST, SHADED, UNKNOWN_DENSITY
from referee.vision.image.parts import around
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured

UNKNOWN_THIN_MM = measured(5.0, "mm", "rims of pieces at 1 px a mm are 3 px wide; fingers, tongs and pens are wider")
OUTSIZED_THIN_MM = measured(7.0, "mm", "by hand: what joins two things is thinner, fingers are not")
OUTSIZED_TIMES = measured(
    1.3,
    "of all that a colour's pieces can show",
    "clean frames of devset and devset2 have at most 1.0, hands 1.1 to 5.4; what is nearer looks larger",
)
_, RED_SD, BLUE_SD = SHADED.sd
"""Spreads of a shadow's tint about the room's own; the red one is that of the ends of its range, too."""
GLOSS_LIGHT = measured(-0.3, "log light", "by hand: gloss is hardly darker than paper")
BRIGHTER = measured(0.15, "log light", "by hand: what a second reflection adds")

_PEAK = -math.log(2 * math.pi * RED_SD * BLUE_SD * (BRIGHTER - DEEPEST))

SHADES = measured((0.25, 0.45, 0.7), "of the light", "by hand: what a colour is looked for in beside its own light")


@dataclass(frozen=True, eq=False)
class UnknownThing:
    """One unknown thing: ``share`` of the field's pixels, its middle on the table in mm, its size relative to the set's
    smallest piece, and its ``outline`` (n, 2) in pixels of the view."""

    share: float
    x_mm: float
    y_mm: float
    pieces: float
    outline: np.ndarray


def log_shadow(d: np.ndarray, tint: np.ndarray) -> np.ndarray:
    """Log density (h, w) of the bare table in any light or shadow, for features (h, w, 3) relative to it."""
    light = d[..., 0]
    beyond = np.maximum(np.maximum(DEEPEST - light, light - BRIGHTER), 0) / RED_SD
    depth = np.clip(light, DEEPEST, 0.0)
    off = ((d[..., 1] - tint[0] * depth) / RED_SD) ** 2 + ((d[..., 2] - tint[1] * depth) / BLUE_SD) ** 2
    return _PEAK - 0.5 * (beyond * beyond + off)


def log_gloss(f: np.ndarray) -> np.ndarray:
    """Log density (h, w) of gloss, for features (h, w, 3)."""
    below = np.maximum(GLOSS_LIGHT - f[..., 0], 0) / RED_SD
    return _PEAK - 0.5 * (below * below + (f[..., 1] / RED_SD) ** 2 + (f[..., 2] / BLUE_SD) ** 2)


def log_shaded(f: np.ndarray, palette: Palette, tint: np.ndarray) -> np.ndarray:
    """Log density (n,) of features (n, 3) under the palette's colours in a shadow with that ``tint``."""
    most = np.full(len(f), -np.inf, np.float32)
    for left in SHADES:
        tinted = f - np.array([0.0, *(tint * math.log(left))], np.float32)
        most = np.maximum(most, lit_as(palette, left).log_density(tinted).max(0))
    return most


def unknown_mask(
    view: ZoneView, f: np.ndarray, bare: np.ndarray, of_pieces: np.ndarray, palette: Palette, tints: np.ndarray
) -> np.ndarray:
    """(h, w) bool: pixels in the field that show nothing known, thin things left out.

    ``f``, ``bare`` (h, w, 3) features, and those of the bare table; ``of_pieces`` (h, w) the greatest density under one
    of the ``palette``'s colours; ``tints`` (n, 2) of the room's shadows.
    """
    _, _, inside = view.regions
    out = np.zeros(inside.shape, bool)
    inside = inside & view.valid
    if not inside.any():
        return out
    part = tuple(slice(at.min(), at.max() + 1) for at in np.nonzero(inside))
    d, told = f[part] - bare[part], np.log(of_pieces[part] + 1e-12)
    shadows = [log_shadow(d, tint) for tint in (np.zeros(2), *tints)]
    known = np.maximum.reduce([told, log_gloss(f[part]), *shadows])
    side = round(UNKNOWN_THIN_MM * view.px_per_mm)
    strange = ((known < UNKNOWN_DENSITY) & inside[part]).astype(np.uint8)
    for tint in tints:
        doubtful = np.nonzero(strange)
        strange[doubtful] = log_shaded(f[part][doubtful], palette, tint) < UNKNOWN_DENSITY
    out[part] = cv2.morphologyEx(strange, cv2.MORPH_OPEN, np.ones((side, side), np.uint8)) > 0
    return out


def patches(view: ZoneView, mask: np.ndarray, piece_set: PieceSet) -> tuple[UnknownThing, ...]:
    """The unknown things of a mask (h, w), largest first."""
    field = max(int((view.regions[2] & view.valid).sum()), 1)
    smallest = smallest_face_mm2(piece_set) * view.px_per_mm**2
    found = []
    for part in regionprops(label(mask)):
        x, y = view.to_ground(np.array([part.centroid[::-1]]))[0]
        outline, _ = cv2.findContours(part.image.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        at = outline[0].reshape(-1, 2) + part.bbox[1::-1]
        found.append(UnknownThing(part.area / field, float(x), float(y), part.area / smallest, at))
    return tuple(sorted(found, key=lambda p: -p.share))


def outsized(view: ZoneView, labels: np.ndarray, names: Sequence[str], piece_set: PieceSet) -> np.ndarray:
    """(h, w) bool: patches of one colour that reach into the field and are larger than all pieces of that colour
    together can look: an arm of a colour like skin's, a sleeve, a cloth. ``labels`` (h, w) index ``names``."""
    _, _, inside = view.regions
    out = np.zeros(labels.shape, bool)
    side = (round(OUTSIZED_THIN_MM * view.px_per_mm),) * 2
    for k, most in enumerate(_most_mm2(piece_set, names) * OUTSIZED_TIMES * view.px_per_mm**2):
        if (labels == k).sum() <= most:
            continue
        whole = cv2.morphologyEx((labels == k).astype(np.uint8), cv2.MORPH_OPEN, np.ones(side, np.uint8))
        large = remove_small_objects(whole > 0, max_size=most, connectivity=2)
        out |= around(inside & view.valid, large)
    return out


def _most_mm2(piece_set: PieceSet, names: Sequence[str]) -> np.ndarray:
    """(k,) mm²: the most that all pieces of each colour together can show: each block from where its three faces show
    most, the root of the sum of their squares."""
    most = dict.fromkeys(names, 0.0)
    for name, color, count in piece_set.pieces:
        shape = piece_set.shapes[name]
        faces = (shape.width * shape.height, shape.width * shape.depth, shape.depth * shape.height)
        most[color] += count * math.hypot(*faces)
    return np.array([most[name] for name in names])


def smallest_face_mm2(piece_set: PieceSet) -> float:
    """Area of the smallest front that a piece of the set has, in mm²."""
    return min(shape.width * shape.height for shape in piece_set.shapes.values())
