"""What is printed or woven: the mats, the decoy card, table tops, shirts and wood grain, as sRGB pictures."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np

SHEET_MM, PX_PER_MM = (297, 210), 6
MARKER_MM, CENTRES_MM = 44, ((-121, -77.5), (121, -77.5), (121, 77.5), (-121, 77.5))
FIELD_MM = (95, 50)
GREY, INK, PAPER = 150, 26, 238
CARD_MM = (63, 88)


def _dictionary() -> cv2.aruco.Dictionary:
    return cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)


def mat_picture(zone: int, line_px: int = 4) -> np.ndarray:
    """The printed sheet of CONTRACT.md as the player reads it, (1260, 1782, 3) uint8 BGR."""
    wide, high = SHEET_MM[0] * PX_PER_MM, SHEET_MM[1] * PX_PER_MM
    sheet = np.full((high, wide), PAPER, np.uint8)

    def pixel(x: float, y: float) -> tuple[int, int]:
        return round((x + SHEET_MM[0] / 2) * PX_PER_MM), round((SHEET_MM[1] / 2 - y) * PX_PER_MM)

    a, b = FIELD_MM
    cv2.rectangle(sheet, pixel(-a, b), pixel(a, -b), GREY, line_px)
    cv2.line(sheet, pixel(-a, 0), pixel(a, 0), GREY, line_px)
    side = MARKER_MM * PX_PER_MM
    for k, (x, y) in enumerate(CENTRES_MM):
        left, top = pixel(x - MARKER_MM / 2, y + MARKER_MM / 2)
        marker = cv2.aruco.generateImageMarker(_dictionary(), 4 * zone + k, side, borderBits=1)
        sheet[top : top + side, left : left + side] = np.where(marker > 0, PAPER, INK)
    return cv2.cvtColor(sheet, cv2.COLOR_GRAY2BGR)


def card_picture(marker: int, colours_bgr: list, rng: np.random.Generator) -> np.ndarray:
    """A card face: its marker in the top margin and some coloured blocks, (880, 630, 3) uint8 BGR."""
    face = np.full((CARD_MM[1] * 10, CARD_MM[0] * 10, 3), 240, np.uint8)
    code = cv2.aruco.generateImageMarker(_dictionary(), marker, 180, borderBits=1)
    face[40:220, 225:405] = np.where(code > 0, 240, 25)[..., None]
    low = 800
    for _ in range(int(rng.integers(3, 6))):
        wide, high = int(rng.integers(90, 260)), int(rng.integers(60, 130))
        left = int(np.clip(315 + rng.normal(0, 60) - wide / 2, 30, 600 - wide))
        colour = colours_bgr[int(rng.integers(len(colours_bgr)))]
        cv2.rectangle(face, (left, low - high), (left + wide, low), [int(c) for c in colour], -1)
        low -= high
        if low < 380:
            break
    cv2.putText(face, str(int(rng.integers(1, 5))), (540, 110), cv2.FONT_HERSHEY_SIMPLEX, 3, (40, 30, 200), 9)
    return face


def smooth_noise(shape: tuple[int, int], scale_px: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
    """Noise (h, w) of mean 0 and deviation 1 with features of ``scale_px`` (x, y), tiling."""
    white = rng.normal(size=shape)
    fy, fx = np.fft.fftfreq(shape[0]), np.fft.fftfreq(shape[1])
    low = np.exp(-2 * np.pi**2 * ((fx[None] * scale_px[0]) ** 2 + (fy[:, None] * scale_px[1]) ** 2))
    soft = np.fft.ifft2(np.fft.fft2(white) * low).real
    return (soft - soft.mean()) / soft.std()


def _tinted(base_bgr: np.ndarray, tint: np.ndarray) -> np.ndarray:
    return np.clip(np.asarray(base_bgr, float) * (1 + tint[..., None]), 0, 255).astype(np.uint8)


def grain_picture(base_bgr: np.ndarray, strength: float, rng: np.random.Generator, size: int = 256) -> np.ndarray:
    """Wood grain along x over one colour: painted wood at strength 0.03, natural at 0.12."""
    lines = smooth_noise((size, size), (60, 1.2), rng) + 0.6 * smooth_noise((size, size), (90, 5), rng)
    return _tinted(base_bgr, strength * lines + 0.3 * strength * rng.normal(size=(size, size)))


def planks_picture(base_bgr: np.ndarray, rng: np.random.Generator, size: int = 1024, planks: int = 6) -> np.ndarray:
    """A wooden table top: planks with grain, each of its own shade."""
    whole = np.zeros((size, size, 3), np.uint8)
    edges = np.linspace(0, size, planks + 1).astype(int)
    for low, high in pairwise(edges):
        board = grain_picture(np.asarray(base_bgr) * rng.uniform(0.85, 1.1), 0.13, rng, size)[: high - low]
        board[:2] = board[:2] * 0.45
        whole[low:high] = board
    return whole


def cloth_picture(base_bgr: np.ndarray, rng: np.random.Generator, size: int = 512) -> np.ndarray:
    """Woven cloth or a matt laminate: a fine weave and large soft stains."""
    weave = smooth_noise((size, size), (3, 0.7), rng) + smooth_noise((size, size), (0.7, 3), rng)
    return _tinted(base_bgr, 0.035 * weave + 0.03 * smooth_noise((size, size), (60, 60), rng))


def checked_picture(one_bgr: np.ndarray, other_bgr: np.ndarray, squares: int = 8, size: int = 512) -> np.ndarray:
    """A gingham cloth or shirt: stripes both ways, darker where they cross."""
    stripe = (np.arange(size) * squares // size % 2).astype(float)
    share = (stripe[:, None] + stripe[None]) / 2
    mixed = np.asarray(one_bgr) * (1 - share[..., None]) + np.asarray(other_bgr) * share[..., None]
    return mixed.astype(np.uint8)


def striped_picture(one_bgr: np.ndarray, other_bgr: np.ndarray, stripes: int = 9, size: int = 512) -> np.ndarray:
    """A sailor's shirt: stripes along x."""
    stripe = (np.arange(size) * 2 * stripes // size % 2)[:, None, None]
    return np.broadcast_to(np.where(stripe, one_bgr, other_bgr), (size, size, 3)).astype(np.uint8)


def worn_picture(paint: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Paint with patches where it is gone and the wood shows, ragged at their rims, (h, w, 3) uint8 BGR, tiling."""
    wood = grain_picture(np.array((140, 185, 214.0)) * rng.uniform(0.75, 1.05), 0.08, rng, len(paint))
    shape = paint.shape[:2]
    patches = smooth_noise(shape, (22, 16), rng) + 0.45 * smooth_noise(shape, (5, 4), rng)
    bare = patches > np.quantile(patches, 1 - share)
    rim = cv2.GaussianBlur(bare.astype(np.float32), (0, 0), 0.8)[..., None]
    return np.clip(paint * (1 - rim) + wood * rim, 0, 255).astype(np.uint8)
