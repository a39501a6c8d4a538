"""A tournament as JSON that other programs read.

Where the World Cube Association's Competition Interchange Format (WCIF 1.1.1, github.com/thewca/wcif) has a place for
it, it stands there: ``formatVersion``, ``id``, ``name``, ``shortName``, ``persons`` with ``registrantId`` and ``name``,
``schedule.venues[].rooms`` for tables. WCIF's ``events`` are timed attempts of one person; games between people have no
place there, and stand in an extension, which is what WCIF has ``extensions`` for. The seed of the lots is told when the
tournament is over, as digits in a string: JSON readers round larger numbers.
"""

import json
from dataclasses import asdict
from typing import Any

from referee.tournament.standings import RULES, standings
from referee.tournament.state import Fixture, Tournament

EXTENSION, SPEC = "referee.tournament.v1", "referee tournament export, version 1"


def to_wcif(state: Tournament) -> dict[str, Any]:
    """The tournament as a dictionary. Players are numbered from 1 there (``registrantId``)."""
    room = {"color": "#000000", "activities": [], "extensions": []}
    rooms = [{"id": n, "name": table} | room for n, table in enumerate(state.tables, 1)]
    return {
        "formatVersion": "1.1.1",
        "id": state.id,
        "name": state.name,
        "shortName": state.name[:32],
        "persons": [_person(n, state) for n in range(len(state.entrants))],
        "events": [],
        "schedule": {
            "startDate": state.created_at[:10],
            "numberOfDays": 1,
            "venues": [{"id": 1, "name": state.name, "rooms": rooms}],
        },
        "extensions": [{"id": EXTENSION, "specUrl": SPEC, "data": _games(state)}],
    }


def _person(n: int, state: Tournament) -> dict[str, Any]:
    entrant = state.entrants[n]
    status = "accepted" if entrant.present else "deleted"
    return {
        "registrantId": n + 1,
        "name": entrant.name,
        "wcaId": None,
        "roles": [],
        "registration": {"eventIds": [], "status": status, "isCompeting": entrant.present},
        "assignments": [],
        "personalBests": [],
        "extensions": [],
    }


def _games(state: Tournament) -> dict[str, Any]:
    ranked = [asdict(row) | {"registrantId": row.player + 1} for row in standings(state)]
    for row in ranked:
        del row["player"]
    return {
        "simulated": state.simulated,
        "phase": state.phase,
        "seedHash": state.seed_hash,
        "options": asdict(state.options) | {"seed": str(state.options.seed) if state.phase == "finished" else None},
        "rounds": state.rounds,
        "createdAt": state.created_at,
        "finishedAt": state.finished_at,
        "tieRules": list(RULES[state.options.format]),
        "games": [_game(game) for game in state.games],
        "standings": ranked,
    }


def _game(game: Fixture) -> dict[str, Any]:
    result = game.result
    rows = [
        {"registrantId": r.player + 1, "cardPoints": r.points, "duelsWon": r.won, "duels": r.played, "place": r.place}
        for r in (result.rows if result else ())
    ]
    return {
        "number": game.number,
        "round": game.round,
        "stage": game.stage,
        "group": game.label,
        "registrantIds": [p + 1 for p in game.players],
        "table": game.table,
        "match": game.match_id,
        "voidMatches": list(game.void),
        "phase": game.phase,
        "calledAt": game.called_at,
        "beganAt": game.began_at,
        "endedAt": game.ended_at,
        "endedBy": result.by if result else "",
        "why": result.why if result else "",
        "seconds": result.seconds if result else None,
        "result": rows,
    }


def to_json(state: Tournament) -> str:
    """The tournament as a text."""
    return json.dumps(to_wcif(state), indent=1, ensure_ascii=False) + "\n"
