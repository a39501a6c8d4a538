"""A deck: cards in order, read from the contract's ``deck.json``, shuffled with a seed."""

import json
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cards.card import Card
from cards.errors import BadCard, parsed_file
from cards.kinds import parse_card
from cards.pieces import PieceSet

FIRST_CARD_MARKER = 50
"""Contract: the deck's n-th card (from 0) carries the ArUco id ``50 + n``, unless the deck says where it begins."""

LAST_MARKER = 249
"""DICT_4X4_250 ends here."""


@dataclass(frozen=True)
class Deck:
    """Cards in the deck's order."""

    name: str
    cards: tuple[Card, ...]
    first_marker: int = FIRST_CARD_MARKER
    """Two decks on one table begin at different ids, so that no card is taken for another deck's."""

    @cached_property
    def by_id(self) -> dict[str, Card]:
        """Cards by their id."""
        return {card.id: card for card in self.cards}

    def card(self, card_id: str) -> Card:
        """The card of that id. Raises BadCard naming the deck's ids."""
        try:
            return self.by_id[card_id]
        except KeyError:
            some = ", ".join(list(self.by_id)[:8]) + (" …" if len(self.by_id) > 8 else "")
            raise BadCard(f"no card {card_id!r} in deck {self.name!r} (it has {some})") from None

    def marker(self, card_id: str) -> int:
        """The ArUco id printed on the card."""
        return self.first_marker + self.cards.index(self.card(card_id))

    def with_marker(self, marker: int) -> Card | None:
        """The card that carries the ArUco id, or None."""
        n = marker - self.first_marker
        return self.cards[n] if 0 <= n < len(self.cards) else None

    def shuffled(self, seed: int) -> tuple[str, ...]:
        """All card ids in an order that depends on the seed alone."""
        order = [card.id for card in self.cards]
        random.Random(seed).shuffle(order)
        return tuple(order)

    def to_json(self) -> dict[str, Any]:
        """The contract's ``deck.json`` as a dictionary."""
        start = {} if self.first_marker == FIRST_CARD_MARKER else {"first_marker": self.first_marker}
        return {"name": self.name, **start, "cards": [c.to_json() for c in self.cards]}


def parse_deck(data: object, source: str = "deck") -> Deck:
    """A Deck from parsed JSON. Raises BadCard naming ``source`` and the first fault."""
    if not isinstance(data, dict) or not isinstance(data.get("cards"), list) or not data["cards"]:
        raise BadCard(f"{source}: a deck is an object with a name and a non-empty list of cards")
    cards = []
    for n, row in enumerate(data["cards"]):
        label = row.get("id", f"number {n}") if isinstance(row, dict) else f"number {n}"
        cards.append(parse_card(row, f"{source}: card {label}"))
    ids = [c.id for c in cards]
    for card_id in ids:
        if ids.count(card_id) > 1:
            raise BadCard(f"{source}: card id {card_id!r} occurs more than once")
    return Deck(str(data.get("name", "deck")), tuple(cards), _first_marker(data, len(cards), source))


def _first_marker(data: dict[str, Any], count: int, source: str) -> int:
    first = data.get("first_marker", FIRST_CARD_MARKER)
    if type(first) is not int or not FIRST_CARD_MARKER <= first <= LAST_MARKER:
        raise BadCard(f"{source}: first_marker is a whole number from {FIRST_CARD_MARKER} to {LAST_MARKER}")
    if (room := LAST_MARKER + 1 - first) < count:
        raise BadCard(f"{source}: {count} cards, but markers {first} to {LAST_MARKER} are enough for {room} only")
    return first


def load_deck(path: str | Path, pieces: PieceSet | None = None) -> Deck:
    """Read a ``deck.json``; with ``pieces`` also check that every card fits that set.

    Raises BadCard with one line that names the file and the fault.
    """
    deck = parse_deck(parsed_file(path, json.loads, "JSON", BadCard), str(path))
    for card in deck.cards if pieces is not None else ():
        for problem in card.inventory_problems(pieces) if pieces is not None else ():
            raise BadCard(f"{path}: card {card.id}: {problem}")
    return deck


BUILTIN_DECKS = Path(__file__).parent / "decks"


def builtin_deck_names() -> list[str]:
    """Names of the decks that ship with the package."""
    return sorted(path.stem for path in BUILTIN_DECKS.glob("*.json"))


def builtin_deck(name: str = "challenge80") -> Deck:
    """A deck that ships with the package, by name."""
    return load_deck(BUILTIN_DECKS / f"{name}.json")
