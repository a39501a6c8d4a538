"""Kernels over places and edits: the hill climb, and one-step edits of a state.

Pieces of a state are rows (stance, x, y, z, yaw): mm, radians; see ``rasterizer`` and ``physics``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from referee.vision.search import parameters
from referee.vision.search.jit import inner_loop, lean, loop
from referee.vision.search.physics import TOUCH_MM, rest_on, settle, straightness
from referee.vision.search.rasterizer import ALL, Scene, draw, place

MAX_PIECES = parameters.MAX_PIECES.value


class States(NamedTuple):
    """Builds: ``pieces`` (n, most, 5), of which the first ``counts`` (n,) are each one's, in the frame turned by its
    ``turns`` (n,) radians."""

    pieces: np.ndarray
    counts: np.ndarray
    turns: np.ndarray


@lean
def copy_row(source, target):
    """Copy one piece."""
    for k in range(5):
        target[k] = source[k]


@lean
def copy(source, target, count):
    """Copy the first ``count`` pieces."""
    for i in range(count):
        copy_row(source[i], target[i])


@lean
def _moved(pieces, trial, i, axis, step):
    """Copy ``pieces`` to ``trial`` with one move: of piece i, or of the whole build when i is ``ALL``."""
    count = len(pieces)
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
def _step(cat, pieces, trial, i, best, steps, scene):
    """Move piece i (``ALL``: the whole build) by one of ``steps`` (mm, radians) along each axis where that helps;
    the best score then.

    While one piece is tried the others stay drawn, as long as none of them rests on it.
    """
    count = len(pieces)
    others, drawn = 0.0, False
    for axis in (1, 2, 4):
        step = steps[1] if axis == 4 else steps[0]
        for sign in (-1.0, 1.0):
            _moved(pieces, trial, i, axis, sign * step)
            settle(cat, trial, count)
            if i >= 0 and _others_stay(pieces, trial, count, i):
                if not drawn:
                    others, drawn = draw(cat, pieces, count, i, scene), True
                got = others + place(cat, trial[i], scene, False)[0]
            else:
                got, drawn = draw(cat, trial, count, ALL, scene), False
            if got <= best + 0.5:  # what is not straight only costs
                continue
            got -= straightness(cat, trial, count, scene.maps.points)
            if got > best + 0.5:
                best = got
                copy(trial, pieces, count)
                break
    return best


@inner_loop
def refine(cat, pieces, first, scene, steps, rounds):
    """Hill climb of a state's places by ``steps`` (levels, 2) (mm, radians), each so many rounds; rewrites
    ``pieces``. Returns evidence less straightness.

    The whole build is moved, and each piece from the ``first`` on.
    """
    count = len(pieces)
    trial = np.empty((count, 5))
    settle(cat, pieces, count)
    best = draw(cat, pieces, count, ALL, scene) - straightness(cat, pieces, count, scene.maps.points)
    movable = 1 + (count - first if count > 1 else 0)
    for level in range(len(steps)):
        still = 0  # how many in a row could not be moved
        for _ in range(rounds):
            for i in range(ALL, count):
                if still == movable or (i == 0 and count == 1) or 0 <= i < first:
                    continue
                got = _step(cat, pieces, trial, i, best, steps[level], scene)
                still = 0 if got > best else still + 1
                best = got
    return best


@loop
def refine_each(cat, states, first, scene, steps, rounds):
    """``refine`` each of n ``states`` from its ``first`` (n,) piece on; rewrites their pieces. Gives (n,) evidence less
    straightness, 0 of an empty one."""
    won = np.zeros(len(states.counts))
    for k in range(len(won)):
        if states.counts[k] > 0:
            pieces, there = states.pieces[k, : states.counts[k]], turned(scene, states.turns[k])
            won[k] = refine(cat, pieces, first[k], there, steps, rounds)
    return won


REPLACE, INSERT, REMOVE, SWAP, NUDGE, SPLIT, PROP, SHIFT = range(8)
"""The edits of a state: piece i replaced by stance s; stance s inserted below piece i; piece i removed; pieces i and s
swapped; piece i nudged in x; piece i split into two of stance s side by side; piece i propped up by stance s; piece i
shifted in y."""

NUDGES_MM = parameters.NUDGES_MM.value
SHIFTS_MM = parameters.SHIFTS_MM.value
PROP_PLACES = parameters.PROP_PLACES.value
PROP_GAP_MM = parameters.PROP_GAP_MM.value


@lean
def _prop_x(cat, pieces, i, s, where):
    """Where a prop of stance s stands: 0, 1 flush with the left and the right end of piece i; 2, 3 with its middle
    there, but beside any lower piece in the way.
    """
    side = -1.0 if where % 2 == 0 else 1.0
    half, own = cat.size[s, 0] / 2, cat.size[int(pieces[i, 0]), 0] / 2
    if where < 2:
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
    z, _ = rest_on(cat, s, trial[i, 1], trial[i, 2], trial, i)
    own = int(pieces[i, 0])
    under = abs(trial[i, 1] - pieces[i, 1]) < (cat.size[s, 0] + cat.size[own, 0]) / 2 - TOUCH_MM
    return under and abs(z + cat.size[s, 2] / 2 - pieces[i, 3] + cat.size[own, 2] / 2) < PROP_GAP_MM


@lean
def edit(cat, pieces, kind, i, s, where, out):
    """Write to ``out`` (count + 1, 5) the state with one edit, not yet settled; returns its count.

    ``s``: a stance, or the other piece of a SWAP. ``where``: which of ``NUDGES_MM`` or ``SHIFTS_MM``, which place of
    a PROP.
    """
    count = len(pieces)
    copy(pieces, out, count)
    if kind == REPLACE:
        out[i, 0] = s
    elif kind == SWAP:
        out[i, 0], out[s, 0] = pieces[s, 0], pieces[i, 0]
    elif kind == NUDGE:
        out[i, 1] += NUDGES_MM[where]
    elif kind == SHIFT:
        out[i, 2] += SHIFTS_MM[where]
    elif kind == REMOVE:
        copy(pieces[i + 1 :], out[i:], count - 1 - i)
        return count - 1
    else:
        copy(pieces[i:], out[i + 1 :], count - i)
        out[i, 0] = s
        if kind == PROP:
            out[i, 1] = _prop_x(cat, pieces, i, s, where)
        elif kind == SPLIT:
            out[i + 1, 0] = s
            out[i, 1] -= cat.size[s, 0] / 2
            out[i + 1, 1] += cat.size[s, 0] / 2
        return count + 1
    return count


@lean
def _allowed(cat, free, pieces, kind, i, s):
    """Whether there are pieces, ``free`` (types,) of them, for an edit, and it makes a difference; see ``edit``."""
    own = int(pieces[i, 0])
    if kind in (REMOVE, NUDGE, SHIFT):
        return True
    if kind == SWAP:
        return s > i and pieces[s, 0] != own
    left = free[cat.kind[s]] + (1 if kind not in (INSERT, PROP) and cat.kind[s] == cat.kind[own] else 0)
    if kind == SPLIT:
        return not cat.rare[s] and cat.color[s] == cat.color[own] and left >= 2
    if kind == PROP:
        return not cat.rare[s] and left >= 1
    return not (cat.rare[s] and cat.kind[s] != cat.kind[own]) and left >= 1 and (kind == INSERT or s != own)


@lean
def _places_of(kind):
    """How many places ``where`` an edit of one kind may be made."""
    if kind == NUDGE:
        return len(NUDGES_MM)
    if kind == SHIFT:
        return len(SHIFTS_MM)
    return PROP_PLACES if kind == PROP else 1


@lean
def _edits_of(cat, free, pieces, i, alone, scene, trial, out):
    """Write every edit of piece i to ``out`` (see ``edits``), and return how many: those that leave all other pieces
    where they are (``alone``), which then are drawn only once, or those that do not.
    """
    count, stances, n = len(pieces), len(cat.kind), 0
    others = draw(cat, pieces, count, i, scene) if alone else 0.0
    for kind in (REPLACE, INSERT, REMOVE, SWAP, NUDGE, SPLIT, PROP, SHIFT):
        adds = kind in (INSERT, SPLIT, PROP)
        lonely = kind in (REPLACE, NUDGE, SHIFT)
        if (adds and count >= MAX_PIECES) or (alone and not lonely):
            continue
        choices = count if kind == SWAP else (1 if kind in (REMOVE, NUDGE, SHIFT) else stances)
        places = _places_of(kind)
        for choice in range(choices * places):
            s, where = choice // places, choice % places
            if not _allowed(cat, free, pieces, kind, i, s):
                continue
            m = edit(cat, pieces, kind, i, s, where, trial)
            if kind == PROP and not _props(cat, pieces, i, s, trial):
                continue
            settle(cat, trial, m)
            if (lonely and _others_stay(pieces, trial, count, i)) != alone:
                continue
            if alone:
                got = others + place(cat, trial[i], scene, False)[0]
            else:
                got = draw(cat, trial, m, ALL, scene)
            out[n, 0] = got - straightness(cat, trial, m, scene.maps.points)
            out[n, 1], out[n, 2], out[n, 3], out[n, 4] = kind, i, s, where
            n += 1
    return n


@loop
def edits(cat, stock, pieces, scene):
    """Score every edit of a state: rows (n, 5) (evidence less straightness, kind, i, s, where); see ``edit``.

    ``stock`` (types,) how many pieces there are of each.
    """
    count, stances = len(pieces), len(cat.kind)
    out = np.empty((count * ((3 + PROP_PLACES) * stances + 1 + len(NUDGES_MM) + len(SHIFTS_MM) + count), 5))
    trial = np.empty((count + 1, 5))
    free = stock.copy()
    for i in range(count):
        free[cat.kind[int(pieces[i, 0])]] -= 1
    n = 0
    for i in range(count):
        for alone in (True, False):
            n += _edits_of(cat, free, pieces, i, alone, scene, trial, out[n:])
    return out[:n].copy()


@loop
def edited(cat, pieces, rows, out):
    """Write to ``out`` (n, count + 1, 5) the state with each of the edits ``rows`` (n, 5), as ``edits`` gives them, not
    yet settled; gives how many pieces (n,) each has then."""
    counts = np.empty(len(rows), np.int64)
    for k in range(len(rows)):
        kind, i, s, where = int(rows[k, 1]), int(rows[k, 2]), int(rows[k, 3]), int(rows[k, 4])
        counts[k] = edit(cat, pieces, kind, i, s, where, out[k])
    return counts


@inner_loop
def turned(scene, turn):
    """The scene for coordinates of a build turned by ``turn`` radians."""
    c, s = math.cos(turn), math.sin(turn)
    camera = np.empty((3, 4))
    for k in range(3):
        camera[k, 0] = scene.camera[k, 0] * c + scene.camera[k, 1] * s
        camera[k, 1] = -scene.camera[k, 0] * s + scene.camera[k, 1] * c
        camera[k, 2], camera[k, 3] = scene.camera[k, 2], scene.camera[k, 3]
    return Scene(camera, scene.matrix, scene.gains, scene.maps)


@loop
def place_whole(cat, rows, xs, ys, turns, scene):
    """Score a whole build (``rows`` in its own frame) at every place x, y of the mat's frame and turn.

    Gives rows (n, 4) (score, x, y, turn), x and y in the frame turned by ``turn``.
    """
    count, n = len(rows), 0
    out = np.empty((len(xs) * len(ys) * len(turns), 4))
    moved = rows.copy()
    for turn in turns:
        there = turned(scene, turn)
        c, s = math.cos(turn), math.sin(turn)
        for i in range(len(xs)):
            for j in range(len(ys)):
                x, y = c * xs[i] + s * ys[j], c * ys[j] - s * xs[i]
                for k in range(count):
                    moved[k, 1] = rows[k, 1] + x
                    moved[k, 2] = rows[k, 2] + y
                out[n, 0] = draw(cat, moved, count, ALL, there)
                out[n, 1], out[n, 2], out[n, 3] = x, y, turn
                n += 1
    return out
