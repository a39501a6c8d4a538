"""What may be asked of a tournament: the commands, and the phases each is legal in.

``who`` names the human who asks; what takes something back needs it, and a reason ``why``. Entrants, games and rounds
are numbers as in ``referee.tournament.state``; tables are their names.
"""

from __future__ import annotations

from dataclasses import field

from referee.core import Command
from referee.tournament.state import Options, Result

OPEN = ("entering", "round", "between")


class TournamentCommand(Command):
    """Base of what may be asked of a tournament."""


class CreateTournament(TournamentCommand):
    """Begin a tournament. ``strengths`` go with ``players``, or are left out."""

    id: str
    name: str
    options: Options = field(default_factory=Options)
    players: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    strengths: tuple[float, ...] = ()
    simulated: bool = False
    PHASES = ("new",)
    NEEDS = ("id", "name")


class Enter(TournamentCommand):
    """Somebody takes part; who comes late plays from the next round on that is paired."""

    player: str
    strength: float = 0.0
    who: str = ""
    PHASES = OPEN
    NEEDS = ("player",)


class Leave(TournamentCommand):
    """Somebody goes home: a game of two that is not over goes to the other one."""

    player: int
    why: str
    who: str = ""
    PHASES = OPEN
    NEEDS = ("why",)


class Return(TournamentCommand):
    """Somebody who had left plays on from the next round."""

    player: int
    who: str = ""
    PHASES = OPEN


class Rename(TournamentCommand):
    """A name was entered wrongly."""

    player: int
    name: str
    who: str = ""
    PHASES = (*OPEN, "finished")
    NEEDS = ("name",)


class OpenTable(TournamentCommand):
    """One more table."""

    table: str
    who: str = ""
    PHASES = OPEN
    NEEDS = ("table",)


class CloseTable(TournamentCommand):
    """A table is given up: what is called to it or played there waits again, and the match begun counts no longer."""

    table: str
    why: str
    who: str = ""
    PHASES = OPEN
    NEEDS = ("why",)


class PairRound(TournamentCommand):
    """Pair the next round; after the last one, the end."""

    PHASES = ("entering", "between")


class CallGame(TournamentCommand):
    """These players go to that table now, where so many matches have been begun before (``after``)."""

    game: int
    table: str
    after: int = 0
    PHASES = ("round",)


class GameBegins(TournamentCommand):
    """The table has begun that match between these players, in the match's order."""

    game: int
    match_id: str
    seated: tuple[int, ...]
    PHASES = ("round",)
    NEEDS = ("match_id",)


class GameEnds(TournamentCommand):
    """The match is over; once more when its result was changed at the table, as long as no pairing was built on it."""

    game: int
    match_id: str
    result: Result
    PHASES = ("round", "between")
    NEEDS = ("match_id",)


class RuleGame(TournamentCommand):
    """An organiser says who won, None for shared: of a game of two that cannot be played to its end, or was wrong."""

    game: int
    winner: int | None
    why: str
    who: str
    PHASES = ("round", "between")
    NEEDS = ("why", "who")


class Rerun(TournamentCommand):
    """A game is played once more: what was played counts no longer. Not once a pairing was built on it."""

    game: int
    why: str
    who: str
    PHASES = ("round", "between")
    NEEDS = ("why", "who")


COMMANDS: tuple[type[TournamentCommand], ...] = tuple(TournamentCommand.__subclasses__())
"""Every command, in the order of this file."""
