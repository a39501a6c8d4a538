"""From evidence to readings: which pieces, where, explain what is seen over a field.

A reading is a whole build in which every piece rests on the table or on others, together with the
loose pieces around it. Readings are grown (``grow``), started from the card itself where it can
stand, improved by edits, and fitted at full resolution; all compete on the same evidence.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from cards.build import Piece
from cards.card import Card, LayoutCard, ShapesCard
from cards.pieces import Pose
from referee.vision import loose, paint, search, search_loose
from referee.vision.canvas import (
    FINE,
    FINEST,
    PIECE_COST,
    Canvas,
    Reading,
    borrowed,
    coarse,
    coarse_labels,
    fit,
    fit_of,
    prior_cost,
    rescored,
)
from referee.vision.catalogue import Catalogue
from referee.vision.grow import TURNS_DEG, WIDE, WIDEST, Growth

SEARCHED, EDITS, EDIT_ROUNDS, MAX_PIECES = 60, 6, 6, 10
"""How many grown readings are completed by loose pieces; a reading is improved by so many of the best edits, so
often, up to so many pieces."""

SEARCHES = ((WIDE, 3, 0), (WIDEST, 6, 1))
"""Widths of the beam, how many of what it finds are improved, and how many pieces may be borrowed on the way; the
next only where the fit is not good."""

SHOWN = 2
"""How many placements of what a layout card shows are improved before anything is searched."""

PLACE_X, PLACE_Y, PLACES = 12.0, 16.0, 8
"""Steps in mm at which a whole build is tried over the field, and around how many of the places at half of that."""

FAR_BEHIND = 800.0
"""Nats behind the best from where a reading needs no fit at full resolution: it cannot win any more."""


@dataclass
class Ways:
    """Where improving readings has led: ``passed`` the scores by what was passed, ``tried`` all readings fitted."""

    passed: dict[tuple, float] = field(default_factory=dict)
    tried: list[Reading] = field(default_factory=list)


def readings(canvas: Canvas, card: Card | None = None, keep: int = 8) -> list[Reading]:
    """Readings of the evidence, fitted, best first. Always includes the empty field.

    With a layout card, what the card shows (and its mirror image) is tried where it fits best, so
    that the best explanation that satisfies the card is among them.
    """
    small = coarse(canvas)
    around = loose.candidates(small, coarse_labels(small))
    empty = Reading(0.0, np.zeros((0, 5)), 0.0)
    pool = _explored(Growth(small), around, empty, card, keep)
    fitted = [with_loose(small, fit(small, r, FINE), around) for r in pool]
    last = max(r.score for r in fitted) - FAR_BEHIND
    fitted = [fit(canvas, r, FINEST) if r.score >= last else rescored(canvas, r) for r in fitted]
    fitted.append(empty)
    return sorted((with_loose(canvas, r, around) for r in fitted), key=lambda r: -r.score)


def _explored(growth: Growth, around: loose.Candidates, empty: Reading, card: Card | None, keep: int) -> list[Reading]:
    """The ``keep`` best distinct readings, and the card's own.

    Edits of what a layout card shows come first: where they explain what is seen, their other trials are the rivals.
    A quick search follows, and a wider one where the best reading leaves something unexplained.
    """
    small, ways = growth.real, Ways()
    found = [with_loose(small, r, around) for r in [empty, *_from_card(small, card)]]
    shown = _distinct_readings(sorted(found[1:], key=lambda r: -r.score), SHOWN)
    better = [improve(growth, r, around, ways) for r in shown]
    if _good(small, better):
        return _pool(better + found + _rivals(small.cat, better, ways.tried), keep)
    for widths, improved, borrow in SEARCHES:
        found += _searched(growth, around, card, widths)
        better += [improve(growth, r, around, ways, borrow) for r in _starts(small, found, card, improved)]
        better = [r for r in better if not borrowed(small.cat, r.pieces)]
        if _good(small, better + found):
            break
    return _pool(better + found, keep)


def _good(canvas: Canvas, found: list[Reading]) -> bool:
    """Whether the best reading explains all there is."""
    return bool(found) and fit_of(canvas, max(found, key=lambda r: r.score)).good


def _rivals(cat: Catalogue, better: list[Reading], tried: list[Reading]) -> list[Reading]:
    """Those tried that need no more unusual poses than the best reading: growing from the table tries none either."""

    def rare(reading: Reading) -> int:
        return int(cat.rare[reading.pieces[:, 0].astype(int)].sum())

    most = rare(max(better, key=lambda r: r.score))
    return [r for r in tried if rare(r) <= most]


def _pool(found: list[Reading], keep: int) -> list[Reading]:
    """The best that differ, and the best that is as the card shows."""
    found = sorted(found, key=lambda r: -r.score)
    pool = _distinct_readings(found, keep)
    return pool + [r for r in found if r.origin == "card" and r not in pool][:1]


def _starts(canvas: Canvas, found: list[Reading], card: Card | None, most: int) -> list[Reading]:
    """The readings worth improving: the best, and the best that are what the card asks for."""
    found = sorted(found, key=lambda r: -r.score)
    starts = _distinct_readings(found, most)
    starts += [r for r in found if r.origin == "card" and r not in starts][:2]
    if isinstance(card, ShapesCard):
        starts += [r for r in found if _has_shapes(canvas.cat, r, dict(card.shapes)) and r not in starts][:2]
    return starts


def _searched(growth: Growth, around: loose.Candidates, card: Card | None, widths: np.ndarray) -> list[Reading]:
    """Readings grown from the table upwards, of any pieces and, with a shapes card, of those it asks for."""
    grown = growth.beam(widths, SEARCHED)
    if isinstance(card, ShapesCard):
        grown += growth.beam(widths, SEARCHED, dict(card.shapes))
    return [with_loose(growth.real, r, around) for r in grown]


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
    out = []
    for _, x, y, turn in _places(canvas, rows):
        moved = rows.copy()
        moved[:, 1] += x
        moved[:, 2] += y
        out.append(fit(canvas, Reading(float(turn), moved, 0.0, "card" if not mirrored else "mirror"), FINE))
    return out


def _places(canvas: Canvas, rows: np.ndarray) -> np.ndarray:
    """The three best places of a whole build: rows (score, x, y, turn) in the frame turned by ``turn``."""

    def tried(xs: np.ndarray, ys: np.ndarray, turns: np.ndarray) -> np.ndarray:
        return search.place_whole(canvas.arrays, rows, len(rows), xs, ys, turns, *canvas.seen())

    def best(places: np.ndarray, most: int) -> np.ndarray:
        return places[np.argsort(-places[:, 0])[:most]]

    some = best(
        tried(np.arange(-90.0, 91.0, PLACE_X), np.arange(-40.0, 41.0, PLACE_Y), np.deg2rad(np.array(TURNS_DEG))), PLACES
    )
    near = np.array([-0.5, 0.0, 0.5])
    found = []
    for _, x, y, turn in some:
        c, s = np.cos(turn), np.sin(turn)  # back to the mat's frame
        found.append(tried(c * x - s * y + near * PLACE_X, s * x + c * y + near * PLACE_Y, np.array([turn])))
    return best(np.concatenate(found), 3)


def _mirrored_stance(cat: Catalogue, stance: int) -> int:
    shape, color = cat.types[cat.kind[stance]]
    pose = cat.poses[stance]
    turned = Pose((360 - pose.rotation) % 360, pose.facing)
    return cat.index.get((shape, color, cat.piece_set.shapes[shape].canonical(turned)), stance)


def _distinct_readings(found: list[Reading], most: int) -> list[Reading]:
    chosen: dict[tuple, Reading] = {}
    for r in found:
        chosen.setdefault(r.key, r)
        if len(chosen) == most:
            break
    return list(chosen.values())


def improve(growth: Growth, reading: Reading, around: loose.Candidates, ways: Ways, borrow: int = 0) -> Reading:
    """The reading after the edits (replace, insert, remove, swap, nudge, split a piece) that help it.

    On the way there may be ``borrow`` more pieces of a kind than the box has, and in the result too. Where the way
    joins that of an earlier reading it is not gone again.
    """
    canvas = growth.real
    for _ in range(EDIT_ROUNDS):
        if ways.passed.get((borrow, reading.key), -np.inf) >= reading.score - 1.0:
            return reading
        ways.passed[borrow, reading.key] = reading.score
        best = reading
        for trial in _edited(canvas, reading, borrow) + growth.grown(reading)[:EDITS]:
            fitted = with_loose(canvas, fit(canvas, trial), around)
            ways.tried.append(fitted)
            if fitted.score > best.score + 1.0:
                best = fitted
        if best is reading:
            return reading
        reading = best
    return reading


def _edited(canvas: Canvas, reading: Reading, borrow: int) -> list[Reading]:
    """The most promising edits of a reading, not yet fitted."""
    cat, pieces = canvas.cat, np.ascontiguousarray(reading.pieces)
    if not len(pieces):
        return []
    rows = search.edits(
        canvas.arrays,
        cat.kind,
        cat.stock + borrow,
        cat.rare,
        pieces,
        len(pieces),
        MAX_PIECES,
        *canvas.seen(reading.turn),
    )
    rows = rows[np.argsort(-rows[:, 0])[: EDITS * (1 + 2 * borrow)]]
    trials = []
    for got, kind, i, s in rows:
        trial = np.empty((len(pieces) + 1, 5))
        count = search.edit(canvas.arrays, pieces, len(pieces), int(kind), int(i), int(s), trial)
        trial = trial[:count].copy()
        trials.append(Reading(reading.turn, trial, got - prior_cost(cat, trial), "edit"))
    return sorted(trials, key=lambda r: -r.score)[:EDITS]


def with_loose(canvas: Canvas, reading: Reading, around: loose.Candidates) -> Reading:
    """The reading completed by the loose pieces that explain what it leaves; its score includes them."""
    alone = around.alone(canvas)  # draws on the canvas
    canvas.draw(reading)
    cat = canvas.cat
    free = cat.stock - np.bincount(cat.kind[reading.pieces[:, 0].astype(int)], minlength=len(cat.stock))
    kinds = cat.kind[around.rows[:, 0].astype(int)]
    rows, won = search_loose.add_loose(
        canvas.arrays, around.rows, *alone, kinds, free, *canvas.seen(), PIECE_COST, loose.BEYOND_COST
    )
    return Reading(reading.turn, reading.pieces, reading.score + won, reading.origin, around.rows[rows], reading.score)


def warm_up(cat: Catalogue) -> None:
    """Search a made-up view once, so that the loops are compiled before a duel waits for them.

    The view is of one piece of the catalogue standing alone, seen from 0.7 m at 30 degrees.
    """
    turn = np.radians(30.0)
    down = np.array([(1, 0, 0), (0, -np.sin(turn), -np.cos(turn)), (0, np.cos(turn), -np.sin(turn))])
    camera = np.ascontiguousarray(np.c_[down, (0.0, 60.0, 700.0)])
    matrix = np.array([(700.0, 0, 110.0), (0, 700.0, 110.0), (0, 0, 1.0)])
    canvas = Canvas(cat, camera, matrix, np.full((int(cat.color.max()) + 1, 220, 220), -3.0, np.float32))
    paint.place(canvas.arrays, 0, 0.0, 0.0, cat.size[0, 2] / 2, 0.0, *canvas.seen(), True)
    canvas.gains[cat.color[0], canvas.maps.near > 0] = 3.0
    canvas = Canvas(cat, camera, matrix, canvas.gains)
    shape, color = cat.types[cat.kind[0]]
    piece = Piece(shape, color, cat.poses[0], 0.0, 0.0, float(cat.size[0, 2]) / 2)
    readings(canvas, LayoutCard("warm-up", 1, (piece,)))
