"""How cards look: faces with the camera's marker, bare pictures for the dashboard, single pieces.

``card_scene`` composes a face (CARD_MM, the same on both sides of the card); ``card_svg`` and
``card_png`` render it. ``target_svg`` and ``target_png`` give the picture alone. Pieces wear the
piece set's own colours. This module (for the marker and the pixels) needs cv2; nothing here is
needed to rule.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence

import cv2
import numpy as np

from cards.build import Piece, shape_of
from cards.card import Card, HeightCard, LayoutCard, ShapesCard
from cards.deck import Deck
from cards.pieces import PieceSet, Pose, Shape
from cards.pixels import render
from cards.scene import (
    BLACK,
    WHITE,
    Patch,
    Rgb,
    Scene,
    bounds,
    box,
    corners,
    mixed,
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

RED: Rgb = (200, 32, 44)
PIPE, PIPE_LINE = (150, 152, 156), (92, 94, 98)
GREY = (158, 160, 164)
BLAME: Rgb = (230, 0, 200)
INK: Rgb = (38, 38, 42)
SHADES = 14


# -- single pieces ---------------------------------------------------------------------------------


def piece_patches(shape: Shape, pose: Pose, color: Rgb, line_mm: float = 0.35) -> tuple[Patch, ...]:
    """A posed piece as the player sees it, mm, centred on its box.

    Round and sloping faces are shaded, so that a cylinder is no box and a triangle seen from
    its sloping side is no brick.
    """
    line = mixed(color, BLACK, 0.45)
    outline = elevation(shape, pose)
    return (*_shaded(shape, pose, outline, color), patch(outline, None, line, line_mm))


def elevation(shape: Shape, pose: Pose) -> np.ndarray:
    """The piece's silhouette for the player, (n, 2) mm as (x, z) about the centre of its box."""
    sx, _, sz = shape.size(pose)
    if shape.kind == "cylinder":
        if shape.axis(pose) == "y":
            t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
            return shape.width / 2 * np.stack([np.cos(t), np.sin(t)], 1)
    elif pose.facing == "front":
        return shape.turned_outline(pose.rotation)
    return np.array([(-sx, -sz), (sx, -sz), (sx, sz), (-sx, sz)]) / 2


def _shaded(shape: Shape, pose: Pose, outline: np.ndarray, color: Rgb) -> tuple[Patch, ...]:
    sx, _, sz = shape.size(pose)
    if shape.kind == "cylinder":
        if shape.axis(pose) == "y":
            return _disc(outline, color)
        return _strips(sx, sz, color, _round_light, upright=shape.axis(pose) == "z")
    if pose.facing == "side" and shape.kind in ("triangle", "crescent", "half_disc"):
        return _strips(sx, sz, color, _slope_light(shape, pose), upright=False)
    return (patch(outline, color),)


def _disc(outline: np.ndarray, color: Rgb) -> tuple[Patch, ...]:
    return patch(outline, color), patch(outline * 0.72, mixed(color, WHITE, 0.14))


def _strips(sx: float, sz: float, color: Rgb, light: Callable[[float], float], *, upright: bool) -> tuple[Patch, ...]:
    """A rectangle painted in overlapping strips; ``light`` maps 0..1 across to -1 (dark) .. 1 (bright)."""
    made = []
    for k in range(SHADES):
        t = k / SHADES
        amount = light((k + 0.5) / SHADES)
        shade = mixed(color, WHITE if amount > 0 else BLACK, abs(amount) * 0.42)
        start = (t - 0.5) * (sx if upright else sz)
        if upright:
            made.append(box(start, -sz / 2, sx / 2 - start, sz, shade))
        else:
            made.append(box(-sx / 2, start, sx, sz / 2 - start, shade))
    return tuple(made)


def _round_light(t: float) -> float:
    """A cylinder lit from the upper left: brightest at a third, darker to the rim."""
    return float(0.85 - 3.6 * abs(t - 0.36) ** 1.3 - 0.15)


def _slope_light(shape: Shape, pose: Pose) -> Callable[[float], float]:
    """Light on a face that leans away: brighter where it looks up (``t`` runs from foot to top)."""
    if shape.kind == "triangle":
        up = 0.45 if pose.rotation % 360 == 0 else -0.45 if pose.rotation % 360 == 180 else 0.0
        return lambda t: up + 0.15 * (t - 0.5)
    if pose.rotation % 360 == 0:
        return lambda t: 0.9 * t**2 - 0.15
    if pose.rotation % 360 == 180:
        return lambda t: 0.1 - 0.9 * (1 - t) ** 2
    return lambda t: 0.2 - 0.8 * abs(t - 0.5)


# -- the picture of a card -------------------------------------------------------------------------


def picture(card: Card, pieces: PieceSet) -> tuple[Patch, ...]:
    """What the card shows, in mm of the build for pieces, ground line at y = 0."""
    if isinstance(card, LayoutCard):
        return build_patches(card.pieces, pieces)
    if isinstance(card, ShapesCard):
        return _grey_shapes(card, pieces)
    if isinstance(card, HeightCard):
        return _height(card.count)
    return _pipes(card.count)


def build_patches(placed_pieces: Iterable[Piece], pieces: PieceSet) -> tuple[Patch, ...]:
    """Placed pieces in the elevation the player sees; the farther are painted first."""
    made: list[Patch] = []
    for p in sorted(placed_pieces, key=lambda p: -p.y):
        made += placed(piece_patches(shape_of(pieces, p), p.pose, pieces.rgb(p.color)), 1.0, p.x, p.z)
    return tuple(made)


def _height(count: int) -> tuple[Patch, ...]:
    cap = 70.0
    width = words_width(str(count), cap)
    digits = words(str(count), width / 2, 0.0, cap, RED)
    return digits + placed(_arrow(cap), 1.0, width + 13.0, 0.0)


def _arrow(height: float) -> tuple[Patch, ...]:
    half, head, wing = 4.5, 22.0, 12.0
    tip = height + 14.0
    return (
        patch(
            [
                (-half, 0),
                (half, 0),
                (half, tip - head),
                (wing, tip - head),
                (0, tip),
                (-wing, tip - head),
                (-half, tip - head),
            ],
            RED,
        ),
    )


def _pipes(count: int) -> tuple[Patch, ...]:
    made: list[Patch] = []
    wide, gap = 16.0, 3.0
    for k in range(count):
        tall = 112.0 - 76.0 * k / max(count - 1, 1)
        x = k * (wide + gap)
        made += placed(_strips(wide, tall, PIPE, _round_light, upright=True), 1.0, x, tall / 2)
        made.append(patch(corners(x - wide / 2, 0, wide, tall), None, PIPE_LINE, 0.35))
        made.append(patch([(x - 4, 9), (x + 4, 9), (x + 2.6, 15), (x - 2.6, 15)], PIPE_LINE))
    return tuple(made)


def _grey_shapes(card: ShapesCard, pieces: PieceSet) -> tuple[Patch, ...]:
    """The shapes in grey, largest first, in rows that leave the picture about square."""
    each = [pieces.shapes[name] for name, n in card.shapes for _ in range(n)]
    each.sort(key=lambda s: (-s.width, -s.height, s.name))
    gap, rows = 14.0, _rows([s.width for s in each], 14.0)
    made: list[Patch] = []
    y, first = 0.0, 0
    for length in reversed(rows):
        row = each[len(each) - first - length : len(each) - first]
        first += length
        x = -(sum(s.width for s in row) + gap * (len(row) - 1)) / 2
        for s in row:
            made += placed(piece_patches(s, Pose(), GREY), 1.0, x + s.width / 2, y + s.height / 2)
            x += s.width + gap
        y += max(s.height for s in row) + gap
    return tuple(made)


def _rows(widths: list[float], gap: float) -> list[int]:
    """How many shapes go into each row, top row first, so that the rows are about as wide as high."""
    total = sum(widths) + gap * len(widths)
    limit = max(*widths, (total * 50.0) ** 0.5) if len(widths) > 1 else widths[0]
    counts, used = [0], 0.0
    for width in widths:
        if counts[-1] and used + width > limit:
            counts.append(0)
            used = 0.0
        counts[-1] += 1
        used += width + gap
    return counts


# -- card faces ------------------------------------------------------------------------------------


def card_scene(card: Card, deck: Deck, pieces: PieceSet) -> Scene:
    """The card's face, CARD_MM: marker in the top margin, value in both upper corners, id at the foot, picture."""
    width, height = CARD_MM
    made = list(_marker(deck.marker(card.id), width / 2, height - MARKER_TOP_MM))
    for x in (11.0, width - 11.0):
        made += words(str(card.value), x, height - 15.0, 8.0, RED)
    made += _id_mark(card.id)
    made += _fitted(picture(card, pieces), isinstance(card, LayoutCard))
    return Scene(width, height, tuple(made))


def _id_mark(card_id: str) -> tuple[Patch, ...]:
    """The card's id in the lower left corner, for a person who has to name it; long ones are cut."""
    text = card_id[:ID_LENGTH]
    return words(text, ID_AT_MM[0] + words_width(text, ID_CAP_MM) / 2, ID_AT_MM[1], ID_CAP_MM, GREY)


def _marker(marker: int, x: float, top: float) -> tuple[Patch, ...]:
    """The ArUco marker as polygons: a black square and its white modules."""
    bits = marker_bits(marker)
    module = MARKER_MM / len(bits)
    left, made = x - MARKER_MM / 2, [box(x - MARKER_MM / 2, top - MARKER_MM, MARKER_MM, MARKER_MM, BLACK)]
    for row, column in zip(*np.nonzero(bits), strict=True):
        made.append(box(left + column * module, top - (row + 1) * module, module, module, WHITE))
    return tuple(made)


def marker_bits(marker: int, dictionary: int = cv2.aruco.DICT_4X4_250) -> np.ndarray:
    """The marker's modules with its black border, (n, n) bool, True is white, row 0 at the top."""
    codes = cv2.aruco.getPredefinedDictionary(dictionary)
    side = codes.markerSize + 2
    return cv2.aruco.generateImageMarker(codes, marker, side, borderBits=1) > 127


def _fitted(patches: tuple[Patch, ...], ground: bool) -> tuple[Patch, ...]:
    """The picture scaled into its room: centred, on the ground line or in the middle of the height."""
    x0, y0, x1, y1 = bounds(patches)
    scale = min(PICTURE_MM[0] / max(x1 - x0, 1.0), PICTURE_MM[1] / max(y1 - y0, 1.0), MAX_SCALE)
    spare = PICTURE_MM[1] - (y1 - y0) * scale
    dy = PICTURE_FOOT_MM - y0 * scale + (spare * 0.25 if ground else spare / 2)
    return placed(patches, scale, CARD_MM[0] / 2 - (x0 + x1) / 2 * scale, dy)


def _framed(patches: tuple[Patch, ...], margin_mm: float) -> Scene:
    x0, y0, x1, y1 = bounds(patches)
    moved = placed(patches, 1.0, margin_mm - x0, margin_mm - y0)
    return Scene(x1 - x0 + 2 * margin_mm, y1 - y0 + 2 * margin_mm, moved)


def card_svg(card: Card, deck: Deck, pieces: PieceSet) -> str:
    """The card's face as SVG in millimetres."""
    return to_svg(card_scene(card, deck, pieces), f"{deck.name} {card.id}")


def card_png(card: Card, deck: Deck, pieces: PieceSet, px: int = 704) -> np.ndarray:
    """The card's face, (h, w, 3) uint8 BGR, ``px`` pixels wide."""
    return render(card_scene(card, deck, pieces), px)


def target_scene(card: Card, pieces: PieceSet, margin_mm: float = 4.0) -> Scene:
    """The picture alone, in mm of the build."""
    return _framed(picture(card, pieces), margin_mm)


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
    known = [p for p in getattr(card, "pieces", ()) if p.shape in pieces.shapes and p.color in pieces.colors]
    patches = build_patches(known, pieces) if known else ()
    placed = getattr(card, "pieces", ())
    for p in (placed[i] for i in blamed):
        outline = elevation(shape_of(pieces, p), p.pose) * 1.08 + np.array((p.x, p.z))
        patches += (patch(outline, None, BLAME, 1.2),)
    shown = render(_framed(patches or _height(0), 8.0), px)
    lines = [line for fault in faults for line in textwrap.wrap(fault, px // 9)]
    foot = np.full((22 * len(lines) + 12, px, 3), 255, np.uint8)
    for k, line in enumerate(lines):
        cv2.putText(foot, line, (8, 20 + 22 * k), cv2.FONT_HERSHEY_SIMPLEX, 0.5, INK, 1, cv2.LINE_AA)
    return np.vstack([shown, foot])


def build_svg(placed_pieces: Iterable[Piece], pieces: PieceSet) -> str:
    """Any build in elevation as SVG, in mm of the build."""
    return to_svg(_framed(build_patches(placed_pieces, pieces), 4.0))
