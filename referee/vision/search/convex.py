"""Pieces as convex parts, for drawing them quickly: an arch is a row of small prisms.

A convex part hides exactly what lies behind the furthest of its planes that face the camera, and
covers one run of pixels in each row. That makes drawing cheap enough to draw every reading.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cards.pieces import Pose, Shape
from referee.vision.measured import measured

HALF_CIRCLE = measured(8, "steps of a half circle", "0.3 mm from round for a 60 mm arch; climbs find turns between")
ROUGH_ARC_STEPS = HALF_CIRCLE // 2
"""For searching: 1.2 mm from round for a 60 mm arch."""


@dataclass(frozen=True)
class Part:
    """A convex solid about the piece's centre: ``points`` (p, 3) mm; ``normals`` (f, 3) outward and
    ``on_face`` (f,) a point of each face; ``edges`` (e, 4): from a point to a point, counter-clockwise round
    a face (seen from outside), and clockwise round another.
    """

    points: np.ndarray
    normals: np.ndarray
    on_face: np.ndarray
    edges: np.ndarray


@lru_cache(maxsize=4096)
def parts(shape: Shape, pose: Pose, arc: int = HALF_CIRCLE) -> tuple[Part, ...]:
    """The convex parts of a posed shape; ``arc`` straight pieces make a half circle."""
    if shape.kind == "cylinder":
        order = {"z": (0, 1, 2), "x": (2, 0, 1), "y": (1, 2, 0)}[shape.axis(pose)]
        return (_prism(_circle(2 * arc) * shape.width / 2, shape.height, order),)
    order = {"front": (0, 2, 1), "side": (2, 0, 1), "top": (0, 1, 2)}[pose.facing]
    a = math.radians(pose.rotation)
    turn = np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
    outline = shape.outline @ turn
    middle = (outline.min(0) + outline.max(0)) / 2
    return tuple(_prism(polygon @ turn - middle, shape.depth, order) for polygon in _polygons(shape, arc))


def _rounder(n: int) -> float:
    """By how much the corners of n straight pieces of a half circle lie outside it to keep its area."""
    return math.sqrt(math.pi / n / math.sin(math.pi / n))


def _circle(n: int) -> np.ndarray:
    t = 2 * math.pi * np.arange(n) / n
    return np.stack([np.cos(t), np.sin(t)], 1) * _rounder(n // 2)


def _arc(n: int) -> np.ndarray:
    """Points (n + 1, 2) of the upper half of the unit circle, the inner ones a little outside it."""
    t = math.pi * np.arange(n + 1) / n
    points = np.stack([np.cos(t), np.sin(t)], 1)
    points[1:-1] *= _rounder(n)
    return points


def _polygons(shape: Shape, n: int) -> list[np.ndarray]:
    """Convex polygons (n, 2), counter-clockwise, that together are the shape's outline."""
    w, h, r = shape.width / 2, shape.height / 2, shape.opening / 2
    arc, foot = _arc(n), np.array([0.0, -h])
    if shape.kind == "half_disc":
        return [arc * (w, shape.height) + foot]
    if shape.kind == "crescent":
        outer, inner = arc * (w, shape.height) + foot, arc * r + foot
        return [np.array([inner[i], outer[i], outer[i + 1], inner[i + 1]]) for i in range(n)]
    if shape.kind == "bridge":
        inner = arc * r + foot
        over = [np.array([inner[i + 1], inner[i], (inner[i, 0], h), (inner[i + 1, 0], h)]) for i in range(1, n - 1)]
        right = np.array([inner[0], (w, -h), (w, h), (inner[1, 0], h), inner[1]])
        left = np.array([(-w, -h), inner[-1], inner[-2], (inner[-2, 0], h), (-w, h)])
        return [*over, left, right]
    return [shape.outline]


def _prism(polygon: np.ndarray, depth: float, order: tuple[int, int, int]) -> Part:
    """The polygon (n, 2) extruded by ``depth``; ``order`` takes (u, w, d) to (x, y, z)."""
    n, d = len(polygon), depth / 2
    points = np.concatenate([np.column_stack([polygon, np.full(n, side)]) for side in (d, -d)])
    along = np.roll(polygon, -1, 0) - polygon
    across = np.stack([along[:, 1], -along[:, 0]], 1) / np.hypot(*along.T)[:, None]
    normals = np.concatenate([[(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)], np.column_stack([across, np.zeros(n)])])
    on_face = np.array([0, n, *range(n)])
    edges = [
        e
        for i in range(n)
        for e in ((i, (i + 1) % n, 0, 2 + i), (n + (i + 1) % n, n + i, 1, 2 + i), (i, n + i, 2 + i, 2 + (i - 1) % n))
    ]
    if order == (0, 2, 1):  # a mirror image: what went round counter-clockwise goes clockwise
        edges = [(b, a, one, other) for a, b, one, other in edges]
    return Part(np.ascontiguousarray(points[:, order]), normals[:, order], on_face, np.array(edges))
