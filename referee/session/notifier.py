"""What pages wait for: a version that grows with every change, and the alarms that stand: what is wrong with the rig
right now, since when, in a sentence for the operator."""

import threading
from collections.abc import Callable

from referee.devices.ports import Clock

WORST = ("camera_lost", "box_unplugged", "journal", "disk_low", "blind", "part_failed", "mats_unseen")
"""Alarms with which no duel can go on, the worst first; all others come after them."""


class Notifier:
    """Counts changes and wakes who waits for one. Safe to use from several threads. ``say`` is told of each of the
    worst alarms as it is raised."""

    def __init__(self, clock: Clock) -> None:
        self.version = 0
        self.say: Callable[[str], None] = lambda text: None
        self._clock = clock
        self._changed = threading.Condition()
        self._standing: dict[str, dict[str, str]] = {}
        self._closed = False

    def touch(self) -> None:
        """Something a page shows has changed."""
        with self._changed:
            self.version += 1
            self._changed.notify_all()

    def alarm(self, code: str, text: str | None) -> None:
        """Raise an alarm (``text``) or end it (None)."""
        with self._changed:
            old = self._standing.get(code)
            if text == (old and old["text"]):
                return
            if text is None:
                del self._standing[code]
            else:
                since = old["since"] if old else self._clock.utc().isoformat()
                self._standing[code] = {"code": code, "text": text, "since": since}
            self.touch()
        if text is not None and old is None and code in WORST:
            self.say(text)

    def alarms(self) -> list[dict[str, str]]:
        """All that stand, worst, then oldest first: ``code`` for programs, ``text`` for people, ``since`` (ISO)."""
        with self._changed:
            rank = {code: n for n, code in enumerate(WORST)}
            return sorted(self._standing.values(), key=lambda a: (rank.get(a["code"], len(WORST)), a["since"]))

    def wait(self, version: int, timeout_s: float) -> int:
        """Wait until the version is above ``version``; gives the version."""
        with self._changed:
            self._changed.wait_for(lambda: self.version > version or self._closed, timeout_s)
            return self.version

    def close(self) -> None:
        """Nobody waits any longer."""
        self._closed = True
        self.touch()
