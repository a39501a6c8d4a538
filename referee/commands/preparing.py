"""The first start on a machine: kernels are compiled by another process while the board is up and players play."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Any

import click
import numpy as np
from tqdm import tqdm

from calibration.camera import CameraModel
from calibration.palette import Palette
from cards.card import Card, LayoutCard
from cards.deck import builtin_deck
from cards.pieces import PieceSet, builtin_piece_set
from referee.devices.ports import Frame
from referee.errors import CannotSee
from referee.simulator.table import TableSim
from referee.vision.live.gate import Gate
from referee.vision.observer import Judgement, Observer
from referee.vision.search.kernel_store import KernelStore, all_compiled

PROGRAM = "from referee.commands.preparing import compile_all; compile_all()"


class Preparation:
    """Kernels being compiled, if they were not yet. ``wait`` before the first judgement; ``close`` when done.

    Whatever becomes of the other process, judging works: what it has not kept is compiled when needed.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._closed = False
        marker = all_compiled()
        if marker is None or marker.exists():
            return
        click.echo("the first start on this machine: getting ready to see, while the match begins")
        command = [sys.executable, "-c", PROGRAM]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None  # it was asked for
        told = (self._process.stdout,)
        self._thread = threading.Thread(target=self._follow, args=told, name="preparation", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until it is over, well or badly. Raises CannotSee when it was closed meanwhile."""
        if self._process:
            self._thread.join()
        if self._closed:
            raise CannotSee("the program ended before it was ready to see")

    def close(self) -> None:
        """End it, finished or not."""
        if self._process and not self._closed:
            self._closed = True
            self._process.terminate()
            self._thread.join()
            self._process.wait()

    def _follow(self, told: IO[str]) -> None:
        """Show how far it is."""
        with told as lines, _Bar() as bar:
            for line in lines:
                bar.total, bar.n = map(int, reversed(line.split()))
                bar.refresh()


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

    def judge(self, frames: Sequence[np.ndarray] | np.ndarray, card: Card, *how: Any, **known: Any) -> Judgement:
        """As ``Observer.judge``."""
        self._preparation.wait()
        return super().judge(frames, card, *how, **known)


def compile_all() -> None:
    """Have every kernel compiled and kept, by seeing what the simulator shows; print how far that is, line by line."""
    kernels = KernelStore.kernels
    KernelStore.on_kept = lambda: print(sum(bool(k.overloads) for k in kernels), len(kernels), flush=True)
    pieces = builtin_piece_set()
    observer = Observer(pieces)
    observer.warm_up()
    card = next(card for card in builtin_deck().cards if isinstance(card, LayoutCard))
    picture = TableSim(pieces, 1).picture({"A": card.pieces, "B": card.pieces[:1]})
    observer.judge(picture, card)
    Gate(observer).look(Frame(picture, 0, 0.0))
    marker = all_compiled()
    if marker:
        marker.touch()
