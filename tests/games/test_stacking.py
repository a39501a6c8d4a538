"""Storeys' colours by what is seen of each and by how the set's stones are stacked."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cards.pieces import builtin_piece_set
from referee.vision.city.paints import Paint
from referee.vision.city.sight import _doubted
from referee.vision.city.stacking import Stacking

STONES = builtin_piece_set("city_stones")
BLUE, RED, GREEN, YELLOW = range(4)
NONE_ALIKE = np.zeros((4, 4), bool)
STACKING = Stacking.of(STONES, NONE_ALIKE)


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


def seen(*gains):
    """A storey of 100 pixels that gain so many nats each by a colour."""
    return SimpleNamespace(color_nats=100.0 * np.array([gains]), visible_px=np.array([100.0]))


def test_pixels_and_sides_tell_a_storey_together():
    nats = STACKING.storey_nats(seen(3.0, 1.0, 0.0, 0.0), [Paint(np.array([-9.0, -5.0, -9.0, -9.0]), 12)])
    assert nats[0] == pytest.approx([-6.0, 0.0, -9.0, -9.0])
    few = STACKING.storey_nats(seen(3.0, 1.0, 0.0, 0.0), [Paint(np.array([-9.0, -5.0, -9.0, -9.0]), 11)])
    assert few[0] == pytest.approx([0.0, -2.0, -3.0, -3.0])
    assert STACKING.storey_nats(seen(3.0, 1.0, 0.0, 0.0), [None])[0] == pytest.approx(few[0])


def test_which_of_two_paints_of_one_hue_it_is_pixels_do_not_tell():
    alike = NONE_ALIKE.copy()
    alike[RED, GREEN] = alike[GREEN, RED] = True
    stacking, looks_green = Stacking.of(STONES, alike), seen(0.0, 1.0, 4.0, 0.0)
    assert stacking.storey_nats(looks_green, [None])[0] == pytest.approx([-4.0, 0.0, 0.0, -4.0])
    red = stacking.storey_nats(looks_green, [Paint(np.array([-9.0, 0.0, -1.0, -9.0]), 40)])
    assert red.argmax() == RED
