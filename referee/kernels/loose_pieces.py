"""Loose pieces: single pieces that lie on the table, at any turn, outside the field.

The hill climb here is not that of ``local_search``: a loose piece lies on the table at any turn, so that nothing is let
down again, nothing speaks against a place beforehand, and one area, the field, is closed to it.
"""

import cython
import numpy as np
from cython.cimports.libc.math import cos, fabs, sin, sqrt
from cython.cimports.referee.kernels.scene import (
    Scene,
    StanceTable,
    doubles,
    indices,
    labels_of,
    turned,
)

COVERED = cython.declare(cython.int, -2)
REMOVED_SCORE = cython.declare(cython.double, -1e9)
ROUNDS = cython.declare(cython.int, 4)
MOST_ROWS = cython.declare(cython.int, 200_000)
NEVER_COST = cython.declare(cython.double, 1e9)


def shows(stances, piece, labels, view):
    """Whether two of three pixels on the piece's middle line are labelled with its colour, or as covered."""
    stance = stance_of(piece)
    seen: i64 = 0
    for k in range(3):
        z = piece.z + stances.rules.seen_at[k] * stances.size[stance].height
        pixel = pixel_of(piece.x, piece.y, z, view)
        if pixel.row >= 0:
            label = labels[pixel.row * view.width + pixel.column]
            if label == stances.color[stance] or label == COVERED:
                seen += 1
    return seen >= 2


def may_win(stances, piece, scan, view):
    """Whether all there is to win within reach of a piece, however turned, comes to the least that a candidate wins."""
    size, color = stances.size[stance_of(piece)], stances.color[stance_of(piece)]
    point, ahead = point_of(piece.x, piece.y, piece.z, view), view.camera[2]
    far = sqrt(size.width**2 + size.depth**2 + size.height**2) / 2 + scan.reach_mm
    depth = ahead[0] * piece.x + ahead[1] * piece.y + ahead[2] * piece.z + ahead[3] - far
    across, down = far * (view.fx + fabs(point.x - view.cx)) / depth, far * (view.fy + fabs(point.y - view.cy)) / depth
    left, right = max(0, flooring(point.x - across)), min(view.width, ceiling(point.x + across) + 1)
    top, bottom = max(0, flooring(point.y - down)), min(view.height, ceiling(point.y + down) + 1)
    if right <= left or bottom <= top:
        return False
    wide = view.width + 1
    sums = scan.to_win + color * (view.height + 1) * wide
    there = (
        sums[bottom * wide + right] - sums[bottom * wide + left] - sums[top * wide + right] + sums[top * wide + left]
    )
    return there >= scan.least[color]


def is_closed(piece, field):
    """Whether a place is in the field, where no loose piece lies."""
    return fabs(piece.x) < field[0] and fabs(piece.y) < field[1]


def scan_stance(stances, stance, n_yaws, scan, view, out, most):
    """Write the placements of one stance (see ``scan_loose``) to ``out``, at most so many; their number."""
    n: i64 = 0
    for i in range(scan.count):
        for k in range(n_yaws):
            if n == most:
                return n
            piece = cython.address(out[n].piece)
            piece.stance, piece.x, piece.y, piece.yaw = stance, scan.places[i].x, scan.places[i].y, scan.yaws[k]
            piece.z = stances.size[stance].height / 2
            if k == 0 and (
                is_closed(piece, scan.field)
                or not shows(stances, piece, scan.labels, view)
                or not may_win(stances, piece, scan, view)
            ):
                break
            got = weighed(stances, piece, view)
            out[n].won, out[n].pixels = got.won, got.pixels
            if got.won > 0:
                n += 1
    return n


def scan_loose(table: StanceTable, stances, alike, places, yaws, wanted, labels, scene: Scene):
    """Evidence of single pieces lying on the table at ``places`` (n, 2), at any turn.

    ``alike`` (stances,) radians: no turn as great is tried, for each looks then as it did. ``labels`` (h, w) int8, the
    likeliest colour, or -2 where something nearer is seen: only places whose middle shows the piece's colour are looked
    at. ``wanted``: the half extent (2,) of the field, outside which they lie, the least (colours,) that a candidate
    wins, and a reach in mm: places within whose reach the maps leave less to win are not looked at either. Rows (n, 7)
    as in ``scans.scan_table``.
    """
    turns, scan = np.maximum(1, np.searchsorted(yaws, alike)).astype(np.int64), cython.declare(Scan)
    scan.count, scan.places, scan.yaws = len(places), cython.cast("Point *", doubles(places)), doubles(yaws)
    field, least, scan.reach_mm = wanted
    scan.field, scan.labels = doubles(field), labels_of(labels)
    left = np.maximum(scene.gains.each - scene.maps.gained, 0.0, dtype=float)
    sums = np.pad(left.cumsum(1).cumsum(2), ((0, 0), (1, 0), (1, 0)))
    scan.to_win, scan.least = doubles(sums), doubles(least)
    out = np.empty((MOST_ROWS, 7))
    which, n_yaws, to = indices(stances), indices(turns), cython.cast("Placement *", doubles(out))
    own, view, count = cython.address(table.stances), cython.address(scene.view), cython.cast("i64", len(stances))
    n: i64 = 0
    with cython.nogil:
        for i in range(count):
            most = MOST_ROWS - n
            n += scan_stance(own, which[i], n_yaws[i], cython.address(scan), view, to + n, most)
    return out[:n].copy()


def climb_once(stances, row, field, steps, view):
    """Move a placement by one of ``steps`` (mm, radians) along each axis where that helps; whether any did."""
    better: cython.bint = False
    for axis in range(3):
        for sign in range(-1, 2, 2):
            trial = row.piece
            move(cython.address(trial), axis, sign * (steps[1] if axis == 2 else steps[0]))
            if is_closed(cython.address(trial), field):
                continue
            got = weighed(stances, cython.address(trial), view)
            if got.won > row.won + 0.5:
                row.piece, row.won, row.pixels = trial, got.won, got.pixels
                better = True
                break
    return better


def climb(table: StanceTable, rows, field, steps, scene: Scene):
    """Hill climb of each loose piece of ``rows`` (n, 7) over the maps as they are, outside the ``field``, by ``steps``
    (levels, 2) (mm, radians): the rows then, as in ``scans.scan_table``."""
    out = np.array(rows)
    row, closed, step, levels = cython.cast("Placement *", doubles(out)), doubles(field), doubles(steps), len(steps)
    stances, view, n = cython.address(table.stances), cython.address(scene.view), cython.cast("i64", len(rows))
    with cython.nogil:
        for i in range(n):
            got = weighed(stances, cython.address(row[i].piece), view)
            row[i].won, row[i].pixels = got.won, got.pixels
            for level in range(levels):
                for _ in range(ROUNDS):
                    if not climb_once(stances, row + i, closed, step + 2 * level, view):
                        break
    return out


def boxes_drawn(view):
    """Where anything is drawn, in the view and in that beside."""
    boxes: Boxes
    boxes.here = boxes.beside = box_drawn(view)
    if view.beside != cython.NULL:
        boxes.beside = box_drawn(view.beside)
    return boxes


def box_drawn(view):
    """Where anything is drawn in one view."""
    box: Box
    box.top, box.bottom, box.left, box.right = view.height, -1, view.width, -1
    for row in range(view.height):
        if view.from_col[row] <= view.to_col[row]:
            box.top, box.bottom = min(box.top, row), row
            box.left, box.right = min(box.left, view.from_col[row]), max(box.right, view.to_col[row])
    return box


def alone(table: StanceTable, rows, scene: Scene):
    """Evidence of each of ``rows`` (n, 5) drawn alone (n,), and its rows and columns (n, 8): first, last, first,
    last, and those in the view beside."""
    won, boxes, n = np.empty(len(rows)), np.empty((len(rows), 8), np.int64), cython.cast("i64", len(rows))
    piece, to, box = cython.cast("Piece *", doubles(rows)), doubles(won), cython.cast("Boxes *", indices(boxes))
    view = cython.address(scene.view)
    with cython.nogil:
        for i in range(n):
            empty(view)
            to[i] = draw_piece(cython.address(table.stances), piece + i, view)
            box[i] = boxes_drawn(view)
        empty(view)
    return won, boxes


def touches_drawn(boxes, view):
    """Whether anything is drawn in a piece's boxes."""
    beside: cython.bint = view.beside != cython.NULL and touches(boxes.beside, view.beside)
    return beside or touches(boxes.here, view)


def touches(box, view):
    """Whether anything is drawn in a box of one view."""
    for row in range(box.top, box.bottom + 1):
        if view.from_col[row] <= box.right and view.to_col[row] >= box.left:
            return True
    return False


def overlap(a, b):
    """Whether two pieces' boxes have a pixel in common."""
    return have_common(a.here, b.here) or have_common(a.beside, b.beside)


def have_common(a, b):
    """Whether two boxes have a pixel in common."""
    return a.top <= b.bottom and a.bottom >= b.top and a.left <= b.right and a.right >= b.left


def clashes(stances, own, pieces, count, c, s):
    """Whether a loose piece would stand where one of a build does, whose frame is turned by (cos, sin)."""
    size = stances.size + stance_of(own)
    for j in range(count):
        other = stances.size + stance_of(pieces + j)
        dx = own.x - (c * pieces[j].x - s * pieces[j].y)
        dy = own.y - (s * pieces[j].x + c * pieces[j].y)
        near = (min(size.width, size.depth) + min(other.width, other.depth)) / 2
        if sqrt(dx * dx + dy * dy) < near and pieces[j].z - other.height / 2 < size.height:
            return True
    return False


def take_costs(stances, build, loose):
    """Write what speaks against each candidate beside a build: none stands where a piece of it is."""
    c, s, field, prices = cos(build.turn), sin(build.turn), loose.field, loose.prices
    for i in range(loose.count):
        own = loose.pieces + i
        loose.costs[i] = prices.outside
        if fabs(own.x) <= field[0] and fabs(own.y) <= field[1]:
            stands: cython.bint = clashes(stances, own, build.pieces, build.count, c, s)
            loose.costs[i] = NEVER_COST if stands else prices.apart
        if loose.left[stances.kind[stance_of(own)]] <= 0:
            loose.costs[i] += prices.beyond


def weigh_hidden(stances, loose, view):
    """Weigh those candidates anew into whose box something drawn reaches: it may hide them, and that costs."""
    for i in range(loose.count):
        loose.worth[i] = loose.won[i]
        if touches_drawn(loose.boxes[i], view):  # what hides it in part may turn what it wins alone either way
            loose.worth[i] = weighed(stances, loose.pieces + i, view).won
            loose.costs[i] += loose.prices.hidden


def most_worth(worth, costs, count):
    """The candidate that wins most less its cost, -1: none does."""
    best, most = cython.cast("i64", -1), 0.0
    for i in range(count):
        if worth[i] - costs[i] > most:
            best, most = i, worth[i] - costs[i]
    return best


def add_greedily(stances, loose, view, chosen, total):
    """Draw the candidate that is worth most, until none is worth its cost. What does not overlap is not weighed anew.
    Writes which are chosen, and what they win less their costs; how many."""
    n: i64 = 0
    worth, costs, left = loose.worth, loose.costs, loose.left
    total[0] = 0.0
    best = most_worth(worth, costs, loose.count)
    while best >= 0:
        total[0] += worth[best] - costs[best]
        draw_piece(stances, loose.pieces + best, view)
        chosen[n], worth[best], kind = best, REMOVED_SCORE, stances.kind[stance_of(loose.pieces + best)]
        n += 1
        left[kind] -= 1
        for i in range(loose.count):
            if left[kind] == 0 and stances.kind[stance_of(loose.pieces + i)] == kind:
                costs[i] += loose.prices.beyond
            if worth[i] > costs[i] and overlap(loose.boxes[i], loose.boxes[best]):
                worth[i] = weighed(stances, loose.pieces + i, view).won
        best = most_worth(worth, costs, loose.count)
    return n


def add_to(stances, build, loose, view, chosen, total):
    """Greedily draw those candidates that win more than they cost beside a build. See ``add_greedily``."""
    there = turned(view, build.turn)
    draw_pieces(stances, build.pieces, build.count, ALL, cython.address(there))
    for k in range(loose.types):
        loose.left[k] = loose.stock[k]
    for j in range(build.count):
        loose.left[stances.kind[stance_of(build.pieces + j)]] -= 1
    take_costs(stances, build, loose)
    weigh_hidden(stances, loose, view)
    return add_greedily(stances, loose, view, chosen, total)


def add_loose(table: StanceTable, states, lone, stock, field, scene: Scene, prices):
    """``add_to`` each of n ``states`` (see ``local_search.refine_each``) of the candidates ``lone``: ``rows`` (m, 5)
    and what ``alone`` says of them, ``won`` and ``boxes``. ``stock`` (types,), ``field`` (2,) mm, ``prices`` by name.

    Gives indices of candidates (n, m), how many of each row are chosen (n,), and the evidence won less costs (n,).
    """
    n, m, loose = cython.cast("i64", len(states.counts)), cython.cast("i64", len(lone.rows)), cython.declare(Loose)
    scratch, left = np.empty((2, m)), np.empty(len(stock), np.int64)
    loose.count, loose.types, loose.pieces = m, len(stock), cython.cast("Piece *", doubles(lone.rows))
    loose.won, loose.boxes = doubles(lone.won), cython.cast("Boxes *", indices(lone.boxes))
    loose.stock, loose.left, loose.field, loose.prices = indices(stock), indices(left), doubles(field), prices
    loose.worth, loose.costs = doubles(scratch[0]), doubles(scratch[1])
    chosen, counts, won = np.empty((n, m), np.int64), np.empty(n, np.int64), np.empty(n)
    sizes, turns, most = indices(states.counts), doubles(states.turns), cython.cast("i64", states.pieces.shape[1])
    first, to, many, total = pieces_of(states.pieces), indices(chosen), indices(counts), doubles(won)
    own, view, build = cython.address(table.stances), cython.address(scene.view), cython.declare(Placed)
    with cython.nogil:
        for k in range(n):
            build.pieces, build.count, build.turn = first + most * k, sizes[k], turns[k]
            many[k] = add_to(own, cython.address(build), cython.address(loose), view, to + m * k, total + k)
    return chosen, counts, won
