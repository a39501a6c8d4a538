"""The decision: which ruling the evidence supports, by how much, and when it cannot be told.

The law. Of all readings of the pixels take the best that satisfies the card and the best that
does not. The verdict is the better one's; the *margin* between the two, in nats of evidence for
one pixel's worth of scale, is what the confidence comes from. A margin within what pixels'
common errors (blur, shadow, a millimetre of pose) can make is no verdict: ``undecided``. So is a
reading that leaves much of what stands in the field unexplained, however far it is ahead of the
next: then the truth is probably none of the readings. So is a build that lacks something while a
piece of the paper's colour is nowhere to be seen: it may stand there.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from calibration.palette import paper_coloured
from cards.build import Build
from cards.card import Card, HeightCard
from referee.judge import Reason, Verdict, faults
from referee.vision.canvas import Fit, Reading, to_build
from referee.vision.field import in_field

MARGIN_SCALE = 144.0
"""Nats of margin for one unit of log odds: pixels err together, so single nats mean little. Fitted to sessions with
truth (``referee bench --leave-one-out``) it is 50 on the dev set and 160 to 450 on the harder witness sessions; a
wrong verdict costs more than one left open, so between the two, and not at the dev set's."""
SURE = 0.80
"""Confidence below which no verdict is given."""
EXPLAINED_LOW, EXPLAINED_HIGH = 0.45, 0.75
"""Share of the evidence near the build that a reading explains: below the first nothing is
believed, from the second on nothing is held against it."""
NOTHING_ELSE = 500.0
"""Nats of margin at least where the search has found no other reading: an empty field in which nothing can begin."""
LACKING = frozenset(
    {"missing_piece", "wrong_count", "empty_field", "not_one_structure", "wrong_support", "not_side_by_side"}
)
"""Faults that a further piece, unseen, may be the cause of."""
MATCH_UNSEEN = 0.93
"""Most confidence of a match where a piece of the paper's colour is seen nowhere: it may stand in the build as one too
many. Of 14 such matches in witness sessions 13 were right."""
MOST_CONFIDENCE = 0.99
"""No margin on one picture is worth more: the build may be unlike every reading tried."""


@dataclass(frozen=True)
class Weighed:
    """Readings weighed against a card: the best matching and the best other, and what is explained."""

    verdict: Verdict
    margin: float
    explained: float


def decide(cat, readings: list[Reading], card: Card, fit: Fit, hidden: Collection[str] = ()) -> Weighed:
    """The verdict of one zone from its fitted readings (best first, at least one). ``hidden`` colours cannot be told
    from what is behind the build."""
    judged = [(r, in_field(to_build(cat, r), card)) for r in readings]
    rows = [(r, build, faults(build, card)) for r, build in judged]
    right = next(((r, b, f) for r, b, f in rows if not f), None)
    wrong = next(((r, b, f) for r, b, f in rows if f), None)
    best, other = _ahead(right, wrong)
    margin = best[0].score - other[0].score if other else max(best[0].score, NOTHING_ELSE)
    sure = confidence_of(margin, fit.share)
    ruling = "match" if best is right else "mismatch"
    alternatives = tuple(
        Verdict("match" if not f else "mismatch", 0.0, f, b, margin=r.score - best[0].score) for r, b, f in rows[1:4]
    )
    if not best[2] and _unseen(cat, best[0], ()):
        sure = min(sure, MATCH_UNSEEN)
    unseen = _unseen(cat, best[0], hidden) if _may_lack(best[1], best[2], card) else ()
    if unseen:
        reason = Reason(
            "unseen_colour",
            f"{' and '.join(unseen)} can stand there unseen, and not all of "
            f"it is accounted for; at first sight {best[2][0].text}",
        )
        return Weighed(Verdict("undecided", 0.5, (reason,), best[1], ruling, alternatives, margin), margin, fit.share)
    if sure >= SURE:
        return Weighed(Verdict(ruling, sure, best[2], best[1], None, alternatives, margin), margin, fit.share)
    reasons = (_doubt(margin, fit, best, other),)
    return Weighed(Verdict("undecided", sure, reasons, best[1], ruling, alternatives, margin), margin, fit.share)


def _may_lack(build: Build, found: tuple[Reason, ...], card: Card) -> bool:
    """Whether there are faults, and further pieces, unseen, could take them all away."""
    too_many = isinstance(card, HeightCard) and len(build.pieces) >= card.count
    return bool(found) and {r.code for r in found} <= LACKING and not too_many


def _unseen(cat, reading: Reading, hidden: Collection[str]) -> tuple[str, ...]:
    """Colours like the paper's or the background's of which a piece is seen neither in the build nor lying loose."""
    stances = np.concatenate([reading.pieces[:, 0], reading.loose[:, 0]]).astype(int)
    missing = cat.stock - np.bincount(cat.kind[stances], minlength=len(cat.stock))
    unseen = paper_coloured(cat.piece_set) | set(hidden)
    return tuple(sorted({color for (_, color), n in zip(cat.types, missing, strict=True) if n > 0 and color in unseen}))


def _ahead(right, wrong):
    if right is None or wrong is None:
        return right or wrong, None
    return (right, wrong) if right[0].score >= wrong[0].score else (wrong, right)


def confidence_of(margin: float, explained: float, scale: float = MARGIN_SCALE) -> float:
    """Probability 0.5 to MOST_CONFIDENCE that the reading ahead is right: by its margin in nats, and by the share
    (0..1) of the evidence around the build that it explains."""
    by_margin = 1.0 / (1.0 + math.exp(-min(margin / scale, 30.0)))
    trust = np.clip((explained - EXPLAINED_LOW) / (EXPLAINED_HIGH - EXPLAINED_LOW), 0.0, 1.0)
    return float(min(0.5 + (by_margin - 0.5) * trust, MOST_CONFIDENCE))


def _doubt(margin: float, fit: Fit, best, other) -> Reason:
    if fit.share < EXPLAINED_HIGH and confidence_of(margin, 1.0) >= SURE:
        return Reason(
            "unexplained",
            f"only {100 * fit.share:.0f} % of what stands in the field is explained by "
            "known pieces; something hides it or the build is unusual",
        )
    ahead = "the card is built" if not best[2] else best[2][0].text
    behind = "the card is built" if other and not other[2] else (other[2][0].text if other else "")
    return Reason("two_readings", f"two readings explain the picture about equally well: {ahead}; or: {behind}")
