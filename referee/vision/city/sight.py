"""From pictures of city plans to what stands on each site, and how far that is known.

``CityEye`` takes each picture by the duel's own path (``Observer.gather``): markers, poses, views, colours, evidence.
Pictures of one city, from wherever they were taken, are read together. What cannot be known is said with its reason:
a storey that is hidden, a lamp's mirror image, something that is no stone, two readings that fit alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import cv2
import numpy as np

from calibration import ZONES
from calibration.camera import CameraModel
from calibration.game_sheets import CITIES
from calibration.palette import Palette, nominal
from cards.law import Reason, because
from cards.pieces import PieceSet
from referee.vision.city import parameters as p
from referee.vision.city.colors import seen_palette
from referee.vision.city.drawn import MOST_STOREYS, CityPicture, storey_of
from referee.vision.city.paints import Paint, paints, same_hue
from referee.vision.city.reading import SITES, CityReading, Tower, Trial
from referee.vision.city.strange import silhouette, strange
from referee.vision.city.tinted import before, tinted_paper, tints
from referee.vision.observer import Observer

SPARE_STOREYS = 2
"""So many storeys above a tower are looked at for what should not be there."""


@dataclass(frozen=True)
class SiteSight:
    """What stands on a site: ``colors`` of its storeys from below as far as they were made out; ``reasons`` why that
    is not known, none where it is. ``margin`` nats to the next number of storeys, ``told`` to the next colour."""

    colors: tuple[str, ...]
    reasons: tuple[Reason, ...] = ()
    margin: float = 0.0
    told: float = 0.0

    @property
    def sure(self) -> bool:
        """Whether it may be proposed."""
        return not self.reasons

    def to_json(self) -> dict:
        """For a program that reads it."""
        return {
            "storeys": list(self.colors),
            "sure": self.sure,
            "reasons": [reason.to_json() for reason in self.reasons],
        }


@dataclass(frozen=True, eq=False)
class CitySight:
    """One city: its ``sites`` (1 to 9), the reading with the pictures that it rests on, for an overlay, the stones'
    colours by index, and what tells the ``paints`` of storeys, by site and storey from 0."""

    city: int
    sites: Mapping[int, SiteSight]
    reading: CityReading
    names: tuple[str, ...]
    paints: Mapping[tuple[int, int], Paint] = field(default_factory=dict)

    def allows(self, site: int, colors: Sequence[int]) -> bool:
        """Whether the pictures may show storeys of these colours (by index, from below) on the site."""
        if not colors and not self.sites[site].colors and self.sites[site].sure:
            return True
        told = [self.paints.get((site, k)) for k in range(len(colors))]
        if len(colors) == len(self.sites[site].colors) and colors and all(one is not None for one in told):
            return all(one.behind(color) < p.PAINT_NATS for one, color in zip(told, colors, strict=True) if one)
        return self.reading.behind_best(site, colors) < p.ALLOWED_NATS


@dataclass(frozen=True)
class Sighting:
    """Every city in view, and what is to be said of the pictures."""

    cities: Mapping[int, CitySight]
    notes: tuple[str, ...] = field(default=())


class CityEye:
    """Reads pictures of city plans with stones of a set, through one lens.

    The stones' colours are taken as the set names them, moved together to each picture's light: a few stones of one
    colour between many of another do not teach what they look like.
    """

    def __init__(self, stones: PieceSet, camera: CameraModel | None = None) -> None:
        self.stones, self.camera = stones, camera
        self.storey, self.alike = storey_of(stones), same_hue(stones)

    def look(self, pictures: Sequence[np.ndarray]) -> Sighting:
        """What stands in the cities of these pictures (h, w, 3) uint8 BGR, each from another place or the same."""
        named = nominal(self.stones)
        first, notes = self._gathered(pictures, named)
        flat = np.zeros((0, 3), np.float32)
        for _ in range(p.TINTED_READINGS):
            paper = tints(flat)
            rough = [self._filled(looks, paper, named) for looks in first.values()]
            palette = seen_palette(named, rough)
            looks, notes = self._gathered(pictures, palette)
            readings = {city: self._filled(seen, paper, palette).settled() for city, seen in looks.items()}
            more = tinted_paper(readings.values())
            flat = np.concatenate([flat, more])
            if not len(more):
                break
        told = paints(self.stones, readings)
        cities = {city: self._city(city, one, told[city], looks[city]) for city, one in readings.items()}
        return Sighting(cities, notes)

    def _filled(self, looks: Sequence[CityPicture], paper: Palette | None, palette: Palette) -> CityReading:
        """A city read by stones' colours as in ``palette``, before tinted ``paper`` where there is any."""
        return CityReading([before(look, paper, palette) for look in looks], self.storey).filled()

    def _gathered(
        self, pictures: Sequence[np.ndarray], palette: Palette
    ) -> tuple[dict[int, list[CityPicture]], tuple[str, ...]]:
        """The looks at each plan in the pictures, by city; and what is to be said of the pictures."""
        looks: dict[str, list[CityPicture]] = {}
        notes: list[str] = []
        for number, picture in enumerate(pictures, 1):
            _, said, seen = Observer(self.stones, self.camera, palette).gather(picture)
            notes += [f"picture {number}: {note}" for note in said]
            for zone, (view, evidence) in seen.items():
                looks.setdefault(zone, []).append(CityPicture(view, evidence))
        return {k: looks[zone] for k, zone in enumerate(ZONES[:CITIES], 1) if zone in looks}, tuple(notes)

    def _city(
        self, city: int, reading: CityReading, told: Mapping[tuple[int, int], Paint], looks: Sequence[CityPicture]
    ) -> CitySight:
        """``looks`` are those of the reading, without tinted paper."""
        odd = strange(reading, looks)
        sites = {site: self._site(reading, site, odd, told) for site in SITES}
        return CitySight(city, sites, reading, tuple(self.stones.colors), told)

    def _site(
        self, reading: CityReading, site: int, strangers: list[np.ndarray], paint: Mapping[tuple[int, int], Paint]
    ) -> SiteSight:
        names, tower = tuple(self.stones.colors), reading.towers[site]
        n = len(tower.colors)
        trials = reading.trials(site, tower.place, range(1, MOST_STOREYS + 1))
        scores = np.array([0.0, *(trial.score for trial in trials)])
        margin = float(scores[n] - np.delete(scores, n).max())
        reasons = [] if _from_two_sides(reading.looks) else [because("city_one_side")]
        if not all(_in_picture(look, reading, site, n) for look in reading.looks):
            reasons.append(because("city_cut"))
        pairs = zip(reading.looks, strangers, strict=True)
        face_px = _face_px(reading)
        odd_things = any(_odd_px(look, reading, site, n, odd) > p.STRANGE_SHARE * face_px for look, odd in pairs)
        free = _bare([paint.get((site, k)) for k in range(n)], face_px)
        if odd_things or (n and not free and _contradicted(reading, site)):
            reasons.append(because("city_strange"))
        told, colors = np.inf, tower.colors
        if free:
            told, colors = paint[site, n - 1].bare, ()
        elif n:
            trial = trials[n - 1]
            each = [_painted(trial, k, paint.get((site, k)), self.alike) for k in range(n)]
            colors, told = tuple(color for color, _, _ in each), min(apart for _, apart, _ in each)
            beside = _sought_beside(tower, each[0][1], paint.get((site, 0)))
            doubted = np.array([k for k, (_, _, sure) in enumerate(each) if not sure or (k == 0 and beside)], int)
            if trial.seen[-1] < p.TOP_SHARE * face_px:
                reasons.append(because("city_site_hidden"))
            elif len(doubted) or margin < p.HEIGHT_NATS or not _stacked(tower, trial.seen):
                reasons.append(self._doubt(reading, site, tower, trial.seen, doubted))
        elif margin < p.HEIGHT_NATS:
            reasons.append(because("city_site_hidden"))
        return SiteSight(tuple(names[k] for k in colors), tuple(reasons), margin, told)

    def _doubt(self, reading: CityReading, site: int, tower: Tower, seen: np.ndarray, doubted: np.ndarray) -> Reason:
        hidden = [int(k) + 1 for k in doubted if seen[k] < p.SEEN_PX]
        if hidden:
            return because("city_hidden", storeys=[str(k) for k in hidden])
        if _blank_share(reading, site, tower) > p.GLARE_SHARE:
            return because("city_glare")
        return because("city_doubtful", n=len(tower.colors))


def _painted(trial: Trial, storey: int, paint: Paint | None, alike: np.ndarray) -> tuple[int, float, bool]:
    """A storey's colour, by how many nats it is ahead of the next, and whether that is enough.

    By its sides under their light; where these agree with its pixels, each for itself, they need be less sure. Of what
    shows too little of its sides the pixels tell alone. But which of the paints ``alike`` (k, k) in hue it has, only
    the light tells, by all of its sides that is seen, rims and all.
    """
    nats = trial.told[storey]
    color, best = int(nats.argmax()), np.sort(nats)
    apart = float(best[-1] - best[-2]) if len(best) > 1 else float(best[-1])
    if paint is None or paint.pixels < p.PAINT_PX:
        lit = not alike[color].any() or (
            paint is not None and paint.loose[color] - paint.loose[alike[color]].max() >= p.PAINT_AGREED_NATS
        )
        return color, apart, bool(apart >= max(p.COLOR_NATS, p.COLOR_A_PX * trial.seen[storey]) and lit)
    ahead = max(paint.ahead, paint.loosely_ahead) if paint.color == color else paint.ahead
    agreed = paint.color == color or (alike[color, paint.color] and paint.loosely_ahead >= p.PAINT_AGREED_NATS)
    least = p.PAINT_AGREED_NATS if agreed else p.PAINT_NATS
    return paint.color, ahead, ahead >= least and paint.bare < p.BARE_NATS


def _bare(storeys: Sequence[Paint | None], face_px: float) -> bool:
    """Whether all that was read as a site's storeys is paper, and much of the highest one's top is seen."""
    seen = [one for one in storeys if one is not None and one.pixels >= p.PAINT_PX]
    whole = bool(seen) and storeys[-1] is seen[-1] and seen[-1].pixels >= p.TOP_SHARE * face_px
    return whole and min(one.bare for one in seen) >= p.BARE_SURE_NATS


def _sought_beside(tower: Tower, ahead: float, paint: Paint | None) -> bool:
    """Whether the lowest storey, whose paint is so many nats ``ahead``, may have been read off paper beside it."""
    slips = tower.place.slips[: len(tower.colors) - 1]
    if not slips or math.hypot(*slips[0]) < p.FIRST_SLIP_MM:
        return False
    return paint is None or paint.pixels < p.PAINT_PX or ahead < p.FIRST_SLIP_NATS


def _stacked(tower: Tower, seen: np.ndarray) -> bool:
    """Whether the tower stands on its site and each storey on the one below, as people stack stones; of the storeys
    ``seen`` (n,) pixels."""
    n = len(tower.colors)
    slips = [math.hypot(x, y) for x, y in tower.place.slips[: n - 1]]
    middle = math.hypot(*np.average(tower.place.storeys(n), axis=0, weights=np.maximum(seen, 1)))
    on_site = math.hypot(tower.place.x, tower.place.y) <= p.EDGE_MM or middle <= p.MIDDLE_MM
    return on_site and max(slips, default=0.0) <= p.SLIP_MM


def _from_two_sides(looks: Sequence[CityPicture]) -> bool:
    """Whether two of the pictures look at the city from directions far enough apart."""
    rays = [look.view.pose.camera_at / np.linalg.norm(look.view.pose.camera_at) for look in looks]
    least = math.cos(math.radians(p.SIDES_DEG))
    return any(float(a @ b) < least for a, b in combinations(rays, 2))


def _face_px(reading: CityReading) -> float:
    """A stone's top face in pixels of the sheet's scale."""
    return reading.storey.side * reading.storey.deep * reading.looks[0].view.px_per_mm ** 2


def _contradicted(reading: CityReading, site: int) -> bool:
    """Whether a picture that should show much of the tower shows something else there."""
    tower, n = reading.towers[site], len(reading.towers[site].colors)
    face_px = _face_px(reading)
    for look in reading.looks:
        alone = CityReading([look], reading.storey, reading.towers)
        trial = alone.trials(site, tower.place, range(n, n + 1))[0]
        told = float(trial.told[np.arange(n), list(tower.colors)].sum())
        if trial.seen.sum() >= p.LOOK_SHARE * face_px and told < p.LOOK_NATS * trial.seen.sum():
            return True
    return False


def _in_picture(look: CityPicture, reading: CityReading, site: int, n: int) -> bool:
    """Whether the picture has all of the tower and of a storey above it."""
    box, mask = silhouette(look, reading, site, n + 1)
    return bool(look.view.valid[box][mask].all()) and bool(mask.any())


def _odd_px(look: CityPicture, reading: CityReading, site: int, n: int, odd: np.ndarray) -> int:
    """How many strange pixels lie where the tower or what could be on top of it would be seen."""
    box, mask = silhouette(look, reading, site, n + SPARE_STOREYS)
    grown = cv2.dilate(mask.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    return int((odd[box] & grown).sum())


def _blank_share(reading: CityReading, site: int, tower: Tower) -> float:
    """The share of the tower's pixels that say nothing, in the picture where it is largest."""
    shares = [0.0]
    for look in reading.looks:
        box, mask = silhouette(look, reading, site, len(tower.colors))
        if mask.any():
            shares.append(float((look.gains[(slice(None), *box)][:, mask] == 0).all(0).mean()))
    return max(shares)
