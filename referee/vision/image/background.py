"""What shows where no piece is: paper, printed markers and the empty frame's own pixels, in the light and in shadow.

A lamp is white; what lights its shadows is the room: its walls, and the players' clothes. So a shadow's tint grows with
its depth, and where a shadow lies over the sheet alone the room beside it looks brighter by as much.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import cv2
import numpy as np

from calibration.mat import SHEET
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured


class Gauss(NamedTuple):
    """One weighted normal density of a mixture: its share, and mean and standard deviation of each feature."""

    share: float
    mean: tuple[float, float, float]
    sd: tuple[float, float, float]


ANYTHING = measured(1 / 150.0, "density", "one over the volume of the features' box: what fits nothing is strange")
LOG_ANYTHING = math.log(ANYTHING)
NEUTRAL = (0.0, 0.0, 0.0)
COMPONENT_UNIT = "share; mean and standard deviation of the features"
LIGHT_SCALES = measured(
    (0.3, 0.15, 0.08, 0.08, 0.08), "log light", "by hand: off by this a pixel counts a quarter, step by step"
)
DEEPEST = measured(-1.9, "log light", "by hand: of a shadow at its deepest, relative to the table in the light")
FEW_PX = measured(400, "px", "by hand: fewer pixels tell no light, no tint of a shadow, and no colours off the mats")
SAMPLE_PX = measured(4000, "px", "for time: light, and what is off the mats, are told from so many")
PLAIN_TINT = measured(0.3, "log light of a channel against others", "by hand: what is more tinted is no bare paper")
LIT_LEAST = measured(-0.6, "log light", "by hand: paper in deeper shadow tells nothing of the light")
LIGHT_STIFF = measured(0.01, "of a pixel's weight", "by hand: holds what no pixel tells")
INK = measured(Gauss(1.0, (-1.2, 0.0, 0.0), (1.2, 0.2, 0.25)), COMPONENT_UNIT, "by hand: inside a marker, any grey")
UNCHANGED = measured(Gauss(0.8, NEUTRAL, (0.10, 0.08, 0.09)), COMPONENT_UNIT, "by hand: as in the empty frame")
SHADED = measured(Gauss(0.2, (-0.4, 0.0, 0.0), (0.35, 0.14, 0.18)), COMPONENT_UNIT, "by hand: in a shadow of a piece")
RELIT_STEP = measured(0.25, "log light", "by hand: a soft end of a shadow passes in steps of this")
LIGHT_BEGIN = measured((50, 70), "per cent of the pixels", "by hand: where the fit begins, without and with shadows")
PAPER_LIT = measured(Gauss(0.75, NEUTRAL, (0.10, 0.06, 0.07)), COMPONENT_UNIT, "by hand: paper in the light")
PAPER_SHADED = measured(Gauss(0.17, (-0.3, 0.0, 0.0), (0.25, 0.09, 0.12)), COMPONENT_UNIT, "by hand: in a soft shadow")
PAPER_DARK = measured(
    Gauss(0.07, (-0.9, 0.0, 0.1), (0.45, 0.15, 0.25)), COMPONENT_UNIT, "by hand: in a deep one, which may be tinted"
)
UNKNOWN_DENSITY = measured(
    -6.0, "log density of (l, a, b)", "about 3.8 spreads off a usual colour; -4 calls worn rims unknown, -8 loses skin"
)
TINTS = measured(2, "tints", "two lamps light one another's shadows")
TINT_DEPTHS = measured(
    ((-0.12, -0.18), (-0.25, -0.36), (-0.5, -0.7), (-1.0, -1.4)),
    "log light",
    "by hand: a shadow's soft end has them all; between them is a step, lest one colour share a tint with itself",
)
TINT_RANGE = measured(((-1.2, 1.2), (-1.2, 2.4)), "tint a unit of depth, in a and b", "rendered: up to -0.5 and 2.2")
TINT_STEP = measured(0.1, "tint a unit of depth", "by hand: the cells in which pixels are counted")
TINT_BLUR = measured(0.7, "cells", "by hand: grain spreads a tint over a few of them")
TINT_PX = measured(10.0, "px of a cell", "by hand: of some 25,000 of a sheet; without tinted shadows few are alike")
TINT_APART = measured(3, "cells", "by hand: nearer to the most frequent one is the same tint")
TINT_LEAST = measured(0.5, "tint a unit of depth", "less is within ``SHADED``, and white pieces have it too")
PAINT_SHADES = measured((-0.3, 0.0, 0.3), "log light", "by hand: a paint's sides beside its usual light")
PAINT_NEAR = measured(0.3, "tint a unit of depth", "by hand: so near to a paint's own a tint may be that paint")
SHADOWED_WEIGHT = measured(0.5, "of a pixel's weight", "by hand: what lies below the light fitted may be in shadow")
RELIT = measured(Gauss(0.3, NEUTRAL, (0.14, 0.10, 0.12)), COMPONENT_UNIT, "by hand: by a shadow over the sheet alone")
LEAST_RELIT = measured(
    0.4,
    "step of a feature",
    "of the sheet's white against the empty frame's, below which the room is taken to change with it: sessions without "
    "a shadow over the sheet have at most 0.36 (a camera that exposes anew), a lost third of light 0.4",
)


def normal(f: np.ndarray, mean: Sequence[float] | np.ndarray, sd: Sequence[float] | np.ndarray) -> np.ndarray:
    """Log density of a normal distribution without correlations, for features (…, 3)."""
    norm = -sum(math.log(s) for s in sd) - 1.5 * math.log(2 * math.pi)
    parts = [
        np.square((f[..., k] - float(m)) * (math.sqrt(0.5) / float(s)))
        for k, (m, s) in enumerate(zip(mean, sd, strict=True))
    ]
    return norm - parts[0] - parts[1] - parts[2]


def _part(f: np.ndarray, part: Gauss) -> np.ndarray:
    """Log density of a mixture's part, times its share."""
    return normal(f, part.mean, part.sd) + math.log(part.share)


def log_sum(a: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    """log(exp a + exp b), in the precision of ``a``: numpy's own logaddexp is ten times as slow."""
    return np.maximum(a, b) + np.log1p(np.exp(-np.abs(a - b)))


def log_paper(f: np.ndarray) -> np.ndarray:
    """Log density of paper, lit or in shadow (a shadow's light may be tinted), for features (…, 3)."""
    lit, soft, dark = (_part(f, part) for part in (PAPER_LIT, PAPER_SHADED, PAPER_DARK))
    return log_sum(log_sum(lit, soft), dark)


def log_marker(f: np.ndarray) -> np.ndarray:
    """Log density inside a printed marker: any grey."""
    return normal(f, INK.mean, INK.sd)


def log_empty(
    f: np.ndarray, empty: np.ndarray, relit: np.ndarray | None = None, tints: Iterable[np.ndarray] = ()
) -> np.ndarray:
    """Log density of a pixel given the empty frame's: unchanged, or in a shadow of a piece, whose light is the room's
    own and may have one of the ``tints`` (n, 2) that grow with its depth (see ``shadow_tints``).

    Features are relative to the sheet's white. Where that has changed and the room has not, as in a shadow over the
    sheet alone, the room looks changed by ``relit`` (3,), or by a part of it where the shadow ends softly.
    """
    d = f - empty
    shaded = [_part(lit, SHADED) for lit in (d, *(_untinted(d, tint) for tint in tints))]
    known = log_sum(_part(d, UNCHANGED), np.maximum.reduce(shaded))
    if relit is None or np.abs(relit).max() < LEAST_RELIT:
        return known
    u = relit.astype(np.float32)
    off = d - np.clip(d @ u / (u @ u), 0.0, 1.0)[..., None] * u
    steps = max(1.0, float(np.abs(u).max()) / RELIT_STEP)
    return log_sum(known, normal(off, RELIT.mean, RELIT.sd) + math.log(RELIT.share / steps))


def shadow_tints(view: ZoneView, d: np.ndarray, paints: np.ndarray) -> np.ndarray:
    """(n, 2) tints of the shadows on the sheet, in a and b a unit of log light, the most frequent first: at most
    ``TINTS`` of them, none where little shadow is seen or it is hardly tinted.

    ``d`` (h, w, 3) are features relative to the bare table, ``paints`` (k, 3) those of the pieces' paints in white
    light. What lights a lamp's shadow is the room's other light: that of its walls, of the players' clothes, or of
    another lamp. A shadow ends softly, and so has its tint at any depth; a piece or a hand has its own colour in any
    light, and hence another tint a unit of depth at another depth. A tint that one of the paints has is not told.
    """
    paper, marker, _ = view.regions
    light, a, b = np.ascontiguousarray(d.reshape(-1, 3)[np.flatnonzero(paper & ~marker & view.valid)].T)
    edges = [np.arange(low, high + TINT_STEP / 2, TINT_STEP) for low, high in TINT_RANGE]
    counts = []
    for shallow, deep in TINT_DEPTHS:
        there = (deep < light) & (light <= shallow)
        per_cell, *_ = np.histogram2d(a[there] / light[there], b[there] / light[there], edges)
        counts.append(cv2.GaussianBlur(per_cell, (0, 0), TINT_BLUR))
    common = np.max([np.minimum(one, deeper) for one, deeper in pairwise(counts)], 0)
    found: list[list[float]] = []
    while len(found) < TINTS and common.max() > TINT_PX:
        cell = np.unravel_index(common.argmax(), common.shape)
        found.append([edge[k] + TINT_STEP / 2 for edge, k in zip(edges, cell, strict=True)])
        common[tuple(slice(max(k - TINT_APART, 0), k + TINT_APART + 1) for k in cell)] = 0.0
    tints = np.array(found, np.float32).reshape(-1, 2)
    off = np.linalg.norm(tints[:, None] - _paints_own(paints), axis=-1)
    return tints[(np.linalg.norm(tints, axis=-1) > TINT_LEAST) & (off > PAINT_NEAR).all(1)]


def _paints_own(paints: np.ndarray) -> np.ndarray:
    """(n, 2) tints a unit of depth of paints (k, 3) in the light and shaded, where they are no darker than a shadow."""
    light = np.minimum(paints[:, :1] + np.array(PAINT_SHADES), TINT_DEPTHS[0][0])
    return (paints[:, None, 1:] / light[..., None])[light > TINT_DEPTHS[-1][1]]


def _untinted(d: np.ndarray, tint: np.ndarray) -> np.ndarray:
    """Features relative to the bare table without what a shadow's ``tint`` (2,) adds, as much of it as there is: a
    shadow may be of the white lamp, of the room's light, or one within the other."""
    most = np.clip(d[..., 0], DEEPEST, 0.0)
    along = np.clip((d[..., 1] * tint[0] + d[..., 2] * tint[1]) / float(tint @ tint), most, 0.0)
    return np.stack([d[..., 0], d[..., 1] - along * tint[0], d[..., 2] - along * tint[1]], -1)


def white_shift(then: np.ndarray, now: np.ndarray) -> np.ndarray:
    """(3,) by how much the features of what has not changed differ, where the sheet's white was ``then`` (3,) linear
    R, G, B and is ``now``."""
    r, g, b = np.log(np.maximum(then, 1e-3) / np.maximum(now, 1e-3))
    return np.array([(r + g + b) / 3, r - g, b - (r + g) / 2])


def paper_light(f: np.ndarray, ground: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """Features (h, w, 3) of the bare paper: a quadratic over the sheet, fitted robustly to what looks like paper
    among the pixels ``plain`` (h, w). Zero (the sheet's own white) where too little of it is seen."""
    x, y = ground[..., 0] / SHEET[0] * 2, ground[..., 1] / SHEET[1] * 2
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], -1)
    tint, dark = PLAIN_TINT, LIT_LEAST
    seen = np.flatnonzero(plain & (np.abs(f[..., 1:]).max(-1) < tint) & (f[..., 0] > dark))
    seen = seen[:: max(1, len(seen) // SAMPLE_PX)]
    if len(seen) < FEW_PX:
        return np.zeros_like(f)
    a, there = terms.reshape(-1, 6)[seen].astype(float), f.reshape(-1, 3)[seen]
    fitted = [_robust(a, there[:, k], shadows=k == 0) for k in range(3)]
    return np.where(plain[..., None], terms @ np.stack(fitted, 1), 0.0).astype(np.float32)


def _robust(a: np.ndarray, b: np.ndarray, shadows: bool) -> np.ndarray:
    """Least squares of a (n, k) x = b (n,), what lies off it counting less and less; with ``shadows`` what lies
    below, half as much."""
    x = np.zeros(a.shape[1])
    x[0] = np.percentile(b, LIGHT_BEGIN[shadows])
    stiff = LIGHT_STIFF * np.diag(np.arange(a.shape[1]) > 0)
    for scale in LIGHT_SCALES:
        off = b - a @ x
        weight = 1 / np.square(1 + np.square(off / scale)) * np.where(shadows & (off < 0), SHADOWED_WEIGHT, 1.0)
        x = np.linalg.solve((a * weight[:, None]).T @ a + stiff, (a * weight[:, None]).T @ b)
    return x
