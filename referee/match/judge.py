"""What the rules say of a build: (Build, Card) -> every fault. Pure; sees no pixels, reads no clock.

The law, from RULES.md and CONTRACT.md:

* ``layout``: the pieces are the card's, each in the card's pose and resting on the same pieces,
  and for any two the offset in x is that of the card to within a tolerance: 10 mm is right,
  18 mm is wrong. Judged on point values the line is drawn half way; how far a measured offset
  is from it is part of the verdict's margin (``referee.vision``). A build may stand anywhere in
  the field, turned by up to 15 degrees: offsets are taken along the build's own x.
* ``height``: exactly ``count`` pieces, one structure, at most ``max_ground_contacts`` on the table.
* ``shapes``: exactly these shapes in any colour, one structure, the same limit on the table.
* ``organ_pipes``: ``count`` pieces stand on the table side by side, heights falling strictly from
  the player's left to right.

Pieces of the same shape and colour are interchangeable: the assignment with the fewest faults
is the one that is judged. ``faults`` gives all of them; a build is right when there is none.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from cards.build import Build, Piece, shape_of
from cards.card import Card, HeightCard, LayoutCard, OrganCard, ShapesCard

OFFSET_RIGHT_MM, OFFSET_WRONG_MM = 10.0, 18.0
"""CONTRACT.md, layout: pair offsets this near are right, this far off wrong."""

OFFSET_LINE_MM = (OFFSET_RIGHT_MM + OFFSET_WRONG_MM) / 2
SAME_HEIGHT_MM = 2.0
"""Organ pipes closer in height than this are level, not falling."""

MAX_TURN_DEG = 15.0
TURN_SLACK_DEG = 10.0
"""A single piece may be this much beyond the build's own turn before its pose is another."""

Ruling = Literal["match", "mismatch", "undecided"]


@dataclass(frozen=True)
class Reason:
    """One fault, or one cause why it cannot be told. ``pieces`` index the build's pieces."""

    code: str
    text: str
    pieces: tuple[int, ...] = ()

    def to_json(self) -> dict:
        """The contract's form: code and text."""
        return {"code": self.code, "text": self.text}


@dataclass(frozen=True)
class Verdict:
    """What is ruled of one build, how surely, why, and the build as it was understood.

    ``confidence`` is the probability that the ruling is right (for ``undecided``: that of the
    likelier of match and mismatch, which ``leaning`` names). ``alternatives`` are other readings
    worth offering to a human, likeliest first. ``margin`` is by how many nats of evidence the ruling's
    best reading is ahead of the best one of the other ruling (an alternative's is negative: behind);
    None where nothing was weighed.
    """

    ruling: Ruling
    confidence: float
    reasons: tuple[Reason, ...] = ()
    build: Build | None = None
    leaning: Ruling | None = None
    alternatives: tuple[Verdict, ...] = field(default=())
    margin: float | None = None

    def to_json(self) -> dict:
        """The contract's form of one zone of ``referee judge --json``."""
        row: dict = {
            "verdict": self.ruling,
            "confidence": round(self.confidence, 4),
            "reasons": [r.to_json() for r in self.reasons],
        }
        if self.leaning:
            row["leaning"] = self.leaning
        if self.margin is not None:
            row["margin"] = round(self.margin, 1)
        if self.build is not None:
            row |= build_to_json(self.build)
        return row


def build_to_json(build: Build) -> dict:
    """Count, ground contacts and pieces as in the contract's ``judge --json``."""
    pieces = [
        {
            "shape": p.shape,
            "color": p.color,
            "rotation": p.pose.rotation,
            "facing": p.pose.facing,
            "x": round(p.x, 1),
            "y": round(p.y, 1),
            "z": round(p.z, 1),
            "yaw": round(p.yaw, 1),
            "touches_table": bool(t),
            "rests_on": list(r),
        }
        for p, t, r in zip(build.pieces, build.on_table, build.contacts, strict=True)
    ]
    return {"count": len(pieces), "ground_contacts": int(build.ground_contacts), "pieces": pieces}


def faults(build: Build, card: Card) -> tuple[Reason, ...]:
    """Every fault of the build against the card; empty when it is right."""
    if not build.pieces:
        return (Reason("empty_field", "nothing stands in the field"),)
    if isinstance(card, LayoutCard):
        return _layout(build, card)
    if isinstance(card, HeightCard):
        return _count(build, card.count) + _one_structure(build, card.max_ground_contacts)
    if isinstance(card, ShapesCard):
        return _shapes(build, card) + _one_structure(build, card.max_ground_contacts)
    return _organ(build, card)


def name_of(piece: Piece) -> str:
    """The piece in words."""
    return f"{piece.color} {piece.shape}"


def _count(build: Build, count: int) -> tuple[Reason, ...]:
    n = len(build.pieces)
    if n == count:
        return ()
    return (
        Reason(
            "wrong_count", f"{n} piece{'s' * (n != 1)} stand{'s' * (n == 1)} in the field, the card asks for {count}"
        ),
    )


def _one_structure(build: Build, max_ground: int) -> tuple[Reason, ...]:
    found = []
    on_table = tuple(i for i, t in enumerate(build.on_table) if t)
    if len(on_table) > max_ground:
        found.append(
            Reason("too_many_on_table", f"{len(on_table)} pieces touch the table, at most {max_ground} may", on_table)
        )
    if len(build.structures) > 1:
        rest = tuple(i for group in sorted(build.structures, key=len)[:-1] for i in group)
        found.append(
            Reason(
                "not_one_structure",
                f"{len(build.structures)} structures stand in the field, the card asks for one",
                rest,
            )
        )
    return tuple(found)


def _shapes(build: Build, card: ShapesCard) -> tuple[Reason, ...]:
    want, have = Counter(dict(card.shapes)), Counter(p.shape for p in build.pieces)
    found = [Reason("missing_piece", f"{n} {shape} missing") for shape, n in sorted((want - have).items())]
    for shape, n in sorted((have - want).items()):
        which = tuple(i for i, p in enumerate(build.pieces) if p.shape == shape)
        found.append(Reason("extra_piece", f"{n} {shape} too many", which))
    return tuple(found)


def _organ(build: Build, card: OrganCard) -> tuple[Reason, ...]:
    found = list(_count(build, card.count))
    lifted = tuple(i for i, t in enumerate(build.on_table) if not t)
    if lifted:
        found.append(Reason("not_side_by_side", "a pipe does not stand on the table", lifted))
    order = sorted(range(len(build.pieces)), key=lambda i: build.pieces[i].x)
    heights = [shape_of(build.piece_set, p).size(p.pose)[2] for p in build.pieces]
    for left, right in pairwise(order):
        if heights[right] > heights[left] - SAME_HEIGHT_MM:
            found.append(
                Reason(
                    "wrong_order",
                    f"the {name_of(build.pieces[right])} is not lower than the "
                    f"{name_of(build.pieces[left])} to its left",
                    (left, right),
                )
            )
    return tuple(found)


def build_turn(build: Build) -> float:
    """The build's turn about the vertical in degrees: the mean of its pieces' yaws."""
    return float(np.mean([p.yaw for p in build.pieces]))


def _layout(build: Build, card: LayoutCard) -> tuple[Reason, ...]:
    want = Counter((p.shape, p.color) for p in card.pieces)
    have = Counter((p.shape, p.color) for p in build.pieces)
    if want != have:
        return _wrong_pieces(build, card, want, have)
    turn = build_turn(build)
    found = (
        [Reason("turned_too_far", f"the build is turned by {turn:.0f} degrees, at most {MAX_TURN_DEG:.0f} are allowed")]
        if abs(turn) > MAX_TURN_DEG + 5
        else []
    )
    options = [_against(build, card, match, turn) for match in _assignments(build, card, turn)]
    return tuple(found) + min(options, key=len)


def _wrong_pieces(build: Build, card: LayoutCard, want: Counter, have: Counter) -> tuple[Reason, ...]:
    found = []
    for (shape, color), n in sorted((want - have).items()):
        found.append(Reason("missing_piece", f"{n} {color} {shape} missing"))
    for (shape, color), n in sorted((have - want).items()):
        which = tuple(i for i, p in enumerate(build.pieces) if (p.shape, p.color) == (shape, color))
        found.append(Reason("extra_piece", f"{n} {color} {shape} not on the card", which))
    return tuple(found)


def along(build: Build, turn: float) -> np.ndarray:
    """x of each piece along the build's own axis, (n,) mm: positions turned back by ``turn`` degrees."""
    a = math.radians(turn)
    return np.array([p.x * math.cos(a) + p.y * math.sin(a) for p in build.pieces])


def _assignments(build: Build, card: LayoutCard, turn: float) -> list[np.ndarray]:
    """Ways to read the build's pieces as the card's: for card piece i the build's piece index."""
    xs, zs = along(build, turn), np.array([p.z for p in build.pieces])
    cx, cz = np.array([p.x for p in card.pieces]), np.array([p.z for p in card.pieces])
    other = np.array([[(c.shape, c.color) != (b.shape, b.color) for b in build.pieces] for c in card.pieces])
    posed = np.array([[not _same_pose(build, c, b) for b in build.pieces] for c in card.pieces])
    shifts = {round(float(np.median(xs) - np.median(cx)), 1), round(float(xs.mean() - cx.mean()), 1)}
    shifts |= {
        round(float(x - cx[0]), 1)
        for x, b in zip(xs, build.pieces, strict=True)
        if b.shape == card.pieces[0].shape and b.color == card.pieces[0].color
    }
    found = {}
    for shift in shifts:
        cost = np.abs(xs[None] - cx[:, None] - shift) + np.abs(zs[None] - cz[:, None]) + 30.0 * posed + 1e5 * other
        found[tuple(linear_sum_assignment(cost)[1])] = None
    return [np.array(match) for match in found]


def _same_pose(build: Build, wanted: Piece, piece: Piece) -> bool:
    return shape_of(build.piece_set, piece).same_pose(wanted.pose, piece.pose)


def _against(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> tuple[Reason, ...]:
    found = []
    for i, j in enumerate(match):
        wanted, piece = card.pieces[i], build.pieces[j]
        if not _same_pose(build, wanted, piece) or abs(piece.yaw - turn) > MAX_TURN_DEG + TURN_SLACK_DEG:
            found.append(Reason("wrong_pose", f"the {name_of(piece)} is not turned as shown", (int(j),)))
    return tuple(found) + _supports(build, card, match) + _offsets(build, card, match, turn)


def _supports(build: Build, card: LayoutCard, match: np.ndarray) -> tuple[Reason, ...]:
    target = Build(build.piece_set, card.pieces)
    found = []
    for i, j in enumerate(match):
        differ = {int(match[k]) for k in target.contacts[i]} ^ set(build.contacts[j])
        doubtful = build.doubtful_contacts(int(j)) if differ else frozenset()
        if differ - doubtful or target.on_table[i] != build.on_table[j]:
            found.append(
                Reason(
                    "wrong_support", f"the {name_of(build.pieces[j])} does not rest on what the card shows", (int(j),)
                )
            )
    return tuple(found)


def offset_errors(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> np.ndarray:
    """(n, n) mm: for each two of the card's pieces, how far their offset in x is from the card's."""
    error = along(build, turn)[match] - np.array([p.x for p in card.pieces])
    return error[:, None] - error[None, :]


def _offsets(build: Build, card: LayoutCard, match: np.ndarray, turn: float) -> tuple[Reason, ...]:
    error = offset_errors(build, card, match, turn)
    worst = np.unravel_index(np.argmax(np.abs(error)), error.shape)
    if abs(error[worst]) <= OFFSET_LINE_MM:
        return ()
    blame = int(np.argmax(np.abs(error[0] - np.median(error[0]))))
    piece = build.pieces[match[blame]]
    return (
        Reason(
            "wrong_place",
            f"the {name_of(piece)} stands {abs(error[worst]):.0f} mm beside its place",
            (int(match[blame]),),
        ),
    )
