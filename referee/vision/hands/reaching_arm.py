"""The arm that reaches into a field after a Stop: whose it is, and whether its hand is in the field yet.

It is the largest connected thing over the field that was not on the clear table and is no shadow. Its far end tells
whose it is (``HandGeometry.owner``), gloved or not; its near end tells whether it only passes before the field.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from skimage.measure import label

from calibration.mat import FIELD, MatPose, Mats
from cards.build import TALLEST_MM
from referee.vision.hands.fists import ARM_MM, FIST_MM, thick_part
from referee.vision.hands.geometry import (
    FIST_OVER_MM,
    STOP_SHOULDER_MM,
    TONGS,
    HandGeometry,
    reduced,
    reduction,
    tongs_visible,
)
from referee.vision.image.shadow import channel_max, is_shadow
from referee.vision.measured import measured

UNLIKE_LEVELS = measured(24, "levels of 255", "by hand: a channel differs so from the empty table's where something is")
OVER_MM = measured(
    TALLEST_MM - 20.0, "mm", "by hand: hands reach into a box so high over the field, the last piece's tongs with them"
)
END_PX = measured(4, "reduced px", "by hand: the near end of a fist is that many of its pixels")
FAR_PERCENTILE = measured(90, "per cent", "an arm's far end is the tenth of its pixels that is farthest; by hand")


@dataclass(frozen=True)
class ReachingArm:
    """What reaches towards a field: zone of its ``owner``, ``STRANGER`` of one whose mat is not known, None where that
    cannot be told; whether its hand is still ``short`` of the field."""

    owner: str | None = None
    short: bool = False


def reaching_arm(image: np.ndarray, clear: np.ndarray, zone: str, mats: Mats) -> ReachingArm:
    """The arm over the field of ``zone``; ``image`` and ``clear`` (the same table without hands) are (h, w, 3) uint8 of
    one size."""
    pose = mats.poses.get(zone)
    if pose is None or image.shape != clear.shape:
        return ReachingArm()
    geometry = HandGeometry(mats, reduction(image))
    now, before = reduced(image, geometry.factor), reduced(clear, geometry.factor)
    new = channel_max(cv2.absdiff(now, before)) > UNLIKE_LEVELS
    for mask in (new & ~is_shadow(now, before), new):  # a grey sleeve on paper looks like a shadow
        arm = _arm_over(mask, geometry.inside(pose, FIELD, (0.0, OVER_MM), mask.shape))
        way = None if arm is None else _way(arm, geometry, pose)
        owner = None if way is None else geometry.owner(geometry.centre(pose), way[None], over_field=True)
        if arm is not None and owner is not None:
            return ReachingArm(owner, owner in mats.poses and _is_short(arm, geometry, pose, mats.poses[owner]))
    return ReachingArm()


def _arm_over(new: np.ndarray, inside: np.ndarray) -> np.ndarray | None:
    """Pixels (n, 2) of the largest connected new thing (h, w) that is inside the box (h, w) and outside of it; None
    without."""
    new = cv2.morphologyEx(new.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)) > 0
    things = label(new)
    within, beyond = (np.bincount(things[new & where], minlength=things.max() + 1) for where in (inside, ~inside))
    both = np.minimum(within, beyond)
    return np.argwhere(things == both.argmax())[:, ::-1] if both.any() else None


def _way(arm: np.ndarray, geometry: HandGeometry, pose: MatPose) -> np.ndarray | None:
    """From the field's centre to the arm's far end (2,); None where that is not far."""
    centre = geometry.centre(pose)
    away = np.linalg.norm(arm - centre, axis=1)
    way = arm[away >= np.percentile(away, FAR_PERCENTILE)].mean(0) - centre
    return way if np.linalg.norm(way) >= ARM_MM * geometry.px_per_mm else None


def _is_short(arm: np.ndarray, geometry: HandGeometry, pose: MatPose, player: MatPose) -> bool:
    """Whether its hand is not over the field yet. The fist's near end tells, since tongs are often not seen: from in
    front they lead on from there, from behind they are about where it is seen."""
    mask = np.zeros(arm.max(0)[::-1] + 1, np.uint8)
    mask[arm[:, 1], arm[:, 0]] = 1
    fist = np.argwhere(thick_part(mask, FIST_MM * geometry.px_per_mm))[:, ::-1]
    if not len(fist):
        return False
    toward = geometry.to_shoulders(geometry.centre(player), player, STOP_SHOULDER_MM[None])[0]
    near = fist[np.argsort(fist @ toward)[:END_PX]].mean(0)
    end = geometry.on_plane(near, player, FIST_OVER_MM) + (TONGS if tongs_visible(player) else 0.0)
    x, y, _ = ((player.to_camera(end[None]) - pose.translation) @ pose.rotation)[0]
    return bool(abs(x) > FIELD[0] + FIST_MM or abs(y) > FIELD[1] + FIST_MM)
