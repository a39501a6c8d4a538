"""What an effect is given: the picture with all that the observer is told, and where things truly are in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.mat import FIELD, SHEET, MatPose
from cards.build import Piece, shape_of
from cards.pieces import PieceSet, Pose, Shape

RIM_MM = 20.0
"""A shadow over a field falls on so much of the table around its sheet too."""


@dataclass(frozen=True)
class Inputs:
    """All that an observer is given for one verdict.

    ``frame``, ``empty``, ``colors`` are (h, w, 3) uint8 BGR, the latter two None where they are not given; ``placed``
    are the corners of mats that were placed by hand.
    """

    frame: np.ndarray
    piece_set: PieceSet
    camera: CameraModel | None
    empty: np.ndarray | None
    colors: np.ndarray | None
    placed: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Truth:
    """Where things truly are in a frame: the lens, the mats' poses, the pieces by zone, and the ``zone`` that an effect
    of one field is to hit. ``other`` are the inputs of another rig, for aids that belong elsewhere."""

    camera: CameraModel
    poses: Mapping[str, MatPose]
    builds: Mapping[str, Sequence[Piece]]
    piece_set: PieceSet
    zone: str
    other: Inputs | None = None

    @property
    def pose(self) -> MatPose:
        """The pose of the zone hit."""
        return self.poses[self.zone]

    def pixels(self, points: np.ndarray, zone: str | None = None) -> np.ndarray:
        """(n, 2) px of points (n, 3) mm of a zone's mat, lens distortion included."""
        return self.camera.project(self.poses[zone or self.zone].to_camera(np.asarray(points, float)))

    def depths(self, points: np.ndarray) -> np.ndarray:
        """(n,) mm in front of the camera of points (n, 3) of the zone's mat."""
        return self.pose.to_camera(np.asarray(points, float))[:, 2]

    @cached_property
    def extent(self) -> tuple[float, float, float, float, float]:
        """The build's box in mm: x from, x to, y from, y to, height; a point in the middle where there is none."""
        corners = [piece_corners(self.piece_set, p) for p in self.builds[self.zone] if _in_field(p)]
        if not corners:
            return -15.0, 15.0, -15.0, 15.0, 30.0
        low, high = np.concatenate(corners).min(0), np.concatenate(corners).max(0)
        return low[0], high[0], low[1], high[1], high[2]

    @cached_property
    def toward_camera(self) -> np.ndarray:
        """(2,) unit vector on the table from the build to the camera."""
        x0, x1, y0, y1, _ = self.extent
        away = self.pose.camera_at[:2] - ((x0 + x1) / 2, (y0 + y1) / 2)
        return away / np.linalg.norm(away)

    @cached_property
    def hulls(self) -> list[tuple[np.ndarray, float]]:
        """For every piece of the zone: its outline's convex hull in px (n, 2) int32, and its middle's depth in mm."""
        out = []
        for piece in self.builds[self.zone]:
            points = self.pixels(piece_corners(self.piece_set, piece))
            middle = self.depths(np.array([(piece.x, piece.y, piece.z)]))[0]
            out.append((cv2.convexHull(points.round().astype(np.int32)).reshape(-1, 2), float(middle)))
        return out

    def over_field(self, shape: tuple[int, int]) -> np.ndarray:
        """(h, w) 0..1 of the picture that shows this zone's sheet, a rim of table and its pieces, soft at the rim."""
        x, y = SHEET[0] / 2 + RIM_MM, SHEET[1] / 2 + RIM_MM
        sheet = self.pixels(np.array([(-x, -y, 0.0), (x, -y, 0), (x, y, 0), (-x, y, 0)])).round().astype(np.int32)
        mask = cv2.fillConvexPoly(np.zeros(shape, np.float32), sheet, 1.0)
        mask = cv2.GaussianBlur(mask, (0, 0), 6.0)
        pieces = np.zeros(shape, np.float32)
        for hull, _ in self.hulls:
            cv2.fillConvexPoly(pieces, hull, 1.0)
        return np.maximum(mask, cv2.GaussianBlur(pieces, (0, 0), 0.8))


def _in_field(piece: Piece) -> bool:
    return abs(piece.x) <= FIELD[0] + 10 and abs(piece.y) <= FIELD[1] + 10


def piece_corners(piece_set: PieceSet, piece: Piece) -> np.ndarray:
    """(n, 3) mm: points whose convex hull is that of the piece where it stands."""
    shape = shape_of(piece_set, piece)
    local = _round_corners(shape, piece.pose) if shape.kind == "cylinder" else shape.corners(piece.pose)
    angle = np.radians(piece.yaw)
    c, s = np.cos(angle), np.sin(angle)
    turned = local @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])
    return turned + (piece.x, piece.y, piece.z)


def _round_corners(shape: Shape, pose: Pose) -> np.ndarray:
    t = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.stack([np.cos(t), np.sin(t)], 1) * shape.width / 2
    ends = np.concatenate([np.c_[ring, np.full(24, s * shape.height / 2)] for s in (-1, 1)])
    return ends[:, {"z": [0, 1, 2], "x": [2, 0, 1], "y": [0, 2, 1]}[shape.axis(pose)]]
