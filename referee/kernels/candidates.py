"""Where a further piece may go: on the pieces of a state, or beside them."""

import cython
import numpy as np
from cython.cimports.libc.math import ceil, cos, fabs, sin
from cython.cimports.libc.stdlib import free, qsort
from cython.cimports.libc.string import memset
from cython.cimports.referee.kernels.scene import Scene, StanceTable, doubles, indices, pieces_of


class Stock:
    """What may still be added: ``free`` (types,) how many of a type the box has; ``field`` (2,) mm: half extent of the
    field."""

    def __init__(self, free, field):
        self.free, self.field = free, field
        self.limits.types, self.limits.free, self.limits.field = len(free), indices(free), doubles(field)


def in_order(a, b):
    """Higher keys first, then lower indices: the order is the same on every system."""
    x, y = cython.cast("Ranked *", a), cython.cast("Ranked *", b)
    if x.key != y.key:
        return -1 if x.key > y.key else 1
    return -1 if x.index < y.index else 1


def ranked(keys, stride, count):
    """The indices of some keys, the highest key first. To be freed."""
    out = cython.cast("Ranked *", room(count * cython.sizeof(Ranked)))
    for i in range(count):
        out[i].key, out[i].index = keys[stride * i], i
    qsort(out, count, cython.sizeof(Ranked), in_order)
    return out


def allowed_stances(stances, limits, pieces, count, out):
    """Write usual stances of which the box still has a piece; their number."""
    used = cython.cast("i64 *", room(8 * limits.types))
    n: i64 = 0
    memset(used, 0, 8 * limits.types)
    for i in range(count):
        used[stances.kind[stance_of(pieces + i)]] += 1
    for s in range(stances.count):
        kind = stances.kind[s]
        if not stances.rare[s] and used[kind] < limits.free[kind]:
            out[n] = s
            n += 1
    free(used)
    return n


def extent_of(stances, pieces, count):
    """Where a state stands."""
    extent: Extent
    extent.low, extent.high, extent.middle = 1e9, -1e9, 0.0
    for i in range(count):
        half = stances.size[stance_of(pieces + i)].width / 2
        extent.low, extent.high = min(extent.low, pieces[i].x - half), max(extent.high, pieces[i].x + half)
        extent.middle += pieces[i].y / count
    return extent


def steps_between(low, high, step):
    """How many places there are from ``low`` on, before ``high``; one at ``high`` itself is none, however it rounds."""
    return max(0, cython.cast("i64", ceil((high - low) / step - 1e-9)))


def keep_worthy(rules, limits, rows, count, turn):
    """Move those to the front that stand in the field and do not lose too much; their number."""
    c, s = cos(turn), sin(turn)
    n: i64 = 0
    for i in range(count):
        x, y = c * rows[i].piece.x - s * rows[i].piece.y, s * rows[i].piece.x + c * rows[i].piece.y
        inside: cython.bint = fabs(x) <= limits.field[0] and fabs(y) <= limits.field[1]
        if inside and rows[i].won > -rules.pixel_nats * rows[i].pixels:
            rows[n] = rows[i]
            n += 1
    return n


def add_two_of_each(rules, rows, count, out):
    """Write each stance's best row, and its next best more than ``next_best_mm`` beside that one; their number."""
    order = ranked(cython.address(rows[0].won), 7, count)
    n: i64 = 0
    for i in range(count):
        row = rows + order[i].index
        same: i64 = 0
        apart: cython.bint = True
        for k in range(n):
            if out[k].piece.stance == row.piece.stance:
                same += 1
                apart = apart and fabs(out[k].piece.x - row.piece.x) > rules.next_best_mm
        if same == 0 or (same == 1 and apart):
            out[n] = row[0]
            n += 1
    free(order)
    return n


def add_apart(rules, rows, count, out, n):
    """Add to ``n`` rows the best ones, leaving out near copies (``near_copy_mm``); how many there are then."""
    order, start = ranked(cython.address(rows[0].won), 7, count), n
    for i in range(count):
        if n == start + rules.branch:
            break
        row = rows + order[i].index
        copied: cython.bint = False
        for k in range(start, n):
            near: cython.bint = fabs(out[k].piece.x - row.piece.x) <= rules.near_copy_mm
            copied = copied or (near and out[k].piece.stance == row.piece.stance)
        if not copied:
            out[n] = row[0]
            n += 1
    free(order)
    return n


def depths_of(stances, pieces, count, middle, out):
    """Write the y at which further pieces are tried on a state: its middle line, and where none of these is near, each
    piece's, and the ends of a deep one; their number."""
    rules = cython.address(stances.rules)
    n: i64 = 1
    out[0] = middle
    for i in range(count):
        depth = stances.size[stance_of(pieces + i)].depth
        deep: i64 = depth > 2 * rules.reach_on_top
        for end in range(-deep, deep + 1):
            y = pieces[i].y + end * depth / 3
            near: cython.bint = False
            for k in range(n):
                near = near or fabs(out[k] - y) <= rules.next_best_mm
            if not near:
                out[n] = y
                n += 1
    return n


def successors_of(stances, limits, pieces, count, turn, view, out):
    """Write further pieces worth trying on a state, on it and beside it, to ``out`` (2 * stances + branch); their
    number. ``turn`` radians: the frame of the state, and of the view."""
    rules, extent, places = cython.address(stances.rules), extent_of(stances, pieces, count), cython.declare(Places)
    draw_pieces(stances, pieces, count, ALL, view)
    places.stance = cython.cast("i64 *", room(8 * stances.count))
    places.stances = allowed_stances(stances, limits, pieces, count, places.stance)
    depths = cython.cast(cython.p_double, room(8 * (3 * count + 1)))
    ys = depths_of(stances, pieces, count, extent.middle, depths)
    above, beside = extent.low - rules.reach_on_top, extent.low - rules.reach_beside
    above_count = steps_between(above, extent.high + rules.reach_on_top, rules.on_top_step)
    beside_count = steps_between(beside, extent.high + rules.reach_beside, rules.beside_step)
    places.x = cython.cast(cython.p_double, room(8 * max(above_count, beside_count)))
    most = places.stances * max(above_count * ys, beside_count)
    rows = cython.cast("Placement *", room((most + 1) * cython.sizeof(Placement)))
    for i in range(above_count):
        places.x[i] = above + i * rules.on_top_step
    got: i64 = 0
    places.xs = above_count
    for i in range(ys):
        places.y, places.ys = depths + i, 1
        got += on_top(stances, places, pieces, count, view, rows + got)
    got = keep_worthy(rules, limits, rows, got, turn)
    n, places.xs, places.y = add_two_of_each(rules, rows, got, out), beside_count, cython.address(extent.middle)
    for i in range(beside_count):
        places.x[i] = beside + i * rules.beside_step
    got = keep_worthy(rules, limits, rows, on_table(stances, places, pieces, count, view, rows), turn)
    n = add_apart(rules, rows, got, out, n)
    free(places.stance)
    free(places.x)
    free(depths)
    free(rows)
    return n


def successors(table: StanceTable, stock: Stock, pieces, turn: cython.double, scene: Scene):
    """Rows (n, 7), as ``scan_table`` gives them, of further pieces worth trying on a state: on it and beside it.

    ``turn`` radians: the frame of the state, and of the scene.
    """
    out = np.empty((2 * table.stances.count + table.stances.rules.branch, 7))
    rows, count, to = pieces_of(pieces), cython.cast("i64", len(pieces)), cython.cast("Placement *", doubles(out))
    stances, limits, view = cython.address(table.stances), cython.address(stock.limits), cython.address(scene.view)
    with cython.nogil:
        n = successors_of(stances, limits, rows, count, turn, view, to)
    return out[:n].copy()
