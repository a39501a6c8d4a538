"""The first start on a machine: kernels are compiled by other processes while the board is up and players play."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import click
import numpy as np
from tqdm import tqdm

from calibration.camera import CameraModel
from calibration.palette import Palette
from cards.card import Card
from cards.pieces import PieceSet, builtin_piece_set
from referee.errors import CannotSee
from referee.simulator import raster
from referee.vision.observer import Judgement, Observer
from referee.vision.search.content import cache_folder
from referee.vision.ways_in import WayIn, of_judging, of_searching

PROGRAM = "from referee.commands.preparing import compile_all; compile_all({backwards}, {simulated}, aside=True)"
ASIDE = 2
"""How nice compiling is while the program runs: who looks at the board and at live pictures does not wait for it."""

ALARM = "preparing"
"""What the console shows until the first judgement is possible."""


class Preparation:
    """Kernels being compiled, if they were not yet, by two processes: one from either end of the list.

    ``wait`` before the first judgement; ``close`` when done. Whatever becomes of the other processes, judging works:
    what they have not kept is compiled when needed. A ``simulated`` table's pictures are compiled first of all, with
    what live pictures need.
    """

    def __init__(self, simulated: bool = False) -> None:
        self._processes: list[subprocess.Popen[str]] = []
        self._over, self._live = threading.Event(), threading.Event()
        self._closed = False
        self._done: set[int] = set()
        self._first = {0, 1, -1, -2, -3} if simulated else {-1, -2}
        self._running = 0
        self._lock = threading.Lock()
        self._tell: Callable[[str, str | None], object] = lambda code, text: None
        if nothing_to_compile(simulated):
            self._over.set()
            return
        click.echo("the first start on this machine: getting ready to see, while the match begins")
        self._bar = _Bar()
        for backwards in (False, True):
            command, nothing = (
                [sys.executable, "-c", PROGRAM.format(backwards=backwards, simulated=simulated)],
                subprocess.DEVNULL,
            )
            self._processes.append(
                subprocess.Popen(command, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, text=True)
            )
        self._running = len(self._processes)
        self._threads = [
            threading.Thread(target=self._follow, args=(process,), name="preparation", daemon=True)
            for process in self._processes
        ]
        for thread in self._threads:
            thread.start()

    @property
    def over(self) -> bool:
        """Whether the first judgement need not wait."""
        return self._over.is_set()

    def live_pictures(self, over: threading.Event) -> bool:
        """Wait until live pictures need not compile, or nobody does any more; False when ``over`` is set before."""
        while not (self._live.is_set() or self.over):
            if over.wait(0.05):
                return False
        return not over.is_set()

    def tell(self, alarm: Callable[[str, str | None], object]) -> None:
        """Have ``alarm`` called with ``ALARM`` and how far it is, and with None when it is over."""
        with self._lock:
            self._tell = alarm
            if not self.over:
                alarm(ALARM, "")

    def wait(self) -> None:
        """Wait until judging need not compile, or nobody does any more. Raises CannotSee when closed meanwhile."""
        self._over.wait()
        if self._closed:
            raise CannotSee("the program ended before it was ready to see")

    def close(self) -> None:
        """End it, finished or not."""
        if self._processes and not self._closed:
            self._closed = True
            for process in self._processes:
                process.terminate()
            for thread in self._threads:
                thread.join()
            for process in self._processes:
                process.wait()

    def _follow(self, process: subprocess.Popen[str]) -> None:
        """Take in what a process says: which of the ways in is done, how many the first judgement needs."""
        assert process.stdout is not None  # it was asked for
        with process.stdout as lines:
            for line in lines:
                index, needed = map(int, line.split())
                with self._lock:
                    self._done |= {index, index - needed}
                    self._show(len(self._done & set(range(needed))), needed)
        with self._lock:
            self._running -= 1
            if not self._running:
                self._end()

    def _show(self, done: int, needed: int) -> None:
        if self._first <= self._done:
            self._live.set()
        if not self.over:
            self._bar.total, self._bar.n = needed, done
            self._bar.refresh()
            self._tell(ALARM, f"{done} / {needed}")
        if done == needed:
            self._end()

    def _end(self) -> None:
        if not self.over:
            self._bar.close()
            self._over.set()
            self._tell(ALARM, None)


class _Bar(tqdm):
    """A progress bar on a terminal, nothing elsewhere; without tqdm's watching thread."""

    monitor_interval = 0

    def __init__(self) -> None:
        super().__init__(desc="getting ready to see", file=sys.stderr, disable=not sys.stderr.isatty(), leave=False)


class PreparedObserver(Observer):
    """An observer whose first judgement waits for the preparation."""

    def __init__(
        self,
        preparation: Preparation,
        piece_set: PieceSet,
        camera: CameraModel | None = None,
        palette: Palette | None = None,
    ) -> None:
        super().__init__(piece_set, camera, palette)
        self._preparation = preparation

    @property
    def ready(self) -> bool:
        """Whether judging waits for nothing."""
        return self._preparation.over

    def judge(self, frames: Sequence[np.ndarray] | np.ndarray, card: Card, *how: Any, **known: Any) -> Judgement:
        """As ``Observer.judge``."""
        self._preparation.wait()
        return super().judge(frames, card, *how, **known)

    def learn_sizes(self, image: np.ndarray) -> float:
        """As ``Observer.learn_sizes``."""
        self._preparation.wait()
        return super().learn_sizes(image)


def compile_all(backwards: bool = False, simulated: bool = True, aside: bool = False) -> None:
    """Have every kernel compiled and kept; print which is done and how many the first judgement needs, line by line.

    What the first judgement needs comes first, from the last one on if ``backwards``: so two processes share the work.
    Those of live pictures, of a ``simulated`` table too, stand at either end. ``aside`` of a program that people use.
    """
    if aside and hasattr(os, "nice"):
        os.nice(ASIDE)
    gc.disable()  # compilers make objects by the million, all of them needed until the kernel is done: 8 % of the time
    ways, needed = _all_ways(simulated)
    first = range(needed)
    for i in (*(reversed(first) if backwards else first), *range(needed, len(ways))):
        ways[i].prepare()
        print(i, needed, flush=True)


def nothing_to_compile(simulated: bool = True) -> bool:
    """Whether all kernels come with the program or have been compiled and kept, or nothing can be kept."""
    return cache_folder() is None or all(way.prepared for way in _all_ways(simulated)[0])


def _all_ways(simulated: bool = True) -> tuple[list[WayIn], int]:
    """All there is to compile, and how many of these the first judgement needs, or the pictures that it is made of."""
    pieces = builtin_piece_set()
    shadow, shade, compose = raster.ways_in()
    judging = of_judging(pieces)
    first = [shadow, shade, *judging, compose] if simulated else judging
    return first + of_searching(pieces), len(first)
