"""What a session needs of its record, and what its parts need of the session: each names the few that it uses. Real
ones and stand-ins of tests fit alike."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from referee.devices.ports import ButtonBox, Camera, Clock
from referee.events import Event
from referee.match.commands import MatchCommand
from referee.match.state import MatchState

Keep = Mapping[str, Any]
"""What to put beside a video: file name -> its content, or a function that makes it at the go."""


class MatchSource(Protocol):
    """Who knows the match."""

    @property
    def state(self) -> MatchState:
        """The match as it stands."""


class MatchClock(MatchSource, Protocol):
    """Who knows the match and its time."""

    @property
    def shift_s(self) -> float:
        """What to add to the host's clock in this match."""

    @property
    def clock(self) -> Clock:
        """The host's clock."""


class WithCamera(Protocol):
    """Who has the camera."""

    @property
    def camera(self) -> Camera:
        """The camera in use."""


class WithBox(Protocol):
    """Who has the button box."""

    @property
    def box(self) -> ButtonBox:
        """The button box in use."""


class CommandRunner(Protocol):
    """Who carries out commands."""

    def command(self, command: MatchCommand, who: str = "") -> tuple[Event, ...]:
        """Decide, keep, apply, tell."""


class BackgroundCommands(Protocol):
    """Who carries out what nobody waits for."""

    def attempt(self, command: MatchCommand) -> None:
        """A command that nobody waits for: what is illegal now is none, what cannot be kept is an alarm."""


class AlarmBoard(Protocol):
    """Who shows what is wrong."""

    def alarm(self, code: str, text: str | None) -> None:
        """Raise or end an alarm."""


class PagePublisher(Protocol):
    """Who keeps the pages up to date."""

    def touch(self) -> None:
        """Something a page shows has changed."""


class Record(Protocol):
    """Where a session keeps its events: ``referee.journal.journal.Journal``, or a server's behind a spool."""

    @property
    def problem(self) -> str | None:
        """Why the events are not everywhere where they should be; None when all is well."""

    def append(self, match_id: str, events: Sequence[Event], after: int | None = None, table: str = "") -> list[int]:
        """Keep the events of one command: all or none. Raises JournalUnwritable."""

    def matches(self, table: str | None = None) -> list[str]:
        """Ids of this table's matches, in the order in which they were begun."""

    def events(self, match_id: str) -> list[Event]:
        """All events of a match."""
