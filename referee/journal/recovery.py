"""Getting a match back out of a damaged SQLite journal: everything before the damage, often more.

Each event's line proves itself (``referee.journal.chain``), so it is enough to find lines: in the raw
bytes of the file and its WAL, and through SQLite as far as it gets (lines longer than a page). What is
kept of a match is the unbroken chain from its first event; the original is never written to.
"""

import os
import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from referee.errors import JournalDamaged, RefereeError
from referee.events import Event
from referee.files import put_in_place, write_whole
from referee.journal.chain import Entry, longest_chains, parse_line
from referee.journal.journal import OLD_ID, Journal
from referee.journal.lines import LineCopy
from referee.journal.spool import SpooledJournal
from referee.match.evolve import fold

_START = re.compile(rb'\{"hash":"[0-9a-f]{64}","event":')
_END = re.compile(rb',"match":"(?:[^"\\]|\\.)*","prev":"[0-9a-f]{64}","seq":[0-9]+\}')
_LONGEST = 1 << 20


@dataclass(frozen=True)
class Salvage:
    """What was kept: match -> events in an unbroken chain, of so many (``recorded``) that there were at least;
    ``beyond``: proven events after a gap, which no chain leads to and which a human must confirm."""

    kept: dict[str, int]
    recorded: dict[str, int]
    beyond: dict[str, list[Entry]]
    fault: str

    def text(self) -> str:
        """One line for the user."""
        rows = [f"{m}: {n} of {self.recorded[m]} events kept" for m, n in sorted(self.kept.items())]
        rows += [
            f"{m}: {len(rest)} events after a gap wait to be confirmed (referee journal salvage --confirm)"
            for m, rest in sorted(self.beyond.items())
        ]
        return "; ".join([self.fault, *(rows or ["no event could be read"])])


Files = dict[str, bytes]
"""The bytes of a journal and of its WAL, by the end of their names."""

Confirm = Callable[[str, int, list[Entry]], str | None]
"""Asks a human whether events beyond a gap are right: match, how many are kept before it, those after. Gives the
name of who confirms, None when nobody does."""


def carve_events(files: Files) -> list[Entry]:
    """Every proven event that the journal's files (``read_files``) still hold, in any order."""
    found = [entry for data in files.values() for entry in _carved(data)]
    known = {entry.hash for entry in found}
    selected = map(_proven, _still_read(files, "SELECT line FROM events"))
    return found + [entry for entry in selected if entry is not None and entry.hash not in known]


def _still_read(files: Files, query: str) -> list[bytes]:
    """The one column of a query that SQLite still reads out of a copy of the files, until it gives up."""
    found = []
    with tempfile.TemporaryDirectory(prefix="referee-") as folder:
        for suffix, data in files.items():
            Path(folder, f"copy.db{suffix}").write_bytes(data if suffix else _padded(data))
        with closing(sqlite3.connect(Path(folder, "copy.db"))) as connection, suppress(sqlite3.Error):
            connection.text_factory = bytes
            for (cell,) in connection.execute(query):
                found.append(cell)
    return [cell for cell in found if isinstance(cell, bytes)]


def read_files(path: Path) -> Files:
    """The bytes of the journal and its WAL, by the end of their names."""
    both = {suffix: Path(f"{path}{suffix}") for suffix in ("", "-wal")}
    return {suffix: file.read_bytes() for suffix, file in both.items() if file.is_file()}


def _carved(data: bytes) -> list[Entry]:
    found = (_entry_at(data, start.start()) for start in _START.finditer(data))
    return list({entry.hash: entry for entry in found if entry is not None}.values())


def _entry_at(data: bytes, start: int) -> Entry | None:
    """The event whose line begins there, or None when it does not prove itself."""
    end = _END.search(data, start, start + _LONGEST)
    return _proven(data[start : end.end()]) if end else None


def _padded(data: bytes) -> bytes:
    """The file with its cut-off pages as zeros: shorter than its header says, SQLite reads none of it."""
    pages, page_bytes = int.from_bytes(data[28:32], "big"), int.from_bytes(data[16:18], "big")
    return data.ljust(min(pages * page_bytes, len(data) + _LONGEST * 64), b"\0")


def _proven(line: bytes) -> Entry | None:
    try:
        return parse_line(line.decode())
    except (ValueError, KeyError, TypeError):
        return None


def copy_path(path: str | Path) -> LineCopy:
    """The second copy beside a journal file."""
    return LineCopy(Path(f"{path}.lines"))


def salvage(path: str | Path, target: str | Path, fault: str = "", confirm: Confirm | None = None) -> Salvage:
    """Write what can be proven from the damaged file ``path`` and its second copy into a new journal ``target``.

    ``confirm`` is asked about events beyond a gap that can follow what is kept before it.
    """
    files = read_files(Path(path))
    return _write(carve_events(files) + copy_path(path).entries(), files, target, fault, confirm)


def _write(found: list[Entry], files: Files, target: str | Path, fault: str, confirm: Confirm | None = None) -> Salvage:
    """``files``: the damaged ones, which list their matches in the order of their beginning."""
    if Path(target).exists():
        raise JournalDamaged(f"{target} exists already: salvage writes a new file")
    begun = [row.decode(errors="replace") for row in _still_read(files, "SELECT match_id FROM matches ORDER BY number")]
    kept, beyond = longest_chains(found)
    recorded = {m: max([len(c), *(entry.seq for entry in beyond[m])]) for m, c in kept.items()}
    with closing(Journal(target)) as journal:
        for match_id in sorted(kept, key=lambda m: (begun.index(m) if m in begun else len(begun), m)):
            events = [entry.event for entry in kept[match_id]]
            said = OLD_ID.fullmatch(match_id)
            journal.append(match_id, events, after=0, table=(said and said[1]) or "")
            if confirm and _follow(events, beyond[match_id]):
                who = confirm(match_id, len(events), beyond[match_id])
                confirmed = [
                    replace(one.event, who=f"{one.event.who} (event {one.seq}, confirmed by {who} after a gap)".strip())
                    for one in beyond[match_id]
                    if who
                ]
                journal.append(match_id, confirmed, after=len(events))
                beyond[match_id] = [] if who else beyond[match_id]
        counts = {match_id: journal.head(match_id)[0] for match_id in kept}
    return Salvage(counts, recorded, {m: rest for m, rest in beyond.items() if rest}, fault)


def _follow(events: list[Event], rest: list[Entry]) -> bool:
    """Whether the rules let the events beyond the gap follow those before it."""
    try:
        fold([*events, *(entry.event for entry in rest)])
    except (RefereeError, KeyError, TypeError, ValueError):
        return False
    return bool(events and rest)


def check_journal(journal: Journal) -> dict[str, int]:
    """Verify the chain, and that no event stands in the file which the tables do not know.

    Gives match -> number of events. Raises JournalDamaged.
    """
    if journal.url.drivername != "sqlite":
        return journal.verify()
    data = Path(journal.url.database or "").read_bytes()  # before the tables: another program may be writing
    counts = journal.verify()
    known = {entry.hash for match_id in counts for entry in journal.entries(match_id)}
    for entry in _carved(data):
        if entry.hash not in known:
            raise JournalDamaged(
                f"{journal.name}: match {entry.match_id}: event {entry.seq} is in the file but in no table"
            )
    return counts


def open_sound(path: str | Path) -> tuple[Journal, Salvage | None]:
    """The journal in a file, checked, with its second copy, and a report when it was damaged.

    A damaged file is kept as ``NAME.damaged-N``; what it and the copy prove goes on in a new one. So it is with a
    file that holds less than its copy, or is gone.
    """
    files, copy = read_files(Path(path)), copy_path(path)
    copied = copy.entries()  # before the file: another program may be writing
    report: Salvage | None = None
    try:
        journal = Journal(path, copy=copy)
        try:
            check_journal(journal)
            heads = {entry.match_id: journal.head(entry.match_id)[0] for entry in copied}
            behind = sum(entry.seq > heads[entry.match_id] for entry in copied)
            if behind:  # the copy follows the file
                raise JournalDamaged(f"{journal.name}: {behind} events are missing that its second copy holds")
        except JournalDamaged:
            journal.close()
            raise
    except JournalDamaged as error:
        journal, report = _replaced(Path(path), files, copied, str(error))
    for match_id in journal.matches():
        with suppress(OSError):  # on a full disk that waits until the next start
            copy.catch_up(journal.entries(match_id))
    return journal, report


def open_server(url: str, table: str, copy: Path, shared: bool = False) -> SpooledJournal:
    """The server's store for one table, checked; ``copy`` is this machine's own of its events, and goes on alone while
    the server is away.

    A ``shared`` table is not this program's alone. A damaged store is left to its administrator: JournalDamaged.
    """
    store = Journal(url, hold=None if shared else table, later=True)
    return SpooledJournal(store, LineCopy(copy), table, shared)


def _replaced(path: Path, files: Files, copied: list[Entry], fault: str) -> tuple[Journal, Salvage]:
    """Keep the damaged files as they were before anybody opened them, and go on in a new one."""
    n = 1
    while (aside := path.with_name(f"{path.name}.damaged-{n}")).exists():
        n += 1
    for suffix, data in files.items():
        write_whole(Path(f"{aside}{suffix}"), data)
    fresh = path.with_name(f"{path.name}.salvaged-{os.getpid()}")
    kept_as = f" (the damaged file is kept as {aside.name})" if files else ""
    report = _write(carve_events(files) + copied, files, fresh, fault + kept_as)
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    put_in_place(fresh, path)
    if copied:  # what could not be kept stays there for a human; the new file gets a copy of its own
        copy_path(path).path.replace(f"{aside}.lines")
    return Journal(path, copy=copy_path(path)), report
