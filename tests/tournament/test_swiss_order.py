"""Swiss pairings of small fields against every pairing there is: no other keeps the rules better, in their order."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from organised import over

from referee.tournament.pairing import swiss
from referee.tournament.state import Tournament

REST = -1
Pairs = list[tuple[int, int]]


def all_pairings(players: list[int]) -> Iterator[Pairs]:
    """Every way to pair these players, the better one first in each pair."""
    if not players:
        yield []
        return
    first, *others = players
    for other in others:
        for pairs in all_pairings([p for p in others if p != other]):
            yield [(first, other), *pairs]


class Position:
    """A field before a round: players 0, 1, … best first, their match points, who has met and who has rested."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.size = chance.randint(2, 8)
        least, levels = 2 * chance.randint(0, 3), chance.choice([1, 2, 3, 9])
        self.points = sorted((least + 2 * chance.randrange(levels) for _ in range(self.size)), reverse=True)
        pairs = [(a, b) for b in range(self.size) for a in range(b)]
        self.met = chance.choices(pairs, k=chance.randint(0, 2 * self.size))
        self.rested = chance.choices(range(self.size), k=chance.choice([0, 1, self.size]))
        self.floated = {p: chance.choice([-1, 0, 0, 1]) for p in range(self.size)} if seed % 2 else {}

    def paired(self) -> Pairs:
        """What ``swiss`` makes of it; who rests is paired with REST."""
        games = tuple(over(n, *players) for n, players in enumerate([*self.met, *((p,) for p in self.rested)], 1))
        order = range(self.size)
        made = dict(zip(order, self.points, strict=True))
        pairs, resting = swiss(order, made, Tournament(games=games), self.floated)
        return [*pairs, *([(resting, REST)] if resting is not None else [])]

    def pairings(self) -> Iterator[Pairs]:
        """Every way to pair the field."""
        everybody = list(range(self.size))
        for p in everybody if self.size % 2 else [REST]:
            for pairs in all_pairings([q for q in everybody if q != p]):
                yield [*pairs, *([(p, REST)] if p != REST else [])]

    def broken(self, pairs: Pairs) -> tuple[int, ...]:
        """How much of each rule the pairing breaks, the rules in their order: less is better."""
        resting = [a for a, b in pairs if b == REST]
        games = [pair for pair in pairs if REST not in pair]
        gaps = [self.points[a] - self.points[b] for a, b in games] + [self.points[p] - self.points[-1] for p in resting]
        floats = [pair for pair in self.apart(pairs) if REST not in pair]
        return (
            sum(self.rested.count(p) for p in resting),
            sum(self.met.count(pair) for pair in games),
            sum(gaps),
            sum(gap**2 for gap in gaps),
            sum(self.floated.get(a) == 1 for a, _ in self.apart(pairs))
            + sum(self.floated.get(b) == -1 for _, b in floats),
            sum(self.size - p for p in resting),
            sum(self.size - a for a, _ in floats),
            sum(b for _, b in floats),
        )

    def apart(self, pairs: Pairs) -> set[tuple[int, int]]:
        """The pairs of those who rest or float."""
        return {(a, b) for a, b in pairs if b == REST or self.points[a] != self.points[b]}

    def unfolded(self, made: int, pairs: Pairs) -> tuple:
        """How far those who stay in the score group of so many points are from the fold: who meets again, who meets
        within a half, then the opponents of the upper half from the first on."""
        stay = [pair for pair in pairs if REST not in pair and all(self.points[p] == made for p in pair)]
        group = sorted(p for pair in stay for p in pair)
        upper = group[: len(group) // 2]
        within = sum((a in upper) == (b in upper) for a, b in stay)
        opponents = [b for _, b in sorted(stay)] if not within else []
        return sum(self.met.count(pair) for pair in stay), within, opponents


@pytest.mark.parametrize("block", range(6))
def test_no_other_pairing_keeps_the_rules_better(block):
    for seed in range(50 * block, 50 * (block + 1)):
        position = Position(seed)
        pairs = position.paired()
        assert sorted(p for pair in pairs for p in pair if p != REST) == list(range(position.size))
        games = [pair for pair in pairs if REST not in pair]
        assert games == sorted(games) and all(a < b for a, b in games), "the leaders' first, the better one first"
        best = min(map(position.broken, position.pairings()))
        assert position.broken(pairs) == best, (seed, vars(position), pairs)


@pytest.mark.parametrize("block", range(6))
def test_who_stays_in_a_score_group_is_folded(block):
    for seed in range(300 + 50 * block, 300 + 50 * (block + 1)):
        position = Position(seed)
        pairs = position.paired()
        alike = [some for some in position.pairings() if position.apart(some) == position.apart(pairs)]
        for made in set(position.points):
            best = min(position.unfolded(made, some) for some in alike)
            assert position.unfolded(made, pairs) == best, (seed, vars(position), pairs)
