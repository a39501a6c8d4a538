"""What a camera saw on the city plans, held against the record: which stone was played, if exactly one was. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cards.sentences import Sentence, sentence
from referee.errors import IllegalCommand
from referee.games.city_towers import GAME, HEIGHTS, City, PlayStone, Tower
from referee.games.core import GameCommand

Site = tuple[int, int]
"""City (1-6) and site (1-9)."""
Owners = tuple[int, ...]
"""The seat of every storey, from below."""


@dataclass(frozen=True)
class Proposal:
    """``said`` in a sentence; the ``command`` to confirm, None where there is none, and why it would be refused now;
    ``others`` that fit as well; the sites that ``differ`` from the record, and those of which the pictures do not
    tell."""

    said: Sentence
    command: GameCommand | None = None
    refusal: str = ""
    differ: tuple[Site, ...] = ()
    unknown: tuple[Site, ...] = ()
    others: tuple[GameCommand, ...] = ()


def owners(tower: Tower) -> Owners:
    """The seat of every storey of a tower, from below."""
    return tuple(seat for seat, height in tower for _ in range(height))


def propose(state: City, seen: Mapping[Site, Owners], unknown: Collection[Site] = ()) -> Proposal:
    """What was played since the record, as far as the sites that were ``seen`` tell."""
    left = tuple(sorted(unknown))
    differ = tuple(site for site in sorted(seen) if seen[site] != owners(state.tower(*site)))
    if not differ:
        return Proposal(sentence("game.camera.same", n=len(seen)), unknown=left)
    if len(differ) > 1:
        sites = [f"{city}/{site}" for city, site in differ]
        return Proposal(sentence("game.camera.several", sites=sites), differ=differ, unknown=left)
    (city, site), before = differ[0], owners(state.tower(*differ[0]))
    there = seen[differ[0]]
    added = there[len(before) :]
    if there[: len(before)] != before or len(set(added)) != 1 or len(added) not in HEIGHTS:
        return Proposal(sentence("game.camera.odd", site=site, city=city), differ=differ, unknown=left)
    if added[0] not in state.seats:
        return Proposal(sentence("game.camera.nobody", site=site, city=city), differ=differ, unknown=left)
    command = PlayStone(added[0], len(added), site, city)
    said = sentence("game.camera.play", player=state.name(added[0]), height=len(added), site=site, city=city)
    return Proposal(said, command, _refusal(state, command), differ, left)


def _refusal(state: City, command: PlayStone) -> str:
    """Why the rules would refuse it now; empty where they would not."""
    try:
        GAME.decide(state, command)
    except IllegalCommand as error:
        return error.said
    return ""
