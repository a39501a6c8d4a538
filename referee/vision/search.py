"""Compiled loops over places and edits: the scans, hill climbs and trials of the search.

Pieces of a state are rows (stance, x, y, z, yaw): mm, radians; see ``paint`` and ``rest``.
"""

from __future__ import annotations

import math

import numpy as np

from referee.vision.compiled import lean, loop
from referee.vision.paint import draw, place, score
from referee.vision.rest import TOUCH_MM, rest_on, settle, straightness

HOPED = 3.0
"""A place is looked at when one of three pixels on its middle line loses no more than this, on the coarse canvas:
arches and cups are hollow."""


@lean
def copy(source, target, count):
    """Copy the first ``count`` pieces."""
    for i in range(count):
        for k in range(5):
            target[i, k] = source[i, k]


@lean
def _hoped_for(x, y, z, height, camera, matrix, g, maps):
    """Whether one of three pixels on the middle line of a piece as high as ``height`` loses no more than ``HOPED``."""
    rows, cols = maps.near.shape
    for up in (-0.3, 0.0, 0.35):
        h = z + up * height
        w = camera[2, 0] * x + camera[2, 1] * y + camera[2, 2] * h + camera[2, 3]
        u = camera[0, 0] * x + camera[0, 1] * y + camera[0, 2] * h + camera[0, 3]
        v = camera[1, 0] * x + camera[1, 1] * y + camera[1, 2] * h + camera[1, 3]
        col = int(matrix[0, 0] * u / w + matrix[0, 2] + 0.5)
        row = int(matrix[1, 1] * v / w + matrix[1, 2] + 0.5)
        if 0 <= col < cols and 0 <= row < rows and g[row, col] > maps.gained[row, col] - HOPED:
            return True
    return False


@lean
def _scanned(cat, s, xs, ys, yaws, pieces, count, on_top, camera, matrix, gains, maps, out, n):
    """Add the rows of one stance (see ``scan``) to ``out``, which has n; returns how many there are then."""
    g = gains.each[cat.color[s]]
    for xi in range(len(xs)):
        for yi in range(len(ys)):
            for ai in range(len(yaws)):
                x, y, yaw = xs[xi], ys[yi], yaws[ai]
                z, carriers = rest_on(cat, s, x, y, yaw, pieces, count)
                if (carriers > 0) != on_top or not _hoped_for(x, y, z, cat.size[s, 2], camera, matrix, g, maps):
                    continue
                won, pixels = place(cat, s, x, y, z, yaw, camera, matrix, gains, maps, False)
                if won > -2.0 * pixels - 1e-9 and pixels > 0:
                    out[n, 0], out[n, 1], out[n, 2], out[n, 3], out[n, 4] = s, x, y, z, yaw
                    out[n, 5], out[n, 6] = won, pixels
                    n += 1
    return n


@loop
def scan(cat, stances, xs, ys, yaws, pieces, count, on_top, camera, matrix, gains, maps):
    """Evidence of every stance at every x, y, yaw let down on the pieces of a state.

    ``on_top``: leave out places on the table; otherwise only the table. Gives (n, 7) rows
    (stance, x, y, z, yaw, evidence, pixels), where anything at all was won.
    """
    out = np.empty((len(stances) * len(xs) * len(ys) * len(yaws), 7))
    n = 0
    for si in range(len(stances)):
        n = _scanned(cat, stances[si], xs, ys, yaws, pieces, count, on_top, camera, matrix, gains, maps, out, n)
    return out[:n].copy()


@lean
def _moved(pieces, trial, count, i, axis, step):
    """Copy ``pieces`` to ``trial`` with one move: of piece i, or of the whole build when i is -1."""
    copy(pieces, trial, count)
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


@lean
def _others_stay(pieces, trial, count, i):
    """Whether a change of piece i has left every other piece where it was."""
    for j in range(count):
        if j != i and trial[j, 3] != pieces[j, 3]:
            return False
    return True


@lean
def _shifted(cat, pieces, trial, count, i, best, mm, rad, camera, matrix, gains, maps):
    """Move piece i (-1: the whole build) by one step along each axis where that helps; the best score then.

    While one piece is tried the others stay drawn, as long as none of them rests on it.
    """
    others, drawn = 0.0, False
    for axis in (1, 2, 4):
        step = rad if axis == 4 else mm
        for sign in (-1.0, 1.0):
            _moved(pieces, trial, count, i, axis, sign * step)
            settle(cat, trial, count)
            if i >= 0 and _others_stay(pieces, trial, count, i):
                if not drawn:
                    others, drawn = draw(cat, pieces, count, i, camera, matrix, gains, maps), True
                got = (
                    others
                    + place(
                        cat,
                        int(trial[i, 0]),
                        trial[i, 1],
                        trial[i, 2],
                        trial[i, 3],
                        trial[i, 4],
                        camera,
                        matrix,
                        gains,
                        maps,
                        False,
                    )[0]
                )
            else:
                got, drawn = score(cat, trial, count, camera, matrix, gains, maps), False
            if got <= best + 0.5:  # what is not straight only costs
                continue
            got -= straightness(cat, trial, count, maps.points)
            if got > best + 0.5:
                best = got
                copy(trial, pieces, count)
                break
    return best


@lean
def _climbed(cat, pieces, trial, count, first, camera, matrix, gains, maps, steps_mm, steps_rad, rounds):
    settle(cat, pieces, count)
    best = score(cat, pieces, count, camera, matrix, gains, maps) - straightness(cat, pieces, count, maps.points)
    movable = 1 + (count - first if count > 1 else 0)
    for level in range(len(steps_mm)):
        still = 0  # how many in a row could not be moved
        for _ in range(rounds):
            for i in range(-1, count):
                if still == movable or (i == 0 and count == 1) or 0 <= i < first:
                    continue
                got = _shifted(
                    cat, pieces, trial, count, i, best, steps_mm[level], steps_rad[level], camera, matrix, gains, maps
                )
                still = 0 if got > best else still + 1
                best = got
    return best


@loop
def refine(cat, pieces, count, first, camera, matrix, gains, maps, steps_mm, steps_rad, rounds):
    """Hill climb of a state's places; rewrites ``pieces``. Returns evidence less straightness.

    The whole build is moved, and each piece from the ``first`` on.
    """
    trial = np.empty((count, 5))
    return _climbed(cat, pieces, trial, count, first, camera, matrix, gains, maps, steps_mm, steps_rad, rounds)


REPLACE, INSERT, REMOVE, SWAP, NUDGE, SPLIT, PROP = 0, 1, 2, 3, 4, 5, 6

PROP_GAP_MM = 4.0
"""A prop's top is this near to the underside of what it is to carry."""


@lean
def _prop_x(cat, pieces, i, s, place):
    """Where a prop of stance s stands: 0, 1 flush with the left and the right end of piece i; 2, 3 with its middle
    there, but beside any lower piece in the way.
    """
    side = -1.0 if place % 2 == 0 else 1.0
    half, own = cat.size[s, 0] / 2, cat.size[int(pieces[i, 0]), 0] / 2
    if place < 2:
        return pieces[i, 1] + side * (own - half)
    x = pieces[i, 1] + side * own
    for j in range(i):
        reach = half + cat.size[int(pieces[j, 0]), 0] / 2
        if pieces[j, 3] < pieces[i, 3] and abs(x - pieces[j, 1]) < reach:
            x = pieces[j, 1] + side * reach
    return x


@lean
def _props(cat, pieces, i, s, trial):
    """Whether the prop of an edit's ``trial``, let down before piece i, reaches its underside."""
    z, _ = rest_on(cat, s, trial[i, 1], trial[i, 2], trial[i, 4], trial, i)
    own = int(pieces[i, 0])
    under = abs(trial[i, 1] - pieces[i, 1]) < (cat.size[s, 0] + cat.size[own, 0]) / 2 - TOUCH_MM
    return under and abs(z + cat.size[s, 2] / 2 - pieces[i, 3] + cat.size[own, 2] / 2) < PROP_GAP_MM


@lean
def edit(cat, pieces, count, kind, i, s, out):
    """Write to ``out`` the state with one edit; returns its count.

    REPLACE piece i by stance s; INSERT stance s below piece i; REMOVE piece i; SWAP pieces i and s;
    NUDGE piece i by s - 2 steps of 8 mm in x; SPLIT piece i into two of stance s side by side; PROP piece i up by
    stance s // 4 at place s % 4 (see ``_prop_x``).
    """
    copy(pieces, out, count)
    if kind == 0:
        out[i, 0] = s
        return count
    if kind == 1:
        copy(pieces[i:], out[i + 1 :], count - i)
        out[i, 0] = s
        return count + 1
    if kind == 2:
        copy(pieces[i + 1 :], out[i:], count - 1 - i)
        return count - 1
    if kind == 3:
        out[i, 0], out[s, 0] = pieces[s, 0], pieces[i, 0]
        return count
    if kind == 5:
        copy(pieces[i:], out[i + 1 :], count - i)
        out[i, 0], out[i + 1, 0] = s, s
        out[i, 1] -= cat.size[s, 0] / 2
        out[i + 1, 1] += cat.size[s, 0] / 2
        return count + 1
    if kind == 6:
        copy(pieces[i:], out[i + 1 :], count - i)
        out[i, 0] = s // 4
        out[i, 1] = _prop_x(cat, pieces, i, s // 4, s % 4)
        return count + 1
    out[i, 1] += (s - 2) * 8.0
    return count


@lean
def _allowed(cat, kinds, free, rare, pieces, kind, i, s):
    """Whether there are pieces, ``free`` (types,) of them, for an edit, and it makes a difference; see ``edit``."""
    own = int(pieces[i, 0])
    if kind < 2:
        left = free[kinds[s]] + (1 if kind == 0 and kinds[s] == kinds[own] else 0)
        return not (rare[s] and kinds[s] != kinds[own]) and left >= 1 and (kind == 1 or s != own)
    if kind == 3:
        return s > i and pieces[s, 0] != pieces[i, 0]
    if kind == 5:
        left = free[kinds[s]] + (1 if kinds[s] == kinds[own] else 0)
        return not rare[s] and cat.color[s] == cat.color[own] and left >= 2
    if kind == 6:
        return not rare[s // 4] and free[kinds[s // 4]] >= 1
    return kind == 2 or s != 2


@lean
def _weighed(cat, kinds, free, rare, pieces, count, most, trial, i, alone, camera, matrix, gains, maps, out, n):
    """Add every edit of piece i to ``out``, which has n rows: those that leave all other pieces where they are
    (``alone``), which then are drawn only once, or those that do not.
    """
    others = draw(cat, pieces, count, i, camera, matrix, gains, maps) if alone else 0.0
    for kind in range(7):
        if ((kind == 1 or kind >= 5) and count >= most) or (alone and kind != 0 and kind != 4):
            continue
        for s in range((len(kinds), len(kinds), 1, count, 5, len(kinds), 4 * len(kinds))[kind]):
            if not _allowed(cat, kinds, free, rare, pieces, kind, i, s):
                continue
            m = edit(cat, pieces, count, kind, i, s, trial)
            if kind == 6 and not _props(cat, pieces, i, s // 4, trial):
                continue
            settle(cat, trial, m)
            if ((kind == 0 or kind == 4) and _others_stay(pieces, trial, count, i)) != alone:
                continue
            if alone:
                got = (
                    others
                    + place(
                        cat,
                        int(trial[i, 0]),
                        trial[i, 1],
                        trial[i, 2],
                        trial[i, 3],
                        trial[i, 4],
                        camera,
                        matrix,
                        gains,
                        maps,
                        False,
                    )[0]
                )
            else:
                got = score(cat, trial, m, camera, matrix, gains, maps)
            out[n, 0] = got - straightness(cat, trial, m, maps.points)
            out[n, 1], out[n, 2], out[n, 3] = kind, i, s
            n += 1
    return n


@loop
def edits(cat, kinds, stock, rare, pieces, count, most, camera, matrix, gains, maps):
    """Score every edit of a state: rows (n, 4) (score less nothing, kind, i, s).

    ``kinds`` (stances,) the type of each stance and ``stock`` (types,) how many there are of each.
    """
    out = np.empty((count * (7 * len(kinds) + 8) + count * count, 4))
    trial = np.empty((count + 1, 5))
    free = stock.copy()
    for i in range(count):
        free[kinds[int(pieces[i, 0])]] -= 1
    n = 0
    for i in range(count):
        for alone in (True, False):
            n = _weighed(
                cat, kinds, free, rare, pieces, count, most, trial, i, alone, camera, matrix, gains, maps, out, n
            )
    return out[:n].copy()


@lean
def turn_camera(camera, turn, out):
    """Write to ``out`` the camera (3, 4) for coordinates of a build turned by ``turn`` radians."""
    c, s = math.cos(turn), math.sin(turn)
    for k in range(3):
        out[k, 0] = camera[k, 0] * c + camera[k, 1] * s
        out[k, 1] = -camera[k, 0] * s + camera[k, 1] * c
        out[k, 2], out[k, 3] = camera[k, 2], camera[k, 3]


@loop
def turned_camera(camera, turn):
    """The camera (3, 4) for coordinates of a build turned by ``turn`` radians."""
    out = np.empty((3, 4))
    turn_camera(camera, turn, out)
    return out


@lean
def _whole(cat, rows, moved, count, xs, ys, turn, turned, matrix, gains, maps, out, n):
    """Add a build's score at every place, turned by ``turn``, to ``out``, which has n rows."""
    c, s = math.cos(turn), math.sin(turn)
    for i in range(len(xs)):
        for j in range(len(ys)):
            # the place is given in the mat's frame; the rows live in the turned one
            x = c * xs[i] + s * ys[j]
            y = -s * xs[i] + c * ys[j]
            for k in range(count):
                moved[k, 1] = rows[k, 1] + x
                moved[k, 2] = rows[k, 2] + y
            out[n, 0] = score(cat, moved, count, turned, matrix, gains, maps)
            out[n, 1], out[n, 2], out[n, 3] = x, y, turn
            n += 1
    return n


@loop
def place_whole(cat, rows, count, xs, ys, turns, camera, matrix, gains, maps):
    """Score a whole build at every place: rows (n, 4) (score, x, y, turn). ``rows`` in its own frame."""
    out = np.empty((len(xs) * len(ys) * len(turns), 4))
    moved = rows.copy()
    n = 0
    for t in range(len(turns)):
        n = _whole(
            cat, rows, moved, count, xs, ys, turns[t], turned_camera(camera, turns[t]), matrix, gains, maps, out, n
        )
    return out
