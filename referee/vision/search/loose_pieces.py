"""Single pieces: those lying about on the table outside the field, and those standing apart from the build in it.

The loose ones matter twice. Unexplained, their pixels would be taken for parts of the build; and a piece
that is seen lying outside cannot be in the build (the box holds ten). One that stands apart in the field counts
as a part of the build.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from calibration.mat import FIELD
from referee.kernels import loose_pieces as kernels
from referee.kernels import rasterizer
from referee.vision.measured import measured
from referee.vision.search.canvas import GOOD_BESIDE, NEAR_PX, turned
from referee.vision.search.convex import HALF_CIRCLE
from referee.vision.search.rules import BRANCH, LEVEL_MM, MOST_COST, PIECE_COST, PIECE_MM, PIXEL_NATS, STEP_X
from referee.vision.search.stances import RARE_COST

CLIMB_MM = measured((4.0, 2.0, 1.0), "mm", "steps of the candidates' hill climb; by hand")
FINE_CLIMB_MM = measured((2.0, 0.7), "mm", "those of the fit at full resolution; by hand")
CLIMB_DEG = measured((8.0, 4.0, 2.0), "degrees", "as CLIMB_MM")
FINE_CLIMB_DEG = measured((6.0, 2.0), "degrees", "as FINE_CLIMB_MM")
REACH_MM = measured(170.0, "mm", "by hand: how far beyond the field loose pieces are looked for")
QUALITY = measured(
    0.3,
    "of the evidence",
    "that the silhouette could at best have (had each pixel its own colour's usual gain), from which a place is a "
    "candidate at all; by hand",
)
MIN_PIXELS = measured(160, "px of the view (mm2)", "by hand: of the full resolution, that a loose piece must show")
MOST_CANDIDATES = measured(90, "candidates", "by hand, for time")
MOST_LOOKED_AT = measured(3000, "places of a colour", "of the best, that are spread out; by hand, for time")
OF_A_SPOT = measured(6, "candidates", "by hand: so many of a spot are kept, the best first")
STEP_MM = PIECE_MM / 3
"""The grid on which loose pieces are looked for."""
SAME_SPOT_MM = 2 * STEP_MM
"""Candidates this near to one another share a spot, and one this near to the field may stand in it, pushed out because
none was looked for there."""
CLIMB = np.c_[CLIMB_MM, np.deg2rad(CLIMB_DEG)]
FINE_CLIMB = np.c_[FINE_CLIMB_MM, np.deg2rad(FINE_CLIMB_DEG)]
PRICES = {
    "outside": PIECE_COST,
    "apart": GOOD_BESIDE,
    "beyond": MOST_COST,
    "hidden": RARE_COST,
}
"""Nats against a loose piece: one outside the field, one apart in the field, more for one beyond those that the build
leaves in the box, and for one that the build may hide in part."""
BEYOND_MM = measured(
    0.5, "mm", "a piece that is taken for loose lies at least so far beyond the field's line: on it, it would count"
)
GAPS_MM, ALONG_MM, NEARER_MM = LEVEL_MM + STEP_X * np.arange(3), STEP_X, STEP_X / 3 * np.arange(-2, 3)
"""Gaps to the build at which a piece right behind or before it is tried, the step along it, and steps about the best
place."""

NO_STEPS = np.zeros((0, 2))
"""No steps of a climb: pieces are weighed where they stand."""
COVERED_LABEL = -2
"""Label of a pixel that shows something nearer: a piece behind may be of any colour there."""


class Lone(NamedTuple):
    """Candidates, ``rows`` (n, 5), the evidence that each has ``won`` drawn alone (n,), and ``boxes`` (n, 4): its first
    and last row, first and last column."""

    rows: np.ndarray
    won: np.ndarray
    boxes: np.ndarray


@dataclass(frozen=True)
class Candidates:
    """Loose pieces that might be: ``rows`` (n, 5) (stance, x, y, z, yaw)."""

    rows: np.ndarray

    @cached_property
    def _alone(self) -> dict[int, Lone]:
        return {}

    def outside(self, canvas) -> Candidates:
        """Those of them that lie outside the field."""
        keep = (np.abs(self.rows[:, 1:3]) > np.array(canvas.field_mm)).any(1)
        return Candidates(self.rows[keep])

    def alone(self, canvas) -> Lone:
        """The candidates with each one's evidence and box when drawn alone on a canvas."""
        if id(canvas) not in self._alone:
            drawn = kernels.alone(canvas.arrays, self.rows, canvas.scene())
            self._alone[id(canvas)] = Lone(self.rows, *drawn)
        return self._alone[id(canvas)]


def candidates(canvas) -> Candidates:
    """Places outside the field where a single loose piece explains the evidence well, each fitted on its own.

    The same pixels may be explained by several; ``readings`` chooses among them together with the build.
    """
    rasterizer.clear(canvas.scene())
    return _fitted(canvas, canvas.cat.lying, canvas.labels, np.array(canvas.field_mm) + BEYOND_MM)


def with_pieces_behind(canvas, reading, known: Candidates) -> Candidates:
    """The known candidates and those that explain what a reading leaves: half hidden behind its build, or standing
    apart from it in the field."""
    canvas.draw(reading)
    far = (np.abs(reading.loose[:, 1:3]) > np.array(canvas.field_mm) + SAME_SPOT_MM).any(1)
    for row in reading.loose[far]:
        rasterizer.place(canvas.arrays, row, canvas.scene(), True)
    left = unexplained(canvas)
    there = [k for k in range(len(canvas.gains)) if (left == k).sum() * canvas.factor**2 >= MIN_PIXELS]
    if not there:
        return known
    lying = canvas.cat.lying
    found = _fitted(canvas, lying[np.isin(canvas.cat.color[lying], there)], left, np.zeros(2))
    beyond = np.abs(found.rows[:, 1:3]) > np.array(canvas.field_mm) + BEYOND_MM
    inside = np.abs(found.rows[:, 1:3]) < np.array(canvas.field_mm) - STEP_X
    keep = beyond.any(1) | inside.all(1)
    fresh = [i for i in np.flatnonzero(keep) if not any(_same_place(found.rows[i], row) for row in known.rows)]
    return Candidates(np.vstack([known.rows, found.rows[fresh]]))


def with_pieces_beside(coarse, canvas, reading, known: Candidates) -> Candidates:
    """The known candidates and, of each type that a reading's build leaves in the box, the piece that wins most right
    behind or right before the build, beside the reading's loose pieces.

    Such a piece is mostly hidden, and what shows of it is too little to be found by itself: all places are tried on
    the ``coarse`` canvas, and those about the best of them on the other.
    """
    kind = canvas.cat.kind
    best = best_of_each(kind, coarse, reading, _beside(coarse, reading))
    along = np.array([math.cos(reading.turn), math.sin(reading.turn)])
    near = np.repeat(best, len(NEARER_MM), axis=0)
    near[:, 1:3] += np.tile(NEARER_MM, len(best))[:, None] * along
    best = best_of_each(kind, canvas, reading, near)
    return Candidates(np.vstack([known.rows, best]))


def best_of_each(group: np.ndarray, canvas, reading, rows: np.ndarray) -> np.ndarray:
    """Of single pieces, rows (n, 5), the one that wins most beside a reading of each ``group`` (stances,), say each
    type's or each stance's, best first; none of a group of which none wins anything."""
    canvas.draw(reading)
    for row in reading.loose:
        rasterizer.place(canvas.arrays, row, canvas.scene(), True)
    won = kernels.climb(canvas.arrays, np.c_[rows, np.zeros((len(rows), 2))], np.zeros(2), NO_STEPS, canvas.scene())
    best = rows[np.argsort(-won[:, 5], kind="stable")][: int((won[:, 5] > 0).sum())]
    _, first = np.unique(group[best[:, 0].astype(int)], return_index=True)
    return best[np.sort(first)]


def one_further(canvas, reading) -> np.ndarray:
    """(n, 5) rows: of each stance of what a reading's build leaves in the box, the piece that wins most apart from it
    in the field, if any wins anything; the best few."""
    stances = np.arange(len(canvas.cat.kind))
    best = best_of_each(stances, canvas, reading, places_apart(canvas, reading))[
        :BRANCH
    ]  # which leaves the reading drawn
    some = np.c_[best, np.zeros((len(best), 2))]
    rows = kernels.climb(canvas.arrays, some, np.zeros(2), CLIMB, canvas.scene())[:, :5]
    build = turned(reading.pieces, reading.turn)
    return np.array([pushed_out(canvas.cat, row, build) for row in rows]).reshape(-1, 5)


def pushed_out(cat, row: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The piece (5,) beside those (n, 5) that it would reach into, by their boxes: one picture tells to a few
    millimetres how far off it stands."""
    row, size, left = row.copy(), cat.size, rows
    while len(left):
        off = row[1:4] - left[:, 1:4]
        reach = (size[int(row[0])] + size[left[:, 0].astype(int)]) / 2 - np.abs(off)
        into = (reach > 0).all(1)
        if not into.any():
            break
        i = int(np.argmax(into))
        axis = int(np.argmin(reach[i]))
        row[1 + axis] += np.copysign(reach[i, axis], off[i, axis])
        left = left[i + 1 :]
    return row


def places_apart(canvas, reading) -> np.ndarray:
    """(n, 5) rows of every piece left in the box, square to the build and apart from it, all over the field."""
    pieces, size = reading.pieces, canvas.cat.size
    own, wide = pieces[:, 0].astype(int), np.hypot(*canvas.field_mm)
    grid = np.arange(-wide, wide + STEP_X, STEP_X)
    s, x, y = (a.ravel() for a in np.meshgrid(left_in_box(canvas.cat, own), grid, grid, indexing="ij"))
    low = pieces[:, 3] - size[own, 2] / 2 < LEVEL_MM
    for piece, half in zip(pieces[low], size[own[low]] / 2, strict=True):
        off = np.abs(np.c_[x, y] - piece[1:3])
        free = (off > half[:2] + size[s, :2] / 2 - STEP_X / 2).any(1)
        s, x, y = s[free], x[free], y[free]
    rows = turned(np.c_[s, x, y, size[s, 2] / 2, np.zeros(len(s))], reading.turn)
    return rows[(np.abs(rows[:, 1:3]) <= np.array(canvas.field_mm)).all(1)]


def left_in_box(cat, own: np.ndarray, rare: bool = False) -> np.ndarray:
    """The usual stances of what a build of the stances ``own`` (n,) leaves in the box, or with the ``rare`` ones."""
    left = cat.stock - np.bincount(cat.kind[own], minlength=len(cat.stock))
    return np.flatnonzero((left[cat.kind] > 0) & (rare | ~cat.rare))


def _beside(canvas, reading) -> np.ndarray:
    """(n, 5) rows of every piece left in the box, square to the build, right behind and right before it, in the
    field."""
    cat, pieces = canvas.cat, reading.pieces
    own = pieces[:, 0].astype(int)
    stances = left_in_box(cat, own)
    feet = pieces[:, 3] - cat.size[own, 2] / 2 < LEVEL_MM
    if not feet.any():
        return np.zeros((0, 5))
    half = cat.size[own] / 2
    xs = np.arange((pieces[:, 1] - half[:, 0]).min(), (pieces[:, 1] + half[:, 0]).max() + ALONG_MM, ALONG_MM)
    off = cat.size[stances, 1, None] / 2 + GAPS_MM
    ys = np.c_[(pieces[:, 2] + half[:, 1])[feet].max() + off, (pieces[:, 2] - half[:, 1])[feet].min() - off]
    s, x, y = (a.ravel() for a in np.broadcast_arrays(stances[:, None, None], xs[None, :, None], ys[:, None, :]))
    rows = turned(np.c_[s, x, y, cat.size[s, 2] / 2, np.zeros(len(s))], reading.turn)
    return rows[(np.abs(rows[:, 1:3]) <= np.array(canvas.field_mm)).all(1)]


def unexplained(canvas) -> np.ndarray:
    """(h, w) int8: the likeliest colour of what the maps leave to explain; ``COVERED_LABEL`` or -1 elsewhere."""
    maps = canvas.maps
    more = canvas.strongest - np.maximum(maps.gained, 0.0) > PIXEL_NATS * canvas.factor**2
    others = np.where(maps.near > 0, COVERED_LABEL, -1)
    return np.where((canvas.labels >= 0) & more, canvas.labels, others).astype(np.int8)


def fitted_near(canvas, reading, known: Candidates) -> Candidates:
    """The candidates with those in or near the field fitted at the canvas's resolution, beside a reading's build: on
    which side of the line a piece stands decides."""
    canvas.draw(reading)
    field, rows = np.array(canvas.field_mm), known.rows.copy()
    near = (np.abs(rows[:, 1:3]) <= field + SAME_SPOT_MM).all(1)
    inside = (np.abs(rows[:, 1:3]) <= field).all(1)
    for which, closed in ((near & inside, np.zeros(2)), (near & ~inside, field + BEYOND_MM)):
        some = np.c_[rows[which], np.zeros((int(which.sum()), 2))]
        rows[which] = kernels.climb(canvas.arrays, some, closed, FINE_CLIMB, canvas.scene())[:, :5]
    return Candidates(rows)


def _visible(canvas, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """(n, 2) places of the grid's columns and rows that are somewhere in the picture."""
    grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), -1)
    cam = (
        np.concatenate([grid, np.full((*grid.shape[:2], 1), PIECE_MM / 2)], -1) @ canvas.camera[:, :3].T
        + canvas.camera[:, 3]
    )
    pix = cam @ canvas.matrix.T
    pix = pix[..., :2] / pix[..., 2:]
    h, w = canvas.maps.near.shape
    ok = (cam[..., 2] > 0) & (pix >= -NEAR_PX).all(-1) & (pix < (w + NEAR_PX, h + NEAR_PX)).all(-1)
    return np.ascontiguousarray(grid[ok.any(1)][:, ok.any(0)].reshape(-1, 2))


def _fitted(canvas, stances: np.ndarray, labels: np.ndarray, closed: np.ndarray) -> Candidates:
    """Candidates of some stances over the maps as they are, none with its centre within ``closed`` (2,)."""
    chosen: list[list[float]] = []
    reach = np.array(FIELD) + REACH_MM
    places = _visible(canvas, *(np.arange(-r, r + 1, STEP_MM) for r in reach))
    yaws = np.arange(HALF_CIRCLE) * np.pi / HALF_CIRCLE
    alike, usual = canvas.cat.alike_after[stances], canvas.usual_gains[canvas.cat.color]
    wanted = closed, canvas.usual_gains.astype(float) * QUALITY * (MIN_PIXELS / canvas.factor**2), STEP_MM
    # a piece is charged for every pixel that another colour would explain better
    strict = canvas.scene().with_gains(canvas.strict)
    rows = kernels.scan_loose(canvas.arrays, stances, alike, places, yaws, wanted, labels, strict)
    spread = _spread(rows[np.argsort(-rows[:, 5])], canvas.cat.color)
    climbed = kernels.climb(canvas.arrays, spread, closed, CLIMB, strict)
    for *piece, won, pixels in climbed.tolist():
        share = won / (pixels * usual[int(piece[0])]) if pixels * canvas.factor**2 >= MIN_PIXELS else 0.0
        if share < QUALITY:
            continue
        near = [q for q in chosen if math.hypot(piece[1] - q[1], piece[2] - q[2]) < SAME_SPOT_MM]
        if len(near) < OF_A_SPOT and not any(_same_place(piece, q) for q in near):
            chosen.append(piece)
    return Candidates(np.array(chosen).reshape(-1, 5))


def _same_place(a: list[float], b: list[float]) -> bool:
    if a[0] != b[0] or math.hypot(a[1] - b[1], a[2] - b[2]) >= STEP_X:
        return False
    return abs((a[4] - b[4] + math.pi / 2) % math.pi - math.pi / 2) < np.pi / HALF_CIRCLE / 2


def _spread(rows: np.ndarray, color: np.ndarray) -> np.ndarray:
    """The best rows, one of a stance at a spot, MOST_CANDIDATES in all; every colour gets its share.

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
        rows = rows[~((rows[:, 0] == first[0]) & (near < SAME_SPOT_MM))]
    return chosen
