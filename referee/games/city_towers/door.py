"""The door of ``city_towers``: which stone was played, from what a camera saw on the plans; its printed cards. Pure."""

from collections.abc import Collection, Mapping
from typing import Any

from cards.face import RED, Face
from cards.sentences import sentence
from referee.games.city_towers import rules
from referee.games.city_towers.rules import HEIGHTS, City, PlayStone
from referee.games.core import Game, MoveProposal, Site, Tower, Words, from_rules

Owners = tuple[int, ...]
"""The seat of every storey, from below."""


def owners(tower: Tower) -> Owners:
    """The seat of every storey of a tower, from below."""
    return tuple(seat for seat, height in tower for _ in range(height))


def propose(state: City, cities: Mapping[int, Any]) -> MoveProposal:
    """What the cities in view (as ``vision.city`` reads them) propose: sure sites as read, doubtful ones as on record
    where the pictures allow it."""
    towers: dict[Site, Owners] = {}
    unknown: list[Site] = []
    for city, plan in cities.items():
        for number, site in plan.sites.items():
            recorded = owners(state.tower(city, number))
            if site.sure:
                towers[city, number] = tuple(plan.names.index(color) for color in site.colors)
            elif max(recorded, default=0) < len(plan.names) and plan.allows(number, recorded):
                towers[city, number] = recorded
            else:
                unknown.append((city, number))
    return explain(state, towers, unknown)


def explain(state: City, towers: Mapping[Site, Owners], unknown: Collection[Site] = ()) -> MoveProposal:
    """What was played since the record, as far as the sites whose ``towers`` are known tell."""
    left = tuple(sorted(unknown))
    differ = tuple(site for site in sorted(towers) if towers[site] != owners(state.tower(*site)))
    if not differ:
        return MoveProposal(sentence("game.camera.same", n=len(towers)), unknown=left)
    if len(differ) > 1:
        sites = [f"{city}/{site}" for city, site in differ]
        return MoveProposal(sentence("game.camera.several", sites=sites), differ=differ, unknown=left)
    (city, site), before = differ[0], owners(state.tower(*differ[0]))
    there = towers[differ[0]]
    added = there[len(before) :]
    if there[: len(before)] != before or len(set(added)) != 1 or len(added) not in HEIGHTS:
        return MoveProposal(sentence("game.camera.odd", site=site, city=city), differ=differ, unknown=left)
    if added[0] not in state.seats:
        return MoveProposal(sentence("game.camera.nobody", site=site, city=city), differ=differ, unknown=left)
    command = PlayStone(added[0], len(added), site, city)
    message = sentence("game.camera.play", player=state.name(added[0]), height=len(added), site=site, city=city)
    return MoveProposal(message, command, differ=differ, unknown=left)


def _face(name: str, words: Words) -> Face:
    return Face("", f"{words('game.field.site').split(' ')[0]} {name}", RED, f"site {name}")


GAME: Game[rules.City] = Game(
    name="city_towers",
    seats=range(2, 5),
    rules=rules.CityRules,
    secret=lambda now, then, _: "stones" if now.phase == then.phase == "picking" and now.round == then.round else "",
    face=_face,
    reads="plans",
    propose=lambda state, cities, _: propose(state, cities),
    plan=lambda state, c: (
        (c.city, tuple(state.tower(c.city, site) for site in rules.SITES)) if isinstance(c, PlayStone) else None
    ),
    **from_rules(rules),
)
