"""The table of a tournament, and the rules by which ties are broken: ``RULES``. Pure.

A *Swiss* ranks by match points (a win, a round off and a walkover count 2, a shared game and a round off that was
asked for 1), then by Buchholz's sum: the match points of all opponents. Rounds that were not played count as the FIDE
Handbook has it (C.07 16, as of 2024): one's own, missed before one came or after one left too, as against somebody with
as many points as the player himself has (16.4, the "dummy opponent"); an opponent's, missed at the end, as shared games
(16.3.2), so that who goes home drags nobody down.

*Groups* play the printed round-robin, and groups of three and of four do not play the same number of duels: across
tables they are compared by the place in their own group first, then by card points per duel played.

A *knock-out* ranks by how far one came; within that, as the groups did.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from referee.tournament.state import MOST_ENTRANTS, SHARED, Fixture, Tournament


@dataclass(frozen=True)
class StandingsRow:
    """One line of the table. ``place`` 1 is the best; who has left has None. Match points, card points and duels are
    those of all games; ``cards_per_duel`` and ``share_won``, of its duels, are the group's; ``reached``: how far in
    the knock-out: 0 not in it, then one for each of its rounds, one more for who won the final."""

    player: int
    name: str
    place: int | None
    games: int
    wins: int
    match_points: int
    cards: int
    duels_won: int
    duels: int
    buchholz: int
    group_place: int | None
    cards_per_duel: float
    share_won: float
    reached: int


def points(state: Tournament) -> dict[int, int]:
    """Match points of every entrant."""
    return {n: sum(g.match_points(n) for g in state.games if n in g.players) for n in range(len(state.entrants))}


def buchholz(state: Tournament, made: Mapping[int, int]) -> dict[int, int]:
    """Of a Swiss, for every entrant: the match points ``made`` by all opponents, rounds missed at the end counted as
    shared; for each of the entrant's rounds that was not played, the own ones. Nothing of another format."""
    if state.options.format != "swiss":
        return dict.fromkeys(made, 0)
    last = {p: g.round for g in state.games for p in g.players}
    worth = {p: made[p] + SHARED * (state.round - last.get(p, 0)) for p in made}
    total = {p: state.round * made[p] for p in made}
    for game in state.games:
        for p in game.players:
            if game.played or game.result is None:
                total[p] -= made[p]
            if game.played:
                total[p] += sum(worth[q] for q in game.players if q != p)
    return total


def knockout_winner(game: Fixture) -> int | None:
    """Who of a knock-out game that is over plays on: the winner; of a shared one who is listed first, the better
    placed; None where both have left."""
    if game.result is None:
        return None
    first = [row.player for row in game.result.rows if row.place == 1]
    return next((p for p in game.players if p in first), None)


RULES: Mapping[str, tuple[str, ...]] = {
    "swiss": ("match_points", "buchholz", "cards", "duels_won", "lot"),
    "printed": ("group_place", "cards_per_duel", "share_won", "lot"),
    "groups": ("reached", "group_place", "cards_per_duel", "share_won", "lot"),
}
"""Format -> the rules in their order, by the row's fields; each breaks the ties that those before it leave. The lot is
drawn by the tournament's seed when it is created, and so is the same for ever."""

ENTRY_ORDER = ("strength", "lot")
"""The order before anything was played."""


def ranked_entrants(state: Tournament, rules: Sequence[str] = ()) -> list[int]:
    """The entrants who are present, best first, by these rules or the format's."""
    return [row.player for row in _ranked(state, rules or RULES[state.options.format]) if row.place]


def standings(state: Tournament) -> tuple[StandingsRow, ...]:
    """The table, best first, who has left last. No two share a place: the lot is the last rule."""
    return tuple(_ranked(state, RULES[state.options.format] if state.games else ENTRY_ORDER))


def _ranked(state: Tournament, rules: Sequence[str]) -> list[StandingsRow]:
    chance, made = random.Random(f"lot/{state.options.seed}"), points(state)
    lots = [chance.randrange(1 << 40) for _ in state.entrants]  # one who comes later changes nobody's
    opponents = buchholz(state, made)

    def worth(row: StandingsRow) -> list[Any]:
        known = vars(row) | {"lot": lots[row.player], "strength": state.entrants[row.player].strength}
        return [known[rule] if rule != "group_place" else -(row.group_place or MOST_ENTRANTS) for rule in rules]

    rows = [_row(state, n, made[n], opponents[n]) for n in range(len(state.entrants))]
    here = sorted((rows[n] for n in state.present), key=worth, reverse=True)
    gone = [row for row in rows if row.player not in state.present]
    return [*(replace(row, place=place) for place, row in enumerate(here, 1)), *gone]


def _row(state: Tournament, n: int, made: int, opponents: int) -> StandingsRow:
    """The line of an entrant, without a place."""
    over = [(game, row) for game in state.games if game.result and (row := game.result.row(n))]
    rows, group = [row for _, row in over], next((row for game, row in over if game.stage == "group"), None)
    knockout = [g for g in state.games if g.stage == "knockout" and n in g.players]
    won = bool(knockout) and bool(state.finished_at) and all(knockout_winner(g) == n for g in knockout)
    return StandingsRow(
        player=n,
        name=state.entrants[n].name,
        place=None,
        games=sum(not game.bye for game, _ in over),
        wins=sum(game.result is not None and game.result.winner == n and not game.bye for game, _ in over),
        match_points=made,
        cards=sum(row.points for row in rows),
        duels_won=sum(row.won for row in rows),
        duels=sum(row.played for row in rows),
        buchholz=opponents,
        group_place=group.place if group else None,
        cards_per_duel=group.points / group.played if group and group.played else 0.0,
        share_won=group.won / group.played if group and group.played else 0.0,
        reached=len(knockout) + won,
    )
