"""Detects a bare hand seen from behind its player: it works at a piece for a while, then leaves without tongs.

While it works, its fist or the piece that it carries may hide what it holds. So a hand is judged only once it has left:
tongs that have let go of a piece show on their way out.

Tongs of wood before wood never show. So a player whose tongs were not visible on most of the earlier approaches, where
they should have been, is not accused of lacking them. An approach is the way between two pieces of work; the last two,
to the piece and away from it, are what is judged and do not count as earlier ones. While too few approaches are known
the hand is reported: a bare hand may come early in a duel, too. Pure.
"""

from dataclasses import dataclass, field

import numpy as np

from referee.vision.hands.field_hands import SoleHand
from referee.vision.hands.tracker import FIST_BREADTH_MM, UNMOVED_MM
from referee.vision.measured import measured

DWELL_S = measured(0.65, "s", "by hand: a bare hand told by its leaving has worked, and stayed at a place, for so long")
GAP_S = measured(0.45, "s", "by hand: what has not been at work for longer is another visit")
LEAVING_TONGS_MM = measured(48.0, "mm of TONGS", "by hand: so much of them shows beyond a fist, which is half as broad")
LEAVES_LOOKS = measured(2, "looks", "by hand: so often a leaving hand must be seen without them")
TONGS_SEEN_SHARE = measured(
    0.5, "of a player's looks", "by hand: whose tongs were seen more seldom where they would show holds them unseen"
)
SURE_LOOKS = measured(3, "looks", "by hand: fewer do not tell whether tongs are seen, a hand is alone or a mat is gone")


@dataclass
class DwellDetector:
    """Follows the hand over one field, look by look."""

    _works: list[tuple[float, np.ndarray]] = field(default_factory=list)
    _looks: int = 0
    _left: int = 0
    _shown_by_approach: list[list[bool]] = field(default_factory=lambda: [[]])

    def update(self, hand: SoleHand | None, at_s: float) -> tuple[float, float] | None:
        """Since when a hand has worked there that now leaves without tongs, and in how many of the looks since it
        was seen at work (0..1); None as long as there is none."""
        over = bool(self._works) and at_s - self._works[-1][0] > GAP_S
        if (hand is not None and hand.tongs) or over:
            self._works, self._looks, self._left = [], 0, 0
        if hand is not None and not hand.works and hand.shown_mm >= LEAVING_TONGS_MM:
            self._shown_by_approach[-1].append(bool(hand.tongs))
        if hand is None or hand.tongs:
            self._looks += bool(self._works)
            return None
        if hand.works and not (self._has_dwelt() and self._has_left(hand)):
            if not self._works:
                self._shown_by_approach.append([])
            self._works.append((at_s, hand.centre_mm))
            self._looks, self._left = self._looks + 1, 0
            return None
        self._left = self._left + 1 if hand.shown_mm >= LEAVING_TONGS_MM and self._has_left(hand) else 0
        if self._left < LEAVES_LOOKS or not self._has_dwelt():
            return None
        found = (self._works[0][0], min(1.0, len(self._works) / max(1, self._looks)))
        self._works, self._looks, self._left = [], 0, 0
        if not self._shows_tongs():
            return None
        self._shown_by_approach[-2:] = [[]]
        return found

    def _shows_tongs(self) -> bool:
        """Whether this player's tongs are seen where they would show; so, too, where that is not known."""
        known = [seen for way in self._shown_by_approach[:-2] for seen in way]
        return len(known) < SURE_LOOKS or sum(known) >= TONGS_SEEN_SHARE * len(known)

    def _has_left(self, hand: SoleHand) -> bool:
        """Whether it is away from where it was last at work: past other pieces, too, which it does not work at."""
        return bool(self._works) and float(np.linalg.norm(hand.centre_mm - self._works[-1][1])) > FIST_BREADTH_MM

    def _has_dwelt(self) -> bool:
        """Whether it has worked for long, and for most of that at one place: what is carried goes on."""
        times, places = [t for t, _ in self._works], np.array([at for _, at in self._works])
        if not times or times[-1] - times[0] < DWELL_S:
            return False
        still = [t for t, at in self._works if np.linalg.norm(at - np.median(places, 0)) < UNMOVED_MM]
        return bool(still) and still[-1] - still[0] >= DWELL_S
