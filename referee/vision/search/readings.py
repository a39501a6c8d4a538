"""From evidence to readings: which pieces, where, explain what is seen over a field.

A reading is a whole build in which every piece rests on the table or on others, together with the
loose pieces around it. Readings are searched for (``beam_search``), started from the card itself where it can
stand, improved by edits, and fitted at full resolution; all compete on the same evidence.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from cards.card import Card
from referee.kernels import local_search
from referee.kernels.loose_pieces import add_loose
from referee.vision.image.view import HEIGHT_MM
from referee.vision.measured import measured
from referee.vision.search import card_placement, loose_pieces
from referee.vision.search.beam_search import MUCH_WIDER, WIDE, WIDER, WIDEST, BeamSearch
from referee.vision.search.canvas import (
    FEW_READINGS,
    FINE,
    FINEST,
    Canvas,
    Fit,
    Reading,
    coarse_canvas,
    crookedness,
    fit_readings,
    joint_fit,
    prior_costs,
    rescored,
    squared,
    states_of,
)
from referee.vision.search.shading import light_score
from referee.vision.search.stances import Catalogue
from referee.vision.search.storeys import CROOKED_NATS, SECOND_BEST, with_storeys

MUCH = measured(0.9, "of the evidence", "builds read wrongly that only the widest search reads: at most 0.87; by hand")
SEARCHES = (
    (WIDE, FEW_READINGS, 1.0),
    (WIDER, FEW_READINGS + 1, 1.0),
    (MUCH_WIDER, FEW_READINGS + 1, MUCH),
    (WIDEST, FEW_READINGS + 1, 0.0),
)
"""Widths of a search, how many of what it finds are improved, and the share of the evidence from which on no wider one
follows; see ``Fit``."""
READINGS = 2 * FEW_READINGS
"""So many distinct ones are handed on."""
READINGS_SEARCHED = measured(30, "readings", "by hand, for time: of the beam, completed by loose pieces")
EDITS = measured(6, "edits", "by hand, for time: of a reading so many of the best are followed")
EDIT_ROUNDS = measured(12, "rounds", "by hand, for time: so often a reading is improved")
COMPARED_READINGS = measured(20, "readings", "by hand, for time: so many tried ones are looked at, half weighed again")
RIGHT_PRIOR = measured(
    500.0,
    "nats",
    "for a reading that satisfies the card: who calls Stop believes it, and each of some 30 others tried is as much "
    "less likely beforehand (ln 30, at some 150 nats of margin for one unit of log odds: pixels err together). Right "
    "builds of the dev sets have a wrong reading up to 370 nats ahead, wrong ones no right one less than 2300 behind",
)
RIGHT_PRIOR_OF_VIEWS = measured(
    200.0,
    "nats",
    "the same for several views: what one hides another shows. By evidence alone two of 270 right builds of rendered "
    "two-view sessions 900 to 947 were behind, by 300 nats and less, and two of 240 wrong ones less than 300 ahead",
)
FAR_BEHIND = measured(800.0, "nats", "by hand: further behind the best a reading cannot win by a finer fit")


def right_prior(views: int) -> float:
    """Nats by which a reading that satisfies the card is ahead before so many views are seen."""
    return RIGHT_PRIOR if views == 1 else RIGHT_PRIOR_OF_VIEWS


@dataclass
class History:
    """What improving readings has met: ``visited`` the best score of each state, ``fitted`` all readings fitted."""

    visited: dict[tuple, float] = field(default_factory=dict)
    fitted: list[Reading] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search of one view has found: its ``readings``, best first, the ``loose`` pieces that complete any, and
    the coarse ``beam`` that further ones can be searched with."""

    canvas: Canvas
    beam: BeamSearch
    loose: loose_pieces.Candidates
    readings: list[Reading]


def readings(
    canvas: Canvas, card: Card | None = None, is_right: Callable[[Reading], bool] | None = None, keep: int = READINGS
) -> list[Reading]:
    """Readings of the evidence, fitted, best first, as ``search`` finds them."""
    return search(canvas, card, is_right, keep).readings


def search(
    canvas: Canvas,
    card: Card | None = None,
    is_right: Callable[[Reading], bool] | None = None,
    keep: int = READINGS,
    searches: Sequence[tuple[np.ndarray, int, float]] = SEARCHES,
) -> Searched:
    """Readings of the evidence, fitted, best first, by at most these ``searches``. Always includes the empty field.

    With a layout card, what the card shows is tried where it fits best. ``is_right`` says whether a reading satisfies
    the card: the best few of both kinds are among what comes back, if any of a kind were met at all.
    """
    small = coarse_canvas(canvas)
    beam, empty = BeamSearch(small), Reading(0.0, np.zeros((0, 5)), 0.0)
    pool, loose = explored(beam, loose_pieces.candidates(small), card, is_right, keep, searches)
    fitted = with_loose(small, fit_readings(small, pool, FINE), loose)
    last = max(r.score for r in fitted) - FAR_BEHIND
    ahead = [r for r in fitted if r.score >= last]
    finest = iter(fit_readings(canvas, [squared(canvas.cat, r) for r in ahead], FINEST))
    fitted = [next(finest) if r.score >= last else rescored(canvas, r) for r in fitted]
    fitted.append(empty)
    best = max(fitted, key=lambda r: r.score)
    loose = loose_pieces.fitted_near(canvas, best, loose)
    loose = loose_pieces.with_pieces_beside(small, canvas, with_loose(canvas, [best], loose)[0], loose)
    whole = with_loose(canvas, fitted, loose)
    outside = loose.outside(canvas)
    if len(outside.rows) < len(loose.rows):  # what stands apart is a reading, and that nothing does another
        apart = [r for r in sorted(whole, key=lambda r: -r.score) if _apart(canvas, r)]
        apart = [r for i, r in enumerate(apart) if i < FEW_READINGS or r.origin == "card"]
        whole += with_loose(canvas, _alone(apart), outside)
    whole = [replace(r, score=r.score + light_score(canvas, r)) for r in whole]
    if is_right is not None:
        whole = [replace(r, score=r.score + RIGHT_PRIOR) if is_right(r) else r for r in whole]
    return Searched(canvas, beam, loose, sorted(whole, key=lambda r: -r.score))


def may_be_right(searched: Searched, is_right: Callable[[Reading], bool]) -> bool:
    """Whether some reading that satisfies the card is as good as any, for who believes beforehand that it does."""
    least = searched.readings[0].score - RIGHT_PRIOR
    return any(reading.score > least and is_right(reading) for reading in searched.readings)


def explored(
    beam: BeamSearch,
    loose: loose_pieces.Candidates,
    card: Card | None,
    is_right: Callable[[Reading], bool] | None,
    keep: int,
    searches: Sequence[tuple[np.ndarray, int, float]] = SEARCHES,
) -> tuple[list[Reading], loose_pieces.Candidates]:
    """The ``keep`` best distinct readings, the card's own and the best of both rulings; and the loose pieces they are
    completed by.

    Edits of what a layout card shows come first: where they explain what is seen, their other trials are the rivals.
    A quick search follows, and a wider one where the best reading leaves something unexplained. Then the best are
    grown by several pieces at once, in at most as many rounds as there are wider searches.
    """
    small, history, empty = beam.canvas, History(), Reading(0.0, np.zeros((0, 5)), 0.0)
    found = with_loose(small, [empty, *card_placement.from_card(small, card)], loose)
    if len(found) > 1:
        loose, found = _completed(small, loose, found[1:])
    shown = _distinct_readings(sorted((r for r in found if r.count), key=lambda r: -r.score), SECOND_BEST)
    better = [improve(beam, r, loose, history) for r in _distinct_readings(shown, SECOND_BEST + 1)]
    if not _good(small, better):
        for widths, improved, enough in searches:
            found += with_loose(small, beam.search(widths, READINGS_SEARCHED), loose)
            loose, found = _completed(small, loose, better + found)
            better += [improve(beam, r, loose, history) for r in _starts(small, found, card, improved)]
            fit = _fit(small, max(better + found, key=lambda r: r.score))
            if fit.good or fit.share > enough:
                break
    grown: list[Reading] = []
    for _ in searches[1:]:
        more = _grown(beam, better, loose)[:keep]
        better += [improve(beam, r, loose, history) for r in more[:FEW_READINGS]]
        grown += more
        if _good(small, better):
            break
    lean = _distinct_readings(sorted(better, key=lambda r: -r.score), SECOND_BEST)
    if lean and (not _good(small, better) or crookedness(small, lean[0]) > CROOKED_NATS):
        raised = with_loose(small, [r for base in lean for r in with_storeys(small, base)], loose)
        better += [improve(beam, r, loose, history) for r in sorted(raised, key=lambda r: -r.score)[:SECOND_BEST]]
    tried = history.fitted
    pool = _pool(better + found + _rivals(small.cat, better, tried), keep) + grown
    pool += _missing(beam, pool, tried, loose, card, is_right)
    last = _distinct_readings(sorted(pool, key=lambda r: -r.score), SECOND_BEST)
    return pool + [improve(beam, r, loose, history) for r in last], loose


def _completed(
    canvas: Canvas, loose: loose_pieces.Candidates, found: list[Reading]
) -> tuple[loose_pieces.Candidates, list[Reading]]:
    """Loose pieces with those that the best reading leaves unexplained, and the best readings weighed with them."""
    found = sorted(found, key=lambda r: -r.score)
    more = loose_pieces.with_pieces_behind(canvas, found[0], loose)
    if canvas.beside:
        more = loose_pieces.with_pieces_behind(canvas.beside, found[0], more)
    if more is loose:
        return loose, found
    kept = [r for i, r in enumerate(found) if i < COMPARED_READINGS // 2 or r.origin == "card"]
    return more, with_loose(canvas, _alone(kept), more)


def _alone(found: list[Reading]) -> list[Reading]:
    """Readings without what their loose pieces win."""
    return [replace(r, score=r.own) for r in found]


def _grown(beam: BeamSearch, better: list[Reading], loose: loose_pieces.Candidates) -> list[Reading]:
    """The best two with further pieces on them, or instead of some, best first: such as have other pieces, or poses,
    than all of them."""
    canvas, known = beam.canvas, {r.stances for r in better}
    best = _distinct_readings(sorted(better, key=lambda r: -r.score), SECOND_BEST)
    tried = with_loose(canvas, fit_readings(canvas, [r for base in best for r in beam.grown(base)]), loose)
    ahead = [r for r in tried if r.stances not in known]
    return _distinct_readings(sorted(ahead, key=lambda r: -r.score), len(ahead))


def _good(canvas: Canvas, found: list[Reading]) -> bool:
    """Whether the best reading explains all there is."""
    return bool(found) and _fit(canvas, max(found, key=lambda r: r.score)).good


def _fit(canvas: Canvas, reading: Reading) -> Fit:
    """How well a reading accounts for what a canvas shows, and that beside."""
    views = [canvas, canvas.beside] if canvas.beside else [canvas]
    return joint_fit(views, [reading] * len(views))


def _rivals(cat: Catalogue, better: list[Reading], tried: list[Reading]) -> list[Reading]:
    """Those tried that need no more unusual poses than the best reading: the beam search tries none either."""

    def rare(reading: Reading) -> int:
        return int(cat.rare[reading.pieces[:, 0].astype(int)].sum())

    most = max((rare(r) for r in sorted(better, key=lambda r: -r.score)[:1]), default=0)
    return [r for r in tried if rare(r) <= most]


def _pool(found: list[Reading], keep: int) -> list[Reading]:
    """The best that differ, and the best that is as the card shows."""
    found = sorted(found, key=lambda r: -r.score)
    pool = _distinct_readings(found, keep)
    return pool + [r for r in found if r.origin == "card" and r not in pool][:1]


def _missing(
    beam: BeamSearch,
    pool: list[Reading],
    tried: list[Reading],
    loose: loose_pieces.Candidates,
    card: Card | None,
    is_right: Callable[[Reading], bool] | None,
) -> list[Reading]:
    """The best readings of a ruling that the pool has none of: of those tried, and among the best one's neighbours.

    A reading that satisfies the card but is far behind is as good as none: the search came to it on its own way, and
    the best reading with one piece in another's place may be much nearer.
    """
    if is_right is None or card is None:
        return []
    best = max(pool, key=lambda r: r.score)
    wanted = not all(is_right(r) for r in pool)
    if any(r.score > best.score - FAR_BEHIND and is_right(r) == wanted for r in pool):
        return []
    canvas, met = beam.canvas, [r for r in pool if is_right(r) == wanted]
    best_first = sorted(tried, key=lambda r: -r.score)
    others = (r for r in best_first if not wanted or _may_satisfy(canvas.cat, r, card, _apart(canvas, r)))
    more = [r for r in islice(others, COMPARED_READINGS) if is_right(r) == wanted][:SECOND_BEST] if not met else []
    if more and (not wanted or more[0].score > best.score - FAR_BEHIND):
        return more
    near = _neighbours(beam, best, loose, card, is_right if wanted else None)
    behind = max((r.score for r in met + more), default=-np.inf)
    return more + [r for r in near if r.score > behind and is_right(r) == wanted][:SECOND_BEST]


def _neighbours(
    beam: BeamSearch,
    reading: Reading,
    loose: loose_pieces.Candidates,
    card: Card,
    is_right: Callable[[Reading], bool] | None,
) -> list[Reading]:
    """A reading with one edit or one piece more, the best first.

    With ``is_right`` those that may satisfy the card: the best by their pieces alone, which a fit may bring to where
    the card wants them, and the best of the next that do as they stand: of a row of pipes in another order there are
    more trials with the card's pieces than are fitted.
    """
    if not reading.count:
        return []
    trials = _edited(beam.canvas, reading, None) + beam.successors(reading)
    if is_right is not None:
        apart = _apart(beam.canvas, reading)
        trials = [r for r in trials if _may_satisfy(beam.canvas.cat, r, card, apart)]
    trials.sort(key=lambda r: -r.score)
    chosen = trials[:EDITS]
    if is_right is not None:
        chosen += islice(filter(is_right, trials[EDITS : EDITS + COMPARED_READINGS]), SECOND_BEST)
    return sorted(with_loose(beam.canvas, fit_readings(beam.canvas, chosen), loose), key=lambda r: -r.score)


def _apart(canvas: Canvas, reading: Reading) -> int:
    """How many of a reading's loose pieces stand in the field."""
    return int((np.abs(reading.loose[:, 1:3]) <= canvas.field_mm).all(1).sum()) if len(reading.loose) else 0


def _may_satisfy(cat: Catalogue, reading: Reading, card: Card, apart: int) -> bool:
    """Whether the pieces are as many, or those, that a card asks for, wherever they stand (a quick test); so many more
    stand ``apart`` in the field."""
    return card.asks_for([cat.types[k] for k in cat.kind[reading.pieces[:, 0].astype(int)]], apart)


def _starts(canvas: Canvas, found: list[Reading], card: Card | None, most: int) -> list[Reading]:
    """The readings worth improving: the best, and the best that are what the card asks for."""
    found = sorted(found, key=lambda r: -r.score)
    starts = _distinct_readings(found, most)
    starts += [r for r in found if r.origin == "card" and r not in starts][:2]
    if card and card.shapes_alone:
        starts += [r for r in found if _may_satisfy(canvas.cat, r, card, 0) and r not in starts][:2]
    return starts


def _distinct_readings(found: list[Reading], most: int) -> list[Reading]:
    chosen: dict[tuple, Reading] = {}
    alike: Counter[tuple] = Counter()
    for r in found:
        if r.key not in chosen and alike[r.stances] < SECOND_BEST:
            chosen[r.key] = r
            alike[r.stances] += 1
        if len(chosen) == most:
            break
    return list(chosen.values())


def improve(beam: BeamSearch, reading: Reading, loose: loose_pieces.Candidates, history: History) -> Reading:
    """The reading after the edits (replace, insert, remove, swap, nudge, split a piece) that help it. Where the way
    joins that of an earlier reading it is not gone again."""
    canvas = beam.canvas
    for _ in range(EDIT_ROUNDS):
        if history.visited.get(reading.key, -np.inf) >= reading.score - 1.0:
            return reading
        history.visited[reading.key] = reading.score
        best = reading
        fitted = trials(beam, reading)
        allowed, *outside = _outside(canvas, [reading, *fitted])  # what stands outside is a loose piece
        inside = [r for r, n in zip(fitted, outside, strict=True) if n <= allowed]
        for trial in with_loose(canvas, inside, loose):
            history.fitted.append(trial)
            if trial.score > best.score + 1.0:
                best = trial
        if best is reading:
            return reading
        reading = best
    return reading


def trials(beam: BeamSearch, reading: Reading) -> list[Reading]:
    """The promising edits of a reading (replace, insert, remove, swap, nudge, split a piece), fitted."""
    return fit_readings(beam.canvas, _edited(beam.canvas, reading) + beam.successors(reading)[:EDITS])


def _edited(canvas: Canvas, reading: Reading, most: int | None = EDITS) -> list[Reading]:
    """The ``most`` promising edits of a reading, None for all, not yet fitted."""
    cat, pieces = canvas.cat, np.ascontiguousarray(reading.pieces)
    if not len(pieces):
        return []
    rows = local_search.edits(canvas.arrays, cat.stock, pieces, canvas.scene(reading.turn))
    rows = rows[np.argsort(-rows[:, 0])[:most]]
    states = np.zeros((len(rows), len(pieces) + 1, 5))
    counts = local_search.edited(canvas.arrays, pieces, rows, states).tolist()
    builds = [state[:count] for state, count in zip(states, counts, strict=True)]
    scores = rows[:, 0] - prior_costs(cat, builds)
    return [
        Reading(reading.turn, builds[i], float(scores[i]), "edit") for i in np.argsort(-scores, kind="stable")[:most]
    ]


def _outside(canvas: Canvas, found: Sequence[Reading]) -> list[int]:
    """How many pieces of each build have their centre outside the field, or above what a view shows."""
    pieces, counts, turns = states_of(found)
    c, s = np.cos(turns)[:, None], np.sin(turns)[:, None]
    x, y = c * pieces[..., 1] - s * pieces[..., 2], s * pieces[..., 1] + c * pieces[..., 2]
    (wide, deep), there = canvas.field_mm, np.arange(pieces.shape[1]) < counts[:, None]
    beyond = (np.abs(x) > wide) | (np.abs(y) > deep) | (pieces[..., 3] > HEIGHT_MM)
    return (beyond & there).sum(1).tolist()


def with_loose(canvas: Canvas, found: Sequence[Reading], loose: loose_pieces.Candidates) -> list[Reading]:
    """Readings completed by the loose pieces that explain what they leave; their scores include them."""
    if not found:
        return []
    alone = loose.alone(canvas)  # draws on the canvas
    stock, field_mm, scene = canvas.cat.stock, np.array(canvas.field_mm), canvas.scene()
    chosen, counts, won = add_loose(canvas.arrays, states_of(found), alone, stock, field_mm, scene, loose_pieces.PRICES)
    return [
        Reading(r.turn, r.pieces, r.score + more, r.origin, loose.rows[rows[:count]], r.score)
        for r, rows, count, more in zip(found, chosen, counts.tolist(), won.tolist(), strict=True)
    ]
