"""What the pixels of a view can be: the paper's white, whatever the exposure."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calibration.palette import LINEAR, PAINT_LIGHT, WOOD, Palette, color_features, nominal_palette
from cards.build import Piece
from cards.pieces import Pose, builtin_piece_set
from referee.benchmark.effects import light
from referee.vision.image.background import log_empty, log_paper, paper_light, shadow_tints
from referee.vision.image.evidence import (
    CLIP,
    Empty,
    gather_evidence,
    paper_white,
    sheened,
    spread_out,
    under_arches,
    worn,
)
from referee.vision.image.view import zone_view


@pytest.mark.parametrize("code", [40, 128, 254, 255])
def test_white_of_paper_without_any_texture_is_its_own_light(code):
    paper = np.full((40, 60, 3), code, np.uint8)
    assert paper_white(paper, np.ones(paper.shape[:2], bool)) == pytest.approx(
        np.full(3, ((code / 255 + 0.055) / 1.055) ** 2.4), abs=1e-3
    )


def test_white_of_paper_mostly_clipped_is_the_clipped_light_and_not_its_shadows():
    paper = np.full((40, 60, 3), 255, np.uint8)
    paper[:, :20] = 140
    assert paper_white(paper, np.ones(paper.shape[:2], bool)) == pytest.approx([1.0, 1.0, 1.0])


def test_worn_wood_takes_the_colour_of_the_paint_around_it_and_none_where_there_is_none():
    palette = dataclasses.replace(nominal_palette(builtin_piece_set()), wear=WOOD)
    f = np.zeros((60, 120, 3), np.float32)  # bare paper
    f[10:50, 10:50] = palette.means[2]
    f[25:33, 20:30] = WOOD.mean  # worn off a piece of the third colour
    f[20:40, 80:110] = WOOD.mean  # tongs, away from any piece
    painted = np.exp(palette.log_density(f))
    plain = log_paper(f)
    likely = worn(painted, f, palette.wear, plain)
    assert likely[:, 29, 25].argmax() == 2 and np.log(likely[2, 29, 25]) > plain[29, 25] + 3
    assert likely[:, 30, 95].max() < 1 / 150  # less than anything at all


PAINTS = ("red", "orange")
"""As learnt of photographed worn blocks, in two frames of it; the orange's faces differ more."""
LEARNT = Palette(
    PAINTS,
    np.array([(-2.31, 2.47, -1.58), (-1.77, 1.68, -1.84)]),
    np.array([np.diag(np.square(sd)) for sd in ((0.27, 0.26, 0.18), (0.25, 0.23, 0.45))]),
    np.full(2, 5000),
)


def test_a_worn_red_under_a_sheen_is_no_orange():
    """Where varnish and worn paint mirror 4 % of the paper's light, photographed red has the tint of an orange."""
    f = np.array([[(-1.83, 1.88, -1.23), (-1.77, 1.68, -1.84), (0.0, 0.0, 0.0)]], np.float32)
    plain = np.array([[-6.0, -6.0, 3.0]], np.float32)  # log density of the table: the third is paper
    painted = np.exp(LEARNT.log_density(f))
    assert [PAINTS[k] for k in painted[:, 0, :2].argmax(0)] == ["orange", "orange"]
    seen = sheened(painted, f, LEARNT, plain)
    assert [PAINTS[k] for k in seen[:, 0, :2].argmax(0)] == ["red", "orange"]
    assert (seen[:, 0, 2] == painted[:, 0, 2]).all(), "paper is no paint under a sheen"


CUBE = Piece("cube", "green", Pose(), 0.0, 0.0, 15.0)


def evidence_of(rig, frame, empty=None):
    """View and evidence of zone A in a frame; ``empty`` is a frame of the bare table."""
    view = zone_view(frame, rig.camera, rig.poses["A"])
    paper, marker, _ = view.regions
    white = paper_white(view.image, paper & ~marker & view.valid)
    known = None
    if empty is not None:
        bare, nowhere = view.crop(empty), np.zeros(paper.shape, bool)
        lit = paper_white(bare, paper & ~marker & view.valid)
        known = Empty(color_features(bare, lit), lit, nowhere, nowhere, nowhere)
    return view, gather_evidence(view, nominal_palette(builtin_piece_set()), white, known)


def test_a_lamps_mirror_image_speaks_neither_for_nor_against_a_piece(rig):
    # Paper well below what clips:
    dim, empty = ((0.6 * rig.photograph(there)).astype(np.uint8) for there in ({"A": (CUBE,)}, {}))
    at = np.array(rig.pixel("A", *(CUBE.x, CUBE.y - 15, CUBE.z)))
    view, seen = evidence_of(rig, light.glare(dim, at, (9.0, 9.0), 0.0, 1.5), empty)
    there = view.project(np.array([(CUBE.x, CUBE.y - 15, CUBE.z)]))[0].round().astype(int)
    core = (slice(there[1] - 4, there[1] + 5), slice(there[0] - 4, there[0] + 5))
    assert not seen.gains[:, core[0], core[1]].any() and not seen.known[core].any()
    far = view.project(np.array([(-85.0, 45.0, 0.0)]))[0].round().astype(int)
    assert seen.known[far[1], far[0]] and seen.gains[:, far[1], far[0]].max() < 0


def test_paper_under_an_arch_may_have_its_light(rig):
    view = zone_view(rig.photograph(), rig.camera, rig.poses["A"])
    pieces = builtin_piece_set()
    palette, orange = nominal_palette(pieces), LINEAR[np.array(pieces.rgb("orange"))] * PAINT_LIGHT
    plain = np.full(view.regions[0].shape, -12.0, np.float32)
    more = []
    for rest, reflected in ((0.15, 0.35), (0.9, 0.0), (0.0, 1.0)):  # under an arch, lit paper, the piece's side
        shown = np.searchsorted(LINEAR, (rest + reflected * orange)[::-1]).astype(np.uint8)
        f = np.broadcast_to(color_features(shown, np.ones(3)), (*plain.shape, 3)).astype(np.float32)
        of_orange = under_arches(view, f, palette, plain)[list(pieces.colors).index("orange")]
        more.append(np.median(of_orange[view.regions[2]]))
    assert more[0] == CLIP
    assert more[1] == 0.0
    assert more[2] < 1.0


@pytest.mark.parametrize(
    ("rows", "columns", "found"),
    [
        (slice(0, 60), slice(60, 140), True),  # a shirt that goes on above the view
        (slice(30, 90), slice(30, 110), False),  # a build of one colour
        (slice(0, 20), slice(0, 30), False),  # a loose piece at the view's edge
    ],
    ids=["shirt", "build", "loose piece"],
)
def test_a_large_thing_that_goes_on_beyond_the_view_is_no_piece_whatever_its_colour(rows, columns, found):
    gains, outside = np.full((2, 120, 160), -1.0, np.float32), np.ones((120, 160), bool)
    outside[100:] = False
    gains[1, rows, columns] = 2.0
    assert spread_out(gains, outside).tolist() == [False, found]


def sheet_in_shadow(view, tint: tuple[float, float], spread: float = 0.0) -> np.ndarray:
    """(h, w, 3) features relative to the bare table: a shadow over the sheet's left half, tinted as it is deep."""
    rng = np.random.default_rng(4)
    d = np.zeros((*view.regions[0].shape, 3), np.float32)
    left = view.ground[..., 0] < 0
    d[left, 0] = rng.uniform(-1.2, -0.15, left.sum())
    for k in (0, 1):
        d[left, 1 + k] = d[left, 0] * (tint[k] + rng.normal(0, spread, left.sum()))
    return d


NO_PAINT = np.zeros((0, 3))


def test_a_tint_that_shadows_have_at_any_depth_is_the_rooms(rig):
    view = zone_view(rig.photograph(), rig.camera, rig.poses["A"])
    for tint in ((0.25, -0.65), (-0.35, 1.75)):
        (told,) = shadow_tints(view, sheet_in_shadow(view, tint, 0.1), NO_PAINT)
        assert told == pytest.approx(tint, abs=0.1)
    bare = sheet_in_shadow(view, (0.0, 0.0))
    assert not len(shadow_tints(view, bare, NO_PAINT)), "in white light"
    assert not len(shadow_tints(view, np.zeros_like(bare), NO_PAINT)), "no shadow"


def test_two_lamps_light_one_anothers_shadows(rig):
    view = zone_view(rig.photograph(), rig.camera, rig.poses["A"])
    d = sheet_in_shadow(view, (-0.35, 1.75))
    other = view.ground[..., 0] < -60
    d[other, 1], d[other, 2] = 0.25 * d[other, 0], -0.65 * d[other, 0]
    told = shadow_tints(view, d, NO_PAINT)
    assert sorted(told[:, 1].tolist()) == pytest.approx([-0.65, 1.75], abs=0.1)


def test_what_has_one_colour_in_any_light_is_no_shadow(rig):
    """A hand or a piece is shaded, and its tint a unit of depth another at every depth."""
    view = zone_view(rig.photograph(), rig.camera, rig.poses["A"])
    skin = sheet_in_shadow(view, (0.0, 0.0))
    skin[skin[..., 0] < 0, 1:] = (0.45, -0.5)
    assert not len(shadow_tints(view, skin, NO_PAINT))


def test_a_tint_that_a_paint_has_is_not_told(rig):
    """The grain of natural wood is of one tint at several depths, as a shadow is."""
    view = zone_view(rig.photograph(), rig.camera, rig.poses["A"])
    wood, red = np.array([(-0.9, 0.32, -0.7)]), np.array([(-2.0, 2.1, -0.9)])
    d = sheet_in_shadow(view, (-0.4, 0.9))
    assert not len(shadow_tints(view, d, wood))
    assert len(shadow_tints(view, d, red)) == 1


def test_paper_in_a_blue_rooms_shadow_is_paper():
    paper, shadow = np.zeros((1, 3), np.float32), np.array([(-1.0, -0.25, 0.55)], np.float32)
    in_white_light, in_blue = log_empty(shadow, paper), log_empty(shadow, paper, tints=np.array([[0.25, -0.55]]))
    assert in_blue > in_white_light + 3.0
    for other in (paper, np.array([(-1.0, 0.0, 0.0)], np.float32), np.array([(-1.0, 0.2, -0.6)], np.float32)):
        assert log_empty(other, paper, tints=np.array([[0.25, -0.55]])) == pytest.approx(
            log_empty(other, paper), abs=0.01
        )


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
