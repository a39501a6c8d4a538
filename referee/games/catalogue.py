"""The games that can be refereed, by name."""

from typing import Any

from referee.games.city_towers import door as city_towers
from referee.games.core import BadGame, Game
from referee.games.nine_sum_towers import door as nine_sum_towers
from referee.games.quarters_and_currencies import door as quarters_and_currencies
from referee.games.tower_bets import door as tower_bets

DOORS = (city_towers, quarters_and_currencies, nine_sum_towers, tower_bets)
GAMES: dict[str, Game[Any]] = {door.GAME.name: door.GAME for door in DOORS}


def game_named(name: str) -> Game[Any]:
    """The game of that name. Raises BadGame."""
    if name not in GAMES:
        raise BadGame(f"there is no game {name!r}: it is one of {', '.join(GAMES)}")
    return GAMES[name]
