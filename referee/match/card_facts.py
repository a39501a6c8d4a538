"""What a match knows of a card: no rule of the house asks for more, and the match's first event records it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cards.deck import Deck


@dataclass(frozen=True)
class CardFacts:
    """``count`` is how many pieces the card asks for as a number; 0 where it shows them instead."""

    kind: str
    value: int
    count: int = 0

    def to_json(self) -> dict[str, Any]:
        """As the record keeps it: without a count where the card has none."""
        row: dict[str, Any] = {"kind": self.kind, "value": self.value}
        return row | ({"count": self.count} if self.count else {})


NO_CARD = CardFacts("", 0)
"""Of a card that nobody has named."""


def facts_of(row: Mapping[str, Any]) -> CardFacts:
    """The facts in a record, or in a card's JSON (``Card.to_json``)."""
    return CardFacts(row["kind"], row["value"], row.get("count", 0))


def cards_of(deck: Deck) -> dict[str, CardFacts]:
    """What a match needs to know of each card of the deck."""
    return {card.id: facts_of(card.to_json()) for card in deck.cards}
