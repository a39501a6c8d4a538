"""Growing readings from the table upwards, piece by piece (beam search at half resolution).

Growth is led by hope: a piece is let down where it would come to rest, and what it covers wrongly
may still be covered again by something in front of it. Beginnings are kept for three reasons in
turn (see ``promising``), because no single measure is fair to a build that is half seen.
"""

from __future__ import annotations

import math

import numpy as np

from calibration.mat import FIELD
from referee.vision import paint, search
from referee.vision.canvas import PIECE_COST, Canvas, Reading, fit, rescored

TURNS_DEG = (-14.0, -7.0, 0.0, 7.0, 14.0)

FIRST, EAGER = 120, 0.4
"""Beginnings of one piece that are grown on; weight of hope against regret (see ``promising``)."""

BEAM = (48, 40, 30, 20, 14, 10, 8, 8, 8)
"""States kept after 2, 3, … pieces."""

BRANCH = 8
"""Places on the table tried for a further piece of a reading."""


BAND_MM = 16.0
BANDS_MM = (-32.0, -16.0, 0.0, 16.0, 32.0)
"""Beginnings are chosen apart in bands of depth: the same pixels may be a piece low and far or high and near."""

HIDDEN = 2.0
"""Nats a pixel that a new piece may lose and still be tried: a piece behind others may win nothing."""

HOPE = 0.6
"""Nats a pixel costs, while a build is still growing, when it shows another piece's colour than the
piece that covers it: something still to come may stand in front. (Background costs in full.)"""


def beam(real: Canvas, asked: dict[str, int] | None = None) -> list[Reading]:
    """Every reading met while growing, fitted roughly, by evidence. ``asked`` as in ``Canvas``."""
    hopeful = Canvas(real.cat, real.camera, real.matrix, _hopeful(real.gains), asked, True)
    best = np.maximum(real.gains.max(0), 0.0)
    regret = Canvas(real.cat, real.camera, real.matrix, real.gains - best, rough=True)
    first = _first(hopeful)
    states = promising(real, regret, first, FIRST)
    done = {key_of(s): s for s in states}
    for width in BEAM:
        grown: dict[tuple, Reading] = {}
        for s in states:
            for r in grow(hopeful, s):
                _keep_better(grown, r)
        fitted: dict[tuple, Reading] = {}
        for r in promising(real, regret, list(grown.values()), width):
            _keep_better(fitted, fit(hopeful, r, first=r.count - 1))
        states = list(fitted.values())
        done.update(fitted)
        if not states:
            break
    return sorted((rescored(real, r) for r in done.values()), key=lambda r: -r.score)


def _hopeful(gains: np.ndarray) -> np.ndarray:
    """Half-resolution gains in which a pixel of another piece's colour costs little."""
    shown = gains.max(0) > 4.0
    return np.ascontiguousarray(np.where(shown & (gains < -4 * HOPE), -4 * HOPE, gains).astype(np.float32))


def promising(real: Canvas, regret: Canvas, grown: list[Reading], width: int) -> list[Reading]:
    """Those to go on with, in turn the best by hope, by evidence as it stands, and by regret.

    Regret is what the covered pixels would give to their own best colours: a right beginning
    has little of it, however much is still to come.
    """
    grown = sorted(grown, key=lambda r: -r.score)[: 6 * width]
    now = np.array([rescored(real, r).score for r in grown])
    sorry = np.array([rescored(regret, r).score for r in grown])
    hope = np.array([r.score for r in grown])
    orders = [np.argsort(-order) for order in (hope, now, sorry + EAGER * hope)]
    kept: dict[int, None] = {}
    for rank in range(len(grown)):
        for order in orders:
            if len(kept) < width:
                kept[int(order[rank])] = None
    return [grown[i] for i in kept]


def _keep_better(readings: dict[tuple, Reading], r: Reading) -> None:
    key = key_of(r)
    if key not in readings or readings[key].score < r.score:
        readings[key] = r


def key_of(r: Reading) -> tuple:
    return tuple(sorted((int(p[0]), round(p[1] / 8), round(p[3] / 8)) for p in r.pieces))


def _first(canvas: Canvas) -> list[Reading]:
    usual = _left(canvas, np.zeros((0, 5)))
    xs = np.arange(-FIELD[0] + 1, FIELD[0], 6.0)
    ys = np.arange(-FIELD[1] + 2, FIELD[1], 8.0)
    empty = np.zeros((0, 5))
    paint.clear(canvas.maps)
    rows = []
    for turn in np.deg2rad(TURNS_DEG):
        got = search.scan(canvas.arrays, usual, xs, ys, np.zeros(1), empty, 0, False, *canvas.seen(turn))
        got = got[_in_field(got, turn)]
        rows.append(np.c_[got, np.full(len(got), turn)])
    found = np.concatenate(rows)
    found = np.concatenate([found, _frontmost(found, canvas.camera)])
    chosen: list[np.ndarray] = []
    found = np.unique(found, axis=0)
    for band in BANDS_MM:
        near = found[np.abs(found[:, 2] - band + 0.01) <= BAND_MM / 2]
        mine: list[np.ndarray] = []
        for s in np.unique(near[:, 0]):
            of = near[near[:, 0] == s]
            for y in np.unique(of[:, 2]):
                mine += _distinct(of[of[:, 2] == y], 1)
        chosen += mine
    return [Reading(r[7], r[None, :5].copy(), r[5] - PIECE_COST) for r in chosen]

FRONT_SHARE = 0.7
"""Share of a column's best evidence that the place nearest the camera must have."""


def _frontmost(found: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Of each column of places the one nearest to the camera that explains nearly as much.

    A piece imagined too far back still covers the colours of what stands on it; moved towards the
    camera it keeps its evidence until its foot leaves the real foot.
    """
    towards = np.sign(-(camera[:, :3].T @ camera[:, 3])[1])
    groups: dict[tuple, list[np.ndarray]] = {}
    for r in found:
        groups.setdefault((r[0], r[1], r[7]), []).append(r)
    front = []
    for rows in groups.values():
        high = max(r[5] for r in rows)
        good = [r for r in rows if r[5] >= high - (1 - FRONT_SHARE) * abs(high)]
        first = max(good, key=lambda r: towards * r[2]).copy()
        front.append(first)
    return np.array(front).reshape(-1, found.shape[1])


def _distinct(rows: np.ndarray, most: int) -> list[np.ndarray]:
    """The best rows of a scan, leaving out near copies (same stance within 10 mm)."""
    chosen: list[np.ndarray] = []
    for r in rows[np.argsort(-rows[:, 5])][:400]:
        if all(r[0] != q[0] or abs(r[1] - q[1]) > 10 or abs(r[2] - q[2]) > 10 for q in chosen):
            chosen.append(r)
            if len(chosen) == most:
                break
    return chosen


def _left(canvas: Canvas, pieces: np.ndarray) -> np.ndarray:
    """Usual stances of which the box still has a piece."""
    cat = canvas.cat
    used = np.bincount(cat.kind[pieces[:, 0].astype(int)], minlength=len(cat.types))
    free = used < cat.stock
    if canvas.asked is not None:
        shapes = [shape for shape, _ in cat.types]
        have = {s: sum(int(u) for u, other in zip(used, shapes, strict=True) if other == s) for s in canvas.asked}
        free &= np.array([have.get(s, 0) < canvas.asked.get(s, 0) for s in shapes])
    return np.flatnonzero(~cat.rare & free[cat.kind])


def grow(canvas: Canvas, s: Reading) -> list[Reading]:
    cat = canvas.cat
    pieces = np.ascontiguousarray(s.pieces)
    canvas.draw(s)
    if not s.count:
        return []
    stances = _left(canvas, pieces)
    half = cat.size[pieces[:, 0].astype(int), 0] / 2
    low, high = (pieces[:, 1] - half).min() - 30, (pieces[:, 1] + half).max() + 30
    middle = pieces[:, 2].mean()
    rows = []
    spread = np.zeros(1)
    for on_top, step in ((True, 5.0), (False, 7.0)):
        xs = np.arange(low - 50 * (not on_top), high + 50 * (not on_top), step)
        ys = middle + spread
        got = search.scan(canvas.arrays, stances, xs, ys, np.zeros(1), pieces, len(pieces), on_top,
                          *canvas.seen(s.turn))
        got = got[(got[:, 5] > -HIDDEN * got[:, 6]) & _in_field(got, s.turn)]
        rows += _best_per_stance(got) if on_top else _distinct(got, BRANCH)
    return [Reading(s.turn, np.vstack([pieces, r[:5]]), s.score + r[5] - PIECE_COST) for r in rows]


def _best_per_stance(rows: np.ndarray) -> list[np.ndarray]:
    """Each stance's best row, and its next best more than 12 mm beside that one."""
    rows = rows[np.argsort(-rows[:, 5])]
    first: dict[float, np.ndarray] = {}
    second: dict[float, np.ndarray] = {}
    for r in rows:
        if r[0] not in first:
            first[r[0]] = r
        elif r[0] not in second and abs(r[1] - first[r[0]][1]) > 12:
            second[r[0]] = r
    return [*first.values(), *second.values()]


def _in_field(rows: np.ndarray, turn: float) -> np.ndarray:
    """Which of the rows (n, 5 or more) stand in the field, in the frame turned by ``turn``."""
    x = rows[:, 1] * math.cos(turn) - rows[:, 2] * math.sin(turn)
    y = rows[:, 1] * math.sin(turn) + rows[:, 2] * math.cos(turn)
    return (np.abs(x) <= FIELD[0]) & (np.abs(y) <= FIELD[1])
