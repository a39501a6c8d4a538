"""What shows where no piece is: paper, printed markers and the empty frame's own pixels, in the light and in shadow.

A lamp is white; what lights its shadows is the room: its walls, and the players' clothes. So a shadow's tint grows with
its depth, and where a shadow lies over the sheet alone the room beside it looks brighter by as much.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

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
TINT_MOST = measured(0.9, "tint a unit of depth", "by hand: more is no shadow's")
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
TINT_LIGHT = measured((-1.3, -0.3), "log light", "by hand: so deep shadows tell the room's tint")
PALE = measured(1.0, "log light of a channel against others", "by hand: no shadow of paper is more tinted")
SKIN_RED = measured(0.5, "of the tint in b", "in a: of a black body's light it is 0.3, of skin, light or dark, 0.8")
TINT_MIDDLE = measured((25, 75), "per cent of the pixels in shadow", "by hand: the middle half of them")
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
    f: np.ndarray, empty: np.ndarray, relit: np.ndarray | None = None, tint: np.ndarray | None = None
) -> np.ndarray:
    """Log density of a pixel given the empty frame's: unchanged, or in a shadow of a piece, whose light is the room's
    own and may have a ``tint`` (2,) that grows with its depth (see ``room_tint``).

    Features are relative to the sheet's white. Where that has changed and the room has not, as in a shadow over the
    sheet alone, the room looks changed by ``relit`` (3,), or by a part of it where the shadow ends softly.
    """
    d = f - empty
    known = log_sum(_part(d, UNCHANGED), _part(_untinted(d, tint), SHADED))
    if relit is None or np.abs(relit).max() < LEAST_RELIT:
        return known
    u = relit.astype(np.float32)
    off = d - np.clip(d @ u / (u @ u), 0.0, 1.0)[..., None] * u
    steps = max(1.0, float(np.abs(u).max()) / RELIT_STEP)
    return log_sum(known, normal(off, RELIT.mean, RELIT.sd) + math.log(RELIT.share / steps))


def room_tint(view: ZoneView, d: np.ndarray, painted: np.ndarray) -> np.ndarray:
    """(2,) the most that shadows on the sheet are tinted, in a and b a unit of log light; 0 where they do not agree
    on a sign, too little shadow is seen, or what looks like one is yellower than the light and as red: so is a hand.

    ``d`` (h, w, 3) are features relative to the bare table, ``painted`` (h, w) the greatest density under a piece's
    colour that is pale itself. What lights a lamp's shadows is the room's second light, that of its walls and
    of the players' clothes, or of another lamp: in them paper has been seen turn as blue as a pale piece, and as
    yellow as a second, warmer lamp.
    """
    paper, marker, _ = view.regions
    light = d[..., 0]
    where = paper & ~marker & view.valid & (painted < math.exp(UNKNOWN_DENSITY))
    where &= (TINT_LIGHT[0] < light) & (light < TINT_LIGHT[1])
    light, *tints = np.ascontiguousarray(d.reshape(-1, 3)[np.flatnonzero(where)].T)
    plain = np.maximum(np.abs(tints[0]), np.abs(tints[1])) < PALE
    if plain.sum() < FEW_PX:
        return np.zeros(2, np.float32)
    low, high = np.transpose([np.percentile(t[plain] / light[plain], TINT_MIDDLE) for t in tints])
    tint = np.where(low > 0, high, np.where(high < 0, low, 0.0)).astype(np.float32)
    return np.zeros(2, np.float32) if tint[1] > 0 and -tint[0] > SKIN_RED * tint[1] else tint


def _untinted(d: np.ndarray, tint: np.ndarray | None) -> np.ndarray:
    """Features relative to the bare table without what a shadow's ``tint`` adds, as much of it as there is: a shadow
    may be of the white lamp, of the room's light, or one within the other."""
    if tint is None or not tint.any():
        return d
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
