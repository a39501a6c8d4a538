"""Other builds that fill the same picture, which single edits of a reading do not reach: a tower a storey higher or
lower."""

from itertools import product

import numpy as np

from referee.vision.measured import measured
from referee.vision.search.canvas import FEW_READINGS, Canvas, Reading, fit_readings
from referee.vision.search.rules import MAX_PIECES
from referee.vision.search.stances import Catalogue

SECOND_BEST = measured(2, "readings", "by hand: what is tried beside the best is followed to its second best")
NO_CLIMB = (1.0,), (1.0,), 0
"""A hill climb, as ``FINE``, without a step."""
CROOKED_NATS = measured(
    100.0, "nats", "prior cost from which a build is crooked enough to look for another of the same picture; by hand"
)


def with_storeys(canvas: Canvas, best: Reading) -> list[Reading]:
    """A reading with a piece slid in below one of its own, or two of its colour for one of its own, or the foot taken
    away, all that is above moved along the camera's rays so that it stays where it is in the picture: the same tower
    looks so a storey higher and nearer, and no single edit goes from one to the other. The most promising, roughly
    fitted."""
    cat, pieces = canvas.cat, best.pieces[np.argsort(best.pieces[:, 3], kind="stable")]
    feet = pieces[:, 3] - cat.size[pieces[:, 0].astype(int), 2] / 2
    eye = _eye(canvas, best.turn)
    free = _left(cat, pieces[:, 0].astype(int))
    usual = np.flatnonzero(~cat.rare & (free[cat.kind] > 0)) if 0 < len(pieces) < MAX_PIECES else ()
    trials = []
    for i in range(len(pieces)):
        above = feet >= feet[i] - 1.0
        if feet[i] < 1.0 and above.sum() < len(pieces):
            continue
        for s in usual:
            rows = _lifted(pieces, above, i, cat.size[s, 2], eye)
            below = s, *rows[i, 1:3], feet[i] + cat.size[s, 2] / 2, pieces[i, 4]
            trials.append(np.concatenate([rows[:i], [below], rows[i:]]))
        trials += _exchanged(cat, pieces, i, above, free, eye)
    if len(pieces) > 1 and feet[1] > 1.0:
        trials.append(_lifted(pieces[1:], feet[1:] > 0, 0, -cat.size[int(pieces[0, 0]), 2], eye))
    raised = [Reading(best.turn, rows, 0.0, "storey") for rows in trials]
    tried = fit_readings(canvas, raised, NO_CLIMB, [r.count for r in raised])
    near = sorted(tried, key=lambda r: -r.score)[: FEW_READINGS * SECOND_BEST]
    return sorted(fit_readings(canvas, near), key=lambda r: -r.score)[:SECOND_BEST]


def _left(cat: Catalogue, stances: np.ndarray) -> np.ndarray:
    """(types,) how many pieces of each type the box has beside those of some stances."""
    return np.asarray(cat.stock - np.bincount(cat.kind[stances], minlength=len(cat.stock)))


def _eye(canvas: Canvas, turn: float) -> np.ndarray:
    """(3,) mm: where the camera is, in the frame turned by ``turn``."""
    view = canvas.scene(turn).camera
    return np.asarray(-view[:, :3].T @ view[:, 3])


def _exchanged(
    cat: Catalogue, pieces: np.ndarray, i: int, above: np.ndarray, free: np.ndarray, eye: np.ndarray
) -> list[np.ndarray]:
    """The rows (n, 5) with another piece of its colour, or two, one on the other, instead of piece i, what is ``above``
    lifted or let down."""
    own = int(pieces[i, 0])
    foot, higher = pieces[i, 3] - cat.size[own, 2] / 2, above & (np.arange(len(pieces)) != i)
    free = free + (np.arange(len(free)) == cat.kind[own])
    fits = np.flatnonzero(~cat.rare & (free[cat.kind] > 0) & (cat.color == cat.color[own]))
    trials = []
    for stances in [(s,) for s in fits if s != own] + [*product(fits, fits)] * (len(pieces) < MAX_PIECES):
        if np.any(np.bincount(cat.kind[list(stances)], minlength=len(free)) > free):
            continue
        heights_mm = cat.size[list(stances), 2]
        rows = _lifted(pieces, higher, i, heights_mm.sum() - cat.size[own, 2], eye)
        new = [
            (s, *pieces[i, 1:3], foot + below + mm / 2, pieces[i, 4])
            for s, below, mm in zip(stances, np.cumsum(heights_mm) - heights_mm, heights_mm, strict=True)
        ]
        trials.append(np.concatenate([rows[:i], new, rows[i + 1 :]]))
    return trials


def _lifted(pieces: np.ndarray, which: np.ndarray, i: int, by_mm: float, eye: np.ndarray) -> np.ndarray:
    """The rows (n, 5) with those of ``which`` (n,) raised, and moved as the ray through piece i does on its way up to
    the ``eye`` (3,)."""
    rows = pieces.copy()
    rows[which, 1:3] += by_mm / (pieces[i, 3] - eye[2]) * (pieces[i, 1:3] - eye[:2])
    rows[which, 3] += by_mm
    return rows
