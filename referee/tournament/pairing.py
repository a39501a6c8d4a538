"""Who meets whom next: Swiss, groups, knock-out. Pure; chance is the tournament's seed.

*Swiss*: FIDE's Dutch system without its colours (Handbook C.04.3 as of 2025; C.… and D.… are its numbers). Score groups
are paired from the best down; who finds nobody moves down to the next one, or rests in the end. Nobody meets twice
(C.1), nobody gets a second round off or one after a walkover (C.2). The pairs of such a bracket are those that

- are the most, with the least differences in points, the largest first, and leave whom the next group can take (C.5-7);
- let the fewest float (meet fewer points, or rest; meet more) as in the round before, then as two rounds before, then
  with the least differences (C.12-19);
- are the first in order: the upper half meets the lower half, 11 players 1-6, 2-7 … 5-10, and 11 moves down (D.1-3).

Where what remains could then not be paired, all lower groups become one, and the bracket leaves what they need (A.9).
Where the whole field cannot be paired so, it is one bracket in which as few as possible rest again, then meet again.
Pairs are matchings of most worth, after S. Ólafsson, "Weighted matching in chess tournaments", J. Opl Res. Soc. 41
(1990) 17-24; the matching is networkx's: Edmonds' blossoms as in Z. Galil, "Efficient algorithms for finding maximum
matching in graphs", ACM Comput. Surv. 18 (1986) 23-38.

*Groups* are dealt by strength in a snake, so that each has its share of the strong (the pots of most draws).
*Knock-out*: best against last, second against last but one, and so on, in a bracket in which the two best can meet in
the final only, as the brackets of tennis are seeded.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, product

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


def floats_of(state: Tournament, number: int) -> dict[int, int]:
    """Entrant -> 1 who met fewer points in that round, or did not play it, -1 who met more, 0 otherwise. Empty for a
    round before the first."""
    games, before = state.of_round(number), Counter[int]()
    for game in state.games:
        before.update({p: game.match_points(p) for p in game.players if game.round < number})
    floats = dict.fromkeys(range(len(state.entrants)) if games else (), 1)
    for game in games:
        if game.played:
            a, b = game.players
            floats[a] = (before[a] > before[b]) - (before[a] < before[b])
            floats[b] = -floats[a]
    return floats


def swiss(
    order: Sequence[int], points: Mapping[int, int], state: Tournament, floats: Sequence[Mapping[int, int]]
) -> tuple[tuple[Pair, ...], int | None]:
    """Pairs, the leaders' first, and who has the round off (None for an even number).

    ``order`` are the players to be paired, best first; ``points`` their match points; ``floats`` as ``floats_of`` of
    the latest round and of the one before it.
    """
    off = {frozenset((p, BYE_NODE)): n for p, n in rounds_off(state).items()}
    rules = _Rules(points, meeting_counts(state) + Counter(off), floats)
    groups = [list(group) for _, group in groupby(order, points.__getitem__)]
    if not rules.can_pair(order):
        rules, groups = replace(rules, repeats=True), [list(order)]
    pairs, moved, closing = list[Pair](), list[int](), False
    while groups:
        (residents, *others), below = groups, [p for group in groups[1:] for p in group]
        made = rules.bracket(moved, residents, others[0] if others else [], closing or not others)
        left = [p for p in (*moved, *residents) if not any(p in pair for pair in made)]
        if closing or not others or rules.can_pair([*left, *below]):
            pairs, moved, groups = pairs + made, left, others
        else:
            groups, closing = [residents, below], True
    return tuple(sorted(pairs, key=lambda pair: order.index(pair[0]))), next(iter(moved), None)


@dataclass(frozen=True)
class _Rules:
    """What counts for a pairing: match ``points``; how often two have met or one has rested, ``again``; the ``floats``
    of two rounds. ``repeats``: somebody has to meet or to rest again."""

    points: Mapping[int, int]
    again: Counter[frozenset[int]]
    floats: Sequence[Mapping[int, int]]
    repeats: bool = False

    def can_pair(self, players: Sequence[int]) -> bool:
        """Whether they can be paired, and one of an odd number rest, with nobody again."""
        nodes = [*players, *[BYE_NODE] * (len(players) % 2)]
        free = {pair: 0 for pair in combinations(nodes, 2) if not self.again[frozenset(pair)]}
        return 2 * len(_matched(free, Counter())) == len(nodes)

    def bracket(self, moved: list[int], residents: list[int], lower: list[int], closing: bool) -> list[Pair]:
        """The pairs among those who ``moved`` down and the ``residents``, all best first, with ``lower``, the next
        score group, in mind; ``closing``: with them all are paired, and one of an odd number rests."""
        inner, worth = {*moved, *residents}, self._worth([*moved, *residents], lower, closing)
        best = _matched(worth, _in_order(moved, residents), closing)
        pairs = [(a, b) for a, b in best if a in moved and b in residents]
        remaining = [p for p in residents if not any(p in pair for pair in pairs)]
        half = sum(a in remaining and b in remaining for a, b in best)
        fold = [*pairs, *zip(remaining, remaining[half : half + half], strict=False)]
        made = _matched(worth, Counter(), closing, fold)
        ours, most = (sum(worth.get(pair, 0) for pair in some) for some in (made, best))
        if not worth.keys() >= {*fold} or (len(made), ours) != (len(best), most):
            made = _matched(worth, _folded(remaining, half), closing, pairs)
        return [pair for pair in made if inner.issuperset(pair)]

    def _worth(self, inner: list[int], lower: list[int], closing: bool) -> dict[Pair, int]:
        """Pair -> its worth by C.1 to C.19, a digit for each, so that one outweighs all of the next together."""
        nodes = [*inner, *lower]
        nodes += [BYE_NODE] * (closing and len(nodes) % 2)
        size, least = len(nodes) * len(nodes), self.points[inner[-1]] - WIN
        gaps = {self.points[a] - self.points[b] for a, b in combinations(inner, 2)}
        gaps |= {self.points[p] - least for p in inner}
        apart = {0: 0} | {gap: size**n for n, gap in enumerate(sorted(gaps - {0}))}
        down, worth = Counter({p: apart[self.points[p] - least] for p in inner}), {}
        for a, b in combinations(nodes, 2):
            again, stays = self.again[frozenset((a, b))], b in down
            if again and not self.repeats:
                continue
            counts, sums, gap = list[int](), list[int](), stays and apart[self.points[a] - self.points[b]]
            for was in self.floats if stays else ({}, {}):
                down_a, down_b, up_b = was.get(a) == 1, was.get(b) == 1, was.get(b) == -1 and gap > 0
                counts += [(down_a and not gap) + down_b, -up_b]
                sums += [down_a * (down[a] - gap) + down_b * down[b], -up_b * gap]
            moves = down[a] + down[b]
            criteria = (stays, stays * (moves - gap), not (stays or closing), (not closing) * moves, *counts, *sums)
            total = -again * self.again.total() if b == BYE_NODE else -again
            for criterion in criteria:
                total = total * size ** len(apart) + criterion
            worth[a, b] = total
        return worth


def _in_order(moved: Sequence[int], residents: Sequence[int]) -> Counter[Pair]:
    """D.3, then D.1: the first who moved down are paired, the first of them with the highest resident."""
    base, worth = len(residents), Counter[Pair]()
    for (n, a), (m, b) in product(enumerate(reversed(moved)), enumerate(reversed(residents))):
        worth[a, b] = (base ** len(moved) << n) + m * base**n
    return worth


def _folded(group: Sequence[int], half: int) -> Counter[Pair]:
    """D.2, then D.1: as few as possible of the first ``half`` change places with the others, by as little as possible,
    the last of them first; then each of the upper half from the first on meets the highest of the lower one."""
    size, worth = len(group), Counter[Pair]()
    for (n, a), (m, b) in combinations(enumerate(group, 1), 2):
        halves = ((size if n <= half else 1) * size - n << size) - ((n <= half) << n)
        worth[a, b] = halves * size**size + (size - m) * size ** (size - n)
    return worth


def _matched(
    worth: Mapping[Pair, int], order: Counter[Pair], everybody: bool = True, fixed: Sequence[Pair] = ()
) -> list[Pair]:
    """The matching of most worth, of alike ones the first in ``order``; of ``everybody``, or of those to whom that adds
    worth. With ``fixed`` pairs. In each pair the order of ``worth``."""
    import networkx as nx  # takes a tenth of a second, and most programs pair nobody

    made, graph, scale = {p for pair in fixed for p in pair}, nx.Graph(), 1 + order.total()
    free = [(*pair, value * scale + order[pair]) for pair, value in worth.items() if made.isdisjoint(pair)]
    graph.add_weighted_edges_from(free)
    pairs = nx.max_weight_matching(graph, maxcardinality=everybody)
    return [*fixed, *((a, b) if (a, b) in worth else (b, a) for a, b in pairs)]


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
        full, worth = 2 * len(placed), {}
        for (i, a), (m, b) in product(enumerate(placed), enumerate(order[len(placed) : full], len(placed))):
            mates = [j for j, c in enumerate(placed) if group_of.get(c, -1 - c) == group_of.get(b, -1 - b)]
            early = sum((full * full) ** (full.bit_length() - (i ^ j).bit_length()) for j in mates)
            worth[a, b] = -early - (full - 1 - order.index(a) - m) ** 2
        place = {p: n for n, p in enumerate(placed)}
        placed = [p for pair in sorted(_matched(worth, Counter()), key=lambda pair: place[pair[0]]) for p in pair]
    return tuple(zip(placed[::2], placed[1::2], strict=True))


def knockout_size(wanted: int, players: int) -> int:
    """The largest power of two that is no more than ``wanted`` and than the number of players; at least 2."""
    return max(2, 1 << (min(wanted, players).bit_length() - 1))


def swiss_rounds(players: int) -> int:
    """Rounds after which a Swiss of so many has one leader without a loss: the halvings down to one."""
    return max(1, (players - 1).bit_length())
