"""Whose hand is it? An arm comes from where its player sits: the far end of what reaches into a field tells.

Compared are the way from the field to each player's shoulder and the way to the far end of the connected thing over
the field that was not on the empty table and is no shadow. Where two players' ways look alike from the camera nothing
is said. Where no other mat is known, others sit wherever one could lie: an arm from there is a stranger's.

The near end tells whether the hand is in the field yet: an arm passes before a field, and is no touch.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import skimage as ski

from calibration.mat import FIELD, MatPose, Mats
from referee.vision import live_parameters as parameters
from referee.vision.hands.field_hands import tongs_visible
from referee.vision.hands.fists import on_plane, px_per_mm_of, thick
from referee.vision.image.shadow import is_shadow

WIDTH_PX = parameters.WIDTH_PX.value
DIFFERS = parameters.DIFFERS.value
SHOULDER_MM = parameters.SHOULDER_MM.value
OVER_MM = parameters.OVER_MM.value
REACH_MM = parameters.REACH_MM.value
MIDDLE_MM = parameters.MIDDLE_MM.value
APART_DEG = parameters.APART_DEG.value
MOST_DEG = parameters.MOST_DEG.value
STRANGERS_MM = np.array(parameters.STRANGERS_MM.value)
FIST_MM = parameters.FIST_MM.value
FIST_OVER_MM = parameters.FIST_OVER_MM.value
TONGS = np.array(parameters.TONGS.value)
SHORT_MM = parameters.SHORT_MM.value
END_PX = parameters.END_PX.value

STRANGER = ""
"""The zone of a player whose mat is not known."""


@dataclass(frozen=True)
class ReachingArm:
    """What reaches towards a field: zone of its ``owner``, ``STRANGER`` of one whose mat is not known, None where that
    cannot be told; whether its hand is still ``short`` of the field."""

    owner: str | None = None
    short: bool = False


def hand_owner(image: np.ndarray, empty: np.ndarray, zone: str, mats: Mats) -> str | None:
    """Zone of the player whose arm is over the field of ``zone``, as ``arm_over`` tells."""
    return reaching_arm(image, empty, zone, mats).owner


def reaching_arm(image: np.ndarray, empty: np.ndarray, zone: str, mats: Mats) -> ReachingArm:
    """The arm over the field of ``zone``.

    ``image`` and ``empty`` (the same table without hands) are (h, w, 3) uint8 of one size.
    """
    pose = mats.poses.get(zone)
    if pose is None or image.shape != empty.shape:
        return ReachingArm()
    factor = max(1, round(image.shape[1] / WIDTH_PX))
    small, bare = _reduced(image, factor), _reduced(empty, factor)
    new = cv2.absdiff(small, bare).max(2) > DIFFERS
    for seen in (new & ~is_shadow(small, bare), new):  # a shadow is no arm; a grey sleeve on paper looks like one
        arm = _of_arm(_arm(seen, _box(mats, pose) / factor), mats, pose, factor)
        if arm.owner is not None:
            return arm
    return ReachingArm()


def _of_arm(arm: np.ndarray | None, mats: Mats, pose: MatPose, factor: int) -> ReachingArm:
    """What its pixels (n, 2) say."""
    if arm is None:
        return ReachingArm()
    centre = _pixels(mats, pose, [(0.0, 0.0, MIDDLE_MM)])[0] / factor
    reach = np.linalg.norm(_pixels(mats, pose, [(REACH_MM, 0.0, MIDDLE_MM)])[0] / factor - centre)
    far = _far_end(arm, centre)
    if np.linalg.norm(far - centre) < reach:
        return ReachingArm()
    owner = owner_by_way(far - centre, mats, pose, factor)
    player = mats.poses.get(owner or "")
    return ReachingArm(owner, player is not None and _short(arm, mats, pose, player, factor))


def owner_by_way(way: np.ndarray, mats: Mats, pose: MatPose, factor: int) -> str | None:
    """Zone of the player from whose side an arm comes that leads this way (2,) from the field in the picture."""
    shoulder = np.array(SHOULDER_MM)
    ends = [(name, other.to_camera(shoulder[None])[0]) for name, other in mats.poses.items()]
    if len(ends) < 2:
        ends += [(STRANGER, end) for end in pose.to_camera(STRANGERS_MM)]
    angles = sorted((_angle(way, _way(mats, pose, end, factor)), name) for name, end in ends)
    nearest, name = angles[0]
    sure = nearest < MOST_DEG and all(angle - nearest > APART_DEG for angle, other in angles if other != name)
    return name if sure else None


def _short(arm: np.ndarray, mats: Mats, pose: MatPose, player: MatPose, factor: int) -> bool:
    """Whether its hand is not over the field yet. The fist's near end tells, for tongs are often lost to the eye: from
    in front they lead on from there, from behind they are about where it is seen."""
    mask = np.zeros(arm.max(0)[::-1] + 1, np.uint8)
    mask[arm[:, 1], arm[:, 0]] = 1
    points = np.argwhere(thick(mask, FIST_MM * px_per_mm_of(mats, factor)))[:, ::-1]
    if not len(points):
        return False
    way = _way(mats, player, player.to_camera(np.array([SHOULDER_MM]))[0], factor)
    near = points[np.argsort(points @ way)[:END_PX]].mean(0)
    end = on_plane((near + 0.5) * factor - 0.5, mats, player, FIST_OVER_MM) + (TONGS if tongs_visible(player) else 0.0)
    x, y, _ = ((player.to_camera(end[None]) - pose.translation) @ pose.rotation)[0]
    return bool(abs(x) > FIELD[0] + SHORT_MM or abs(y) > FIELD[1] + SHORT_MM)


def _reduced(image: np.ndarray, factor: int) -> np.ndarray:
    return cv2.resize(image, None, fx=1 / factor, fy=1 / factor, interpolation=cv2.INTER_AREA)


def _pixels(mats: Mats, pose: MatPose, points_mm: list[tuple[float, float, float]]) -> np.ndarray:
    return mats.camera.project(pose.to_camera(np.array(points_mm)))


def _box(mats: Mats, pose: MatPose) -> np.ndarray:
    """Outline (n, 2) px of the box over the field."""
    x, y = FIELD
    corners = [(i * x, j * y, z) for z in (0.0, OVER_MM) for i in (-1, 1) for j in (-1, 1)]
    return cv2.convexHull(_pixels(mats, pose, corners).astype(np.float32))[:, 0]


def _arm(new: np.ndarray, box: np.ndarray) -> np.ndarray | None:
    """Pixels (n, 2) of the largest connected new thing that is in the box and outside of it; None without one."""
    new = cv2.morphologyEx(new.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)) > 0
    inside = cv2.fillConvexPoly(np.zeros(new.shape, np.uint8), box.round().astype(np.int32), 1) > 0
    things = ski.measure.label(new)
    there, outside = (np.bincount(things[new & where], minlength=things.max() + 1) for where in (inside, ~inside))
    both = np.minimum(there, outside)
    return np.argwhere(things == both.argmax())[:, ::-1] if both.any() else None


def _far_end(arm: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Mean (2,) of the tenth of the arm's pixels that is farthest from the field's centre."""
    far = np.linalg.norm(arm - centre, axis=1)
    return arm[far >= np.percentile(far, parameters.FAR_PERCENTILE.value)].mean(0)


def _way(mats: Mats, pose: MatPose, shoulder: np.ndarray, factor: int) -> np.ndarray:
    """Direction (2,) in the picture from the field's centre towards a shoulder, (3,) mm in the camera's frame.

    Taken part of the way up the arm (``UP_THE_ARM``): a shoulder may be behind the camera.
    """
    start = pose.to_camera(np.array([(0.0, 0.0, MIDDLE_MM)]))
    way = mats.camera.project(np.vstack([start, start + (shoulder - start) / parameters.UP_THE_ARM.value])) / factor
    return way[1] - way[0]


def _angle(one: np.ndarray, other: np.ndarray) -> float:
    """Degrees between two directions."""
    cosine = one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-9)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
