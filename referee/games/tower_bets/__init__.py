"""Five towers grow, and chips say which will be highest: the door of ``tower_bets``."""

from cards.face import COLORS, GREY, Face
from referee.games.core import Game, Words
from referee.games.tower_bets import rules
from referee.games.tower_bets.camera import propose

BASE = "base "


def _face(name: str, words: Words) -> Face:
    kind, _, rest = name.partition(" ")
    if kind == "flag":
        return Face(rest, kind, GREY)
    if kind == "chip":
        seat, _, value = rest.partition("/")
        return Face(value, f"{kind} {int(seat) + 1}", COLORS[int(seat)])
    style, caption = (rest, "game.page.base") if rest else (name, "game.page.tower")
    return Face(style, words(caption), COLORS[rules.STYLES.index(style)], steps=3, base=bool(rest))


GAME: Game[rules.Bets] = Game(
    name="tower_bets",
    seats=range(2, 6),
    rules=rules.BetRules,
    handlers=rules.HANDLERS,
    changes=rules.CHANGES,
    begin=rules.begin,
    create=rules.create,
    scores=rules.scores,
    view=rules.view,
    legal=rules.legal,
    pieces=rules.pieces,
    deck=rules.deck,
    face=_face,
    also_printed=tuple((name, 1) for name in ("flag 8/4", "flag 6/3", "flag 4/2", "flag 2/1"))
    + tuple((BASE + style, 1) for style in rules.STYLES),
    reads="columns",
    propose=lambda state, columns, _: propose(state, columns),
)
