"""Pieces that no view shows any more, and earlier pictures of the same field do.

The law. What was seen standing in the field before something came in front of it, and was not seen to go, stands there
yet. A hypothesis that has such a piece where it was seen wins what the earlier picture says for it: that is by how much
the picture's best reading is ahead of its best one without the piece. Where a hypothesis lacks the piece and would hide
it, it is tried with it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from referee.vision.measured import measured
from referee.vision.search.canvas import Canvas, Reading, draw_loose, lowest_first, turned
from referee.vision.search.joint import Hypothesis, inside, scored
from referee.vision.search.readings import FEW_READINGS, RIGHT_PRIOR, Searched, right_prior
from referee.vision.search.stances import Catalogue

HIDDEN_SHARE = measured(0.12, "of a piece's pixels", "by hand: with so few in sight it counts as hidden")
SAME_PLACE_MM = measured((16.0, 20.0, 14.0), "mm", "by hand: two readings of one piece are no further apart")
DEPTH_MM = measured(12.0, "mm", "by hand: so far off may one picture tell how far behind another a piece stands")
CLEARLY_SEEN = measured(300.0, "nats", "by hand: what is less ahead in an earlier picture may be another piece")
MOST_SEEN = measured(3000.0, "nats", "by hand: an earlier picture says no more for one piece")


class SeenPiece(NamedTuple):
    """A piece, as a row (5,) in the mat's frame, and the nats by which an earlier picture shows it."""

    row: np.ndarray
    nats: float


def seen_pieces(earlier: Searched, is_right: Callable[[Reading], bool]) -> list[SeenPiece]:
    """The pieces that an earlier picture clearly shows in the field."""
    canvas, best = earlier.canvas, earlier.readings[0]
    rows = _in_field(canvas, best)

    def own(reading: Reading) -> float:
        return reading.score - RIGHT_PRIOR * is_right(reading)

    found = []
    for i, row in enumerate(rows):
        without = (r for r in earlier.readings if not _is_among(canvas.cat, row, _in_field(canvas, r)))
        rival = next(without, None)
        nats = own(best) - own(rival) if rival else _drawn(canvas, rows) - _drawn(canvas, np.delete(rows, i, 0))
        found.append(SeenPiece(row, min(nats, MOST_SEEN)))
    return [seen for seen in found if seen.nats >= CLEARLY_SEEN]


def with_hidden_pieces(
    searched: Sequence[Searched],
    hypotheses: Sequence[Hypothesis],
    seen: Sequence[Sequence[SeenPiece]],
    is_right: Callable[[Reading], bool],
) -> list[Hypothesis]:
    """The hypotheses of the settled views, best first, with the pieces that earlier pictures have ``seen``, each. The
    best few are tried, and the best of each ruling; as they are, without what no view shows of them, and on top of what
    was seen."""
    best = [next((views for views in hypotheses if is_right(views[0]) == right), ()) for right in (True, False)]
    tried = {id(views): views for views in (*hypotheses[: 2 * FEW_READINGS], *best) if views}
    found = [views for views in hypotheses if id(views) not in tried]
    begun = [np.array([piece.row for piece in pieces]) for pieces in seen]
    tops = [_on_top(searched[0].canvas, rows, views[0]) for rows in begun for views in tried.values()]
    distinct: list[SeenPiece] = []
    for piece in sorted((piece for pieces in seen for piece in pieces), key=lambda piece: -piece.nats):
        if not any(_is_among(searched[0].canvas.cat, piece.row, known.row[None]) for known in distinct):
            distinct.append(piece)
    for views in (*tried.values(), *scored(searched, tops, is_right)):
        found += _completed(searched, views, distinct, is_right)
    return sorted(found, key=lambda views: -views[0].score)


def count_lacking(searched: Sequence[Searched], views: Hypothesis, seen: Sequence[SeenPiece]) -> tuple[int, int]:
    """How many of the pieces that an earlier picture has seen a hypothesis lacks, and how many have gone: their places
    are seen to be empty now."""
    rows, cat = _in_field(searched[0].canvas, views[0]), searched[0].canvas.cat
    absent = [piece for piece in seen if not _is_among(cat, piece.row, rows)]
    gone = sum(_drawn_more(searched, views, _with_row(views, piece.row)) <= -CLEARLY_SEEN for piece in absent)
    return len(absent) - gone, gone


def _drawn_more(searched: Sequence[Searched], before: Sequence[Reading], after: Sequence[Reading]) -> float:
    """The nats by which the views draw one hypothesis better than another."""
    return sum(one.canvas.draw(b) - one.canvas.draw(a) for one, a, b in zip(searched, before, after, strict=True))


def _with_row(views: Sequence[Reading], row: np.ndarray) -> list[Reading]:
    """A hypothesis's views with one more piece (5,) of the mat's frame."""
    return [replace(view, pieces=np.vstack([view.pieces, turned(row[None], -view.turn)])) for view in views]


def _on_top(canvas: Canvas, rows: np.ndarray, reading: Reading) -> Reading:
    """The pieces (n, 5) in the mat's frame, with those of a reading that may stand on or beside them, from its highest
    down, as many as there are."""
    cat, chosen = canvas.cat, rows
    above = turned(reading.pieces, reading.turn)
    for row in above[np.argsort(-above[:, 3])]:
        kind = cat.kind[int(row[0])]
        left = cat.stock[kind] - (cat.kind[chosen[:, 0].astype(int)] == kind).sum()
        if left > 0 and not _is_among(cat, row, chosen) and not _in_one_place(cat, row, chosen):
            chosen = np.vstack([chosen, _pushed_out(cat, row, chosen)])
    return Reading(reading.turn, turned(lowest_first(cat, chosen), -reading.turn), 0.0)


def _completed(
    searched: Sequence[Searched], views: Hypothesis, seen: Sequence[SeenPiece], is_right: Callable[[Reading], bool]
) -> Iterator[Hypothesis]:
    """A hypothesis with what was seen earlier; and so again without its own pieces that no view shows."""
    shown = _shown(searched, views) > HIDDEN_SHARE
    prior = right_prior(len(views))
    score = views[0].score - prior * is_right(views[0])
    for kept in {(True,) * len(shown), tuple(shown.tolist())}:
        new, won = [replace(view, pieces=view.pieces[np.array(kept, bool)]) for view in views], 0.0
        for piece in seen:
            new, nats = _with_piece(searched, new, piece)
            won += nats
        won += _drawn_more(searched, views, new)
        first = replace(new[0], score=score + won + prior * is_right(new[0]))
        yield first, *new[1:]


def _with_piece(searched: Sequence[Searched], views: list[Reading], piece: SeenPiece) -> tuple[list[Reading], float]:
    """A hypothesis's views with the piece, and the nats that it wins by it; unchanged and 0 where the piece would be in
    sight, or has no place."""
    canvas, rows = searched[0].canvas, turned(views[0].pieces, views[0].turn)
    cat, kind = canvas.cat, canvas.cat.kind[int(piece.row[0])]
    if _is_among(cat, piece.row, rows):
        return views, piece.nats
    others = np.vstack([rows, views[0].loose])
    if (cat.kind[others[:, 0].astype(int)] == kind).sum() >= cat.stock[kind] or _in_one_place(cat, piece.row, rows):
        return views, 0.0
    new = _with_row(views, _pushed_out(cat, piece.row, rows))
    return (new, piece.nats) if _shown(searched, new)[-1] <= HIDDEN_SHARE else (views, 0.0)


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


def _is_among(cat: Catalogue, row: np.ndarray, rows: np.ndarray) -> bool:
    """Whether a piece (5,) is one of those (n, 5): of one kind, and at its place."""
    near = (np.abs(rows[:, 1:4] - row[1:4]) < SAME_PLACE_MM).all(1)
    return bool((near & (cat.kind[rows[:, 0].astype(int)] == cat.kind[int(row[0])])).any())


def _in_one_place(cat: Catalogue, row: np.ndarray, rows: np.ndarray) -> bool:
    """Whether a piece (5,) would have to be where one of those (n, 5) is, by their boxes."""
    reach = (cat.size[int(row[0])] + cat.size[rows[:, 0].astype(int)]) / 2 - DEPTH_MM
    return bool((np.abs(rows[:, 1:4] - row[1:4]) < reach).all(1).any())


def _pushed_out(cat: Catalogue, row: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The piece (5,) beside those (n, 5) that it would reach into, by their boxes: one picture tells to a few
    millimetres how far off it stands."""
    row = row.copy()
    for other in rows:
        off = row[1:4] - other[1:4]
        reach = (cat.size[int(row[0])] + cat.size[int(other[0])]) / 2 - np.abs(off)
        if (reach > 0).all():
            axis = int(np.argmin(reach))
            row[1 + axis] += np.copysign(reach[axis], off[axis])
    return row


def _drawn(canvas: Canvas, rows: np.ndarray) -> float:
    """The evidence of pieces (n, 5) in the mat's frame."""
    return canvas.draw(Reading(0.0, rows, 0.0)) if len(rows) else 0.0
