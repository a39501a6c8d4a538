"""Where a further piece may go: on the pieces of a state, or beside them. Compiled.

Pieces of a state are rows (stance, x, y, z, yaw): mm, radians; see ``rasterizer``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from referee.vision.search import parameters
from referee.vision.search.jit import inner_loop, lean, loop
from referee.vision.search.rasterizer import ALL, draw
from referee.vision.search.scans import scan_on_top, scan_table

NEXT_BEST_MM = parameters.NEXT_BEST_MM.value
NEAR_COPY_MM = parameters.NEAR_COPY_MM.value
BRANCH = parameters.BRANCH.value

ON_TOP_STEP = parameters.ON_TOP_STEP.value
BESIDE_STEP = parameters.BESIDE_STEP.value
REACH_ON_TOP = parameters.REACH_ON_TOP.value
REACH_BESIDE = parameters.REACH_BESIDE.value

HIDDEN = parameters.HIDDEN.value


class Stock(NamedTuple):
    """What may still be added: ``free`` (types,) how many of a type the box has; ``shape`` (types,) the shape of
    each and ``asked`` (shapes,) how many of a shape the card allows; ``field`` (2,) mm: half extent of the field.
    """

    free: np.ndarray
    shape: np.ndarray
    asked: np.ndarray
    field: np.ndarray


@inner_loop
def _left(cat, stock, pieces):
    """Usual stances of which the box, and the card, still allow a piece."""
    used = np.zeros(len(stock.free), np.int64)
    of_shape = np.zeros(len(stock.asked), np.int64)
    for i in range(len(pieces)):
        kind = cat.kind[int(pieces[i, 0])]
        used[kind] += 1
        of_shape[stock.shape[kind]] += 1
    out = np.empty(len(cat.kind), np.int64)
    n = 0
    for s in range(len(cat.kind)):
        kind = cat.kind[s]
        shape = stock.shape[kind]
        if not cat.rare[s] and used[kind] < stock.free[kind] and of_shape[shape] < stock.asked[shape]:
            out[n] = s
            n += 1
    return out[:n]


@loop
def successors(cat, stock, pieces, turn, scene):
    """Rows (n, 7), as ``scan_on_top`` gives them, of further pieces worth trying on a state: on it and beside it.

    ``turn`` radians: the frame of the state, and of the scene.
    """
    count = len(pieces)
    draw(cat, pieces, count, ALL, scene)
    stances = _left(cat, stock, pieces)
    low, high, middle = 1e9, -1e9, 0.0
    for i in range(count):
        half = cat.size[int(pieces[i, 0]), 0] / 2
        low, high = min(low, pieces[i, 1] - half), max(high, pieces[i, 1] + half)
        middle += pieces[i, 2] / count
    on_top = np.arange(low - REACH_ON_TOP, high + REACH_ON_TOP, ON_TOP_STEP)
    beside = np.arange(low - REACH_BESIDE, high + REACH_BESIDE, BESIDE_STEP)
    out = np.empty((2 * len(stances) + BRANCH, 7))
    n = _two_of_each(_worthy(scan_on_top(cat, stances, on_top, middle, pieces, scene), turn, stock.field), out)
    middles = np.full(1, middle)
    n = _apart(_worthy(scan_table(cat, stances, beside, middles, pieces, scene), turn, stock.field), out, n)
    return out[:n]


@inner_loop
def _worthy(rows, turn, field):
    """Those that stand in the field and do not lose too much, best first."""
    c, s = np.cos(turn), np.sin(turn)
    keep = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        x, y = c * rows[i, 1] - s * rows[i, 2], s * rows[i, 1] + c * rows[i, 2]
        keep[i] = rows[i, 5] > -HIDDEN * rows[i, 6] and abs(x) <= field[0] and abs(y) <= field[1]
    rows = rows[keep]
    return rows[np.argsort(-rows[:, 5])]


@lean
def _take(row, out):
    """Copy a row (7,) number by number: for ``out[n] = row`` numba compiles how an error about shapes would read, for
    two seconds."""
    for k in range(7):
        out[k] = row[k]


@inner_loop
def _two_of_each(rows, out):
    """Each stance's best row, and its next best more than ``NEXT_BEST_MM`` beside that one; returns how many."""
    n = 0
    for i in range(len(rows)):
        same, apart = 0, True
        for k in range(n):
            if out[k, 0] == rows[i, 0]:
                same += 1
                apart = apart and abs(out[k, 1] - rows[i, 1]) > NEXT_BEST_MM
        if same == 0 or (same == 1 and apart):
            _take(rows[i], out[n])
            n += 1
    return n


@inner_loop
def _apart(rows, out, n):
    """Add the best rows, leaving out near copies (``NEAR_COPY_MM``); returns how many there are then."""
    start = n
    for i in range(len(rows)):
        if n == start + BRANCH:
            break
        copy = False
        for k in range(start, n):
            copy = copy or (out[k, 0] == rows[i, 0] and abs(out[k, 1] - rows[i, 1]) <= NEAR_COPY_MM)
        if not copy:
            _take(rows[i], out[n])
            n += 1
    return n
