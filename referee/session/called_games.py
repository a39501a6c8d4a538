"""A table of a tournament: the game that is called there is begun by itself, and the hall hears how the table is."""

import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from cards.sentences import sentence
from referee import core
from referee.errors import IllegalCommand, RefereeError
from referee.events import Event
from referee.journal.journal import Journal
from referee.journal.side_tables import Presence, TableHeartbeat
from referee.match.schedule import comparable_name
from referee.session.ports import AlarmBoard, MatchClock
from referee.tournament.evolve import evolve
from referee.tournament.state import RECORD, Tournament
from referee.workers import Background

POLL_S = 1.0
"""How often a table asks what is called to it."""

FINISHED_SHOWN_S = 45.0
"""A match that is over stays on its board for so long, and can be corrected, before the next one begins by itself."""

BEAT_EVERY = 2
"""Looks between two signs of life."""


class Seats(MatchClock, AlarmBoard, Protocol):
    """What sits at the table: a session, or a simulated one."""

    def create_match(self, players: Sequence[str]) -> tuple[Event, ...]:
        """Begin a match."""


class CalledGames:
    """Follows the tournament that was begun last, for one table."""

    def __init__(self, journal: Journal, table: str) -> None:
        self._journal, self._table = journal, table
        self._id, self._state = "", Tournament()

    def called(self) -> tuple[str, ...]:
        """The players who are called to this table and have not begun; () for nobody."""
        self._read()
        game = self._state.at_table(self._table)
        if game is None or game.phase != "called":
            return ()
        names = tuple(self._state.entrants[n].name for n in self._state.sitting(game))
        wanted = sorted(map(comparable_name, names))
        later = (self._journal.first(match_id) for match_id in self._journal.matches(self._table)[game.after :])
        begun = any(sorted(map(comparable_name, event.data.get("players", ()))) == wanted for event in later)
        return () if begun else names

    def over(self) -> bool:
        """Whether the tournament has ended."""
        self._read()
        return self._state.phase == "finished"

    def _read(self) -> None:
        known = self._journal.matches(RECORD)
        if known and known[-1] != self._id:
            self._id, self._state = known[-1], Tournament()
        if self._id and self._journal.head(self._id)[0] > self._state.seq:
            self._state = core.fold(evolve, self._state, self._journal.events(self._id)[self._state.seq :])


class TableService(Background):
    """What a table's program does for the hall, on a thread of its own: says that it lives, begins what is called."""

    def __init__(self, seats: Seats, table: str, presence: Presence, games: CalledGames | None) -> None:
        super().__init__("hall")
        self._seats, self._table, self._presence, self._games = seats, table, presence, games
        self._beat = 0
        self._over_since_s: float | None = None
        self.address = ""
        self.alarms: Callable[[], Sequence[dict]] = tuple
        self.simulated = False
        self.patience_s = FINISHED_SHOWN_S

    def tell(self) -> None:
        """Say that the table lives."""
        self._beat += 1
        owner = f"{socket.gethostname()}:{os.getpid()}"
        told = TableHeartbeat(self._beat, self.address, tuple(self.alarms()), owner, self.simulated)
        self._presence.tell(self._table, told)

    def begin_called(self) -> None:
        """Begin the match that is called here, if the table is free."""
        if self._games is None or not self._free():
            return
        if names := self._games.called():
            self._seats.create_match(names)

    def _free(self) -> bool:
        """Whether no match is played, and the last one has been over for long enough."""
        phase, now_s = self._seats.state.phase, time.monotonic()
        if phase != "finished":
            self._over_since_s = None
            return phase == "new"
        if self._over_since_s is None:
            self._over_since_s = now_s
        return now_s - self._over_since_s >= self.patience_s

    def _run(self) -> None:
        looks = 0
        while not self._closing.is_set():
            try:
                if looks % BEAT_EVERY == 0:
                    self.tell()
                with suppress(IllegalCommand):  # somebody at the table was faster
                    self.begin_called()
                self._seats.alarm("hall", None)
            except RefereeError as error:
                self._seats.alarm("hall", sentence("hall_lost", fault=error.wording))
            looks += 1
            self._closing.wait(POLL_S)
        with suppress(RefereeError):
            self._presence.leave(self._table)
