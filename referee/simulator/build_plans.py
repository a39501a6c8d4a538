"""What a simulated player sets out to build for a card, and how he gets it wrong.

``plan_build`` gives pieces that satisfy the card (checked against the rules), shaken a little as hands do;
``with_mistake`` changes such a build so that the rules say it is wrong.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from cards.build import TALLEST_MM, Build, Piece, bottom, half_extent, rest_height, shape_of, top
from cards.card import Card
from cards.errors import BadCard
from cards.pieces import Kind, PieceSet, Pose, Shape

WIDE_MM = 56.0
"""A piece at least this wide carries two others side by side."""

SIMULATED_MM = TALLEST_MM - 15.0
"""Simulated players build no higher than this: half a piece below what a view shows for certain."""

TRIES = 300
FIELD_X_MM, FIELD_Y_MM = 94.0, 48.0

FLAT_POSES = {
    "box": Pose(),
    "cylinder": Pose(),
    "bridge": Pose(),
    "triangle": Pose(0, "top"),
    "crescent": Pose(0, "top"),
    "half_disc": Pose(0, "top"),
}
"""A pose of each kind with a level upper side and a level underside."""

SAFE_POSES: dict[Kind, tuple[Pose, ...]] = {
    "box": (Pose(), Pose(90), Pose(0, "side")),
    "cylinder": (Pose(), Pose(90, "side")),
    "triangle": (Pose(), Pose(0, "side")),
    "bridge": (Pose(), Pose(90), Pose(0, "side")),
    "crescent": (Pose(), Pose(0, "side")),
    "half_disc": (Pose(), Pose(0, "side")),
}
"""Poses in which a piece of each kind stands safely."""


def plan_build(card: Card, pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    """A right build of the card, lowest pieces first. Raises BadCard when none is found."""
    for attempt in range(TRIES):
        calm = 1.0 - attempt / TRIES
        ideal = _ideal(card, pieces, rng)
        built = jittered(ideal, pieces, rng, calm) if ideal else ()
        if built and in_field(built, pieces) and is_right(built, card, pieces):
            return built
    raise BadCard(f"card {card.id}: the simulated player finds no build for it")


def is_right(built: Sequence[Piece], card: Card, pieces: PieceSet) -> bool:
    """Whether the rules accept the build."""
    return not card.faults(Build(pieces, tuple(built)))


def in_field(built: Sequence[Piece], pieces: PieceSet) -> bool:
    """Whether every piece stands well inside the printed field."""
    reach = ((p, half_extent(pieces, p)) for p in built)
    return all(abs(p.x) + x <= FIELD_X_MM and abs(p.y) + y <= FIELD_Y_MM for p, (x, y) in reach)


def jittered(
    ideal: Sequence[Piece], pieces: PieceSet, rng: np.random.Generator, calm: float = 1.0
) -> tuple[Piece, ...]:
    """The build as hands put it: every piece a little off, the whole shifted and turned, all at rest."""
    placed: list[Piece] = []
    for p in sorted(ideal, key=lambda p: bottom(pieces, p)):
        p = p.at(
            x=p.x + rng.normal(0, 1.2) * calm,
            y=p.y + rng.normal(0, 1.5) * calm,
            yaw=p.yaw + rng.normal(0, 1.2) * calm,
        )
        placed.append(p.at(z=rest_height(pieces, p, placed)))
    room = max(
        0.0,
        FIELD_X_MM - 1 - max((abs(p.x) + shape_of(pieces, p).size(p.pose)[0] / 2 for p in placed), default=0.0),
    )
    turn = min(6.0, room / 4) * calm
    return _shifted(
        placed, rng.uniform(-1, 1) * min(16, room) * calm, rng.uniform(-8, 8) * calm, rng.uniform(-turn, turn)
    )


def _shifted(built: Iterable[Piece], dx: float, dy: float, turn: float) -> tuple[Piece, ...]:
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return tuple(p.at(x=c * p.x - s * p.y + dx, y=s * p.x + c * p.y + dy, yaw=p.yaw + turn) for p in built)


def _ideal(card: Card, pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    if card.shown:
        halves = [(p.x, shape_of(pieces, p).size(p.pose)[0] / 2) for p in card.shown]
        middle = (min(x - half for x, half in halves) + max(x + half for x, half in halves)) / 2
        return tuple(p.at(x=p.x - middle) for p in card.shown)
    if card.one_structure:
        stock = [(shape, color) for shape, color, n in pieces.pieces for _ in range(n)]
        return _tower(card.picked([stock[i] for i in rng.permutation(len(stock))]), pieces, rng)
    return card.example(pieces, int(rng.integers(2**31)))


def _tower(chosen: Sequence[tuple[str, str]], pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    """The chosen pieces in one pile; empty when this order of layers does not hold."""
    built: list[Piece] = []
    for layer in _layers(chosen, pieces, rng):
        floor = max((top(pieces, p) for p in built), default=0.0)
        below = tuple(built)
        for p in layer:
            p = p.at(z=rest_height(pieces, p, below))
            if abs(bottom(pieces, p) - floor) > 0.6:
                return ()
            built.append(p)
    return tuple(built) if max(top(pieces, p) for p in built) <= SIMULATED_MM else ()


def _layers(chosen: Sequence[tuple[str, str]], pieces: PieceSet, rng: np.random.Generator) -> list[list[Piece]]:
    def width(c: tuple[str, str]) -> float:
        return pieces.shapes[c[0]].size(FLAT_POSES[pieces.shapes[c[0]].kind])[0]

    wide = [c for c in chosen if width(c) >= WIDE_MM and pieces.shapes[c[0]].kind != "triangle"]
    slim = [c for c in chosen if c not in wide]
    pairs, single = _pairs(slim, rng, len(chosen) > 5)
    layers: list[list[Piece]] = []
    while wide and pairs:
        layers += [_row([wide.pop()], pieces), _row(pairs.pop(), pieces)]
    single += [c for pair in pairs for c in pair]
    layers += [_row([c], pieces) for c in wide]
    single = sorted(single, key=lambda c: (pieces.shapes[c[0]].kind in ("triangle", "half_disc"), rng.random()))
    layers += [_row([c], pieces, last=i == len(single) - 1) for i, c in enumerate(single)]
    return layers


def _pairs(slim: Sequence[tuple[str, str]], rng: np.random.Generator, wanted: bool) -> tuple[list, list]:
    by_shape: dict[str, list] = {}
    for c in slim:
        by_shape.setdefault(c[0], []).append(c)
    pairs, single = [], []
    for group in by_shape.values():
        if wanted and len(group) >= 2 and rng.random() < 0.9:
            pairs.append(group[:2])
            group = group[2:]
        single += group
    return pairs, single


def _row(row: Sequence[tuple[str, str]], pieces: PieceSet, last: bool = False) -> list[Piece]:
    placed = []
    for i, (shape, color) in enumerate(row):
        kind = pieces.shapes[shape].kind
        pose = Pose() if last and kind in ("triangle", "crescent", "half_disc") else FLAT_POSES[kind]
        apart = pieces.shapes[shape].size(pose)[0] / 2 + 1.5
        placed.append(Piece(shape, color, pose, (2 * i - len(row) + 1) * apart, 0.0, 0.0))
    return placed


def with_mistake(built: Sequence[Piece], card: Card, pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    """The build with a mistake in it that the rules call wrong."""
    mistakes = [_drop_last, _beside, _other_piece, _exchange, _mirror]
    for i in rng.permutation(len(mistakes)):
        wrong = mistakes[i](tuple(built), pieces, rng)
        if wrong and in_field(wrong, pieces) and not is_right(wrong, card, pieces):
            return wrong
    return _drop_last(tuple(built), pieces, rng)


def _drop_last(built: tuple[Piece, ...], pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    return built[:-1]


def _beside(built: tuple[Piece, ...], pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    """The last piece stands on the table beside the build, as after a fall."""
    last = built[-1]
    edge = max(p.x + shape_of(pieces, p).size(p.pose)[0] / 2 for p in built[:-1]) if len(built) > 1 else 0.0
    high = shape_of(pieces, last).size(last.pose)[2] / 2
    return (*built[:-1], last.at(x=edge + shape_of(pieces, last).size(last.pose)[0] / 2 + 6, z=high))


def _other_piece(built: tuple[Piece, ...], pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    """The last piece is another one of the set."""
    stock = Counter(pieces.inventory)
    stock.subtract((p.shape, p.color) for p in built)
    others = [k for k, n in stock.items() if n > 0 and k != (built[-1].shape, built[-1].color)]
    if not others:
        return ()
    shape, color = others[rng.integers(len(others))]
    changed = Piece(shape, color, FLAT_POSES[pieces.shapes[shape].kind], built[-1].x, built[-1].y, 0.0, built[-1].yaw)
    return (*built[:-1], changed.at(z=rest_height(pieces, changed, built[:-1])))


def _exchange(built: tuple[Piece, ...], pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    """Two pieces in one another's place."""
    if len(built) < 2:
        return ()
    i, j = rng.choice(len(built), 2, replace=False)
    order = list(built)
    order[i], order[j] = built[j].at(x=built[i].x, y=built[i].y), built[i].at(x=built[j].x, y=built[j].y)
    settled: list[Piece] = []
    for p in order:
        settled.append(p.at(z=rest_height(pieces, p, settled)))
    return tuple(settled)


def _mirror(built: tuple[Piece, ...], pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    """Left and right exchanged."""
    return tuple(p.at(x=-p.x, yaw=-p.yaw) for p in built)


def spread_set(pieces: PieceSet) -> tuple[Piece, ...]:
    """The whole set standing apart in the field in two rows, as for the colour frame."""
    stock = [(shape, color) for shape, color, n in pieces.pieces for _ in range(n)]
    slim = [(*_slimmest(pieces.shapes[shape]), shape, color) for shape, color in stock]
    rows: list[list] = [[], []]
    for one in sorted(slim, key=lambda s: -s[0]):
        min(rows, key=lambda row: sum(s[0] for s in row)).append(one)
    return tuple(p for row, y in zip(rows, (-24.0, 24.0), strict=True) for p in _spread(row, y))


def _slimmest(shape: Shape) -> tuple[float, float, Pose]:
    """(width, height, pose) of the narrowest safe pose that fits into half the field's depth."""
    sizes = ((*shape.size(pose), pose) for pose in SAFE_POSES[shape.kind])
    return min(((x, z, pose) for x, y, z, pose in sizes if y <= FIELD_Y_MM - 2), key=lambda o: (o[0], o[1]))


def _spread(row: Sequence[tuple], y: float) -> list[Piece]:
    air = (2 * FIELD_X_MM - sum(s[0] for s in row)) / (len(row) + 1)
    placed, x = [], -FIELD_X_MM
    for wide, high, pose, shape, color in row:
        placed.append(Piece(shape, color, pose, x + air + wide / 2, y, high / 2))
        x += air + wide
    return placed
