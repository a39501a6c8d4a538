"""Room made in an archive without a recorder: by an index of this moment, where none is given."""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

from referee.recording import retention
from referee.recording.index import Index
from referee.recording.retention import Budget, Removed


def make_room(
    root: Path,
    budget: Budget,
    now: datetime,
    busy: Path | None = None,
    free: Callable[[], int] | None = None,
    index: Index | None = None,
) -> tuple[list[Removed], str | None]:
    """What went, and a warning if any; ``free`` is the disk's free bytes, without it the file system's."""
    left = free() if free else retention.free_bytes(root)
    if index is not None:
        return retention.make_room(root, budget, now, index, left, busy)
    with closing(Index(root, kept=False)) as made:
        made.refresh()
        return retention.make_room(root, budget, now, made, left, busy)
