"""Alarms: what is wrong with the rig right now, since when, in a sentence for the operator."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Alarm:
    """One thing that is wrong. ``code`` is for programs, ``text`` for people, ``since`` is ISO 8601 UTC."""

    code: str
    text: str
    since: str

    def to_json(self) -> dict:
        """By field name."""
        return {"code": self.code, "text": self.text, "since": self.since}


class Alarms:
    """The alarms that stand. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standing: dict[str, Alarm] = {}

    def tell(self, code: str, text: str | None, at: str) -> bool:
        """Raise an alarm (``text``) or end it (None). Whether anything changed."""
        with self._lock:
            old = self._standing.get(code)
            if text is None:
                return self._standing.pop(code, None) is not None
            if old is not None and old.text == text:
                return False
            self._standing[code] = Alarm(code, text, old.since if old else at)
            return True

    def to_json(self) -> list[dict]:
        """All that stand, oldest first."""
        with self._lock:
            return [a.to_json() for a in sorted(self._standing.values(), key=lambda a: a.since)]
