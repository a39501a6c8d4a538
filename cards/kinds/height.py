"""``height``: so many pieces built on one another.

The law: exactly ``count`` pieces, one structure, at most ``max_ground_contacts`` on the table.
"""

import random
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from cards.build import Build
from cards.card import Kind
from cards.generate import CAP_KINDS
from cards.kinds.structure import MAX_GROUND_CONTACTS, StructureCard, shuffled
from cards.law import Reason, Tolerances
from cards.pieces import PieceSet
from cards.scene import RED, Patch, patch, placed, words, words_width
from cards.sentences import sentence

CAP_MM = 70.0
"""Height of the number on the card."""


@dataclass(frozen=True)
class HeightCard(StructureCard):
    """``count`` pieces built on one another, at most ``max_ground_contacts`` on the table."""

    count: Annotated[int, Field(ge=1, le=40)]
    max_ground_contacts: Annotated[int, Field(ge=1)] = MAX_GROUND_CONTACTS
    kind = "height"
    number_alone = True

    @property
    def piece_count(self) -> int:
        """The card's number."""
        return self.count

    def chosen(self, pieces: PieceSet, rng: random.Random) -> list[Kind]:
        """Pieces on which others can stand before those on which nothing can."""
        chosen = self.picked(sorted(shuffled(pieces, rng), key=lambda kind: pieces.shapes[kind[0]].kind in CAP_KINDS))
        if len(chosen) < self.count:
            raise self.bad(sentence("asks_count", n=self.count, m=len(chosen)))
        return chosen

    def law(self, build: Build, tolerances: Tolerances) -> tuple[Reason, ...]:
        """The number, and one structure."""
        return self.wrong_count(build) + self.not_one_structure(build)

    def picture(self, pieces: PieceSet) -> tuple[Patch, ...]:
        """The number and an arrow upwards."""
        width = words_width(str(self.count), CAP_MM)
        return words(str(self.count), width / 2, 0.0, CAP_MM, RED) + placed(_arrow(CAP_MM), 1.0, width + 13.0, 0.0)


def _arrow(height: float) -> tuple[Patch, ...]:
    half, head, wing = 4.5, 22.0, 12.0
    tip = height + 14.0
    neck = tip - head
    right = [(half, 0), (half, neck), (wing, neck), (0, tip)]
    return (patch([(-half, 0), *right, (-wing, neck), (-half, neck)], RED),)
