"""The disk budget of an archive: contested attempts stay, the oldest uncontested go first, never silently."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cards.sentences import sentence
from referee.recording.errors import BadAttempt
from referee.recording.folder import META, contested, find_attempts, load_attempt

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


def size_of(folder: Path) -> int:
    """Bytes of all files of the folder."""
    return sum(p.stat().st_size for p in folder.iterdir() if p.is_file())


def total_of(root: Path) -> int:
    """Bytes of everything under the archive, whatever it belongs to."""
    total = 0
    for path in root.rglob("*"):
        with suppress(FileNotFoundError):  # a draft that has just got its name
            total += path.stat().st_size if path.is_file() else 0
    return total


def make_room(
    root: Path, budget: Budget, now: datetime, busy: Path | None = None, free: Callable[[], int] | None = None
) -> tuple[list[Removed], str | None]:
    """Remove the oldest uncontested attempts until the budget holds; gives them, and a warning or None.

    Each removal is a line in ``retention.jsonl`` before it happens. ``busy`` is being recorded and is left
    alone, and so is what was recorded within EVENING before ``now``: players may still ask for it. ``free`` gives the
    disk's free bytes (default: asks the file system).
    """
    free = free or (lambda: shutil.disk_usage(root).free)
    sizes = {f: size_of(f) for f in sorted(find_attempts(root), key=_age) if f != busy}
    over = max(total_of(root) - budget.most_bytes, budget.free_bytes - free())
    removed = []
    for folder, size in sizes.items():
        if over <= 0:
            break
        if _may_go(folder, now):
            _remove(root, folder, size, now)
            removed.append(Removed(folder.name, size))
            over -= size
    if over <= 0:
        return removed, None
    return removed, sentence("recording_budget", n=over >> 20)


def _age(folder: Path) -> tuple[datetime, str]:
    return (_recorded_at(folder), folder.name)


def _recorded_at(folder: Path) -> datetime:
    """When it was recorded, as its record says: a copied file's time is the copy's. Without that, the file's time."""
    try:
        said = datetime.fromisoformat(str(load_attempt(folder).meta.get("recorded_at")))
        return said if said.tzinfo else said.replace(tzinfo=UTC)
    except (BadAttempt, ValueError):
        return datetime.fromtimestamp((folder / META).stat().st_mtime, UTC)


def _may_go(folder: Path, now: datetime) -> bool:
    try:
        attempt = load_attempt(folder)
        tonight = timedelta(0) <= now - _recorded_at(folder) < EVENING and "recorded_at" in attempt.meta
        return not tonight and not contested(attempt.meta, attempt.reviews())
    except (BadAttempt, ValueError):
        return False  # what cannot be read cannot be called uncontested


def _remove(root: Path, folder: Path, size: int, now: datetime) -> None:
    row = {"at": now.isoformat(), "removed": folder.name, "bytes": size, "why": "disk budget, uncontested"}
    with open(root / LOG, "a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")
    shutil.rmtree(folder)
