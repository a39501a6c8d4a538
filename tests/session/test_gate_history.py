"""What the gate's looks around a press mean, as timelines of (hand over the field, moving share)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from referee.looks import Looks
from referee.ports import Frame

PRESS_S = 10.0
STILL, HAND, STIR, NEIGHBOUR = (False, 0.001), (True, 0.05), (False, 0.08), (True, 0.001)

CASES = {  # name: (looks every 0.1 s from 9.0 s on, hand at stop, fell by itself)
    "nothing happens": ([STILL] * 25, False, False),
    "the hand leaves before the press": ([HAND] * 8 + [STILL] * 17, False, False),
    "the hand is there at the press": ([HAND] * 14 + [STILL] * 11, True, False),
    "the hand comes after the press": ([STILL] * 12 + [HAND] * 13, False, False),
    "the neighbour's arm is in the line of sight": ([NEIGHBOUR] * 25, False, False),
    "it falls by itself": ([STILL] * 15 + [STIR] * 3 + [STILL] * 7, False, True),
    "it falls while the hand leaves": ([HAND] * 12 + [STIR] * 3 + [STILL] * 10, True, False),
    "it moved before the press only": ([STILL] * 5 + [STIR] * 5 + [STILL] * 15, False, False),
}


@pytest.mark.parametrize("name", CASES)
def test_looks_around_a_press(name):
    rows, hand, fell = CASES[name]
    looks = Looks()
    for n, (over, moving) in enumerate(rows):
        gate = SimpleNamespace(hand=over, moving=moving, settled_s=float(moving < 0.01))
        look = SimpleNamespace(zones={"A": gate})
        looks.add(Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10), look, False)
    assert (looks.hand_at("A", PRESS_S), looks.fell("A", PRESS_S)) == (hand, fell)
    assert not looks.hand_at("B", PRESS_S) and not looks.fell("B", PRESS_S)


@pytest.mark.parametrize(
    "rows, neighbour, own",
    [([HAND] * 25, False, True), ([HAND] * 25, True, False), ([HAND] * 8 + [STILL] * 17, False, False)],
)
def test_a_hand_is_surely_the_callers_only_when_nobody_elses_is_there(rows, neighbour, own):
    looks = Looks()
    for n, (over, moving) in enumerate(rows):
        mine = SimpleNamespace(hand=over, moving=moving, settled_s=0.0)
        other = SimpleNamespace(hand=neighbour, moving=0.0, settled_s=9.0)
        looks.add(
            Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10),
            SimpleNamespace(zones={"A": mine, "B": other}),
            False,
        )
    assert looks.whose("A", PRESS_S) is own


def test_the_view_at_the_press_is_the_last_frames_before_it():
    looks = Looks()
    for n in range(20):
        building = 9.05 + n / 10 < PRESS_S + 0.05
        looks.add(Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10), SimpleNamespace(zones={}), building)
    assert [f.number for f in looks.frames_at(PRESS_S)] == [7, 8, 9]
