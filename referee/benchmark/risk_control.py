"""Where to say "undecided", so that of the verdicts given no more than a chosen share is wrong, with a guarantee.

Learn then Test (Angelopoulos, Bates, Candès, Jordan, Lei 2021, arXiv:2110.01052): each threshold is a hypothesis "of
what is given from here on more than ``risk`` is wrong", tested on data that taught nothing before; a fixed sequence of
thresholds, strict to loose, is tested until one is not rejected, and the family-wise error stays at ``delta`` whatever
the data's law. The p-value is the exact binomial tail, for verdicts given are independent of one another once drawn.
Verdicts of one session are not quite: where wrong ones come in clusters, the sample counts as so many fewer (Korn and
Graubard 1998, with Kish's design effect), and the larger of the two p-values holds. That second part is an
approximation for few sessions, the first is exact for verdicts drawn alike.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

CONFIDENCE_THRESHOLDS = np.round(np.concatenate([np.arange(0.8, 0.9, 0.02), np.arange(0.9, 0.999, 0.005)]), 3)[::-1]
"""Thresholds of confidence, strict to loose, fixed before any data: what is less sure than four to one is no verdict,
however few of them were wrong."""


RISKS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3)
"""What can be asked for where data are few."""
VARIANCE_RESERVE = 2.0
"""Other data of as many rows show rather less."""


@dataclass(frozen=True)
class Sample:
    """Readings that were ahead: ``confidence`` (n,), whether they were ``right`` (n,) bool, and by number the
    ``session`` (n,) int each comes from."""

    confidence: np.ndarray
    right: np.ndarray
    session: np.ndarray


@dataclass(frozen=True)
class Limit:
    """A threshold with what holds from it on: at most ``risk`` wrong; ``wrong`` of ``given`` were."""

    threshold: float
    risk: float
    wrong: int
    given: int


def risk_bound(right: np.ndarray, session: np.ndarray, delta: float) -> float:
    """The share of wrong ones that is not exceeded, with confidence 1 - delta, among verdicts like these."""
    n = len(right)
    if n == 0:
        return 1.0
    wrong = int((~right).sum())
    shrink = design_effect(right, session)
    if wrong >= n:
        return 1.0
    # Clopper and Pearson's upper bound, for fractions too
    return max(float(betaincinv(wrong / by + 1, (n - wrong) / by, 1 - delta)) for by in {1.0, shrink})


def design_effect(right: np.ndarray, session: np.ndarray) -> float:
    """How many times larger the variance of the share wrong is than of as many independent verdicts; at least 1."""
    wrong = 1.0 - right
    share, n = wrong.mean(), len(wrong)
    sessions = np.count_nonzero(np.bincount(session))
    if share in (0.0, 1.0) or sessions < 2:
        return 1.0
    off = np.bincount(session, wrong - share)
    variance = sessions / (sessions - 1) * float(off @ off) / n**2
    return max(1.0, variance / (share * (1 - share) / n))


def first_threshold(learnt: Sample, risk: float, delta: float) -> tuple[int, float]:
    """Where in the grid to begin testing, and at which risk, by the data that taught: at the threshold whose bound is
    lowest there, and at the risk wanted or, where so little data cannot show that, the least of ``RISKS`` that it shows
    with room to spare."""
    bounds = [_bound_from(learnt, t, delta) for t in CONFIDENCE_THRESHOLDS]
    start = int(np.argmin(bounds))
    if bounds[start] <= risk:
        return start, risk
    return start, next((r for r in RISKS if r >= max(risk, VARIANCE_RESERVE * bounds[start])), 1.0)


def _bound_from(sample: Sample, threshold: float, delta: float) -> float:
    kept = sample.confidence >= threshold
    return risk_bound(sample.right[kept], sample.session[kept], delta)


def certified_limit(sample: Sample, start: int, risk: float, delta: float) -> Limit:
    """The loosest threshold that fixed-sequence testing from ``start`` certifies at ``risk``. Where not even the first
    is, that one with the risk that does hold of it."""
    best = _limit(sample, start, max(risk, _bound_from(sample, CONFIDENCE_THRESHOLDS[start], delta)))
    for k in range(start, len(CONFIDENCE_THRESHOLDS)):
        if _bound_from(sample, CONFIDENCE_THRESHOLDS[k], delta) > risk:
            break
        best = _limit(sample, k, risk)
    return best


def _limit(sample: Sample, k: int, risk: float) -> Limit:
    kept = sample.confidence >= CONFIDENCE_THRESHOLDS[k]
    return Limit(float(CONFIDENCE_THRESHOLDS[k]), risk, int((~sample.right[kept]).sum()), int(kept.sum()))
