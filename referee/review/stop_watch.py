"""What a recording shows around its Stop, by the same gate and the same history of its looks as live.

Nothing is judged here: found are the frames of the settled view and of the view at the press, what happened in each
field in between and when, and whose hand was there. ``referee.review.stop_ruling`` judges the two views.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from referee.devices.ports import Frame
from referee.errors import BadAttempt
from referee.match.stop_views import SETTLED_FRAMES, SETTLED_S
from referee.recording import Attempt
from referee.review.film import as_decoded, film_frame, is_shaken, observer_of, recorded_frames
from referee.vision.live.fouls import BUSY_S
from referee.vision.live.gate import NOISE_SHARE, Gate, GateState
from referee.vision.live.gate_history import FieldAtPress, GateHistory, StopWatch, is_settled
from referee.vision.observer import EarlierPictures, Observer

QUICKEST_S = 1 / 31
"""Frames that follow one another sooner are left out: the gate's measures are those of a camera's usual rate."""

AT_WORK_S = 0.05
"""At the press a hand is at work where something moves in that very look: a film has no other witness of it."""

NOT_EMPTY = 0.03
"""Share of a field that may have the colour of a piece before the go without a closer look: the smallest piece in it
covers more, and so may a loose one that stands before it."""


@dataclass(frozen=True, eq=False)
class StopSeen:
    """A recording around its Stop. ``zones`` whose mats are in view; ``frames`` of the settled view and whether it is
    ``clear`` of hands; ``fields``: what is known of each zone that was asked for around the press; ``early``: zone ->
    since when it was touched or not empty as the go sounded; ``earlier``: what gives pictures like a frame (h, w, 3)
    from while the builds grew."""

    zones: tuple[str, ...]
    frames: Sequence[Frame]
    clear: bool
    fields: Mapping[str, FieldAtPress]
    early: Mapping[str, float]
    earlier: Callable[[], Mapping[str, EarlierPictures]]


@dataclass(eq=False)
class _Watch:
    """One pass over the frames."""

    attempt: Attempt
    stop_s: float
    observer: Observer
    watch: StopWatch
    shaken: bool
    judged: list[str] = field(default_factory=list)
    still: list[Frame] = field(default_factory=list)
    blocked: list[Frame] = field(default_factory=list)
    worked: dict[str, float] = field(default_factory=dict)
    filled: dict[str, float] = field(default_factory=dict)
    at_go: Frame | None = None

    def look(self, frame: Frame, look: GateState) -> list[Frame]:
        """One more frame; those of the clear settled view, once they are complete."""
        history, building = self.watch.history, frame.at_s <= self.stop_s
        arms = {} if building else self.watch.arms(frame, look, self.judged, self.stop_s)
        owners, short = {z: arm.owner for z, arm in arms.items()}, [z for z, arm in arms.items() if arm.short]
        begun = frame.at_s >= (self.attempt.go_s or 0.0)
        history.add(frame, look, ("building" if begun else "ready") if building else "stopped", owners, short)
        if building:
            self._before_the_go(frame, look)
            return []
        if not self.shaken:
            history.watch_mats(frame, self.observer.look)
        moved = any(look.zones[z].moving > NOISE_SHARE for z in self.judged if z in look.zones)
        self.still = [*([] if moved else self.still), frame][-SETTLED_FRAMES:]
        if frame.at_s > self.stop_s + SETTLED_S and all(is_settled(look, z) for z in self.judged):
            self.blocked = self.blocked or self.still
        return self.watch.clear_frames(frame, look, self.judged, self.stop_s)

    def _before_the_go(self, frame: Frame, look: GateState) -> None:
        if frame.at_s > (self.attempt.go_s or 0.0):
            return
        self.at_go = frame
        for zone, gate in look.zones.items():
            at_work = gate.hand and gate.settled_s < BUSY_S and not self.shaken  # all seems to move in a held camera
            for since, there in ((self.worked, at_work), (self.filled, gate.fill > NOT_EMPTY)):
                if there:
                    since.setdefault(zone, self.worked.get(zone, frame.at_s))
                else:
                    since.pop(zone, None)

    def _early(self) -> dict[str, float]:
        """Zone -> since when it was touched or not empty as the go sounded."""
        found = {zone: since_s for zone, since_s in self.worked.items() if zone in self.judged}
        for zone in self.judged:
            if zone in self.filled and self._stands(zone):
                found[zone] = min(self.filled[zone], found.get(zone, math.inf))
        return found

    def _stands(self, zone: str) -> bool:
        """Whether a piece stood in that field at the go, and not only before it in the picture."""
        if self.at_go is None:
            return False
        return self.observer.judge([as_decoded(self.at_go)], self.attempt.card, [zone]).has_piece(zone)

    def told(self, zones: Collection[str], clear: Sequence[Frame]) -> StopSeen:
        """What was seen, once all is."""
        frames, history = clear or self.blocked or self.still, self.watch.history
        fields = {z: history.at_press(z, self.stop_s, AT_WORK_S) for z in self.judged}
        return StopSeen(tuple(sorted(zones)), frames, bool(clear), fields, self._early(), history.earlier)


def watch_stop(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> StopSeen:
    """Look at the recording until the first settled, clear view after its Stop; without a caller every field is judged.

    Raises BadAttempt for a recording without a Stop, without mats or without a frame after the press, and for a
    caller's field that is not in view.
    """
    stop = math.inf if attempt.stop_s is None else attempt.stop_s
    observer = observer_of(attempt)
    gate, of_stop = Gate(observer), StopWatch(GateHistory(), observer.look)
    watch = _Watch(attempt, stop, observer, of_stop, is_shaken(attempt))
    looked_s, zones, clear = -math.inf, set[str](), list[Frame]()
    for shown in recorded_frames(attempt):
        tick()
        if shown.seconds - looked_s < QUICKEST_S:
            continue
        looked_s, frame = shown.seconds, film_frame(shown)
        look = gate.look(frame)
        zones |= set(look.zones)
        if shown.seconds > stop and not watch.judged:
            watch.judged = _judged(attempt, zones)
        if clear := watch.look(frame, look):
            break
    if not watch.judged:
        watch.judged = _judged(attempt, zones)
    if not watch.still:
        raise BadAttempt(f"{attempt.folder}: shows nothing after the Stop at {stop:.1f} s")
    return watch.told(zones, clear)


def _judged(attempt: Attempt, zones: set[str]) -> list[str]:
    """The caller's field, or every field where nobody is named."""
    if not zones:
        raise BadAttempt(f"{attempt.film}: shows no mat")
    if attempt.caller is None:
        return sorted(zones)
    if attempt.caller not in zones:
        seen = " and ".join(sorted(zones))
        raise BadAttempt(f"{attempt.folder}: mat {attempt.caller} of who called Stop is not in view, only {seen}")
    return [attempt.caller]
