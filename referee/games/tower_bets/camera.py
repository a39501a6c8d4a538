"""Which card was built, from how high the columns of cards are. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from cards.sentences import sentence
from referee.games.core import MoveProposal
from referee.games.tower_bets.rules import STOREYS, STYLES, Bets, PlayCard


class ColumnReading(Protocol):
    """A tower's column of cards: its ``style``, ``height`` in whole storeys, and whether that is ``sure``."""

    @property
    def style(self) -> str: ...
    @property
    def height(self) -> int: ...
    @property
    def sure(self) -> bool: ...


def propose(state: Bets, columns: Collection[ColumnReading]) -> MoveProposal:
    """The card that was built, from how many storeys each column has."""
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
