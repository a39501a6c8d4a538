"""The decision: which ruling the evidence supports, by how much, and when it cannot be told.

The law. Of all readings of the pixels take the best that satisfies the card and the best that
does not. The verdict is the better one's; the *margin* between the two, in nats of evidence for
one pixel's worth of scale, is what the confidence comes from. Both are fair: the card's own reading and its nearest
variants, and those of the best reading, are always placed, fitted and scored (``search.readings``), and what satisfies
the card is ``RIGHT_PRIOR`` ahead from the start. A margin within what pixels'
common errors (blur, shadow, a millimetre of pose) can make is no verdict: ``undecided``. So is a
reading that leaves much of what stands in the field unexplained, however far it is ahead of the
next: then the truth is probably none of the readings. So is one that the pixels themselves do not show (``proof``):
skin is no orange piece, however much better it fits than the table. So is a build that lacks something while a
piece of the paper's colour is nowhere to be seen, or while something of a piece's size touches it that is neither
table nor a piece of the reading: it may stand there. So is a build with more pieces of a kind than the set has, or
with one within which other colours lie, on a phone's screen say; one that would be right but for a piece with which it
could hardly stand, an egg behind it say; and one that is right or wrong by a piece that stands on the field's line.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from calibration.palette import paper_coloured
from cards.build import Build
from cards.card import Card
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.kinds.organ_pipes import OrganCard
from cards.kinds.shapes import ShapesCard
from cards.law import Reason, because
from referee.match.verdict import Ruling, Verdict
from referee.vision.parameters import UNKNOWN_PIECES
from referee.vision.search.canvas import Fit, Reading
from referee.vision.search.stances import Catalogue
from referee.vision.verdict import parameters
from referee.vision.verdict.proof import Proof, Proving
from referee.vision.verdict.rulings import Rulings
from referee.vision.verdict.trust import load_trust

EXPLAINED_LOW = parameters.EXPLAINED_LOW.value
EXPLAINED_HIGH = parameters.EXPLAINED_HIGH.value
LEFT_ALWAYS = parameters.LEFT_ALWAYS.value
NOTHING_ELSE = parameters.NOTHING_ELSE.value
MOST_ALONE = parameters.MOST_ALONE.value
LACKING = frozenset(
    {"missing_piece", "wrong_count", "empty_field", "not_one_structure", "wrong_support", "not_side_by_side"}
)
"""Faults that a further piece, unseen, may be the cause of."""
MORE = frozenset({"extra_piece", "wrong_count"})
SPARE = MORE | {"not_one_structure", "too_many_on_table"}
"""Faults that say that there is a piece too many, and those that it may bring with it."""
MATCH_UNSEEN = parameters.MATCH_UNSEEN.value
MATCH_AHEAD, MISMATCH_AHEAD = parameters.MATCH_AHEAD.value, parameters.MISMATCH_AHEAD.value
MISMATCH_EXPLAINED, SHAPES_EXPLAINED = parameters.MISMATCH_EXPLAINED.value, parameters.SHAPES_EXPLAINED.value
MARGIN_UNIT = parameters.MARGIN_UNIT.value
MARGIN_MOST = parameters.MARGIN_MOST.value
SHOWN_UNIT = parameters.SHOWN_UNIT.value
COVERING = parameters.COVERING.value
HARDLY_STANDS = parameters.HARDLY_STANDS.value
LEAST_SHOWN, MATCH_SHOWN = parameters.LEAST_SHOWN.value, parameters.MATCH_SHOWN.value
TOLD_LEANING, OTHERS_TOLD = parameters.TOLD_LEANING.value, parameters.OTHERS_TOLD.value

AS_CARD = because("as_card")
"""What a reading without a fault says, beside one that has some."""


@dataclass(frozen=True)
class Weighed:
    """Readings weighed against a card: the best matching and the best other, what is explained, and the ``features``
    that confidence can be fitted to, each the larger the better: ``margin``, ``explained`` and ``proof`` (see
    ``features_of``); ``rival`` 1 where a reading of the other ruling was met, else 0."""

    verdict: Verdict
    margin: float
    explained: float
    features: Mapping[str, float] = field(default_factory=dict)


def decide(
    rulings: Rulings, readings: list[Reading], fit: Fit, proving: Proving, hidden: Collection[str] = ()
) -> Weighed:
    """The verdict of one zone from its fitted readings (best first, at least one), the ``fit`` of the best, and what
    the pixels prove of it. ``hidden`` colours cannot be told from what is behind the build."""
    cat, card = rulings.cat, rulings.card
    right = next(((r, *rulings.of(r)) for r in readings if rulings.is_right(r)), None)
    wrong = next(((r, *rulings.of(r)) for r in readings if not rulings.is_right(r)), None)
    best, other = _ahead(right, wrong)
    margin = best[0].score - other[0].score if other else max(best[0].score, NOTHING_ELSE)
    ruling: Ruling = "match" if best is right else "mismatch"
    proof = proving(best[1], other[1] if other else None)
    shown = min(fit.agreement, proof.shown)
    features = features_of(margin, fit.share, shown) | {"rival": float(other is not None)}
    trust = load_trust()[ruling]
    sure = trust.confidence(features)
    alternatives = tuple(
        Verdict("match" if not f else "mismatch", 0.0, f, b, margin=r.score - best[0].score)
        for r in readings[1 : 1 + OTHERS_TOLD]
        for b, f in (rulings.of(r),)
    )
    if other is None and _near(best[1], card):
        sure = min(sure, MOST_ALONE)
    if not best[2] and _unseen(cat, best[0], ()):
        sure = min(sure, MATCH_UNSEEN)
    if untold := _untold(rulings, best, proof, fit, hidden):
        verdict = Verdict("undecided", TOLD_LEANING, (untold,), best[1], ruling, alternatives, margin)
    elif best is right and (proof.unshown or fit.agreement < MATCH_SHOWN):
        reason = because("unproven", sight=AS_CARD.to_json())
        verdict = Verdict("undecided", min(sure, trust.least), (reason,), best[1], ruling, alternatives, margin)
    elif best is wrong and fit.share < (SHAPES_EXPLAINED if isinstance(card, ShapesCard) else MISMATCH_EXPLAINED):
        reason = because("unexplained", n=round(100 * fit.share))
        verdict = Verdict("undecided", min(sure, trust.least), (reason,), best[1], ruling, alternatives, margin)
    elif other and margin < (MATCH_AHEAD if best is right else MISMATCH_AHEAD):
        verdict = Verdict(
            "undecided", min(sure, trust.least), (_two_readings(best, other),), best[1], ruling, alternatives, margin
        )
    elif sure >= trust.least:
        verdict = Verdict(ruling, sure, best[2], best[1], None, alternatives, margin)
    else:
        doubt = _doubt(features, fit, best, other)
        verdict = Verdict("undecided", sure, (doubt,), best[1], ruling, alternatives, margin)
    return Weighed(verdict, margin, fit.share, features)


def _untold(rulings: Rulings, best: Row, proof: Proof, fit: Fit, hidden: Collection[str]) -> Reason | None:
    """Why nothing can be told however far the best reading is ahead, if that is so."""
    reading, build, found = best
    shown, crooked = min(fit.agreement, proof.shown), fit.crooked
    may_lack, sight = _may_lack(build, found, rulings.card), _first(found).to_json()
    if may_lack and (unseen := _unseen(rulings.cat, reading, hidden, lacking(build, rulings.card))):
        return because("unseen_colour", colors=list(unseen), sight=sight)
    if found and _covered(proof, shown, may_lack):
        return because("covered", sight=sight)
    if found and proof.motley is not None:
        return because("motley", piece={"color": proof.motley.color, "shape": proof.motley.shape}, sight=sight)
    if (kind := _beyond_set(build)) is not None:
        shape, color = kind
        return because(
            "beyond_set", n=build.piece_set.inventory[kind], piece={"color": color, "shape": shape}, sight=sight
        )
    if crooked > HARDLY_STANDS and _too_many(rulings, build, found):
        return because("hardly_stands", sight=sight)
    if rulings.turns_on_the_line(reading):
        return because("on_the_line", sight=sight)
    return None


def _beyond_set(build: Build) -> tuple[str, str] | None:
    """A (shape, color) of which more seem to stand in the build than the set has: some are not of it, or no pieces."""
    more = Counter((p.shape, p.color) for p in build.pieces) - build.piece_set.inventory
    return min(more, default=None)


def _covered(proof: Proof, shown: float, may_lack: bool) -> bool:
    """Whether a mismatch rests on what is hardly seen: something unknown touches the build that may be what lacks, or
    that is as large as a piece whatever the fault; or the pixels do not show the reading."""
    return proof.left >= (UNKNOWN_PIECES.value if may_lack else COVERING) or shown < LEAST_SHOWN


def _near(build: Build, card: Card) -> bool:
    """Whether a build has nearly as many pieces as the card asks for, so that a rival ought to have been met."""
    if isinstance(card, LayoutCard):
        return True
    return abs(len(build.pieces) - card.piece_count) < 2


def features_of(margin: float, explained: float, shown: float) -> dict[str, float]:
    """What confidence is made of, each about 0 to 4 and the larger the better: the margin by its logarithm, the share
    that is explained by how little is left, and as ``proof`` how far the pixels themselves show the reading ahead: the
    weakest of ``proof.proof_of`` and the worst piece's agreement with its own pixels."""
    ahead = math.log1p(min(margin, MARGIN_MOST) / MARGIN_UNIT)
    left = 1.0 - min(max(explained, EXPLAINED_LOW), 1.0) + LEFT_ALWAYS
    return {
        "margin": ahead,
        "explained": math.log((1.0 - EXPLAINED_LOW + LEFT_ALWAYS) / left),
        "proof": math.log1p(min(max(shown, 0.0), 1.0) / SHOWN_UNIT),
    }


def _may_lack(build: Build, found: tuple[Reason, ...], card: Card) -> bool:
    """Whether there are faults, and further pieces, unseen, could take them all away."""
    too_many = isinstance(card, HeightCard) and len(build.pieces) >= card.count
    return bool(found) and {r.code for r in found} <= LACKING and not too_many


def lacking(build: Build, card: Card) -> Callable[[str, str], bool]:
    """Whether a further piece of that shape and colour could be one that the card asks for and the build lacks: a red
    roof that is missing is not made up for by anything green."""
    if isinstance(card, LayoutCard):
        pieces = Counter((p.shape, p.color) for p in card.pieces) - Counter((p.shape, p.color) for p in build.pieces)
        return lambda shape, color: (shape, color) in pieces
    if isinstance(card, ShapesCard):
        shapes = Counter(dict(card.shapes)) - Counter(p.shape for p in build.pieces)
        return lambda shape, color: shape in shapes
    return lambda shape, color: True


def _unseen(
    cat: Catalogue,
    reading: Reading,
    hidden: Collection[str],
    wanted: Callable[[str, str], bool] = lambda shape, color: True,
) -> tuple[str, ...]:
    """Colours like the paper's or the background's of which a piece that is ``wanted`` is seen neither in the build nor
    lying loose."""
    stances = np.concatenate([reading.pieces[:, 0], reading.loose[:, 0]]).astype(int)
    missing = cat.stock - np.bincount(cat.kind[stances], minlength=len(cat.stock))
    unseen = paper_coloured(cat.piece_set) | set(hidden)
    rows = zip(cat.types, missing, strict=True)
    return tuple(sorted({color for (shape, color), n in rows if n > 0 and color in unseen and wanted(shape, color)}))


def _too_many(rulings: Rulings, build: Build, found: tuple[Reason, ...]) -> bool:
    """Whether a build would be right if something of it were no piece."""
    card, codes = rulings.card, {r.code for r in found}
    if isinstance(card, OrganCard) or not codes & MORE or not codes <= SPARE:
        return False
    if isinstance(card, LayoutCard):  # of which no more is told than what is too many: how the others stand is not
        spare = itertools.product(*(itertools.combinations(r.pieces, r.values["n"]) for r in found))
        return any(rulings.right_without(build, set(itertools.chain(*some))) for some in spare)
    return not (isinstance(card, HeightCard) and len(build.pieces) < card.count)


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
    trust, best_of = load_trust()["mismatch" if best[2] else "match"], features_of(0.0, 1.0, 1.0)
    if fit.share < EXPLAINED_HIGH and trust.confidence({**features, "explained": best_of["explained"]}) >= trust.least:
        return because("unexplained", n=round(100 * fit.share))
    if trust.confidence({**features, "proof": best_of["proof"]}) >= trust.least:
        return because("unproven", sight=_first(best[2]).to_json())
    return _two_readings(best, other)


def _two_readings(best: Row, other: Row | None) -> Reason:
    behind = _first(other[2]) if other else AS_CARD
    return because("two_readings", ahead=_first(best[2]).to_json(), behind=behind.to_json())


def _first(found: tuple[Reason, ...]) -> Reason:
    """The first fault of a reading, or that it has none."""
    return found[0] if found else AS_CARD
