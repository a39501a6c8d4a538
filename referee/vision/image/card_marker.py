"""Which card lies in view, by the ArUco marker in the top margin of its face."""

from dataclasses import dataclass

import cv2
import numpy as np

from calibration.markers import find_markers
from cards.deck import FIRST_CARD_MARKER, Deck
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
