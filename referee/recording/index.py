"""An archive's index: one table of what lists, filters, notes and the disk budget ask, so that they read no folder.

The folders are the truth; the table is derived from them, and made anew as a whole where it is damaged or of another
version. What the program writes itself it tells the index at once (``put``, ``forget``); ``refresh`` takes in what has
come or gone otherwise.
"""

import json
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from referee.errors import BadAttempt
from referee.recording import folder as folders
from referee.recording.folder import META, ContestReason, bytes_of, stamp_of
from referee.recording.writer import NO_RECORD, UNFINISHED

INDEX = ".index.sqlite"
VERSION = 7
"""Of the table and of what is read into it; a file of another is made anew."""

BATCH = 100
"""Attempts read between two writes: a tenth of a second of work is what a kill may cost."""

LOCK_WAIT_S = 5.0
"""Another process writes for milliseconds; one that holds on longer is hung, and is not waited for."""

RECENT_CHANGE_NS = 2_000_000_000
"""A folder that changed so shortly before it was listed is listed again the next time: FAT counts in steps of 2 s."""

COLUMNS = """path, stamp, bytes, loose, name, listed, may_go, recorded_s, calm, margin, card, players, match, duel, at,
  rulings, close, overruled, reviewed, cut_short"""
TABLE = f"""
CREATE TABLE attempts ({COLUMNS}, PRIMARY KEY (listed, calm, margin, name DESC, path)) WITHOUT ROWID;
CREATE UNIQUE INDEX by_path ON attempts (path);
CREATE INDEX by_age ON attempts (may_go, recorded_s, name, bytes);
CREATE INDEX by_match ON attempts (listed, match, recorded_s, duel, card, players, rulings, close, overruled, reviewed,
  cut_short);
CREATE INDEX by_players ON attempts (listed, players);
CREATE INDEX by_card ON attempts (listed, card);
CREATE INDEX by_name ON attempts (name);
CREATE INDEX by_loose ON attempts (path) WHERE loose;
"""
"""In the order of the pages. ``path``: its bytes below the archive; ``loose``: to be looked at whenever anything is
asked; ``players``: a JSON list; ``rulings``: each between spaces; the others as in ``AttemptSummary``."""

WRITE = f"REPLACE INTO attempts VALUES ({', '.join(f':{name.strip()}' for name in COLUMNS.split(','))})"

FILTERS: Mapping[str, str] = {
    "undecided": "instr(rulings, ' undecided ') > 0",
    "overruled": "(overruled OR match = :match AND duel IN (SELECT value FROM json_each(:ruled)))",
    "close": "close",
    "cut_short": "cut_short <> '' AND NOT (cut_short = :unfinished AND recorded_s >= :began_s)",
    "unreviewed": "NOT reviewed",
}
"""What lists can be narrowed down to, besides player, card and verdict."""

SEARCHES = {"player": "instr(players, :player) > 0", "card": "card = :card", "verdict": "instr(rulings, :verdict) > 0"}

Values = Sequence[object] | Mapping[str, object]
T = TypeVar("T")


@dataclass(frozen=True)
class AttemptSummary:
    """One attempt as lists show it. ``margin``: the least confidence of its verdicts; ``why`` it is contested;
    ``may_go``: whether it may ever be removed to make room; ``overruled``: by people, as its folder says; ``cut_said``:
    the sentence of ``cut_short``, if it is one; ``at``: ISO time of the recording, ``recorded_s`` the same in seconds
    since 1970, without a record of it its file's time; ``players`` in the order of zones."""

    card: str = ""
    players: tuple[str, ...] = ()
    award: str | None = None
    verdicts: tuple[tuple[str, str, float], ...] = ()
    margin: float = 0.0
    why: tuple[ContestReason, ...] = ()
    may_go: bool = False
    reviewed_by: tuple[str, ...] = ()
    overruled: bool = False
    cut_short: str | None = None
    cut_said: Mapping[str, Any] | None = None
    simulated: bool = False
    at: str = ""
    recorded_s: float = 0.0
    match: str = ""
    duel: int | None = None


@dataclass(frozen=True)
class ArchiveFilter:
    """What is to be shown: a player's, a card's, with a verdict, of ``FILTERS``; empty: all.

    ``ruled``: duels of the match ``match`` on which people have ruled since they were recorded; ``began_s``: when this
    program began, seconds since 1970: what is unfinished and began later is being recorded now, and not cut short.
    """

    player: str = ""
    card: str = ""
    verdict: str = ""
    show: str = ""
    match: str = ""
    ruled: Collection[int] = ()
    began_s: float = math.inf

    def condition(self) -> tuple[str, dict[str, Any]]:
        """In SQL, and the values in it."""
        parts = [sql for name, sql in SEARCHES.items() if getattr(self, name)] + [FILTERS.get(self.show, "listed")]
        words = {"player": json.dumps(self.player, ensure_ascii=False), "verdict": f" {self.verdict} "}
        values = vars(self) | words | {"ruled": json.dumps(list(self.ruled)), "unfinished": UNFINISHED}
        return " AND ".join(["listed = 1", *parts]), values


@dataclass(frozen=True)
class RecordedMatch:
    """A match by its attempts: who played in it, in the order in which they came to the table; ISO time of the first,
    empty where no record says so."""

    players: tuple[str, ...]
    at: str


def address_of(path: bytes) -> str:
    """A path as one part of a URL."""
    return os.fsdecode(path).replace(os.sep, "~").encode("utf-8", "replace").decode("utf-8")


class Index:
    """The index of the archive at ``root``; safe from any thread and beside other processes. ``file``: where it
    is kept, None in memory; ``mended`` counts how often it was made anew while it was open."""

    def __init__(self, root: Path, kept: bool = True) -> None:
        """``kept``: on the disk beside the attempts, where that can be written; else in memory."""
        self.root, self.mended = Path(root), 0
        self.file = self.root / INDEX if kept and self.root.is_dir() else None
        self._known: set[bytes] | None = None  # paths of all attempts, where all of them have been read
        self._above: dict[bytes, int] = {}  # the folders above attempts, with their times
        self._other_bytes = 0
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()

    def refresh(self, thorough: bool = False, enough: Callable[[int, int], object] = lambda done, total: False) -> int:
        """Take in what has changed, where ``thorough`` also inside of attempts whose folders say nothing of it; gives
        how many attempts have still to be read.

        Reads until it is ``enough``, which is told (read, to be read), and goes on at the next call.
        """
        while True:
            mended, here, todo, whole, done = self.mended, *self._look(thorough), True, 0
            while not enough(done, len(todo)) and done < len(todo):
                whole &= self._read(todo[done : done + BATCH])
                done = min(done + BATCH, len(todo))
            if mended == self.mended:
                self._known = here if whole and done == len(todo) else None
                return len(todo) - done

    def put(self, folder: Path) -> None:
        """Take in what is in that folder now; forget it where it holds no record any more."""
        if not self._read([self._path(folder)]):
            self._known = None  # what else is in it is found when all is listed again

    def forget(self, *folders: Path) -> None:
        """The folders have gone."""
        self._write((), [self._path(folder) for folder in folders])

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
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

    def may_go(self) -> Iterator[tuple[Path, float, int]]:
        """Uncontested attempts, the oldest first: folder, when it was recorded (seconds since 1970), bytes."""
        asked = "SELECT path, recorded_s, bytes FROM attempts WHERE may_go = 1 ORDER BY recorded_s, name LIMIT ?, ?"
        first = 0
        while rows := self.rows(asked, (first, BATCH)):
            yield from ((self.folder(path), recorded_s, size) for path, recorded_s, size in rows)
            first += len(rows)

    def of_duel(self, match_id: str, duel: int) -> list[Path]:
        """The recordings of one duel, oldest first; more than one where it was begun anew."""
        asked = "listed = 1 AND match = ? AND duel = ? ORDER BY recorded_s, name"
        return [self.folder(path) for path in self._paths(asked, (match_id, duel))]

    def latest(self, most: int) -> list[Path]:
        """So many of the latest recordings."""
        return [self.folder(path) for path in self._paths("listed = 1 ORDER BY recorded_s DESC LIMIT ?", (most,))]

    def loose(self) -> list[Path]:
        """Attempts that are not finished, cannot be read or hold a draft."""
        return [self.folder(path) for path in self._paths("loose")]

    def _paths(self, asked: str, values: Values = ()) -> list[bytes]:
        return [path for (path,) in self.rows(f"SELECT path FROM attempts WHERE {asked}", values)]

    def folders(self) -> list[Path]:
        """The folders in which attempts were looked for last: the archive's own and those below it."""
        return [self.folder(path) for path in self._above]

    def last_number(self, stem: str) -> int:
        """The highest number of a folder ``stem-NNN`` at the archive's top; 0 where there is none."""
        least = f"{stem}-".encode()
        paths = self._paths("path > ? AND path < ?", (least, f"{stem}.".encode()))
        return max((int(tail) for path in paths if (tail := path[len(least) :]).isdigit()), default=0)

    def page(self, wanted: ArchiveFilter, first: int = 0, most: int = -1) -> list[bytes]:
        """Paths of ``most`` attempts (-1: of all) that fit, from the ``first`` on: contested ones first, the hardest of
        them first, of equals the newest."""
        where, values = wanted.condition()
        asked = f"{where} ORDER BY calm, margin, name DESC, path LIMIT :most OFFSET :first"
        return self._paths(asked, values | {"most": most, "first": first})

    def count(self, wanted: ArchiveFilter) -> int:
        """How many attempts fit."""
        where, values = wanted.condition()
        return int(self.rows(f"SELECT count(*) FROM attempts WHERE {where}", values)[0][0])

    def at_address(self, address: str) -> bytes | None:
        """The path of the attempt of that address, or of the only one of that name."""
        paths = self._paths("listed = 1 AND name = ?", (address.rpartition("~")[2],))
        alone = len(paths) == 1 and "~" not in address
        return next((path for path in paths if alone or address_of(path) == address), None)

    def neighbours(self, path: bytes) -> tuple[str | None, ...]:
        """Addresses of the attempts before and after that one, among all in their order."""
        paths = [None, *self.page(ArchiveFilter()), None]
        if path not in paths:
            return None, None
        at = paths.index(path)
        return tuple(address_of(beside) if beside else None for beside in (paths[at - 1], paths[at + 1]))

    def players(self) -> list[str]:
        """Everybody who played."""
        rows = self.rows("SELECT DISTINCT players FROM attempts WHERE listed = 1")
        return sorted({player for (players,) in rows for player in json.loads(players)})

    def cards(self) -> list[str]:
        """Every card that was built."""
        return [card for (card,) in self.rows("SELECT DISTINCT card FROM attempts WHERE listed = 1 ORDER BY card")]

    def of_match(self, match_id: str) -> list[bytes]:
        """The paths of the attempts of one match."""
        return self._paths("listed = 1 AND match = ? ORDER BY path", (match_id,))

    def matches(self, wanted: ArchiveFilter, most: int) -> tuple[dict[str, RecordedMatch], int]:
        """The latest matches with an attempt that fits, and how many older ones there are."""
        where, values = wanted.condition()
        fitting = f"SELECT match FROM attempts WHERE {where} AND match <> '' GROUP BY match"
        every = [match_id for (match_id,) in self.rows(f"{fitting} ORDER BY min(recorded_s) DESC", values)]
        return {match_id: self.match(match_id) for match_id in sorted(every[:most])}, max(0, len(every) - most)

    def match(self, match_id: str) -> RecordedMatch:
        """The match as far as it was recorded."""
        asked = "SELECT players, at FROM attempts WHERE listed = 1 AND match = ? ORDER BY recorded_s, name"
        rows = self.rows(asked, (match_id,))
        names = dict.fromkeys(name for players, _ in rows for name in json.loads(players))
        return RecordedMatch(tuple(names), rows[0][1] if rows else "")

    def _path(self, folder: Path) -> bytes:
        return os.fsencode(os.path.relpath(folder, self.root))

    def _look(self, thorough: bool) -> tuple[set[bytes], list[bytes]]:
        """Paths of the attempts that are there, and of those to be read; those that have gone are forgotten."""
        known = None if thorough else self._known
        rows = self.rows("SELECT path, stamp, loose FROM attempts" + ("" if known is None else " WHERE loose"))
        is_old = known is not None and all(t and t == _time_of(self.folder(p)) for p, t in self._above.items())
        known = {path for path, _, _ in rows} if known is None else known
        here = known if is_old else self._listed(known)
        asked = {path: stamp for path, stamp, loose in rows if (thorough or loose) and path in here}
        stale = {p for p, stamp in asked.items() if stamp != stamp_of(os.path.join(self.root, os.fsdecode(p)))}
        if gone := known - here:
            self._write((), gone)
        return here, sorted(stale | here - known)

    def _listed(self, known: set[bytes]) -> set[bytes]:
        """Paths of all attempts that are there. One that is ``known`` is not asked again: without its record it is
        found by its stamp."""
        here, other_bytes, top = set[bytes](), 0, os.fsencode(self.root)
        above = {b"": _time_of(self.root)}  # before it is listed, as with all others
        for folder, inner, files in os.walk(top, followlinks=True):
            path = folder[len(top) + 1 :]
            if path and META.encode() in files:
                here.add(path)
                del above[path]
                inner.clear()
                continue
            at = path and path + b"/"
            here |= known.intersection(at + name for name in inner)
            fresh = [name for name in inner if at + name not in known]
            drafts = [name for name in fresh if name.startswith(b".")]
            deep = path.count(b"/") + bool(path) > folders.MAX_FOLDER_DEPTH
            inner[:] = [] if deep else [name for name in fresh if name not in drafts]
            above |= {at + name: _time_of(self.folder(at + name)) for name in inner}
            others = [at + name for name in (*files, *drafts) if not name.startswith(folders.DELETED_PREFIX.encode())]
            other_bytes += sum(bytes_of(self.folder(child)) for child in others)
        self._above, self._other_bytes = above, other_bytes
        return here

    def _read(self, paths: Collection[bytes]) -> bool:
        """Take in what is in those folders; whether all still hold a record."""
        rows = [row for path in paths if (row := _row(path, self.folder(path)))]
        self._write(rows, {*paths} - {row["path"] for row in rows})
        return len(rows) == len(paths)

    def _write(self, rows: Collection[dict[str, Any]], gone: Collection[bytes]) -> None:
        """Make all changes, or none where the process ends meanwhile."""

        def write(db: sqlite3.Connection) -> None:
            with db:
                db.execute("BEGIN IMMEDIATE")
                db.executemany("DELETE FROM attempts WHERE path = ?", [(path,) for path in gone])
                db.executemany(WRITE, rows)

        self._do(write)

    def _do(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do it. A file is made anew where SQLite speaks of what is in it, and left for memory where it speaks of the
        disk or of another program."""
        with self._lock:
            while True:
                try:
                    self._db = self._db or _connected(":memory:" if self.file is None else str(self.file))
                    return action(self._db)
                except sqlite3.DatabaseError as error:
                    if (file := self.file) is None:
                        raise
                    if self._db is not None:
                        with suppress(sqlite3.Error):
                            self._db.close()
                        self.mended += 1
                    self._db = self._known = self.file = None
                    of_content = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
                    if of_content or not isinstance(error, sqlite3.OperationalError):
                        with suppress(OSError):
                            for end in ("-wal", "-shm", ""):
                                Path(f"{file}{end}").unlink(missing_ok=True)
                            self.file = file


def _connected(where: str) -> sqlite3.Connection:
    """The database with its table. Raises DatabaseError where it is damaged, of another version, or cannot be
    written."""
    db = sqlite3.connect(where, timeout=LOCK_WAIT_S, isolation_level=None, check_same_thread=False)
    try:
        for setting in ("cache_size = -65536", "journal_mode = WAL", "synchronous = NORMAL"):
            db.execute(f"PRAGMA {setting}")  # a power cut costs the last changes and no consistency
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in (*TABLE.split(";"), f"PRAGMA user_version = {VERSION}"):
                db.execute(statement)
        if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            raise sqlite3.DatabaseError("of another version")
        db.execute("SELECT path FROM attempts LIMIT 1").fetchone()
        db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def _time_of(folder: Path) -> int:
    """When the folder's list of files changed last; 0 while it may change again without getting another time."""
    with suppress(OSError):
        time_ns = folder.stat().st_mtime_ns
        return 0 if time.time_ns() - time_ns < RECENT_CHANGE_NS else time_ns
    return 0


def _row(path: bytes, folder: Path) -> dict[str, Any] | None:
    """The table's row of an attempt as its folder is now; None where there is no record (any more)."""
    try:
        stamp, summary, size = stamp_of(folder), read_summary(folder), bytes_of(folder)
        loose = summary is None or any(child.suffix == ".tmp" for child in folder.iterdir())
    except OSError:
        return None
    s = summary or AttemptSummary()
    return vars(s) | {
        "path": path,
        "stamp": stamp,
        "bytes": size,
        "loose": loose or s.cut_short in (UNFINISHED, NO_RECORD),
        "name": os.path.basename(path).decode("utf-8", "replace"),
        "listed": summary is not None,
        "calm": not s.why,
        "players": json.dumps(s.players, ensure_ascii=False),
        "rulings": "".join(f" {ruling} " for _, ruling, _ in s.verdicts),
        "close": any(quarrel.kind == "close" for quarrel in s.why),
        "reviewed": bool(s.reviewed_by),
    }


def read_summary(folder: Path) -> AttemptSummary | None:
    """What the folder says, None where it cannot be read; may raise OSError where it has gone."""
    file_s = os.stat(folder / META).st_mtime
    with suppress(BadAttempt, TypeError, ValueError, AttributeError, KeyError):  # a record that only looks like one
        attempt, readable = folders.load_attempt(folder), True
        try:
            rows = attempt.reviews()
        except (BadAttempt, OSError):
            rows, readable = [], False
        # '?' for halves of letters, which neither a page nor a database takes
        meta, reviews = json.loads(json.dumps([attempt.meta, rows], ensure_ascii=False).encode("utf-8", "replace"))
        rulings = sorted((meta.get("verdicts") or {}).items())
        sure = {zone: float(row.get("confidence", 0)) for zone, row in rulings}
        verdicts = tuple((z, row["verdict"], sure[z] if math.isfinite(sure[z]) else 0.0) for z, row in rulings)
        why, duel = tuple(folders.contest_reasons(meta, reviews)), meta.get("duel")
        return AttemptSummary(
            card=str(meta["card"] or "?"),
            players=tuple((meta.get("players") or {}).values()),
            award=meta.get("award"),
            verdicts=verdicts,
            margin=min((sure for _, _, sure in verdicts), default=0.0),
            why=why,
            may_go=readable and not why,
            reviewed_by=tuple(
                dict.fromkeys(str(r.get("who", "?")) for r in reviews if r.get("kind") in ("reviewed", "ruling"))
            ),
            overruled=bool(meta.get("human")) or any(r.get("kind") == "ruling" for r in reviews),
            cut_short=meta.get("cut_short"),
            cut_said=meta.get("cut_short_said"),
            simulated=bool(meta.get("simulated")),
            at=str(meta.get("recorded_at", "")),
            recorded_s=said.timestamp() if (said := folders.recorded_at(meta)) else file_s,
            match=str(meta.get("match_id") or ""),
            duel=duel if isinstance(duel, int) and abs(duel) < 1 << 31 else None,
        )
    return None
