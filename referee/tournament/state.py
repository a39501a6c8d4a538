"""A tournament as it stands: one frozen value, folded from its events (``referee.tournament.evolve``).

Entrants are numbers, in the order in which they came; their names may change. A *game* is one match at one table:
two players, or a group of up to twelve who play the printed round-robin there. A *round* is what is paired at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import TypeAdapter

from referee.core import State
from referee.match.schedule import FEWEST, MOST

Format = Literal["swiss", "groups", "printed"]
FORMATS: tuple[Format, ...] = ("swiss", "groups", "printed")
"""Swiss; groups by the printed round-robin and a knock-out of the best; that round-robin alone, pooled."""

Stage = Literal["swiss", "group", "knockout"]
STAGE_OF: Mapping[str, Stage] = {"swiss": "swiss", "groups": "group", "printed": "group"}
"""What the first round of each format is."""

WIN, SHARED = 2, 1
"""Match points of a game of two: whole numbers, so that sums never round."""

RECORD = "tournament"
"""Under this name tournaments stand in a store of many tables: no table bears it."""

MOST_ENTRANTS, MOST_ROUNDS = 256, 30
"""More than one hall holds; their pairing is a matter of seconds."""

GROUP_SIZES = range(FEWEST, MOST + 1)


@dataclass(frozen=True)
class TournamentOptions:
    """How it is played. ``rounds`` of a Swiss, 0: as many as name one winner; ``group_size`` players meet at one table
    where groups are played; ``advance`` of them go on to the knock-out, 0: two from each group, as far as that fits."""

    format: Format = "swiss"
    rounds: int = 0
    group_size: int = 4
    advance: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Entrant:
    """Who takes part. ``joined`` rounds had been paired when they came; ``gone`` says why they left, '' while present.
    ``strength`` orders the first pairing: a rating over earlier evenings or the organiser's, 0 where none is known.
    ``sits_out``: the round they asked not to play, 0 for none."""

    name: str
    joined: int = 0
    gone: str = ""
    strength: float = 0.0
    sits_out: int = 0

    @property
    def present(self) -> bool:
        """Whether they are still there."""
        return not self.gone


@dataclass(frozen=True)
class ResultRow:
    """What one player made of a game: card points, duels won of those played, the place there (None: has left)."""

    player: int
    points: int = 0
    won: int = 0
    played: int = 0
    place: int | None = None


@dataclass(frozen=True)
class GameResult:
    """How a game ended. ``by``: 'match', 'ruling' (an organiser's), 'left' (the other one went home), 'bye',
    'requested' (a round that the player asked not to play)."""

    rows: tuple[ResultRow, ...]
    by: str = "match"
    seconds: float = 0.0
    why: str = ""

    @property
    def winner(self) -> int | None:
        """Who alone is first; None where first place is shared."""
        first = [row.player for row in self.rows if row.place == 1]
        return first[0] if len(first) == 1 else None

    def row(self, player: int) -> ResultRow | None:
        """That player's row."""
        return next((row for row in self.rows if row.player == player), None)


@dataclass(frozen=True)
class Fixture:
    """One match to be played. ``number`` counts from 1. ``after``: so many matches had been begun at the table when it
    was called there, this one is a later one; ``seated``: who of the players sat down, in the match's order;
    ``void``: matches of it that count no longer. A round off has one player; a place of the knock-out that nobody
    is left for has none."""

    number: int
    round: int
    stage: Stage
    players: tuple[int, ...]
    label: str = ""
    table: str = ""
    called_at: str = ""
    after: int = 0
    match_id: str = ""
    seated: tuple[int, ...] = ()
    began_at: str = ""
    ended_at: str = ""
    result: GameResult | None = None
    void: tuple[str, ...] = ()

    @property
    def phase(self) -> str:
        """'waiting', 'called', 'playing' or 'done'."""
        if self.result is not None:
            return "done"
        return "playing" if self.match_id else "called" if self.table else "waiting"

    @property
    def bye(self) -> bool:
        """Whether it is a round off."""
        return len(self.players) == 1

    @property
    def played(self) -> bool:
        """Whether its players decided it: it is over, and no round off or walkover."""
        return self.result is not None and self.result.by in ("match", "ruling")

    def match_points(self, player: int) -> int:
        """What that player has of the game: ``SHARED`` also for a requested round off; 0 while it is not over."""
        row = self.result and self.result.row(player)
        if not row or self.result is None:
            return 0
        if self.result.by == "requested":
            return SHARED
        return 0 if row.place != 1 else WIN if self.result.winner == player else SHARED


@dataclass(frozen=True)
class Tournament(State):
    """Everything of a tournament. ``tables`` are those in use, in order."""

    id: str = ""
    name: str = ""
    options: TournamentOptions = field(default_factory=TournamentOptions)
    entrants: tuple[Entrant, ...] = ()
    tables: tuple[str, ...] = ()
    games: tuple[Fixture, ...] = ()
    round: int = 0
    rounds: int = 0
    finished_at: str = ""
    created_at: str = ""
    seed_hash: str = ""

    @property
    def phase(self) -> str:
        """'new', 'entering' before the first pairing, 'round', 'between' rounds, 'finished'."""
        if not self.id:
            return "new"
        if self.finished_at:
            return "finished"
        if not self.round:
            return "entering"
        return "between" if all(g.result for g in self.games) else "round"

    @property
    def stage(self) -> Stage:
        """Of the latest round, or of the first one to come."""
        return self.games[-1].stage if self.games else STAGE_OF[self.options.format]

    @property
    def present(self) -> tuple[int, ...]:
        """Who is still there."""
        return tuple(n for n, e in enumerate(self.entrants) if e.present)

    @property
    def away(self) -> tuple[int, ...]:
        """Who has left, or will sit out the next round."""
        return tuple(n for n, e in enumerate(self.entrants) if not e.present or e.sits_out > self.round)

    def of_round(self, number: int) -> tuple[Fixture, ...]:
        """The games of a round."""
        return tuple(g for g in self.games if g.round == number)

    def game(self, number: int) -> Fixture | None:
        """That game."""
        return self.games[number - 1] if 1 <= number <= len(self.games) else None

    def at_table(self, table: str) -> Fixture | None:
        """What is called to or played at that table."""
        return next((g for g in self.games if g.table == table and g.phase in ("called", "playing")), None)

    def busy(self, player: int) -> Fixture | None:
        """Where a player is called to or plays."""
        return next((g for g in self.games if player in g.players and g.phase in ("called", "playing")), None)

    def sitting(self, game: Fixture) -> tuple[int, ...]:
        """Who plays it: those who sat down, before that the players who are still there."""
        return game.seated or tuple(n for n in game.players if self.entrants[n].present)

    def named(self, game: Fixture) -> tuple[str, ...]:
        """The players' names."""
        return tuple(self.entrants[n].name for n in game.players)


fixture_from_json = TypeAdapter(Fixture).validate_python
"""The inverse of ``asdict`` for a game."""

result_from_json = TypeAdapter(GameResult).validate_python
"""The inverse of ``asdict`` for a result."""
