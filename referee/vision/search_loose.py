"""Compiled loops over loose pieces: single pieces that lie on the table, at any turn, outside the field.

Rows are (stance, x, y, z, yaw): mm, radians; see ``paint``. The note on numba's cache in ``search`` holds here too.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from referee.vision.paint import clear, place


@njit(cache=True, nogil=True, fastmath=True)
def scan_loose(cat, stances, xs, ys, yaws, field_x, field_y, camera, matrix, gains, labels, maps):
    """Evidence of single pieces lying on the table outside the field, at any turn.

    ``labels`` (h, w) int8, the likeliest colour: only places whose middle shows the piece's colour
    are looked at. Rows (n, 7) as in ``scan``.
    """
    out = np.empty((200000, 7))
    n = 0
    size = cat.size
    height, width = maps.near.shape
    for si in range(len(stances)):
        s = stances[si]
        z = size[s, 2] / 2
        for xi in range(len(xs)):
            for yi in range(len(ys)):
                x, y = xs[xi], ys[yi]
                if abs(x) < field_x and abs(y) < field_y:
                    continue
                seen = 0
                for up in (-0.25, 0.0, 0.3):
                    h = z + up * size[s, 2]
                    w = camera[2, 0] * x + camera[2, 1] * y + camera[2, 2] * h + camera[2, 3]
                    u = camera[0, 0] * x + camera[0, 1] * y + camera[0, 2] * h + camera[0, 3]
                    v = camera[1, 0] * x + camera[1, 1] * y + camera[1, 2] * h + camera[1, 3]
                    col = int(matrix[0, 0] * u / w + matrix[0, 2] + 0.5)
                    row = int(matrix[1, 1] * v / w + matrix[1, 2] + 0.5)
                    if 0 <= col < width and 0 <= row < height and labels[row, col] == cat.color[s]:
                        seen += 1
                if seen < 2:
                    continue
                for ai in range(len(yaws)):
                    won, pixels = place(cat, s, x, y, z, yaws[ai], camera, matrix, gains, maps,
                                        False)
                    if won > 0 and n < len(out):
                        out[n, 0] = s
                        out[n, 1] = x
                        out[n, 2] = y
                        out[n, 3] = z
                        out[n, 4] = yaws[ai]
                        out[n, 5] = won
                        out[n, 6] = pixels
                        n += 1
    return out[:n].copy()


@njit(cache=True, nogil=True, fastmath=True)
def climb(cat, piece, field_x, field_y, camera, matrix, gains, maps, steps_mm, steps_rad):
    """Hill climb of one loose piece (5,) over the maps as they are; it stays outside the field."""
    best, pixels = place(cat, int(piece[0]), piece[1], piece[2], piece[3], piece[4], camera, matrix, gains, maps, False)
    trial = piece.copy()
    for level in range(len(steps_mm)):
        for _ in range(4):
            better = False
            for axis in (1, 2, 4):
                for sign in (-1.0, 1.0):
                    trial[:] = piece
                    trial[axis] += sign * (steps_rad[level] if axis == 4 else steps_mm[level])
                    if abs(trial[1]) < field_x and abs(trial[2]) < field_y:
                        continue
                    won, count = place(cat, int(trial[0]), trial[1], trial[2], trial[3], trial[4], camera, matrix,
                                       gains, maps, False)
                    if won > best + 0.5:
                        best = won
                        pixels = count
                        piece[:] = trial
                        better = True
                        break
            if not better:
                break
    return best, pixels


@njit(cache=True, nogil=True, fastmath=True)
def alone(cat, rows, camera, matrix, gains, maps):
    """Evidence of each of ``rows`` drawn alone (n,), and its rows and columns (n, 4): first, last, first, last."""
    won = np.empty(len(rows))
    boxes = np.empty((len(rows), 4), np.int64)
    height, width = maps.near.shape
    for i in range(len(rows)):
        clear(maps)
        won[i], _ = place(cat, int(rows[i, 0]), rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], camera, matrix, gains,
                          maps, True)
        boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3] = height, -1, width, -1
        for row in range(height):
            if maps.from_col[row] <= maps.to_col[row]:
                boxes[i, 0], boxes[i, 1] = min(boxes[i, 0], row), row
                boxes[i, 2] = min(boxes[i, 2], maps.from_col[row])
                boxes[i, 3] = max(boxes[i, 3], maps.to_col[row])
    clear(maps)
    return won, boxes


@njit(cache=True, nogil=True, fastmath=True)
def _touches_drawn(box, maps):
    for row in range(box[0], box[1] + 1):
        if maps.from_col[row] <= box[3] and maps.to_col[row] >= box[2]:
            return True
    return False


@njit(cache=True, nogil=True, fastmath=True)
def add_loose(cat, rows, lone, boxes, kinds, free, camera, matrix, gains, maps, cost, beyond):
    """Greedily draw those loose candidates that win more than ``cost`` over the maps as they are.

    ``lone``, ``boxes`` as ``alone`` gives them: only what overlaps is weighed anew. ``kinds`` (n,) the types of the
    rows and ``free`` (types,) how many of each the build leaves in the box: one ``beyond`` that costs more. Returns
    (chosen row indices, evidence won less costs).
    """
    n = len(rows)
    left = free.copy()
    worth = np.empty(n)
    for i in range(n):
        worth[i] = lone[i]
        if lone[i] > cost and _touches_drawn(boxes[i], maps):
            worth[i], _ = place(cat, int(rows[i, 0]), rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], camera, matrix,
                                gains, maps, False)
    chosen = np.empty(n, np.int64)
    count = 0
    total = 0.0
    while True:
        best, most = -1, 0.0
        for i in range(n):
            net = worth[i] - cost - (beyond if left[kinds[i]] <= 0 else 0.0)
            if net > most:
                best, most = i, net
        if best < 0:
            break
        total += most
        left[kinds[best]] -= 1
        place(cat, int(rows[best, 0]), rows[best, 1], rows[best, 2], rows[best, 3], rows[best, 4], camera, matrix,
              gains, maps, True)
        worth[best] = -1e9
        chosen[count] = best
        count += 1
        for i in range(n):
            if worth[i] > cost and (boxes[i, 0] <= boxes[best, 1] and boxes[i, 1] >= boxes[best, 0]
                                    and boxes[i, 2] <= boxes[best, 3] and boxes[i, 3] >= boxes[best, 2]):
                worth[i], _ = place(cat, int(rows[i, 0]), rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], camera,
                                    matrix, gains, maps, False)
    return chosen[:count], total
