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
from referee.vision.city.reading import Trial

PAINT_WEIGHT, PAINT_PX = 2.0, 12
"""How much a nat of a storey's paint counts, from so many pixels well inside of its sides. Of 1320 storeys of tables
800 to 823, from two choices of three pictures each, the likeliest weight was 2.7; of tables with brown stones 1.3."""
PIXEL_WEIGHT, RIM_PX = 2.0, 100.0
"""How much a nat a pixel counts that a storey's pixels, each for itself, gain by a colour: pixels of one storey err
together. Half as much where so many are seen, which are mostly rims."""


@dataclass(frozen=True, eq=False)
class Stacking:
    """How likely each colour is: ``first`` (k,) of a stone, and ``above`` (k, k) of the storey above one of a colour.
    ``alike`` (k, k) bool are the paints that a pixel alone does not tell apart."""

    first: np.ndarray
    above: np.ndarray
    alike: np.ndarray

    @classmethod
    def of(cls, stones: PieceSet, alike: np.ndarray) -> Self:
        """Stones of the set, taken at random."""
        colors, high = list(stones.colors), storey_of(stones).high
        many, storeys = np.zeros(len(colors)), np.zeros(len(colors))
        for (shape, color), count in stones.inventory.items():
            many[colors.index(color)] += count
            storeys[colors.index(color)] += count * stones.shapes[shape].height / high
        first, ends = many / many.sum(), many / np.maximum(storeys, 1)
        return cls(first, np.diag(1 - ends) + ends[:, None] * first, alike)

    def storey_nats(self, trial: Trial, paints: Sequence[Paint | None]) -> np.ndarray:
        """(n, k) nats of each storey of a tower for each colour, by its sides under their light and by its pixels. But
        which of the paints that are alike it has, only the light tells."""
        pairs = self.alike | np.eye(len(self.alike), dtype=bool)
        gained = np.where(pairs, trial.color_nats[:, None], -np.inf).max(2)
        nats = PIXEL_WEIGHT * gained / (trial.visible_px + RIM_PX)[:, None]
        for row, paint in zip(nats, paints, strict=True):
            row += PAINT_WEIGHT * paint.nats if paint and paint.pixels >= PAINT_PX else 0.0
        return np.asarray(nats - nats.max(1, keepdims=True))

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
