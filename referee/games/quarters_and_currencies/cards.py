"""The cards: money of four currencies, buildings of six kinds, two scoring cards; and the house rules. Pure.

A money card is its currency's letter and its value, ``b7``; a building its kind and its price, ``5:11``; ``A`` and
``B`` are the scoring cards in the money deck.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.games.core import Rules

CURRENCIES = ("a", "b", "c", "d")
VALUES = range(1, 10)
COPIES = 3
KINDS = range(1, 7)
PRICES = {1: (2, 8), 2: (3, 9), 3: (4, 10), 4: (5, 11), 5: (6, 12), 6: (7, 13)}
"""Kind -> lowest and highest price. 1 museum, 2 theatre, 3 station, 4 church, 5 park, 6 skyscraper."""

COUNTS = {1: 7, 2: 7, 3: 9, 4: 9, 5: 11, 6: 11}
PLACES = 4
GIFTS = 6
"""Buildings that the passive owner of a game of two gets at the start, and after scoring A."""

START_SUM = 20
MOST_AT_ONCE = 5
"""Several money cards are taken together when they come to no more than this."""

MOST_ACTIONS = 5
SCORINGS = ("A", "B")


class QuarterRules(Rules):
    """What the rules leave open: which prices come twice where a kind has more cards than prices."""

    doubled_prices: Literal["centre", "cheap", "dear"] = Field(
        "centre", description="Prices that come twice: from the centre outwards (cheaper first), or from an end."
    )


def money_cards(players: int) -> list[str]:
    """All money cards; for two players one of each is taken out."""
    copies = COPIES - 1 if players == 2 else COPIES
    return [f"{c}{v}" for c in CURRENCIES for v in VALUES for _ in range(copies)]


def prices(kind: int, rules: QuarterRules) -> list[int]:
    """The prices of that kind's cards: each of its span once, and some twice until there are enough."""
    low, high = PRICES[kind]
    span = list(range(low, high + 1))
    middle = (low + high) / 2
    order = {
        "centre": sorted(span, key=lambda price: (abs(price - middle), price)),
        "cheap": span,
        "dear": span[::-1],
    }[rules.doubled_prices]
    return sorted(span + order[: COUNTS[kind] - len(span)])


def building_cards(rules: QuarterRules) -> list[str]:
    """All 54 buildings."""
    return [f"{kind}:{price}" for kind in KINDS for price in prices(kind, rules)]


def value(money: str) -> int:
    """A money card's value; 0 for one that nobody has named."""
    return int(money[1:] or 0)


def kind_of(building: str) -> int:
    """A building's kind, 1 to 6."""
    return int(building.partition(":")[0])


def price_of(building: str) -> int:
    """A building's price."""
    return int(building.partition(":")[2])
