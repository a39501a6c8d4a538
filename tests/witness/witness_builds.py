"""What the players built: right builds, wrong ones and pieces lying about, with the truth of each.

How pieces rest and what a card asks is taken from ``cards``: the witness is
independent in how things look, not in the rules.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations, product
from random import Random

import numpy as np

from cards.build import Build, Piece, bottom, rest_height, shape_of, top
from cards.card import Card
from cards.contact import overlapping
from cards.errors import BadCard
from cards.generate import CAP_KINDS, all_pieces, erect_build
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.kinds.organ_pipes import OrganCard
from cards.kinds.shapes import ShapesCard
from cards.pieces import PieceSet, Pose, Shape
from cards.stability import settle, stands, tilt_margin, touches

SURE_RIGHT_MM, SURE_WRONG_MM = 8.0, 20.0
"""Offsets between 10 and 18 mm are nobody's certainty: the witness keeps clear of them."""

PLAIN_MM = 9.0
TILT_DEG = 2.0
FIELD_MM = (95.0, 50.0)
BAND_MM = 140.0
"""Half the width of an organ card's field: no loose piece may lie in it."""
TRIES = 60

Pieces = tuple[Piece, ...]


@dataclass(frozen=True)
class Stand:
    """What is in and around one field: ``build`` and ``loose`` in the mat's frame, and what to expect of it."""

    expected: str
    why: str
    build: Pieces
    loose: Pieces


def footprint(pieces: PieceSet, piece: Piece) -> np.ndarray:
    """The corners (4, 2) in mm of the piece's box on the ground plane, counter-clockwise."""
    sx, sy, _ = shape_of(pieces, piece).size(piece.pose)
    corners = np.array([(-sx, -sy), (sx, -sy), (sx, sy), (-sx, sy)]) / 2
    c, s = math.cos(math.radians(piece.yaw)), math.sin(math.radians(piece.yaw))
    return corners @ np.array([[c, s], [-s, c]]) + (piece.x, piece.y)


def right_build(card: Card, pieces: PieceSet, rng: Random) -> Pieces:
    """Some stable build that the card calls right. Raises BadCard when none is found."""
    built = card.example(pieces, rng.randrange(1000))
    if isinstance(card, HeightCard | ShapesCard) and rng.random() < 0.5:
        built = tuple(p.at(x=-p.x, pose=Pose(-p.pose.rotation % 360, p.pose.facing)) for p in built)
    return built


def wrong_build(card: Card, pieces: PieceSet, rng: Random) -> tuple[str, Pieces]:
    """Why, and a stable build that the card surely calls wrong. Raises BadCard when none is found."""
    ways = list(_ways(card).items())
    rng.shuffle(ways)
    for why, way in ways * 2:
        base = right_build(card, pieces, rng)
        for built in _some(way(card, pieces, base, rng)):
            if built and _possible(pieces, built) and surely(card, pieces, built) == "mismatch":
                return why, built
    raise BadCard(f"card {card.id}: no wrong build found")


def _some(found: Iterator[Pieces | None], limit: int = 12) -> Iterator[Pieces | None]:
    for _, built in zip(range(limit), found, strict=False):
        yield built


def surely(card: Card, pieces: PieceSet, built: Pieces) -> str | None:
    """match or mismatch, or None where the offsets are too near the line for a truth."""
    found = card.faults(Build(pieces, built))
    if not isinstance(card, LayoutCard):
        return "mismatch" if found else "match"
    if {reason.code for reason in found} - {"wrong_place"}:
        return "mismatch"
    off = largest_offset(card, built)
    return "match" if off <= SURE_RIGHT_MM else "mismatch" if off >= SURE_WRONG_MM else None


def largest_offset(card: LayoutCard, built: Pieces) -> float:
    """The worst pair's error in x in mm under the best way of telling equal pieces apart."""
    turn = math.radians(sum(p.yaw for p in built) / len(built))
    along = [p.x * math.cos(turn) + p.y * math.sin(turn) for p in built]
    keys = sorted({(p.shape, p.color) for p in built})
    groups = [[k for k, p in enumerate(built) if (p.shape, p.color) == key] for key in keys]
    wanted = [[p for p in card.pieces if (p.shape, p.color) == key] for key in keys]
    best = math.inf
    for choice in product(*(permutations(g) for g in groups)):
        errors = []
        for ours, theirs in zip(choice, wanted, strict=True):
            if any(abs(built[k].z - w.z) > 4 for k, w in zip(ours, theirs, strict=True)):
                break
            errors += [along[k] - w.x for k, w in zip(ours, theirs, strict=True)]
        else:
            best = min(best, max(errors) - min(errors))
    return best


def _possible(pieces: PieceSet, built: Pieces) -> bool:
    """Whether it stands of itself, nothing overlaps, and it fits into the field."""
    if overlapping(pieces, built) or not stands(pieces, built):
        return False
    if tilt_margin(pieces, built, touches(pieces, built)) < TILT_DEG:
        return False
    ends = [x for p in built for x, _ in footprint(pieces, p)]
    return max(ends) - min(ends) < 2 * FIELD_MM[0] - 6


# -- ways to go wrong ------------------------------------------------------------------------------


def _ways(card: Card) -> dict[str, Callable]:
    if isinstance(card, LayoutCard):
        return {
            "missing": _missing,
            "extra": _extra,
            "swap": _swap,
            "other_piece": _other,
            "mirrored": _mirrored,
            "turned": _turned,
            "shifted": _shifted,
            "stray": _stray,
        }
    if isinstance(card, HeightCard):
        return {"count": _missing, "extra": _extra, "ground": _ground, "apart": _apart}
    if isinstance(card, ShapesCard):
        return {"shape": _other_shape, "missing": _missing, "ground": _ground, "apart": _apart, "extra": _extra}
    return {"reversed": _mirrored, "order": _order, "five": _missing_pipe}


def spares(pieces: PieceSet, built: Pieces) -> list[tuple[str, str]]:
    """(shape, colour) of the pieces that are not in the build."""
    left = Counter(all_pieces(pieces)) - Counter((p.shape, p.color) for p in built)
    return sorted(left.elements())


def _free(pieces: PieceSet, built: Pieces) -> list[int]:
    covered = {t.below for t in touches(pieces, built)}
    return [k for k in range(len(built)) if k not in covered]


def _without(built: Pieces, k: int) -> Pieces:
    return (*built[:k], *built[k + 1 :])


def _missing(card, pieces, built, rng) -> Iterator[Pieces | None]:
    for k in _free(pieces, built):
        yield _without(built, k) if len(built) > 1 else None


def _missing_pipe(card, pieces, built, rng) -> Iterator[Pieces | None]:
    yield _without(built, rng.randrange(len(built)))


def _extra(card, pieces, built, rng) -> Iterator[Pieces | None]:
    """One piece more, on top of the build."""
    over = [k for k in _free(pieces, built) if shape_of(pieces, built[k]).kind not in CAP_KINDS]
    for shape, color in rng.sample(spares(pieces, built), len(spares(pieces, built))):
        for k in over:
            more = Piece(shape, color, Pose(0), built[k].x, 0.0, 0.0)
            yield (*built, more.at(z=rest_height(pieces, more, built)))


def _beside(pieces, built, rng) -> Iterator[Pieces]:
    left, right = (f(x for p in built for x, _ in footprint(pieces, p)) for f in (min, max))
    for shape, color in rng.sample(spares(pieces, built), len(spares(pieces, built))):
        piece = Piece(shape, color, Pose(0, rng.choice(("front", "side"))), 0.0, 0.0, 0.0)
        wide, _, high = shape_of(pieces, piece).size(piece.pose)
        gap = rng.uniform(9, 22) + wide / 2
        yield (*built, piece.at(x=rng.choice((left - gap, right + gap)), z=high / 2))


def _stray(card, pieces, built, rng) -> Iterator[Pieces]:
    yield from _beside(pieces, built, rng)


def _apart(card, pieces, built, rng) -> Iterator[Pieces]:
    for k in _free(pieces, built):
        rest = _without(built, k)
        if rest:
            piece = built[k]
            left = min(x for p in rest for x, _ in footprint(pieces, p))
            wide, _, high = shape_of(pieces, piece).size(piece.pose)
            yield (*rest, piece.at(x=left - wide / 2 - rng.uniform(8, 20), z=high / 2))


def _ground(card, pieces, built, rng) -> Iterator[Pieces | None]:
    """As many pieces as asked, in one structure, three of them on the table."""
    keys = [(p.shape, p.color) for p in built]
    if len(keys) < 4:
        return
    for _ in range(12):
        made = erect_build(pieces, keys, rng, 3, loose=True)
        whole = made and len(Build(pieces, made).structures) == 1
        yield made if whole and sum(bottom(pieces, p) < 0.5 for p in made) == 3 else None


def _settled(pieces: PieceSet, built: Pieces) -> Pieces:
    return tuple(settle(pieces, list(built)))


def _changed(built: Pieces, k: int, **changes) -> Pieces:
    return (*built[:k], built[k].at(**changes), *built[k + 1 :])


def _swap(card, pieces, built, rng) -> Iterator[Pieces | None]:
    pairs = [
        (i, j)
        for i in range(len(built))
        for j in range(i)
        if (built[i].shape, built[i].color) != (built[j].shape, built[j].color)
    ]
    for i, j in rng.sample(pairs, len(pairs)):
        a, b = built[i], built[j]
        swapped = _changed(built, i, shape=b.shape, color=b.color, pose=b.pose)
        yield _settled(pieces, _changed(swapped, j, shape=a.shape, color=a.color, pose=a.pose))


def _other(card, pieces, built, rng) -> Iterator[Pieces | None]:
    for _ in range(12):
        k = rng.randrange(len(built))
        others = [s for s in spares(pieces, built) if s != (built[k].shape, built[k].color)]
        like = [s for s in others if s[0] == built[k].shape] or others
        if like:
            shape, color = rng.choice(like)
            pose = built[k].pose if shape == built[k].shape else Pose(0)
            yield _settled(pieces, _changed(built, k, shape=shape, color=color, pose=pose))


def _other_shape(card, pieces, built, rng) -> Iterator[Pieces | None]:
    for _ in range(12):
        k = rng.randrange(len(built))
        others = [s for s in spares(pieces, built) if s[0] != built[k].shape]
        if others:
            shape, color = rng.choice(others)
            yield _settled(pieces, _changed(built, k, shape=shape, color=color, pose=Pose(0)))


def _mirrored(card, pieces, built, rng) -> Iterator[Pieces]:
    yield tuple(p.at(x=-p.x, pose=Pose(-p.pose.rotation % 360, p.pose.facing)) for p in built)


def _turned(card, pieces, built, rng) -> Iterator[Pieces]:
    for _ in range(12):
        k = rng.randrange(len(built))
        shape = shape_of(pieces, built[k])
        others = [p for p in shape.poses() if p.facing != "top" and _seen_to_differ(shape, p, built[k].pose)]
        if others:
            yield _settled(pieces, _changed(built, k, pose=rng.choice(others)))


def _seen_to_differ(shape: Shape, one: Pose, other: Pose) -> bool:
    """Whether nobody would doubt it: a brick of 25 by 30 turned a quarter is another pose that no one sees."""
    if shape.same_pose(one, other):
        return False
    change = max(abs(a - b) for a, b in zip(shape.size(one), shape.size(other), strict=True))
    return change >= PLAIN_MM or shape.kind not in ("box", "cylinder")


def _shifted(card, pieces, built, rng) -> Iterator[Pieces]:
    for _ in range(12):
        k = rng.randrange(len(built))
        yield _settled(pieces, _changed(built, k, x=built[k].x + rng.choice((-1, 1)) * rng.uniform(20.5, 27)))


def _order(card, pieces, built, rng) -> Iterator[Pieces]:
    i, j = rng.sample(range(len(built)), 2)
    yield _changed(_changed(built, i, x=built[j].x), j, x=built[i].x)


# -- putting it down ---------------------------------------------------------------------------------


def put_down(card: Card, pieces: PieceSet, built: Pieces, expected: str, rng: Random) -> Pieces:
    """The build as hands leave it: turned, a little untrue, somewhere in the field. Raises BadCard."""
    for attempt in range(TRIES):
        calm = 1.0 - attempt / TRIES
        turn = rng.uniform(-13, 13) * calm if not isinstance(card, OrganCard) else rng.uniform(-4, 4) * calm
        sloppy = [p.at(x=p.x + rng.gauss(0, 0.7) * calm, y=p.y + _slip(pieces, p, rng) * calm) for p in built]
        middle = sum(p.x for p in built) / len(built)
        laid = _turned_by(sloppy, turn, middle, rng)
        spot = _spot(pieces, laid, rng)
        if spot is None:
            continue
        laid = tuple(p.at(x=round(p.x + spot[0], 1), y=round(p.y + spot[1], 1), z=round(p.z, 2)) for p in laid)
        if surely(card, pieces, laid) == expected and _same_contacts(pieces, built, laid):
            return laid
    raise BadCard(f"card {card.id}: no room for the build in the field")


def _same_contacts(pieces: PieceSet, built: Pieces, laid: Pieces) -> bool:
    return Build(pieces, built).contacts == Build(pieces, laid).contacts


def _slip(pieces: PieceSet, piece: Piece, rng: Random) -> float:
    """How far towards or away from the player a piece is off: what stands on the table is more so."""
    return rng.gauss(0, 2.5 if bottom(pieces, piece) < 0.5 else 1.3)


def _turned_by(built, turn: float, about: float, rng: Random) -> Pieces:
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return tuple(
        p.at(x=c * (p.x - about) - s * p.y, y=s * (p.x - about) + c * p.y, yaw=round(turn + rng.gauss(0, 1.3), 1))
        for p in built
    )


def _spot(pieces: PieceSet, laid: Pieces, rng: Random) -> tuple[float, float] | None:
    corners = [xy for p in laid for xy in footprint(pieces, p)]
    room = []
    for axis, limit in enumerate(FIELD_MM):
        low, high = min(c[axis] for c in corners), max(c[axis] for c in corners)
        if high - low > 2 * limit - 4:
            return None
        room.append((-limit + 2 - low, limit - 2 - high))
    y = rng.uniform(*room[1]) if rng.random() < 0.3 else min(max(rng.gauss(-3, 6), room[1][0]), room[1][1])
    return rng.uniform(*room[0]) * rng.random(), y


def scatter(
    pieces: PieceSet, keys: list[tuple[str, str]], rng: Random, *, near_line: float = 0.12, wide: float = FIELD_MM[0]
) -> Pieces:
    """Pieces lying about outside a field so ``wide`` mm to either side, apart from one another, in the mat's frame."""
    found: list[Piece] = []
    for shape, color in keys:
        for _ in range(TRIES * 4):
            piece = _dropped(pieces, shape, color, rng, rng.random() < near_line, wide)
            if all(
                math.hypot(piece.x - p.x, piece.y - p.y) > _radius(pieces, piece) + _radius(pieces, p) + 2
                for p in found
            ):
                found.append(piece)
                break
    return tuple(found)


def _dropped(pieces: PieceSet, shape: str, color: str, rng: Random, on_line: bool, wide: float) -> Piece:
    poses = [p for p in pieces.shapes[shape].poses() if _lies(pieces, shape, p)]
    pose = rng.choice(poses)
    beyond = wide + reach(pieces, shape, pose)
    if on_line:
        x, y = rng.choice((-1, 1)) * rng.uniform(wide + 9, beyond), rng.uniform(-35, 35)
    elif rng.random() < 0.5:
        x, y = rng.choice((-1, 1)) * rng.uniform(beyond + 3, max(beyond + 12, 158)), rng.uniform(-130, 70)
    else:
        x, y = rng.uniform(-150, 150), rng.uniform(-205, -58 - reach(pieces, shape, pose))
    return Piece(
        shape,
        color,
        pose,
        round(x, 1),
        round(y, 1),
        pieces.shapes[shape].size(pose)[2] / 2,
        round(rng.uniform(0, 360), 1),
    )


def _lies(pieces: PieceSet, shape: str, pose: Pose) -> bool:
    """Poses that rest on a face: not a triangle on its point, not an arc on its back."""
    kind = pieces.shapes[shape].kind
    if kind in ("triangle", "half_disc", "crescent") and pose.facing != "top":
        return pose.rotation == 0
    return True


def reach(pieces: PieceSet, shape: str, pose: Pose) -> float:
    """How far the piece reaches in plan from its middle, mm."""
    return math.hypot(*pieces.shapes[shape].size(pose)[:2]) / 2


def _radius(pieces: PieceSet, piece: Piece) -> float:
    return reach(pieces, piece.shape, piece.pose)


def spread(pieces: PieceSet, rng: Random, far: int) -> Pieces:
    """Every piece of the set standing apart inside the field, tall ones in the row at y of sign ``far``."""
    keys = all_pieces(pieces)
    rng.shuffle(keys)
    keys.sort(key=lambda key: -pieces.shapes[key[0]].size(_slim(pieces, key[0]))[2])
    half, found = len(keys) // 2, []
    for row, y in ((keys[:half], 26.0 * far), (keys[half:], -25.0 * far)):
        rng.shuffle(row)
        poses = [_slim(pieces, shape) for shape, _ in row]
        wide = [pieces.shapes[s].size(pose)[0] for (s, _), pose in zip(row, poses, strict=True)]
        gap = (2 * FIELD_MM[0] - 8 - sum(wide)) / len(row)
        x = -FIELD_MM[0] + 4
        for (shape, color), pose, w in zip(row, poses, wide, strict=True):
            x += gap / 2 + w / 2
            found.append(
                Piece(
                    shape,
                    color,
                    pose,
                    round(x + rng.uniform(-1, 1), 1),
                    y + rng.uniform(-1, 1),
                    pieces.shapes[shape].size(pose)[2] / 2,
                    round(rng.gauss(0, 3), 1),
                )
            )
            x += w / 2 + gap / 2
    return tuple(found)


def _slim(pieces: PieceSet, shape: str) -> Pose:
    """The lowest pose that fits a fifth of a row and half the field's depth; else the narrowest."""
    poses = [p for p in pieces.shapes[shape].poses() if p.facing != "top" and _lies(pieces, shape, p)]
    sizes = {p: pieces.shapes[shape].size(p) for p in poses}
    fitting = [p for p in poses if sizes[p][0] <= 36 and sizes[p][1] <= 46]
    return min(fitting, key=lambda p: sizes[p][2]) if fitting else min(poses, key=lambda p: sizes[p][0])


def make_stand(card: Card, pieces: PieceSet, rng: Random, right: bool) -> Stand:
    """One player's field for the card. Raises BadCard when none could be made."""
    fault: BadCard | None = None
    for _ in range(8):
        why, built = ("", right_build(card, pieces, rng)) if right else wrong_build(card, pieces, rng)
        expected = "match" if right else "mismatch"
        try:
            laid = put_down(card, pieces, built, expected, rng)
        except BadCard as error:
            fault = error
            continue
        wide = BAND_MM if isinstance(card, OrganCard) else FIELD_MM[0]
        return Stand(expected, why, laid, scatter(pieces, spares(pieces, laid), rng, wide=wide))
    raise fault or BadCard(f"card {card.id}: nothing to build")


def truth_row(pieces: PieceSet, stand: Stand) -> dict:
    """A zone of ``truth.json``, in the dev set's words."""
    return {
        "expected": stand.expected,
        "why": stand.why,
        "ground_contacts": sum(bottom(pieces, p) < 0.5 for p in stand.build),
        "count": len(stand.build),
        "pieces": [_piece_row(pieces, p, part) for part in ("build", "loose") for p in getattr(stand, part)],
    }


def _piece_row(pieces: PieceSet, piece: Piece, part: str) -> dict:
    return {
        "shape": piece.shape,
        "color": piece.color,
        "rotation": piece.pose.rotation,
        "facing": piece.pose.facing,
        "x": piece.x,
        "y": piece.y,
        "z": piece.z,
        "yaw_deg": piece.yaw,
        "part_of": part,
        "touches_table": bottom(pieces, piece) < 0.5,
    }


def tallest(pieces: PieceSet, built: Pieces) -> float:
    """Height of the build in mm."""
    return max(top(pieces, p) for p in built)
