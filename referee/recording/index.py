"""An archive's index: one table of what lists, filters, notes and the disk budget ask, so that they read no folder.

The folders are the truth; the table is derived from them and thrown away where it is damaged or of another version.
What the program writes itself it tells the index at once (``put``, ``forget``); ``refresh`` takes in what has come or
gone otherwise, and looks at no name unless a folder's own time has changed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from referee.recording.entry import UNREADABLE, bytes_of, read_entry, stamp_of
from referee.recording.folder import DEEPEST, GONE, META
from referee.recording.writer import NO_RECORD, UNFINISHED

INDEX = ".index.sqlite"
VERSION = 6
"""Of the table and of what is read into it; a file of another is made anew."""

BATCH = 100
"""Attempts read between two writes: a tenth of a second of work is what a kill may cost."""

BUSY_S = 5.0
"""Another process writes for milliseconds; one that holds on longer is hung, and is not waited for."""

RACY_NS = 2_000_000_000
"""A folder that changed so shortly before it was listed may change again without getting another time: FAT counts in
steps of two seconds. It is listed again the next time."""

TABLE = """
CREATE TABLE IF NOT EXISTS attempts (path BLOB, stamp TEXT, bytes INTEGER, loose INTEGER, name TEXT, newer BLOB,
  listed INTEGER, may_go INTEGER, recorded_s REAL, calm INTEGER, margin REAL, card TEXT, players TEXT, match_id TEXT,
  duel INTEGER, at TEXT, rulings TEXT, close INTEGER, overruled INTEGER, reviewed INTEGER, cut_short TEXT,
  PRIMARY KEY (listed, calm, margin, newer, path)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS by_path ON attempts (path);
CREATE INDEX IF NOT EXISTS by_age ON attempts (may_go, recorded_s, name, bytes);
CREATE INDEX IF NOT EXISTS by_match ON attempts (listed, match_id, recorded_s, duel, card, players, rulings, close,
  overruled, reviewed, cut_short);
CREATE INDEX IF NOT EXISTS by_players ON attempts (listed, players);
CREATE INDEX IF NOT EXISTS by_card ON attempts (listed, card);
CREATE INDEX IF NOT EXISTS by_name ON attempts (name);
CREATE INDEX IF NOT EXISTS by_loose ON attempts (path) WHERE loose;
"""
"""In the order of the pages. ``path``: its bytes below the archive; ``loose``: to be looked at whenever anything is
asked; ``newer``: bytes of the name of which later names come first; ``players``: a JSON list."""

WRITE = f"REPLACE INTO attempts VALUES ({', '.join('?' * 21)})"
ROOT, SEPARATOR = b"", os.fsencode(os.sep)
REVERSED = bytes(range(255, -1, -1))

Row = tuple[Any, ...]
T = TypeVar("T")


class Index:
    """The index of the archive at ``root``; safe from any thread and beside other processes. ``file``: where it
    is kept, None in memory; ``mended`` counts how often that had to be left: what it held may not be there any more."""

    def __init__(self, root: Path, kept: bool = True) -> None:
        """``kept``: on the disk beside the attempts, where that can be written; else in memory."""
        self.root, self.mended = Path(root), 0
        self.file = self.root / INDEX if kept and self.root.is_dir() else None
        self._known: set[bytes] | None = None  # paths of all attempts, where all of them have been read
        self._folders: dict[bytes, str] = {}  # those above attempts, with their times
        self._other_bytes = 0
        self._lock = threading.RLock()
        self._db = self._opened()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def refresh(
        self,
        thorough: bool = False,
        enough: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> int:
        """Take in what has changed, where ``thorough`` also inside of attempts whose folders say nothing of it; gives
        how many attempts have still to be read.

        Reads until it is ``enough``, and goes on at the next call. ``progress`` is told (read, to be read).
        """
        mended = self.mended
        here, gone, todo = self._look(thorough)
        whole, done = True, 0
        if gone:
            self._write((), gone)
        progress(0, len(todo))
        while done < len(todo) and not enough():
            some = todo[done : done + BATCH]
            whole &= self._read(some)
            done += len(some)
            progress(done, len(todo))
        self._known = here if whole and done == len(todo) and mended == self.mended else None
        return len(todo) - done

    def put(self, folder: Path) -> None:
        """Take in what is in that folder now; forget it where it holds no record any more."""
        if not self._read([self._path(folder)]):
            self._known = None  # what else is in it is found when all is listed again

    def forget(self, *folders: Path) -> None:
        """The folders have gone."""
        self._write((), [self._path(folder) for folder in folders])

    def empty(self) -> None:
        """Forget everything."""
        self.rows("DELETE FROM attempts")
        self._known = None

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """What a query gives."""
        return self._do(lambda db: db.execute(sql, values).fetchall())

    def folder(self, path: bytes) -> Path:
        """The folder of a row."""
        return self.root / os.fsdecode(path)

    def is_stale(self, path: bytes) -> bool:
        """Whether the folder is not as it was when it was read."""
        return self.rows("SELECT stamp FROM attempts WHERE path = ?", (path,)) != [(stamp_of(self.folder(path)),)]

    def total_bytes(self) -> int:
        """Bytes of everything under the archive, whatever it belongs to."""
        return int(self.rows("SELECT coalesce(sum(bytes), 0) FROM attempts")[0][0]) + self._other_bytes

    def of_duel(self, match_id: str, duel: int) -> list[Path]:
        """The recordings of one duel, oldest first; more than one where it was begun anew."""
        return self._where("listed = 1 AND match_id = ? AND duel = ? ORDER BY recorded_s, name", match_id, duel)

    def may_go(self) -> Iterator[tuple[Path, float, int]]:
        """Uncontested attempts, the oldest first: folder, when it was recorded (seconds since 1970), bytes."""
        asked = "SELECT path, recorded_s, name, bytes FROM attempts WHERE may_go = 1 AND (recorded_s, name) > (?, ?)"
        last: tuple[float, str] = (float("-inf"), "")
        while rows := self.rows(f"{asked} ORDER BY recorded_s, name LIMIT {BATCH}", last):
            for path, recorded_s, _, size in rows:
                yield self.folder(path), recorded_s, size
            last = rows[-1][1], rows[-1][2]

    def unread(self) -> list[Path]:
        """Attempts whose record cannot be read."""
        return self._where("listed = 0")

    def loose(self) -> list[Path]:
        """Attempts that are not finished, cannot be read or hold a draft."""
        return self._where("loose")

    def folders(self) -> list[Path]:
        """The folders in which attempts were looked for last: the archive's own and those below it."""
        return [self.folder(path) for path in self._folders]

    def last_number(self, stem: str) -> int:
        """The highest number of a folder ``stem-NNN`` at the archive's top; 0 where there is none."""
        least, beyond = f"{stem}-".encode(), f"{stem}.".encode()
        rows = self.rows("SELECT path FROM attempts WHERE path > ? AND path < ?", (least, beyond))
        return max((int(tail) for (path,) in rows if (tail := path[len(least) :]).isdigit()), default=0)

    def _where(self, asked: str, *values: object) -> list[Path]:
        return [self.folder(path) for (path,) in self.rows(f"SELECT path FROM attempts WHERE {asked}", values)]

    def _path(self, folder: Path) -> bytes:
        return os.fsencode(os.path.relpath(folder, self.root))

    def _look(self, thorough: bool) -> tuple[set[bytes], Collection[bytes], list[bytes]]:
        """Paths of the attempts that are there, of those that have gone, and of those that are to be read."""
        known = None if thorough else self._known
        rows = self.rows("SELECT path, stamp, loose FROM attempts" + ("" if known is None else " WHERE loose"))
        is_new = known is None or any(not t or t != _time_of(self.folder(p)) for p, t in self._folders.items())
        known = {path for path, _, _ in rows} if known is None else known
        here = self._listed(known) if is_new else known
        asked = {path: stamp for path, stamp, loose in rows if (thorough or loose) and path in here}
        top = os.fspath(self.root)
        stale = {path for path, stamp in asked.items() if stamp != stamp_of(os.path.join(top, os.fsdecode(path)))}
        return here, known - here, sorted(stale | here - known)

    def _listed(self, known: set[bytes]) -> set[bytes]:
        """Paths of all attempts that are there. One that is ``known`` is not asked again: without its record it is
        found by its stamp."""
        here, folders, size, todo = set[bytes](), dict[bytes, str](), 0, [(ROOT, 0)]
        while todo:
            path, depth = todo.pop()
            place, stamp = os.fsencode(self.folder(path)), _time_of(self.folder(path))
            names: list[bytes] = []
            with suppress(OSError):  # none, or one that nobody may look into
                names = os.listdir(place)
            if depth and META.encode() in names:
                here.add(path)
                continue
            folders[path] = stamp
            paths = {path + SEPARATOR + name for name in names} if path else set(names)
            new = paths - known
            here |= paths - new
            for name in (below[len(path) + bool(path) :] for below in new):
                below = os.path.join(place, name)
                if not os.path.isdir(below):
                    with suppress(OSError):
                        size += os.lstat(below).st_size
                elif not name.startswith(b"."):
                    todo += [(os.path.join(path, name), depth + 1)] if depth <= DEEPEST else []
                elif not name.startswith(GONE.encode()):  # a draft: nothing in it is listed
                    size += bytes_of(Path(os.fsdecode(below)))
        self._folders, self._other_bytes = folders, size
        return here

    def _read(self, paths: Collection[bytes]) -> bool:
        """Take in what is in those folders; whether all still hold a record."""
        rows = [row for path in paths if (row := _row(path, self.folder(path)))]
        self._write(rows, {*paths} - {row[0] for row in rows})
        return len(rows) == len(paths)

    def _write(self, rows: Collection[Row], gone: Collection[bytes]) -> None:
        """Make all changes, or none where the process ends meanwhile."""

        def write(db: sqlite3.Connection) -> None:
            with db:
                db.execute("BEGIN IMMEDIATE")
                db.executemany("DELETE FROM attempts WHERE path = ?", [(path,) for path in gone])
                db.executemany(WRITE, rows)

        self._do(write)

    def _do(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do it; on a damaged file with a new one, on a disk that takes nothing in memory."""
        with self._lock:
            while True:
                try:
                    return action(self._db)
                except sqlite3.DatabaseError as error:
                    if self.file is None:
                        raise
                    with suppress(sqlite3.Error):
                        self._db.close()
                    self.mended, self._known = self.mended + 1, None
                    self._db = self._opened(error)

    def _opened(self, error: sqlite3.DatabaseError | None = None) -> sqlite3.Connection:
        """The file; after an ``error`` that says it is damaged, or where it is or is of another version, a new one;
        where it cannot be written, memory, with what the file holds as far as that can be read."""
        for _ in range(2):
            if error and _is_damage(error):
                for end in ("", "-wal", "-shm"):
                    with suppress(OSError):
                        Path(f"{self.file}{end}").unlink()
            elif error:
                break
            try:
                return _connected(self.file)
            except sqlite3.DatabaseError as fault:
                error = fault
        file, self.file, memory = self.file, None, _connected(None)
        immutable = f"file:{file}?mode=ro&immutable=1"
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(immutable, uri=True)) as kept:
            _check(kept)
            kept.backup(memory)
        return memory


def _connected(file: Path | None) -> sqlite3.Connection:
    """The database with its table, in memory without a file. Raises DatabaseError where it is damaged, of another
    version, or cannot be written."""
    where = ":memory:" if file is None else str(file)
    db = sqlite3.connect(where, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        for setting in ("cache_size = -65536", "journal_mode = WAL", "synchronous = NORMAL"):
            db.execute(f"PRAGMA {setting}")  # a power cut costs the last changes and no consistency
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            db.executescript(f"BEGIN IMMEDIATE; {TABLE} PRAGMA user_version = {VERSION}; COMMIT")
        _check(db)
        db.execute("BEGIN IMMEDIATE").execute("ROLLBACK")  # may it be written?
    except BaseException:
        db.close()
        raise
    return db


def _check(db: sqlite3.Connection) -> None:
    if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        raise sqlite3.DatabaseError("of another version")
    db.execute("SELECT path FROM attempts LIMIT 1").fetchone()


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether SQLite speaks of what is in the file, not of the disk or of another program."""
    code = getattr(error, "sqlite_errorcode", None)
    return not isinstance(error, sqlite3.OperationalError) or code == sqlite3.SQLITE_ERROR


def _row(path: bytes, folder: Path) -> Row | None:
    """The table's row of an attempt as its folder is now; None where there is no record (any more)."""
    try:
        stamp, entry, size = stamp_of(folder), read_entry(folder), bytes_of(folder)
        loose = entry is None or any(child.suffix == ".tmp" for child in folder.iterdir())
    except OSError:
        return None
    name, e = os.path.basename(path), entry or UNREADABLE
    newer = name.translate(REVERSED) + REVERSED[:1]
    place = (path, stamp, size, loose or e.cut_short in (UNFINISHED, NO_RECORD), name.decode("utf-8", "replace"), newer)
    order = (entry is not None, e.may_go, e.recorded_s, not e.why, e.margin)
    played = (e.card, json.dumps(e.players, ensure_ascii=False), e.match, e.duel, e.at)
    rulings = "".join(f" {ruling} " for _, ruling, _ in e.verdicts)
    close = any(quarrel.kind == "close" for quarrel in e.why)
    return (*place, *order, *played, rulings, close, e.overruled, bool(e.reviewed_by), e.cut_short)


def _time_of(folder: Path) -> str:
    """What changes when the folder's list of files does; empty while it may change unseen."""
    try:
        told = os.stat(folder)
    except OSError:
        return ""
    return "" if time.time_ns() - told.st_mtime_ns < RACY_NS else f"{told.st_ino} {told.st_mtime_ns}"
