"""Which move leads to the cards that a camera read on the table: every move that may explain them is tried. Pure.

Where several moves lead there (a joker stands for more than one number) all are offered, and a human chooses.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic

from cards.sentences import Sentence, sentence
from referee.errors import IllegalCommand
from referee.games.core import GameCommand, MoveProposal, Pile, S

Cards = Counter[str]
MOST_OFFERED = 4
"""More moves than that are not told apart by what lies open: then it is entered."""


@dataclass(frozen=True)
class OpenCards(Generic[S]):
    """What a game's moves do to the cards that lie open.

    ``lying``: what lies open by the record, and must be seen. ``candidates``: what may have been done, from the state,
    the cards that are seen, and those of them that are new. ``open_after``: from the states before and after a
    command, what must lie open then, and what more may.
    """

    lying: Callable[[S], Cards]
    candidates: Callable[[S, Pile, Pile], Iterable[GameCommand]]
    open_after: Callable[[S, GameCommand, S], tuple[Cards, Cards]]

    def propose(self, state: S, seen: Pile, after: Callable[[GameCommand], S]) -> MoveProposal:
        """The moves after which the cards that are ``seen`` would lie open. ``after`` gives the state after a command,
        and raises IllegalCommand."""
        there, recorded = Counter(seen), self.lying(state)
        explained: list[GameCommand] = []
        for command in self.candidates(state, seen, tuple(sorted((there - recorded).elements()))):
            try:
                must, may = self.open_after(state, command, after(command))
            except IllegalCommand:
                continue
            if must <= there and there - must <= may and there != recorded:
                explained.append(command)
        if 1 <= len(explained) <= MOST_OFFERED:
            return MoveProposal(sentence("game.camera.cards", n=len(seen)), explained[0], others=tuple(explained[1:]))
        return MoveProposal(_unexplained(there, recorded, len(explained)))


def _unexplained(there: Cards, recorded: Cards, moves: int) -> Sentence:
    if there == recorded:
        return sentence("game.camera.cards_same", n=there.total())
    if moves:
        return sentence("game.camera.cards_many", n=moves)
    more, less = (sorted((a - b).elements()) or ["–"] for a, b in ((there, recorded), (recorded, there)))
    return sentence("game.camera.cards_odd", more=more, less=less)
