"""Where a lamp's mirror image lies on the table: what is bare there shows more light than it did, or than it should.

Light that a surface mirrors is added to its own, and is white whatever the surface. A tenth of the paper's light more
hardly shows on paper, but it is as much as paint sends in the channels that it absorbs: red turns pale and is taken for
orange, blue for paper, a dark table for green. How much was added on a piece nobody can tell; that some was, the bare
table beside it shows.
"""

from __future__ import annotations

import numpy as np

from referee.vision.image.view import ZoneView
from referee.vision.parameters import GLARE_LIGHT, GLARE_TINT, GLARE_WHITE


def added_light(
    view: ZoneView, f: np.ndarray, table: np.ndarray, known: np.ndarray, whiter: float | None = None
) -> np.ndarray:
    """(h, w) float32: how much light, of the paper's own, is added to the bare table's; NaN where no bare table is
    seen. What is added to all of the view is another exposure. With ``whiter``, by how much log light the sheet's white
    is brighter than when the ``table`` was seen, light must have been added since: beside a shadow there is none.

    ``f``, ``table`` (h, w, 3) features, and those of the bare table where it is ``known`` (h, w).
    """
    _, marker, _ = view.regions
    known = known & view.valid & ~marker
    bare = known & (np.abs(f - table)[..., 1:].max(-1) < GLARE_TINT.value)
    out = np.full(known.shape, np.nan, np.float32)
    if not bare.any():
        return out
    usual = float(np.median((f - table)[..., 0][bare]))
    if whiter is not None:
        usual = max(usual, -whiter)
    more = _relative(f[known] - np.array([usual, 0, 0])) - _relative(table[known])
    least, most = more.min(1), more.max(1)
    white = (least > GLARE_LIGHT.value) & (least > GLARE_WHITE.value * most)
    out[known] = np.where(white | bare[known], least, np.nan)
    return out


def _relative(f: np.ndarray) -> np.ndarray:
    """(n, 3) linear R, G, B relative to the paper's white of features (n, 3)."""
    both = f[:, 0] - f[:, 2] / 3
    return np.exp(np.stack([both + f[:, 1] / 2, both - f[:, 1] / 2, both + f[:, 2]], 1))
