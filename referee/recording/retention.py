"""The disk budget of an archive: contested attempts stay, the oldest uncontested go first, never silently."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from referee.recording.errors import BadAttempt
from referee.recording.folder import contested, find_attempts, load_attempt

LOG = "retention.jsonl"


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
    alone. ``free`` gives the disk's free bytes (default: asks the file system).
    """
    free = free or (lambda: shutil.disk_usage(root).free)
    sizes = {f: size_of(f) for f in sorted(find_attempts(root), key=_age) if f != busy}
    over = max(total_of(root) - budget.most_bytes, budget.free_bytes - free())
    removed = []
    for folder, size in sizes.items():
        if over <= 0:
            break
        if _may_go(folder):
            _remove(root, folder, size, now)
            removed.append(Removed(folder.name, size))
            over -= size
    if over <= 0:
        return removed, None
    return removed, f"{over >> 20} MB over the disk budget and only contested attempts are left"


def _age(folder: Path) -> tuple[float, str]:
    return ((folder / "attempt.json").stat().st_mtime, folder.name)


def _may_go(folder: Path) -> bool:
    try:
        attempt = load_attempt(folder)
        return not contested(attempt.meta, attempt.reviews())
    except (BadAttempt, ValueError):
        return False  # what cannot be read cannot be called uncontested


def _remove(root: Path, folder: Path, size: int, now: datetime) -> None:
    row = {"at": now.isoformat(), "removed": folder.name, "bytes": size, "why": "disk budget, uncontested"}
    with open(root / LOG, "a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")
    shutil.rmtree(folder)
