"""Who meets whom next: Swiss, groups, knock-out. Pure; chance is the tournament's seed.

*Swiss*: perfect matchings of least cost, after S. Ólafsson, "Weighted matching in chess tournaments", J. Opl Res. Soc.
41 (1990) 17-24; the matching is networkx's: Edmonds' blossoms as in Z. Galil, "Efficient algorithms for finding maximum
matching in graphs", ACM Comput. Surv. 18 (1986) 23-38. A first matching says who rests and who floats (meets somebody
with other match points). Its costs are whole numbers, a digit for each rule, so that a rule always outweighs all of the
next:

1. who has had a round off gets no second one while somebody present has had none;
2. nobody meets twice while that can be avoided;
3. the squares of the differences in match points add up to as little as possible, the round off counted as the fewest;
4. the last of a score group rests;
5. the last of a score group floats down, of a lower group rather than of a higher one;
6. who floats down meets the first of the lower group.

Then those who stay in a score group are folded among themselves, the upper half onto the lower half (the Dutch system,
FIDE Handbook C.04.3, without its colours): 11 players pair 1-6, 2-7 … 5-10, and 11 rests. Where two of them have met,
the first of the upper half gets the highest opponent that is possible, then the second, and so on; two of one half meet
only where there is no other way.

*Groups* are dealt by strength in a snake, so that each has its share of the strong (the pots of most draws).
*Knock-out*: best against last, second against last but one, and so on, in a bracket in which the two best can meet in
the final only, as the brackets of tennis are seeded.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import networkx as nx

from referee.tournament.state import Tournament

Pair = tuple[int, int]

BYE_NODE = -1
"""The node of the matching that stands for a round off."""


def meeting_counts(state: Tournament) -> Counter[frozenset[int]]:
    """How often the same have met, over all games that were played or are to be."""
    return Counter(frozenset(g.players) for g in state.games)


def rounds_off(state: Tournament) -> Counter[int]:
    """How many rounds off each player has had."""
    return Counter(g.players[0] for g in state.games if g.bye)


def swiss(order: Sequence[int], points: Mapping[int, int], state: Tournament) -> tuple[tuple[Pair, ...], int | None]:
    """Pairs, the leaders' first, and who has the round off (None for an even number).

    ``order`` are the players present, best first; ``points`` their match points. Two or more.
    """
    before, place = meeting_counts(state), {p: n for n, p in enumerate(order)}
    apart = _apart(order, points, before, rounds_off(state))
    resting = next((a for a, b in apart if b == BYE_NODE), None)
    floating = {player for pair in apart for player in pair}
    pairs = [pair for pair in apart if BYE_NODE not in pair]
    for score in {points[p] for p in order}:
        pairs += _folded([p for p in order if points[p] == score and p not in floating], before)
    return tuple(sorted(pairs, key=lambda pair: place[pair[0]])), resting


def _apart(
    order: Sequence[int], points: Mapping[int, int], before: Counter[frozenset[int]], off: Counter[int]
) -> list[Pair]:
    """The pairs that no score group has among its own: who floats down with whom, and who rests with ``BYE_NODE``."""
    size, least, place = len(order), min(points.values()), {p: n for n, p in enumerate(order)}
    score = Counter(points[p] for p in order)
    outweighing = size * size * (1 + before.total() + max(points.values()) ** 2)

    def weighed(rule: int, broken: int) -> int:
        return broken * int(outweighing ** (7 - rule))

    costs = {}
    for a, b in combinations(order, 2):
        gap = (points[a] - points[b]) ** 2
        float_down = weighed(5, size - place[a]) + weighed(6, place[b])
        fold = abs(place[b] - place[a] - score[points[a]] // 2)  # decides nothing; without it matching takes far longer
        costs[a, b] = weighed(2, before[frozenset((a, b))]) + weighed(3, gap) + (float_down if gap else fold)
    for p in order if size % 2 else ():
        costs[p, BYE_NODE] = weighed(1, off[p]) + weighed(3, (points[p] - least) ** 2) + weighed(4, size - place[p])
    return [(a, b) for a, b in _matched(costs) if b == BYE_NODE or points[a] != points[b]]


def _folded(group: Sequence[int], before: Counter[frozenset[int]]) -> list[Pair]:
    """Pairs within a score group, best first and of an even number: nobody twice where possible, then the fold.

    The lower half's places are the digits of a number, the first of the upper half its highest: the least is wanted.
    """
    size, half = len(group), len(group) // 2
    fold, costs = list(zip(group[:half], group[half:], strict=True)), {}
    if not any(before[frozenset(pair)] for pair in fold):
        return fold
    for (n, a), (m, b) in combinations(enumerate(group), 2):
        opponent = (m - half) * size ** (half - n) if n < half <= m else size ** (half + 1)
        costs[a, b] = before[frozenset((a, b))] * size ** (half + 2) + opponent
    return _matched(costs)


def _matched(costs: Mapping[Pair, int]) -> list[Pair]:
    """The perfect matching of least cost; in each pair the order of ``costs``."""
    graph = nx.Graph()
    graph.add_weighted_edges_from((*pair, -cost) for pair, cost in costs.items())
    pairs = nx.max_weight_matching(graph, maxcardinality=True)
    return [(a, b) if (a, b) in costs else (b, a) for a, b in pairs]


def split_into_groups(order: Sequence[int], size: int) -> tuple[tuple[int, ...], ...]:
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


def bracket_places(size: int) -> tuple[Pair, ...]:
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
    pairs = [(order[a], order[b]) for a, b in bracket_places(len(order))]

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
