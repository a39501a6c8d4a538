"""Can it stand? Contacts, overlaps and static equilibrium of a build; pure, no engine.

Law. A build of rigid blocks stands when forces exist at its contacts, each pushing only and
within its friction cone, that balance weight and torque of every piece (a linear programme;
Livesley 1978, "Limit analysis of structures formed from rigid blocks"). The *tilt margin* is
the largest angle by which gravity may lean, in any of four directions, before no such forces
exist. Rolling shapes have a line for a contact, so their margin is next to nothing.

A *misplacement* moves one piece, alone or with all it carries, sideways; what stands above is
let down again. When anything would have to rise for that, the piece sits in a hollow or is blocked
and falls back: no harm. When anything sinks, or no equilibrium exists, the build topples.

All builds here are a card's: yaw 0, so that plans are aligned with x and y.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from cards.build import Piece, bottom, rest_height, shape_of
from cards.contact import TOUCH_MM, Touch, mass_and_centre, overlapping, penetration, touches
from cards.pieces import PieceSet
from cards.sentences import sentence

FRICTION = 0.4
"""Wood on wood, dry: 0.25 to 0.5 (Engineering Toolbox); lacquered toys lie in between."""

MISPLACEMENT_MM = 2.0
"""How far a steady hand with tongs may be off; the issue's figure."""

EDGE_MM = 1.0
"""Wooden edges are rounded by about this much: nothing rests on a face's last millimetre."""

MIN_TILT_DEG = 1.5
"""A table out of true and a mat on cloth lean by less."""

SUNK_MM = 3.0
"""``rest_height`` samples an elevation and may miss a point by less than this; it is corrected."""

RISE_MM = 0.15
"""What would have to rise by more than this to be misplaced sits in a hollow, or is blocked."""


@dataclass(frozen=True)
class StabilityReport:
    """What was found of a build. ``faults`` are words for a user; empty when it can be built and stands."""

    faults: tuple[str, ...]
    tilt_deg: float
    weakest: tuple[int, ...]
    touches: tuple[Touch, ...]

    @property
    def stable(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.faults


def check_stability(
    pieces: PieceSet, placed: Sequence[Piece], misplacement_mm: float | None = MISPLACEMENT_MM
) -> StabilityReport:
    """Everything that keeps the build from being built or from standing, with its margins.

    Without a misplacement (None) it is quick enough to follow a hand.
    """
    contacts = touches(pieces, placed)
    pairs = overlapping(pieces, placed)
    faults = [sentence("overlap", piece_a=_named(placed[i]), piece_b=_named(placed[j])) for i, j in pairs]
    floating = [i for i in range(len(placed)) if not any(t.above == i for t in contacts)]
    faults += [sentence("floating", piece=_named(placed[i])) for i in floating]
    if faults:
        return StabilityReport(tuple(faults), 0.0, tuple(floating), contacts)
    tilt = tilt_margin(pieces, placed, contacts)
    if tilt < MIN_TILT_DEG:
        what = sentence("falls") if tilt < 0 else sentence("leans", n=max(tilt, 0.0) + 0.0)
        return StabilityReport((what,), max(tilt, 0.0), (), contacts)
    weak = (
        ()
        if misplacement_mm is None
        else tuple(i for i in range(len(placed)) if topples(pieces, placed, i, misplacement_mm))
    )
    faults += [sentence("misplaced", piece=_named(placed[i]), n=misplacement_mm) for i in weak]
    return StabilityReport(tuple(faults), tilt, weak, contacts)


def _named(piece: Piece) -> dict[str, str | float]:
    return {"color": piece.color, "shape": piece.shape, "x": piece.x}


def tilt_margin(pieces: PieceSet, placed: Sequence[Piece], contacts: Sequence[Touch]) -> float:
    """Degrees by which gravity may lean towards +-x and +-y, the least of the four; -1 when it falls."""
    balance, masses = _balance(pieces, placed, contacts)
    margins = []
    for direction in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        share = _largest_share(balance, masses, direction)
        if share is None:
            return -1.0
        margins.append(share)
    return math.degrees(math.atan(min(margins)))


def stands(pieces: PieceSet, placed: Sequence[Piece], lean_deg: float = 0.0) -> bool:
    """Whether the build is in equilibrium as it is, and while it leans by ``lean_deg`` to either side."""
    balance, masses = _balance(pieces, placed, touches(pieces, placed))
    if not lean_deg:
        return _largest_share(balance, masses, (1, 0), most=0.0) is not None
    shares = [_largest_share(balance, masses, side) for side in ((1, 0), (-1, 0))]
    return all(share is not None and share >= math.tan(math.radians(lean_deg)) for share in shares)


def _balance(pieces: PieceSet, placed: Sequence[Piece], contacts: Sequence[Touch]) -> tuple[np.ndarray, np.ndarray]:
    """The equilibrium matrix (6n, forces) and the pieces' masses (n,)."""
    solid = [mass_and_centre(shape_of(pieces, p), p.pose) for p in placed]
    centres = np.array([(p.x, p.y, p.z) for p in placed]) + np.array([c for _, c in solid])
    blocks = []
    for touch in contacts:
        force, point = _generators(touch)
        block = np.zeros((len(placed), 6, len(force)))
        for piece, sign in ((touch.above, 1.0), (touch.below, -1.0)):
            if piece is not None:
                block[piece] = sign * np.hstack([force, np.cross(point - centres[piece], force) / 10.0]).T
        blocks.append(block.reshape(6 * len(placed), -1))
    return np.hstack(blocks), np.array([m for m, _ in solid])


def _generators(touch: Touch) -> tuple[np.ndarray, np.ndarray]:
    """Edges of each contact point's friction pyramid: forces (4n, 3) and where they act (4n, 3)."""
    normal = touch.normals
    along = np.stack([normal[:, 2], np.zeros(len(normal)), -normal[:, 0]], 1)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = np.cross(normal, along)
    edges = [
        normal + FRICTION / math.sqrt(2) * (u * along + v * across) for u, v in ((1, 1), (1, -1), (-1, 1), (-1, -1))
    ]
    return np.concatenate(edges), np.tile(touch.points, (4, 1))


def _largest_share(
    balance: np.ndarray, masses: np.ndarray, direction: tuple[int, int], most: float = 1.0
) -> float | None:
    """The largest sideways share of gravity, up to ``most``, that can still be balanced; None when there is none."""
    n = len(masses)
    weight, push = np.zeros(6 * n), np.zeros(6 * n)
    weight[2::6] = -masses
    push[0::6], push[1::6] = masses * direction[0], masses * direction[1]
    matrix = np.column_stack([balance, push])
    cost, limits = np.zeros(matrix.shape[1]), np.tile((0.0, np.inf), (matrix.shape[1], 1))
    cost[-1], limits[-1, 1] = -1.0, most
    small = {"presolve": False}  # which takes longer than it saves
    result = scipy.optimize.linprog(cost, A_eq=matrix, b_eq=-weight, bounds=limits, method="highs", options=small)
    return float(result.x[-1]) if result.status == 0 else None


def topples(pieces: PieceSet, placed: Sequence[Piece], i: int, by_mm: float) -> bool:
    """Whether the build falls when piece ``i``, alone or with its load, is ``by_mm`` off to either side.

    It is moved by EDGE_MM more, because what then rests on an edge alone slips off.
    """
    load = carried(pieces, placed, i)
    groups = {(i,), (i, *load)}
    off = by_mm + EDGE_MM
    return any(_topples_with(pieces, placed, group, step) for group in groups for step in (off, -off))


def carried(pieces: PieceSet, placed: Sequence[Piece], i: int) -> tuple[int, ...]:
    """The pieces that rest, through others too, on piece ``i`` alone."""
    below: dict[int, set[int | None]] = {k: set() for k in range(len(placed))}
    for touch in touches(pieces, placed):
        below[touch.above].add(touch.below)
    load = {i}
    for _ in placed:
        load |= {k for k, under in below.items() if under and under <= load}
    return tuple(sorted(load - {i}))


def _topples_with(pieces: PieceSet, placed: Sequence[Piece], group: Sequence[int], step: float) -> bool:
    moved = [p.at(x=p.x + step) if k in group else p for k, p in enumerate(placed)]
    settled = settle(pieces, moved)
    rise = [s.z - p.z for s, p in zip(settled, placed, strict=True)]
    if max(rise) > RISE_MM:
        return False
    return min(rise) < -TOUCH_MM or not stands(pieces, settled)


def settle(pieces: PieceSet, placed: Sequence[Piece]) -> list[Piece]:
    """The pieces let down one after another, lowest first, each at its x and y."""
    order = sorted(range(len(placed)), key=lambda k: bottom(pieces, placed[k]))
    done: dict[int, Piece] = {}
    for k in order:
        below = list(done.values())
        piece = placed[k].at(z=rest_height(pieces, placed[k], below))
        sunk = max((penetration(pieces, piece, p) for p in below), default=0.0)
        done[k] = piece.at(z=piece.z + sunk) if sunk < SUNK_MM else piece
    return [done[k] for k in range(len(placed))]
