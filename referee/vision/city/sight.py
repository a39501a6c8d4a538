"""From pictures of city plans to what stands on each site, and how far that is known.

``CityEye`` takes each picture by the duel's own path (``Observer.gather``): markers, poses, views, colours, evidence.
Pictures of one city, from wherever they were taken, are read together. What cannot be known is said with its reason:
a storey that is hidden, a lamp's mirror image, something that is no stone, two readings that fit alike.

The numbers of this folder are tuned on tables 100 to 103, 200 to 208, 309, 315, 317 and 341 of
``tests/witness/make_cities.py``; what they do on other rooms is what ``tests/games/bench_cities.py`` prints.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import cv2
import numpy as np

from calibration import ZONES
from calibration.camera import CameraModel
from calibration.game_sheets import CITIES
from calibration.palette import Palette, nominal_palette
from cards.law import Reason, because
from cards.pieces import PieceSet
from referee.vision.city.colors import learnt_palette
from referee.vision.city.drawn import CityPicture, storey_of
from referee.vision.city.heights import SURE_NATS, OpenHeights
from referee.vision.city.paints import Paint, storey_paints
from referee.vision.city.reading import FLOORS, SITES, CityReading, Tower
from referee.vision.city.stacking import Stacking
from referee.vision.city.tinted import tint_distributions, tinted_paper, with_tinted_paper
from referee.vision.city.unexplained import silhouette, unexplained_masks
from referee.vision.observer import Observer

ALLOWED_NATS = 250.0
"""Up to here behind the best reading, a tower that is on record may be what the pictures show: a storey too many or too
few in full view is 400 behind and more."""
SEEN_PX = 25.0
"""A storey of which fewer pixels are seen, in all pictures together, is hidden."""
TOP_SHARE = 0.8
"""So much of a stone's top face, in mm² of the sheet's scale, the topmost storey must show in all pictures together:
what shows less is a sliver between other towers, and may be their glow."""
EDGE_MM, MIDDLE_MM = 6.0, 4.0
"""A tower whose lowest storey is that far off its site's middle is no tower of it, or not where it was sought; but
where all that is seen of it is on average no further off than the second, its lowest one is what was not found:
hidden, or slipped. Of 911 towers of tables 200 to 202 and 420 to 519 that were right three began further off than 6,
and those lay up to 2.7 off on average; of 26 readings of paper, or of another height, that did and slipped no further
than a tower's storeys do, the nearest lay 4.8 off."""
SLIP_MM = 5.0
"""A storey that seems to lie so far off the one below is none: glow on paper, sought where it is. Of the towers of
tables 420 to 459 no storey was read more than 4.5 off, and none lay more than 1.7."""
GLARE_SHARE = 0.3
"""Of a tower's visible pixels without any evidence: a lamp's mirror image hides it."""
STRANGE_SHARE = 0.2
"""So much of a stone's top face, in mm² of the sheet's scale, about a tower in one picture that is no stone of the
reading and no table: something else is there. Paper between towers glows in their colours up to 0.14 of it."""
TINTED_READINGS = 3
"""So often a table is read at most, each time with the paper that the one before took for stones."""
SIDES_DEG = 35.0
"""Two pictures must be taken from directions so far apart: what one side alone shows can be other towers as well."""
LOOK_SHARE, LOOK_NATS = 0.5, 0.5
"""A picture that shows so much of a tower, of a stone's top face, must speak for it by so much a pixel: else something
is before it. A strip in the shade between towers alone, up to 0.36, has their glow."""
COLOR_SURE, COLOR_LEAST_NATS = 0.8, 0.5
"""So probable a storey's colour must be, and by so much ahead of every other by what is seen of it alone. Of 423 towers
in their true height of 39 tables from 800 to 859, each read from two choices of three pictures, 404 are told right so
and 3 wrong; by medians of sides without gloss, and by pixels, they were 389 and 10."""
COLOR_ALLOWED_NATS = 8.0
"""Up to here behind the likeliest a colour that is on record may be what the pictures show."""
FEW_PX = 30
"""From fewer pixels well inside of its sides it is not told whether a storey is none, but paper."""
BARE_NATS, BARE_SURE_NATS = 2.0, 5.0
"""Paper so far ahead of all paints is no storey to be sure of; and so far, over the whole top of all that was read on a
site, is a free site. Of 3464 storeys of tables 200 to 202, 420 to 459 and 465 the barest was 0.1; paper that was read
as one was 3 to 22, but for two storeys in the glow of towers (1.3 and 3.0 the other way), which lie too far off each
other for a stack."""
SPARE_STOREYS = 2
"""So many storeys above a tower are looked at for what should not be there."""


@dataclass(frozen=True)
class SiteSight:
    """What stands on a site: ``colors`` of its storeys from below as far as they were made out; ``reasons`` why that
    is not known, none where it is. ``margin`` nats to one storey more or fewer, ``color_margin`` nats for the
    least sure colour against all others; ``color_nats`` (n, k) what is seen of each storey says of each colour."""

    colors: tuple[str, ...]
    reasons: tuple[Reason, ...] = ()
    margin: float = 0.0
    color_margin: float = 0.0
    color_nats: np.ndarray | None = field(default=None, compare=False, repr=False)

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
    """One city: its ``sites`` (1 to 9), the reading with the pictures that it rests on, for an overlay, and the stones'
    colours by index."""

    city: int
    sites: Mapping[int, SiteSight]
    reading: CityReading
    names: tuple[str, ...]

    def allows(self, site: int, colors: Sequence[int]) -> bool:
        """Whether the pictures may show storeys of these colours (by index, from below) on the site."""
        if not colors and not self.sites[site].colors and self.sites[site].sure:
            return True
        nats = self.sites[site].color_nats
        if nats is not None and len(nats) == len(colors):
            return bool((nats[range(len(colors)), list(colors)] > -COLOR_ALLOWED_NATS).all())
        return self.reading.behind_best(site, colors) < ALLOWED_NATS


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
        self.storey, self.stacking = storey_of(stones), Stacking.of(stones)

    def look(self, pictures: Sequence[np.ndarray]) -> Sighting:
        """What stands in the cities of these pictures (h, w, 3) uint8 BGR, each from another place or the same."""
        named = nominal_palette(self.stones)
        first, notes = self._gathered(pictures, named)
        flat = np.zeros((0, 3), np.float32)
        for _ in range(TINTED_READINGS):
            paper = tint_distributions(flat)
            rough = [self._filled(looks, paper, named) for looks in first.values()]
            palette = learnt_palette(named, rough)
            looks, notes = self._gathered(pictures, palette)
            readings = {city: self._filled(of_city, paper, palette).settled() for city, of_city in looks.items()}
            more = tinted_paper(readings.values())
            flat = np.concatenate([flat, more])
            if not len(more):
                break
        margins = {city: OpenHeights(one).told() for city, one in readings.items()}
        painted = storey_paints(self.stones, readings)
        cities = {
            city: self._city(city, one, painted[city], looks[city], margins[city]) for city, one in readings.items()
        }
        return Sighting(cities, notes)

    def _filled(self, looks: Sequence[CityPicture], paper: Palette | None, palette: Palette) -> CityReading:
        """A city read by stones' colours as in ``palette``, before tinted ``paper`` where there is any."""
        return CityReading([with_tinted_paper(look, paper, palette) for look in looks], self.storey).filled()

    def _gathered(
        self, pictures: Sequence[np.ndarray], palette: Palette
    ) -> tuple[dict[int, list[CityPicture]], tuple[str, ...]]:
        """The looks at each plan in the pictures, by city; and what is to be said of the pictures."""
        looks: dict[str, list[CityPicture]] = {}
        notes: list[str] = []
        for number, picture in enumerate(pictures, 1):
            _, remarks, zones = Observer(self.stones, self.camera, palette).gather(picture)
            notes += [f"picture {number}: {note}" for note in remarks]
            for zone, (view, evidence) in zones.items():
                looks.setdefault(zone, []).append(CityPicture(view, evidence))
        return {k: looks[zone] for k, zone in enumerate(ZONES[:CITIES], 1) if zone in looks}, tuple(notes)

    def _city(
        self,
        city: int,
        reading: CityReading,
        paint: Mapping[tuple[int, int], Paint],
        looks: Sequence[CityPicture],
        margins: Mapping[int, float],
    ) -> CitySight:
        """``looks`` are those of the reading, without tinted paper; ``margins`` of the sites' heights (``heights``)."""
        odd = unexplained_masks(reading, looks)
        sites = {site: self._site(reading, site, odd, paint, margins[site]) for site in SITES}
        return CitySight(city, sites, reading, tuple(self.stones.colors))

    def _site(
        self,
        reading: CityReading,
        site: int,
        strangers: list[np.ndarray],
        paint: Mapping[tuple[int, int], Paint],
        margin: float,
    ) -> SiteSight:
        names, tower = tuple(self.stones.colors), reading.towers[site]
        n = len(tower.colors)
        reasons = [] if _from_two_sides(reading.looks) else [because("city_one_side")]
        if not all(_in_picture(look, reading, site, n) for look in reading.looks):
            reasons.append(because("city_cut"))
        pairs = zip(reading.looks, strangers, strict=True)
        face_px = _face_px(reading)
        odd_things = any(_odd_px(look, reading, site, n, odd) > STRANGE_SHARE * face_px for look, odd in pairs)
        painted = [paint.get((site, k)) for k in range(n)]
        free = _bare(painted, face_px)
        if odd_things or (n and not free and _contradicted(reading, site)):
            reasons.append(because("city_strange"))
        color_margin, colors, nats = np.inf, tower.colors, None
        if free:
            color_margin, colors = paint[site, n - 1].bare, ()
        elif n:
            visible_px = reading.trials(site, tower.place, range(n, n + 1))[0].visible_px
            nats = self.stacking.storey_nats(painted)
            shares = self.stacking.shares(nats)
            colors, doubted = tuple(shares.argmax(1).tolist()), _doubted(nats, shares, painted)
            color_margin = float(np.log(shares.max(1) / np.maximum(1 - shares.max(1), 1e-9)).min())
            if visible_px[-1] < TOP_SHARE * face_px:
                reasons.append(because("city_site_hidden"))
            elif len(doubted) or margin < SURE_NATS or not _stacked(tower, visible_px):
                reasons.append(self._doubt(reading, site, tower, visible_px, doubted))
        elif margin < SURE_NATS:
            reasons.append(because("city_site_hidden"))
        return SiteSight(tuple(names[k] for k in colors), tuple(reasons), margin, color_margin, nats)

    def _doubt(
        self, reading: CityReading, site: int, tower: Tower, visible_px: np.ndarray, doubted: np.ndarray
    ) -> Reason:
        hidden = [int(k) + 1 for k in doubted if visible_px[k] < SEEN_PX]
        if hidden:
            return because("city_hidden", storeys=[str(k) for k in hidden])
        if _blank_share(reading, site) > GLARE_SHARE:
            return because("city_glare")
        return because("city_doubtful", n=len(tower.colors))


def _doubted(nats: np.ndarray, shares: np.ndarray, paints: Sequence[Paint | None]) -> np.ndarray:
    """The storeys whose colour is not sure by what is seen and how stones are stacked, or by what is seen alone; and
    those that may be paper."""
    likeliest = shares.argmax(1)[:, None] == np.arange(shares.shape[1])
    ahead = nats[likeliest] - np.where(likeliest, -np.inf, nats).max(1)
    paper = [one is not None and one.pixels >= FEW_PX and one.bare >= BARE_NATS for one in paints]
    return np.flatnonzero((shares.max(1) < COLOR_SURE) | (ahead < COLOR_LEAST_NATS) | paper)


def _bare(storeys: Sequence[Paint | None], face_px: float) -> bool:
    """Whether all that was read as a site's storeys is paper, and much of the highest one's top is seen."""
    shown = [one for one in storeys if one is not None and one.pixels >= FEW_PX]
    whole = bool(shown) and storeys[-1] is shown[-1] and shown[-1].pixels >= TOP_SHARE * face_px
    return whole and min(one.bare for one in shown) >= BARE_SURE_NATS


def _stacked(tower: Tower, visible_px: np.ndarray) -> bool:
    """Whether the tower stands on its site and each storey on the one below, as people stack stones; of the storeys
    ``visible_px`` (n,) pixels."""
    n = len(tower.colors)
    slips = [math.hypot(x, y) for x, y in tower.place.slips[: n - 1]]
    middle = math.hypot(*np.average(tower.place.storeys(n), axis=0, weights=np.maximum(visible_px, 1)))
    on_site = math.hypot(tower.place.x, tower.place.y) <= EDGE_MM or middle <= MIDDLE_MM
    return on_site and max(slips, default=0.0) <= SLIP_MM


def _from_two_sides(looks: Sequence[CityPicture]) -> bool:
    """Whether two of the pictures look at the city from directions far enough apart."""
    rays = [look.view.pose.camera_at / np.linalg.norm(look.view.pose.camera_at) for look in looks]
    least = math.cos(math.radians(SIDES_DEG))
    return any(float(a @ b) < least for a, b in combinations(rays, 2))


def _face_px(reading: CityReading) -> float:
    """A stone's top face in pixels of the sheet's scale."""
    return reading.storey.side * reading.storey.deep * reading.looks[0].view.px_per_mm ** 2


def _contradicted(reading: CityReading, site: int) -> bool:
    """Whether a picture that should show much of the tower shows something else there."""
    pairs = zip(reading.shown().storeys, reading.gained(), strict=True)
    mine = [gained[shown // FLOORS == site] for shown, gained in pairs]
    return any(len(nats) >= LOOK_SHARE * _face_px(reading) and nats.mean() < LOOK_NATS for nats in mine)


def _in_picture(look: CityPicture, reading: CityReading, site: int, n: int) -> bool:
    """Whether the picture has all of the tower and of a storey above it."""
    box, mask = silhouette(look, reading, site, n + 1)
    return bool(look.view.valid[box][mask].all()) and bool(mask.any())


def _odd_px(look: CityPicture, reading: CityReading, site: int, n: int, odd: np.ndarray) -> int:
    """How many strange pixels lie where the tower or what could be on top of it would be seen."""
    box, mask = silhouette(look, reading, site, n + SPARE_STOREYS)
    grown = cv2.dilate(mask.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    return int((odd[box] & grown).sum())


def _blank_share(reading: CityReading, site: int) -> float:
    """The share of the tower's pixels that say nothing, in the picture where it is largest."""
    pairs = zip(reading.looks, reading.shown().storeys, strict=True)
    blank = [(look.evidence.gains[:, shown // FLOORS == site] == 0).all(0) for look, shown in pairs]
    return max((float(one.mean()) for one in blank if len(one)), default=0.0)
