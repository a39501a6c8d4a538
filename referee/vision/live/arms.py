"""The hands over one field: whose they are, how many of its own player, and whether a bare one is among them.

What cannot be told from where the camera stands is None: seen from behind its player, a fist hides the tongs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.mat import FIELD, MatPose, Mats
from referee.vision.live import parameters
from referee.vision.live.fists import Fist, Picture

IN_FIELD_MM = parameters.IN_FIELD_MM.value
OVER_FIELD_MM = parameters.OVER_FIELD_MM.value
BUILD_MM = parameters.BUILD_MM.value
REACH_MM = parameters.BY_REACH_MM.value
END_MM2 = parameters.END_MM2.value
APART_MM = parameters.HANDS_APART_MM.value

TONGS = np.array(parameters.TONGS.value)
SHOWN_MM = parameters.SHOWN_MM.value


@dataclass(frozen=True)
class Arms:
    """``owners``: zone of the player of each hand in the field, None where that cannot be told. ``hands``: so many of
    the field's own player in view, if one is in it. ``bare``: an own hand without tongs touches a piece; None where
    tongs would not be seen."""

    owners: tuple[str | None, ...] = ()
    hands: int = 0
    bare: bool | None = False


@dataclass(frozen=True, eq=False)
class Field:
    """A field in the reduced picture, (h, w) bool each: ``low``, it and what is not high over it; ``over``, the same
    for who has nothing to do there; ``build``, what has come to stand in it."""

    low: np.ndarray
    over: np.ndarray
    build: np.ndarray


def field_of(picture: Picture, mats: Mats, pose: MatPose, loose: np.ndarray) -> Field:
    """The field of one mat; ``loose`` (h, w) bool is where pieces lie as they did at the go."""
    low, over, high = (_hull(picture, mats, pose, z) for z in (IN_FIELD_MM, OVER_FIELD_MM, BUILD_MM))
    build = (high & (picture.labels >= 0) & ~loose).astype(np.uint8)
    return Field(low, over, cv2.morphologyEx(build, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0)


def arms_over(fists: Sequence[Fist], field: Field, px_per_mm: float, pose: MatPose) -> Arms:
    """The hands over that mat's field now."""
    least = END_MM2 * px_per_mm**2
    here = [f for f in fists if _in(f, field, pose.zone) >= least or _touches(f, field) or _reaches(f, pose)]
    owners = tuple(f.owner for f in here)
    own_here, own = [f for f in here if f.of(pose.zone)], [f for f in fists if f.of(pose.zone)]
    if not own_here:
        return Arms(owners)
    bare = any(f.would_show and _touches(f, field) for f in own_here) if tongs_show(pose) else None
    return Arms(owners, _apart(own, APART_MM * px_per_mm), bare)


def tongs_show(pose: MatPose) -> bool:
    """Whether the camera sees the tongs of this mat's player from the side, and not along them."""
    eye = pose.camera_at
    sight = -eye / np.linalg.norm(eye)
    return float(np.linalg.norm(np.cross(TONGS, sight))) > SHOWN_MM


def _hull(picture: Picture, mats: Mats, pose: MatPose, high_mm: float) -> np.ndarray:
    """Mask (h, w) of the field and what is so high over it."""
    corners = [(i * FIELD[0], j * FIELD[1], z) for z in (0.0, high_mm) for i in (-1, 1) for j in (-1, 1)]
    pixels = (mats.camera.project(pose.to_camera(np.array(corners))) + 0.5) / picture.factor - 0.5
    outline = cv2.convexHull(pixels.round().astype(np.int32))
    return cv2.fillConvexPoly(np.zeros(picture.new.shape, np.uint8), outline, 1) > 0


def _in(fist: Fist, field: Field, zone: str) -> float:
    """How many pixels of its end are in the field."""
    return float((fist.end & (field.low if fist.of(zone) else field.over)).sum())


def _reaches(fist: Fist, pose: MatPose) -> bool:
    """Whether another player's tongs would end in the field, or before it as seen from its player."""
    if fist.reach is None or fist.owner == pose.zone:
        return False
    x, y, _ = (fist.reach - pose.translation) @ pose.rotation
    return bool(abs(x) < FIELD[0] + REACH_MM[0] and -FIELD[1] - REACH_MM[1] < y < FIELD[1])


def _touches(fist: Fist, field: Field) -> bool:
    """Whether a fist without tongs is next to what stands in the field."""
    if fist.tongs is not False:
        return False
    near = cv2.dilate(fist.end.astype(np.uint8), np.ones((parameters.NEAR_PX.value,) * 2, np.uint8)) > 0
    return bool((near & field.build).sum() >= parameters.TOUCH_PX.value)


def _apart(fists: Sequence[Fist], apart_px: float) -> int:
    """How many hands: no two of them nearer than one is long; a tower may part one into two patches."""
    found: list[np.ndarray] = []
    for fist in fists:
        if all(np.linalg.norm(fist.centre - other) > apart_px for other in found):
            found.append(fist.centre)
    return len(found)
