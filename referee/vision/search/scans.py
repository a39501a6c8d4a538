"""Kernels that try every stance at every place: on the table, and let down on the pieces of a state.

Most places can be told by a few pixels from those where a piece might be, long before it is weighed there. Pieces of a
state are rows (stance, x, y, z, yaw): mm, radians; see ``rasterizer`` and ``physics``.
"""

from __future__ import annotations

import math

import numpy as np

from referee.vision.search import parameters
from referee.vision.search.jit import inner_loop, lean, loop
from referee.vision.search.physics import rest_on
from referee.vision.search.rasterizer import weighed

ACROSS = parameters.ACROSS.value
PROBED = parameters.PROBED.value
LEAST_PROBED = parameters.LEAST_PROBED.value
MISSING_NATS = parameters.MISSING_NATS.value
LEAST_NATS = parameters.LEAST_NATS.value


@lean
def pixel_of(x, y, z, scene):
    """Pixel (row, column) of a point; (-1, -1) outside the picture."""
    camera, matrix = scene.camera, scene.matrix
    rows, cols = scene.maps.near.shape
    w = camera[2, 0] * x + camera[2, 1] * y + camera[2, 2] * z + camera[2, 3]
    u = camera[0, 0] * x + camera[0, 1] * y + camera[0, 2] * z + camera[0, 3]
    v = camera[1, 0] * x + camera[1, 1] * y + camera[1, 2] * z + camera[1, 3]
    col = int(matrix[0, 0] * u / w + matrix[0, 2] + 0.5)
    row = int(matrix[1, 1] * v / w + matrix[1, 2] + 0.5)
    return (row, col) if 0 <= col < cols and 0 <= row < rows else (-1, -1)


@lean
def _may_be_there(cat, piece, scene):
    """Whether enough of nine pixels spread over the front of a piece, not turned, lose no more than ``MISSING_NATS``,
    one of them on its middle line."""
    s = int(piece[0])
    color, wide, high = cat.color[s], cat.size[s, 0], cat.size[s, 2]
    seen = 0
    for across in ACROSS:
        for up in PROBED:
            row, col = pixel_of(piece[1] + across * wide, piece[2], piece[3] + up * high, scene)
            if row >= 0 and scene.gains.each[color, row, col] > scene.maps.gained[row, col] - MISSING_NATS:
                seen += 1
                if seen == LEAST_PROBED:
                    return True
        if seen == 0:
            return False
    return False


@lean
def _weigh(cat, row, scene):
    """Write to a row (7,) what it wins; whether that is anything at all."""
    row[5], row[6] = weighed(cat, row, scene)
    return row[5] > LEAST_NATS * row[6] - 1e-9 and row[6] > 0


@loop
def scan_table(cat, stances, xs, ys, pieces, scene):
    """Evidence of every stance on the table at every x, y where it rests on none of a state's pieces, not turned.

    Gives (n, 7) rows (stance, x, y, z, yaw, evidence, pixels), where anything at all was won.
    """
    out = np.empty((len(stances) * len(xs) * len(ys) + 1, 7))
    n = 0
    for s in stances:
        for x in xs:
            for y in ys:
                row = out[n]
                row[0], row[1], row[2], row[3], row[4] = s, x, y, cat.size[s, 2] / 2, 0.0
                if not _may_be_there(cat, row, scene):  # sooner told than whether it stands there
                    continue
                _, carriers = rest_on(cat, s, x, y, pieces, len(pieces))
                if carriers == 0 and _weigh(cat, row, scene):
                    n += 1
    return out[:n].copy()


@lean
def _missing_above(x, y, high, scene, out):
    """Write to ``out`` (colours,) whether a pixel of the vertical line at x, y, up to ``high`` mm, loses no more than
    ``MISSING_NATS`` in that colour."""
    camera, matrix, each, gained = scene.camera, scene.matrix, scene.gains.each, scene.maps.gained
    rows, cols = gained.shape
    w = camera[2, 0] * x + camera[2, 1] * y + camera[2, 3]
    u = camera[0, 0] * x + camera[0, 1] * y + camera[0, 3]
    v = camera[1, 0] * x + camera[1, 1] * y + camera[1, 3]
    foot_col, foot_row = matrix[0, 0] * u / w + matrix[0, 2], matrix[1, 1] * v / w + matrix[1, 2]
    w, u, v = w + camera[2, 2] * high, u + camera[0, 2] * high, v + camera[1, 2] * high
    head_col, head_row = matrix[0, 0] * u / w + matrix[0, 2], matrix[1, 1] * v / w + matrix[1, 2]
    for k in range(len(out)):
        out[k] = False
    steps = int(max(abs(head_col - foot_col), abs(head_row - foot_row))) + 1  # cameras hang upside down, and aslant
    for i in range(steps + 1):
        row = math.floor(foot_row + (head_row - foot_row) * i / steps + 0.5)
        col = math.floor(foot_col + (head_col - foot_col) * i / steps + 0.5)
        if 0 <= row < rows and 0 <= col < cols:
            for k in range(len(out)):
                out[k] = out[k] or each[k, row, col] > gained[row, col] - MISSING_NATS


@inner_loop
def scan_on_top(cat, stances, xs, y, pieces, scene):
    """As ``scan_table``, but of every stance let down on a state's pieces at every x and one y."""
    out = np.empty((len(stances) * len(xs) + 1, 7))
    missing = np.empty((len(xs), len(scene.gains.each)), np.bool_)
    high, tallest = 0.0, 0.0
    for i in range(len(pieces)):
        high = max(high, pieces[i, 3] + cat.size[int(pieces[i, 0]), 2] / 2)
    for s in stances:
        tallest = max(tallest, cat.size[s, 2])
    for i in range(len(xs)):
        _missing_above(xs[i], y, high + tallest, scene, missing[i])
    n = 0
    for s in stances:
        for i in range(len(xs)):
            if not missing[i, cat.color[s]]:  # sooner told, for all stances of a colour, than where each would rest
                continue
            row = out[n]
            row[0], row[1], row[2], row[4] = s, xs[i], y, 0.0
            row[3], carriers = rest_on(cat, s, xs[i], y, pieces, len(pieces))
            if carriers > 0 and _may_be_there(cat, row, scene) and _weigh(cat, row, scene):
                n += 1
    return out[:n].copy()
