"""Contacts, overlaps and equilibrium against hand-made cases with known answers."""

import math

import numpy as np
import pytest

from cards import stability
from cards.build import parse_build
from cards.contact import ROLL_MM, Touch, mass_and_centre, overlapping, penetration, touches
from cards.pieces import Pose, builtin_piece_set
from cards.stability import FRICTION, _generators, carried, check_stability, settle, stands, tilt_margin, topples

PIECES = builtin_piece_set()


def standing(text, misplaced=2.0):
    return check_stability(PIECES, parse_build(text), misplaced)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("blue cube 0 front @ 0 0 15; red cylinder 0 front @ 10 0 22.5", "overlap"),
        ("blue cube 0 front @ 0 0 15; red cylinder 0 front @ 0 0 80", "rests on nothing"),
        ("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 20 0 42.5", "it falls"),
        ("red triangle 180 front @ 0 0 17.5", "leans"),  # on its tip
        # what rolls or rocks carries nothing
        ("red cylinder 90 side @ 0 0 15; green rectangle 0 front @ 0 0 42.5", "leans"),
        ("blue crescent 180 front @ 0 0 12.5; red cylinder 0 front @ 0 0 47.5", "leans"),
        ("red triangle 0 front @ 0 0 17.5; blue cube 0 front @ 0 0 50", "leans"),
        ("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 13.5 0 42.5", "2 mm off"),
        ("green rectangle 90 front @ 0 0 37.5; blue crescent 0 front @ 0 0 87.5", "2 mm off"),  # feet on 2.5 mm
    ],
)
def test_faults_are_named(text, fault):
    assert any(fault in f for f in standing(text).faults)


@pytest.mark.parametrize(
    "text",
    [
        "blue cube 0 front @ 0 0 15",
        "blue cube 0 front @ 0 0 15; green rectangle 0 front @ 9 0 42.5",
        "orange bridge 180 front @ 0 0 15; red cylinder 90 side @ 0 0 30",  # a barrel in its cradle
        "orange bridge 0 front @ 0 0 15; blue crescent 0 front @ 0 0 42.5",
        "red cylinder 90 side @ 0 0 15",  # could roll, and stays on a table that is true
        "green rectangle 0 front @ 0 0 12.5; red cylinder 90 front @ 0 0 40",
        "blue crescent 180 front @ 0 0 12.5",  # rocks, and rights itself
        "orange bridge 180 front @ 0 0 15; blue crescent 180 front @ 0 0 37.2; red cylinder 90 side @ 0 0 59.8",
        # a counterweight holds what would fall alone
        "blue cube 0 front @ 0 0 15; green rectangle 0 front @ 16 0 42.5; red cylinder 0 front @ -8 0 77.5",
    ],
)
def test_what_stands_is_let_stand(text):
    assert standing(text).faults == ()


def test_a_cubes_tilt_margin_is_that_of_its_friction():
    assert standing("blue cube 0 front @ 0 0 15").tilt_deg == pytest.approx(
        math.degrees(math.atan(FRICTION / math.sqrt(2))), abs=0.1
    )


def test_a_slender_towers_tilt_margin_is_half_its_base_over_its_centre():
    placed = parse_build("green rectangle 90 front @ 0 0 37.5; green rectangle 90 front @ 0 0 112.5")
    margin = tilt_margin(PIECES, placed, touches(PIECES, placed))
    assert margin == pytest.approx(math.degrees(math.atan(12.5 / 75)), abs=0.1)


def test_a_round_towers_tilt_margin_is_its_radius_over_its_centre():
    """Towards x and y, as gravity leans: between the two a round foot would give way sooner."""
    placed = parse_build("; ".join(f"red cylinder 0 front @ 0 0 {z}" for z in (22.5, 67.5, 112.5)))
    margin = math.degrees(math.atan(15 / 67.5))
    assert tilt_margin(PIECES, placed, touches(PIECES, placed)) == pytest.approx(margin, abs=0.1)
    assert stands(PIECES, placed, margin - 0.2) and not stands(PIECES, placed, margin + 0.2)


def test_a_pieces_weight_acts_at_its_centre_of_mass_and_not_at_its_boxs():
    placed = parse_build("green rectangle 90 front @ 0 0 37.5; red triangle 0 front @ 0 0 92.5")
    low, high = 75 * 25 * 30 / 1000, 40 * 35 / 2 * 30 / 1000
    centre = (low * 37.5 + high * (75 + 35 / 3)) / (low + high)
    margin = tilt_margin(PIECES, placed, touches(PIECES, placed))
    assert margin == pytest.approx(math.degrees(math.atan(12.5 / centre)), abs=0.1)


def test_what_falls_has_no_tilt_margin():
    placed = parse_build("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 20 0 42.5")
    assert tilt_margin(PIECES, placed, touches(PIECES, placed)) == -1.0


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (-0.8, 0.0, 0.6), (0.48, 0.6, 0.64)])
def test_a_contacts_forces_are_the_edges_of_a_pyramid_within_its_friction_cone(normal):
    point, upright = np.array([[1.0, 2.0, 3.0]]), np.array([normal])
    forces, places = _generators(Touch(1, 0, point, upright))
    assert places.tolist() == point.tolist() * 4
    assert forces @ upright[0] == pytest.approx(np.ones(4))  # each pushes
    assert np.linalg.norm(forces - upright, axis=1) == pytest.approx(np.full(4, FRICTION))
    assert forces.sum(0) == pytest.approx(4 * upright[0])  # and no side is preferred


def test_a_plank_falls_where_arithmetic_says():
    for x, expected in ((14.9, True), (15.1, False)):
        placed = parse_build(f"blue cube 0 front @ 0 0 15; green rectangle 0 front @ {x} 0 42.5")
        assert stands(PIECES, [placed[0], placed[1].at(x=x)]) is expected


def test_a_misplacement_that_only_slides_back_is_no_harm():
    placed = parse_build("orange bridge 180 front @ 0 0 15; red cylinder 90 side @ 0 0 30")
    assert not topples(PIECES, placed, 1, 2.0)


def test_the_misplacement_asked_for_decides():
    text = "blue cube 0 front @ 0 0 15; green rectangle 0 front @ 9 0 42.5"
    assert standing(text, 2.0).stable and not standing(text, 6.0).stable
    assert standing(text, 6.0).weakest == (0, 1)


def test_what_a_piece_carries():
    placed = parse_build(
        "red cylinder 0 front @ -25 0 22.5; red cylinder 0 front @ 25 0 22.5; "
        "green rectangle 0 front @ 0 0 57.5; blue cube 0 front @ 0 0 85"
    )
    assert carried(PIECES, placed, 0) == ()  # the beam rests on both posts
    assert carried(PIECES, placed, 2) == (3,)


def test_a_contacts_width_is_the_shared_face():
    placed = parse_build("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 40 0 42.5")
    assert [t.width for t in touches(PIECES, placed) if t.below == 0] == pytest.approx([12.5], abs=0.1)


def test_side_by_side_is_no_overlap():
    placed = parse_build("blue cube 0 front @ 0 0 15; blue cube 0 front @ 30 0 15; red triangle 0 front @ 65 0 17.5")
    assert overlapping(PIECES, placed) == []


def test_mass_and_centre_of_a_half_ring():
    mass, (x, y, z) = mass_and_centre(PIECES.shapes["crescent"], Pose())
    area = math.pi / 2 * (25**2 - 10**2)
    height = 4 / (3 * math.pi) * (25**3 - 10**3) / (25**2 - 10**2)
    assert mass == pytest.approx(area * 30 / 1000, rel=0.01)
    assert np.allclose((x, y, z), (0, 0, height - 12.5), atol=0.1)


# --- The numbers of the law, on both sides ----------------------------------------------------------


def test_what_stands_is_given_back_with_its_margin_and_its_contacts():
    found = standing("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 0 0 42.5")
    assert found.stable and found.faults == () and found.weakest == ()
    assert {(t.above, t.below) for t in found.touches} == {(0, None), (1, 0)}


def test_every_fault_is_said_in_words_with_the_piece_and_its_place():
    two = "blue cube 0 front @ 0.5 0 15; red cylinder 0 front @ 10 0 22.5; blue cube 0 front @ 90 0 80"
    found = standing(two)
    assert found.faults == (
        "red cylinder at 10 mm and blue cube at 0.5 mm overlap",
        "blue cube at 90 mm rests on nothing",
    )
    assert (found.tilt_deg, found.weakest) == (0.0, (2,))
    falls = standing("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 20 0 42.5")
    assert (falls.faults, falls.tilt_deg, falls.weakest) == (("it falls",), 0.0, ())
    tip = standing("red triangle 180 front @ 0 0 17.5")
    assert tip.faults == ("it falls when it leans by 0.0 degrees",) and tip.tilt_deg == pytest.approx(0.0, abs=1e-6)
    weak = standing("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 13.5 0 42.5")
    assert weak.weakest == (0, 1) and weak.faults == (
        "it falls when the blue cube at 0 mm is 2 mm off",
        "it falls when the green rectangle at 13.5 mm is 2 mm off",
    )


def test_a_round_face_resists_as_much_as_rolling_on_wood_does():
    rolls, rocks = standing("red cylinder 90 side @ 0 0 15"), standing("blue crescent 180 front @ 0 0 12.5")
    assert rolls.tilt_deg == pytest.approx(np.degrees(np.arctan(ROLL_MM / 15)), abs=0.1)
    assert rolls.tilt_deg < rocks.tilt_deg < 3.0  # its weight lies lower


def test_without_a_misplacement_only_the_build_itself_is_looked_at():
    assert standing("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 13.5 0 42.5", None).stable


def test_by_default_two_millimetres_off_are_looked_at():
    assert check_stability(
        PIECES, parse_build("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 13.5 0 42.5")
    ).weakest


@pytest.mark.parametrize(("x", "stable"), [(11.5, True), (12.5, False), (-11.5, True), (-12.5, False)])
def test_the_default_misplacement_is_two_millimetres(x, stable):
    """With a rounded edge of one more the plank's centre, 3 mm off, is just over the cube, or not."""
    assert (
        check_stability(PIECES, parse_build(f"blue cube 0 front @ 0 0 15; green rectangle 0 front @ {x} 0 42.5")).stable
        is stable
    )


@pytest.mark.parametrize(("x", "least"), [(13.0, 1.9), (14.0, 1.3), (14.8, 0.8)])
def test_a_lean_of_a_degree_and_a_half_must_be_stood(x, least):
    """The plank's centre is 15 - x before the cube's edge and 12.5 above its top: the tilt is that angle's."""
    found = standing(f"blue cube 0 front @ 0 0 15; green rectangle 0 front @ {x} 0 42.5", None)
    lean = math.degrees(math.atan((15 - 0.02 - x) / 12.5))
    assert lean > least
    expected = "stands" if lean >= 1.5 else f"it falls when it leans by {lean:.1f} degrees"
    assert found.faults == (() if expected == "stands" else (expected,))
    assert found.tilt_deg == pytest.approx(lean, abs=0.02)


@pytest.mark.parametrize(("x", "stable"), [(14.6, True), (14.7, False)])
def test_the_least_lean_is_one_and_a_half_degrees(x, stable):
    """tan 1.5 degrees of 12.5 mm is 0.327 mm."""
    assert standing(f"blue cube 0 front @ 0 0 15; green rectangle 0 front @ {x} 0 42.5", None).stable is stable


@pytest.mark.parametrize("side", ["0 15", "15 0", "0 -15", "-15 0"])
def test_a_lean_is_looked_for_in_all_four_directions(side):
    """A tower near the edge of the cube below it, towards each side in turn."""
    x, y = (float(v) * 12 / 15 for v in side.split())
    placed = parse_build(f"blue cube 0 front @ 0 0 15; blue cube 0 front @ {x} {y} 45")
    margin = tilt_margin(PIECES, placed, touches(PIECES, placed))
    assert margin == pytest.approx(math.degrees(math.atan((3 - 0.02) / 15)), abs=0.05)


@pytest.mark.parametrize(("lean", "expected"), [(0.0, True), (9.0, True), (9.6, False), (-9.6, True)])
def test_a_leaning_tower_stands_while_its_centre_is_over_its_foot(lean, expected):
    placed = parse_build("green rectangle 90 front @ 0 0 37.5; green rectangle 90 front @ 0 0 112.5")  # 9.45 degrees
    assert stands(PIECES, placed, lean) is expected


def test_a_lean_to_either_side_counts():
    for x in (12.0, -12.0):
        placed = parse_build(f"blue cube 0 front @ 0 0 15; blue cube 0 front @ {x} 0 45")
        assert stands(PIECES, placed, 11.0) and not stands(PIECES, placed, 11.5)


@pytest.mark.parametrize(("by_mm", "falls"), [(3.9, False), (4.1, True)])
@pytest.mark.parametrize("x", [10.0, -10.0])
def test_a_misplacement_is_looked_at_a_millimetre_further_for_the_rounded_edge(x, by_mm, falls):
    """The plank's centre is 5 mm from the cube's edge: 4 mm off and 1 mm of rounded edge use that up."""
    placed = parse_build(f"blue cube 0 front @ 0 0 15; green rectangle 0 front @ {x} 0 42.5")
    assert topples(PIECES, placed, 1, by_mm) is falls


def test_a_piece_is_moved_alone_and_with_its_load():
    """The lower cube with its load slides; alone it slides from under it: only the second topples."""
    placed = parse_build(
        "blue cube 0 front @ 0 0 15; green rectangle 90 front @ 0 0 67.5; green rectangle 0 front @ 30 0 117.5"
    )
    assert not stands(PIECES, placed)
    posts = parse_build(
        "red cylinder 0 front @ -30 0 22.5; red cylinder 0 front @ 30 0 22.5; green rectangle 0 front @ 0 0 57.5"
    )
    assert not topples(PIECES, posts, 0, 2.0) and topples(PIECES, posts, 0, 22.0)
    assert not topples(PIECES, posts, 2, 8.0)


def test_what_would_have_to_rise_sits_in_a_hollow_and_what_sinks_falls():
    cradle = parse_build("orange bridge 180 front @ 0 0 15; red cylinder 90 side @ 0 0 30")
    assert not topples(PIECES, cradle, 1, 2.0)
    off_the_edge = parse_build("blue cube 0 front @ 0 0 15; blue cube 0 front @ 25 0 45; blue cube 0 front @ 50 0 15")
    assert topples(PIECES, off_the_edge, 0, 20.0)


def test_carried_is_what_rests_on_it_alone_also_through_others():
    tower = parse_build(
        "blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 45; red cylinder 0 front @ 0 0 82.5; "
        "red triangle 0 front @ 80 0 17.5"
    )
    assert carried(PIECES, tower, 0) == (1, 2) and carried(PIECES, tower, 1) == (2,)
    assert carried(PIECES, tower, 2) == carried(PIECES, tower, 3) == ()
    upside = tuple(reversed(tower[:3]))
    assert carried(PIECES, upside, 2) == (0, 1)


def test_settling_lets_each_piece_down_on_what_is_under_it():
    high = parse_build(
        "red triangle 0 front @ 0 0 200; blue cube 0 front @ 0 0 60; blue cube 0 front @ 60 0 15; "
        "green rectangle 0 front @ 0 0 120"
    )
    assert [round(p.z, 2) for p in settle(PIECES, high)] == [72.5, 15.0, 15.0, 42.5]
    assert [(p.x, p.y) for p in settle(PIECES, high)] == [(p.x, p.y) for p in high]


def test_what_the_elevation_misses_by_less_than_three_millimetres_is_corrected():
    """A barrel in a cradle: the sampled elevation lets it sink a little too deep, the solids say by how much."""
    cradle = parse_build("orange bridge 180 front @ 0 0 15; red cylinder 90 side @ 1 0 60")
    settled = settle(PIECES, cradle)
    assert penetration(PIECES, *settled) == pytest.approx(0.0, abs=0.02)
    assert 30.0 < settled[1].z < 34.0


def test_a_tip_that_the_elevation_misses_is_not_sunk_into():
    """A cube on a triangle's tip, which lies between two samples of the elevation: it is raised by what is missing,
    whatever else stands below."""
    for elsewhere in ("", "; blue cube 0 front @ 90 0 15"):
        placed = parse_build(f"red triangle 0 front @ 0 0 17.5; blue cube 0 front @ -0.57 0 90{elsewhere}")
        settled = settle(PIECES, placed)
        assert penetration(PIECES, settled[1], settled[0]) == pytest.approx(0.0, abs=0.02)
        assert settled[1].z == pytest.approx(50.0, abs=0.02)


def test_what_stands_a_little_too_near_is_not_lifted_onto_its_neighbour():
    """Two cubes that share 1.9 mm in plan: that is no resting on one another, and no sampling's fault."""
    settled = settle(PIECES, parse_build("blue cube 0 front @ 0 0 15; blue cube 0 front @ 28.1 0 15"))
    assert [p.z for p in settled] == [15.0, 15.0]


def test_what_sinks_when_misplaced_topples_though_it_then_stands():
    """The upper cube, moved off the lower one, stands well on the table."""
    tower = parse_build("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 45")
    assert topples(PIECES, tower, 1, 40.0) and stands(PIECES, settle(PIECES, [tower[0], tower[1].at(x=41.0)]))


def test_forces_push_and_never_pull():
    """A cube that hangs under a plank is not held, although it touches."""
    placed = parse_build(
        "green rectangle 90 front @ -30 0 37.5; green rectangle 0 front @ 0 0 87.5; blue cube 0 front @ 20 0 60"
    )
    assert not stands(PIECES, placed)


def test_friction_holds_what_it_can():
    """An arch of two leaning blocks does not exist here; a slope of friction does: a barrel between two cubes."""
    wide = parse_build("blue cube 0 front @ -27 0 15; blue cube 0 front @ 27 0 15; red cylinder 90 side @ 0 0 39")
    assert penetration(PIECES, wide[0], wide[2]) < 0.6
    assert not stands(PIECES, wide)  # 9 mm off the edges' height 24 above them: pushed apart with more than friction


@pytest.mark.parametrize(
    ("rises", "falls"), [((0.2, -1.0), False), ((0.15, -1.0), True), ((0.0, -0.5), False), ((0.0, -0.6), True)]
)
def test_a_misplacement_that_lifts_by_more_than_015_mm_is_none_and_one_that_drops_by_more_than_05_mm_topples(
    monkeypatch, rises, falls
):
    monkeypatch.setattr(stability, "settle", lambda _, moved: [p.at(z=r) for p, r in zip(moved, rises, strict=True)])
    monkeypatch.setattr(stability, "stands", lambda *_: True)
    on_the_ground = [p.at(z=0.0) for p in parse_build("blue cube 0 front @ 0 0 15; blue cube 0 front @ 40 0 15")]
    assert topples(PIECES, on_the_ground, 0, 2.0) is falls


@pytest.mark.parametrize(("sunk", "z"), [(2.9, 47.9), (3.0, 45.0), (4.0, 45.0)])
def test_less_than_three_millimetres_of_sinking_are_corrected_and_more_are_another_thing(monkeypatch, sunk, z):
    monkeypatch.setattr(stability, "rest_height", lambda *_: 45.0)
    monkeypatch.setattr(stability, "penetration", lambda *_: sunk)
    tower = parse_build("blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 45")
    assert settle(PIECES, tower)[1].z == z
