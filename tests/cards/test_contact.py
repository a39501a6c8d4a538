"""Where pieces touch and where they would be in one place: faces, slopes and depths that geometry alone gives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cards import contact
from cards.build import parse_build
from cards.contact import mass_and_centre, overlap, overlapping, penetration, touches
from cards.pieces import Pose, builtin_piece_set

PIECES = builtin_piece_set()
INSET = 0.02
"""Contact points lie this far within an edge."""


def met(text):
    """{(above, below): Touch} of a build; below None is the table."""
    return {(t.above, t.below): t for t in touches(PIECES, parse_build(text))}


def box(points):
    """(least, greatest) of the points' coordinates."""
    return points.min(0).round(6).tolist(), points.max(0).round(6).tolist()


def deep(text):
    return penetration(PIECES, *parse_build(text))


# --- What stands on the table -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "least", "greatest"),
    [
        ("blue cube 0 front @ 5 7 15", (-10, -8), (20, 22)),
        ("green rectangle 0 front @ 0 0 12.5", (-37.5, -15), (37.5, 15)),
        ("green rectangle 90 front @ 0 0 37.5", (-12.5, -15), (12.5, 15)),
        ("green rectangle 0 side @ 0 0 12.5", (-15, -37.5), (15, 37.5)),
        ("red cylinder 0 front @ 1 2 22.5", (-14, -13), (16, 17)),
        ("orange bridge 0 front @ 0 0 15", (-30, -15), (30, 15)),
        ("red triangle 0 front @ 0 0 17.5", (-20, -15), (20, 15)),
    ],
)
def test_a_flat_foot_is_as_wide_as_its_piece(text, least, greatest):
    touch = met(text)[0, None]
    low, high = box(touch.points)
    assert low == pytest.approx((least[0] + INSET, least[1] + INSET, 0.0), abs=1e-3)
    assert high == pytest.approx((greatest[0] - INSET, greatest[1] - INSET, 0.0), abs=1e-3)
    assert touch.normals.tolist() == [[0.0, 0.0, 1.0]] * len(touch.points)
    assert touch.width == pytest.approx(greatest[0] - least[0] - 2 * INSET, abs=1e-3)


def test_a_bridge_stands_on_its_feet_and_not_under_its_arch():
    xs = met("orange bridge 0 front @ 0 0 15")[0, None].points[:, 0]
    assert np.abs(xs).min() >= 15.0 and {-29.98, 29.98} <= set(xs.round(3))


@pytest.mark.parametrize(
    ("text", "axis", "half"),
    [
        ("red cylinder 90 front @ 0 0 15", 0, 22.5),
        ("red cylinder 90 side @ 0 0 15", 1, 22.5),
        ("blue crescent 180 front @ 0 0 12.5", 1, 15.0),
    ],
)
def test_what_rolls_stands_on_a_line_as_wide_as_rolling_resists(text, axis, half):
    low, high = (np.array(end) for end in box(met(text)[0, None].points))
    assert (low[1 - axis], high[1 - axis]) == (-contact.ROLL_MM, contact.ROLL_MM)
    assert (low[axis], high[axis]) == pytest.approx((INSET - half, half - INSET), abs=1e-3)


def test_a_tip_and_an_edge_are_no_wider_for_that():
    low, high = box(met("red triangle 180 front @ 0 0 17.5")[0, None].points)
    assert low[0] == high[0] == 0.0
    rims = met("orange bridge 180 front @ 0 0 15; blue crescent 180 front @ 0 0 37.2")[1, 0].points
    assert np.abs(rims[:, 0]).min() > 14.0


def test_a_contact_is_spanned_by_a_few_columns_of_points_each_from_front_to_back():
    points = met("green rectangle 0 front @ 0 0 12.5")[0, None].points
    xs = sorted(set(points[:, 0].round(3)))
    assert len(points) == 10 and len(xs) == 5
    assert xs[0] == -37.48 and xs[2] == 0.0 and xs[4] == 37.48
    assert np.diff(xs) == pytest.approx([18.74] * 4, abs=1.1)  # even, to half a step of the grid
    assert np.diff(xs).max() < 20


@pytest.mark.parametrize(
    ("z", "touching"), [(15.0, True), (15.49, True), (15.5, False), (15.51, False), (14.51, True), (14.49, False)]
)
def test_less_than_half_a_millimetre_is_touching_the_table(z, touching):
    assert ((0, None) in met(f"blue cube 0 front @ 0 0 {z}")) is touching


# --- What lies on what ------------------------------------------------------------------------------


def test_a_face_is_what_both_share():
    touch = met("blue cube 0 front @ 5 7 15; blue cube 0 front @ 17 -3 45")[1, 0]
    low, high = box(touch.points)
    assert low == pytest.approx((2 + INSET, -8 + INSET, 30), abs=1e-3)
    assert high == pytest.approx((20 - INSET, 12 - INSET, 30), abs=1e-3)
    assert touch.normals == pytest.approx(np.array([[0, 0, 1.0]] * len(touch.points)))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("shift", "least", "greatest"), [(0.02, -14.98, 15.0), (-0.02, -15.0, 14.98)])
def test_both_pieces_edges_bound_a_face(axis, shift, least, greatest):
    """A point that lies on the very edge of the other piece counts."""
    at = f"{shift} 0" if axis == 0 else f"0 {shift}"
    points = met(f"blue cube 0 front @ 0 0 15; blue cube 0 front @ {at} 45")[1, 0].points[:, axis]
    assert (points.min(), points.max()) == pytest.approx((least, greatest), abs=1e-9)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_places_are_told_apart_by_a_micrometre(axis):
    """So that what a solver's last digits differ in is looked up and not worked out again."""
    at, near = [0.0, 0.0, 45.0], [0.0, 0.0, 45.0]
    near[axis] += 0.0004
    faces = [met("blue cube 0 front @ 0 0 15; blue cube 0 front @ {} {} {}".format(*p))[1, 0] for p in (at, near)]
    assert np.array_equal(faces[0].points, faces[1].points)


def test_each_touch_says_who_is_above_and_below():
    build = "blue cube 0 front @ 0 0 45; blue cube 0 front @ 0 0 15; red triangle 0 front @ 60 0 17.5"
    assert set(met(build)) == {(0, 1), (1, None), (2, None)}


@pytest.mark.parametrize(
    ("gap", "touching"),
    [(0.0, True), (0.45, True), (0.5, True), (0.55, False), (-0.45, True), (-0.5, True), (-0.55, False)],
)
@pytest.mark.parametrize("lower", ["blue cube 0 front @ 0 0 15", "orange bridge 0 front @ 0 0 15"])
def test_less_than_half_a_millimetre_is_touching(lower, gap, touching):
    assert ((1, 0) in met(f"{lower}; blue cube 0 front @ 0 0 {45 + gap}")) is touching


@pytest.mark.parametrize(
    ("x", "touching"), [(29.4, True), (29.5, True), (29.6, False), (-29.4, True), (-29.5, True), (31.0, False)]
)
@pytest.mark.parametrize("axis", ["x", "y"])
def test_less_than_half_a_millimetre_shared_in_plan_is_nothing(x, touching, axis):
    at = f"{x} 0" if axis == "x" else f"0 {x}"
    assert ((1, 0) in met(f"blue cube 0 front @ 0 0 15; blue cube 0 front @ {at} 45")) is touching


def test_a_plank_on_a_rolling_cylinder_has_a_line_for_a_contact():
    touch = met("red cylinder 90 side @ 0 0 15; green rectangle 0 front @ 4 0 42.5")[1, 0]
    assert touch.width == pytest.approx(2 * contact.ROLL_MM, abs=0.2)
    assert touch.points[:, 2] == pytest.approx(30.0, abs=0.01) and touch.points[:, 0] == pytest.approx(0.0, abs=0.6)
    assert np.ptp(touch.points[:, 1]) == pytest.approx(30 - 2 * 0.0133, abs=0.02)


def test_what_rolls_touches_where_it_lies_and_not_where_the_one_below_does():
    touch = met("green rectangle 0 front @ 0 0 12.5; red cylinder 90 side @ 20 3 40")[1, 0]
    assert touch.points[:, 0] == pytest.approx(20.0, abs=0.8) and touch.points[:, 2] == pytest.approx(25.0, abs=0.01)
    assert (touch.points[:, 1].min(), touch.points[:, 1].max()) == pytest.approx((-15, 15), abs=0.05)


def test_a_barrel_in_a_cradle_is_held_from_both_sides():
    """The cradle's rims are 15 mm from the middle: there the barrel's flank climbs steeply, left and right."""
    touch = met("orange bridge 180 front @ 0 0 15; red cylinder 90 side @ 0 0 30")[1, 0]
    left = touch.points[:, 0] < 0
    assert left.any() and (~left).any()
    assert (touch.normals[left, 0] > 0.9).all() and (touch.normals[~left, 0] < -0.9).all()  # each pushes to the middle
    assert np.linalg.norm(touch.normals, axis=1) == pytest.approx(1.0)
    assert (touch.normals[:, 1] == 0).all() and (touch.normals[:, 2] > 0).all()


def test_a_round_piece_on_an_edge_is_pushed_as_its_flank_lies():
    """A barrel between two cubes 12 mm apart: it meets their edges 6 mm from its middle, 13.75 mm below its axis."""
    found = met("blue cube 0 front @ 9 0 15; red cylinder 90 side @ 30 0 43.75; blue cube 0 front @ 51 0 15")
    x = 6 + INSET
    for other, sign in ((0, 1), (2, -1)):
        touch = found[1, other]
        assert touch.points[:, 0] == pytest.approx(30 - sign * x, abs=0.01)
        slope = x / math.sqrt(15**2 - x**2)
        expected = np.array([sign * slope, 0, 1]) / math.hypot(slope, 1)
        assert touch.normals == pytest.approx(np.tile(expected, (len(touch.points), 1)), abs=5e-4)


def test_a_slanting_piece_on_a_level_one_is_pushed_straight_up():
    touch = met("blue cube 0 front @ 0 0 15; red triangle 90 front @ 0 0 49")[1, 0]
    assert touch.normals == pytest.approx(np.array([[0, 0, 1.0]] * len(touch.points)))


def test_a_flat_piece_on_a_flank_is_pushed_straight_up():
    """Of two slopes the face's own counts, not the flank's that its edge happens to meet."""
    touch = met("red cylinder 90 side @ 0 0 15; blue cube 0 front @ 20 0 44.14")[1, 0]
    assert touch.normals == pytest.approx(np.tile([0.0, 0, 1], (len(touch.points), 1)), abs=1e-6)


def test_a_face_is_level_to_three_hundredths_of_a_millimetre():
    """On a barrel's top the plank's grid has a point 1.05 mm off, 0.037 mm below it, and one 0.92 off, 0.028 below."""
    touch = met("red cylinder 90 side @ 0 0 15; green rectangle 0 front @ 1.05 0 42.5")[1, 0]
    assert (touch.points[:, 0].min(), touch.points[:, 0].max()) == pytest.approx((-0.9226, 0.0), abs=1e-3)


def test_boxes_that_meet_where_the_solids_do_not_reach():
    """A standing cylinder's box reaches into the cube's corner; the cylinder does not."""
    beside = "red cylinder 0 front @ 0 0 22.5; blue cube 0 front @ 27 27 15"
    assert deep(beside) == 0.0 and overlapping(PIECES, parse_build(beside)) == []
    assert (1, 0) not in met("red cylinder 0 front @ 0 0 22.5; blue cube 0 front @ 27 27 60")


def test_what_hangs_below_touches_nothing_of_what_is_above():
    assert set(met("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 30.2")) == {(0, None)}


def test_a_triangles_tip_carries_on_a_line():
    touch = met("red triangle 0 front @ 0 0 17.5; blue cube 0 front @ 3 0 50")[1, 0]
    assert touch.width == 0.0
    assert touch.points[:, 2] == pytest.approx(35.0) and np.ptp(touch.points[:, 1]) == pytest.approx(29.96)


# --- In one place -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 45", 0.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 40", 5.0),
        ("blue cube 0 front @ 0 0 40; blue cube 0 front @ 0 0 15", 5.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 20", 25.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 50", 0.0),
        ("blue cube 0 front @ 0 0 50; blue cube 0 front @ 0 0 15", 0.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 30 0 15", 0.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 29.6 0 15", 0.0),  # less than 0.5 mm in plan
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 29.4 0 15", 30.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 29.4 15", 30.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 29.6 15", 0.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 -29.4 15", 30.0),
        ("blue cube 0 front @ 0 0 15; blue cube 0 front @ -29.4 0 15", 30.0),
    ],
)
def test_a_depth_is_how_far_one_must_rise(text, depth):
    assert deep(text) == pytest.approx(depth, abs=0.06)


@pytest.mark.parametrize(("z", "found"), [(44.45, False), (44.35, True), (45.0, False), (15.0, True)])
def test_six_tenths_of_a_millimetre_are_the_woods(z, found):
    a, b = parse_build(f"blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 {z}")
    assert overlap(PIECES, a, b) is overlap(PIECES, b, a) is found


def test_every_pair_in_one_place_is_named_once():
    build = "; ".join(["blue cube 0 front @ 0 0 15", "red cylinder 0 front @ 60 0 22.5"] * 2)
    assert overlapping(PIECES, parse_build(build)) == [(2, 0), (3, 1)]


# --- Mass -------------------------------------------------------------------------------------------


RING = math.pi / 2 * (25**2 - 10**2)
RING_UP = 4 / (3 * math.pi) * (25**3 - 10**3) / (25**2 - 10**2) - 12.5
ARCH = math.pi / 2 * 15**2
ARCH_UP = (60 * 30 * 0 - ARCH * (4 * 15 / (3 * math.pi) - 15)) / (60 * 30 - ARCH)


@pytest.mark.parametrize(
    ("shape", "pose", "area", "centre"),
    [
        ("cube", Pose(), 900, (0, 0, 0)),
        ("rectangle", Pose(90), 75 * 25, (0, 0, 0)),
        ("triangle", Pose(), 700, (0, 0, -35 / 6)),
        ("triangle", Pose(180), 700, (0, 0, 35 / 6)),
        ("triangle", Pose(90), 700, (35 / 6, 0, 0)),
        ("triangle", Pose(0, "side"), 700, (0, 0, -35 / 6)),
        ("triangle", Pose(90, "side"), 700, (0, 35 / 6, 0)),
        ("triangle", Pose(0, "top"), 700, (0, -35 / 6, 0)),
        ("crescent", Pose(), RING, (0, 0, RING_UP)),
        ("bridge", Pose(), 1800 - ARCH, (0, 0, ARCH_UP)),
    ],
)
def test_mass_and_centre_of_every_outline(shape, pose, area, centre):
    mass, found = mass_and_centre(PIECES.shapes[shape], pose)
    assert mass == pytest.approx(area * 30 / 1000, rel=0.005)
    assert found == pytest.approx(centre, abs=0.06)


def test_mass_of_a_cube():
    assert mass_and_centre(PIECES.shapes["cube"], Pose())[0] == pytest.approx(27.0, rel=1e-9)


def test_mass_of_a_cylinder():
    mass, found = mass_and_centre(PIECES.shapes["cylinder"], Pose(90))
    assert mass == pytest.approx(math.pi * 15**2 * 45 / 1000) and found == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("shared", "one_place"), [(0.59, False), (0.6, False), (0.61, True)])
def test_more_than_06_mm_of_height_shared_is_one_place(monkeypatch, shared, one_place):
    monkeypatch.setattr(contact, "penetration", lambda *_: shared)
    assert overlap(PIECES, *parse_build("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 45")) is one_place
