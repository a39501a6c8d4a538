"""Getting a match back out of a damaged SQLite journal: everything before the damage, often more.

Each event's line proves itself (``referee.journal``), so it is enough to find lines: in the raw
bytes of the file and its WAL, and through SQLite as far as it gets (lines longer than a page). What is
kept of a match is the unbroken chain from its first event; the original is never written to.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from referee.errors import JournalDamaged
from referee.journal import GENESIS, Entry, Journal, parse_line

_START = re.compile(rb'\{"hash":"[0-9a-f]{64}","event":')
_END = re.compile(rb',"match":"(?:[^"\\]|\\.)*","prev":"[0-9a-f]{64}","seq":[0-9]+\}')
_LONGEST = 1 << 20


@dataclass(frozen=True)
class Salvage:
    """What was kept: match -> events in an unbroken chain; ``beyond``: proven events after a gap."""

    kept: dict[str, int]
    beyond: dict[str, int]
    fault: str

    def text(self) -> str:
        """One line for the user."""
        rows = [f"{m}: {n} events kept" for m, n in sorted(self.kept.items())]
        rows += [f"{m}: {n} events after a gap left out" for m, n in sorted(self.beyond.items())]
        return "; ".join([self.fault, *(rows or ["no event could be read"])])


def carve(path: str | Path) -> list[Entry]:
    """Every proven event that the journal file and its WAL still hold, in any order."""
    return _found(_files(Path(path)))


def _found(files: dict[str, bytes]) -> list[Entry]:
    found = [entry for data in files.values() for entry in _carved(data)]
    known = {entry.hash for entry in found}
    return found + [entry for entry in _selected(files) if entry.hash not in known]


def _selected(files: dict[str, bytes]) -> list[Entry]:
    """Proven events that SQLite still reads out of a copy of the files, until it gives up."""
    found = []
    with tempfile.TemporaryDirectory(prefix="referee-") as folder:
        for suffix, data in files.items():
            Path(folder, f"copy.db{suffix}").write_bytes(data if suffix else _padded(data))
        with closing(sqlite3.connect(Path(folder, "copy.db"))) as connection, suppress(sqlite3.Error):
            connection.text_factory = bytes
            for (line,) in connection.execute("SELECT line FROM events"):
                found.append(_proven(line) if isinstance(line, bytes) else None)
    return [entry for entry in found if entry is not None]


def _files(path: Path) -> dict[str, bytes]:
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


def chains(entries: Iterable[Entry]) -> tuple[dict[str, list[Entry]], dict[str, int]]:
    """Per match the longest unbroken chain from the first event, and how many proven events lie beyond."""
    by_match: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        by_match.setdefault(entry.match_id, {})[entry.prev] = entry
    kept, beyond = {}, {}
    for match_id, after in by_match.items():
        chain, prev = [], GENESIS
        while prev in after and after[prev].seq == len(chain) + 1:
            chain.append(after[prev])
            prev = chain[-1].hash
        kept[match_id], beyond[match_id] = chain, len(after) - len(chain)
    return kept, beyond


def salvage(path: str | Path, target: str | Path, fault: str = "") -> Salvage:
    """Write what can be proven from the damaged file ``path`` into a new journal ``target``."""
    return _write(carve(path), target, fault)


def _write(found: list[Entry], target: str | Path, fault: str) -> Salvage:
    if Path(target).exists():
        raise JournalDamaged(f"{target} exists already: salvage writes a new file")
    kept, beyond = chains(found)
    journal = Journal(target)
    try:
        for match_id, chain in sorted(kept.items()):
            journal.append(match_id, [entry.event for entry in chain], after=0)
    finally:
        journal.close()
    return Salvage({m: len(c) for m, c in kept.items()}, {m: n for m, n in beyond.items() if n}, fault)


def check(journal: Journal) -> dict[str, int]:
    """Verify the chain, and that no event stands in the file which the tables do not know.

    Gives match -> number of events. Raises JournalDamaged.
    """
    if journal.url.drivername != "sqlite":
        return journal.verify()
    data = Path(journal.url.database).read_bytes()  # before the tables: another program may be writing
    counts = journal.verify()
    known = {entry.hash for match_id in counts for entry in journal.entries(match_id)}
    for entry in _carved(data):
        if entry.hash not in known:
            raise JournalDamaged(
                f"{journal.name}: match {entry.match_id}: event {entry.seq} is in the file but in no table"
            )
    return counts


def open_sound(path: str | Path) -> tuple[Journal, Salvage | None]:
    """The journal, checked, and a report when it was damaged.

    A damaged file is kept as ``NAME.damaged-N``; what it proves goes on in a new one. A damaged
    PostgreSQL store is left to its administrator: JournalDamaged.
    """
    if "://" in str(path):
        return _sound(Journal(path)), None
    files = _files(Path(path))
    try:
        return _sound(Journal(path)), None
    except JournalDamaged as error:
        return _replaced(Path(path), files, str(error))


def _sound(journal: Journal) -> Journal:
    """The journal, checked; closed when it is damaged."""
    try:
        check(journal)
    except JournalDamaged:
        journal.close()
        raise
    return journal


def _replaced(path: Path, files: dict[str, bytes], fault: str) -> tuple[Journal, Salvage]:
    """Keep the damaged files as they were before anybody opened them, and go on in a new one."""
    n = 1
    while (aside := path.with_name(f"{path.name}.damaged-{n}")).exists():
        n += 1
    for suffix, data in files.items():
        Path(f"{aside}{suffix}").write_bytes(data)
    fresh = path.with_name(f"{path.name}.salvaged-{os.getpid()}")
    report = _write(_found(files), fresh, f"{fault} (the damaged file is kept as {aside.name})")
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    fresh.replace(path)
    return Journal(path), report
