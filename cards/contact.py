"""Where pieces touch and where they would overlap: contact faces of builds whose yaw is 0.

Pieces are read as height fields: at each point of the plan an underside and an upper side (exact
for every kind in the poses that stand). A pair's contact depends on its relative place alone and
is remembered.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cards.build import Piece, bottom, heights_at, shape_of, top
from cards.pieces import PieceSet, Pose, Shape

TOUCH_MM = 0.5
"""Designs write heights to 0.1 mm and real sets differ by some tenths: faces nearer than this touch."""

SAME_FACE_MM = 0.03
"""Points of one contact lie in one plane to within this; on a 15 mm radius that is a line of +-1 mm."""

OVERLAP_MM = 0.6
"""Solids that share more than this in height would have to be in one place."""

ROLL_MM, ROLL_GAP_MM = 0.5, 0.04
"""A round face lies on this much to either side of its line: coefficient of rolling resistance of wood on wood, 0.5 to
0.8 mm (Huette, mechanics tables). So near the two faces are there for any radius of 4 mm and more, and never at a tip;
an arc is drawn in straight parts of some degrees."""

STEP_MM = 2.0
EDGE_INSET_MM = 0.02
Point = tuple[float, float, float]
Face = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Touch:
    """Where piece ``above`` rests on piece ``below`` (None: the table): points (n, 3) and normals (n, 3)."""

    above: int
    below: int | None
    points: np.ndarray
    normals: np.ndarray

    @property
    def width(self) -> float:
        """Extent in x of the contact, mm."""
        return float(np.ptp(self.points[:, 0]))


@dataclass(frozen=True)
class _Solid:
    """A posed shape with its centre at ``at`` (x, y, z) mm."""

    shape: Shape
    pose: Pose
    at: Point

    def half(self) -> np.ndarray:
        """Half extents (3,) mm of its box."""
        return np.array(self.shape.size(self.pose)) / 2

    def heights(self, plan: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Underside and upper side at plan points (n, 2), (n,) each; nan where it does not reach."""
        low, high = heights_at(self.shape, self.pose, plan - self.at[:2])
        return low + self.at[2], high + self.at[2]


def overlapping(pieces: PieceSet, placed: Sequence[Piece]) -> list[tuple[int, int]]:
    """Pairs of pieces that would have to be in one place."""
    return [(i, j) for i in range(len(placed)) for j in range(i) if overlap(pieces, placed[i], placed[j])]


def overlap(pieces: PieceSet, a: Piece, b: Piece) -> bool:
    """Whether the two pieces would have to be in one place."""
    return penetration(pieces, a, b) > OVERLAP_MM


def penetration(pieces: PieceSet, a: Piece, b: Piece) -> float:
    """By how many mm one would have to rise to be clear of the other; 0 when they are clear."""
    if bottom(pieces, a) > top(pieces, b) or bottom(pieces, b) > top(pieces, a):
        return 0.0
    return _penetration(shape_of(pieces, a), a.pose, shape_of(pieces, b), b.pose, _offset(a, b))


def touches(pieces: PieceSet, placed: Sequence[Piece]) -> tuple[Touch, ...]:
    """Every contact: piece on table, piece on piece."""
    found = []
    for i, piece in enumerate(placed):
        if abs(bottom(pieces, piece)) < TOUCH_MM:
            points, normals = _foot(shape_of(pieces, piece), piece.pose)
            found.append(Touch(i, None, points + np.array((piece.x, piece.y, 0.0)), normals))
        for j, other in enumerate(placed):
            if i != j and (face := _between(pieces, piece, other)) is not None:
                found.append(Touch(i, j, face[0] + np.array((other.x, other.y, other.z)), face[1]))
    return tuple(found)


def _between(pieces: PieceSet, above: Piece, below: Piece) -> Face | None:
    low = bottom(pieces, above)
    if low > top(pieces, below) + TOUCH_MM or low < bottom(pieces, below) - TOUCH_MM:
        return None
    return _face(shape_of(pieces, above), above.pose, shape_of(pieces, below), below.pose, _offset(above, below))


def _offset(a: Piece, b: Piece) -> Point:
    return round(a.x - b.x, 3), round(a.y - b.y, 3), round(a.z - b.z, 3)


@lru_cache(maxsize=65536)
def _penetration(shape_a: Shape, pose_a: Pose, shape_b: Shape, pose_b: Pose, offset: Point) -> float:
    a, b = _Solid(shape_a, pose_a, offset), _Solid(shape_b, pose_b, (0.0, 0.0, 0.0))
    plan = _common_plan(a, b)
    if not len(plan):
        return 0.0
    (low_a, high_a), (low_b, high_b) = a.heights(plan), b.heights(plan)
    deep = np.minimum(high_a - low_b, high_b - low_a)
    return max(0.0, float(np.nan_to_num(deep, nan=-1.0).max()))


@lru_cache(maxsize=512)
def _foot(shape: Shape, pose: Pose) -> Face:
    """What of a piece touches the table, about its plan's centre."""
    solid = _Solid(shape, pose, (0.0, 0.0, 0.0))
    plan = _product(*(_own_grid(2 * h) for h in solid.half()[:2]))
    low, _ = solid.heights(plan)
    flat = plan[low - np.nanmin(low) < SAME_FACE_MM]
    rolls = _rolling(flat)
    beside = solid.heights(rolls)[0] - np.nanmin(low) if len(rolls) else np.zeros(0)
    flat = np.concatenate([flat, rolls[beside < ROLL_GAP_MM]])
    return _corners(flat, np.zeros(len(flat)), np.zeros((len(flat), 2)))


@lru_cache(maxsize=65536)
def _face(shape_a: Shape, pose_a: Pose, shape_b: Shape, pose_b: Pose, offset: Point) -> Face | None:
    """Contact of a on b about b's centre; None when they do not touch."""
    a, b = _Solid(shape_a, pose_a, offset), _Solid(shape_b, pose_b, (0.0, 0.0, 0.0))
    plan = _common_plan(a, b)
    if not len(plan):
        return None
    low, high = a.heights(plan)[0], b.heights(plan)[1]
    gap = low - high
    if np.isnan(gap).all() or abs(np.nanmin(gap)) > TOUCH_MM:
        return None
    on = plan[gap - np.nanmin(gap) < SAME_FACE_MM]
    rolls = _rolling(on)
    if len(rolls):
        beside = a.heights(rolls)[0] - b.heights(rolls)[1] - np.nanmin(gap)
        on = np.concatenate([on, rolls[beside < ROLL_GAP_MM]])
    return _corners(on, (a.heights(on)[0] + b.heights(on)[1]) / 2, _slopes(a, b, on))


def _rolling(on: np.ndarray) -> np.ndarray:
    """(n, 2): the points to either side of a contact that is a line or a point, on which a round face lies as well."""
    thin = [axis for axis in (0, 1) if np.ptp(on[:, axis]) < ROLL_MM]
    steps = [sign * ROLL_MM * np.eye(2)[axis] for axis in thin for sign in (-1, 1)]
    return np.concatenate([on + step for step in steps]) if steps else np.empty((0, 2))


def _own_grid(extent: float) -> np.ndarray:
    n = 2 * max(1, math.ceil(extent / 2 / STEP_MM)) + 1
    return np.linspace(-extent / 2 + EDGE_INSET_MM, extent / 2 - EDGE_INSET_MM, n)


def _product(xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    return np.stack(np.meshgrid(xs, ys, indexing="ij"), -1).reshape(-1, 2)


def _common_plan(a: _Solid, b: _Solid) -> np.ndarray:
    """Points (n, 2) mm where the plans of two boxes meet, ``b`` at the origin; both pieces' edges are among them."""
    axes = []
    for axis in (0, 1):
        p, half_a, half_b = a.at[axis], a.half()[axis], b.half()[axis]
        low, high = max(p - half_a, -half_b), min(p + half_a, half_b)
        if high - low < 0.5:
            return np.empty((0, 2))
        both = np.concatenate([_own_grid(2 * half_a) + p, _own_grid(2 * half_b)])
        axes.append(np.unique(both[(both >= low) & (both <= high)].round(4)))
    return _product(*axes)


def _slopes(above: _Solid, below: _Solid, plan: np.ndarray) -> np.ndarray:
    """(n, 2): how the touching faces climb along x and y; of the two the smoother (rounder) one's."""
    over, under = _climb(above, 0, plan), _climb(below, 1, plan)
    if above.shape.kind == "cylinder":
        return over
    return np.where(np.abs(over) < np.abs(under), over, under)


def _climb(solid: _Solid, side: int, plan: np.ndarray) -> np.ndarray:
    """Slope (n, 2) of a solid's underside (``side`` 0) or upper side (1), by central differences."""
    middle, half, rows = np.array(solid.at[:2]), solid.half()[:2] - EDGE_INSET_MM, []
    for axis, step in enumerate(0.2 * np.eye(2)):
        ahead, behind = (np.clip(plan + s * step, middle - half, middle + half) for s in (1, -1))
        rise = solid.heights(ahead)[side] - solid.heights(behind)[side]
        rows.append(rise / np.maximum(ahead - behind, 1e-6)[:, axis])
    return np.asarray(np.nan_to_num(np.stack(rows, 1)))


def _corners(plan: np.ndarray, z: np.ndarray, slopes: np.ndarray) -> Face:
    """A few points that span the contact: per chosen column the nearest and farthest; with normals."""
    columns = np.unique(plan[:, 0])
    chosen = columns[np.unique(np.linspace(0, len(columns) - 1, 5).round().astype(int))]
    index = []
    for x in chosen:
        rows = np.flatnonzero(plan[:, 0] == x)
        index += [rows[plan[rows, 1].argmin()], rows[plan[rows, 1].argmax()]]
    corners = np.unique(index)
    normals = np.column_stack([-slopes[corners], np.ones(len(corners))])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return np.column_stack([plan[corners], z[corners]]), normals


@lru_cache(maxsize=512)
def mass_and_centre(shape: Shape, pose: Pose) -> tuple[float, Point]:
    """Volume in cm3 (all pieces are of one wood) and the centre of mass from the box's centre, mm."""
    if shape.kind == "cylinder":
        return math.pi * shape.width**2 / 4 * shape.height / 1000, (0.0, 0.0, 0.0)
    a = shape.turned_outline(pose.rotation)
    b = np.roll(a, -1, 0)
    cross = a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1]
    u, w = ((a + b) * cross[:, None]).sum(0) / (3 * cross.sum())
    at = {"front": (u, 0.0, w), "side": (0.0, u, w), "top": (u, w, 0.0)}[pose.facing]
    return abs(cross.sum()) / 2 * shape.depth / 1000, (float(at[0]), float(at[1]), float(at[2]))
