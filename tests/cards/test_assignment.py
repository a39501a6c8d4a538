"""Pairing off, held against SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from cards.assignment import cheapest_pairs


@given(st.integers(0, 7), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_no_pairing_is_cheaper(n, more, seed):
    chance = np.random.default_rng(seed)
    cost = chance.choice([0.0, 1.5, 30.0, 1e5], (n, n + more)) + chance.normal(0, 10, (n, n + more)).round(1)
    pairs = cheapest_pairs(cost)
    assert len(set(pairs.tolist())) == n
    rows, columns = linear_sum_assignment(cost)
    assert cost[np.arange(n), pairs].sum() == pytest.approx(cost[rows, columns].sum(), abs=1e-6)


def test_more_rows_than_columns_cannot_be():
    with pytest.raises(ValueError, match="3 rows"):
        cheapest_pairs(np.zeros((3, 2)))
