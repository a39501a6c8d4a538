"""Where the parts of a piece are in the picture: rows, runs of columns, and the planes of what faces the camera.

Kernels that become part of ``rasterizer``'s; see there. A part is convex: its corners, its faces' outward normals and
one corner on each, and its edges with the two faces beside them are those of the catalogue's arrays.
"""

from __future__ import annotations

import math

import numpy as np

from referee.vision.search.jit import inlined


@inlined
def _axis(camera, k, c, s):
    """An axis of the camera (of its x, y, z) in the frame of a piece turned by (cos, sin)."""
    return c * camera[k, 0] + s * camera[k, 1], c * camera[k, 1] - s * camera[k, 0], camera[k, 2]


@inlined
def _at(camera, k, piece):
    """Where a piece's middle is along an axis of the camera."""
    return camera[k, 0] * piece[1] + camera[k, 1] * piece[2] + camera[k, 2] * piece[3] + camera[k, 3]


@inlined
def _project(cat, part, piece, c, s, scene):
    """Corners of a part into ``maps.points``: camera x, y, z, then pixel x, y. Returns their rows (low, high)."""
    camera, matrix, points = scene.camera, scene.matrix, scene.maps.points
    fx, fy, cx, cy = matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]
    (ux, uy, uz), u0 = _axis(camera, 0, c, s), _at(camera, 0, piece)
    (vx, vy, vz), v0 = _axis(camera, 1, c, s), _at(camera, 1, piece)
    (wx, wy, wz), w0 = _axis(camera, 2, c, s), _at(camera, 2, piece)
    a = np.uintp(cat.point_at[part])
    low, high = 1e9, -1e9
    for i in range(np.uintp(cat.point_at[part + 1]) - a):
        px, py, pz = cat.points[a + i, 0], cat.points[a + i, 1], cat.points[a + i, 2]
        u, v, w = ux * px + uy * py + uz * pz + u0, vx * px + vy * py + vz * pz + v0, wx * px + wy * py + wz * pz + w0
        inverse = 1.0 / w
        x, y = fx * u * inverse + cx, fy * v * inverse + cy
        points[i, 0], points[i, 1], points[i, 2], points[i, 3], points[i, 4] = u, v, w, x, y
        low, high = min(low, y), max(high, y)
    return low, high


@inlined
def _planes(cat, part, slot, c, s, scene):
    """The part's planes that face the camera, as inverse depth (per column, per row, constant); their number."""
    camera, matrix, points = scene.camera, scene.matrix, scene.maps.points
    planes, front = scene.maps.planes, scene.maps.front
    wide, high, cx, cy = 1.0 / matrix[0, 0], 1.0 / matrix[1, 1], matrix[0, 2], matrix[1, 2]
    ux, uy, uz = _axis(camera, 0, c, s)
    vx, vy, vz = _axis(camera, 1, c, s)
    wx, wy, wz = _axis(camera, 2, c, s)
    start = np.uintp(cat.face_at[part])
    count = np.uintp(0)
    for f in range(np.uintp(cat.face_at[part + 1]) - start):
        nx, ny, nz = cat.normals[start + f, 0], cat.normals[start + f, 1], cat.normals[start + f, 2]
        gx, gy, gz = ux * nx + uy * ny + uz * nz, vx * nx + vy * ny + vz * nz, wx * nx + wy * ny + wz * nz
        p = np.uintp(cat.on_face[start + f])
        away = gx * points[p, 0] + gy * points[p, 1] + gz * points[p, 2]
        front[f] = away < -1e-9
        if away < -1e-9:
            inverse = 1.0 / away
            kx, ky = gx * inverse * wide, gy * inverse * high
            planes[slot, count, 0], planes[slot, count, 1] = kx, ky
            planes[slot, count, 2] = gz * inverse - kx * cx - ky * cy
            count += np.uintp(1)
    return count


@inlined
def _runs(cat, part, slot, first, last, maps):
    """The part's run of columns in each row from ``first`` to ``last``, by its outline's edges.

    An edge of the outline has a face towards the camera on one side only; which way it goes round that
    face says whether the part lies to the right of it or to the left.
    """
    points, front, left, right = maps.points, maps.front, maps.left, maps.right
    width = maps.near.shape[1]
    for e in range(cat.edge_at[part], cat.edge_at[part + 1]):
        if front[cat.edges[e, 2]] == front[cat.edges[e, 3]]:
            continue
        p, q = cat.edges[e, 0], cat.edges[e, 1]
        xa, ya, xb, yb = points[p, 3], points[p, 4], points[q, 3], points[q, 4]
        is_left = (ya < yb) == front[cat.edges[e, 2]]
        if ya > yb:
            xa, ya, xb, yb = xb, yb, xa, ya
        top, bottom = max(first, math.ceil(ya)), min(last, math.floor(yb))
        if top > bottom:
            continue
        slope = (xb - xa) / (yb - ya) if yb > ya else 0.0
        at = xa + (top - ya) * slope
        if is_left:
            for row in range(np.uintp(top), np.uintp(bottom + 1)):
                left[np.uintp(slot), row] = max(math.ceil(at), 0)
                at += slope
        else:
            for row in range(np.uintp(top), np.uintp(bottom + 1)):
                right[np.uintp(slot), row] = min(math.floor(at), width - 1)
                at += slope


@inlined
def take_part(cat, part, slot, piece, c, s, scene):
    """Take a part of a piece turned by (cos, sin) into a slot: its rows, its runs of columns, its planes."""
    maps = scene.maps
    low, high = _project(cat, part, piece, c, s, scene)
    height = maps.near.shape[0]
    first, last = min(max(0, math.ceil(low)), height), min(height - 1, math.floor(high))
    count = _planes(cat, part, slot, c, s, scene)
    if count == 0 or last < first:
        last = first - 1
    _runs(cat, part, slot, first, last, maps)
    maps.rows[slot, 0], maps.rows[slot, 1], maps.rows[slot, 2] = first, last, count
