"""An archive judged again: every attempt once, on both cores.

Each result is on disk before the next is taken in (``results``). A run that is interrupted or killed leaves those; the
same command goes on after them and does none of them again. What could not be judged (a file that could not be read, a
worker that died) is no result: it is tried again at the end of the run, and by the same command.
"""

import json
import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import cv2

from referee.errors import BadAttempt
from referee.recording.address import AttemptSource
from referee.review.options import RejudgeOptions, task_key
from referee.review.rejudge import judge_again
from referee.workers import end_with_parent

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

    def get(self, key: str) -> dict | None:
        """The row of that key."""
        found = self._db.execute("SELECT row FROM results WHERE key = ?", (key,)).fetchone()
        return json.loads(found[0]) if found else None

    def done(self) -> list[str]:
        """The keys of all that is there, in the order of time."""
        return [key for (key,) in self._db.execute("SELECT key FROM results ORDER BY rowid")]

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

    def _row(self, key: str) -> dict:
        row = self._failed.get(key) or self._results.get(key)
        if row is None:
            raise BadAttempt(f"{RESULTS}: a result has gone while it was read")
        return row


TRIES = 2
"""How often in a run an attempt is tried that could not be judged."""

Progress = Callable[[int, int], None]
Todo = dict[str, AttemptSource]
"""Key of a result -> the attempt that it is to be made of."""


class Interrupted(BadAttempt):
    """The run was interrupted; what is done is kept, and the same command goes on."""


def rejudge(
    attempts: Sequence[Path | AttemptSource],
    options: RejudgeOptions,
    out: Path,
    jobs: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Rows:
    """Judge the attempts again and give their rows in the order of ``attempts``; where one could not be judged its row
    says why in ``problem``.

    ``jobs`` processes (default: one a core; 1 judges in this process). ``progress`` is told (done, total). Raises
    Interrupted on Ctrl-C.
    """
    out.mkdir(parents=True, exist_ok=True)
    fingerprint = options.fingerprint()
    sources = [each if isinstance(each, AttemptSource) else AttemptSource(str(each)) for each in attempts]
    keys = {task_key(source, options, fingerprint): source for source in sources}
    results, problems = Results(out), dict[str, dict]()
    try:
        done = keys.keys() & results.done()
        progress(len(done), len(keys))
        for _ in range(TRIES):
            todo = {key: source for key, source in keys.items() if key not in done}
            for key, row in _work(todo, options, jobs):
                if row["problem"]:
                    problems[key] = row
                else:
                    results.add(key, row)
                    problems.pop(key, None)
                    done.add(key)
                progress(len(done | problems.keys()), len(keys))
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted after {len(done)} of {len(keys)}; the same command goes on") from None
    except BrokenProcessPool:
        raise Interrupted(f"a process died after {len(done)} of {len(keys)}; call again to go on") from None
    finally:
        results.close()
    return Rows(out, list(keys), problems)


def _work(todo: Todo, options: RejudgeOptions, jobs: int | None) -> Iterator[tuple[str, dict]]:
    jobs = min(jobs or os.cpu_count() or 1, len(todo))
    if not (options.look or options.watch) or jobs <= 1:  # rules alone cost less than starting a process
        return _in_this_process(todo, options)
    return _in_processes(todo, options, jobs)


def _in_this_process(todo: Todo, options: RejudgeOptions) -> Iterator[tuple[str, dict]]:
    cores = _cores()
    keep_to_core(0)
    try:
        yield from ((key, judge_again(source, options)) for key, source in todo.items())
    finally:
        if cores:
            os.sched_setaffinity(0, cores)


def _cores() -> list[int]:
    """The cores that this thread may use; none where the system does not tell (macOS, Windows)."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def keep_to_core(number: int) -> None:
    """Keep this thread, and those it starts, to one core: vision looks at two zones at once, and many
    workers with two threads each would only take turns. One job is one core."""
    if cores := _cores():
        os.sched_setaffinity(0, {cores[number % len(cores)]})


def _in_processes(todo: Todo, options: RejudgeOptions, jobs: int) -> Iterator[tuple[str, dict]]:
    context = multiprocessing.get_context("spawn")
    numbers = context.SimpleQueue()
    for number in range(jobs):
        numbers.put(number)
    pool = ProcessPoolExecutor(jobs, context, initializer=_be_one_of_many, initargs=(numbers,))
    try:
        futures = {pool.submit(judge_again, source, options): key for key, source in todo.items()}
        for future in as_completed(futures):
            yield futures.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _be_one_of_many(numbers: SimpleQueue) -> None:
    """A core of its own, deaf to Ctrl-C (the parent hears it), and no life after the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_to_core(numbers.get())
    cv2.setNumThreads(1)
    end_with_parent()
