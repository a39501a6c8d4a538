"""The door of ``tower_bets``: which card was built, of how high the columns are; its printed cards. Pure."""

from collections.abc import Collection
from typing import Any

from cards.face import COLORS, GREY, Face
from cards.sentences import sentence
from referee.games.core import Game, MoveProposal, Words, from_rules
from referee.games.tower_bets import rules
from referee.games.tower_bets.rules import STOREYS, STYLES, Bets, PlayCard


def propose(state: Bets, columns: Collection[Any]) -> MoveProposal:
    """The card that was built, from how many storeys each column (as ``vision.image.game_cards`` reads it) has."""
    heights = {column.style: column.height for column in columns}
    grown = {style: high - state.heights[STYLES.index(style)] for style, high in heights.items()}
    other = {style: by for style, by in sorted(grown.items()) if by}
    if doubtful := sorted(column.style for column in columns if not column.sure):
        return MoveProposal(sentence("game.camera.columns_doubtful", towers=doubtful))
    if not other:
        return MoveProposal(sentence("game.camera.columns_same", n=len(heights)))
    if len(other) > 1 or not set(other.values()) <= set(STOREYS):
        towers = [f"{style} {heights[style]}" for style in other]
        return MoveProposal(sentence("game.camera.columns_odd", towers=towers))
    ((style, by),) = other.items()
    message = sentence("game.camera.column", player=state.name(state.turn), tower=style, n=by)
    return MoveProposal(message, PlayCard(state.turn, style, by))


BASE = "base "


def _face(name: str, words: Words) -> Face:
    kind, _, rest = name.partition(" ")
    if kind == "flag":
        return Face(rest, kind, GREY, kind)
    if kind == "chip":
        seat, _, value = rest.partition("/")
        return Face(value, f"{kind} {int(seat) + 1}", COLORS[int(seat)], kind)
    style, caption = (rest, "game.page.base") if rest else (name, "game.page.tower")
    color = COLORS[rules.STYLES.index(style)]
    return Face(style, words(caption), color, f"style {style}", steps=3, base=bool(rest))


GAME: Game[rules.Bets] = Game(
    name="tower_bets",
    seats=range(2, 6),
    rules=rules.BetRules,
    scored=rules.scored,
    face=_face,
    also_printed=tuple((name, 1) for name in ("flag 8/4", "flag 6/3", "flag 4/2", "flag 2/1"))
    + tuple((BASE + style, 1) for style in rules.STYLES),
    reads="columns",
    propose=lambda state, columns, _: propose(state, columns),
    **from_rules(rules),
)
