"""Whose each fist is, look after look: where its arm's way does not tell, the fist that was there a moment ago does.

A sleeve before a shirt of its colour is not seen, and two arms that cross lead both ways; a hand stays its player's.
One that was seen to come near another and is not seen any more, nor anywhere else, is *hidden* by the other, and stays
so until as many hands of its player are seen again as there were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from calibration.mat import Mats
from referee.vision import live_parameters as parameters
from referee.vision.hands.fists import Fist, at_edge, px_per_mm_of, with_owner

SAME_MM = parameters.SAME_FIST_MM.value
STAYS_MM = parameters.STAYS_MM.value
RESTS_MM = parameters.RESTS_MM.value
APART_MM = parameters.HANDS_APART_MM.value
HIDDEN_MM = parameters.HIDDEN_MM.value
BEHIND_MM = parameters.BEHIND_MM.value
TWO_FISTS_MM2 = parameters.TWO_FISTS_MM2.value
HIDDEN_LOOKS = parameters.HIDDEN_LOOKS.value


@dataclass
class HandTracker:
    """Follows the fists of one camera's looks, in order."""

    _before: list[Fist] = field(default_factory=list)
    _earlier: list[Fist] = field(default_factory=list)
    _hidden: list[tuple[Fist, int]] = field(default_factory=list)
    _hid: list[tuple[Fist, int]] = field(default_factory=list)
    _rests: list[Fist] = field(default_factory=list)

    def look(self, fists: Sequence[Fist], mats: Mats, factor: int) -> list[Fist]:
        """The same fists with their owners as far as known, and those that others hide; a patch without an arm that
        nobody's was is left out."""
        px_per_mm = px_per_mm_of(mats, factor)
        known = [self._with_previous_owner(fist, fists, mats, factor) for fist in fists]
        known = [self._with_spread_growth(fist, px_per_mm) for fist in known]
        seen = [fist for fist in known if fist.owner is not None]
        self._rests = [self._at_rest(fist, px_per_mm) for fist in seen]
        hidden = [ghost for owner in mats.poses for ghost in self._hidden_fists(owner, seen, known, px_per_mm)]
        self._hidden, self._hid = hidden, self._hidden
        self._before, self._earlier = seen, self._before
        rest = [fist for fist in known if fist.owner is not None or fist.tongs is not None]
        return rest + [with_owner(fist, str(fist.owner), mats, factor) for fist, _ in self._hidden]

    def _with_previous_owner(self, fist: Fist, fists: Sequence[Fist], mats: Mats, factor: int) -> Fist:
        px_per_mm = px_per_mm_of(mats, factor)
        reach = SAME_MM if fist.owner is None else STAYS_MM
        near = {f.owner for f in self._before if _off(f, fist) < reach * px_per_mm}
        if len(near) != 1 or not near <= mats.poses.keys() or fist.owner in near:
            return fist
        told = fist.owner is not None and not any(
            f.owner == fist.owner and _off(f, fist) > STAYS_MM * px_per_mm for f in fists
        )
        return fist if told else with_owner(fist, str(near.pop()), mats, factor)

    def _with_spread_growth(self, fist: Fist, px_per_mm: float) -> Fist:
        """The fist with how much wider its sleeves spread than since it came to its place."""
        rest = self._at_rest(fist, px_per_mm)
        return replace(fist, growth_deg=fist.spread_deg - rest.spread_deg)

    def _at_rest(self, fist: Fist, px_per_mm: float) -> Fist:
        """The same player's fist where it was when it came here, with the least that its sleeves have spread since."""
        here = [f for f in self._rests if f.owner == fist.owner and _off(f, fist) < RESTS_MM * px_per_mm]
        rest = min(here, key=lambda f: _off(f, fist), default=fist)
        return replace(rest, spread_deg=min(rest.spread_deg, fist.spread_deg))

    def _hidden_fists(
        self, owner: str, seen: Sequence[Fist], known: Sequence[Fist], px_per_mm: float
    ) -> list[tuple[Fist, int]]:
        """That player's fists that others hide now, and for how many looks."""
        now = _apart([f for f in known if f.may_be_of(owner)], px_per_mm)
        was = _apart([f for f in self._before if f.owner == owner], px_per_mm)
        hidden = [ghost for ghost in self._hidden if ghost[0].owner == owner]
        missing = len(was) + len(hidden) - len(now)
        for fist in now[: len(was)]:
            del was[int(np.argmin([_off(f, fist) for f in was]))]
        came = [(f, 0) for f in was if self._surely_tracked(f, px_per_mm)] if self._is_stable(owner, px_per_mm) else []
        ghosts = [
            self._hidden_behind(fist, looks, seen, px_per_mm) for fist, looks in (hidden + came)[: max(0, missing)]
        ]
        return [ghost for ghost in ghosts if ghost is not None]

    def _is_stable(self, owner: str, px_per_mm: float) -> bool:
        """Whether that player's hands, seen or hidden, were as many in the look before the last: one that showed as two
        for a look is still near to where it was."""
        earlier, was = (_apart([f for f in of if f.owner == owner], px_per_mm) for of in (self._earlier, self._before))
        return len(earlier) + sum(ghost.owner == owner for ghost, _ in self._hid) >= len(was)

    def _surely_tracked(self, fist: Fist, px_per_mm: float) -> bool:
        """Whether it was seen twice in a row, whole, and surely its player's: what shows once may be anything."""
        near, same = HIDDEN_MM * px_per_mm, SAME_MM * px_per_mm
        others = {f.owner for f in self._before if _off(f, fist) < same}
        again = any(f.owner == fist.owner and _off(f, fist) < near for f in self._earlier)
        return again and others == {fist.owner} and not at_edge(fist.mask)

    def _extrapolated(self, fist: Fist, px_per_mm: float) -> Fist:
        """The fist where it is when it goes on as it went between the last two looks that showed it."""
        near = [f for f in self._earlier if f.owner == fist.owner and _off(f, fist) < HIDDEN_MM * px_per_mm]
        earlier = min(near, key=lambda f: _off(f, fist), default=fist)
        return replace(fist, centre=2 * fist.centre - earlier.centre)

    def _hidden_behind(self, fist: Fist, looks: int, seen: Sequence[Fist], px_per_mm: float) -> tuple[Fist, int] | None:
        """The fist at the one that hides it; None when none is near."""
        on = fist if looks else self._extrapolated(fist, px_per_mm)
        host = min(seen, key=lambda other: min(_off(fist, other), _off(on, other)), default=None)
        if host is None or looks >= HIDDEN_LOOKS or min(_off(fist, host), _off(on, host)) > HIDDEN_MM * px_per_mm:
            return None
        own = [f for f in self._before if _off(f, fist) > APART_MM * px_per_mm]  # where the host was itself
        if not looks and all(_off(f, host) > HIDDEN_MM * px_per_mm for f in own):
            return None
        both = host.mask.sum() >= TWO_FISTS_MM2 * px_per_mm**2
        if not looks and host.owner != fist.owner and not both and _off(on, host) > BEHIND_MM * px_per_mm:
            return None
        return replace(host, owner=fist.owner, tongs=None, hidden=True, spread_deg=0.0, growth_deg=0.0), looks + 1


def _off(one: Fist, other: Fist) -> float:
    """Reduced pixels between two fists."""
    return float(np.linalg.norm(one.centre - other.centre))


def _apart(fists: Sequence[Fist], px_per_mm: float) -> list[Fist]:
    """One fist for each hand: no two of a player's are nearer than one is long."""
    found: list[Fist] = []
    for fist in fists:
        if all(_off(fist, other) > APART_MM * px_per_mm for other in found):
            found.append(fist)
    return found
