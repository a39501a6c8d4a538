"""Who is called where next, and when everything will be over, from the durations seen so far. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from referee.match.schedule import pairings
from referee.tournament.state import Fixture, Tournament

DUEL_S = 75.0
"""A duel from draw to draw as long as none was seen: 60 s of building and judging, 15 s of clearing; a guess."""

CHANGE_S = 90.0
"""From one game at a table to the next: players are called, come and sit down; a guess."""

DUELS_A_ROUND = 3
"""RULES.md: a round is one pairing and three duels."""


@dataclass(frozen=True)
class Slot:
    """A game that waits: where and in which seconds from now it will be played, if all goes as it did so far."""

    game: int
    table: str
    begins_s: float
    ends_s: float


def next_calls(state: Tournament) -> tuple[tuple[Fixture, str], ...]:
    """Games that can be called now, each with a free table, in the order of their numbers.

    A free table, or a game whose players all are free, never waits while the other is there.
    """
    free = [t for t in state.tables if state.at_table(t) is None]
    busy = {p for g in state.games if g.phase in ("called", "playing") for p in g.players}
    calls = []
    for game in state.games:
        if free and game.phase == "waiting" and not busy & set(game.players):
            calls.append((game, free.pop(0)))
            busy |= set(game.players)
    return tuple(calls)


def game_s(state: Tournament, players: int) -> float:
    """How long a game of so many takes: as long, pairing by pairing, as the median of those played here, voids and
    extra duels with them; a guess before the first of them."""
    over = [(g.result.seconds, g.seated) for g in state.games if g.result and g.result.seconds > 0 and g.seated]
    each = [seconds / len(pairings(len(seated))) for seconds, seated in over]
    return len(pairings(max(2, players))) * (median(each) if each else DUELS_A_ROUND * DUEL_S)


def time_plan(state: Tournament, passed_s: Mapping[int, float]) -> tuple[Slot, ...]:
    """When each game that waits will be played, on the table that is free first. ``passed_s``: game -> seconds since
    it began, for those in play. Empty without a table."""
    free = {table: 0.0 for table in state.tables}
    for game in state.games:
        if game.phase in ("called", "playing") and game.table in free:
            free[game.table] = (
                max(0.0, game_s(state, len(state.sitting(game))) - passed_s.get(game.number, 0.0)) + CHANGE_S
            )
    slots = []
    for game in state.games:
        if game.phase == "waiting" and free:
            table = min(free, key=lambda t: free[t])
            begins, ends = free[table], free[table] + game_s(state, len(state.sitting(game)))
            slots.append(Slot(game.number, table, begins, ends))
            free[table] = ends + CHANGE_S
    return tuple(slots)


def remaining_s(state: Tournament, passed_s: Mapping[int, float]) -> float:
    """Seconds until the last game of all rounds is over, if all goes as it did so far."""
    if state.phase in ("new", "finished") or not state.tables:
        return 0.0
    running = [g for g in state.games if g.phase in ("called", "playing")]
    left = [game_s(state, len(state.sitting(g))) - passed_s.get(g.number, 0.0) for g in running]
    now = max([0.0, *left, *(slot.ends_s for slot in time_plan(state, passed_s))])
    return now + sum(_round_s(state, number) for number in range(state.round + 1, state.rounds + 1))


def _round_s(state: Tournament, number: int) -> float:
    """A round that is not paired yet: as many games of two as there will be, in turns on all tables."""
    knockout = state.stage != "swiss"
    games = 1 << (state.rounds - number) if knockout else max(1, len(state.present) // 2)
    return -(-games // len(state.tables)) * (game_s(state, 2) + CHANGE_S)
