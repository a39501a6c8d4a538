"""Compiled loops over loose pieces: single pieces that lie on the table, at any turn, outside the field.

Rows are (stance, x, y, z, yaw): mm, radians; see ``paint``.
"""

from __future__ import annotations

import numpy as np

from referee.vision.compiled import lean, loop
from referee.vision.paint import clear, place


@lean
def _shows(s, x, y, z, cat, camera, matrix, labels):
    """Whether two of three pixels on the middle line of a piece of stance s are of its colour."""
    height, width = labels.shape
    seen = 0
    for up in (-0.25, 0.0, 0.3):
        h = z + up * cat.size[s, 2]
        w = camera[2, 0] * x + camera[2, 1] * y + camera[2, 2] * h + camera[2, 3]
        u = camera[0, 0] * x + camera[0, 1] * y + camera[0, 2] * h + camera[0, 3]
        v = camera[1, 0] * x + camera[1, 1] * y + camera[1, 2] * h + camera[1, 3]
        col = int(matrix[0, 0] * u / w + matrix[0, 2] + 0.5)
        row = int(matrix[1, 1] * v / w + matrix[1, 2] + 0.5)
        if 0 <= col < width and 0 <= row < height and labels[row, col] == cat.color[s]:
            seen += 1
    return seen >= 2


@lean
def _scanned(cat, s, xs, ys, yaws, field_x, field_y, camera, matrix, gains, labels, maps, out, n):
    """Add the rows of one stance to ``out``, which has n; returns how many there are then."""
    z = cat.size[s, 2] / 2
    for xi in range(len(xs)):
        for yi in range(len(ys)):
            x, y = xs[xi], ys[yi]
            if (abs(x) < field_x and abs(y) < field_y) or not _shows(s, x, y, z, cat, camera, matrix, labels):
                continue
            for ai in range(len(yaws)):
                won, pixels = place(cat, s, x, y, z, yaws[ai], camera, matrix, gains, maps, False)
                if won > 0 and n < len(out):
                    out[n, 0], out[n, 1], out[n, 2], out[n, 3], out[n, 4] = s, x, y, z, yaws[ai]
                    out[n, 5], out[n, 6] = won, pixels
                    n += 1
    return n


@loop
def scan_loose(cat, stances, xs, ys, yaws, field_x, field_y, camera, matrix, gains, labels, maps):
    """Evidence of single pieces lying on the table outside the field, at any turn.

    ``labels`` (h, w) int8, the likeliest colour: only places whose middle shows the piece's colour
    are looked at. Rows (n, 7) as in ``scan``.
    """
    out = np.empty((200000, 7))
    n = 0
    for si in range(len(stances)):
        n = _scanned(cat, stances[si], xs, ys, yaws, field_x, field_y, camera, matrix, gains, labels, maps, out, n)
    return out[:n].copy()


@lean
def _climbed(cat, piece, trial, field_x, field_y, camera, matrix, gains, maps, steps_mm, steps_rad):
    best, pixels = place(cat, int(piece[0]), piece[1], piece[2], piece[3], piece[4], camera, matrix, gains, maps, False)
    for level in range(len(steps_mm)):
        for _ in range(4):
            better = False
            for axis in (1, 2, 4):
                for sign in (-1.0, 1.0):
                    _copy(piece, trial)
                    trial[axis] += sign * (steps_rad[level] if axis == 4 else steps_mm[level])
                    if abs(trial[1]) < field_x and abs(trial[2]) < field_y:
                        continue
                    won, count = place(
                        cat, int(trial[0]), trial[1], trial[2], trial[3], trial[4], camera, matrix, gains, maps, False
                    )
                    if won > best + 0.5:
                        best = won
                        pixels = count
                        _copy(trial, piece)
                        better = True
                        break
            if not better:
                break
    return best, pixels


@lean
def _copy(source, target):
    for k in range(5):
        target[k] = source[k]


@loop
def climb(cat, rows, field_x, field_y, camera, matrix, gains, maps, steps_mm, steps_rad):
    """Hill climb of each loose piece of ``rows`` (n, 5 or more) over the maps as they are; it stays outside the field.

    Returns rows (n, 7) as in ``scan``.
    """
    out = np.empty((len(rows), 7))
    trial = np.empty(5)
    for i in range(len(rows)):
        piece = rows[i, :5].copy()
        out[i, 5], out[i, 6] = _climbed(
            cat, piece, trial, field_x, field_y, camera, matrix, gains, maps, steps_mm, steps_rad
        )
        out[i, :5] = piece
    return out


@lean
def _worth(cat, rows, i, camera, matrix, gains, maps, keep):
    """Evidence that the piece of row i wins over the maps as they are; drawn into them if ``keep``."""
    return place(
        cat, int(rows[i, 0]), rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], camera, matrix, gains, maps, keep
    )[0]


@lean
def _box(maps, box):
    """Write to ``box`` (4,) where anything is drawn: first and last row, first and last column."""
    height, width = maps.near.shape
    box[0], box[1], box[2], box[3] = height, -1, width, -1
    for row in range(height):
        if maps.from_col[row] <= maps.to_col[row]:
            box[0], box[1] = min(box[0], row), row
            box[2] = min(box[2], maps.from_col[row])
            box[3] = max(box[3], maps.to_col[row])


@loop
def alone(cat, rows, camera, matrix, gains, maps):
    """Evidence of each of ``rows`` drawn alone (n,), and its rows and columns (n, 4): first, last, first, last."""
    won = np.empty(len(rows))
    boxes = np.empty((len(rows), 4), np.int64)
    for i in range(len(rows)):
        clear(maps)
        won[i] = _worth(cat, rows, i, camera, matrix, gains, maps, True)
        _box(maps, boxes[i])
    clear(maps)
    return won, boxes


@lean
def _touches_drawn(box, maps):
    for row in range(box[0], box[1] + 1):
        if maps.from_col[row] <= box[3] and maps.to_col[row] >= box[2]:
            return True
    return False


@lean
def _most_worth(worth, kinds, left, cost, beyond):
    """The candidate that wins most less its cost (-1: none does), and what it wins."""
    best, most = -1, 0.0
    for i in range(len(worth)):
        net = worth[i] - cost - (beyond if left[kinds[i]] <= 0 else 0.0)
        if net > most:
            best, most = i, net
    return best, most


@lean
def _taken(cat, rows, worth, boxes, kinds, left, chosen, camera, matrix, gains, maps, cost, beyond):
    """Draw what is worth it, the best first, into ``chosen`` (n,); how many that are, and what they win."""
    count, total = 0, 0.0
    while True:
        best, most = _most_worth(worth, kinds, left, cost, beyond)
        if best < 0:
            return count, total
        total += most
        left[kinds[best]] -= 1
        _worth(cat, rows, best, camera, matrix, gains, maps, True)
        worth[best] = -1e9
        chosen[count] = best
        count += 1
        for i in range(len(rows)):
            if worth[i] > cost and (
                boxes[i, 0] <= boxes[best, 1]
                and boxes[i, 1] >= boxes[best, 0]
                and boxes[i, 2] <= boxes[best, 3]
                and boxes[i, 3] >= boxes[best, 2]
            ):
                worth[i] = _worth(cat, rows, i, camera, matrix, gains, maps, False)


@loop
def add_loose(cat, rows, lone, boxes, kinds, free, camera, matrix, gains, maps, cost, beyond):
    """Greedily draw those loose candidates that win more than ``cost`` over the maps as they are.

    ``lone``, ``boxes`` as ``alone`` gives them: only what overlaps is weighed anew. ``kinds`` (n,) the types of the
    rows and ``free`` (types,) how many of each the build leaves in the box: one ``beyond`` that costs more. Returns
    (chosen row indices, evidence won less costs).
    """
    worth = lone.copy()
    for i in range(len(rows)):
        if lone[i] > cost and _touches_drawn(boxes[i], maps):
            worth[i] = _worth(cat, rows, i, camera, matrix, gains, maps, False)
    chosen = np.empty(len(rows), np.int64)
    count, total = _taken(
        cat, rows, worth, boxes, kinds, free.copy(), chosen, camera, matrix, gains, maps, cost, beyond
    )
    return chosen[:count], total
