"""Whether a piece stands in a field before the go, asked live and of imported videos alike.

A loose piece that stands before the field covers some of it in the picture, so that colours alone do not tell.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np

from cards.card import Card
from cards.law import Tolerances
from referee.vision.observer import Judgement


class Judges(Protocol):
    """Who judges frames."""

    def judge(
        self, frames: Sequence[np.ndarray], card: Card, zones: Collection[str], tolerances: Tolerances
    ) -> Judgement:
        """Verdicts on settled frames of one scene."""


def has_piece(zone: str, image: np.ndarray, observer: Judges, card: Card) -> bool:
    """Whether any piece is read in that field of the picture (h, w, 3); where it cannot be read one may stand there."""
    verdict = observer.judge([image], card, [zone], Tolerances()).zones.get(zone)
    return verdict is not None and (verdict.build is None or bool(verdict.build.pieces))
