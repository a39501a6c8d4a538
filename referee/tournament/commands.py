"""What may be asked of a tournament: one frozen dataclass per command, and the phases it is legal in.

``who`` names the human who asks; what takes something back needs it, and a reason ``why``. Entrants, games and rounds
are numbers as in ``referee.tournament.state``; tables are their names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from referee.tournament.state import Options, Result

OPEN = ("entering", "round", "between")


@dataclass(frozen=True)
class Command:
    """Base of all commands. ``PHASES``: where it is legal; ``NEEDS``: fields that must not be blank."""

    PHASES: ClassVar[tuple[str, ...]] = ()
    NEEDS: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True)
class CreateTournament(Command):
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


@dataclass(frozen=True)
class Enter(Command):
    """Somebody takes part; who comes late plays from the next round on that is paired."""

    player: str
    strength: float = 0.0
    who: str = ""
    PHASES = OPEN
    NEEDS = ("player",)


@dataclass(frozen=True)
class Leave(Command):
    """Somebody goes home: a game of two that is not over goes to the other one."""

    player: int
    why: str
    who: str = ""
    PHASES = OPEN
    NEEDS = ("why",)


@dataclass(frozen=True)
class Return(Command):
    """Somebody who had left plays on from the next round."""

    player: int
    who: str = ""
    PHASES = OPEN


@dataclass(frozen=True)
class Rename(Command):
    """A name was entered wrongly."""

    player: int
    name: str
    who: str = ""
    PHASES = (*OPEN, "finished")
    NEEDS = ("name",)


@dataclass(frozen=True)
class OpenTable(Command):
    """One more table."""

    table: str
    who: str = ""
    PHASES = OPEN
    NEEDS = ("table",)


@dataclass(frozen=True)
class CloseTable(Command):
    """A table is given up: what is called to it or played there waits again, and the match begun counts no longer."""

    table: str
    why: str
    who: str = ""
    PHASES = OPEN
    NEEDS = ("why",)


@dataclass(frozen=True)
class PairRound(Command):
    """Pair the next round; after the last one, the end."""

    PHASES = ("entering", "between")


@dataclass(frozen=True)
class CallGame(Command):
    """These players go to that table now, where so many matches have been begun before (``after``)."""

    game: int
    table: str
    after: int = 0
    PHASES = ("round",)


@dataclass(frozen=True)
class GameBegins(Command):
    """The table has begun that match between these players, in the match's order."""

    game: int
    match_id: str
    seated: tuple[int, ...]
    PHASES = ("round",)
    NEEDS = ("match_id",)


@dataclass(frozen=True)
class GameEnds(Command):
    """The match is over; once more when its result was changed at the table, as long as no pairing was built on it."""

    game: int
    match_id: str
    result: Result
    PHASES = ("round", "between")
    NEEDS = ("match_id",)


@dataclass(frozen=True)
class RuleGame(Command):
    """An organiser says who won, None for shared: of a game of two that cannot be played to its end, or was wrong."""

    game: int
    winner: int | None
    why: str
    who: str
    PHASES = ("round", "between")
    NEEDS = ("why", "who")


@dataclass(frozen=True)
class Rerun(Command):
    """A game is played once more: what was played counts no longer. Not once a pairing was built on it."""

    game: int
    why: str
    who: str
    PHASES = ("round", "between")
    NEEDS = ("why", "who")


COMMANDS: tuple[type[Command], ...] = tuple(Command.__subclasses__())
"""Every command, in the order of this file."""
