"""No hardware: presses from the dashboard or the keyboard, through the same port as the button box.

Their times are the host's at the call, so a browser's delay is in them; records carry the name ``keys``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from referee.ports import BoxNotice, Clock, Press

KEY_ERROR_S = 0.05  # keyboard scan, USB polling, browser event and a local network, together


class KeysBox:
    """A ``ButtonBox`` whose buttons are calls. Never lost, and its lamps shine nowhere."""

    name = "keys"
    simulated = False
    connected = True

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._listeners: list[Callable[[BoxNotice], None]] = []
        self._lock = threading.Lock()
        self._count = 0
        self._phase = "idle"
        self._ranked: set[int] = set()
        self.lamps: dict[int, bool] = {}

    def listen(self, callback: Callable[[BoxNotice], None]) -> None:
        """Call back with every notice, on the thread that presses."""
        self._listeners.append(callback)

    def arm(self) -> None:
        """Get ready for a go."""
        with self._lock:
            self._phase = "armed"
            self._ranked.clear()

    def go(self) -> None:
        """A ``go`` notice with the time of this call."""
        with self._lock:
            self._phase = "running"
            at_s = self._clock.now_s()
        self._tell(BoxNotice("go", at_s, text="go"))

    def resume(self) -> None:
        """Presses count, without another go."""
        with self._lock:
            self._phase = "running"

    def disarm(self) -> None:
        """Presses no longer count."""
        with self._lock:
            self._phase = "idle"

    def lamp(self, player: int, on: bool) -> None:
        """Remember it; there is no lamp."""
        self.lamps[player] = on

    def press(self, player: int) -> None:
        """A player's Stop, now; the same player's second one in a duel is ignored."""
        with self._lock:
            counts = self._phase == "running"
            if counts and player in self._ranked:
                return
            if counts:
                self._ranked.add(player)
            self._count += 1
            at_s = self._clock.now_s()
            press = Press(player, int(at_s * 1e6), at_s, KEY_ERROR_S, seq=self._count)
        self._tell(BoxNotice("press" if counts else "tried", at_s, player, press, f"button {player} pressed"))

    def next(self) -> None:
        """The Start/Next button."""
        self._tell(BoxNotice("next", self._clock.now_s(), text="Start/Next pressed"))

    def status(self) -> dict:
        """The same keys as a real box where they mean anything."""
        return {
            "connected": True,
            "port": None,
            "version": "keys",
            "box_id": "keys",
            "latency_s": None,
            "offset_s": 0.0,
            "offset_error_s": KEY_ERROR_S,
            "garbage": 0,
            "simulated": False,
        }

    def close(self) -> None:
        """Nothing to let go."""

    def _tell(self, notice: BoxNotice) -> None:
        for listener in list(self._listeners):
            listener(notice)
