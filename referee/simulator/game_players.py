"""SIMULATED players of the tower games: they choose among the legal commands, so that they can make no others."""

import random

from referee.games.core import GameCommand
from referee.games.match import Match

TURN_ENDING_COMMANDS = ("EndTurn", "Draw", "GiveUpStone", "PassTurn")
"""What ends a turn is done when nothing else is liked: one choice in so many goes to it."""


def seat_command(match: Match, seat: int) -> GameCommand | None:
    """The seat's next command, None when it has none; the same one for the same match, also after a restart."""
    legal = match.legal(seat)
    if not legal:
        return None
    rng = random.Random(f"{match.setup.seed}/{len(match.played)}/{len(match.changes)}/{seat}")
    liked = [command for command in legal if command.NAME not in TURN_ENDING_COMMANDS]
    return rng.choice(liked if liked and rng.random() < 0.8 else legal)


def next_command(match: Match) -> GameCommand | None:
    """The next command of whoever can do something: the seat in turn first. None when the game is over."""
    for seat in match.state.in_order(match.state.turn):
        if (command := seat_command(match, seat)) is not None:
            return command
    return None
