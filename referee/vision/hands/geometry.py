"""From a reduced picture to the table: where hands are in millimetres, and from which player an arm comes.

Fouls and the Stop share this one model. Each player sits behind the own mat with the shoulders at ``SHOULDERS_MM`` of
its frame (for an arm over a field, at ``STOP_SHOULDER_MM``). An arm belongs to the player to whose nearer shoulder it
leads in the picture, if the angle in between is less than ``MOST_DEG`` and every other player's is ``APART_DEG``
larger; else nobody can tell. A fist at work is assumed ``FIST_OVER_MM`` over the table with tongs that end ``TONGS``
away from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from calibration.mat import FIELD, LEAST_DESCENT, SHEET, MatPose, Mats
from referee.vision.measured import measured

WIDTH_PX = measured(320, "px", "width of the reduced picture: tongs 10 mm thick are still 3 pixels, a sleeve some ten")
MIDDLE_MM = measured(40.0, "mm", "by hand: about so high over the table hands are; higher ones pass by")
FIST_OVER_MM = measured(90.0, "mm", "by hand: about so high is a fist that works; a lower one has no tongs")
TONGS = np.array(
    measured((-18.0, 95.0, -62.0), "mm in the player's mat frame", "from a fist to its tongs' tip; by hand")
)
SHOWN_MM = measured(70.0, "mm", "by hand: where less of TONGS shows, a bare hand cannot be told from one with tongs")
SHOULDERS_MM = np.array(
    measured(((35, -560, 190), (-130, -560, 190)), "mm in the own mat's frame", "a sitting player's, right and left")
)
STOP_SHOULDER_MM = SHOULDERS_MM[0]
"""The one that tells whose arm is over a field after a Stop."""
STRANGERS_MM = np.array(
    measured(
        ((350, -560, 190), (-290, -560, 190), (-374, 620, 190), (-30, 620, 190), (314, 620, 190)),
        "mm in the known mat's frame",
        "shoulders of who may sit beside or opposite: as SHOULDERS_MM, for a sheet 20 mm beside this one or facing it",
    )
)
TOWARDS_DEG = measured(
    10.0,
    "degrees",
    "where an arm is seen so near to a shoulder's way it may be that player's: 5 of 5 own ones that seemed to lead "
    "elsewhere, 2 of 1,168 third persons', at 60 simulated tables (seeds 1500 to 1559)",
)
APART_DEG = measured(10.0, "degrees", "by hand: so much nearer to one player's way than to any other's it must be")
MOST_DEG = measured(60.0, "degrees", "by hand: further off a player's way it is nobody's known arm")
ARM_PARTS = measured(3, "parts of the way", "the way is taken one part up: a shoulder may be behind the camera")
STRANGER_DEG = measured(
    75.0, "degrees", "further off every player's way it is somebody else's: 82 to 140 of who stands at a table's end"
)
STRANGER_ON_TABLE_DEG = measured(
    55.0,
    "degrees",
    "the same on the table: 47 to 120 of who stands at its near end; of players at most 54, of one in a hundred over "
    "39, at 90 simulated tables (seeds 40 to 69)",
)
STRANGER = ""
"""The zone of somebody who sits at no known mat."""


def reduction(image: np.ndarray) -> int:
    """How many pixels of an image (h, w, 3) are one of its reduced copy."""
    return max(1, round(image.shape[1] / WIDTH_PX))


def reduced(image: np.ndarray, factor: int) -> np.ndarray:
    """The copy of an image (h, w, 3) in which ``factor`` pixels are one."""
    height, width = image.shape[0] // factor, image.shape[1] // factor
    return cv2.resize(image[: height * factor, : width * factor], (width, height), interpolation=cv2.INTER_AREA)


def tongs_shown_mm(pose: MatPose, at: np.ndarray) -> float:
    """How much of a player's tongs the camera sees across its line of sight to ``at``, (3,) mm of its own frame."""
    return float(np.linalg.norm(np.cross(pose.rotation @ TONGS, at / np.linalg.norm(at))))


def tongs_visible(pose: MatPose) -> bool:
    """Whether the camera sees the tongs of this mat's player from the side, and not along them."""
    return tongs_shown_mm(pose, pose.translation) > SHOWN_MM


@dataclass(frozen=True, eq=False)
class HandGeometry:
    """A picture reduced by ``factor`` over these mats. Its pixels are (x, y) of the reduced picture throughout."""

    mats: Mats
    factor: int

    @cached_property
    def px_per_mm(self) -> float:
        """At the fields' centres, along x, as seen on average."""
        half = FIELD[1]
        ends = [self.pixels(p, [(-half, 0.0, MIDDLE_MM), (half, 0.0, MIDDLE_MM)]) for p in self.mats.poses.values()]
        return float(np.mean([np.linalg.norm(b - a) for a, b in ends])) / (2 * half)

    def pixels(self, pose: MatPose, points_mm: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
        """Where points (n, 3) of a mat's frame are seen, (n, 2)."""
        return (self.mats.camera.project(pose.to_camera(np.asarray(points_mm))) + 0.5) / self.factor - 0.5

    def centre(self, pose: MatPose) -> np.ndarray:
        """Where the middle of that mat's field is seen at a hand's height, (2,)."""
        return self.pixels(pose, [(0.0, 0.0, MIDDLE_MM)])[0]

    def outline(self, pose: MatPose, half_mm: tuple[float, float], heights_mm: Sequence[float]) -> np.ndarray:
        """Convex outline (n, 1, 2) int32 of the box that reaches so far from a mat's centre, between these heights."""
        corners = [(i * half_mm[0], j * half_mm[1], z) for z in heights_mm for i in (-1, 1) for j in (-1, 1)]
        return cv2.convexHull(self.pixels(pose, corners).round().astype(np.int32))

    def inside(
        self, pose: MatPose, half_mm: tuple[float, float], heights_mm: Sequence[float], size: tuple[int, ...]
    ) -> np.ndarray:
        """(h, w) bool: what of a picture of that size is inside of that outline."""
        return cv2.fillConvexPoly(np.zeros(size, np.uint8), self.outline(pose, half_mm, heights_mm), 1) > 0

    def on_plane(self, at: np.ndarray, pose: MatPose, height_mm: float) -> np.ndarray:
        """The point (3,) of the mat's frame, so high over the table, that a pixel (2,) shows."""
        eye, ray = pose.camera_at, self._ray(at, pose)
        return np.asarray(eye + ray * ((height_mm - eye[2]) / min(ray[2], -LEAST_DESCENT)))

    def height_over(self, at: np.ndarray, pose: MatPose, y_mm: float) -> float:
        """How high over the table (mm) is what a pixel (2,) shows, if it is over that line of the mat's frame."""
        eye, ray = pose.camera_at, self._ray(at, pose)
        along = ray[1] if abs(ray[1]) > LEAST_DESCENT else LEAST_DESCENT
        return float((eye + ray * ((y_mm - eye[1]) / along))[2])

    def tongs_way(self, fist: np.ndarray, pose: MatPose) -> np.ndarray:
        """Direction (2,) in the picture in which that player's tongs point from a fist at a pixel (2,)."""
        start = self.on_plane(fist, pose, FIST_OVER_MM)
        begin, end = self.pixels(pose, np.array([start, start + TONGS]))
        return np.asarray((end - begin) / np.linalg.norm(end - begin))

    def tongs_end(self, fist: np.ndarray, pose: MatPose) -> np.ndarray:
        """Where the tongs of that mat's player end if the fist at a pixel (2,) is at work: (3,) mm, camera frame."""
        return pose.to_camera((self.on_plane(fist, pose, FIST_OVER_MM) + TONGS)[None])[0]

    def owner(self, hand: np.ndarray, ways: np.ndarray, over_field: bool = False) -> str | None:
        """Zone of the player whose arm leads the first of these ways (n, 2) from a hand at a pixel (2,); ``STRANGER``
        where it leads to none of them; None where that is not clear, or another way in which an arm is seen leads to
        one; the only player's where one mat is known. ``over_field``: the ways begin at a field's centre, not at the
        hand. Then ``STOP_SHOULDER_MM`` is asked, and beside a single known mat others may sit (``STRANGER``)."""
        shoulders, poses, way = STOP_SHOULDER_MM[None] if over_field else SHOULDERS_MM, self.mats.poses, ways[0]
        off = {zone: float(self.off_deg(hand, way[None], pose, shoulders)[0]) for zone, pose in poses.items()}
        if len(off) < 2:
            zone, pose = next(iter(poses.items()))
            if not over_field:
                return zone
            off[STRANGER] = float(self.off_deg(hand, way[None], pose, STRANGERS_MM)[0])
        (least, zone), (second, _) = sorted((deg, zone) for zone, deg in off.items())[:2]
        if least > STRANGER_DEG or (not over_field and self._off_on_table_deg(hand, way) > STRANGER_ON_TABLE_DEG):
            towards = min(self.off_deg(hand, ways, pose).min() for pose in poses.values()) <= TOWARDS_DEG
            return None if towards else STRANGER
        return zone if least < MOST_DEG and second - least > APART_DEG else None

    def _off_on_table_deg(self, hand: np.ndarray, way: np.ndarray) -> float:
        """Degrees on the table between the way (2,) in the picture from a hand at a pixel (2,) and that to the nearest
        shoulder of any player; 0 next to a player, whose arm may lead anywhere there. From low down the camera sees a
        way to the side and one towards it as nearly one."""
        off = []
        for pose in self.mats.poses.values():
            start, ahead = (self.on_plane(at, pose, FIST_OVER_MM)[:2] for at in (hand, hand + way))
            if abs(start[0]) < SHEET[0] and start[1] < -SHEET[1]:
                return 0.0
            off.append(float(_least_deg((ahead - start)[None], SHOULDERS_MM[:, :2] - start)[0]))
        return min(off)

    def off_deg(
        self, hand: np.ndarray, ways: np.ndarray, pose: MatPose, shoulders_mm: np.ndarray = SHOULDERS_MM
    ) -> np.ndarray:
        """Degrees (n,) in the picture between ways (n, 2) from a hand and that to the nearest of these shoulders (k, 3)
        of a mat's frame."""
        return _least_deg(ways, self.to_shoulders(hand, pose, shoulders_mm))

    def to_shoulders(self, hand: np.ndarray, pose: MatPose, shoulders_mm: np.ndarray = SHOULDERS_MM) -> np.ndarray:
        """Ways (k, 2) in the picture from a hand to these shoulders (k, 3) of a mat's frame, part of the way up the arm
        (``ARM_PARTS``): a shoulder may be behind the camera."""
        start = self.on_plane(hand, pose, FIST_OVER_MM)
        seen = self.pixels(pose, np.vstack([start, start + (shoulders_mm - start) / ARM_PARTS]))
        return np.asarray(seen[1:] - seen[0])

    def _ray(self, at: np.ndarray, pose: MatPose) -> np.ndarray:
        """Direction (3,) in the mat's frame of the line of sight through a pixel (2,)."""
        lens, full = self.mats.camera, (np.asarray(at) + 0.5) * self.factor - 0.5
        x, y = cv2.undistortPoints(np.array([[full]], float), lens.matrix, lens.distortion)[0, 0]
        return np.asarray(np.array([x, y, 1.0]) @ pose.rotation)


def _least_deg(ways: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Degrees (n,) between ways (n, 2) and the nearest of the ways ``to`` (k, 2)."""
    lengths = np.linalg.norm(ways, axis=1)[:, None] * np.linalg.norm(to, axis=1)
    return np.asarray(np.degrees(np.arccos(np.clip(ways @ to.T / np.maximum(lengths, 1e-9), -1, 1))).min(1))
