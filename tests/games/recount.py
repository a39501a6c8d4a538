"""A second count of every game's score, from its log alone: written apart from the rules, plainly and slowly."""

from __future__ import annotations

from collections.abc import Sequence

from referee.events import Event


def recount(name: str, events: Sequence[Event]) -> list[int]:
    """Final score by seat; of the quarters for two the passive owner's too."""
    return COUNTS[name](events)


def panel_sums(shown) -> list[int]:
    """What the scoring panel of a match, as its pages are given it, adds up to by seat, a passive owner last."""
    owners = len(shown["players"]) + (shown["game"] == "quarters_and_currencies" and len(shown["players"]) == 2)
    sums = [0] * owners
    for scoring in shown["scored"]:
        for line in scoring["lines"]:
            assert len({row["owner"] for row in line["rows"]}) == len(line["rows"])
            for row in line["rows"]:
                assert row["shared"] >= 1 and row["rank"] >= 1 and row["count"] >= 1, row
                sums[row["owner"]] += row["points"]
    return sums


def _city_towers(events: Sequence[Event]) -> list[int]:
    players = len(events[0].data["players"])
    total, grid = [0] * players, {}
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
            grid.setdefault(c["city"], {}).setdefault(c["site"], []).append((c["seat"], c["stone"]))
        if left == 0:
            for seat in range(players):
                total[seat] += _city_round(grid, seat, players)
    return total


def _city_round(grid, seat, players):
    won, tops = 0, []
    for sites in grid.values():
        mine = [0] * players
        for stones in sites.values():
            who = _city_owner(stones)
            mine[who] += 1
            tops.append((sum(height for _, height in stones), who))
        won += mine[seat]
        if all(mine[seat] > mine[other] for other in range(players) if other != seat):
            won += 2
    tops.sort(reverse=True)
    if tops and tops[0][1] == seat and (len(tops) == 1 or tops[1][0] < tops[0][0]):
        won += 3
    return won


def _city_owner(stones):
    """Whoever has most; of equals the one whose stone lies higher."""
    best, best_sum, best_at = -1, -1, -1
    for who in {seat for seat, _ in stones}:
        amount = sum(height for seat, height in stones if seat == who)
        at = max(i for i, (seat, _) in enumerate(stones) if seat == who)
        if (amount, at) > (best_sum, best_at):
            best, best_sum, best_at = who, amount, at
    return best


def _tower_bets(events: Sequence[Event]) -> list[int]:
    """Bets are looked through anew for every tower and every place."""
    players = len(events[0].data["players"])
    asked = [event.data for event in events if event.kind == "asked"]
    heights = {style: 0 for style in "ABCDE"}
    for c in asked:
        if c["command"] == "Build":
            heights[c["style"]] += c["storeys"]
    total, left = [0] * players, list("ABCDE")
    for high, low in ((8, 4), (6, 3), (4, 2), (2, 1)):
        best = left[0]
        for style in left:
            if heights[style] > heights[best]:
                best = style
        left.remove(best)
        here = [(c["seat"], c["chip"]) for c in asked if c["command"] == "BetChip" and c["tower"] == best]
        for value in (high, low):
            first = None
            for seat, _ in here:
                power = sum(chip for who, chip in here if who == seat)
                if first is None or power > first[1]:
                    first = (seat, power)
            if first:
                total[first[0]] += value
                here = [row for row in here if row[0] != first[0]]
    return total


RANKS = {
    "A": [(1,), (2,), (3,), (4,), (5,), (6,)],
    "B": [(8, 1), (9, 2), (10, 3), (11, 4), (12, 5), (13, 6)],
    "C": [(16, 8, 1), (17, 9, 2), (18, 10, 3), (19, 11, 4), (20, 12, 5), (21, 13, 6)],
}
"""The printed table, read with the help of its four examples."""


def _quarters(events: Sequence[Event]) -> list[int]:
    deal = events[0].data["deal"]
    players = len(events[0].data["players"])
    hands = [list(hand) for hand in deal["hands"]]
    yard = dict(enumerate(deal["yard"], 1))
    owned = [[] for _ in range(players)] + [list(deal["passive"])]
    total = [0] * (players + 1)
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
            for owner in range(players + 1):
                total[owner] += _quarters_points(c["scoring"], owned, owner)
    return total if players == 2 else total[:players]


def _quarters_rest(yard, hands, owned):
    for place, building in yard.items():
        letter = " abcd"[place]
        money = [sum(int(card[1]) for card in hand if card.startswith(letter)) for hand in hands]
        richest = [seat for seat, amount in enumerate(money) if amount > 0 and amount == max(money)]
        if len(richest) == 1:
            owned[richest[0]].append(building)


def _quarters_points(scoring, owned, owner):
    points = 0
    for kind in range(1, 7):
        counts = [sum(building.startswith(f"{kind}:") for building in row) for row in owned]
        if not counts[owner]:
            continue
        before = sum(count > counts[owner] for count in counts)
        tied = counts.count(counts[owner])
        values = (*RANKS[scoring][kind - 1], *[0] * 20)
        points += sum(values[before + n] for n in range(tied)) // tied
    return points


def _nine(events: Sequence[Event]) -> list[int]:
    """One more for every storey built or stolen, one less for every one stolen from or destroyed."""
    total = [0] * len(events[0].data["players"])
    for event in events:
        c = event.data
        if event.kind == "asked" and c["command"] in ("BuildStorey", "StealStorey"):
            total[c["seat"]] += 1
        if event.kind == "asked" and c["command"] in ("StealStorey", "Destroy"):
            total[c["victim"]] -= 1
    return total


COUNTS = {
    "city_towers": _city_towers,
    "tower_bets": _tower_bets,
    "quarters_and_currencies": _quarters,
    "nine_sum_towers": _nine,
}
