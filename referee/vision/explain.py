"""From evidence to readings: which pieces, where, explain what is seen over a field.

A reading is a whole build in which every piece rests on the table or on others. Readings grow
from the table upwards (beam search at half resolution), each piece let down where it would come
to rest, and are then fitted at full resolution.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import cv2
import numpy as np

from calibration.mat import FIELD
from cards.build import Build, Piece
from cards.card import Card, LayoutCard, ShapesCard
from cards.pieces import Pose
from referee.vision import loose, search
from referee.vision.catalogue import RARE_COST, Catalogue
from referee.vision.labels import Evidence
from referee.vision.view import ZoneView

PIECE_COST = 60.0
"""Nats a piece must explain before it is believed; a visible cube's face explains over 1000."""

TURNS_DEG = (-14.0, -7.0, 0.0, 7.0, 14.0)
FIRST, EAGER = 120, 0.4
BEAM = (48, 40, 30, 20, 14, 10, 8, 8, 8)
"""States kept after 2, 3, … pieces."""
BRANCH = 8
FIRST_PER_STANCE = 1
SURE_LOOSE, LOOSE_SHARE = 0.75, 0.0
"""While the build grows, evidence that a loose piece of this quality would explain counts only in
part; the fitted readings then compete with loose pieces on equal terms."""
BANDS_MM = (-32.0, -16.0, 0.0, 16.0, 32.0)
BAND_MM = 16.0
HIDDEN = 2.0
HOPE = 0.6
"""Nats a pixel costs, while a build is still growing, when it shows another piece's colour than the
piece that covers it: something still to come may stand in front. (Background costs in full.)"""


@dataclass
class Canvas:
    """One resolution of one view, with scratch maps for the compiled search.

    ``asked`` limits what a reading may be made of: so many pieces of each named shape, no others.
    """

    cat: Catalogue
    camera: np.ndarray
    matrix: np.ndarray
    gains: np.ndarray
    asked: dict[str, int] | None = None
    near: np.ndarray = field(init=False)
    gained: np.ndarray = field(init=False)
    stamp: np.ndarray = field(init=False)
    mark: int = 0

    def __post_init__(self) -> None:
        shape = self.gains.shape[1:]
        self.near = np.zeros(shape)
        self.gained = np.zeros(shape, np.float32)
        self.stamp = np.zeros(shape, np.int32)

    def turned(self, turn: float) -> np.ndarray:
        """The camera (3, 4) for coordinates of a build turned by ``turn`` radians."""
        c, s = math.cos(turn), math.sin(turn)
        return np.ascontiguousarray(self.camera @ np.array(
            [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))


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


def coarse(canvas: Canvas, factor: int = 2) -> Canvas:
    """The canvas at 1/factor resolution; evidence is summed, so that scores stay comparable."""
    h, w = canvas.gains.shape[1:]
    small = np.stack([cv2.resize(g, (w // factor, h // factor), interpolation=cv2.INTER_AREA)
                      for g in canvas.gains]) * factor * factor
    scale = np.diag([1 / factor, 1 / factor, 1.0])
    shift = np.array([[1, 0, (0.5 - factor / 2) / factor], [0, 1, (0.5 - factor / 2) / factor], [0, 0, 1.0]])
    return Canvas(canvas.cat, canvas.camera, shift @ scale @ canvas.matrix, np.ascontiguousarray(small))


def canvas_of(view: ZoneView, evidence: Evidence, cat: Catalogue) -> Canvas:
    """The full-resolution canvas of a view."""
    return Canvas(cat, view.camera, view.matrix, evidence.gains)


def readings(canvas: Canvas, card: Card | None = None, keep: int = 8) -> list[Reading]:
    """Readings of the evidence, fitted, best first. Always includes the empty field.

    With a layout card, what the card shows (and its mirror image) is tried where it fits best, so
    that the best explanation that satisfies the card is among them.
    """
    small = coarse(canvas)
    around = loose.candidates(small, coarse_labels(small))
    found = _searched(small, around, None)
    if isinstance(card, ShapesCard):
        found += _searched(small, around, dict(card.shapes))
    found += [with_loose(small, r, around) for r in _from_card(small, card)]
    found.sort(key=lambda r: -r.score)
    starts = _distinct_readings(found, IMPROVED)
    starts += [r for r in found if r.origin == "card" and r not in starts][:2]
    if isinstance(card, ShapesCard):
        starts += [r for r in found if _has_shapes(small.cat, r, dict(card.shapes)) and r not in starts][:2]
    better = [improve(small, r, around) for r in starts]
    pool = _distinct_readings(sorted(better + found, key=lambda r: -r.score), keep)
    pool += [r for r in found if r.origin == "card" and r not in pool][:1]
    fitted = [fit(canvas, fit(small, r, FINE), FINEST) for r in pool]
    fitted.append(Reading(0.0, np.zeros((0, 5)), 0.0))
    return sorted((with_loose(canvas, r, around) for r in fitted), key=lambda r: -r.score)


def _searched(canvas: Canvas, around: loose.Candidates, asked: dict[str, int] | None) -> list[Reading]:
    """Readings grown from the table upwards, of any pieces or only of those asked for."""
    real, hopeful = _less(canvas, around, hope=False), _less(canvas, around)
    real.asked = hopeful.asked = asked
    return [with_loose(canvas, r, around) for r in _beam(real, hopeful)[:80]]


def _has_shapes(cat: Catalogue, reading: Reading, asked: dict[str, int]) -> bool:
    return Counter(cat.types[cat.kind[int(s)]][0] for s in reading.pieces[:, 0]) == asked


def _from_card(canvas: Canvas, card: Card | None) -> list[Reading]:
    if not isinstance(card, LayoutCard):
        return []
    rows = card_rows(canvas.cat, card)
    return [] if rows is None else [r for mirrored in (False, True) for r in _placed(canvas, rows, mirrored)]


def card_rows(cat: Catalogue, card: LayoutCard) -> np.ndarray | None:
    """The card's pieces as rows (n, 5), lowest first, centred in x; None if a pose cannot rest."""
    rows = []
    for p in sorted(card.pieces, key=lambda p: p.z):
        stance = cat.index.get((p.shape, p.color, cat.piece_set.shapes[p.shape].canonical(p.pose)))
        if stance is None:
            return None
        rows.append((stance, p.x, 0.0, p.z, 0.0))
    out = np.array(rows)
    out[:, 1] -= (out[:, 1].min() + out[:, 1].max()) / 2
    return out


def _placed(canvas: Canvas, rows: np.ndarray, mirrored: bool) -> list[Reading]:
    """The card's build at the places in the field where the evidence likes it best, fitted."""
    rows = rows.copy()
    if mirrored:
        rows[:, 1] *= -1
        rows[:, 0] = [_mirrored_stance(canvas.cat, int(s)) for s in rows[:, 0]]
    places, canvas.mark = search.place_whole(
        canvas.cat.arrays, rows, len(rows), np.arange(-90.0, 91.0, 6.0), np.arange(-40.0, 41.0, 8.0),
        np.deg2rad(np.array(TURNS_DEG)), canvas.camera, canvas.matrix, canvas.gains, canvas.near, canvas.gained,
        canvas.stamp, canvas.mark)
    out = []
    for _, x, y, turn in places[np.argsort(-places[:, 0])[:3]]:
        moved = rows.copy()
        moved[:, 1] += x
        moved[:, 2] += y
        out.append(fit(canvas, Reading(float(turn), moved, 0.0, "card" if not mirrored else "mirror"), FINE))
    return out


def _mirrored_stance(cat: Catalogue, stance: int) -> int:
    shape, color = cat.types[cat.kind[stance]]
    pose = cat.poses[stance]
    turned = Pose((360 - pose.rotation) % 360, pose.facing)
    return cat.index.get((shape, color, cat.piece_set.shapes[shape].canonical(turned)), stance)


def _distinct_readings(found: list[Reading], most: int) -> list[Reading]:
    chosen: dict[tuple, Reading] = {}
    for r in found:
        chosen.setdefault(_key(r), r)
        if len(chosen) == most:
            break
    return list(chosen.values())


IMPROVED, EDITS, EDIT_ROUNDS, MAX_PIECES = 5, 5, 6, 10


def improve(canvas: Canvas, reading: Reading, around: loose.Candidates) -> Reading:
    """The reading after the edits (replace, insert, remove, swap, nudge a piece) that help it."""
    proxy = _less(canvas, around, hope=False)
    for _ in range(EDIT_ROUNDS):
        best = reading
        for trial in _edited(proxy, reading):
            fitted = with_loose(canvas, fit(canvas, trial), around)
            if fitted.score > best.score + 1.0:
                best = fitted
        for trial in _grow(proxy, reading)[:2] if reading.count else []:
            fitted = with_loose(canvas, fit(canvas, trial), around)
            if fitted.score > best.score + 1.0:
                best = fitted
        if best is reading:
            return reading
        reading = best
    return reading


def _edited(canvas: Canvas, reading: Reading) -> list[Reading]:
    """The most promising edits of a reading, not yet fitted."""
    cat, pieces = canvas.cat, np.ascontiguousarray(reading.pieces)
    if not len(pieces):
        return []
    rows, canvas.mark = search.edits(
        cat.arrays, cat.kind, cat.stock, cat.rare, pieces, len(pieces), MAX_PIECES, canvas.turned(reading.turn),
        canvas.matrix, canvas.gains, canvas.near, canvas.gained, canvas.stamp, canvas.mark)
    rows[:, 0] -= PIECE_COST * (rows[:, 1] == search.INSERT) - PIECE_COST * (rows[:, 1] == search.REMOVE)
    out = []
    for _, kind, i, s in rows[np.argsort(-rows[:, 0])[:EDITS]]:
        trial = np.empty((len(pieces) + 1, 5))
        count = search.edit(pieces, len(pieces), int(kind), int(i), int(s), trial)
        out.append(Reading(reading.turn, trial[:count].copy(), 0.0, "edit"))
    return out


def coarse_labels(canvas: Canvas) -> np.ndarray:
    """(h, w) int8: the likeliest colour of each pixel, -1 where none beats the background."""
    return np.where(canvas.gains.max(0) > 2.0, canvas.gains.argmax(0), -1).astype(np.int8)


def _less(canvas: Canvas, around: loose.Candidates, hope: bool = True) -> Canvas:
    """The canvas with the reward lowered where a loose piece would explain the pixels as well, and
    with ``hope`` the cost of pixels that show another piece's colour (see HOPE)."""
    claimed = np.zeros_like(canvas.gained)
    for row, quality in zip(around.rows, around.quality, strict=True):
        if quality < SURE_LOOSE:
            continue
        near, gained = np.zeros_like(canvas.near), np.zeros_like(canvas.gained)
        canvas.mark += 1
        search.place(canvas.cat.arrays, int(row[0]), *row[1:], canvas.camera, canvas.matrix, canvas.gains,
                     near, gained, canvas.stamp, canvas.mark, True)
        claimed = np.maximum(claimed, gained)
    gains = _hopeful(canvas.gains) if hope else canvas.gains
    return Canvas(canvas.cat, canvas.camera, canvas.matrix, np.ascontiguousarray(gains - LOOSE_SHARE * claimed))


def _hopeful(gains: np.ndarray) -> np.ndarray:
    """Half-resolution gains in which a pixel of another piece's colour costs little."""
    shown = gains.max(0) > 4.0
    return np.where(shown & (gains < -4 * HOPE), -4 * HOPE, gains).astype(np.float32)


def with_loose(canvas: Canvas, reading: Reading, around: loose.Candidates) -> Reading:
    """The reading completed by the loose pieces that explain what it leaves; its score includes them."""
    pieces = np.ascontiguousarray(reading.pieces)
    camera = canvas.turned(reading.turn)
    _, canvas.mark = search.score(canvas.cat.arrays, pieces, len(pieces), camera, canvas.matrix, canvas.gains,
                                  canvas.near, canvas.gained, canvas.stamp, canvas.mark)
    rows, won, canvas.mark = search.add_loose(
        canvas.cat.arrays, np.ascontiguousarray(around.rows), canvas.camera, canvas.matrix, canvas.gains, canvas.near,
        canvas.gained, canvas.stamp, canvas.mark, PIECE_COST)
    return Reading(reading.turn, reading.pieces, reading.score + won, reading.origin, around.rows[rows], reading.score)


def prior_cost(cat: Catalogue, pieces: np.ndarray) -> float:
    """Nats against a reading before any pixel is seen: its pieces and its rare poses."""
    return PIECE_COST * len(pieces) + RARE_COST * float(cat.rare[pieces[:, 0].astype(int)].sum())


QUICK, FINE, FINEST = ((3.0,), (4.0,), 2), ((2.0, 1.0), (3.0, 1.5), 2), ((0.7,), (1.0,), 2)
"""Hill climbs as (steps in mm, steps in degrees, rounds at each step)."""


def fit(canvas: Canvas, reading: Reading, steps: tuple = QUICK) -> Reading:
    """The reading with its places fitted at the canvas's resolution."""
    if not reading.count:
        return reading
    pieces = np.ascontiguousarray(reading.pieces)
    mm, rad = np.array(steps[0]), np.deg2rad(steps[1])
    got, canvas.mark = search.refine(
        canvas.cat.arrays, pieces, len(pieces), canvas.turned(reading.turn), canvas.matrix, canvas.gains,
        canvas.near, canvas.gained, canvas.stamp, canvas.mark, mm, rad, steps[2])
    return Reading(reading.turn, pieces, got - prior_cost(canvas.cat, pieces), reading.origin)


def _beam(real: Canvas, hopeful: Canvas) -> list[Reading]:
    """Grow readings from the table upwards, fitting each before it grows on.

    Growth is led by hope (what is covered wrongly may be covered again); half of those kept are
    the best so far by hope, half by the evidence as it stands.
    """
    best = np.maximum(real.gains.max(0), 0.0)
    regret = Canvas(real.cat, real.camera, real.matrix, real.gains - best)
    first = _first(hopeful)
    states = _promising(real, regret, first, FIRST)
    done = {_key(s): s for s in states}
    for width in BEAM:
        grown: dict[tuple, Reading] = {}
        for s in states:
            for r in _grow(hopeful, s):
                _keep_better(grown, r)
        fitted: dict[tuple, Reading] = {}
        for r in _promising(real, regret, list(grown.values()), width):
            _keep_better(fitted, fit(hopeful, r))
        states = list(fitted.values())
        done.update(fitted)
        if not states:
            break
    return sorted((_rescored(real, r) for r in done.values()), key=lambda r: -r.score)


def _promising(real: Canvas, regret: Canvas, grown: list[Reading], width: int) -> list[Reading]:
    """Those to go on with, in turn the best by hope, by evidence as it stands, and by regret.

    Regret is what the covered pixels would give to their own best colours: a right beginning
    has little of it, however much is still to come.
    """
    grown = sorted(grown, key=lambda r: -r.score)[: 6 * width]
    now = np.array([_rescored(real, r).score for r in grown])
    sorry = np.array([_rescored(regret, r).score for r in grown])
    hope = np.array([r.score for r in grown])
    orders = [np.argsort(-order) for order in (hope, now, sorry + EAGER * hope)]
    kept: dict[int, None] = {}
    for rank in range(len(grown)):
        for order in orders:
            if len(kept) < width:
                kept[int(order[rank])] = None
    return [grown[i] for i in kept]


def _keep_better(readings: dict[tuple, Reading], r: Reading) -> None:
    key = _key(r)
    if key not in readings or readings[key].score < r.score:
        readings[key] = r


def _rescored(canvas: Canvas, r: Reading) -> Reading:
    pieces = np.ascontiguousarray(r.pieces)
    got, canvas.mark = search.score(canvas.cat.arrays, pieces, len(pieces), canvas.turned(r.turn), canvas.matrix,
                                    canvas.gains, canvas.near, canvas.gained, canvas.stamp, canvas.mark)
    got -= search.straightness(canvas.cat.arrays, pieces, len(pieces))
    return Reading(r.turn, r.pieces, got - prior_cost(canvas.cat, pieces), r.origin)


def _key(r: Reading) -> tuple:
    return tuple(sorted((int(p[0]), round(p[1] / 8), round(p[3] / 8)) for p in r.pieces))


def _first(canvas: Canvas) -> list[Reading]:
    usual = _left(canvas, np.zeros((0, 5)))
    xs = np.arange(-FIELD[0] + 1, FIELD[0], 6.0)
    ys = np.arange(-FIELD[1] + 2, FIELD[1], 8.0)
    empty = np.zeros((0, 5))
    canvas.near[:] = 0
    canvas.gained[:] = 0
    rows = []
    for turn in np.deg2rad(TURNS_DEG):
        got, canvas.mark = search.scan(
            canvas.cat.arrays, usual, xs, ys, np.zeros(1), empty, 0, False, canvas.turned(turn), canvas.matrix,
            canvas.gains, canvas.near, canvas.gained, canvas.stamp, canvas.mark)
        rows += [np.append(r, turn) for r in got if _in_field(r, turn)]
    found = np.array(rows).reshape(-1, 8)
    found = np.concatenate([found, _frontmost(found, canvas.camera)])
    chosen: list[np.ndarray] = []
    found = np.unique(found, axis=0)
    for band in BANDS_MM:
        near = found[np.abs(found[:, 2] - band + 0.01) <= BAND_MM / 2]
        mine: list[np.ndarray] = []
        for s in np.unique(near[:, 0]):
            of = near[near[:, 0] == s]
            for y in np.unique(of[:, 2]):
                mine += _distinct(of[of[:, 2] == y], FIRST_PER_STANCE)
        chosen += mine
    return [Reading(r[7], r[None, :5].copy(), r[5] - PIECE_COST) for r in chosen]


FRONT_SHARE, FRONT_BONUS = 0.7, 1.6


def _frontmost(found: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Of each column of places the one nearest to the camera that explains nearly as much.

    A piece imagined too far back still covers the colours of what stands on it; moved towards the
    camera it keeps its evidence until its foot leaves the real foot. These rows come with a bonus
    so that the growing build is offered them first.
    """
    towards = np.sign(-(camera[:, :3].T @ camera[:, 3])[1])
    groups: dict[tuple, list[np.ndarray]] = {}
    for r in found:
        groups.setdefault((r[0], r[1], r[7]), []).append(r)
    front = []
    for rows in groups.values():
        high = max(r[5] for r in rows)
        good = [r for r in rows if r[5] >= high - (1 - FRONT_SHARE) * abs(high)]
        first = max(good, key=lambda r: towards * r[2]).copy()
        front.append(first)
    return np.array(front).reshape(-1, found.shape[1])


def _distinct(rows: np.ndarray, most: int) -> list[np.ndarray]:
    """The best rows of a scan, leaving out near copies (same stance within 10 mm)."""
    chosen: list[np.ndarray] = []
    for r in rows[np.argsort(-rows[:, 5])][:400]:
        if all(r[0] != q[0] or abs(r[1] - q[1]) > 10 or abs(r[2] - q[2]) > 10 for q in chosen):
            chosen.append(r)
            if len(chosen) == most:
                break
    return chosen


def _left(canvas: Canvas, pieces: np.ndarray) -> np.ndarray:
    """Usual stances of which the box still has a piece."""
    cat = canvas.cat
    used = np.bincount(cat.kind[pieces[:, 0].astype(int)], minlength=len(cat.types))
    free = used < cat.stock
    if canvas.asked is not None:
        shapes = [shape for shape, _ in cat.types]
        have = {s: sum(int(u) for u, other in zip(used, shapes, strict=True) if other == s) for s in canvas.asked}
        free &= np.array([have.get(s, 0) < canvas.asked.get(s, 0) for s in shapes])
    return np.flatnonzero(~cat.rare & free[cat.kind])


def _grow(canvas: Canvas, s: Reading) -> list[Reading]:
    cat = canvas.cat
    camera = canvas.turned(s.turn)
    pieces = np.ascontiguousarray(s.pieces)
    _, canvas.mark = search.score(cat.arrays, pieces, len(pieces), camera, canvas.matrix, canvas.gains,
                                  canvas.near, canvas.gained, canvas.stamp, canvas.mark)
    stances = _left(canvas, pieces)
    half = cat.size[pieces[:, 0].astype(int), 0] / 2
    low, high = (pieces[:, 1] - half).min() - 30, (pieces[:, 1] + half).max() + 30
    middle = pieces[:, 2].mean()
    rows = []
    spread = np.array((-4.0, 0.0, 4.0)) if s.count == 1 else np.zeros(1)  # later states are fitted
    for on_top, step in ((True, 5.0), (False, 7.0)):
        xs = np.arange(low - 50 * (not on_top), high + 50 * (not on_top), step)
        ys = middle + spread
        got, canvas.mark = search.scan(cat.arrays, stances, xs, ys, np.zeros(1), pieces, len(pieces), on_top,
                                       camera, canvas.matrix, canvas.gains, canvas.near, canvas.gained,
                                       canvas.stamp, canvas.mark)
        rows += _best_per_stance(got) if on_top else _distinct(got, BRANCH)
    rows = [r for r in rows if r[5] > -HIDDEN * r[6] and _in_field(r, s.turn)]
    return [Reading(s.turn, np.vstack([pieces, r[:5]]), s.score + r[5] - PIECE_COST) for r in rows]


def _best_per_stance(rows: np.ndarray) -> list[np.ndarray]:
    """Each stance's best row, and its next best more than 12 mm beside that one."""
    rows = rows[np.argsort(-rows[:, 5])]
    first: dict[float, np.ndarray] = {}
    second: dict[float, np.ndarray] = {}
    for r in rows:
        if r[0] not in first:
            first[r[0]] = r
        elif r[0] not in second and abs(r[1] - first[r[0]][1]) > 12:
            second[r[0]] = r
    return [*first.values(), *second.values()]




def _in_field(row: np.ndarray, turn: float) -> bool:
    x = row[1] * math.cos(turn) - row[2] * math.sin(turn)
    y = row[1] * math.sin(turn) + row[2] * math.cos(turn)
    return abs(x) <= FIELD[0] and abs(y) <= FIELD[1]


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
    pieces = np.ascontiguousarray(reading.pieces)
    _, canvas.mark = search.score(canvas.cat.arrays, pieces, len(pieces), canvas.turned(reading.turn), canvas.matrix,
                                  canvas.gains, canvas.near, canvas.gained, canvas.stamp, canvas.mark)
    touched = (canvas.near > 0).astype(np.uint8)
    around = cv2.dilate(touched, np.ones((15, 15), np.uint8)) > 0
    for row in reading.loose:
        canvas.mark += 1
        search.place(canvas.cat.arrays, int(row[0]), *row[1:], canvas.camera, canvas.matrix, canvas.gains,
                     canvas.near, canvas.gained, canvas.stamp, canvas.mark, True)
    if not len(pieces):
        around = np.ones_like(around)
    possible = float(best[around].sum())
    return float(np.clip(canvas.gained[around].sum() / possible, 0.0, 1.0)) if possible > 500 else 1.0
