"""Towers read from pictures: the heights, colours and places that explain all pictures of a city best.

Every site is tried with every number of storeys, drawn before and behind what stands on the others; a storey has the
colour that its visible pixels speak for. The site that gains most is filled first, then each is tried again while the
others stand, until nothing changes. People do not stack exactly: at last each storey may slip on the one below it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from calibration.game_sheets import site_centre
from referee.vision.city.drawn import MOST_STOREYS, CityPicture, StoreySize, TowerPose, drawn

SITES = range(1, 10)
STOREYS = (len(SITES) + 1) * MOST_STOREYS
"""A city's storeys are numbered by site, then from below."""
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


ON_SITE = TowerPose()


@dataclass(frozen=True)
class Tower:
    """A reading of one site: ``colors`` by index from below, and where it stands."""

    colors: tuple[int, ...] = ()
    place: TowerPose = ON_SITE


@dataclass(frozen=True, eq=False)
class Trial:
    """A site with ``tower`` instead of what stood there gains ``score`` nats over the empty site. ``color_nats`` (n, k)
    of each storey for each colour, ``visible_px`` (n,) of each storey."""

    tower: Tower
    score: float
    color_nats: np.ndarray
    visible_px: np.ndarray


class Others(NamedTuple):
    """What stands about a site, by picture: inverse ``depth`` (h, w), and which of STOREYS ``storeys`` (h, w) shows, -1
    where none does; and ``color_nats`` (STOREYS, k) of each for each colour, all pictures together."""

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
        now, behind = self.towers[site], self.others(site)
        n = len(now.colors)
        best = self.trials(site, now.place, range(n, n + 1), behind)[0].score if n else 0.0
        if not colors:
            return best
        m = len(colors)
        other = self.placed(site, self.trials(site, now.place, range(m, m + 1), behind)[0], behind)
        lost = other.color_nats.max(1) - other.color_nats[np.arange(m), list(colors)]
        return best - (other.score - float(lost.sum()))

    def others(self, site: int) -> Others:
        """What stands on the other sites."""
        out = [np.zeros(look.view.valid.shape, np.float32) for look in self.looks]
        storeys = [np.full(look.view.valid.shape, -1) for look in self.looks]
        for other, tower in self.towers.items():
            n = len(tower.colors)
            for look, depth, tags in zip(self.looks, out, storeys, strict=True):
                if other != site and n:
                    one = drawn(look, self.storey, other, tower.place, range(n, n + 1))
                    nearer = one.depth[0] > depth[one.box]
                    depth[one.box][nearer] = one.depth[0][nearer]
                    tags[one.box][nearer] = one.tags[0][nearer] + other * MOST_STOREYS
        shown = [tags >= 0 for tags in storeys]
        nats = [
            _by_storey(tags[mask], look.color_gains[mask])
            for look, tags, mask in zip(self.looks, storeys, shown, strict=True)
        ]
        return Others(out, storeys, sum(nats, np.zeros((STOREYS, 1))))

    def trials(self, site: int, place: TowerPose, counts: range, behind: Others | None = None) -> list[Trial]:
        """The site with each of these counts of storeys at that place, in the colours that fit best; and the others in
        the colours that fit what is then seen of them."""
        behind = self.others(site) if behind is None else behind
        kinds = len(self.looks[0].evidence.gains)
        drawings = [drawn(look, self.storey, site, place, counts) for look in self.looks]
        behind_it = [
            (depth[one.box], storeys[one.box].ravel(), look.color_gains[one.box].reshape(-1, kinds))
            for one, depth, storeys, look in zip(drawings, behind.depth, behind.storeys, self.looks, strict=True)
        ]
        color_nats, visible_px, hidden = [], [], []
        for i, n in enumerate(counts):
            parts = []
            for one, (depth, storeys, gains) in zip(drawings, behind_it, strict=True):
                seen = np.flatnonzero(one.depth[i] > depth)
                parts.append((one.tags[i].ravel()[seen], storeys[seen], gains[seen]))
            mine, theirs, gains = map(np.concatenate, zip(*parts, strict=True))
            visible_px.append(np.bincount(mine, minlength=n).astype(float))
            color_nats.append(_by_storey(mine, gains, n))
            hidden.append(_by_storey(theirs, gains))
        left = (behind.color_nats - np.array(hidden)).max(2).sum(1) - behind.color_nats.max(1).sum()
        return [
            Trial(
                Tower(tuple(int(k) for k in color_nats[i].argmax(1)), place),
                float(color_nats[i].max(1).sum() + left[i] - STOREY_COST * n - _place_cost(place, n)),
                color_nats[i],
                visible_px[i],
            )
            for i, n in enumerate(counts)
        ]

    def placed(self, site: int, first: Trial, behind: Others) -> Trial:
        """The trial with its place fitted, its number of storeys kept."""
        best, n = first, len(first.tower.colors)
        for mm, rad in CLIMB_STEPS:
            for _ in range(4):
                here, p = best, best.tower.place
                moves = [replace(p, x=p.x + a * mm, y=p.y + b * mm) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]
                moves += [replace(p, yaw=p.yaw + a * rad) for a in (1, -1)]
                for move in moves:
                    if _on_site(move):
                        best = max(
                            best, self.trials(site, move, range(n, n + 1), behind)[0], key=lambda trial: trial.score
                        )
                if best is here:
                    break
        return best

    def best(self, site: int, fitted: bool = True) -> Trial | None:
        """The tower that the site gains most by, None where it gains by none."""
        behind = self.others(site)
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
            if tower.colors:
                self.towers[site] = self._slipped(site, tower)
        return self

    def _slipped(self, site: int, tower: Tower) -> Tower:
        """The tower with its storeys' slips fitted: at each storey what is above it moves, or what is below."""
        behind, n = self.others(site), len(tower.colors)
        best = self.trials(site, tower.place, range(n, n + 1), behind)[0]
        for mm in SLIP_STEPS_MM:
            for k in range(n):
                for a, b in ((mm, 0.0), (-mm, 0.0), (0.0, mm), (0.0, -mm)):
                    place = best.tower.place
                    moves = [place.slipped(k, a, b)] + ([place.slipped(0, a, b).slipped(k, -a, -b)] if k else [])
                    tried = [self.trials(site, move, range(n, n + 1), behind)[0] for move in moves if _on_site(move)]
                    best = max([best, *tried], key=lambda trial: trial.score)
        return best.tower

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
