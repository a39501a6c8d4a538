"""What the gate has seen lately, and what that says of the moments around a press. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from referee.ports import Frame

HISTORY_S = 4.0
STIRRED = 0.03
"""Share of the field's pixels that change from frame to frame when a piece falls; noise is far less."""

ALONE_S = 0.5
"""No hand for so long before and after: what moves then moves by itself."""

AFTER_PRESS_S = 0.1
"""The look at the press itself may still show the hand's last shadow."""

BUSY_S = 0.3
"""A field in which something moved so lately is being worked in."""

OWN_S = 0.5
RECENT = 4
"""Frames kept for the house rule that judges the view at the press itself."""


class Looks:
    """The last seconds of the gate's looks, and the last frames."""

    def __init__(self) -> None:
        self._looks: deque[tuple[float, Any]] = deque()
        self._frames: deque[Frame] = deque(maxlen=RECENT)
        self._at_press: list[Frame] = []

    def add(self, frame: Frame, look: Any, building: bool) -> None:
        """One more look; while the players build its frame may become the view at the press."""
        self._looks.append((frame.at_s, look))
        while frame.at_s - self._looks[0][0] > HISTORY_S:
            self._looks.popleft()
        if building:
            self._frames.append(frame)

    def frames_at(self, press_s: float) -> list[Frame]:
        """The last frames before the press (one that came right after it may be among them)."""
        return [f for f in self._frames if f.at_s <= press_s + AFTER_PRESS_S][-3:]

    def hand_at(self, zone: str, press_s: float) -> bool:
        """Whether a hand was at work in the field in the looks on both sides of the press.

        A hand before a field in which nothing moves may be the neighbour's, nearer to the camera or farther
        away: that is no finding, and judging waits until the view is clear.
        """
        before = [look for t, look in self._looks if t <= press_s][-1:]
        after = [look for t, look in self._looks if t > press_s][:1]
        around = [look.zones.get(zone) for look in before + after]
        return len(around) == 2 and all(g is not None and g.hand and g.settled_s < BUSY_S for g in around)

    def whose(self, zone: str, press_s: float) -> bool:
        """Whether the hand at the press can only be the caller's own: long there, and none at any other mat."""
        around = [look for t, look in self._looks if -OWN_S <= t - press_s <= OWN_S / 2]
        mine = [(g := look.zones.get(zone)) is not None and g.hand for look in around]
        others = [g.hand for look in around for z, g in look.zones.items() if z != zone]
        return len(mine) > 2 and all(mine) and not any(others)

    def fell(self, zone: str, press_s: float) -> bool:
        """Whether something in the field moved after the press with no hand near."""
        gates = [(t, g) for t, look in self._looks if (g := look.zones.get(zone)) is not None]
        stirred = [t for t, g in gates if t > press_s + AFTER_PRESS_S and g.moving > STIRRED]
        return any(not _hand_near(gates, t) for t in stirred)


def _hand_near(gates: Sequence[tuple[float, Any]], at_s: float) -> bool:
    return any(g.hand for t, g in gates if abs(t - at_s) <= ALONE_S)
