"""The live pictures of the fields: each cut out around its mat, with what vision sees in it.

Made on the picture thread from the newest frame and from what the vision thread has said already: the gates,
and the build of the last verdict for as long as it stands untouched.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import cv2
import numpy as np

from calibration.mat import Mats
from cards.build import TALLEST_MM
from referee.errors import RefereeError
from referee.session.ports import RunningSession
from referee.vision.image.color_lut import label_frame
from referee.vision.observer import Judgement, Observer, ZoneSight
from referee.vision.overlay import FieldDrawing, Outline, outlines

MATS_EVERY_S = 5.0
SHOWN_PX = 640
"""Width of a field's picture at most: a console shows two of them side by side."""

TOUCHING = 0.02
"""Share of a field's pixels that move when a build is broken; then its reading holds no longer."""

PICTURE_ASPECT = 16 / 9
"""Shape of the verdict's picture: the place that pages have for it."""

HEADLINE = 0.12
"""Room under the fields for the ruling that is written there, of their picture's height."""

READ_PHASES = ("judging", "undecided", "decided", "void")


SHOWN_MM, SHOWN_HIGH_MM = (120.0, 75.0), TALLEST_MM - 35.0
"""Half the ground of a mat that a live picture shows, and how high: the tallest builds reach out of it, so that usual
ones are large."""

Read = tuple[Sequence[Outline], Collection[int]]
"""The outlines of a build's pieces in the camera's picture, and which of them are to blame."""


class FieldPreviews:
    """Cuts and draws for one session; to be used from one thread."""

    def __init__(self, session: RunningSession) -> None:
        self._session = session
        self._mats: tuple[float, Observer | None, Mats | None] = (-1e9, None, None)
        self._read: dict[str, Read] = {}
        self._read_of = -1

    def judged(self, judgement: Judgement, duel: int) -> None:
        """The builds of that duel as they were just read."""
        self._read_of = duel
        self._read = {zone: _pieces(judgement, zone, sight) for zone, sight in judgement.views.items()}

    def picture(self, zone: str, image: np.ndarray, drawn: bool = True) -> np.ndarray:
        """The part of a frame (h, w, 3) with one mat and a build's height above it, at most 640 px wide; with what the
        gate sees ``drawn`` into it."""
        mats = self._mats_in(image)
        box = _box(mats, zone, image.shape[:2]) if mats else None
        if mats is None or box is None:
            half = image.shape[1] // 2
            return image[:, :half] if zone == "A" else image[:, half:]
        left, top, right, bottom = box
        scale = min(1.0, SHOWN_PX / (right - left))
        size = (round((right - left) * scale), round((bottom - top) * scale))
        part = cv2.resize(image[top:bottom, left:right], size, interpolation=cv2.INTER_AREA)
        return self._drawn(part, zone, mats, (left, top), scale) if drawn else part

    def _drawn(self, part: np.ndarray, zone: str, mats: Mats, offset: tuple[int, int], scale: float) -> np.ndarray:
        """``part`` with outlines; as it is while the gate says nothing of the zone."""
        gate = self._session.gates().get(zone)
        if not gate or not gate["mat_seen"]:
            return part
        drawing = FieldDrawing(part, mats, mats.poses[zone], offset, scale)
        colours = self._session.gate.colours
        labels = label_frame(part, colours[1]) if colours else None
        drawing.gate(gate)
        read = self._still_read(zone, gate)
        if read:
            drawing.read(*read)
        elif labels is not None:
            drawing.pieces(labels)
        hand = self._session.gate.hand_mask(zone) if colours else None
        if hand:
            drawing.hand(*hand)
        return part

    def _still_read(self, zone: str, gate: Mapping[str, Any]) -> Read | None:
        """The zone's build as it was judged, until somebody touches it."""
        state = self._session.state
        if state.duel.number != self._read_of or state.phase not in READ_PHASES:
            self._read = {}
        elif gate["hand"] or gate["moving"] > TOUCHING:
            self._read.pop(zone, None)
        return self._read.get(zone)

    def _mats_in(self, image: np.ndarray) -> Mats | None:
        at, of, mats = self._mats
        observer = self._session.observer
        if of is not observer or time.monotonic() - at > MATS_EVERY_S:
            mats = None
            with suppress(RefereeError):
                mats = observer.look(image)
            self._mats = (time.monotonic(), observer, mats)
        return mats


def _pieces(judgement: Judgement, zone: str, sight: ZoneSight) -> Read:
    blamed = {i for reason in judgement.zones[zone].reasons for i in reason.pieces}
    found = outlines(sight.view, judgement.mats.camera, sight.build)[: len(sight.build.pieces)]
    return found, blamed


def crop_around_zones(judgement: Judgement, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of the part of a picture of ``size`` (h, w) that shows the judged builds large.

    It is 16:9 where the picture allows; all of the picture when no field is known.
    """
    boxes = [_box(judgement.mats, zone, size) for zone in judgement.views]
    known = np.array([box for box in boxes if box is not None])
    if not len(known):
        return 0, 0, size[1], size[0]
    (left, top), (right, bottom) = known[:, :2].min(0), known[:, 2:].max(0)
    bottom += round(HEADLINE * (bottom - top))
    width = min(size[1], max(right - left, round((bottom - top) * PICTURE_ASPECT)))
    height = min(size[0], max(bottom - top, round(width / PICTURE_ASPECT)))
    x = int(np.clip((left + right - width) // 2, 0, size[1] - width))
    y = int(np.clip((top + bottom - height) // 2, 0, size[0] - height))
    return x, y, int(x + width), int(y + height)


AROUND_MM = 30.0
"""Room around a build that is shown alone."""


def crop_around_build(
    judgement: Judgement, zone: str, size: tuple[int, int]
) -> tuple[tuple[int, int, int, int], tuple[float, float]] | None:
    """The part of a picture of ``size`` (h, w) around one build: left, top, right, bottom in px, and how many mm wide
    and high that is at the line that builds stand along. None when it is not in the picture."""
    pose, pieces = judgement.mats.poses.get(zone), judgement.views[zone].build.pieces
    if pose is None:
        return None
    x = np.array([piece.x for piece in pieces] or [0.0])
    top = max([piece.z for piece in pieces], default=30.0) + AROUND_MM
    low, high = x.min() - 2 * AROUND_MM, x.max() + 2 * AROUND_MM
    box = _pixels_of(judgement.mats, zone, ((low, high), (-AROUND_MM, AROUND_MM), (0.0, top)), size)
    if box is None:
        return None
    left, up, right, down = box
    line = judgement.mats.camera.project(pose.to_camera(np.array([(low, 0.0, 0.0), (high, 0.0, 0.0)])))
    mm = float((high - low) / max(1.0, np.linalg.norm(line[1] - line[0])))
    return box, (round((right - left) * mm, 1), round((down - up) * mm, 1))


Span = tuple[float, float]


def _box(mats: Mats, zone: str, size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Left, top, right, bottom of the zone's part in a picture of ``size`` (h, w); None when it is not in it."""
    wide, deep = SHOWN_MM
    return _pixels_of(mats, zone, ((-wide, wide), (-deep, deep), (0.0, SHOWN_HIGH_MM)), size)


def _pixels_of(
    mats: Mats, zone: str, room: tuple[Span, Span, Span], size: tuple[int, int]
) -> tuple[int, int, int, int] | None:
    """Left, top, right, bottom of the part of a picture of ``size`` (h, w) that shows a room (x, y, z in mm) on the
    zone's mat; None when it is not in the picture."""
    pose = mats.poses.get(zone)
    if pose is None:
        return None
    pixels = mats.camera.project(pose.to_camera(np.array(list(product(*room)))))
    (left, top), (right, bottom) = pixels.min(0).astype(int), pixels.max(0).astype(int)
    left, top, right, bottom = max(0, left), max(0, top), min(size[1], right), min(size[0], bottom)
    return (left, top, right, bottom) if right - left > 20 and bottom - top > 20 else None
