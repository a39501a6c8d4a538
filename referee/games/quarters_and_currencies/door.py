"""The door of ``quarters_and_currencies``: which move the cards that lie open tell of; its printed cards. Pure."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

from cards.face import COLORS, GREY, Face
from referee.games.core import Game, GameCommand, Pile, Words, from_rules
from referee.games.open_cards import Cards, OpenCards
from referee.games.quarters_and_currencies import rules


def lying(state: rules.Quarters) -> Cards:
    """What lies open by the record: the yard and the market."""
    return Counter([*filter(None, state.yard), *state.market])


def open_after(before: rules.Quarters, command: GameCommand, after: rules.Quarters) -> tuple[Cards, Cards]:
    """What must lie open after the command; nothing more may."""
    must = lying(after)
    if isinstance(command, rules.Buy):
        must += Counter(command.pay)
    elif isinstance(command, rules.ReadHand):
        must = Counter(command.cards)
    elif isinstance(command, rules.ReadIn) and (command.card in rules.SCORINGS or before.phase == "reading_gift"):
        must += Counter([command.card])
    return must, Counter()


def candidates(state: rules.Quarters, seen: Pile, new: Pile) -> Iterator[GameCommand]:
    """What may have been done, as far as cards that lie open tell of it."""
    seat = state.turn
    if state.phase == "reading_hands":
        yield rules.ReadHand(next(s for s in state.seats if not state.hands[s]), seen)
    yield from (rules.ReadIn(seat, card) for card in sorted(set(new)))
    gone = tuple(sorted((Counter(state.market) - Counter(seen)).elements()))
    if gone and (len(gone) == 1 or sum(map(rules.money_value, gone)) <= rules.MOST_AT_ONCE):
        yield rules.TakeMoney(seat, gone)
    for place, give in product(range(1, rules.PLACES + 1), (False, True)):
        yield rules.Buy(seat, place, new, give)


OPEN_CARDS = OpenCards(lying, candidates, open_after)


def _face(name: str, words: Words) -> Face:
    if ":" in name:
        kind = rules.kind_of(name)
        return Face(str(rules.price_of(name)), words(f"game.page.kind.{kind}"), COLORS[kind - 1], f"kind {kind}")
    if name in rules.SCORINGS:
        return Face(name, "", GREY, "scoring")
    color = COLORS[rules.CURRENCIES.index(name[0])]
    return Face(name[1], f"{words('game.page.currency')} {name[0]}", color, f"money {name[0]}")


GAME: Game[rules.Quarters] = Game(
    name="quarters_and_currencies",
    seats=range(2, 7),
    rules=rules.QuarterRules,
    secret=lambda now, before, command: "cards" if command["command"] == "ReadHand" else "",
    face=_face,
    reads="cards",
    propose=OPEN_CARDS.propose,
    **from_rules(rules),
)
