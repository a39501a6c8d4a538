"""Which move the cards that lie open tell of. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from referee.games.core import GameCommand, Pile
from referee.games.open_cards import Cards, OpenCards
from referee.games.quarters_and_currencies.rules import (
    MOST_AT_ONCE,
    PLACES,
    SCORINGS,
    Buy,
    Quarters,
    ReadHand,
    ReadIn,
    TakeMoney,
    value,
)


def lying(state: Quarters) -> Cards:
    """What lies open by the record: the yard and the market."""
    return Counter([*filter(None, state.yard), *state.market])


def open_after(before: Quarters, command: GameCommand, after: Quarters) -> tuple[Cards, Cards]:
    """What must lie open after the command; nothing more may."""
    must = lying(after)
    if isinstance(command, Buy):
        must += Counter(command.pay)
    elif isinstance(command, ReadHand):
        must = Counter(command.cards)
    elif isinstance(command, ReadIn) and (command.card in SCORINGS or before.phase == "reading_gift"):
        must += Counter([command.card])
    return must, Counter()


def candidates(state: Quarters, seen: Pile, new: Pile) -> Iterator[GameCommand]:
    """What may have been done, as far as cards that lie open tell of it."""
    seat = state.turn
    if state.phase == "reading_hands":
        yield ReadHand(next(s for s in state.seats if not state.hands[s]), seen)
    yield from (ReadIn(seat, card) for card in sorted(set(new)))
    gone = tuple(sorted((Counter(state.market) - Counter(seen)).elements()))
    if gone and (len(gone) == 1 or sum(map(value, gone)) <= MOST_AT_ONCE):
        yield TakeMoney(seat, gone)
    for place, give in product(range(1, PLACES + 1), (False, True)):
        yield Buy(seat, place, new, give)


OPEN_CARDS = OpenCards(lying, candidates, open_after)
