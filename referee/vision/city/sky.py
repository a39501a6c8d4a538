"""How much light each side of the towers gets of the room, of the paper and of the other towers.

A stone low between towers sees little of the room and is dark; where it sees another tower, it has that one's glow.
Rays from points on every side tell what it sees: the room, as light everywhere; paper, as bright as the part of the
room that it sees itself; or a side of a storey, which sends of the light that it gets what its paint does not swallow.
A tower is one column, however its storeys slip: of a millimetre beside, a side sees no other part of the room.
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

RAYS, PAPER_RAYS = 64, 32
"""From each point of a side, and from each spot of paper."""
GOLDEN_TURN = 2.39996
"""Radians from one ray to the next, so that they lie evenly."""
SPOT_MM, SPOTS = 10.0, 12
"""Paper is looked at in spots of this size, so many each way from the plan's middle; beyond it gets all light."""
PAPER_LIGHT = 0.8
"""Of the light that it gets, what paper sends."""
UNDER_LIGHT = 0.05
"""Of the room's light, what paper gets that seems to lie under a tower: a slit that the columns do not show."""
BOUNCES = 2
OFF_MM = 0.02
"""Rays begin so far off their side."""
TABLE, ROOM = -2, -1


class Columns(NamedTuple):
    """Towers as boxes: ``at`` (m, 2) mm of their middles, ``turn`` (m, 2) cosine and sine, ``half`` (m, 3) mm."""

    at: np.ndarray
    turn: np.ndarray
    half: np.ndarray


class Hits(NamedTuple):
    """What rays meet: ``what`` (n,) a column by index, TABLE or ROOM; ``at`` (n, 3) mm; ``facing`` (n, 3) the normal
    of the column's side there, in the column's own axes."""

    what: np.ndarray
    at: np.ndarray
    facing: np.ndarray


def directions(count: int) -> np.ndarray:
    """(count, 3) directions about z, as dense as a matt side weighs them: by the cosine."""
    k = np.arange(count) + 0.5
    r, turn = np.sqrt(k / count), k * GOLDEN_TURN
    return np.stack([r * np.cos(turn), r * np.sin(turn), np.sqrt(1 - r * r)], 1)


def cast_rays(columns: Columns, start: np.ndarray, along: np.ndarray, own: np.ndarray) -> Hits:
    """What rays from ``start`` (n, 3) ``along`` (n, 3) meet first, but for the column ``own`` (n,) of each."""
    down = along[:, 2] < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(down, -start[:, 2] / along[:, 2], np.inf)
    what, facing = np.where(down, TABLE, ROOM), np.zeros_like(along)
    for i, (at, (c, s), half) in enumerate(zip(*columns, strict=True)):
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        begin, way = (start - (*at, half[2])) @ turn.T, along @ turn.T
        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = (-half - begin) / way, (half - begin) / way
        into = np.fmin(one, two)
        axis = into.argmax(1)
        near, far = into[np.arange(len(into)), axis], np.fmax(one, two).min(1)
        hit = (near <= far) & (near > 0) & (near < best) & (own != i)
        best[hit], what[hit], facing[hit] = near[hit], i, 0.0
        facing[hit, axis[hit]] = -np.sign(way[hit, axis[hit]])
    return Hits(what, start + along * np.where(np.isfinite(best), best, 0.0)[:, None], facing)


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
    """What the sides of a city's towers see, of room, paper and each other; ``faces`` are the sides by row."""

    def __init__(self, reading: CityReading) -> None:
        self.sites = [site for site, tower in reading.towers.items() if tower.colors]
        self.colors = [reading.towers[site].colors for site in self.sites]
        self.high = reading.storey.high
        self.normals = solid(reading.storey.shape, Pose()).normals
        self.columns = _columns(reading, self.sites)
        self.rows = [
            (i, n, k)
            for i, colors in enumerate(self.colors)
            for n in range(len(colors))
            for k, normal in enumerate(self.normals)
            if abs(normal[2]) < 0.5 or (normal[2] > 0 and n == len(colors) - 1)
        ]
        self.faces: list[Face] = [(self.sites[i], n, k) for i, n, k in self.rows]
        self.room, self.paper, self.others = self._shares()

    def side_lights(self, albedo: np.ndarray) -> dict[Face, np.ndarray]:
        """By side, (3,) the light that it gets, of what one standing alone gets; ``albedo`` (k, 3) of the colours."""
        mine = np.array([albedo[self.colors[i][n]] for i, n, _ in self.rows]).reshape(-1, 3)
        up = np.array([self.normals[k][2] > 0.5 for _, _, k in self.rows], bool)
        alone = np.where(up, 1.0, (1 + PAPER_LIGHT) / 2)
        first = (self.room + PAPER_LIGHT * self.paper)[:, None] * np.ones(3)
        light = first
        for _ in range(BOUNCES):
            light = first + self.others @ (mine * light)
        return dict(zip(self.faces, light / alone[:, None], strict=True))

    def _shares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(f,) how much of each side's view is room, (f,) paper times the room's share that it sees, and (f, f) each
        other side."""
        count, towards = len(self.rows), directions(RAYS)
        parts = [self._points(*row) for row in self.rows]
        owner = np.repeat(np.arange(count), [len(points) * RAYS for points, _ in parts])
        start = np.concatenate([np.zeros((0, 3)), *(np.repeat(points, RAYS, 0) for points, _ in parts)])
        along = np.concatenate([np.zeros((0, 3)), *(np.tile(towards @ axes, (len(at), 1)) for at, axes in parts)])
        column = np.array([i for i, _, _ in self.rows], int)[owner]
        hits, each = cast_rays(self.columns, start, along, column), 1 / np.bincount(owner, minlength=count)
        room = np.bincount(owner, hits.what == ROOM, minlength=count) * each
        on = hits.what == TABLE
        paper = np.bincount(owner[on], self._paper(hits.at[on, :2]), minlength=count) * each
        others = np.zeros((count, count))
        met = hits.what >= 0
        np.add.at(others, (owner[met], self._met(hits, met)), each[owner[met]])
        return room, paper, others

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

    def _paper(self, at: np.ndarray) -> np.ndarray:
        """(n,) of the room's light, how much the paper gets at these (n, 2) mm."""
        spots = np.round(at / SPOT_MM).astype(int)
        near = (abs(spots) <= SPOTS).all(1)
        each, which = np.unique(spots[near], axis=0, return_inverse=True)
        start = np.repeat(np.c_[each * SPOT_MM, np.full(len(each), OFF_MM)], PAPER_RAYS, 0)
        none = np.full(len(start), ROOM)
        room = cast_rays(self.columns, start, np.tile(directions(PAPER_RAYS), (len(each), 1)), none).what == ROOM
        sees = room.reshape(len(each), -1).mean(1) if len(each) else np.zeros(0)
        sees = np.where(self._under(each * SPOT_MM), UNDER_LIGHT, sees)
        out = np.ones(len(at))
        out[near] = sees[which.ravel()]
        return out

    def _under(self, at: np.ndarray) -> np.ndarray:
        """(n,) bool: whether a column stands on these (n, 2) mm."""
        out = np.zeros(len(at), bool)
        for middle, (c, s), half in zip(*self.columns, strict=True):
            off = np.abs((at - middle) @ np.array([[c, -s], [s, c]]))
            out |= (off < half[:2]).all(1)
        return out

    def _met(self, hits: Hits, met: np.ndarray) -> np.ndarray:
        """By row, which side each of the hits that met a column has found."""
        what, facing = hits.what[met], (hits.facing[met] @ self.normals.T).argmax(1)
        top = np.array([len(colors) - 1 for colors in self.colors], int)[what]
        storey = np.clip((hits.at[met, 2] / self.high).astype(int), 0, top)
        storey = np.where(self.normals[facing, 2] > 0.5, top, storey)
        index = np.full((len(self.sites), max(1, max(map(len, self.colors), default=1)), len(self.normals)), -1)
        for row, (i, n, k) in enumerate(self.rows):
            index[i, n, k] = row
        return np.asarray(index[what, storey, facing])


def side_lights(readings: Mapping[int, CityReading], albedo: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
    """By (city, site, storey, face), (3,) the light that a side gets, of what it would get alone."""
    cities = {city: Sky(reading).side_lights(albedo) for city, reading in readings.items()}
    return {(city, *face): light for city, sides in cities.items() for face, light in sides.items()}
