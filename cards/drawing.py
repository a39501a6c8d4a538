"""How cards look: faces with the camera's marker, bare pictures for the dashboard, single pieces.

``card_scene`` composes a face (CARD_MM, the same on both sides of the card); ``card_svg`` and
``card_png`` render it. ``target_svg`` and ``target_png`` give the picture alone. Pieces wear the
piece set's own colours. This module (for the marker and the pixels) needs cv2; nothing here is
needed to rule.
"""

import textwrap
from collections.abc import Iterable, Sequence

import cv2
import numpy as np

from cards.build import Piece, shape_of
from cards.card import Card
from cards.deck import Deck
from cards.elevation import build_patches, elevation
from cards.kinds.height import HeightCard
from cards.kinds.shapes import GREY
from cards.pieces import PieceSet
from cards.scene import (
    BLACK,
    RED,
    WHITE,
    Patch,
    PatchDrawing,
    Rgb,
    bounds,
    box,
    patch,
    placed,
    to_svg,
    words,
    words_width,
)

CARD_MM = (88.0, 120.0)
"""Width and height of a card: four to an A4 or Letter sheet."""

MARKER_MM = 26.0
"""The camera's marker. At 0.8 m a 720p webcam of 70 degrees gives it 30 px, 5 px a module."""

MARKER_TOP_MM = 5.0
"""White between the card's upper edge and its marker: more than one module, its quiet zone."""

PICTURE_MM = (76.0, 77.0)
PICTURE_FOOT_MM = 7.0
"""Room for the picture, centred, and the height of its ground line above the lower edge."""

ID_AT_MM, ID_CAP_MM, ID_LENGTH = (5.0, 2.6), 2.6, 16
"""Where the card's id is printed (lower left, below the picture's foot), how high, and how much of it."""

MAX_SCALE = 0.8
"""Pieces are never drawn larger than this on a card, so that small builds look small."""

BLAME: Rgb = (230, 0, 200)
INK: Rgb = (38, 38, 42)


def card_scene(card: Card, deck: Deck, pieces: PieceSet) -> PatchDrawing:
    """The card's face, CARD_MM: marker in the top margin, value in both upper corners, id at the foot, picture."""
    width, height = CARD_MM
    middle = height - MARKER_TOP_MM - MARKER_MM / 2
    made = list(marker_patches(deck.marker(card.id), width / 2, middle, MARKER_MM, cv2.aruco.DICT_4X4_250))
    for x in (11.0, width - 11.0):
        made += words(str(card.value), x, height - 15.0, 8.0, RED)
    made += _id_mark(card.id)
    made += _fitted(card.picture(pieces), bool(card.shown))
    return PatchDrawing(width, height, tuple(made))


def _id_mark(card_id: str) -> tuple[Patch, ...]:
    """The card's id in the lower left corner, for a person who has to name it; long ones are cut."""
    text = card_id[:ID_LENGTH]
    return words(text, ID_AT_MM[0] + words_width(text, ID_CAP_MM) / 2, ID_AT_MM[1], ID_CAP_MM, GREY)


def marker_patches(marker: int, x: float, y: float, side: float, dictionary: int) -> tuple[Patch, ...]:
    """The ArUco marker, ``side`` mm wide and centred on (x, y): a black square and its white modules."""
    codes = cv2.aruco.getPredefinedDictionary(dictionary)
    modules = codes.markerSize + 2
    white = cv2.aruco.generateImageMarker(codes, marker, modules, borderBits=1) > 127
    module, left, top = side / modules, x - side / 2, y + side / 2
    made = [box(left, top - side, side, side, BLACK)]
    for row, column in zip(*np.nonzero(white), strict=True):
        made.append(box(left + column * module, top - (row + 1) * module, module, module, WHITE))
    return tuple(made)


def _fitted(patches: tuple[Patch, ...], ground: bool) -> tuple[Patch, ...]:
    """The picture scaled into its room: centred, on the ground line or in the middle of the height."""
    x0, y0, x1, y1 = bounds(patches)
    scale = min(PICTURE_MM[0] / max(x1 - x0, 1.0), PICTURE_MM[1] / max(y1 - y0, 1.0), MAX_SCALE)
    spare = PICTURE_MM[1] - (y1 - y0) * scale
    dy = PICTURE_FOOT_MM - y0 * scale + (spare * 0.25 if ground else spare / 2)
    return placed(patches, scale, CARD_MM[0] / 2 - (x0 + x1) / 2 * scale, dy)


def _framed(patches: tuple[Patch, ...], margin_mm: float) -> PatchDrawing:
    x0, y0, x1, y1 = bounds(patches)
    moved = placed(patches, 1.0, margin_mm - x0, margin_mm - y0)
    return PatchDrawing(x1 - x0 + 2 * margin_mm, y1 - y0 + 2 * margin_mm, moved)


def card_svg(card: Card, deck: Deck, pieces: PieceSet) -> str:
    """The card's face as SVG in millimetres."""
    return to_svg(card_scene(card, deck, pieces), f"{deck.name} {card.id}")


def card_png(card: Card, deck: Deck, pieces: PieceSet, px: int = 704) -> np.ndarray:
    """The card's face, (h, w, 3) uint8 BGR, ``px`` pixels wide."""
    return render(card_scene(card, deck, pieces), px)


def target_scene(card: Card, pieces: PieceSet, margin_mm: float = 4.0) -> PatchDrawing:
    """The picture alone, in mm of the build."""
    return _framed(card.picture(pieces), margin_mm)


def target_svg(card: Card, pieces: PieceSet) -> str:
    """The picture alone as SVG, for a page."""
    return to_svg(target_scene(card, pieces), card.id)


def target_png(card: Card, pieces: PieceSet, px_per_mm: float = 1.5) -> np.ndarray:
    """The picture alone, (h, w, 3) uint8 BGR."""
    scene = target_scene(card, pieces)
    return render(scene, max(1, round(scene.width * px_per_mm)))


def faults_png(
    card: Card, pieces: PieceSet, faults: Sequence[str], blamed: Sequence[int] = (), px: int = 640
) -> np.ndarray:
    """A refused card's picture with the blamed pieces ringed and the faults written below, BGR.

    Pieces that the set does not have are left out.
    """
    known = [p for p in card.shown if p.shape in pieces.shapes and p.color in pieces.colors]
    patches = build_patches(known, pieces) if known else ()
    for p in (card.shown[i] for i in blamed):
        outline = elevation(shape_of(pieces, p), p.pose) * 1.08 + np.array((p.x, p.z))
        patches += (patch(outline, None, BLAME, 1.2),)
    shown = render(_framed(patches or HeightCard("", 1, 0).picture(pieces), 8.0), px)
    lines = [line for fault in faults for line in textwrap.wrap(fault, px // 9)]
    foot = np.full((22 * len(lines) + 12, px, 3), 255, np.uint8)
    for k, line in enumerate(lines):
        cv2.putText(foot, line, (8, 20 + 22 * k), cv2.FONT_HERSHEY_SIMPLEX, 0.5, INK, 1, cv2.LINE_AA)
    return np.vstack([shown, foot])


def build_svg(placed_pieces: Iterable[Piece], pieces: PieceSet) -> str:
    """Any build in elevation as SVG, in mm of the build."""
    return to_svg(_framed(build_patches(placed_pieces, pieces), 4.0))


OVERSAMPLING = 3


def render(scene: PatchDrawing, px: int) -> np.ndarray:
    """The scene ``px`` pixels wide, (h, w, 3) uint8 BGR, anti-aliased by oversampling."""
    height = max(1, round(scene.height * px / scene.width))
    scale = px * OVERSAMPLING / scene.width
    large = np.full((height * OVERSAMPLING, px * OVERSAMPLING, 3), scene.paper[::-1], np.uint8)
    for p in scene.patches:
        _paint(large, p, scale, scene.height)
    return cv2.resize(large, (px, height), interpolation=cv2.INTER_AREA)


def _paint(image: np.ndarray, p: Patch, scale: float, height_mm: float) -> None:
    """Fill and stroke one patch; fixed-point coordinates with 4 fractional bits, pixel centres at n + 0.5."""
    shift = 4
    points = [np.array([(x, height_mm - y) for x, y in c]) * scale - 0.5 for c in p.contours]
    contours = [np.round(xy * 2**shift).astype(np.int32) for xy in points]
    if p.fill:
        cv2.fillPoly(image, contours, p.fill[::-1], cv2.LINE_8, shift)
    if p.line and p.line_mm:
        thickness = max(1, round(p.line_mm * scale))
        cv2.polylines(image, contours, True, p.line[::-1], thickness, cv2.LINE_8, shift)
