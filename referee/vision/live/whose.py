"""Whose each fist is, look after look: where its arm's way does not tell, the fist that was there a moment ago does.

A sleeve before a shirt of its colour is not seen, and two arms that cross lead both ways; a hand stays its player's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from calibration.mat import Mats
from referee.vision.live import parameters
from referee.vision.live.fists import Fist, owned, scale

SAME_MM = parameters.SAME_FIST_MM.value


@dataclass
class Whose:
    """Follows the fists of one camera's looks, in order."""

    _before: list[tuple[np.ndarray, str]] = field(default_factory=list)

    def look(self, fists: Sequence[Fist], mats: Mats, factor: int) -> list[Fist]:
        """The same fists with their owners as far as known; a patch without an arm that nobody's was is left out."""
        known = [self._as_before(fist, mats, factor) for fist in fists]
        self._before = [(fist.centre, fist.owner) for fist in known if fist.owner is not None]
        return [fist for fist in known if fist.owner is not None or fist.tongs is not None]

    def _as_before(self, fist: Fist, mats: Mats, factor: int) -> Fist:
        same_px = SAME_MM * scale(mats, factor)
        near = {owner for centre, owner in self._before if np.linalg.norm(centre - fist.centre) < same_px}
        told = fist.owner is not None or len(near) != 1 or not near <= mats.poses.keys()
        return fist if told else owned(fist, near.pop(), mats, factor)
