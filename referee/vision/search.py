"""Compiled loops over places and edits: the scans, hill climbs and trials of the search.

Pieces of a state are rows (stance, x, y, z, yaw): mm, radians; see ``paint`` and ``rest``.

Mind numba's cache when editing: a compiled loop is rebuilt when its own file changes, not when a
function that it calls from another file does. ``tests/run`` starts without the cache; by hand,
delete ``*.nbi`` and ``*.nbc`` after a change to ``paint`` or ``rest``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from referee.vision.paint import draw, place, score
from referee.vision.rest import rest_on, settle, straightness

HOPED = 3.0
"""A place is looked at when one of three pixels on its middle line loses no more than this, on the coarse canvas:
arches and cups are hollow."""


@njit(cache=True, nogil=True, fastmath=True)
def scan(cat, stances, xs, ys, yaws, pieces, count, on_top, camera, matrix, gains, maps):
    """Evidence of every stance at every x, y, yaw let down on the pieces of a state.

    ``on_top``: leave out places on the table; otherwise only the table. Gives (n, 7) rows
    (stance, x, y, z, yaw, evidence, pixels), where anything at all was won.
    """
    total = len(stances) * len(xs) * len(ys) * len(yaws)
    out = np.empty((total, 7))
    n = 0
    size = cat.size
    height, width = maps.near.shape
    for si in range(len(stances)):
        s = stances[si]
        g = gains.each[cat.color[s]]
        for xi in range(len(xs)):
            for yi in range(len(ys)):
                for ai in range(len(yaws)):
                    x, y, yaw = xs[xi], ys[yi], yaws[ai]
                    z, carriers = rest_on(cat, s, x, y, yaw, pieces, count)
                    if (carriers > 0) != on_top:
                        continue
                    seen = 0
                    for up in (-0.3, 0.0, 0.35):
                        w = camera[2, 0] * x + camera[2, 1] * y + camera[2, 2] * (z + up * size[s, 2]) + camera[2, 3]
                        u = camera[0, 0] * x + camera[0, 1] * y + camera[0, 2] * (z + up * size[s, 2]) + camera[0, 3]
                        v = camera[1, 0] * x + camera[1, 1] * y + camera[1, 2] * (z + up * size[s, 2]) + camera[1, 3]
                        col = int(matrix[0, 0] * u / w + matrix[0, 2] + 0.5)
                        row = int(matrix[1, 1] * v / w + matrix[1, 2] + 0.5)
                        if 0 <= col < width and 0 <= row < height and g[row, col] > maps.gained[row, col] - HOPED:
                            seen += 1
                    if seen == 0:
                        continue
                    won, pixels = place(cat, s, x, y, z, yaw, camera, matrix, gains, maps, False)
                    if won > -2.0 * pixels - 1e-9 and pixels > 0:
                        out[n, 0] = s
                        out[n, 1] = x
                        out[n, 2] = y
                        out[n, 3] = z
                        out[n, 4] = yaw
                        out[n, 5] = won
                        out[n, 6] = pixels
                        n += 1
    return out[:n].copy()


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
def _others_stay(pieces, trial, count, i):
    """Whether a move of piece i has left every other piece where it was."""
    for j in range(count):
        if j != i and trial[j, 3] != pieces[j, 3]:
            return False
    return True


@njit(cache=True, nogil=True, fastmath=True)
def refine(cat, pieces, count, first, camera, matrix, gains, maps, steps_mm, steps_rad, rounds):
    """Hill climb of a state's places; rewrites ``pieces``. Returns evidence less straightness.

    The whole build is moved, and each piece from the ``first`` on. While one piece is tried the
    others stay drawn, as long as none of them rests on it.
    """
    trial = pieces.copy()
    settle(cat, pieces, count)
    best = score(cat, pieces, count, camera, matrix, gains, maps) - straightness(cat, pieces, count)
    for level in range(len(steps_mm)):
        for _ in range(rounds):
            better = False
            for i in range(-1, count):
                if (i == 0 and count == 1) or 0 <= i < first:
                    continue
                others, drawn = 0.0, False
                for axis in (1, 2, 4):
                    step = steps_rad[level] if axis == 4 else steps_mm[level]
                    for sign in (-1.0, 1.0):
                        _moved(pieces, trial, count, i, axis, sign * step)
                        settle(cat, trial, count)
                        got = -straightness(cat, trial, count)
                        if i >= 0 and _others_stay(pieces, trial, count, i):
                            if not drawn:
                                others, drawn = draw(cat, pieces, count, i, camera, matrix, gains, maps), True
                            won, _ = place(cat, int(trial[i, 0]), trial[i, 1], trial[i, 2], trial[i, 3], trial[i, 4],
                                           camera, matrix, gains, maps, False)
                            got += others + won
                        else:
                            got += score(cat, trial, count, camera, matrix, gains, maps)
                            drawn = False
                        if got > best + 0.5:
                            best = got
                            pieces[:] = trial
                            better = True
                            break
            if not better:
                break
    return best


REPLACE, INSERT, REMOVE, SWAP, NUDGE, SPLIT, PROP = 0, 1, 2, 3, 4, 5, 6

PROP_GAP_MM = 4.0
"""A prop's top is this near to the underside of what it is to carry."""


@njit(cache=True, nogil=True, fastmath=True)
def edit(cat, pieces, count, kind, i, s, out):
    """Write to ``out`` the state with one edit; returns its count.

    REPLACE piece i by stance s; INSERT stance s below piece i; REMOVE piece i; SWAP pieces i and s;
    NUDGE piece i by s - 2 steps of 8 mm in x; SPLIT piece i into two of stance s side by side; PROP piece i up by
    stance s // 2 under its left end (s even) or its right one.
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
    if kind == 5:
        for j in range(count, i, -1):
            out[j] = out[j - 1]
        out[i + 1] = pieces[i]
        out[i, 0], out[i + 1, 0] = s, s
        out[i, 1] -= cat.size[s, 0] / 2
        out[i + 1, 1] += cat.size[s, 0] / 2
        return count + 1
    if kind == 6:
        for j in range(count, i, -1):
            out[j] = out[j - 1]
        out[i] = pieces[i]
        out[i, 0] = s // 2
        aside = (cat.size[int(pieces[i, 0]), 0] - cat.size[s // 2, 0]) / 2
        out[i, 1] += aside if s % 2 else -aside
        return count + 1
    out[i, 1] += (s - 2) * 8.0
    return count


@njit(cache=True, nogil=True, fastmath=True)
def _props(cat, pieces, i, s, trial):
    """Whether the prop of an edit's ``trial``, let down before piece i, reaches its underside."""
    z, _ = rest_on(cat, s, trial[i, 1], trial[i, 2], trial[i, 4], trial, i)
    return abs(z + cat.size[s, 2] / 2 - pieces[i, 3] + cat.size[int(pieces[i, 0]), 2] / 2) < PROP_GAP_MM


@njit(cache=True, nogil=True, fastmath=True)
def edits(cat, kinds, stock, rare, pieces, count, most, camera, matrix, gains, maps):
    """Score every edit of a state: rows (n, 4) (score less nothing, kind, i, s).

    ``kinds`` (stances,) the type of each stance and ``stock`` (types,) how many there are of each.
    """
    n_stances = len(kinds)
    out = np.empty((count * (5 * n_stances + 8) + count * count, 4))
    trial = np.empty((count + 1, 5))
    used = np.zeros(len(stock), np.int64)
    for i in range(count):
        used[kinds[int(pieces[i, 0])]] += 1
    n = 0
    for i in range(count):
        own = int(pieces[i, 0])
        for kind in range(7):
            if (kind == 1 or kind >= 5) and count >= most:
                continue
            last = (n_stances, n_stances, 1, count, 5, n_stances, 2 * n_stances)[kind]
            for s in range(last):
                if kind < 2:
                    if rare[s] and kinds[s] != kinds[own]:
                        continue
                    free = stock[kinds[s]] - used[kinds[s]] + (1 if kind == 0 and kinds[s] == kinds[own] else 0)
                    if free < 1 or (kind == 0 and s == own):
                        continue
                if kind == 5:
                    free = stock[kinds[s]] - used[kinds[s]] + (1 if kinds[s] == kinds[own] else 0)
                    if rare[s] or cat.color[s] != cat.color[own] or free < 2:
                        continue
                if kind == 6 and (rare[s // 2] or stock[kinds[s // 2]] <= used[kinds[s // 2]]):
                    continue
                if kind == 3 and (s <= i or pieces[s, 0] == pieces[i, 0]):
                    continue
                if kind == 4 and s == 2:
                    continue
                m = edit(cat, pieces, count, kind, i, s, trial)
                if kind == 6 and not _props(cat, pieces, i, s // 2, trial):
                    continue
                settle(cat, trial, m)
                got = score(cat, trial, m, camera, matrix, gains, maps)
                out[n, 0] = got - straightness(cat, trial, m)
                out[n, 1] = kind
                out[n, 2] = i
                out[n, 3] = s
                n += 1
    return out[:n].copy()


@njit(cache=True, nogil=True, fastmath=True)
def turned_camera(camera, turn):
    """The camera (3, 4) for coordinates of a build turned by ``turn`` radians."""
    c, s = math.cos(turn), math.sin(turn)
    out = camera.copy()
    for k in range(3):
        out[k, 0] = camera[k, 0] * c + camera[k, 1] * s
        out[k, 1] = -camera[k, 0] * s + camera[k, 1] * c
    return out


@njit(cache=True, nogil=True, fastmath=True)
def place_whole(cat, rows, count, xs, ys, turns, camera, matrix, gains, maps):
    """Score a whole build at every place: rows (n, 4) (score, x, y, turn). ``rows`` in its own frame."""
    out = np.empty((len(xs) * len(ys) * len(turns), 4))
    moved = rows.copy()
    n = 0
    for t in range(len(turns)):
        c, s = math.cos(turns[t]), math.sin(turns[t])
        turned = turned_camera(camera, turns[t])
        for i in range(len(xs)):
            for j in range(len(ys)):
                # the place is given in the mat's frame; the rows live in the turned one
                x = c * xs[i] + s * ys[j]
                y = -s * xs[i] + c * ys[j]
                for k in range(count):
                    moved[k, 1] = rows[k, 1] + x
                    moved[k, 2] = rows[k, 2] + y
                got = score(cat, moved, count, turned, matrix, gains, maps)
                out[n, 0] = got
                out[n, 1] = x
                out[n, 2] = y
                out[n, 3] = turns[t]
                n += 1
    return out
