"""The faces of solids drawn by z-buffer. Faces are planar polygons, not necessarily convex."""

import cython
import numpy as np
from cython.cimports.libc.math import ceil, cos, floor, sin

CORNERS = cython.declare(cython.int, 64)
"""No face has more corners that are drawn."""
BEYOND_PICTURE_PX = cython.declare(cython.double, 1e9)
"""Beyond any picture, px."""
EDGE_ON_MM2 = cython.declare(cython.double, 1e-9)
"""A face turned no further towards the camera than this, mm2, shows its edge at most."""


def cross(points, count, y, out):
    """Write where a polygon's outline crosses a row, from left to right; how often it does."""
    n: cython.int = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        ya, yb = points[i, 1], points[j, 1]
        above: cython.bint = ya <= y
        above_next: cython.bint = yb <= y
        if above != above_next:
            at = points[i, 0] + (y - ya) / (yb - ya) * (points[j, 0] - points[i, 0])
            k = n
            while k > 0 and out[k - 1] > at:
                out[k] = out[k - 1]
                k -= 1
            out[k] = at
            n += 1
    return n


def fill(points, count, plane, tag, inverse_depth, tags):
    """Fill one polygon, (count, 2) px in ``points``, where it is nearer than what is there.

    1/depth is linear in pixels: ``plane`` (3,) . (x, y, 1) is the inverse depth.
    """
    crossings: cython.double[64]
    low: cython.double = BEYOND_PICTURE_PX
    high: cython.double = -BEYOND_PICTURE_PX
    for i in range(count):
        low, high = min(low, points[i, 1]), max(high, points[i, 1])
    top: cython.int = max(0, cython.cast(cython.int, ceil(low)))
    bottom: cython.int = min(tags.shape[0] - 1, cython.cast(cython.int, floor(high)))
    for y in range(top, bottom + 1):
        n = cross(points, count, y, crossings)
        for i in range(0, n - 1, 2):
            left: cython.int = max(0, cython.cast(cython.int, ceil(crossings[i])))
            right: cython.int = min(tags.shape[1] - 1, cython.cast(cython.int, floor(crossings[i + 1])))
            for x in range(left, right + 1):
                near = plane[0] * x + plane[1] * y + plane[2]
                if near > inverse_depth[y, x]:
                    inverse_depth[y, x], tags[y, x] = near, tag


def draw_solid(solid, place, camera, matrix, buffer, tag: cython.int, faces_apart: cython.int):
    """Draw a solid at a ``place`` (x, y, z, yaw in radians) into the buffer.

    ``camera`` (3, 4): mat mm -> camera mm; ``matrix`` (3, 3) pinhole of the picture. The buffer's tags take
    ``tag`` or, where faces are told apart, ``tag * faces_apart + face``. Faces turned away are not drawn.
    """
    yaw: cython.double = place[3]
    c, s = cos(yaw), sin(yaw)
    turn = np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])
    cam: cython.double[:, ::1] = (solid.points @ turn.T + np.array(place[:3])) @ camera[:, :3].T + camera[:, 3]
    normals: cython.double[:, ::1] = solid.normals @ turn.T @ camera[:, :3].T
    faces: cython.longlong[::1] = solid.faces.astype(np.longlong, copy=False)
    inverse_depth: cython.float[:, ::1] = buffer.inverse_depth
    tags: cython.int[:, ::1] = buffer.tags
    pixels: cython.double[:, ::1] = np.empty((CORNERS, 2))
    fx: cython.double = matrix[0, 0]
    fy: cython.double = matrix[1, 1]
    cx: cython.double = matrix[0, 2]
    cy: cython.double = matrix[1, 2]
    plane: cython.double[3]
    with cython.nogil:
        for f in range(normals.shape[0]):
            a, gx, gy, gz = faces[f], normals[f, 0], normals[f, 1], normals[f, 2]
            away = gx * cam[a, 0] + gy * cam[a, 1] + gz * cam[a, 2]
            if away >= -EDGE_ON_MM2:
                continue
            count: cython.int = min(faces[f + 1] - a, CORNERS)
            for i in range(count):
                pixels[i, 0] = fx * cam[a + i, 0] / cam[a + i, 2] + cx
                pixels[i, 1] = fy * cam[a + i, 1] / cam[a + i, 2] + cy
            plane[0], plane[1] = gx / fx / away, gy / fy / away
            plane[2] = (gz - gx * cx / fx - gy * cy / fy) / away
            fill(pixels, count, plane, tag * faces_apart + f if faces_apart else tag, inverse_depth, tags)
