"""Fouls that a camera can see, each a proposal to the human referee and never more than that.

One watch over frames in order, live or of a recording; what it says depends on the frames and the Stop alone:

| kind | seen when |
|---|---|
| ``bare_hand`` | a hand without tongs touches a piece in the own field |
| ``second_hand`` | two arms of its player are in a field |
| ``neighbours_hand`` | an arm of another player is in a field |
| ``strangers_hand`` | an arm that comes from neither seat is in a field |
| ``came_together`` | pieces of two colours come into a field faster than anybody places one after the other |
| ``shaken`` | a mat moves, and the room behind it does not |
| ``brought_after_stop`` | a place that was bare after the Stop holds a piece, and a hand was there as it came |

An observation counts when it lasts, and is proposed once until it has been absent for a while. Where what stands in the
field has changed meanwhile, however short it was, another player's counts where nobody else's hand was there and it is
seen half of the time that any is, and a stranger's where the last look that tells whose hand it is tells so. Another
player's hand that is lost in a field, seen nowhere, and seen in that field again, was out of sight all the while: that
time counts neither for nor against it. Seen from behind its player, a bare hand is proposed when it leaves.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from referee.devices.ports import Frame
from referee.match.foul import FoulProposal
from referee.vision.hands.dwell import DwellDetector
from referee.vision.hands.field_hands import FieldHands, LoosePieces, StandingPieces, field_masks, hands_over
from referee.vision.hands.fists import ReducedFrame, detect_fists
from referee.vision.hands.geometry import STRANGER, HandGeometry
from referee.vision.hands.tracker import HandTracker
from referee.vision.live.field_snapshot import UNFOCUSED, Arrival, FieldSnapshot, arrival, came_together
from referee.vision.live.gate import GateState
from referee.vision.live.mat_motion import MatMotion
from referee.vision.measured import measured

HAND_FOUL_S = measured(0.35, "s", "by hand: a sight must last so long; shorter may be two things that pass")
SIGHTS = measured(160, "sights", "for memory: and so often in all, some fourteen seconds")
SEEN_SHARE = measured(0.75, "of the looks of that time", "by hand: so often it must be seen")
BRIEF_SHARE = measured(0.5, "of the looks with a hand", "a neighbour's at ten rigs 0.5 to 1, false ones to 0.33")
STRANGERS_SHARE = measured(0.15, "of them", "a stranger's at eight rigs 0.2 to 1, a false one 0.05")
AWAY_S = measured(1.0, "s", "by hand: what was away for so long has gone, and has nothing to do with what comes then")
BUSY_S = measured(0.3, "s", "by hand: where something moved so lately is work; for half of it lasts what is a hand")
LOOK_S = measured(0.09, "s", "for time: looks are at least so far apart")


@dataclass
class _Persistence:
    """How long one kind of foul has lasted in one field. ``looks``: time, time without the unknown spans, whose hand,
    whether it was there; ``proposed_s``: when what was proposed was last there; ``lost_s``: since when nobody knows,
    and ``unknown_s`` how long that was in all."""

    looks: deque[tuple[float, float, str | None, bool]] = field(default_factory=deque)
    proposed_s: float | None = None
    lost_s: float | None = None
    unknown_s: float = 0.0


@dataclass
class _FieldRecord:
    """What a field has shown before the Stop and since, and whether anything was proposed of it; ``since_clear``: its
    looks from the last one without a hand on, and ``visitors`` whose hands were there when; ``since_bare``: the same,
    but what moves in a bare field is of a hand that is not seen yet, and leaves it as it was."""

    before: deque[FieldSnapshot] = field(default_factory=lambda: deque(maxlen=SIGHTS))
    after: deque[tuple[float, FieldSnapshot]] = field(default_factory=lambda: deque(maxlen=SIGHTS))
    told: bool = False
    first: FieldSnapshot | None = None
    visitors: deque[tuple[float, str | None]] = field(default_factory=lambda: deque(maxlen=SIGHTS))
    since_clear: deque[tuple[float, FieldSnapshot]] = field(default_factory=lambda: deque(maxlen=SIGHTS))
    since_bare: deque[tuple[float, FieldSnapshot]] = field(default_factory=lambda: deque(maxlen=SIGHTS))


class FoulWatch:
    """Watches one duel from its go on."""

    def __init__(self) -> None:
        self._persistence: dict[tuple[str, str], _Persistence] = {}
        self._fields: defaultdict[str, _FieldRecord] = defaultdict(_FieldRecord)
        self._motion = MatMotion()
        self._looked_s = float("-inf")
        self._sharpest: defaultdict[str, float] = defaultdict(float)
        self._loose = LoosePieces()
        self._tracker = HandTracker()
        self._standing: dict[str, StandingPieces] = {}
        self._dwell: dict[str, DwellDetector] = {}
        self._alone: tuple[str, ...] = ()  # a stranger, where no other's hand is in the picture

    def look(
        self, frame: Frame, reduced: tuple[ReducedFrame, HandGeometry] | None, look: GateState, stop_s: float | None
    ) -> list[FoulProposal]:
        """Proposals at this frame, of which the gate gives ``reduced`` (``Gate.reduced_frame``) and the state ``look``,
        without the time after the go; ``stop_s`` is the Stop in the frames' time, None before it."""
        if reduced is None or frame.at_s - self._looked_s < LOOK_S:
            return []
        self._looked_s = frame.at_s
        for zone, seen in look.snapshots.items():  # a patterned sleeve is sharper than any field
            self._sharpest[zone] = max(self._sharpest[zone], 0.0 if seen.hand else seen.sharpness)
        if look.snapshots and all(s.sharpness < UNFOCUSED * self._sharpest[z] for z, s in look.snapshots.items()):
            return []  # out of focus every edge is new, and may be taken for a hand's
        hands, mats = self._hands(*reduced), reduced[1].mats
        fouls = self._of_hands(hands, frame.at_s)
        moved = self._motion.update(frame.image, mats)
        for zone in mats.poses:
            fouls += self._observed("shaken", zone, None, zone in moved, frame.at_s)
        for zone in look.snapshots.keys() & hands.keys():
            if look.snapshots[zone].hand:
                self._fields[zone].visitors += [(frame.at_s, owner) for owner in hands[zone].owners or self._alone]
        return [*fouls, *self._of_pieces(look, frame.at_s, stop_s)]

    def _hands(self, picture: ReducedFrame, geometry: HandGeometry) -> dict[str, FieldHands]:
        """The hands over each field."""
        loose = self._loose.update(picture)
        fists = self._tracker.update(detect_fists(picture, geometry), geometry)
        self._alone = (STRANGER,) if {fist.owner for fist in fists} == {STRANGER} else ()
        over = {}
        for zone, pose in geometry.mats.poses.items():
            standing = self._standing.setdefault(zone, StandingPieces())
            masks = standing.update(picture, field_masks(picture, geometry, pose, loose))
            over[zone] = hands_over(fists, masks, geometry, pose)
        return over

    def _of_hands(self, hands: Mapping[str, FieldHands], at_s: float) -> list[FoulProposal]:
        fouls = []
        for zone, over in hands.items():
            others = [owner for owner in over.owners if owner not in (None, STRANGER, zone)]
            if others or not self._is_out_of_sight(zone, over, at_s):
                fouls += self._observed("neighbours_hand", zone, others[0] if others else None, bool(others), at_s)
            fouls += self._observed("strangers_hand", zone, None, STRANGER in over.owners, at_s)
            fouls += self._observed("second_hand", zone, zone, over.hands > 1, at_s)
            fouls += self._observed("bare_hand", zone, zone, bool(over.bare), at_s)
            stayed = self._dwell.setdefault(zone, DwellDetector()).update(over.sole, at_s)
            if stayed is not None and not others and over.hands < 2:
                fouls.append(_proposal("bare_hand", zone, zone, *stayed))
        return fouls

    def _is_out_of_sight(self, zone: str, over: FieldHands, at_s: float) -> bool:
        """Whether the neighbour's hand that was in the field at the last look is seen nowhere now, and not for long."""
        sight = self._persistence.get(("neighbours_hand", zone))
        if sight is None or not sight.looks or sight.looks[-1][2] not in over.unseen:
            return False
        since_s = sight.looks[-1][0]
        sight.lost_s = since_s if at_s - since_s <= AWAY_S else None
        return sight.lost_s is not None

    def _observed(self, kind: str, zone: str, culprit: str | None, present: bool, at_s: float) -> list[FoulProposal]:
        """One more look for that kind of foul; the proposal, once it has lasted."""
        sight = self._persistence.setdefault((kind, zone), _Persistence())
        lasts = 0.0 if kind == "shaken" else HAND_FOUL_S
        if sight.lost_s is not None:
            sight.unknown_s += at_s - LOOK_S - sight.lost_s
            sight.lost_s = None
        known_s = at_s - sight.unknown_s
        sight.looks.append((at_s, known_s, culprit, present))
        while known_s - sight.looks[0][1] > lasts + LOOK_S:
            sight.looks.popleft()
        here = [(t, known, who) for t, known, who, seen in sight.looks if seen]
        if sight.proposed_s is not None:
            sight.proposed_s = at_s if present else sight.proposed_s
            sight.proposed_s = None if at_s - sight.proposed_s > AWAY_S else sight.proposed_s
            return []
        share = len(here) / len(sight.looks)
        apart_s = max(2 * LOOK_S, known_s - sight.looks[-2][1]) if len(sight.looks) > 1 else 2 * LOOK_S
        if not present or share < SEEN_SHARE or known_s - here[0][1] < lasts - (apart_s - LOOK_S) / 2:
            return []
        sight.proposed_s = at_s
        return [_proposal(kind, zone, here[-1][2], here[0][0], share)]

    def _of_visitors(self, zone: str, held: _FieldRecord, at_s: float) -> list[FoulProposal]:
        """Another's hand that was there while what stands in the field changed, be it briefly: a stranger's by the last
        look that tells whose it is, which knows of all before it; another player's where no look tells of anybody
        else."""
        owners, looks = Counter(whose for _, whose in held.visitors), held.since_clear
        last = next((whose for _, whose in reversed(held.visitors) if whose is not None), None)
        owner = STRANGER if last == STRANGER else next(iter(owners), zone)
        if owner != STRANGER and (owner in (None, zone) or len(owners) > 1):
            return []
        share = min(1.0, owners[owner] / max(1, sum(shown.hand for _, shown in looks)))
        seldom = share < (STRANGERS_SHARE if owner == STRANGER else BRIEF_SHARE)
        if seldom or not looks[-1][1].has_changed_since(looks[0][1]):
            return []
        kind = "strangers_hand" if owner == STRANGER else "neighbours_hand"
        sight = self._persistence[kind, zone]
        known, sight.proposed_s = sight.proposed_s is not None, at_s
        return [] if known else [_proposal(kind, zone, owner or None, held.visitors[0][0], share)]

    def _of_pieces(self, look: GateState, at_s: float, stop_s: float | None) -> list[FoulProposal]:
        fouls = []
        for zone, sight in look.snapshots.items():
            gate, held = look.zones[zone], self._fields[zone]
            held.since_clear.append((at_s, sight))
            held.since_bare.append((at_s, sight))
            if not sight.hand:
                held.first = held.first or sight
                from_s = came_together(held.since_clear, held.first)
                if from_s is None and len(held.since_bare) > len(held.since_clear):
                    from_s = came_together(held.since_bare, held.first)
                fouls += self._of_visitors(zone, held, at_s)
                held.since_clear = deque([(at_s, sight)], SIGHTS)
                if from_s is not None or gate.settled_s > 0 or not held.since_bare[0][1].is_bare:
                    held.since_bare = held.since_clear.copy()
                held.visitors.clear()
                fouls += [] if from_s is None else [_proposal("came_together", zone, zone, from_s, 1.0)]
            if held.told:
                continue
            if stop_s is None or at_s <= stop_s:
                held.before.append(sight)
                continue
            held.after.append((at_s, sight))
            rests_s = HAND_FOUL_S if gate.hand else LOOK_S
            if gate.settled_s < rests_s or not any(s.hand for _, s in held.after):
                continue  # what moves while no hand is near has fallen
            now = arrival(held.before, [s for _, s in held.after])
            if now is not None and _by_hand(held.after, now):
                held.told = True
                fouls.append(_proposal("brought_after_stop", zone, zone, held.after[now.bare][0], 1.0))
        return fouls


def _by_hand(after: Sequence[tuple[float, FieldSnapshot]], now: Arrival) -> bool:
    """Whether a hand was there as the piece came: what falls is strange for a moment while it turns, and a hand that
    is seen when it stands did not bring it."""
    numbered = [(n, at_s, sight.hand) for n, (at_s, sight) in enumerate(after)]
    for there, run in groupby(numbered, key=lambda look: look[2]):
        looks = list(run)
        (first, from_s, _), (last, to_s, _) = looks[0], looks[-1]
        if there and first <= now.stands and last >= now.bare and to_s - from_s >= BUSY_S / 2:
            return True
    return False


def _proposal(kind: str, zone: str, culprit: str | None, from_s: float, sure: float) -> FoulProposal:
    """A foul that began at ``from_s`` in the frames' time; how long after the go that is, the caller fills in."""
    return FoulProposal(kind, zone, 0.0, round(sure, 2), culprit, round(from_s, 3))
