"""What pages wait for: a version that grows with every change, and the alarms that stand."""

from __future__ import annotations

import threading

from referee.devices.ports import Clock
from referee.session.alarms import Alarms


class Notifier:
    """Counts changes and wakes who waits for one. Safe to use from several threads."""

    def __init__(self, clock: Clock) -> None:
        self.alarms = Alarms()
        self.version = 0
        self._clock = clock
        self._changed = threading.Condition()
        self._closed = False

    def touch(self) -> None:
        """Something a page shows has changed."""
        with self._changed:
            self.version += 1
            self._changed.notify_all()

    def alarm(self, code: str, text: str | None) -> None:
        """Raise an alarm (``text``) or end it (None)."""
        if self.alarms.tell(code, text, self._clock.utc().isoformat()):
            self.touch()

    def wait(self, version: int, timeout_s: float) -> int:
        """Wait until the version is above ``version``; gives the version."""
        with self._changed:
            self._changed.wait_for(lambda: self.version > version or self._closed, timeout_s)
            return self.version

    def close(self) -> None:
        """Nobody waits any longer."""
        self._closed = True
        self.touch()
