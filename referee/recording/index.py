"""An archive's index: what lists, filters, notes and the disk budget ask, without reading a folder.

The folders are the truth; the index only remembers what it read there, with a stamp by which it sees that a folder has
changed. What the program writes itself it tells the index at once (``put``, ``forget``). ``refresh`` takes in what has
come or gone otherwise: it lists only folders whose own time has changed, so that it costs next to nothing when nothing
has happened. ``thorough`` also asks every attempt's stamp: changes made by other programs inside of folders.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from referee.recording.entry import Entry, bytes_of, entry_from_json, read_entry, stamp_of
from referee.recording.folder import DEEPEST, GONE, META
from referee.recording.index_store import INDEX, Change, IndexStore
from referee.recording.writer import NO_RECORD, UNFINISHED

BATCH = 100
"""Attempts read between two writes: a tenth of a second of work is what a kill may cost."""

RACY_NS = 2_000_000_000
"""A folder that changed so shortly before it was listed may change again without getting another time: FAT counts in
steps of two seconds. It is listed again the next time."""

MOVED_AT_MOST = 1000
"""So many names that have come or gone since a folder was last listed are asked for one by one; more, all together."""

ROOT = b""
FORGET = "DELETE FROM attempts WHERE path = ?"

Progress = Callable[[int, int], object]
Clock = Callable[[], int]


class Index:
    """The index of the archive at ``root``; safe from any thread and beside other processes."""

    def __init__(self, root: Path, kept: bool = True, now_ns: Clock = time.time_ns) -> None:
        """``kept``: on the disk beside the attempts, where that can be written; else in memory. ``now_ns``: the time
        by the clock of files, nanoseconds since 1970."""
        self.root, self._now_ns = Path(root), now_ns
        self._attempts: dict[bytes, set[bytes]] = {}  # folder -> names of the attempts in it that the index holds
        self.store = IndexStore(self.root / INDEX if kept and self.root.is_dir() else None)

    def close(self) -> None:
        """Let go of the file."""
        self.store.close()

    def refresh(
        self,
        thorough: bool = False,
        enough: Callable[[], bool] = lambda: False,
        progress: Progress = lambda done, total: None,
    ) -> int:
        """Take in what has changed; gives how many attempts have still to be read.

        Reads until it is ``enough``, and goes on at the next call. ``progress`` is told (read, to be read).
        """
        begun = self.store.emptied
        gone, todo = self._look(thorough)
        for some in _batched(gone, BATCH):
            self.store.change((FORGET, (path,)) for path in some)
        done = 0
        progress(0, len(todo))
        for some in _batched(todo, BATCH):
            if enough():
                break
            self.store.change([change for path in some for change in self._written(path)])
            done += len(some)
            progress(done, len(todo))
        if self.store.emptied != begun:  # it was thrown away meanwhile: what was known is not there any more
            return self.refresh(thorough, enough, progress)
        return len(todo) - done

    def put(self, folder: Path) -> None:
        """Take in what is in that folder now; forget it where it holds no record any more."""
        self.store.change(self._written(self._path(folder)))

    def forget(self, *folders: Path) -> None:
        """The folders have gone."""
        self.store.change([(FORGET, (self._path(folder),)) for folder in folders])

    def folder(self, path: bytes) -> Path:
        """The folder of a row."""
        return self.root / os.fsdecode(path)

    def is_stale(self, path: bytes) -> bool:
        """Whether the folder is not as it was when it was read."""
        known = self.store.rows("SELECT stamp FROM attempts WHERE path = ?", (path,))
        return not known or known[0][0] != stamp_of(self.folder(path))

    def count(self) -> int:
        """How many attempts can be shown."""
        return int(self.store.rows("SELECT listed FROM total")[0][0])

    def total_bytes(self) -> int:
        """Bytes of everything under the archive, whatever it belongs to."""
        others = "SELECT coalesce(sum(bytes), 0) FROM folders"
        return int(self.store.rows(f"SELECT bytes + ({others}) FROM total")[0][0])

    def of_duel(self, match_id: str, duel: int) -> list[Path]:
        """The recordings of one duel, oldest first; more than one where it was begun anew."""
        asked = "SELECT path FROM attempts WHERE match_id = ? AND duel = ? ORDER BY recorded_s, name"
        return [self.folder(path) for (path,) in self.store.rows(asked, (match_id, duel))]

    def may_go(self) -> Iterator[tuple[Path, float, int]]:
        """Uncontested attempts, the oldest first: folder, when it was recorded (seconds since 1970), bytes."""
        asked = "SELECT path, recorded_s, name, bytes FROM attempts WHERE may_go = 1 AND (recorded_s, name) > (?, ?)"
        last: tuple[float, str] = (float("-inf"), "")
        while rows := self.store.rows(f"{asked} ORDER BY recorded_s, name LIMIT {BATCH}", last):
            for path, recorded_s, _, size in rows:
                yield self.folder(path), recorded_s, size
            last = rows[-1][1], rows[-1][2]

    def unread(self) -> list[Path]:
        """Attempts whose record cannot be read."""
        return [self.folder(path) for (path,) in self.store.rows("SELECT path FROM attempts WHERE NOT listed")]

    def empty(self) -> None:
        """Forget everything."""
        self.store.change([("DELETE FROM attempts", ()), ("DELETE FROM folders", ())])

    def folders(self) -> list[Path]:
        """The folders in which attempts are looked for: the archive's own and those below it."""
        return [self.folder(path) for (path,) in self.store.rows("SELECT path FROM folders")]

    def loose(self) -> list[Path]:
        """Attempts that are not finished, cannot be read or hold a draft."""
        return [self.folder(path) for (path,) in self.store.rows("SELECT path FROM attempts WHERE loose")]

    def entries(self, paths: Iterable[bytes]) -> list[Entry]:
        """The attempts' entries, in that order."""
        asked = "SELECT entry FROM shown WHERE path = ?"
        return [entry_from_json(row[0]) for path in paths for row in self.store.rows(asked, (path,))]

    def last_number(self, stem: str) -> int:
        """The highest number of a folder ``stem-NNN`` at the archive's top; 0 where there is none."""
        asked = "SELECT name FROM attempts WHERE parent = ? AND name > ? AND name < ?"
        tails = [name[len(stem) + 1 :] for (name,) in self.store.rows(asked, (ROOT, f"{stem}-", f"{stem}."))]
        return max((int(tail) for tail in tails if tail.isascii() and tail.isdigit()), default=0)

    def _path(self, folder: Path) -> bytes:
        return os.fsencode(os.path.relpath(folder, self.root))

    def _look(self, thorough: bool) -> tuple[list[bytes], list[bytes]]:
        """Paths of attempts that have gone, and of those that are to be read."""
        came, gone = self._listed()
        asked = "SELECT path, stamp FROM attempts" + ("" if thorough else " WHERE loose")
        left = set(gone)
        top = os.fspath(self.root)
        every = ((path, stamp, os.path.join(top, os.fsdecode(path))) for path, stamp in self.store.rows(asked))
        stale = [path for path, stamp, folder in every if path not in left and stamp != stamp_of(folder)]
        return gone, sorted({*came, *stale})

    def _listed(self) -> tuple[list[bytes], list[bytes]]:
        """Attempts that have come, and that have gone, from the folders above them whose time has changed."""
        known = dict(self.store.rows("SELECT path, stamp FROM folders"))
        came: list[bytes] = []
        gone: list[bytes] = []
        changes: list[Change] = []
        children, todo, seen = _children(known), [(ROOT, 0)], set()
        while todo:
            path, depth = todo.pop()
            folder = self.folder(path)
            if path != ROOT and (folder / META).exists():  # it has become an attempt
                came.append(path)
                continue
            seen.add(path)
            stamp = _time_of(folder, self._now_ns())
            if stamp and stamp == known.get(path):
                todo += [(child, depth + 1) for child in children.get(path, ())]
                continue
            new, lost = self._moved(path, _names(folder))
            found = _list(folder, path, new)
            came += found.came
            gone += [os.path.join(path, name) for name in lost]
            todo += [(child, depth + 1) for child in found.folders if depth < DEEPEST]
            changes.append(("REPLACE INTO folders VALUES (?, ?, ?)", (path, stamp, found.size)))
        for path in known.keys() - seen:
            changes.append(("DELETE FROM folders WHERE path = ?", (path,)))
            gone += [p for (p,) in self.store.rows("SELECT path FROM attempts WHERE parent = ?", (path,))]
        self._keep_listing(changes, came)
        return came, gone

    def _moved(self, path: bytes, names: Sequence[bytes]) -> tuple[list[bytes], Set[bytes]]:
        """Of a folder that now holds ``names``: those under which the index holds no attempt, and the names of attempts
        that it holds and that are not there any more.

        What was known when the folder was last listed is brought up to date by what has moved since, in place: to make
        a set of 100,000 names anew takes as long as to list them. Unless the index counts as many, all is read anew.
        """
        known = self._attempts.setdefault(path, set())
        new, lost = _against(known, names)
        if len(new) + len(lost) <= MOVED_AT_MOST:
            asked = "SELECT 1 FROM attempts WHERE path = ?"
            held = {name for name in (*new, *lost) if self.store.rows(asked, (os.path.join(path, name),))}
            known |= held
            known -= lost - held
            if self.store.rows("SELECT count(*) FROM attempts WHERE parent = ?", (path,))[0][0] == len(known):
                return [name for name in new if name not in held], lost & held
        every = self.store.rows("SELECT path FROM attempts WHERE parent = ?", (path,))
        known = self._attempts[path] = {place[len(path) + bool(path) :] for (place,) in every}
        return _against(known, names)

    def _keep_listing(self, changes: list[Change], came: list[bytes]) -> None:
        """Remember what was listed, and of each attempt that has come that it is to be read: a kill forgets none."""
        new = "INSERT OR IGNORE INTO attempts (path, parent, name, stamp, bytes, recorded_s, may_go, listed, loose)"
        for some in _batched(came, BATCH * BATCH):
            rows = ((path, os.path.dirname(path), _name(path)) for path in some)
            self.store.change((f"{new} VALUES (?, ?, ?, '', 0, 0, 0, 0, 1)", row) for row in rows)
        if changes:
            self.store.change(changes)

    def _written(self, path: bytes) -> list[Change]:
        """What to change for a folder that is to be read."""
        folder = self.folder(path)
        stamp = stamp_of(folder)
        try:
            read = read_entry(folder) if stamp else None
        except OSError:
            read = None
        if read is None:  # what else is in it is found where the folder above is listed again
            return [(FORGET, (path,)), ("UPDATE folders SET stamp = '' WHERE path = ?", (os.path.dirname(path),))]
        entry = read.entry
        loose = entry is None or read.draft or entry.cut_short in (UNFINISHED, NO_RECORD)
        place = (path, os.path.dirname(path), _name(path), stamp)
        row = (*place, read.bytes, read.recorded_s, read.may_go, entry is not None, loose, *_filters(entry))
        changes: list[Change] = [(FORGET, (path,))]
        changes.append((f"INSERT INTO attempts VALUES ({', '.join('?' * len(row))})", row))
        if entry is not None:
            changes.append(("INSERT INTO shown VALUES (?, ?)", (path, entry.to_json())))
            sql = "INSERT INTO players VALUES (?, ?, ?)"
            changes += [(sql, (_text(player), path, seat)) for seat, player in enumerate(entry.players)]
        return changes


def _filters(entry: Entry | None) -> tuple[object, ...]:
    """The columns that lists are narrowed down and sorted by."""
    if entry is None:
        return (None,) * 10
    rulings = "".join(f" {ruling} " for _, ruling, _ in entry.verdicts)
    close = any(quarrel.kind == "close" for quarrel in entry.why)
    told = (_text(entry.card), _text(entry.match), entry.duel, _text(rulings), entry.margin, not entry.why, close)
    return (*told, entry.overruled, bool(entry.reviewed_by), entry.cut_short and _text(entry.cut_short))


def _text(value: str) -> str:
    """Text that a database takes: halves of letters become '?'."""
    return value.encode("utf-8", "replace").decode("utf-8")


def _batched(rows: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    return (rows[n : n + size] for n in range(0, len(rows), size))


def _name(path: bytes) -> str:
    return os.path.basename(path).decode("utf-8", "replace")


def _time_of(folder: Path, now_ns: int) -> str:
    """What changes when the folder's list of files does; empty while it may change unseen."""
    try:
        told = os.stat(folder)
    except OSError:
        return ""
    return "" if now_ns - told.st_mtime_ns < RACY_NS else f"{told.st_ino} {told.st_mtime_ns}"


def _children(known: Iterable[bytes]) -> dict[bytes, list[bytes]]:
    """Folder -> the known folders directly in it."""
    found: dict[bytes, list[bytes]] = {}
    for path in known:
        if path != ROOT:
            found.setdefault(os.path.dirname(path), []).append(path)
    return found


@dataclass
class _Listed:
    """What is new in a folder: paths of attempts that have ``come``, and of other folders; bytes of its own files."""

    came: list[bytes] = field(default_factory=list)
    folders: list[bytes] = field(default_factory=list)
    size: int = 0


def _names(folder: Path) -> list[bytes]:
    """What is in a folder; nothing where it is none, or one that nobody may look into."""
    try:
        return os.listdir(os.fsencode(folder))
    except OSError:
        return []


def _against(known: Set[bytes], names: Sequence[bytes]) -> tuple[list[bytes], Set[bytes]]:
    """Names that are not known, and what is known and not among them."""
    new = [name for name in names if name not in known]
    return new, known - set(names) if len(names) - len(new) < len(known) else set()


def _list(folder: Path, path: bytes, names: Iterable[bytes]) -> _Listed:
    """What those ``names`` in a folder are. What the index holds as an attempt is not asked again: one without its
    record is found by its stamp."""
    top = os.fsencode(folder)
    found = _Listed()
    for name in names:
        place, below = os.path.join(top, name), os.path.join(path, name)
        if name.startswith(GONE.encode()):
            continue
        if not os.path.isdir(place):
            found.size += _size_of(place)
        elif name.startswith(b"."):  # a draft: nothing in it is listed
            found.size += bytes_of(Path(os.fsdecode(place)))
        elif os.path.exists(os.path.join(place, META.encode())):
            found.came.append(below)
        else:
            found.folders.append(below)
    return found


def _size_of(file: bytes) -> int:
    try:
        return os.lstat(file).st_size
    except OSError:
        return 0
