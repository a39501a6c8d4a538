"""Buildings bought in four currencies: the door of ``quarters_and_currencies``."""

from cards.face import COLORS, GREY, Face
from referee.games.core import Game, Words
from referee.games.quarters_and_currencies import rules
from referee.games.quarters_and_currencies.camera import OPEN_CARDS


def _face(name: str, words: Words) -> Face:
    if ":" in name:
        kind = rules.kind_of(name)
        return Face(str(rules.price_of(name)), words(f"game.page.kind.{kind}"), COLORS[kind - 1])
    if name in rules.SCORINGS:
        return Face(name, "", GREY)
    return Face(name[1], f"{words('game.page.currency')} {name[0]}", COLORS[rules.CURRENCIES.index(name[0])])


GAME: Game[rules.Quarters] = Game(
    name="quarters_and_currencies",
    seats=range(2, 7),
    rules=rules.QuarterRules,
    handlers=rules.HANDLERS,
    changes=rules.CHANGES,
    begin=rules.begin,
    create=rules.create,
    scores=lambda state: state.points[: len(state.players)],
    view=rules.view,
    legal=rules.legal,
    pieces=rules.pieces,
    deck=rules.deck,
    secret=lambda now, before, command: "cards" if command["command"] == "ReadHand" else "",
    face=_face,
    reads="cards",
    propose=OPEN_CARDS.propose,
)
