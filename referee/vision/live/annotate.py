"""What live vision makes of a field, drawn into the picture: the field, pieces by colour, a hand, the build read.

Draws, never decides: labels come by the gate's own table, hand and rest from what the gate said. Works on the
small picture that is shown, so that it costs some milliseconds on whatever thread asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from calibration.mat import FIELD, MatPose, Mats
from referee.vision.image.color_lut import label_frame
from referee.vision.image.view import HEIGHT_MM
from referee.vision.measured import measured
from referee.vision.overlay import AMBER, BLACK, GREEN, RED, WHITE, Outline

SMALLEST_SHARE = measured(0.004, "of the field", "by hand: what is smaller is noise or a marker's corner")
HAND_SHARE = measured(0.02, "of the field", "by hand: parts of a hand that are smaller are its shadow's rim")
SMOOTH_PX = 1.2
"""Outlines are drawn as polygons that follow them so closely."""
LETTERS = 0.45
"""Size of drawn letters, of OpenCV's usual."""


@dataclass(frozen=True)
class ReadPiece:
    """A piece of the build that was judged: its outline in the camera's picture, and whether it is blamed."""

    outline: Outline
    blamed: bool


@dataclass(frozen=True)
class ZoneBox:
    """One field in the shown picture: outlines (n, 2) int32 px of the field and of the box over it."""

    field: np.ndarray
    box: np.ndarray


def place_of(mats: Mats, pose: MatPose, offset: tuple[int, int], scale: float) -> ZoneBox:
    """Where a mat's field is in a part of the camera's picture that begins at ``offset`` and is scaled."""

    def pixels(heights: tuple[float, ...]) -> np.ndarray:
        x, y = FIELD
        corners = np.array([(i * x, j * y, z) for z in heights for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
        return _shown(mats.camera.project(pose.to_camera(corners)), offset, scale).round().astype(np.int32)

    return ZoneBox(pixels((0.0,)), cv2.convexHull(pixels((0.0, HEIGHT_MM)))[:, 0])


def _shown(points: np.ndarray, offset: tuple[int, int], scale: float) -> np.ndarray:
    return (np.asarray(points, float) - offset) * scale


def draw_field(picture: np.ndarray, place: ZoneBox, gate: Mapping[str, Any]) -> None:
    """The field's outline into ``picture`` (h, w, 3): green at rest, amber while it moves, red under a hand."""
    colour = RED if gate["hand"] else GREEN if gate["settled_s"] > 0 else AMBER
    _line(picture, place.field, colour)


def draw_pieces(picture: np.ndarray, place: ZoneBox, names: Sequence[str], labels: np.ndarray) -> None:
    """Outlines of what has a piece's colour over the field; ``labels`` (h, w) of the bare picture. No words: everybody
    sees this picture, whatever his language."""
    for index in range(len(names)):
        for contour in _things(labels == index, place, SMALLEST_SHARE):
            _line(picture, contour, WHITE)


def draw_hand(picture: np.ndarray, place: ZoneBox, mask: np.ndarray, offset: tuple[float, float], scale: float) -> None:
    """What the gate takes for a hand: ``mask`` (h, w) bool whose pixels are ``scale`` wide in the picture and
    whose first is at ``offset`` (x, y) of it."""
    height, width = picture.shape[:2]
    move = np.array([[scale, 0, offset[0]], [0, scale, offset[1]]])
    shown = cv2.warpAffine(mask.astype(np.uint8), move, (width, height), flags=cv2.INTER_NEAREST)
    for contour in _things(shown > 0, place, HAND_SHARE):
        _line(picture, contour, RED)


def draw_read(picture: np.ndarray, pieces: Sequence[ReadPiece], offset: tuple[int, int], scale: float) -> None:
    """The build as it was read and judged: numbered outlines, red where a piece is to blame."""
    for number, piece in enumerate(pieces, 1):
        for contour in piece.outline.contours:
            _line(picture, _shown(contour, offset, scale).round().astype(np.int32), RED if piece.blamed else GREEN)
        if piece.outline.contours:
            _name(
                picture,
                f"{number} x" if piece.blamed else f"{number}",
                _shown(max(piece.outline.contours, key=len), offset, scale).mean(0),
            )


def labels_of(picture: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Labels (h, w) int8 of a picture (h, w, 3) uint8 BGR by the gate's table."""
    return label_frame(np.ascontiguousarray(picture), table)


def _things(where: np.ndarray, place: ZoneBox, share: float) -> Iterator[np.ndarray]:
    """Contours (n, 2) of connected things in the box that cover at least that share of the field."""
    mask = cv2.fillConvexPoly(np.zeros(where.shape, np.uint8), place.box, 1) & where
    mask = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    smallest = share * max(cv2.contourArea(place.field), 1.0)
    for contour in cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]:
        if cv2.contourArea(contour) >= smallest:
            yield cv2.approxPolyDP(contour, SMOOTH_PX, True)[:, 0]


def _line(picture: np.ndarray, points: np.ndarray, colour: tuple[int, int, int]) -> None:
    cv2.polylines(picture, [points], True, BLACK, 4, cv2.LINE_AA)
    cv2.polylines(picture, [points], True, colour, 2, cv2.LINE_AA)


def _name(picture: np.ndarray, text: str, at: np.ndarray) -> None:
    """The text on a dark ground around the point (x, y)."""
    plain = text.encode("ascii", "replace").decode()
    (w, h), _ = cv2.getTextSize(plain, cv2.FONT_HERSHEY_SIMPLEX, LETTERS, 1)
    x, y = int(at[0] - w / 2), int(at[1] + h / 2)
    cv2.rectangle(picture, (x - 3, y - h - 3), (x + w + 3, y + 4), BLACK, -1)
    cv2.putText(picture, plain, (x, y), cv2.FONT_HERSHEY_SIMPLEX, LETTERS, WHITE, 1, cv2.LINE_AA)
