"""A build: pieces in millimetres, and who touches the table and rests on whom.

Text notation, one piece a word group, pieces separated by ``; ``::

    blue cube 0 front @ -14.8 3.1 15.0 yaw 4.0; orange bridge 90 side @ 0.0 0.0 45.0

``parse_build`` reads it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self, cast

import numpy as np

from cards.errors import BadCard
from cards.pieces import Facing, PieceSet, Pose, Shape

TALLEST_MM = 250.0
"""CONTRACT.md: tall builds reach this; higher ones leave the camera's picture."""

CONTACT_GAP_MM = 4.0
"""Two faces closer than this in height touch: fitted poses are good to about 3 mm, and the
smallest step between resting heights of real sets is a plank's thickness, 12 mm or more."""

CONTACT_OVERLAP_MM = 2.0
"""A piece rests on another when their plans overlap by at least this much in x and y: the one law for a build that
was seen. (``cards.contact.TOUCH_MM`` is for builds drawn exactly; ``referee.vision.search.physics`` lets pieces down
quicker and more coarsely while it searches, and what it finds is judged by this.)"""

SLIGHT_OVERLAP_MM = 4.0
"""CONTRACT.md: two pieces that overlap by less may or may not rest on one another."""

OVERLAP_STEP_MM = 0.1
"""Overlaps are measured to this."""

ACROSS = np.linspace(0.0, 1.0, 24)
"""Where two elevations are held against each other, of the width that they have in common."""

PLAN_STEP_MM = 2.0
"""Spacing of the plan grid on which undersides meet tops; a 15 mm arch is then good to 0.1 mm."""


@dataclass(frozen=True)
class Piece:
    """One placed piece: centre ``x``, ``y``, ``z`` of its box in mm, ``yaw`` in degrees."""

    shape: str
    color: str
    pose: Pose
    x: float
    y: float
    z: float
    yaw: float = 0.0

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The piece in a row of the contract's ``pieces``; older ones lack its ``yaw``."""
        pose = Pose(row["rotation"], row["facing"])
        return cls(row["shape"], row["color"], pose, row["x"], row["y"], row["z"], row.get("yaw", 0.0))

    def at(self, **changes: float) -> Self:
        """A copy with some coordinates replaced."""
        return replace(self, **changes)  # type: ignore[arg-type]  # coordinates alone are given


@dataclass(frozen=True)
class Build:
    """Pieces of one structure with the set they come from. ``loose`` pieces lie outside."""

    piece_set: PieceSet
    pieces: tuple[Piece, ...]
    loose: tuple[Piece, ...] = ()

    @cached_property
    def contacts(self) -> tuple[tuple[int, ...], ...]:
        """Per piece the indices of the pieces it rests on, ascending."""
        return _contacts(self.piece_set, self.pieces)

    @cached_property
    def on_table(self) -> tuple[bool, ...]:
        """Per piece whether it touches the table."""
        return tuple(bottom(self.piece_set, p) < CONTACT_GAP_MM for p in self.pieces)

    @property
    def ground_contacts(self) -> int:
        """How many pieces touch the table."""
        return sum(self.on_table)

    @cached_property
    def structures(self) -> tuple[tuple[int, ...], ...]:
        """The pieces grouped into structures: connected by resting on one another."""
        return connected_groups(len(self.pieces), ((i, j) for i, below in enumerate(self.contacts) for j in below))

    def slight_contacts(self, i: int) -> frozenset[int]:
        """Pieces that ``i`` meets from above on less than SLIGHT_OVERLAP_MM: it may or may not rest on them."""
        mine = self.pieces[i]
        return frozenset(
            j
            for j, other in enumerate(self.pieces)
            if j != i and other.z < mine.z and 0.0 < overlap_mm(self.piece_set, mine, other) < SLIGHT_OVERLAP_MM
        )


def connected_groups(n: int, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """The numbers 0 to n - 1 in groups that hang together by pairs, each in order, the groups by their first."""
    group = list(range(n))
    for i, j in pairs:
        group = [group[j] if g == group[i] else g for g in group]
    return tuple(tuple(i for i in range(n) if group[i] == g) for g in dict.fromkeys(group))


@lru_cache(maxsize=256)
def _contacts(pieces: PieceSet, placed: tuple[Piece, ...]) -> tuple[tuple[int, ...], ...]:
    """Per piece the indices of those it rests on: the same build is asked for by judge, light and card alike."""
    tops = [top(pieces, p) for p in placed]
    return tuple(tuple(_supports(pieces, placed, i, tops)) for i in range(len(placed)))


def _supports(pieces: PieceSet, placed: tuple[Piece, ...], i: int, tops: Sequence[float]) -> Iterator[int]:
    """Pieces below ``i`` that it touches: the gap between i's underside and j's top is closed."""
    mine, foot = placed[i], bottom(pieces, placed[i])
    for j, other in enumerate(placed):
        below = j != i and other.z < mine.z and foot - tops[j] <= CONTACT_GAP_MM
        if below and any(abs(g) <= CONTACT_GAP_MM for g in clearances(pieces, mine, other, CONTACT_GAP_MM)):
            yield j


def shape_of(pieces: PieceSet, piece: Piece) -> Shape:
    """The Shape a placed piece is made of."""
    return pieces.shapes[piece.shape]


def bottom(pieces: PieceSet, piece: Piece) -> float:
    """Height in mm of the piece's underside."""
    return piece.z - shape_of(pieces, piece).size(piece.pose)[2] / 2


def top(pieces: PieceSet, piece: Piece) -> float:
    """Height in mm of the piece's upper side."""
    return piece.z + shape_of(pieces, piece).size(piece.pose)[2] / 2


@lru_cache(maxsize=1024)
def piece_surfaces(shape: Shape, pose: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Underside and upper side of a posed piece above its plan, before yaw, about its centre.

    Gives (plan, lower, upper): plan (n, 2) points in mm on a grid of at most PLAN_STEP_MM,
    lower and upper (n,) heights in mm. Points outside the solid's plan are left out.
    """
    xs, ys = map(_grid, shape.size(pose)[:2])
    plan = np.stack(np.meshgrid(xs, ys, indexing="ij")).reshape(2, -1).T  # its columns are read one by one
    lower, upper = heights_at(shape, pose, plan)
    inside = np.isfinite(lower)
    return plan.T[:, inside].T, lower[inside], upper[inside]


def _grid(extent: float) -> np.ndarray:
    n = max(2, math.ceil(extent / PLAN_STEP_MM) + 1)
    return np.linspace(-extent / 2 + 0.05, extent / 2 - 0.05, n)


def heights_at(shape: Shape, pose: Pose, plan: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Underside and upper side (n,) mm, about the centre, at plan points (n, 2) within the piece's box.

    nan where the solid does not reach.
    """
    (x, y), sz = plan.T, shape.size(pose)[2]
    if shape.kind == "cylinder":
        axis = shape.axis(pose)
        across = {"x": y, "y": x, "z": None}[axis]
        if across is None:
            high = np.where(x * x + y * y <= (shape.width / 2) ** 2, sz / 2, np.nan)
        else:
            high = np.sqrt(np.maximum((shape.width / 2) ** 2 - across**2, 0.0))
        return -high, high
    if pose.facing == "top":
        flat = np.where(_inside(shape.turned_outline(pose.rotation), plan), sz / 2, np.nan)
        return -flat, flat
    return _spans(shape, pose.rotation, x if pose.facing == "front" else y)


@lru_cache(maxsize=1024)
def envelope(shape: Shape, rotation: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the turned outline's corners lie in u, twice each but the ends, and its lowest and highest w (n,) there, on
    the left and on the right of an upright edge."""
    a = shape.turned_outline(rotation)
    along = np.roll(a, -1, 0) - a
    (u0, w0), (du, dw) = (of[along[:, 0] != 0].T[..., None] for of in (a, along))
    at = np.unique(a[:, 0])
    middle = (at[1:] + at[:-1]) / 2
    t = (middle - u0) / du
    there = (t >= 0) & (t <= 1)
    w = w0 + t * dw
    ends = np.stack([at[:-1], at[1:]])
    sides = []
    for edge in (np.where(there, w, np.inf).argmin(0), np.where(there, w, -np.inf).argmax(0)):
        sides.append((w0[edge, 0] + (ends - u0[edge, 0]) / du[edge, 0] * dw[edge, 0]).T.ravel())
    return ends.T.ravel(), *sides


def _spans(shape: Shape, rotation: float, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest w of the turned outline at each u, (n,) each."""
    at, low, high = envelope(shape, rotation)
    return np.interp(u, at, low, math.nan, math.nan), np.interp(u, at, high, math.nan, math.nan)


def _inside(outline: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Even-odd test of points (n, 2) against a polygon (m, 2)."""
    a, b = outline[None], np.roll(outline, -1, 0)[None]
    p = points[:, None]
    crosses = (a[..., 1] > p[..., 1]) != (b[..., 1] > p[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (b[..., 0] - a[..., 0]) * (p[..., 1] - a[..., 1]) / (b[..., 1] - a[..., 1]) + a[..., 0]
    return np.asarray((crosses & (p[..., 0] < at)).sum(1) % 2 == 1)


def clearances(pieces: PieceSet, above: Piece, below: Piece, floor_mm: float = -math.inf) -> Iterator[float]:
    """Vertical gaps in mm between the underside of one piece and the top of another.

    What of ``below`` is not higher above the table than ``floor_mm`` counts as table: nothing rests on the
    toe of a roof or an arch.

    No figure when their plans do not overlap by CONTACT_OVERLAP_MM, else two, each worked out when it is asked
    for, negative where the pieces would interpenetrate:

    * between the two outlines in the elevation, as a card is drawn and read;
    * between the two solids, point by point over the common plan, so that an arch may nest
      over what fits into it along the player's line of sight.

    They differ only where an opening runs across the line of sight; there a piece that spans
    the opening rests by the first and one that fits into it by the second.
    """
    if _beside(pieces, above, below):
        return
    shape = shape_of(pieces, below)
    plan, lower, _ = piece_surfaces(shape_of(pieces, above), above.pose)
    half_x, half_y, _ = (extent / 2 for extent in shape.size(below.pose))
    x, y = _seen_from(below, above, plan)
    common = (np.abs(x) <= half_x) & (np.abs(y) <= half_y)
    x, y = x[common], y[common]
    if len(x) < 2 or min(x.max() - x.min(), y.max() - y.min()) < CONTACT_OVERLAP_MM:
        return
    yield from _elevation_gap(pieces, above, below, floor_mm)
    _, high = heights_at(shape, below.pose, np.stack([x, y], 1))
    gaps = np.where(below.z + high > floor_mm, above.z + lower[common] - below.z - high, np.nan)
    least = float(np.fmin.reduce(gaps))
    if not math.isnan(least):
        yield least


def _seen_from(piece: Piece, other: Piece, plan: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y, (n,) each, in one piece's own frame, of the points ``plan`` (n, 2) of another's."""
    turn, (px, py) = math.radians(other.yaw - piece.yaw), plan.T
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = _turn(np.array([other.x - piece.x, other.y - piece.y]), -piece.yaw).tolist()
    return c * px - s * py + dx, s * px + c * py + dy


def _beside(pieces: PieceSet, a: Piece, b: Piece) -> bool:
    """Whether the plans of two pieces surely do not meet: their extents in x or y do not."""
    reach_x, reach_y = map(sum, zip(half_extent(pieces, a), half_extent(pieces, b), strict=True))
    return abs(a.x - b.x) > reach_x or abs(a.y - b.y) > reach_y


def half_extent(pieces: PieceSet, piece: Piece) -> tuple[float, float]:
    """Half extents in x and y, mm, of the piece's box."""
    sx, sy, _ = shape_of(pieces, piece).size(piece.pose)
    c, s = abs(math.cos(math.radians(piece.yaw))), abs(math.sin(math.radians(piece.yaw)))
    return (c * sx + s * sy) / 2, (s * sx + c * sy) / 2


def _elevation_gap(pieces: PieceSet, above: Piece, below: Piece, floor_mm: float) -> tuple[float, ...]:
    a, b = shape_of(pieces, above), shape_of(pieces, below)
    ax, bx = a.size(above.pose)[0] / 2, b.size(below.pose)[0] / 2
    left, right = max(above.x - ax, below.x - bx), min(above.x + ax, below.x + bx)
    first, last = left + 0.05, max(right - 0.05, left + 0.06)
    xs = first + ACROSS * (last - first)
    low, _ = _profile(a, above.pose, xs - above.x)
    _, high = _profile(b, below.pose, xs - below.x)
    gap = np.fmin.reduce(np.where(below.z + high > floor_mm, above.z + low - below.z - high, np.nan))
    return () if np.isnan(gap) else (float(gap),)


def overlap_mm(pieces: PieceSet, above: Piece, below: Piece) -> float:
    """How far two pieces overlap, mm, to OVERLAP_STEP_MM: in x where their faces meet in the elevation, or in y in
    plan, whichever is less; 0 when they do not meet."""
    a, b = shape_of(pieces, above), shape_of(pieces, below)
    ax, bx = a.size(above.pose)[0] / 2, b.size(below.pose)[0] / 2
    left, right = max(above.x - ax, below.x - bx), min(above.x + ax, below.x + bx)
    xs = np.arange(left + OVERLAP_STEP_MM / 2, right, OVERLAP_STEP_MM)
    low, high = _profile(a, above.pose, xs - above.x)[0], _profile(b, below.pose, xs - below.x)[1]
    meets = np.abs(above.z + low - below.z - high) <= CONTACT_GAP_MM
    in_y = half_extent(pieces, above)[1] + half_extent(pieces, below)[1] - abs(above.y - below.y)
    return max(0.0, min(float(meets.sum()) * OVERLAP_STEP_MM, in_y))


def _profile(shape: Shape, pose: Pose, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest point of the piece's elevation at each u, (n,) each, about its centre."""
    if pose.facing == "front" and shape.kind != "cylinder":
        return _spans(shape, pose.rotation, u)
    half = np.full(len(u), shape.size(pose)[2] / 2)
    if shape.kind == "cylinder" and shape.axis(pose) == "y":
        half = np.sqrt(np.maximum((shape.width / 2) ** 2 - u * u, 0.0))
    return -half, half


def rest_height(pieces: PieceSet, piece: Piece, others: Sequence[Piece]) -> float:
    """The z at which the piece, let down from above at its x, y and yaw, comes to rest.

    Rests as the elevation shows it (see ``clearances``).
    """
    rest = shape_of(pieces, piece).size(piece.pose)[2] / 2
    for other in others:
        if not _beside(pieces, piece, other):
            over = piece.at(x=round(piece.x - other.x, 4), y=round(piece.y - other.y, 4), z=0.0)
            rise = _rise(pieces, over, other.at(x=0.0, y=0.0, z=0.0))
            rest = rest if rise is None else max(rest, other.z + rise)
    return rest


@lru_cache(maxsize=16384)
def _rise(pieces: PieceSet, above: Piece, below: Piece) -> float | None:
    """How much higher than ``below``'s ``above`` has its centre when it rests on it; None where they do not meet."""
    lifted = above.at(z=1000.0)
    gap = next(clearances(pieces, lifted, below), None)
    return None if gap is None else lifted.z - gap


def _turn(points: np.ndarray, degrees: float) -> np.ndarray:
    a = math.radians(degrees)
    c, s = math.cos(a), math.sin(a)
    return np.asarray(points @ np.array([[c, s], [-s, c]]))


def parse_build(text: str) -> tuple[Piece, ...]:
    """Pieces from the one-line notation. Raises BadCard naming the word group at fault."""
    return tuple(_parse_piece(part.strip()) for part in text.split(";") if part.strip())


def _parse_piece(part: str) -> Piece:
    try:
        color, shape, rotation, facing, at, *numbers = part.split()
        if numbers[3:4] == ["yaw"]:
            del numbers[3]
        else:
            numbers.append("0")
        x, y, z, yaw = map(float, numbers)
        if at != "@" or facing not in ("front", "side", "top") or not all(map(math.isfinite, (x, y, z, yaw))):
            raise ValueError
        return Piece(shape, color, Pose(int(rotation), cast(Facing, facing)), x, y, z, yaw)
    except ValueError:
        raise BadCard(f"not a placed piece: {part!r}") from None
