"""How large a share of the verdicts given is wrong at a table not seen yet, with a guarantee.

Tables are the unit, not verdicts: those of one table share its pieces, lamp and camera, and err together. So each table
counts once, by the share of its verdicts that is wrong. The bound on the mean of such shares holds for tables drawn
alike, whatever the law of the shares: Waudby-Smith and Ramdas 2024, *Estimating means of bounded random variables by
betting* (J. R. Stat. Soc. B 86, 1-27; arXiv:2010.09686). It is told of tables that taught and chose nothing.
"""

from dataclasses import dataclass

import numpy as np

CONFIDENCE_THRESHOLDS = np.round(np.concatenate([np.arange(0.8, 0.9, 0.02), np.arange(0.9, 0.999, 0.005)]), 3)
"""Thresholds of confidence, loose to strict: less sure than four to one is no verdict, however few are wrong."""
MEANS = np.arange(2000) / 2000
"""The means that a bound is looked for among."""
MOST_STAKE = 0.99
"""Of all that is there, where the next share is 1: so much may be lost at once."""


@dataclass(frozen=True)
class Sample:
    """Readings that were ahead: ``confidence`` (n,), whether they were ``right`` (n,) bool, and by number the
    ``table`` (n,) int that each comes from."""

    confidence: np.ndarray
    right: np.ndarray
    table: np.ndarray

    def given(self, threshold: float) -> "Sample":
        """What is given from a threshold of confidence on."""
        kept = self.confidence >= threshold
        return Sample(self.confidence[kept], self.right[kept], self.table[kept])

    @property
    def shares_wrong(self) -> np.ndarray:
        """(tables,) the share of each table's readings that is wrong, of tables that have any."""
        count = np.bincount(self.table)
        return np.bincount(self.table, ~self.right)[count > 0] / count[count > 0]


def risk_bound(shares: np.ndarray, delta: float) -> float:
    """The mean share that is not exceeded, with confidence 1 - ``delta``, by tables of which ``shares`` (n,) in 0..1
    were drawn, in an order that has nothing to do with them; 1 of none.

    Against each mean it is bet, table by table, that shares are lower; the least mean at which the stake has ever
    grown to 1 / ``delta`` is the bound. Stakes follow what was seen before (the paper's section 3.3).
    """
    n = len(shares)
    if n == 0:
        return 1.0
    seen = np.arange(2, n + 2)
    mean = (0.5 + np.cumsum(shares)) / seen
    variance = np.r_[0.25, (0.25 + np.cumsum(np.square(shares - mean))) / seen][:n]
    stakes = np.minimum(np.sqrt(2 * np.log(1 / delta) / (n * variance)), MOST_STAKE / (1 - MEANS[:, None]))
    grown = np.cumsum(np.log1p(-stakes * (shares - MEANS[:, None])), 1).max(1)
    return float(MEANS[grown >= np.log(1 / delta)].min(initial=1.0))


def chosen_threshold(taught: Sample, risk: float) -> float:
    """The loosest threshold from which on the tables that ``taught`` have no larger mean share of wrong ones than
    ``risk``; the strictest where none has."""
    shares = ((t, taught.given(t).shares_wrong) for t in CONFIDENCE_THRESHOLDS.tolist())
    return next((t for t, some in shares if len(some) and some.mean() <= risk), float(CONFIDENCE_THRESHOLDS[-1]))
