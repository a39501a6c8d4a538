"""Towers of storeys that sum to nine: the door of ``nine_sum_towers``."""

from collections import Counter

from cards.face import COLORS, GREY, Face
from referee.games.core import Game, Words
from referee.games.nine_sum_towers import rules
from referee.games.nine_sum_towers.camera import OPEN_CARDS


def _face(name: str, words: Words) -> Face:
    if name in rules.NUMBERS:
        return Face(name, "", COLORS[min(int(name), rules.SUM - int(name)) - 1])
    return Face(words(f"game.card.{name}"), "", GREY)


GAME: Game[rules.Nine] = Game(
    name="nine_sum_towers",
    seats=range(2, 7),
    rules=rules.NineRules,
    handlers=rules.HANDLERS,
    changes=rules.CHANGES,
    begin=rules.begin,
    create=rules.create,
    scores=lambda state: tuple(map(len, state.towers)),
    view=rules.view,
    legal=rules.legal,
    pieces=rules.pieces,
    deck=lambda state: Counter(rules.CARDS),
    face=_face,
    reads="cards",
    propose=OPEN_CARDS.propose,
)
