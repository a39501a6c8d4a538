"""Before the go, and when builds are broken after a duel: are both fields empty, and hands out of them?"""

from collections.abc import Mapping, Sequence

from cards.card import Card
from cards.law import TOLERANCES
from cards.sentences import sentence
from referee.devices.ports import Frame
from referee.match.commands import FIELD_FAULTS
from referee.match.state import MatchState
from referee.vision.live.gate import GateState, ZoneGate
from referee.vision.observer import Observer

CHECKED = ("card_drawn", "ready")
BROKEN = ("idle", "void")
"""Phases in which the fields are looked at: before the go, and after a duel, when both builds are to be broken."""

EMPTY = 0.01
"""Share of a field that may have the colour of a piece without a closer look: the smallest piece covers four times
that, and so may a loose one that stands before the field."""

REST_BEFORE_CHECK_S = 0.3
"""A closer look waits until nothing moves."""

RECHECK_SHARE = 0.005
"""A closer look holds as long as that share stays so near to what it was."""


def fields_must_be_empty(state: MatchState) -> bool:
    """Whether both fields have to be empty now. Before the first duel the rig may still be set up with pieces."""
    return not state.by_hand and (state.phase in CHECKED or (state.phase in BROKEN and bool(state.history)))


class FieldCheck:
    """Says what is wrong with the fields. ``faults`` may be asked from any thread."""

    def __init__(self) -> None:
        self.faults: Mapping[str, str] = {}
        self.bare = False
        """Whether all fields are empty and nothing has moved before them for a moment."""
        self._looked: dict[str, tuple[float, bool]] = {}

    def look(self, frame: Frame, look: GateState, observer: Observer, card: Card) -> None:
        """One more look; a field that may not be empty is read once for each state it is in."""
        faults = {}
        for zone, gate in look.zones.items():
            if gate.hand:
                faults[zone] = "hand"
            elif gate.fill > EMPTY and self._stands(zone, gate, frame, observer, card):
                faults[zone] = "not_empty"
        self.faults = faults
        rested = all(g.mat_seen and g.settled_s >= REST_BEFORE_CHECK_S for g in look.zones.values())
        self.bare = not faults and rested and bool(look.zones)

    def rest(self) -> None:
        """Nobody asks now."""
        self.faults, self.bare, self._looked = {}, False, {}

    def alarms(self, zones: Sequence[str]) -> dict[str, str | None]:
        """Alarm code -> text, None for a field that is as it should be."""
        faults = self.faults
        return {f"field_{z}": sentence(FIELD_FAULTS[faults[z]], zone=z) if z in faults else None for z in zones}

    def _stands(self, zone: str, gate: ZoneGate, frame: Frame, observer: Observer, card: Card) -> bool:
        """Whether a piece stands in the field; while it moves, what was found last, else that it may be."""
        fill, stands = self._looked.get(zone, (-1.0, True))
        if abs(gate.fill - fill) > RECHECK_SHARE and gate.settled_s >= REST_BEFORE_CHECK_S:
            stands = observer.judge([frame.image], card, [zone], TOLERANCES).has_piece(zone)
            self._looked[zone] = (gate.fill, stands)
        return stands
