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


def duel_s(state: Tournament) -> float:
    """Seconds a duel takes: the median over the games played here, or a guess before the first of them."""
    durations = [
        g.result.seconds / duels
        for g in state.games
        if g.result and g.result.seconds > 0 and (duels := sum(r.won for r in g.result.rows))
    ]
    return median(durations) if durations else DUEL_S


def game_s(state: Tournament, game: Fixture) -> float:
    """How long the game will take."""
    players = max(2, len(state.sitting(game)))
    return len(pairings(players)) * _duels_a_round(state) * duel_s(state)


def _duels_a_round(state: Tournament) -> float:
    """Duels of a round as they are played here, voids and extra duels with them."""
    over = [g for g in state.games if g.result and g.result.by == "match" and len(g.seated) >= 2]
    rounds = sum(len(pairings(len(g.seated))) for g in over)
    return sum(row.won for g in over if g.result for row in g.result.rows) / rounds if rounds else DUELS_A_ROUND


def time_plan(state: Tournament, passed_s: Mapping[int, float]) -> tuple[Slot, ...]:
    """When each game that waits will be played, on the table that is free first. ``passed_s``: game -> seconds since
    it began, for those in play. Empty without a table."""
    free = {table: 0.0 for table in state.tables}
    for game in state.games:
        if game.phase in ("called", "playing") and game.table in free:
            free[game.table] = max(0.0, game_s(state, game) - passed_s.get(game.number, 0.0)) + CHANGE_S
    slots = []
    for game in state.games:
        if game.phase == "waiting" and free:
            table = min(free, key=lambda t: free[t])
            begins = free[table]
            slots.append(Slot(game.number, table, begins, begins + game_s(state, game)))
            free[table] = begins + game_s(state, game) + CHANGE_S
    return tuple(slots)


def remaining_s(state: Tournament, passed_s: Mapping[int, float]) -> float:
    """Seconds until the last game of all rounds is over, if all goes as it did so far."""
    if state.phase in ("new", "finished") or not state.tables:
        return 0.0
    running = [game_s(state, g) - passed_s.get(g.number, 0.0) for g in state.games if g.phase in ("called", "playing")]
    now = max([0.0, *running, *(slot.ends_s for slot in time_plan(state, passed_s))])
    return now + sum(_round_s(state, number) for number in range(state.round + 1, state.rounds + 1))


def _round_s(state: Tournament, number: int) -> float:
    """A round that is not paired yet: as many games of two as there will be, in turns on all tables."""
    knockout = state.stage != "swiss"
    games = 1 << (state.rounds - number) if knockout else max(1, len(state.present) // 2)
    turns = -(-games // len(state.tables))
    one = len(pairings(2)) * _duels_a_round(state) * duel_s(state)
    return turns * (one + CHANGE_S)
