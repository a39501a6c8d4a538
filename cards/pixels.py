"""A scene as pixels, painted by OpenCV."""

from __future__ import annotations

import cv2
import numpy as np

from cards.scene import Patch, Scene

OVERSAMPLING = 3


def render(scene: Scene, px: int) -> np.ndarray:
    """The scene ``px`` pixels wide, (h, w, 3) uint8 BGR, anti-aliased by oversampling."""
    height = max(1, round(scene.height * px / scene.width))
    scale = px * OVERSAMPLING / scene.width
    large = np.full((height * OVERSAMPLING, px * OVERSAMPLING, 3), scene.paper[::-1], np.uint8)
    for p in scene.patches:
        _paint(large, p, scale, scene.height)
    return cv2.resize(large, (px, height), interpolation=cv2.INTER_AREA)


def _paint(image: np.ndarray, p: Patch, scale: float, height_mm: float) -> None:
    """Fill and stroke one patch; fixed-point coordinates with 4 fractional bits, pixel centres at n + 0.5."""
    shift = 4
    points = [np.array([(x, height_mm - y) for x, y in c]) * scale - 0.5 for c in p.contours]
    contours = [np.round(xy * 2**shift).astype(np.int32) for xy in points]
    if p.fill:
        cv2.fillPoly(image, contours, p.fill[::-1], cv2.LINE_8, shift)
    if p.line and p.line_mm:
        thickness = max(1, round(p.line_mm * scale))
        cv2.polylines(image, contours, True, p.line[::-1], thickness, cv2.LINE_8, shift)
