"""Builds that fulfil a card: seeded random search over stable placements.

``example_build`` finds a right build for any card a set can give: proof that it can be built, and
what a simulated player builds. ``erect`` is the search itself.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from cards.build import Build, Piece, bottom, parse_build, rest_height, shape_of, top
from cards.card import Card, HeightCard, LayoutCard, OrganCard, ShapesCard
from cards.contact import overlap, touches
from cards.errors import BadCard
from cards.pieces import BUILTIN_SETS, PieceSet, Pose, Shape
from cards.sentences import sentence
from cards.stability import MIN_TILT_DEG, Stand, settle, stand, stands

SPAN_MM = 80.0
"""A build stays within this of x = 0: the field is 95 wide to either side, and may be missed a little."""

STEP_BETWEEN_PIPES_MM = 4.0
"""Organ pipes differ in height by more than this, so that a player and the camera can tell."""

ROW_MM = 185.0
"""A row of pipes fits into the field, 190 mm wide."""

TRIES, STEPS, OPTIONS, BRANCHES = 60, 14, 12, 2
"""Fresh starts; placements in one; places looked at for a piece; how many of them are followed up."""

FREE, LOW = 0.6, 0.02
"""How much a millimetre of height counts against a place: low builds leave more tops."""

GAP_MM = 8.0
CAPS = ("triangle", "crescent", "half_disc")
"""Kinds on whose top nothing rests."""


def example_build(card: Card, pieces: PieceSet, seed: int = 0) -> tuple[Piece, ...]:
    """A stable build that the card calls right, by default always the same one.

    Raises BadCard when the set cannot give it, or none is found in TRIES attempts.
    """
    return proved_example(card, pieces, seed)[0]


def proved_example(
    card: Card, pieces: PieceSet, seed: int = 0, known: dict[tuple[Piece, ...], Stand] | None = None
) -> tuple[tuple[Piece, ...], Stand | None]:
    """``example_build`` and the proof that it stands; None for a card whose builds need none (layout, organ pipes).

    ``known`` remembers proofs: several seeds often try the same builds.
    """
    if isinstance(card, LayoutCard):
        return card.pieces, None
    rng, known = random.Random(seed), {} if known is None else known
    if isinstance(card, OrganCard):
        return _organ(card, pieces, rng), None
    for built in itertools.chain(_known_builds(card, pieces, seed), _searched(card, pieces, rng)):
        if built not in known:
            whole = len(Build(pieces, built).structures) == 1
            known[built] = stand(pieces, built) if whole else NOT_WHOLE
        if known[built].stable:
            return built, known[built]
    raise _bad(card, sentence("no_structure", n=card.max_ground_contacts))


def _bad(card: Card, fault: str) -> BadCard:
    return BadCard(sentence("of_card", card=card.id, rest=fault))


NOT_WHOLE = Stand((sentence("not_whole"),), 0.0, (), ())


def _searched(card: HeightCard | ShapesCard, pieces: PieceSet, rng: random.Random) -> Iterator[tuple[Piece, ...]]:
    for _ in range(TRIES):
        built = erect(pieces, _choice(card, pieces, rng), rng, card.max_ground_contacts, loose=False)
        if built:
            yield built


def _known_builds(card: HeightCard | ShapesCard, pieces: PieceSet, seed: int) -> Iterator[tuple[Piece, ...]]:
    """Builds of the file that the card and the set allow, turned about by the seed, with the set's sizes."""
    fitting = [b for b in _file_of_builds() if _suits(b, card, pieces)]
    for k in range(len(fitting)):
        turn, which = divmod(seed + k, len(fitting))
        side = -1.0 if turn % 2 else 1.0
        built = tuple(settle(pieces, [p.at(x=side * p.x) for p in fitting[which]]))
        if sum(bottom(pieces, p) < 0.5 for p in built) <= card.max_ground_contacts:
            yield built


@cache
def _file_of_builds() -> tuple[tuple[Piece, ...], ...]:
    lines = (BUILTIN_SETS / "builds.txt").read_text(encoding="utf-8").splitlines()
    return tuple(parse_build(line) for line in lines if line and not line.startswith("#"))


def _suits(built: Sequence[Piece], card: HeightCard | ShapesCard, pieces: PieceSet) -> bool:
    have = Counter((p.shape, p.color) for p in built)
    if len(built) != card.count or have - pieces.inventory:
        return False
    return isinstance(card, HeightCard) or Counter(p.shape for p in built) == Counter(dict(card.shapes))


# -- choosing pieces -------------------------------------------------------------------------------


def all_pieces(pieces: PieceSet) -> list[tuple[str, str]]:
    return [key for key, n in sorted(pieces.inventory.items()) for _ in range(n)]


def _choice(card: HeightCard | ShapesCard, pieces: PieceSet, rng: random.Random) -> list[tuple[str, str]]:
    """Pieces for the card, those that carry others first."""
    each = all_pieces(pieces)
    rng.shuffle(each)
    if isinstance(card, ShapesCard):
        chosen = [key for shape, n in card.shapes for key in [k for k in each if k[0] == shape][:n]]
        if len(chosen) < card.count:
            raise _bad(card, sentence("asks_shapes", name=pieces.name))
    else:
        each.sort(key=lambda key: pieces.shapes[key[0]].kind in CAPS)
        chosen = each[: card.count]
        if len(chosen) < card.count:
            raise _bad(card, sentence("asks_count", n=card.count, m=len(each)))
    return sorted(chosen, key=lambda key: rank(pieces.shapes[key[0]]) + rng.random() * 1.2)


def rank(shape: Shape) -> float:
    """Order of placing: what is wide and flat first, caps last."""
    if shape.kind in CAPS:
        return 5.0
    return {"box": 1.0, "bridge": 1.5, "cylinder": 2.0}[shape.kind] - (shape.width > 1.6 * shape.height) * 0.6


def steady_poses(shape: Shape) -> tuple[Pose, ...]:
    """Poses in front view that stand on a flat face, the most usual first."""
    if shape.kind == "box" and shape.width != shape.height:
        return Pose(0), Pose(90)
    if shape.kind == "bridge":
        return Pose(0), Pose(90), Pose(180)
    return (Pose(0),)


# -- placing ---------------------------------------------------------------------------------------


def erect(
    pieces: PieceSet, chosen: Sequence[tuple[str, str]], rng: random.Random, max_ground: int, *, loose: bool
) -> tuple[Piece, ...] | None:
    """The pieces set down one by one, each at a good place, going back a little when one finds none.

    None when STEPS placements were not enough. With ``loose`` pieces may stand apart on the table
    and off centre, as in a layout.
    """
    steps = iter(range(STEPS))

    def extend(placed: tuple[Piece, ...]) -> tuple[Piece, ...] | None:
        if len(placed) == len(chosen):
            return placed
        options = sorted(
            _options(pieces, *chosen[len(placed)], placed, rng, loose=loose),
            key=lambda p: -_merit(pieces, p, placed, rng, loose=loose),
        )
        options = [p for p in options if _may_stand_there(pieces, p, placed, max_ground, loose=loose)]
        whole = not loose and (len(placed) >= 2 or len(placed) + 1 == len(chosen))
        holding = (p for p in options[:OPTIONS] if _holds(pieces, (*placed, p), max_ground, whole=whole))
        for place in itertools.islice(holding, BRANCHES):
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
        found |= {
            p.x,
            p.x - reach + half,
            p.x + reach - half,
            p.x - reach - half,
            p.x + reach + half,
            p.x - half,
            p.x + half,
        }
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
    capped = any(shape_of(pieces, p).kind in CAPS for p, s in shared if s > 0)
    score = -LOW * piece.z - 0.01 * abs(piece.x) + 0.3 * min(wide / high, 2.0) - 5.0 * capped
    score += FREE * _free_tops(pieces, (*placed, piece))
    return score + carried + 0.3 * len(shared) + rng.random() * (3.0 if loose else 1.0)


def _free_tops(pieces: PieceSet, placed: Sequence[Piece]) -> int:
    """How many flat tops have nothing on them; a wide one counts twice."""
    covered = {t.below for t in touches(pieces, placed)}
    free = [shape_of(pieces, p) for k, p in enumerate(placed) if k not in covered]
    return sum(1 + (s.width > 2.4 * s.depth_mm) for s in free if s.kind not in CAPS)


def _may_stand_there(pieces: PieceSet, piece: Piece, placed: Sequence[Piece], max_ground: int, *, loose: bool) -> bool:
    """A quick look: not on a cap's point; not on the table when that is full, or apart from a structure."""
    if bottom(pieces, piece) < 0.5:
        on_table = sum(bottom(pieces, p) < 0.5 for p in placed)
        return on_table < max_ground and (loose or len(placed) < 2)
    below = [
        placed[t.below] for t in touches(pieces, (*placed, piece)) if t.above == len(placed) and t.below is not None
    ]
    return bool(below) and not any(shape_of(pieces, p).kind in CAPS for p in below)


def _holds(pieces: PieceSet, placed: Sequence[Piece], max_ground: int, *, whole: bool) -> bool:
    """Whether the build so far may be built on: few enough on the table, ``whole`` in one part, standing."""
    on_table = sum(bottom(pieces, p) < 0.5 for p in placed)
    stray = whole and _parts(pieces, placed) > 1
    return on_table <= max_ground and not stray and stands(pieces, placed, MIN_TILT_DEG)


def _parts(pieces: PieceSet, placed: Sequence[Piece]) -> int:
    """How many structures there are."""
    part = list(range(len(placed)))
    for touch in touches(pieces, placed):
        if touch.below is not None:
            old, new = part[touch.above], part[touch.below]
            part = [new if p == old else p for p in part]
    return len(set(part))


def _organ(card: OrganCard, pieces: PieceSet, rng: random.Random) -> tuple[Piece, ...]:
    """Pipes of falling height side by side; each piece is used for one height it can stand at."""
    chosen = falling_heights(pieces, card.count, rng)
    if chosen is None:
        raise _bad(card, sentence("few_heights", name=pieces.name, n=card.count))
    widths = [pieces.shapes[shape].size(pose)[0] for shape, _, pose in chosen]
    gap = min(GAP_MM, max((ROW_MM - sum(widths)) / (len(widths) - 1), 1.0))
    x, placed = -(sum(widths) + gap * (len(widths) - 1)) / 2, []
    for (shape, color, pose), wide in zip(chosen, widths, strict=True):
        placed.append(Piece(shape, color, pose, round(x + wide / 2, 1), 0.0, pieces.shapes[shape].size(pose)[2] / 2))
        x += wide + gap
    return tuple(placed)


def _narrow(shape: Shape, pose: Pose) -> Pose:
    """The pose, or that turned a quarter about the vertical if it takes less room for the player."""
    return min(pose, shape.canonical(Pose(pose.rotation, "side")), key=lambda p: shape.size(p)[0])


def falling_heights(pieces: PieceSet, count: int, rng: random.Random) -> list[tuple[str, str, Pose]] | None:
    """``count`` pieces with poses whose heights fall by more than STEP_BETWEEN_PIPES_MM; None if none do."""
    each = all_pieces(pieces)
    rng.shuffle(each)
    ways = [
        (pieces.shapes[s].size(pose)[2], n, _narrow(pieces.shapes[s], pose))
        for n, (s, _) in enumerate(each)
        for pose in steady_poses(pieces.shapes[s])
    ]
    ways.sort(key=lambda w: (-w[0], pieces.shapes[each[w[1]][0]].kind in CAPS, w[1]))

    def extend(start: int, used: frozenset[Any], below: float, left: int) -> list[Any] | None:
        if left == 0:
            return []
        for k in range(start, len(ways)):
            high, n, pose = ways[k]
            if n not in used and high <= below - STEP_BETWEEN_PIPES_MM:
                rest = extend(k + 1, used | {n}, high, left - 1)
                if rest is not None:
                    return [(*each[n], pose), *rest]
        return None

    return extend(0, frozenset(), 1e9, count)
