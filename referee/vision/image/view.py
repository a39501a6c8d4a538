"""A zone's view: the part of the picture where its build can be, without lens distortion, at a
scale that follows the mat (so many pixels to a millimetre), whatever camera took it."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.markers import MARKER_CENTRES, MARKER_MM
from calibration.mat import FIELD, SHEET, MatPose
from calibration.palette import color_features
from cards.build import TALLEST_MM
from referee.vision.measured import measured

PIECE_MM = measured(30.0, "mm", "a usual piece's length: places are tried, and taken for one, in parts of it")
MIN_SCALE = measured(0.7, "of the picture's scale", "by hand: shrinking further by linear interpolation would alias")
MARKER_RIM_MM = measured(2, "mm", "by hand: so far around a marker its black bleeds into the paper")
SHRUNK_BLUR_PX = measured(0.4, "px of the view", "by hand: standard deviation of the blur before that")

PX_PER_MM = measured(
    1.0, "px a mm at the mat's centre", "a 6 mm error is 6 pixels, and judging costs the same whatever the camera"
)
SIDE_MM = measured(22.0, "mm", "half a large piece: so much wider and deeper than the field a view is")
HEIGHT_MM = TALLEST_MM + PIECE_MM / 2


@dataclass(frozen=True)
class ZoneView:
    """One zone, cropped and undistorted.

    ``image`` (h, w, 3) uint8 BGR; ``camera`` (3, 4) takes mat mm to camera mm; ``matrix`` (3, 3) is
    the pinhole of ``image``; ``maps`` the remap tables (for other frames of the rig); ``valid``
    (h, w) bool says which pixels the original picture really has.
    """

    zone: str
    image: np.ndarray
    camera: np.ndarray
    matrix: np.ndarray
    maps: tuple[np.ndarray, np.ndarray]
    valid: np.ndarray
    pose: MatPose
    px_per_mm: float
    _features: dict[bytes, np.ndarray] = field(default_factory=dict, repr=False, compare=False)

    def lean(self) -> "ZoneView":
        """The same view without what it has worked out so far and can work out again."""
        return replace(self, _features={})

    def project(self, points: np.ndarray) -> np.ndarray:
        """Pixels (n, 2) of this view for points (n, 3) of the mat's frame in mm."""
        cam = np.asarray(points, float) @ self.camera[:, :3].T + self.camera[:, 3]
        flat = cam @ self.matrix.T
        return flat[:, :2] / flat[:, 2:]

    def to_ground(self, pixels: np.ndarray, z_mm: float = 0.0) -> np.ndarray:
        """Where the rays of pixels (n, 2) meet the plane at height ``z_mm``: (n, 2) mat mm."""
        rays = np.c_[pixels, np.ones(len(pixels))] @ np.linalg.inv(self.matrix).T @ self.camera[:, :3]
        origin = self.pose.camera_at
        t = (z_mm - origin[2]) / rays[:, 2]
        return (origin + rays * t[:, None])[:, :2]

    @cached_property
    def ground(self) -> np.ndarray:
        """(h, w, 2) mat mm: where each pixel's ray meets the table; far away above the horizon."""
        h, w = self.image.shape[:2]
        m = (np.linalg.inv(self.matrix).T @ self.camera[:, :3]).astype(np.float32)
        x, y = np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32)[:, None]
        origin = self.pose.camera_at.astype(np.float32)
        sinks = x * m[0, 2] + (y * m[1, 2] + m[2, 2])
        down = sinks < -1e-3  # rays that sink less are taken to end a kilometre away
        t = -origin[2] / np.where(down, sinks, np.float32(-1.0))
        far = np.float32(1e6)
        each = [np.where(down, origin[k] + (x * m[0, k] + (y * m[1, k] + m[2, k])) * t, far) for k in range(2)]
        return np.moveaxis(np.stack(each), 0, -1)  # x and y are read one by one

    @cached_property
    def regions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Masks (h, w) of the view's pixels; see ``regions``."""
        return regions(self.ground)

    def features(self, white: np.ndarray) -> np.ndarray:
        """Features (h, w, 3) of its pixels by the paper's ``white`` (3,), worked out once."""
        key = white.tobytes()
        if key not in self._features:
            self._features[key] = color_features(self.image, white)
        return self._features[key]

    def crop(self, frame: np.ndarray) -> np.ndarray:
        """The same view of another frame of the rig, (h, w, 3) uint8."""
        return cv2.remap(frame, *self.maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def regions(ground: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masks (h, w): pixels whose table point is on the paper, on a marker, in the field."""
    ax, ay = np.abs(ground[..., 0]), np.abs(ground[..., 1])
    paper = (ax < SHEET[0] / 2) & (ay < SHEET[1] / 2)
    (cx, cy), half = MARKER_CENTRES.max(0).tolist(), MARKER_MM / 2 + MARKER_RIM_MM
    marker = (np.abs(ax - cx) < half) & (np.abs(ay - cy) < half)  # one in each corner, alike
    return paper, marker, (ax < FIELD[0]) & (ay < FIELD[1])


def zone_view(frame: np.ndarray, camera: CameraModel, pose: MatPose, field: tuple[float, float] = FIELD) -> ZoneView:
    """The view of one mat in a frame (h, w, 3) uint8 BGR."""
    mm_depth = float(pose.translation[2])
    scale = PX_PER_MM * mm_depth / camera.focal_px
    x, y = field[0] + SIDE_MM, field[1] + SIDE_MM
    box = np.array([(a, b, c) for a in (-x, x) for b in (-y, y) for c in (0.0, HEIGHT_MM)])
    cam = pose.to_camera(box)
    focal = camera.focal_px * scale
    pixels = cam[:, :2] / cam[:, 2:] * focal
    low, high = np.floor(pixels.min(0)), np.ceil(pixels.max(0))
    width, height = (high - low).astype(int) + 1
    matrix = np.array([[focal, 0, -low[0]], [0, focal, -low[1]], [0, 0, 1.0]])
    maps = cv2.initUndistortRectifyMap(
        camera.matrix, camera.distortion, None, matrix, (int(width), int(height)), cv2.CV_32FC1
    )
    image = _remap(frame, maps, scale)
    bottom, right = frame.shape[0] - 1, frame.shape[1] - 1
    valid = (maps[0] >= 0) & (maps[0] <= right) & (maps[1] >= 0) & (maps[1] <= bottom)
    camera34 = np.c_[pose.rotation, pose.translation]
    return ZoneView(pose.zone, image, np.ascontiguousarray(camera34), matrix, maps, valid, pose, PX_PER_MM)


def _remap(frame: np.ndarray, maps: tuple[np.ndarray, np.ndarray], scale: float) -> np.ndarray:
    if scale < MIN_SCALE:  # shrinking by linear interpolation alone would alias
        sigma = SHRUNK_BLUR_PX / scale
        rim = math.ceil(4 * sigma) + 2  # further than the blur reaches
        ends = [(m.min() - rim, m.max() + rim) for m in maps]
        x, y = (
            slice(*np.clip(e, (0, 1), (n - 1, n)).astype(int)) for e, n in zip(ends, frame.shape[1::-1], strict=True)
        )
        seen, frame = frame[y, x], frame.copy()
        frame[y, x] = cv2.GaussianBlur(seen, (0, 0), sigma)
    return cv2.remap(frame, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
