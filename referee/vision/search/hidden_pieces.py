"""Pieces that no view shows any more, and earlier pictures of the same field do.

The law. A build grows: each earlier picture shows some of its pieces. So a hypothesis of what stands now is scored by
the earlier pictures too: in each by those of its pieces that explain it best, none without what carries it, compared
with the picture's own best reading. Of pictures that show the same the last one counts, and one in which something
hides what stands before and after it does not. A piece that no view shows must be clearly shown by an earlier picture.

First the hypotheses of the settled views are tried, with the pieces that they would hide. Where a picture, earlier or
settled, contradicts them, or the best does not satisfy the card and one that does is not far behind (who calls Stop
believes that the build does), the build is tracked from picture to picture, the best few hypotheses of each grown on
those of the one before; and hypotheses of what stands now are made of what is tracked: grown on it, under and behind
those of the settled views.
What one picture leaves open, which piece of a colour it shows and how far off, or whether a plank stands or lies on
another, the others tell: one picture shows a piece on a ray, and it may stand wherever something carries it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from referee.vision.measured import measured
from referee.vision.search.canvas import (
    FINE,
    Canvas,
    Reading,
    draw_loose,
    fit_readings,
    lowest_first,
    prior_cost,
    squared,
    turned,
)
from referee.vision.search.joint import Hypothesis, inside, scored
from referee.vision.search.loose_pieces import pushed_out
from referee.vision.search.readings import FEW_READINGS, READINGS, Searched, right_prior
from referee.vision.search.stances import Catalogue

HIDDEN_SHARE = measured(0.12, "of a piece's pixels", "by hand: with so few in sight it counts as hidden")
SAME_PLACE_MM = measured((16.0, 20.0, 14.0), "mm", "by hand: two readings of one piece are no further apart")
DEPTH_MM = measured(12.0, "mm", "by hand: so far off may one picture tell how far behind another a piece stands")
RESTS_MM = measured(8.0, "mm", "by hand: so far above or below what carries it one picture may have a piece")
CLEARLY_SEEN = measured(300.0, "nats", "by hand: what is less ahead in a picture may be another piece")
MOST_TOLD = measured(3000.0, "nats", "by hand: an earlier picture says no more against a hypothesis")
UNLIKE = measured(450.0, "nats", "by hand: a picture that is so far behind contradicts a hypothesis")
MISFIT = measured(650.0, "nats", "right builds were up to 481 behind the best fit of settled views, a wrong one 876")
GROWN_PIECES = measured(6, "pieces", "by hand, for time: so many are put on what an earlier picture shows")
TRACKED_PIECES = measured(2, "pieces", "by hand, for time: so many may come between two earlier pictures")
GROWN_STATES = measured(24, "builds", "by hand, for time: of each number of pieces")
FARTHER_MM = measured((0.0, -12.0, 12.0, -24.0, 24.0), "mm", "by hand: steps of depth that a fit covers between them")
APART_MM = measured(8.0, "mm", "by hand: places of a further piece that are nearer to each other are one")
TRACKS = measured(3, "builds", "by hand, for time: so many of what an earlier picture may show are followed")
LAST_TRACKED = measured(2, "pictures", "by hand, for time: on what the last of them show builds are grown")
COMPLETED_OF_EACH = measured(5, "hypotheses", "by hand, for time: so many of each ruling are tried with hidden pieces")
WON_BY_HIDDEN = measured(2500.0, "nats", "by hand, for time: what is so far behind leads with no hidden piece either")
MAY_LEAD = measured(10000.0, "nats", "for time: what tracking made right uncontradicted was 1961 and 3863 behind")
WEIGHED = measured(12, "hypotheses", "by hand, for time: so many of the grown or completed ones are weighed")


@dataclass(frozen=True, eq=False)
class EarlierView:
    """What an earlier picture shows of a field, as ``searched``, and whether it shows the ``whole`` of it; ``lying``
    (n, 5): what any picture of the duel has outside the field, in the mat's frame; ``ends``: the first picture and the
    settled one."""

    searched: Searched
    whole: bool
    lying: np.ndarray
    ends: Sequence["EarlierView"]

    @cached_property
    def standing(self) -> np.ndarray:
        """(n, 5) what stands in the field by the best reading, in the mat's frame."""
        return inside_and_outside(self.searched.canvas, self.searched.readings[0])[0]

    @cached_property
    def outside(self) -> np.ndarray:
        """(n, 5) what lies outside the field by the best reading, and of what lay there in other pictures what this
        one shows too, in the mat's frame."""
        canvas = self.searched.beam.canvas
        found = inside_and_outside(canvas, self.searched.readings[0])[1]
        for row in self.lying:
            tried = found, np.vstack([found, row])
            found = max(tried, key=lambda rows: _evidence(canvas, np.vstack([self.standing, rows])))
        return found

    @cached_property
    def surely_outside(self) -> np.ndarray:
        """(n, 5) what of that lay there at first, or lies there now, or would be in sight. The rest came while players
        built and is hidden now: it may stand in the field as well, on the same line of sight."""
        now, best = self.ends[-1].searched.canvas, self.ends[-1].searched.readings[0]
        there, sure = np.vstack([one.outside for one in self.ends]), []
        for row in self.outside:
            sure.append(_is_among(now.cat, row, there) or bool(_shown_in(now, _with(best, row))[-1] > HIDDEN_SHARE))
        return self.outside[np.array(sure, bool)]

    @cached_property
    def suggested(self) -> np.ndarray:
        """(n, 5) what stands in the field by some reading, in the mat's frame, the best one's first."""
        canvas, readings = self.searched.canvas, self.searched.readings[:READINGS]
        return _distinct_pieces(canvas.cat, [inside_and_outside(canvas, one)[0] for one in readings])

    def knows(self, row: np.ndarray) -> bool:
        """Whether the picture shows most of where a piece (5,) in the mat's frame may stand."""
        canvas = self.searched.beam.canvas
        canvas.draw(Reading(0.0, row[None], 0.0))
        return bool((canvas.gains[:, canvas.maps.near > 0] != 0).any(0).mean() > 0.5)

    def explained(self, rows: np.ndarray) -> float:
        """The nats that pieces (n, 5) in the mat's frame, and those outside the field, explain on the coarse canvas."""
        return _fitted(self.searched.beam.canvas, self.shown_of(rows))

    def shown_of(self, rows: np.ndarray) -> np.ndarray:
        """(m, 5) those of the pieces (n, 5), and of those surely outside the field, that explain most together."""
        return _best_of(self.searched.beam.canvas, np.vstack([rows, self.surely_outside]))

    @cached_property
    def best_nats(self) -> float:
        """The same of the best reading, and of all that it has outside the field."""
        canvas = self.searched.beam.canvas
        return _fitted(canvas, _best_of(canvas, np.vstack([self.standing, self.outside])))


def earlier_views(pictures: Sequence[tuple[Searched, bool]]) -> list[EarlierView]:
    """What each of the pictures of a field shows, and whether the whole of it, beside the others."""
    lying = np.vstack([inside_and_outside(one.canvas, one.readings[0])[1] for one, _ in pictures])
    ends: list[EarlierView] = []
    views = [EarlierView(one, whole, lying, ends) for one, whole in pictures]
    ends += views[0], views[-1]
    return views


def is_covered(number: int, views: Sequence[EarlierView], settled: EarlierView) -> bool:
    """Whether something hides in an earlier picture a piece that stands in one place before and after it, before it by
    a picture of the whole field that what this one shows does not explain: the best reading may misplace a piece."""
    one, cat = views[number], views[number].searched.canvas.cat
    whole = (view for view in views[:number] if view.whole)
    unlike = (view.standing for view in whole if view.explained(one.standing) < view.best_nats - CLEARLY_SEEN)
    before = np.vstack([np.zeros((0, 5)), *unlike])
    after = np.vstack([settled.suggested, *(view.standing for view in views[number + 1 :])])
    stood = (row for row in before if _is_among(cat, row, after) and not _is_among(cat, row, one.standing))
    return any(one.knows(row) for row in stood)


def is_repeated(number: int, views: Sequence[EarlierView]) -> bool:
    """Whether another picture shows the whole field, and in it the same pieces; of two such the later tells."""
    one, cat = views[number], views[number].searched.canvas.cat
    others = (v.standing for v in (views[number + 1 :] if one.whole else views) if v.whole)
    same = (rows for rows in others if len(rows) == len(one.standing))
    return any(all(_is_among(cat, row, rows) for row in one.standing) for rows in same)


def inside_and_outside(canvas: Canvas, reading: Reading) -> tuple[np.ndarray, np.ndarray]:
    """(n, 5) each: the pieces of a reading in the field, and those outside it, in the mat's frame."""
    rows = np.vstack([turned(reading.pieces, reading.turn), reading.loose])
    within = (np.abs(rows[:, 1:3]) <= canvas.field_mm).all(1)
    return rows[within], rows[~within]


def with_hidden_pieces(
    searched: Sequence[Searched],
    hypotheses: Sequence[Hypothesis],
    earlier: Sequence[EarlierView],
    is_right: Callable[[Reading], bool],
) -> list[Hypothesis]:
    """The hypotheses of the settled views, scored by ``earlier`` pictures too, best first; and such as these suggest:
    with what no view shows of them and, where they contradict all that or the best of it does not satisfy the card,
    beside and on what the last pictures show, and grown on it."""
    settled = _distinct(searched[0].canvas, hypotheses)
    told = _weighed(searched, settled, [], earlier, is_right)
    behind = [told[0][0].score - views[0].score for views in told if is_right(views[0])]
    if not behind or 0 < behind[0] < MAY_LEAD or is_unlike(searched, told, earlier, is_right):
        tracked = [rows for tracks in _tracked(earlier)[-LAST_TRACKED:] for rows in tracks if len(rows)]
        grown = _on_tracked(searched, settled, tracked, is_right)
        told = _weighed(searched, _distinct(searched[0].canvas, [*settled, *grown]), tracked, earlier, is_right)
    return told


def _on_tracked(
    searched: Sequence[Searched],
    settled: Sequence[Hypothesis],
    tracked: Sequence[np.ndarray],
    is_right: Callable[[Reading], bool],
) -> list[Hypothesis]:
    """Hypotheses made of what is tracked, each (n, 5): with pieces of the settled ones on and beside it, and grown."""
    canvas, tried = searched[0].canvas, [views[0] for views in settled[: 2 * FEW_READINGS]]
    tops = [_on_top(canvas, rows, reading) for rows in tracked for reading in tried]
    lifted = [(_put_on(canvas, rows, reading), len(rows)) for rows in tracked for reading in tried]
    tops += fit_readings(searched[0].beam.canvas, [build for build, _ in lifted], FINE, [held for _, held in lifted])
    found = scored(searched, tops, is_right)
    for rows in tracked:
        built = _grown_on(searched[0], rows, settled[0][0].turn, GROWN_PIECES)
        grown = scored(searched, built, is_right)[:WEIGHED]
        found += [*grown, *(_put_back(searched, views, rows) for views in grown)]
    return found


def _weighed(
    searched: Sequence[Searched],
    begins: Sequence[Hypothesis],
    tracked: Sequence[np.ndarray],
    earlier: Sequence[EarlierView],
    is_right: Callable[[Reading], bool],
) -> list[Hypothesis]:
    """Hypotheses, and the best of each ruling with those pieces of the earlier pictures, or ``tracked`` (n, 5), that
    they would hide, scored by these pictures too, best first; without what is far behind."""
    hidden = _distinct_pieces(searched[0].canvas.cat, [*tracked, *(one.suggested for one in earlier)])
    told: list[Hypothesis] = []
    ahead = dict.fromkeys((True, False), -np.inf)

    def weigh(some: Sequence[Hypothesis]) -> None:
        for views in sorted(some, key=lambda views: -views[0].score):
            right = is_right(views[0])
            score, least = views[0].score, ahead[right] - CLEARLY_SEEN
            for one in earlier:
                if score <= least:  # far behind already
                    break
                score += told_by(searched, views, [one])
            if score > least:
                ahead[right] = max(ahead[right], score)
                told.append((replace(views[0], score=score), *views[1:]))

    weigh(begins)
    for right in (True, False):
        for views in [views for views in begins if is_right(views[0]) == right][:COMPLETED_OF_EACH]:
            if views[0].score > max(ahead.values()) - WON_BY_HIDDEN:
                weigh(_completed(searched, views, hidden, earlier, is_right))
    return sorted(told, key=lambda views: -views[0].score)


def _distinct(canvas: Canvas, hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The best of the hypotheses that have the same pieces in the same places, best first."""
    found: dict[tuple, Hypothesis] = {}
    for views in sorted(hypotheses, key=lambda views: -views[0].score):
        found.setdefault(_places_of(_in_field(canvas, views[0])), views)
    return list(found.values())


def _distinct_pieces(cat: Catalogue, builds: Sequence[np.ndarray]) -> np.ndarray:
    """(n, 5) the pieces of all the builds (m, 5), each once, where the first of these has it."""
    found = np.zeros((0, 5))
    for row in np.vstack(builds):
        found = found if _is_among(cat, row, found) else np.vstack([found, row])
    return found


def _tracked(earlier: Sequence[EarlierView]) -> list[list[np.ndarray]]:
    """For each earlier picture the best few of what may stand in the field by it and those before it, as (n, 5) pieces
    in the mat's frame."""
    found: list[list[np.ndarray]] = [[]]
    for k, one in enumerate(earlier):
        reading, canvas, tried = one.searched.readings[0], one.searched.canvas, [one.standing]
        for last in found[-1]:
            grown = sorted(_grown_on(one.searched, last, reading.turn, TRACKED_PIECES), key=lambda r: -r.score)
            further = *grown[:WEIGHED], _on_top(canvas, last, reading), _put_on(canvas, last, reading)
            tried += [turned(r.pieces, r.turn) for r in further]
        tried = list({_places_of(rows): rows for rows in tried}.values())
        score = [
            _fitted(one.searched.beam.canvas, np.vstack([rows, one.surely_outside]))
            + told_by([one.searched], (Reading(0.0, rows, 0.0),), earlier[:k])
            for rows in tried
        ]
        found.append([tried[i] for i in np.argsort(score)[::-1][:TRACKS]])
    return found[1:]


def _places_of(rows: np.ndarray) -> tuple:
    """What pieces (n, 5) in the same places have in common."""
    return tuple(sorted(map(tuple, np.round(rows[:, :4] / (1, APART_MM, APART_MM, APART_MM)).tolist())))


def told_by(searched: Sequence[Searched], views: Sequence[Reading], earlier: Sequence[EarlierView]) -> float:
    """Nats by which earlier pictures speak for a hypothesis, as a rule against it."""
    rows = _in_field(searched[0].canvas, views[0])
    return sum(_against(searched, views, rows, one) for one in earlier)


def is_doubtful(searched: Sequence[Searched], views: Hypothesis, earlier: Sequence[EarlierView]) -> bool:
    """Whether any earlier picture clearly speaks against a hypothesis."""
    return any(told_by(searched, views, [one]) < -CLEARLY_SEEN for one in earlier)


def is_unlike(
    searched: Sequence[Searched],
    hypotheses: Sequence[Hypothesis],
    earlier: Sequence[EarlierView],
    is_right: Callable[[Reading], bool],
) -> bool:
    """Whether earlier pictures, or the settled views, contradict the first of the hypotheses and all of its ruling that
    are hardly behind it, or ahead of the other ruling."""
    right, least = is_right(hypotheses[0][0]), hypotheses[0][0].score - CLEARLY_SEEN
    others = [views[0].score for views in hypotheses if is_right(views[0]) != right]
    least = min(least, max(others, default=-np.inf) + right_prior(len(searched)))
    as_good = [views for views in hypotheses if views[0].score > least and is_right(views[0]) == right]
    settled = [one.readings[0] for one in searched]
    return all(
        _drawn_more(searched, views, settled) > MISFIT or any(_contradicts(searched, views, one) for one in earlier)
        for views in as_good
    )


def _contradicts(searched: Sequence[Searched], views: Hypothesis, earlier: EarlierView) -> bool:
    """Whether an earlier picture contradicts a hypothesis, one that does not show the whole field by a further piece:
    what hides a part misplaces others. A piece that no view shows is where the picture has it."""
    rows, cat = _in_field(searched[0].canvas, views[0]), searched[0].canvas.cat
    if not earlier.whole and all(_is_among(cat, row, rows, 2.0) for row in earlier.standing):
        return False
    here = rows.copy()
    for i in np.flatnonzero(_shown(searched, views) <= HIDDEN_SHARE):
        same = [row for row in earlier.standing if _is_among(cat, row, rows[i : i + 1])]
        here[i] = same[0] if same else here[i]
    return _against(searched, views, here, earlier) < -UNLIKE


def _against(searched: Sequence[Searched], views: Sequence[Reading], rows: np.ndarray, earlier: EarlierView) -> float:
    """How far those of a hypothesis's pieces (n, 5), and of what has gone since, that explain an earlier picture best
    are behind its own best reading, in nats."""
    behind = earlier.explained(np.vstack([rows, has_gone(searched, views, earlier, FARTHER_MM)])) - earlier.best_nats
    return max(behind, -MOST_TOLD)


def has_gone(
    searched: Sequence[Searched], views: Sequence[Reading], earlier: EarlierView, off_mm: Sequence[float] = (0.0,)
) -> np.ndarray:
    """(n, 5) the pieces that an earlier picture shows, a hypothesis lacks, and whose places are seen to be bare, be
    they so far ``off_mm`` in depth."""
    rows, canvas = _in_field(searched[0].canvas, views[0]), searched[0].canvas
    absent = [row for row in earlier.standing if not _is_among(canvas.cat, row, rows)]
    gone = [row for row in absent if _bare_nats(canvas, views[0], row, off_mm) <= -CLEARLY_SEEN]
    return np.array(gone).reshape(-1, 5)


def _bare_nats(canvas: Canvas, reading: Reading, row: np.ndarray, off_mm: Sequence[float]) -> float:
    """The nats of a piece (5,) in the mat's frame, by what of it would be in sight and shows nothing of any piece; the
    most of its places so far off in depth."""
    canvas.draw(reading)
    draw_loose(canvas, reading)
    near, most = canvas.maps.near.copy(), -np.inf
    for there in _along_sight(canvas, row, off_mm):
        canvas.draw(Reading(0.0, there[None], 0.0))
        bare = (canvas.maps.near > 0) & (canvas.maps.near >= near) & (canvas.strongest <= 0)
        most = max(most, float(canvas.gains[canvas.cat.color[int(row[0])]][bare].sum()))
    return most


def _along_sight(canvas: Canvas, row: np.ndarray, off_mm: Sequence[float]) -> np.ndarray:
    """(n, 5) a piece (5,) in the mat's frame so far off, on the table plane, along the line on which the camera sees
    it."""
    away = row[1:3] - _eye(canvas)[:2]
    found = np.repeat(row[None], len(off_mm), 0)
    found[:, 1:3] += np.outer(off_mm, away / np.linalg.norm(away))
    return found


def _eye(canvas: Canvas) -> np.ndarray:
    """(3,) mm, where the camera is in the mat's frame: -R't."""
    return np.asarray(-canvas.camera[:, :3].T @ canvas.camera[:, 3])


def _best_of(canvas: Canvas, rows: np.ndarray) -> np.ndarray:
    """(m, 5) those of the pieces (n, 5) that explain most, none without what carries it: found from all of them, and
    from none, by leaving out or putting in one after the other."""
    carried = _carried(canvas.cat, rows, rows)  # on the diagonal: by the table, or by none of them, as in an arch
    np.fill_diagonal(carried, _rests(canvas.cat, rows, rows[:0]) | ~carried.any(1))

    def nats(chosen: list[int]) -> float:
        stands = carried[np.ix_(chosen, chosen)].any(1).all()
        return _evidence(canvas, rows[chosen]) if stands else -np.inf

    def improved(chosen: list[int]) -> tuple[float, list[int]]:
        best = nats(chosen)
        while tried := [(nats(one), one) for one in (sorted({*chosen} ^ {i}) for i in range(len(rows)))]:
            more, others = max(tried, key=lambda one: one[0])
            if more <= best:
                break
            best, chosen = more, others
        return best, chosen

    return rows[max((improved(list(range(len(rows)))), improved([])), key=lambda found: found[0])[1]]


def _fitted(canvas: Canvas, rows: np.ndarray) -> float:
    """The nats that pieces (n, 5) explain, those in the field a little moved."""
    within = (np.abs(rows[:, 1:3]) <= canvas.field_mm).all(1)
    build = [squared(canvas.cat, Reading(0.0, rows[within], 0.0))] if within.any() else []
    tried = [rows[within], *(turned(one.pieces, one.turn) for one in fit_readings(canvas, build, FINE))]
    return max(_evidence(canvas, np.vstack([pieces, rows[~within]])) for pieces in tried)


def _evidence(canvas: Canvas, rows: np.ndarray) -> float:
    """Nats for pieces (n, 5) in the mat's frame."""
    if not len(rows):
        return 0.0
    return canvas.draw(Reading(0.0, rows, 0.0)) - prior_cost(canvas.cat, rows)


def _grown_on(one: Searched, rows: np.ndarray, turn: float, most: int) -> list[Reading]:
    """The pieces (n, 5), hardly moved (``_put_back`` has them where they were), and builds on and beside them that
    explain what a view shows now, ``most`` of them, in the frame turned by ``turn``."""
    start = Reading(turn, turned(rows, -turn), 0.0)
    states = found = [replace(start, score=one.beam.canvas.draw(start))]
    for _ in range(most):
        further = [
            at for state in states for reading in one.beam.successors(state) for at in _before_and_behind(reading)
        ]
        by_place: dict[tuple, Reading] = {}
        for reading in sorted(fit_readings(one.beam.hopeful, further, first=len(rows)), key=lambda r: -r.score):
            by_place.setdefault(tuple((reading.pieces[-1] // APART_MM).tolist()) + reading.key, reading)
        states = list(by_place.values())[:GROWN_STATES]
        found = found + states
    return fit_readings(one.beam.canvas, found, FINE, first=len(rows))


def _drawn_more(searched: Sequence[Searched], before: Sequence[Reading], after: Sequence[Reading]) -> float:
    """The nats by which the views draw what stands in the field by one hypothesis better than by another."""

    def drawn(canvas: Canvas, reading: Reading) -> float:
        return canvas.draw(Reading(0.0, _in_field(canvas, reading), 0.0))

    return sum(drawn(one.canvas, b) - drawn(one.canvas, a) for one, a, b in zip(searched, before, after, strict=True))


def _with(reading: Reading, row: np.ndarray) -> Reading:
    """A reading with one more piece (5,) of the mat's frame."""
    return replace(reading, pieces=np.vstack([reading.pieces, turned(row[None], -reading.turn)]))


def _on_top(canvas: Canvas, rows: np.ndarray, reading: Reading) -> Reading:
    """The pieces (n, 5) in the mat's frame, with those of a reading that may stand on or beside them, from its highest
    down, as many as there are."""
    above = turned(reading.pieces, reading.turn)
    chosen = _joined(canvas, rows, above[np.argsort(-above[:, 3])])
    return Reading(reading.turn, turned(lowest_first(canvas.cat, chosen), -reading.turn), 0.0)


def _put_on(canvas: Canvas, rows: np.ndarray, reading: Reading) -> Reading:
    """The pieces (n, 5) in the mat's frame, with those of a reading that may stand on or beside them, lowest first."""
    chosen = _joined(canvas, rows, turned(lowest_first(canvas.cat, reading.pieces), reading.turn))
    return Reading(reading.turn, turned(chosen, -reading.turn), 0.0)


def _joined(canvas: Canvas, rows: np.ndarray, further: np.ndarray) -> np.ndarray:
    """The pieces (n, 5) and those of the ``further`` ones that are left in the box and explain more than nothing, each
    in the place that explains most."""
    for row in further:
        if not _is_spent(canvas.cat, row, rows) and not _is_among(canvas.cat, row, rows):
            with_it = [np.vstack([rows, there]) for of in _places(canvas, row, rows) for there in of]
            rows = max([rows, *with_it], key=partial(_evidence, canvas))
    return rows


def _before_and_behind(reading: Reading) -> list[Reading]:
    """A reading, and such with its last piece nearer to the camera or farther away: it is let down by the fit."""
    off_mm = np.zeros((len(FARTHER_MM), *reading.pieces.shape))
    off_mm[:, -1, 2] = FARTHER_MM
    return [replace(reading, pieces=pieces) for pieces in reading.pieces + off_mm]


def _put_back(searched: Sequence[Searched], views: Hypothesis, rows: np.ndarray) -> Hypothesis:
    """A hypothesis with its pieces where an earlier picture shows them (n, 5), for those that grew on these: what hides
    them now hardly tells where they are."""
    new = []
    for view in views:
        pieces, left = view.pieces.copy(), list(range(view.count))
        for row in turned(rows, -view.turn):
            same = [k for k in left if pieces[k, 0] == row[0]]
            nearest = min(same, key=lambda k: float(np.abs(pieces[k, 1:4] - row[1:4]).sum()))
            pieces[nearest] = row
            left.remove(nearest)
        new.append(replace(view, pieces=pieces))
    return replace(new[0], score=views[0].score + _drawn_more(searched, views, new)), *new[1:]


def _completed(
    searched: Sequence[Searched],
    views: Hypothesis,
    hidden: np.ndarray,
    earlier: Sequence[EarlierView],
    is_right: Callable[[Reading], bool],
) -> list[Hypothesis]:
    """A hypothesis with those of the pieces (n, 5) that it would hide and that the earlier pictures clearly show, the
    clearest first, and where that is a question of the last of them, of either ruling; and so again without its own
    pieces that no view shows."""
    shown = _shown(searched, views) > HIDDEN_SHARE
    prior, found = right_prior(len(views)), list[Hypothesis]()
    for kept in {(True,) * len(shown), tuple(shown.tolist())}:
        new = [replace(view, pieces=view.pieces[np.array(kept, bool)]) for view in views]
        ends, told = [new], told_by(searched, new, earlier)
        while True:
            further = _further_nats(searched, new, earlier)
            tried = _with_piece(searched, new, hidden, further)
            said = [told_by(searched, more, earlier) for more in tried]
            better = [k for k in np.argsort(said)[::-1] if said[k] > told + CLEARLY_SEEN]
            if not better:
                break
            new, told = tried[better[0]], said[better[0]]
            ends = [new, *(tried[k] for k in better if is_right(tried[k][0]) != is_right(new[0]))][:2]
        for end in ends:
            if not _stands(searched[0].canvas.cat, end[0].pieces, views[0].pieces):  # what carried it is in no picture
                continue
            won = _drawn_more(searched, views, end) + prior * (int(is_right(end[0])) - int(is_right(views[0])))
            found.append((replace(end[0], score=views[0].score + won), *end[1:]))
    return found


def _further_nats(
    searched: Sequence[Searched], views: list[Reading], earlier: Sequence[EarlierView]
) -> Callable[[np.ndarray], float]:
    """Gives for a piece (5,) in the mat's frame what it explains in earlier pictures beside those of a hypothesis."""
    rows, canvases = _in_field(searched[0].canvas, views[0]), [one.searched.beam.canvas for one in earlier]
    shown = [one.shown_of(np.vstack([rows, has_gone(searched, views, one, FARTHER_MM)])) for one in earlier]
    nats = [_evidence(canvas, of) for canvas, of in zip(canvases, shown, strict=True)]

    def further(row: np.ndarray) -> float:
        with_it = (_evidence(canvas, np.vstack([of, row])) for canvas, of in zip(canvases, shown, strict=True))
        return sum(max(0.0, more - before) for more, before in zip(with_it, nats, strict=True))

    return further


def _with_piece(
    searched: Sequence[Searched], views: list[Reading], hidden: np.ndarray, further: Callable[[np.ndarray], float]
) -> list[list[Reading]]:
    """A hypothesis's views with one of the pieces (n, 5), or with another of its colour, in each stance and in each of
    its ``_places`` where they show hardly anything of it: those of them that the earlier pictures show most clearly."""
    canvas, rows = searched[0].canvas, turned(views[0].pieces, views[0].turn)
    cat, field, found = canvas.cat, _in_field(canvas, views[0]), list[tuple[float, list[Reading]]]()
    pieces = (np.array([s, *row[1:]]) for row in hidden for s in np.flatnonzero(cat.color == cat.color[int(row[0])]))
    for piece in pieces:
        # What lies beyond the field may be the other player's.
        if _is_spent(cat, piece, field) or _is_among(cat, piece, rows) or further(piece) <= CLEARLY_SEEN / 2:
            continue
        for places in _places(canvas, piece, rows):
            clear = ((nats, at) for at in places if (nats := further(at)) > CLEARLY_SEEN / 2)
            shown = [(nats, [_with(view, at) for view in views]) for nats, at in clear]
            found += [one for one in shown if abs(_drawn_more(searched, views, one[1])) < CLEARLY_SEEN][:1]
    return [new for _, new in sorted(found, key=lambda one: -one[0])[:WEIGHED]]


def _places(canvas: Canvas, row: np.ndarray, rows: np.ndarray) -> Iterator[list[np.ndarray]]:
    """Where a piece (5,) may stand with others (n, 5) so that the camera sees it where it is: at each of the heights of
    the table, of their tops and its own, there and so far nearer or farther."""
    cat, half = canvas.cat, canvas.cat.size[int(row[0]), 2] / 2
    tops_mm = rows[:, 3] + cat.size[rows[:, 0].astype(int), 2] / 2
    for under_mm in np.unique(np.round([row[3] - half, 0.0, *tops_mm])):
        along = _along_sight(canvas, _let_down(canvas, row, under_mm + half), FARTHER_MM)
        free = np.array([pushed_out(cat, at, rows) for at in along[~_in_one_place(cat, along, rows)]]).reshape(-1, 5)
        yield list(free[_rests(cat, free, rows)])


def _let_down(canvas: Canvas, row: np.ndarray, z_mm: float) -> np.ndarray:
    """A piece (5,) in the mat's frame so high on the ray on which the camera sees it."""
    eye, out = _eye(canvas), row.copy()
    out[1:4] = eye + (row[1:4] - eye) * (z_mm - eye[2]) / (row[3] - eye[2])
    return out


def _shown(searched: Sequence[Searched], views: Sequence[Reading]) -> np.ndarray:
    """(n,) the share of each piece's pixels that is in sight, in the view that shows most of it."""
    return np.max([_shown_in(one.canvas, reading) for one, reading in zip(searched, views, strict=True)], axis=0)


def _shown_in(canvas: Canvas, reading: Reading) -> np.ndarray:
    canvas.draw(reading)
    draw_loose(canvas, reading)
    near, shares = canvas.maps.near.copy(), np.zeros(reading.count)
    for i in range(reading.count):
        canvas.draw(replace(reading, pieces=reading.pieces[i : i + 1]))
        alone = canvas.maps.near > 0
        shares[i] = (alone & (canvas.maps.near >= near)).sum() / max(1, alone.sum())
    return shares


def _in_field(canvas: Canvas, reading: Reading) -> np.ndarray:
    """(n, 5) what stands in the field, in the mat's frame: the build, and what stands apart."""
    return np.vstack([turned(reading.pieces, reading.turn), reading.loose[inside(canvas, reading)]])


def _is_among(cat: Catalogue, row: np.ndarray, rows: np.ndarray, farther: float = 1.0) -> bool:
    """Whether a piece (5,) is one of those (n, 5): of one kind, and at its place, or so many times farther away."""
    near = (np.abs(rows[:, 1:4] - row[1:4]) < farther * np.array(SAME_PLACE_MM)).all(1)
    return bool((near & (cat.kind[rows[:, 0].astype(int)] == cat.kind[int(row[0])])).any())


def _is_spent(cat: Catalogue, row: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the box has no more of a piece (5,) than those (n, 5)."""
    kind = cat.kind[int(row[0])]
    return bool((cat.kind[rows[:, 0].astype(int)] == kind).sum() >= cat.stock[kind])


def _in_one_place(cat: Catalogue, places: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(m,) bool: whether a piece at each of the places (m, 5) would have to be where one of those (n, 5) is, by their
    boxes."""
    reach = (cat.size[places[:, 0].astype(int), None] + cat.size[rows[:, 0].astype(int)]) / 2 - DEPTH_MM
    return (np.abs(rows[:, 1:4] - places[:, None, 1:4]) < reach).all(2).any(1)


def _stands(cat: Catalogue, rows: np.ndarray, before: np.ndarray) -> bool:
    """Whether each of the pieces (n, 5) may stand on the table or on others of them, by their boxes; one that does not
    among those ``before`` (m, 5) either lies in an arch."""

    def hanging(pieces: np.ndarray) -> list[np.ndarray]:
        return [row for i, row in enumerate(pieces) if not _rests(cat, row[None], np.delete(pieces, i, 0))[0]]

    in_arch = hanging(before)
    return all(any(np.array_equal(row, one) for one in in_arch) for row in hanging(rows))


def _rests(cat: Catalogue, places: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(m,) bool: whether a piece at each of the places (m, 5) may stand on the table or on one of those (n, 5), by
    their boxes."""
    under_mm = places[:, 3] - cat.size[places[:, 0].astype(int), 2] / 2
    return (under_mm < RESTS_MM) | _carried(cat, places, rows).any(1)


def _carried(cat: Catalogue, places: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(m, n) bool: which of the pieces (n, 5) a piece at each of the places (m, 5) may stand on, by their boxes."""
    half, halves = cat.size[places[:, 0].astype(int), None] / 2, cat.size[rows[:, 0].astype(int)] / 2
    off_mm = (places[:, 3] - half[:, 0, 2])[:, None] - (rows[:, 3] + halves[:, 2])
    over = (np.abs(rows[:, 1:3] - places[:, None, 1:3]) < half[..., :2] + halves[:, :2]).all(2)
    return over & (np.abs(off_mm) < RESTS_MM)
