"""What 2,000 placements win over a build, to the bit: ``placements.py`` says which build of the rasteriser ran, and a
hash of what it gave."""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np

from cards.pieces import builtin_piece_set
from referee.kernels import outlines, rasterizer
from referee.vision.search.canvas import Canvas, Reading
from referee.vision.search.stances import catalogue

HEIGHT_PX = 300


def nothing_seen() -> Canvas:
    """A view of nothing from 0.7 m at 30 degrees, whose evidence differs from pixel to pixel."""
    pieces, down = builtin_piece_set(), np.radians(30.0)
    turn = np.array([(1, 0, 0), (0, -np.sin(down), -np.cos(down)), (0, np.cos(down), -np.sin(down))])
    matrix = np.array([(700.0, 0, 150.0), (0, 700.0, 150.0), (0, 0, 1.0)])
    gains = np.random.default_rng(1).normal(0, 2, (len(pieces.colors), HEIGHT_PX, HEIGHT_PX)).astype(np.float32)
    cat = catalogue(pieces, tuple(pieces.colors))
    return Canvas(cat, np.ascontiguousarray(np.c_[turn, (0.0, 60.0, 700.0)]), matrix, gains)


def five_pieces(canvas: Canvas) -> np.ndarray:
    """A build, some of whose pieces stand within others."""
    rng, size = np.random.default_rng(2), canvas.cat.size
    rows = np.c_[rng.integers(0, len(size), 5), rng.uniform(-40, 40, (5, 2)), np.zeros(5), rng.uniform(-0.3, 0.3, 5)]
    rows[:, 3] = size[rows[:, 0].astype(int), 2] / 2
    return rows


def places(canvas: Canvas, count: int) -> np.ndarray:
    """Further pieces (count, 5), on the table or in the air."""
    rng, size = np.random.default_rng(3), canvas.cat.size
    stance = rng.integers(0, len(size), count)
    z = size[stance, 2] / 2 + rng.choice([0.0, 25.0, 30.0], count)
    return np.c_[stance, rng.uniform(-90, 90, count), rng.uniform(-40, 40, count), z, rng.uniform(-0.3, 0.3, count)]


def main() -> None:
    canvas = nothing_seen()
    canvas.draw(Reading(0.0, five_pieces(canvas), 0.0))
    rows, scene, given = places(canvas, 2000), canvas.scene(), hashlib.sha256()
    for row in rows:
        given.update(np.array(rasterizer.place(canvas.arrays, row, scene, False)).tobytes())
    for row in rows[:200]:
        given.update(np.array(rasterizer.place(canvas.arrays, row, scene, True)).tobytes())
    given.update(canvas.maps.near.tobytes() + canvas.maps.gained.tobytes())
    json.dump({"modules": [outlines.__file__, rasterizer.__file__], "bits": given.hexdigest()}, sys.stdout)


if __name__ == "__main__":
    main()
