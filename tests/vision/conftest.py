"""A pinhole rig with exact geometry: printed mats and solids painted into a picture, no rendering tricks."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.camera import CameraModel
from calibration.markers import DICTIONARY, MARKER_CENTRES, MARKER_MM, marker_id
from calibration.mat import FIELD, SHEET, MatPose
from cards.build import Piece, shape_of
from cards.pieces import PieceSet, Pose, builtin_piece_set
from referee.kernels.polygons import draw_solid
from referee.vision.render.solids import FACES, solid, z_buffer

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside the tests are found by them

PX_PER_MM = 5
LIGHT = np.array([0.3, -0.6, 0.74])


@cache
def grain(shape: tuple[int, ...], noise: float) -> np.ndarray:
    """The same noise for every picture of that shape."""
    return np.random.default_rng(7).normal(0, noise, shape)


@cache
def printed_mat(zone: str) -> np.ndarray:
    """The sheet as printed, (h, w, 3), y upwards = row 0 at y = +105 mm."""
    width, height = (round(v * PX_PER_MM) for v in SHEET)
    sheet = np.full((height, width), 235, np.uint8)

    def at(x: float, y: float) -> tuple[int, int]:
        return round((x + SHEET[0] / 2) * PX_PER_MM), round((SHEET[1] / 2 - y) * PX_PER_MM)

    side = round(MARKER_MM * PX_PER_MM)
    for k, centre in enumerate(MARKER_CENTRES):
        code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), marker_id(zone, k), side)
        x, y = at(*centre)
        sheet[y - side // 2 : y - side // 2 + side, x - side // 2 : x - side // 2 + side] = np.maximum(code // 1.1, 12)
    cv2.rectangle(sheet, at(-FIELD[0], FIELD[1]), at(FIELD[0], -FIELD[1]), 170, 3)
    return cv2.cvtColor(sheet, cv2.COLOR_GRAY2BGR)


@dataclass(frozen=True)
class Rig:
    """A camera looking at mats of known poses."""

    camera: CameraModel
    poses: dict[str, MatPose]
    piece_set: PieceSet

    def photograph(self, builds: dict[str, Sequence[Piece]] | None = None, noise: float = 1.5) -> np.ndarray:
        """The picture (h, w, 3) uint8 BGR of the mats with these pieces on them."""
        size = (self.camera.width, self.camera.height)
        image = np.full((size[1], size[0], 3), (120, 118, 112), np.uint8)
        for zone, pose in self.poses.items():
            self._lay(image, zone, pose)
        for zone, pieces in (builds or {}).items():
            self._stand(image, self.poses[zone], pieces)
        blurred = cv2.GaussianBlur(image, (3, 3), 0.6)
        return np.clip(blurred + (grain(image.shape, noise) if noise else 0.0), 0, 255).astype(np.uint8)

    def pixel(self, zone: str, *point: float) -> tuple[int, int]:
        """Where a point of a mat's frame (mm) is in the picture."""
        return tuple(self.camera.project(self.poses[zone].to_camera(np.array([point])))[0].round().astype(int).tolist())

    def _lay(self, image: np.ndarray, zone: str, pose: MatPose) -> None:
        to_mm = np.array(
            [
                [1 / PX_PER_MM, 0, 0.5 / PX_PER_MM - SHEET[0] / 2],
                [0, -1 / PX_PER_MM, SHEET[1] / 2 - 0.5 / PX_PER_MM],
                [0, 0, 1],
            ]
        )
        flat = self.camera.matrix @ np.c_[pose.rotation[:, :2], pose.translation] @ to_mm
        sheet, size = printed_mat(zone), image.shape[1::-1]
        seen = cv2.warpPerspective(sheet, flat, size, flags=cv2.INTER_AREA)
        cover = cv2.warpPerspective(np.full(sheet.shape[:2], 255, np.uint8), flat, size)
        image[cover > 127] = seen[cover > 127]

    def _stand(self, image: np.ndarray, pose: MatPose, pieces: Sequence[Piece]) -> None:
        buffer = z_buffer(image.shape[:2])
        camera = np.ascontiguousarray(np.c_[pose.rotation, pose.translation])
        shades: dict[int, np.ndarray] = {}
        for i, p in enumerate(pieces):
            s, yaw = solid(shape_of(self.piece_set, p), p.pose), math.radians(p.yaw)
            place = (float(p.x), float(p.y), float(p.z), yaw)
            draw_solid(s, place, camera, self.camera.matrix, buffer, i, FACES)
            turn = np.array([[math.cos(yaw), -math.sin(yaw), 0], [math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]])
            for f, normal in enumerate(s.normals @ turn.T):
                light = 0.72 + 0.28 * max(0.0, float(normal @ LIGHT))
                shades[64 * i + f] = np.array(self.piece_set.rgb(p.color)[::-1]) * light
        for tag, colour in shades.items():
            image[buffer.tags == tag] = colour


def looking(at_mm: Sequence[float], from_mm: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and translation (3,) of a level camera at ``from_mm`` looking at ``at_mm``."""
    forward = np.asarray(at_mm, float) - from_mm
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0, 0, 1.0))
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward])
    return rotation, -rotation @ np.asarray(from_mm, float)


def rig_of(spots: dict[str, tuple[float, float, float]], distortion: Sequence[float] = (0, 0, 0, 0, 0)) -> Rig:
    """Mats at (x mm, y mm, turn degrees) on a table before a 720p camera 700 mm away, 30 degrees down."""
    matrix = np.array([[980.0, 0, 639.5], [0, 980.0, 359.5], [0, 0, 1]])
    rotation, translation = looking((0, 0, 40), (0, -606.2, 390))
    poses = {}
    for zone, (x, y, turn) in spots.items():
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        on_table = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
        poses[zone] = MatPose(zone, rotation @ on_table, rotation @ (x, y, 0.0) + translation, (0, 1, 2, 3), 0.0)
    return Rig(CameraModel(1280, 720, matrix, np.array(distortion, float)), poses, builtin_piece_set())


@pytest.fixture(scope="session")
def make_rig():
    return rig_of


@pytest.fixture(scope="session")
def rig() -> Rig:
    """Two mats side by side; the player of B sits across from A's."""
    return rig_of({"A": (-165, 0, 0), "B": (165, 10, 180)})


@pytest.fixture(scope="session")
def tower() -> tuple[Piece, ...]:
    """A blue cube with a red cylinder on it."""
    return (Piece("cube", "blue", Pose(), 0, 0, 15), Piece("cylinder", "red", Pose(), 0, 0, 55))
