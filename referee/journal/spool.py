"""A record on a server that may be slow, hang or be gone: nobody waits for it and nothing is lost meanwhile.

An event is kept when it is on this machine's disk, in the copy of ``referee.journal.lines``; ``append`` returns then.
A thread hands the events on to the server, in order, as soon as it takes them; those that come late are marked with
when they came (``late``), and each says itself when it happened. What a run before could not hand on comes first.
"""

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from cards.sentences import Sentence, sentence
from referee.errors import JournalDamaged, JournalUnwritable, RefereeError
from referee.events import Event
from referee.journal.chain import GENESIS, Entry, line_of, parse_line
from referee.journal.journal import Journal
from referee.journal.lines import LineCopy

LOSS = "; nothing was recorded"
"""How a plain fault of a store ends."""

SERVER_WAIT_S = 0.25
"""How long a command waits for a server that has answered so far; then it goes on without."""

LATE_S = 2.0
"""Events that have waited for longer are told of, and marked."""

RETRY_S = 1.0
"""How long the thread waits before it tries again."""

CLOSING_WAIT_S = 3.0
"""How long a closing program waits for the server; what is left is handed on by the next run."""


@dataclass(frozen=True)
class _Batch:
    """The events of one command."""

    match_id: str
    entries: tuple[Entry, ...]
    table: str
    late: bool
    since_s: float

    def old(self) -> bool:
        """Whether it has waited for long."""
        return time.monotonic() - self.since_s > LATE_S


class SpooledJournal:
    """A server's ``Journal`` for one table, as a session uses it. ``close`` it; the server's journal goes with it.

    Raises JournalDamaged when this machine's copy and the server contradict each other.
    """

    def __init__(self, store: Journal, copy: LineCopy, table: str) -> None:
        self.url, self.name = store.url, store.name
        self._store, self._copy, self._table = store, copy, table
        self._lock = threading.Condition()
        self._waiting: deque[_Batch] = deque()
        self._closing = False
        self._fault: str | None = None
        self._entries = {match_id: store.entries(match_id) for match_id in store.matches(table)}
        with self._lock:
            self._take_up()
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

        Raises JournalUnwritable when that cannot be; then nothing was kept.
        """
        with self._lock:
            known = self._entries.get(match_id, [])
            seq, prev = (known[-1].seq, known[-1].hash) if known else (0, GENESIS)
            if after is not None and after != seq:
                raise JournalUnwritable(sentence("journal_count", name=self.name, match=match_id, n=seq, m=after))
            lines = []
            for number, event in enumerate(events, seq + 1):
                line, prev = line_of(match_id, number, event, prev)
                lines.append(line)
            try:
                self._copy.append(lines)
            except OSError as error:
                said = sentence("journal_unwritten", name=str(self._copy.path), fault=str(error.strerror))
                raise JournalUnwritable(said) from None
            self._hand_on(match_id, tuple(parse_line(line) for line in lines))
            if not self._fault and not self._waiting[0].old():
                self._lock.wait_for(lambda: not self._waiting or self._fault, SERVER_WAIT_S)
            return list(range(seq + 1, seq + 1 + len(lines)))

    def _hand_on(self, match_id: str, entries: tuple[Entry, ...], late: bool = False) -> None:
        self._entries[match_id] = [*self._entries.get(match_id, []), *entries]
        self._waiting.append(_Batch(match_id, entries, self._table, late or self._fault is not None, time.monotonic()))
        self._lock.notify_all()

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

    def close(self) -> None:
        """Give the server what it takes within CLOSING_S, and let it go."""
        with self._lock:
            self._lock.wait_for(lambda: not self._waiting or self._fault, CLOSING_WAIT_S)
            self._closing = True
            self._lock.notify_all()
        self._thread.join(CLOSING_WAIT_S)
        if not self._thread.is_alive():  # else it hangs in the server, and holds the connection
            self._store.close()

    def _take_up(self) -> None:
        """What this machine holds and the server does not goes to the server; and the other way round."""
        here: dict[str, list[Entry]] = {}
        for entry in self._copy.entries():
            here.setdefault(entry.match_id, []).append(entry)
        for match_id, kept in here.items():
            there = self._entries.get(match_id, [])
            hashes = {entry.hash for entry in there}
            more = tuple(sorted((e for e in kept if e.hash not in hashes), key=lambda e: e.seq))
            if not more:
                continue
            head = there[-1].hash if there else GENESIS
            if [e.prev for e in more] != [head, *(e.hash for e in more[:-1])]:
                raise JournalDamaged(f"{self._copy.path} and {self.name} tell match {match_id} in two ways")
            self._hand_on(match_id, more, late=True)
        for entries in self._entries.values():
            self._copy.catch_up((e, line_of(e.match_id, e.seq, e.event, e.prev)[0]) for e in entries)

    def _run(self) -> None:
        while (batch := self._next()) is not None:
            fault = self._deliver(batch)
            with self._lock:
                self._fault = fault
                if fault is None:
                    self._waiting.popleft()
                self._lock.notify_all()
                if fault is not None:
                    self._lock.wait_for(lambda: self._closing, RETRY_S)

    def _next(self) -> _Batch | None:
        with self._lock:
            self._lock.wait_for(lambda: self._waiting or self._closing)
            return self._waiting[0] if self._waiting and not self._closing else None

    def _deliver(self, batch: _Batch) -> str | None:
        """Why the server did not take the batch, None when it has it. It may have had it all along."""
        first, events = batch.entries[0].seq, [entry.event for entry in batch.entries]
        try:
            if self._store.head(batch.match_id) == (batch.entries[-1].seq, batch.entries[-1].hash):
                return None  # the answer was lost, not the events
            late = batch.late or self._fault is not None or batch.old()
            self._store.append(batch.match_id, events, first - 1, batch.table, late)
        except RefereeError as error:
            return _without_loss(str(self.name), error)
        return None


def _without_loss(name: str, error: RefereeError) -> str:
    """Why a server does not take events: what the store's fault says of their loss is not so, they wait here."""
    said = error.wording
    fault = said.values.get("fault") if isinstance(said, Sentence) else None
    return sentence("journal_unreached", name=name, fault=fault) if fault else str(error).removesuffix(LOSS)
