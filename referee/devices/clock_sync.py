"""Ties another device's clock to the host's, with a bound on the error that holds whatever the line does.

The theory: a reply stamped ``b`` by the device was stamped between the host's sending and receiving, so
every round trip confines the line ``host = offset + rate * device`` to a window; the true line passes
through all of them. The quickest round trips have the narrowest windows and rule by themselves (the
minimum-delay filter of NTP, RFC 5905 section 10), and the intersection of all windows gives the bound: no
delay, however lopsided, can break it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

RATE_SPAN = 0.01  # a ceramic resonator keeps 0.5 % (Murata CSTCE16M, on the Uno); twice that for margin
WANDER = 20e-6  # how far a rate may drift within one window of samples: a few ppm per degree
DEFAULT_KEPT = 64


@dataclass(frozen=True)
class _Sample:
    early_s: float  # the host's time cannot have been earlier
    device_us: int
    late_s: float  # nor later


class ClockTie:
    """Round trips in, host times out. ``restarts`` counts how often the device's clock jumped.

    ``rate_span`` is the largest believed deviation of the device's rate from the host's, as a share.
    """

    def __init__(self, rate_span: float = RATE_SPAN, kept: int = DEFAULT_KEPT, wander: float = WANDER) -> None:
        self._span, self._wander = rate_span, wander
        self._samples: deque[_Sample] = deque(maxlen=kept)
        self._rates: deque[tuple[float, float]] = deque(maxlen=kept)
        self.restarts = 0

    def __len__(self) -> int:
        return len(self._samples)

    def add(self, sent_s: float, device_us: int, received_s: float) -> None:
        """One round trip: the device read its clock between the two host times."""
        new = _Sample(sent_s, device_us, received_s)
        bounds = [_rate_bounds(old, new) for old in self._samples if old.device_us != device_us]
        low = max((b[0] for b in bounds), default=-math.inf)
        high = min((b[1] for b in bounds), default=math.inf)
        self._samples.append(new)
        self._rates.append((low - self._wander, high + self._wander))
        if not self._consistent(device_us):
            self.clear()
            self.restarts += 1
            self._samples.append(new)

    def clear(self) -> None:
        """Forget everything: the device has been replaced or restarted."""
        self._samples.clear()
        self._rates.clear()

    def newest_us(self) -> int:
        """The device time of the newest sample; 0 without samples."""
        return self._samples[-1].device_us if self._samples else 0

    def rate(self) -> tuple[float, float]:
        """The least and greatest possible host seconds per device second."""
        low = max((r[0] for r in self._rates), default=-math.inf)
        high = min((r[1] for r in self._rates), default=math.inf)
        return max(low, 1 - self._span), min(high, 1 + self._span)

    def window_s(self, device_us: int) -> tuple[float, float]:
        """The earliest and latest host time that a device time can be; infinite without samples."""
        low, high = self.rate()
        early, late = -math.inf, math.inf
        for sample in self._samples:
            dt_s = (device_us - sample.device_us) * 1e-6
            slack = self._wander * abs(dt_s)
            early = max(early, sample.early_s + min(low * dt_s, high * dt_s) - slack)
            late = min(late, sample.late_s + max(low * dt_s, high * dt_s) + slack)
        return early, late

    def to_host(self, device_us: int) -> tuple[float, float]:
        """(host seconds, error bound in seconds) of a device time; the bound is infinite without samples."""
        early, late = self.window_s(device_us)
        if math.isinf(early):
            return 0.0, math.inf
        return (early + late) / 2, max(0.0, (late - early) / 2)

    def _consistent(self, device_us: int) -> bool:
        low, high = self.rate()
        early, late = self.window_s(device_us)
        return low <= high and early <= late


def _rate_bounds(old: _Sample, new: _Sample) -> tuple[float, float]:
    dt_s = (new.device_us - old.device_us) * 1e-6
    a, b = (new.early_s - old.late_s) / dt_s, (new.late_s - old.early_s) / dt_s
    return min(a, b), max(a, b)


class FrameTie:
    """The same for a clock that only speaks and never answers: a camera's frame times.

    A frame stamped ``f`` arrives between ``latency_s[0]`` and ``latency_s[1]`` later when nothing holds it
    up, and at any time after that when something does. So every arrival bounds the true time from above,
    and the quickest arrival of the window also from below. Give frame times from the driver, or frame
    number times the nominal period when there are none.
    """

    def __init__(self, latency_s: tuple[float, float], rate_span: float = 0.001, kept: int = 120) -> None:
        self._latency, self._span = latency_s, rate_span
        self._late: deque[tuple[int, float]] = deque(maxlen=kept)

    def add(self, frame_us: int, arrived_s: float) -> None:
        """A frame of that time stamp arrived."""
        if self._late and frame_us <= self._late[-1][0]:
            self._late.clear()  # the camera was restarted
        self._late.append((frame_us, arrived_s - self._latency[0]))

    def to_host(self, frame_us: int) -> tuple[float, float]:
        """(host seconds of the exposure, error bound in seconds); infinite before the first frame."""
        if not self._late:
            return 0.0, math.inf
        ages = [((frame_us - us) * 1e-6, late_s) for us, late_s in self._late]
        late = min(late_s + dt_s + abs(dt_s) * self._span for dt_s, late_s in ages)
        early = min(late_s + dt_s - abs(dt_s) * self._span for dt_s, late_s in ages)
        early -= self._latency[1] - self._latency[0]
        return (early + late) / 2, (late - early) / 2
