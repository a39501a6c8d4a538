"""How dark shadows are at this table: what is darker than they were while no hand was near is no shadow.

One lamp leaves the same share of its light in all its shadows. On paper a grey sleeve is as colourless as a shadow,
and only darker; without the table's own measure it could not be told from one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from referee.vision import live_parameters as parameters

SHADOW = parameters.SHADOW.value
SHADE_FLOOR = parameters.SHADE_FLOOR.value
TINTED = parameters.TINTED.value
STEPS = parameters.SHADE_STEPS.value
LEAST = parameters.SHADE_LEAST.value


@dataclass(eq=False)
class ShadowModel:
    """Follows the shadows of one camera's looks: ``darkest`` is the share of light that a shadow leaves at least."""

    _seen: np.ndarray = field(default_factory=lambda: np.zeros(STEPS, np.int64))

    @property
    def darkest(self) -> float:
        """By what was seen; ``SHADOW`` while that is little."""
        if self._seen.sum() < LEAST:
            return SHADOW
        below = np.cumsum(self._seen) / self._seen.sum()
        share = np.searchsorted(below, parameters.SHADE_RIM.value) / STEPS
        return float(np.clip(share - parameters.SHADE_MARGIN.value, SHADOW, parameters.SHADE_PALEST.value))

    def learn(self, small: np.ndarray, bare: np.ndarray, where: np.ndarray) -> None:
        """The shadows in a reduced picture (h, w, 3), of what it usually shows ``bare``; no hand is ``where`` (h, w)
        bool, and none of it is of a piece's colour."""
        here, usual = small[where].astype(np.int16), bare[where].astype(np.int16)
        changed = (np.abs(here - usual).max(-1) > parameters.CHANGED.value) & (usual.min(-1) > parameters.SHADED.value)
        most = light_left(here[changed], usual[changed])[is_shadow(here[changed], usual[changed])]
        self._seen += np.bincount((most * STEPS).astype(np.int64), minlength=STEPS)[:STEPS]


def light_left(small: np.ndarray, bare: np.ndarray) -> np.ndarray:
    """The share of light that is left, of the colour (…, 3) that kept most of it."""
    return np.asarray(_shares(small, bare).max(-1))


def is_shadow(
    small: np.ndarray, bare: np.ndarray, darkest: float = SHADOW, tinted: np.ndarray | float = TINTED
) -> np.ndarray:
    """Whether colours (…, 3) are darker than usual by the same share in all channels, as in a shadow."""
    share = _shares(small, bare)
    most = share.max(-1)
    return np.asarray((most < 1.0) & (most > darkest) & (most - share.min(-1) < tinted))


def _shares(small: np.ndarray, bare: np.ndarray) -> np.ndarray:
    return np.asarray((small.astype(np.float32) + SHADE_FLOOR) / (bare.astype(np.float32) + SHADE_FLOOR))
