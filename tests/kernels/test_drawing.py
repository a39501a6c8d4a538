"""What a piece wins where it is weighed and where it is drawn, alone and over others."""

from __future__ import annotations

import dataclasses
import runpy
from pathlib import Path

import numpy as np
import pytest

from cards.pieces import builtin_piece_set
from referee.kernels import local_search, loose_pieces, rasterizer
from referee.kernels.scene import Gains, Scene
from referee.vision.search import stances
from referee.vision.search.canvas import Canvas, Reading, crookedness, states_of
from referee.vision.search.loose_pieces import PRICES, Lone
from referee.vision.search.stances import catalogue

SHARED = runpy.run_path(str(Path(__file__).with_name("placements.py")))
_places = SHARED["places"]
STILL = np.zeros((0, 2))
"""No steps of a climb."""


@pytest.fixture(scope="module")
def canvas() -> Canvas:
    return SHARED["nothing_seen"]()


@pytest.fixture(scope="module")
def build(canvas) -> np.ndarray:
    return SHARED["five_pieces"](canvas)


def _drawn(canvas, build) -> Scene:
    canvas.draw(Reading(0.0, build, 0.0))
    return canvas.scene()


@pytest.mark.parametrize("over_a_build", [False, True])
def test_what_is_weighed_is_what_is_won_when_it_is_drawn(canvas, build, over_a_build):
    for row in _places(canvas, 300):
        scene = _drawn(canvas, build if over_a_build else build[:0])
        near = canvas.maps.near.copy()
        weighed, pixels = rasterizer.place(canvas.arrays, row, scene, False)
        assert np.array_equal(near, canvas.maps.near), "weighing draws nothing"
        won, _ = rasterizer.place(canvas.arrays, row, scene, True)
        assert won == pytest.approx(weighed, abs=0.05)
        assert pixels == (canvas.maps.near != near).sum()


@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_a_piece_wins_in_the_view_beside_too(canvas, build, turn):
    """Where it is weighed and where it is drawn, in a build's own frame too."""
    half_turn = canvas.camera @ np.diag([-1.0, -1.0, 1.0, 1.0])
    other = dataclasses.replace(canvas, camera=np.ascontiguousarray(half_turn), gains=canvas.gains[:, ::-1].copy())
    both, place = dataclasses.replace(canvas, beside=other), _places(canvas, 300)
    for one in (canvas, other, both):
        one.draw(Reading(turn, build, 0.0))
    for row in place:
        scenes = [one.scene(turn) for one in (canvas, other, both)]
        first, second, together = (np.array(rasterizer.place(canvas.arrays, row, of, False)) for of in scenes)
        assert together == pytest.approx(first + second, abs=0.05)
    rasterizer.place(canvas.arrays, place[0], both.scene(turn), True)
    near = other.maps.near.copy()
    other.draw(Reading(turn, np.vstack([build, place[:1]]), 0.0))
    assert np.array_equal(near, other.maps.near)
    states = states_of([Reading(turn, np.vstack([build, place[:1]]), 0.0)])
    (won,) = local_search.refine_each(both.arrays, states, np.zeros(1, np.int64), both.scene(), STILL, 0)
    settled = Reading(turn, states.pieces[0], 0.0)
    crooked = crookedness(both, settled)
    assert won == pytest.approx(canvas.draw(settled) + other.draw(settled) - crooked, abs=0.5)


def test_a_larger_piece_is_drawn_larger_in_the_same_maps(canvas):
    """What is kept of a part as it was turned is that of one table."""
    larger, (row, *_) = canvas.cat.resized(1.2), _places(canvas, 1)
    for arrays in (larger.arrays, canvas.arrays, larger.resized(0.5).arrays):
        again = SHARED["nothing_seen"]()
        for scene in (_drawn(canvas, np.zeros((0, 5))), again.scene()):
            rasterizer.place(arrays, row, scene, True)
        assert np.array_equal(canvas.maps.near, again.maps.near) and again.maps.near.any()


def test_a_surface_in_the_plane_of_another_is_not_told_from_it_by_rounding(canvas, build):
    """Lifted and lowered by 0.001 mm; without a rule for faces in one plane 3 of 100 places change by 20 nats."""
    changed = 0
    for row in _places(canvas, 2000):
        scene = _drawn(canvas, build)
        won = [rasterizer.place(canvas.arrays, row + (0, 0, 0, lift, 0), scene, False)[0] for lift in (0, 1e-3, -1e-3)]
        changed += max(won) - min(won) > 20.0
    assert changed <= 2, "an outline may cross a row of pixels"


@pytest.mark.parametrize("even", [True, False])
def test_a_loose_piece_that_a_build_may_hide_costs_the_same_however_its_sums_round(canvas, even):
    """Whether two sums of its evidence agree to the last bit, as those of whole numbers do, or not."""
    cat, size = canvas.cat, canvas.cat.size
    stance = int(np.argmin(size[:, 2]))
    row = np.array([[stance, 60.0, 0.0, size[stance, 2] / 2, 0.3]])
    gains = Gains(np.full_like(canvas.gains, 1.0) if even else np.abs(canvas.gains) + np.float32(1.37))
    scene = canvas.scene().with_gains(gains)
    beside = Reading(0.0, np.array([(stance, 60.0 - 1.6 * max(size[stance, :2]), 0.0, size[stance, 2] / 2, 0.0)]), 0.0)
    lone = Lone(row, *loose_pieces.alone(canvas.arrays, row, scene))
    lone.boxes[:, 2] -= 60  # as if its box touched the other's
    field, prices = np.zeros(2), {**PRICES, "outside": 0.0}
    _, counts, won = loose_pieces.add_loose(canvas.arrays, states_of([beside]), lone, cat.stock, field, scene, prices)
    assert counts.tolist() == [1] and won[0] == pytest.approx(lone.won[0] - prices["hidden"], abs=0.05)


def test_numbers_of_another_kind_are_refused(canvas, build):
    with pytest.raises(TypeError, match="a kernel was given numbers of kind f, and takes d"):
        rasterizer.draw(canvas.arrays, build.astype(np.float32), canvas.scene())


def test_a_build_of_more_pieces_than_there_is_room_for_is_refused(canvas, build):
    with pytest.raises(ValueError, match="a build of 65 pieces: more than 64"):
        rasterizer.draw(canvas.arrays, np.repeat(build[:1], 65, 0), canvas.scene())


def test_a_rule_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(stances, "RULES", {name: v for name, v in stances.RULES.items() if name != "touch_mm"})
    pieces = builtin_piece_set()
    with pytest.raises(ValueError, match="touch_mm"):
        _ = catalogue(pieces, tuple(pieces.colors)).arrays
