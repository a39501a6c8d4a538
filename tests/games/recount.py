"""A second count of every game's score, from its log alone: written apart from the rules, plainly and slowly."""

from __future__ import annotations

from collections.abc import Sequence

from referee.events import Event


def recount(name: str, events: Sequence[Event]) -> list[int]:
    """Final score by seat."""
    return COUNTS[name](events)


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


COUNTS = {"city_towers": _city_towers, "tower_bets": _tower_bets}
