"""Growing readings from the table upwards, piece by piece (beam search on the coarse canvas; see ``beam``).

Growth is led by hope: a piece is let down where it would come to rest, and what it covers wrongly
may still be covered again by something in front of it. Beginnings are kept for three reasons in
turn (see ``beam``), because no single measure is fair to a build that is half seen: hope, the
evidence as it stands, and regret, which is what the covered pixels would give to their own best
colours (a right beginning has little of it, however much is still to come).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from calibration.mat import FIELD
from referee.vision import beam
from referee.vision.canvas import PIECE_COST, Canvas, Reading
from referee.vision.catalogue import Catalogue
from referee.vision.further import Stock, further
from referee.vision.paint import clear, gains
from referee.vision.search import scan

TURNS_DEG = (-14.0, -7.0, 0.0, 7.0, 14.0)
STEP_X, STEP_Y = 6.0, 8.0
"""Places at which beginnings are tried, mm."""

WIDE = np.array((120, 48, 40, 30, 20, 14, 10, 8, 8, 8))
WIDEST = np.array((240, 140, 120, 90, 60, 40, 30, 24, 20, 20))
"""States kept after 1, 2, 3, … pieces: WIDEST only where WIDE leaves something unexplained."""

HOPE = 0.6
"""Nats a pixel costs, while a build is still growing, when it shows another piece's colour than the
piece that covers it: something still to come may stand in front. (Background costs in full.)"""

FRONT_SHARE = 0.7
"""Share of a column's best evidence that the place nearest the camera must have."""


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
        self.hopes = beam.Hopes(gains(_hopeful(real)), real.summed, gains(real.gains - best))
        self._trees: dict[tuple | None, tuple[beam.Tree, set[int]]] = {}

    @cached_property
    def first(self) -> np.ndarray:
        """Beginnings (n, 8): stance, x, y, z, yaw, evidence, pixels, turn; the best of each stance in each
        row of places, and the frontmost of each column.
        """
        real = self.real
        usual = np.flatnonzero(~real.cat.rare)
        xs, ys = np.arange(-FIELD[0] + 1, FIELD[0], STEP_X), np.arange(-FIELD[1] + 2, FIELD[1], STEP_Y)
        rows = []
        clear(real.maps)
        for turn in np.deg2rad(TURNS_DEG):
            got = scan(
                real.arrays,
                usual,
                xs,
                ys,
                np.zeros(1),
                np.zeros((0, 5)),
                0,
                False,
                real.turned(turn),
                real.matrix,
                self.hopes.hope,
                real.maps,
            )
            rows.append(np.c_[got, np.full(len(got), turn)])
        found = np.concatenate(rows)
        found = found[_in_field(found, found[:, 7])]
        found = np.concatenate([found, _frontmost(found, real.camera)])
        found = found[np.argsort(-found[:, 5], kind="stable")]
        _, best = np.unique(1e3 * found[:, 0] + found[:, 2], return_index=True)  # by stance, then y
        return np.ascontiguousarray(found[best])

    def beam(self, widths: np.ndarray, most: int, asked: dict[str, int] | None = None) -> list[Reading]:
        """The best readings met while growing, fitted roughly, by evidence as it stands, but for those that an
        earlier beam has given already. ``asked``: see ``stock_of``.
        """
        real, cat = self.real, self.real.cat
        stock = stock_of(cat, asked)
        grown, given = self._tree(asked)
        allowed = np.minimum(stock.free, stock.asked[stock.shape])[cat.kind[self.first[:, 0].astype(int)]] > 0
        met = beam.beam(
            grown, np.flatnonzero(allowed), real.arrays, stock, real.camera, real.matrix, self.hopes, real.maps, widths
        )
        met = met[np.argsort(-grown.score[met], kind="stable")][:most]
        fresh = [i for i in met.tolist() if i not in given]
        given.update(fresh)
        return [
            Reading(float(grown.turn[i]), grown.pieces[i, : grown.count[i]].copy(), float(grown.score[i]))
            for i in fresh
        ]

    def _tree(self, asked: dict[str, int] | None) -> tuple[beam.Tree, set[int]]:
        """The tree of so many asked pieces, and which of its nodes have been given."""
        key = None if asked is None else tuple(sorted(asked.items()))
        if key not in self._trees:
            real = self.real
            grown = beam.tree(len(self.first) + int(WIDE.sum() + WIDEST.sum()), len(WIDEST))
            beam.plant(grown, self.first, real.arrays, real.camera, real.matrix, self.hopes, real.maps)
            self._trees[key] = grown, set()
        return self._trees[key]

    def grown(self, reading: Reading) -> list[Reading]:
        """The reading with one more piece, in every promising way, by hope."""
        if not reading.count:
            return []
        real = self.real
        pieces = np.ascontiguousarray(reading.pieces)
        rows = further(
            real.arrays,
            stock_of(real.cat, None),
            pieces,
            len(pieces),
            reading.turn,
            real.turned(reading.turn),
            real.matrix,
            self.hopes.hope,
            real.maps,
        )
        rows = rows[np.argsort(-rows[:, 5])]
        return [Reading(reading.turn, np.vstack([pieces, r[:5]]), reading.score + r[5] - PIECE_COST) for r in rows]


def _hopeful(canvas: Canvas) -> np.ndarray:
    """The canvas's gains, but a pixel of another piece's colour costs little."""
    gains, pixels = canvas.gains, canvas.factor**2
    shown = gains.max(0) > pixels
    return np.where(shown & (gains < -pixels * HOPE), -pixels * HOPE, gains)


def _frontmost(found: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Of each column of places the one nearest to the camera that explains nearly as much.

    A piece imagined too far back still covers the colours of what stands on it; moved towards the
    camera it keeps its evidence until its foot leaves the real foot.
    """
    towards = np.sign(-(camera[:, :3].T @ camera[:, 3])[1])
    _, group = np.unique(1e6 * found[:, 0] + 1e3 * found[:, 1] + found[:, 7], return_inverse=True)
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
