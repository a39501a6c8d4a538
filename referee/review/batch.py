"""An archive judged again: every attempt once, on both cores or on a Dask cluster.

Each result is a line of ``results.jsonl``, on disk before the next is taken in. A run that is interrupted or
killed leaves those lines; the same command goes on after them and does none of them again.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import cv2

from referee.recording.errors import BadAttempt
from referee.review.options import Options, task_key
from referee.review.rejudge import judge_again
from referee.workers import end_with_parent

RESULTS = "results.jsonl"
RETRIES = 3
"""How often a Dask task whose worker died is given to another."""

Progress = Callable[[int, int], None]


class Interrupted(BadAttempt):
    """The run was interrupted; what is done is kept, and the same command goes on."""


def rejudge(
    folders: Sequence[Path],
    options: Options,
    out: Path,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress = lambda done, total: None,
) -> list[dict]:
    """Judge the attempts again and give their rows in the order of ``folders``.

    ``jobs`` processes (default: one a core; 1 judges in this process), or the Dask scheduler at
    ``scheduler``. ``progress`` is told (done, total). Raises Interrupted on Ctrl-C.
    """
    out.mkdir(parents=True, exist_ok=True)
    fingerprint = options.fingerprint()
    keys = {task_key(folder, options, fingerprint): str(folder) for folder in folders}
    rows = read_results(out / RESULTS, keys)
    todo = {key: folder for key, folder in keys.items() if key not in rows}
    progress(len(rows), len(keys))
    try:
        with open(out / RESULTS, "a", encoding="utf-8") as file:
            for key, row in _work(todo, options, jobs, scheduler):
                rows[key] = row
                _append(file, {"key": key, **row})
                progress(len(rows), len(keys))
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted after {len(rows)} of {len(keys)}; the same command goes on") from None
    except BrokenProcessPool:
        raise Interrupted(f"a process died after {len(rows)} of {len(keys)}; call again to go on") from None
    return [rows[key] for key in keys]


def read_results(path: Path, wanted: Iterable[str]) -> dict[str, dict]:
    """Key -> row of the results that are already there; a torn last line does not count."""
    wanted, found = set(wanted), {}
    if not path.exists():
        return {}
    lines = path.read_bytes().split(b"\n")
    if lines[-1]:  # torn by a kill: cut it off, so that the next line starts afresh
        os.truncate(path, path.stat().st_size - len(lines[-1]))
    for line in lines[:-1]:
        row = json.loads(line)
        if row["key"] in wanted:
            found[row.pop("key")] = row
    return found


def _append(file, row: dict) -> None:
    file.write(json.dumps(row, ensure_ascii=False) + "\n")
    file.flush()


def _work(
    todo: dict[str, str], options: Options, jobs: int | None, scheduler: str | None
) -> Iterator[tuple[str, dict]]:
    if scheduler and todo:
        return _on_cluster(todo, options, scheduler)
    jobs = min(jobs or os.cpu_count() or 1, len(todo))
    if not (options.look or options.watch) or jobs <= 1:  # rules alone cost less than starting a process
        return _in_this_process(todo, options)
    return _in_processes(todo, options, jobs)


def _in_this_process(todo: dict[str, str], options: Options) -> Iterator[tuple[str, dict]]:
    cores = _cores()
    keep_to_core(0)
    try:
        yield from ((key, judge_again(folder, options)) for key, folder in todo.items())
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


def _in_processes(todo: dict[str, str], options: Options, jobs: int) -> Iterator[tuple[str, dict]]:
    context = multiprocessing.get_context("spawn")
    numbers = context.SimpleQueue()
    for number in range(jobs):
        numbers.put(number)
    pool = ProcessPoolExecutor(jobs, context, initializer=_be_one_of_many, initargs=(numbers,))
    try:
        futures = {pool.submit(judge_again, folder, options): key for key, folder in todo.items()}
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


def _on_cluster(todo: dict[str, str], options: Options, scheduler: str) -> Iterator[tuple[str, dict]]:
    try:
        from distributed import Client
        from distributed import as_completed as completed
    except ImportError:
        raise BadAttempt("--scheduler needs the extra 'cluster': pip install 'referee[cluster]'") from None
    try:
        client = Client(scheduler, timeout="5s", set_as_default=False)
    except OSError as error:
        raise BadAttempt(f"--scheduler {scheduler}: {error}") from None
    with client, client.as_current():
        futures = {
            client.submit(judge_again, folder, options, key=f"rejudge-{key}", retries=RETRIES): key
            for key, folder in todo.items()
        }
        for future in completed(list(futures)):
            yield futures.pop(future), future.result()
            future.release()
