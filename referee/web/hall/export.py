"""A tournament for other programs: as JSON, a format of its own, and a Swiss as TRF16 too.

JSON: ``Tournament`` as it is, every field by its name (``referee.tournament.state``), with ``standings``
(``StandingsRow``) and the ``tie_rules`` they rest on. Players are numbers from 0, in the order of ``entrants``. The
seed of the lots is told when the tournament is over, as digits in a string: JSON readers round larger numbers.

TRF16 is FIDE's Tournament Report File (Handbook C.04 Annex 2), which pairing programs and their checkers read: a line
for each player with fixed columns. A win is 1.0 there, two of our match points. Rounds that are over are told. Its
colours, which this game has not, are white for whoever is named first; ``XXR``, the number of rounds, is its pairing
programs' extension.
"""

import json
from dataclasses import asdict

from referee.core import refuse_if
from referee.tournament.standings import RULES, standings
from referee.tournament.state import WIN, Fixture, Tournament

FORMAT, VERSION = "referee tournament", 2

NAME_COLUMNS = 33
"""So much of a name TRF16 has room for."""


def to_json(state: Tournament) -> str:
    """The tournament as a text; why somebody left, and how strong they were held to be, is nobody's business."""
    told = asdict(state) | {"format": FORMAT, "version": VERSION, "phase": state.phase}
    told["entrants"] = [{"name": e.name, "joined": e.joined, "present": e.present} for e in state.entrants]
    told["options"]["seed"] = str(state.options.seed) if state.phase == "finished" else None
    told |= {"tie_rules": RULES[state.options.format], "standings": [asdict(row) for row in standings(state)]}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def to_trf(state: Tournament) -> str:
    """A Swiss as TRF16. Raises IllegalCommand for another format, whose games of three and more have no place there."""
    refuse_if(state.options.format != "swiss", "tour.no_trf")
    over = state.round - (state.phase == "round")
    day = state.created_at[:10].replace("-", "/")
    head = {"012": state.name, "042": day, "052": state.finished_at[:10].replace("-", "/") or day}
    head |= {"062": str(len(state.entrants)), "092": "Individual: Swiss-System", "XXR": str(max(over, state.rounds))}
    ranks = {row.player: rank for rank, row in enumerate(standings(state), 1)}
    lines = [_trf_line(state, player, rank, over) for player, rank in sorted(ranks.items())]
    return "".join(f"{line}\n" for line in (*(f"{code} {text}" for code, text in head.items()), *lines))


def _trf_line(state: Tournament, player: int, rank: int, over: int) -> str:
    """A player's line; columns as the Handbook numbers them."""
    games = {g.round: g for g in state.games if player in g.players}
    made = sum(game.match_points(player) for number, game in games.items() if number <= over)
    name = state.entrants[player].name[:NAME_COLUMNS]
    results = "".join(f"  {_trf_result(games.get(number), player)}" for number in range(1, over + 1))
    return f"001 {player + 1:4}      {name:<{NAME_COLUMNS}}{'':33}{made / WIN:4.1f} {rank:4}{results}"


def _trf_result(game: Fixture | None, player: int) -> str:
    """Opponent, colour, result of a round: Z was away, U had no opponent, H had asked for that; + and - a walkover."""
    if game is None:
        return "0000 - Z"
    if game.bye:
        return f"0000 - {'H' if game.result and game.result.by == 'requested' else 'U'}"
    (other,) = (p for p in game.players if p != player)
    result = ("0=1" if game.played else "--+")[game.match_points(player)]
    return f"{other + 1:4} {'w' if player == game.players[0] else 'b'} {result}"
