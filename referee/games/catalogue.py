"""The games that can be refereed, by name."""

from __future__ import annotations

from typing import Any

from referee.games import city_towers, tower_bets
from referee.games.core import BadGame, Game
from referee.games.nine_sum_towers.play import GAME as NINE
from referee.games.quarters_and_currencies.play import GAME as QUARTERS

GAMES: dict[str, Game[Any]] = {game.name: game for game in (city_towers.GAME, QUARTERS, NINE, tower_bets.GAME)}


def game_named(name: str) -> Game[Any]:
    """The game of that name. Raises BadGame."""
    if name not in GAMES:
        raise BadGame(f"there is no game {name!r}: it is one of {', '.join(GAMES)}")
    return GAMES[name]
