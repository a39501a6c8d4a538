"""The door of ``nine_sum_towers``: which move the cards that lie open tell of; its printed cards. Pure."""

from collections import Counter

from cards.face import COLORS, GREY, Face
from referee.games.core import Game, GameCommand, Words, from_rules
from referee.games.nine_sum_towers import rules
from referee.games.nine_sum_towers.rules import Nine
from referee.games.open_cards import Cards, OpenCards


def lying(state: Nine) -> Cards:
    """What lies open by the record: towers with their dogs, milkshakes and truck."""
    cards = Counter(card for tower in state.towers for storey in tower for card in storey.cards)
    cards.update(dog=sum(storey.dog for tower in state.towers for storey in tower))
    cards.update(milkshake=sum(state.milkshakes), truck=int(state.again))
    return +cards


def open_after(before: Nine, command: GameCommand, after: Nine) -> tuple[Cards, Cards]:
    """What must lie open after the command; of used cards what it discarded may."""
    return lying(after), Counter(after.discard[len(before.discard) :]) + Counter(after.discard[-1:])


OPEN_CARDS = OpenCards(lying, lambda state, seen, new: rules.moves(state, sorted(set(new))), open_after)


def _face(name: str, words: Words) -> Face:
    if name in rules.NUMBERS:
        return Face(name, "", COLORS[min(int(name), rules.SUM - int(name)) - 1], f"number {name}")
    return Face(words(f"game.card.{name}"), "", GREY, name)


GAME: Game[rules.Nine] = Game(
    name="nine_sum_towers",
    seats=range(2, 7),
    rules=rules.NineRules,
    scored=rules.scored,
    face=_face,
    reads="cards",
    propose=OPEN_CARDS.propose,
    **from_rules(rules),
)
