"""From the director to what the hall's pages show: values, nothing drawn."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from referee.match.state import public_match
from referee.session.director import Director, TableNow
from referee.tournament.plan import remaining_s, time_plan
from referee.tournament.state import Fixture, Tournament
from referee.web import views

LATEST = 6
"""So many of a table's last duels its board shows."""


@dataclass(frozen=True)
class Call:
    """A game as the hall calls it: ``minutes`` until it begins, None for one that is called or played; ``scores`` so
    far of those who play it, empty before."""

    number: int
    round: int
    stage: str
    label: str
    table: str
    phase: str
    names: tuple[str, ...]
    minutes: int | None = None
    scores: Mapping[str, int] = field(default_factory=dict)


def minutes(seconds: float) -> int:
    """Whole minutes, and none before it is over."""
    return max(0, round(seconds / 60))


def call(state: Tournament, game: Fixture, table: str = "", begins_s: float | None = None) -> Call:
    """The game as it is called."""
    names = tuple(state.entrants[n].name for n in (state.sitting(game) or game.players))
    wait = None if begins_s is None else minutes(begins_s)
    return Call(game.number, game.round, game.stage, game.label, table or game.table, game.phase, names, wait)


def calls(director: Director) -> dict[str, tuple[Call, ...]]:
    """``now``: who is called and plays, by table; ``next``: who is next at each table; ``later``: all others."""
    state, passed = director.state, director.passed_s()
    here = [_with_scores(director, call(state, g)) for t in state.tables if (g := state.at_table(t))]
    slots = time_plan(state, passed)
    first = {slot.table: slot for slot in reversed(slots)}
    waiting = {slot.game: call(state, state.games[slot.game - 1], slot.table, slot.begins_s) for slot in slots}
    following = [waiting[first[t].game] for t in state.tables if t in first]
    later = [c for c in waiting.values() if c not in following]
    return {"now": tuple(here), "next": tuple(following), "later": tuple(later)}


def _with_scores(director: Director, called: Call) -> Call:
    table = director.table(called.table)
    playing = called.phase == "playing" and table is not None and table.match.match_id
    return replace(called, scores=table.match.public_scores) if table and playing else called


def head(director: Director) -> dict[str, Any]:
    """The tournament in a line: what, where it stands, how long it will last."""
    state = director.state
    over = sum(g.result is not None for g in state.of_round(state.round))
    return {
        "id": state.id,
        "name": state.name,
        "phase": state.phase,
        "format": state.options.format,
        "stage": state.stage,
        "round": state.round,
        "rounds": state.rounds,
        "over": over,
        "games": len(state.of_round(state.round)),
        "players": len(state.present),
        "seed_hash": state.seed_hash,
        "seed": str(state.options.seed) if state.phase == "finished" else None,
        "minutes": minutes(remaining_s(state, director.passed_s())),
        "simulated": state.simulated,
        "alarms": director.notifier.alarms(),
    }


def table_row(director: Director, table: TableNow) -> dict[str, Any]:
    """A table as the list of tables and its own board show it; no card before the go, no score under review."""
    state, game = director.state, director.state.at_table(table.name)
    match = table.match
    public = public_match(match.to_json()) if match.match_id else None
    return {
        "name": table.name,
        "used": table.name in state.tables,
        "phase": match.phase,
        "players": [(p["name"], p["score"]) for p in public["players"]] if public else [],
        "seats": dict(match.seats) if match.phase not in ("new", "finished") else {},
        "round": match.round_index + 1,
        "rounds": len(match.rounds),
        "duel": match.duel_index + 1,
        "winner": public["winner"] if public else None,
        "simulated": match.simulated,
        "game": asdict(call(state, game)) if game else None,
        "alarms": [dict(row) for row in table.told.alarms] if table.told else [],
        "silent": table.silent,
        "here": table.told is not None,
        "address": table.told.address if table.told else "",
        "under_review": match.under_review,
    }


def one_table(director: Director, table: TableNow) -> dict[str, Any]:
    """A table's board: who sits where, the schedule, the latest duels."""
    row = table_row(director, table)
    if not table.match.match_id:
        return row | {"match": None}
    match = public_match(table.match.to_json())
    latest = [d for d in match["history"] if not match["under_review"] or d["number"] != match["duel"]["number"]]
    playing = match["phase"] != "finished"
    return row | {
        "match": match,
        "sides": views.seats(match) if playing else (),
        "schedule": views.rounds(match),
        "latest": latest[: -LATEST - 1 : -1],
        "decision": views.decision(match["duel"]),
    }


def round_results(director: Director) -> list[dict[str, Any]]:
    """Every round with its games, the latest first."""
    state = director.state
    return [{"number": n, "games": [_result(state, g) for g in state.of_round(n)]} for n in range(state.round, 0, -1)]


def _result(state: Tournament, game: Fixture) -> dict[str, Any]:
    rows = sorted(game.result.rows, key=lambda r: (r.place is None, r.place)) if game.result else []
    return {
        **asdict(call(state, game)),
        "match_id": game.match_id,
        "by": game.result.by if game.result else "",
        "why": game.result.why if game.result else "",
        "again": len(game.void),
        "rows": [(state.entrants[r.player].name, r.place, r.points, r.won) for r in rows],
        "players": list(game.players),
    }
