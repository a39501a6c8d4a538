"""Growing readings from the table upwards, piece by piece (beam search on the coarse canvas).

Growth is led by hope: a piece is let down where it would come to rest, and what it covers wrongly
may still be covered again by something in front of it. Beginnings are kept for three reasons in
turn (see ``_promising``), because no single measure is fair to a build that is half seen: hope, the
evidence as it stands, and regret, which is what the covered pixels would give to their own best
colours (a right beginning has little of it, however much is still to come).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibration.mat import FIELD
from referee.vision import search
from referee.vision.canvas import PIECE_COST, Canvas, Reading, rescored
from referee.vision.catalogue import Catalogue
from referee.vision.compiled import lean, loop
from referee.vision.paint import Gains, clear, draw, gains, place
from referee.vision.search import refine, scan, turned_camera

TURNS_DEG = (-14.0, -7.0, 0.0, 7.0, 14.0)
STEP_X, STEP_Y = 6.0, 8.0
"""Places at which beginnings are tried, mm."""

WIDE = np.array((120, 48, 40, 30, 20, 14, 10, 8, 8, 8))
WIDEST = np.array((240, 140, 120, 90, 60, 40, 30, 24, 20, 20))
"""States kept after 1, 2, 3, … pieces: WIDEST only where WIDE leaves something unexplained."""

EAGER = 0.4
"""Weight of hope against regret (see ``_promising``)."""

LOOKED_AT = 6
"""Of the readings grown at one level, so many times the beam's width are looked at more closely."""

BRANCH = 8
"""Places on the table tried for a further piece of a reading."""

ON_TOP_STEP, BESIDE_STEP = 5.0, 7.0
REACH_ON_TOP, REACH_BESIDE = 30.0, 80.0
"""Where a further piece is tried: step and reach beyond the build's ends in x, mm."""

HIDDEN = 2.0
"""Nats a pixel that a new piece may lose and still be tried: a piece behind others may win nothing."""

HOPE = 0.6
"""Nats a pixel costs, while a build is still growing, when it shows another piece's colour than the
piece that covers it: something still to come may stand in front. (Background costs in full.)"""

FRONT_SHARE = 0.7
"""Share of a column's best evidence that the place nearest the camera must have."""

QUICK_MM, QUICK_RAD = np.array([3.0]), np.deg2rad([4.0])
CELL_MM = 8.0
"""Readings of the same stances whose places agree within this are one and the same."""


class Stock(NamedTuple):
    """What may still be added: ``kind`` (s,) each stance's type, ``rare`` (s,), ``free`` (types,) how many of a
    type the box has; ``shape`` (types,) and ``asked`` (shapes,) how many of a shape the card allows.
    """

    kind: np.ndarray
    rare: np.ndarray
    free: np.ndarray
    shape: np.ndarray
    asked: np.ndarray


class Hopes(NamedTuple):
    """The evidence in three lights: with hope, as it stands, and as regret."""

    hope: Gains
    now: Gains
    regret: Gains


def stock_of(cat: Catalogue, asked: dict[str, int] | None) -> Stock:
    """The catalogue's stock, limited to so many of each asked shape (None: no limit)."""
    names = list(cat.piece_set.shapes)
    shape = np.array([names.index(s) for s, _ in cat.types])
    limit = np.full(len(names), 99) if asked is None else np.array([asked.get(n, 0) for n in names])
    return Stock(cat.kind, cat.rare, cat.stock, shape, limit)


class Growth:
    """The coarse evidence of one view, ready to grow readings on."""

    def __init__(self, real: Canvas) -> None:
        self.real = real
        best = np.maximum(real.gains.max(0), 0.0)
        self.hopes = Hopes(gains(_hopeful(real)), real.summed, gains(real.gains - best))
        self.first = self._first()

    def _first(self) -> np.ndarray:
        """Beginnings (n, 8): stance, x, y, z, yaw, evidence, pixels, turn; the best of each stance in each
        row of places, and the frontmost of each column.
        """
        real = self.real
        usual = np.flatnonzero(~real.cat.rare)
        xs, ys = np.arange(-FIELD[0] + 1, FIELD[0], STEP_X), np.arange(-FIELD[1] + 2, FIELD[1], STEP_Y)
        rows = []
        clear(real.maps)
        for turn in np.deg2rad(TURNS_DEG):
            got = scan(real.arrays, usual, xs, ys, np.zeros(1), np.zeros((0, 5)), 0, False, real.turned(turn),
                       real.matrix, self.hopes.hope, real.maps)
            rows.append(np.c_[got, np.full(len(got), turn)])
        found = np.concatenate(rows)
        found = found[_in_field(found, found[:, 7])]
        found = np.concatenate([found, _frontmost(found, real.camera)])
        found = found[np.argsort(-found[:, 5], kind="stable")]
        _, best = np.unique(found[:, [0, 2]], axis=0, return_index=True)
        return np.ascontiguousarray(found[best])

    def beam(self, widths: np.ndarray, asked: dict[str, int] | None = None) -> list[Reading]:
        """Every reading met while growing, fitted roughly, by evidence as it stands. ``asked``: see ``stock_of``."""
        real, cat = self.real, self.real.cat
        stock = stock_of(cat, asked)
        allowed = np.minimum(stock.free, stock.asked[stock.shape])[cat.kind[self.first[:, 0].astype(int)]] > 0
        states, counts, turns = _beam(real.arrays, stock, np.ascontiguousarray(self.first[allowed]), real.camera,
                                      real.matrix, self.hopes, real.maps, widths)
        found = [Reading(float(t), s[:n].copy(), 0.0) for s, n, t in zip(states, counts, turns, strict=True)]
        return sorted((rescored(real, r) for r in found), key=lambda r: -r.score)

    def grown(self, reading: Reading) -> list[Reading]:
        """The reading with one more piece, in every promising way, by hope."""
        if not reading.count:
            return []
        real = self.real
        pieces = np.ascontiguousarray(reading.pieces)
        rows = _further(real.arrays, stock_of(real.cat, None), pieces, len(pieces), reading.turn,
                        real.turned(reading.turn), real.matrix, self.hopes.hope, real.maps)
        rows = rows[np.argsort(-rows[:, 5])]
        return [Reading(reading.turn, np.vstack([pieces, r[:5]]), reading.score + r[5] - PIECE_COST) for r in rows]


def _hopeful(canvas: Canvas) -> np.ndarray:
    """The canvas's gains, but a pixel of another piece's colour costs little."""
    gains, pixels = canvas.gains, canvas.factor ** 2
    shown = gains.max(0) > pixels
    return np.where(shown & (gains < -pixels * HOPE), -pixels * HOPE, gains)


def _frontmost(found: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Of each column of places the one nearest to the camera that explains nearly as much.

    A piece imagined too far back still covers the colours of what stands on it; moved towards the
    camera it keeps its evidence until its foot leaves the real foot.
    """
    towards = np.sign(-(camera[:, :3].T @ camera[:, 3])[1])
    _, group = np.unique(found[:, [0, 1, 7]], axis=0, return_inverse=True)
    high = np.full(group.max() + 1 if len(group) else 0, -np.inf)
    np.maximum.at(high, group, found[:, 5])
    good = np.flatnonzero(found[:, 5] >= (high - (1 - FRONT_SHARE) * np.abs(high))[group])
    good = good[np.argsort(-towards * found[good, 2], kind="stable")]
    _, first = np.unique(group[good], return_index=True)
    return found[good[first]]


def _in_field(rows: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Which of the rows (n, 5 or more) stand in the field, each in the frame turned by its ``turn``."""
    x = rows[:, 1] * np.cos(turn) - rows[:, 2] * np.sin(turn)
    y = rows[:, 1] * np.sin(turn) + rows[:, 2] * np.cos(turn)
    return (np.abs(x) <= FIELD[0]) & (np.abs(y) <= FIELD[1])


@loop
def _left(stock, pieces, count):
    """Usual stances of which the box, and the card, still allow a piece."""
    used = np.zeros(len(stock.free), np.int64)
    of_shape = np.zeros(len(stock.asked), np.int64)
    for i in range(count):
        kind = stock.kind[int(pieces[i, 0])]
        used[kind] += 1
        of_shape[stock.shape[kind]] += 1
    out = np.empty(len(stock.kind), np.int64)
    n = 0
    for s in range(len(stock.kind)):
        kind = stock.kind[s]
        shape = stock.shape[kind]
        if not stock.rare[s] and used[kind] < stock.free[kind] and of_shape[shape] < stock.asked[shape]:
            out[n] = s
            n += 1
    return out[:n]


@loop
def _further(cat, stock, pieces, count, turn, camera, matrix, gains, maps):
    """Rows (n, 7), as ``scan`` gives them, of further pieces worth trying on a state: on it and beside it."""
    draw(cat, pieces, count, -1, camera, matrix, gains, maps)
    stances = _left(stock, pieces, count)
    low, high, middle = 1e9, -1e9, 0.0
    for i in range(count):
        half = cat.size[int(pieces[i, 0]), 0] / 2
        low, high = min(low, pieces[i, 1] - half), max(high, pieces[i, 1] + half)
        middle += pieces[i, 2] / count
    ys, yaws = np.full(1, middle), np.zeros(1)
    above = scan(cat, stances, np.arange(low - REACH_ON_TOP, high + REACH_ON_TOP, ON_TOP_STEP), ys, yaws, pieces,
                 count, True, camera, matrix, gains, maps)
    beside = scan(cat, stances, np.arange(low - REACH_BESIDE, high + REACH_BESIDE, BESIDE_STEP), ys, yaws, pieces,
                  count, False, camera, matrix, gains, maps)
    out = np.empty((2 * len(stances) + BRANCH, 7))
    n = _two_of_each(_worthy(above, turn), out)
    n = _apart(_worthy(beside, turn), out, n)
    return out[:n]


@loop
def _worthy(rows, turn):
    """Those that stand in the field and do not lose too much, best first."""
    c, s = np.cos(turn), np.sin(turn)
    keep = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        x, y = c * rows[i, 1] - s * rows[i, 2], s * rows[i, 1] + c * rows[i, 2]
        keep[i] = rows[i, 5] > -HIDDEN * rows[i, 6] and abs(x) <= FIELD[0] and abs(y) <= FIELD[1]
    rows = rows[keep]
    return rows[np.argsort(-rows[:, 5])]


@loop
def _two_of_each(rows, out):
    """Each stance's best row, and its next best more than 12 mm beside that one; returns how many."""
    n = 0
    for i in range(len(rows)):
        same, apart = 0, True
        for k in range(n):
            if out[k, 0] == rows[i, 0]:
                same += 1
                apart = apart and abs(out[k, 1] - rows[i, 1]) > 12
        if same == 0 or (same == 1 and apart):
            out[n] = rows[i]
            n += 1
    return n


@loop
def _apart(rows, out, n):
    """Add the best rows, leaving out near copies (same stance within 10 mm); returns how many there are then."""
    start = n
    for i in range(len(rows)):
        if n == start + BRANCH:
            break
        copy = False
        for k in range(start, n):
            copy = copy or (out[k, 0] == rows[i, 0] and abs(out[k, 1] - rows[i, 1]) <= 10)
        if not copy:
            out[n] = rows[i]
            n += 1
    return n


@lean
def _key(pieces, count):
    """A number that is the same for readings that are one and the same (see ``CELL_MM``)."""
    total = np.uint64(0)
    for i in range(count):
        h = np.uint64(int(pieces[i, 0]) + 1) * np.uint64(0x9E3779B97F4A7C15)
        h ^= np.uint64(round(pieces[i, 1] / CELL_MM) + 500) * np.uint64(0xC2B2AE3D27D4EB4F)
        h ^= np.uint64(round(pieces[i, 3] / CELL_MM) + 500) * np.uint64(0x165667B19E3779F9)
        h ^= h >> np.uint64(29)
        total += h * np.uint64(0xBF58476D1CE4E5B9)
    return total


@loop
def _promising(hope, now, regret, width):
    """Indices of those to go on with, in turn the best by hope, by evidence as it stands, and by regret."""
    orders = (np.argsort(-hope), np.argsort(-now), np.argsort(-(regret + EAGER * hope)))
    n = len(hope)
    taken = np.zeros(n, np.bool_)
    out = np.empty(min(width, n), np.int64)
    count = 0
    for rank in range(n):
        for order in orders:
            i = order[rank]
            if not taken[i] and count < len(out):
                taken[i] = True
                out[count] = i
                count += 1
    return out


@loop
def _beam(cat, stock, first, camera, matrix, hopes, maps, widths):
    """Grow beginnings (n, 8). Returns every state met (m, k, 5), how many pieces each has, and its turn."""
    most, room = len(widths), widths.sum()
    states = np.zeros((room, most, 5))
    counts = np.zeros(room, np.int64)
    turns = np.zeros(room)
    met = 0
    lights = np.empty((len(first), 3))
    for i in range(len(first)):
        seen = turned_camera(camera, first[i, 7])
        clear(maps)
        lights[i, 0] = first[i, 5] - PIECE_COST
        lights[i, 1] = _added(cat, first, i, seen, matrix, hopes.now, maps) - PIECE_COST
        lights[i, 2] = _added(cat, first, i, seen, matrix, hopes.regret, maps) - PIECE_COST
    for i in _promising(lights[:, 0], lights[:, 1], lights[:, 2], widths[0]):
        states[met, 0] = first[i, :5]
        counts[met], turns[met] = 1, first[i, 7]
        met += 1
    begin = 0
    for n in range(1, most):
        end = met
        parents, rows, lights = _children(cat, stock, states, turns, begin, end, n, LOOKED_AT * widths[n], camera,
                                          matrix, hopes, maps)
        if len(parents) == 0:
            break
        seen_keys = set([np.uint64(0)])
        for i in _promising(lights[:, 0], lights[:, 1], lights[:, 2], widths[n]):
            p = parents[i]
            state = states[met, :n + 1]
            state[:n] = states[p, :n]
            state[n] = rows[i, :5]
            refine(cat, state, n + 1, n, turned_camera(camera, turns[p]), matrix, hopes.hope, maps,
                   QUICK_MM, QUICK_RAD, 2)
            key = _key(state, n + 1)
            if key in seen_keys:
                continue
            seen_keys.add(key)
            counts[met], turns[met] = n + 1, turns[p]
            met += 1
        begin = end
    return states[:met], counts[:met], turns[:met]


@lean
def _lit(cat, state, count, further, camera, matrix, hopes, maps, lights):
    """Write to ``lights`` (n or more, 3) the evidence of a state with each of ``further`` (n, 7) pieces added."""
    cost = search.straightness(cat, state, count, maps.points) + PIECE_COST * (count + 1)
    own = draw(cat, state, count, -1, camera, matrix, hopes.hope, maps) - cost
    for i in range(len(further)):
        lights[i, 0] = own + further[i, 5]
    own = draw(cat, state, count, -1, camera, matrix, hopes.now, maps) - cost
    for i in range(len(further)):
        lights[i, 1] = own + _added(cat, further, i, camera, matrix, hopes.now, maps)
    own = draw(cat, state, count, -1, camera, matrix, hopes.regret, maps) - cost
    for i in range(len(further)):
        lights[i, 2] = own + _added(cat, further, i, camera, matrix, hopes.regret, maps)


@lean
def _added(cat, rows, i, camera, matrix, gains, maps):
    """Evidence that the piece of row i would win over what is drawn."""
    return place(cat, int(rows[i, 0]), rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], camera, matrix, gains, maps,
                 False)[0]


@loop
def _children(cat, stock, states, turns, begin, end, count, most, camera, matrix, hopes, maps):
    """Every further piece of the states from ``begin`` to ``end``: parents, rows, and evidence in three
    lights (n, 3); near copies left out, and only the ``most`` most hopeful.
    """
    room = (end - begin) * (2 * len(stock.kind) + BRANCH)
    parents = np.empty(room, np.int64)
    rows = np.empty((room, 7))
    lights = np.empty((room, 3))
    n = 0
    for p in range(begin, end):
        state = states[p, :count]
        seen = turned_camera(camera, turns[p])
        further = _further(cat, stock, state, count, turns[p], seen, matrix, hopes.hope, maps)
        parents[n:n + len(further)] = p
        rows[n:n + len(further)] = further
        _lit(cat, state, count, further, seen, matrix, hopes, maps, lights[n:])
        n += len(further)
    return _distinct(states, count, parents[:n], rows[:n], lights[:n], most)


@loop
def _distinct(states, count, parents, rows, lights, most):
    """The ``most`` most hopeful children, near copies left out."""
    chosen = np.empty(min(most, len(parents)), np.int64)
    n = 0
    seen = set([np.uint64(0)])
    child = np.empty((count + 1, 5))
    for i in np.argsort(-lights[:, 0]):
        if n == len(chosen):
            break
        child[:count] = states[parents[i], :count]
        child[count] = rows[i, :5]
        key = _key(child, count + 1)
        if key not in seen:
            seen.add(key)
            chosen[n] = i
            n += 1
    chosen = chosen[:n]
    return parents[chosen], rows[chosen], lights[chosen]
