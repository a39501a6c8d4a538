"""What a recording shows around its Stop, by the same gate and the same history of its looks as live.

Nothing is judged here: found are the frames of the settled view and of the view at the press, what happened in each
field in between and when, and whose hand was there. ``referee.review.stop_ruling`` judges the two views.
"""

import math
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from referee.devices.ports import Frame
from referee.errors import BadAttempt
from referee.match.stop_views import SETTLED_FRAMES, SETTLED_S, Hand, Placed
from referee.recording import Attempt
from referee.recording.video import VideoFrame
from referee.review.film import as_decoded, is_shaken, observer_of, recorded_frames
from referee.vision.live.fouls import BUSY_S
from referee.vision.live.gate import NOISE_SHARE, Gate, GateState
from referee.vision.live.gate_history import AT_PRESS, Aftermath, GateHistory, StopWatch, is_settled
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
    ``clear`` of hands; by zone that was asked for: what came ``after`` the press, the frames at the ``press`` and
    whether a hand is in them (``covered``), when what stands now was ``placed``, and whose ``hand`` was at work in it
    then; ``early``: zone -> since when it was touched or not empty as the go sounded; ``earlier``: what gives pictures
    like a frame (h, w, 3) from while the builds grew."""

    zones: tuple[str, ...]
    frames: list[VideoFrame]
    clear: bool
    after: Mapping[str, Aftermath]
    press: Mapping[str, list[VideoFrame]]
    covered: Mapping[str, bool]
    placed: Mapping[str, Placed]
    hand: Mapping[str, Hand]
    early: Mapping[str, float]
    earlier: Callable[[], Mapping[str, EarlierPictures]]

    def counts(self, zone: str) -> bool:
        """Whether the view at the press counts: the field was touched after it, or nobody knows."""
        return self.after[zone].after != "still"


@dataclass(eq=False)
class _Watch:
    """One pass over the frames."""

    attempt: Attempt
    stop_s: float
    observer: Observer
    judged: list[str] = field(default_factory=list)
    history: GateHistory = field(init=False, default_factory=GateHistory)
    watch: StopWatch = field(init=False)
    before: deque[VideoFrame] = field(default_factory=lambda: deque(maxlen=2 * AT_PRESS))
    still: list[VideoFrame] = field(default_factory=list)
    clear: list[VideoFrame] = field(default_factory=list)
    blocked: list[VideoFrame] = field(default_factory=list)
    worked: dict[str, float] = field(default_factory=dict)
    filled: dict[str, float] = field(default_factory=dict)
    at_go: VideoFrame | None = None
    shaken: bool = False

    def __post_init__(self) -> None:
        self.watch = StopWatch(self.history, self.observer.look)

    def look(self, shown: VideoFrame, look: GateState) -> bool:
        """One more frame; whether a clear settled view is complete."""
        building = shown.seconds <= self.stop_s
        frame = Frame(shown.image, shown.index, shown.seconds)
        arms = {} if building else self.watch.arms(frame, look, self.judged, self.stop_s)
        owners, short = {z: arm.owner for z, arm in arms.items()}, [z for z, arm in arms.items() if arm.short]
        begun = shown.seconds >= (self.attempt.go_s or 0.0)
        self.history.add(frame, look, ("building" if begun else "ready") if building else "stopped", owners, short)
        if building:
            self.before.append(shown)
            self._before_the_go(shown, look)
            return False
        if not self.shaken:
            self.history.watch_mats(frame, self.observer.look)
        moved = any(look.zones[z].moving > NOISE_SHARE for z in self.judged if z in look.zones)
        self.still = [*([] if moved else self.still), shown][-SETTLED_FRAMES:]
        if shown.seconds > self.stop_s + SETTLED_S and all(is_settled(look, z) for z in self.judged):
            self.blocked = self.blocked or self.still
        frames = self.watch.clear_frames(frame, look, self.judged, self.stop_s)
        kept = {f.number for f in frames or self.watch.calm}
        self.clear = [f for f in (*self.clear, shown) if f.index in kept]
        return bool(frames)

    def _before_the_go(self, shown: VideoFrame, look: GateState) -> None:
        if shown.seconds > (self.attempt.go_s or 0.0):
            return
        self.at_go = shown
        for zone, gate in look.zones.items():
            at_work = gate.hand and gate.settled_s < BUSY_S and not self.shaken  # all seems to move in a held camera
            for since, there in ((self.worked, at_work), (self.filled, gate.fill > NOT_EMPTY)):
                if there:
                    since.setdefault(zone, self.worked.get(zone, shown.seconds))
                else:
                    since.pop(zone, None)

    def _early(self) -> dict[str, float]:
        """Zone -> since when it was touched or not empty as the go sounded."""
        found: dict[str, float] = {}
        for zone in self.judged:
            since = [of[zone] for of in (self.worked, self.filled) if zone in of]
            if zone in self.filled and not self._stands(zone):
                since.remove(self.filled[zone])
            if since:
                found[zone] = min(since)
        return found

    def _stands(self, zone: str) -> bool:
        """Whether a piece stood in that field at the go, and not only before it in the picture."""
        if self.at_go is None:
            return False
        return self.observer.judge([as_decoded(self.at_go)], self.attempt.card, [zone]).has_piece(zone)

    def told(self, zones: Collection[str], clear: bool) -> StopSeen:
        """What was seen, once all is."""
        after = {z: self.history.after(z, self.stop_s) for z in self.judged}
        at_press = {z: self.history.frames_at_press(self.stop_s, z) for z in self.judged}
        shown = {f.index: f for f in self.before}
        return StopSeen(
            tuple(sorted(zones)),
            self.clear if clear else self.blocked or self.still,
            clear,
            after,
            {z: [shown[f.number] for f in frames] for z, frames in at_press.items()},
            {z: self.history.covered(z, frames) for z, frames in at_press.items()},
            {z: self.history.placed(z, self.stop_s) for z in self.judged},
            {z: self.history.hand(z, self.stop_s, AT_WORK_S) for z in self.judged},
            self._early(),
            self.history.earlier,
        )


def watch_stop(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> StopSeen:
    """Look at the recording until the first settled, clear view after its Stop; without a caller every field is judged.

    Raises BadAttempt for a recording without a Stop, without mats or without a frame after the press, and for a
    caller's field that is not in view.
    """
    stop = math.inf if attempt.stop_s is None else attempt.stop_s
    observer = observer_of(attempt)
    gate, watch = Gate(observer), _Watch(attempt, stop, observer, shaken=is_shaken(attempt))
    looked_s, zones, clear = -math.inf, set[str](), False
    for shown in recorded_frames(attempt):
        tick()
        if shown.seconds - looked_s < QUICKEST_S:
            continue
        looked_s = shown.seconds
        look = gate.look(Frame(shown.image, shown.index, shown.seconds))
        zones |= set(look.zones)
        if shown.seconds > stop and not watch.judged:
            watch.judged = _judged(attempt, zones)
        if clear := watch.look(shown, look):
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
