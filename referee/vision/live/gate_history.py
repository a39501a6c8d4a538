"""What the gate has seen lately, and what that says of the moments around a press; and the watch from the press until
the fields of who called Stop are settled and clear, live and of a film."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, pairwise, takewhile

import numpy as np

from calibration.mat import Mats
from referee.devices.ports import Frame
from referee.match.stop_views import SETTLED_FRAMES, SETTLED_S, After, Hand, Placed
from referee.vision.hands.dwell import SURE_LOOKS
from referee.vision.hands.reaching_arm import ReachingArm, reaching_arm
from referee.vision.live.build_stages import BuildStages
from referee.vision.live.field_snapshot import UNFOCUSED, FieldSnapshot, pieces_placed
from referee.vision.live.fouls import AWAY_S, BUSY_S, LOOK_S, SIGHTS
from referee.vision.live.gate import GateState, ZoneGate
from referee.vision.live.mat_motion import MatMotion
from referee.vision.measured import measured
from referee.vision.observer import EarlierPicture, EarlierPictures

HISTORY_S = measured(4.0, "s", "by hand: so long looks are remembered while players build; longer than any question")
STOPPED = ("stopped", "judging")
"""Phases between a Stop and its verdict."""
NEARBY_S = measured(0.5, "s", "by hand: a hand so shortly before or after a motion may have made it")
AT_PRESS = measured(3, "frames", "by hand: so many of the last before the press are its view")
FRAME_LATE_S = measured(0.02, "s", "by hand: a frame so little after the press shows what was there then")
FRESH_S = measured(0.35, "s", "by hand: between frames further apart some were lost, or vision was busy")
HOLE_S = measured(0.45, "s", "by hand: nobody saw what happened between looks further apart; a push takes a third")
MISSED_S = measured(0.25, "s", "by hand: a push or a jerk at the mat may take no longer than looks are apart")
TOUCHING = measured(0.01, "of the field's pixels", "change when anything in it is touched; noise is half of that")
Owners = Mapping[str, str | None]


@dataclass(frozen=True)
class GateLook:
    """One look of the gate. ``owners``: field -> whose hand is over it (the player's zone; empty of a player whose mat
    is not known), None if not known. ``short``: fields whose hand has not come so far yet."""

    at_s: float
    gate: GateState
    owners: Owners = field(default_factory=dict)
    short: Collection[str] = ()


@dataclass(frozen=True)
class Aftermath:
    """What happened in a field between the press and now; ``culprit`` is the zone of whose hand came from elsewhere;
    ``since_s``: when something first moved there, but for an arm that comes, None for never; ``unseen``: nobody saw the
    field at the press, or for a while after it."""

    after: After
    culprit: str | None = None
    since_s: float | None = None
    unseen: bool = False

    @property
    def press_counts(self) -> bool:
        """Whether the view at the press counts: the field was touched after it, or nobody knows."""
        return self.after != "still"


@dataclass(frozen=True, eq=False)
class FieldAtPress:
    """What is known of a field around a press: what came ``after`` it; the ``frames`` of it, and whether a hand is in
    them (``covered``); whose ``hand`` was at work in it; and where it counts, when what stands now was ``placed``."""

    after: Aftermath
    frames: Sequence[Frame]
    covered: bool
    hand: Hand
    placed: Placed


class GateHistory:
    """The last seconds of the gate's looks, and the last frames of the building; ``clear``: zone -> the last of those
    without a hand over its field; ``stages``: zone -> what has stood there since the go."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Nothing has been seen: pictures from here on cannot be compared with those before."""
        self._looks: deque[GateLook] = deque()
        self._frames: deque[Frame] = deque(maxlen=2 * AT_PRESS)
        self.clear: dict[str, Frame] = {}
        self.stages: defaultdict[str, BuildStages] = defaultdict(BuildStages)
        self._snapshots: deque[tuple[float, Mapping[str, FieldSnapshot]]] = deque(maxlen=SIGHTS)
        self._shake: tuple[MatMotion, Mats] | None = None
        self._shaken: list[tuple[float, str]] = []
        self._mats_watched_s = -math.inf

    def add(
        self, frame: Frame, look: GateState, phase: str, owners: Owners | None = None, short: Collection[str] = ()
    ) -> None:
        """One more look; while the players build its frame may become the view at the press. From a Stop until it is
        judged nothing is forgotten."""
        self._looks.append(GateLook(frame.at_s, GateState(look.zones), owners or {}, short))
        if not self._snapshots or frame.at_s - self._snapshots[-1][0] >= LOOK_S:
            self._snapshots.append((frame.at_s, look.snapshots))
            for zone, snapshot in look.snapshots.items():
                if phase == "building":
                    self.stages[zone].add(frame, snapshot)
                elif zone in self.stages:
                    self.stages[zone].see_gone(snapshot)
        while phase not in STOPPED and frame.at_s - self._looks[0].at_s > HISTORY_S:
            self._looks.popleft()
        if phase not in (*STOPPED, "building"):
            self.clear.clear()
            self.stages.clear()
        if phase not in STOPPED:
            self._shake, self._shaken, self._mats_watched_s = None, [], -math.inf
        if phase == "building":
            self._frames.append(frame)
            self.clear |= {zone: frame for zone, gate in look.zones.items() if not gate.hand}

    def watch_mats(self, frame: Frame, locate: Callable[[np.ndarray], Mats]) -> None:
        """After a Stop: note whether a mat moves, from the last frame of the building on; ``locate`` finds the mats in
        a picture (h, w, 3)."""
        if not self._frames or frame is self._frames[-1] or frame.at_s - self._mats_watched_s < LOOK_S:
            return
        if self._shake is None:
            before = self._frames[-1].image
            self._shake = MatMotion(), locate(before)
            self._shake[0].update(before, self._shake[1])
        self._mats_watched_s, (shake, mats) = frame.at_s, self._shake
        self._shaken += [(frame.at_s, zone) for zone in shake.update(frame.image, mats)]

    def frames_at_press(self, press_s: float, zone: str | None = None) -> list[Frame]:
        """The last frames just before the press; with a zone only those since its field last moved, but one at least.

        Empty where the last frame before the press is too old to show what stood there then.
        """
        before = [f for f in self._frames if -FRAME_LATE_S <= press_s - f.at_s <= 2 * FRESH_S][-AT_PRESS:]
        if not before or press_s - before[-1].at_s > FRESH_S:
            return []
        moved = [t for t, g in self._gates(zone) if t <= press_s + FRAME_LATE_S and g.moving > TOUCHING] if zone else []
        return [f for f in before if f.at_s > max(moved, default=0.0)] or before[-1:]

    def earlier(self) -> dict[str, EarlierPictures]:
        """Zone -> what gives pictures from while its build grew, as it is known now."""

        def pictures(stages: BuildStages, right: bool) -> list[EarlierPicture]:
            lost = [] if right else stages.lost()
            return [stages.earlier(stage, stage in lost) for stage in stages.kept]

        return {zone: partial(pictures, stages.snapshot()) for zone, stages in self.stages.items()}

    def at_press(self, zone: str, press_s: float, busy_s: float = BUSY_S) -> FieldAtPress:
        """The field around the press; ``busy_s`` as for ``hand``."""
        frames = self.frames_at_press(press_s, zone)
        times = {f.at_s for f in frames}
        covered = any(g.hand for t, g in self._gates(zone) if t in times)
        after, hand = self.after(zone, press_s), self.hand(zone, press_s, busy_s)
        placed = self.placed(zone, press_s) if after.press_counts else "unknown"
        return FieldAtPress(after, frames, covered, hand, placed)

    def placed(self, zone: str, press_s: float) -> Placed:
        """Whether the pieces that stand now stood at the press already, by what each pixel has shown in focus."""
        sharp = [(t, s[zone]) for t, s in self._snapshots if zone in s and not self.was_unfocused(t)]
        if not sharp or sharp[-1][0] < self._snapshots[-1][0]:
            return "unknown"
        before = [s for t, s in sharp if t <= press_s + FRAME_LATE_S]
        return pieces_placed(before, [s for _, s in sharp[len(before) :]])

    def after(self, zone: str, press_s: float) -> Aftermath:
        """Whether the field was touched since the press, and by whom."""
        moved = self._moved(zone, press_s)
        if self._unseen(zone, press_s):
            return Aftermath("somebody", None, _touched_s(zone, moved) if moved else None, unseen=True)
        touched = self._touched(zone, press_s, moved)
        shook = any(z == zone and abs(t - k.at_s) <= AWAY_S for t, z in self._shaken for k in moved)
        return replace(touched, after="mat") if shook and touched.after in ("nobody", "own") else touched

    def _moved(self, zone: str, press_s: float) -> list[GateLook]:
        """The looks in which something moved in the field since the press."""
        looks = [k for k in self._looks if zone in k.gate.zones]
        fresh = [k for before, k in pairwise(looks) if k.at_s > press_s and before.at_s >= press_s - FRESH_S]
        return [k for k in fresh if k.gate.zones[zone].moving > TOUCHING]

    def _touched(self, zone: str, press_s: float, moved: Sequence[GateLook]) -> Aftermath:
        """By whom the field was touched, of the looks in which something moved there."""
        if not moved:
            return Aftermath("still")
        stirred = [k.at_s for k in moved]
        since_s = _touched_s(zone, moved)
        near = [k for k in self._hands(zone) if k.at_s > press_s and min(abs(k.at_s - t) for t in stirred) <= NEARBY_S]
        if not near:
            return Aftermath("somebody" if self._missed(zone, stirred) else "nobody", None, since_s)
        owners = [k.owners.get(zone) for k in near]
        others = [owner for owner in owners if owner not in (None, zone)]
        if others:  # one arm that looks like both is somebody's
            named = None if zone in owners else next(filter(None, others), None)
            return Aftermath("neighbour" if named else "somebody", named, since_s)
        elsewhere = any(gate.hand for look in near for other, gate in look.gate.zones.items() if other != zone)
        own = zone in owners and not elsewhere  # an arm over both fields comes from afar, whatever its end looks like
        return Aftermath("own" if own else "somebody", None, since_s)

    def _missed(self, zone: str, stirred: Sequence[float]) -> bool:
        """Whether looks were so far apart before and while something moved that a hand may have come and gone."""
        times = [t for t, _ in self._gates(zone) if t <= stirred[-1]]
        return any(b - a > MISSED_S for a, b in pairwise(times) if b >= stirred[0])

    def _unseen(self, zone: str, press_s: float) -> bool:
        """Whether nobody looked at the field just before the press, or for a while after it."""
        times = [t for t, _ in self._gates(zone)]
        since_s = press_s - max((t for t in times if t <= press_s + FRAME_LATE_S), default=-math.inf)
        since = [press_s, *(t for t in times if t > press_s)]
        return since_s > FRESH_S or any(b - a > HOLE_S for a, b in pairwise(since))

    def _hands(self, zone: str) -> Iterator[GateLook]:
        """The looks with a hand over the field. What shows for a moment and is nobody's arm is no hand: a falling piece
        is strange to the gate while it turns."""
        looks = [k for k in self._looks if zone in k.gate.zones]
        for there, run in groupby(looks, key=lambda k: k.gate.zones[zone].hand):
            same = list(run)
            lasts = same[-1].at_s - same[0].at_s >= BUSY_S / 2
            yield from (k for k in same if there and (lasts or k.owners.get(zone) is not None))

    def _gates(self, zone: str) -> list[tuple[float, ZoneGate]]:
        return [(k.at_s, g) for k in self._looks if (g := k.gate.zones.get(zone)) is not None]

    def hand(self, zone: str, press_s: float, busy_s: float = BUSY_S) -> Hand:
        """Whose hand was over the field at the press, in the looks on both sides of it.

        It is at work where something moved within ``busy_s`` of both. A hand before a field in which nothing moves may
        be the neighbour's, nearer to the camera or farther away: it is the caller's where it is seen to be that until
        it leaves; unclear where it mostly is, or in few looks, or is nobody's and what stands there has changed under
        it; else it is no finding, and judging waits until the view is clear.
        """
        before = [(t, g) for t, g in self._gates(zone) if t <= press_s][-1:]
        after = [(t, g) for t, g in self._gates(zone) if t > press_s][:1]
        if not (before and after and before[0][1].hand and after[0][1].hand) or self._unseen(zone, press_s):
            return "none"
        sights = [(t, s[zone]) for t, s in self._snapshots if zone in s]
        seen = [s for t, s in sights if t <= press_s]
        if seen and not sights[-1][1].hand and not sights[-1][1].has_changed_since(seen[-1]):
            return "none"  # what has not left was no hand
        if all(map(self.was_unfocused, [before[0][0], *(k.at_s for k in self._looks if k.owners.get(zone))])):
            return "none"
        if all(g.settled_s < busy_s for _, g in before + after):
            return "own" if self.is_callers_own(zone, press_s) else "unclear"
        looks = (k for k in self._looks if k.at_s > press_s and zone in k.gate.zones)
        rests = [k for k in takewhile(lambda k: k.gate.zones[zone].hand, looks) if zone not in k.short]
        own = [k.owners[zone] == zone for k in rests if k.owners.get(zone)]
        sole = not any(gate.hand for k in rests for other, gate in k.gate.zones.items() if other != zone)
        sure = len(own) >= SURE_LOOKS and all(own) and self.is_callers_own(zone, press_s)
        if sure or self._touched(zone, press_s, self._moved(zone, press_s)).after == "own":
            return "own"
        built = any(sights[-1][1].has_changed_since(s) for s in [s for s in seen if not s.hand][-1:])
        return "unclear" if sole and (2 * sum(own) > len(own) or (built and not own)) else "none"

    def was_unfocused(self, at_s: float) -> bool:
        """Whether both fields were less sharp then than they had been."""
        now, seen = next((s for t, s in self._snapshots if t >= at_s), {}), [s for t, s in self._snapshots if t < at_s]
        usual = {z: max((s[z].sharpness for s in seen if z in s), default=0.0) for z in now}
        return bool(now) and all(s.sharpness < UNFOCUSED * usual[z] for z, s in now.items())

    def is_callers_own(self, zone: str, press_s: float) -> bool:
        """Whether the hand at the press can only be the caller's own: long there, and none at any other mat."""
        around = [k.gate for k in self._looks if -NEARBY_S <= k.at_s - press_s <= NEARBY_S / 2]
        mine = [(g := look.zones.get(zone)) is not None and g.hand for look in around]
        others = [g.hand for look in around for z, g in look.zones.items() if z != zone]
        return len(mine) >= SURE_LOOKS and all(mine) and not any(others)


def _touched_s(zone: str, moved: Sequence[GateLook]) -> float:
    """Since when the field is touched, of the looks in which something moved there: as soon as a hand is no longer
    short of it, or has come as far as it does before it rests."""
    comes = [moved[0]]
    for look in moved[1:]:
        if zone not in comes[-1].short or look.at_s - comes[-1].at_s > BUSY_S:
            break
        comes.append(look)
    return comes[-1].at_s


@dataclass(eq=False)
class StopWatch:
    """Watches one Stop after the other by the ``history`` of the gate's looks; ``locate`` finds the mats in a picture
    (h, w, 3)."""

    history: GateHistory
    locate: Callable[[np.ndarray], Mats]
    calm: list[Frame] = field(default_factory=list)
    """The first few frames after the press, ``SETTLED_FRAMES`` at most, that all look like the last one."""
    _mats: Mats | None = None
    _first: Mapping[str, FieldSnapshot] = field(default_factory=dict)

    def restart(self) -> None:
        """Another Stop is watched from now on."""
        self._mats, self.calm = None, []

    def arms(self, frame: Frame, look: GateState, zones: Collection[str], press_s: float) -> dict[str, ReachingArm]:
        """What reaches into the zones with a hand, compared with the last frame before the press without one there."""
        arms: dict[str, ReachingArm] = {}
        for zone in zones:
            if zone in look.zones and look.zones[zone].hand:
                before = self.history.clear.get(zone) or next(reversed(self.history.frames_at_press(press_s)), None)
                if before is not None:
                    self._mats = self._mats or self.locate(before.image)
                    arms[zone] = reaching_arm(frame.image, before.image, zone, self._mats)
        return arms

    def clear_frames(self, frame: Frame, look: GateState, zones: Collection[str], press_s: float) -> list[Frame]:
        """The frames to judge: the first ``SETTLED_FRAMES`` since nothing moves in the zones and no hand is over them,
        as soon as they are settled; empty until then, and until there are so many since they were given last."""
        seen, first = look.snapshots, self._first
        if not self.calm or any(z in seen and z in first and seen[z].has_changed_since(first[z]) for z in zones):
            self.calm, self._first = [], seen
        still = frame.at_s > press_s and all(is_still(look, zone) for zone in zones)
        self.calm = [*self.calm, frame][:SETTLED_FRAMES] if still else []
        settled = frame.at_s > press_s + SETTLED_S and all(is_settled(look, zone) for zone in zones)
        if not settled or len(self.calm) < SETTLED_FRAMES:
            return []
        frames, self.calm = self.calm, []
        return frames


def is_settled(look: GateState, zone: str) -> bool:
    """Whether nothing has moved in that field for a while, and its mat is in view."""
    gate = look.zones.get(zone)
    return gate is not None and gate.mat_seen and gate.settled_s >= SETTLED_S


def is_still(look: GateState, zone: str) -> bool:
    """Whether nothing moves in that field now, its mat is in view, and no hand is over it."""
    gate = look.zones.get(zone)
    return gate is not None and gate.mat_seen and gate.settled_s > 0 and not gate.hand


def is_clear(look: GateState, zone: str) -> bool:
    """Whether it is settled, and no hand is over it."""
    return is_settled(look, zone) and not look.zones[zone].hand
