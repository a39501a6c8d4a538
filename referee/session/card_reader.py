"""The card in the holder, as the camera reads it by its marker: to name the card, and to notice a wrong one."""

from dataclasses import dataclass

import cv2
import numpy as np

from calibration.markers import find_markers
from cards.deck import FIRST_CARD_MARKER, Deck
from cards.sentences import sentence
from referee.devices.ports import Frame
from referee.match.commands import NameCard
from referee.match.state import MatchState
from referee.vision.measured import measured

SMALL_PX = measured(14.0, "px", "smaller sides are misread: ArUco 4x4 has six cells, two pixels each at the least")


@dataclass(frozen=True)
class CardMarkers:
    """What the markers of cards in a picture say: the deck's ``card``, None unless exactly one is seen, and
    ``foreign``, markers that only a card of another deck carries."""

    card: str | None
    foreign: tuple[int, ...] = ()


def read_card_markers(gray: np.ndarray, deck: Deck) -> CardMarkers:
    """The cards whose markers are in an 8-bit grey picture (h, w). Ids of mats say nothing."""
    sides = {m: cv2.contourArea(quad.astype(np.float32)) ** 0.5 for m, quad in find_markers(gray).items()}
    found = [m for m, side in sides.items() if m >= FIRST_CARD_MARKER and side >= SMALL_PX]
    cards = {m: deck.with_marker(m) for m in found}
    seen = [card.id for card in cards.values() if card is not None]
    return CardMarkers(seen[0] if len(seen) == 1 else None, tuple(sorted(m for m, c in cards.items() if c is None)))


LOOK_S = 0.5
"""Time between looks at the holder while a card is on the table: a look takes some 15 ms."""

MARKER_MEMORY_S = 4.0
"""A card that was read so lately counts as still there: hands and tongs cover the marker."""

AGREEING_LOOKS = 2
"""So many looks one after the other must show the same foreign marker."""

CARD_PHASES = ("card_drawn", "ready", "building")
RIGHT_CARD_PHASES = ("ready", "building")
"""Phases in which the card must be the right one; before them the last duel's may still be there."""


class CardReader:
    """Looks now and then. ``seen`` is the card read lately, None when there is none."""

    def __init__(self) -> None:
        self.seen: str | None = None
        self._foreign: dict[int, int] = {}
        self._looked_s = self._read_s = float("-inf")

    def look(self, frame: Frame, state: MatchState, deck: Deck) -> str | None:
        """The card read in this frame; None when it was not looked at or shows none."""
        wanted = state.phase in CARD_PHASES or (state.card_id is None and state.can(NameCard))
        if not wanted or frame.at_s - self._looked_s < LOOK_S:
            self.seen = self.seen if wanted else None
            self._foreign = self._foreign if wanted else {}
            return None
        self._looked_s = frame.at_s
        markers = read_card_markers(cv2.cvtColor(frame.image, cv2.COLOR_BGR2GRAY), deck)
        read = markers.card
        self._foreign = {m: self._foreign.get(m, 0) + 1 for m in markers.foreign}
        if read is not None or frame.at_s - self._read_s > MARKER_MEMORY_S:
            self.seen = read
        if read is not None:
            self._read_s = frame.at_s
        return read

    def wrong(self, state: MatchState) -> str | None:
        """What is wrong with the card that stands there; None when nothing is known to be."""
        if state.phase not in RIGHT_CARD_PHASES or None in (self.seen, state.card_id) or self.seen == state.card_id:
            return None
        return sentence("wrong_card", a=self.seen, b=state.card_id)

    def other_deck(self, deck: Deck) -> str | None:
        """What is wrong with a card that this deck does not have; a marker read once may be misread."""
        sure = [str(m) for m, times in self._foreign.items() if times >= AGREEING_LOOKS]
        if not sure:
            return None
        last = deck.first_marker + len(deck.cards) - 1
        return sentence("other_deck", n=sure[0], deck=deck.name, first=deck.first_marker, last=last)
