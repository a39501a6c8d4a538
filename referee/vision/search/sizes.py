"""How large the pieces of a picture are against the piece file: one factor for all lengths, from a frame in which the
pieces stand apart.

The single pieces of the frame are found once and only their places are fitted anew, for the set at several sizes; what
explains the picture best is the factor, by a parabola through the best three. Only pieces that account for a whole
patch of their colour tell: one that is taken for another grows as far as that one reaches. And a factor is told only
where the pieces agree on it.
"""

import dataclasses
import math

import cv2
import numpy as np

from cards.pieces import PieceSet
from referee.kernels import loose_pieces as kernels
from referee.kernels import rasterizer
from referee.kernels.scene import Gains
from referee.vision.image.evidence import Evidence
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured
from referee.vision.search.canvas import Canvas, Reading, canvas_of, coarse_canvas
from referee.vision.search.loose_pieces import CLIMB, FINE_CLIMB, Candidates, with_pieces_behind
from referee.vision.search.readings import with_loose
from referee.vision.search.stances import catalogue

FACTORS = measured(
    (0.84, 0.88, 0.92, 0.96, 1.0, 1.04, 1.08, 1.12, 1.16),
    "of the piece file's lengths",
    "4 % apart: fits with a set's own file are off by up to that; a parabola finds what is between",
)
LEAST_PIECES = measured(4, "pieces over all mats", "by hand: fewer say nothing of the set")
ITS_PATCH = measured(
    0.7, "of piece and patch together", "by hand: so much both cover, of a piece that is what it seems"
)
MEDIAN_ERROR = measured(1.858, "median absolute deviations over root n", "standard error of a median of normal values")
TOLD_ERRORS = measured(3.0, "standard errors", "a factor that is nearer to 1 is not told from it")
RIMS = measured(
    0.98, "of a piece's lengths", "what is seen of them: the rims' pixels are mixtures; median of 27 sessions' fits"
)


def scaled_set(piece_set: PieceSet, factor: float) -> PieceSet:
    """The set with all its lengths times a factor."""
    shapes = {
        name: dataclasses.replace(
            s, width=s.width * factor, height=s.height * factor, depth=s.depth * factor, opening=s.opening * factor
        )
        for name, s in piece_set.shapes.items()
    }
    return PieceSet(piece_set.name, shapes, piece_set.colors, piece_set.pieces)


def size_factor(piece_set: PieceSet, seen: list[tuple[ZoneView, Evidence]]) -> float | None:
    """How many times the set's lengths the pieces of these views have, 1 where that is not told from it; None where too
    few of them stand there. Found twice where the set's lengths are off: then pieces are taken for others, or stand
    elsewhere."""
    found = _factor(piece_set, seen, 1.0)
    if found is not None and abs(found[0] - 1) > (FACTORS[1] - FACTORS[0]) / 2:
        found = _factor(piece_set, seen, found[0])
    if found is None:
        return None
    factor, error = found
    return factor if abs(factor - 1) > TOLD_ERRORS * error else 1.0


def _factor(piece_set: PieceSet, seen: list[tuple[ZoneView, Evidence]], about: float) -> tuple[float, float] | None:
    """The same, where it is ``about`` so many times, and its standard error by how far single pieces differ."""
    scores: list[np.ndarray] = []
    steps, nowhere = np.vstack([CLIMB, FINE_CLIMB]), np.zeros(2)
    for view, evidence in seen:
        canvas = canvas_of(view, evidence, catalogue(piece_set, evidence.names).resized(about))
        empty, small = Reading(0.0, np.zeros((0, 5)), 0.0), coarse_canvas(canvas)
        # Half as strict as the search is, which finds the pieces too small; those of plain gains come out too large.
        scene = canvas.scene().with_gains(Gains(1.5 * canvas.gains - 0.5 * np.maximum(canvas.strongest, 0.0)))
        singles = with_pieces_behind(small, empty, Candidates(empty.pieces))
        pieces = with_loose(small, [empty], singles)[0].loose
        pieces = pieces[[_is_its_patch(canvas, row) for row in pieces]]
        of_factor = []
        for factor in FACTORS:
            arrays = canvas.cat.resized(factor).arrays
            lifted = np.c_[pieces * [1, 1, 1, factor, 1], np.zeros((len(pieces), 2))]  # they still stand on the table
            rasterizer.clear(canvas.scene())
            there = np.ascontiguousarray(kernels.climb(arrays, lifted, nowhere, steps, scene)[:, :5])
            of_factor.append([rasterizer.draw(arrays, row[None], scene) for row in there])
        scores.extend(np.transpose(of_factor))
    if len(scores) < LEAST_PIECES:
        return None
    each = np.array([_peak(row) for row in scores])
    error = MEDIAN_ERROR * np.median(np.abs(each - np.median(each))) / math.sqrt(len(each))
    return about * float(_peak(np.sum(scores, 0))) / RIMS, about * float(error) / RIMS


def _is_its_patch(canvas: Canvas, row: np.ndarray) -> bool:
    """Whether a piece (5,) covers about what the patch of its colour does that it stands in."""
    rasterizer.clear(canvas.scene())
    rasterizer.place(canvas.arrays, row, canvas.scene(), True)
    covered = canvas.maps.near > 0
    _, patches = cv2.connectedComponents((canvas.labels == canvas.cat.color[int(row[0])]).astype(np.uint8))
    patch = patches == 1 + np.bincount(patches[covered], minlength=2)[1:].argmax()
    return bool((covered & patch).sum() > ITS_PATCH * (covered | patch).sum())


def _peak(scores: np.ndarray) -> float:
    """Where a parabola through the best of the scores (one a factor) and its neighbours is highest."""
    best = int(scores.argmax())
    if best in (0, len(scores) - 1):
        return FACTORS[best]
    a, b, c = scores[best - 1 : best + 2]
    return FACTORS[best] + 0.5 * (a - c) / (a - 2 * b + c) * (FACTORS[1] - FACTORS[0])
