"""Is the told bound of a press's time ever smaller than its error, whatever clocks and line do?

    nice python tests/devices/bench_clock_tie.py [--seconds 120] [--seeds 3]

A simulated machine has three clocks: its oscillator, the monotonic clock that NTP slews, and the time of day that is
set by hours. The host's own clock reads whichever it reads (``SystemClock``); the box's resonator does what the row
says; between two clock queries a button is pressed. The interrupt takes up to 34 us to stamp it, as measured in simavr.
Prints one line for each course of the clocks over every kind of line; exit status 1 when a bound was broken.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from referee.devices import ports
from referee.devices.box_conversation import BURST, BURST_EVERY_S, CLOCK_EVERY_S, BoxFacts, notice_of
from referee.devices.box_protocol import Message
from referee.devices.clock_sync import ClockTie

STEP_S = 0.02  # over which a rate is held constant
STAMPED_S = 34e-6
ROUNDING_S = 1.5e-6  # the box tells whole microseconds
SLEW_S = 60.0  # when what is to happen happens


def steady(_: float) -> float:
    """A rate that is right."""
    return 0.0


@dataclass(frozen=True)
class Course:
    """What the clocks do, as deviations of their rates (a share) over the seconds since the start.

    ``set_s`` is by how much the time of day is set at ``SLEW_S``.
    """

    box: Callable[[float], float] = steady
    slew: Callable[[float], float] = steady
    set_s: float = 0.0


def late(share: float, for_s: float = math.inf) -> Callable[[float], float]:
    """That much from ``SLEW_S`` on."""
    return lambda at_s: share if SLEW_S <= at_s < SLEW_S + for_s else 0.0


COURSES = {
    "right clocks": Course(),
    "resonator -5,000 ppm": Course(box=lambda t: -5e-3),
    "resonator +12,000 ppm": Course(box=lambda t: 12e-3),
    "resonator drifts 20 ppm/s": Course(box=lambda t: 20e-6 * t),
    "resonator drifts 100 ppm/s": Course(box=lambda t: 100e-6 * t),
    "resonator swings by 50 ppm each minute": Course(box=lambda t: 50e-6 * math.sin(t / 60 * 2 * math.pi)),
    "resonator steps by 60 ppm": Course(box=late(60e-6)),
    "resonator steps by 1,000 ppm": Course(box=late(1000e-6)),
    "NTP slews by 500 ppm": Course(slew=late(500e-6)),
    "chrony slews by +83,333 ppm for 6 s": Course(slew=late(83_333e-6, 6.0)),
    "chrony slews by -83,333 ppm for 6 s": Course(slew=late(-83_333e-6, 6.0)),
    "chrony slews, resonator +12,000 ppm": Course(box=lambda t: 12e-3, slew=late(83_333e-6, 6.0)),
    "time of day set by +1 h": Course(set_s=3600.0),
    "time of day set by -1 h": Course(set_s=-3600.0),
}

Way = Callable[[random.Random], float]
LINES: dict[str, tuple[Way, Way]] = {  # seconds to the box, and back
    "0.2 ms": (lambda r: r.uniform(1e-4, 1.5e-4), lambda r: r.uniform(1e-4, 1.5e-4)),
    "1 to 3 ms": (lambda r: r.uniform(5e-4, 15e-4), lambda r: r.uniform(1e-3, 3e-3)),
    "16 ms held back": (lambda r: r.uniform(3e-4, 1e-3), lambda r: r.uniform(1e-3, 17e-3)),
    "0.3 and 60 ms": (lambda r: 3e-4, lambda r: 6e-2),
    "5 % take 200 ms": (lambda r: 1e-3, lambda r: r.uniform(1e-3, 3e-3) + 0.2 * (r.random() < 0.05)),
}


@dataclass
class Machine:
    """The world's clocks; ``at_s`` is true time. ``_slewed`` are seconds that the monotonic clock is ahead."""

    course: Course
    oscillator: float = 30e-6
    at_s: float = 0.0
    box_s: float = 100.0
    _slewed_s: float = field(default=250.0, repr=False)  # it has been slewed before

    def run(self, seconds: float) -> None:
        """Time passes."""
        end_s = self.at_s + seconds
        while self.at_s < end_s:
            step_s = min(STEP_S, end_s - self.at_s)
            self.box_s += step_s * (1 + self.course.box(self.at_s))
            self._slewed_s += step_s * self.course.slew(self.at_s)
            self.at_s = end_s if end_s - self.at_s <= STEP_S else self.at_s + step_s

    def raw(self, _: int = 0) -> float:
        """``CLOCK_MONOTONIC_RAW``."""
        return 1000.0 + self.at_s * (1 + self.oscillator)

    def monotonic(self) -> float:
        """``CLOCK_MONOTONIC``."""
        return self.raw() + self._slewed_s

    def time(self) -> float:
        """``CLOCK_REALTIME``."""
        return 1.7e9 + self.monotonic() + self.course.set_s * (self.at_s >= SLEW_S)

    @contextmanager
    def reads(self) -> Iterator[ports.SystemClock]:
        """The host's clock, on this machine."""
        fakes = {"monotonic": self.monotonic, "clock_gettime": self.raw, "time": self.time}
        with patch.multiple(ports.time, **fakes):
            yield ports.SystemClock()


@dataclass
class Found:
    """Presses, how many had a bound that was too small and by how much at most; errors and bounds in seconds."""

    broken: int = 0
    by_s: float = 0.0
    errors: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)

    def add(self, error_s: float, bound_s: float) -> None:
        """One press."""
        self.errors.append(error_s)
        self.bounds.append(bound_s)
        self.broken += error_s > bound_s + ROUNDING_S
        self.by_s = max(self.by_s, error_s - bound_s)

    def __str__(self) -> str:
        errors, bounds = sorted(self.errors), sorted(self.bounds)
        half = len(errors) // 2
        told = f"error p50 {1e3 * errors[half]:.3f}, most {1e3 * errors[-1]:.3f} ms"
        told += f"; bound p50 {1e3 * bounds[half]:.3f}, most {1e3 * bounds[-1]:.3f} ms"
        more = f" (by up to {1e3 * self.by_s:.2f} ms)" if self.broken else ""
        return f"{told}; bound broken {self.broken} of {len(errors)}{more}"


def press(tie: ClockTie, machine: Machine, stamped_s: float) -> tuple[float, float]:
    """(host seconds, bound) that the driver tells of a press at this moment."""
    box_us = int((machine.box_s + stamped_s) * 1e6)
    notice = notice_of(Message("BXPRS", 1, (box_us, 0, 1)), tie, BoxFacts())
    assert notice is not None and notice.press is not None
    return notice.press.at_s, notice.press.error_s


def play(course: Course, line: tuple[Way, Way], seconds: float, seed: int, found: Found) -> None:
    """A conversation of so many seconds, a press after every clock reply."""
    rng, machine, tie, turn = random.Random(seed), Machine(course), ClockTie(), 0
    with machine.reads() as clock:
        while machine.at_s < seconds:
            sent_s = clock.now_s()
            machine.run(line[0](rng))
            stamp_us = int(machine.box_s * 1e6)
            machine.run(line[1](rng))
            tie.add(sent_s, stamp_us, clock.now_s())
            turn += 1
            every_s = BURST_EVERY_S if turn < BURST else CLOCK_EVERY_S
            after_s = rng.random() * every_s
            machine.run(after_s)
            at_s, bound_s = press(tie, machine, rng.random() * STAMPED_S)
            found.add(abs(at_s - clock.now_s()), bound_s)
            machine.run(every_s - after_s)


def bench(name: str, seconds: float, seeds: int) -> Found:
    """One course over every kind of line."""
    found = Found()
    for line in LINES.values():
        for seed in range(seeds):
            play(COURSES[name], line, seconds, seed, found)
    return found


def main() -> None:
    """Print every course; exit status 1 when a bound was broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    broken = presses = 0
    for name in COURSES:
        found = bench(name, options.seconds, options.seeds)
        print(f"{name}: {found}", flush=True)
        broken, presses = broken + found.broken, presses + len(found.bounds)
    print(f"ALL: bound broken {broken} of {presses} presses")
    raise SystemExit(broken > 0)


if __name__ == "__main__":
    main()
