"""Contacts, overlaps and equilibrium against hand-made cases with known answers."""

import math

import numpy as np
import pytest

from cards.build import parse_build
from cards.contact import mass_and_centre, overlapping, touches
from cards.pieces import Pose, builtin_piece_set
from cards.stability import FRICTION, carried, stand, stands, tilt_margin, topples

PIECES = builtin_piece_set()


def standing(text, misplaced=2.0):
    return stand(PIECES, parse_build(text), misplaced)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("blue cube 0 front @ 0 0 15; red cylinder 0 front @ 10 0 22.5", "overlap"),
        ("blue cube 0 front @ 0 0 15; red cylinder 0 front @ 0 0 80", "rests on nothing"),
        ("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 20 0 42.5", "it falls"),
        ("red cylinder 90 side @ 0 0 15", "leans"),  # rolls
        ("blue crescent 180 front @ 0 0 12.5", "leans"),  # rocks
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
