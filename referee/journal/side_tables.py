"""What lies beside the record and may change or go: who sits at which table now, and who people are.

On a server these are tables of the journal's own database; beside an SQLite journal they are files of their own, so
that what is deleted is gone from the disk and no heartbeat waits for the record.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from referee.events import Event, event_from_json
from referee.journal import database
from referee.journal.chain import canonical

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
    """A store of some tables. Thread-safe; ``close`` it."""

    def __init__(self, journal: str | Path, file: str, tables: sa.MetaData) -> None:
        url = database.url_of(journal)
        if url.drivername == "sqlite":
            url = database.url_of(Path(url.database or "").absolute().with_name(file))
        self.url, self.name = url, str(url.database if url.drivername == "sqlite" else url.render_as_string())
        self._lock = threading.RLock()
        self._engine = database.engine(url, self.name, None)
        with database.database_faults(self.name, "opened"), self._writing() as connection:
            database.exclusive_transaction(connection)
            tables.create_all(connection)

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """One transaction; SQLite's one connection is one thread's at a time."""
        with self._lock, self._engine.execution_options(writes=True).begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with self._lock, self._engine.connect() as connection:
            yield connection

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
        with database.database_faults(self.name, "written"), self._writing() as connection:
            done = connection.execute(sa.update(TABLES).where(TABLES.c.name == table).values(**values))
            if not done.rowcount:
                connection.execute(sa.insert(TABLES).values(name=table, **values))

    def leave(self, table: str) -> None:
        """This table's program ends politely."""
        with database.database_faults(self.name, "written"), self._writing() as connection:
            connection.execute(sa.delete(TABLES).where(TABLES.c.name == table))

    def now(self) -> dict[str, TableHeartbeat]:
        """Table -> what its program said last; who died still stands there, and beats no more."""
        with database.database_faults(self.name, "read"), self._reading() as connection:
            rows = list(connection.execute(sa.select(TABLES).order_by(TABLES.c.name)))
        told = ((row.name, row.beat, json.loads(row.told)) for row in rows)
        return {name: TableHeartbeat(beat, **said | {"alarms": tuple(said["alarms"])}) for name, beat, said in told}


class PeopleStore(_Aside):
    """The events of people's records (``referee.tournament.people``), and their pictures."""

    def __init__(self, journal: str | Path) -> None:
        super().__init__(journal, "people.db", _PEOPLE)

    def rows(self) -> tuple[list[tuple[str, Event]], int]:
        """Every event with whose it is, in their order, and the last one's number."""
        with database.database_faults(self.name, "read"), self._reading() as connection:
            found = list(connection.execute(sa.select(PEOPLE).order_by(PEOPLE.c.number)))
        rows = [(row.person, event_from_json(json.loads(row.line))) for row in found]
        return rows, found[-1].number if found else 0

    def add(self, person: str, event: Event, after: int) -> None:
        """One more event behind number ``after``. Raises JournalUnwritable when another program was first."""
        row = {"number": after + 1, "person": person, "line": canonical(event.to_json())}
        with database.database_faults(self.name, "written"), self._writing() as connection:
            connection.execute(sa.insert(PEOPLE).values(**row))

    def picture(self, picture: str) -> bytes | None:
        """The JPEG of that name."""
        with database.database_faults(self.name, "read"), self._reading() as connection:
            found = connection.execute(sa.select(PICTURES.c.jpeg).where(PICTURES.c.picture == picture)).scalar()
        return bytes(found) if found is not None else None

    def keep_picture(self, person: str, picture: str, jpeg: bytes) -> None:
        """The person's one picture; the one before goes."""
        with database.database_faults(self.name, "written"), self._writing() as connection:
            connection.execute(sa.delete(PICTURES).where(PICTURES.c.person == person))
            if jpeg:
                connection.execute(sa.insert(PICTURES).values(picture=picture, person=person, jpeg=jpeg))

    def delete(self, persons: tuple[str, ...], event: Event) -> None:
        """Everything about these ids goes, from the disk too; ``event``, which names nobody, stays for the first."""
        with self._lock, database.database_faults(self.name, "written"):
            with self._writing() as connection:
                for table in (PEOPLE, PICTURES):
                    connection.execute(sa.delete(table).where(table.c.person.in_(persons)))
                last = connection.execute(sa.select(sa.func.max(PEOPLE.c.number))).scalar() or 0
                row = {"number": last + 1, "person": persons[0], "line": canonical(event.to_json())}
                connection.execute(sa.insert(PEOPLE).values(**row))
            if self.url.drivername == "sqlite":  # a server vacuums by itself
                raw = self._engine.raw_connection()
                try:
                    for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                        raw.cursor().execute(statement).fetchall()
                finally:
                    raw.close()
