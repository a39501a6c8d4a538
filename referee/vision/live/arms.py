"""The arms over one field: whose they are, how many, and whether a bare hand is among them.

An *arm* (tongs, hand, sleeve) is a connected new thing in the reduced picture that is over the field and reaches away
from it. What cannot be told from where the camera stands is None: seen from behind its player, a fist hides the tongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.mat import FIELD, MatPose, Mats
from referee.vision.live import parameters
from referee.vision.live.color_lut import WARM
from referee.vision.live.hand_owner import owner_by_way

IN_FIELD_MM = parameters.IN_FIELD_MM.value
REACH_MM = parameters.REACH_MM.value
MIDDLE_MM = parameters.MIDDLE_MM.value
AROUND_MM = parameters.AROUND_MM.value
OVER_MM = parameters.ARM_OVER_MM.value
FIST_MM = parameters.FIST_MM.value
APART_MM = parameters.HANDS_APART_MM.value
HAND_MM = parameters.HAND_MM.value
TONGS_MM = parameters.TONGS_MM.value
TONGS_MM2 = parameters.TONGS_MM2.value

TONGS = np.array(parameters.TONGS.value)
SHOWN_MM = parameters.SHOWN_MM.value

LEAST_MM2 = parameters.LEAST_MM2.value


@dataclass(frozen=True, eq=False)
class Picture:
    """A reduced picture as the gate sees it: ``labels`` (h, w) int8, colours >= 0; ``new`` (h, w) bool, what differs
    from how the place has looked without hands; ``factor``: full pixels to one of these."""

    labels: np.ndarray
    new: np.ndarray
    factor: int


@dataclass(frozen=True)
class Arms:
    """``owners``: zone of the player of each arm in the field, None where that cannot be told. ``hands``: so many of
    the field's own player. ``bare``: an own hand without tongs touches a piece; None where tongs would not be seen."""

    owners: tuple[str | None, ...] = ()
    hands: int = 0
    bare: bool | None = False


def arms_over(picture: Picture, mats: Mats, zone: str) -> Arms:
    """The arms over that zone's field now; none when its mat is not known."""
    pose = mats.poses.get(zone)
    if pose is None:
        return Arms()
    px_per_mm = _scale(mats, pose) / picture.factor
    low = _hull(picture, mats, pose, FIELD, (0.0, IN_FIELD_MM))
    half = (FIELD[0] + AROUND_MM, FIELD[1] + AROUND_MM)
    around = _hull(picture, mats, pose, half, (0.0, OVER_MM))
    centre = _pixels(picture, mats, pose, [(0.0, 0.0, MIDDLE_MM)])[0]
    owners: list[str | None] = []
    own, here = np.zeros(low.shape, bool), np.zeros(low.shape, bool)
    for arm in _things(picture, around, LEAST_MM2 * px_per_mm**2):
        if not _far(arm, centre, REACH_MM * px_per_mm):
            continue
        owner = _owner(arm, centre, mats, pose, zone, picture.factor)
        own |= arm & (owner == zone)
        if (arm & low & (picture.labels == WARM)).sum() > LEAST_MM2 * px_per_mm**2 and _ends_in(arm, centre, low):
            owners.append(owner)
            here |= arm & (owner == zone)
    if not here.any():
        return Arms(tuple(owners))
    hands = max(1, _hands(own, picture, around, px_per_mm))
    skin = here & picture.new & (picture.labels < 0)  # unclosed: between its two rods tongs show what is behind
    bare = _bare(skin, picture.labels, low, px_per_mm) if tongs_show(pose) else None
    return Arms(tuple(owners), hands, bare)


def _things(picture: Picture, around: np.ndarray, least_px: float) -> Iterator[np.ndarray]:
    """Masks (h, w) of connected new things that show so much skin or wood in there."""
    new = cv2.morphologyEx(picture.new.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, things = cv2.connectedComponents(new)
    sizes = np.bincount(things[(picture.labels == WARM) & around & (new > 0)], minlength=count)
    sizes[0] = 0
    yield from (things == n for n in np.flatnonzero(sizes > least_px))


def tongs_show(pose: MatPose) -> bool:
    """Whether the camera sees the tongs of this mat's player from the side, and not along them."""
    eye = pose.camera_at
    sight = -eye / np.linalg.norm(eye)
    return float(np.linalg.norm(np.cross(TONGS, sight))) > SHOWN_MM


def _pixels(picture: Picture, mats: Mats, pose: MatPose, points: list[tuple[float, float, float]]) -> np.ndarray:
    return (mats.camera.project(pose.to_camera(np.array(points))) + 0.5) / picture.factor - 0.5


def _scale(mats: Mats, pose: MatPose) -> float:
    """Full pixels to the mm at the field's centre, along x."""
    half = parameters.SCALE_MM.value
    ends = mats.camera.project(pose.to_camera(np.array([(-half, 0.0, MIDDLE_MM), (half, 0.0, MIDDLE_MM)])))
    return float(np.linalg.norm(ends[1] - ends[0])) / (2 * half)


def _hull(
    picture: Picture, mats: Mats, pose: MatPose, half: tuple[float, float], heights: tuple[float, ...]
) -> np.ndarray:
    """Mask (h, w) of a box over the field."""
    corners = [(i * half[0], j * half[1], z) for z in heights for i in (-1, 1) for j in (-1, 1)]
    outline = cv2.convexHull(_pixels(picture, mats, pose, corners).round().astype(np.int32))
    return cv2.fillConvexPoly(np.zeros(picture.new.shape, np.uint8), outline, 1) > 0


def _far(arm: np.ndarray, centre: np.ndarray, reach_px: float) -> bool:
    rows, columns = np.nonzero(arm)
    return float(np.hypot(columns - centre[0], rows - centre[1]).max()) >= reach_px


def _ends_in(arm: np.ndarray, centre: np.ndarray, low: np.ndarray) -> bool:
    """Whether the end opposite to the arm's far one is in the field: a sleeve may pass before it."""
    rows, columns = np.nonzero(arm)
    points = np.column_stack([columns, rows])
    away = np.linalg.norm(points - centre, axis=1)
    far = points[away >= np.percentile(away, parameters.ARM_FAR_PERCENTILE.value)].mean(0)
    from_far = np.linalg.norm(points - far, axis=1)
    tip = points[from_far >= np.percentile(from_far, parameters.TIP_PERCENTILE.value)]
    return float(low[tip[:, 1], tip[:, 0]].mean()) > 0.5


def _owner(arm: np.ndarray, centre: np.ndarray, mats: Mats, pose: MatPose, zone: str, factor: int) -> str | None:
    """Zone of the player from whose side the arm comes; the only known player's, where there is one mat."""
    rows, columns = np.nonzero(arm)
    points = np.column_stack([columns, rows])
    away = np.linalg.norm(points - centre, axis=1)
    far = points[away >= np.percentile(away, parameters.FAR_PERCENTILE.value)].mean(0)
    if len(mats.poses) < 2:
        return zone
    return owner_by_way(far - centre, mats, pose, factor)


def _hands(own: np.ndarray, picture: Picture, around: np.ndarray, px_per_mm: float) -> int:
    """How many hands: patches of skin as thick as a fist, no two of them nearer than one hand is long."""
    across = max(3, round(FIST_MM * px_per_mm))
    skin = (own & around & (picture.labels == WARM)).astype(np.uint8)
    skin = cv2.morphologyEx(skin, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    thick = cv2.morphologyEx(skin, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (across, across)))
    _, _, _, centres = cv2.connectedComponentsWithStats(thick)
    apart: list[np.ndarray] = []
    for centre in centres[1:]:
        if all(np.linalg.norm(centre - other) > APART_MM * px_per_mm for other in apart):
            apart.append(centre)
    return len(apart)


def _bare(arm: np.ndarray, labels: np.ndarray, low: np.ndarray, px_per_mm: float) -> bool:
    """Whether a hand in the field touches a piece with nothing thin before it."""
    across = max(3, round(HAND_MM * px_per_mm))
    round_ = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (across, across))
    thick = cv2.morphologyEx(arm.astype(np.uint8), cv2.MORPH_OPEN, round_)
    hand = (thick > 0) & low
    if hand.sum() < (HAND_MM * px_per_mm) ** 2:
        return False
    near = cv2.dilate(hand.astype(np.uint8), np.ones((parameters.NEAR_PX.value,) * 2, np.uint8)) > 0
    if not (near & (labels >= 0) & low).any():
        return False
    apart = ((thick == 0) & (labels < 0)).astype(np.uint8)  # a piece before a hand parts it, too
    tongs = arm & (cv2.distanceTransform(apart, cv2.DIST_L2, 3) > TONGS_MM * px_per_mm)
    return float(tongs.sum()) < TONGS_MM2 * px_per_mm**2
