"""Who meets whom, in which order, on which side. Players are numbers: 0 is the youngest, A.

Two, three and four players play the printed tables (RULES.md). Five to twelve play a round-robin
ordered so that everyone rests about equally long between two rounds.
Sides: nobody sits more than once more often on one side than on the other, and two who meet
twice swap sides.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

from referee.core import refuse_if

FEWEST, MOST = 2, 12
"""Players a match takes; the mats' zones go from A to L (CONTRACT.md)."""

PRINTED = {
    2: ((0, 1), (0, 1)),
    3: ((0, 2), (0, 1), (1, 2), (0, 2), (0, 1), (1, 2)),
    4: ((0, 3), (1, 2), (0, 1), (2, 3), (0, 2), (1, 3)),
}
"""RULES.md, the printed tables. Two players play six duels: two rounds of three."""

Pair = tuple[int, int]


def comparable_name(name: str) -> str:
    """The name as names are compared: capitals and ways to write an accent make no other player of it."""
    return unicodedata.normalize("NFKC", name).casefold()


@dataclass(frozen=True)
class Round:
    """One pairing: names of who sits at zone A and at zone B, and how many duels they play.

    ``first`` is the index of the first one played: a single duel played again keeps its place, and so its pile.
    """

    a: str
    b: str
    duels: int = 3
    kind: str = "scheduled"  # scheduled, extra (a tie-break), sudden (sudden death), replay, late
    first: int = 0

    @property
    def players(self) -> tuple[str, str]:
        """Both names, zone A first."""
        return self.a, self.b

    def to_json(self) -> dict[str, Any]:
        """As a dictionary; ``Round(**row)`` reads it back."""
        row = {"a": self.a, "b": self.b, "duels": self.duels, "kind": self.kind}
        return row | ({"first": self.first} if self.first else {})


def schedule(players: Sequence[str], duels: int = 3) -> tuple[Round, ...]:
    """The rounds of a match between ``players``, youngest first. Raises IllegalCommand on a bad list."""
    refuse_if(not FEWEST <= len(players) <= MOST, "how_many", least=FEWEST, most=MOST, n=len(players))
    return tuple(Round(players[a], players[b], duels) for a, b in with_seats(pairings(len(players))))


def round_robin(players: Sequence[str], duels: int, kind: str) -> tuple[Round, ...]:
    """Everyone of ``players`` (two or more) against everyone once."""
    pairs = tuple(combinations(range(len(players)), 2)) if len(players) < 5 else pairings(len(players))
    if len(players) == 4:
        pairs = PRINTED[4]
    return tuple(Round(players[a], players[b], duels, kind) for a, b in with_seats(pairs))


@cache
def pairings(n: int) -> tuple[Pair, ...]:
    """Pairs of player numbers in playing order: printed for 2 to 4, else each pair once."""
    if n in PRINTED:
        return PRINTED[n]
    return _circle(n) if n % 2 == 0 else _relay(n)


def _circle(n: int) -> tuple[Pair, ...]:
    """Even n, the circle method: player 0 stays, the others move on by one seat after each turn.

    Within a turn pairs play in seat order, so a player's place in the order shifts by one from
    turn to turn: everyone rests n/2 - 2 to n/2 rounds between two of their own.
    """
    ring, pairs = list(range(n)), []
    for _ in range(n - 1):
        met = ((ring[i], ring[-1 - i]) for i in range(n // 2))
        pairs += [(min(pair), max(pair)) for pair in met]
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return tuple(pairs)


def _relay(n: int) -> tuple[Pair, ...]:
    """Odd n: whoever waits longest meets one of the two who have rested next longest.

    So everyone rests (n - 3)/2 or (n - 1)/2 rounds, which is as even as can be (the bound is
    Suksompong's, "Scheduling asynchronous round-robin tournaments", 2016). Which of the two it is,
    a search with backtracking finds; it looks at under 10 000 rounds for n = 11.
    """
    k = (n - 1) // 2
    pairs: list[Pair] = [(2 * i, 2 * i + 1) for i in range(k)]
    _extend(pairs, set(pairs), n - 1, k, n * k)
    return tuple(pairs)


def _extend(pairs: list[Pair], met: set[Pair], waiting: int, k: int, total: int) -> bool:
    """Add rounds until ``total``; False, with ``pairs`` as it was, when there is no way."""
    if len(pairs) == total:
        return True
    for player, other in (pairs[-k], pairs[-k][::-1]):
        pair = (min(player, waiting), max(player, waiting))
        if pair in met:
            continue
        pairs.append(pair)
        if _extend(pairs, met | {pair}, other, k, total):
            return True
        pairs.pop()
    return False


def with_seats(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """The same pairs, each as (who sits at zone A, who at zone B), sides spread evenly."""
    order: list[Pair] = []
    for pair in pairs:
        earlier = [p for p in order if set(p) == set(pair)]
        ways = (earlier[-1][::-1],) if earlier else (pair, pair[::-1])
        order.append(min(ways, key=lambda way: _strain(order, way)))
    # Swap sides along a chain of rounds until nobody is off by more than one.
    while (worst := max(_balance(order).items(), key=lambda row: abs(row[1])))[1] not in (-1, 0, 1):
        for i in _chain(order, worst[0], worst[1] > 0):
            order[i] = order[i][::-1]
    return tuple(order)


def _strain(order: Sequence[Pair], pair: Pair) -> tuple[int, int]:
    """How badly the seating continues ``order``: imbalance first, then sitting again where one sat."""
    balance = _balance(order)
    last = {player: side for p in order for side, player in enumerate(p)}
    again = sum(last.get(player) == side for side, player in enumerate(pair))
    return balance.get(pair[0], 0) - balance.get(pair[1], 0), again


def _balance(order: Sequence[Pair]) -> dict[int, int]:
    """Per player: how many more times at zone A than at B."""
    balance: dict[int, int] = {}
    for a, b in order:
        balance[a] = balance.get(a, 0) + 1
        balance[b] = balance.get(b, 0) - 1
    return balance


def _chain(order: Sequence[Pair], start: int, from_a: bool) -> list[int]:
    """Rounds that lead from ``start`` to one with the opposite imbalance; swapping all evens both."""
    balance, queue = _balance(order), [start]
    paths: dict[int, list[int]] = {start: []}
    for player in queue:
        if balance[player] * balance[start] < 0:
            return paths[player]
        for i, pair in enumerate(order):
            here, there = pair if from_a else pair[::-1]
            if here == player and there not in paths:
                paths[there] = [*paths[player], i]
                queue.append(there)
    return paths[queue[-1]]


def player_letter(index: int) -> str:
    """The printed name of the player: A is the youngest."""
    return chr(ord("A") + index)


def schedule_text(players: Sequence[str], duels: int = 3) -> str:
    """The schedule as a table to read out: round, pairing by letter and name, who waits."""
    rounds = schedule(players, duels)
    width = max(len(f"{r.a} – {r.b}") for r in rounds)
    lines = [
        f"{len(players)} players, {len(rounds)} rounds of {duels} duels; A is the youngest, "
        "the first named sits at zone A",
        "",
    ]
    for number, r in enumerate(rounds, 1):
        letters = "–".join(sorted(player_letter(players.index(p)) for p in r.players))
        waiting = ", ".join(p for p in players if p not in r.players)
        lines.append(
            f"round {number:>2}  {letters}  {f'{r.a} – {r.b}':<{width}}" + (f"  waiting: {waiting}" if waiting else "")
        )
    return "\n".join(line.rstrip() for line in lines)
