"""Which piece was placed when: what stands at the Stop, and since when its pixels have shown it.

The build is read in the picture of what is at rest (``vision.live.build_stages``), so that no hand is before it. Each
pixel of a piece tells when it began to show the piece and when it last showed what had been there before: between them
a hand hid it, or the piece was on its way.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from cards.build import Piece
from cards.card import Card
from cards.kinds.height import HeightCard
from referee.vision.live.build_stages import Stage
from referee.vision.observer import NO_EARLIER_PICTURES, Observer
from referee.vision.render.solids import piece_tags

ANY_CARD = HeightCard("any", 1, 1)
"""What is built is read all the same where the card is not known."""

QUICKEST_S = 0.3
"""Nobody can place a piece sooner after the go."""

IN_SIGHT_S, IN_SIGHT_SHARE = 0.3, 0.2
"""A pixel that was seen so shortly before it turned shows when it did; so many show it for the piece."""

HIDDEN_SHARE = 0.5
"""Behind a hand a piece is set down after this share of the time that its place is hidden."""

RELEASE_PERCENTILE, BARE_PERCENTILE = 80.0, 75.0
"""Of a piece's pixels so many have turned when the tongs let go, the rest when they are gone; and of the last sights of
its place without it, it comes after most, whatever part of a hand had its colour before."""

SAME_PLACE_MM = 15.0
"""Two readings of one piece differ by less."""

LEAST_PX = 20
"""Of a view, so mm2: fewer pixels tell no time."""


@dataclass(frozen=True)
class PlacedPiece:
    """A piece that came to stay; ``within_s``: how far the true time may be off because a hand hid the place, 0 when it
    was in sight."""

    seconds: float
    color: str
    area_mm2: float
    shape: str
    within_s: float = 0.0

    def to_json(self) -> dict:
        """By field name."""
        rounded = {"seconds": round(self.seconds, 3), "within_s": round(self.within_s, 2)}
        return asdict(self) | rounded | {"area_mm2": round(self.area_mm2)}


@dataclass(frozen=True)
class RestingBuild:
    """What was read of a build at rest: its pieces with when each came, but those of which too little is seen, and the
    share of the picture that they ``explained``."""

    pieces: Sequence[tuple[Piece, PlacedPiece]] = ()
    explained: float = 0.0


def read_resting(
    observer: Observer, card: Card | None, zone: str, names: Sequence[str], stage: Stage, frame: np.ndarray
) -> RestingBuild:
    """What stands in a field at a ``stage`` of its build, like the ``frame`` (h, w, 3). ``names``: the colours that the
    stage's labels count."""
    judgement = observer.judge(stage.in_frame(frame, stage.gone), card or ANY_CARD, [zone], earlier=NO_EARLIER_PICTURES)
    sight = judgement.views.get(zone)
    if sight is None:
        return RestingBuild()
    view, build = sight.view, sight.build
    labels, since, before = stage.seen_in(view, stage.labels, stage.since_s, stage.before_s)
    tags = piece_tags(view, build.piece_set, build.pieces)
    found: dict[int, PlacedPiece] = {}
    for i in sorted(range(len(build.pieces)), key=lambda i: build.pieces[i].z):
        piece = build.pieces[i]
        shown = (tags == i) & (labels == names.index(piece.color))
        if shown.sum() >= LEAST_PX:
            below_s = max((found[k].seconds for k in build.contacts[i] if k in found), default=-math.inf)
            seconds, within_s = _when(since[shown], np.maximum(before[shown], below_s))
            area_mm2 = float(shown.sum()) / view.px_per_mm**2
            found[i] = PlacedPiece(seconds, piece.color, area_mm2, piece.shape, within_s)
    return RestingBuild([(build.pieces[i], placed) for i, placed in found.items()], sight.explained)


def placed_pieces(at_stop: RestingBuild, later: RestingBuild, go_s: float, stop_s: float) -> list[PlacedPiece]:
    """What was placed between go and Stop, in the order of time, by what was at rest at the Stop and ``later``: hands
    may be before what was brought last, and what stood may have fallen. The reading that explains more names it."""
    found: list[tuple[Piece, PlacedPiece]] = []
    for read in sorted((at_stop, later), key=lambda read: -read.explained):
        in_time = [(piece, placed) for piece, placed in read.pieces if go_s + QUICKEST_S < placed.seconds <= stop_s]
        found += [one for one in in_time if not any(_in_one_place(one[0], known) for known, _ in found)]
    return sorted((placed for _, placed in found), key=lambda placed: placed.seconds)


def _when(since: np.ndarray, before: np.ndarray) -> tuple[float, float]:
    """When a piece was placed, by the pixels that show it, and how far off that may be."""
    in_sight = since - before <= IN_SIGHT_S
    if in_sight.mean() >= IN_SIGHT_SHARE:
        return float(np.percentile(since[in_sight], RELEASE_PERCENTILE)), 0.0
    bare, there = float(np.percentile(before, BARE_PERCENTILE)), float(np.percentile(since, 100 - RELEASE_PERCENTILE))
    hidden_s = max(there - bare, 0.02)
    return bare + HIDDEN_SHARE * hidden_s, HIDDEN_SHARE * hidden_s


def _in_one_place(one: Piece, other: Piece) -> bool:
    """Whether two readings may be of one piece."""
    off_mm = max(abs(one.x - other.x), abs(one.y - other.y), abs(one.z - other.z))
    return one.color == other.color and off_mm < SAME_PLACE_MM
