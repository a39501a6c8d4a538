"""Pictures of a game's table, and what they propose against the record: towers on city plans, cards that lie open,
columns of cards.

A proposal is never carried out here: a human confirms it, as the command that it is.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import cv2
import numpy as np

from calibration.camera import CameraModel
from cards.pieces import PieceSet
from cards.sentences import sentence
from referee.errors import CannotSee, IllegalCommand
from referee.games.city_towers import City
from referee.games.match import Match
from referee.games.open_cards import propose_cards, propose_storeys
from referee.games.sighting import Owners, Proposal, Site, owners, propose
from referee.games.tower_bets import Bets
from referee.vision.city.overlay import overlay
from referee.vision.city.sight import CityEye, Sighting
from referee.vision.image.card_columns import columns
from referee.vision.image.game_cards import OpenCard, open_cards
from referee.vision.render.named_cards import named_cards

MOST_PICTURES = 6
"""The latest pictures that are read together: more sides are not needed, and each takes its second."""


@dataclass(frozen=True, eq=False)
class Look:
    """What so many ``pictures`` tell: the ``proposal``, and by city (0: the table) a picture (h, w, 3) BGR with
    what was read."""

    pictures: int
    proposal: Proposal
    overlays: dict[int, np.ndarray]


class TableCamera(Protocol):
    """What a console needs of a camera over the table."""

    def look(self, match: Match, picture: np.ndarray) -> Look:
        """What a picture (h, w, 3) BGR tells, with those before it. Raises CannotSee."""

    def forget(self) -> None:
        """Begin without pictures."""


class CardCamera:
    """Reads printed cards that lie open, one picture at a time; ``kinds`` are their names by marker.

    ``bases`` and ``styles``, marker -> style, are a game's whose cards lie in columns.
    """

    def __init__(self, kinds: Sequence[str], bases: Mapping[int, str], styles: Mapping[int, str]) -> None:
        self._kinds, self._bases, self._styles = kinds, bases, styles

    def look(self, match: Match, picture: np.ndarray) -> Look:
        """What the picture tells. Raises CannotSee without a printed card, or without a column's base."""
        cards = open_cards(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), len(self._kinds))
        if not cards:
            raise CannotSee(sentence("game.camera.no_cards"))
        if self._bases:
            proposal = self._columns(match, cards)
        else:
            proposal = propose_cards(match, [self._kinds[card.marker] for card in cards])
        return Look(1, proposal, {0: named_cards(picture, cards, self._kinds)})

    def _columns(self, match: Match, cards: Sequence[OpenCard]) -> Proposal:
        found = columns(cards, self._bases, self._styles)
        if not found:
            raise CannotSee(sentence("game.camera.no_base"))
        assert isinstance(match.state, Bets)
        heights = {column.style: column.height for column in found}
        told = propose_storeys(match.state, heights, [column.style for column in found if not column.sure])
        return checked(match, told)

    def forget(self) -> None:
        """Each picture stands alone."""


def checked(match: Match, proposal: Proposal) -> Proposal:
    """The proposal with why the rules would refuse it now."""
    if proposal.command is None:
        return proposal
    try:
        match.game.decide(match.state, proposal.command)
    except IllegalCommand as error:
        return replace(proposal, refusal=error.said)
    return proposal


class GameCamera:
    """Reads the city plans for one match. Thread-safe; one look at a time."""

    def __init__(self, stones: PieceSet, camera: CameraModel | None = None) -> None:
        self._eye = CityEye(stones, camera)
        self._lock = threading.Lock()
        self._pictures: list[np.ndarray] = []
        self._of: tuple[str, int] = ("", 0)

    def look(self, match: Match, picture: np.ndarray) -> Look:
        """What the pictures since the match's last event tell, with one more. Raises CannotSee without a plan; that
        picture is then not kept."""
        with self._lock:
            self._of_match(match)
            pictures = [*self._pictures, picture][-MOST_PICTURES:]
            sighting = self._eye.look(pictures)
            if not sighting.cities:
                raise CannotSee(sentence("game.camera.no_plan"))
            self._pictures = pictures
            assert isinstance(match.state, City)
            drawn = {city: overlay(sight) for city, sight in sighting.cities.items()}
            return Look(len(pictures), proposed(match.state, sighting), drawn)

    def forget(self) -> None:
        """Begin without pictures."""
        with self._lock:
            self._pictures = []

    def _of_match(self, match: Match) -> None:
        """Leave out the pictures of an earlier state: the table has changed since."""
        now = (match.match_id, match.seq)
        if self._of != now:
            self._of, self._pictures = now, []


def proposed(state: City, sighting: Sighting) -> Proposal:
    """What a sighting proposes: sure sites as seen, doubtful ones as on record where the pictures allow it."""
    seen: dict[Site, Owners] = {}
    unknown: list[Site] = []
    for city, sight in sighting.cities.items():
        for number, site in sight.sites.items():
            recorded = owners(state.tower(city, number))
            if site.sure:
                seen[city, number] = tuple(sight.names.index(color) for color in site.colors)
            elif max(recorded, default=0) < len(sight.names) and sight.allows(number, recorded):
                seen[city, number] = recorded
            else:
                unknown.append((city, number))
    return propose(state, seen, unknown)
