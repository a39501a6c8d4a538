"""Events to state: ``evolve`` one event, ``fold`` them all. Pure; the events carry what was decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from referee import core
from referee.core import Data
from referee.events import Event
from referee.tournament.state import Entrant, Game, Options, Tournament, game_from_json, result_from_json


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
        options=Options(**data["options"]),
        entrants=tuple(Entrant(**row) for row in data["entrants"]),
        tables=tuple(data["tables"]),
        created_at=event.at,
    )


def _joined(state: Tournament, data: Data, event: Event) -> Tournament:
    return replace(state, entrants=(*state.entrants, Entrant(**data)))


def _entrant(state: Tournament, number: int, **changed: Any) -> Tournament:
    row = [replace(e, **changed) if n == number else e for n, e in enumerate(state.entrants)]
    return replace(state, entrants=tuple(row))


def _left(state: Tournament, data: Data, event: Event) -> Tournament:
    return _entrant(state, data["player"], gone=data["why"])


def _returned(state: Tournament, data: Data, event: Event) -> Tournament:
    return _entrant(state, data["player"], gone="")


def _renamed(state: Tournament, data: Data, event: Event) -> Tournament:
    return _entrant(state, data["player"], name=data["name"])


def _opened(state: Tournament, data: Data, event: Event) -> Tournament:
    return replace(state, tables=(*state.tables, data["table"]))


def _closed(state: Tournament, data: Data, event: Event) -> Tournament:
    return replace(state, tables=tuple(t for t in state.tables if t != data["table"]))


def _paired(state: Tournament, data: Data, event: Event) -> Tournament:
    games = tuple(game_from_json(row) for row in data["games"])
    return replace(state, games=(*state.games, *games), round=data["round"], rounds=data["rounds"])


def _game(state: Tournament, number: int, change: Callable[[Game], Game]) -> Tournament:
    return replace(state, games=tuple(change(g) if g.number == number else g for g in state.games))


def _called(state: Tournament, data: Data, event: Event) -> Tournament:
    called = {"table": data["table"], "after": data["after"], "called_at": event.at}
    return _game(state, data["game"], lambda g: replace(g, **called))


def _began(state: Tournament, data: Data, event: Event) -> Tournament:
    began = {"match_id": data["match_id"], "seated": tuple(data["seated"]), "began_at": event.at}
    return _game(state, data["game"], lambda g: replace(g, **began))


def _ended(state: Tournament, data: Data, event: Event) -> Tournament:
    result = result_from_json(data["result"])
    return _game(state, data["game"], lambda g: replace(g, result=result, ended_at=event.at))


def _waits(state: Tournament, data: Data, event: Event) -> Tournament:
    def again(game: Game) -> Game:
        void = (*game.void, game.match_id) if game.match_id else game.void
        return Game(game.number, game.round, game.stage, game.players, game.label, void=void)

    return _game(state, data["game"], again)


def _finished(state: Tournament, data: Data, event: Event) -> Tournament:
    return replace(state, finished_at=event.at)


KINDS: Mapping[str, core.Change[Tournament]] = {
    "tournament_created": _created,
    "entrant_joined": _joined,
    "entrant_left": _left,
    "entrant_returned": _returned,
    "entrant_renamed": _renamed,
    "table_opened": _opened,
    "table_closed": _closed,
    "round_paired": _paired,
    "game_called": _called,
    "game_began": _began,
    "game_ended": _ended,
    "game_waits": _waits,
    "tournament_finished": _finished,
}
"""Every kind of event a tournament's record holds."""
