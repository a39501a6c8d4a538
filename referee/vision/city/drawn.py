"""A tower on its site as the pictures would show it: for every number of storeys which pixels show which storey."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibration.game_sheets import site_centre
from cards.pieces import PieceSet, Pose, Shape
from referee.kernels.polygons import draw_solid
from referee.vision.image.evidence import Evidence
from referee.vision.image.view import ZoneView
from referee.vision.render.solids import solid, z_buffer

MOST_STOREYS = 16
"""Towers are looked for up to this height: twelve are high, and one must be able to see that it is more."""
RIM_PX = 2
OFF_MM = 10.0
"""A storey is looked for so far off its site's middle: a tower stands up to 7 mm off, and its storeys slip."""
Box = tuple[slice, slice]


@dataclass(frozen=True)
class TowerPose:
    """Where a tower stands: its lowest storey ``x``, ``y`` mm off its site's middle, all turned by ``yaw`` radians.

    ``slips``: by how many mm (x, y) each storey from the second lies off the one below it; where there are no more, by
    none."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    slips: tuple[tuple[float, float], ...] = ()

    def storeys(self, count: int) -> np.ndarray:
        """(count, 2) mm: how far the lowest storeys lie off the site's middle."""
        steps = np.zeros((count, 2))
        steps[0] = self.x, self.y
        given = self.slips[: count - 1]
        steps[1 : 1 + len(given)] = np.array(given).reshape(-1, 2)
        return np.cumsum(steps, 0)

    def slipped(self, storey: int, x: float, y: float) -> TowerPose:
        """The same with a storey (from 0) and all that is on it moved by ``x``, ``y`` mm."""
        if storey == 0:
            return replace(self, x=self.x + x, y=self.y + y)
        slips = [*self.slips, *[(0.0, 0.0)] * (storey - len(self.slips))]
        slips[storey - 1] = slips[storey - 1][0] + x, slips[storey - 1][1] + y
        return replace(self, slips=tuple(slips))


@dataclass(frozen=True)
class StoreySize:
    """One storey of a stone of the set: ``side`` x ``deep`` mm, ``high`` mm."""

    side: float
    deep: float
    high: float

    @cached_property
    def shape(self) -> Shape:
        """As a box that can be drawn."""
        return Shape("storey", "box", self.side, self.high, self.deep)


def storey_of(stones: PieceSet) -> StoreySize:
    """What all stones of the set have in common: the lowest one is a storey, the others whole numbers of it."""
    lowest = min(stones.shapes.values(), key=lambda shape: shape.height)
    return StoreySize(lowest.width, lowest.depth, lowest.height)


@dataclass(frozen=True, eq=False)
class CityPicture:
    """One picture of a city: its view and evidence, and where (h, w) pixels count."""

    view: ZoneView
    evidence: Evidence

    @cached_property
    def color_gains(self) -> np.ndarray:
        """What a pixel gains in each colour, nats: (h, w, colours), a pixel's colours beside each other."""
        return np.ascontiguousarray(self.evidence.gains.transpose(1, 2, 0), np.float64)


@dataclass(frozen=True, eq=False)
class DrawnTower:
    """A site's tower in one picture, in its ``box``: by count of storeys (from 1) inverse depth and storey (h, w)."""

    box: Box
    depth: tuple[np.ndarray, ...]
    tags: tuple[np.ndarray, ...]


def column_box(look: CityPicture, storey: StoreySize, site: int, storeys: int = MOST_STOREYS) -> Box:
    """The part of the picture in which a tower of so many storeys on a site can be seen."""
    x, y = site_centre(site)
    reach = math.hypot(storey.side, storey.deep) / 2 + OFF_MM
    top = storeys * storey.high
    corners = np.array([(x + a, y + b, c) for a in (-reach, reach) for b in (-reach, reach) for c in (0.0, top)])
    pixels = look.view.project(corners)
    h, w = look.view.valid.shape
    low = np.clip(np.floor(pixels.min(0)) - RIM_PX, 0, (w - 1, h - 1)).astype(int)
    high = np.clip(np.ceil(pixels.max(0)) + RIM_PX, 1, (w, h)).astype(int)
    return slice(low[1], max(high[1], low[1] + 1)), slice(low[0], max(high[0], low[0] + 1))


def drawn(look: CityPicture, storey: StoreySize, site: int, place: TowerPose, counts: range) -> DrawnTower:
    """The tower drawn for these counts of storeys, which begin at 1 or are one count alone."""
    box = column_box(look, storey, site, max(counts))
    rows, columns = box
    matrix = look.view.matrix.copy()
    matrix[:2, 2] -= columns.start, rows.start
    buffer = z_buffer((rows.stop - rows.start, columns.stop - columns.start))
    body, depth, tags = solid(storey.shape, Pose()), [], []
    for n, (x, y) in enumerate(site_centre(site) + place.storeys(max(counts)), 1):
        at = (x, y, (n - 0.5) * storey.high, place.yaw)
        draw_solid(body, at, look.view.camera, matrix, buffer, n - 1, 0)
        if n in counts:
            depth.append(buffer.inverse_depth.copy())
            tags.append(buffer.tags.copy())
    return DrawnTower(box, tuple(depth), tuple(tags))
