"""How dark shadows are at this table: what is darker than they were while no hand was near is no shadow.

One lamp leaves the same share of its light in all its shadows. On paper a grey sleeve is as colourless as a shadow,
and only darker; without the table's own measure it could not be told from one.
"""

from dataclasses import dataclass, field

import numpy as np

from referee.vision.measured import measured

SHADE_RIM = measured(0.03, "of the shadows' pixels", "by hand: so many may be darker where pieces touch the paper")
SHADE_PALEST = measured(0.75, "of the light", "by hand: no table's shadows are taken for paler than this")
CHANGED = measured(16, "levels of 255", "a reduced pixel has changed: five sigma of a dim webcam")
SHADED = measured(60, "levels of 255", "by hand: what is darker without a shadow shows the share but badly")
SHADE_MARGIN = measured(0.04, "of the light", "by hand: a shadow of another place leaves as much but for this")

SHADOW = measured(
    0.5, "of the light", "by hand: a shadow leaves at least this; a darker hand before wood must not be taken for one"
)
SHADE_FLOOR = measured(6, "levels of 255", "by hand: added to both pictures, so that noise in the dark is no shadow")
TINTED = measured(0.12, "of the light", "by hand: a shadow takes no colour more than another by so much")
STEPS = measured(100, "steps of the light's share", "finer than noise")
LEAST = measured(80, "reduced px", "by hand: fewer shadows tell nothing of the table's lamp")


@dataclass(eq=False)
class ShadowModel:
    """Follows the shadows of one camera's looks: ``darkest`` is the share of light that a shadow leaves at least."""

    _seen: np.ndarray = field(default_factory=lambda: np.zeros(STEPS, np.int64))

    @property
    def darkest(self) -> float:
        """By what was seen; ``SHADOW`` while that is little."""
        if self._seen.sum() < LEAST:
            return SHADOW
        share = np.searchsorted(np.cumsum(self._seen) / self._seen.sum(), SHADE_RIM) / STEPS
        return float(np.clip(share - SHADE_MARGIN, SHADOW, SHADE_PALEST))

    def learn(self, small: np.ndarray, bare: np.ndarray, where: np.ndarray) -> None:
        """The shadows in a reduced picture (h, w, 3), of what it usually shows ``bare``; no hand is ``where`` (h, w)
        bool, and none of it is of a piece's colour."""
        here, usual = small[where].astype(np.int16), bare[where].astype(np.int16)
        changed = (channel_max(np.abs(here - usual)) > CHANGED) & (usual.min(-1) > SHADED)
        most = _shares(here[changed], usual[changed]).max(-1)[is_shadow(here[changed], usual[changed])]
        self._seen += np.bincount((most * STEPS).astype(np.int64), minlength=STEPS)[:STEPS]


def is_shadow(
    small: np.ndarray, bare: np.ndarray, darkest: float = SHADOW, tinted: np.ndarray | float = TINTED
) -> np.ndarray:
    """Whether colours (…, 3) are darker than usual by the same share in all channels, as in a shadow."""
    share = _shares(small, bare)
    most = channel_max(share)
    return np.asarray((most < 1.0) & (most > darkest) & (most + channel_max(-share) < tinted))


def channel_max(colors: np.ndarray) -> np.ndarray:
    """(…): the largest of the last axis (…, 3); twenty times as quick as numpy's maximum along so short an axis."""
    return np.asarray(np.maximum.reduce([*np.moveaxis(colors, -1, 0)]))


def _shares(small: np.ndarray, bare: np.ndarray) -> np.ndarray:
    return np.asarray((small.astype(np.float32) + SHADE_FLOOR) / (bare.astype(np.float32) + SHADE_FLOOR))
