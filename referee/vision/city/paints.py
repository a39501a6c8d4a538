"""Which paint each storey has, by the light that each side of the towers gets.

A dark side of an orange stone is as brown as a lit brown one: a pixel alone does not tell. All stones' sides that look
the same way get much the same light in one picture, and one storey has one paint on all its sides. So what is seen is
explained at once, over both cities: feature = paint + light of that side in that picture + what the other towers take
of it (``sky``) + what it mirrors of the room + what is left, and expectation maximisation finds paints,
lights, gloss, and each storey's paint. What is left has heavy tails: shadows of single lamps, a lamp's mirror image.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibration.palette import LINEAR, PAINT_LIGHT
from cards.pieces import PieceSet, Pose
from referee.vision.city.drawn import MOST_STOREYS, CityPicture
from referee.vision.city.mixed import about_towers, clear_of, luma, relative_light, side_tags, unmixed
from referee.vision.city.reading import FLOORS, CityReading
from referee.vision.city.sky import side_lights
from referee.vision.render.solids import FACES, solid

Key = tuple[int, int, int]
"""City, site, and storey from 0."""

DARK_NOISE_LIGHT = 0.006
"""Added to the relative light before the logarithm: the noise of an 8-bit picture's dark, averaged over a side."""
LEAST_PX = 2
"""What fewer pixels tell of a side says nothing."""
SIDE_PX = 20.0
"""A side of so many pixels errs twice as much, in squares, as one of many: its neighbours bleed into it."""
LEFT_SD, LEFT_FREEDOM = np.array((0.2, 0.12, 0.14)), 4.0
"""What is left, (l, a, b), and the degrees of freedom of its Student's t: on sides of many pixels of tables 800 to 859,
of known paint, 0.16 of l, 0.09 of a and 0.14 of b; without gloss 0.15, 0.15 and 0.24."""
GLOSSES = np.concatenate([[0.0], np.geomspace(0.002, 0.12, 14)])
USUAL_GLOSS, GLOSS_SD = 0.01, 1.0
"""How much of the paper's light faces of one light mirror of the room, whatever their paint: usually, and the
deviation of its logarithm. A dark side of a strong paint has its colour washed out by it."""
STRAY_LIGHT = 0.004
"""Of the paper's light, by how much each of R, G, B errs whatever the light: haze, and colour of the pixels beside,
which a JPEG mixes in. A dark side's colour, and how strong a deep red is, are told the less."""
PAPER = np.zeros(3)
"""Paper's (l, a, b): all light is told by it."""
SKY_SHARE = 0.8
"""So much of the logarithm of what the other towers take is taken off: a part of the light comes from single lamps,
which they cover whole or not at all. What is left of l was least (0.19) from 0.8 to 1.0; without it is 0.28."""
PAINT_SD = np.array((0.3, 0.25, 0.3))
"""How far a paint is from the colour that the set names."""
PAINT_SHARE = 0.25
"""Sides of one paint err together: so much each counts to tell how it looks."""
TOP_LIGHT, TOP_SD = np.zeros(3), np.array((0.25, 0.12, 0.15))
SIDE_LIGHT, SIDE_SD = np.array((-0.4, 0.0, 0.0)), np.array((0.7, 0.2, 0.3))
"""The light of top faces, which lie as the paper does, and of upright ones, and how far it usually is from that."""
FACE_MOST = 1.5
"""All pictures of one face count as so many at most: they show the same shadow."""
LEAST_SHARE = 0.01
"""A side gets at least so much of the light that it would get alone."""
ROW = 9
"""City, picture, site, storey, face, pixels, and three of light: what is kept of a side."""
ROUNDS, STEPS = 12, 3
WORST_NATS = 30.0


@dataclass(frozen=True, eq=False)
class Sides:
    """What is seen of the storeys' sides. By row: ``storey`` (n,) into ``keys``, ``side`` (n,) a number of its own for
    each face of each storey, ``light`` (n,) one for all faces of a city that look the same way in one picture,
    ``top`` (n,) bool, ``pixels`` (n,), ``features`` (n, 3) as (l, a, b) of their medians, and ``sky`` (n, 3) what the
    other towers take of those, as far as they tell it."""

    keys: tuple[Key, ...]
    storey: np.ndarray
    side: np.ndarray
    light: np.ndarray
    top: np.ndarray
    pixels: np.ndarray
    features: np.ndarray
    sky: np.ndarray


def log_light(relative: np.ndarray) -> np.ndarray:
    """(…, 3) features (l, a, b) of linear R, G, B relative to the paper's."""
    return _features(np.log(np.maximum(relative, 0.0) + DARK_NOISE_LIGHT))


def _features(logs: np.ndarray) -> np.ndarray:
    """(…, 3) features (l, a, b) of the logarithms of R, G, B."""
    r, g, b = np.moveaxis(logs, -1, 0)
    return np.stack([(r + g + b) / 3, r - g, b - (r + g) / 2], -1)


def _logs(features: np.ndarray) -> np.ndarray:
    """(…, 3) logarithms of R, G, B of features (l, a, b)."""
    light, a, b = np.moveaxis(features, -1, 0)
    mean = light - b / 3  # of log R and log G
    return np.stack([mean + a / 2, mean - a / 2, mean + b], -1)


def _stray(features: np.ndarray) -> np.ndarray:
    """(n, 3) the variances of (l, a, b) by stray light, on sides of these ``features`` (n, 3)."""
    r, g, b = np.square(STRAY_LIGHT / np.exp(_logs(features))).T
    return np.stack([(r + g + b) / 3**2, r + g, b + (r + g) / 4], 1)


def sides_of(cities: Mapping[int, CityReading], shares: Mapping[tuple[int, ...], float]) -> Sides:
    """The sides of every storey of these cities that their pictures show; ``shares`` as ``sky.side_lights`` tells
    them."""
    rows = [
        (city, k, *face)
        for city, reading in cities.items()
        for k, look in enumerate(reading.looks)
        for face in _faces_in(look, reading)
    ]
    table = np.array(rows, float).reshape(len(rows), ROW)
    city, look, site, storey, face = table[:, :5].astype(int).T
    keys, of_storey = np.unique(np.stack([city, site, storey], 1), axis=0, return_inverse=True)
    _, of_side = np.unique(np.stack([city, site, storey, face], 1), axis=0, return_inverse=True)
    _, of_light = np.unique(np.stack([city, look, face], 1), axis=0, return_inverse=True)
    top = np.zeros(len(table), bool)
    if cities:
        body = solid(next(iter(cities.values())).storey.shape, Pose())
        top = body.normals[face, 2] > 0.5
    named = tuple((int(a), int(b), int(c)) for a, b, c in keys)
    flat = (of_storey.ravel(), of_side.ravel(), of_light.ravel())
    share = np.array([shares[a, b, c, d] for a, b, c, d in table[:, [0, 2, 3, 4]].astype(int).tolist()])
    sky = SKY_SHARE * np.log(np.maximum(share, LEAST_SHARE))[:, None] * (1.0, 0.0, 0.0)
    return Sides(named, *flat, top, table[:, 5], log_light(table[:, 6:]), sky)


def _faces_in(look: CityPicture, reading: CityReading) -> list[tuple[float, ...]]:
    """(site, storey, face, pixels, r, g, b) of each face in one picture, as ``mixed`` tells them.

    Of top faces the highest alone: where a storey below seems to stick out, that is a slit of one or two millimetres
    in the shade, if it is there at all."""
    normals, tags = solid(reading.storey.shape, Pose()).normals, side_tags(look, reading)
    if not (tags >= 0).any():
        return []
    box = about_towers(tags)
    valid = look.view.valid[box]
    sides, colors, pixels, _ = unmixed(luma(look.view.image[box]), tags[box], clear_of(tags[box], valid), valid)
    out: list[tuple[float, ...]] = []
    for tag, px, light in zip(sides.tolist(), pixels, relative_light(colors, look.evidence.white), strict=True):
        storey, face = divmod(tag, FACES)
        site, n = divmod(storey, MOST_STOREYS)
        if px >= LEAST_PX and (normals[face, 2] < 0.5 or n == len(reading.towers[site].colors) - 1):
            out.append((site, n, face, px, *light))
    return out


@dataclass(frozen=True, eq=False)
class Paint:
    """What a storey's sides tell of its paint: ``nats`` (k,) for each of the set's colours, from so many ``pixels``
    well inside of them; and ``paper``, for that it is no stone but the plan's paper, in the shade and glow of the
    towers about it."""

    nats: np.ndarray
    pixels: int
    paper: float = -np.inf

    @property
    def bare(self) -> float:
        """By how many nats paper is ahead of all paints."""
        return float(self.paper - self.nats.max())


def storey_paints(stones: PieceSet, cities: Mapping[int, CityReading]) -> dict[int, dict[tuple[int, int], Paint]]:
    """By city, by (site, storey from 0): what the storey's sides tell. Storeys of which no side is seen are left out.

    The readings' own colours are where it starts from.
    """
    albedo = LINEAR[np.array([stones.rgb(c) for c in stones.colors])] * PAINT_LIGHT
    sides, out = sides_of(cities, side_lights(cities)), {city: dict[tuple[int, int], Paint]() for city in cities}
    if sides.keys:
        fit = _Fit(sides, log_light(albedo))
        each_px = {city: reading.shown().color_nats for city, reading in cities.items()}
        first = _shares(np.array([each_px[city][site * FLOORS + storey] for city, site, storey in sides.keys]))
        pixels = np.bincount(sides.storey, sides.pixels)
        for key, nats, px in zip(sides.keys, fit.color_nats(first), pixels, strict=True):
            out[key[0]][key[1:]] = Paint(nats[:-1], int(px), float(nats[-1]))
    return out


def _shares(nats: np.ndarray) -> np.ndarray:
    """(s, k) probabilities from nats."""
    out = np.exp(np.maximum(nats - nats.max(1, keepdims=True), -WORST_NATS))
    return np.asarray(out / out.sum(1, keepdims=True))


class _Fit:
    """Paints (k, 3), lights (g, 3) and their gloss that explain the sides, by expectation maximisation."""

    def __init__(self, sides: Sides, named: np.ndarray) -> None:
        self.sides, self.named, self.paint = sides, named, named.copy()
        self.matt = np.repeat((sides.features - sides.sky)[:, None], len(named), 1)
        """(n, k, 3) features of each side without gloss and what the other towers take, were it of each paint."""
        self.per_light = np.eye(sides.light.max() + 1)[sides.light]
        top = (self.per_light.T @ sides.top > 0)[:, None]
        self.usual = np.where(top, TOP_LIGHT, SIDE_LIGHT)
        self.held = 1 / np.square(np.where(top, TOP_SD, SIDE_SD))
        self.light = self.usual.copy()
        self.sd = np.sqrt((np.square(LEFT_SD) + _stray(sides.features)) * (1 + SIDE_PX / sides.pixels)[:, None])

    def color_nats(self, shares: np.ndarray) -> np.ndarray:
        """(s, k + 1) nats of each storey for each colour, and for paper; ``shares`` (s, k) is the first guess."""
        for _ in range(ROUNDS):
            for _ in range(STEPS):
                self._step(shares)
            self._reflect(shares)
            nats = self._storeys(shares)
            shares = _shares(nats[:, :-1])
        return nats

    def _weights(self, shares: np.ndarray) -> np.ndarray:
        """(n, k, 3) how much each side says of each paint and its light: little where it lies far off."""
        off = self.matt - self.light[self.sides.light][:, None] - self.paint
        far = np.square(off / self.sd[:, None]).sum(-1)
        usual = shares[self.sides.storey] * (LEFT_FREEDOM + 3) / (LEFT_FREEDOM + far)
        return np.asarray(usual[..., None] / np.square(self.sd)[:, None])

    def _pulls(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) twice: where each side pulls its light to, times how much it counts; and how much it counts."""
        weights = self._weights(shares)
        return (weights * (self.matt - self.paint)).sum(1), weights.sum(1)

    def _step(self, shares: np.ndarray) -> None:
        """Lights, then paints, each the best while the others stand."""
        pull, count = self._pulls(shares)
        self.light = (self.held * self.usual + self.per_light.T @ pull) / (self.held + self.per_light.T @ count)
        weights, held = self._weights(shares), 1 / np.square(PAINT_SD)
        pull = (weights * (self.matt - self.light[self.sides.light][:, None])).sum(0)
        self.paint = (held * self.named + PAINT_SHARE * pull) / (held + PAINT_SHARE * weights.sum(0))

    def _reflect(self, shares: np.ndarray) -> None:
        """The gloss of each light that explains its sides best, and the sides without it."""
        matt = (self.light[self.sides.light] + self.sides.sky)[:, None] + self.paint
        linear = np.exp(_logs(matt)) - DARK_NOISE_LIGHT
        added = np.array([log_light(linear + gloss) - matt for gloss in GLOSSES])
        far = np.square((self.sides.features[:, None] - matt - added) / self.sd[:, None]).sum(-1)
        each = (shares[self.sides.storey] * _left_nats(far)).sum(-1) * _side_weight(self.sides)
        unusual = np.log((GLOSSES + 0.001) / USUAL_GLOSS) / GLOSS_SD  # none at all is possible
        best = (each @ self.per_light - 0.5 * np.square(unusual)[:, None]).argmax(0)
        without = (self.sides.features - self.sides.sky)[:, None]
        self.matt = without - added[best[self.sides.light], np.arange(len(matt))]

    def _without(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) twice: the light of each side as the others tell it, and its variance: else a side alone in its light
        would confirm whatever was guessed."""
        pull, count = self._pulls(shares)
        of = self.sides.light
        total = (self.held + self.per_light.T @ count)[of] - count
        return ((self.held * self.usual + self.per_light.T @ pull)[of] - pull) / total, 1 / total

    def _storeys(self, shares: np.ndarray) -> np.ndarray:
        """(s, k + 1) nats of each storey for each colour, and for paper, which mirrors nothing."""
        light, unsure = self._without(shares)
        paper = (self.sides.features - self.sides.sky)[:, None] - PAPER
        off = np.concatenate([self.matt - self.paint, paper], 1) - light[:, None]
        return _by_storey(self.sides, off, np.square(self.sd) + unsure)


def _left_nats(far: np.ndarray) -> np.ndarray:
    """What a side says whose squares of deviations left are ``far``: its tails are heavy."""
    return np.asarray(-0.5 * (LEFT_FREEDOM + 3) * np.log1p(far / LEFT_FREEDOM))


def _side_weight(sides: Sides) -> np.ndarray:
    """(n,) how much of what each side says counts."""
    return sides.pixels / (sides.pixels + SIDE_PX)


def _by_storey(sides: Sides, off: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """(s, k) nats by how far ``off`` (n, k, 3) each side is from each paint, of the variances ``spread`` (n, 3): of
    each side the mean of its pictures, of each storey the sum of its sides."""
    nats, weight = _left_nats((np.square(off) / spread[:, None]).sum(-1)), _side_weight(sides)
    faces = int(sides.side.max()) + 1
    sums, weights = np.zeros((faces, nats.shape[1])), np.zeros(faces)
    np.add.at(sums, sides.side, nats * weight[:, None])
    np.add.at(weights, sides.side, weight)
    of_face = sums * (np.minimum(weights, FACE_MOST) / weights)[:, None]
    storey = np.zeros(faces, int)
    storey[sides.side] = sides.storey
    out = np.zeros((len(sides.keys), nats.shape[1]))
    np.add.at(out, storey, of_face)
    return out
