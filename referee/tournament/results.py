"""What a finished match was, for its players' careers and in a tournament. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from referee.events import Event
from referee.match.evolve import fold
from referee.match.state import MatchState
from referee.tournament.state import GameResult, ResultRow


@dataclass(frozen=True)
class PlayerResult:
    """One player of a finished match; ``best``: card -> seconds of the fastest right build that got the card."""

    name: str
    points: int
    won: int
    played: int
    place: int | None
    best: Mapping[str, float]


@dataclass(frozen=True)
class FinishedMatch:
    """A finished match: how it went for each of its players, in their order in the match."""

    match_id: str
    at: str
    seats: tuple[PlayerResult, ...]
    simulated: bool = False


def finished_match(events: Sequence[Event]) -> FinishedMatch | None:
    """The match of these events; None while it is not over."""
    match = fold(events)
    if match.finished is None:
        return None
    seats = tuple(_player_result(match, name) for name in match.players)
    return FinishedMatch(match.match_id, events[-1].at, seats, match.simulated)


def _player_result(match: MatchState, name: str) -> PlayerResult:
    line = next(row for row in match.standings if row.player == name)
    won = [duel for duel in match.history if duel.award == name and not duel.annulled]
    best: dict[str, float] = {}
    for duel in won:
        called = [stop.elapsed_s for stop in duel.stops if duel.seats[stop.zone] == name]
        if called and duel.card_id is not None:
            best[duel.card_id] = min(called[0], best.get(duel.card_id, called[0]))
    place = line.rank
    if place == 1 and match.winner is not None:  # a tie at the top that extra duels broke without points
        place = 1 if name == match.winner else 2
    return PlayerResult(name, line.score, len(won), line.duels, place, best)


def result_of(events: Sequence[Event], seated: Sequence[int]) -> GameResult:
    """The result of a finished match, ``seated`` in the order of its players. Raises ValueError for one still open."""
    match = finished_match(events)
    if match is None:
        raise ValueError(f"match {events[0].data['match_id']} is not over")
    took = datetime.fromisoformat(events[-1].at) - datetime.fromisoformat(events[0].at)
    pairs = zip(seated, match.seats, strict=False)
    rows = (ResultRow(player, row.points, row.won, row.played, row.place) for player, row in pairs)
    return GameResult(tuple(rows), "match", took.total_seconds())
