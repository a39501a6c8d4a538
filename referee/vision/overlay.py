"""What was seen, drawn into pictures: the verdict with the card's target beside it, live fields, open cards.

Draws, never decides. Outlines are the silhouettes of the fitted solids, found in the zone's view
where drawing is cheap, and taken back into the camera's picture with its distortion.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.mat import FIELD, MatPose, Mats
from cards.build import Build, Piece
from cards.card import Card
from cards.drawing import target_png
from cards.sentences import WRITTEN, say, sentence
from referee.match.verdict import Verdict
from referee.vision.image.game_cards import OpenCard
from referee.vision.image.unknown import UnknownThing
from referee.vision.image.view import HEIGHT_MM, ZoneView
from referee.vision.live.gate import NOISE_SHARE
from referee.vision.measured import measured
from referee.vision.observer import Judgement, ZoneSight
from referee.vision.render.lettering import Colour, Letters, width_px, wrapped, write
from referee.vision.render.solids import piece_tags
from referee.vision.verdict.visibility import unknown_things

GREEN, RED, AMBER, WHITE, BLACK = (80, 190, 60), (50, 50, 230), (0, 170, 255), (255, 255, 255), (24, 24, 24)
PURPLE = (220, 60, 200)
COLOURS = {"match": GREEN, "mismatch": RED, "undecided": AMBER}
PANEL_SHARE = 0.27
"""Width of the panel beside the picture, of the picture's own."""

THIN_PX = 640
"""A picture of this width is drawn into with lines one pixel thick; a wider one with thicker ones. What is said of
places and letters below is in such thicknesses."""
ROUND_EDGE, SHORT_PX = 0.25, 8
"""A mask at twice its size has its contour a quarter of a pixel outside; shorter contours are specks."""
NAME_PX, NAME_DOWN = 9, 9
"""Size of the letters that name an unknown thing, and how far below it they stand."""
MARK_RADIUS, MARK_RIM_PX = 5, 3
"""The disc under a piece's number: its radius, and what is added to that."""
CORNERS, FIELD_STEPS = ((-1, -1), (1, -1), (1, 1), (-1, 1)), 12
"""A field's corners, in half its sides; straight pieces that a side is drawn by: a lens bends it."""
SUBPIXELS, SUBPIXEL_BITS = 16, 4
"""Lines are drawn at sixteenths of a pixel."""
MARK_PX, MARK_MORE_PX, CAPITAL_SHARE = 6, 4, 0.73
"""Size of a piece's number, and what is added to that; height of a capital or a digit, of the letters' size."""
HEAD_SHARE, HEAD_LEAST_PX = 60, 12
"""Size of the letters of a zone's ruling: of the picture's width so much the less, at least the second."""
HEAD_PAD, HEAD_MARGIN, HEAD_BELOW = (6, 8), (4, 8, 10), 2.2
"""The box of a zone's ruling: px around its letters (sides and top, foot); px left free at the picture's left, right
and foot; how many heights of its letters it lies below the field."""
PANEL_PX, PANEL_LEAST_PX = 346, 220
"""The panel is laid out for the first width and scaled to its own, which is no less than the second. Sizes below are of
that layout."""
MARGIN, LINE, LETTER_LEAST_PX = 12, 1.4, 10
"""Left and right margin, px; height of a line, in sizes of its letters; the least that these become, px."""
TITLE, BODY = 17, 12
"""Sizes of the letters in the panel: of the card and a zone's ruling, and of all else."""
ZONE_GAP, NOTE_GAP, TARGET_GAP = 8, 4, 8
"""Gaps before a zone, a note and the card's target, px."""
TARGET_SHARE, TARGET_PX_PER_MM = 0.32, 3.0
"""Height of the card's target, at most, of the panel's; and the scale it is drawn at."""
DIM = (110, 110, 110)
RULING_TEXT = {
    "match": sentence("picture_match"),
    "mismatch": sentence("picture_mismatch"),
    "undecided": sentence("picture_undecided"),
}
UNNAMED = sentence("picture_unknown")

HAND_SHARE = measured(0.02, "of the field", "by hand: parts of a hand that are smaller are its shadow's rim")
SMOOTH_PX = 1.2
"""Outlines are drawn as polygons that follow them so closely."""

CARDS_WIDE_PX, CARD_NAME_PX, CARD_NAME_RIGHT_PX = 900, 20, 8
"""Width, at most, of a picture of open cards; size of the letters of a card's kind, and how far right of its marker's
middle they begin."""


@dataclass(frozen=True)
class Outline:
    """The visible silhouette of one piece in the camera's picture: contours of (n, 2) px."""

    piece: Piece
    contours: tuple[np.ndarray, ...]


def outlines(view: ZoneView, camera: CameraModel, build: Build) -> list[Outline]:
    """Outlines of the build's pieces, then of its loose ones; hidden pieces have no contours."""
    pieces = (*build.pieces, *build.loose)
    tags = piece_tags(view, build.piece_set, pieces)
    return [_outline(view, camera, tags == i, piece) for i, piece in enumerate(pieces)]


def _outline(view: ZoneView, camera: CameraModel, mask: np.ndarray, piece: Piece) -> Outline:
    # Twice the size, so that contours run between pixels and not through their middles.
    large = cv2.resize(mask.astype(np.uint8), None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    found, _ = cv2.findContours(large, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    kept = [c.reshape(-1, 2) / 2.0 - ROUND_EDGE for c in found if len(c) > SHORT_PX]
    return Outline(piece, tuple(_to_picture(view, camera, c) for c in kept))


def _to_picture(view: ZoneView, camera: CameraModel, pixels: np.ndarray) -> np.ndarray:
    """Pixels (n, 2) of a view in the camera's picture, distortion included."""
    return camera.project(np.c_[pixels, np.ones(len(pixels))] @ np.linalg.inv(view.matrix).T)


def with_panel(
    frame: np.ndarray, judgement: Judgement, card: Card, language: str = WRITTEN, details: bool = True
) -> np.ndarray:
    """The frame (h, w, 3) uint8 BGR with every judged zone drawn in, and a panel of the same height at
    its right: the card's target, then verdict, confidence and reasons of each zone, in one of ``LANGUAGES``. With
    ``details`` also what only who works on the program asks for: margins and notes."""
    picture = with_marks(frame, judgement, language)
    return np.hstack([picture, _Panel(picture.shape[:2], language).rendered(judgement, card, details)])


def with_marks(frame: np.ndarray, judgement: Judgement, language: str | None = WRITTEN) -> np.ndarray:
    """The frame (h, w, 3) uint8 BGR with every judged zone drawn in, and nothing beside it. Without a ``language`` it
    has no words and is the same in every one: who shows it says beside it what the marks mean."""
    picture = frame.copy()
    for zone, sight in sorted(judgement.views.items()):
        _draw_zone(picture, judgement, zone, sight, language)
    return picture


def _draw_zone(picture: np.ndarray, judgement: Judgement, zone: str, sight: ZoneSight, language: str | None) -> None:
    verdict, camera, build = judgement.zones[zone], judgement.mats.camera, sight.build
    thick = max(1, round(picture.shape[1] / THIN_PX))
    draw_field(picture, camera, sight.view.pose, COLOURS[verdict.ruling], thick)
    unknown = unknown_things(sight.view, sight.evidence, build.piece_set)
    blamed = {i for reason in verdict.reasons for i in reason.pieces}
    for i, outline in enumerate(outlines(sight.view, camera, build)):
        loose = i >= len(build.pieces)
        line = thick if loose or unknown else thick + 1
        _draw_outline(picture, outline, _line_colour(verdict, loose, i in blamed), line)
        if not loose and not unknown:  # beside something unknown the reading is a guess: nothing to count in it
            _mark(picture, outline, i + 1, i in blamed, thick)
    _draw_unknown(picture, camera, sight, unknown, thick, language)
    if language:
        _headline(picture, camera, sight.view, verdict_words(language, zone, verdict), COLOURS[verdict.ruling])


def _line_colour(verdict: Verdict, loose: bool, blamed: bool) -> Colour:
    """Green is what was found right: of an undecided reading nothing was."""
    if loose:
        return WHITE
    return RED if blamed else AMBER if verdict.ruling == "undecided" else GREEN


def _draw_unknown(
    picture: np.ndarray,
    camera: CameraModel,
    sight: ZoneSight,
    unknown: Sequence[UnknownThing],
    thick: int,
    language: str | None,
) -> None:
    """What in the field is neither table nor piece, large enough to forbid a verdict: outlined, the largest named."""
    for k, patch in enumerate(unknown):
        contour = _to_picture(sight.view, camera, patch.outline.astype(float))
        _contour(picture, contour, PURPLE, thick + 2)
        if k == 0:
            name, letters = say(language, UNNAMED) if language else "?", Letters(NAME_PX * thick, PURPLE, True, BLACK)
            left = int(contour[:, 0].mean()) - width_px(name, letters) // 2
            write(picture, name, (left, int(contour[:, 1].max()) + NAME_DOWN * thick), letters)


def draw_field(
    picture: np.ndarray,
    camera: CameraModel,
    pose: MatPose,
    colour: Colour,
    thick: int,
    half_mm: tuple[float, float] = FIELD,
) -> None:
    """Draw a mat's field, or another rectangle about its middle, into the camera's picture."""
    corners = np.array([*CORNERS, CORNERS[0]]) * half_mm
    path = np.concatenate([np.linspace(a, b, FIELD_STEPS) for a, b in pairwise(corners)])
    polyline(picture, camera.project(pose.to_camera(np.c_[path, np.zeros(len(path))])), colour, thick)


def _draw_outline(picture: np.ndarray, outline: Outline, colour: Colour, thick: int) -> None:
    for contour in outline.contours:
        _contour(picture, contour, colour, thick)


def _contour(picture: np.ndarray, contour: np.ndarray, colour: Colour, thick: int) -> None:
    """Draw a closed line (n, 2) px with dark edges."""
    for one, wide in ((BLACK, thick + 2), (colour, thick)):
        polyline(picture, np.vstack([contour, contour[:1]]), one, wide)


def polyline(picture: np.ndarray, points: np.ndarray, colour: Colour, thick: int) -> None:
    """Draw the way through points (n, 2) px into a picture, smooth to a sixteenth of a pixel."""
    cv2.polylines(
        picture, [np.round(points * SUBPIXELS).astype(np.int32)], False, colour, thick, cv2.LINE_AA, SUBPIXEL_BITS
    )


def _mark(picture: np.ndarray, outline: Outline, number: int, blamed: bool, thick: int) -> None:
    """The piece's number; a blamed one's is white on red with a cross beside it."""
    if not outline.contours:
        return
    largest = max(outline.contours, key=len)
    at = (int(largest[:, 0].mean()), int(largest[:, 1].mean()))
    radius = MARK_RADIUS * thick + MARK_RIM_PX
    cv2.circle(picture, at, radius, RED if blamed else WHITE, -1, cv2.LINE_AA)
    letters = Letters(MARK_PX * thick + MARK_MORE_PX, WHITE if blamed else BLACK, True)
    foot = (at[0] - width_px(str(number), letters) // 2, at[1] + round(CAPITAL_SHARE * letters.size_px / 2))
    write(picture, str(number), foot, letters)
    if blamed:
        top = largest[largest[:, 1].argmin()].round().astype(int)
        above = int(top[0]), int(top[1]) - 2 * radius
        cv2.drawMarker(picture, above, RED, cv2.MARKER_TILTED_CROSS, 3 * radius, thick + 2, cv2.LINE_AA)


def verdict_words(language: str, zone: str, verdict: Verdict) -> str:
    """Zone and ruling, as a picture says them."""
    return f"{zone}: {say(language, RULING_TEXT[verdict.ruling])}"


def _headline(picture: np.ndarray, camera: CameraModel, view: ZoneView, text: str, colour: Colour) -> None:
    """The text under the field, wherever in the picture that is."""
    corners = np.array([(x * FIELD[0], y * FIELD[1], 0.0) for x, y in CORNERS])
    pixels = camera.project(view.pose.to_camera(corners))
    height, width = picture.shape[:2]
    letters = Letters(max(HEAD_LEAST_PX, width // HEAD_SHARE), WHITE, True)
    w, h = width_px(text, letters), round(CAPITAL_SHARE * letters.size_px)
    (pad, below), (left, right, foot) = HEAD_PAD, HEAD_MARGIN
    x = int(np.clip(pixels[:, 0].mean() - w / 2, left, max(left, width - w - right)))
    y = int(np.clip(pixels[:, 1].max() + HEAD_BELOW * h, h + below, height - foot))
    cv2.rectangle(picture, (x - pad, y - h - pad), (x + w + pad, y + below), colour, -1)
    write(picture, text, (x, y), letters)


class _Panel:
    """The panel (h, w, 3) beside a picture of ``size`` (h, w), filled from its top in one language."""

    def __init__(self, size: tuple[int, int], language: str) -> None:
        height, width = size[0], max(PANEL_LEAST_PX, round(size[1] * PANEL_SHARE))
        self.image, self._language = np.full((height, width, 3), 255, np.uint8), language
        self._scale, self._y = width / PANEL_PX, 0.0

    def rendered(self, judgement: Judgement, card: Card, details: bool) -> np.ndarray:
        """The panel with all that is said."""
        self._line(say(self._language, sentence("picture_card", id=card.id, value=card.value)), TITLE, BLACK, True)
        self._target(judgement, card)
        for zone, verdict in sorted(judgement.zones.items()):
            self._zone(zone, verdict, judgement.views.get(zone), details)
        for note in judgement.notes if details else ():
            self._gap(NOTE_GAP)
            self._wrapped(note, BODY, DIM)
        return self.image

    def _zone(self, zone: str, verdict: Verdict, sight: ZoneSight | None, details: bool) -> None:
        self._gap(ZONE_GAP)
        sure = f"  {100 * verdict.confidence:.0f} %" if verdict.ruling != "undecided" else ""
        self._line(verdict_words(self._language, zone, verdict) + sure, TITLE, COLOURS[verdict.ruling], True)
        if sight is not None and details:
            seen = (len(sight.build.pieces), round(sight.margin), round(100 * sight.explained))
            self._wrapped(f"{seen[0]} understood; margin {seen[1]} nats, {seen[2]} % explained", BODY, DIM)
        if verdict.leaning:
            told = sentence("picture_leaning", ruling=RULING_TEXT[verdict.leaning], n=round(100 * verdict.confidence))
            self._wrapped(say(self._language, told), BODY, BLACK)
        for reason in verdict.reasons:
            numbers = ", ".join(str(i + 1) for i in reason.pieces)
            words = f"– {say(self._language, reason.to_json())}" + (f" ({numbers})" if numbers else "")
            self._wrapped(words, BODY, BLACK)

    def _target(self, judgement: Judgement, card: Card) -> None:
        sets = [sight.build.piece_set for sight in judgement.views.values()]
        if not sets:
            return
        target = target_png(card, sets[0], TARGET_PX_PER_MM)
        high, wide = self.image.shape[:2]
        factor = min((wide - 2 * MARGIN) / target.shape[1], high * TARGET_SHARE / target.shape[0], 1.0)
        target = cv2.resize(target, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        top, left = round(self._y) + TARGET_GAP, (wide - target.shape[1]) // 2
        self.image[top : top + target.shape[0], left : left + target.shape[1]] = target[: high - top]
        self._y = top + target.shape[0]

    def _wrapped(self, text: str, size: float, colour: Colour) -> None:
        for line in wrapped(text, Letters(self._px(size)), self.image.shape[1] - 2 * MARGIN):
            self._line(line, size, colour)

    def _line(self, text: str, size: float, colour: Colour, bold: bool = False) -> None:
        self._y += LINE * self._px(size)
        write(self.image, text, (MARGIN, round(self._y)), Letters(self._px(size), colour, bold))

    def _gap(self, size: float) -> None:
        self._y += size * self._scale

    def _px(self, size: float) -> int:
        return max(LETTER_LEAST_PX, round(size * self._scale))


class FieldDrawing:
    """Draws what live vision makes of a field into ``picture`` (h, w, 3), a part of the camera's that begins at
    ``offset`` (x, y) px of it and is scaled. No words: everybody sees this picture, whatever the language."""

    def __init__(self, picture: np.ndarray, mats: Mats, pose: MatPose, offset: tuple[int, int], scale: float) -> None:
        self._picture, self._offset, self._scale = picture, np.array(offset), scale
        corners = np.array([(x, y, z) for z in (0.0, HEIGHT_MM) for x, y in CORNERS]) * (*FIELD, 1.0)
        pixels = self._shown(mats.camera.project(pose.to_camera(corners))).round().astype(np.int32)
        self._field, self._box = pixels[:4], cv2.convexHull(pixels)[:, 0]

    def gate(self, gate: Mapping[str, Any]) -> None:
        """The field's outline: green at rest, amber while it moves, red under a hand."""
        _contour(self._picture, self._field, RED if gate["hand"] else GREEN if gate["settled_s"] > 0 else AMBER, 2)

    def pieces(self, labels: np.ndarray) -> None:
        """Outlines of what has a piece's colour over the field; ``labels`` (h, w) of the bare picture."""
        for colour in range(labels.max() + 1):
            self._outline(labels == colour, NOISE_SHARE, WHITE)

    def hand(self, mask: np.ndarray, at: tuple[int, int], factor: int) -> None:
        """What the gate takes for a hand, as ``Gate.hand_mask`` gives it."""
        left, top = self._shown(np.array(at) * factor)
        move = np.array([[self._scale * factor, 0, left], [0, self._scale * factor, top]])
        size = self._picture.shape[1::-1]
        self._outline(cv2.warpAffine(mask.astype(np.uint8), move, size, flags=cv2.INTER_NEAREST) > 0, HAND_SHARE, RED)

    def read(self, pieces: Sequence[Outline], blamed: Collection[int]) -> None:
        """The build as it was read and judged: numbered outlines, red where a piece is to blame."""
        for i, piece in enumerate(pieces):
            shown = replace(piece, contours=tuple(self._shown(contour) for contour in piece.contours))
            _draw_outline(self._picture, shown, RED if i in blamed else GREEN, 2)
            _mark(self._picture, shown, i + 1, i in blamed, 1)

    def _shown(self, points: np.ndarray) -> np.ndarray:
        return (points - self._offset) * self._scale

    def _outline(self, where: np.ndarray, share: float, colour: Colour) -> None:
        """Outlines of connected things in the box that cover at least that share of the field."""
        mask = cv2.fillConvexPoly(np.zeros(where.shape, np.uint8), self._box, 1) & where
        mask = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
        for contour in cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]:
            if cv2.contourArea(contour) >= share * max(cv2.contourArea(self._field), 1.0):
                _contour(self._picture, cv2.approxPolyDP(contour, SMOOTH_PX, True)[:, 0], colour, 2)


def named_cards(picture: np.ndarray, cards: Sequence[OpenCard], kinds: Sequence[str]) -> np.ndarray:
    """The picture (h, w, 3) BGR of cards that lie open, every card's marker outlined and its kind beside it."""
    scale = min(1.0, CARDS_WIDE_PX / picture.shape[1])
    out = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    for card in cards:
        _contour(out, card.quad * scale, GREEN, 2)
        x, y = (card.quad.mean(0) * scale).round().astype(int).tolist()
        write(out, kinds[card.marker], (x + CARD_NAME_RIGHT_PX, y), Letters(CARD_NAME_PX, GREEN, True, BLACK))
    return out
