"""The kinds of card, one file each: what the card asks, how it is drawn and built, and the law of it.

Every module of this folder is imported: a kind is there as soon as its file is.
"""

from importlib import import_module
from pkgutil import iter_modules

from pydantic import ValidationError

from cards.card import Card
from cards.errors import BadCard, first_fault

for _found in iter_modules(__path__):
    import_module(f"{__name__}.{_found.name}")


def parse_card(data: object, source: str = "card") -> Card:
    """A card from parsed JSON. Raises BadCard naming ``source`` and the first fault."""
    kind = Card.kinds.get(str(data.get("kind"))) if isinstance(data, dict) else None
    if kind is None or not isinstance(data, dict):
        raise BadCard(f"{source}: a card is an object, and its kind is one of {', '.join(Card.kinds)}")
    try:
        return kind.from_json(data)
    except ValidationError as error:
        raise BadCard(f"{source}: {kind.kind}.{first_fault(error)}") from None
