"""Does a mat move while the camera does not? Corners of markers and of the room are followed from frame to frame.

A mat counts as moved when most of its corners in view move as those of one sheet do, its near edge further, while the
room behind, or another mat, stands still. When everything moves it may as well be the camera, and nothing is said.
"""

from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from calibration.markers import MARKER_MM, marker_corners
from calibration.mat import SHEET, Mats
from cards.build import TALLEST_MM
from referee.vision.hands.geometry import HandGeometry
from referee.vision.measured import measured

ROOM_QUALITY = measured(0.01, "of the best corner's contrast", "the usual choice for good features to track")
ROOM_APART_PX = measured(12, "px", "by hand: corners of the room are at least so far apart")
TRACKED_PX = measured(15, "px", "by hand: side of the window by which a corner is followed, over two octaves")
LEAST_PX_PER_MM = measured(0.2, "px", "by hand: a mat that shows smaller is not followed any worse than this")
BESIDE_MM = measured((60, 150), "mm in x and y", "by hand: so near a sheet's edge hands move: no corner of the room")
MOVED_MM = measured(1.2, "mm between two looks", "by hand: what leaning on the table does is less")
LEAST_CORNERS = measured(6, "corners", "by hand: so many of a mat must be seen again")
AGREEING_CORNERS = measured(0.7, "of the corners", "by hand: so many must move as one sheet's")
STILL_PX = measured(0.4, "px", "by hand: what moves less stands still; twice as far off is no part of it")
ROOM_CORNERS = measured(60, "corners", "by hand, for time: looked for outside of all mats")
ROOM_LEAST = measured(10, "corners", "by hand: so many of the room must be seen again")
EDGE_PX = measured(5, "px", "by hand: corners nearer to the picture's edge are not followed")


@dataclass
class MatMotion:
    """Follows one camera's frames in order."""

    _gray: np.ndarray | None = None
    _mats: Mats | None = None
    _corners: dict[str, np.ndarray] = field(default_factory=dict)
    _room: np.ndarray | None = None

    def update(self, image: np.ndarray, mats: Mats) -> dict[str, float]:
        """Zone -> by how many mm at least its mat has moved since the last frame (h, w, 3); others are left out."""
        gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        before, self._gray = self._gray, gray
        found = self._moved(before, gray) if before is not None and before.shape == gray.shape else {}
        if mats is not self._mats:
            self._begin(gray, mats)
        return found

    def _moved(self, before: np.ndarray, gray: np.ndarray) -> dict[str, float]:
        """What moves while something else in the picture stands still: that the camera has not moved is proved so."""
        room = _shift(before, gray, self._room, ROOM_LEAST) if self._room is not None else None
        mats = {zone: _shift(before, gray, corners, LEAST_CORNERS) for zone, corners in self._corners.items()}
        still = [s for s in (room, *mats.values()) if s is not None and np.linalg.norm(s) < STILL_PX]
        if not still:
            return {}
        by_mm = {z: float(np.linalg.norm(s)) / _px_per_mm(self._corners[z]) for z, s in mats.items() if s is not None}
        return {zone: moved for zone, moved in by_mm.items() if moved > MOVED_MM}

    def _begin(self, gray: np.ndarray, mats: Mats) -> None:
        self._mats = mats
        away = np.full(gray.shape, 255, np.uint8)
        self._corners = {}
        for zone, pose in mats.poses.items():
            flat = np.concatenate([marker_corners(k) for k in range(4)])
            points = mats.camera.project(pose.to_camera(np.column_stack([flat, np.zeros(len(flat))])))
            inside = ((points > EDGE_PX - 1) & (points < np.array(gray.shape[::-1]) - EDGE_PX)).all(1)
            self._corners[zone] = points[inside].astype(np.float32)
            x, y = SHEET[0] / 2 + BESIDE_MM[0], SHEET[1] / 2 + BESIDE_MM[1]  # hands and builds may move over it
            cv2.fillConvexPoly(away, HandGeometry(mats, 1).outline(pose, (x, y), (0.0, TALLEST_MM)), 0)
        room = cv2.goodFeaturesToTrack(gray, ROOM_CORNERS, ROOM_QUALITY, ROOM_APART_PX, mask=away)
        self._room = None if room is None else room[:, 0]


def _shift(before: np.ndarray, gray: np.ndarray, points: np.ndarray, least: int) -> np.ndarray | None:
    """How far (2,) px most of the points have gone, as of one plane; None when too few are seen again, or agree."""
    if len(points) < least:
        return None
    then = points.astype(np.float32).reshape(-1, 1, 2)
    follow: Any = cv2.calcOpticalFlowPyrLK  # its stub wants an array where None is meant
    now, seen, _ = follow(before, gray, then, None, winSize=(TRACKED_PX, TRACKED_PX), maxLevel=2)
    back, again, _ = follow(gray, before, now, None, winSize=(TRACKED_PX, TRACKED_PX), maxLevel=2)
    sure = (seen[:, 0] > 0) & (again[:, 0] > 0) & (np.abs(back - then).max((1, 2)) < 2 * STILL_PX)
    if sure.sum() < least:
        return None
    _, agree = cv2.estimateAffine2D(then[sure], now[sure], ransacReprojThreshold=2 * STILL_PX)
    gone = (now - then)[sure & (agree.mean() >= AGREEING_CORNERS), 0]
    return np.median(gone, 0) if len(gone) else None


def _px_per_mm(corners: np.ndarray) -> float:
    """By the first marker's first side."""
    return max(LEAST_PX_PER_MM, float(np.linalg.norm(corners[1] - corners[0])) / MARKER_MM)
