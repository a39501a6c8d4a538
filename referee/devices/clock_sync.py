"""Ties another device's clock to the host's, with a bound on the error that holds whatever the line does.

The theory: a reply stamped ``b`` by the device was stamped between the host's sending and receiving, so
every round trip confines the curve ``host = f(device)`` to a window; the true curve passes through all of
them. The quickest round trips have the narrowest windows and rule by themselves (the minimum-delay filter
of NTP, RFC 5905 section 10), and the intersection of all windows gives the bound: no delay, however
lopsided, can break it.

From one window to another the curve's slope is needed. Two round trips confine its mean between them; the
slope anywhere else differs from that by at most ``wander`` (a resonator changes by a few ppm per degree) plus
whatever change the round trips themselves have shown. So the bound follows measured changes of the rate. It
cannot know of one that began after the last round trip: the host's times must be of a clock that nobody
slews (``ports.STEADY``).

One round trip may be a lie: a misread number whose checksum is right by chance. Of all lower bounds the
greatest is left out, and of all upper bounds the least, so that one wrong window moves nothing (Marzullo
and Owicki 1983, with one faulty clock). A reply that contradicts all others is set aside until the next
one says who is right.
"""

import heapq
import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

RATE_SPAN = 0.05  # a ceramic resonator keeps 0.5 % (Murata CSTCE16M, on the Uno), a clone's perhaps 1.2 %
MOST_SPAN = 0.99
WANDER = 600e-6  # how much the rate may change unseen: a resonator that warms up, NTP's slew where STEADY is None
SAMPLES = 40  # five seconds of round trips
LEAST_OF_RATE = 15  # frames on either side by which a camera's rate is told
SLIP_S, SLIP_SHARE = 0.02, 0.01  # by hand: arrivals of a busy host may move by so much; a crystal keeps 0.1 %


@dataclass(frozen=True)
class _Sample:
    early_s: float  # the host's time cannot have been earlier
    device_us: int
    late_s: float  # nor later


class ClockTie:
    """Round trips in, host times out.

    ``rate_span`` is the largest believed deviation of the device's rate from the host's, as a share; it widens by
    itself when two round trips agree on more. ``restarts`` counts how often the device's clock jumped, ``outliers``
    the replies that no other confirmed.
    """

    def __init__(self, rate_span: float = RATE_SPAN, window: int = SAMPLES, wander: float = WANDER) -> None:
        self._first_span = self._span = rate_span
        self._wander = wander
        self._samples: deque[_Sample] = deque(maxlen=window)
        self._rates: deque[tuple[float, float]] = deque(maxlen=window)
        self._suspect: _Sample | None = None
        self.restarts = self.outliers = 0

    def __len__(self) -> int:
        return len(self._samples)

    def add(self, sent_s: float, device_us: int, received_s: float) -> None:
        """One round trip: the device read its clock between the two host times."""
        new, suspect = _Sample(sent_s, device_us, received_s), self._suspect
        if self._fits(new):
            self.outliers += suspect is not None
            self._suspect = None
            self._take(new)
        elif suspect is None and len(self._samples) > 1:
            self._suspect = new
        else:
            self._begin_anew(suspect or self._samples[-1], new)

    def clear(self) -> None:
        """Forget everything: the device has been replaced or restarted."""
        self._forget()
        self._span = self._first_span

    def newest_us(self) -> int:
        """The device time of the newest sample; 0 without samples."""
        return self._samples[-1].device_us if self._samples else 0

    def rate(self) -> tuple[float, float]:
        """The least and greatest possible host seconds per device second."""
        low = _but_one((r[0] for r in self._rates), most=True)
        high = _but_one((r[1] for r in self._rates), most=False)
        wander = self._wander + max(0.0, low - high)  # the change of rate that has been seen
        return max(low - wander, 1 - self._span), min(high + wander, 1 + self._span)

    def window_s(self, device_us: int) -> tuple[float, float]:
        """The earliest and latest host time that a device time can be; infinite without samples."""
        low, high = self.rate()
        ages = [((device_us - sample.device_us) * 1e-6, sample) for sample in self._samples]
        early = (sample.early_s + min(low * dt_s, high * dt_s) for dt_s, sample in ages)
        late = (sample.late_s + max(low * dt_s, high * dt_s) for dt_s, sample in ages)
        return _but_one(early, most=True), _but_one(late, most=False)

    def to_host(self, device_us: int) -> tuple[float, float]:
        """(host seconds, error bound in seconds) of a device time; the bound is infinite without samples."""
        early, late = self.window_s(device_us)
        if math.isinf(early):
            return 0.0, math.inf
        return (early + late) / 2, abs(late - early) / 2

    def _forget(self) -> None:
        self._samples.clear()
        self._rates.clear()
        self._suspect = None

    def _fits(self, new: _Sample) -> bool:
        """Whether the window of the others and this one's have a moment in common."""
        early, late = self.window_s(new.device_us)
        return early <= new.late_s and new.early_s <= late

    def _take(self, new: _Sample) -> None:
        bounds = [_rate_bounds(old, new) for old in self._samples if old.device_us != new.device_us]
        self._samples.append(new)
        self._rates.append((_but_one((b[0] for b in bounds), most=True), _but_one((b[1] for b in bounds), most=False)))

    def _begin_anew(self, suspect: _Sample, new: _Sample) -> None:
        """Two replies in a row say that the clock has jumped, or that its rate is none that was believed possible."""
        self._forget()
        self.restarts += 1
        if suspect.device_us < new.device_us:
            low, high = _rate_bounds(suspect, new)
            outside = max(low - 1, 1 - high, 0.0)
            if outside <= MOST_SPAN:  # else it has jumped once more between the two
                if outside > self._span:  # believe it all the same
                    self._span = min(MOST_SPAN, 2 * outside)
                self._take(suspect)
        self._take(new)


def _but_one(bounds: Iterable[float], most: bool) -> float:
    """The greatest (or least) but one, so that a single wrong bound changes nothing; of one or two, the greatest."""
    found = heapq.nlargest(3, bounds) if most else heapq.nsmallest(3, bounds)
    if not found:
        return -math.inf if most else math.inf
    return found[1] if len(found) > 2 else found[0]


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

    def __init__(self, latency_s: tuple[float, float], rate_span: float = 0.001, window: int = 120) -> None:
        self._latency, self._span = latency_s, rate_span
        self._late: deque[tuple[int, float]] = deque(maxlen=window)

    def add(self, frame_us: int, arrived_s: float) -> None:
        """A frame of that time stamp arrived."""
        if self._late and frame_us <= self._late[-1][0]:
            self._late.clear()  # the camera was restarted
        self._late.append((frame_us, arrived_s - self._latency[0]))

    def clear(self) -> None:
        """Forget everything: the frame times may have stood still."""
        self._late.clear()

    def keeps_time(self) -> bool:
        """Whether the frame times run as the host's clock does, by the quickest arrivals of the older and of the newer
        half of the window. Not of frame times that count frames at another rate than they come, and not yet of the
        first few."""
        held = [(late_s - us * 1e-6, late_s) for us, late_s in self._late]
        older, newer = held[: len(held) // 2], held[len(held) // 2 :]
        if len(older) < LEAST_OF_RATE:
            return False
        (old_s, from_s), (new_s, to_s) = min(older), min(newer)
        return abs(new_s - old_s) <= SLIP_S + SLIP_SHARE * (to_s - from_s)

    def to_host(self, frame_us: int) -> tuple[float, float]:
        """(host seconds of the exposure, error bound in seconds); infinite before the first frame."""
        if not self._late:
            return 0.0, math.inf
        ages = [((frame_us - us) * 1e-6, late_s) for us, late_s in self._late]
        late = min(late_s + dt_s + abs(dt_s) * self._span for dt_s, late_s in ages)
        early = min(late_s + dt_s - abs(dt_s) * self._span for dt_s, late_s in ages)
        early -= self._latency[1] - self._latency[0]
        return (early + late) / 2, (late - early) / 2
