"""The light that towers take from each other's sides, against what can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.game_sheets import site_centre
from cards.pieces import Pose
from referee.vision.city.drawn import StoreySize, TowerPose
from referee.vision.city.reading import CityReading, Tower
from referee.vision.city.sky import ROOM, TABLE, Columns, Sky, cast_rays, directions, side_lights
from referee.vision.render.solids import solid

STONE = StoreySize(24.0, 24.0, 10.0)
NORMALS = solid(STONE.shape, Pose()).normals
RED, BLACK = 0, 1
MANY = 20_000


def side(*normal: float) -> int:
    """The number of the face that looks that way."""
    return int((NORMALS @ normal).argmax())


EAST, WEST, UP = side(1, 0, 0), side(-1, 0, 0), side(0, 0, 1)


def city(towers: dict[int, tuple[int, ...]], place: TowerPose | None = None) -> CityReading:
    """A city without pictures with towers of these colours on these sites."""
    return CityReading([], STONE, {site: Tower(colors, place or TowerPose()) for site, colors in towers.items()})


def seen_of(columns: Columns, normal: tuple[float, float, float], z: float = 0.01) -> np.ndarray:
    """What a spot at the origin, z above the table, sees that faces that way: shares of room and of table."""
    other = np.eye(3)[np.argmin(np.abs(normal))]
    wide = np.cross(other, normal)
    along = directions(MANY) @ np.stack([wide, np.cross(normal, wide), normal])
    what = cast_rays(columns, np.tile((0.0, 0.0, z), (MANY, 1)), along, np.full(MANY, -1))
    return np.array([(what == ROOM).mean(), (what == TABLE).mean()])


def wall(away: float, high: float) -> Columns:
    """A wall without ends from north to south, its west side so far east of the origin, mm."""
    thick = 2.0
    return Columns(np.array([[away + thick / 2, 0.0]]), np.array([[1.0, 0.0]]), np.array([[thick / 2, 1e7, high / 2]]))


def test_without_towers_what_faces_up_sees_the_room_and_what_is_upright_half_of_it():
    none = Columns(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 3)))
    assert seen_of(none, (0, 0, 1)).tolist() == [1.0, 0.0]
    assert seen_of(none, (1, 0, 0)) == pytest.approx([0.5, 0.5], abs=0.005)


def test_beside_an_endless_wall_what_faces_up_sees_half_of_the_room():
    assert seen_of(wall(0.5, 1e6), (0, 0, 1)) == pytest.approx([0.5, 0.0], abs=0.005)


@pytest.mark.parametrize("degrees", (20, 45, 70))
def test_a_wall_hides_as_much_as_its_angle_says(degrees):
    """A long wall whose rim is seen that far up leaves (1 + cos)/2 to what faces up, (1 - sin)/2 to what faces it."""
    angle = math.radians(degrees)
    one = wall(100.0, 100.0 * math.tan(angle))
    assert seen_of(one, (0, 0, 1))[0] == pytest.approx((1 + math.cos(angle)) / 2, abs=0.005)
    assert seen_of(one, (1, 0, 0))[0] == pytest.approx((1 - math.sin(angle)) / 2, abs=0.005)
    assert seen_of(one, (-1, 0, 0))[0] == pytest.approx(0.5, abs=0.005)


def test_a_tower_alone_has_all_light():
    alone = Sky(city({5: (RED, RED, BLACK)})).side_lights()
    assert alone[5, 2, UP] == 1.0
    sides = np.array([light for (_, _, face), light in alone.items() if face != UP])
    assert len(sides) == 12
    assert sides == pytest.approx(1.0, abs=0.05)


def test_a_low_stone_beside_a_high_tower_is_dark_on_that_side():
    between = Sky(city({5: (BLACK,), 6: (RED,) * 12})).side_lights()
    assert between[5, 0, EAST] < 0.4 * between[5, 0, WEST]
    assert between[5, 0, UP] < 0.95


def test_higher_storeys_see_more_of_the_room():
    sky = Sky(city({5: (BLACK,) * 8, 6: (BLACK,) * 8}))
    up = np.array(
        [share for (site, _, face), share in zip(sky.faces, sky.room, strict=True) if (site, face) == (5, EAST)]
    )
    assert len(up) == 8 and (np.diff(up) > -0.02).all()
    assert up[-1] > 2 * up[0]


def test_towers_turned_and_off_their_sites_are_where_they_are_read():
    """Two towers a site apart: the nearer they stand, the darker between them."""
    (x, _), (other, _) = site_centre(5), site_centre(6)
    assert other - x == pytest.approx(32.0)
    apart, near = city({5: (BLACK,) * 6, 6: (BLACK,) * 6}), city({5: (BLACK,) * 6})
    near.towers[6] = Tower((BLACK,) * 6, TowerPose(-6.0))
    assert Sky(near).side_lights()[5, 2, EAST] < 0.8 * Sky(apart).side_lights()[5, 2, EAST]
    slipped = city({5: (BLACK,) * 6}, TowerPose(0.0, 0.0, math.radians(20), ((1.0, -1.0),) * 5))
    assert len(Sky(slipped).side_lights()) == 25


def test_cities_are_kept_apart_and_an_empty_one_has_no_sides():
    both = side_lights({1: city({5: (RED,)}), 3: city({5: (RED,), 6: (RED,)}), 4: city({})})
    assert {key[0] for key in both} == {1, 3}
    assert both[3, 5, 0, EAST] < both[1, 5, 0, EAST]
