"""Who meets whom next: Swiss, groups, knock-out. Pure; chance is the tournament's seed.

*Swiss*: a perfect matching of least cost over all players, after S. Ólafsson, "Weighted matching in chess
tournaments", J. Opl Res. Soc. 41 (1990) 17-24; the matching is networkx's: Edmonds' blossoms as in Z. Galil, "Efficient
algorithms for finding maximum matching in graphs", ACM Comput. Surv. 18 (1986) 23-38. Costs are whole numbers of three
orders of magnitude, so that the first rule always outweighs all of the next:

1. who has had a round off gets no second one while somebody present has had none;
2. nobody meets twice while that can be avoided;
3. who has as many match points meets, the upper half the lower half within them (the Dutch system's fold,
   FIDE Handbook C.04.3), the round off goes to the last.

*Groups* are dealt by strength in a snake, so that each has its share of the strong (the pots of most draws).
*Knock-out*: best against last, second against last but one, and so on, in a bracket in which the two best can meet in
the final only, as the brackets of tennis are seeded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import cast

import networkx as nx

from referee.tournament.state import Tournament

Pair = tuple[int, int]

OFF = -1
"""The node of the matching that stands for a round off."""

FOLD_STEPS = 1 << 10
"""A difference of one match point outweighs every difference of places within a score group: there are at most 256."""


def met(state: Tournament) -> Counter[frozenset[int]]:
    """How often two have met, over all games of two that were played or are to be."""
    return Counter(frozenset(g.players) for g in state.games if len(g.players) == 2)


def rounds_off(state: Tournament) -> Counter[int]:
    """How many rounds off each player has had."""
    return Counter(g.players[0] for g in state.games if g.bye)


def swiss(order: Sequence[int], points: Mapping[int, int], state: Tournament) -> tuple[tuple[Pair, ...], int | None]:
    """Pairs, the leaders' first, and who has the round off (None for an even number).

    ``order`` are the players present, best first; ``points`` their match points. Two or more.
    """
    before, off, place = met(state), rounds_off(state), {p: n for n, p in enumerate(order)}
    folds = _folds(order, points)
    worst = (max(points.values()) - min(points.values()) + 1) ** 2 * FOLD_STEPS + FOLD_STEPS
    again = (len(order) // 2 + 1) * worst
    second_off = again * (sum(before.values()) + 1) * (len(order) + 1)
    graph = nx.Graph()
    for a, b in combinations(order, 2):
        apart = (points[a] - points[b]) ** 2 * FOLD_STEPS + abs(folds[b] - folds[a])
        graph.add_edge(a, b, weight=-(before[frozenset((a, b))] * again + apart))
    if len(order) % 2:
        for player in order:
            ahead = (points[player] - min(points.values())) ** 2 * FOLD_STEPS + len(order) - 1 - place[player]
            graph.add_edge(player, OFF, weight=-(off[player] * second_off + ahead))
    found = cast("set[Pair]", nx.max_weight_matching(graph, maxcardinality=True))
    pairs = [cast(Pair, tuple(sorted(pair, key=lambda p: place.get(p, len(order))))) for pair in found]
    pairs.sort(key=lambda pair: place[pair[0]])
    resting = next((a for a, b in pairs if b == OFF), None)
    return tuple(pair for pair in pairs if OFF not in pair), resting


def _folds(order: Sequence[int], points: Mapping[int, int]) -> dict[int, int]:
    """A place for each player: 0, 1, 2 … in either half of a score group, so that its first and the lower half's first
    are no step apart, and two of one half always are."""
    folds = {}
    for score in {points[p] for p in order}:
        group = [p for p in order if points[p] == score]
        half = (len(group) + 1) // 2
        for n, player in enumerate(group):
            folds[player] = n if n < half else n - half
    return folds


def groups(order: Sequence[int], size: int) -> tuple[tuple[int, ...], ...]:
    """The players, strongest first, dealt to as few groups as hold at most ``size`` each; sizes differ by one at most.

    Where a group would have one player alone, groups are one larger instead.
    """
    count = max(1, -(-len(order) // size))
    while count > 1 and len(order) // count < 2:
        count -= 1
    dealt: list[list[int]] = [[] for _ in range(count)]
    for n, player in enumerate(order):
        lap, at = divmod(n, count)
        dealt[at if lap % 2 == 0 else count - 1 - at].append(player)
    return tuple(map(tuple, dealt))


def bracket(size: int) -> tuple[Pair, ...]:
    """Places (from 0) that meet in the first round of a knock-out of ``size``, a power of two, in bracket order:
    winners of neighbouring pairs meet next."""
    order = [0]
    while len(order) < size:
        full = 2 * len(order) - 1
        order = [place for first in order for place in (first, full - first)]
    return tuple(zip(order[::2], order[1::2], strict=True))


def knockout(order: Sequence[int], group_of: Mapping[int, int]) -> tuple[Pair, ...]:
    """The first round between all of ``order``, best first, their number a power of two; in bracket order.

    Two of one group do not meet at once where another pair can change its weaker player with them.
    """
    pairs = [(order[a], order[b]) for a, b in bracket(len(order))]

    def same(a: int, b: int) -> bool:
        return group_of.get(a, -1 - a) == group_of.get(b, -1 - b)

    for i, (a, b) in enumerate(pairs):
        if not same(a, b):
            continue
        for j in sorted(range(len(pairs)), key=lambda n: abs(order.index(pairs[n][1]) - order.index(b))):
            c, d = pairs[j]
            if j != i and not same(a, d) and not same(c, b):
                pairs[i], pairs[j] = (a, d), (c, b)
                break
    return tuple(pairs)


def knockout_size(wanted: int, players: int) -> int:
    """The largest power of two that is no more than ``wanted`` and than the number of players; at least 2."""
    size = 2
    while 2 * size <= min(wanted, players):
        size *= 2
    return size


def swiss_rounds(players: int) -> int:
    """Rounds after which a Swiss of so many has one leader without a loss: the halvings down to one."""
    return max(1, (players - 1).bit_length())
