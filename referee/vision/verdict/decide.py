"""The decision: which ruling the evidence supports, by how much, and when it cannot be told.

The law. Of all readings of the pixels take the best that satisfies the card and the best that
does not. The verdict is the better one's; the *margin* between the two, in nats of evidence for
one pixel's worth of scale, is what the confidence comes from. Both are fair: the card's own reading and its nearest
variants, and those of the best reading, are always placed, fitted and scored (``search.readings``), and what satisfies
the card is ``RIGHT_PRIOR`` ahead from the start. A margin within what pixels'
common errors (blur, shadow, a millimetre of pose) can make is no verdict: ``undecided``. So is a
reading that leaves much of what stands in the field unexplained, however far it is ahead of the
next: then the truth is probably none of the readings. So is a build that lacks something while a
piece of the paper's colour is nowhere to be seen: it may stand there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from calibration.palette import paper_coloured
from cards.build import Build
from cards.card import Card, HeightCard, LayoutCard, ShapesCard
from referee.match.verdict import Reason, Ruling, Verdict
from referee.vision.search.canvas import Fit, Reading
from referee.vision.search.stances import Catalogue
from referee.vision.verdict.rulings import Rulings
from referee.vision.verdict.trust import load_trust

EXPLAINED_LOW, EXPLAINED_HIGH = 0.45, 0.75
"""Share of the evidence near the build that a reading explains: below the first it says nothing, below the second it
is named as the cause of a doubt."""
LEFT_ALWAYS = 0.02
"""Share left unexplained by rims and grain however good a reading is."""
NOTHING_ELSE = 4000.0
"""Nats of margin at least where the search has met no reading of the other ruling: an empty field."""
MOST_ALONE = 0.90
"""Most confidence where a rival ought to have been met and was not: what else the picture may show was not weighed."""
LACKING = frozenset(
    {"missing_piece", "wrong_count", "empty_field", "not_one_structure", "wrong_support", "not_side_by_side"}
)
"""Faults that a further piece, unseen, may be the cause of."""
MATCH_UNSEEN = 0.93
"""Most confidence of a match where a piece of the paper's colour is seen nowhere: it may stand in the build as one too
many. Of 14 such matches in witness sessions 13 were right."""
MARGIN_UNIT, MARGIN_MOST = 100.0, 4000.0
"""Nats: a margin counts by its logarithm, from about the first on, and beyond the second no further."""

AS_CARD = Reason("as_card", "the card is built")
"""What a reading without a fault says, beside one that has some."""


@dataclass(frozen=True)
class Weighed:
    """Readings weighed against a card: the best matching and the best other, what is explained, and the ``features``
    that confidence can be fitted to, each the larger the better: ``margin``, ``explained`` and their product (see
    ``features_of``); ``rival`` 1 where a reading of the other ruling was met, else 0; ``agreement`` 0..1, how well the
    worst piece's own pixels agree with its colour."""

    verdict: Verdict
    margin: float
    explained: float
    features: Mapping[str, float] = field(default_factory=dict)


def decide(rulings: Rulings, readings: list[Reading], fit: Fit, hidden: Collection[str] = ()) -> Weighed:
    """The verdict of one zone from its fitted readings (best first, at least one). ``hidden`` colours cannot be told
    from what is behind the build."""
    cat, card = rulings.cat, rulings.card
    rows = [(r, *rulings.of(r)) for r in readings]
    right = next(((r, b, f) for r, b, f in rows if not f), None)
    wrong = next(((r, b, f) for r, b, f in rows if f), None)
    best, other = _ahead(right, wrong)
    margin = best[0].score - other[0].score if other else max(best[0].score, NOTHING_ELSE)
    ruling: Ruling = "match" if best is right else "mismatch"
    features = features_of(margin, fit.share) | {"rival": float(other is not None), "agreement": fit.agreement}
    trust = load_trust()[ruling]
    sure = trust.confidence(features)
    alternatives = tuple(
        Verdict("match" if not f else "mismatch", 0.0, f, b, margin=r.score - best[0].score) for r, b, f in rows[1:4]
    )
    if other is None and _near(best[1], card):
        sure = min(sure, MOST_ALONE)
    if not best[2] and _unseen(cat, best[0], ()):
        sure = min(sure, MATCH_UNSEEN)
    unseen = _unseen(cat, best[0], hidden) if _may_lack(best[1], best[2], card) else ()
    if unseen:
        reason = Reason(
            "unseen_colour",
            f"{' and '.join(unseen)} can stand there unseen, and not all of "
            f"it is accounted for; at first sight {best[2][0].text}",
            values={"colors": list(unseen), "sight": best[2][0].to_json()},
        )
        verdict = Verdict("undecided", 0.5, (reason,), best[1], ruling, alternatives, margin)
    elif sure >= trust.least:
        verdict = Verdict(ruling, sure, best[2], best[1], None, alternatives, margin)
    else:
        doubt = _doubt(features, fit, best, other)
        verdict = Verdict("undecided", sure, (doubt,), best[1], ruling, alternatives, margin)
    return Weighed(verdict, margin, fit.share, features)


def _near(build: Build, card: Card) -> bool:
    """Whether a build has nearly as many pieces as the card asks for, so that a rival ought to have been met."""
    if isinstance(card, LayoutCard):
        return True
    asked = sum(n for _, n in card.shapes) if isinstance(card, ShapesCard) else card.count
    return abs(len(build.pieces) - asked) < 2


def features_of(margin: float, explained: float) -> dict[str, float]:
    """What confidence is made of, each about 0 to 4 and the larger the better: the margin by its logarithm, and the
    share that is explained by how little is left."""
    ahead = math.log1p(min(margin, MARGIN_MOST) / MARGIN_UNIT)
    left = 1.0 - min(max(explained, EXPLAINED_LOW), 1.0) + LEFT_ALWAYS
    return {"margin": ahead, "explained": math.log((1.0 - EXPLAINED_LOW + LEFT_ALWAYS) / left)}


def _may_lack(build: Build, found: tuple[Reason, ...], card: Card) -> bool:
    """Whether there are faults, and further pieces, unseen, could take them all away."""
    too_many = isinstance(card, HeightCard) and len(build.pieces) >= card.count
    return bool(found) and {r.code for r in found} <= LACKING and not too_many


def _unseen(cat: Catalogue, reading: Reading, hidden: Collection[str]) -> tuple[str, ...]:
    """Colours like the paper's or the background's of which a piece is seen neither in the build nor lying loose."""
    stances = np.concatenate([reading.pieces[:, 0], reading.loose[:, 0]]).astype(int)
    missing = cat.stock - np.bincount(cat.kind[stances], minlength=len(cat.stock))
    unseen = paper_coloured(cat.piece_set) | set(hidden)
    return tuple(sorted({color for (_, color), n in zip(cat.types, missing, strict=True) if n > 0 and color in unseen}))


Row = tuple[Reading, Build, tuple[Reason, ...]]
"""A reading, its build as it stands in the field, and every fault of it."""


def _ahead(right: Row | None, wrong: Row | None) -> tuple[Row, Row | None]:
    """The better of the best of each ruling, at least one given, and the other."""
    if right is not None and wrong is not None:
        return (right, wrong) if right[0].score >= wrong[0].score else (wrong, right)
    best = right or wrong
    assert best is not None, "decide is given at least one reading"
    return best, None


def _doubt(features: Mapping[str, float], fit: Fit, best: Row, other: Row | None) -> Reason:
    trust = load_trust()["mismatch" if best[2] else "match"]
    if (
        fit.share < EXPLAINED_HIGH
        and trust.confidence({**features, **features_of(0.0, 1.0), "margin": features["margin"]}) >= trust.least
    ):
        return Reason(
            "unexplained",
            f"only {100 * fit.share:.0f} % of what stands in the field is explained by "
            "known pieces; something hides it or the build is unusual",
            values={"n": round(100 * fit.share)},
        )
    ahead, behind = _first(best[2]), _first(other[2]) if other else AS_CARD
    text = f"two readings explain the picture about equally well: {ahead.text}; or: {behind.text}"
    return Reason("two_readings", text, values={"ahead": ahead.to_json(), "behind": behind.to_json()})


def _first(found: tuple[Reason, ...]) -> Reason:
    """The first fault of a reading, or that it has none."""
    return found[0] if found else AS_CARD
