"""The games that can be refereed, by name."""

from __future__ import annotations

from typing import Any

from referee.games import city_towers, nine_sum_towers, quarters_and_currencies, tower_bets
from referee.games.core import BadGame, Game

FOLDERS = (city_towers, quarters_and_currencies, nine_sum_towers, tower_bets)
GAMES: dict[str, Game[Any]] = {folder.GAME.name: folder.GAME for folder in FOLDERS}


def game_named(name: str) -> Game[Any]:
    """The game of that name. Raises BadGame."""
    if name not in GAMES:
        raise BadGame(f"there is no game {name!r}: it is one of {', '.join(GAMES)}")
    return GAMES[name]
