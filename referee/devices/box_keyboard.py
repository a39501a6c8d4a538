"""No hardware: the dashboard stands for the button box. Presses and keys come by its pages, not from here; the go's
time is the host's, and records carry the name ``keys``."""

import threading
from collections.abc import Callable

from referee.devices.ports import BoxNotice, Clock, Lamp

KEY_ERROR_S = 0.05  # of a button of the dashboard: finger, browser and a local network, together
COUNT_STEPS = 3  # three, two, one


class KeysBox:
    """A ``ButtonBox`` without buttons and lamps: it counts down, and tells when tongs leave their mark. Never lost."""

    name = "keys"
    simulated = False
    connected = True

    def __init__(self, clock: Clock, step_s: float = 1.0) -> None:
        self._clock, self._step_s = clock, step_s
        self._count: threading.Timer | None = None
        self._pads: dict[int, bool] = {}
        self._listeners: list[Callable[[BoxNotice], None]] = []

    def listen(self, callback: Callable[[BoxNotice], None]) -> None:
        """Call back with every notice, on the thread that presses."""
        self._listeners.append(callback)

    def go(self, countdown: bool = False) -> None:
        """A ``go`` notice with the time of this call; with a countdown after three steps, unless somebody's tongs
        leave their mark before.
        """
        missing = [player for player, resting in self._pads.items() if countdown and not resting]
        for player in missing:
            self._false_start(player)
        if countdown and not missing:
            self._count = threading.Timer(COUNT_STEPS * self._step_s, self._go)
            self._count.daemon = True
            self._count.start()
        elif not countdown:
            self._go()

    def rest(self, player: int, resting: bool) -> None:
        """A player's tongs lie behind the mark, or leave it: a key held down. Leaving during the count is a false
        start.
        """
        left = self._pads.get(player, False) and not resting
        self._pads[player] = resting
        if left and self._count is not None and self._count.is_alive():
            self._false_start(player)

    def insist(self, box_id: str | None) -> None:
        """There is only one keyboard."""

    def arm(self) -> None:
        """There is no button that could be held."""

    resume = disarm = arm

    def lamp(self, player: int, lamp: Lamp) -> None:
        """There is no lamp."""

    def status(self) -> dict:
        """The keys of a real box's that mean anything."""
        return {"version": "keys", "box_id": "keys", "offset_error_s": KEY_ERROR_S, "pads": dict(self._pads)}

    def close(self) -> None:
        """A count that is under way ends without a go."""
        if self._count is not None:
            self._count.cancel()
            self._count.join()

    def _go(self) -> None:
        self._tell(BoxNotice("go", self._clock.now_s(), text="go"))

    def _false_start(self, player: int) -> None:
        if self._count is not None:
            self._count.cancel()
        text = f"player {player} left the mark before the go"
        self._tell(BoxNotice("false_start", self._clock.now_s(), player, text=text, error_s=KEY_ERROR_S))

    def _tell(self, notice: BoxNotice) -> None:
        for listener in list(self._listeners):
            listener(notice)
