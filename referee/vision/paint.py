"""Drawing pieces into maps of evidence: what a piece at a place, or a whole build, would explain.

Compiled. Pieces of a state are rows (stance, x, y, z, yaw): mm, radians. The picture so far is two
maps: ``near`` (h, w) inverse depth of the nearest piece and ``gained`` (h, w) the evidence it claims.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=True)
def _project(points, x, y, z, yaw, camera, matrix, cam, pix):
    c, s = math.cos(yaw), math.sin(yaw)
    for i in range(points.shape[0]):
        px = c * points[i, 0] - s * points[i, 1] + x
        py = s * points[i, 0] + c * points[i, 1] + y
        pz = points[i, 2] + z
        for k in range(3):
            cam[i, k] = camera[k, 0] * px + camera[k, 1] * py + camera[k, 2] * pz + camera[k, 3]
        pix[i, 0] = matrix[0, 0] * cam[i, 0] / cam[i, 2] + matrix[0, 2]
        pix[i, 1] = matrix[1, 1] * cam[i, 1] / cam[i, 2] + matrix[1, 2]


@njit(cache=True, nogil=True, fastmath=True)
def _facing(normal, yaw, camera, at):
    """Inverse-depth plane numerator of a face: (gx, gy, gz, distance); distance < 0 faces the camera."""
    c, s = math.cos(yaw), math.sin(yaw)
    nx = c * normal[0] - s * normal[1]
    ny = s * normal[0] + c * normal[1]
    gx = camera[0, 0] * nx + camera[0, 1] * ny + camera[0, 2] * normal[2]
    gy = camera[1, 0] * nx + camera[1, 1] * ny + camera[1, 2] * normal[2]
    gz = camera[2, 0] * nx + camera[2, 1] * ny + camera[2, 2] * normal[2]
    return gx, gy, gz, gx * at[0] + gy * at[1] + gz * at[2]


@njit(cache=True, nogil=True, fastmath=True)
def _crossings(pix, a, count, y, out):
    n = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        ya, yb = pix[a + i, 1], pix[a + j, 1]
        if (ya <= y) != (yb <= y) and n < 32:
            out[n] = pix[a + i, 0] + (y - ya) / (yb - ya) * (pix[a + j, 0] - pix[a + i, 0])
            n += 1
    for i in range(1, n):
        v = out[i]
        k = i - 1
        while k >= 0 and out[k] > v:
            out[k + 1] = out[k]
            k -= 1
        out[k + 1] = v
    return n


@njit(cache=True, nogil=True, fastmath=True)
def place(cat, stance, x, y, z, yaw, camera, matrix, gains, near, gained, stamp, mark, keep):
    """Evidence won by a piece at a place over what is in the maps; drawn into them if ``keep``.

    ``gains`` (k, h, w); ``stamp`` (h, w) int32 scratch, ``mark`` a number not used in it before.
    Returns (evidence won, pixels won).
    """
    color, _size, _lower, _upper, points, faces, normals, point_at, face_at = cat
    p0, p1 = point_at[stance], point_at[stance + 1]
    f0, n0 = face_at[stance], face_at[stance] - stance
    count_faces = face_at[stance + 1] - f0 - 1
    pts = points[p0:p1]
    cam = np.empty((p1 - p0, 3))
    pix = np.empty((p1 - p0, 2))
    _project(pts, x, y, z, yaw, camera, matrix, cam, pix)
    height, width = near.shape
    g = gains[color[stance]]
    cross = np.empty(32)
    won, pixels = 0.0, 0
    for f in range(count_faces):
        a, b = faces[f0 + f], faces[f0 + f + 1]
        gx, gy, gz, away = _facing(normals[n0 + f], yaw, camera, cam[a])
        if away >= -1e-9:
            continue
        kx = gx / matrix[0, 0] / away
        ky = gy / matrix[1, 1] / away
        k0 = (gz - gx * matrix[0, 2] / matrix[0, 0] - gy * matrix[1, 2] / matrix[1, 1]) / away
        low, high = 1e9, -1e9
        for i in range(a, b):
            low = min(low, pix[i, 1])
            high = max(high, pix[i, 1])
        for row in range(max(0, int(math.ceil(low))), min(height - 1, int(math.floor(high))) + 1):
            n = _crossings(pix, a, b - a, row, cross)
            for i in range(0, n - 1, 2):
                left = max(0, int(math.ceil(cross[i])))
                right = min(width - 1, int(math.floor(cross[i + 1])))
                for col in range(left, right + 1):
                    closer = kx * col + ky * row + k0
                    if closer > near[row, col]:
                        if keep:
                            if stamp[row, col] != mark:
                                won += g[row, col] - gained[row, col]
                                pixels += 1
                                stamp[row, col] = mark
                            near[row, col] = closer
                            gained[row, col] = g[row, col]
                        elif stamp[row, col] != mark:
                            won += g[row, col] - gained[row, col]
                            pixels += 1
                            stamp[row, col] = mark
    return won, pixels


@njit(cache=True, nogil=True, fastmath=True)
def score(cat, pieces, count, camera, matrix, gains, near, gained, stamp, mark):
    """Evidence of a whole state drawn afresh. ``near`` and ``gained`` are overwritten."""
    near[:] = 0.0
    gained[:] = 0.0
    total = 0.0
    for i in range(count):
        mark += 1
        won, _ = place(cat, int(pieces[i, 0]), pieces[i, 1], pieces[i, 2], pieces[i, 3], pieces[i, 4],
                       camera, matrix, gains, near, gained, stamp, mark, True)
        total += won
    return total, mark
