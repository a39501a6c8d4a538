"""Cards of the tower games that lie open in a picture: read by the marker that each kind bears.

A card's marker is square and of known size, so it also tells where the card lies: its middle and which way is up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.game_sheets import CARD_MM, DICTIONARY, MARKER_FOOT_MM, MARKER_MM
from referee.vision.measured import measured

UP_MM = CARD_MM[1] / 2 - MARKER_FOOT_MM - MARKER_MM / 2
"""From the marker's middle to the card's, up the card."""
LARGER = 2.0
"""Small pictures are looked at twice as large too: a marker's cells need some pixels each."""
SAME_SHARE = measured(
    0.5, "of a marker's side", "finds whose middles are closer are one card: two cards' markers cannot overlap so far"
)


@dataclass(frozen=True, eq=False)
class OpenCard:
    """A card by its kind's ``marker``: its ``middle`` in px, its ``turn``: degrees clockwise from upright, as the
    picture shows it, and its marker's corners ``quad`` (4, 2) px, the upper left first, clockwise."""

    marker: int
    middle: tuple[float, float]
    turn: float
    quad: np.ndarray


def open_cards(gray: np.ndarray, kinds: int) -> list[OpenCard]:
    """The cards in an 8-bit grey picture (h, w) of a deck with so many kinds, row by row from the top.

    A marker that the deck does not have is left out: it is another deck's, or misread.
    """
    found: list[tuple[int, np.ndarray]] = []
    for scale in (1.0, LARGER):
        looked = gray if scale == 1.0 else cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        corners, ids, _ = _detector().detectMarkers(looked)
        for marker, quad in zip([] if ids is None else ids.ravel().tolist(), corners, strict=True):
            _add(found, int(marker), (quad[0] + 0.5) / scale - 0.5)
    cards = [_card(marker, quad) for marker, quad in found if marker < kinds]
    return _by_rows(cards, [quad for marker, quad in found if marker < kinds])


def _detector() -> cv2.aruco.ArucoDetector:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY), parameters)


def _add(found: list[tuple[int, np.ndarray]], marker: int, quad: np.ndarray) -> None:
    """Keep the find, unless it is one that is known."""
    side = float(np.linalg.norm(quad[1] - quad[0]))
    if all(m != marker or np.linalg.norm(q.mean(0) - quad.mean(0)) > SAME_SHARE * side for m, q in found):
        found.append((marker, quad))


def _card(marker: int, quad: np.ndarray) -> OpenCard:
    half = MARKER_MM / 2
    flat = np.array([(-half, half), (half, half), (half, -half), (-half, -half)], np.float32)
    plane = cv2.getPerspectiveTransform(flat, quad.astype(np.float32))
    spots = np.array([[(0.0, UP_MM), (0.0, 0.0)]], np.float32)
    middle, foot = cv2.perspectiveTransform(spots, plane)[0]
    up = middle - foot
    turn = float(np.degrees(np.arctan2(up[0], -up[1]))) % 360
    return OpenCard(marker, (float(middle[0]), float(middle[1])), turn, quad)


def _by_rows(cards: Sequence[OpenCard], quads: Sequence[np.ndarray]) -> list[OpenCard]:
    """From the top, and in a row, whose middles differ by less than a marker's height, from the left."""
    if not cards:
        return []
    side = float(np.median([np.linalg.norm(quad[1] - quad[0]) for quad in quads])) * CARD_MM[1] / MARKER_MM / 2
    left, out = sorted(cards, key=lambda card: card.middle[1]), []
    while left:
        row = [card for card in left if card.middle[1] - left[0].middle[1] < side]
        out += sorted(row, key=lambda card: card.middle[0])
        left = [card for card in left if card not in row]
    return out
