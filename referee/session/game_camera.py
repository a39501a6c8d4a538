"""Pictures of a game's table, and what they propose against the record: towers on plans, cards that lie open, columns
of cards.

A proposal is never carried out here: a human confirms it, as the command that it is.
"""

import threading
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from calibration.camera import CameraModel
from cards.pieces import PieceSet
from cards.sentences import sentence
from referee.errors import CannotSee
from referee.games.core import Game, MoveProposal
from referee.games.match import Match
from referee.vision.city.overlay import overlay
from referee.vision.city.sight import CityEye
from referee.vision.image.game_cards import columns, open_cards
from referee.vision.overlay import named_cards

MOST_PICTURES = 6
"""The latest pictures that are read together: more sides are not needed, and each takes its second."""


@dataclass(frozen=True, eq=False)
class TableReading:
    """What so many ``pictures`` tell: the ``proposal``, and by city (0: the table) a picture (h, w, 3) BGR with
    what was read."""

    pictures: int
    proposal: MoveProposal
    overlays: dict[int, np.ndarray]


class CardCamera:
    """Reads a game's printed cards that lie open, or lie in columns, one picture at a time."""

    def __init__(self, game: Game[Any]) -> None:
        self._kinds = [name for name, _ in game.printed()]
        self._bases = {face.marker: face.title for face in game.faces() if face.base}
        self._styles = {marker: name for marker, name in enumerate(self._kinds) if name in self._bases.values()}

    def look(self, match: Match, picture: np.ndarray) -> TableReading:
        """What the picture tells. Raises CannotSee without a printed card, or without a column's base."""
        cards = open_cards(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), len(self._kinds))
        if not cards:
            raise CannotSee(sentence("game.camera.no_cards"))
        laid = (
            columns(cards, self._bases, self._styles) if self._bases else [self._kinds[card.marker] for card in cards]
        )
        if not laid:
            raise CannotSee(sentence("game.camera.no_base"))
        proposal = match.game.proposal(match.state, tuple(laid))
        return TableReading(1, proposal, {0: named_cards(picture, cards, self._kinds)})

    def forget(self) -> None:
        """Each picture stands alone."""


class PlanCamera:
    """Reads the plans for one match. Thread-safe; one look at a time."""

    def __init__(self, stones: PieceSet, camera: CameraModel | None = None) -> None:
        self._eye = CityEye(stones, camera)
        self._lock = threading.Lock()
        self._pictures: list[np.ndarray] = []
        self._of: tuple[str, int] = ("", 0)

    def look(self, match: Match, picture: np.ndarray) -> TableReading:
        """What the pictures since the match's last event tell, with one more. Raises CannotSee without a plan; that
        picture is then not kept."""
        with self._lock:
            if self._of != (match.match_id, match.seq):  # the table has changed since the earlier pictures
                self._of, self._pictures = (match.match_id, match.seq), []
            pictures = [*self._pictures, picture][-MOST_PICTURES:]
            sighting = self._eye.look(pictures)
            if not sighting.cities:
                raise CannotSee(sentence("game.camera.no_plan"))
            self._pictures = pictures
            drawn = {city: overlay(sight) for city, sight in sighting.cities.items()}
            return TableReading(len(pictures), match.game.proposal(match.state, sighting.cities), drawn)

    def forget(self) -> None:
        """Begin without pictures."""
        with self._lock:
            self._pictures = []


TableCamera = CardCamera | PlanCamera
"""A camera over the table, as a console needs it."""
