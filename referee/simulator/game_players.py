"""SIMULATED players of the tower games: they choose among the legal commands, so that they can make no others."""

import random

from referee.games.core import GameCommand
from referee.games.match import Match

TURN_ENDING_COMMANDS = ("EndTurn", "Draw", "GiveUpStone", "PassTurn")
"""What ends a turn is done when nothing else is liked: one choice in so many goes to it."""


def next_command(match: Match) -> GameCommand | None:
    """The next command of whoever can do something: the seat in turn first; the same one for the same match, also after
    a restart. None when the game is over."""
    for seat in match.state.in_order(match.state.turn):
        if legal := match.legal(seat):
            rng = random.Random(f"{match.setup.seed}/{len(match.played)}/{len(match.changes)}/{seat}")
            liked = [command for command in legal if command.NAME not in TURN_ENDING_COMMANDS]
            return rng.choice(liked if liked and rng.random() < 0.8 else legal)
    return None
