"""The simulated webcam's optics: where it stands, what its lens does. Shares no code with vision.

Table frame: x to the camera's right, y away from it, z up, origin on the table midway between the mats; mm.
Lens: pinhole with plumb-bob distortion (k1 k2 p1 p2 k3).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import CameraModel
from referee.simulator.meshes import turn_about_z

BLOCK = 16384
"""So many pixels at a time stay in the processor's cache."""
UNDISTORT_STEPS = 8
"""Fixed-point steps; for |k1| <= 0.1 they leave under 0.001 px."""


@dataclass(frozen=True, eq=False)
class Lens:
    """A camera in place. ``turn`` (3, 3): table directions to camera ones (x right, y down, z forward)."""

    width: int
    height: int
    focal_px: float
    centre: tuple[float, float]
    k1: float
    k2: float
    turn: np.ndarray
    position: np.ndarray

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Table points (n, 3) mm -> pixels (n, 2) and depth along the axis (n,) mm."""
        seen = (points - self.position) @ self.turn.T
        depth = np.maximum(seen[:, 2], 1.0)
        flat = seen[:, :2] / depth[:, None]
        r2 = (flat**2).sum(-1)
        distorted = flat * (1.0 + self.k1 * r2 + self.k2 * r2 * r2)[..., None]
        return distorted * self.focal_px + self.centre, depth

    def table_points(self, pixels: np.ndarray) -> np.ndarray:
        """Pixels (..., 2) -> where their rays meet the table, (..., 2) mm; nan above the horizon."""
        given = pixels.reshape(-1, 2)
        found = np.empty(given.shape)
        for at in range(0, len(given), BLOCK):
            right, down = ((given[at : at + BLOCK].astype(float) - self.centre) / self.focal_px).T.copy()
            r2, shrink = right * right + down * down, 1.0
            for _ in range(UNDISTORT_STEPS):
                inner = r2 * shrink * shrink
                shrink = 1.0 / (1.0 + inner * (self.k1 + self.k2 * inner))
            x, y, z = ((right * r + down * d) * shrink + f for r, d, f in self.turn.T)  # not of unit length
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = np.where(z < -1e-6, -self.position[2] / z, np.nan)
            found[at : at + BLOCK, 0] = self.position[0] + x * reach
            found[at : at + BLOCK, 1] = self.position[1] + y * reach
        return found.reshape(pixels.shape)

    def moved_around(self, degrees: float) -> "Lens":
        """The same camera as far away, and as high, at another side of the table."""
        turn = turn_about_z(degrees)
        return replace(self, turn=self.turn @ turn.T, position=turn @ self.position)

    def model(self) -> CameraModel:
        """What a calibrated user would have."""
        (cx, cy), f = self.centre, self.focal_px
        matrix = np.array([[f, 0.0, cx], [0.0, f, cy], [0.0, 0.0, 1.0]])
        return CameraModel(self.width, self.height, matrix, np.array([self.k1, self.k2, 0.0, 0.0, 0.0]))


def typical_lens(rng: np.random.Generator, height: int = 720) -> Lens:
    """A webcam on the contract's typical rig: 0.65 to 0.77 m away, looking 24 to 36 degrees down."""
    width = height * 16 // 9
    focal = width * rng.uniform(0.755, 0.78)
    centre = (width / 2 + rng.uniform(-6, 6), height / 2 + rng.uniform(-6, 6))
    down, away = math.radians(rng.uniform(24, 36)), rng.uniform(650, 770)
    yaw = math.radians(rng.uniform(-3, 3))
    aim = np.array([rng.uniform(-10, 10), rng.uniform(-10, 25), 60.0])
    forward = np.array([math.sin(yaw) * math.cos(down), math.cos(yaw) * math.cos(down), -math.sin(down)])
    turn = turn_about_z(rng.uniform(-1.5, 1.5)) @ look_at_rotation(forward)
    return Lens(
        width,
        height,
        float(focal),
        (float(centre[0]), float(centre[1])),
        float(rng.uniform(-0.06, 0.02)),
        float(rng.uniform(0.0, 0.02)),
        turn,
        aim - forward * away,
    )


def look_at_rotation(forward: np.ndarray) -> np.ndarray:
    """(3, 3): table directions to those of a camera that is not rolled and looks along the unit vector ``forward``."""
    right = np.array([forward[1], -forward[0], 0.0])
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(forward, right), forward])
