"""A small compiled z-buffer rasteriser: triangles with light and shadow, four samples a pixel.

``shade`` fills the sample buffers, ``compose`` averages them over the background. Light-space depth
(``light_depth``) tells which samples the lamp sees.
"""

from __future__ import annotations

import numpy as np

from referee.vision.search.jit import inner, plain
from referee.vision.ways_in import WayIn, way_in

SAMPLES = 2
"""Samples per pixel along each side."""

FAR = np.float32(0.0)
"""An empty sample's 1/depth."""


@inner
def _span(x0, y0, x1, y1, x2, y2, row):
    """First and last column between the triangle's edges on a row, a column too many at either end."""
    low, high = 1e9, -1e9
    for xa, ya, xb, yb in ((x0, y0, x1, y1), (x1, y1, x2, y2), (x2, y2, x0, y0)):
        if (ya <= row) != (yb <= row) or ya == row:
            x = xa if ya == yb else xa + (row - ya) * (xb - xa) / (yb - ya)
            low, high = min(low, x), max(high, x)
    return int(np.floor(low)), int(np.ceil(high))


@plain
def light_depth(triangles, depth):
    """Fill ``depth`` (h, w) float32 with the greatest third coordinate of ``triangles`` (n, 3, 3)."""
    high, wide = depth.shape
    for n in range(triangles.shape[0]):
        x0, y0, z0 = triangles[n, 0]
        x1, y1, z1 = triangles[n, 1]
        x2, y2, z2 = triangles[n, 2]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if abs(area) < 1e-9:
            continue
        top, bottom = max(0, int(np.ceil(min(y0, y1, y2)))), min(high - 1, int(np.floor(max(y0, y1, y2))))
        for i in range(top, bottom + 1):
            left, right = _span(x0, y0, x1, y1, x2, y2, i)
            for j in range(max(0, left), min(wide - 1, right) + 1):
                a = ((x1 - j) * (y2 - i) - (x2 - j) * (y1 - i)) / area
                b = ((x2 - j) * (y0 - i) - (x0 - j) * (y2 - i)) / area
                c = 1.0 - a - b
                if a >= -0.02 and b >= -0.02 and c >= -0.02:
                    depth[i, j] = max(depth[i, j], a * z0 + b * z1 + c * z2)


@inner
def _lit(depth, x, y, z, slack):
    """Share of the light that reaches a point, from four cells of the light's depth."""
    high, wide = depth.shape
    j, i = int(np.floor(x)), int(np.floor(y))
    if i < 0 or j < 0 or i + 1 >= high or j + 1 >= wide:
        return 1.0
    fx, fy = x - j, y - i
    total = 0.0
    if depth[i, j] <= z + slack:
        total += (1 - fx) * (1 - fy)
    if depth[i, j + 1] <= z + slack:
        total += fx * (1 - fy)
    if depth[i + 1, j] <= z + slack:
        total += (1 - fx) * fy
    if depth[i + 1, j + 1] <= z + slack:
        total += fx * fy
    return total


@plain
def shade(screen, values, albedo, depth, slack, tone, near, color):
    """Draw triangles whose corners run counter-clockwise as seen from outside into the sample buffers.

    screen (n, 3, 3): x, y in samples and 1/depth; values (n, 3, 6): light-space x, y, z, ambient, direct,
    gloss at each corner; albedo (n, 3) linear BGR; depth: see ``light_depth``; tone: 1024 uint8 from linear
    0..1; near (H, W) float32 1/depth and color (H, W, 3) uint8 are filled.
    """
    high, wide = near.shape
    v = np.empty(6, np.float32)
    for n in range(screen.shape[0]):
        x0, y0, w0 = screen[n, 0]
        x1, y1, w1 = screen[n, 1]
        x2, y2, w2 = screen[n, 2]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area > -1e-6:
            continue
        top, bottom = max(0, int(np.ceil(min(y0, y1, y2)))), min(high - 1, int(np.floor(max(y0, y1, y2))))
        for i in range(top, bottom + 1):
            left, right = _span(x0, y0, x1, y1, x2, y2, i)
            for j in range(max(0, left), min(wide - 1, right) + 1):
                a = ((x1 - j) * (y2 - i) - (x2 - j) * (y1 - i)) / area
                b = ((x2 - j) * (y0 - i) - (x0 - j) * (y2 - i)) / area
                c = 1.0 - a - b
                if a < 0 or b < 0 or c < 0:
                    continue
                w = a * w0 + b * w1 + c * w2
                if w <= near[i, j]:
                    continue
                near[i, j] = w
                for k in range(6):
                    v[k] = (a * w0 * values[n, 0, k] + b * w1 * values[n, 1, k] + c * w2 * values[n, 2, k]) / w
                seen = 0.0
                if v[4] > 0.0:
                    seen = _lit(depth, v[0], v[1], v[2], slack)
                for k in range(3):
                    light = albedo[n, k] * (v[3] + seen * v[4]) + seen * v[5]
                    color[i, j, k] = tone[min(1023, max(0, int(light * 1023.0)))]


@plain
def compose(picture, near, color, top, bottom, left, right):
    """Average the samples into ``picture`` (h, w, 3) uint8 in these rows and columns; empty them."""
    for i in range(top, bottom):
        for j in range(left, right):
            full, b, g, r = 0, 0, 0, 0
            for y in range(2 * i, 2 * i + 2):
                for x in range(2 * j, 2 * j + 2):
                    if near[y, x] > 0.0:
                        full += 1
                        b += color[y, x, 0]
                        g += color[y, x, 1]
                        r += color[y, x, 2]
                        near[y, x] = 0.0
            if full:
                bare = 4 - full
                picture[i, j, 0] = (b + bare * picture[i, j, 0] + 2) // 4
                picture[i, j, 1] = (g + bare * picture[i, j, 1] + 2) // 4
                picture[i, j, 2] = (r + bare * picture[i, j, 2] + 2) // 4


def ways_in() -> list[WayIn]:
    """What is compiled ahead to draw the simulated table."""
    triangles, depth = np.zeros((2, 3, 3), np.float32), np.zeros((2, 2), np.float32)
    picture, slack = np.zeros((2, 2, 3), np.uint8), 0.0
    values, albedo = np.zeros((2, 3, 6), np.float32), np.zeros((2, 3), np.float32)
    at = np.int64(0)
    return [
        way_in(light_depth, triangles, depth),
        way_in(shade, triangles, values, albedo, depth, slack, np.zeros(1024, np.uint8), depth, picture),
        way_in(compose, picture, depth, picture, at, at, at, at),
    ]
