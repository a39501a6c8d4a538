"""Scorings A, B and C: who owns most, second most and third most of each kind of building. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.quarters_and_currencies.cards import KINDS, kind_of


def rank_points(scoring: str, kind: int) -> list[int]:
    """What the ranks of that kind give, the first first: one in A, two in B, three in C."""
    return {"A": [kind], "B": [7 + kind, kind], "C": [15 + kind, 7 + kind, kind]}[scoring]


def shares(counts: Sequence[int], values: Sequence[int]) -> list[int]:
    """Points by owner for one kind: owners with as many share the values of their ranks, rounded down.

    Who owns none gets none.
    """
    points, rank = [0] * len(counts), 0
    for count in sorted({c for c in counts if c}, reverse=True):
        tied = [owner for owner, c in enumerate(counts) if c == count]
        for owner in tied:
            points[owner] = sum(values[rank : rank + len(tied)]) // len(tied)
        rank += len(tied)
    return points


def points(scoring: str, owned: Sequence[Sequence[str]]) -> list[int]:
    """Points by owner in that scoring, over all kinds."""
    total = [0] * len(owned)
    for kind in KINDS:
        counts = [sum(kind_of(building) == kind for building in row) for row in owned]
        total = [sum(pair) for pair in zip(total, shares(counts, rank_points(scoring, kind)), strict=True)]
    return total
