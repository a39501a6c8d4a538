"""A game on a journal: decide (pure), append (durable), then apply and tell.

The state is what the journal says, so a program that is killed goes on behind the last command that was kept.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Self

from referee import core
from referee.devices.ports import Clock
from referee.events import Event
from referee.games.catalogue import game_named
from referee.games.core import GameCommand, Setup
from referee.games.match import Correct, Match, UndoMove, begin, decide, evolve, fold
from referee.session.ports import Record

Listener = Callable[[Match, Sequence[Event]], None]


def game_matches(journal: Record) -> dict[str, str]:
    """Match -> game, of all games in the record, in the order in which they were begun."""
    firsts = {match_id: journal.events(match_id)[:1] for match_id in journal.matches(None)}
    return {m: rows[0].data["game"] for m, rows in firsts.items() if rows and rows[0].kind == "game_begun"}


class GameTable:
    """One game that is played. Thread-safe. ``version`` grows with every change, for pages that look for news."""

    def __init__(self, journal: Record, clock: Clock, match: Match) -> None:
        self._journal, self._clock = journal, clock
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []
        self.match = match

    @classmethod
    def begun(cls, journal: Record, clock: Clock, game: str, setup: Setup, simulated: bool = False) -> Self:
        """A new game, its deal on record."""
        now = clock.utc()
        match_id = f"{game}-{now:%Y%m%d-%H%M%S}-{len(journal.matches('')) + 1}"
        events = begin(match_id, game_named(game), setup, now.isoformat(), simulated)
        journal.append(match_id, events, after=0)
        return cls(journal, clock, fold(events))

    @property
    def version(self) -> int:
        """The number of the last event."""
        return self.match.seq

    def listen(self, listener: Listener) -> None:
        """Call it with the match and the new events after every command."""
        self._listeners.append(listener)

    def command(self, command: GameCommand | UndoMove | Correct, who: str = "") -> tuple[Event, ...]:
        """Decide, keep, apply, tell. Raises IllegalCommand, JournalUnwritable; then nothing has changed."""
        with self._lock:
            events = decide(self.match, command, self._clock.utc().isoformat(), who)
            match = core.fold(evolve, self.match, events)
            self._journal.append(match.match_id, events, after=self.match.seq)
            self.match = match
            for listener in self._listeners:
                listener(match, events)
        return events
