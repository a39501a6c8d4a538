"""Towers whose storeys do not stand straight on each other, in views drawn here from known places."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from referee.vision.city.drawn import CityPicture, StoreySize, TowerPose, drawn
from referee.vision.city.reading import PLACE_NATS, SLIP_SD_MM, CityReading, Tower
from referee.vision.city.sight import _stacked

STONE = StoreySize(24.0, 24.0, 10.0)
BLUE, YELLOW = 0, 1
SITE, FOCAL_PX, AWAY_MM = 5, 700.0, 650.0
COLORS = (YELLOW, BLUE, BLUE, YELLOW, YELLOW, BLUE)
STOOD = TowerPose(0.5, -1.0, 0.0, ((-2.0, 1.5), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (-1.0, 1.0)))
STRAIGHT = TowerPose(-1.3, 0.4)
"""Where all of its storeys stand on average."""


def look_from(azimuth: float, up: float = 55.0) -> CityPicture:
    """A view (240 x 240 px, about 1.1 px a mm) of the plan's middle from that side, with no evidence yet."""
    a, b = np.radians([azimuth, up])
    forward = np.array([np.sin(a) * np.cos(b), np.cos(a) * np.cos(b), -np.sin(b)])
    right = np.cross(forward, (0.0, 0.0, 1.0)) / np.cos(b)
    axes = np.stack([right, np.cross(forward, right), forward])
    at = np.array([0.0, 0.0, 30.0]) - AWAY_MM * forward
    camera = np.c_[axes, -axes @ at]
    matrix = np.array([[FOCAL_PX, 0.0, 120.0], [0.0, FOCAL_PX, 120.0], [0.0, 0.0, 1.0]])

    def project(points):
        seen = (np.c_[points, np.ones(len(points))] @ camera.T) @ matrix.T
        return seen[:, :2] / seen[:, 2:]

    view = SimpleNamespace(camera=camera, matrix=matrix, valid=np.ones((240, 240), bool), project=project)
    return CityPicture(view, SimpleNamespace(gains=np.full((2, 240, 240), -4.0, np.float32)))


@pytest.fixture(scope="module")
def reading() -> CityReading:
    """The tower as four pictures show it: each pixel of it speaks for its storey's colour, all others for none."""
    looks = [look_from(azimuth) for azimuth in (20, 110, 200, 290)]
    for look in looks:
        one = drawn(look, STONE, SITE, STOOD, range(len(COLORS), len(COLORS) + 1))
        for n, color in enumerate(COLORS):
            look.evidence.gains[color][one.box][one.tags[0] == n] = 4.0
    return CityReading(looks, STONE, {SITE: Tower(COLORS, STRAIGHT)}).settled()


def test_storeys_lie_where_they_slipped_to(reading):
    found = reading.towers[SITE].place.storeys(len(COLORS))
    off = np.hypot(*(found - STOOD.storeys(len(COLORS))).T)
    assert off[[0, 1, -1]].max() < 1.1, off


def test_each_storey_s_pixels_speak_for_its_colour(reading):
    n = len(COLORS)
    slipped, straight = (
        reading.trials(SITE, place, range(n, n + 1), reading.shown(SITE))[0].color_nats
        for place in (reading.towers[SITE].place, STRAIGHT)
    )
    apart = [
        (told[:, YELLOW] - told[:, BLUE]) * np.where(np.array(COLORS) == YELLOW, 1, -1) for told in (slipped, straight)
    ]
    assert reading.towers[SITE].colors == COLORS
    assert apart[0][0] > 1.2 * apart[1][0], apart


def test_a_storey_carries_what_is_on_it():
    place = TowerPose(1.0, 2.0).slipped(2, 0.5, -0.5)
    assert place.storeys(4).tolist() == [[1.0, 2.0], [1.0, 2.0], [1.5, 1.5], [1.5, 1.5]]
    assert place.slipped(0, 1.0, 0.0).storeys(3).tolist() == [[2.0, 2.0], [2.0, 2.0], [2.5, 1.5]]
    assert place.storeys(1).tolist() == [[1.0, 2.0]]


def test_a_slip_costs_as_much_as_it_is_unusual():
    reading = CityReading([look_from(20)], STONE, {})
    straight, slid = (
        reading.trials(SITE, place, range(1, 3)) for place in (TowerPose(), TowerPose(slips=((1.0, 0.0),)))
    )
    assert straight[0].score == slid[0].score
    told = [trial.color_nats.max(1).sum() for trial in (straight[1], slid[1])]
    assert (straight[1].score - told[0]) - (slid[1].score - told[1]) == pytest.approx(PLACE_NATS / SLIP_SD_MM**2)


@pytest.mark.parametrize(
    ("place", "stacked"),
    [
        (STOOD, True),
        (TowerPose(4.0, 4.0), True),
        (TowerPose(6.0, 2.0), False),
        (TowerPose(6.5, -1.5, 0.0, ((-2.5, 1.5), (-2.0, 0.0), (-2.0, 0.0))), True),
        (TowerPose(6.5, -1.5, 0.0, ((-1.0, 0.0), (0.0, 0.5))), False),
        (TowerPose(0.0, 0.0, 0.0, ((3.0, -3.0), (0.5, 0.0))), True),
        (TowerPose(-4.0, 4.0, -0.26, ((5.5, -7.0), (-6.0, -6.5))), False),
        (TowerPose(0.0, 0.0, 0.0, ((0.0, 0.0),) * 5 + ((9.0, 0.0),)), True),
    ],
)
def test_storeys_far_off_the_ones_below_are_no_stack(place, stacked):
    """The last but one as paper between towers was read, in their glow: three yellow storeys, each where the glow is. A
    slip above the highest storey is none. Where only the lowest is far off its site, it is that which was not found."""
    assert _stacked(Tower(COLORS, place), np.full(len(COLORS), 300.0)) is stacked


def test_a_lowest_storey_that_is_hardly_seen_says_little_of_where_a_tower_stands():
    tower = Tower(COLORS[:2], TowerPose(6.5, 0.0, 0.0, ((-4.0, 0.0),)))
    assert _stacked(tower, np.array([1.0, 300.0])) and not _stacked(tower, np.array([300.0, 300.0]))
