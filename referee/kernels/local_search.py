"""Places and edits of a state: the hill climb, and one-step edits.

An edit is a kind, a piece i, a stance s (or the other piece of a SWAP) and a place: piece i replaced by stance s;
stance s inserted below piece i; piece i removed; pieces i and s swapped; piece i nudged in x (place: by which of
``nudges_mm``); piece i split into two of stance s side by side; piece i propped up by stance s (place: 0, 1 flush with
its left and right end; 2, 3 the prop's middle there); piece i shifted in y (by which of ``shifts_mm``).
"""

import cython
import numpy as np
from cython.cimports.libc.math import cos, fabs, sin
from cython.cimports.referee.kernels.scene import Scene, StanceTable, doubles, indices, pieces_of, turned

KINDS = ("replace", "insert", "remove", "swap", "nudge", "split", "prop", "shift")
"""What rows of edits call by its index."""
REPLACE = cython.declare(cython.int, 0)
INSERT = cython.declare(cython.int, 1)
REMOVE = cython.declare(cython.int, 2)
SWAP = cython.declare(cython.int, 3)
NUDGE = cython.declare(cython.int, 4)
SPLIT = cython.declare(cython.int, 5)
PROP = cython.declare(cython.int, 6)
SHIFT = cython.declare(cython.int, 7)
STILL_MM = cython.declare(cython.double, 1e-6)
PROP_PLACES = cython.declare(cython.int, 4)
NUDGES = cython.declare(cython.int, 4)
SHIFTS = cython.declare(cython.int, 6)
X, Y, YAW = cython.declare(cython.int, 0), cython.declare(cython.int, 1), cython.declare(cython.int, 2)


def copy(source, target, count):
    """Copy the first ``count`` pieces, from the first to the last."""
    for i in range(count):
        target[i] = source[i]


def move(piece, axis, step):
    """Move a piece along one axis."""
    if axis == X:
        piece.x += step
    elif axis == Y:
        piece.y += step
    else:
        piece.yaw += step


def move_all(pieces, count, trial, axis, step):
    """Move a whole build, copied to ``trial``, along one axis or about its middle."""
    x, y, c, s = 0.0, 0.0, cos(step), sin(step)
    for i in range(count):
        move(trial + i, axis, step)
        x += pieces[i].x / count
        y += pieces[i].y / count
    if axis == YAW:
        for i in range(count):
            dx, dy = pieces[i].x - x, pieces[i].y - y
            trial[i].x, trial[i].y = x + c * dx - s * dy, y + s * dx + c * dy


def others_stay(pieces, trial, count, i):
    """Whether a change of piece i has left every other piece where it was."""
    for j in range(count):
        if j != i and fabs(trial[j].z - pieces[j].z) > STILL_MM:
            return False
    return True


def step_once(stances, pieces, count, i, best, steps, view):
    """Move piece i (``ALL``: the whole build) by one of ``steps`` (mm, radians) along each axis where that helps;
    the best score then.

    While one piece is tried the others stay drawn, as long as none of them rests on it.
    """
    trial: Piece[MOST_PIECES]
    others = 0.0
    drawn: cython.bint = False
    for axis in range(3):
        for sign in range(-1, 2, 2):
            step = sign * (steps[1] if axis == YAW else steps[0])
            copy(pieces, trial, count)
            if i == ALL:
                move_all(pieces, count, trial, axis, step)
            else:
                move(trial + i, axis, step)
            settle(stances, trial, max(i, 0), count)  # those before it stay
            if i != ALL and others_stay(pieces, trial, count, i):
                if not drawn:
                    others, drawn = draw_pieces(stances, pieces, count, i, view), True
                got = others + weighed(stances, trial + i, view).won
            else:
                got, drawn = draw_pieces(stances, trial, count, ALL, view), False
            if got <= best + 0.5:  # what is not straight only costs
                continue
            got -= crookedness(stances, trial, count)
            if got > best + 0.5:
                best = got
                copy(trial, pieces, count)
                break
    return best


def refine(stances, pieces, count, first, view, climb):
    """Hill climb of a state's places; rewrites ``pieces``. Returns evidence less crookedness.

    The whole build is moved, and each piece from the ``first`` on.
    """
    settle(stances, pieces, 0, count)
    best = draw_pieces(stances, pieces, count, ALL, view) - crookedness(stances, pieces, count)
    movable = 1 + (count - first if count > 1 else 0)
    for level in range(climb.levels):
        still: i64 = 0  # how many in a row could not be moved
        for _ in range(climb.rounds):
            for i in range(ALL, count):
                if still == movable or (i == 0 and count == 1) or 0 <= i < first:
                    continue
                got = step_once(stances, pieces, count, i, best, climb.steps + 2 * level, view)
                still = 0 if got > best else still + 1
                best = got
    return best


def refine_each(table: StanceTable, states, first, scene: Scene, steps, rounds: i64):
    """``refine`` each of n states from its ``first`` (n,) piece on, by ``steps`` (levels, 2) (mm, radians).

    ``states``: ``pieces`` (n, most, 5), rewritten, ``counts`` (n,), and ``turns`` (n,) radians of their frames. Gives
    (n,) evidence less crookedness, 0 of an empty one.
    """
    won, climb = np.zeros(len(states.counts)), cython.declare(Climb)
    climb.steps, climb.levels, climb.rounds = doubles(steps), len(steps), rounds
    pieces, most, n = pieces_of(states.pieces), cython.cast("i64", states.pieces.shape[1]), len(won)
    counts, turns, begin, to = indices(states.counts), doubles(states.turns), indices(first), doubles(won)
    stances, view = cython.address(table.stances), cython.address(scene.view)
    with cython.nogil:
        for k in range(n):
            if counts[k] > 0:
                there = turned(view, turns[k])
                to[k] = refine(stances, pieces + most * k, counts[k], begin[k], cython.address(there), climb)
    return won


def prop_x(stances, pieces, i, s, place):
    """Where a prop of stance s stands; see above. One with its middle at an end stands beside any lower piece that is
    in the way."""
    half, own = stances.size[s].width / 2, stances.size[stance_of(pieces + i)].width / 2
    side = -1.0 if place % 2 == 0 else 1.0
    if place < 2:
        return pieces[i].x + side * (own - half)
    x = pieces[i].x + side * own
    for j in range(i):
        reach = half + stances.size[stance_of(pieces + j)].width / 2
        if pieces[j].z < pieces[i].z and fabs(x - pieces[j].x) < reach:
            x = pieces[j].x + side * reach
    return x


def props(stances, piece, trial, i):
    """Whether the prop at i of a ``trial``, let down before the piece that was there, reaches its underside."""
    rules, prop, s = cython.address(stances.rules), trial + i, stance_of(trial + i)
    size, own = stances.size + s, stances.size + stance_of(piece)
    z = rest_on(stances, s, prop.x, prop.y, trial, i).z
    under: cython.bint = fabs(prop.x - piece.x) < (size.width + own.width) / 2 - rules.touch_mm
    return under and fabs(z + size.height / 2 - piece.z + own.height / 2) < rules.prop_gap_mm


def apply(stances, pieces, count, edit, out):
    """Write to ``out`` (count + 1,) the state with one edit, not yet settled; its count."""
    kind, i = cython.cast("i64", edit.kind), cython.cast("i64", edit.piece)
    s, place = cython.cast("i64", edit.stance), cython.cast("i64", edit.place)
    copy(pieces, out, count)
    if kind == REPLACE:
        out[i].stance = s
    elif kind == SWAP:
        out[i].stance, out[s].stance = pieces[s].stance, pieces[i].stance
    elif kind == NUDGE:
        out[i].x += stances.rules.nudges_mm[place]
    elif kind == SHIFT:
        out[i].y += stances.rules.shifts_mm[place]
    elif kind == REMOVE:
        copy(pieces + i + 1, out + i, count - 1 - i)
        return count - 1
    else:
        copy(pieces + i, out + i + 1, count - i)
        out[i].stance = s
        if kind == PROP:
            out[i].x = prop_x(stances, pieces, i, s, place)
        elif kind == SPLIT:
            out[i + 1].stance = s
            out[i].x -= stances.size[s].width / 2
            out[i + 1].x += stances.size[s].width / 2
        return count + 1
    return count


def is_allowed(stances, free, pieces, kind, i, s):
    """Whether there are pieces, ``free`` (types,) of them, for an edit, and it makes a difference."""
    own = stance_of(pieces + i)
    if kind in (REMOVE, NUDGE, SHIFT):
        return True
    if kind == SWAP:
        return s > i and stance_of(pieces + s) != own
    same: cython.bint = stances.kind[s] == stances.kind[own]
    left = free[stances.kind[s]] + (1 if same and kind != INSERT and kind != PROP else 0)
    if kind == SPLIT:
        return not stances.rare[s] and stances.color[s] == stances.color[own] and left >= 2
    if kind == PROP:
        return not stances.rare[s] and left >= 1
    return (same or not stances.rare[s]) and left >= 1 and (kind == INSERT or s != own)


def choices_of(kind, count, stances):
    """How many stances, or other pieces, an edit of one kind may be made with."""
    return count if kind == SWAP else (1 if kind in (REMOVE, NUDGE, SHIFT) else stances)


def places_of(kind):
    """How many places an edit of one kind may be made at."""
    return NUDGES if kind == NUDGE else (SHIFTS if kind == SHIFT else (PROP_PLACES if kind == PROP else 1))


def edits_of(stances, free, pieces, count, i, alone, view, out):
    """Write every edit of piece i to ``out``, and return how many: those that leave all other pieces where they are
    (``alone``), which then are drawn only once, or those that do not.
    """
    trial: Piece[MOST_PIECES]
    others = draw_pieces(stances, pieces, count, i, view) if alone else 0.0
    n: i64 = 0
    for kind in range(8):
        adds: cython.bint = kind in (INSERT, SPLIT, PROP)
        lonely: cython.bint = kind in (REPLACE, NUDGE, SHIFT)
        if (adds and count >= stances.rules.max_pieces) or (alone and not lonely):
            continue
        places = places_of(kind)
        for choice in range(choices_of(kind, count, stances.count) * places):
            edit, s = out + n, choice // places
            edit.kind, edit.piece, edit.stance, edit.place = kind, i, s, choice % places
            if not is_allowed(stances, free, pieces, kind, i, s):
                continue
            m = apply(stances, pieces, count, edit[0], trial)
            if kind == PROP and not props(stances, pieces + i, trial, i):
                continue
            settle(stances, trial, i, m)
            stays: cython.bint = lonely and others_stay(pieces, trial, count, i)
            if stays != alone:
                continue
            edit.won = (
                others + weighed(stances, trial + i, view).won if alone else draw_pieces(stances, trial, m, ALL, view)
            )
            edit.won -= crookedness(stances, trial, m)
            n += 1
    return n


def edits(table: StanceTable, stock, pieces, scene: Scene):
    """Score every edit of a state: rows (n, 5) (evidence less crookedness, kind, i, s, place).

    ``stock`` (types,) how many pieces there are of each. The ``pieces`` lie as ``refine`` has let them down.
    """
    stances, view, rows = cython.address(table.stances), cython.address(scene.view), pieces_of(pieces)
    count, n, left = cython.cast("i64", len(pieces)), cython.cast("i64", 0), np.array(stock)
    out = np.empty((count * ((3 + PROP_PLACES) * stances.count + 1 + NUDGES + SHIFTS + count) + 1, 5))
    to, free = cython.cast("Edit *", doubles(out)), indices(left)
    with cython.nogil:
        for i in range(count):
            free[stances.kind[stance_of(rows + i)]] -= 1
        for i in range(count):
            n += edits_of(stances, free, rows, count, i, True, view, to + n)
            n += edits_of(stances, free, rows, count, i, False, view, to + n)
    return out[:n].copy()


def edited(table: StanceTable, pieces, rows, out):
    """Write to ``out`` (n, count + 1, 5) the state with each of the edits ``rows`` (n, 5), as ``edits`` gives them, not
    yet settled; gives how many pieces (n,) each has then."""
    counts, most = np.empty(len(rows), np.int64), cython.cast("i64", out.shape[1])
    to = cython.cast("Piece *", doubles(out))
    state, count, edit, into = pieces_of(pieces), len(pieces), cython.cast("Edit *", doubles(rows)), indices(counts)
    for k in range(cython.cast("i64", len(rows))):
        into[k] = apply(cython.address(table.stances), state, count, edit[k], to + most * k)
    return counts


def place_whole(table: StanceTable, rows, xs, ys, turns, scene: Scene):
    """Score a whole build (``rows`` in its own frame) at every place x, y of the mat's frame and turn.

    Gives rows (n, 4) (score, x, y, turn), x and y in the frame turned by ``turn``.
    """
    out, moved, count = np.empty((len(turns), len(xs), len(ys), 4)), np.array(rows), cython.cast("i64", len(rows))
    own, trial, to = pieces_of(rows), pieces_of(moved), doubles(out)
    x_at, y_at, turn_at, wide, deep, n = doubles(xs), doubles(ys), doubles(turns), len(xs), len(ys), len(turns)
    stances, view = cython.address(table.stances), cython.address(scene.view)
    with cython.nogil:
        for t in range(n):
            there, c, s = turned(view, turn_at[t]), cos(turn_at[t]), sin(turn_at[t])
            for i in range(wide):
                for j in range(deep):
                    to[1], to[2], to[3] = c * x_at[i] + s * y_at[j], c * y_at[j] - s * x_at[i], turn_at[t]
                    for k in range(count):
                        trial[k].x, trial[k].y = own[k].x + to[1], own[k].y + to[2]
                    to[0] = draw_pieces(stances, trial, count, ALL, cython.address(there))
                    to += 4
    return out.reshape(-1, 4)
