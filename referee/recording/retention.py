"""The disk budget of an archive: contested attempts stay, the oldest uncontested go first, never silently."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cards.sentences import sentence
from referee.recording.entry import bytes_of
from referee.recording.errors import BadAttempt
from referee.recording.folder import contested, load_attempt
from referee.recording.index import Index

LOG = "retention.jsonl"

EVENING = timedelta(hours=12)
"""What was recorded so lately belongs to the evening in progress."""


@dataclass(frozen=True)
class Budget:
    """How much an archive may take, and how much of the disk it must leave free, in bytes."""

    most_bytes: int = 40 << 30
    free_bytes: int = 2 << 30


@dataclass(frozen=True)
class Removed:
    """An attempt that went to make room."""

    name: str
    size_bytes: int


def removals(root: Path) -> list[dict]:
    """What has gone from the archive at ``root`` to make room, oldest first: ``at``, ``removed``, ``bytes``."""
    try:
        return [json.loads(line) for line in (root / LOG).read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return []


def make_room(
    root: Path,
    budget: Budget,
    now: datetime,
    busy: Path | None = None,
    free: Callable[[], int] | None = None,
    index: Index | None = None,
) -> tuple[list[Removed], str | None]:
    """Remove the oldest uncontested attempts until the budget holds; gives them, and a warning or None.

    Each removal is a line in ``retention.jsonl`` before it happens. ``busy`` is being recorded and is left
    alone, and so is what was recorded within EVENING before ``now``: players may still ask for it. ``free`` gives the
    disk's free bytes (default: asks the file system). ``index`` is the archive's as it stands; without one the archive
    is read. What the index proposes goes only when the folder itself says so too.
    """
    free = free or (lambda: shutil.disk_usage(root).free)
    removed = []
    with _index_of(root, index) as known:
        over = max(known.total_bytes() - budget.most_bytes, budget.free_bytes - free())
        candidates = known.may_go() if over > 0 else iter(())
        for folder, _, _ in candidates:
            if over <= 0:
                break
            if folder == busy or not _may_go(folder, now):
                continue
            size = bytes_of(folder)
            _remove(root, folder, size, now)
            known.forget(folder)
            removed.append(Removed(folder.name, size))
            over -= size
    if over <= 0:
        return removed, None
    return removed, sentence("recording_budget", n=over >> 20)


@contextmanager
def _index_of(root: Path, index: Index | None) -> Iterator[Index]:
    """The index that is given, or one of this moment."""
    if index is not None:
        yield index
        return
    made = Index(root, kept=False)
    try:
        made.refresh()
        yield made
    finally:
        made.close()


def _may_go(folder: Path, now: datetime) -> bool:
    try:
        attempt = load_attempt(folder)
        return not _of_tonight(attempt.meta.get("recorded_at"), now) and not contested(attempt.meta, attempt.reviews())
    except (BadAttempt, ValueError):
        return False  # what cannot be read cannot be called uncontested


def _of_tonight(recorded_at: object, now: datetime) -> bool:
    """Whether it was recorded within the evening in progress; not where the record does not say when."""
    if recorded_at is None:
        return False
    said = datetime.fromisoformat(str(recorded_at))
    return timedelta(0) <= now - (said if said.tzinfo else said.replace(tzinfo=UTC)) < EVENING


def _remove(root: Path, folder: Path, size: int, now: datetime) -> None:
    row = {"at": now.isoformat(), "removed": folder.name, "bytes": size, "why": "disk budget, uncontested"}
    with open(root / LOG, "a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")
    shutil.rmtree(folder)
