"""Loose pieces: those lying about on the table outside the field, each found as a piece.

They matter twice. Unexplained, their pixels would be taken for parts of the build; and a piece
that is seen lying outside cannot be in the build (the box holds ten).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibration.mat import FIELD
from referee.vision import paint, search_loose
from referee.vision.catalogue import Catalogue

STEP_MM, YAWS = 10.0, 8
REACH_MM = 170.0
"""How far beyond the field loose pieces are looked for."""
QUALITY = 0.3
"""Share of the evidence that the silhouette could at best have (had each pixel its own colour's
usual gain) from which a place is a candidate at all."""
MIN_PIXELS = 160
"""Of the full resolution, that a loose piece must show."""
MOST_CANDIDATES = 90
MOST_LOOKED_AT = 3000
"""Of the places of a colour, so many of the best are spread out."""
SAME_SPOT_MM, OF_A_SPOT = 20.0, 6
"""Of candidates that stand this near to one another so many are kept, the best first."""
BEYOND_COST = 400.0
"""Nats against a loose piece that a box of this set cannot have beside the build: a neighbour's, perhaps."""


@dataclass(frozen=True)
class Candidates:
    """Loose pieces that might be: ``rows`` (n, 5) (stance, x, y, z, yaw), ``quality`` (n,) 0..1."""

    rows: np.ndarray
    quality: np.ndarray

    @cached_property
    def _alone(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        return {}

    def alone(self, canvas) -> tuple[np.ndarray, np.ndarray]:
        """Each candidate's evidence and box when drawn alone on a canvas; see ``search_loose.alone``."""
        if id(canvas) not in self._alone:
            self._alone[id(canvas)] = search_loose.alone(canvas.arrays, self.rows, *canvas.seen())
        return self._alone[id(canvas)]


def candidates(canvas, labels: np.ndarray) -> Candidates:
    """Places where a single loose piece explains the evidence well, each fitted on its own.

    The same pixels may be explained by several; ``explain`` chooses among them together with
    the build. ``labels`` (h, w) int8 at the canvas's resolution.
    """
    cat = canvas.cat
    reach = np.array(FIELD) + REACH_MM
    inside = _visible(canvas, *(np.arange(-r, r + 1, STEP_MM) for r in reach))
    if inside is None:
        return Candidates(np.zeros((0, 5)), np.zeros(0))
    strict = paint.gains(_strict(canvas.gains))
    paint.clear(canvas.maps)
    yaws = np.arange(YAWS) * np.pi / YAWS
    rows = search_loose.scan_loose(
        canvas.arrays, _lying(cat), *inside, yaws, *FIELD, canvas.camera, canvas.matrix, strict, labels, canvas.maps
    )
    return _fitted(canvas, strict, rows)


def _lying(cat: Catalogue) -> np.ndarray:
    """Stances that differ by more than a turn about the vertical: a piece lies loose at any turn."""
    kept: dict[tuple, int] = {}
    for s, pose in enumerate(cat.poses):
        width, depth, height = (round(v, 2) for v in cat.size[s])
        plain = cat.piece_set.shapes[cat.types[cat.kind[s]][0]].kind in ("box", "cylinder")
        side = () if plain else (pose.rotation, pose.facing == "top")
        kept.setdefault((cat.kind[s], min(width, depth), max(width, depth), height, side), s)
    return np.array(list(kept.values()))


def _strict(gains: np.ndarray) -> np.ndarray:
    """Gains that charge a piece for every pixel another colour would explain better."""
    return 2 * gains - np.maximum(gains.max(0), 0.0)


def _visible(canvas, xs: np.ndarray, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), -1).reshape(-1, 2)
    cam = np.c_[grid, np.full(len(grid), 12.0)] @ canvas.camera[:, :3].T + canvas.camera[:, 3]
    pix = cam @ canvas.matrix.T
    pix = pix[:, :2] / pix[:, 2:]
    h, w = canvas.maps.near.shape
    ok = ((cam[:, 2] > 50) & (pix >= -5).all(1) & (pix < (w + 5, h + 5)).all(1)).reshape(len(xs), len(ys))
    if not ok.any():
        return None
    return xs[ok.any(1)], ys[ok.any(0)]


def _fitted(canvas, strict: paint.Gains, rows: np.ndarray) -> Candidates:
    chosen: list[list[float]] = []
    quality: list[float] = []
    usual = _usual_gains(canvas.gains)
    spread = _spread(rows[np.argsort(-rows[:, 5])], canvas.cat.color)
    climbed = search_loose.climb(
        canvas.arrays,
        spread,
        *FIELD,
        canvas.camera,
        canvas.matrix,
        strict,
        canvas.maps,
        np.array([4.0, 2.0, 1.0]),
        np.deg2rad([8.0, 4.0, 2.0]),
    )
    for *piece, won, pixels in climbed.tolist():
        if pixels * canvas.factor**2 < MIN_PIXELS:
            continue
        share = won / (pixels * usual[int(canvas.cat.color[int(piece[0])])])
        there = sum(math.hypot(piece[1] - q[1], piece[2] - q[2]) < SAME_SPOT_MM for q in chosen)
        if share >= QUALITY and there < OF_A_SPOT and not any(_same_place(piece, q) for q in chosen):
            chosen.append(piece)
            quality.append(share)
    return Candidates(np.array(chosen).reshape(-1, 5), np.array(quality))


def _usual_gains(gains: np.ndarray) -> np.ndarray:
    """(k,) the gain that a pixel of each colour usually has in this view."""
    return np.array([np.percentile(g[g > 0], 60) if (g > 0).sum() > 20 else np.inf for g in gains])


def _same_place(a: list[float], b: list[float]) -> bool:
    turn = abs((a[4] - b[4] + math.pi / 2) % math.pi - math.pi / 2)
    return a[0] == b[0] and math.hypot(a[1] - b[1], a[2] - b[2]) < 6 and turn < 0.2


def _spread(rows: np.ndarray, color: np.ndarray) -> np.ndarray:
    """The best rows, one of a stance within 18 mm, MOST_CANDIDATES in all; every colour gets its share.

    ``color`` (s,) of each stance. Without shares a tower of one colour, read as many pieces lying behind it, would
    leave no room for the small loose pieces of the others.
    """
    of_row = color[rows[:, 0].astype(int)]
    there = np.unique(of_row)
    of_each = max(MOST_CANDIDATES // max(len(there), 1), OF_A_SPOT)
    chosen = [row for k in there for row in _best_apart(rows[of_row == k][:MOST_LOOKED_AT], of_each)]
    return np.array(chosen).reshape(-1, 7)


def _best_apart(rows: np.ndarray, most: int) -> list[np.ndarray]:
    chosen: list[np.ndarray] = []
    while len(rows) and len(chosen) < most:
        first = rows[0]
        near = np.hypot(rows[:, 1] - first[1], rows[:, 2] - first[2])
        chosen.append(first)
        rows = rows[~((rows[:, 0] == first[0]) & (near < 18))]
    return chosen
