"""Kernels for loose pieces: single pieces that lie on the table, at any turn, outside the field.

Rows are (stance, x, y, z, yaw): mm, radians; see ``rasterizer``. The hill climb here is not that of ``local_search``:
a loose piece lies on the table at any turn, so that nothing is let down again, nothing speaks against a place
beforehand, and one area, the field, is closed to it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from referee.vision.search import parameters
from referee.vision.search.jit import inner_loop, lean, loop
from referee.vision.search.local_search import copy_row, turned
from referee.vision.search.rasterizer import ALL, clear, draw, place, weighed
from referee.vision.search.scans import pixel_of

COVERED = -2
"""Label of a pixel that shows something nearer: a piece behind may be of any colour there."""


@lean
def _shows(cat, piece, labels, scene):
    """Whether two of three pixels on the piece's middle line are labelled with its colour, or ``COVERED``."""
    s = int(piece[0])
    seen = 0
    for up in SEEN_AT:
        row, col = pixel_of(piece[1], piece[2], piece[3] + up * cat.size[s, 2], scene)
        if row >= 0 and labels[row, col] in (cat.color[s], COVERED):
            seen += 1
    return seen >= 2


@lean
def _closed(row, field):
    """Whether a place is in the field, where no loose piece lies."""
    return abs(row[1]) < field[0] and abs(row[2]) < field[1]


@lean
def _scan_stance(cat, s, places, yaws, field, labels, scene, out):
    """Write the rows of one stance (see ``scan_loose``) to ``out``; returns how many."""
    n = 0
    for place_at in places:
        for k in range(len(yaws)):
            if n == len(out):
                return n
            row = out[n]
            row[0], row[1], row[2], row[3], row[4] = s, place_at[0], place_at[1], cat.size[s, 2] / 2, yaws[k]
            if k == 0 and (_closed(row, field) or not _shows(cat, row, labels, scene)):
                break
            row[5], row[6] = weighed(cat, row, scene)
            if row[5] > 0:
                n += 1
    return n


SEEN_AT = parameters.SEEN_AT.value
MOST_ROWS = parameters.MOST_ROWS.value
CLASH_COST = parameters.CLASH_COST.value


@loop
def scan_loose(cat, stances, alike, places, yaws, field, labels, scene):
    """Evidence of single pieces lying on the table at ``places`` (n, 2) outside the ``field`` (2,), at any turn.

    ``alike`` (stances,) radians: no turn as great is tried, for each looks then as it did. ``labels`` (h, w) int8, the
    likeliest colour: only places whose middle shows the piece's colour are looked at. Rows (n, 7) as in
    ``scans.scan_table``.
    """
    out = np.empty((MOST_ROWS, 7))
    n = 0
    for i in range(len(stances)):
        turns = max(1, np.searchsorted(yaws, alike[i]))
        n += _scan_stance(cat, stances[i], places, yaws[:turns], field, labels, scene, out[n:])
    return out[:n].copy()


@lean
def _climbed(cat, row, trial, field, steps, scene):
    """Climb from a row (7,) by ``steps`` (levels, 2) (mm, radians); rewrites it with its evidence and pixels."""
    row[5], row[6] = place(cat, row, scene, False)
    for level in range(len(steps)):
        for _ in range(4):
            better = False
            for axis in (1, 2, 4):
                for sign in (-1.0, 1.0):
                    copy_row(row, trial)
                    trial[axis] += sign * (steps[level, 1] if axis == 4 else steps[level, 0])
                    if _closed(trial, field):
                        continue
                    won, pixels = place(cat, trial, scene, False)
                    if won > row[5] + 0.5:
                        copy_row(trial, row)
                        row[5], row[6] = won, pixels
                        better = True
                        break
            if not better:
                break


@loop
def climb(cat, rows, field, steps, scene):
    """Hill climb of each loose piece of ``rows`` (n, 7) over the maps as they are, outside the ``field``: the rows
    then, as in ``scans.scan_table``."""
    out = rows.copy()
    trial = np.empty(5)
    for i in range(len(rows)):
        _climbed(cat, out[i], trial, field, steps, scene)
    return out


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
def alone(cat, rows, scene):
    """Evidence of each of ``rows`` drawn alone (n,), and its rows and columns (n, 4): first, last, first, last."""
    won = np.empty(len(rows))
    boxes = np.empty((len(rows), 4), np.int64)
    for i in range(len(rows)):
        clear(scene.maps)
        won[i] = place(cat, rows[i], scene, True)[0]
        _box(scene.maps, boxes[i])
    clear(scene.maps)
    return won, boxes


@lean
def _touches_drawn(box, maps):
    for row in range(box[0], box[1] + 1):
        if maps.from_col[row] <= box[3] and maps.to_col[row] >= box[2]:
            return True
    return False


@lean
def _overlap(a, b):
    """Whether two boxes (first and last row, first and last column) have a pixel in common."""
    return a[0] <= b[1] and a[1] >= b[0] and a[2] <= b[3] and a[3] >= b[2]


@lean
def _most_worth(worth, costs):
    """The candidate that wins most less its cost (-1: none does), and what it wins."""
    best, most = -1, 0.0
    for i in range(len(worth)):
        if worth[i] - costs[i] > most:
            best, most = i, worth[i] - costs[i]
    return best, most


class Lone(NamedTuple):
    """Candidates, ``rows`` (n, 5), and what ``alone`` says of each: the evidence that it has ``won`` drawn alone (n,),
    and its ``boxes`` (n, 4)."""

    rows: np.ndarray
    won: np.ndarray
    boxes: np.ndarray


class Prices(NamedTuple):
    """Nats against a loose piece: one outside the field, ``apart`` in the field, more for one ``beyond`` those that the
    build leaves in the box, and for one partly ``hidden`` by the build."""

    outside: float
    apart: float
    beyond: float
    hidden: float


@lean
def _clashes(cat, row, pieces, c, s):
    """Whether a loose piece would stand where one of a build does, whose frame is turned by (cos, sin)."""
    own = int(row[0])
    for j in range(len(pieces)):
        other = int(pieces[j, 0])
        dx = row[1] - (c * pieces[j, 1] - s * pieces[j, 2])
        dy = row[2] - (s * pieces[j, 1] + c * pieces[j, 2])
        near = (min(cat.size[own, 0], cat.size[own, 1]) + min(cat.size[other, 0], cat.size[other, 1])) / 2
        if math.sqrt(dx * dx + dy * dy) < near and pieces[j, 3] - cat.size[other, 2] / 2 < cat.size[own, 2]:
            return True
    return False


@lean
def _costs(cat, pieces, turn, rows, field, prices, costs):
    """Write to ``costs`` (n,) what speaks against each candidate beside a build: none stands where a piece of it is."""
    c, s = math.cos(turn), math.sin(turn)
    for i in range(len(rows)):
        costs[i] = prices.outside
        if abs(rows[i, 1]) <= field[0] and abs(rows[i, 2]) <= field[1]:
            costs[i] = CLASH_COST if _clashes(cat, rows[i], pieces, c, s) else prices.apart


@inner_loop
def _add_to(cat, pieces, turn, lone, stock, field, scene, prices):
    """Greedily draw those loose candidates that win more than they cost beside a build, ``pieces`` (n, 5) in the frame
    turned by ``turn`` radians.

    What does not overlap is not weighed anew. ``stock`` (types,) the pieces of the box, ``field`` (2,) mm. Returns
    (chosen row indices, evidence won less costs).
    """
    rows, boxes = lone.rows, lone.boxes
    draw(cat, pieces, len(pieces), ALL, turned(scene, turn))
    worth, left, costs = lone.won.copy(), stock.copy(), np.empty(len(rows))
    for j in range(len(pieces)):
        left[cat.kind[int(pieces[j, 0])]] -= 1
    _costs(cat, pieces, turn, rows, field, prices, costs)
    kinds = cat.kind[rows[:, 0].astype(np.int64)]
    for i in range(len(rows)):
        costs[i] += prices.beyond if left[kinds[i]] <= 0 else 0.0
        if _touches_drawn(boxes[i], scene.maps):  # what hides it in part may turn what it wins alone either way
            worth[i] = place(cat, rows[i], scene, False)[0]
            costs[i] += prices.hidden if worth[i] != lone.won[i] else 0.0
    chosen = np.empty(len(rows), np.int64)
    count, total = 0, 0.0
    while True:
        best, most = _most_worth(worth, costs)
        if best < 0:
            return chosen[:count], total
        total += most
        place(cat, rows[best], scene, True)
        worth[best] = -1e9
        chosen[count] = best
        count += 1
        left[kinds[best]] -= 1
        for i in range(len(rows)):
            if kinds[i] == kinds[best] and left[kinds[i]] == 0:
                costs[i] += prices.beyond
            if worth[i] > costs[i] and _overlap(boxes[i], boxes[best]):
                worth[i] = place(cat, rows[i], scene, False)[0]


@loop
def add_loose(cat, states, lone, stock, field, scene, prices):
    """``_add_to`` each of n ``states``: gives indices of candidates (n, candidates), how many of each row are chosen
    (n,), and the evidence won less costs (n,)."""
    n = len(states.counts)
    chosen = np.empty((n, len(lone.rows)), np.int64)
    counts, won = np.empty(n, np.int64), np.empty(n)
    for k in range(n):
        pieces = states.pieces[k, : states.counts[k]]
        rows, won[k] = _add_to(cat, pieces, states.turns[k], lone, stock, field, scene, prices)
        counts[k] = len(rows)
        for i in range(len(rows)):
            chosen[k, i] = rows[i]
    return chosen, counts, won
