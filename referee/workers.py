"""Threads beside the main one; and what every worker process does first: it does not outlive its program.

A pool's workers wait for work on a pipe that they hold open themselves, so the end of a killed parent does not reach
them: without this they stay, and take the cores of whatever is started next.
"""

import multiprocessing
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

Job = TypeVar("Job")
Answer = TypeVar("Answer")


def in_background(call: Callable[[], Answer]) -> Future[Answer]:
    """The answer of a call on a thread of its own."""
    pool = ThreadPoolExecutor(1, "in background")
    answer = pool.submit(call)
    pool.shutdown(wait=False)
    return answer


class Background:
    """Works on a thread of its own, until ``_closing`` is set. A subclass says in ``_run`` what it does."""

    def __init__(self, name: str) -> None:
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for that."""
        self._closing.set()
        if self._thread.ident:
            self._thread.join()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def _run(self) -> None:
        raise NotImplementedError


class JobQueue(Background, Generic[Job]):
    """Does what is put into ``_jobs``, one after another; a subclass says how in ``_do``."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._jobs: queue.Queue[Job | None] = queue.Queue()

    def stop(self) -> None:
        """End after what has been put in so far, and wait for that."""
        self._jobs.put(None)
        super().stop()

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=self._idle_s())
            except queue.Empty:
                self._idle()
                continue
            if job is None:
                return
            self._do(job)

    def _do(self, job: Job, /) -> None:
        raise NotImplementedError

    def _idle_s(self) -> float | None:
        """How long to wait for a job before ``_idle`` is called; None for ever."""
        return None

    def _idle(self) -> None:
        """Nothing was put in for so long."""


def end_with_parent() -> None:
    """End this process when the one that started it has ended, however that was. Nothing in one that none started."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), name="end with parent", daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """Wait for the parent's end, and end with it."""
    parent.join()
    os._exit(1)
