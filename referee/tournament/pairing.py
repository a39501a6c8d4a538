"""Who meets whom next: Swiss, groups, knock-out. Pure; chance is the tournament's seed.

*Swiss*: perfect matchings of least cost, after S. Ólafsson, "Weighted matching in chess tournaments", J. Opl Res. Soc.
41 (1990) 17-24; the matching is networkx's: Edmonds' blossoms as in Z. Galil, "Efficient algorithms for finding maximum
matching in graphs", ACM Comput. Surv. 18 (1986) 23-38. A first matching says who rests and who floats (meets somebody
with other match points). Its costs are whole numbers, a digit for each rule, so that a rule always outweighs all of the
next:

1. who has had a round off gets no second one while somebody present has had none;
2. nobody meets twice while that can be avoided;
3. the differences in match points add up to as little as possible, the round off counted as the fewest;
4. so do their squares;
5. as few as possible float, or rest, the same way as in the round before;
6. the last of a score group rests;
7. the last of a score group floats down, of a lower group rather than of a higher one;
8. who floats down meets the first of the lower group.

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
from itertools import combinations, product

import networkx as nx

from referee.tournament.state import WIN, Tournament

Pair = tuple[int, int]

BYE_NODE = -1
"""The node of the matching that stands for a round off."""


def meeting_counts(state: Tournament) -> Counter[frozenset[int]]:
    """How often the same have met; a walkover is no meeting."""
    return Counter(frozenset(g.players) for g in state.games if g.played)


def rounds_off(state: Tournament) -> Counter[int]:
    """How many rounds off or walkovers each player has had, without those that were asked for."""
    return Counter(p for g in state.games for p in g.players if not g.played and g.match_points(p) == WIN)


def latest_floats(state: Tournament, points: Mapping[int, int]) -> dict[int, int]:
    """Player -> 1 who met fewer points in the latest round, or did not play it, -1 who met more, 0 otherwise; all of
    ``points``, the present ones. Empty before the first round."""
    games = state.of_round(state.round)
    before = {p: points[p] - game.match_points(p) for game in games for p in game.players}
    floats = dict.fromkeys(points if games else (), 1)
    for game in games:
        if game.played:
            a, b = game.players
            floats[a] = (before[a] > before[b]) - (before[a] < before[b])
            floats[b] = -floats[a]
    return floats


def swiss(
    order: Sequence[int], points: Mapping[int, int], state: Tournament, floats: Mapping[int, int]
) -> tuple[tuple[Pair, ...], int | None]:
    """Pairs, the leaders' first, and who has the round off (None for an even number).

    ``order`` are the players to be paired, best first; ``points`` their match points; ``floats`` as ``latest_floats``.
    """
    before, place = meeting_counts(state), {p: n for n, p in enumerate(order)}
    apart = _apart(order, points, before, rounds_off(state), floats)
    resting = next((a for a, b in apart if b == BYE_NODE), None)
    floating = {player for pair in apart for player in pair}
    pairs = [pair for pair in apart if BYE_NODE not in pair]
    for score in {points[p] for p in order}:
        pairs += _folded([p for p in order if points[p] == score and p not in floating], before)
    return tuple(sorted(pairs, key=lambda pair: place[pair[0]])), resting


def _apart(
    order: Sequence[int],
    points: Mapping[int, int],
    before: Counter[frozenset[int]],
    off: Counter[int],
    floats: Mapping[int, int],
) -> list[Pair]:
    """The pairs that no score group has among its own: who floats down with whom, and who rests with ``BYE_NODE``."""
    size, least, place = len(order), min(points.values(), default=0), {p: n for n, p in enumerate(order)}
    score = Counter(points[p] for p in order)
    outweighing = size * size * (1 + before.total() + max(points.values(), default=0) ** 2)

    def weighed(rule: int, broken: int) -> int:
        return broken * int(outweighing ** (9 - rule))

    def apart(gap: int) -> int:
        return weighed(3, gap) + weighed(4, gap * gap)

    costs = {}
    for a, b in combinations(order, 2):
        gap = points[a] - points[b]
        again = (floats.get(a) == 1) + (floats.get(b) == -1)
        float_down = apart(gap) + weighed(5, again) + weighed(7, size - place[a]) + weighed(8, place[b])
        fold = abs(place[b] - place[a] - score[points[a]] // 2)  # decides nothing; without it matching takes far longer
        costs[a, b] = weighed(2, before[frozenset((a, b))]) + (float_down if gap else fold)
    for p in order if size % 2 else ():
        rest = apart(points[p] - least) + weighed(5, floats.get(p) == 1) + weighed(6, size - place[p])
        costs[p, BYE_NODE] = weighed(1, off[p]) + rest
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
    count = max(1, min(-(-len(order) // size), len(order) // 2))
    dealt: list[list[int]] = [[] for _ in range(count)]
    for n, player in enumerate(order):
        lap, at = divmod(n, count)
        dealt[at if lap % 2 == 0 else count - 1 - at].append(player)
    return tuple(map(tuple, dealt))


def knockout(order: Sequence[int], group_of: Mapping[int, int]) -> tuple[Pair, ...]:
    """The first round between all of ``order``, best first, their number a power of two; in bracket order: winners of
    neighbouring pairs meet next.

    The bracket grows by doubling: each that stands in it gets one of the next best, the best the last of them. Others
    change places so that two of one group meet as late as possible, winner and runner-up in the final; as little else
    as possible changes.
    """
    placed = [order[0]]
    while len(placed) < len(order):
        full, costs = 2 * len(placed), {}
        for (i, a), (m, b) in product(enumerate(placed), enumerate(order[len(placed) : full], len(placed))):
            mates = [j for j, c in enumerate(placed) if group_of.get(c, -1 - c) == group_of.get(b, -1 - b)]
            early = sum((2 * full) ** (3 + len(placed).bit_length() - (i ^ j).bit_length()) for j in mates)
            costs[a, b] = early + (full - 1 - order.index(a) - m) ** 2
        place = {p: n for n, p in enumerate(placed)}
        placed = [p for pair in sorted(_matched(costs), key=lambda pair: place[pair[0]]) for p in pair]
    return tuple(zip(placed[::2], placed[1::2], strict=True))


def knockout_size(wanted: int, players: int) -> int:
    """The largest power of two that is no more than ``wanted`` and than the number of players; at least 2."""
    return max(2, 1 << (min(wanted, players).bit_length() - 1))


def swiss_rounds(players: int) -> int:
    """Rounds after which a Swiss of so many has one leader without a loss: the halvings down to one."""
    return max(1, (players - 1).bit_length())
