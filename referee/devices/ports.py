"""What the shell needs from the world: pictures, presses, time. Real devices and simulated twins fit alike.

The shell (``referee.session.session``) knows only these; ``referee.commands`` alone chooses who stands behind them.
All times named ``at_s`` are seconds on the host's monotonic scale, that of ``Clock.now_s``: the count of the
machine's own oscillator. NTP slews the usual monotonic clock (the kernel by 0.05 %, chrony by up to 8.3 %) without a
word, and no bound on a press's time could hold across the moment when that begins.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from typing import Protocol

import numpy as np

from referee.devices.camera_settings import CameraSettings, Controls


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture. ``image`` is (h, w, 3) uint8 BGR and never written to again.

    ``number`` counts every frame the source produced, so a gap is frames dropped;
    ``at_s`` is the time of exposure as well as it is known. ``camera``: where two are recorded, which of them took it.
    """

    image: np.ndarray
    number: int
    at_s: float
    camera: int = 1


class Camera(Protocol):
    """A source of frames with one reader thread of its own."""

    name: str
    simulated: bool
    source: str
    """What opens it again."""
    settings: CameraSettings

    def adjust(self, how: Callable[[Controls], None]) -> None:
        """Have that done to the device between two frames; nothing to one without settings, or that gives no frame."""

    def latest(self, after: int = -1, timeout_s: float = 1.0) -> Frame | None:
        """The newest frame with a number above ``after``; None when the time runs out.

        Raises DeviceLost while the camera cannot be reached and when it is closed.
        """

    def listen(self, callback: Callable[[Frame], None]) -> None:
        """Call back with every frame, on the reader thread: be quick, never raise."""

    def status(self) -> dict:
        """JSON-able figures: frames, dropped, fps, delay_s, frame_error_s, lost (reason or None)."""

    def close(self) -> None:
        """Stop the reader thread and let the device go."""


RAW_MONOTONIC_CLOCK = getattr(time, "CLOCK_MONOTONIC_RAW", None)
"""The monotonic clock whose rate nobody sets; None where a system has none."""


class Clock(Protocol):
    """Time, passed in wherever it is needed."""

    def now_s(self) -> float:
        """Monotonic seconds."""

    def utc(self) -> datetime:
        """The time of day, aware, in UTC."""

    def boot_id(self) -> str:
        """Names this run of the machine, in which ``now_s`` never jumps; empty where that cannot be told."""


class SystemClock:
    """The host's own clocks."""

    def now_s(self) -> float:
        """Seconds of the machine's oscillator; of ``time.monotonic`` on a system that shows no such clock."""
        return time.monotonic() if RAW_MONOTONIC_CLOCK is None else time.clock_gettime(RAW_MONOTONIC_CLOCK)

    def utc(self) -> datetime:
        """Now, aware, in UTC."""
        return datetime.now(UTC)

    def boot_id(self) -> str:
        """What Linux calls its boot; empty on other systems. Times by another clock of that boot bear another name."""
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        except OSError:
            return ""
        return boot if RAW_MONOTONIC_CLOCK is None else f"{boot} by its oscillator"


@dataclass(frozen=True)
class Press:
    """One Stop. ``player`` 0 is zone A's button, 1 is zone B's, and so on.

    ``box_us`` is the box's own clock at the edge; ``at_s`` the same instant on the host's scale,
    good to ``error_s``. ``noisy`` says that its line was: ``box_us`` is then no better than ``error_s``.
    """

    player: int
    box_us: int
    at_s: float
    error_s: float
    noisy: bool = False


class Lamp(IntEnum):
    """What a player's lamp can show."""

    OFF = 0
    ON = 1
    BLINK = 2
    PULSE = 3


@dataclass(frozen=True)
class BoxNotice:
    """What a box tells. ``kind`` is one of press, tried (outside a duel), stuck, free (no longer stuck or
    held), held_at_go, false_start, noisy, quiet, next, go, lost, found, foreign (another box answers than the one that
    is insisted on), garbage, reset, events_lost.

    ``box_us`` is the box's own time of it, None where the host noticed; ``at_s`` is good to ``error_s``.
    """

    kind: str
    at_s: float
    player: int | None = None
    press: Press | None = None
    text: str = ""
    box_us: int | None = None
    error_s: float = 0.0
    box_id: str = ""


class ButtonBox(Protocol):
    """The buttons, lamps and buzzer, with one reader thread of their own."""

    name: str

    @property
    def simulated(self) -> bool:
        """Whether the box at the other end says of itself that it is SIMULATED."""

    @property
    def connected(self) -> bool:
        """Whether a box answers at present."""

    def listen(self, callback: Callable[[BoxNotice], None]) -> None:
        """Call back with every notice, on the one reader thread: be quick, never raise."""

    def arm(self) -> None:
        """Get ready for a go: presses before it are held buttons."""

    def go(self, countdown: bool = False) -> None:
        """Sound the buzzer, after three tones if asked; a ``go`` notice with the box's time of it follows, or a
        ``false_start`` in its place.
        """

    def resume(self) -> None:
        """Presses count from now on, without a go: the box was restarted. Else changes nothing."""

    def disarm(self) -> None:
        """Presses no longer count."""

    def lamp(self, player: int, lamp: Lamp) -> None:
        """What a player's lamp shows."""

    def insist(self, box_id: str | None) -> None:
        """Believe only the box of that id from now on; None believes any."""

    def status(self) -> dict:
        """JSON-able figures: version, box id, latency_s, offset error, counters, and ``pads``: players with a pad and
        whether their tongs rest on it.
        """

    def close(self) -> None:
        """Stop the reader thread and let the port go."""
