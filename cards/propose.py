"""New layouts: seeded proposals of a wanted value that stand and are none of those known."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from cards.card import LayoutCard
from cards.difficulty import difficulty
from cards.errors import BadCard
from cards.generate import all_pieces, erect, rank
from cards.pieces import PieceSet
from cards.sentences import sentence
from cards.stability import stand

SAME_PLACE_MM = 20.0
"""Layouts that differ only by offsets must differ by more than the 18 mm the contract calls wrong."""


def make_layouts(
    pieces: PieceSet,
    value: int,
    n: int,
    seed: int,
    known: Sequence[LayoutCard] = (),
    progress: Callable[[int], None] = lambda found: None,
) -> tuple[LayoutCard, ...]:
    """``n`` new stable layouts worth ``value``, distinct from each other and from ``known``.

    Raises BadCard when they are not found in 400 attempts a card.
    """
    rng = random.Random(seed)
    found: list[LayoutCard] = []
    for _ in range(400 * n):
        if len(found) == n:
            break
        card = _proposal(pieces, value, f"G{value}{len(found) + 1:02d}", rng)
        if card and all(distinct(pieces, card, other) for other in (*known, *found)):
            found.append(card)
            progress(len(found))
    if len(found) < n:
        raise BadCard(sentence("few_layouts", n=len(found), m=n, value=value, name=pieces.name))
    return tuple(found)


def _proposal(pieces: PieceSet, value: int, card_id: str, rng: random.Random) -> LayoutCard | None:
    count = min(pieces.count, rng.randint(value + 1, value + 3))
    chosen = rng.sample(all_pieces(pieces), count)
    chosen.sort(key=lambda key: rank(pieces.shapes[key[0]]) + rng.random() * 2.0)
    built = erect(pieces, chosen, rng, rng.choice((1, 2, 2, 3)), loose=True)
    if not built:
        return None
    middle = round(sum(p.x for p in built) / len(built))
    built = tuple(p.at(x=p.x - middle) for p in built)
    result = stand(pieces, built)
    if not result.stable or difficulty(pieces, built, result).value != value:
        return None
    return LayoutCard(card_id, value, built)


def distinct(pieces: PieceSet, a: LayoutCard, b: LayoutCard) -> bool:
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
