"""The search on a made-up view: three pieces of the built-in set seen from 0.7 m, their colours without fault."""

from __future__ import annotations

import numpy as np
import pytest

from cards.card import LayoutCard
from cards.pieces import Pose, builtin_piece_set
from referee.vision.search import rasterizer, readings
from referee.vision.search.beam_search import WIDE, WIDEST, BeamSearch
from referee.vision.search.canvas import Canvas, Reading, coarse, fit, to_build
from referee.vision.search.stances import catalogue


@pytest.fixture(scope="module")
def seen():
    """The canvas of a tower, and its pieces as rows."""
    pieces = builtin_piece_set()
    cat = catalogue(pieces, tuple(pieces.colors))
    stances = [
        next(s for s in range(len(cat)) if cat.color[s] == k and cat.poses[s] == Pose(0, "front"))
        for k in sorted(set(cat.color.tolist()))[:3]
    ]
    down = np.radians(30.0)
    camera = np.ascontiguousarray(
        np.c_[
            np.array([(1, 0, 0), (0, -np.sin(down), -np.cos(down)), (0, np.cos(down), -np.sin(down))]),
            (0.0, 60.0, 700.0),
        ]
    )
    matrix = np.array([(700.0, 0, 150.0), (0, 700.0, 150.0), (0, 0, 1.0)])
    canvas = Canvas(cat, camera, matrix, np.full((len(pieces.colors), 300, 300), -3.0, np.float32))
    rows, z = [], 0.0
    for s in stances:
        rows.append((s, 0.0, 0.0, z + cat.size[s, 2] / 2, 0.0))
        z += cat.size[s, 2]
    canvas.draw(Reading(0.0, np.array(rows), 0.0))
    tags = canvas.maps.near.copy()
    for row in rows:  # each piece where it is the nearest
        rasterizer.clear(canvas.maps)
        rasterizer.place(canvas.arrays, np.array(row), canvas.scene(), True)
        canvas.gains[cat.color[row[0]], (canvas.maps.near >= tags) & (canvas.maps.near > 0)] = 3.0
    return Canvas(cat, camera, matrix, canvas.gains), np.array(rows)


@pytest.mark.parametrize("with_card", [False, True])
def test_a_tower_is_read_with_and_without_its_card(seen, with_card):
    canvas, rows = seen
    pieces = to_build(canvas.cat, Reading(0.0, rows, 0.0)).pieces
    card = LayoutCard("tower", 1, pieces) if with_card else None
    found = readings.readings(canvas, card)
    build = to_build(canvas.cat, found[0])
    assert sorted((p.shape, p.color) for p in build.pieces) == sorted((p.shape, p.color) for p in pieces)
    assert np.abs(np.sort([p.z for p in build.pieces]) - np.sort(rows[:, 3])).max() < 0.5
    assert any(len(r.pieces) != len(rows) or set(r.pieces[:, 0]) != set(rows[:, 0]) for r in found[1:]), "rivals"


def test_a_wider_beam_adds_to_a_narrower_one_what_it_would_find_alone(seen):
    small = coarse(seen[0])
    fresh, grown = BeamSearch(small), BeamSearch(small)
    alone = fresh.search(WIDEST, 60)
    both = grown.search(WIDE, 60) + grown.search(WIDEST, 60)
    assert {(r.score, r.pieces.tobytes()) for r in alone} <= {(r.score, r.pieces.tobytes()) for r in both}
    assert len({r.pieces.tobytes() for r in both}) == len(both), "nothing is given twice"


def test_loose_pieces_of_an_empty_field_count_once(seen):
    empty = Reading(0.0, np.zeros((0, 5)), 1234.0)
    assert fit(seen[0], empty).score == 0.0
