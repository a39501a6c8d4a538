"""A second count of every line of a game's scoring panel, from its log alone: written apart from the rules, plainly and
slowly."""

from __future__ import annotations

from collections.abc import Sequence

from referee.events import Event

Row = tuple[int, int, int, int]
"""How many, rank, points, among how many the rank was shared."""

Panel = list[tuple[str, list[tuple[dict, dict[int, Row]]]]]
"""Every scoring: its name, and its lines; of a line what it counts, and by owner the row."""


def recount(name: str, events: Sequence[Event]) -> Panel:
    """Every line of the scoring panel at the end."""
    return COUNTS[name](events)


def panel(shown) -> Panel:
    """The scoring panel of a match as its pages are given it."""
    told = []
    for scoring in shown["scored"]:
        lines = []
        for line in scoring["lines"]:
            rows = {row["owner"]: (row["count"], row["rank"], row["points"], row["shared"]) for row in line["rows"]}
            ranks = [row["rank"] for row in line["rows"]]
            assert len(rows) == len(ranks) and ranks == sorted(ranks), "an owner has one row, the first rank is first"
            lines.append(({name: value for name, value in line.items() if name != "rows"}, rows))
        told.append((scoring["scoring"], lines))
    return told


def panel_sums(shown) -> list[int]:
    """What the scoring panel of a match adds up to by seat, a passive owner last."""
    owners = len(shown["players"]) + (shown["game"] == "quarters_and_currencies" and len(shown["players"]) == 2)
    sums = [0] * owners
    for _, lines in panel(shown):
        for _, rows in lines:
            for owner, row in rows.items():
                sums[owner] += row[2]
    return sums


def _ranks(counts: Sequence[int]) -> dict[int, tuple[int, int, int]]:
    """By owner of some: how many, the rank, among how many it is shared."""
    ranks = {}
    for owner, count in enumerate(counts):
        before = [other for other in counts if other > count]
        if count > 0:
            ranks[owner] = (count, len(before) + 1, list(counts).count(count))
    return ranks


def _city_towers(events: Sequence[Event]) -> Panel:
    players = len(events[0].data["players"])
    told, grid = [], {city: {} for city in range(1, 7)}
    left = 0
    for event in events:
        if event.kind != "asked":
            continue
        c = event.data
        if c["command"] == "PickStones":
            left += len(c["stones"])
            continue
        left -= 1
        if c["command"] == "PlayStone":
            grid[c["city"]].setdefault(c["site"], []).append((c["seat"], c["stone"]))
        if left == 0:
            told.append((str(len(told) + 1), [*_majorities(grid, players), _highest(grid)]))
    return told


def _majorities(grid, players):
    """Each city: a tower a point, two more for who alone has most."""
    for city, sites in grid.items():
        mine = [0] * players
        for stones in sites.values():
            mine[_city_owner(stones)] += 1
        rows = {}
        for seat, (count, rank, shared) in _ranks(mine).items():
            alone = all(mine[seat] > mine[other] for other in range(players) if other != seat)
            rows[seat] = (count, rank, count + 2 if alone else count, shared)
        yield {"what": "city", "of": city}, rows


def _highest(grid):
    """Three points for the highest tower, none where several are as high."""
    tops = []
    for city in sorted(grid):
        for site in sorted(grid[city]):
            tops.append(
                (sum(height for _, height in grid[city][site]), f"{city}/{site}", _city_owner(grid[city][site]))
            )
    best = [top for top in tops if top[0] == max(tops)[0]]
    rows = {who: (height, 1, 3 if len(best) == 1 else 0, len(best)) for height, _, who in best}
    return {"what": "highest", "of": " ".join(place for _, place, _ in best)}, rows


def _city_owner(stones):
    """Whoever has most; of equals the one whose stone lies higher."""
    best, best_sum, best_at = -1, -1, -1
    for who in {seat for seat, _ in stones}:
        amount = sum(height for seat, height in stones if seat == who)
        at = max(i for i, (seat, _) in enumerate(stones) if seat == who)
        if (amount, at) > (best_sum, best_at):
            best, best_sum, best_at = who, amount, at
    return best


def _tower_bets(events: Sequence[Event]) -> Panel:
    """Bets are looked through anew for every tower and every place."""
    asked = [event.data for event in events if event.kind == "asked"]
    heights = {style: 0 for style in "ABCDE"}
    for c in asked:
        if c["command"] == "Build":
            heights[c["style"]] += c["storeys"]
    lines, left = [], list("ABCDE")
    for flag in ((8, 4), (6, 3), (4, 2), (2, 1), ()):
        best = left[0]
        for style in left:
            if heights[style] > heights[best]:
                best = style
        left.remove(best)
        here = [(c["seat"], c["chip"]) for c in asked if c["command"] == "BetChip" and c["tower"] == best]
        rows = {}
        while here:
            first = None
            for seat, _ in here:
                power = sum(chip for who, chip in here if who == seat)
                if first is None or power > first[1]:
                    first = (seat, power)
            rows[first[0]] = (first[1], len(rows) + 1, flag[len(rows)] if len(rows) < len(flag) else 0, 1)
            here = [row for row in here if row[0] != first[0]]
        lines.append(({"what": "tower", "of": best, "height": heights[best], "flag": flag}, rows))
    return [("end", lines)]


RANKS = {
    "A": [(1,), (2,), (3,), (4,), (5,), (6,)],
    "B": [(8, 1), (9, 2), (10, 3), (11, 4), (12, 5), (13, 6)],
    "C": [(16, 8, 1), (17, 9, 2), (18, 10, 3), (19, 11, 4), (20, 12, 5), (21, 13, 6)],
}
"""The printed table, read with the help of its four examples."""


def _quarters(events: Sequence[Event]) -> Panel:
    deal = events[0].data["deal"]
    players = len(events[0].data["players"])
    hands = [list(hand) for hand in deal["hands"]]
    yard = dict(enumerate(deal["yard"], 1))
    owned = [[] for _ in range(players)] + [list(deal["passive"])]
    told = []
    for event in events[1:]:
        c = event.data
        if event.kind == "asked" and c["command"] == "TakeMoney":
            hands[c["seat"]] += c["cards"]
        elif event.kind == "asked" and c["command"] == "Buy":
            owned[players if c["give"] else c["seat"]].append(yard.pop(c["place"]))
            for card in c["pay"]:
                hands[c["seat"]].remove(card)
        elif event.kind == "building_laid":
            yard[c["place"]] = c["card"]
        elif event.kind == "gift_laid":
            owned[players].append(c["card"])
        elif event.kind == "scored":
            if c["scoring"] == "C":
                _quarters_rest(yard, hands, owned)
            told.append((c["scoring"], _kinds(c["scoring"], owned)))
    return told


def _quarters_rest(yard, hands, owned):
    for place, building in yard.items():
        letter = " abcd"[place]
        money = [sum(int(card[1]) for card in hand if card.startswith(letter)) for hand in hands]
        richest = [seat for seat, amount in enumerate(money) if amount > 0 and amount == max(money)]
        if len(richest) == 1:
            owned[richest[0]].append(building)


def _kinds(scoring, owned):
    """Each kind: owners with as many buildings share the values of their ranks, and what does not divide is lost."""
    lines = []
    for kind in range(1, 7):
        counts = [sum(building.startswith(f"{kind}:") for building in row) for row in owned]
        values, rows = (*RANKS[scoring][kind - 1], *[0] * 20), {}
        for owner, (count, rank, shared) in _ranks(counts).items():
            rows[owner] = (count, rank, sum(values[rank - 1 + n] for n in range(shared)) // shared, shared)
        lines.append(({"what": "kind", "of": kind}, rows))
    return lines


def _nine(events: Sequence[Event]) -> Panel:
    """One more for every storey built or stolen, one less for every one stolen from or destroyed."""
    total = [0] * len(events[0].data["players"])
    for event in events:
        c = event.data
        if event.kind == "asked" and c["command"] in ("BuildStorey", "StealStorey"):
            total[c["seat"]] += 1
        if event.kind == "asked" and c["command"] in ("StealStorey", "Destroy"):
            total[c["victim"]] -= 1
    rows = {seat: (count, rank, count, shared) for seat, (count, rank, shared) in _ranks(total).items()}
    return [("end", [({"what": "storeys", "of": events[0].data["rules"]["storeys"]}, rows)])]


COUNTS = {
    "city_towers": _city_towers,
    "tower_bets": _tower_bets,
    "quarters_and_currencies": _quarters,
    "nine_sum_towers": _nine,
}
