"""What readings say against a card, each worked out once: the search, the light and the decision all ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from cards.build import Build
from cards.card import Card
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.kinds.organ_pipes import OrganCard
from cards.kinds.shapes import ShapesCard
from cards.law import TOLERANCES, Reason, Tolerances
from referee.vision.search.canvas import Reading, to_build
from referee.vision.search.stances import Catalogue
from referee.vision.verdict import parameters
from referee.vision.verdict.field import in_field

ON_LINE_MM = parameters.ON_LINE_MM.value


class Rulings:
    """Builds and their faults against one card, by reading. Not to be shared between threads."""

    def __init__(self, cat: Catalogue, card: Card, tolerances: Tolerances = TOLERANCES) -> None:
        self.cat = cat
        self.card = card
        self.tolerances = tolerances
        self._builds: dict[tuple, Build] = {}
        self._faults: dict[tuple, tuple[Reason, ...]] = {}
        self._right: dict[tuple, bool] = {}

    def of(self, reading: Reading) -> tuple[Build, tuple[Reason, ...]]:
        """The build as it stands in the field, and every fault of it."""
        key = _key(reading)
        build = self.build(reading)
        if key not in self._faults:
            self._faults[key] = self._found(build)
        return build, self._faults[key]

    def build(self, reading: Reading) -> Build:
        """The build as it stands in the field."""
        key = _key(reading)
        if key not in self._builds:
            self._builds[key] = in_field(to_build(self.cat, reading), self.card)
        return self._builds[key]

    def is_right(self, reading: Reading) -> bool:
        """Whether the reading satisfies the card."""
        key = _key(reading)
        if key not in self._right:
            self._right[key] = self._satisfies(self.build(reading))
        return self._right[key]

    def right_without(self, build: Build, spare: Collection[int]) -> bool:
        """Whether a build satisfies the card without some of its pieces, given by index."""
        kept = tuple(p for i, p in enumerate(build.pieces) if i not in spare)
        return self._satisfies(Build(build.piece_set, kept, build.loose))

    def turns_on_the_line(self, reading: Reading) -> bool:
        """Whether a piece stands so near to the field's line that a little further in or out it would make a right
        build of a wrong one, or a wrong one of a right one."""
        build, found = self.of(reading)
        raw = to_build(self.cat, reading)
        others = (in_field(raw, self.card, mm) for mm in (-ON_LINE_MM, ON_LINE_MM))
        return any(
            len(other.pieces) != len(build.pieces) and bool(self._found(other)) != bool(found) for other in others
        )

    def _satisfies(self, build: Build) -> bool:
        return asked_pieces(build, self.card) and self.card.is_right(build, self.tolerances)

    def _found(self, build: Build) -> tuple[Reason, ...]:
        return self.card.faults(build, self.tolerances)


def _key(reading: Reading) -> tuple:
    return reading.turn, reading.pieces.tobytes(), reading.loose.tobytes()


def asked_pieces(build: Build, card: Card) -> bool:
    """Whether there are as many pieces, or just those, that the card asks for: without them a build is wrong however it
    stands, and how it stands takes a hundred times as long to find out."""
    if isinstance(card, LayoutCard):
        return Counter((p.shape, p.color) for p in build.pieces) == Counter((p.shape, p.color) for p in card.pieces)
    if isinstance(card, ShapesCard):
        return Counter(p.shape for p in build.pieces) == Counter(dict(card.shapes))
    return not isinstance(card, (HeightCard, OrganCard)) or len(build.pieces) == card.count
