"""How much light each side of the towers gets of the room and of the paper, past the other towers.

A stone low between towers sees little of the room and is dark. Rays from points on every side tell what it sees: the
room, as light everywhere; paper, a little darker; or another tower, which counts as black. A tower is one column,
however its storeys slip: of a millimetre beside, a side sees no other part of the room.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from calibration.game_sheets import site_centre
from cards.pieces import Pose
from referee.vision.city.reading import CityReading
from referee.vision.render.solids import solid

Face = tuple[int, int, int]
"""Site, storey from 0, and which of a storey's faces."""

RAYS = 64
"""From each point of a side."""
GOLDEN_TURN = 2.39996
"""Radians from one ray to the next, so that they lie evenly."""
PAPER_LIGHT = 0.8
"""Of the light that it gets, what paper sends."""
OFF_MM = 0.02
"""Rays begin so far off their side."""
TABLE, ROOM = -2, -1


class Columns(NamedTuple):
    """Towers as boxes: ``at`` (m, 2) mm of their middles, ``turn`` (m, 2) cosine and sine, ``half`` (m, 3) mm."""

    at: np.ndarray
    turn: np.ndarray
    half: np.ndarray


def directions(count: int) -> np.ndarray:
    """(count, 3) directions about z, as dense as a matt side weighs them: by the cosine."""
    k = np.arange(count) + 0.5
    r, turn = np.sqrt(k / count), k * GOLDEN_TURN
    return np.stack([r * np.cos(turn), r * np.sin(turn), np.sqrt(1 - r * r)], 1)


def cast_rays(columns: Columns, start: np.ndarray, along: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(n,) what rays from ``start`` (n, 3) ``along`` (n, 3) meet first, but for the column ``own`` (n,) of each: a
    column by index, TABLE or ROOM."""
    down = along[:, 2] < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(down, -start[:, 2] / along[:, 2], np.inf)
    what = np.where(down, TABLE, ROOM)
    for i, (at, (c, s), half) in enumerate(zip(*columns, strict=True)):
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        begin, way = (start - (*at, half[2])) @ turn.T, along @ turn.T
        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = (-half - begin) / way, (half - begin) / way
        near, far = np.fmin(one, two).max(1), np.fmax(one, two).min(1)
        hit = (near <= far) & (near > 0) & (near < best) & (own != i)
        best[hit], what[hit] = near[hit], i
    return what


def _columns(reading: CityReading, sites: list[int]) -> Columns:
    """The towers of these sites."""
    places = [reading.towers[site].place for site in sites]
    high = [len(reading.towers[site].colors) for site in sites]
    storeys = zip(sites, places, high, strict=True)
    at = np.array([site_centre(site) + place.storeys(n).mean(0) for site, place, n in storeys]).reshape(-1, 2)
    turn = np.array([(np.cos(place.yaw), np.sin(place.yaw)) for place in places]).reshape(-1, 2)
    one = reading.storey
    half = np.array([(one.side / 2, one.deep / 2, n * one.high / 2) for n in high]).reshape(-1, 3)
    return Columns(at, turn, half)


class Sky:
    """What the sides of a city's towers see of room and paper; ``faces`` are the sides by row."""

    def __init__(self, reading: CityReading) -> None:
        self.sites = [site for site, tower in reading.towers.items() if tower.colors]
        self.high = reading.storey.high
        self.normals = solid(reading.storey.shape, Pose()).normals
        self.columns = _columns(reading, self.sites)
        self.rows = [
            (i, n, k)
            for i, high in enumerate(len(reading.towers[site].colors) for site in self.sites)
            for n in range(high)
            for k, normal in enumerate(self.normals)
            if abs(normal[2]) < 0.5 or (normal[2] > 0 and n == high - 1)
        ]
        self.faces: list[Face] = [(self.sites[i], n, k) for i, n, k in self.rows]
        self.room, self.paper = self._shares()

    def side_lights(self) -> dict[Face, float]:
        """By side, the light that it gets, of what one standing alone gets."""
        up = np.array([self.normals[k][2] > 0.5 for _, _, k in self.rows], bool)
        alone = np.where(up, 1.0, (1 + PAPER_LIGHT) / 2)
        light = (self.room + PAPER_LIGHT * self.paper) / alone
        return dict(zip(self.faces, light.tolist(), strict=True))

    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        """(f,) twice: how much of each side's view is room, and how much paper."""
        count, towards = len(self.rows), directions(RAYS)
        parts = [self._points(*row) for row in self.rows]
        owner = np.repeat(np.arange(count), [len(points) * RAYS for points, _ in parts])
        start = np.concatenate([np.zeros((0, 3)), *(np.repeat(points, RAYS, 0) for points, _ in parts)])
        along = np.concatenate([np.zeros((0, 3)), *(np.tile(towards @ axes, (len(at), 1)) for at, axes in parts)])
        column = np.array([i for i, _, _ in self.rows], int)[owner]
        what, rays = cast_rays(self.columns, start, along, column), np.bincount(owner, minlength=count)
        room, paper = (np.bincount(owner, what == kind, minlength=count) / rays for kind in (ROOM, TABLE))
        return room, paper

    def _points(self, i: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(p, 3) mm points on a side of a column's storey n (from 0), and (3, 3) its axes, the last outward."""
        (c, s), half, normal = self.columns.turn[i], self.columns.half[i], self.normals[k]
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        up = normal[2] > 0.5
        wide = np.array([1.0, 0.0, 0.0]) if up else np.cross((0.0, 0.0, 1.0), normal)
        long = np.cross(normal, wide)
        size = np.array([half[0], half[1], self.high / 2])
        spread = [wide * a + long * b for a in (-0.5, 0.5) for b in ((-0.5, 0.5) if up else (0.0,))]
        middle = np.array([*self.columns.at[i], (n + 0.5) * self.high])
        points = np.array([middle + turn @ (size * (normal + spot) + OFF_MM * normal) for spot in spread])
        return points, np.stack([wide, long, normal]) @ turn.T


def side_lights(readings: Mapping[int, CityReading]) -> dict[tuple[int, ...], float]:
    """By (city, site, storey, face), the light that a side gets, of what it would get alone."""
    cities = {city: Sky(reading).side_lights() for city, reading in readings.items()}
    return {(city, *face): light for city, sides in cities.items() for face, light in sides.items()}
