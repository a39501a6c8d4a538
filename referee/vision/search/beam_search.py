"""Beam search of readings from the table upwards, piece by piece, on the coarse canvas (kernels: see ``beam``).

The heuristic is an optimistic estimate: a piece is let down where it would come to rest, and what it covers wrongly
may still be covered again by something in front of it. States are kept by three measures in turn, because no single
one is fair to a build that is half seen: the optimistic estimate, the evidence as it stands, and regret, which is
what the covered pixels would give to their own best colours (a right beginning has little of it, however much is
still to come).
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from referee.kernels import beam
from referee.kernels.candidates import Stock, successors
from referee.kernels.rasterizer import clear
from referee.kernels.scans import scan_table
from referee.kernels.scene import Scene
from referee.vision.measured import measured
from referee.vision.search.canvas import Canvas, Reading, fit_readings
from referee.vision.search.rules import BRANCH, LEVEL_MM, PIECE_COST, STEP_X, STEP_Y, TURN_DEG

TURNS_DEG = TURN_DEG * np.arange(-2, 3)
WIDE = np.array(measured((120, 48, 40, 30, 20, 14, 10, 8, 8, 8), "states after 1, 2, 3, … pieces", "by hand: for time"))
WIDER = np.array(
    measured(
        (144, 84, 72, 54, 36, 24, 18, 14, 12, 12),
        "states after 1, 2, 3, … pieces",
        "only where WIDE leaves something unexplained; as few as change no ruling of the dev sets: half of them does",
    )
)
TIMES_WIDER = measured(
    (6, 14),
    "times",
    "only where that leaves something unexplained, or much: builds in plain view that no narrower search reads",
)
MUCH_WIDER, WIDEST = (times * WIDER for times in TIMES_WIDER)

GROWN_FROM = measured(3, "pieces", "by hand: so many are taken away at most, and come on instead")
COVERED_NATS = measured(
    0.6,
    "nats a pixel",
    "cost, in the optimistic estimate, of a pixel that shows another piece's colour than the piece that covers "
    "it: something still to come may stand in front; by hand",
)


class BeamSearch:
    """The coarse evidence of one view, ready to be searched."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.hopeful = canvas.with_gains(_optimistic)
        regret = canvas.with_gains(lambda one: one.gains - np.maximum(one.strongest, 0.0)).summed
        self.estimates = beam.Estimates(self.hopeful.summed, canvas.summed, regret)
        self.stock = Stock(canvas.cat.stock, np.array(canvas.field_mm))
        self._given: set[int] = set()

    def _scene(self, turn: float) -> Scene:
        return self.canvas.scene(turn).with_gains(self.estimates.optimistic)

    @cached_property
    def roots(self) -> np.ndarray:
        """First pieces (n, 8): stance, x, y, z, yaw, evidence, pixels, turn; the best of each stance in each row of
        places."""
        cat = self.canvas.cat
        usual = np.flatnonzero(~cat.rare)
        field = self.canvas.field_mm
        xs, ys = np.arange(-field[0] + 1, field[0], STEP_X), np.arange(-field[1] + 2, field[1], STEP_Y)
        rows = []
        clear(self.canvas.scene())
        for turn in np.deg2rad(TURNS_DEG):
            got = scan_table(self.canvas.arrays, usual, xs, ys, np.zeros((0, 5)), self._scene(turn))
            rows.append(np.c_[got, np.full(len(got), turn)])
        found = np.concatenate(rows)
        found = found[_inside(found, found[:, 7], field)]
        found = found[np.argsort(-found[:, 5], kind="stable")]
        _, best = np.unique(1e3 * found[:, 0] + found[:, 2], return_index=True)  # by stance, then y
        return np.ascontiguousarray(found[best])

    def search(self, widths: np.ndarray, most: int) -> list[Reading]:
        """The best readings met, fitted roughly, by evidence as it stands, but for those that an earlier search has
        given already. ``widths``: states kept after 1, 2, 3, … pieces.
        """
        grown, arrays, scene = self._tree, self.canvas.arrays, self.canvas.scene()
        met = beam.beam(grown, np.arange(len(self.roots)), arrays, self.stock, scene, self.estimates, widths)
        met = met[np.argsort(-grown.score[met], kind="stable")][:most]
        fresh = [i for i in met.tolist() if i not in self._given]
        self._given.update(fresh)
        return [
            Reading(float(grown.turn[i]), grown.pieces[i, : grown.sizes[i]].copy(), float(grown.score[i]))
            for i in fresh
        ]

    def grown(self, reading: Reading) -> list[Reading]:
        """A reading's build, or that without its highest piece or two, or without a piece and all that stands on it,
        with further pieces on it, several at once: a piece that carries others wins nothing as long as they are not
        there, and alone hides what they explain. Of each number of pieces the best of each choice of them, by the
        optimistic estimate."""
        kept = [np.arange(reading.count) < n for n in range(1, reading.count + 1)[-GROWN_FROM:]]
        kept += [~stack for stack in self._stacks(reading.pieces) if stack.sum() <= GROWN_FROM]
        distinct = {one.tobytes(): one for one in kept if one.any()}
        states = [replace(reading, pieces=reading.pieces[one]) for one in distinct.values()]
        found: list[Reading] = []
        for _ in range(GROWN_FROM):
            tried = fit_readings(self.hopeful, [r for state in states for r in self.successors(state)])
            by_choice: dict[tuple, Reading] = {}
            for r in sorted(tried, key=lambda r: -r.score):
                by_choice.setdefault(r.stances, r)
            states = list(by_choice.values())[:BRANCH]
            found += states
        return found

    def standing_alone(self, reading: Reading) -> np.ndarray:
        """Which of its pieces stand on the table and carry nothing, of a reading that has others."""
        cat, pieces = self.canvas.cat, reading.pieces
        low = pieces[:, 3] - cat.size[pieces[:, 0].astype(int), 2] / 2 < LEVEL_MM
        return np.flatnonzero(low & (self._stacks(pieces).sum(1) == 1)) if len(pieces) > 1 else np.zeros(0, int)

    def _stacks(self, pieces: np.ndarray) -> np.ndarray:
        """(n, n) bool: of each of the pieces (n, 5) itself and all that may stand on it."""
        half, at = self.canvas.cat.size[pieces[:, 0].astype(int)] / 2, pieces[:, 1:4]
        stands = at[:, 2] - half[:, 2] > (at + half)[:, None, 2] - LEVEL_MM  # (lower, upper)
        stands &= (np.abs(at[:, None] - at) < half[:, None] + half - STEP_X)[..., :2].all(-1)
        stack = stands | np.eye(len(pieces), dtype=bool)
        for _ in pieces:
            stack |= stack @ stack
        return stack

    @cached_property
    def _tree(self) -> beam.Tree:
        """All that the searches have met."""
        tree = beam.Tree(len(self.roots) + int((WIDE + WIDER + MUCH_WIDER + WIDEST).sum()), len(WIDEST))
        beam.add_roots(tree, self.roots, self.canvas.arrays, self.canvas.scene(), self.estimates)
        return tree

    def successors(self, reading: Reading) -> list[Reading]:
        """The reading with one more piece, in every promising way, by optimistic score."""
        if not reading.count:
            return []
        pieces = np.ascontiguousarray(reading.pieces)
        rows = successors(self.canvas.arrays, self.stock, pieces, reading.turn, self._scene(reading.turn))
        rows = rows[np.argsort(-rows[:, 5])]
        return [Reading(reading.turn, np.vstack([pieces, r[:5]]), reading.score + r[5] - PIECE_COST) for r in rows]


def _optimistic(canvas: Canvas) -> np.ndarray:
    """The canvas's gains, but a pixel of another piece's colour costs little."""
    gains, pixels = canvas.gains, canvas.factor**2
    shown = canvas.strongest > pixels
    return np.where(shown & (gains < -pixels * COVERED_NATS), -pixels * COVERED_NATS, gains)


def _inside(rows: np.ndarray, turn: np.ndarray, field: tuple[float, float]) -> np.ndarray:
    """Which of the rows (n, 5 or more) stand in the field, each in the frame turned by its ``turn``."""
    x = rows[:, 1] * np.cos(turn) - rows[:, 2] * np.sin(turn)
    y = rows[:, 1] * np.sin(turn) + rows[:, 2] * np.cos(turn)
    return (np.abs(x) <= field[0]) & (np.abs(y) <= field[1])
