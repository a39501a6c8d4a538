"""The file of an archive's index: SQLite that is never trusted and never in the way.

Everything in it can be read again from the folders. So a damaged file is thrown away, one that another version wrote
too; where nothing can be written (a full or read-only disk) the index goes on in memory, from what could be read.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

INDEX = ".index.sqlite"
VERSION = 5
"""Of the tables and of what is read into them; a file of another is made anew."""

BUSY_S = 5.0
"""Another process writes for milliseconds; one that holds on longer is hung, and is not waited for."""

MENDED_AT_MOST = 3
"""A damaged file is followed by a new one, that by a copy in memory, that by an empty one there."""

CACHE_KIB = 65_536
"""Pages of the index kept in memory: all that lists need of 100,000 attempts."""

TABLES = """
CREATE TABLE attempts (path BLOB PRIMARY KEY, parent BLOB NOT NULL, name TEXT NOT NULL, stamp TEXT NOT NULL,
  bytes INTEGER NOT NULL, recorded_s REAL NOT NULL, may_go INTEGER NOT NULL, listed INTEGER NOT NULL,
  loose INTEGER NOT NULL, card TEXT, match_id TEXT, duel INTEGER, rulings TEXT, margin REAL, calm INTEGER,
  close INTEGER, overruled INTEGER, reviewed INTEGER, cut_short TEXT) WITHOUT ROWID;
CREATE INDEX by_rank ON attempts (listed, calm, margin, name DESC, path);
CREATE INDEX by_age ON attempts (may_go, recorded_s, name);
CREATE INDEX by_duel ON attempts (match_id, duel, recorded_s);
CREATE INDEX by_match ON attempts (listed, match_id, recorded_s, card, rulings, close, overruled, reviewed, cut_short,
  duel);
CREATE INDEX by_card ON attempts (listed, card);
CREATE INDEX by_parent ON attempts (parent);
CREATE INDEX by_name ON attempts (name);
CREATE INDEX by_loose ON attempts (path) WHERE loose;
CREATE INDEX by_overruled ON attempts (path) WHERE overruled;
CREATE TABLE players (player TEXT, path BLOB, seat INTEGER, PRIMARY KEY (player, path, seat)) WITHOUT ROWID;
CREATE INDEX players_of ON players (path);
CREATE TABLE shown (path BLOB PRIMARY KEY, entry TEXT NOT NULL);
CREATE TABLE folders (path BLOB PRIMARY KEY, stamp TEXT NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE matches (match_id TEXT PRIMARY KEY, began_s REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX by_begin ON matches (began_s);
CREATE TABLE total (bytes INTEGER NOT NULL, listed INTEGER NOT NULL);
INSERT INTO total VALUES (0, 0);
CREATE TRIGGER came AFTER INSERT ON attempts BEGIN
  UPDATE total SET bytes = bytes + NEW.bytes, listed = listed + NEW.listed; END;
CREATE TRIGGER came_to_match AFTER INSERT ON attempts WHEN NEW.listed AND NEW.match_id <> '' BEGIN
  INSERT INTO matches VALUES (NEW.match_id, NEW.recorded_s)
  ON CONFLICT DO UPDATE SET began_s = min(began_s, excluded.began_s); END;
CREATE TRIGGER went AFTER DELETE ON attempts BEGIN
  UPDATE total SET bytes = bytes - OLD.bytes, listed = listed - OLD.listed;
  DELETE FROM players WHERE path = OLD.path; DELETE FROM shown WHERE path = OLD.path; END;
CREATE TRIGGER went_from_match AFTER DELETE ON attempts WHEN OLD.listed AND OLD.match_id <> '' BEGIN
  DELETE FROM matches WHERE match_id = OLD.match_id;
  INSERT INTO matches SELECT match_id, min(recorded_s) FROM attempts WHERE listed = 1 AND match_id = OLD.match_id
  GROUP BY match_id; END;
"""
"""``path`` and ``parent`` are the bytes of a path below the archive; ``loose``: to be looked at whenever anything is
asked; ``total`` and ``matches`` are kept by triggers, so that the disk budget costs no sum and a page no look at every
attempt."""

T = TypeVar("T")
Change = tuple[str, Sequence[Any]]


class IndexStore:
    """The index's database; safe from any thread. ``emptied`` counts how often it had to be begun anew."""

    def __init__(self, path: Path | None) -> None:
        """``path`` None keeps it in memory alone."""
        self.path, self.emptied = path, 0
        self._lock = threading.RLock()
        self._db = self._open()

    @property
    def in_memory(self) -> bool:
        """Whether nothing of it is on the disk (any more)."""
        return self.path is None

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple]:
        """What a query gives."""
        return self._try(lambda db: db.execute(sql, values).fetchall())

    def change(self, changes: Iterable[Change]) -> None:
        """Make all changes, or none where the process ends meanwhile."""
        every = list(changes)

        def write(db: sqlite3.Connection) -> None:
            with db:
                db.execute("BEGIN IMMEDIATE")
                for sql, values in every:
                    db.execute(sql, values)

        self._try(write)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def _try(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do it; on a damaged file with a new one, on a disk that takes nothing in memory."""
        with self._lock:
            for _ in range(MENDED_AT_MOST):
                try:
                    return action(self._db)
                except sqlite3.OperationalError as error:
                    self._mend(damaged=_is_damage(error))
                except sqlite3.DatabaseError:
                    self._mend(damaged=True)
            return action(self._db)

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            return self._fresh(":memory:")
        try:
            return self._on_disk(self.path)
        except sqlite3.OperationalError as error:
            return self._again() if _is_damage(error) else self._copied()
        except sqlite3.DatabaseError:
            return self._again()

    def _on_disk(self, path: Path) -> sqlite3.Connection:
        db = _connect(str(path))
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")  # a power cut costs the last changes and no consistency
            if db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                db.execute("SELECT bytes FROM total").fetchone()
                db.execute("BEGIN IMMEDIATE").execute("ROLLBACK")  # may it be written?
                return db
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise sqlite3.DatabaseError("of another version")
            _make(db)
        except BaseException:
            db.close()
            raise
        return db

    def _again(self) -> sqlite3.Connection:
        """A new file in the place of a damaged one; in memory where that cannot be."""
        assert self.path is not None
        for end in ("", "-wal", "-shm"):
            with suppress(OSError):
                self.path.with_name(self.path.name + end).unlink()
        self.emptied += 1
        try:
            return self._on_disk(self.path)
        except sqlite3.DatabaseError:
            self.path = None
            return self._fresh(":memory:")

    def _copied(self) -> sqlite3.Connection:
        """In memory from now on, with what the file holds as far as that can be read."""
        path, self.path = self.path, None
        memory = _connect(":memory:")
        try:
            kept = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
            try:
                kept.backup(memory)
            finally:
                kept.close()
            if memory.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                memory.execute("SELECT bytes FROM total").fetchone()
                return memory
        except sqlite3.DatabaseError:
            pass
        memory.close()
        self.emptied += 1
        return self._fresh(":memory:")

    def _fresh(self, where: str) -> sqlite3.Connection:
        db = _connect(where)
        _make(db)
        return db

    def _mend(self, damaged: bool) -> None:
        with suppress(sqlite3.Error):
            self._db.close()
        if self.path is None:
            self.emptied += 1
            self._db = self._fresh(":memory:")
        else:
            self._db = self._again() if damaged else self._copied()


def _connect(where: str) -> sqlite3.Connection:
    db = sqlite3.connect(where, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return db


def _make(db: sqlite3.Connection) -> None:
    db.executescript(f"BEGIN IMMEDIATE;{TABLES}PRAGMA user_version = {VERSION};COMMIT;")


def _is_damage(error: sqlite3.OperationalError) -> bool:
    """Whether SQLite speaks of what is in the file, not of the disk or of another program."""
    return any(word in str(error) for word in ("no such", "malformed", "not a database", "unsupported file format"))
