"""Storeys' colours by what is seen of each and by how the set's stones are stacked."""

from __future__ import annotations

import numpy as np
import pytest

from cards.pieces import builtin_piece_set
from referee.vision.city.paints import Paint
from referee.vision.city.sight import _doubted
from referee.vision.city.stacking import Stacking

STONES = builtin_piece_set("city_stones")
BLUE, RED, GREEN, YELLOW = range(4)
STACKING = Stacking.of(STONES)


def test_a_storey_has_the_colour_of_the_one_below_as_often_as_the_set_s_stones_say():
    """24 stones of a colour are 47 storeys high: so often one ends, and a quarter of what follows has its colour."""
    ends = 24 / 47
    assert STACKING.first.tolist() == [0.25] * 4
    assert STACKING.above[BLUE] == pytest.approx([1 - ends * 3 / 4, *[ends / 4] * 3])


def test_a_low_storey_that_shows_little_has_its_neighbours_colour_and_what_shows_much_its_own():
    nats = np.zeros((3, 4))
    nats[0, RED], nats[1, RED], nats[2, BLUE] = 9.0, 0.6, 9.0
    shares = STACKING.shares(nats)
    assert shares.argmax(1).tolist() == [RED, RED, BLUE] and shares.sum(1) == pytest.approx([1, 1, 1])
    by_hand = STACKING.above[RED] * STACKING.above[:, BLUE] * np.exp(nats[1])
    assert shares[1] == pytest.approx(by_hand / by_hand.sum(), abs=0.001)
    nats[1, GREEN] = 9.0
    assert STACKING.shares(nats).argmax(1).tolist() == [RED, GREEN, BLUE]
    assert STACKING.shares(np.zeros((1, 4)))[0] == pytest.approx([0.25] * 4)


def test_a_hidden_storey_is_never_told_by_its_neighbours_alone():
    nats = np.full((3, 4), -20.0)
    nats[[0, 2], RED], nats[1] = 0.0, 0.0
    shares = STACKING.shares(nats)
    assert shares[1, RED] > 0.8 and _doubted(nats, shares, [None] * 3).tolist() == [1]
    nats[1, [BLUE, GREEN, YELLOW]] = -0.6
    assert not len(_doubted(nats, STACKING.shares(nats), [None] * 3))
    nats[1], nats[1, GREEN] = -1.0, 0.0  # what is seen is green, what is likely is red
    assert _doubted(nats, STACKING.shares(nats), [None] * 3).tolist() == [1]


def test_a_storey_is_told_by_its_sides_and_one_of_which_none_is_seen_by_nothing():
    nats = STACKING.storey_nats([Paint(np.array([-9.0, -5.0, -9.0, -9.0]), 12), None])
    assert nats[0] == pytest.approx([-8.0, 0.0, -8.0, -8.0]) and not nats[1].any()
    assert _doubted(nats, STACKING.shares(nats), [None, None]).tolist() == [1]
