"""The verdict as a picture: outlines of what was understood, faults marked, the card's target beside it.

Draws, never decides. Outlines are the silhouettes of the fitted solids, found in the zone's view
where drawing is cheap, and taken back into the camera's picture with its distortion.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.mat import FIELD
from cards.build import Build, Piece
from cards.card import Card
from cards.drawing import target_png
from referee.match.verdict import Verdict
from referee.vision.image.unknown import Patch
from referee.vision.image.view import ZoneView
from referee.vision.observer import Judgement, ZoneSight
from referee.vision.render.silhouettes import piece_tags
from referee.vision.verdict.visibility import unknown_things

GREEN, RED, AMBER, WHITE, BLACK = (80, 190, 60), (50, 50, 230), (0, 170, 255), (255, 255, 255), (24, 24, 24)
PURPLE = (220, 60, 200)
COLOURS = {"match": GREEN, "mismatch": RED, "undecided": AMBER}
PANEL_SHARE = 0.27
"""Width of the panel beside the picture, of the picture's own."""


@dataclass(frozen=True)
class Outline:
    """The visible silhouette of one piece in the camera's picture: contours of (n, 2) px, and its middle."""

    piece: Piece
    contours: tuple[np.ndarray, ...]
    middle: tuple[int, int]


def outlines(view: ZoneView, camera: CameraModel, build: Build) -> list[Outline]:
    """Outlines of the build's pieces, then of its loose ones; hidden pieces have no contours."""
    pieces = (*build.pieces, *build.loose)
    tags = piece_tags(view, build.piece_set, pieces)
    return [_outline(view, camera, tags == i, piece) for i, piece in enumerate(pieces)]


def _outline(view: ZoneView, camera: CameraModel, mask: np.ndarray, piece: Piece) -> Outline:
    # Twice the size, so that contours run between pixels and not through their middles.
    large = cv2.resize(mask.astype(np.uint8), None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    found, _ = cv2.findContours(large, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    kept = [c.reshape(-1, 2) / 2.0 - 0.25 for c in found if len(c) > 8]
    at = view.project(np.array([(piece.x, piece.y, piece.z)]))
    return Outline(
        piece,
        tuple(_to_picture(view, camera, c) for c in kept),
        tuple(_to_picture(view, camera, at)[0].round().astype(int).tolist()),
    )


def _to_picture(view: ZoneView, camera: CameraModel, pixels: np.ndarray) -> np.ndarray:
    """Pixels (n, 2) of a view in the camera's picture, distortion included."""
    rays = np.c_[pixels, np.ones(len(pixels))] @ np.linalg.inv(view.matrix).T
    return camera.project(rays)


def draw(frame: np.ndarray, judgement: Judgement, card: Card) -> np.ndarray:
    """The frame (h, w, 3) uint8 BGR with every judged zone drawn in, and a panel of the same height at
    its right: the card's target, then verdict, confidence and reasons of each zone."""
    picture = marked(frame, judgement)
    return np.hstack([picture, _panel(judgement, card, picture.shape[:2])])


def marked(frame: np.ndarray, judgement: Judgement, words: bool = True) -> np.ndarray:
    """The frame (h, w, 3) uint8 BGR with every judged zone drawn in, and nothing beside it. Without ``words`` it is
    the same in every language: who shows it says beside it what the marks mean."""
    picture = frame.copy()
    for zone, sight in sorted(judgement.views.items()):
        _draw_zone(picture, judgement, zone, sight, words)
    return picture


def _draw_zone(picture: np.ndarray, judgement: Judgement, zone: str, sight: ZoneSight, words: bool) -> None:
    verdict, camera = judgement.zones[zone], judgement.mats.camera
    build = sight.build
    thick = max(1, round(picture.shape[1] / 640))
    colour = COLOURS[verdict.ruling]
    _draw_field(picture, camera, sight.view, colour, thick)
    unknown = unknown_things(sight.view, sight.evidence, build.piece_set)
    blamed = {i for reason in verdict.reasons for i in reason.pieces}
    for i, outline in enumerate(outlines(sight.view, camera, build)):
        loose = i >= len(build.pieces)
        _draw_outline(
            picture, outline, _line_colour(verdict, loose, i in blamed), thick if loose or unknown else thick + 1
        )
        if not loose and not unknown:  # beside something unknown the reading is a guess: nothing to count in it
            _mark(picture, outline, i + 1, i in blamed, thick)
    _draw_unknown(picture, camera, sight, unknown, thick, words)
    if words:
        _headline(picture, camera, sight.view, zone, verdict, thick)


def _line_colour(verdict: Verdict, loose: bool, blamed: bool) -> tuple[int, int, int]:
    """Green is what was found right: of an undecided reading nothing was."""
    if loose:
        return WHITE
    return RED if blamed else AMBER if verdict.ruling == "undecided" else GREEN


def _draw_unknown(
    picture: np.ndarray, camera: CameraModel, sight: ZoneSight, unknown: Sequence[Patch], thick: int, words: bool
) -> None:
    """What in the field is neither table nor piece, large enough to forbid a verdict: outlined, the largest named."""
    for k, patch in enumerate(unknown):
        contour = _to_picture(sight.view, camera, patch.outline.astype(float))
        _polyline(picture, np.vstack([contour, contour[:1]]), BLACK, thick + 4)
        _polyline(picture, np.vstack([contour, contour[:1]]), PURPLE, thick + 2)
        if k == 0:
            name, left = ("unknown", 17) if words else ("?", 2)
            at = (int(contour[:, 0].mean()) - left * thick, int(contour[:, 1].max()) + 9 * thick)
            _text(picture, name, at, 0.3 * thick, BLACK, thick + 3)
            _text(picture, name, at, 0.3 * thick, PURPLE, thick)


def _draw_field(picture: np.ndarray, camera: CameraModel, view: ZoneView, colour, thick: int) -> None:
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * FIELD
    path = np.concatenate([np.linspace(a, b, 12) for a, b in pairwise(corners)])
    _polyline(picture, camera.project(view.pose.to_camera(np.c_[path, np.zeros(len(path))])), colour, thick)


def _draw_outline(picture: np.ndarray, outline: Outline, colour, thick: int) -> None:
    for contour in outline.contours:
        _polyline(picture, np.vstack([contour, contour[:1]]), BLACK, thick + 2)
        _polyline(picture, np.vstack([contour, contour[:1]]), colour, thick)


def _polyline(picture: np.ndarray, points: np.ndarray, colour, thick: int) -> None:
    cv2.polylines(picture, [np.round(points * 16).astype(np.int32)], False, colour, thick, cv2.LINE_AA, 4)


def _mark(picture: np.ndarray, outline: Outline, number: int, blamed: bool, thick: int) -> None:
    """The piece's number; a blamed one's is white on red with a cross beside it."""
    if not outline.contours:
        return
    largest = max(outline.contours, key=len)
    at = (int(largest[:, 0].mean()), int(largest[:, 1].mean()))
    radius = 5 * thick + 3
    cv2.circle(picture, at, radius, RED if blamed else WHITE, -1, cv2.LINE_AA)
    foot = (at[0] - 4 * thick * len(str(number)), at[1] + 4 * thick)
    _text(picture, str(number), foot, 0.22 * thick + 0.12, WHITE if blamed else BLACK, thick)
    if blamed:
        top = largest[largest[:, 1].argmin()].round().astype(int)
        cv2.drawMarker(
            picture,
            (int(top[0]), int(top[1]) - 2 * radius),
            RED,
            cv2.MARKER_TILTED_CROSS,
            3 * radius,
            thick + 2,
            cv2.LINE_AA,
        )


def _headline(
    picture: np.ndarray, camera: CameraModel, view: ZoneView, zone: str, verdict: Verdict, thick: int
) -> None:
    """Zone and ruling under the field, wherever in the picture that is."""
    corners = np.array([(x * FIELD[0], y * FIELD[1], 0.0) for x in (-1, 1) for y in (-1, 1)])
    pixels = camera.project(view.pose.to_camera(corners))
    text, scale = f"{zone}: {verdict.ruling}", 0.35 * thick
    (w, h), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, thick)
    height, width = picture.shape[:2]
    x = int(np.clip(pixels[:, 0].mean() - w / 2, 4, max(4, width - w - 8)))
    y = int(np.clip(pixels[:, 1].max() + 2.2 * h, h + 8, height - 10))
    cv2.rectangle(picture, (x - 6, y - h - 6), (x + w + 6, y + 8), COLOURS[verdict.ruling], -1)
    _text(picture, text, (x, y), scale, WHITE, thick)


def _panel(judgement: Judgement, card: Card, size: tuple[int, int]) -> np.ndarray:
    """The panel (h, w, 3) beside a picture of ``size`` (h, w)."""
    height, width = size[0], max(220, round(size[1] * PANEL_SHARE))
    panel = np.full((height, width, 3), 255, np.uint8)
    scale = width / 346
    y = _line(panel, f"Card {card.id}, worth {card.value}", 26 * scale, 0.62 * scale, BLACK, bold=True)
    y = _target(panel, judgement, card, y)
    for zone, verdict in sorted(judgement.zones.items()):
        y = _zone_lines(panel, zone, verdict, judgement.views.get(zone), y + 10 * scale, scale)
    for note in judgement.notes:
        y = _wrapped(panel, note, y + 6 * scale, 0.4 * scale, (110, 110, 110))
    return panel


def _target(panel: np.ndarray, judgement: Judgement, card: Card, y: float) -> float:
    sets = [sight.build.piece_set for sight in judgement.views.values()]
    if not sets:
        return y
    target = target_png(card, sets[0], 3.0)
    room = (panel.shape[1] - 24, panel.shape[0] * 0.32)
    factor = min(room[0] / target.shape[1], room[1] / target.shape[0], 1.0)
    target = cv2.resize(target, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    top, left = round(y), (panel.shape[1] - target.shape[1]) // 2
    panel[top : top + target.shape[0], left : left + target.shape[1]] = target[: panel.shape[0] - top]
    return top + target.shape[0] + 4


def _zone_lines(
    panel: np.ndarray, zone: str, verdict: Verdict, sight: ZoneSight | None, y: float, scale: float
) -> float:
    sure = f"  {100 * verdict.confidence:.0f} %" if verdict.ruling != "undecided" else ""
    head = f"{zone}: {verdict.ruling}{sure}"
    y = _line(panel, head, y + 14 * scale, 0.6 * scale, COLOURS[verdict.ruling], bold=True)
    if sight is not None:
        count = len(sight.build.pieces)
        y = _wrapped(
            panel,
            f"{count} piece{'s' * (count != 1)} understood; margin {sight.margin:.0f} nats, "
            f"{100 * sight.explained:.0f} % explained",
            y,
            0.4 * scale,
            (110, 110, 110),
        )
    if verdict.leaning:
        y = _wrapped(panel, f"leans to {verdict.leaning}, {100 * verdict.confidence:.0f} %", y, 0.42 * scale, BLACK)
    for reason in verdict.reasons:
        numbers = ", ".join(str(i + 1) for i in reason.pieces)
        y = _wrapped(panel, f"- {reason.text}" + (f" ({numbers})" if numbers else ""), y, 0.42 * scale, BLACK)
    return y


def _wrapped(panel: np.ndarray, text: str, y: float, scale: float, colour) -> float:
    columns = max(12, int((panel.shape[1] - 24) / (scale * 18.5)))
    for line in textwrap.wrap(text, columns):
        y = _line(panel, line, y, scale, colour)
    return y


def _line(panel: np.ndarray, text: str, y: float, scale: float, colour, bold: bool = False) -> float:
    """Write one line with its foot near ``y``; gives the next line's."""
    _text(panel, text, (12, round(y)), scale, colour, 2 if bold else 1)
    return y + 40 * scale


def _text(picture: np.ndarray, text: str, at: tuple[int, int], scale: float, colour, thick: int) -> None:
    # The built-in font has no letters beyond ASCII.
    plain = text.encode("ascii", "replace").decode()
    cv2.putText(picture, plain, at, cv2.FONT_HERSHEY_SIMPLEX, scale, colour, thick, cv2.LINE_AA)
