"""The record: append-only events, each chained to the one before, in SQLite or PostgreSQL.

The law: what ``append`` has returned is on disk (SQLite: WAL, synchronous=FULL, one transaction
per command, and the WAL is copied into the file at once, so that a damaged WAL loses nothing).
Nothing is ever updated or deleted but the ``heads`` row that names each match's last event, which
is how a missing tail is noticed.
Lines and chain are made in ``referee.journal.chain``, the databases set up in ``referee.journal.database``.
"""

import hashlib
import os
import re
import socket
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import sqlalchemy as sa

from cards.sentences import sentence
from referee.errors import JournalDamaged, JournalUnwritable, RefereeError
from referee.events import Event
from referee.files import sync
from referee.journal import database
from referee.journal.chain import GENESIS, LINE_START, Entry, canonical, check_chain, lines_of, parse_line
from referee.journal.lines import LineCopy

_META = sa.MetaData()
EVENTS = sa.Table(
    "events",
    _META,
    sa.Column("match_id", sa.String(100), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("line", sa.Text, nullable=False),
)
HEADS = sa.Table(
    "heads",
    _META,
    sa.Column("match_id", sa.String(100), primary_key=True),
    sa.Column("seq", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
MATCHES = sa.Table(
    "matches",
    _META,
    sa.Column("number", sa.Integer, primary_key=True),  # the order of their beginning, whatever the clock said
    sa.Column("match_id", sa.String(100), nullable=False, unique=True),
    sa.Column("table_name", sa.String(100), nullable=False),
    sa.Column("owner", sa.String(200), nullable=False),
    sa.Column("proof", sa.String(64), nullable=False),
)
NEEDED = frozenset({"events", "heads"})
"""Tables without which events cannot be there; the others can be made anew from them."""

OLD_ID = re.compile(r"(?:(.*)-)?\d{8}-\d{6}-\d+")
"""A match's id as sessions make it: the table's name, when it began by the clock, a running number."""


class Journal:
    """The store of many matches. Thread-safe; one connection.

    Raises JournalDamaged or JournalUnwritable when it cannot be opened.
    """

    def __init__(
        self,
        url_or_path: str | Path,
        hold: str | None = None,
        copy: LineCopy | None = None,
        reading: bool = False,
        later: bool = False,
    ) -> None:
        """With ``hold``, that table of a server's store is this program's alone while the journal is open.

        ``copy`` gets every line after the store has it; ``problem`` says when it did not. For ``reading`` an existing
        store is left as it is, also one that older versions have written: what it lacks is worked out, not added.
        With ``later`` it is opened at its first use, and tried again at the next.
        """
        self.problem: str | None = None
        self._copy, self._missed = copy, False
        self.url = database.url_of(url_or_path)
        self.name = self.url.database if self.url.drivername == "sqlite" else self.url.render_as_string()
        self._lock = threading.RLock()
        self._reads, self._lacks = reading, frozenset[str]()
        name = str(self.name)
        self._engine = database.reading_engine(self.url, name) if reading else database.engine(self.url, name, hold)
        self._prepared = False
        try:
            if not later:
                self._guarded("opened")
        except RefereeError:
            self._engine.dispose()
            raise

    def _prepare(self) -> None:
        """Make the tables of a new store. A file that holds events but no tables is not a new one."""
        missing = set(_META.tables) - set(sa.inspect(self._engine).get_table_names())
        file = Path(self.url.database or "")
        is_file = self.url.drivername == "sqlite"
        if missing & NEEDED and is_file and file.is_file() and LINE_START in file.read_bytes():
            raise JournalDamaged(f"{self.name}: the table {min(missing & NEEDED)} is gone though there are events")
        if self._reads:
            if missing & NEEDED:
                raise JournalDamaged(f"{self.name}: no journal: it has no table {min(missing & NEEDED)}")
            self._lacks = frozenset(missing)
            return
        if not missing:
            with self._reading() as connection:
                if not _unlisted(connection):
                    return
        with self._writing() as connection:
            database.exclusive_transaction(connection)  # other tables may start at this moment: look again
            _META.create_all(connection)
            for match_id in _unlisted(connection):  # in a store without the table ``matches``: by what their ids say
                _register(connection, match_id, _table_in(match_id))
        if missing and is_file:
            sync(file.absolute().parent)  # the name of a new file reaches the disk too

    def append(self, match_id: str, events: Sequence[Event], after: int | None = None, table: str = "") -> list[int]:
        """Store the events of one command: all or none. They are durable when this returns.

        Gives their numbers in the match, from 1. With ``after``, the match must stand at that
        number. ``table`` is whose match it is, said with its first events.
        Raises JournalUnwritable (disk full, no server, another writer was first): then
        nothing was stored.
        """
        with self._lock, self._guarded("written"), self._writing() as connection:
            seq, prev = self._head(connection, match_id, lock=True)
            if after is not None and after != seq:
                raise JournalUnwritable(sentence("journal_count", name=self.name, match=match_id, n=seq, m=after))
            lines = lines_of(match_id, events, (seq, prev))
            rows = [{"match_id": match_id, "seq": n, "line": line} for n, line in enumerate(lines, seq + 1)]
            if rows:
                if not seq:
                    _register(connection, match_id, table)
                connection.execute(sa.insert(EVENTS), rows)
                head = {"seq": seq + len(lines), "hash": parse_line(lines[-1]).hash}
                changed = sa.update(HEADS).where(HEADS.c.match_id == match_id) if seq else sa.insert(HEADS)
                connection.execute(changed.values(**head if seq else head | {"match_id": match_id}))
        self._copied(lines)
        return list(range(seq + 1, seq + 1 + len(lines)))

    def _copied(self, lines: list[str]) -> None:
        """The store has these lines: what comes of the copy takes nothing back. What it missed it gets next time."""
        if self._copy is None or not lines:
            return
        with self._lock:
            try:
                if self._missed or self._copy.gone():
                    for match_id in self.matches():  # the store holds them also when its file was removed
                        self._copy.catch_up(self.entries(match_id))
                else:
                    self._copy.append(lines)
                self._missed, self.problem = False, self._removed()
            except (OSError, RefereeError) as error:
                why = getattr(error, "strerror", None) or error
                self._missed, self.problem = True, sentence("journal_copy", fault=str(why))

    def _removed(self) -> str | None:
        """Whether the store's file is no longer where it was: what is written to it goes when the program ends."""
        if self.url.drivername != "sqlite" or not self.url.database or os.path.exists(self.url.database):
            return None
        return sentence("journal_removed", name=self.name)

    def _writing(self) -> AbstractContextManager[sa.Connection]:
        """One transaction that keeps other writers out from its start."""
        return self._engine.execution_options(writes=True).begin()

    def _reading(self) -> AbstractContextManager[sa.Connection]:
        """A connection that sees one moment of the store, whatever others write meanwhile."""
        if self.url.drivername == "sqlite":
            return self._engine.connect()
        return self._engine.execution_options(isolation_level="REPEATABLE READ").connect()

    def _head(self, connection: sa.Connection, match_id: str, lock: bool = False) -> tuple[int, str]:
        query = sa.select(HEADS.c.seq, HEADS.c.hash).where(HEADS.c.match_id == match_id)
        row = connection.execute(query.with_for_update() if lock else query).first()
        return (row.seq, row.hash) if row else (0, GENESIS)

    def events(self, match_id: str) -> list[Event]:
        """All events of the match in order; empty for an unknown one. Raises JournalDamaged."""
        return [entry.event for entry in self.entries(match_id)]

    def entries(self, match_id: str) -> list[Entry]:
        """The events with number and hash, the whole chain checked. Raises JournalDamaged."""
        with self._lock, self._guarded("read"), self._reading() as connection:
            rows, head = _lines(connection, match_id), self._head(connection, match_id)
        found = self._checked(match_id, rows)
        if head != ((found[-1].seq, found[-1].hash) if found else (0, GENESIS)):
            raise JournalDamaged(
                f"{self.name}: match {match_id}: event {len(found) + 1} is missing: {head[0]} were recorded"
            )
        return found

    def _checked(self, match_id: str, rows: list[tuple[int, str]], head: tuple[int, str] = (0, GENESIS)) -> list[Entry]:
        try:
            return list(check_chain(match_id, rows, head))
        except JournalDamaged as error:
            raise JournalDamaged(f"{self.name}: {error}") from None

    def since(self, match_id: str, head: tuple[int, str]) -> list[Entry]:
        """The events behind that head (number and hash), proven to follow it. Raises JournalDamaged."""
        with self._lock, self._guarded("read"), self._reading() as connection:
            rows = _lines(connection, match_id, EVENTS.c.seq > head[0])
        return self._checked(match_id, rows, head)

    def first(self, match_id: str) -> Event:
        """A match's first event alone: what was begun. Raises JournalDamaged."""
        with self._lock, self._guarded("read"), self._reading() as connection:
            rows = _lines(connection, match_id, EVENTS.c.seq == 1)
        if not rows:
            raise JournalDamaged(f"{self.name}: match {match_id}: event 1 is missing")
        return self._checked(match_id, rows)[0].event

    def heads(self) -> dict[str, tuple[int, str]]:
        """Number and hash of every match's last event."""
        with self._lock, self._guarded("read"), self._reading() as connection:
            return {row.match_id: (row.seq, row.hash) for row in connection.execute(sa.select(HEADS))}

    def table_of(self) -> dict[str, str]:
        """Match -> its table, in the order in which they were begun. Raises JournalDamaged."""
        self.matches()  # proves the list
        with self._lock, self._guarded("read"), self._reading() as connection:
            begun = [] if MATCHES.name in self._lacks else list(connection.execute(_BEGUN))
        return {row.match_id: row.table_name for row in begun}

    def head(self, match_id: str) -> tuple[int, str]:
        """Number and hash of the match's last event; (0, zeros) for an unknown one."""
        with self._lock, self._guarded("read"), self._reading() as connection:
            return self._head(connection, match_id)

    def matches(self, table: str | None = None) -> list[str]:
        """Ids of all matches, or of this table's, in the order in which they were begun. Raises JournalDamaged."""
        both = sa.union(sa.select(EVENTS.c.match_id), sa.select(HEADS.c.match_id))
        with self._lock, self._guarded("read"), self._reading() as connection:
            begun = [] if MATCHES.name in self._lacks else list(connection.execute(_BEGUN))
            every = {row[0] for row in connection.execute(both)}
            unlisted = _unlisted(connection, MATCHES.name in self._lacks) if self._reads else []
        named = [(row.match_id, row.table_name) for row in begun] + [(m, _table_in(m)) for m in unlisted]
        if any(row.proof != _proof(row.match_id, row.table_name, row.owner) for row in begun) or every != {
            match_id for match_id, _ in named
        }:
            raise JournalDamaged(f"{self.name}: the list of matches is not what was recorded")
        return [match_id for match_id, at in named if table in (None, at)]

    def verify(self) -> dict[str, int]:
        """Check everything; gives match -> number of events. Raises JournalDamaged naming the first fault."""
        if self.url.drivername == "sqlite":
            with self._lock, self._guarded("read"), self._reading() as connection:
                said = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
            if said != "ok":
                raise JournalDamaged(f"{self.name}: {' '.join(str(said).split())}")
        return {match_id: len(self.entries(match_id)) for match_id in self.matches()}

    def _guarded(self, done: str) -> AbstractContextManager[None]:
        """Faults as ours, once the store is open."""
        if not self._prepared:
            with database.database_faults(str(self.name), "opened"):
                self._prepare()
            self._prepared = True
        return database.database_faults(str(self.name), done)

    def close(self) -> None:
        """Give the file or the connection back."""
        with self._lock:
            self._engine.dispose()


def _lines(connection: sa.Connection, match_id: str, *which: sa.ColumnElement[bool]) -> list[tuple[int, str]]:
    """Number and line of a match's events, in their order; of ``which`` alone."""
    query = sa.select(EVENTS.c.seq, EVENTS.c.line).where(EVENTS.c.match_id == match_id, *which).order_by(EVENTS.c.seq)
    return [(row.seq, row.line) for row in connection.execute(query)]


_BEGUN = sa.select(MATCHES).order_by(MATCHES.c.number)


def _unlisted(connection: sa.Connection, every: bool = False) -> list[str]:
    """Matches that the table ``matches`` does not know, in the order of what their ids say; all where there is none."""
    listed = sa.exists().where(MATCHES.c.match_id == HEADS.c.match_id)
    query = sa.select(HEADS.c.match_id) if every else sa.select(HEADS.c.match_id).where(~listed)
    found = connection.execute(query)  # at once: others begin matches meanwhile
    return sorted((row[0] for row in found), key=_when)


def _table_in(match_id: str) -> str:
    """The table that an id names."""
    said = OLD_ID.fullmatch(match_id)
    return (said and said[1]) or ""


def _register(connection: sa.Connection, match_id: str, table: str) -> None:
    """Write down that this match begins now, at which table and by which program."""
    owner = f"{socket.gethostname()}:{os.getpid()}"
    row = {"match_id": match_id, "table_name": table, "owner": owner, "proof": _proof(match_id, table, owner)}
    connection.execute(sa.insert(MATCHES), row)


def _proof(match_id: str, table: str, owner: str) -> str:
    return hashlib.sha256(canonical([match_id, table, owner]).encode()).hexdigest()


def _when(match_id: str) -> str:
    """What an id says of when its match began, for the order of those that came without one."""
    said = OLD_ID.fullmatch(match_id)
    return match_id.removeprefix(f"{said[1]}-") if said and said[1] else match_id
