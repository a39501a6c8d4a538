"""Cards of the tower games that lie open in a picture: read by the marker that each kind bears.

A card's marker is square and of known size, so it also tells where the card lies: its middle and which way is up; and
all markers together tell how the picture shows the table. A tower's column begins at its base card; each further card
lies on the one before, its lower edge at one of the marks, so the last card's place tells how many storeys there are,
however many cards it took.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import scipy

from calibration.game_sheets import BASE_MARK_MM, CARD_MM, DICTIONARY, MARKER_FOOT_MM, MARKER_MM, STEP_MM
from referee.vision.measured import measured

UP_MM = CARD_MM[1] / 2 - MARKER_FOOT_MM - MARKER_MM / 2
"""From the marker's middle to the card's, up the card."""
LARGER = 2.0
"""Small pictures are looked at twice as large too: a marker's cells need some pixels each."""

ASIDE_MM = measured(16.0, "mm", "by hand: a card of a column lies no farther beside its line, near the base card")
ASIDE_SHARE = measured(0.06, "of the distance", "by hand: and so much more the farther away it lies")
TURNED_RAD = measured(0.45, "radians", "by hand: a card turned further against the base card is not of its column")
OFF_MARK = measured(0.32, "storeys", "off a mark a column's end is read as neither: cards laid by hand lie within 3 mm")
FARTHEST_WEIGHT = measured(
    0.05, "of the middle's", "no card lies twenty times as far as the middle of all: keeps the fit from the horizon"
)
LAID_BADLY = measured(
    0.03, "of a marker's side", "by hand: misses from here on count less and less, of a card bent or half covered"
)
SQUARE_MM = np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)]) * MARKER_MM / 2
"""A marker's corners as they are found: upper left first, clockwise, y up."""


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
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY), parameters)
    found: list[tuple[int, np.ndarray]] = []
    for scale in (1.0, LARGER):
        looked = gray if scale == 1.0 else cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        corners, ids, _ = detector.detectMarkers(looked)
        for marker, quad in zip([] if ids is None else ids.ravel().tolist(), corners, strict=True):
            _add(found, int(marker), (quad[0] + 0.5) / scale - 0.5)
    return _by_rows([_card(marker, quad) for marker, quad in found if marker < kinds])


def _add(found: list[tuple[int, np.ndarray]], marker: int, quad: np.ndarray) -> None:
    """Keep the find, unless it is one that is known: two cards' markers cannot overlap by half a side."""
    side = float(np.linalg.norm(quad[1] - quad[0]))
    if all(m != marker or np.linalg.norm(q.mean(0) - quad.mean(0)) > side / 2 for m, q in found):
        found.append((marker, quad))


def _card(marker: int, quad: np.ndarray) -> OpenCard:
    plane = cv2.getPerspectiveTransform(SQUARE_MM.astype(np.float32), quad.astype(np.float32))
    middle, foot = cv2.perspectiveTransform(np.array([[(0.0, UP_MM), (0.0, 0.0)]], np.float32), plane)[0]
    up = middle - foot
    turn = float(np.degrees(np.arctan2(up[0], -up[1]))) % 360
    return OpenCard(marker, (float(middle[0]), float(middle[1])), turn, quad)


def _by_rows(cards: Sequence[OpenCard]) -> list[OpenCard]:
    """From the top, and in a row, whose middles differ by less than a marker's height, from the left."""
    if not cards:
        return []
    side = float(np.median([np.linalg.norm(c.quad[1] - c.quad[0]) for c in cards])) * CARD_MM[1] / MARKER_MM / 2
    left, out = sorted(cards, key=lambda card: card.middle[1]), []
    while left:
        row = [card for card in left if card.middle[1] - left[0].middle[1] < side]
        out += sorted(row, key=lambda card: card.middle[0])
        left = [card for card in left if card not in row]
    return out


@dataclass(frozen=True)
class Column:
    """A tower's column: ``storeys`` as measured, 0 for the base card alone."""

    style: str
    storeys: float

    @property
    def height(self) -> int:
        """Whole storeys."""
        return round(self.storeys)

    @property
    def sure(self) -> bool:
        """Whether it ends at a mark."""
        return abs(self.storeys - self.height) <= OFF_MARK


def columns(cards: Sequence[OpenCard], bases: Mapping[int, str], styles: Mapping[int, str]) -> list[Column]:
    """The column of every base card among the cards, by style. ``bases`` and ``styles``: marker -> style."""
    if not any(card.marker in bases for card in cards):
        return []
    flat = on_table(np.array([card.quad for card in cards]))
    found = []
    for base, quad in zip(cards, flat, strict=True):
        if base.marker in bases:
            style = bases[base.marker]
            own = [q for card, q in zip(cards, flat, strict=True) if styles.get(card.marker) == style]
            found.append(Column(style, _reach(quad, own)))
    return sorted(found, key=lambda column: column.style)


def _reach(base: np.ndarray, own: Sequence[np.ndarray]) -> float:
    """Storeys from the base card's foot to the farthest of its ``own`` cards, all (4, 2) mm."""
    up = _up(base)
    aside = np.array([up[1], -up[0]])
    far = 0.0
    for quad in own:
        way = quad.mean(0) - base.mean(0)
        along, beside = float(way @ up), abs(float(way @ aside))
        turned = abs(float(np.arctan2(aside @ _up(quad), up @ _up(quad))))
        if along > 0 and beside < ASIDE_MM + ASIDE_SHARE * along and turned < TURNED_RAD:
            far = max(far, (along - BASE_MARK_MM) / STEP_MM)
    return far


def _up(quad: np.ndarray) -> np.ndarray:
    """The unit vector from a marker's lower to its upper edge."""
    way = quad[:2].sum(0) - quad[2:].sum(0)
    return way / np.linalg.norm(way)


def on_table(quads: np.ndarray) -> np.ndarray:
    """Markers' corners (n, 4, 2) px as they lie on the table, mm, y up; where the table begins is left open.

    Five numbers say how a picture shows a plane up to place and turn: the horizon's line (2), and shear and scales.
    They are found so that every marker comes out as a square of its size.
    """
    middle, size = quads.reshape(-1, 2).mean(0), max(1.0, float(np.ptp(quads.reshape(-1, 2), 0).max()))
    points = (quads - middle) / size * (1.0, -1.0)
    side = float(np.median(np.linalg.norm(points - np.roll(points, 1, 1), axis=2)))

    def laid(numbers: np.ndarray) -> np.ndarray:
        a, b, wide, skew, high = numbers
        weight = np.maximum(1 + points @ (a, b), FARTHEST_WEIGHT)[..., None]
        flat = points / weight
        return np.stack((np.exp(wide) * flat[..., 0] + skew * flat[..., 1], np.exp(high) * flat[..., 1]), -1)

    def missed(numbers: np.ndarray) -> np.ndarray:
        flat = laid(numbers)
        return ((flat - _squares(flat)) / MARKER_MM).ravel()

    first = np.log(MARKER_MM / side)
    fit = scipy.optimize.least_squares(missed, [0.0, 0.0, first, 0.0, first], loss="soft_l1", f_scale=LAID_BADLY)
    return laid(fit.x)


def _squares(flat: np.ndarray) -> np.ndarray:
    """The squares of a marker's size that fit (n, 4, 2) best, each moved and turned."""
    middle = flat.mean(1, keepdims=True)
    z = (flat - middle) @ (1, 1j)
    turn = (z * np.conj(SQUARE_MM @ (1, 1j))).sum(1)
    square = (turn / np.maximum(np.abs(turn), 1e-9))[:, None] * (SQUARE_MM @ (1, 1j))[None]
    return np.stack((square.real, square.imag), -1) + middle
