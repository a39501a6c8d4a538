"""The simulated table as a camera: a webcam's twin whose reader thread renders. Marked SIMULATED."""

import threading

import numpy as np

from referee.devices.camera import ThreadedCamera
from referee.devices.ports import Clock, Frame
from referee.simulator.players import Players
from referee.simulator.table import TableSim


class SimulatedCamera(ThreadedCamera):
    """Shows the players' table at ``fps`` frames a second; a busy machine drops frames and counts them."""

    simulated = True

    def __init__(self, table: TableSim, players: Players, clock: Clock, fps: float = 15.0) -> None:
        super().__init__("SIMULATED table", clock)
        self._table, self._players, self._period_s = table, players, 1.0 / fps
        self._still: np.ndarray | None = None
        self._wanted = threading.Event()
        self.start()

    def latest(self, after: int = -1, timeout_s: float = 1.0) -> Frame | None:
        """As every camera's; nothing is drawn before the first is asked for, so that a program starts quickly."""
        self._wanted.set()
        return super().latest(after, timeout_s)

    def close(self) -> None:
        """Stop drawing."""
        self._closing.set()
        self._wanted.set()
        super().close()

    def _read_all(self) -> None:
        self._wanted.wait()
        begin_s, number = self.clock.now_s(), 0
        while not self._closing.is_set():
            due_s = begin_s + number * self._period_s
            self._closing.wait(max(0.0, due_s - self.clock.now_s()))
            self._publish(Frame(self._expose(due_s, number), number, due_s))
            late = int((self.clock.now_s() - due_s) / self._period_s)
            self.dropped += max(0, late - 1)
            number += max(1, late)

    def _expose(self, at_s: float, number: int) -> np.ndarray:
        """The table at that time; what does not move is not drawn again."""
        world, changed = self._players.look(at_s)
        if changed or self._still is None:
            self._still = self._table.clean(world)
        return self._table.develop(self._still, number)
