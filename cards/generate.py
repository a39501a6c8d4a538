"""Builds set up piece by piece: a seeded random search over stable placements (``erect_build``)."""

import itertools
import random
from collections.abc import Iterator, Sequence

from cards.build import Piece, bottom, connected_groups, rest_height, shape_of, top
from cards.contact import overlap, touches
from cards.pieces import PieceSet, Pose, Shape
from cards.stability import MIN_TILT_DEG, stands

SPAN_MM = 80.0
"""A build stays within this of x = 0: the field is 95 wide to either side, and may be missed a little."""

SEARCH_PLACEMENTS, PLACES_PER_PIECE, PLACES_FOLLOWED = 14, 12, 2
"""Placements in one search; places looked at for a piece; how many of them are followed up."""

HEIGHT_COST, LOW = 0.6, 0.02
"""How much a millimetre of height counts against a place: low builds leave more tops."""

GAP_MM = 8.0
CAP_KINDS = ("triangle", "crescent", "half_disc")
"""Kinds on whose top nothing rests."""


def all_pieces(pieces: PieceSet) -> list[tuple[str, str]]:
    return [key for key, n in sorted(pieces.inventory.items()) for _ in range(n)]


def placing_order(shape: Shape) -> float:
    """Order of placing: what is wide and flat first, caps last."""
    if shape.kind in CAP_KINDS:
        return 5.0
    return {"box": 1.0, "bridge": 1.5, "cylinder": 2.0}[shape.kind] - (shape.width > 1.6 * shape.height) * 0.6


def steady_poses(shape: Shape) -> tuple[Pose, ...]:
    """Poses in front view that stand on a flat face, the most usual first."""
    if shape.kind == "box" and shape.width != shape.height:
        return Pose(0), Pose(90)
    if shape.kind == "bridge":
        return Pose(0), Pose(90), Pose(180)
    return (Pose(0),)


def erect_build(
    pieces: PieceSet, chosen: Sequence[tuple[str, str]], rng: random.Random, max_ground: int, *, loose: bool
) -> tuple[Piece, ...] | None:
    """The pieces set down one by one, each at a good place, going back a little when one finds none.

    None when STEPS placements were not enough. With ``loose`` pieces may stand apart on the table
    and off centre, as in a layout.
    """
    steps = iter(range(SEARCH_PLACEMENTS))

    def extend(placed: tuple[Piece, ...]) -> tuple[Piece, ...] | None:
        if len(placed) == len(chosen):
            return placed
        options = sorted(
            _options(pieces, *chosen[len(placed)], placed, rng, loose=loose),
            key=lambda p: -_merit(pieces, p, placed, rng, loose=loose),
        )
        options = [p for p in options if _may_stand_there(pieces, p, placed, max_ground, loose=loose)]
        whole = not loose and (len(placed) >= 2 or len(placed) + 1 == len(chosen))
        holding = (p for p in options[:PLACES_PER_PIECE] if _holds(pieces, (*placed, p), max_ground, whole=whole))
        for place in itertools.islice(holding, PLACES_FOLLOWED):
            if next(steps, None) is None:
                return None
            if (built := extend((*placed, place))) is not None:
                return built
        return None

    return extend(())


def _options(
    pieces: PieceSet, shape: str, color: str, placed: Sequence[Piece], rng: random.Random, *, loose: bool
) -> Iterator[Piece]:
    for pose in steady_poses(pieces.shapes[shape]):
        half = pieces.shapes[shape].size(pose)[0] / 2
        for x in _places(pieces, half, placed, rng, loose=loose):
            piece = Piece(shape, color, pose, x, 0.0, 0.0)
            piece = piece.at(z=round(rest_height(pieces, piece, placed), 1))
            if abs(x) + half <= SPAN_MM and not any(overlap(pieces, piece, p) for p in placed):
                yield piece


def _places(pieces: PieceSet, half: float, placed: Sequence[Piece], rng: random.Random, *, loose: bool) -> list[float]:
    """Places worth trying: centred on a piece, flush with its ends or its middle, between two, beside."""
    if not placed:
        return [0.0]
    found, centres = set(), [p.x for p in placed]
    for p in placed:
        reach = shape_of(pieces, p).size(p.pose)[0] / 2
        found |= {p.x, *(at + step for at in (p.x - reach, p.x, p.x + reach) for step in (-half, half))}
        if loose:
            found |= {p.x + rng.choice((-9, -6, 6, 9)), p.x - reach - half - GAP_MM, p.x + reach + half + GAP_MM}
    found |= {(a + b) / 2 for a in centres for b in centres if a < b}
    return sorted({round(x) + 0.0 for x in found})


def _merit(pieces: PieceSet, piece: Piece, placed: Sequence[Piece], rng: random.Random, *, loose: bool) -> float:
    """Low, broad, on few, and near the middle is good; chance decides among the good."""
    wide, _, high = shape_of(pieces, piece).size(piece.pose)
    under = [
        (p, shape_of(pieces, p).size(p.pose)[0]) for p in placed if abs(top(pieces, p) - bottom(pieces, piece)) < 0.5
    ]
    shared = [(p, min((wide + w) / 2 - abs(p.x - piece.x), wide, w)) for p, w in under]
    carried = sum(max(s, 0.0) for _, s in shared) / wide if shared else 1.0
    capped = any(shape_of(pieces, p).kind in CAP_KINDS for p, s in shared if s > 0)
    score = -LOW * piece.z - 0.01 * abs(piece.x) + 0.3 * min(wide / high, 2.0) - 5.0 * capped
    score += HEIGHT_COST * _free_tops(pieces, (*placed, piece))
    return score + carried + 0.3 * len(shared) + rng.random() * (3.0 if loose else 1.0)


def _free_tops(pieces: PieceSet, placed: Sequence[Piece]) -> int:
    """How many flat tops have nothing on them; a wide one counts twice."""
    covered = {t.below for t in touches(pieces, placed)}
    free = [shape_of(pieces, p) for k, p in enumerate(placed) if k not in covered]
    return sum(1 + (s.width > 2.4 * s.depth_mm) for s in free if s.kind not in CAP_KINDS)


def _may_stand_there(pieces: PieceSet, piece: Piece, placed: Sequence[Piece], max_ground: int, *, loose: bool) -> bool:
    """A quick look: not on a cap's point; not on the table when that is full, or apart from a structure."""
    if bottom(pieces, piece) < 0.5:
        on_table = sum(bottom(pieces, p) < 0.5 for p in placed)
        return on_table < max_ground and (loose or len(placed) < 2)
    below = [
        placed[t.below] for t in touches(pieces, (*placed, piece)) if t.above == len(placed) and t.below is not None
    ]
    return bool(below) and not any(shape_of(pieces, p).kind in CAP_KINDS for p in below)


def _holds(pieces: PieceSet, placed: Sequence[Piece], max_ground: int, *, whole: bool) -> bool:
    """Whether the build so far may be built on: few enough on the table, ``whole`` in one part, standing."""
    on_table = sum(bottom(pieces, p) < 0.5 for p in placed)
    pairs = ((t.above, t.below) for t in touches(pieces, placed) if t.below is not None)
    stray = whole and len(connected_groups(len(placed), pairs)) > 1
    return on_table <= max_ground and not stray and stands(pieces, placed, MIN_TILT_DEG)
