"""Least squares that a few wild measurements do not pull away: Levenberg–Marquardt under Huber's loss.

Levenberg–Marquardt: Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear Parameters", 1963. Huber's
loss by weights: Holland and Welsch, "Robust Regression Using Iteratively Reweighted Least-Squares", 1977. Our own
few lines: mats are found in every judgement, and SciPy's optimisers take longer to load than to run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STILL = 1e-9
"""A step that lowers the cost by a smaller share is the last."""

FIRST, SOFTEST, STIFFEST, CHANGE = 1e-3, 1e-9, 1e12, 8.0
"""Marquardt's damping: at first, at least and at most, and the factor by which it follows a step's success. By
hand: they tell how soon it ends and not where."""

MOST_STEPS = 60
"""By hand: the best state met in so many is taken."""

NOT_FLAT = 1e-12
"""Added to a diagonal, so that a parameter without influence leaves the system solvable."""


def huber_fit(
    residuals: Callable[[np.ndarray], np.ndarray],
    slopes: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    scale: np.ndarray,
    most_steps: int = MOST_STEPS,
) -> np.ndarray:
    """The state (n,) from ``start`` on that minimises the Huber loss (bend at 1) of ``residuals`` (m,).

    ``slopes`` (m, n) are the residuals' derivatives, ``scale`` (n,) what each parameter typically varies by.
    A local minimum, or the best state met in so many steps.
    """
    state, stiffness = np.array(start, float), FIRST
    r, j = residuals(state), slopes(state)
    cost = _cost(r)
    for _ in range(most_steps):
        weights = 1.0 / np.maximum(np.abs(r), 1.0)
        scaled = j * scale
        normal, pull = scaled.T @ (scaled * weights[:, None]), scaled.T @ (r * weights)
        tried = state - scale * np.linalg.solve(normal + stiffness * np.diag(np.diag(normal) + NOT_FLAT), pull)
        there = residuals(tried)
        gain = cost - _cost(there)
        if not gain > 0:
            stiffness *= CHANGE
            if stiffness > STIFFEST:
                break
            continue
        state, r, j, cost, stiffness = tried, there, slopes(tried), cost - gain, max(stiffness / CHANGE, SOFTEST)
        if gain < STILL * cost:
            break
    return state


def _cost(r: np.ndarray) -> float:
    """Huber's loss: quadratic up to 1, linear beyond."""
    size = np.abs(r)
    return float(np.where(size <= 1.0, size * size, 2.0 * size - 1.0).sum())
