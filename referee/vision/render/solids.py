"""Pieces as surfaces: the faces of every posed shape, and their picture by z-buffer.

Compiled with numba: a build of ten pieces is drawn in well under a millisecond, so that the
search can afford to draw every reading it considers.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cards.pieces import Pose, Shape
from referee.vision.search.jit import inner, plain

ROUND_STEPS = 20
"""Facets of a full circle in a drawn cylinder: 0.2 mm from round for a 30 mm piece."""

PLAIN_CORNERS, ARC_STEP = 8, 1.5
"""An outline of no more corners has no arc; in one that has, steps up to so many times the usual one are of an arc."""

FACES = 64
"""More than any drawn solid has faces, and any of its faces corners."""

EVERYTHING, NOTHING = 1e9, 1e-9
"""Beyond any picture, px; and a face turned no further towards the camera than this, mm2, shows its edge at most."""


class Solid(NamedTuple):
    """Faces of a posed shape about its centre, before yaw.

    ``points`` (p, 3) mm; ``faces`` (f + 1,) offsets into points; ``normals`` (f, 3) outward.
    Faces are planar polygons, not necessarily convex.
    """

    points: np.ndarray
    faces: np.ndarray
    normals: np.ndarray


@lru_cache(maxsize=4096)
def solid(shape: Shape, pose: Pose) -> Solid:
    """The faces of a shape in a pose."""
    outline = _round_outline(shape) if shape.kind == "cylinder" else _coarse_outline(shape, pose.rotation)
    depth = shape.height if shape.kind == "cylinder" else shape.depth
    polygons, normals = _extruded(outline, depth)
    if shape.kind == "cylinder":
        # The disc lies in (u, v); stand it along the axis the pose gives it.
        order = {"z": (0, 1, 2), "x": (2, 0, 1), "y": (1, 2, 0)}[shape.axis(pose)]
    else:
        order = {"front": (0, 2, 1), "side": (2, 0, 1), "top": (0, 1, 2)}[pose.facing]
    points = np.concatenate(polygons)[:, order]
    offsets = np.cumsum([0, *map(len, polygons)]).astype(np.int64)
    return Solid(np.ascontiguousarray(points), offsets, np.ascontiguousarray(np.array(normals)[:, order]))


def _round_outline(shape: Shape) -> np.ndarray:
    t = np.arange(ROUND_STEPS) * 2 * math.pi / ROUND_STEPS
    return np.stack([np.cos(t), np.sin(t)], 1) * shape.width / 2


def _coarse_outline(shape: Shape, rotation: float) -> np.ndarray:
    """The turned outline with its arcs thinned to about ROUND_STEPS facets a circle."""
    outline = shape.turned_outline(rotation)
    if len(outline) <= PLAIN_CORNERS:
        return outline
    steps = np.linalg.norm(np.roll(outline, -1, 0) - outline, axis=1)
    short = np.median(steps) * ARC_STEP
    keep, run = [], 0
    for i in range(len(outline)):
        corner = steps[i] > short or steps[i - 1] > short
        run = 0 if corner else run + 1
        if corner or run % 2 == 0:
            keep.append(i)
    return outline[keep]


def _extruded(outline: np.ndarray, depth: float) -> tuple[list[np.ndarray], list[tuple]]:
    """Polygons (n, 3) in (u, w, d) with outward normals: both ends and a quad an edge."""
    d = depth / 2
    n = len(outline)
    polygons = [np.c_[outline, np.full(n, d)], np.c_[outline[::-1], np.full(n, -d)]]
    normals: list[tuple] = [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    for i in range(n):
        a, b = outline[i], outline[(i + 1) % n]
        along = b - a
        length = math.hypot(*along)
        polygons.append(np.array([(*a, -d), (*b, -d), (*b, d), (*a, d)]))
        normals.append((along[1] / length, -along[0] / length, 0.0))
    return polygons, normals


class ZBuffer(NamedTuple):
    """``inverse_depth`` (h, w) float32 of what is nearest, and its ``tags`` (h, w) int32, -1 where nothing is."""

    inverse_depth: np.ndarray
    tags: np.ndarray


def z_buffer(shape: tuple[int, int]) -> ZBuffer:
    """An empty buffer of (h, w) pixels."""
    return ZBuffer(np.zeros(shape, np.float32), np.full(shape, -1, np.int32))


@inner
def _draw_polygon(points, count, plane, tag, buffer):
    """Fill one polygon, (count, 2) px in ``points``, where it is nearer than what is there.

    1/depth is linear in pixels: ``plane`` (3,) . (x, y, 1) is the inverse depth.
    """
    inverse_depth, tags = buffer.inverse_depth, buffer.tags
    height, width = tags.shape
    low, high = EVERYTHING, -EVERYTHING
    for i in range(count):
        low = min(low, points[i, 1])
        high = max(high, points[i, 1])
    crossings = np.empty(FACES)
    for y in range(max(0, int(math.ceil(low))), min(height - 1, int(math.floor(high))) + 1):
        n = 0
        for i in range(count):
            j = i + 1 if i + 1 < count else 0
            ya, yb = points[i, 1], points[j, 1]
            if (ya <= y) != (yb <= y) and n < FACES:
                crossings[n] = points[i, 0] + (y - ya) / (yb - ya) * (points[j, 0] - points[i, 0])
                n += 1
        for i in range(1, n):
            v = crossings[i]
            k = i - 1
            while k >= 0 and crossings[k] > v:
                crossings[k + 1] = crossings[k]
                k -= 1
            crossings[k + 1] = v
        for i in range(0, n - 1, 2):
            for x in range(max(0, int(math.ceil(crossings[i]))), min(width - 1, int(math.floor(crossings[i + 1]))) + 1):
                near = plane[0] * x + plane[1] * y + plane[2]
                if near > inverse_depth[y, x]:
                    inverse_depth[y, x] = near
                    tags[y, x] = tag


@plain
def draw_solid(solid, place, camera, matrix, buffer, tag, by_face):
    """Draw a solid at a ``place`` (x, y, z, yaw in radians) into the buffer.

    ``camera`` (3, 4): mat mm -> camera mm; ``matrix`` (3, 3) pinhole of the picture. The buffer's tags take
    ``tag`` or, when ``by_face``, ``tag * FACES + face``. Faces turned away are not drawn.
    """
    points, faces, normals = solid.points, solid.faces, solid.normals
    x, y, z, yaw = place
    c, s = math.cos(yaw), math.sin(yaw)
    n = points.shape[0]
    cam = np.empty((n, 3))
    for i in range(n):
        px = c * points[i, 0] - s * points[i, 1] + x
        py = s * points[i, 0] + c * points[i, 1] + y
        pz = points[i, 2] + z
        for k in range(3):
            cam[i, k] = camera[k, 0] * px + camera[k, 1] * py + camera[k, 2] * pz + camera[k, 3]
    pixels = np.empty((FACES, 2))
    plane = np.empty(3)
    for f in range(normals.shape[0]):
        nx = c * normals[f, 0] - s * normals[f, 1]
        ny = s * normals[f, 0] + c * normals[f, 1]
        nz = normals[f, 2]
        a = faces[f]
        gx = camera[0, 0] * nx + camera[0, 1] * ny + camera[0, 2] * nz
        gy = camera[1, 0] * nx + camera[1, 1] * ny + camera[1, 2] * nz
        gz = camera[2, 0] * nx + camera[2, 1] * ny + camera[2, 2] * nz
        away = gx * cam[a, 0] + gy * cam[a, 1] + gz * cam[a, 2]
        if away >= -NOTHING:
            continue
        count = min(faces[f + 1] - a, FACES)
        for i in range(count):
            w = cam[a + i, 2]
            pixels[i, 0] = matrix[0, 0] * cam[a + i, 0] / w + matrix[0, 2]
            pixels[i, 1] = matrix[1, 1] * cam[a + i, 1] / w + matrix[1, 2]
        plane[0] = gx / matrix[0, 0] / away
        plane[1] = gy / matrix[1, 1] / away
        plane[2] = (gz - gx * matrix[0, 2] / matrix[0, 0] - gy * matrix[1, 2] / matrix[1, 1]) / away
        _draw_polygon(pixels, count, plane, tag * FACES + f if by_face else tag, buffer)
