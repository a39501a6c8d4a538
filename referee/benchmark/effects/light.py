"""What lamps, lenses, sensors and codecs do to a picture: exposure, veil, glare, shadow, noise, blur, curves.

Light adds up and is scaled in linear light; a picture comes and goes as (h, w, 3) uint8 BGR in sRGB.
"""

import cv2
import numpy as np

from calibration.palette import LINEAR
from referee.benchmark.effects.scene import Inputs, Truth


def linear_light(image: np.ndarray) -> np.ndarray:
    """(h, w, 3) float32 light, 1 at full scale, of sRGB bytes."""
    return LINEAR[image]


def srgb_bytes(light: np.ndarray) -> np.ndarray:
    """sRGB bytes of light; what is beyond full scale is clipped."""
    return _TO_BYTES[(np.clip(light, 0.0, 1.0) * np.float32(SRGB_TABLE_STEPS) + np.float32(0.5)).astype(np.uint16)]


SRGB_TABLE_STEPS = 16384
"""Steps of light in the table of bytes: a quarter of the smallest step of sRGB."""


_LIGHT = np.arange(SRGB_TABLE_STEPS + 1) / SRGB_TABLE_STEPS
_CODE = np.where(_LIGHT <= 0.0031308, 12.92 * _LIGHT, 1.055 * np.power(_LIGHT, 1 / 2.4) - 0.055)
_TO_BYTES = (255.0 * _CODE + 0.5).astype(np.uint8)


def exposure(frame: np.ndarray, stops: float) -> np.ndarray:
    """The picture exposed so many stops more."""
    return srgb_bytes(linear_light(frame) * 2.0**stops)


def veil(frame: np.ndarray, strength: float) -> np.ndarray:
    """Stray light in the lens: so much of the whole picture's light over all of it, and its own neighbourhood's."""
    light = linear_light(frame)
    small = cv2.GaussianBlur(cv2.resize(light, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA), (0, 0), 12)
    near = cv2.resize(small, frame.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return srgb_bytes(light * (1 - strength / 2) + strength * (0.6 * near + 0.6 * light.mean((0, 1))))


def light_spot(shape: tuple[int, int], at: np.ndarray, size_px: tuple[float, float], turn_deg: float) -> np.ndarray:
    """(h, w) float32: an elliptic patch of light, 1 in its middle, with a bright core and a wide foot."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    u, v = (x - at[0]) * c + (y - at[1]) * s, (y - at[1]) * c - (x - at[0]) * s
    r = (u / size_px[0]) ** 2 + (v / size_px[1]) ** 2
    return (0.75 * np.exp(-0.5 * r) + 0.25 * np.exp(-0.5 * np.sqrt(r + 1e-6))).astype(np.float32)


def glare(frame: np.ndarray, at: np.ndarray, size_px: tuple[float, float], turn_deg: float, peak: float) -> np.ndarray:
    """A lamp's mirror image: light added in a spot, ``peak`` full scales in its middle, a little warm."""
    added = (
        peak * light_spot(frame.shape[:2], at, size_px, turn_deg)[..., None] * np.array([0.94, 0.99, 1.0], np.float32)
    )
    return srgb_bytes(linear_light(frame) + added)


def shadow(frame: np.ndarray, where: np.ndarray, depth: float) -> np.ndarray:
    """Where (h, w, 0..1) a shadow falls only the share ``depth`` of the light is left, a little bluer."""
    left = 1.0 - where[..., None] * (1.0 - depth * np.array([1.08, 1.0, 0.94], np.float32))
    return srgb_bytes(linear_light(frame) * left)


def shadow_edge(
    shape: tuple[int, int], at: np.ndarray, turn_deg: float, soft_px: float, over: np.ndarray
) -> np.ndarray:
    """(h, w) 0..1: what lies beyond a line through ``at``, with so wide a half-shadow, within ``over`` (h, w)."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    away = (x - at[0]) * np.cos(np.radians(turn_deg)) + (y - at[1]) * np.sin(np.radians(turn_deg))
    return over / (1.0 + np.exp(-np.clip(away / soft_px, -30, 30)))


def noise(frame: np.ndarray, sigma: float, rng: np.random.Generator) -> np.ndarray:
    """Grain of so many grey levels, stronger in the dark, some of it blotched in colour as webcams have it."""
    h, w = frame.shape[:2]
    dark = 1.3 - 0.6 * frame.astype(np.float32) / 255.0
    fine = rng.standard_normal((h, w, 3), np.float32) * 0.8
    blotch = cv2.resize(rng.standard_normal((h // 4 + 1, w // 4 + 1, 3), np.float32), (w, h))
    return np.clip(frame + sigma * dark * (fine + 0.8 * blotch) + 0.5, 0, 255).astype(np.uint8)


def blur(frame: np.ndarray, sigma_px: float) -> np.ndarray:
    """Out of focus."""
    return cv2.GaussianBlur(frame, (0, 0), sigma_px)


def motion(frame: np.ndarray, length_px: float, turn_deg: float) -> np.ndarray:
    """The camera moved along a line during the exposure; light is averaged, so highlights stay bright."""
    size = int(length_px) | 1
    kernel = np.zeros((size, size), np.float32)
    middle = (size - 1) / 2
    step = np.array([np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))]) * middle
    start, end = ([round(float(v)) for v in (middle, middle) + k * step] for k in (-1, 1))
    cv2.line(kernel, start, end, 1.0, 1, cv2.LINE_AA)
    return srgb_bytes(cv2.filter2D(linear_light(frame), -1, kernel / kernel.sum()))


def jpeg(frame: np.ndarray, quality: int) -> np.ndarray:
    """Through a JPEG of this quality."""
    _, data = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, int(quality)])
    read = cv2.imdecode(data, cv2.IMREAD_COLOR)
    assert read is not None  # it was encoded a line before
    return read


def white_balance(frame: np.ndarray, warmth: float) -> np.ndarray:
    """Red gained and blue lost by this share (below zero the other way): another white than while calibrating."""
    return srgb_bytes(linear_light(frame) * np.array([1.0 - warmth, 1.0, 1.0 + warmth], np.float32))


def hdr(frame: np.ndarray, strength: float) -> np.ndarray:
    """A phone's tone mapping: shadows lifted along a logarithm, local contrast raised; hue kept."""
    light = linear_light(frame)
    grey = light.mean(2) + 1e-4
    k = 1.0 + 14.0 * strength
    lifted = np.log1p(k * grey) / np.log1p(k)
    around = cv2.GaussianBlur(lifted, (0, 0), frame.shape[1] / 30)
    local = np.clip(lifted * np.power(np.maximum(lifted, 1e-3) / np.maximum(around, 1e-3), 0.25 * strength), 0, 1)
    return srgb_bytes(light * (local / grey)[..., None] ** (0.35 + 0.25 * strength))


def saturation(frame: np.ndarray, factor: float) -> np.ndarray:
    """Colour's distance from grey times a factor, in sRGB as cameras do it."""
    grey = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY).astype(np.float32)[..., None]
    return np.clip(grey + factor * (frame - grey) + 0.5, 0, 255).astype(np.uint8)


def gray(frame: np.ndarray) -> np.ndarray:
    """A camera without colour."""
    return cv2.cvtColor(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)


def paper_light(inputs: Inputs, truth: Truth) -> np.ndarray:
    """(3,) linear BGR light that white paper sends from the zone's sheet: what a drawn thing is lit by."""
    x, y = np.meshgrid(np.linspace(-80, 80, 9), [-70.0, 70.0])
    points = truth.pixels(np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], 1)).round().astype(int)
    h, w = inputs.frame.shape[:2]
    inside = [(u, v) for u, v in points if 0 <= u < w and 0 <= v < h]
    seen = linear_light(np.array([inputs.frame[v, u] for u, v in inside] or [(200, 200, 200)], np.uint8))
    return np.maximum(np.percentile(seen, 75, axis=0), 0.05)
