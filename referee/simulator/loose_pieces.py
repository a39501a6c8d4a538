"""Where the pieces lie that nobody has built with: around the mat, outside the field."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cards.pieces import Facing, Kind, PieceSet, Pose
from referee.simulator.meshes import PosedPiece, turn_about_z, turn_of

BAND_X_MM, BAND_Y_MM = 160.0, 80.0
"""Where a loose piece might reach into the field of organ pipes."""

BEFORE_X_MM, SHEET_END_MM, DEEP_MM = 140.0, 112.0, 400.0
"""Half the width of the place before the sheet, where it begins, and more depth than ten pieces can fill."""
SPOT_MM = 10.0
RADIUS_GAP_MM = 6.0
"""Air between two loose pieces' circles."""


def loose_places(pieces: PieceSet, seed: int) -> list[PosedPiece]:
    """The whole inventory spread around the mat, in the set's order."""
    rng = np.random.default_rng(seed)
    taken: list[tuple[float, float, float]] = []
    placed = []
    for shape, color, count in pieces.pieces:
        for _ in range(count):
            placed.append(_lie(pieces, shape, color, rng, taken))
    return placed


def without_band(pieces: PieceSet, places: Sequence[PosedPiece]) -> list[PosedPiece]:
    """The same with nothing beside the field, where organ pipes stand: what lay there lies before the sheet, at the
    nearest free spot. Farther out beside it the neighbour's sheet begins, and his organ pipes."""
    beside = [abs(p.centre[1]) < BAND_Y_MM and abs(p.centre[0]) < BAND_X_MM for p in places]
    reach = [math.hypot(*sorted(pieces.shapes[p.shape].size(Pose()))[1:]) / 2 for p in places]
    taken = [(p.centre[:2], r) for p, r, aside in zip(places, reach, beside, strict=True) if not aside]
    freed = []
    for placed, r, aside in zip(places, reach, beside, strict=True):
        if aside:
            spot = min(_free_before(r, taken), key=lambda xy: math.dist(xy, placed.centre[:2]))
            taken.append((np.array(spot), r))
            placed = replace(placed, centre=np.array([*spot, placed.centre[2]]))
        freed.append(placed)
    return freed


def _free_before(reach: float, taken: Sequence[tuple[np.ndarray, float]]) -> list[tuple[float, float]]:
    """Spots before the sheet, on the player's side, where nothing is within a piece's ``reach``."""
    xs, depths = np.arange(-BEFORE_X_MM, BEFORE_X_MM + 1, SPOT_MM), np.arange(0.0, DEEP_MM, SPOT_MM)
    spots = [(float(x), float(-SHEET_END_MM - reach - deep)) for deep in depths for x in xs]
    return [s for s in spots if all(math.dist(s, at) > reach + r + RADIUS_GAP_MM for at, r in taken)]


def _lie(pieces: PieceSet, shape: str, color: str, rng: np.random.Generator, taken: list) -> PosedPiece:
    pose = _pose(pieces, shape, rng)
    sx, sy, sz = pieces.shapes[shape].size(pose)
    reach = math.hypot(sx, sy) / 2
    x, y = _spot(rng, reach, taken)
    taken.append((x, y, reach))
    turn = turn_about_z(rng.uniform(0, 360)) @ turn_of(pose)
    return PosedPiece(shape, color, turn, np.array([x, y, sz / 2]))


def _pose(pieces: PieceSet, shape: str, rng: np.random.Generator) -> Pose:
    """A pose in which the shape lies safely by itself."""
    kind = pieces.shapes[shape].kind
    poses: dict[Kind, tuple[tuple[int, Facing], ...]] = {
        "box": ((0, "front"), (0, "front"), (90, "front")),
        "cylinder": ((0, "front"), (90, "front")),
        "triangle": ((0, "front"),),
        "bridge": ((0, "front"), (0, "top"), (180, "front")),
        "crescent": ((0, "front"), (0, "top")),
        "half_disc": ((0, "front"), (0, "top")),
    }
    rotation, facing = poses[kind][rng.integers(len(poses[kind]))]
    return Pose(rotation, facing)


def _spot(rng: np.random.Generator, reach: float, taken: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """A free place: before the sheet on the player's side, seldom beside the field."""
    for relax in range(400):
        if rng.random() < 0.75:
            x, y = rng.uniform(-BEFORE_X_MM, BEFORE_X_MM), rng.uniform(-225, -SHEET_END_MM - reach)
        else:
            x, y = rng.choice([-1, 1]) * (97 + reach + rng.uniform(0, 12)), rng.uniform(-60, 40)
        air = RADIUS_GAP_MM - relax * 0.05
        if all(math.hypot(x - a, y - b) > reach + r + air for a, b, r in taken):
            break
    return float(x), float(y)
