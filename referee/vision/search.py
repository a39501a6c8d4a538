"""Compiled inner loops of the search: what a piece at a place would explain, and where it would rest.

Pieces of a state are rows (stance, x, y, z, yaw): mm, radians. The picture so far is two maps:
``near`` (h, w) inverse depth of the nearest piece and ``gained`` (h, w) the evidence that it claims.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

HOPED = 3.0
"""A place is looked at when its middle loses no more than this (half resolution: 4 pixels)."""

TOUCH_MM = 3.0
"""Plans of two pieces must overlap by this much in x and in y for one to rest on the other."""


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
def rest_on(cat, stance, x, y, yaw, pieces, count):
    """Where a piece let down at x, y rests among the first ``count`` of ``pieces``.

    Returns (z of its centre, how many pieces carry it; 0 is the table).
    """
    size, lower, upper = cat[1], cat[2], cat[3]
    rest = size[stance, 2] / 2
    carriers = 0
    steps = lower.shape[1]
    wx, wy = size[stance, 0], size[stance, 1]
    for j in range(count):
        other = int(pieces[j, 0])
        ox, oy = size[other, 0], size[other, 1]
        if (min(y + wy / 2, pieces[j, 2] + oy / 2) - max(y - wy / 2, pieces[j, 2] - oy / 2)) < TOUCH_MM:
            continue
        left = max(x - wx / 2, pieces[j, 1] - ox / 2)
        right = min(x + wx / 2, pieces[j, 1] + ox / 2)
        if right - left < TOUCH_MM:
            continue
        top = -1e9
        for i in range(17):
            at = left + 0.1 + (right - left - 0.2) * i / 16
            u = (at - x) / wx + 0.5
            v = (at - pieces[j, 1]) / ox + 0.5
            iu = min(max(u * (steps - 1), 0.0), steps - 1.001)
            iv = min(max(v * (steps - 1), 0.0), steps - 1.001)
            a, b = int(iu), int(iv)
            low = lower[stance, a] + (iu - a) * (lower[stance, a + 1] - lower[stance, a])
            high = upper[other, b] + (iv - b) * (upper[other, b + 1] - upper[other, b])
            top = max(top, pieces[j, 3] + high - low)
        if top > rest + 0.5:
            rest = top
            carriers = 1
        elif top > rest - 0.5 and top > size[stance, 2] / 2 + 0.5:
            carriers += 1
    return rest, carriers


@njit(cache=True, nogil=True, fastmath=True)
def scan(cat, stances, xs, ys, yaws, pieces, count, on_top, camera, matrix, gains, near, gained, stamp, mark):
    """Evidence of every stance at every x, y, yaw let down on the pieces of a state.

    ``on_top``: leave out places on the table; otherwise only the table. Gives (n, 7) rows
    (stance, x, y, z, yaw, evidence, pixels), where anything at all was won.
    """
    total = len(stances) * len(xs) * len(ys) * len(yaws)
    out = np.empty((total, 7))
    n = 0
    size = cat[1]
    height, width = near.shape
    for si in range(len(stances)):
        s = stances[si]
        g = gains[cat[0][s]]
        for xi in range(len(xs)):
            for yi in range(len(ys)):
                for ai in range(len(yaws)):
                    x, y, yaw = xs[xi], ys[yi], yaws[ai]
                    z, carriers = rest_on(cat, s, x, y, yaw, pieces, count)
                    if (carriers > 0) != on_top:
                        continue
                    # The centre's own pixel speaks for most pieces; arches are hollow there.
                    seen = 0
                    for up in (-0.3, 0.0, 0.35):
                        w = camera[2, 0] * x + camera[2, 1] * y + camera[2, 2] * (z + up * size[s, 2]) + camera[2, 3]
                        u = camera[0, 0] * x + camera[0, 1] * y + camera[0, 2] * (z + up * size[s, 2]) + camera[0, 3]
                        v = camera[1, 0] * x + camera[1, 1] * y + camera[1, 2] * (z + up * size[s, 2]) + camera[1, 3]
                        col = int(matrix[0, 0] * u / w + matrix[0, 2] + 0.5)
                        row = int(matrix[1, 1] * v / w + matrix[1, 2] + 0.5)
                        if 0 <= col < width and 0 <= row < height and g[row, col] > gained[row, col] - HOPED:
                            seen += 1
                    if seen == 0:
                        continue
                    mark += 1
                    won, pixels = place(cat, s, x, y, z, yaw, camera, matrix, gains, near, gained, stamp, mark, False)
                    if won > -2.0 * pixels - 1e-9 and pixels > 0:
                        out[n, 0] = s
                        out[n, 1] = x
                        out[n, 2] = y
                        out[n, 3] = z
                        out[n, 4] = yaw
                        out[n, 5] = won
                        out[n, 6] = pixels
                        n += 1
    return out[:n].copy(), mark


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


@njit(cache=True, nogil=True, fastmath=True)
def settle(cat, pieces, count):
    """Let every piece down on those before it: rewrites the z of each row, in order."""
    for i in range(count):
        pieces[i, 3], _ = rest_on(cat, int(pieces[i, 0]), pieces[i, 1], pieces[i, 2], pieces[i, 4], pieces, i)


Y_SLACK_MM, YAW_SLACK = 4.0, 0.10
Y_COST, YAW_COST, MOST_COST = 40.0, 14.0, 450.0
"""Nats at one slack off the build's common line or turn, and the most that one piece can cost.
Builders put pieces within 5 mm of one line and 5 degrees of one turn (dev set, every session)."""
MOST_TURN = 0.26
"""Contract: a build is turned by up to 15 degrees."""
TOPPLE_COST, TOPPLE_SLACK_MM = 400.0, 3.5
"""Nats against a piece whose load's centre lies further than the slack beside what carries it."""


@njit(cache=True, nogil=True, fastmath=True)
def contact(cat, stance, x, y, z, pieces, count, skip):
    """Extent in x of what carries a piece at x, y, z: (left, right); empty (left > right) if nothing."""
    size, lower, upper = cat[1], cat[2], cat[3]
    steps = lower.shape[1]
    wx, wy = size[stance, 0], size[stance, 1]
    left, right = 1e9, -1e9
    if z - size[stance, 2] / 2 < 1.0:
        for a in range(steps):
            if lower[stance, a] + size[stance, 2] / 2 < 0.6:
                at = x + (a / (steps - 1) - 0.5) * wx
                left = min(left, at)
                right = max(right, at)
    for j in range(count):
        if j == skip or pieces[j, 3] >= z:
            continue
        other = int(pieces[j, 0])
        ox, oy = size[other, 0], size[other, 1]
        if min(y + wy / 2, pieces[j, 2] + oy / 2) - max(y - wy / 2, pieces[j, 2] - oy / 2) < TOUCH_MM:
            continue
        low = max(x - wx / 2, pieces[j, 1] - ox / 2)
        high = min(x + wx / 2, pieces[j, 1] + ox / 2)
        if high - low < TOUCH_MM:
            continue
        for i in range(17):
            at = low + 0.1 + (high - low - 0.2) * i / 16
            iu = min(max(((at - x) / wx + 0.5) * (steps - 1), 0.0), steps - 1.001)
            iv = min(max(((at - pieces[j, 1]) / ox + 0.5) * (steps - 1), 0.0), steps - 1.001)
            a, b = int(iu), int(iv)
            under = z + lower[stance, a] + (iu - a) * (lower[stance, a + 1] - lower[stance, a])
            above = pieces[j, 3] + upper[other, b] + (iv - b) * (upper[other, b + 1] - upper[other, b])
            if under - above < 1.2:
                left = min(left, at)
                right = max(right, at)
    return left, right


@njit(cache=True, nogil=True, fastmath=True)
def topple(cat, pieces, count):
    """Prior cost of pieces that would tip: each piece's own weight and all that rests on it alone."""
    size = cat[1]
    cost = 0.0
    mass = np.empty(count)
    centre = np.empty(count)
    for i in range(count):
        s = int(pieces[i, 0])
        mass[i] = size[s, 0] * size[s, 1] * size[s, 2]
        centre[i] = pieces[i, 1]
    order = np.argsort(-pieces[:count, 3])
    for k in range(count):
        i = order[k]
        left, right = contact(cat, int(pieces[i, 0]), pieces[i, 1], pieces[i, 2], pieces[i, 3], pieces, count, i)
        if left > right:
            continue
        off = max(left - centre[i], centre[i] - right)
        if off > TOPPLE_SLACK_MM:
            cost += TOPPLE_COST * min((off - TOPPLE_SLACK_MM) / 4.0, 1.0)
        # hand the load down to whatever carries its middle
        below, gap = -1, 1e9
        for j in range(count):
            if j != i and pieces[j, 3] < pieces[i, 3]:
                reach = size[int(pieces[j, 0]), 0] / 2
                away = max(abs(pieces[j, 1] - centre[i]) - reach, 0.0)
                high = abs((pieces[i, 3] - size[int(pieces[i, 0]), 2] / 2)
                           - (pieces[j, 3] + size[int(pieces[j, 0]), 2] / 2))
                if away + high < gap:
                    gap, below = away + high, j
        if below >= 0 and gap < 15.0:
            total = mass[below] + mass[i]
            centre[below] = (centre[below] * mass[below] + centre[i] * mass[i]) / total
            mass[below] = total
    return cost


@njit(cache=True, nogil=True, fastmath=True)
def straightness(cat, pieces, count):
    """Prior cost of a crooked or toppling build: off its own line, turned against it, not carried."""
    if count == 0:
        return 0.0
    y, turn = 0.0, 0.0
    for i in range(count):
        y += pieces[i, 2] / count
        turn += pieces[i, 4] / count
    cost = YAW_COST * (turn / MOST_TURN) ** 2 / 2
    for i in range(count):
        d, t = (pieces[i, 2] - y) / Y_SLACK_MM, (pieces[i, 4] - turn) / YAW_SLACK
        cost += min(Y_COST * d * d / 2 + YAW_COST * t * t / 2, MOST_COST)
    return cost + topple(cat, pieces, count)


@njit(cache=True, nogil=True, fastmath=True)
def _moved(pieces, trial, count, i, axis, step):
    """Copy ``pieces`` to ``trial`` with one move: of piece i, or of the whole build when i is -1."""
    trial[:] = pieces
    if i >= 0:
        trial[i, axis] += step
    elif axis != 4:
        for j in range(count):
            trial[j, axis] += step
    else:
        x, y = 0.0, 0.0
        for j in range(count):
            x += pieces[j, 1] / count
            y += pieces[j, 2] / count
        c, s = math.cos(step), math.sin(step)
        for j in range(count):
            dx, dy = pieces[j, 1] - x, pieces[j, 2] - y
            trial[j, 1] = x + c * dx - s * dy
            trial[j, 2] = y + s * dx + c * dy
            trial[j, 4] += step


@njit(cache=True, nogil=True, fastmath=True)
def refine(cat, pieces, count, camera, matrix, gains, near, gained, stamp, mark, steps_mm, steps_rad, rounds):
    """Hill climb of a state's places; rewrites ``pieces``. Returns (evidence - straightness, mark)."""
    trial = pieces.copy()
    settle(cat, pieces, count)
    best, mark = score(cat, pieces, count, camera, matrix, gains, near, gained, stamp, mark)
    best -= straightness(cat, pieces, count)
    for level in range(len(steps_mm)):
        for _ in range(rounds):
            better = False
            for i in range(-1, count):
                if i == 0 and count == 1:
                    continue
                for axis in (1, 2, 4):
                    step = steps_rad[level] if axis == 4 else steps_mm[level]
                    for sign in (-1.0, 1.0):
                        _moved(pieces, trial, count, i, axis, sign * step)
                        settle(cat, trial, count)
                        got, mark = score(cat, trial, count, camera, matrix, gains, near, gained, stamp, mark)
                        got -= straightness(cat, trial, count)
                        if got > best + 0.5:
                            best = got
                            pieces[:] = trial
                            better = True
                            break
            if not better:
                break
    return best, mark


@njit(cache=True, nogil=True, fastmath=True)
def scan_loose(cat, stances, xs, ys, yaws, field_x, field_y, camera, matrix, gains, labels, near, gained, stamp, mark):
    """Evidence of single pieces lying on the table outside the field, at any turn.

    ``labels`` (h, w) int8, the likeliest colour: only places whose middle shows the piece's colour
    are looked at. Rows (n, 7) as in ``scan``.
    """
    out = np.empty((200000, 7))
    n = 0
    size = cat[1]
    height, width = near.shape
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
                    if 0 <= col < width and 0 <= row < height and labels[row, col] == cat[0][s]:
                        seen += 1
                if seen < 2:
                    continue
                for ai in range(len(yaws)):
                    mark += 1
                    won, pixels = place(cat, s, x, y, z, yaws[ai], camera, matrix, gains, near, gained, stamp, mark,
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
    return out[:n].copy(), mark


@njit(cache=True, nogil=True, fastmath=True)
def climb(cat, piece, field_x, field_y, camera, matrix, gains, near, gained, stamp, mark, steps_mm, steps_rad):
    """Hill climb of one loose piece (5,) over the maps as they are; it stays outside the field."""
    best, pixels = place(cat, int(piece[0]), piece[1], piece[2], piece[3], piece[4], camera, matrix, gains, near,
                         gained, stamp, mark + 1, False)
    mark += 1
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
                    mark += 1
                    won, count = place(cat, int(trial[0]), trial[1], trial[2], trial[3], trial[4], camera, matrix,
                                       gains, near, gained, stamp, mark, False)
                    if won > best + 0.5:
                        best = won
                        pixels = count
                        piece[:] = trial
                        better = True
                        break
            if not better:
                break
    return best, pixels, mark


@njit(cache=True, nogil=True, fastmath=True)
def add_loose(cat, rows, camera, matrix, gains, near, gained, stamp, mark, cost):
    """Greedily draw those loose candidates that win more than ``cost`` over the maps as they are.

    Returns (chosen row indices, evidence won less costs, mark).
    """
    n = len(rows)
    free = np.ones(n, np.bool_)
    chosen = np.empty(n, np.int64)
    count = 0
    total = 0.0
    while True:
        best, which = cost, -1
        for i in range(n):
            if free[i]:
                mark += 1
                won, _ = place(cat, int(rows[i, 0]), rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], camera, matrix,
                               gains, near, gained, stamp, mark, False)
                if won > best:
                    best, which = won, i
                elif won < cost:
                    free[i] = False
        if which < 0:
            break
        mark += 1
        place(cat, int(rows[which, 0]), rows[which, 1], rows[which, 2], rows[which, 3], rows[which, 4], camera, matrix,
              gains, near, gained, stamp, mark, True)
        free[which] = False
        chosen[count] = which
        count += 1
        total += best - cost
    return chosen[:count], total, mark

REPLACE, INSERT, REMOVE, SWAP, NUDGE = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True, fastmath=True)
def edit(pieces, count, kind, i, s, out):
    """Write to ``out`` the state with one edit; returns its count.

    REPLACE piece i by stance s; INSERT stance s below piece i; REMOVE piece i; SWAP pieces i and s;
    NUDGE piece i by s - 2 steps of 8 mm in x.
    """
    out[:count] = pieces[:count]
    if kind == 0:
        out[i, 0] = s
        return count
    if kind == 1:
        for j in range(count, i, -1):
            out[j] = out[j - 1]
        out[i] = pieces[i]
        out[i, 0] = s
        return count + 1
    if kind == 2:
        for j in range(i, count - 1):
            out[j] = pieces[j + 1]
        return count - 1
    if kind == 3:
        out[i, 0], out[s, 0] = pieces[s, 0], pieces[i, 0]
        return count
    out[i, 1] += (s - 2) * 8.0
    return count


@njit(cache=True, nogil=True, fastmath=True)
def edits(cat, kinds, stock, rare, pieces, count, most, camera, matrix, gains, near, gained, stamp, mark):
    """Score every edit of a state: rows (n, 4) (score less nothing, kind, i, s).

    ``kinds`` (stances,) the type of each stance and ``stock`` (types,) how many there are of each.
    """
    n_stances = len(kinds)
    out = np.empty((count * (2 * n_stances + 8) + count * count, 4))
    trial = np.empty((count + 1, 5))
    used = np.zeros(len(stock), np.int64)
    for i in range(count):
        used[kinds[int(pieces[i, 0])]] += 1
    n = 0
    for i in range(count):
        own = int(pieces[i, 0])
        for kind in range(5):
            if kind == 1 and count >= most:
                continue
            last = n_stances if kind < 2 else (1 if kind == 2 else (count if kind == 3 else 5))
            for s in range(last):
                if kind < 2:
                    if rare[s] and kinds[s] != kinds[own]:
                        continue
                    free = stock[kinds[s]] - used[kinds[s]] + (1 if kind == 0 and kinds[s] == kinds[own] else 0)
                    if free < 1 or (kind == 0 and s == own):
                        continue
                if kind == 3 and (s <= i or pieces[s, 0] == pieces[i, 0]):
                    continue
                if kind == 4 and s == 2:
                    continue
                m = edit(pieces, count, kind, i, s, trial)
                settle(cat, trial, m)
                got, mark = score(cat, trial, m, camera, matrix, gains, near, gained, stamp, mark)
                out[n, 0] = got - straightness(cat, trial, m)
                out[n, 1] = kind
                out[n, 2] = i
                out[n, 3] = s
                n += 1
    return out[:n].copy(), mark


@njit(cache=True, nogil=True, fastmath=True)
def place_whole(cat, rows, count, xs, ys, turns, camera, matrix, gains, near, gained, stamp, mark):
    """Score a whole build at every place: rows (n, 4) (score, x, y, turn). ``rows`` in its own frame."""
    out = np.empty((len(xs) * len(ys) * len(turns), 4))
    moved = rows.copy()
    turned = np.empty((3, 4))
    n = 0
    for t in range(len(turns)):
        c, s = math.cos(turns[t]), math.sin(turns[t])
        for k in range(3):
            turned[k, 0] = camera[k, 0] * c + camera[k, 1] * s
            turned[k, 1] = -camera[k, 0] * s + camera[k, 1] * c
            turned[k, 2] = camera[k, 2]
            turned[k, 3] = camera[k, 3]
        for i in range(len(xs)):
            for j in range(len(ys)):
                # the place is given in the mat's frame; the rows live in the turned one
                x = c * xs[i] + s * ys[j]
                y = -s * xs[i] + c * ys[j]
                for k in range(count):
                    moved[k, 1] = rows[k, 1] + x
                    moved[k, 2] = rows[k, 2] + y
                got, mark = score(cat, moved, count, turned, matrix, gains, near, gained, stamp, mark)
                out[n, 0] = got
                out[n, 1] = x
                out[n, 2] = y
                out[n, 3] = turns[t]
                n += 1
    return out, mark
