"""Pieces of the set that are seen nowhere: each may stand in the field behind what does, or may it not?

A single picture shows a build from one side. A piece that neither stands in the build nor lies loose is somewhere: out
of the picture, or behind the build. It is let down at every place in the field, on the table and on the build's pieces;
where it would win evidence, or hide so that hardly a pixel speaks against it, it may be there.
"""

import math
from collections.abc import Callable

import numpy as np

from cards.card import Kind
from referee.kernels import loose_pieces, rasterizer
from referee.vision.measured import measured
from referee.vision.search.canvas import Canvas, Reading

UNSEEN_NATS = measured(
    -20.0, "nats", "a piece that loses more where it fits best would be seen there; hidden ones lose about none"
)
PEEKING_NATS = measured(
    60.0,
    "nats",
    "a piece that wins as much peeks out: in none of 276 right builds of 30 simulated tables, in 1 of 195 of devset2 "
    "and 3, in 6 of 75 wrong ones that were accepted there and 16 of 49 made to deceive",
)
MOST_MISSING = measured(
    3, "pieces", "by hand: where more are seen nowhere, what is not built with is kept out of the picture"
)
GRID_MM = measured(6.0, "mm", "by hand: the places at which a piece that is out of sight is tried")
CLEAR_MM = measured(1.0, "mm", "by hand: so far two pieces may reach into one another, for places are known to so much")
NO_CLIMB = np.zeros((0, 2))


def unseen_pieces(
    canvas: Canvas, reading: Reading, lying: np.ndarray, elsewhere: Callable[[], np.ndarray]
) -> dict[Kind, float]:
    """Pieces that may stand in the field unseen, each with the nats that it wins there.

    ``lying`` (n,) bool: which of the reading's loose pieces are of this player's set; ``elsewhere`` gives (k,) how many
    pieces of each of the catalogue's colours lie about beside them. They are counted by colour: half hidden, a loose
    piece is easily taken for another of its colour, or of another colour.
    """
    cat, colors = canvas.cat, len(canvas.gains)
    color_of = np.zeros(len(cat.types), int)
    color_of[cat.kind] = cat.color
    built = np.bincount(cat.kind[reading.pieces[:, 0].astype(int)], minlength=len(cat.types))
    loose = np.bincount(cat.color[reading.loose[lying, 0].astype(int)], minlength=colors)
    missing = np.bincount(color_of, cat.stock - built, colors) - loose
    kinds = np.flatnonzero((cat.stock > built) & (missing[color_of] > 0))
    may_be = {k: won for k, won in _nats_unseen(canvas, reading, kinds).items() if won > UNSEEN_NATS}
    if not may_be:
        return {}
    missing = missing - elsewhere()
    if missing.sum() > MOST_MISSING:
        return {}
    least = UNSEEN_NATS if missing.sum() > 0 else PEEKING_NATS
    return {cat.types[k]: won for k, won in may_be.items() if missing[color_of[k]] > 0 and won > least}


def _nats_unseen(canvas: Canvas, reading: Reading, kinds: np.ndarray) -> dict[int, float]:
    """Of each of the ``kinds`` the most nats that a further piece wins where it fits into the field beside a reading:
    about 0 where it would be hidden, negative where it would be seen and is not. Without those that fit nowhere."""
    if not len(kinds) or not reading.count:
        return {}
    rows = _fitting(canvas, reading, np.flatnonzero(np.isin(canvas.cat.kind, kinds) & ~canvas.cat.rare))
    canvas.draw(reading)
    for row in reading.loose:
        rasterizer.place(canvas.arrays, row, canvas.scene(), True)
    placed = np.c_[rows, np.zeros((len(rows), 2))]
    won = loose_pieces.climb(canvas.arrays, placed, np.zeros(2), NO_CLIMB, canvas.scene())[:, 5]
    kind = canvas.cat.kind[rows[:, 0].astype(int)]
    return {k: float(won[kind == k].max()) for k in np.unique(kind).tolist()}


def _fitting(canvas: Canvas, reading: Reading, stances: np.ndarray) -> np.ndarray:
    """(n, 5) rows of the ``stances``, square to the build, wherever in the field they stand on the table or on one of
    its pieces and reach into none."""
    cat, pieces, own = canvas.cat, reading.pieces, reading.pieces[:, 0].astype(int)
    half, cos, sin = cat.size / 2, math.cos(reading.turn), math.sin(reading.turn)
    xs, ys = (np.arange(GRID_MM / 3 - reach, reach, GRID_MM) for reach in canvas.field_mm)
    s, x, y = (a.ravel() for a in np.broadcast_arrays(stances[:, None, None], xs[None, :, None], ys[None, None, :]))
    places = np.c_[cos * x + sin * y, cos * y - sin * x]
    reach = half[own][:, None, :2] + half[s][None, :, :2] - CLEAR_MM
    overlap = (np.abs(places[None] - pieces[:, None, 1:3]) < reach).all(2)
    feet, tops = pieces[:, 3] - half[own, 2], pieces[:, 3] + half[own, 2]
    rows = []
    for floor, carrier in ((0.0, None), *((top, i) for i, top in enumerate(tops.tolist()))):
        beside = (feet[:, None] > floor + 2 * half[s, 2] - CLEAR_MM) | (tops[:, None] < floor + CLEAR_MM)
        fits = (~overlap | beside).all(0)
        if carrier is not None:
            fits &= (np.abs(places - pieces[carrier, 1:3]) < half[own[carrier], :2]).all(1)
        rows.append(np.c_[s, x, y, floor + half[s, 2], np.full(len(s), reading.turn)][fits])
    return np.concatenate(rows)
