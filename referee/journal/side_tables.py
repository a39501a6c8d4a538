"""What lies beside the record and may change or go: who sits at which table now, and who people are.

On a server these are tables of the journal's own database; beside an SQLite journal they are files of their own, so
that what is deleted is gone from the disk and no heartbeat waits for the record.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from referee.errors import JournalUnwritable
from referee.events import Event, event_from_json
from referee.journal import database
from referee.journal.chain import canonical

ANSWER_S = 0.8
"""A server that takes longer is taken for gone: pages wait for what people do."""

_PRESENCE, _PEOPLE = sa.MetaData(), sa.MetaData()
TABLES = sa.Table(
    "tables_now",
    _PRESENCE,
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("beat", sa.Integer, nullable=False),
    sa.Column("told", sa.Text, nullable=False),
)
PEOPLE = sa.Table(
    "people",
    _PEOPLE,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("person", sa.String(20), nullable=False),
    sa.Column("line", sa.Text, nullable=False),
)
PICTURES = sa.Table(
    "people_pictures",
    _PEOPLE,
    sa.Column("picture", sa.String(64), primary_key=True),
    sa.Column("person", sa.String(20), nullable=False),
    sa.Column("jpeg", sa.LargeBinary, nullable=False),
)


class _Aside:
    """A store of some tables, made at first use: a server may be away now. Thread-safe; ``close`` it.

    ``watched`` is asked again and again by somebody: while its server is silent nobody waits for it here.
    """

    def __init__(self, journal: str | Path, file: str, tables: sa.MetaData, watched: "_Aside | None" = None) -> None:
        url = database.url_of(journal)
        if url.drivername == "sqlite":
            url = database.url_of(Path(url.database or "").absolute().with_name(file))
        self.url, self.name = url, str(url.database if url.drivername == "sqlite" else url.render_as_string())
        self._lock, self._watched = threading.RLock(), watched or self
        self._engine, self._tables, self._made = database.engine(url, self.name, None, ANSWER_S), tables, False
        self._silent: JournalUnwritable | None = None
        if url.drivername == "sqlite":
            with self._transaction("opened"):
                pass

    @contextmanager
    def _transaction(self, done: str) -> Iterator[sa.Connection]:
        """One transaction; SQLite's one connection is one thread's at a time. Raises JournalUnwritable, which says
        what could not be ``done``."""
        engine = self._engine if done == "read" and self._made else self._engine.execution_options(writes=True)
        with self._lock:
            if self._watched is not self and self._watched._silent:
                raise self._watched._silent
            try:
                with database.database_faults(self.name, done), engine.begin() as connection:
                    if not self._made:
                        database.exclusive_transaction(connection)
                        self._tables.create_all(connection)
                    yield connection
                self._made, self._silent = True, None
            except JournalUnwritable as error:
                self._watched._silent = error
                raise

    def close(self) -> None:
        """Give the file or the connection back."""
        self._engine.dispose()


@dataclass(frozen=True)
class TableHeartbeat:
    """What a table's program says of itself: ``beat`` grows as long as it lives."""

    beat: int
    address: str = ""
    alarms: tuple[Mapping[str, Any], ...] = ()
    owner: str = ""
    simulated: bool = False


class Presence(_Aside):
    """Who sits at which table now, and what is wrong there."""

    def __init__(self, journal: str | Path) -> None:
        super().__init__(journal, "tables.db", _PRESENCE)

    def tell(self, table: str, told: TableHeartbeat) -> None:
        """This table's program lives, and says so. Raises JournalUnwritable."""
        row = asdict(told)
        values = {"beat": row.pop("beat"), "told": canonical(row)}
        with self._transaction("written") as connection:
            done = connection.execute(sa.update(TABLES).where(TABLES.c.name == table).values(**values))
            if not done.rowcount:
                connection.execute(sa.insert(TABLES).values(name=table, **values))

    def leave(self, table: str) -> None:
        """This table's program ends politely."""
        with self._transaction("written") as connection:
            connection.execute(sa.delete(TABLES).where(TABLES.c.name == table))

    def now(self) -> dict[str, TableHeartbeat]:
        """Table -> what its program said last; who died still stands there, and beats no more."""
        with self._transaction("read") as connection:
            rows = list(connection.execute(sa.select(TABLES).order_by(TABLES.c.name)))
        told = ((row.name, row.beat, json.loads(row.told)) for row in rows)
        return {name: TableHeartbeat(beat, **said | {"alarms": tuple(said["alarms"])}) for name, beat, said in told}


class PeopleStore(_Aside):
    """The events of people's records (``referee.tournament.people``), and their pictures."""

    def __init__(self, journal: str | Path, watched: Presence | None = None) -> None:
        super().__init__(journal, "people.db", _PEOPLE, watched)
        self._rows: list[sa.Row[Any]] | None = None

    def rows(self) -> tuple[list[tuple[str, Event]], int]:
        """Every event with whose it is, in their order, and the last one's number; beside a ``watched`` store as they
        were read last where the server is away."""
        try:
            with self._transaction("read") as connection:
                self._rows = list(connection.execute(sa.select(PEOPLE).order_by(PEOPLE.c.number)))
        except JournalUnwritable:
            if self._watched is self or self._rows is None:
                raise
        found = self._rows
        return [(r.person, event_from_json(json.loads(r.line))) for r in found], found[-1].number if found else 0

    def add(self, person: str, event: Event, after: int) -> None:
        """One more event behind number ``after``. Raises JournalUnwritable when another program was first."""
        row = {"number": after + 1, "person": person, "line": canonical(event.to_json())}
        with self._transaction("written") as connection:
            connection.execute(sa.insert(PEOPLE).values(**row))

    def picture(self, picture: str) -> bytes | None:
        """The JPEG of that name."""
        with self._transaction("read") as connection:
            found = connection.execute(sa.select(PICTURES.c.jpeg).where(PICTURES.c.picture == picture)).scalar()
        return bytes(found) if found is not None else None

    def keep_picture(self, person: str, picture: str, jpeg: bytes) -> None:
        """The person's one picture; the one before goes."""
        with self._transaction("written") as connection:
            connection.execute(sa.delete(PICTURES).where(PICTURES.c.person == person))
            if jpeg:
                connection.execute(sa.insert(PICTURES).values(picture=picture, person=person, jpeg=jpeg))

    def delete(self, persons: tuple[str, ...], event: Event) -> None:
        """Everything about these ids goes, from the disk too; ``event``, which names nobody, stays for the first."""
        with self._lock, database.database_faults(self.name, "written"):
            with self._transaction("written") as connection:
                for table in (PEOPLE, PICTURES):
                    connection.execute(sa.delete(table).where(table.c.person.in_(persons)))
                last = connection.execute(sa.select(sa.func.max(PEOPLE.c.number))).scalar() or 0
                row = {"number": last + 1, "person": persons[0], "line": canonical(event.to_json())}
                connection.execute(sa.insert(PEOPLE).values(**row))
            if self.url.drivername == "sqlite":  # a server vacuums by itself
                with closing(self._engine.raw_connection()) as raw:
                    for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                        raw.cursor().execute(statement).fetchall()
