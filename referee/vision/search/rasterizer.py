"""Drawing pieces into maps of evidence: what a piece at a place, or a whole build, would explain.

Compiled. Pieces of a state are rows (stance, x, y, z, yaw): mm, radians. The picture so far is two
maps: the inverse depth of the nearest piece and the evidence it claims. ``Maps`` holds them with
the scratch that drawing needs; each thread has its own.

Each convex part of a piece covers one run of pixels a row, and its surface's inverse depth there is
the least of those of its planes that face the camera (a ray has entered a convex solid when it has
passed all of them). 1/depth is linear in pixels. Where nothing is drawn yet, a run's evidence is
the difference of two running sums.

Runs are looked at in blocks of columns, each one vector, with what lies beyond the run masked out: most are
shorter than two of them, and what is left over after whole vectors would take most of the time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from referee.vision.search import parameters
from referee.vision.search.jit import inlined, lean, lean_root, standalone
from referee.vision.search.outlines import take_part

MOST_POINTS, MOST_FACES = parameters.MOST_POINTS.value, parameters.MOST_FACES.value
MOST_PARTS = parameters.MOST_PARTS.value
BLOCK = parameters.BLOCK.value


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
        _padded((height, width)),
        _padded((height, width)),
        np.full(height, width),
        np.full(height, -1),
        _padded((2, width)),
        np.empty((MOST_PARTS, height), np.int64),
        np.empty((MOST_PARTS, height), np.int64),
        np.empty((MOST_PARTS, 3), np.int64),
        np.empty((MOST_POINTS, 5)),
        np.empty((MOST_PARTS, MOST_FACES, 3), np.float32),
        np.empty(MOST_FACES, np.bool_),
    )


def _padded(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros of this shape, with room behind the last row for what is read in blocks of ``BLOCK`` columns."""
    count = math.prod(shape)
    return np.zeros(count + BLOCK, np.float32)[:count].reshape(shape)


class Gains(NamedTuple):
    """Evidence to draw from: ``each`` (k, h, w) float32 nats a pixel, ``sums`` (k, h, w + 1) running sums of rows."""

    each: np.ndarray
    sums: np.ndarray


def gains(each: np.ndarray) -> Gains:
    """Gains of evidence (k, h, w)."""
    given, each = each, _padded(each.shape)
    each[...] = given
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


@inlined
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
def _whole(low, high):
    """Columns of whole blocks that hold those from ``low`` to ``high``."""
    return np.uintp(high - low + BLOCK) // np.uintp(BLOCK) * np.uintp(BLOCK)


@inlined
def _surface(planes, count, row, low, high, out):
    """Write to ``out`` a part's inverse depth along a row, columns ``low`` to ``high`` and up to a block beyond."""
    for first in range(0, count, 3):
        a0, b0, a1, b1, a2, b2 = _three(planes, first, count, row)
        for i in range(_whole(low, high)):
            col = np.uintp(low) + i
            at = np.float32(np.int32(col))
            d = min(min(a0 * at + b0, a1 * at + b1), a2 * at + b2)
            out[col] = d if first == 0 else min(out[col], d)


@inlined
def _over(own, near_row, gained_row, g_row, low, high):
    """Evidence and pixels that a surface of inverse depths ``own`` would win, columns ``low`` to ``high``."""
    won, pixels = np.float32(0), np.float32(0)
    for i in range(_whole(low, high)):
        col = np.uintp(low) + i
        over = (own[col] > near_row[col]) & (np.int32(col) <= np.int32(high))
        more = g_row[col] - gained_row[col]
        won += more if over else np.float32(0)
        pixels += np.float32(1) if over else np.float32(0)
    return won, pixels


@inlined
def _three_over(planes, count, row, near_row, gained_row, g_row, low, high):
    """``_over`` of a surface of at most three planes."""
    a0, b0, a1, b1, a2, b2 = _three(planes, 0, count, row)
    won, pixels = np.float32(0), np.float32(0)
    for i in range(_whole(low, high)):
        col = np.uintp(low) + i
        at = np.float32(np.int32(col))
        d = min(min(a0 * at + b0, a1 * at + b1), a2 * at + b2)
        over = (d > near_row[col]) & (np.int32(col) <= np.int32(high))
        more = g_row[col] - gained_row[col]
        won += more if over else np.float32(0)
        pixels += np.float32(1) if over else np.float32(0)
    return won, pixels


@inlined
def _weigh_one(g, sums, maps):
    """Evidence and pixels that the part in slot 0 would win."""
    planes, first, last, count = maps.planes[0], maps.rows[0, 0], maps.rows[0, 1], maps.rows[0, 2]
    left, right, own = maps.left[0], maps.right[0], maps.own[0]
    won, pixels = np.float32(0), np.float32(0)
    for row in range(np.uintp(first), np.uintp(last + 1)):
        low, high = left[row], right[row]
        if low > high:
            continue
        begin, end = max(low, maps.from_col[row]), min(high, maps.to_col[row])
        if begin > end:
            won += sums[row, np.uintp(high + 1)] - sums[row, np.uintp(low)]
            pixels += np.float32(high - low + 1)
            continue
        won += sums[row, np.uintp(begin)] - sums[row, np.uintp(low)]
        won += sums[row, np.uintp(high + 1)] - sums[row, np.uintp(end + 1)]
        pixels += np.float32(begin - low + high - end)
        if count <= 3:
            more, seen = _three_over(planes, count, row, maps.near[row], maps.gained[row], g[row], begin, end)
        else:
            _surface(planes, count, row, begin, end, own)
            more, seen = _over(own, maps.near[row], maps.gained[row], g[row], begin, end)
        won += more
        pixels += seen
    return won, pixels


@inlined
def _take(g, maps, slot):
    """Draw the part in a slot; the evidence it wins."""
    planes, count, own = maps.planes[slot], maps.rows[slot, 2], maps.own[0]
    won = np.float32(0)
    for row in range(np.uintp(maps.rows[slot, 0]), np.uintp(maps.rows[slot, 1] + 1)):
        low, high = maps.left[slot, row], maps.right[slot, row]
        if low > high or count == 0:
            continue
        near_row, gained_row, g_row = maps.near[row], maps.gained[row], g[row]
        _surface(planes, count, row, low, high, own)
        for i in range(_whole(low, high)):
            col = np.uintp(low) + i
            d, near, gained, gain = own[col], near_row[col], gained_row[col], g_row[col]
            over = (d > near) & (np.int32(col) <= np.int32(high))
            more = gain - gained
            won += more if over else np.float32(0)
            near_row[col] = d if over else near
            gained_row[col] = gain if over else gained
        maps.from_col[row] = min(maps.from_col[row], low)
        maps.to_col[row] = max(maps.to_col[row], high)
    return won


@inlined
def _weigh_parts(g, maps, parts, first, last):
    """Evidence and pixels that the parts in slots 1 to ``parts`` would win, their runs together in slot 0."""
    whole, own = maps.own[0], maps.own[1]
    won, pixels = np.float32(0), np.float32(0)
    for row in range(np.uintp(first), np.uintp(max(last, first - 1) + 1)):
        low, high = maps.left[0, row], maps.right[0, row]
        if low > high:
            continue
        for col in range(np.uintp(low), np.uintp(high + 1)):
            whole[col] = np.float32(0)
        for k in range(1, parts + 1):
            begin, end = maps.left[k, row], maps.right[k, row]
            if np.int64(row) < maps.rows[k, 0] or np.int64(row) > maps.rows[k, 1] or begin > end:
                continue
            _surface(maps.planes[k], maps.rows[k, 2], row, begin, end, own)
            for i in range(_whole(begin, end)):
                col = np.uintp(begin) + i
                there = np.int32(col) <= np.int32(end)
                whole[col] = max(whole[col], own[col]) if there else whole[col]
        more, seen = _over(whole, maps.near[row], maps.gained[row], g[row], low, high)
        won += more
        pixels += seen
    return won, pixels


@inlined
def _gather(maps, parts):
    """The runs of slots 1 to ``parts``, from the leftmost to the rightmost column, into slot 0; its rows."""
    top, bottom = maps.near.shape[0], -1
    for k in range(1, parts + 1):
        if maps.rows[k, 0] <= maps.rows[k, 1]:
            top, bottom = min(top, maps.rows[k, 0]), max(bottom, maps.rows[k, 1])
    left, right = maps.left[0], maps.right[0]
    left[top : bottom + 1] = maps.near.shape[1]
    right[top : bottom + 1] = -1
    for k in range(1, parts + 1):
        for row in range(maps.rows[k, 0], maps.rows[k, 1] + 1):
            left[row] = min(left[row], maps.left[k, row])
            right[row] = max(right[row], maps.right[k, row])
    return top, bottom


@inlined
def _free(maps, first, last):
    """Whether nothing has been drawn where slot 0's runs are."""
    for row in range(first, last + 1):
        if maps.left[0, row] <= maps.to_col[row] and maps.right[0, row] >= maps.from_col[row]:
            return False
    return True


@inlined
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


@inlined
def weighed(cat, piece, scene):
    """Evidence and pixels that a piece (a row) would win over what is in the maps: ``place`` where it is not kept, for
    loops over places. (To call it takes as long as to project a cube: what it draws with is many words.)"""
    stance, maps = int(piece[0]), scene.maps
    color = cat.color[stance]
    g, sums = scene.gains.each[color], scene.gains.sums[color]
    c, s = math.cos(piece[4]), math.sin(piece[4])
    start, parts = cat.part_at[stance], cat.part_at[stance + 1] - cat.part_at[stance]
    slot = 0 if parts == 1 else 1
    for k in range(parts):
        take_part(cat, start + k, slot + k, piece, c, s, scene)
    won, pixels = np.float32(0), np.float32(0)
    if parts > 1:
        top, bottom = _gather(maps, parts)
        if _free(maps, top, bottom):
            won, pixels = _union(sums, maps, parts, top, bottom)
        else:
            won, pixels = _weigh_parts(g, maps, parts, top, bottom)
    elif maps.rows[0, 2] > 0:
        won, pixels = _weigh_one(g, sums, maps)
    return won, pixels


@inlined
def _drawn(cat, piece, scene):
    """Draw a piece (a row) into the maps; the evidence it wins."""
    stance, maps = int(piece[0]), scene.maps
    g = scene.gains.each[cat.color[stance]]
    c, s = math.cos(piece[4]), math.sin(piece[4])
    won = np.float32(0)
    for part in range(cat.part_at[stance], cat.part_at[stance + 1]):
        take_part(cat, part, 0, piece, c, s, scene)
        won += _take(g, maps, 0)
    return won


@standalone
def place(cat, piece, scene, keep):
    """Evidence won by a piece (a row) over what is in the maps; drawn into them if ``keep``.

    Returns (evidence won, pixels won); the latter is 0 if ``keep``.
    """
    if keep:
        return _drawn(cat, piece, scene), np.float32(0)
    return weighed(cat, piece, scene)


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
