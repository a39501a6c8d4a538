"""Drawing pieces into maps of evidence: what a piece at a place, or a whole build, would explain.

Compiled. Pieces of a state are rows (stance, x, y, z, yaw): mm, radians. The picture so far is two
maps: the inverse depth of the nearest piece and the evidence it claims. ``Maps`` holds them with
the scratch that drawing needs; each thread has its own.

Each convex part of a piece covers one run of pixels a row, and its surface's inverse depth there is
the least of those of its planes that face the camera (a ray has entered a convex solid when it has
passed all of them). 1/depth is linear in pixels. Where nothing is drawn yet, a run's evidence is
the difference of two running sums.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from referee.vision.search import parameters
from referee.vision.search.jit import lean, lean_root, standalone

MOST_POINTS, MOST_FACES = parameters.MOST_POINTS.value, parameters.MOST_FACES.value
MOST_PARTS = parameters.MOST_PARTS.value


class Maps(NamedTuple):
    """``near`` (h, w) inverse depth, ``gained`` (h, w) evidence claimed; ``from_col``, ``to_col`` (h,) the
    columns of each row that may not be empty (none: ``from`` > ``to``). The rest is scratch: of each part
    in its slot the ``rows`` (first, last, how many planes), the runs ``left`` to ``right`` and the ``planes``;
    ``own`` (2, w) inverse depths along a row.
    """

    near: np.ndarray
    gained: np.ndarray
    from_col: np.ndarray
    to_col: np.ndarray
    own: np.ndarray
    left: np.ndarray
    right: np.ndarray
    rows: np.ndarray
    points: np.ndarray
    planes: np.ndarray
    front: np.ndarray


def maps(height: int, width: int) -> Maps:
    """Empty maps."""
    return Maps(
        np.zeros((height, width), np.float32),
        np.zeros((height, width), np.float32),
        np.full(height, width),
        np.full(height, -1),
        np.empty((2, width), np.float32),
        np.empty((MOST_PARTS, height), np.int64),
        np.empty((MOST_PARTS, height), np.int64),
        np.empty((MOST_PARTS, 3), np.int64),
        np.empty((MOST_POINTS, 5)),
        np.empty((MOST_PARTS, MOST_FACES, 3), np.float32),
        np.empty(MOST_FACES, np.bool_),
    )


class Gains(NamedTuple):
    """Evidence to draw from: ``each`` (k, h, w) float32 nats a pixel, ``sums`` (k, h, w + 1) running sums of rows."""

    each: np.ndarray
    sums: np.ndarray


def gains(each: np.ndarray) -> Gains:
    """Gains of evidence (k, h, w)."""
    each = np.ascontiguousarray(each, np.float32)
    sums = np.zeros((*each.shape[:2], each.shape[2] + 1), np.float32)
    np.cumsum(each, axis=2, out=sums[..., 1:])
    return Gains(each, sums)


class Scene(NamedTuple):
    """What pieces are drawn into and held against: the ``camera`` (3, 4) from mm to the camera's frame, the pinhole
    ``matrix`` (3, 3), the evidence and the maps."""

    camera: np.ndarray
    matrix: np.ndarray
    gains: Gains
    maps: Maps


ALL = -1
"""Draw all pieces: none is left out."""


@lean_root
def clear(maps):
    """Empty the maps where anything has been drawn."""
    near, gained = maps.near, maps.gained
    height, width = near.shape
    for row in range(height):
        low, high = maps.from_col[row], maps.to_col[row]
        if low <= high:
            near[row, low : high + 1] = 0.0
            gained[row, low : high + 1] = 0.0
            maps.from_col[row], maps.to_col[row] = width, -1


@lean
def _project(cat, part, piece, c, s, scene):
    """Corners of a part into ``maps.points``: camera x, y, z, then pixel x, y. Returns their rows (low, high)."""
    camera, matrix, points = scene.camera, scene.matrix, scene.maps.points
    a = cat.point_at[part]
    low, high = 1e9, -1e9
    for i in range(cat.point_at[part + 1] - a):
        px = c * cat.points[a + i, 0] - s * cat.points[a + i, 1] + piece[1]
        py = s * cat.points[a + i, 0] + c * cat.points[a + i, 1] + piece[2]
        pz = cat.points[a + i, 2] + piece[3]
        u = camera[0, 0] * px + camera[0, 1] * py + camera[0, 2] * pz + camera[0, 3]
        v = camera[1, 0] * px + camera[1, 1] * py + camera[1, 2] * pz + camera[1, 3]
        w = camera[2, 0] * px + camera[2, 1] * py + camera[2, 2] * pz + camera[2, 3]
        inverse = 1.0 / w
        points[i, 0], points[i, 1], points[i, 2] = u, v, w
        points[i, 3] = matrix[0, 0] * u * inverse + matrix[0, 2]
        points[i, 4] = matrix[1, 1] * v * inverse + matrix[1, 2]
        low = min(low, points[i, 4])
        high = max(high, points[i, 4])
    return low, high


@lean
def _planes(cat, part, slot, c, s, scene):
    """The part's planes that face the camera, as inverse depth (per column, per row, constant); their number."""
    camera, matrix, points = scene.camera, scene.matrix, scene.maps.points
    planes, front = scene.maps.planes, scene.maps.front
    start = cat.face_at[part]
    count = 0
    for f in range(cat.face_at[part + 1] - start):
        nx = c * cat.normals[start + f, 0] - s * cat.normals[start + f, 1]
        ny = s * cat.normals[start + f, 0] + c * cat.normals[start + f, 1]
        nz = cat.normals[start + f, 2]
        gx = camera[0, 0] * nx + camera[0, 1] * ny + camera[0, 2] * nz
        gy = camera[1, 0] * nx + camera[1, 1] * ny + camera[1, 2] * nz
        gz = camera[2, 0] * nx + camera[2, 1] * ny + camera[2, 2] * nz
        p = cat.on_face[start + f]
        away = gx * points[p, 0] + gy * points[p, 1] + gz * points[p, 2]
        front[f] = away < -1e-9
        if front[f]:
            inverse = 1.0 / away
            kx, ky = gx * inverse / matrix[0, 0], gy * inverse / matrix[1, 1]
            planes[slot, count, 0], planes[slot, count, 1] = kx, ky
            planes[slot, count, 2] = gz * inverse - kx * matrix[0, 2] - ky * matrix[1, 2]
            count += 1
    return count


@lean
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
        top, bottom = max(first, int(math.ceil(ya))), min(last, int(math.floor(yb)))
        if top > bottom:
            continue
        slope = (xb - xa) / (yb - ya) if yb > ya else 0.0
        at = xa + (top - ya) * slope
        if is_left:
            for row in range(top, bottom + 1):
                col = int(at)
                left[slot, row] = max(col + 1 if at > col else col, 0)
                at += slope
        else:
            for row in range(top, bottom + 1):
                right[slot, row] = min(int(at), width - 1) if at >= 0.0 else -1
                at += slope


@lean
def _part(cat, part, slot, piece, c, s, scene):
    """Take a part of a piece turned by (cos, sin) into a slot: its rows, its runs of columns, its planes."""
    maps = scene.maps
    low, high = _project(cat, part, piece, c, s, scene)
    first, last = max(0, int(math.ceil(low))), min(maps.near.shape[0] - 1, int(math.floor(high)))
    count = _planes(cat, part, slot, c, s, scene)
    if count == 0:
        last = first - 1
    _runs(cat, part, slot, first, last, maps)
    maps.rows[slot, 0], maps.rows[slot, 1], maps.rows[slot, 2] = first, last, count


@lean
def _three(planes, first, count, row):
    """Three planes from the ``first`` on along a row, each as (slope, start); the last is repeated when there are
    fewer."""
    r = np.float32(row)
    a, b = min(first + 1, count - 1), min(first + 2, count - 1)
    return (
        planes[first, 0],
        planes[first, 1] * r + planes[first, 2],
        planes[a, 0],
        planes[a, 1] * r + planes[a, 2],
        planes[b, 0],
        planes[b, 1] * r + planes[b, 2],
    )


@lean
def _surface(planes, count, row, low, high, out):
    """Write to ``out`` a part's inverse depth along a row, columns ``low`` to ``high``."""
    for first in range(0, count, 3):
        a0, b0, a1, b1, a2, b2 = _three(planes, first, count, row)
        if first == 0:
            for col in range(np.uintp(low), np.uintp(high + 1)):
                at = np.float32(col)
                out[col] = min(min(a0 * at + b0, a1 * at + b1), a2 * at + b2)
        else:
            for col in range(np.uintp(low), np.uintp(high + 1)):
                at = np.float32(col)
                out[col] = min(out[col], min(min(a0 * at + b0, a1 * at + b1), a2 * at + b2))


@lean
def _weigh_one(g, sums, maps):
    """Evidence and pixels that the part in slot 0 would win."""
    planes, first, last, count = maps.planes[0], maps.rows[0, 0], maps.rows[0, 1], maps.rows[0, 2]
    left, right, own = maps.left[0], maps.right[0], maps.own[0]
    won, pixels = np.float32(0), np.float32(0)
    for row in range(first, last + 1):
        low, high = left[row], right[row]
        if low > high:
            continue
        begin, end = max(low, maps.from_col[row]), min(high, maps.to_col[row])
        if begin > end:
            won += sums[row, high + 1] - sums[row, low]
            pixels += np.float32(high - low + 1)
            continue
        won += sums[row, begin] - sums[row, low] + sums[row, high + 1] - sums[row, end + 1]
        pixels += np.float32(begin - low + high - end)
        near_row, gained_row, g_row = maps.near[row], maps.gained[row], g[row]
        if count <= 3:
            a0, b0, a1, b1, a2, b2 = _three(planes, 0, count, row)
            for col in range(np.uintp(begin), np.uintp(end + 1)):
                at = np.float32(col)
                over = min(min(a0 * at + b0, a1 * at + b1), a2 * at + b2) > near_row[col]
                won += g_row[col] - gained_row[col] if over else np.float32(0)
                pixels += np.float32(1) if over else np.float32(0)
        else:
            _surface(planes, count, row, begin, end, own)
            for col in range(np.uintp(begin), np.uintp(end + 1)):
                over = own[col] > near_row[col]
                won += g_row[col] - gained_row[col] if over else np.float32(0)
                pixels += np.float32(1) if over else np.float32(0)
    return won, pixels


@lean
def _take(g, maps, slot):
    """Draw the part in a slot; the evidence it wins."""
    planes, count, own = maps.planes[slot], maps.rows[slot, 2], maps.own[0]
    won = np.float32(0)
    for row in range(maps.rows[slot, 0], maps.rows[slot, 1] + 1):
        low, high = maps.left[slot, row], maps.right[slot, row]
        if low > high or count == 0:
            continue
        near_row, gained_row, g_row = maps.near[row], maps.gained[row], g[row]
        a0, b0, a1, b1, a2, b2 = _three(planes, 0, count, row)
        if count > 3:
            _surface(planes, count, row, low, high, own)
        for col in range(np.uintp(low), np.uintp(high + 1)):
            at = np.float32(col)
            d = own[col] if count > 3 else min(min(a0 * at + b0, a1 * at + b1), a2 * at + b2)
            over = d > near_row[col]
            won += g_row[col] - gained_row[col] if over else np.float32(0)
            near_row[col] = d if over else near_row[col]
            gained_row[col] = g_row[col] if over else gained_row[col]
        maps.from_col[row] = min(maps.from_col[row], low)
        maps.to_col[row] = max(maps.to_col[row], high)
    return won


@lean
def _weigh_parts(g, maps, parts, first, last):
    """Evidence and pixels that the parts in slots 1 to ``parts`` would win, their runs together in slot 0."""
    whole, own = maps.own[0], maps.own[1]
    won, pixels = np.float32(0), np.float32(0)
    for row in range(first, last + 1):
        low, high = maps.left[0, row], maps.right[0, row]
        if low > high:
            continue
        for col in range(np.uintp(low), np.uintp(high + 1)):
            whole[col] = np.float32(0)
        for k in range(1, parts + 1):
            if row < maps.rows[k, 0] or row > maps.rows[k, 1] or maps.left[k, row] > maps.right[k, row]:
                continue
            _surface(maps.planes[k], maps.rows[k, 2], row, maps.left[k, row], maps.right[k, row], own)
            for col in range(np.uintp(maps.left[k, row]), np.uintp(maps.right[k, row] + 1)):
                whole[col] = max(whole[col], own[col])
        near_row, gained_row, g_row = maps.near[row], maps.gained[row], g[row]
        for col in range(np.uintp(low), np.uintp(high + 1)):
            over = whole[col] > near_row[col]
            won += g_row[col] - gained_row[col] if over else np.float32(0)
            pixels += np.float32(1) if over else np.float32(0)
    return won, pixels


@lean
def _gather(maps, parts):
    """The runs of slots 1 to ``parts``, from the leftmost to the rightmost column, into slot 0; its rows."""
    top, bottom = maps.near.shape[0], -1
    for k in range(1, parts + 1):
        top, bottom = min(top, maps.rows[k, 0]), max(bottom, maps.rows[k, 1])
    left, right = maps.left[0], maps.right[0]
    left[top : bottom + 1] = maps.near.shape[1]
    right[top : bottom + 1] = -1
    for k in range(1, parts + 1):
        for row in range(maps.rows[k, 0], maps.rows[k, 1] + 1):
            left[row] = min(left[row], maps.left[k, row])
            right[row] = max(right[row], maps.right[k, row])
    return top, bottom


@lean
def _free(maps, first, last):
    """Whether nothing has been drawn where slot 0's runs are."""
    for row in range(first, last + 1):
        if maps.left[0, row] <= maps.to_col[row] and maps.right[0, row] >= maps.from_col[row]:
            return False
    return True


@lean
def _union(sums, maps, parts, first, last):
    """Evidence and pixels of the union of the runs in slots 1 to ``parts``, where nothing is drawn yet."""
    won, pixels = np.float32(0), 0
    for row in range(first, last + 1):
        reached = -1
        while True:  # the run that begins next, of those that reach further
            low, high = maps.near.shape[1], -1
            for k in range(1, parts + 1):
                if row < maps.rows[k, 0] or row > maps.rows[k, 1]:
                    continue
                a, b = max(maps.left[k, row], reached + 1), maps.right[k, row]
                if a <= b and (a < low or (a == low and b > high)):
                    low, high = a, b
            if high < 0:
                break
            won += sums[row, high + 1] - sums[row, low]
            pixels += high - low + 1
            reached = high
    return won, np.float32(pixels)


@standalone
def place(cat, piece, scene, keep):
    """Evidence won by a piece (a row) over what is in the maps; drawn into them if ``keep``.

    Returns (evidence won, pixels won); the latter is 0 if ``keep``.
    """
    stance, maps = int(piece[0]), scene.maps
    color = cat.color[stance]
    g, sums = scene.gains.each[color], scene.gains.sums[color]
    c, s = math.cos(piece[4]), math.sin(piece[4])
    start, parts = cat.part_at[stance], cat.part_at[stance + 1] - cat.part_at[stance]
    slot = 0 if parts == 1 else 1
    for k in range(parts):
        _part(cat, start + k, slot + k, piece, c, s, scene)
    if keep:
        won = np.float32(0)
        for k in range(parts):
            won += _take(g, maps, slot + k)
        return won, np.float32(0)
    if parts == 1:
        if maps.rows[0, 2] == 0:
            return np.float32(0), np.float32(0)
        return _weigh_one(g, sums, maps)
    top, bottom = _gather(maps, parts)
    if _free(maps, top, bottom):
        return _union(sums, maps, parts, top, bottom)
    return _weigh_parts(g, maps, parts, top, bottom)


@lean_root
def draw(cat, pieces, count, skip, scene):
    """Draw the first ``count`` of a state's pieces, but the one at ``skip`` (or ``ALL``), afresh into the maps;
    returns their evidence."""
    clear(scene.maps)
    total = 0.0
    for i in range(count):
        if i != skip:
            total += place(cat, pieces[i], scene, True)[0]
    return total
