"""Where a lamp's mirror image lies on the table: what is bare there shows more light than it did, or than it should.

Light that a surface mirrors is added to its own, and is white whatever the surface. A tenth of the paper's light more
hardly shows on paper, but it is as much as paint sends in the channels that it absorbs: red turns pale and is taken for
orange, blue for paper, a dark table for green. How much was added on a piece nobody can tell; that some was, the bare
table beside it shows.
"""

import numpy as np

from referee.vision.image.background import PLAIN_TINT
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured

GLARE_LIGHT = measured(0.05, "of the paper's light", "as much again as paint sends in the channels that it absorbs")
GLARE_WHITE = measured(0.6, "least channel of the strongest", "lamps' mirror images are white; wood, skin have 0.5")


def added_light(
    view: ZoneView, f: np.ndarray, table: np.ndarray, known: np.ndarray, whiter: float | None, where: np.ndarray
) -> np.ndarray:
    """(n,): how much light, of the paper's own, is added to the bare table's, at those of the pixels ``where`` (h, w)
    at which bare table is seen.

    What is added to all of the view is another exposure. With ``whiter``, by how much log light the sheet's white is
    brighter than when the ``table`` was seen, light must have been added since: beside a shadow there is none. Without,
    the ``table`` was never seen bare, and what is brighter than the light over most of it may be lit where
    that lies in shadow: then what was added makes it brighter than the sheet's own white.

    ``f``, ``table`` (h, w, 3) features, and those of the bare table where it is ``known`` (h, w).
    """
    _, marker, _ = view.regions
    known = known & view.valid & ~marker
    tint = np.maximum(np.abs(f[..., 1] - table[..., 1]), np.abs(f[..., 2] - table[..., 2]))
    bare = known & (tint < PLAIN_TINT)
    lit = table
    if whiter is None:
        lit = np.dstack([np.maximum(table[..., 0], 0.0), table[..., 1:]])
    known, bare_there = known & where, bare & where
    if not bare.any() or not known.any():
        return np.zeros(0, np.float32)
    usual = float(np.median(f[..., 0][bare] - lit[..., 0][bare]))
    usual = max(usual, -(whiter or 0.0))
    now, then = _relative(f[known], usual), _relative(lit[known])
    red, green, blue = (a - b for a, b in zip(now, then, strict=True))
    least, most = np.minimum(np.minimum(red, green), blue), np.maximum(np.maximum(red, green), blue)
    white = (least > GLARE_LIGHT) & (least > GLARE_WHITE * most)
    return least[white | bare_there[known]]


def _relative(f: np.ndarray, lighter: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Linear R, G, B (n,), relative to paper, of features (n, 3) whose light is taken for ``lighter`` (log) less."""
    both = f[:, 0] - np.float32(lighter) - f[:, 2] / 3
    return np.exp(both + f[:, 1] / 2), np.exp(both - f[:, 1] / 2), np.exp(both + f[:, 2])
