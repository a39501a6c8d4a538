"""Watches the fields of who called Stop, from the press until their view is settled and clear: live and of a film."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from calibration.mat import Mats
from referee.devices.ports import Frame
from referee.match.stop_views import SETTLED_FRAMES, SETTLED_S
from referee.vision.hands.reaching_arm import ReachingArm, reaching_arm
from referee.vision.live.gate import GateState
from referee.vision.live.gate_history import GateHistory


@dataclass(eq=False)
class StopWatch:
    """Watches one Stop after the other by the ``history`` of the gate's looks; ``locate`` finds the mats in a picture
    (h, w, 3)."""

    history: GateHistory
    locate: Callable[[np.ndarray], Mats]
    _mats: Mats | None = None
    _clear: list[Frame] = field(default_factory=list)

    def restart(self) -> None:
        """Another Stop is watched from now on."""
        self._mats, self._clear = None, []

    def arms(self, frame: Frame, look: GateState, zones: Collection[str], press_s: float) -> dict[str, ReachingArm]:
        """What reaches into the zones with a hand, compared with the last frame before the press without one there."""
        arms: dict[str, ReachingArm] = {}
        for zone in zones:
            if zone in look.zones and look.zones[zone].hand:
                before = self.history.last_clear_frame(zone, press_s)
                if before is not None:
                    self._mats = self._mats or self.locate(before.image)
                    arms[zone] = reaching_arm(frame.image, before.image, zone, self._mats)
        return arms

    def clear_frames(self, frame: Frame, look: GateState, zones: Collection[str], press_s: float) -> list[Frame]:
        """The frames to judge: the last ``SETTLED_FRAMES`` in a row in which all the zones are settled and clear of
        hands; empty until there are so many since the press, or since they were given last."""
        ready = frame.at_s > press_s + SETTLED_S and all(is_clear(look, zone) for zone in zones)
        self._clear = [*self._clear, frame] if ready else []
        if len(self._clear) < SETTLED_FRAMES:
            return []
        frames, self._clear = self._clear, []
        return frames


def is_settled(look: GateState, zone: str) -> bool:
    """Whether nothing has moved in that field for a while, and its mat is in view."""
    gate = look.zones.get(zone)
    return gate is not None and gate.mat_seen and gate.settled_s >= SETTLED_S


def is_clear(look: GateState, zone: str) -> bool:
    """Whether it is settled, and no hand is over it."""
    return is_settled(look, zone) and not look.zones[zone].hand
