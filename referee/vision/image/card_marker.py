"""Which card lies in view, by the ArUco marker in the top margin of its face."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.mat import find_markers
from cards.deck import FIRST_CARD_MARKER, Deck

SMALL_PX = 14.0
"""Sides below this are misread now and then: an ArUco 4x4 has six cells, two pixels each at the least."""


def read_card_marker(gray: np.ndarray, deck: Deck) -> str | None:
    """Id of the deck's card whose marker is in an 8-bit grey picture (h, w); None unless exactly one is.

    Ids of mats, and of cards that the deck does not have, say nothing.
    """
    cards = [(deck.with_marker(m), quad) for m, quad in find_markers(gray).items() if m >= FIRST_CARD_MARKER]
    seen = [card.id for card, quad in cards if card is not None and _side(quad) >= SMALL_PX]
    return seen[0] if len(seen) == 1 else None


def _side(quad: np.ndarray) -> float:
    return float(np.sqrt(cv2.contourArea(quad.astype(np.float32))))
