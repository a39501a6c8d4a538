"""Events to state: ``evolve`` one event, ``fold`` them all. Pure; the events carry what was decided."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from referee import core
from referee.core import Data
from referee.events import Event
from referee.tournament.state import (
    Entrant,
    Fixture,
    Tournament,
    TournamentOptions,
    fixture_from_json,
    result_from_json,
)


def fold(events: Iterable[Event]) -> Tournament:
    """The tournament after all of the events."""
    return core.fold(evolve, Tournament(), events)


def evolve(state: Tournament, event: Event) -> Tournament:
    """The tournament after one more event. Raises IllegalCommand for one that cannot follow."""
    return core.apply_event(state, event, KINDS, "tournament_created")


def _created(state: Tournament, data: Data, event: Event) -> Tournament:
    return Tournament(
        id=data["id"],
        name=data["name"],
        options=TournamentOptions(**data["options"]),
        entrants=tuple(Entrant(**row) for row in data["entrants"]),
        tables=tuple(data["tables"]),
        created_at=event.at,
        seed_hash=data.get("seed_hash", ""),
    )


def _entrant(state: Tournament, number: int, **changed: Any) -> Tournament:
    row = [replace(e, **changed) if n == number else e for n, e in enumerate(state.entrants)]
    return replace(state, entrants=tuple(row))


def _game(state: Tournament, number: int, **changed: Any) -> Tournament:
    games = [replace(g, **changed) if g.number == number else g for g in state.games]
    return replace(state, games=tuple(games))


def _waits(state: Tournament, data: Data, event: Event) -> Tournament:
    game = state.games[data["game"] - 1]
    void = (*game.void, game.match_id) if game.match_id else game.void
    again = Fixture(game.number, game.round, game.stage, game.players, game.label, void=void)
    return replace(state, games=(*state.games[: game.number - 1], again, *state.games[game.number :]))


KINDS: Mapping[str, core.Change[Tournament]] = {
    "tournament_created": _created,
    "entrant_joined": lambda s, d, e: replace(s, entrants=(*s.entrants, Entrant(**d))),
    "entrant_left": lambda s, d, e: _entrant(s, d["player"], gone=d["why"]),
    "entrant_returned": lambda s, d, e: _entrant(s, d["player"], gone="", sits_out=0),
    "bye_requested": lambda s, d, e: _entrant(s, d["player"], sits_out=d["round"]),
    "entrant_renamed": lambda s, d, e: _entrant(s, d["player"], name=d["name"]),
    "table_opened": lambda s, d, e: replace(s, tables=(*s.tables, d["table"])),
    "table_closed": lambda s, d, e: replace(s, tables=tuple(t for t in s.tables if t != d["table"])),
    "round_paired": lambda s, d, e: replace(
        s, games=(*s.games, *map(fixture_from_json, d["games"])), round=d["round"], rounds=d["rounds"]
    ),
    "game_called": lambda s, d, e: _game(s, d["game"], table=d["table"], after=d["after"], called_at=e.at),
    "game_began": lambda s, d, e: _game(s, d["game"], match_id=d["match_id"], seated=tuple(d["seated"]), began_at=e.at),
    "game_ended": lambda s, d, e: _game(s, d["game"], result=result_from_json(d["result"]), ended_at=e.at),
    "game_waits": _waits,
    "tournament_finished": lambda s, d, e: replace(s, finished_at=e.at),
}
"""Every kind of event a tournament's record holds."""
