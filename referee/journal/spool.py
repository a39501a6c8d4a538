"""A record on a server that may be slow, hang or be gone: nobody waits for it and nothing is lost meanwhile.

An event is kept when it is on this machine's disk, in the copy of ``referee.journal.lines``; ``append`` returns then.
A thread hands the events on to the server, in order, as soon as it takes them; each says itself when it happened. What
a run before could not hand on comes first.
"""

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cards.sentences import Sentence, sentence
from referee.errors import JournalDamaged, JournalUnwritable, RefereeError
from referee.events import Event
from referee.journal.chain import GENESIS, Entry, lines_of, longest_chains, parse_line
from referee.journal.journal import Journal
from referee.journal.lines import LineCopy

LOSS = "; nothing was recorded"
"""How a plain fault of a store ends."""

SERVER_WAIT_S = 0.25
"""How long a command waits for a server that has answered so far; then it goes on without."""

LATE_S = 2.0
"""Events that have waited for longer are told of."""

RETRY_S = 1.0
"""How long the thread waits before it tries again."""

CLOSING_WAIT_S = 3.0
"""How long a closing program waits for the server; what is left is handed on by the next run."""


@dataclass(frozen=True)
class _Batch:
    """The events of one command."""

    match_id: str
    entries: tuple[Entry, ...]
    since_s: float

    def old(self) -> bool:
        """Whether it has waited for long."""
        return time.monotonic() - self.since_s > LATE_S


Entries = dict[str, list[Entry]]
"""Match -> its events."""


class SpooledJournal:
    """A server's ``Journal`` for one table, as a session uses it. ``close`` it; the server's journal goes with it.

    Where the server cannot be reached at the start, this machine's copy is what is known until it can. ``shared``:
    other programs write too; what they were faster with stands, and what was kept here of that match is ``lost``.

    Raises JournalDamaged when this machine's copy and the server contradict each other, JournalUnwritable when there is
    neither.
    """

    def __init__(self, store: Journal, copy: LineCopy, table: str, shared: bool = False) -> None:
        self.url, self.name = store.url, store.name
        self._store, self._copy, self._table, self._shared = store, copy, table, shared
        self._lock = threading.Condition()
        self._waiting: deque[_Batch] = deque()
        self._closing, self._caught_up = False, False
        self._fault: str | None = None
        self._entries = self._copied()
        self._lost: list[Event] = []
        try:
            self._catch_up()
        except RefereeError as error:
            if not isinstance(error, JournalUnwritable) or not self._entries:
                store.close()
                raise
            self._fault = _without_loss(str(self.name), error)
        self._thread = threading.Thread(target=self._run, name="record to server", daemon=True)
        self._thread.start()

    @property
    def problem(self) -> str | None:
        """Why the server does not take events now, and how many wait for it; None when all is well."""
        with self._lock:
            waiting = sum(len(batch.entries) for batch in self._waiting)
            hangs = sentence("journal_silent", name=self.name) if self._waiting and self._waiting[0].old() else None
            fault = self._fault or hangs
            return sentence("journal_waits", fault=fault, n=waiting) if fault else None

    def append(self, match_id: str, events: Sequence[Event], after: int | None = None, table: str = "") -> list[int]:
        """Keep the events of one command: all or none. They are on this machine's disk when this returns.

        Raises JournalUnwritable when that cannot be, or another program was faster; then nothing was kept.
        """
        with self._lock:
            known = self._entries.get(match_id, [])
            seq, prev = (known[-1].seq, known[-1].hash) if known else (0, GENESIS)
            if after is not None and after != seq:
                raise self._miscounted(match_id, seq, after)
            lines = lines_of(match_id, events, (seq, prev))
            try:
                self._copy.append(lines)
            except OSError as error:
                said = sentence("journal_unwritten", name=str(self._copy.path), fault=str(error.strerror))
                raise JournalUnwritable(said) from None
            batch = self._hand_on(match_id, tuple(parse_line(line) for line in lines))
            if not self._fault and self._waiting[0] is batch:  # else it has not answered for the one before either
                self._lock.wait_for(lambda: not self._waiting or self._fault, SERVER_WAIT_S)
            if events and events[0] in self._lost:
                self._lost = [event for event in self._lost if event not in events]
                raise self._miscounted(match_id, len(self._entries[match_id]), seq)
            return list(range(seq + 1, seq + 1 + len(lines)))

    def _miscounted(self, match_id: str, n: int, m: int) -> JournalUnwritable:
        return JournalUnwritable(sentence("journal_count", name=self.name, match=match_id, n=n, m=m))

    def _hand_on(self, match_id: str, entries: tuple[Entry, ...]) -> _Batch:
        self._entries[match_id] = [*self._entries.get(match_id, []), *entries]
        batch = _Batch(match_id, entries, time.monotonic())
        self._waiting.append(batch)
        self._lock.notify_all()
        return batch

    def matches(self, table: str | None = None) -> list[str]:
        """Ids of this table's matches, oldest first."""
        with self._lock:
            return list(self._entries)

    def entries(self, match_id: str) -> list[Entry]:
        """The events of one of this table's matches with number and hash."""
        with self._lock:
            return list(self._entries.get(match_id, ()))

    def events(self, match_id: str) -> list[Event]:
        """The events of one of this table's matches; empty for an unknown one."""
        return [entry.event for entry in self.entries(match_id)]

    def take_in(self, match_id: str, entries: Sequence[Entry]) -> None:
        """What another program has written of a match, as the server has it."""
        with self._lock:
            if self._caught_up and all(batch.match_id != match_id for batch in self._waiting):
                self._entries[match_id] = list(entries)
                self._copy.catch_up(entries)

    def lost(self) -> tuple[list[Event], bool]:
        """Events that were kept here while others wrote to the server, told once; and whether it has all others."""
        with self._lock:
            told, self._lost = self._lost, []
            return told, not self._waiting and self._caught_up

    def close(self) -> None:
        """Give the server what it takes within CLOSING_WAIT_S, and let it go."""
        with self._lock:
            self._lock.wait_for(lambda: not self._waiting or self._fault, CLOSING_WAIT_S)
            self._closing = True
            self._lock.notify_all()
        self._thread.join(CLOSING_WAIT_S)
        if not self._thread.is_alive():  # else it hangs in the server, and holds the connection
            self._store.close()

    def _copied(self) -> Entries:
        """What this machine holds, each match as far as its chain goes."""
        chains, _ = longest_chains(self._copy.entries())
        return {match_id: chain for match_id, chain in chains.items() if chain}

    def _catch_up(self) -> None:
        """What this machine holds and the server does not goes to the server; and the other way round."""
        if not self._caught_up:
            self._store.verify()
        there = {match_id: self._store.entries(match_id) for match_id in self._store.matches(self._table)}
        with self._lock:
            here, self._entries, self._waiting = self._entries, there, deque()
            for match_id, kept in here.items():
                stored = there.get(match_id, [])
                hashes = {entry.hash for entry in stored}
                if more := tuple(entry for entry in kept if entry.hash not in hashes):
                    head = stored[-1].hash if stored else GENESIS
                    if more[0].prev == head:
                        self._hand_on(match_id, more)
                    elif not self._shared:
                        self._entries = here
                        raise JournalDamaged(f"{self._copy.path} and {self.name} tell match {match_id} in two ways")
                    else:
                        self._lost += [entry.event for entry in more]
            for entries in self._entries.values():
                self._copy.catch_up(entries)
            self._caught_up = True

    def _run(self) -> None:
        while (batch := self._next()) is not False:
            fault = self._deliver(batch)
            with self._lock:
                self._fault = fault
                if fault is None and batch is not None and self._waiting and self._waiting[0] is batch:
                    self._waiting.popleft()
                self._lock.notify_all()
                if fault is not None:
                    self._lock.wait_for(lambda: self._closing, RETRY_S)

    def _next(self) -> _Batch | Literal[False] | None:
        """The batch that is due, None where the server is to be reached first, False at the end."""
        with self._lock:
            self._lock.wait_for(lambda: self._waiting or self._closing or not self._caught_up)
            if self._closing:
                return False
            return self._waiting[0] if self._caught_up else None

    def _deliver(self, batch: _Batch | None) -> str | None:
        """Why the server did not take the batch, None when it has it. It may have had it all along."""
        try:
            if batch is None:
                self._catch_up()
                return None
            first, last = batch.entries[0], batch.entries[-1]
            head = self._store.head(batch.match_id)
            if head == (last.seq, last.hash):
                return None  # the answer was lost, not the events
            if self._shared and head != (first.seq - 1, first.prev):
                self._catch_up()  # another program was faster
                return None
            self._store.append(batch.match_id, [e.event for e in batch.entries], first.seq - 1, self._table)
        except (RefereeError, OSError) as error:
            return _without_loss(str(self.name), error)
        return None


def _without_loss(name: str, error: RefereeError | OSError) -> str:
    """Why a server does not take events: what the store's fault says of their loss is not so, they wait here."""
    said = getattr(error, "wording", None)
    fault = said.values.get("fault") if isinstance(said, Sentence) else None
    return sentence("journal_unreached", name=name, fault=fault) if fault else str(error).removesuffix(LOSS)


Record = Journal | SpooledJournal
"""Where a program keeps its events: in the store, or by a spool in a server's."""
