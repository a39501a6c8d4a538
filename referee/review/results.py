"""The results of judging an archive again, on the disk one by one: SQLite, so that a million are not read at once."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from referee.recording.errors import BadAttempt

RESULTS = "results.sqlite"
TABLE = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, attempt TEXT, changed INTEGER, row TEXT)"


class Results:
    """What has been judged so far, by key. A result is on the disk when ``add`` returns, whatever kills the program.

    A failure is no result: it is not kept.
    """

    def __init__(self, out: Path) -> None:
        """Open those in the folder ``out``. Raises BadAttempt where they are something else or cannot be written."""
        path = out / RESULTS
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(TABLE)
            self._db.execute("SELECT key, attempt, changed, row FROM results LIMIT 1")
        except sqlite3.Error as error:
            raise BadAttempt(f"{path}: {error}; take another folder, or remove it") from None

    def add(self, key: str, row: Mapping) -> None:
        """Keep a result. Raises BadAttempt on a full disk."""
        told = (key, row["attempt"], bool(row["changed"]), json.dumps(row, ensure_ascii=False))
        try:
            self._db.execute("REPLACE INTO results VALUES (?, ?, ?, ?)", told)
        except sqlite3.OperationalError as error:
            raise BadAttempt(f"{RESULTS}: {error}; the same command goes on") from None

    def done(self, keys: Iterable[str]) -> set[str]:
        """Which of these are there."""
        return set(self.keys()) & set(keys)

    def get(self, key: str) -> dict | None:
        """The row of that key."""
        found = self._db.execute("SELECT row FROM results WHERE key = ?", (key,)).fetchone()
        return json.loads(found[0]) if found else None

    def keys(self) -> list[str]:
        """The keys of all that is there."""
        return [key for (key,) in self._db.execute("SELECT key FROM results")]

    def names(self) -> list[str]:
        """The attempts that were judged, in the order of time."""
        return [name for (name,) in self._db.execute("SELECT attempt FROM results ORDER BY rowid")]

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


class Rows(Sequence[dict]):
    """The rows of keys in their order, read when they are asked for; ``failed``: rows of what could not be judged."""

    def __init__(self, out: Path, keys: Sequence[str], failed: Mapping[str, dict]) -> None:
        self._results, self._keys, self._failed = Results(out), list(keys), dict(failed)

    def close(self) -> None:
        """Let go of the file; nothing can be read afterwards."""
        self._results.close()

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, at: Any) -> Any:
        keys = self._keys[at]
        return self._row(keys) if isinstance(keys, str) else [self._row(key) for key in keys]

    def __iter__(self) -> Iterator[dict]:
        return map(self._row, self._keys)

    def _row(self, key: str) -> dict:
        row = self._failed.get(key) or self._results.get(key)
        if row is None:
            raise BadAttempt(f"{RESULTS}: a result has gone while it was read")
        return row
