"""The record: append-only events, each chained to the one before, in SQLite or PostgreSQL.

The law: what ``append`` has returned is on disk (SQLite: WAL, synchronous=FULL, one transaction
per command, and the WAL is copied into the file at once, so that a damaged WAL loses nothing).
Nothing is ever updated or deleted but the ``heads`` row that names each match's last event, which
is how a missing tail is noticed. One line holds one event, in canonical JSON:

    {"hash": SHA-256 of the rest, "prev": hash of the event before, "match": id, "seq": 1…, "event": …}

so every line proves itself, wherever it is found: ``referee.salvage`` reads them out of a broken
file. The chain finds accidents and edits; who can rewrite a whole file can rewrite the chain
too, which is why score sheets print the last hash.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from referee.duel import Event, event_from_json
from referee.errors import JournalDamaged, JournalUnwritable

GENESIS = "0" * 64
"""The ``prev`` of a match's first event."""

PAGE_BYTES = 16384
"""SQLite page: one event's line fits into one, so that it stays in one piece in the file."""

LINE_START = b'{"hash":"'
"""How every line begins: the mark by which events are found in raw bytes."""

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


@dataclass(frozen=True)
class Entry:
    """One stored event with its place in the chain."""

    match_id: str
    seq: int
    event: Event
    prev: str
    hash: str


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text. Raises ValueError on NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def line_of(match_id: str, seq: int, event: Event, prev: str) -> tuple[str, str]:
    """The event's line and its hash. Raises JournalUnwritable for what cannot be written as JSON text."""
    try:
        body = canonical({"event": event.to_json(), "match": match_id, "prev": prev, "seq": seq})
        digest = hashlib.sha256(body.encode()).hexdigest()
    except (ValueError, TypeError) as error:  # not a number, no Unicode, no JSON type
        raise JournalUnwritable(f"{event.kind} cannot be recorded: {error}; nothing was recorded") from None
    return f'{{"hash":"{digest}",{body[1:]}', digest


def parse_line(line: str) -> Entry:
    """The inverse of ``line_of``. Raises ValueError when the line does not prove itself."""
    digest = line[9:73]
    body = "{" + line[75:]
    if line[:9] != '{"hash":"' or hashlib.sha256(body.encode()).hexdigest() != digest:
        raise ValueError("its checksum is wrong")
    row = json.loads(body)
    return Entry(row["match"], row["seq"], event_from_json(row["event"]), row["prev"], digest)


def check_chain(match_id: str, rows: Iterable[tuple[int, str]]) -> Iterator[Entry]:
    """Entries of one match, each proven and linked to the one before.

    Raises JournalDamaged at the first fault.
    """
    prev, expected = GENESIS, 1
    for seq, line in rows:
        here = f"match {match_id}: event {seq}"
        if seq != expected:
            raise JournalDamaged(f"match {match_id}: event {expected} is missing")
        try:
            entry = parse_line(line)
        except (ValueError, KeyError, TypeError) as error:
            raise JournalDamaged(f"{here} is damaged: {error}") from None
        if (entry.match_id, entry.seq) != (match_id, seq):
            raise JournalDamaged(f"{here} belongs to match {entry.match_id}, {entry.seq}")
        if entry.prev != prev:
            raise JournalDamaged(f"{here} does not follow event {seq - 1}: one was changed")
        yield entry
        prev, expected = entry.hash, seq + 1


def url_of(url_or_path: str | Path) -> sa.URL:
    """An SQLAlchemy URL from a URL or a file's path. Plain ``postgresql://`` means psycopg 3."""
    text = str(url_or_path)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    url = sa.make_url(text)
    return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgresql", "postgres") else url


class Journal:
    """The store of many matches. Thread-safe; one connection.

    Raises JournalDamaged or JournalUnwritable when it cannot be opened.
    """

    def __init__(self, url_or_path: str | Path) -> None:
        self.url = url_of(url_or_path)
        self.name = self.url.database if self.url.drivername == "sqlite" else self.url.render_as_string()
        self._lock = threading.RLock()
        self._engine = sa.create_engine(self.url, **_engine_options(self.url))
        if self.url.drivername == "sqlite":
            sa.event.listen(self._engine, "connect", _careful_sqlite)
            sa.event.listen(self._engine, "begin", _begin_sqlite)
        try:
            with self._guarded("opened"):
                self._prepare()
        except (JournalDamaged, JournalUnwritable):
            self._engine.dispose()
            raise

    def _prepare(self) -> None:
        """Make the tables of a new store. A file that holds events but no tables is not a new one."""
        missing = {t.name for t in (EVENTS, HEADS)} - set(sa.inspect(self._engine).get_table_names())
        if missing and self.url.drivername == "sqlite" and LINE_START in _bytes_of(self.url.database):
            raise JournalDamaged(f"{self.name}: the table {min(missing)} is gone though there are events")
        if missing:
            with self._writing() as connection:
                _META.create_all(connection)
            _sync_folder(self.url)

    def append(self, match_id: str, events: Sequence[Event], after: int | None = None) -> list[int]:
        """Store the events of one command: all or none. They are durable when this returns.

        Gives their numbers in the match, from 1. With ``after``, the match must stand at that
        number. Raises JournalUnwritable (disk full, no server, another writer was first): then
        nothing was stored.
        """
        with self._lock, self._guarded("written"), self._writing() as connection:
            seq, prev = self._head(connection, match_id, lock=True)
            if after is not None and after != seq:
                raise JournalUnwritable(
                    f"{self.name}: match {match_id} has {seq} events, not {after}: another program writes to it"
                )
            rows, head = _chained(match_id, seq, prev, events)
            if rows:
                connection.execute(sa.insert(EVENTS), rows)
                self._set_head(connection, match_id, seq, head)
            return [row["seq"] for row in rows]

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

    def _set_head(self, connection: sa.Connection, match_id: str, was: int, head: Mapping) -> None:
        if was:
            connection.execute(sa.update(HEADS).where(HEADS.c.match_id == match_id).values(**head))
        else:
            connection.execute(sa.insert(HEADS).values(match_id=match_id, **head))

    def events(self, match_id: str) -> list[Event]:
        """All events of the match in order; empty for an unknown one. Raises JournalDamaged."""
        return [entry.event for entry in self.entries(match_id)]

    def entries(self, match_id: str) -> list[Entry]:
        """The events with number and hash, the whole chain checked. Raises JournalDamaged."""
        here = EVENTS.c.match_id == match_id
        query = sa.select(EVENTS.c.seq, EVENTS.c.line).where(here).order_by(EVENTS.c.seq)
        with self._lock, self._guarded("read"), self._reading() as connection:
            rows = [tuple(row) for row in connection.execute(query)]
            head = self._head(connection, match_id)
        found = list(self._named(check_chain(match_id, rows)))
        if head != ((found[-1].seq, found[-1].hash) if found else (0, GENESIS)):
            raise JournalDamaged(
                f"{self.name}: match {match_id}: event {len(found) + 1} is missing: {head[0]} were recorded"
            )
        return found

    def _named(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        try:
            yield from entries
        except JournalDamaged as error:
            raise JournalDamaged(f"{self.name}: {error}") from None

    def head(self, match_id: str) -> tuple[int, str]:
        """Number and hash of the match's last event; (0, zeros) for an unknown one."""
        with self._lock, self._guarded("read"), self._reading() as connection:
            return self._head(connection, match_id)

    def matches(self) -> list[str]:
        """Ids of all matches, in the order of their ids."""
        both = sa.union(sa.select(EVENTS.c.match_id), sa.select(HEADS.c.match_id)).order_by("match_id")
        with self._lock, self._guarded("read"), self._reading() as connection:
            return [row[0] for row in connection.execute(both)]

    def verify(self) -> dict[str, int]:
        """Check everything; gives match -> number of events. Raises JournalDamaged naming the first fault."""
        if self.url.drivername == "sqlite":
            self._check_file()
        return {match_id: len(self.entries(match_id)) for match_id in self.matches()}

    def _check_file(self) -> None:
        with self._lock, self._guarded("read"), self._reading() as connection:
            said = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        if said != "ok":
            raise JournalDamaged(f"{self.name}: {' '.join(str(said).split())}")

    @contextmanager
    def _guarded(self, done: str) -> Iterator[None]:
        """Database faults as ours: broken files are JournalDamaged, all else is JournalUnwritable."""
        try:
            yield
        except sa.exc.IntegrityError:
            raise JournalUnwritable(
                f"{self.name}: another program has written to this match; nothing was recorded"
            ) from None
        except sa.exc.DBAPIError as error:
            cause = " ".join(str(error.orig).split())
            if any(word in cause for word in _BROKEN):
                raise JournalDamaged(f"{self.name}: {cause}") from None
            raise JournalUnwritable(f"{self.name} could not be {done}: {cause}; nothing was recorded") from None
        except UnicodeDecodeError as error:
            raise JournalDamaged(f"{self.name}: {error}") from None

    def close(self) -> None:
        """Give the file or the connection back."""
        with self._lock:
            self._engine.dispose()


_BROKEN = (
    "malformed",
    "not a database",
    "Could not decode",
    "no such column",
    "no such table",
    "already exists",
    "unsupported file format",
    "unrecognized token",
    "syntax error",
)
"""What SQLite says of a file whose bytes are not what it wrote."""


def _sync_folder(url: sa.URL) -> None:
    """The name of a new file reaches the disk too."""
    if url.drivername == "sqlite":
        folder = os.open(Path(url.database).absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _bytes_of(path: str) -> bytes:
    file = Path(path)
    return file.read_bytes() if file.is_file() else b""


def _chained(match_id: str, seq: int, prev: str, events: Sequence[Event]) -> tuple[list[dict], dict]:
    """Rows to insert and the new head."""
    rows = []
    for event in events:
        seq += 1
        line, prev = line_of(match_id, seq, event, prev)
        rows.append({"match_id": match_id, "seq": seq, "line": line})
    return rows, {"seq": seq, "hash": prev}


def _engine_options(url: sa.URL) -> dict:
    if url.drivername != "sqlite":
        return {"pool_size": 1, "max_overflow": 0, "pool_pre_ping": True}
    return {
        "poolclass": StaticPool,
        "connect_args": {"check_same_thread": False, "timeout": 10, "isolation_level": None},
    }


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _careful_sqlite(connection, record) -> None:
    """Every commit reaches the disk before it is acknowledged."""
    cursor = connection.cursor()
    for pragma in (
        f"page_size={PAGE_BYTES}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "wal_autocheckpoint=1",
        "cell_size_check=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
