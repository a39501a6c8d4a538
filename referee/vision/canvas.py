"""What the search draws on and what it holds: canvases of evidence, and readings of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import cv2
import numpy as np

from cards.build import Build, Piece
from referee.vision import paint, rest, search
from referee.vision.catalogue import RARE_COST, Arrays, Catalogue
from referee.vision.labels import Evidence
from referee.vision.view import ZoneView

PIECE_COST = 60.0
"""Nats a piece must explain before it is believed; a visible cube's face explains over 1000."""

QUICK, FINE, FINEST = ((3.0,), (4.0,), 2), ((2.0, 1.0), (3.0, 1.5), 3), ((0.7,), (1.0,), 5)
"""Hill climbs as (steps in mm, steps in degrees, rounds at each step)."""


@dataclass
class Canvas:
    """One resolution of one view, with scratch maps for the compiled search.

    ``rough``: round shapes are drawn with few facets.
    """

    cat: Catalogue
    camera: np.ndarray
    matrix: np.ndarray
    gains: np.ndarray
    rough: bool = False
    maps: paint.Maps = field(init=False)
    summed: paint.Gains = field(init=False)
    arrays: Arrays = field(init=False)

    def __post_init__(self) -> None:
        self.maps = paint.maps(*self.gains.shape[1:])
        self.summed = paint.gains(self.gains)
        self.arrays = self.cat.rough_arrays if self.rough else self.cat.arrays

    def seen(self, turn: float = 0.0) -> tuple[np.ndarray, np.ndarray, paint.Gains, paint.Maps]:
        """What the compiled loops draw with, for coordinates of a build turned by ``turn`` radians."""
        return self.turned(turn), self.matrix, self.summed, self.maps

    def draw(self, reading: Reading) -> float:
        """Draw a reading's build afresh into the maps; its evidence in nats."""
        pieces = np.ascontiguousarray(reading.pieces)
        return paint.score(self.arrays, pieces, len(pieces), *self.seen(reading.turn))

    def turned(self, turn: float) -> np.ndarray:
        """The camera (3, 4) for coordinates of a build turned by ``turn`` radians."""
        return search.turned_camera(self.camera, turn)


@dataclass(eq=False)
class Reading:
    """A build as the search holds it: rows (stance, x, y, z, yaw) in the frame turned by ``turn``.

    ``score`` nats over the empty field, loose pieces (rows in the mat's frame) included; ``own``
    without them.
    """

    turn: float
    pieces: np.ndarray
    score: float
    origin: str = "search"
    loose: np.ndarray = field(default_factory=lambda: np.zeros((0, 5)))
    own: float = 0.0

    @property
    def count(self) -> int:
        return len(self.pieces)

    @property
    def key(self) -> tuple:
        """Equal for readings of the same pieces in about the same places of the elevation."""
        return tuple(sorted((int(p[0]), round(p[1] / 8), round(p[3] / 8)) for p in self.pieces))


def canvas_of(view: ZoneView, evidence: Evidence, cat: Catalogue) -> Canvas:
    """The full-resolution canvas of a view."""
    return Canvas(cat, view.camera, view.matrix, evidence.gains)


def coarse(canvas: Canvas, factor: int = 2) -> Canvas:
    """The canvas at 1/factor resolution; evidence is summed, so that scores stay comparable."""
    h, w = canvas.gains.shape[1:]
    small = np.stack([cv2.resize(g, (w // factor, h // factor), interpolation=cv2.INTER_AREA)
                      for g in canvas.gains]) * factor * factor
    scale = np.diag([1 / factor, 1 / factor, 1.0])
    shift = np.array([[1, 0, (0.5 - factor / 2) / factor], [0, 1, (0.5 - factor / 2) / factor], [0, 0, 1.0]])
    return Canvas(canvas.cat, canvas.camera, shift @ scale @ canvas.matrix, np.ascontiguousarray(small), rough=True)


def coarse_labels(canvas: Canvas) -> np.ndarray:
    """(h, w) int8: the likeliest colour of each pixel, -1 where none beats the background."""
    return np.where(canvas.gains.max(0) > 2.0, canvas.gains.argmax(0), -1).astype(np.int8)


def prior_cost(cat: Catalogue, pieces: np.ndarray) -> float:
    """Nats against a reading before any pixel is seen: its pieces and its rare poses."""
    return PIECE_COST * len(pieces) + RARE_COST * float(cat.rare[pieces[:, 0].astype(int)].sum())


def fit(canvas: Canvas, reading: Reading, steps: tuple = QUICK, first: int = 0) -> Reading:
    """The reading with its places fitted at the canvas's resolution: the whole, and pieces from ``first`` on."""
    if not reading.count:
        return reading
    pieces = reading.pieces.copy()
    mm, rad = np.array(steps[0]), np.deg2rad(steps[1])
    got = search.refine(canvas.arrays, pieces, len(pieces), first, *canvas.seen(reading.turn), mm, rad, steps[2])
    return Reading(reading.turn, pieces, got - prior_cost(canvas.cat, pieces), reading.origin)


def rescored(canvas: Canvas, r: Reading) -> Reading:
    """The reading with its score on this canvas."""
    pieces = np.ascontiguousarray(r.pieces)
    got = canvas.draw(r) - rest.straightness(canvas.arrays, pieces, len(pieces))
    return Reading(r.turn, r.pieces, got - prior_cost(canvas.cat, pieces), r.origin)


def to_build(cat: Catalogue, reading: Reading) -> Build:
    """The reading in the rules' own words: pieces in the mat's frame."""
    c, s = math.cos(reading.turn), math.sin(reading.turn)
    pieces = []
    for stance, x, y, z, yaw in reading.pieces:
        shape, color = cat.types[cat.kind[int(stance)]]
        pieces.append(Piece(shape, color, cat.poses[int(stance)], float(c * x - s * y), float(s * x + c * y),
                            float(z), math.degrees(yaw + reading.turn)))
    return Build(cat.piece_set, tuple(pieces))


def explained_share(canvas: Canvas, reading: Reading) -> float:
    """How much of the evidence for pieces around the reading's build it accounts for, 0 to 1.

    Looked at are the pixels of its pieces and those next to them; for the empty field, those that
    the field's volume covers.
    """
    best = np.maximum(canvas.gains.max(0), 0.0)
    canvas.draw(reading)
    touched = (canvas.maps.near > 0).astype(np.uint8)
    around = cv2.dilate(touched, np.ones((15, 15), np.uint8)) > 0
    for row in reading.loose:
        paint.place(canvas.arrays, int(row[0]), *row[1:], *canvas.seen(), True)
    if not reading.count:
        around = np.ones_like(around)
    possible = float(best[around].sum())
    return float(np.clip(canvas.maps.gained[around].sum() / possible, 0.0, 1.0)) if possible > 500 else 1.0
