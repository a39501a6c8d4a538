"""What readings say against a card, each worked out once: the search, the light and the decision all ask."""

from __future__ import annotations

from cards.build import Build
from cards.card import Card
from referee.match.judge import TOLERANCES, Tolerances, faults
from referee.match.verdict import Reason
from referee.vision.search.canvas import Reading, to_build
from referee.vision.search.stances import Catalogue
from referee.vision.verdict.field import in_field


class Rulings:
    """Builds and their faults against one card, by reading. Not to be shared between threads."""

    def __init__(self, cat: Catalogue, card: Card, tolerances: Tolerances = TOLERANCES) -> None:
        self.cat = cat
        self.card = card
        self.tolerances = tolerances
        self._known: dict[tuple, tuple[Build, tuple[Reason, ...]]] = {}

    def of(self, reading: Reading) -> tuple[Build, tuple[Reason, ...]]:
        """The build as it stands in the field, and every fault of it."""
        key = (reading.turn, reading.pieces.tobytes(), reading.loose.tobytes())
        if key not in self._known:
            build = in_field(to_build(self.cat, reading), self.card)
            self._known[key] = build, faults(build, self.card, self.tolerances)
        return self._known[key]

    def is_right(self, reading: Reading) -> bool:
        """Whether the reading satisfies the card."""
        return not self.of(reading)[1]
