"""What light says of faces, on made-up pictures of known steps and slopes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calibration.palette import nominal_palette
from cards.build import Build, Piece
from cards.kinds.layout import LayoutCard
from cards.pieces import Pose, builtin_piece_set
from referee.kernels import local_search
from referee.vision.image.background import paper_light
from referee.vision.image.evidence import Evidence, gather_evidence
from referee.vision.image.view import zone_view
from referee.vision.render.solids import arch_tags, piece_tags
from referee.vision.search.canvas import Reading
from referee.vision.search.stances import catalogue
from referee.vision.verdict.rulings import Rulings
from referee.vision.verdict.shading import GLOW, THROUGH_ARCH_FACE, arch_glow_nats, rescored_by_shading, shading_nats

SIZE = (40, 40)
LEFT = np.tile(np.arange(SIZE[1]) < SIZE[1] // 2, (SIZE[0], 1))
ONE, TWO = np.zeros(SIZE, np.int32), np.where(LEFT, 0, 1).astype(np.int32)
WHERE = np.ones(SIZE, bool)


def picture(light: np.ndarray, bare: float = -3.0) -> Evidence:
    """Evidence of a picture of brightness ``light`` (h, w), with noise, and of a table nothing like it."""
    rng = np.random.default_rng(3)
    f = np.stack([light, np.full(SIZE, 0.5), np.full(SIZE, -0.4)], -1) + rng.normal(0, 0.04, (*SIZE, 3))
    return Evidence(
        ("red",),
        np.zeros((1, *SIZE), np.float32),
        np.zeros(SIZE, np.int8),
        np.ones(3),
        f.astype(np.float32),
        np.full(SIZE, bare, np.float32),
    )


def test_a_step_of_light_is_the_edge_of_two_faces():
    step = picture(np.where(LEFT, -0.8, -1.3))
    assert shading_nats(step, TWO, WHERE) > shading_nats(step, ONE, WHERE) + 200


def test_a_slope_of_light_asks_for_no_second_face():
    slope = picture(np.tile(np.linspace(-0.8, -1.4, SIZE[1]), (SIZE[0], 1)))
    assert shading_nats(slope, TWO, WHERE) < shading_nats(slope, ONE, WHERE) + 25


def test_what_looks_like_the_table_is_not_made_better_by_a_face():
    table = picture(np.full(SIZE, -1.0), bare=0.0)
    nothing = np.full(SIZE, -1, np.int32)
    assert shading_nats(table, nothing, WHERE) > shading_nats(table, ONE, WHERE)
    assert shading_nats(table, nothing, WHERE & LEFT) == 0.0


def test_an_edge_a_pixel_off_costs_little():
    step = picture(np.where(LEFT, -0.8, -1.3))
    beside = np.roll(TWO, 1, axis=1)
    beside[:, 0] = 0
    assert shading_nats(step, TWO, WHERE) - shading_nats(step, beside, WHERE) < 30


@pytest.fixture(scope="module")
def drums(rig):
    """A drum as high as it is wide, stands before the camera; beside its view and evidence the set's catalogue."""
    pieces = builtin_piece_set()
    standing = Piece("cylinder", "red", Pose(), 0.0, 0.0, pieces.shapes["cylinder"].size(Pose())[2] / 2)
    frame = rig.photograph({"A": [standing]})
    view = zone_view(frame, rig.camera, rig.poses["A"])
    white = np.array([0.8, 0.8, 0.8])
    cat = catalogue(pieces, tuple(pieces.colors))
    return view, gather_evidence(view, nominal_palette(pieces), white), cat, standing


def both(drums, ahead: float) -> tuple[list[Reading], LayoutCard]:
    """The drum read as lying, and ``ahead`` nats behind as standing, as the card wants it."""
    _, _, cat, standing = drums
    poses = ((Pose(90, "side"), cat.piece_set.shapes["cylinder"].width / 2), (standing.pose, standing.z))
    rows = [np.array([(cat.index["cylinder", "red", pose], 0.0, 0.0, z, 0.0)]) for pose, z in poses]
    return [Reading(0.0, rows[0], 1000.0), Reading(0.0, rows[1], 1000.0 - ahead)], LayoutCard("L", 1, (standing,))


def test_light_prefers_the_faces_that_are_there(drums):
    view, seen, cat, _ = drums
    before, card = both(drums, ahead=-5.0)
    after = rescored_by_shading(view, seen, Rulings(cat, card), before[::-1])
    assert after[0].pieces is before[1].pieces
    assert after[0].score - after[1].score > 50


def test_light_never_turns_a_ruling(drums):
    """Only evens it."""
    view, seen, cat, _ = drums
    before, card = both(drums, ahead=5.0)
    after = rescored_by_shading(view, seen, Rulings(cat, card), before)
    assert after[0].score == pytest.approx(after[1].score)


def test_where_the_margin_is_clear_light_is_not_asked(drums):
    view, seen, cat, standing = drums
    row = np.array([(cat.index["cylinder", "red", standing.pose], 0.0, 0.0, standing.z, 0.0)])
    readings = [Reading(0.0, np.zeros((0, 5)), 9000.0), Reading(0.0, row, 0.0)]
    assert rescored_by_shading(view, seen, Rulings(cat, LayoutCard("L", 1, (standing,))), readings) == readings


def test_the_papers_light_is_found_under_shadows_and_pieces(rig):
    """The fit follows a lamp at the side, not what stands on the sheet."""
    view = zone_view(rig.photograph({"A": [Piece("cube", "blue", Pose(), 0.0, 0.0, 15.0)]}), rig.camera, rig.poses["A"])
    paper, marker, _ = view.regions
    plain = paper & ~marker & view.valid
    lamp = np.where(paper, -0.1 - 0.001 * view.ground[..., 0], 0.0)
    f = np.zeros((*lamp.shape, 3), np.float32)
    f[..., 0] = lamp
    f[(np.abs(view.ground) < 25).all(-1)] = (-1.5, -0.8, 1.2)
    f[(view.ground[..., 0] > 60) & paper, 0] -= 0.5
    found = paper_light(f, view.ground, plain)
    assert np.abs(found[..., 0] - lamp)[plain].max() < 0.06


def test_a_plank_is_propped_up_under_its_far_end():
    """No piece let down from above would ever get there."""
    cat = catalogue(builtin_piece_set(), tuple(builtin_piece_set().colors))
    cube, plank = (cat.index[s, c, Pose()] for s, c in (("cube", "blue"), ("rectangle", "green")))
    width = cat.size[plank, 0]
    pieces = np.array([(cube, -20.0, 0.0, 15.0, 0.0), (plank, 0.0, 0.0, 42.5, 0.0)])
    out = np.empty((1, 3, 5))
    rows = np.array([(0.0, local_search.KINDS.index("prop"), 1, cube, 1)])
    assert local_search.edited(cat.arrays, pieces, rows, out).tolist() == [3]
    out = out[0]
    assert out[:, 0].tolist() == [cube, cube, plank]
    assert out[1, 1] == pytest.approx(width / 2 - cat.size[cube, 0] / 2)


@pytest.mark.parametrize(("opening", "glows"), [(-1.6, True), (-1.0, False)])
def test_what_is_seen_dark_through_an_arch_may_be_its_glow(opening, glows):
    """As bright as the face it is the face."""
    bridge = Build(builtin_piece_set(), (Piece("bridge", "orange", Pose(), 0.0, 0.0, 15.0),))
    seen = picture(np.where(LEFT, -1.0, opening))
    seen = dataclasses.replace(seen, names=("orange",), gains=np.full((1, *SIZE), 2.0, np.float32))
    faces = np.where(LEFT, 0, THROUGH_ARCH_FACE).astype(np.int32)
    possible = 2.0 * (~LEFT).sum()
    assert arch_glow_nats(seen, bridge, faces) == (pytest.approx(GLOW * possible) if glows else 0.0)


def test_an_arch_is_seen_through_where_it_is_open(rig):
    bridge = Piece("bridge", "orange", Pose(), 0.0, 0.0, 15.0)
    view = zone_view(rig.photograph({"A": [bridge]}), rig.camera, rig.poses["A"])
    arches, tags = (draw(view, builtin_piece_set(), [bridge]) for draw in (arch_tags, piece_tags))
    through = (arches == 0) & (tags < 0)
    assert 100 < through.sum() < (tags == 0).sum() / 2
    assert (arches[tags == 0] == 0).mean() > 0.98
    column, row = view.project(np.array([(0.0, -15.0, 6.0)]))[0].round().astype(int)
    assert through[row, column]
