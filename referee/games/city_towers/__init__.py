"""Towers in six cities: the door of ``city_towers``."""

from cards.face import RED, Face
from referee.games.city_towers import rules
from referee.games.city_towers.camera import propose
from referee.games.core import Game, GameCommand, Tower, Words


def _face(name: str, words: Words) -> Face:
    return Face("", f"{words('game.field.site').split(' ')[0]} {name}", RED, site=int(name))


def _plan(state: rules.City, command: GameCommand) -> tuple[int, tuple[Tower, ...]] | None:
    if not isinstance(command, rules.PlayStone):
        return None
    return command.city, tuple(state.tower(command.city, site) for site in rules.SITES)


GAME: Game[rules.City] = Game(
    name="city_towers",
    seats=range(2, 5),
    rules=rules.CityRules,
    handlers=rules.HANDLERS,
    changes=rules.CHANGES,
    begin=rules.begin,
    create=rules.create,
    scores=lambda state: state.points,
    view=rules.view,
    legal=rules.legal,
    pieces=rules.pieces,
    deck=rules.deck,
    secret=lambda now, then, _: "stones" if now.phase == then.phase == "picking" and now.round == then.round else "",
    face=_face,
    reads="plans",
    propose=lambda state, cities, _: propose(state, cities),
    plan=_plan,
)
