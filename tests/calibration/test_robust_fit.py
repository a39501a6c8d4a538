"""The robust fit, held against SciPy's."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from calibration.mat import huber_fit


@pytest.mark.parametrize("seed", range(12))
def test_it_ends_where_scipys_huber_fit_ends(seed):
    chance = np.random.default_rng(seed)
    x, truth = np.linspace(0, 4, 40), np.array([3.0, 0.7, 20.0])
    y = truth[0] * np.exp(-truth[1] * x) * 100 + truth[2] + chance.normal(0, 0.4, 40)
    y[chance.choice(40, 6, replace=False)] += chance.normal(0, 60, 6)

    def residuals(v):
        return v[0] * np.exp(-v[1] * x) * 100 + v[2] - y

    def slopes(v):
        fall = np.exp(-v[1] * x) * 100
        return np.stack([fall, -x * v[0] * fall, np.ones(40)], 1)

    start, scale = np.array([1.0, 0.3, 0.0]), np.array([1.0, 0.3, 10.0])
    found = huber_fit(residuals, slopes, start, scale)
    theirs = least_squares(residuals, start, slopes, x_scale=scale, loss="huber", f_scale=1.0, ftol=1e-14, xtol=1e-14)
    assert found == pytest.approx(theirs.x, rel=1e-4)
    assert found == pytest.approx(truth, rel=0.1, abs=2.0)  # whatever the six wild ones say


def test_what_fits_already_stays():
    start = np.array([2.0, -1.0])
    assert huber_fit(lambda v: v - start, lambda v: np.eye(2), start, np.ones(2)).tolist() == start.tolist()


def test_measurements_that_are_no_numbers_leave_the_start_as_it_is():
    """A marker whose corners fall onto one point gives such; it is no reason to end with an error."""
    start = np.array([2.0, -1.0])
    assert huber_fit(lambda v: v * np.nan, lambda v: np.eye(2), start, np.ones(2)).tolist() == start.tolist()
