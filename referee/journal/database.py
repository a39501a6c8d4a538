"""Databases made careful: a commit is on the disk, a server's silence ends, a table has one program.

SQLite runs with WAL and synchronous=FULL, a writer keeps others out from its start. A server that does not answer for
``ANSWER_S`` is given up on this side, and a table is held by a lock that ends with the connection.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from cards.sentences import sentence
from referee.errors import HeldElsewhere, JournalDamaged, JournalUnwritable
from referee.journal.file_lock import lock_owner

PAGE_BYTES = 16384
"""SQLite page: one event's line fits into one, so that it stays in one piece in the file."""

ANSWER_S, CONNECT_S = 5.0, 4
"""A server that takes longer is taken for gone."""

_NOT = {"opened": "journal_unopened", "written": "journal_unwritten", "read": "journal_unread"}
"""What was to be done with the store -> the sentence that it could not be."""

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


def url_of(url_or_path: str | Path) -> sa.URL:
    """An SQLAlchemy URL from a URL or a file's path. Plain ``postgresql://`` means psycopg 3."""
    text = str(url_or_path)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    url = sa.make_url(text)
    return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgresql", "postgres") else url


def reading_engine(url: sa.URL, name: str) -> sa.Engine:
    """An engine by which nothing of the store changes, not even its files' times; there must be a store.

    SQLite keeps a log beside a file that is open: one that has none is open nowhere, and is read without making one.
    """
    if url.drivername != "sqlite":
        made = engine(url, name, None)
        sa.event.listen(made, "connect", _reading_server)
        return made
    path = Path(url.database or "").absolute()
    alone = not path.with_name(f"{path.name}-wal").exists()
    address = f"{path.as_uri()}?{'immutable=1' if alone else 'mode=ro'}"
    options = _engine_options(url)
    connect = partial(sqlite3.connect, address, uri=True, **options.pop("connect_args"))
    made = sa.create_engine("sqlite://", creator=connect, **options)
    sa.event.listen(made, "begin", _begin_sqlite)
    return made


def _reading_server(connection: Any, record: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    connection.commit()


def engine(url: sa.URL, name: str, hold: str | None, answer_s: float = ANSWER_S) -> sa.Engine:
    """The engine of the store, careful from its first connection; with ``hold`` that table is this program's alone.

    ``name`` is what faults call the store; a server that is silent for ``answer_s`` seconds is given up.
    """
    made = sa.create_engine(url, **_engine_options(url, answer_s))
    if url.drivername == "sqlite":
        sa.event.listen(made, "connect", _careful_sqlite)
        sa.event.listen(made, "begin", _begin_sqlite)
    else:
        sa.event.listen(made, "do_connect", partial(_impatient_connection, answer_s))
        sa.event.listen(made, "connect", partial(_careful_server, hold, name))
    return made


def _impatient_connection(answer_s: float, dialect: Any, record: Any, given: Any, named: Any) -> Any:
    """A connection that is closed when an answer takes so long. That a program is stopped, or a line cut behind a
    proxy, the system never notices: its own timeouts end with what the other machine's system acknowledges."""
    connection = dialect.connect(*given, **named)
    wait: Callable[..., Any] = connection.wait

    def answer(steps: Any, *how: Any, **more: Any) -> Any:
        try:
            return wait(steps, *how, **{"timeout": answer_s} | more)
        except dialect.loaded_dbapi.OperationalError:
            connection.close()  # what comes now would be taken for the next answer
            raise

    connection.wait = answer
    return connection


@contextmanager
def database_faults(name: str, done: str) -> Iterator[None]:
    """Database faults as ours: broken files are JournalDamaged, all else is JournalUnwritable."""
    try:
        yield
    except sa.exc.IntegrityError:
        raise JournalUnwritable(sentence("journal_other", name=name)) from None
    except sa.exc.DBAPIError as error:
        cause = " ".join(str(error.orig).split())
        if any(word in cause for word in _BROKEN):
            raise JournalDamaged(f"{name}: {cause}") from None
        raise JournalUnwritable(sentence(_NOT[done], name=name, fault=cause)) from None
    except UnicodeDecodeError as error:
        raise JournalDamaged(f"{name}: {error}") from None


def _careful_server(hold: str | None, name: str, connection: Any, record: Any) -> None:
    """No statement lasts for ever, and a table is one program's: its lock ends with this connection."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = {int(1000 * ANSWER_S)}")
        if hold is not None:
            cursor.execute("SELECT pg_try_advisory_lock(hashtext('referee table'), hashtext(%s))", (hold,))
            if not cursor.fetchone()[0]:
                raise HeldElsewhere(f"table {hold!r} of {name} is in use: {_holder(cursor, hold)}")
            cursor.execute(
                "SELECT set_config('application_name', %s, false)", (f"referee {hold}: {lock_owner()}"[:63],)
            )
    connection.commit()


def _holder(cursor: Any, table: str) -> str:
    """Who holds the table, as its program has told the server."""
    cursor.execute(
        "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory'"
        " AND l.granted AND l.classid::int8 = (hashtext('referee table')::int8 & 4294967295)"
        " AND l.objid::int8 = (hashtext(%s)::int8 & 4294967295)",
        (table,),
    )
    row = cursor.fetchone()
    return row[0].partition(": ")[2] if row else "by another program"


def exclusive_transaction(connection: sa.Connection) -> None:
    """Let other programs wait with what they do under this until the transaction ends; SQLite's writers do anyway."""
    if connection.dialect.name != "sqlite":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('referee schema'))"))


def _engine_options(url: sa.URL, answer_s: float = ANSWER_S) -> dict[str, Any]:
    if url.drivername != "sqlite":
        patience = {"connect_timeout": CONNECT_S, "tcp_user_timeout": 1000 * CONNECT_S, "keepalives_idle": CONNECT_S}
        ping = answer_s >= CONNECT_S  # whose ping fails waits for a new connection
        return {"pool_size": 1, "max_overflow": 0, "pool_pre_ping": ping, "connect_args": patience}
    return {
        "poolclass": StaticPool,
        "connect_args": {"check_same_thread": False, "timeout": 10, "isolation_level": None},
    }


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _careful_sqlite(connection: Any, record: Any) -> None:
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
