"""Which colours a tower's storeys have, by what is seen of each and by how people stack stones.

A stone is up to four storeys high, so a storey mostly has the colour of the one below and of the one above: the stones
of the set say how often. A low storey in the shade of other towers is told by that and by what little it shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from cards.pieces import PieceSet
from referee.vision.city.drawn import storey_of
from referee.vision.city.paints import Paint

PAINT_WEIGHT = 2.0
"""How much a nat of a storey's paint counts."""


@dataclass(frozen=True, eq=False)
class Stacking:
    """How likely each colour is: ``first`` (k,) of a stone, ``above`` (k, k) of the storey above one of a colour."""

    first: np.ndarray
    above: np.ndarray

    @classmethod
    def of(cls, stones: PieceSet) -> Self:
        """Stones of the set, taken at random."""
        colors, high = list(stones.colors), storey_of(stones).high
        many, storeys = np.zeros(len(colors)), np.zeros(len(colors))
        for (shape, color), count in stones.inventory.items():
            many[colors.index(color)] += count
            storeys[colors.index(color)] += count * stones.shapes[shape].height / high
        first, ends = many / many.sum(), many / np.maximum(storeys, 1)
        return cls(first, np.diag(1 - ends) + ends[:, None] * first)

    def storey_nats(self, paints: Sequence[Paint | None]) -> np.ndarray:
        """(n, k) nats of each storey of a tower for each colour, by its sides under their light."""
        nats = [PAINT_WEIGHT * paint.nats if paint else np.zeros_like(self.first) for paint in paints]
        return np.array([one - one.max() for one in nats])

    def shares(self, nats: np.ndarray) -> np.ndarray:
        """(n, k) the probability of each storey's colours, from below, by its ``nats`` (n, k) and all the others'."""
        seen = np.exp(nats)
        below, higher = seen * self.first, np.ones_like(seen)
        for k in range(1, len(seen)):
            below[k] = seen[k] * (below[k - 1] / below[k - 1].sum() @ self.above)
        for k in range(len(seen) - 2, -1, -1):
            told = self.above @ (seen[k + 1] * higher[k + 1])
            higher[k] = told / told.sum()
        both = below * higher
        return np.asarray(both / both.sum(1, keepdims=True))
