"""A simulated webcam: linear light from an ideal pinhole in, an 8-bit picture as a cheap camera gives it out."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

BORDER = 1.09
"""The ideal picture is this much wider and higher than the sensor, so that the lens may bend it."""


@dataclass(frozen=True)
class Webcam:
    """Sensor, lens and habits. ``focal_px`` and the centre as in camera.yaml, ``k1``, ``k2`` its distortion.

    ``exposure`` 1 puts paper at three quarters of white; ``white_balance`` 1 takes a cast away wholly.
    ``noise`` is the deviation in a dark grey, of 255.
    """

    width: int = 1280
    height: int = 720
    focal_px: float = 960.0
    centre: tuple[float, float] = (642.0, 357.0)
    k1: float = -0.05
    k2: float = 0.02
    exposure: float = 1.0
    white_balance: float = 0.85
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)
    vignette: float = 0.25
    noise: float = 1.8
    blur_px: float = 0.6
    sharpen: float = 0.35
    saturation: float = 1.1
    quality: int = 85

    @property
    def matrix(self) -> np.ndarray:
        """The pinhole matrix (3, 3) of camera.yaml."""
        return np.array([[self.focal_px, 0, self.centre[0]], [0, self.focal_px * 0.9992, self.centre[1]], [0, 0, 1.0]])

    @property
    def distortion(self) -> np.ndarray:
        """k1 k2 p1 p2 k3."""
        return np.array([self.k1, self.k2, 0.0, 0.0, 0.0])

    @property
    def ideal_size(self) -> tuple[int, int]:
        """Width and height of the ideal picture that ``take`` wants; its focal length is ``focal_px``."""
        return round(self.width * BORDER), round(self.height * BORDER)

    def project(self, points: np.ndarray, turn: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Pixels (n, 2) of world points (n, 3), given the world-to-camera turn (3, 3) and shift (3,)."""
        return cv2.projectPoints(points, cv2.Rodrigues(turn)[0], shift, self.matrix, self.distortion)[0][:, 0]


def take(ideal: np.ndarray, cam: Webcam, paper: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The picture (h, w, 3) uint8 BGR of linear RGB light; ``paper`` (3,) is the light white paper sends."""
    light = _through_lens(ideal, cam)
    light = _balanced(light, cam, paper, rng) * _vignette(cam)[..., None]
    light = cv2.GaussianBlur(light, (0, 0), cam.blur_px)
    light = np.maximum(light + _noise(light, cam, rng), 0.0)
    tone = _tone(_saturated(light, cam.saturation))
    soft = cv2.GaussianBlur(tone, (0, 0), 1.4)
    tone = np.clip(tone + cam.sharpen * (tone - soft), 0, 1)
    return np.round(tone[..., ::-1] * 255).astype(np.uint8)


def encoded(picture: np.ndarray, quality: int) -> bytes:
    """The picture as JPEG."""
    return cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def _through_lens(ideal: np.ndarray, cam: Webcam) -> np.ndarray:
    grid = np.stack(np.meshgrid(np.arange(cam.width), np.arange(cam.height)), -1).reshape(-1, 1, 2).astype(float)
    rays = cv2.undistortPoints(grid, cam.matrix, cam.distortion).reshape(cam.height, cam.width, 2)
    high, wide = ideal.shape[:2]
    where = (rays * cam.focal_px + ((wide - 1) / 2, (high - 1) / 2)).astype(np.float32)
    return cv2.remap(ideal.astype(np.float32), where, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)


def _balanced(light: np.ndarray, cam: Webcam, paper: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Exposed for the paper, with what the automatic white balance leaves of the lamp's cast."""
    cast = paper / paper.mean()
    gains = cast**-cam.white_balance * np.array(cam.tint) * rng.normal(1, 0.006, 3)
    return light * (gains * 0.55 * cam.exposure * rng.normal(1, 0.015) / paper.mean()).astype(np.float32)


def _vignette(cam: Webcam) -> np.ndarray:
    y, x = np.mgrid[: cam.height, : cam.width].astype(np.float32)
    r2 = ((x - cam.width / 2) ** 2 + (y - cam.height / 2) ** 2) / (cam.width**2 + cam.height**2) * 4
    return 1 - cam.vignette * r2


def _noise(light: np.ndarray, cam: Webcam, rng: np.random.Generator) -> np.ndarray:
    """Shot and read noise, spread over neighbours as a mosaic sensor's interpolation does."""
    raw = rng.normal(size=light.shape).astype(np.float32)
    grain = cv2.GaussianBlur(raw, (0, 0), 0.7) * 2.4
    return grain * cam.noise / 255 * np.sqrt(0.01 + 0.25 * np.maximum(light, 0)) / 1.2


def _saturated(light: np.ndarray, by: float) -> np.ndarray:
    grey = light @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    return np.maximum(grey[..., None] + by * (light - grey[..., None]), 0.0)


def _tone(light: np.ndarray) -> np.ndarray:
    """sRGB's curve with a soft shoulder above 0.8, as webcams have; (h, w, 3) in 0..1."""
    over = np.maximum(light - 0.8, 0.0)
    soft = np.where(light > 0.8, 0.8 + 0.2 * (1 - np.exp(-over / 0.2)), light)
    curve = np.where(soft < 0.0031308, 12.92 * soft, 1.055 * np.maximum(soft, 0.0031308) ** (1 / 2.4) - 0.055)
    return np.clip(curve * 1.004, 0, 1)
