"""The clock of a browser's page, tied to the host's by round trips that the page begins (``clock_sync``)."""

import math
import struct
import threading

from cards.sentences import sentence
from referee.devices.clock_sync import ClockTie
from referee.devices.ports import Clock
from referee.errors import RefereeError

TRIP = struct.Struct("<dd")
MOST_MS = 1e12
TICK_S = 0.001
"""Browsers round their clock to so much at most."""

RATE_SPAN, TRIPS = 0.0006, 120
"""A crystal keeps 0.01 %, and a browser's clock follows NTP, whose slew is 0.05 %: the quickest round trip of half a
minute tells more than the last."""


class BadRecords(RefereeError):
    """A page's post that is not what was asked for; nothing of it is used."""


class PageClock:
    """Round trips in, host times out. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._tie = clock, ClockTie(RATE_SPAN, TRIPS)
        self._lock, self._sent_s = threading.Lock(), math.nan

    def trip(self, body: bytes) -> float:
        """What the page's clock shows (ms), and the host time (s) that the last answer gave it, which was before. Gives
        the host's time, for the next. Raises BadRecords."""
        received_s = self._clock.now_s()
        if len(body) != TRIP.size:
            raise BadRecords(sentence("phone_records"))
        page_ms, sent_s = TRIP.unpack(body)
        with self._lock:
            if sent_s == self._sent_s and 0 <= page_ms < MOST_MS:
                self._tie.add(sent_s, round(page_ms * 1000), received_s)
            self._sent_s = self._clock.now_s()
            return self._sent_s

    def to_host(self, page_ms: float, delay_s: tuple[float, float]) -> tuple[float, float]:
        """When what the page dates so happened, which was so long before at least and at most: host seconds, and the
        bound of their error, infinite before the first round trip."""
        with self._lock:
            at_s, error_s = self._tie.to_host(round(page_ms * 1000))
        return at_s - sum(delay_s) / 2, error_s + TICK_S + (delay_s[1] - delay_s[0]) / 2
