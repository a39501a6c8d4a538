"""What the rules say of a build: (Build, Card) -> every fault. Pure; sees no pixels, reads no clock.

The law, from RULES.md and CONTRACT.md:

* ``layout``: the pieces are the card's, each in the card's pose and resting on the same pieces (two that
  overlap by less than 4 mm, on the card or in the build, may or may not rest on one another), and for any two
  the offset in x is that of the card to within a tolerance: 10 mm is right, 18 mm is wrong. They stand in one
  plane: any two within 40 mm of one another in y, 60 mm is wrong. Judged on point values each line is drawn
  half way; how far a measured offset is from it is part of the verdict's margin (``referee.vision``). A build
  may stand anywhere in the field, turned by up to 15 degrees: offsets are taken along the build's own x and y.
* ``height``: exactly ``count`` pieces, one structure, at most ``max_ground_contacts`` on the table.
* ``shapes``: exactly these shapes in any colour, one structure, the same limit on the table.
* ``organ_pipes``: ``count`` pieces stand on the table side by side, heights falling strictly from
  the player's left to right; neighbours overlap in x by at most 3 mm and are within 40 mm in y.

What has no turn of its own, a standing cylinder, counts for nobody's turn. The tolerances that a house may
choose are ``Tolerances``; they come with the match's house rules.

Pieces of the same shape and colour are interchangeable: the assignment with the fewest faults
is the one that is judged. ``faults`` gives all of them; a build is right when there is none.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cards.build import Build, Piece, shape_of
from cards.card import Card, HeightCard, LayoutCard, OrganCard, ShapesCard
from referee.match.assignment import cheapest_pairs
from referee.match.verdict import Reason, because, worded

OFFSET_RIGHT_MM, OFFSET_WRONG_MM = 10.0, 18.0
"""CONTRACT.md, layout: pair offsets this near are right, this far off wrong."""

OFFSET_LINE_MM = (OFFSET_RIGHT_MM + OFFSET_WRONG_MM) / 2
SAME_HEIGHT_MM = 2.0
"""Organ pipes closer in height than this are level, not falling."""

OTHER_PIECE_MM = 1e5
"""What it costs to read a piece as one of another shape or colour: more than any place can."""

MAX_TURN_DEG, TURN_ERROR_DEG = 15.0, 5.0
"""A build may be turned so far (CONTRACT.md); a measured turn may be wrong by the second."""

TURN_SLACK_DEG = 10.0
"""A single piece may be this much beyond the build's own turn before its pose is another."""


@dataclass(frozen=True)
class Tolerances:
    """What a house may choose of the law, with the contract's defaults, mm.

    A layout's pieces are within ``depth_right`` of one another in y, and ``depth_wrong`` is wrong. Neighbouring
    pipes overlap in x by at most ``pipes_overlap`` and are within ``pipes_depth`` of one another in y.
    """

    depth_right: float = 40.0
    depth_wrong: float = 60.0
    pipes_overlap: float = 3.0
    pipes_depth: float = 40.0

    @property
    def depth_line(self) -> float:
        """The line that is drawn between right and wrong on point values."""
        return (self.depth_right + self.depth_wrong) / 2


TOLERANCES = Tolerances()


def faults(build: Build, card: Card, tolerances: Tolerances = TOLERANCES) -> tuple[Reason, ...]:
    """Every fault of the build against the card; empty when it is right."""
    if not build.pieces:
        return (because("empty_field"),)
    if isinstance(card, LayoutCard):
        return _layout(build, card, tolerances)
    if isinstance(card, HeightCard):
        return _count(build, card.count) + _one_structure(build, card.max_ground_contacts)
    if isinstance(card, ShapesCard):
        return _shapes(build, card) + _one_structure(build, card.max_ground_contacts)
    return _organ(build, card, tolerances)


def is_right(build: Build, card: Card, tolerances: Tolerances = TOLERANCES) -> bool:
    """Whether ``faults`` finds none, found out without all of them: what rests on what takes longest to tell."""
    if isinstance(card, HeightCard | ShapesCard) and sum(build.on_table) > card.max_ground_contacts:
        return False
    if not isinstance(card, LayoutCard) or _pieces_of(build.pieces) != _pieces_of(card.pieces):
        return not faults(build, card, tolerances)
    turn = build_turn(build)
    if _turned(turn) or _in_one_plane(build, turn, tolerances):
        return False
    return any(
        not (_offsets(build, card, match, turn) or _poses(build, card, match, turn) or _supports(build, card, match))
        for match in _assignments(build, card, turn)
    )


def _pieces_of(pieces: tuple[Piece, ...]) -> Counter[tuple[str, str]]:
    return Counter((p.shape, p.color) for p in pieces)


def _count(build: Build, count: int) -> tuple[Reason, ...]:
    n = len(build.pieces)
    if n == count:
        return ()
    return (because("wrong_count", n=n, m=count),)


def _one_structure(build: Build, max_ground: int) -> tuple[Reason, ...]:
    found = []
    on_table = tuple(i for i, t in enumerate(build.on_table) if t)
    if (n := len(on_table)) > max_ground:
        found.append(because("too_many_on_table", on_table, n=n, m=max_ground))
    if (n := len(build.structures)) > 1:
        rest = tuple(i for group in sorted(build.structures, key=len)[:-1] for i in group)
        found.append(because("not_one_structure", rest, n=n))
    return tuple(found)


def _shapes(build: Build, card: ShapesCard) -> tuple[Reason, ...]:
    want, have = Counter(dict(card.shapes)), Counter(p.shape for p in build.pieces)
    found = [because("missing_piece", n=n, piece={"shape": shape}) for shape, n in sorted((want - have).items())]
    for shape, n in sorted((have - want).items()):
        which = tuple(i for i, p in enumerate(build.pieces) if p.shape == shape)
        found.append(because("extra_piece", which, n=n, piece={"shape": shape}))
    return tuple(found)


def _organ(build: Build, card: OrganCard, tolerances: Tolerances) -> tuple[Reason, ...]:
    found = list(_count(build, card.count))
    lifted = tuple(i for i, t in enumerate(build.on_table) if not t)
    if lifted:
        found.append(because("not_side_by_side", lifted))
    xs, ys = along(build, build_turn(build)).T
    order = sorted(range(len(build.pieces)), key=lambda i: xs[i])
    widths, _, heights = np.array([shape_of(build.piece_set, p).size(p.pose) for p in build.pieces]).T
    for left, right in pairwise([i for i in order if build.on_table[i]]):
        overlap = (widths[left] + widths[right]) / 2 - (xs[right] - xs[left])
        apart = abs(ys[right] - ys[left])
        if overlap > tolerances.pipes_overlap or apart > tolerances.pipes_depth:
            found.append(_behind(build, left, right))
    for left, right in pairwise(order):
        if heights[right] > heights[left] - SAME_HEIGHT_MM:
            found.append(_not_falling(build, left, right))
    return tuple(found)


def _not_falling(build: Build, left: int, right: int) -> Reason:
    higher, lower = build.pieces[right], build.pieces[left]
    return because("wrong_order", (left, right), piece=worded(higher), left=worded(lower))


def _behind(build: Build, left: int, right: int) -> Reason:
    one, other = build.pieces[right], build.pieces[left]
    return because("one_behind_another", (left, right), piece=worded(one), left=worded(other))


def build_turn(build: Build) -> float:
    """The build's turn about the vertical in degrees: the mean of its pieces' yaws, 0 where none has a turn."""
    yaws = [p.yaw for p in build.pieces if not _is_round(build, p)]
    return float(np.mean(yaws)) if yaws else 0.0


def _is_round(build: Build, piece: Piece) -> bool:
    """Whether the piece looks the same however it is turned: a standing cylinder."""
    shape = shape_of(build.piece_set, piece)
    return shape.kind == "cylinder" and shape.axis(piece.pose) == "z"


def _layout(build: Build, card: LayoutCard, tolerances: Tolerances) -> tuple[Reason, ...]:
    want, have = _pieces_of(card.pieces), _pieces_of(build.pieces)
    if want != have:
        return _wrong_pieces(build, card, want, have)
    turn = build_turn(build)
    options = [_against(build, card, match, turn) for match in _assignments(build, card, turn)]
    return _turned(turn) + _in_one_plane(build, turn, tolerances) + min(options, key=len)


def _turned(turn: float) -> tuple[Reason, ...]:
    if abs(turn) <= MAX_TURN_DEG + TURN_ERROR_DEG:
        return ()
    return (because("turned_too_far", n=round(turn), m=round(MAX_TURN_DEG)),)


def _wrong_pieces(
    build: Build, card: LayoutCard, want: Counter[tuple[str, str]], have: Counter[tuple[str, str]]
) -> tuple[Reason, ...]:
    found = []
    for (shape, color), n in sorted((want - have).items()):
        found.append(because("missing_piece", n=n, piece={"color": color, "shape": shape}))
    for (shape, color), n in sorted((have - want).items()):
        which = tuple(i for i, p in enumerate(build.pieces) if (p.shape, p.color) == (shape, color))
        found.append(because("extra_piece", which, n=n, piece={"color": color, "shape": shape}))
    return tuple(found)


def _in_one_plane(build: Build, turn: float, tolerances: Tolerances) -> tuple[Reason, ...]:
    ys = along(build, turn)[:, 1]
    if (off := float(np.ptp(ys))) <= tolerances.depth_line:
        return ()
    blame = int(np.argmax(np.abs(ys - np.median(ys))))
    return (_of("out_of_plane", build, blame, n=round(off)),)


def along(build: Build, turn: float) -> np.ndarray:
    """x and y of each piece along the build's own axes, (n, 2) mm: positions turned back by ``turn`` degrees."""
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return np.array([(p.x * c + p.y * s, p.y * c - p.x * s) for p in build.pieces])


def _assignments(build: Build, card: LayoutCard, turn: float) -> list[np.ndarray]:
    """Ways to read the build's pieces as the card's: for card piece i the build's piece index."""
    xs, zs = along(build, turn)[:, 0], np.array([p.z for p in build.pieces])
    cx, cz = np.array([p.x for p in card.pieces]), np.array([p.z for p in card.pieces])
    other = np.array([[(c.shape, c.color) != (b.shape, b.color) for b in build.pieces] for c in card.pieces])
    found: dict[tuple[int, ...], None] = {}
    for x in xs[~other[0]]:  # as if this piece stood where the card's first one is
        cost = np.abs(xs - x - (cx - cx[0])[:, None]) + np.abs(zs - cz[:, None]) + OTHER_PIECE_MM * other
        found[tuple(cheapest_pairs(cost).tolist())] = None
    return [np.array(match) for match in found]


def _same_pose(build: Build, wanted: Piece, piece: Piece) -> bool:
    return shape_of(build.piece_set, piece).same_pose(wanted.pose, piece.pose)


def _against(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> tuple[Reason, ...]:
    return _poses(build, card, match, turn) + _supports(build, card, match) + _offsets(build, card, match, turn)


def _poses(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> tuple[Reason, ...]:
    found = []
    for i, j in enumerate(match):
        wanted, piece = card.pieces[i], build.pieces[j]
        askew = not _is_round(build, piece) and abs(piece.yaw - turn) > MAX_TURN_DEG + TURN_SLACK_DEG
        if askew or not _same_pose(build, wanted, piece):
            found.append(_of("wrong_pose", build, j))
    return tuple(found)


def _supports(build: Build, card: LayoutCard, match: np.ndarray) -> tuple[Reason, ...]:
    target = Build(build.piece_set, card.pieces)
    found = []
    for i, j in enumerate(match):
        differ = {int(match[k]) for k in target.contacts[i]} ^ set(build.contacts[j])
        if differ:  # what overlaps only slightly is neither asked nor forbidden
            differ -= build.slight_contacts(int(j)) | {int(match[k]) for k in target.slight_contacts(i)}
        if differ or target.on_table[i] != build.on_table[j]:
            found.append(_of("wrong_support", build, j))
    return tuple(found)


def offset_errors(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> np.ndarray:
    """(n, n) mm: for each two of the card's pieces, how far their offset in x is from the card's."""
    error = along(build, turn)[match, 0] - np.array([p.x for p in card.pieces])
    return np.asarray(error[:, None] - error[None, :])


def _offsets(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> tuple[Reason, ...]:
    error = offset_errors(build, card, match, turn)
    worst = np.unravel_index(np.argmax(np.abs(error)), error.shape)
    if abs(error[worst]) <= OFFSET_LINE_MM:
        return ()
    blame = int(np.argmax(np.abs(error[0] - np.median(error[0]))))
    off = abs(float(error[worst]))
    return (_of("wrong_place", build, match[blame], n=round(off)),)


def _of(code: str, build: Build, which: int, **values: int) -> Reason:
    """What is said of one piece of the build."""
    return because(code, (int(which),), piece=worded(build.pieces[which]), **values)
