"""``layout``: exactly what is shown, and how new ones are proposed.

The law: the pieces are the card's, each in the card's pose and resting on the same pieces (two that overlap by less
than 4 mm, on the card or in the build, may or may not rest on one another), and for any two the offset in x is that of
the card to within a tolerance: 10 mm is right, 18 mm is wrong. They stand in one plane: any two within 40 mm of one
another in y, 60 mm is wrong. Judged on point values each line is drawn half way; how far a measured offset is from it
is part of the verdict's margin (``referee.vision``). A build may stand anywhere in the field, turned by up to 15
degrees: offsets are taken along the build's own x and y.

Pieces of the same shape and colour are interchangeable: the assignment with the fewest faults is the one that is
judged.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy
from pydantic import BaseModel, ConfigDict, Field

from cards.build import Build, Piece, shape_of
from cards.card import Card, Kind, Proofs, converted_from, kinds_of
from cards.difficulty import difficulty
from cards.elevation import build_patches
from cards.errors import BadCard
from cards.generate import all_pieces, erect_build, placing_order
from cards.law import TOLERANCES, Reason, Tolerances, along_build, because, build_turn, is_round, of_piece
from cards.pieces import Facing, PieceSet, Pose
from cards.scene import Patch
from cards.sentences import sentence
from cards.stability import check_stability

OFFSET_RIGHT_MM, OFFSET_WRONG_MM = 10.0, 18.0
"""CONTRACT.md, layout: pair offsets this near are right, this far off wrong."""

OFFSET_LINE_MM = (OFFSET_RIGHT_MM + OFFSET_WRONG_MM) / 2
OTHER_PIECE_MM = 1e5
"""What it costs to read a piece as one of another shape or colour: more than any place can."""

MAX_TURN_DEG, TURN_ERROR_DEG = 15.0, 5.0
"""A build may be turned so far (CONTRACT.md); a measured turn may be wrong by the second."""

TURN_SLACK_DEG = 10.0
"""A single piece may be this much beyond the build's own turn before its pose is another."""

SAME_PLACE_MM = 20.0
"""Proposed layouts that differ only by offsets must differ by more than the 18 mm the contract calls wrong."""


class _Placed(BaseModel):
    model_config = ConfigDict(extra="ignore")
    shape: str
    color: str
    rotation: int = 0
    facing: Facing = "front"
    x: float
    z: float


_Rows = Annotated[list[_Placed], Field(min_length=1, max_length=40)]


def _pieces(rows: list[_Placed]) -> tuple[Piece, ...]:
    return tuple(Piece(p.shape, p.color, Pose(p.rotation, p.facing), p.x, 0.0, p.z) for p in rows)


@dataclass(frozen=True)
class LayoutCard(Card):
    """Exactly these pieces, placed and turned as shown; ``pieces`` stand at y = 0, yaw = 0."""

    pieces: Annotated[tuple[Piece, ...], converted_from(_Rows, _pieces)]
    hidden_arches: bool = False
    """Whether an arch that its piece turns away from the player is drawn dashed."""

    kind = "layout"

    def to_json(self) -> dict[str, Any]:
        """The contract's form: of each piece its place in x and z."""
        rows = [{"shape": p.shape, "color": p.color, **vars(p.pose), "x": p.x, "z": p.z} for p in self.pieces]
        made = super().to_json() | {"pieces": rows}
        return made if self.hidden_arches else {key: made[key] for key in made if key != "hidden_arches"}

    @cached_property
    def asked(self) -> Counter[Kind]:
        """The pieces that are shown."""
        return Counter((p.shape, p.color) for p in self.pieces)

    @property
    def shown(self) -> tuple[Piece, ...]:
        """The card's pieces."""
        return self.pieces

    def picture(self, pieces: PieceSet) -> tuple[Patch, ...]:
        """The build that is shown."""
        return build_patches(self.pieces, pieces, arches=self.hidden_arches)

    def proved_example(
        self, pieces: PieceSet, seed: int = 0, proofs: Proofs | None = None
    ) -> tuple[tuple[Piece, ...], None]:
        """The build that is shown."""
        return self.pieces, None

    def usual_poses(self, pieces: PieceSet) -> tuple[tuple[str, Pose], ...]:
        """Those that are shown."""
        return tuple((p.shape, p.pose) for p in self.pieces)

    def law(self, build: Build, tolerances: Tolerances) -> tuple[Reason, ...]:
        """The pieces; if they are there, their plane, and of the best assignment what is wrong with each."""
        if wrong := self.wrong_pieces(build):
            return wrong
        turn = build_turn(build)
        options = (
            _poses(build, self, match, turn) + _supports(build, self, match) + _offsets(build, self, match, turn)
            for match in _assignments(build, self, turn)
        )
        return _turned(turn) + _in_one_plane(build, turn, tolerances) + min(options, key=len)

    def is_right(self, build: Build, tolerances: Tolerances = TOLERANCES) -> bool:
        """What rests on what takes longest to tell: it is asked last."""
        if not self.asks_for(kinds_of(build)):
            return False
        turn = build_turn(build)
        if _turned(turn) or _in_one_plane(build, turn, tolerances):
            return False
        return any(
            not (
                _offsets(build, self, match, turn) or _poses(build, self, match, turn) or _supports(build, self, match)
            )
            for match in _assignments(build, self, turn)
        )


def _turned(turn: float) -> tuple[Reason, ...]:
    if abs(turn) <= MAX_TURN_DEG + TURN_ERROR_DEG:
        return ()
    return (because("turned_too_far", n=round(turn), m=round(MAX_TURN_DEG)),)


def _in_one_plane(build: Build, turn: float, tolerances: Tolerances) -> tuple[Reason, ...]:
    ys = along_build(build, turn)[:, 1]
    if (off := float(np.ptp(ys))) <= tolerances.depth_line:
        return ()
    blame = int(np.argmax(np.abs(ys - np.median(ys))))
    return (of_piece("out_of_plane", build, blame, n=round(off)),)


def _assignments(build: Build, card: LayoutCard, turn: float) -> list[np.ndarray]:
    """Ways to read the build's pieces as the card's: for card piece i the build's piece index."""
    xs, zs = along_build(build, turn)[:, 0], np.array([p.z for p in build.pieces])
    cx, cz = np.array([p.x for p in card.pieces]), np.array([p.z for p in card.pieces])
    other = np.array([[(c.shape, c.color) != (b.shape, b.color) for b in build.pieces] for c in card.pieces])
    found: dict[tuple[int, ...], None] = {}
    for x in xs[~other[0]]:  # as if this piece stood where the card's first one is
        cost = np.abs(xs - x - (cx - cx[0])[:, None]) + np.abs(zs - cz[:, None]) + OTHER_PIECE_MM * other
        found[tuple(scipy.optimize.linear_sum_assignment(cost)[1].tolist())] = None
    return [np.array(match) for match in found]


def _poses(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> tuple[Reason, ...]:
    found = []
    for i, j in enumerate(match):
        wanted, piece = card.pieces[i], build.pieces[j]
        askew = not is_round(build, piece) and abs(piece.yaw - turn) > MAX_TURN_DEG + TURN_SLACK_DEG
        if askew or not shape_of(build.piece_set, piece).same_pose(wanted.pose, piece.pose):
            found.append(of_piece("wrong_pose", build, j))
    return tuple(found)


def _supports(build: Build, card: LayoutCard, match: np.ndarray) -> tuple[Reason, ...]:
    target = Build(build.piece_set, card.pieces)
    found = []
    for i, j in enumerate(match):
        differ = {int(match[k]) for k in target.contacts[i]} ^ set(build.contacts[j])
        if differ:  # what overlaps only slightly is neither asked nor forbidden
            differ -= build.slight_contacts(int(j)) | {int(match[k]) for k in target.slight_contacts(i)}
        if differ or target.on_table[i] != build.on_table[j]:
            found.append(of_piece("wrong_support", build, j))
    return tuple(found)


def offset_errors(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> np.ndarray:
    """(n, n) mm: for each two of the card's pieces, how far their offset in x is from the card's."""
    error = along_build(build, turn)[match, 0] - np.array([p.x for p in card.pieces])
    return np.asarray(error[:, None] - error[None, :])


def _offsets(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> tuple[Reason, ...]:
    error = offset_errors(build, card, match, turn)
    worst = np.unravel_index(np.argmax(np.abs(error)), error.shape)
    if abs(error[worst]) <= OFFSET_LINE_MM:
        return ()
    blame = int(np.argmax(np.abs(error[0] - np.median(error[0]))))
    off = abs(float(error[worst]))
    return (of_piece("wrong_place", build, match[blame], n=round(off)),)


def make_layouts(
    pieces: PieceSet,
    value: int,
    n: int,
    seed: int,
    existing: Sequence[LayoutCard] = (),
    progress: Callable[[int], None] = lambda found: None,
) -> tuple[LayoutCard, ...]:
    """``n`` new stable layouts worth ``value``, distinct from each other and from ``existing``.

    Raises BadCard when they are not found in 400 attempts a card.
    """
    rng = random.Random(seed)
    found: list[LayoutCard] = []
    for _ in range(400 * n):
        if len(found) == n:
            break
        card = _proposal(pieces, value, f"G{value}{len(found) + 1:02d}", rng)
        if card and all(distinct_layouts(pieces, card, other) for other in (*existing, *found)):
            found.append(card)
            progress(len(found))
    if len(found) < n:
        raise BadCard(sentence("few_layouts", n=len(found), m=n, value=value, name=pieces.name))
    return tuple(found)


def _proposal(pieces: PieceSet, value: int, card_id: str, rng: random.Random) -> LayoutCard | None:
    count = min(pieces.count, rng.randint(value + 1, value + 3))
    chosen = rng.sample(all_pieces(pieces), count)
    chosen.sort(key=lambda key: placing_order(pieces.shapes[key[0]]) + rng.random() * 2.0)
    built = erect_build(pieces, chosen, rng, rng.choice((1, 2, 2, 3)), loose=True)
    if not built:
        return None
    middle = round(sum(p.x for p in built) / len(built))
    built = tuple(p.at(x=p.x - middle) for p in built)
    result = check_stability(pieces, built)
    if not result.stable or difficulty(pieces, built, result).value != value:
        return None
    return LayoutCard(card_id, value, built)


def distinct_layouts(pieces: PieceSet, a: LayoutCard, b: LayoutCard) -> bool:
    """Whether no build can be right for both: other pieces, poses, supports, or places over 18 mm apart."""
    if _signature(pieces, a) != _signature(pieces, b):
        return True
    rows = [
        sorted((p.shape, p.color, pieces.shapes[p.shape].canonical(p.pose), round(p.z), p.x) for p in card.pieces)
        for card in (a, b)
    ]
    shifts = [p[-1] - q[-1] for p, q in zip(*rows, strict=True)]
    return bool(max(shifts) - min(shifts) > SAME_PLACE_MM)


def _signature(pieces: PieceSet, card: LayoutCard) -> tuple[Any, ...]:
    return tuple(sorted((p.shape, p.color, pieces.shapes[p.shape].canonical(p.pose), round(p.z)) for p in card.pieces))
