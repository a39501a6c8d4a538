"""Towers read from pictures: the heights, colours and places that explain all pictures of a city best.

Every site is tried with every number of storeys, drawn before and behind what stands on the others; a storey has the
colour that its visible pixels speak for. The site that gains most is filled first, then each is tried again while the
others stand, until nothing changes. People do not stack exactly: at last each storey may slip on the one below it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from calibration.game_sheets import site_centre
from referee.vision.city.drawn import MOST_STOREYS, CityPicture, StoreySize, TowerPose, drawn

SITES = range(1, 10)
FLOORS = MOST_STOREYS + 1
STOREYS = (len(SITES) + 1) * FLOORS
STOREY_COST = 12.0
"""Nats against a storey before any pixel is seen."""
PLACE_SD_MM, PLACE_SD_RAD = 2.5, math.radians(8)
PLACE_NATS = 3.0
"""What a place one deviation off costs, nats: pixels are many and err together."""
MOST_OFF_MM, MOST_YAW = 7.0, math.radians(25)
CLIMB_STEPS = ((2.0, math.radians(6)), (1.0, math.radians(3)))
SWEEPS = 6
SLIP_SD_MM = 1.0
"""How far a storey usually lies off the one below it: where a stone begins, people put it down so exactly."""
SLIP_STEPS_MM = (2.0, 1.0, 0.5)


@dataclass(frozen=True)
class Tower:
    """A reading of one site: ``colors`` by index from below, and where it stands."""

    colors: tuple[int, ...] = ()
    place: TowerPose = field(default_factory=TowerPose)


@dataclass(frozen=True, eq=False)
class Trial:
    """A site with ``tower`` instead of what stood there gains ``score`` nats over the empty site. ``color_nats`` (n, k)
    of each storey for each colour, ``visible_px`` (n,) of each storey."""

    tower: Tower
    score: float
    color_nats: np.ndarray
    visible_px: np.ndarray


class Shown(NamedTuple):
    """What pictures show of towers: inverse ``depth`` (h, w), and ``storeys`` (h, w) by number, site * FLOORS + storey
    from 0, -1 where none is; and ``color_nats`` (STOREYS, k) of each for each colour, all pictures together."""

    depth: Sequence[np.ndarray]
    storeys: Sequence[np.ndarray]
    color_nats: np.ndarray


@dataclass(eq=False)
class CityReading:
    """What stands on the sites of one city, in all its pictures at once."""

    looks: Sequence[CityPicture]
    storey: StoreySize
    towers: dict[int, Tower] = field(default_factory=dict)

    def top_of(self, site: int) -> np.ndarray:
        """(3,) mm: the middle of what stands highest on the site."""
        tower, (x, y) = self.towers.get(site, Tower()), site_centre(site)
        high, top = len(tower.colors), tower.place.storeys(max(1, len(tower.colors)))[-1]
        return np.array([x + top[0], y + top[1], high * self.storey.high])

    def behind_best(self, site: int, colors: Sequence[int]) -> float:
        """By how many nats a tower of these colours is behind what was read on the site, its place fitted anew."""
        now, behind = self.towers[site], self.shown(site)
        best = self.trials(site, now.place, range(n, n + 1), behind)[0].score if (n := len(now.colors)) else 0.0
        if not colors:
            return best
        other = self.fitted(site, len(colors))
        lost = other.color_nats.max(1) - other.color_nats[np.arange(len(colors)), list(colors)]
        return best - (other.score - float(lost.sum()))

    def fitted(self, site: int, count: int) -> Trial:
        """The site with so many storeys, their place fitted from where it is read."""
        behind = self.shown(site)
        return self.placed(site, self.trials(site, self.towers[site].place, range(count, count + 1), behind)[0], behind)

    def margin(self, site: int) -> float:
        """By how many nats the site's number of storeys is ahead of every other."""
        tower = self.towers[site]
        trials = self.trials(site, tower.place, range(1, MOST_STOREYS + 1))
        scores = np.array([0.0, *(trial.score for trial in trials)])
        return float(scores[len(tower.colors)] - np.delete(scores, len(tower.colors)).max())

    def changed(self, site: int, tower: Tower) -> CityReading:
        """The same reading but for one site."""
        return CityReading(self.looks, self.storey, {**self.towers, site: tower})

    def shown(self, without: int = 0) -> Shown:
        """What the pictures show of all towers but that on the site ``without``."""
        depths = [np.zeros(look.view.valid.shape, np.float32) for look in self.looks]
        storeys = [np.full(look.view.valid.shape, -1) for look in self.looks]
        sums = np.zeros((STOREYS, len(self.looks[0].evidence.gains)))
        for look, depth, shown in zip(self.looks, depths, storeys, strict=True):
            for other, tower in self.towers.items():
                if other != without and (n := len(tower.colors)):
                    one = drawn(look, self.storey, other, tower.place, range(n, n + 1))
                    nearer = one.depth[0] > depth[one.box]
                    depth[one.box][nearer] = one.depth[0][nearer]
                    shown[one.box][nearer] = one.tags[0][nearer] + other * FLOORS
            sums += _by_storey(shown[shown >= 0], look.color_gains[shown >= 0])
        return Shown(depths, storeys, sums)

    def gained(self) -> list[np.ndarray]:
        """By picture, (h, w) nats that pixels gain by the storeys that they show, each in the colour that fits best."""
        _, storeys, color_nats = self.shown()
        colors = color_nats.argmax(1)
        return [
            np.where(shown >= 0, np.take_along_axis(look.evidence.gains, colors[shown][None], 0)[0], 0.0)
            for look, shown in zip(self.looks, storeys, strict=True)
        ]

    def trials(self, site: int, place: TowerPose, counts: range, behind: Shown | None = None) -> list[Trial]:
        """The site with each of these counts of storeys at that place, in the colours that fit best; and the others in
        the colours that fit what is then seen of them."""
        behind = self.shown(site) if behind is None else behind
        kinds = len(self.looks[0].evidence.gains)
        drawings = [drawn(look, self.storey, site, place, counts) for look in self.looks]
        behind_it = [
            (depth[one.box], storeys[one.box].ravel(), look.color_gains[one.box].reshape(-1, kinds))
            for one, depth, storeys, look in zip(drawings, behind.depth, behind.storeys, self.looks, strict=True)
        ]
        trials, before = [], behind.color_nats.max(1).sum()
        for i, n in enumerate(counts):
            parts = []
            for one, (depth, storeys, gains) in zip(drawings, behind_it, strict=True):
                seen = np.flatnonzero(one.depth[i] > depth)
                parts.append((one.tags[i].ravel()[seen], storeys[seen], gains[seen]))
            mine, theirs, gains = map(np.concatenate, zip(*parts, strict=True))
            nats = _by_storey(mine, gains, n)
            left = (behind.color_nats - _by_storey(theirs, gains)).max(1).sum() - before
            score = float(nats.max(1).sum() + left - STOREY_COST * n - _place_cost(place, n))
            tower = Tower(tuple(int(k) for k in nats.argmax(1)), place)
            trials.append(Trial(tower, score, nats, np.bincount(mine, minlength=n).astype(float)))
        return trials

    def _better(self, site: int, best: Trial, places: Sequence[TowerPose], behind: Shown) -> Trial:
        """The best trial or the same number of storeys at one of these places."""
        n = len(best.tower.colors)
        tried = [self.trials(site, place, range(n, n + 1), behind)[0] for place in places if _on_site(place)]
        return max([best, *tried], key=lambda trial: trial.score)

    def placed(self, site: int, first: Trial, behind: Shown) -> Trial:
        """The trial with its place fitted, its number of storeys kept."""
        best = first
        for mm, rad in CLIMB_STEPS:
            for _ in range(4):
                here, p = best, best.tower.place
                moves = [replace(p, x=p.x + a * mm, y=p.y + b * mm) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]
                moves += [replace(p, yaw=p.yaw + a * rad) for a in (1, -1)]
                best = self._better(site, best, moves, behind)
                if best is here:
                    break
        return best

    def best(self, site: int, fitted: bool = True) -> Trial | None:
        """The tower that the site gains most by, None where it gains by none."""
        behind = self.shown(site)
        place = self.towers.get(site, Tower()).place
        best = max(self.trials(site, place, range(1, MOST_STOREYS + 1), behind), key=lambda trial: trial.score)
        if fitted:
            best = self.placed(site, best, behind)
            again = self.trials(site, best.tower.place, range(1, MOST_STOREYS + 1), behind)
            best = max([best, *again], key=lambda trial: trial.score)
        return best if best.score > 0 else None

    def settled(self) -> CityReading:
        """Let each storey of each tower slip on the one below it as far as the pictures tell; the numbers of storeys
        stay. A storey drawn two millimetres off shows as many rows of its neighbour as of itself."""
        for site, tower in self.towers.items():
            if n := len(tower.colors):
                behind = self.shown(site)
                best = self.trials(site, tower.place, range(n, n + 1), behind)[0]
                for mm, k in product(SLIP_STEPS_MM, range(n)):
                    for a, b in ((mm, 0.0), (-mm, 0.0), (0.0, mm), (0.0, -mm)):
                        place = best.tower.place  # what is above the storey moves, or what is below
                        moves = [place.slipped(k, a, b)] + ([place.slipped(0, a, b).slipped(k, -a, -b)] if k else [])
                        best = self._better(site, best, moves, behind)
                self.towers[site] = best.tower
        return self

    def filled(self) -> CityReading:
        """Fill the sites, the surest first, and try each again until nothing changes."""
        open_sites = set(SITES)
        while open_sites:
            gains = {site: trial for site in open_sites if (trial := self.best(site, fitted=False)) is not None}
            if not gains:
                break
            site = max(gains, key=lambda s: gains[s].score)
            self.towers[site] = gains[site].tower
            open_sites.discard(site)
        tried: dict[int, dict[int, Tower]] = {}
        for _ in range(SWEEPS):
            before = dict(self.towers)
            for site in SITES:
                if tried.get(site) != self.towers:  # else it would only be tried with the same others again
                    trial = self.best(site)
                    self.towers[site] = trial.tower if trial else Tower()
                    tried[site] = dict(self.towers)
            if self.towers == before:
                break
        return self


def _by_storey(storeys: np.ndarray, gains: np.ndarray, count: int = STOREYS) -> np.ndarray:
    """(count, k) sums of what pixels (n, k) gain by the storey (n,) that they show; -1, none, is left out."""
    mine = storeys >= 0
    if not mine.all():
        storeys, gains = storeys[mine], gains[mine]
    return np.stack([np.bincount(storeys, of, count) for of in gains.T], 1)


def _on_site(place: TowerPose) -> bool:
    """Whether a tower may stand there."""
    return math.hypot(place.x, place.y) <= MOST_OFF_MM and abs(place.yaw) <= MOST_YAW


def _place_cost(place: TowerPose, storeys: int) -> float:
    """Nats against a tower of so many storeys standing there."""
    slid = sum(x * x + y * y for x, y in place.slips[: storeys - 1]) / SLIP_SD_MM**2
    off = (place.x**2 + place.y**2) / PLACE_SD_MM**2 + (place.yaw / PLACE_SD_RAD) ** 2
    return PLACE_NATS * (off + slid)
