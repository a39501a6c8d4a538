"""No hardware: the dashboard stands for the button box. Presses and keys come by its pages, not from here; the go's
time is the host's, and records carry the name ``keys``."""

import threading
from collections.abc import Callable

from referee.devices.ports import BoxNotice, Clock, Lamp

KEY_ERROR_S = 0.05  # keyboard scan, USB polling, browser event and a local network, together
COUNT_STEPS = 3  # three, two, one


class KeysBox:
    """A ``ButtonBox`` without buttons. Never lost, and its lamps shine nowhere."""

    name = "keys"
    simulated = False
    connected = True

    def __init__(self, clock: Clock, step_s: float = 1.0) -> None:
        self._clock, self._step_s = clock, step_s
        self._timer: threading.Timer | None = None  # of a countdown
        self._pads: dict[int, bool] = {}
        self._listeners: list[Callable[[BoxNotice], None]] = []
        self._lock = threading.Lock()
        self._phase = "idle"
        self.lamps: dict[int, Lamp] = {}

    def listen(self, callback: Callable[[BoxNotice], None]) -> None:
        """Call back with every notice, on the thread that presses."""
        self._listeners.append(callback)

    def arm(self) -> None:
        """Get ready for a go."""
        with self._lock:
            self._phase = "armed"

    def go(self, countdown: bool = False) -> None:
        """A ``go`` notice with the time of this call; with a countdown after three steps, unless somebody's tongs
        leave their mark before.
        """
        if not countdown:
            self._go()
            return
        with self._lock:
            self._phase = "counting"
            self._timer = threading.Timer(COUNT_STEPS * self._step_s, self._end_of_count)
            self._timer.daemon = True
        missing = [player for player, resting in self._pads.items() if not resting]
        for player in missing:
            self._false_start(player)
        if not missing:
            self._timer.start()

    def rest(self, player: int, resting: bool) -> None:
        """A player's tongs lie behind the mark, or leave it: a key held down. Leaving during the count is a false
        start.
        """
        with self._lock:
            left = self._pads.get(player, False) and not resting
            self._pads[player] = resting
        if left and self._phase == "counting":
            self._false_start(player)

    def insist(self, box_id: str | None) -> None:
        """There is only one keyboard."""

    def resume(self) -> None:
        """Presses count, without another go."""
        with self._lock:
            self._phase = "running"

    def disarm(self) -> None:
        """Presses no longer count."""
        with self._lock:
            self._phase = "idle"

    def lamp(self, player: int, lamp: Lamp) -> None:
        """Remember it; there is no lamp."""
        self.lamps[player] = lamp

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
            "pads": dict(self._pads),
        }

    def close(self) -> None:
        """A count that is under way ends without a go."""
        with self._lock:
            self._phase = "idle"
            timer = self._timer
        if timer is not None and timer.ident:
            timer.cancel()
            timer.join()

    def _go(self) -> None:
        with self._lock:
            self._phase = "running"
            at_s = self._clock.now_s()
        self._tell(BoxNotice("go", at_s, text="go"))

    def _end_of_count(self) -> None:
        if self._phase == "counting":
            self._go()

    def _false_start(self, player: int) -> None:
        with self._lock:
            self._phase = "armed"
            at_s = self._clock.now_s()
            if self._timer is not None:
                self._timer.cancel()
        text = f"player {player} left the mark before the go"
        self._tell(BoxNotice("false_start", at_s, player, text=text, error_s=KEY_ERROR_S))

    def _tell(self, notice: BoxNotice) -> None:
        for listener in list(self._listeners):
            listener(notice)
