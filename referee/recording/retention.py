"""What goes from an archive, never silently: the oldest uncontested attempts, to hold its disk budget, and what people
ask to be removed.

An attempt goes in two steps: it is taken out of the archive by a new name of its folder, which costs nothing, and its
files are deleted later, beside. What a kill leaves between the two is no attempt any more, and goes at the next start.
"""

import json
import shutil
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from cards.sentences import sentence
from referee.errors import BadAttempt
from referee.recording.folder import DELETED_PREFIX, append_line, bytes_of, contest_reasons, load_attempt
from referee.recording.index import Index
from referee.recording.writer import UNFINISHED

LOG = "retention.jsonl"

CURRENT_EVENING = timedelta(hours=12)
"""What was recorded so lately belongs to the evening in progress."""


@dataclass(frozen=True)
class Budget:
    """How much an archive may take, and how much of the disk it must leave free, in bytes."""

    most_bytes: int = 40 << 30
    free_bytes: int = 2 << 30


@dataclass(frozen=True)
class Removed:
    """An attempt that went to make room; ``left``: where its files wait to be deleted."""

    name: str
    size_bytes: int
    left: Path


class Remover:
    """Deletes what was taken out of an archive, on a thread of its own."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="disk budget")
        self._waiting: dict[Future[None], int] = {}

    @property
    def pending_bytes(self) -> int:
        """Bytes that are not free yet, and will be."""
        self._waiting = {job: size for job, size in self._waiting.items() if not job.done()}
        return sum(self._waiting.values())

    def delete(self, removed: Sequence[Removed]) -> None:
        """Delete them, by and by; what cannot be deleted now is tried at the next start."""
        for one in removed:
            self._waiting[self._pool.submit(shutil.rmtree, one.left, ignore_errors=True)] = one.size_bytes

    def close(self) -> None:
        """Wait until everything is deleted."""
        self._pool.shutdown()


def read_removals(root: Path) -> Sequence[dict]:
    """What has gone from the archive at ``root``, oldest first: ``at``, ``removed``, ``bytes``, ``why`` and, where it
    went on request, ``who`` removed it."""
    log = root / LOG
    try:
        told = log.stat()
    except FileNotFoundError:
        return ()
    return _removals(log, (told.st_mtime_ns, told.st_size))


@lru_cache(maxsize=4)
def _removals(log: Path, stamp: tuple[int, int]) -> tuple[dict, ...]:
    return parse_removals(log.read_text(encoding="utf-8"))


def parse_removals(text: str) -> tuple[dict, ...]:
    """``read_removals`` as this text of a log tells them."""
    gone: list[dict] = []
    for line in text.splitlines():
        with suppress(ValueError, AttributeError, KeyError):  # a line torn by a full disk or a kill
            row = json.loads(line)
            if isinstance(row.get("removed"), str):
                gone.append(row)
            elif gone and gone[-1]["removed"] == row["kept"]:
                gone.pop()
    return tuple(gone)


def make_room(
    root: Path, budget: Budget, now: datetime, index: Index, free: int, busy: Path | None = None
) -> tuple[list[Removed], str | None]:
    """Take the oldest uncontested attempts out of the archive until the budget holds; gives them, and a warning if any.

    Their files are still to be deleted: ``Remover``. Each removal is a line in ``retention.jsonl`` before it happens,
    and one more where it then could not be. ``busy`` is being recorded and is left alone, and so is what was recorded
    within CURRENT_EVENING before ``now``: players may still ask for it. ``free`` is the disk's free bytes.
    ``index`` is the archive's as it stands; what it proposes goes only when the folder itself says so too.
    """
    removed, gone = list[Removed](), list[Path]()
    over = max(index.total_bytes() - budget.most_bytes, budget.free_bytes - free)
    candidates = index.may_go()
    while over > 0 and (candidate := next(candidates, None)):
        folder, _, size = candidate
        if folder == busy or not _may_go(folder, now):
            continue
        one = _taken_out(root, folder, size, now, why="disk budget, uncontested")
        if isinstance(one, Removed):
            gone.append(folder)
            removed.append(one)
            over -= size
    index.forget(*gone)
    if over <= 0:
        return removed, None
    return removed, sentence("recording_budget", n=over >> 20)


def free_bytes(root: Path) -> int:
    """What the disk of the archive has left."""
    return shutil.disk_usage(root).free


def _may_go(folder: Path, now: datetime) -> bool:
    try:
        attempt = load_attempt(folder)
        recorded_at = attempt.meta.get("recorded_at")  # None: of no evening that is known
        tonight = recorded_at is not None and _of_tonight(str(recorded_at), now)
        return not tonight and not contest_reasons(attempt.meta, attempt.reviews())
    except (BadAttempt, ValueError):
        return False  # what cannot be read cannot be called uncontested


def _of_tonight(recorded_at: str, now: datetime) -> bool:
    """Whether it was recorded within the evening in progress."""
    said = datetime.fromisoformat(recorded_at)
    return timedelta(0) <= now - (said if said.tzinfo else said.replace(tzinfo=UTC)) < CURRENT_EVENING


def remove_on_request(index: Index, folder: Path, now: datetime, who: str) -> str | None:
    """Take the attempt out of the index's archive and delete its files, contested or not: None, or why it stays.

    ``who`` removes it, for the line in ``retention.jsonl``; whom it shows is not written there. One that is not
    finished stays while it may be recording: within CURRENT_EVENING before ``now``.
    """
    try:
        meta = load_attempt(folder).meta
        if meta.get("cut_short") == UNFINISHED and _of_tonight(str(meta.get("recorded_at")), now):
            return "it may still be recording"
    except (BadAttempt, ValueError) as error:
        return str(error)
    one = _taken_out(index.root, folder, bytes_of(folder), now, why="on request", who=who)
    if isinstance(one, str):
        return one
    index.forget(folder)
    shutil.rmtree(one.left, ignore_errors=True)
    return f"{one.left.name} could not be deleted" if one.left.exists() else None


def _taken_out(root: Path, folder: Path, size_bytes: int, now: datetime, **more: str) -> Removed | str:
    """The folder, out of the archive; or why it stays."""
    one = Removed(folder.name, size_bytes, folder.with_name(f"{DELETED_PREFIX}{folder.name}"))
    append_line(root / LOG, {"at": now.isoformat(), "removed": one.name, "bytes": size_bytes, **more})
    try:
        folder.rename(one.left)
    except OSError as error:
        why = error.strerror or str(error)
        append_line(root / LOG, {"at": now.isoformat(), "kept": one.name, "why": why})
        return why
    return one
