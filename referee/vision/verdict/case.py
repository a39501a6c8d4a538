"""A case for a ruling: what it rests on, and how sure past sessions make of it."""

import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibration.palette import paper_coloured
from cards.card import Card, Kind
from cards.law import Reason, because
from referee.vision.measured import measured
from referee.vision.search.canvas import Fit
from referee.vision.verdict.proof import Proof
from referee.vision.verdict.rulings import Comparison, Ruled, Rulings
from referee.vision.verdict.trust import Trust, features_of, load_trust
from referee.vision.verdict.visibility import Visibility

MOST_ALONE = measured(
    0.97,
    "confidence",
    "the most where a rival ought to have been met and was not: what else the picture shows was not weighed. Of 173 "
    "such mismatches under stress (seed 96) 169 were right",
    "referee bench devset devset2 --stress --every 2 --seed 96",
)
MATCH_UNSEEN = measured(
    0.93,
    "confidence",
    "the most of a match where a piece of the paper's colour is seen nowhere: it may stand in the build as one too "
    "many. Of 14 such matches in witness sessions 13 were right",
)
MISSING_PIECE_FAULTS = frozenset(
    {"missing_piece", "wrong_count", "empty_field", "not_one_structure", "wrong_support", "not_side_by_side"}
)
"""Faults that a further piece, unseen, may be the cause of."""
EXTRA_PIECE_FAULTS = frozenset({"extra_piece", "wrong_count"})
SPARE_PIECE_FAULTS = EXTRA_PIECE_FAULTS | {"not_one_structure", "too_many_on_table"}
"""Faults that say that there is a piece too many, and those that it may bring with it."""
AS_CARD_REASON = because("as_card")
"""What a reading without a fault says, beside one that has some."""


@dataclass(frozen=True)
class Case:
    """What a ruling rests on: the readings ``compared``, how well the one ahead accounts for the picture (``fit``), how
    far the pixels by themselves show it (``proof``), what the picture allows to be told (``visibility``), and the
    pieces' lengths as times the piece file's (``size_factor``)."""

    rulings: Rulings
    compared: Comparison
    fit: Fit
    proof: Proof
    visibility: Visibility
    size_factor: float = 1.0

    @property
    def best(self) -> Ruled:
        """The reading ahead."""
        return self.compared.best

    @property
    def card(self) -> Card:
        """The card that is ruled on."""
        return self.rulings.card

    @property
    def shown(self) -> float:
        """How far the pixels show the reading ahead, 0 to 1: the weaker of what ``fit`` and ``proof`` say."""
        return min(self.fit.agreement, self.proof.shown)

    @cached_property
    def features(self) -> Mapping[str, float]:
        """What its confidence is made of: ``trust.features_of``, and ``rival`` 1 where one was met, else 0."""
        rival = {"rival": float(self.compared.rival is not None)}
        return features_of(self.compared.margin, self.fit.share, self.shown) | rival

    @property
    def trust(self) -> Trust:
        """How far past sessions let its ruling be trusted."""
        return load_trust()[self.compared.ruling]

    @cached_property
    def confidence(self) -> float:
        """Probability that its ruling is right: by past sessions, less where a rival ought to have been met, and for a
        match where a piece of the paper's colour may stand unseen."""
        sure = self.trust.confidence(self.features)
        nearly = bool(self.card.shown) or abs(len(self.best.build.pieces) - self.card.piece_count) < 2
        if self.compared.rival is None and nearly:  # a build of nearly as many pieces ought to have met one
            sure = min(sure, MOST_ALONE)
        if not self.best.faults and self.unseen_colors():
            sure = min(sure, MATCH_UNSEEN)
        return sure

    @property
    def sight(self) -> Reason:
        """What the reading ahead says at first sight: its first fault, or that it has none."""
        return first_fault(self.best)

    @cached_property
    def may_lack(self) -> bool:
        """Whether there are faults, and further pieces, unseen, could take them all away."""
        codes = {r.code for r in self.best.faults}
        too_many = self.card.number_alone and len(self.best.build.pieces) >= self.card.piece_count
        return bool(codes) and codes <= MISSING_PIECE_FAULTS and not too_many

    @cached_property
    def one_too_many(self) -> bool:
        """Whether its build would be right if something of it were no piece."""
        card, build, faults = self.card, self.best.build, self.best.faults
        codes = {r.code for r in faults}
        if not (card.shown or card.one_structure) or not codes & EXTRA_PIECE_FAULTS or not codes <= SPARE_PIECE_FAULTS:
            return False
        if card.shown:  # of which no more is told than what is too many, not how the others stand
            spare = itertools.product(*(itertools.combinations(r.pieces, r.values["n"]) for r in faults))
            return any(self.rulings.right_without(build, set(itertools.chain(*some))) for some in spare)
        return not (card.number_alone and len(build.pieces) < card.piece_count)

    def unseen_colors(
        self, hidden: Collection[str] = (), wanted: Callable[[Kind], bool] = lambda kind: True
    ) -> tuple[str, ...]:
        """Colours like the paper's, or ``hidden``, of which a piece that is ``wanted`` is seen neither
        in the build nor lying loose."""
        cat, reading = self.rulings.cat, self.best.reading
        stances = np.concatenate([reading.pieces[:, 0], reading.loose[:, 0]]).astype(int)
        missing = cat.stock - np.bincount(cat.kind[stances], minlength=len(cat.stock))
        unseen = paper_coloured(cat.piece_set) | set(hidden)
        rows = zip(cat.types, missing, strict=True)
        return tuple(sorted({kind[1] for kind, n in rows if n > 0 and kind[1] in unseen and wanted(kind)}))


def first_fault(ruled: Ruled | None) -> Reason:
    """The first fault of a reading, or that it has none."""
    return ruled.faults[0] if ruled and ruled.faults else AS_CARD_REASON
