"""Swiss pairings of drawn positions beside py4swiss's Dutch system: the same pairs. Where it finds none, as few as
possible rest and meet again."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bench_pairing import NO_COLOR
from organised import over
from py4swiss.engines import DutchEngine
from py4swiss.engines.common import Float
from py4swiss.engines.dutch.bracket import BracketPairer, Brackets
from py4swiss.engines.dutch.player import Player
from py4swiss.engines.dutch.validity_matcher import ValidityMatcher

from referee.tournament.pairing import swiss
from referee.tournament.state import Tournament

FLOATS = {1: Float.DOWN, 0: Float.NONE, -1: Float.UP}
Pairs = set[frozenset[int]]
"""Who rests is a set of one."""


class Position:
    """A field before a round: players 0, 1, … best first, their match points, who has met and who has rested, and how
    they floated in the latest round and in the one before."""

    def __init__(self, seed: int, most: int) -> None:
        chance = random.Random(seed)
        self.size = chance.randint(2, most)
        least, levels, step = chance.randint(0, 3), chance.choice([1, 2, 3, 5]), chance.choice([1, 2])
        self.points = sorted((least + step * chance.randrange(levels) for _ in range(self.size)), reverse=True)
        pairs = [(a, b) for b in range(self.size) for a in range(b)]
        self.met = chance.choices(pairs, k=int(self.size * chance.choice([0, 0.5, 1, 2, 3])))
        self.rested = chance.choices(range(self.size), k=chance.choice([0, 1, self.size // 2, self.size]))
        floats = chance.choice([(0,), (-1, 0, 0, 1)])
        self.floats = [{p: chance.choice(floats) for p in range(self.size)} for _ in range(2)]

    def ours(self) -> Pairs:
        """What ``swiss`` makes of it."""
        games = tuple(over(n, *players) for n, players in enumerate([*self.met, *((p,) for p in self.rested)], 1))
        order = range(self.size)
        pairs, resting = swiss(order, dict(enumerate(self.points)), Tournament(games=games), self.floats)
        assert list(pairs) == sorted(pairs) and all(a < b for a, b in pairs), "the leaders' first, the better one first"
        assert sorted(p for pair in (*pairs, () if resting is None else (resting,)) for p in pair) == list(order)
        return {*map(frozenset, pairs), *(() if resting is None else [frozenset((resting,))])}

    def theirs(self) -> Pairs:
        """What py4swiss makes of it; nothing where it cannot pair it."""
        players = sorted(map(self.player, range(self.size)), reverse=True)
        legal, brackets, made = ValidityMatcher(players, set()), Brackets(players, 9), []
        possible = legal.is_valid_matching()
        while possible and not brackets.is_finished():
            pairs = DutchEngine._get_bracket_pairs(BracketPairer(brackets.get_current_bracket(), legal, True))
            if pairs is None:
                brackets.collapse()
            else:
                brackets.apply_bracket_pairings(pairs)
                made += pairs
        return {frozenset((a.id, b.id)) for a, b in made}

    def player(self, p: int) -> Player:
        """As py4swiss sees that player."""
        return Player(
            id=p,
            number=p,
            points=5 * self.points[p],
            points_with_acceleration=5 * self.points[p],
            color_preference=NO_COLOR,
            color_difference=0,
            color_double=False,
            float_1=FLOATS[self.floats[0][p]],
            float_2=FLOATS[self.floats[1][p]],
            opponents={q for pair in self.met if p in pair for q in pair if q != p},
            colors=[],
            bye_received=p in self.rested,
            top_scorer=False,
        )

    def repeated(self, pairs: Pairs) -> tuple[int, int]:
        """How often who rests has rested, and the pairs have met."""
        rests = sum(self.rested.count(p) for pair in pairs if len(pair) == 1 for p in pair)
        return rests, sum(frozenset(pair) in pairs for pair in self.met)


def all_pairings(players: list[int]) -> Iterator[list[frozenset[int]]]:
    """Every way to pair these players, one of an odd number resting."""
    if not players:
        yield []
    for other in players:
        pair = frozenset((players[0], other))
        if len(pair) == 2 or len(players) % 2:
            for pairs in all_pairings([p for p in players if p not in pair]):
                yield [pair, *pairs]


RARE = (480, 638, 1091, 1259, 1297, 1634, 8499, 12365)
"""Positions that tell apart what the first hundreds do not."""


@pytest.mark.parametrize("seeds", [*(range(n, n + 50) for n in range(0, 400, 50)), RARE])
def test_a_position_is_paired_as_fides_dutch_system_pairs_it(seeds):
    compared = 0
    for seed in seeds:
        position = Position(seed, 14)
        if theirs := position.theirs():
            assert position.ours() == theirs, (seed, vars(position))
            compared += 1
    assert compared >= min(30, len(seeds))


@pytest.mark.parametrize("block", range(4))
def test_as_few_as_possible_rest_or_meet_again(block):
    repeats = 0
    for seed in range(1000 + 50 * block, 1000 + 50 * (block + 1)):
        position = Position(seed, 7)
        made = position.repeated(position.ours())
        assert made == min(map(position.repeated, map(set, all_pairings(list(range(position.size))))))
        repeats += any(made)
    assert repeats >= 5
