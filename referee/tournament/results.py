"""What a finished match was in a tournament. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from referee.events import Event
from referee.match.evolve import fold
from referee.match.state import MatchState
from referee.tournament.state import Result, Row


def result_of(events: Sequence[Event], seated: Sequence[int]) -> Result:
    """The result of a finished match, ``seated`` in the order of its players. Raises ValueError for one still open."""
    match = fold(events)
    if match.finished is None:
        raise ValueError(f"match {match.match_id} is not over")
    took = datetime.fromisoformat(events[-1].at) - datetime.fromisoformat(events[0].at)
    return Result(tuple(_row(match, n, player) for n, player in enumerate(seated)), "match", took.total_seconds())


def _row(match: MatchState, n: int, player: int) -> Row:
    name = match.players[n]
    line = next(row for row in match.standings if row.player == name)
    won = sum(d.award == name and not d.annulled for d in match.history)
    return Row(player, line.score, won, line.duels, _place(match, name, line.rank))


def _place(match: MatchState, name: str, rank: int | None) -> int | None:
    """The rank; a tie at the top that extra duels broke without points is broken here too."""
    if rank != 1 or match.winner is None:
        return rank
    return 1 if name == match.winner else 2
