"""Pictures of a game's table, gathered until something is played, and what they propose against the record.

A proposal is never carried out here: a human confirms it, as the command that it is.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from calibration.camera import CameraModel
from cards.pieces import PieceSet
from cards.sentences import sentence
from referee.errors import CannotSee
from referee.games.city_towers import City
from referee.games.match import Match
from referee.games.sighting import Owners, Proposal, Site, owners, propose
from referee.vision.city.overlay import overlay
from referee.vision.city.sight import CityEye, Sighting

MOST_PICTURES = 6
"""The latest pictures that are read together: more sides are not needed, and each takes its second."""


@dataclass(frozen=True, eq=False)
class Look:
    """What so many ``pictures`` tell: the ``proposal``, and by city a picture (h, w, 3) BGR with what was read."""

    pictures: int
    proposal: Proposal
    overlays: dict[int, np.ndarray]


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
