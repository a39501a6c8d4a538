"""One zone seen by several cameras: each view is searched by itself, then two of them together, and every hypothesis is
scored by all views.

All cameras are calibrated against the same mats, so a build in a mat's frame means the same in each view. The search by
two views draws each piece into both coarse canvases, where a millimetre is less than a pixel, and adds what it wins:
what no pixel of one view tells of, a piece behind another say, the other tells. A hypothesis is then fitted to both
together, and from there to each view by itself (cameras agree on a place to a millimetre or so, and that costs
nothing), and its scores are added. What is against a hypothesis before any pixel is seen, and what speaks for one that
satisfies the card, counts once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from cards.card import Card
from referee.kernels import rasterizer
from referee.kernels.loose_pieces import climb
from referee.vision.search import loose_pieces
from referee.vision.search.beam_search import BeamSearch
from referee.vision.search.canvas import (
    FEW_READINGS,
    FINE,
    FINEST,
    Canvas,
    Reading,
    crookedness,
    fit_readings,
    prior_cost,
    squared,
    turned,
)
from referee.vision.search.readings import (
    EDIT_ROUNDS,
    FAR_BEHIND,
    READINGS,
    Searched,
    explored,
    right_prior,
    trials,
    with_loose,
)
from referee.vision.search.shading import light_score
from referee.vision.search.storeys import SECOND_BEST

Hypothesis = tuple[Reading, ...]
"""One build as each view has it, fitted there; the first's score is that of all views together."""


def joint_readings(searched: Sequence[Searched], is_right: Callable[[Reading], bool], card: Card) -> list[Hypothesis]:
    """Hypotheses of the evidence of all views, best first; of one view its readings."""
    if len(searched) == 1:
        return [(reading,) for reading in searched[0].readings]
    canvas = _both(searched)
    beam = BeamSearch(canvas)
    pool, _ = explored(beam, _loose(canvas, searched), card, is_right, READINGS)
    wholes = [_with_apart(one.canvas, reading) for one in searched for reading in one.readings]
    wholes += [_with_apart(canvas, reading) for reading in pool]
    found = scored(searched, _distinct(wholes, set()), is_right)
    met = [views for best in found[:SECOND_BEST] for views in _improved(searched, beam, best, is_right)]
    fresh = [_with_apart(searched[0].canvas, views[0]) for views in _best_of_each(met, is_right, SECOND_BEST)]
    found += scored(searched, _distinct(fresh, {_key(reading) for reading in wholes}), is_right)
    return sorted(found, key=lambda views: -views[0].score)


def together(searched: Sequence[Searched], views: Hypothesis) -> float:
    """Of what the views' own best readings explain, each by itself, the share that a hypothesis does; 1 of one view."""
    apart = sum(one.readings[0].score for one in searched)
    return views[0].score / apart if len(searched) > 1 and apart > 0 else 1.0


def _both(searched: Sequence[Searched]) -> Canvas:
    """The coarse canvas of two views: pieces win what they win in both."""
    first, second = (_past_loose(one) for one in searched[:2])
    return replace(first, beside=second)


def _past_loose(one: Searched) -> Canvas:
    """The coarse canvas of a view; where it shows a loose piece before the field it tells nothing of what is behind."""
    canvas, best = one.beam.canvas, one.readings[0]
    canvas.draw(best)
    before = canvas.maps.near.copy()
    for row in best.loose[~inside(canvas, best)]:
        rasterizer.place(canvas.arrays, row, canvas.scene(), True)
    return replace(canvas, gains=np.where(canvas.maps.near > before, np.float32(0.0), canvas.gains))


def _loose(canvas: Canvas, searched: Sequence[Searched]) -> loose_pieces.Candidates:
    """The loose pieces that any view suggests, fitted to both."""
    rows = np.vstack([one.loose.rows for one in searched])
    inside = (np.abs(rows[:, 1:3]) <= canvas.field_mm).all(1)
    rasterizer.clear(canvas.scene())
    for which, closed in ((inside, np.zeros(2)), (~inside, np.array(canvas.field_mm) + loose_pieces.BEYOND_MM)):
        some = np.c_[rows[which], np.zeros((int(which.sum()), 2))]
        rows[which] = climb(canvas.arrays, some, closed, loose_pieces.CLIMB, canvas.scene())[:, :5]
    return loose_pieces.Candidates(rows)


def _best_of_each(found: Sequence[Hypothesis], is_right: Callable[[Reading], bool], most: int) -> Iterator[Hypothesis]:
    """The best few that satisfy the card, and of those that do not."""
    for right in (True, False):
        of_ruling = [views for views in found if is_right(views[0]) == right]
        yield from sorted(of_ruling, key=lambda views: -views[0].score)[:most]


def scored(
    searched: Sequence[Searched], builds: Sequence[Reading], is_right: Callable[[Reading], bool]
) -> list[Hypothesis]:
    """The builds as hypotheses, best first; what is far behind where it stands is not fitted, but for the best few of
    each ruling: a millimetre that one view is off may cost so much."""
    builds = [squared(searched[0].canvas.cat, build) for build in builds]
    columns = [_in_view(one, builds, [_rows(build) for build in builds]) for one in searched]
    sums = np.sum([[reading.score for reading in column] for column in columns], axis=0)
    best_first = [(builds[i], sums[i], is_right(columns[0][i])) for i in np.argsort(-sums)]
    ahead = [build for build, total, _ in best_first if total > sums.max() - 2 * FAR_BEHIND]
    for ruling in (True, False):
        of_ruling = [build for build, _, right in best_first if right == ruling]
        ahead += [build for build in of_ruling[:FEW_READINGS] if build not in ahead]
    together = _fitted_together(searched, ahead)
    rows = zip(*(_fitted(one, together) for one in searched), strict=True)
    return sorted((_added(searched, views, is_right) for views in rows), key=lambda views: -views[0].score)


def _fitted(one: Searched, builds: Sequence[Reading]) -> list[Reading]:
    """The builds fitted to one view, with the loose pieces that it shows; their pieces keep their order."""
    fitted = _in_view(one, builds, _places(one.canvas, builds, FINEST))
    return [replace(build, score=build.score + light_score(one.canvas, build)) for build in fitted]


def _fitted_together(searched: Sequence[Searched], builds: Sequence[Reading]) -> Sequence[Reading]:
    """The builds with all pieces where two views, together, have them; of one view as they are."""
    if len(searched) == 1:
        return builds
    both = replace(searched[0].canvas, beside=searched[1].canvas)
    return [
        replace(build, pieces=rows[: build.count], loose=turned(rows[build.count :], build.turn))
        for build, rows in zip(builds, _places(both, builds, FINE), strict=True)
    ]


def _places(canvas: Canvas, builds: Sequence[Reading], steps: tuple) -> list[np.ndarray]:
    """Where a fit by these steps has each build's pieces and those apart (n, 5), in their order."""
    before = [_rows(build) for build in builds]
    some = [Reading(build.turn, rows, 0.0) for build, rows in zip(builds, before, strict=True) if len(rows)]
    after = iter(fit_readings(canvas, some, steps))
    return [_in_order(rows, next(after).pieces) if len(rows) else rows for rows in before]


def _in_view(one: Searched, builds: Sequence[Reading], places: Sequence[np.ndarray]) -> list[Reading]:
    """The builds with their pieces and those apart at these ``places`` (n, 5), scored in one view, with the loose ones
    that it shows."""
    wholes = [
        Reading(build.turn, rows, one.canvas.draw(Reading(build.turn, rows, 0.0)) if len(rows) else 0.0)
        for build, rows in zip(builds, places, strict=True)
    ]
    found = []
    for build, whole in zip(builds, with_loose(one.canvas, wholes, one.loose.outside(one.canvas)), strict=True):
        pieces, apart = whole.pieces[: build.count], whole.pieces[build.count :]
        own = replace(build, pieces=pieces)
        loose = np.vstack([turned(apart, build.turn), whole.loose])
        found.append(replace(own, score=whole.score - _before_any_pixel(one.canvas, own), loose=loose))
    return found


def _before_any_pixel(canvas: Canvas, build: Reading) -> float:
    """Nats against a build with pieces apart before any pixel is seen."""
    apart = loose_pieces.PRICES["apart"] * len(build.loose)
    return apart + (prior_cost(canvas.cat, build.pieces) + crookedness(canvas, build) if build.count else 0)


def _rows(build: Reading) -> np.ndarray:
    """The pieces (n, 5) of a build, and then those apart, in the frame that it is turned in."""
    return np.vstack([build.pieces, turned(build.loose, -build.turn)])


def _in_order(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The pieces ``after`` a fit (n, 5) in the order that they had before."""
    left, out = list(range(len(after))), []
    for row in before:
        same = [k for k in left if after[k, 0] == row[0]]
        nearest = min(same, key=lambda k: float(np.abs(after[k, 1:4] - row[1:4]).sum()))
        left.remove(nearest)
        out.append(after[nearest])
    return np.array(out)


def _added(searched: Sequence[Searched], views: Hypothesis, is_right: Callable[[Reading], bool]) -> Hypothesis:
    """The views with the score of all together as the first's."""
    first, *others = views
    total = first.score + right_prior(len(views)) * is_right(first)
    for one, reading in zip(searched[1:], others, strict=True):
        total += reading.score + _before_any_pixel(one.canvas, _with_apart(one.canvas, reading))
    return replace(first, score=total), *others


def _improved(
    searched: Sequence[Searched], beam: BeamSearch, views: Hypothesis, is_right: Callable[[Reading], bool]
) -> list[Hypothesis]:
    """What is met while a hypothesis is edited as long as it helps in all views together, on their coarse canvases."""
    coarse = [replace(one, canvas=one.beam.canvas) for one in searched]
    best, *_ = met = scored(coarse, [_with_apart(coarse[0].canvas, views[0])], is_right)
    for _ in range(EDIT_ROUNDS):
        for edits_of in (_edits, _grown):
            tried = scored(coarse, _distinct(edits_of(beam, best), set()), is_right)
            met += tried
            if tried and tried[0][0].score > best[0].score + 1.0:
                best = tried[0]
                break
        else:
            break
    return met


def _edits(beam: BeamSearch, views: Hypothesis) -> list[Reading]:
    """The promising edits of a hypothesis: of its build, and of what stands apart in the field."""
    reading = _with_apart(beam.canvas, views[0])
    apart = reading.loose
    edits = [replace(edit, loose=apart) for edit in trials(beam, reading)] if reading.count else []
    more = loose_pieces.one_further(beam.canvas, reading)
    rows = [np.vstack([apart, row]) for row in more] + [np.delete(apart, i, 0) for i in range(len(apart))]
    edits += [replace(reading, loose=some) for some in rows]
    return edits + [_set_apart(reading, apart, i) for i in beam.standing_alone(reading)]


def _set_apart(reading: Reading, apart: np.ndarray, i: int) -> Reading:
    """A reading whose piece i stands apart in the field, beside those that are ``apart`` (n, 5)."""
    rows = np.vstack([apart, turned(reading.pieces[i : i + 1], reading.turn)])
    return replace(reading, pieces=np.delete(reading.pieces, i, 0), loose=rows)


def _grown(beam: BeamSearch, views: Hypothesis) -> list[Reading]:
    """A hypothesis with several further pieces at once."""
    apart = _with_apart(beam.canvas, views[0]).loose
    return [replace(build, loose=apart) for build in beam.grown(views[0])]


def _with_apart(canvas: Canvas, reading: Reading) -> Reading:
    """The reading without the loose pieces outside the field: of those in it, which count, every view is asked."""
    return replace(reading, score=0.0, loose=reading.loose[inside(canvas, reading)])


def inside(canvas: Canvas, reading: Reading) -> np.ndarray:
    """Which of the loose pieces (n,) stand in the field."""
    return (np.abs(reading.loose[:, 1:3]) <= canvas.field_mm).all(1)


def _distinct(builds: Sequence[Reading], known: set[tuple]) -> list[Reading]:
    """Builds that differ from one another and from what is known."""
    return list({_key(build): build for build in builds if _key(build) not in known}.values())


def _key(build: Reading) -> tuple:
    """Equal for builds of the same pieces in about the same places."""
    rows = _rows(build).tolist()
    return build.count, *sorted((int(s), round(x / 8), round(y / 8), round(z / 8)) for s, x, y, z, _ in rows)
