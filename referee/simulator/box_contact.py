"""The button box's contacts once more, in Python: `firmware/button_box/debounce.h` and `pads.h`.

The law of what is a press, a spike, a glitch and noise stands at the head of `debounce.h`; a property test compares
both sides edge by edge. Times are microseconds since the box's start and never wrap here.
"""

from __future__ import annotations

from dataclasses import dataclass

CONFIRM_US = 15_000  # closed this long in sum: a press
OPEN_WEIGHT = 4  # closed microseconds that an open one undoes
TOUCH_US = 16  # closed this long: metal has met metal
SPIKE_US = 2_000  # without a touch this long since the first edge: a spike, no press
GLITCH_US = 10_000  # open again this long before a press: none
DOUBT_US = 25_000  # the longest that a line may be in doubt
RELEASE_US = 120_000  # without a touch this long: released; until then everything is bounce
LOOSE_US = 200_000  # not closed for 15 ms in sum this long: released, whatever touches the line
QUIET_US = 1_000_000  # without an edge this long: no longer noisy
SPIKES_MAX = 8
LEFT_US = 5_000  # a pad open this long: left
RESTING_US = 50_000  # a pad closed this long: at rest

FREED, NOISY, QUIET = "freed", "noisy", "quiet"


@dataclass
class Contact:
    """One button: the first edge is the time, everything after it is bounce until the contact has rested."""

    state: str = "open"  # open, trying, down
    closed: bool = False
    changed_us: int = 0
    first_us: int = 0
    fresh: bool = False  # confirmed and not yet told
    held: bool = False  # was down at the go or at power-on: does not count
    stuck: bool = False
    noisy: bool = False
    edges: int = 0
    settle_us: int = 0
    gap_us: int = 0
    _touched: bool = False
    _firm: bool = False  # since the first edge closed for CONFIRM_US in sum
    _glitched: bool = False  # has had a glitch since it was quiet
    _strict: bool = False  # bounce is not forgiven
    _spikes: int = 0
    _touched_us: int = 0
    _solid_us: int = 0
    _sum_us: int = 0  # of closed time up to the last change

    def power_on(self, closed: bool, now_us: int) -> None:
        """Power has come on; what is down already is held."""
        self.closed = self.held = closed
        self.first_us = self.changed_us = self._touched_us = self._solid_us = now_us
        if closed:
            self.state = "down"

    def edge(self, closed: bool, now_us: int) -> None:
        """The pin changed; runs in the interrupt on the real box, which may come too late to see a short pulse."""
        lasted = now_us - self.changed_us
        if self.closed:
            if self._note_contact(lasted, now_us):
                self._sum_us = min(CONFIRM_US, self._sum_us + lasted)
        else:
            if closed and self.state != "open":
                self.gap_us = max(self.gap_us, lasted)
            self._sum_us = max(0, self._sum_us - OPEN_WEIGHT * lasted)
        self.edges = min(self.edges + 1, 0xFFFF)
        self.closed, self.changed_us = closed, now_us
        if self.state == "open" or (self._strict and self.state == "trying" and not self._firm):
            self._begin(closed, now_us)

    def engaged(self) -> bool:
        """Whether a press that began before now is still going on."""
        return self.closed or self.state == "trying" or self.fresh

    def poll(self, now_us: int) -> list[str]:
        """Let time pass; gives what there is to report of freed, noisy, quiet."""
        steady = now_us - self.changed_us
        if self.closed:
            self._note_contact(steady, now_us)
        if self.state == "trying":
            return self._confirm() if self._firm else self._tried(steady, now_us)
        if self.state == "down":
            return self._open() if not self.closed and not self.fresh and self._released(now_us) else []
        return self._rested(steady)

    def _note_contact(self, lasted_us: int, now_us: int) -> bool:
        """Gives whether metal has met metal."""
        if lasted_us < TOUCH_US:
            return False
        self._touched, self._touched_us = True, now_us
        if lasted_us >= CONFIRM_US - self._sum_us:
            self._firm, self._solid_us = True, now_us
        return True

    def _begin(self, closed: bool, now_us: int) -> None:
        self.state = "open" if self._strict and not closed else "trying"
        self._touched, self._firm, self._sum_us, self.first_us = False, False, 0, now_us

    def _tried(self, steady_us: int, now_us: int) -> list[str]:
        since_us = now_us - self.first_us
        if not self.closed and (steady_us >= GLITCH_US or (not self._touched and since_us >= SPIKE_US)):
            return self._lapse()
        return self._distrust() if since_us >= DOUBT_US else []

    def _confirm(self) -> list[str]:
        self.state, self.fresh = "down", True
        if self.closed:
            self.settle_us = max(self.settle_us, self.changed_us - self.first_us)
        return self._report() if self._glitched else []

    def _lapse(self) -> list[str]:
        self._spikes = min(self._spikes + 1, SPIKES_MAX)
        self._glitched = self._glitched or self._touched
        self._strict = self._strict or (self._spikes == SPIKES_MAX and self._touched)
        return self._open() + (self._report() if self._spikes == SPIKES_MAX else [])

    def _distrust(self) -> list[str]:
        self._strict = True
        self._begin(self.closed, self.changed_us)
        return self._report()

    def _report(self) -> list[str]:
        known, self.noisy = self.noisy, True
        return [] if known else [NOISY]

    def _released(self, now_us: int) -> bool:
        return now_us - self._touched_us >= RELEASE_US or now_us - self._solid_us >= LOOSE_US

    def _open(self) -> list[str]:
        reported = self.held or self.stuck
        self.state, self.held, self.stuck = "open", False, False
        return [FREED] if reported else []

    def _rested(self, steady_us: int) -> list[str]:
        news = self._open() if self.held or self.stuck else []
        if self.closed or steady_us < QUIET_US:
            return news
        news += [QUIET] if self.noisy else []
        self._spikes, self.noisy, self._strict, self._glitched = 0, False, False, False
        return news


@dataclass
class Pad:
    """A pad behind a player's mark on which the tongs rest until the go; one that was never closed is none."""

    closed: bool = False  # the pin
    wired: bool = False
    resting: bool = False
    changed_us: int = 0
    _seen: bool = False

    def poll(self, now_us: int) -> bool:
        """Let time pass; True when the tongs have left."""
        if self.closed != self._seen:
            self._seen, self.changed_us = self.closed, now_us
        if self._seen == self.resting or now_us - self.changed_us < (RESTING_US if self._seen else LEFT_US):
            return False
        self.resting = self._seen
        self.wired = self.wired or self.resting
        return not self.resting

    @property
    def missing(self) -> bool:
        """Whether there is a pad and nothing rests on it."""
        return self.wired and not self.resting
