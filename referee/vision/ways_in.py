"""Every way from Python into the compiled loops, with the types it is taken with: what is compiled ahead.

A kernel is compiled for the types it meets; here they are said by example, so that nothing has to be judged to have all
compiled, and processes can share the work. A test judges pictures and finds nothing left to compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cards.pieces import PieceSet, Pose
from referee.vision.live import color_lut, gate
from referee.vision.render import solids
from referee.vision.search import beam, candidates, local_search, loose_kernels, physics, rasterizer, scans
from referee.vision.search.beam_search import BeamSearch, stock_of
from referee.vision.search.canvas import Canvas
from referee.vision.search.jit import Kernel
from referee.vision.search.loose_pieces import PRICES
from referee.vision.search.stances import catalogue
from referee.vision.verdict import shading


class WayIn(NamedTuple):
    """A kernel and arguments of the types that it is called with."""

    kernel: Kernel
    examples: tuple

    def prepare(self) -> None:
        """Have it compiled and kept, if it is not."""
        self.kernel.prepare(self.examples)

    @property
    def prepared(self) -> bool:
        """Whether nothing has to be compiled for it."""
        return self.kernel.prepared(self.examples)


def way_in(kernel: Kernel, *examples: Any) -> WayIn:
    """The way in that a call with these arguments takes."""
    return WayIn(kernel, examples)


def of_judging(pieces: PieceSet) -> list[WayIn]:
    """What a judgement needs of which the card explains what is seen: the longest way first."""
    canvas = _made_up(pieces)
    cat, scene, rows, row = canvas.arrays, canvas.scene(), np.zeros((2, 5)), np.zeros(5)
    numbers, places, some = np.zeros(2, np.int64), np.zeros(2), np.zeros((2, 7))
    lone = loose_kernels.Lone(rows, places, np.zeros((2, 4), np.int64))
    states = local_search.States(np.zeros((2, 2, 5)), numbers, places)
    return [
        way_in(rasterizer.place, cat, row, scene, True),
        way_in(physics.straightness, cat, rows, 2, canvas.maps.points),
        way_in(rasterizer.draw, cat, rows, 2, -1, scene),
        way_in(local_search.refine_each, cat, states, numbers, scene, np.zeros((2, 2)), 3),
        way_in(local_search.place_whole, cat, rows, places, places, places, scene),
        way_in(local_search.edits, cat, numbers, rows, scene),
        way_in(candidates.successors, cat, stock_of(canvas, None), rows, 0.0, scene),
        way_in(local_search.edited, cat, rows, rows, np.zeros((2, 3, 5))),
        way_in(rasterizer.clear, canvas.maps),
        way_in(loose_kernels.climb, cat, some, places, rows, scene),
        way_in(loose_kernels.scan_loose, cat, numbers, places, rows, places, places, np.zeros((2, 2), np.int8), scene),
        way_in(loose_kernels.alone, cat, rows, scene),
        way_in(loose_kernels.add_loose, cat, states, lone, numbers, places, scene, PRICES),
        *_of_looking(canvas),
    ]


def of_searching(pieces: PieceSet) -> list[WayIn]:
    """What a judgement needs beside that where the card does not explain what is seen."""
    canvas = _made_up(pieces)
    cat, scene, numbers, places = canvas.arrays, canvas.scene(), np.zeros(2, np.int64), np.zeros(2)
    tree, estimates = beam.tree(2, 2), BeamSearch(canvas).estimates
    return [
        way_in(scans.scan_table, cat, numbers, places, places, np.zeros((0, 5)), scene),
        way_in(beam.add_roots, tree, np.zeros((2, 8)), cat, scene, estimates),
        way_in(beam.beam, tree, numbers, cat, stock_of(canvas, None), scene, estimates, numbers),
    ]


def _of_looking(canvas: Canvas) -> list[WayIn]:
    """What is drawn, lit and looked at live; nothing of the search."""
    features, faces, where = np.zeros((2, 2, 3), np.float32), np.zeros((2, 2), np.int32), np.zeros((2, 2), bool)
    light, labels = np.zeros((2, 2), np.float32), np.zeros((2, 2), np.int8)
    picture, table = np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 2), np.int8)
    shape = next(iter(canvas.cat.piece_set.shapes.values()))
    solid = solids.solid(shape, Pose(0, "front"))
    return [
        way_in(shading.likeliest, features, faces, features, light, where),
        way_in(shading.smoothed, features, faces, where, 1, 1),
        way_in(solids.draw_solid, solid, (0.0,) * 4, canvas.camera, canvas.matrix, solids.z_buffer((2, 2)), 0, True),
        way_in(color_lut.look_up, np.zeros((2, 3), np.uint8), table.ravel(), 3, labels.reshape(-1)),
        way_in(gate.compare, picture, gate.memory_of(picture, None), table, 1, 0.0, (0.0, 0.0)),
    ]


def _made_up(pieces: PieceSet) -> Canvas:
    """A small canvas of nothing."""
    cat = catalogue(pieces, tuple(pieces.colors))
    return Canvas(cat, np.zeros((3, 4)), np.eye(3), np.zeros((int(cat.color.max()) + 1, 2, 2), np.float32))
