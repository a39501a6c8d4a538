"""The search on a made-up view: three pieces of the built-in set seen from 0.7 m, their colours without fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cards.kinds.layout import LayoutCard
from cards.pieces import Pose, builtin_piece_set
from referee.kernels import local_search, rasterizer
from referee.kernels.candidates import successors
from referee.kernels.scans import scan_table
from referee.vision.search import readings
from referee.vision.search.beam_search import WIDE, WIDEST, BeamSearch
from referee.vision.search.canvas import (
    Canvas,
    Reading,
    coarse_canvas,
    fit_readings,
    squared,
    to_build,
)
from referee.vision.search.loose_pieces import one_further
from referee.vision.search.shading import faces_shown, in_openings, light_score, unevenness
from referee.vision.search.stances import catalogue

CAT = catalogue(builtin_piece_set(), tuple(builtin_piece_set().colors))


def canvas_of(rows: np.ndarray) -> Canvas:
    """What a camera 0.7 m away, 30 degrees up, shows of pieces (n, 5)."""
    down = np.radians(30.0)
    camera = np.ascontiguousarray(
        np.c_[
            np.array([(1, 0, 0), (0, -np.sin(down), -np.cos(down)), (0, np.cos(down), -np.sin(down))]),
            (0.0, 60.0, 700.0),
        ]
    )
    matrix = np.array([(700.0, 0, 150.0), (0, 700.0, 150.0), (0, 0, 1.0)])
    canvas = Canvas(CAT, camera, matrix, np.full((len(set(CAT.color.tolist())), 300, 300), -3.0, np.float32))
    canvas.draw(Reading(0.0, rows, 0.0))
    tags = canvas.maps.near.copy()
    for row in rows:  # each piece where it is the nearest
        rasterizer.clear(canvas.scene())
        rasterizer.place(canvas.arrays, row, canvas.scene(), True)
        canvas.gains[CAT.color[int(row[0])], (canvas.maps.near >= tags) & (canvas.maps.near > 0)] = 3.0
    return Canvas(CAT, camera, matrix, canvas.gains)


@pytest.fixture(scope="module")
def seen():
    """The canvas of a tower, and its pieces as rows."""
    stances = [
        next(s for s in range(len(CAT)) if CAT.color[s] == k and CAT.poses[s] == Pose(0, "front"))
        for k in sorted(set(CAT.color.tolist()))[:3]
    ]
    rows, z = [], 0.0
    for s in stances:
        rows.append((s, 0.0, 0.0, z + CAT.size[s, 2] / 2, 0.0))
        z += CAT.size[s, 2]
    return canvas_of(np.array(rows)), np.array(rows)


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
    small = coarse_canvas(seen[0])
    fresh, grown = BeamSearch(small), BeamSearch(small)
    alone = fresh.search(WIDEST, 60)
    both = grown.search(WIDE, 60) + grown.search(WIDEST, 60)
    assert {(r.score, r.pieces.tobytes()) for r in alone} <= {(r.score, r.pieces.tobytes()) for r in both}
    assert len({r.pieces.tobytes() for r in both}) == len(both), "nothing is given twice"


def test_loose_pieces_of_an_empty_field_count_once(seen):
    empty = Reading(0.0, np.zeros((0, 5)), 1234.0)
    assert fit_readings(seen[0], [empty])[0].score == 0.0


def _drawn(canvas, row):
    rasterizer.clear(canvas.scene())
    rasterizer.place(canvas.arrays, np.array(row), canvas.scene(), True)
    return canvas.maps.near > 0


def test_a_turn_after_which_a_piece_looks_alike_is_not_tried_again(seen):
    canvas, cat = seen[0], seen[0].cat
    assert set(np.round(cat.alike_after, 6)) == {0.0, round(np.pi / 2, 6), round(np.pi, 6)}
    for s, turn in enumerate(cat.alike_after):
        there = [_drawn(canvas, (s, 0.0, 0.0, cat.size[s, 2] / 2, yaw)) for yaw in (0.2, 0.2 + (turn or 0.5))]
        shape = cat.piece_set.shapes[cat.types[cat.kind[s]][0]]
        if shape.kind in ("box", "cylinder") or turn == 0.0:  # others look after half a turn as in a mirror at most
            assert (there[0] != there[1]).mean() < 0.0005, (cat.types[cat.kind[s]], cat.poses[s])


def _hung_aslant(canvas, quarters):
    """The canvas of the same camera turned about its axis by quarters of a circle."""
    camera, matrix, gains = canvas.camera, canvas.matrix, canvas.gains
    for _ in range(quarters):
        camera = np.ascontiguousarray(np.stack([camera[1], -camera[0], camera[2]]))
        across = gains.shape[2] - 1 - matrix[0, 2]
        matrix = np.array([(matrix[1, 1], 0, matrix[1, 2]), (0, matrix[0, 0], across), (0, 0, 1.0)])
        gains = np.ascontiguousarray(np.rot90(gains, axes=(1, 2)))
    return Canvas(canvas.cat, camera, matrix, gains)


@pytest.mark.parametrize("quarters", range(4))
def test_the_places_of_a_tower_are_looked_at_and_hardly_any_that_show_nothing_of_it(seen, quarters):
    canvas, rows = coarse_canvas(_hung_aslant(seen[0], quarters)), seen[1]
    rasterizer.clear(canvas.scene())
    usual = np.flatnonzero(~canvas.cat.rare)
    xs, ys = np.arange(-90.0, 91.0, 6.0), np.arange(-48.0, 49.0, 8.0)
    found = scan_table(canvas.arrays, usual, xs, ys, np.zeros((0, 5)), canvas.scene())
    best = found[found[:, 5].argmax()]
    assert np.abs(best[1:3]).max() <= 8.0, "where the tower stands"
    assert canvas.cat.color[int(best[0])] in canvas.cat.color[rows[:, 0].astype(int)]
    assert 0 < len(found) < len(usual) * len(xs) * len(ys) / 20
    further = successors(canvas.arrays, BeamSearch(canvas).stock, rows[:1], 0.0, canvas.scene())
    best = further[further[:, 5].argmax()]
    assert best[0] == rows[1, 0]
    assert best[1:4] == pytest.approx(rows[1, 1:4], abs=3.0)


@pytest.mark.parametrize("y", [-25.0, 0.0, 25.0])
def test_a_further_piece_is_tried_all_along_one_that_points_away(y):
    cube, plank = (CAT.index[of] for of in (("cube", "blue", Pose()), ("rectangle", "green", Pose(0, "side"))))
    rows = np.array([(plank, 0.0, 0.0, 12.5, 0.0), (cube, 0.0, y, 40.0, 0.0)])
    canvas = canvas_of(rows)
    further = successors(canvas.arrays, BeamSearch(canvas).stock, rows[:1], 0.0, canvas.scene())
    best = further[further[:, 5].argmax()]
    assert CAT.kind[int(best[0])] == CAT.kind[cube] and best[1:4] == pytest.approx(rows[1, 1:4], abs=3.0)


def test_a_plank_is_propped_up_under_its_far_end():
    """No piece let down from above would ever get there."""
    cube, plank = (CAT.index[s, c, Pose()] for s, c in (("cube", "blue"), ("rectangle", "green")))
    width = CAT.size[plank, 0]
    pieces = np.array([(cube, -20.0, 0.0, 15.0, 0.0), (plank, 0.0, 0.0, 42.5, 0.0)])
    out = np.empty((1, 3, 5))
    rows = np.array([(0.0, local_search.KINDS.index("prop"), 1, cube, 1)])
    assert local_search.edited(CAT.arrays, pieces, rows, out).tolist() == [3]
    out = out[0]
    assert out[:, 0].tolist() == [cube, cube, plank]
    assert out[1, 1] == pytest.approx(width / 2 - CAT.size[cube, 0] / 2)


def test_a_reading_whose_pieces_are_all_turned_is_squared_where_it_stands(seen):
    canvas, rows = seen
    off = rows.copy()
    off[:, 4] += np.radians([6.0, 5.0, 7.0])
    off[1, 1] += 4.0
    before, after = Reading(0.2, off, 1.0), squared(canvas.cat, Reading(0.2, off, 1.0))
    assert np.median(after.pieces[:, 4]) == pytest.approx(0.0, abs=1e-9)
    for a, b in zip(to_build(canvas.cat, before).pieces, to_build(canvas.cat, after).pieces, strict=True):
        assert (a.x, a.y, a.z, a.yaw) == pytest.approx((b.x, b.y, b.z, b.yaw))


def test_pieces_on_the_table_that_carry_nothing_stand_alone(seen):
    canvas, rows = seen
    beam = BeamSearch(coarse_canvas(canvas))
    assert not beam.standing_alone(Reading(0.0, rows, 0.0)).any()
    beside = rows[0] + (0.0, 70.0, 0.0, 0.0, 0.0)
    assert beam.standing_alone(Reading(0.0, np.vstack([rows, beside]), 0.0)).tolist() == [3]
    assert not beam.standing_alone(Reading(0.0, rows[:1], 0.0)).any(), "what is alone is the build"
    behind = rows[0] + (0.0, 0.0, canvas.cat.size[int(rows[0, 0]), 1] - 2.0, 0.0, 0.0)
    alone = beam.standing_alone(Reading(0.0, np.vstack([rows, behind]), 0.0)).tolist()
    assert alone == [3], "what is above reaches over it by no more than a fit is off"


def test_one_piece_more_stands_apart_in_the_field_where_it_is_seen(seen):
    canvas, rows = seen
    further = rows[:1] + (0.0, 60.0, 30.0, 0.0, 0.3)
    canvas.draw(Reading(0.0, np.vstack([rows, further]), 0.0))
    shown, color = canvas.maps.near.copy(), canvas.cat.color[int(rows[0, 0])]
    canvas.draw(Reading(0.0, rows, 0.0))
    gains = np.full_like(canvas.gains, -1.0)
    gains[color][shown > canvas.maps.near] = 2.0
    small = coarse_canvas(replace(canvas, gains=gains))
    found = one_further(small, Reading(0.0, rows, 0.0))
    near = found[(np.abs(found[:, 1:3] - further[0, 1:3]) < 12.0).all(1)]
    assert rows[0, 0] in near[:, 0], "of each stance the best: one lying there may win more pixels"


def test_no_further_piece_is_tried_inside_the_build(seen):
    canvas, rows = seen
    size = canvas.cat.size
    canvas.draw(Reading(0.0, np.vstack([rows, rows[:1] + (0.0, 0.0, 26.0, 0.0, 0.0)]), 0.0))
    shown, color = canvas.maps.near.copy(), canvas.cat.color[int(rows[0, 0])]
    canvas.draw(Reading(0.0, rows, 0.0))
    gains = np.full_like(canvas.gains, -1.0)
    gains[color][shown > canvas.maps.near] = 2.0
    found = one_further(coarse_canvas(replace(canvas, gains=gains)), Reading(0.0, rows, 0.0))
    assert len(found)
    for piece in rows:
        reach = (size[found[:, 0].astype(int)] + size[int(piece[0])]) / 2
        assert (np.abs(found[:, 1:4] - piece[1:4]) > reach - 1e-6).any(1).all()


def test_light_under_an_arch_counts_where_no_piece_is_seen(seen):
    canvas, _ = seen
    cat, (h, w) = canvas.cat, canvas.gains.shape[1:]
    canvas = Canvas(cat, canvas.camera, canvas.matrix, canvas.gains, openings=np.ones((len(canvas.gains), h, w)))
    bridge = cat.index["bridge", "orange", Pose(0, "front")]
    arch = np.array([(bridge, 0.0, 0.0, cat.size[bridge, 2] / 2, 0.0)])
    pixels = in_openings(canvas, Reading(0.0, arch, 0.0))
    assert 50 < pixels < 0.3 * (canvas.maps.near > 0).sum()
    behind = arch + (0.0, 0.0, -30.0, 0.0, 0.0)
    behind[0, 0] = cat.index["rectangle", "green", Pose(0, "front")]
    assert in_openings(canvas, Reading(0.0, np.vstack([arch, behind]), 0.0)) < pixels, "what shows a piece is told"
    cube = np.array([(cat.index["cube", "blue", Pose()], 0.0, 0.0, 15.0, 0.0)])
    assert in_openings(canvas, Reading(0.0, cube, 0.0)) == 0.0


@pytest.fixture(scope="module")
def lit(seen):
    """The tower's canvas with light by which each face has its own shade, with grain."""
    canvas, rows = seen
    faces, grain = faces_shown(canvas, rows), np.random.default_rng(1).normal(0.0, 0.03, canvas.gains.shape[1:])
    light = (-0.5 - 0.31 * (faces % 7) + grain).astype(np.float32)
    return replace(canvas, light=light, openings=np.zeros_like(canvas.gains)), rows


def test_a_build_whose_faces_are_where_the_pictures_are_explains_its_light(lit):
    canvas, rows = lit
    there = light_score(canvas, Reading(0.0, rows, 0.0))
    turned_by = rows + (0.0, 0.0, 0.0, 0.0, np.radians(25.0))
    assert there > 300.0 + light_score(canvas, Reading(0.0, turned_by, 0.0))


def test_a_face_may_slope_in_the_light_of_a_near_lamp(lit):
    canvas, rows = lit
    slope = np.linspace(0.0, 0.6, canvas.light.shape[1], dtype=np.float32)
    level, sloping = (
        unevenness(replace(canvas, light=light), Reading(0.0, rows, 0.0))
        for light in (canvas.light, canvas.light + slope)
    )
    assert sloping == pytest.approx(level, abs=0.02 * abs(level))


def test_light_is_asked_of_what_stands_in_the_field_alone(lit):
    canvas, rows = lit
    dark, beyond = np.where(faces_shown(canvas, rows) < 0, canvas.light - 1.0, canvas.light), rows[:1].copy()
    beyond[0, 1] = canvas.field_mm[0] + 30.0
    alone, beside = (
        unevenness(replace(canvas, light=dark), Reading(0.0, rows, 0.0, loose=loose)) for loose in (rows[:0], beyond)
    )
    assert alone == beside


def test_a_coarse_canvas_tells_nothing_of_light(lit):
    canvas, rows = lit
    assert light_score(coarse_canvas(canvas), Reading(0.0, rows, 0.0)) == 0.0


def test_the_facets_of_a_drum_are_one_surface(lit):
    canvas, _ = lit
    drum = canvas.cat.index["cylinder", "red", Pose(0, "front")]
    rows = np.array([(drum, 0.0, 0.0, canvas.cat.size[drum, 2] / 2, 0.0)])
    shown = faces_shown(canvas, rows) >= 0
    gains = np.where(shown, np.float32(2.0), canvas.gains)
    even = replace(canvas, gains=gains, light=np.zeros(shown.shape, np.float32))
    assert -unevenness(even, Reading(0.0, rows, 0.0)) > 0.8 * 0.5 * shown.sum()


def test_light_says_nothing_of_pieces_of_which_nothing_is_seen(lit):
    canvas, rows = lit
    unseen = replace(canvas, gains=np.full_like(canvas.gains, -3.0))
    assert unevenness(unseen, Reading(0.0, rows, 0.0)) == 0.0
