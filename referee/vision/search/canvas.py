"""What the search draws on and what it holds: canvases of evidence, and readings of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import cv2
import numpy as np

from calibration.mat import FIELD
from cards.build import Build, Piece
from referee.kernels import local_search, physics, rasterizer
from referee.kernels.scene import Gains, Maps, Scene, StanceTable
from referee.vision.image.evidence import Evidence, likeliest
from referee.vision.image.view import HEIGHT_MM, ZoneView
from referee.vision.measured import measured
from referee.vision.search.rules import PIECE_COST, PIXEL_NATS, QUICK_DEG, QUICK_MM
from referee.vision.search.stances import RARE_COST, Catalogue

COARSE = measured(
    3,
    "px of the view (mm) each way",
    "pieces are 15 mm and more: on the dev set the search judges as well as at half the resolution and costs "
    "half; what it finds is fitted at full resolution afterwards",
)

QUICK = (QUICK_MM,), (QUICK_DEG,), 2
"""A hill climb from a place of the search's grid, as ``FINE``."""
FEW_READINGS = measured(3, "readings", "by hand: so many of the best are improved, compared or offered")
FINE = measured(
    ((2.0, 1.0), (3.0, 1.5), 3),
    "(steps in mm, steps in degrees, rounds at each)",
    "a hill climb at full resolution; by hand",
)
FINEST = measured(
    ((0.7,), (1.0,), 5),
    "(steps in mm, steps in degrees, rounds at each)",
    "the last hill climb: below a pixel; by hand",
)


@dataclass
class Canvas:
    """One resolution of one view, with scratch maps for the compiled search.

    ``field_mm``: half extent (x, y) of where the build may stand. ``factor``: so many pixels of the view, each way,
    are one here. Coarse canvases draw round shapes with few facets. ``untold``, ``openings``: as of ``Evidence``, and
    ``light`` (h, w) of its features, both of a full-resolution canvas alone. What another camera shows is ``beside``:
    pieces win what they win in both.
    """

    cat: Catalogue
    camera: np.ndarray
    matrix: np.ndarray
    gains: np.ndarray
    factor: int = 1
    field_mm: tuple[float, float] = FIELD
    untold: tuple[int, ...] = ()
    openings: np.ndarray | None = None
    light: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    beside: Canvas | None = None
    maps: Maps = field(init=False)
    summed: Gains = field(init=False)
    arrays: StanceTable = field(init=False)
    _scenes: dict[float, Scene] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.maps = Maps(*self.gains.shape[1:])
        self.summed = Gains(self.gains, self.beside and self.beside.summed)
        self.arrays = self.cat.rough_arrays if self.factor > 1 else self.cat.arrays

    @cached_property
    def strongest(self) -> np.ndarray:
        """(h, w): the gain of each pixel's likeliest colour."""
        return self.gains.max(0)

    @cached_property
    def labels(self) -> np.ndarray:
        """(h, w) int8: the likeliest colour of each pixel, -1 where none beats the background."""
        return likeliest(self.gains, self.strongest, PIXEL_NATS)

    @cached_property
    def strict(self) -> Gains:
        """Gains that charge a piece for every pixel that another colour would explain better."""
        return Gains(2 * self.gains - np.maximum(self.strongest, 0.0))

    @cached_property
    def usual_gains(self) -> np.ndarray:
        """(k,) the gain that a pixel of each colour usually has in this view."""
        won = [g[g > 0] for g in self.gains]
        return np.array([np.median(g) if len(g) > FEW_PX else np.inf for g in won])

    def scene(self, turn: float = 0.0) -> Scene:
        """What the kernels draw with, for coordinates of a build turned by ``turn`` radians."""
        if turn not in self._scenes:
            turns = np.array([(math.cos(turn), -math.sin(turn)), (math.sin(turn), math.cos(turn))])
            camera = np.c_[self.camera[:, :2] @ turns, self.camera[:, 2:]] if turn else self.camera
            beside = self.beside and self.beside.scene(turn)
            self._scenes[turn] = Scene(camera, self.matrix, self.summed, self.maps, beside)
        return self._scenes[turn]

    def with_gains(self, of: Callable[[Canvas], np.ndarray]) -> Canvas:
        """The canvas, and that beside, with other gains (k, h, w)."""
        return replace(self, gains=np.ascontiguousarray(of(self)), beside=self.beside and self.beside.with_gains(of))

    def draw(self, reading: Reading) -> float:
        """Draw a reading's build afresh into the maps; its evidence in nats."""
        return float(rasterizer.draw(self.arrays, np.ascontiguousarray(reading.pieces), self.scene(reading.turn)))


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

    @cached_property
    def key(self) -> tuple:
        """Equal for readings of the same pieces in about the same places of the elevation."""
        return tuple(sorted((int(s), round(x / 8), round(z / 8)) for s, x, _, z, _ in self.pieces.tolist()))

    @property
    def stances(self) -> tuple[float, ...]:
        """Equal for readings of the same pieces in the same poses, wherever they stand."""
        return tuple(sorted(self.pieces[:, 0].tolist()))


def canvas_of(view: ZoneView, evidence: Evidence, cat: Catalogue, field_mm: tuple[float, float] = FIELD) -> Canvas:
    """The full-resolution canvas of a view, for a build in a field of this half extent."""
    light = np.ascontiguousarray(evidence.features[..., 0])
    return Canvas(cat, view.camera, view.matrix, evidence.gains, 1, field_mm, evidence.untold, evidence.openings, light)


def coarse_canvas(canvas: Canvas, factor: int = COARSE) -> Canvas:
    """The canvas at 1/factor resolution; evidence is summed, so that scores stay comparable."""
    h, w = canvas.gains.shape[1:]
    small = (
        np.stack([cv2.resize(g, (w // factor, h // factor), interpolation=cv2.INTER_AREA) for g in canvas.gains])
        * factor
        * factor
    )
    scale = np.diag([1 / factor, 1 / factor, 1.0])
    shift = np.array([[1, 0, (0.5 - factor / 2) / factor], [0, 1, (0.5 - factor / 2) / factor], [0, 0, 1.0]])
    matrix = shift @ scale @ canvas.matrix
    gains = np.ascontiguousarray(small)
    return Canvas(canvas.cat, canvas.camera, matrix, gains, factor, canvas.field_mm, canvas.untold)


def prior_cost(cat: Catalogue, rows: np.ndarray) -> float:
    """Nats against a build (pieces, 5) before any pixel is seen: its pieces, and its rare poses."""
    return PIECE_COST * len(rows) + RARE_COST * float(cat.rare[rows[:, 0].astype(int)].sum())


def prior_costs(cat: Catalogue, builds: Sequence[np.ndarray]) -> np.ndarray:
    """(n,) the same of each of n builds."""
    of = np.repeat(np.arange(len(builds)), [len(pieces) for pieces in builds])
    rare = cat.rare[np.concatenate(builds)[:, 0].astype(int)] if builds else np.zeros(0)
    return PIECE_COST * np.bincount(of, minlength=len(builds)) + RARE_COST * np.bincount(of, rare, len(builds))


class States(NamedTuple):
    """Builds: ``pieces`` (n, most, 5), of which the first ``counts`` (n,) are each one's, in the frame turned by its
    ``turns`` (n,) radians."""

    pieces: np.ndarray
    counts: np.ndarray
    turns: np.ndarray


def states_of(found: Sequence[Reading]) -> States:
    """Readings as kernels take them; their pieces are copied."""
    counts = np.array([len(r.pieces) for r in found], np.int64)
    pieces = np.zeros((len(found), max(1, counts.max(initial=0)), 5))
    if found:
        pieces[np.arange(pieces.shape[1]) < counts[:, None]] = np.concatenate([r.pieces for r in found])
    return States(pieces, counts, np.array([r.turn for r in found]))


def fit_readings(
    canvas: Canvas, found: Sequence[Reading], steps: tuple = QUICK, first: int | Sequence[int] = 0
) -> list[Reading]:
    """Readings with their places fitted at the canvas's resolution: the whole, and each one's pieces from its ``first``
    on, and in the order of their undersides: what stands below an overhang is let down first. Without loose pieces."""
    if not found:
        return []
    states, begin = states_of(found), np.zeros(len(found), np.int64) + first
    mm_rad = np.column_stack([steps[0], np.deg2rad(steps[1])])
    got = local_search.refine_each(canvas.arrays, states, begin, canvas.scene(), mm_rad, steps[2])
    builds = [pieces[:count] for pieces, count in zip(states.pieces, states.counts.tolist(), strict=True)]
    scores = (got - prior_costs(canvas.cat, builds)).tolist()
    return [
        Reading(r.turn, lowest_first(canvas.cat, b), score, r.origin)
        for r, b, score in zip(found, builds, scores, strict=True)
    ]


def squared(cat: Catalogue, reading: Reading) -> Reading:
    """The reading in the frame that its pieces are square to, as the prior costs of what is out of line want it: all
    where they were. A search's frame may be as far off as its steps, and its pieces turned in it together."""
    angular = cat.alike_after[reading.pieces[:, 0].astype(int)] > 0
    by = float(np.median(reading.pieces[angular, 4])) if angular.any() else 0.0
    return replace(reading, turn=reading.turn + by, pieces=turned(reading.pieces, -by))


def turned(rows: np.ndarray, turn: float) -> np.ndarray:
    """Pieces (n, 5) of a frame turned by so many radians in the frame that it is turned against."""
    c, s = math.cos(turn), math.sin(turn)
    out = rows.copy()
    out[:, 1:3] = rows[:, 1:3] @ np.array([[c, s], [-s, c]])
    out[:, 4] += turn
    return out


def lowest_first(cat: Catalogue, pieces: np.ndarray) -> np.ndarray:
    """The pieces (n, 5) of a build in the order of their undersides."""
    return pieces[np.argsort(pieces[:, 3] - cat.size[pieces[:, 0].astype(int), 2] / 2, kind="stable")]


def rescored(canvas: Canvas, r: Reading) -> Reading:
    """The reading with its score on this canvas."""
    got = canvas.draw(r) - crookedness(canvas, r)
    return Reading(r.turn, r.pieces, got - prior_cost(canvas.cat, r.pieces), r.origin)


def to_build(cat: Catalogue, reading: Reading) -> Build:
    """The reading in the rules' own words: its pieces, and the loose ones, in the mat's frame."""
    return Build(cat.piece_set, _pieces(cat, reading.pieces, reading.turn), _pieces(cat, reading.loose, 0.0))


def _pieces(cat: Catalogue, rows: np.ndarray, turn: float) -> tuple[Piece, ...]:
    """Pieces in the mat's frame of rows (n, 5) in one turned by ``turn`` radians."""
    c, s = math.cos(turn), math.sin(turn)
    pieces = []
    for stance, x, y, z, yaw in rows.tolist():
        shape, color = cat.types[cat.kind[int(stance)]]
        at = c * x - s * y, s * x + c * y, z
        pieces.append(Piece(shape, color, cat.poses[int(stance)], *at, math.degrees(yaw + turn)))
    return tuple(pieces)


@dataclass(frozen=True)
class Fit:
    """How well a reading accounts for what is seen around its build.

    ``share`` 0..1 of the evidence for pieces around it that it claims; ``agreement`` 0..1 of its worst piece: what
    its visible pixels give of what their own best colours would; ``beside`` nats of the largest patch that it leaves
    unexplained and that touches it (of the empty field: anywhere over it): room for a piece that is not in the reading.
    ``instability_nats`` against it before any pixel is seen, for it is out of line or would topple. ``possible``: nats
    that ``share`` is of; ``together``: of what several views' own best readings explain, each by itself, what this one
    does.
    """

    share: float
    agreement: float
    beside: float
    instability_nats: float = 0.0
    possible: float = 0.0
    together: float = 1.0

    @property
    def good(self) -> bool:
        """Whether nothing speaks for looking further."""
        return self.share > GOOD_SHARE and self.agreement > GOOD_AGREEMENT and self.beside < GOOD_BESIDE


GOOD_SHARE = measured(
    0.95,
    "of the evidence",
    "right builds of simulated tables (seeds 3 to 22) were read otherwise at up to 0.945; a wider search finds them",
)
GOOD_AGREEMENT = measured(0.75, "of the evidence", "of a piece's or a place's pixels; by hand, on the dev set")
GOOD_BESIDE = measured(300.0, "nats", "by hand, on the dev set: in one patch by the build; in all, too few to share")
TOUCHING_PX = measured(8, "px of the view (mm)", "by hand: so near is what touches a build; half as near what it lacks")
NEAR_PX = measured(5, "px of the view (mm)", "by hand: so near an edge, of a build or of the picture, is at it")
FEW_PX = measured(20, "px of the view (mm2)", "by hand: fewer say nothing: of a colour, a piece, a sliver between two")


def joint_fit(canvases: Sequence[Canvas], readings: Sequence[Reading]) -> Fit:
    """How well a reading accounts for what several views show together, as fitted to each, its pieces in one order."""
    fits = [fit_of(canvas, reading) for canvas, reading in zip(canvases, readings, strict=True)]
    if len(fits) == 1:
        return fits[0]
    possible = sum(fit.possible for fit in fits)
    share = sum(fit.share * fit.possible for fit in fits) / possible if possible else 1.0
    pieces = np.sum([agreements(canvas, reading) for canvas, reading in zip(canvases, readings, strict=True)], axis=0)
    return Fit(share, _least(pieces), max(fit.beside for fit in fits), fits[0].instability_nats)


def agreements(canvas: Canvas, reading: Reading) -> np.ndarray:
    """What of each piece (n, 2) its visible pixels give and could, 0 of one of which few are seen: what stands behind
    a loose piece is not seen there."""
    canvas.draw(reading)
    draw_loose(canvas, reading)
    near, best = canvas.maps.near.copy(), np.maximum(canvas.strongest, 0.0)
    return np.array([_agreement(canvas, reading, i, near, best) for i in range(reading.count)]).reshape(-1, 2)


def draw_loose(canvas: Canvas, reading: Reading) -> None:
    """Draw a reading's loose pieces into the maps as they are."""
    for row in reading.loose:
        rasterizer.place(canvas.arrays, row, canvas.scene(), True)


def _least(pieces: Iterable[Sequence[float]] | np.ndarray) -> float:
    """The least of what is given of what could be; 1 where nothing is seen."""
    return min((given / possible for given, possible in pieces if possible), default=1.0)


def fit_of(canvas: Canvas, reading: Reading) -> Fit:
    """How well a reading, with its loose pieces, accounts for what is seen. For the empty field: the whole view."""
    best = np.maximum(canvas.strongest, 0.0)
    canvas.draw(reading)
    near = canvas.maps.near.copy()
    pieces = [_agreement(canvas, reading, i, near, best) for i in range(reading.count)]
    canvas.draw(reading)
    draw_loose(canvas, reading)
    gained = canvas.maps.gained
    around = _dilated(near > 0, TOUCHING_PX // 2 // canvas.factor) if reading.count else np.ones_like(near, bool)
    possible = float(best[around].sum())
    share = float(np.clip(gained[around].sum() / possible, 0.0, 1.0)) if possible > GOOD_BESIDE else 1.0
    left = (best - np.maximum(gained, 0.0)) * (canvas.strongest > PIXEL_NATS * canvas.factor**2)
    touching = _dilated(near > 0, TOUCHING_PX // 2 // canvas.factor) if reading.count else over_field(canvas)
    beside = _beside(left, touching, canvas.factor)
    return Fit(share, _least(pieces), beside, crookedness(canvas, reading), possible)


def crookedness(canvas: Canvas, reading: Reading) -> float:
    """Nats against a reading's build for it is out of line or would topple."""
    return float(physics.straightness(canvas.arrays, np.ascontiguousarray(reading.pieces)))


def over_field(canvas: Canvas) -> np.ndarray:
    """(h, w) bool: where a build in the field may be seen."""
    hull = field_outline(canvas.camera, canvas.matrix, canvas.field_mm)
    mask = np.zeros(canvas.gains.shape[1:], np.uint8)
    return cv2.fillConvexPoly(mask, hull.round().astype(np.int32), 1) > 0


def field_outline(camera: np.ndarray, matrix: np.ndarray, field_mm: tuple[float, float]) -> np.ndarray:
    """(n, 1, 2) float32 pixels: the convex outline of where builds in a field of this half extent may be seen, of a mat
    that the ``camera`` (3, 4) has in its frame, through the ``matrix`` (3, 3)."""
    x, y = field_mm
    box = np.array([(a, b, c, 1.0) for a in (-x, x) for b in (-y, y) for c in (0.0, HEIGHT_MM)])
    there = box @ camera.T @ matrix.T
    return cv2.convexHull((there[:, :2] / there[:, 2:]).astype(np.float32))


def _dilated(mask: np.ndarray, px: int) -> np.ndarray:
    return cv2.dilate(mask.astype(np.uint8), np.ones((2 * px + 1, 2 * px + 1), np.uint8)) > 0


def _agreement(canvas: Canvas, reading: Reading, i: int, near: np.ndarray, best: np.ndarray) -> tuple[float, float]:
    """What piece i's visible pixels give, and what they could; 0 where hardly anything of it is seen, or it looks like
    paper."""
    canvas.draw(Reading(reading.turn, reading.pieces[i : i + 1], 0.0))
    shown = (canvas.maps.near >= near) & (canvas.maps.near > 0)
    color = canvas.cat.color[int(reading.pieces[i, 0])]
    if shown.sum() * canvas.factor**2 < FEW_PX or color in canvas.untold:
        return 0.0, 0.0
    return float(canvas.gains[color][shown].sum()), float(max(best[shown].sum(), 1.0))


def _beside(left: np.ndarray, near_build: np.ndarray, factor: int) -> float:
    """Nats of the largest unexplained patch that touches the build; outlines, a pixel wide, are no patches."""
    patches: np.ndarray = (left > PIXEL_NATS * factor**2).astype(np.uint8)
    if factor == 1:
        patches = cv2.erode(patches, np.ones((3, 3), np.uint8))
    count, which = cv2.connectedComponents(patches)
    sums, touching = np.bincount(which.ravel(), left.ravel(), count), np.bincount(which[near_build], minlength=count)
    return float(sums[1:][touching[1:] > 0].max(initial=0.0))
