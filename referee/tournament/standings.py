"""The table of a tournament, and the rules by which ties are broken: ``RULES``. Pure.

A *Swiss* ranks by match points (a win, a round off and a walkover count 2, a shared game 1), then by Buchholz's sum:
the match points of all opponents; a game without an opponent at the table counts as one against somebody with as many
points as the player himself has (the "dummy opponent" of the FIDE Handbook, C.07 16.4).

*Groups* play the printed round-robin, and groups of three and of four do not play the same number of duels: across
tables they are compared by the place in their own group first, then by card points per duel played.

A *knock-out* ranks by how far one came; within that, as the groups did.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from referee.tournament.state import SHARED, WIN, Fixture, ResultRow, Stage, Tournament

NO_PLACE = 1 << 20
"""The place in a group of who has none."""


@dataclass(frozen=True)
class StandingsRow:
    """One line of the table. ``place`` 1 is the best; who has left has None. Match points, card points and duels are
    those of all games; ``per_duel``: card points a duel in the games that the place rests on; ``reached``: how far in
    the knock-out."""

    player: int
    name: str
    place: int | None
    games: int
    wins: int
    points: int
    cards: int
    duels_won: int
    duels: int
    buchholz: int
    group_place: int | None
    per_duel: float
    reached: int


@dataclass(frozen=True)
class _Sums:
    """What a player's games sum up to."""

    games: int = 0
    wins: int = 0
    points: int = 0
    cards: int = 0
    won: int = 0
    played: int = 0


def match_points(game: Fixture, player: int) -> int:
    """Match points of a game that is over."""
    row = game.result and game.result.row(player)
    if not row or row.place != 1 or game.result is None:
        return 0
    return WIN if game.result.winner == player else SHARED


def points(state: Tournament) -> dict[int, int]:
    """Match points of every entrant."""
    return {n: sum(match_points(g, n) for g in _over(state, n)) for n in range(len(state.entrants))}


def _over(state: Tournament, player: int, stages: Sequence[Stage] = ("swiss", "group", "knockout")) -> list[Fixture]:
    return [g for g in state.games if player in g.players and g.result is not None and g.stage in stages]


def _sums(state: Tournament, player: int, stages: Sequence[Stage]) -> _Sums:
    games = _over(state, player, stages)
    rows = [row for g in games if g.result and (row := g.result.row(player))]
    return _Sums(
        sum(not g.bye for g in games),
        sum(g.result is not None and g.result.winner == player and not g.bye for g in games),
        sum(match_points(g, player) for g in games),
        sum(row.points for row in rows),
        sum(row.won for row in rows),
        sum(row.played for row in rows),
    )


def buchholz(state: Tournament, player: int, made: Mapping[int, int]) -> int:
    """The match points ``made`` by all opponents of a Swiss; a walkover or round off: the player's own."""
    total = 0
    for game in _over(state, player, ("swiss",)):
        opponents = [p for p in game.players if p != player]
        played = game.result is not None and game.result.by not in ("bye", "left") and opponents
        total += made[opponents[0]] if played else made[player]
    return total


def _group_row(state: Tournament, player: int) -> ResultRow | None:
    """The player's row in the group; None where none was played to its end."""
    over = _over(state, player, ("group",))
    return over[0].result.row(player) if over and over[0].result else None


def knockout_reach(state: Tournament, player: int) -> int:
    """How far in the knock-out: 0 not in it, then one for each of its rounds, one more for who won the final."""
    games = [g for g in state.games if g.stage == "knockout" and player in g.players]
    won = bool(games) and bool(state.finished_at) and all(knockout_winner(g) == player for g in games)
    return len(games) + won


def knockout_winner(game: Fixture) -> int | None:
    """Who of a knock-out game that is over plays on: the winner; of a shared one who is listed first, the better
    placed; None where both have left."""
    if game.result is None:
        return None
    first = [row.player for row in game.result.rows if row.place == 1]
    return next((p for p in game.players if p in first), None)


@dataclass(frozen=True)
class _Player:
    """All that a rule may ask of a player."""

    sums: _Sums
    buchholz: int
    group: ResultRow | None
    reached: int
    lot: int
    strength: float


def _share(part: int, of: int) -> Fraction:
    return Fraction(part, of) if of else Fraction(0)


Rule = Callable[[_Player], Any]
RULE: Mapping[str, Rule] = {
    "reached": lambda p: p.reached,
    "group_place": lambda p: -(p.group.place if p.group and p.group.place else NO_PLACE),
    "match_points": lambda p: p.sums.points,
    "buchholz": lambda p: p.buchholz,
    "cards": lambda p: p.sums.cards,
    "cards_per_duel": lambda p: _share(p.sums.cards, p.sums.played),
    "duels_won": lambda p: p.sums.won,
    "share_won": lambda p: _share(p.sums.won, p.sums.played),
    "strength": lambda p: p.strength,
    "lot": lambda p: p.lot,
}
"""Name -> what it asks of a player: more is better."""

RULES: Mapping[str, tuple[str, ...]] = {
    "swiss": ("match_points", "buchholz", "cards", "duels_won", "lot"),
    "printed": ("group_place", "cards_per_duel", "share_won", "lot"),
    "groups": ("reached", "group_place", "cards_per_duel", "share_won", "lot"),
}
"""Format -> the rules in their order; each breaks the ties that those before it leave. The lot is drawn by the
tournament's seed when it is created, and so is the same for ever."""

ENTRY_ORDER = ("strength", "lot")
"""The order before anything was played."""


def drawn_lots(state: Tournament) -> list[int]:
    """A lot for each entrant; one who comes later changes nobody's."""
    chance = random.Random(f"lot/{state.options.seed}")
    return [chance.randrange(1 << 40) for _ in state.entrants]


def _players(state: Tournament) -> list[_Player]:
    made, drawn = points(state), drawn_lots(state)
    stages: tuple[Stage, ...] = ("group",) if state.options.format == "groups" else ("swiss", "group")
    return [
        _Player(
            _sums(state, n, stages),
            buchholz(state, n, made),
            _group_row(state, n),
            knockout_reach(state, n),
            drawn[n],
            e.strength,
        )
        for n, e in enumerate(state.entrants)
    ]


def ranked_entrants(state: Tournament, rules: Sequence[str] = ()) -> list[int]:
    """The entrants who are present, best first, by these rules or the format's."""
    players, names = _players(state), rules or RULES[state.options.format]
    return sorted(state.present, key=lambda n: [RULE[name](players[n]) for name in names], reverse=True)


def standings(state: Tournament) -> tuple[StandingsRow, ...]:
    """The table, best first, who has left last. No two share a place: the lot is the last rule."""
    players, ranked = _players(state), ranked_entrants(state, () if state.games else ENTRY_ORDER)
    gone = [n for n in range(len(state.entrants)) if n not in ranked]
    return tuple(
        _line(state, n, players[n], place if n not in gone else None) for place, n in enumerate([*ranked, *gone], 1)
    )


def _line(state: Tournament, n: int, p: _Player, place: int | None) -> StandingsRow:
    whole = _sums(state, n, ("swiss", "group", "knockout"))
    group = p.group.place if p.group else None
    return StandingsRow(
        n, state.entrants[n].name, place, whole.games, whole.wins, whole.points, whole.cards, whole.won, whole.played,
        p.buchholz, group, round(float(_share(p.sums.cards, p.sums.played)), 3), p.reached,
    )  # fmt: skip
