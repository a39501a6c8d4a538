"""Tracks fists from look to look: whose each is where its arm does not tell, and which ones others hide.

A sleeve before a shirt of its colour is not seen, and the sleeves of two arms that cross lead to both fists; so a fist
keeps the owner of the one that was at its place a moment ago. A fist that came near another and is not seen any more,
nor anywhere else, is *hidden* by the other, until as many hands of its player are seen again as there were.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from referee.vision.hands.fists import TWO_FISTS_MM2, Fist, leaves_picture, with_owner
from referee.vision.hands.geometry import STRANGER, HandGeometry
from referee.vision.measured import measured

SAME_FIST_MM = measured(30.0, "mm", "by hand: a fist so near to where one was a look ago is the same one")
UNMOVED_MM = SAME_FIST_MM / 2
"""The same of one that stays where it is, or whose arm seems to be another player's."""
FIST_BREADTH_MM = measured(40.0, "mm", "by hand: one that a second joins moves no further; one beyond has left")
SEPARATE_FISTS_MM = measured(75.0, "mm", "by hand: two hands are so far apart; a tower may part one into two patches")
HIDDEN_MM = measured(130.0, "mm", "by hand: so far a hand goes between two looks, and is then behind another")

HIDDEN_LOOKS = measured(25, "looks", "by hand: a hand that was not seen for longer has gone")


@dataclass
class HandTracker:
    """Tracks the fists of one camera's looks, in order. ``_last`` and ``_earlier`` are the fists with an owner of the
    last two looks; ``_hidden`` and ``_hidden_earlier`` the hidden ones, each with for how many looks it was hidden;
    ``_resting``: each fist as it was when it came to its place."""

    _px_per_mm: float = 1.0
    _last: list[Fist] = field(default_factory=list)
    _earlier: list[Fist] = field(default_factory=list)
    _hidden: list[tuple[Fist, int]] = field(default_factory=list)
    _hidden_earlier: list[tuple[Fist, int]] = field(default_factory=list)
    _resting: list[Fist] = field(default_factory=list)

    def update(self, fists: Sequence[Fist], geometry: HandGeometry) -> list[Fist]:
        """The same fists with their owners as far as known, and those that others hide. A patch without an arm at a
        place where nobody's fist was is left out."""
        self._px_per_mm = geometry.px_per_mm
        tracked = [self._with_last_owner(fist, fists, geometry) for fist in fists]
        tracked = [replace(f, growth_deg=f.spread_deg - self._at_rest(f).spread_deg) for f in tracked]
        owned = [fist for fist in tracked if fist.owner is not None]
        self._resting = [self._at_rest(fist) for fist in owned]
        hidden = [pair for owner in geometry.mats.poses for pair in self._hidden_of(owner, owned, tracked)]
        self._hidden, self._hidden_earlier = hidden, self._hidden
        self._last, self._earlier = owned, self._last
        rest = [fist for fist in tracked if fist.owner is not None or fist.tongs is not None]
        return rest + [with_owner(fist, fist.owner, geometry) for fist, _ in self._hidden]

    def _mm(self, one: Fist, other: Fist) -> float:
        """Distance in the picture, in mm of the fields' scale."""
        return float(np.linalg.norm(one.centre - other.centre)) / self._px_per_mm

    def _near(self, fist: Fist, fists: Sequence[Fist], within_mm: float) -> list[Fist]:
        """Those of the fists that are nearer than that, the nearest first."""
        return sorted((f for f in fists if self._mm(f, fist) < within_mm), key=lambda f: self._mm(f, fist))

    def _with_last_owner(self, fist: Fist, fists: Sequence[Fist], geometry: HandGeometry) -> Fist:
        """The fist as that player's whose fist was at its place, unless its arm is another's who has no other fist. A
        stranger's it is once its arm has led to nobody who plays in more looks than to a player."""
        last = next(iter(self._near(fist, self._last, HIDDEN_MM)), replace(fist, strange=0))
        fist = replace(fist, strange=last.strange + (fist.owner == STRANGER) - (fist.owner in geometry.mats.poses))
        if fist.owner == STRANGER:
            return fist if fist.strange > 0 else with_owner(fist, last.owner, geometry)
        near = {f.owner for f in self._near(fist, self._last, UNMOVED_MM if fist.owner else SAME_FIST_MM)}
        if len(near) != 1 or not near <= geometry.mats.poses.keys() or fist.owner in near:
            return fist
        elsewhere = any(self._mm(f, fist) > UNMOVED_MM for f in _of(fist.owner, fists))
        return with_owner(fist, near.pop(), geometry) if not fist.owner or elsewhere else fist

    def _at_rest(self, fist: Fist) -> Fist:
        """The same player's fist where it was when it came here, with the least that its sleeves have spread since."""
        rest = next(iter(self._near(fist, _of(fist.owner, self._resting), FIST_BREADTH_MM)), fist)
        return replace(rest, spread_deg=min(rest.spread_deg, fist.spread_deg))

    def _hidden_of(self, owner: str, owned: Sequence[Fist], tracked: Sequence[Fist]) -> list[tuple[Fist, int]]:
        """That player's fists that others hide now, and for how many looks."""
        now = separate_hands([f for f in tracked if f.may_be_of(owner)], self._px_per_mm)
        gone = separate_hands(_of(owner, self._last), self._px_per_mm)
        hidden = [pair for pair in self._hidden if pair[0].owner == owner]
        missing = len(gone) + len(hidden) - len(now)
        for fist in now[: len(gone)]:
            del gone[int(np.argmin([self._mm(f, fist) for f in gone]))]
        lost = [(f, 0) for f in gone if self._is_sure(f)] if self._is_stable(owner) else []
        pairs = [self._behind(fist, looks, owned) for fist, looks in (hidden + lost)[: max(0, missing)]]
        return [pair for pair in pairs if pair is not None]

    def _is_stable(self, owner: str) -> bool:
        """Whether that player's hands, visible or hidden, were as many in the look before the last: one that showed as
        two for a look is still near to where it was."""
        earlier, last = (separate_hands(_of(owner, fists), self._px_per_mm) for fists in (self._earlier, self._last))
        return len(earlier) + sum(fist.owner == owner for fist, _ in self._hidden_earlier) >= len(last)

    def _is_sure(self, fist: Fist) -> bool:
        """Whether it was seen twice in a row, whole, and surely its player's: what shows once may be anything."""
        owners = {f.owner for f in self._near(fist, self._last, SAME_FIST_MM)}
        again = self._near(fist, _of(fist.owner, self._earlier), HIDDEN_MM)
        return bool(again) and owners == {fist.owner} and not leaves_picture(fist.mask)

    def _extrapolated(self, fist: Fist) -> Fist:
        """The fist where it is if it goes on as it went between the last two looks that showed it."""
        earlier = next(iter(self._near(fist, _of(fist.owner, self._earlier), HIDDEN_MM)), fist)
        return replace(fist, centre=2 * fist.centre - earlier.centre)

    def _behind(self, fist: Fist, looks: int, owned: Sequence[Fist]) -> tuple[Fist, int] | None:
        """The fist at the one that hides it; None when none is near."""
        ahead = fist if looks else self._extrapolated(fist)
        host = min(owned, key=lambda other: min(self._mm(fist, other), self._mm(ahead, other)), default=None)
        if host is None or looks >= HIDDEN_LOOKS or min(self._mm(fist, host), self._mm(ahead, host)) > HIDDEN_MM:
            return None
        others = [f for f in self._last if self._mm(f, fist) > SEPARATE_FISTS_MM]  # where the host was itself
        if not looks and all(self._mm(f, host) > HIDDEN_MM for f in others):
            return None
        both = host.mask.sum() >= TWO_FISTS_MM2 * self._px_per_mm**2
        if not looks and host.owner != fist.owner and not both and self._mm(ahead, host) > 2 * SAME_FIST_MM:
            return None
        return replace(host, owner=fist.owner, tongs=None, hidden=True, spread_deg=0.0, growth_deg=0.0), looks + 1


def separate_hands(fists: Sequence[Fist], px_per_mm: float) -> list[Fist]:
    """One fist for each hand: no two are nearer than one is long; a tower may part one into two patches."""
    hands: list[Fist] = []
    for fist in fists:
        if all(np.linalg.norm(fist.centre - other.centre) > SEPARATE_FISTS_MM * px_per_mm for other in hands):
            hands.append(fist)
    return hands


def _of(owner: str | None, fists: Sequence[Fist]) -> list[Fist]:
    return [fist for fist in fists if fist.owner == owner]
