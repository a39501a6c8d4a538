"""The decision: which ruling the evidence supports, by how much, and when it cannot be told.

The law. Of all readings of the pixels take the best that satisfies the card and the best that
does not. The verdict is the better one's; the *margin* between the two, in nats of evidence for
one pixel's worth of scale, is what the confidence comes from. A margin within what pixels'
common errors (blur, shadow, a millimetre of pose) can make is no verdict: ``undecided``. So is a
reading that leaves much of what stands in the field unexplained, however far it is ahead of the
next: then the truth is probably none of the readings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibration.mat import FIELD
from cards.build import Build
from cards.card import Card
from referee.judge import Reason, Verdict, faults
from referee.vision.canvas import Fit, Reading, to_build

MARGIN_SCALE = 65.0
"""Nats of margin for one unit of log odds: pixels err together, so single nats mean little. Fitted on
the dev set's rendered sessions; ``referee bench`` prints the reliability table."""
SURE = 0.80
"""Confidence below which no verdict is given."""
EXPLAINED_LOW, EXPLAINED_HIGH = 0.45, 0.75
"""Share of the evidence near the build that a reading explains: below the first nothing is
believed, from the second on nothing is held against it."""
MOST_CONFIDENCE = 0.99
"""No margin on one picture is worth more: the build may be unlike every reading tried."""


@dataclass(frozen=True)
class Weighed:
    """Readings weighed against a card: the best matching and the best other, and what is explained."""

    verdict: Verdict
    margin: float
    explained: float


def decide(cat, readings: list[Reading], card: Card, fit: Fit) -> Weighed:
    """The verdict of one zone from its fitted readings (best first, at least one)."""
    judged = [(r, in_field(to_build(cat, r))) for r in readings]
    rows = [(r, build, faults(build, card)) for r, build in judged]
    right = next(((r, b, f) for r, b, f in rows if not f), None)
    wrong = next(((r, b, f) for r, b, f in rows if f), None)
    best, other = _ahead(right, wrong)
    margin = best[0].score - (other[0].score if other else 0.0)
    sure = _confidence(margin, fit)
    ruling = "match" if best is right else "mismatch"
    alternatives = tuple(Verdict("match" if not f else "mismatch", 0.0, f, b, margin=r.score - best[0].score)
                         for r, b, f in rows[1:4])
    if sure >= SURE:
        return Weighed(Verdict(ruling, sure, best[2], best[1], None, alternatives, margin), margin, fit.share)
    reasons = (_doubt(margin, fit, best, other),)
    return Weighed(Verdict("undecided", sure, reasons, best[1], ruling, alternatives, margin), margin, fit.share)


def in_field(build: Build) -> Build:
    """The build without what stands alone on the table with its centre outside the field: that is loose (RULES.md)."""
    carrying = {j for below in build.contacts for j in below}
    out = [i for i, p in enumerate(build.pieces) if build.on_table[i] and i not in carrying
           and (abs(p.x) > FIELD[0] or abs(p.y) > FIELD[1])]
    if not out:
        return build
    return Build(build.piece_set, tuple(p for i, p in enumerate(build.pieces) if i not in out),
                 (*build.loose, *(build.pieces[i] for i in out)))


def _ahead(right, wrong):
    if right is None or wrong is None:
        return right or wrong, None
    return (right, wrong) if right[0].score >= wrong[0].score else (wrong, right)


def _confidence(margin: float, fit: Fit) -> float:
    by_margin = 1.0 / (1.0 + math.exp(-min(margin / MARGIN_SCALE, 30.0)))
    trust = np.clip((fit.share - EXPLAINED_LOW) / (EXPLAINED_HIGH - EXPLAINED_LOW), 0.0, 1.0)
    return float(min(0.5 + (by_margin - 0.5) * trust, MOST_CONFIDENCE))


def _doubt(margin: float, fit: Fit, best, other) -> Reason:
    if fit.share < EXPLAINED_HIGH and _confidence(margin, Fit(1.0, 1.0, 0.0)) >= SURE:
        return Reason("unexplained", f"only {100 * fit.share:.0f} % of what stands in the field is explained by "
                                     "known pieces; something hides it or the build is unusual")
    ahead = "the card is built" if not best[2] else best[2][0].text
    behind = "the card is built" if other and not other[2] else (other[2][0].text if other else "")
    return Reason("two_readings", f"two readings explain the picture about equally well: {ahead}; or: {behind}")
