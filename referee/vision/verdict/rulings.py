"""What readings say against a card, each worked out once: the search and the decision both ask.

Which of the pieces stand in the field, and so are the build, and which lie loose, RULES.md says: what stands in the
printed field is the build, and a piece on the line belongs where its centre is. That holds for a piece that stands
alone; one that others rest on, or that rests on others, belongs to them. CONTRACT.md: for organ pipes the field is the
whole band between the markers, and every piece in it counts.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibration.mat import BAND, FIELD
from cards.build import Build, Piece
from cards.card import Card
from cards.law import TOLERANCES, Reason, Tolerances
from referee.match.verdict import Ruling
from referee.vision.measured import measured
from referee.vision.search.canvas import Reading, to_build
from referee.vision.search.stances import Catalogue

CLEAR_MARGIN = measured(
    4000.0,
    "nats",
    "by hand: a margin counts no further, and is at least that where no reading of the other ruling was met",
)


TRIED_OF_A_TYPE = measured(20, "places", "by hand, for time: so many of a further piece are ruled on")


class Ruled(NamedTuple):
    """A reading, its build as it stands in the field, and every fault of it by the card."""

    reading: Reading
    build: Build
    faults: tuple[Reason, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The ``best`` reading, by which the ``ruling`` is, beside the best one of the other ruling, where one was met:
    its ``rival``; ``margin``, by how many nats it is ahead."""

    ruling: Ruling
    best: Ruled
    rival: Ruled | None
    margin: float


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
            self._builds[key] = split_by_field(to_build(self.cat, reading), self.card)
        return self._builds[key]

    def is_right(self, reading: Reading) -> bool:
        """Whether the reading satisfies the card."""
        key = _key(reading)
        if key not in self._right:
            self._right[key] = self.card.is_right(self.build(reading), self.tolerances)
        return self._right[key]

    def right_without(self, build: Build, spare: Collection[int]) -> bool:
        """Whether a build satisfies the card without some of its pieces, given by index."""
        kept = tuple(p for i, p in enumerate(build.pieces) if i not in spare)
        return self.card.is_right(Build(build.piece_set, kept, build.loose), self.tolerances)

    def compare(self, readings: Sequence[Reading]) -> Comparison:
        """The best reading of each ruling beside one another; of readings best first, at least one."""
        right = next((r for r in readings if self.is_right(r)), None)
        wrong = next((r for r in readings if not self.is_right(r)), None)
        best, *others = sorted((r for r in (right, wrong) if r is not None), key=lambda r: -r.score)
        rival = Ruled(others[0], *self.of(others[0])) if others else None
        margin = best.score - rival.reading.score if rival else max(best.score, CLEAR_MARGIN)
        return Comparison("match" if best is right else "mismatch", Ruled(best, *self.of(best)), rival, margin)

    def turned_by(self, reading: Reading, further: np.ndarray) -> list[int]:
        """Which of ``further`` pieces (n, 5) in the mat's frame make a right build of a wrong one, or a wrong one of a
        right one: of each type the first, of the first few."""
        right, kinds = self.is_right(reading), self.cat.kind[further[:, 0].astype(int)]
        found, standing = [], [(piece.shape, piece.color) for piece in self.build(reading).pieces]
        for kind in dict.fromkeys(kinds.tolist()):
            if not right and not self.card.asks_for([*standing, self.cat.types[kind]]):
                continue
            for i in np.flatnonzero(kinds == kind)[:TRIED_OF_A_TYPE].tolist():
                more = Reading(reading.turn, reading.pieces, 0.0, loose=np.vstack([reading.loose, further[i]]))
                if self.card.is_right(self.build(more), self.tolerances) != right:
                    found.append(i)
                    break
        return found

    def turns_on_the_line(self, reading: Reading, line_mm: float) -> bool:
        """Whether a piece stands so near to the field's line that so much further in or out it would make a right
        build of a wrong one, or a wrong one of a right one."""
        build, found = self.of(reading)
        raw = to_build(self.cat, reading)
        others = (split_by_field(raw, self.card, mm) for mm in (-line_mm, line_mm))
        return any(
            len(other.pieces) != len(build.pieces) and bool(self._found(other)) != bool(found) for other in others
        )

    def _found(self, build: Build) -> tuple[Reason, ...]:
        return self.card.faults(build, self.tolerances)


def _key(reading: Reading) -> tuple:
    return reading.turn, reading.pieces.tobytes(), reading.loose.tobytes()


def field_of(card: Card) -> tuple[float, float]:
    """Half extent (x, y) in mm of the field in which this card is built."""
    return BAND if card.fills_band else FIELD


def split_by_field(build: Build, card: Card, wider_mm: float = 0.0) -> Build:
    """The build with what stands alone outside the field among the loose, and all that stands in it in the build; the
    field's line drawn so much further out."""
    x, y = field_of(card)
    field = (x + wider_mm, y + wider_mm)
    astray = _astray(build, field)
    kept = [p for i, p in enumerate(build.pieces) if i not in astray]
    loose = [*build.loose, *(build.pieces[i] for i in astray)]
    kept += [p for p in loose if _inside(p, field)]
    loose = [p for p in loose if not _inside(p, field)]
    return Build(build.piece_set, tuple(kept), tuple(loose))


def _inside(piece: Piece, field: tuple[float, float]) -> bool:
    return abs(piece.x) <= field[0] and abs(piece.y) <= field[1]


def _astray(build: Build, field: tuple[float, float]) -> list[int]:
    """Indices of the pieces that stand alone on the table with their centre outside the field."""
    beyond = [i for i, p in enumerate(build.pieces) if not _inside(p, field)]
    carrying = {j for below in build.contacts for j in below} if beyond else ()
    return [i for i in beyond if build.on_table[i] and i not in carrying]
