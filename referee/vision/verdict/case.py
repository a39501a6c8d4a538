"""A case for a ruling: what it rests on, and how sure past sessions make of it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from cards.build import Piece
from cards.card import Card
from cards.law import Reason, because
from referee.vision.search.canvas import Fit, Reading
from referee.vision.verdict.rulings import Comparison, Ruled, Rulings
from referee.vision.verdict.trust import Trust, features_of, load_trust
from referee.vision.verdict.visibility import Visibility

EXTRA_PIECE_FAULTS = frozenset({"extra_piece", "wrong_count"})
SPARE_PIECE_FAULTS = EXTRA_PIECE_FAULTS | {"not_one_structure", "too_many_on_table"}
"""Faults that say that there is a piece too many, and those that it may bring with it."""
AS_CARD_REASON = because("as_card")
"""What a reading without a fault says, beside one that has some."""


class SeenEarlier(NamedTuple):
    """Whether an earlier picture is ``unlike`` the reading ahead: it shows what that has no piece for; and whether the
    build was as the card wants it before a piece was lost from it."""

    unlike: bool
    was_right: bool


@dataclass(frozen=True)
class Case:
    """What a ruling rests on: the readings ``compared``, how well the one ahead accounts for the picture (``fit``), how
    far the pixels by themselves show it (``proof``), what the picture allows to be told (``visibility``), the pieces'
    lengths as times the piece file's (``size_factor``), the reading ahead as further cameras' views have it
    (``others``), what ``earlier`` pictures tell of it, None where there was nothing to look for in them, and a piece
    that is ``out_of_sight`` and would change the ruling if it stood there."""

    rulings: Rulings
    compared: Comparison
    fit: Fit
    proof: float
    visibility: Visibility
    size_factor: float = 1.0
    others: Sequence[Reading] = ()
    earlier: SeenEarlier | None = None
    out_of_sight: Piece | None = None

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
        return min(self.fit.agreement, self.proof)

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
        """Probability that its ruling is right, by past sessions."""
        return self.trust.confidence(self.features)

    @property
    def sight(self) -> Reason:
        """What the reading ahead says at first sight: its first fault, or that it has none."""
        return first_fault(self.best)

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


def first_fault(ruled: Ruled | None) -> Reason:
    """The first fault of a reading, or that it has none."""
    return ruled.faults[0] if ruled and ruled.faults else AS_CARD_REASON
