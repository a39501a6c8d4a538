"""The second, independent copy of a record: a text file, one event a line, only ever added to.

Each line is the one that the store holds (``referee.journal.chain``) and proves itself, so that the copy needs no
index and no database to be read; what is damaged in it costs that line alone. Beside a file's record it follows the
store. Beside a server's it comes first (``referee.journal.spool``).
"""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from referee.journal.chain import Entry, parse_line


class LineCopy:
    """The copy at ``path``. Thread-safe; every ``append`` is on disk when it returns."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._written = False

    def append(self, lines: Sequence[str]) -> None:
        """Add these lines, all or none. May raise OSError: then none was added."""
        data = "".join(line + "\n" for line in lines).encode()
        with self._lock, open(self.path, "ab", buffering=0) as file:
            before = os.fstat(file.fileno()).st_size
            torn = before > 0 and _last_byte(self.path) != b"\n"  # a kill in the middle of a line: it ends here
            try:
                written = file.write(b"\n" + data if torn else data)
                if written != len(data) + torn:
                    raise OSError(28, "No space left on device")
                os.fsync(file.fileno())
            except OSError:
                os.truncate(self.path, before)
                raise
            self._written = True

    def gone(self) -> bool:
        """Whether somebody has removed the file since it was written to."""
        return self._written and not self.path.exists()

    def entries(self) -> list[Entry]:
        """Every event that proves itself, in the order in which they were added, each once."""
        return list({entry.hash: entry for entry in self._proven()}.values())

    def _proven(self) -> Iterator[Entry]:
        data = self.path.read_bytes() if self.path.is_file() else b""
        for line in data.split(b"\n"):
            try:
                yield parse_line(line.decode())
            except (ValueError, KeyError, TypeError, RecursionError):
                continue

    def catch_up(self, entries: Iterable[Entry]) -> int:
        """Add those of these events that are not here yet; how many. May raise OSError."""
        known = {entry.hash for entry in self._proven()}
        missing = [entry.line for entry in entries if entry.hash not in known]
        if missing:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.append(missing)
        return len(missing)


def _last_byte(path: Path) -> bytes:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)
