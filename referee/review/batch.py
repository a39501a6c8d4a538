"""An archive judged again: every attempt once, on both cores.

Each result is on disk before the next is taken in (``results``). A run that is interrupted or killed leaves those; the
same command goes on after them and does none of them again. What could not be judged (a file that could not be read, a
worker that died) is no result: it is tried again at the end of the run, and by the same command.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import cv2

from referee.recording.address import AttemptSource
from referee.recording.errors import BadAttempt
from referee.review.options import RejudgeOptions, task_key
from referee.review.rejudge import judge_again
from referee.review.results import Results, Rows
from referee.workers import end_with_parent

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
        done = results.done(keys)
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
