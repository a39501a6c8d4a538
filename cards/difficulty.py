"""How hard a card is, as a number of stated parts, and the value (1 to 4) that follows from it.

Every piece costs the tongs one grip. It costs more

* when it is set on others: ``CONTACT_MM / width`` of the face it rests on, at most 2;
* for its overhang: half the share of its width that nothing carries;
* when it must be erected: half, if it stands higher than ERECT times its base.

The build costs ``TILT_COST`` for each degree that its tilt margin stays under what friction alone
would bear. A card that shows no arrangement costs one more for finding one; it is measured by
the build that ``Card.example`` finds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cards.build import Piece, shape_of
from cards.pieces import PieceSet
from cards.stability import FRICTION, StabilityReport, check_stability

CONTACT_MM = 10.0
MAX_NARROW = 2.0
ERECT_COST = 1.4
TILT_COST = 0.15
PLANNING_COST = 1.0
FULL_TILT_DEG = math.degrees(math.atan(FRICTION / math.sqrt(2)))
VALUE_FROM = (0.0, 4.9, 6.8, 8.8)
"""Difficulty from which a card is worth 1, 2, 3, 4; set so that each value has its share of the deck."""


@dataclass(frozen=True)
class Difficulty:
    """The parts of a build's difficulty; ``total`` decides its value."""

    pieces: int
    narrow: float
    overhang: float
    erect: float
    tilt: float
    planning: float = 0.0

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return self.pieces + self.narrow + self.overhang + self.erect + self.tilt + self.planning

    @property
    def value(self) -> int:
        """1 to 4."""
        return sum(bool(self.total >= start) for start in VALUE_FROM)


def difficulty(
    pieces: PieceSet, placed: Sequence[Piece], report: StabilityReport | None = None, planning: float = 0.0
) -> Difficulty:
    """The difficulty of a build that stands; of one that does not, a lower bound."""
    report = report or check_stability(pieces, placed)
    narrow = overhang = erect = 0.0
    for i, piece in enumerate(placed):
        wide, _, high = shape_of(pieces, piece).size(piece.pose)
        erect += 0.5 * (high > ERECT_COST * wide)
        faces = [t for t in report.touches if t.above == i and t.below is not None]
        if faces:
            narrow += min(CONTACT_MM / max(sum(t.width for t in faces), 1.0), MAX_NARROW)
            overhang += 0.5 * _overhang(piece, wide, faces)
    tilt = TILT_COST * max(FULL_TILT_DEG - report.tilt_deg, 0.0)
    return Difficulty(len(placed), float(narrow), float(overhang), erect, float(tilt), planning)


def _overhang(piece: Piece, wide: float, faces: Sequence[Any]) -> float:
    """The share of the piece's width outside of the span of what carries it, 0..1."""
    left = min(t.points[:, 0].min() for t in faces)
    right = max(t.points[:, 0].max() for t in faces)
    return max(0.0, 1.0 - float((right - left) / wide))
