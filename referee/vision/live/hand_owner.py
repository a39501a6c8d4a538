"""Whose hand is it? An arm comes from where its player sits: the far end of what reaches into a field tells.

Compared are the way from the field to each player's shoulder and the way to the far end of the connected thing over
the field that was not on the empty table. Where the two players' ways look alike from the camera nothing is said.
"""

from __future__ import annotations

import cv2
import numpy as np

from calibration.mat import FIELD, MatPose, Mats
from referee.vision.live import parameters

WIDTH_PX = parameters.WIDTH_PX.value
DIFFERS = parameters.DIFFERS.value
SHOULDER_MM = parameters.SHOULDER_MM.value
OVER_MM = parameters.OVER_MM.value
REACH_MM = parameters.REACH_MM.value
MIDDLE_MM = parameters.MIDDLE_MM.value
APART_DEG = parameters.APART_DEG.value
MOST_DEG = parameters.MOST_DEG.value


def hand_owner(image: np.ndarray, empty: np.ndarray, zone: str, mats: Mats) -> str | None:
    """Zone of the player whose arm is over the field of ``zone``; None where that cannot be told.

    ``image`` and ``empty`` (the same table without hands) are (h, w, 3) uint8 of one size.
    """
    pose = mats.poses.get(zone)
    if pose is None or image.shape != empty.shape:
        return None
    factor = max(1, round(image.shape[1] / WIDTH_PX))
    arm = _arm(_reduced(image, factor), _reduced(empty, factor), _box(mats, pose) / factor)
    if arm is None:
        return None
    centre = _pixels(mats, pose, [(0.0, 0.0, MIDDLE_MM)])[0] / factor
    reach = np.linalg.norm(_pixels(mats, pose, [(REACH_MM, 0.0, MIDDLE_MM)])[0] / factor - centre)
    far = _far_end(arm, centre)
    if np.linalg.norm(far - centre) < reach:
        return None
    return owner_by_way(far - centre, mats, pose, factor)


def owner_by_way(way: np.ndarray, mats: Mats, pose: MatPose, factor: int) -> str | None:
    """Zone of the player from whose side an arm comes that leads this way (2,) from the field in the picture."""
    angles = sorted((_angle(way, _way(mats, pose, other, factor)), name) for name, other in mats.poses.items())
    if len(angles) < 2:  # where the other player sits is not known: it might be that one's
        return None
    sure = angles[0][0] < MOST_DEG and angles[1][0] - angles[0][0] > APART_DEG
    return angles[0][1] if sure else None


def _reduced(image: np.ndarray, factor: int) -> np.ndarray:
    return cv2.resize(image, None, fx=1 / factor, fy=1 / factor, interpolation=cv2.INTER_AREA)


def _pixels(mats: Mats, pose: MatPose, points_mm: list[tuple[float, float, float]]) -> np.ndarray:
    return mats.camera.project(pose.to_camera(np.array(points_mm)))


def _box(mats: Mats, pose: MatPose) -> np.ndarray:
    """Outline (n, 2) px of the box over the field."""
    x, y = FIELD
    corners = [(i * x, j * y, z) for z in (0.0, OVER_MM) for i in (-1, 1) for j in (-1, 1)]
    return cv2.convexHull(_pixels(mats, pose, corners).astype(np.float32))[:, 0]


def _arm(small: np.ndarray, empty: np.ndarray, box: np.ndarray) -> np.ndarray | None:
    """Pixels (n, 2) of the largest connected new thing that is in the box and outside of it; None without one."""
    new = (cv2.absdiff(small, empty).max(2) > DIFFERS).astype(np.uint8)
    new = cv2.morphologyEx(new, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    _, things = cv2.connectedComponents(new)
    inside = cv2.fillConvexPoly(np.zeros(new.shape, np.uint8), box.round().astype(np.int32), 1) > 0
    there, outside = np.bincount(things[inside]), np.bincount(things[~inside])
    size = min(len(there), len(outside))
    both = np.minimum(there[:size], outside[:size])
    both[:1] = 0
    if not both.any():
        return None
    ys, xs = np.nonzero(things == int(np.argmax(both)))
    return np.column_stack([xs, ys])


def _far_end(arm: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Mean (2,) of the tenth of the arm's pixels that is farthest from the field's centre."""
    far = np.linalg.norm(arm - centre, axis=1)
    return arm[far >= np.percentile(far, parameters.FAR_PERCENTILE.value)].mean(0)


def _way(mats: Mats, pose: MatPose, player: MatPose, factor: int) -> np.ndarray:
    """Direction (2,) in the picture from the field's centre towards that player's shoulder.

    Taken part of the way up the arm (``UP_THE_ARM``): a shoulder may be behind the camera.
    """
    start, end = pose.to_camera(np.array([(0.0, 0.0, MIDDLE_MM)])), player.to_camera(np.array([SHOULDER_MM]))
    way = mats.camera.project(np.concatenate([start, start + (end - start) / parameters.UP_THE_ARM.value])) / factor
    return way[1] - way[0]


def _angle(one: np.ndarray, other: np.ndarray) -> float:
    """Degrees between two directions."""
    cosine = one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-9)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
