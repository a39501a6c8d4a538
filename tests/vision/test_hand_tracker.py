"""Hands that go behind others are still there: fists followed from look to look."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "review"))

from staged_fouls import Table

from referee.vision.hands.fists import Fist
from referee.vision.hands.geometry import HandGeometry
from referee.vision.hands.tracker import HandTracker

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def geometry():
    """Over the mats of two players beside each other, as a picture of 640 by 360 shows them."""
    table = Table(12, "across", 360)
    return HandGeometry(table.observer.look(table.sim.empty()), 2)


def fist(at: tuple[int, int], owner: str | None, radius: int = 6) -> Fist:
    """One in a picture of 320 by 180."""
    mask = np.zeros((180, 320), bool)
    mask[max(0, at[1] - radius) : at[1] + radius + 1, max(0, at[0] - radius) : at[0] + radius + 1] = True
    return Fist(mask, np.array(at, float), mask, owner, False)


def hidden(geometry, *looks: list[Fist]) -> list[list[str]]:
    """Owners of the hidden fists after each look."""
    tracker = HandTracker()
    return [[str(f.owner) for f in tracker.update(fists, geometry) if f.hidden] for fists in looks]


HOST = (150, 90)


def test_a_second_hand_that_comes_and_is_lost_at_the_first_is_there_until_both_are_seen(geometry):
    host = fist(HOST, "A")
    comes = [[host, fist((80, 130), "A")], [host, fist((110, 110), "A")]]
    assert hidden(geometry, *comes, *[[host]] * 2, [host, fist((100, 115), "A")], [host]) == [
        [],
        [],
        ["A"],
        ["A"],
        [],
        [],
    ]


def test_a_hidden_hand_that_shows_for_one_look_is_hidden_again(geometry):
    host = fist(HOST, "A")
    comes = [[host, fist((80, 130), "A")], [host, fist((110, 110), "A")]]
    assert hidden(geometry, *comes, [host], [host, fist((120, 105), "A")], [host])[2:] == [["A"], [], ["A"]]


def test_another_players_hand_that_is_lost_in_one_large_patch_is_in_it(geometry):
    both = fist(HOST, "B", radius=16)
    comes = [[fist(HOST, "B"), fist((x, 70), "A")] for x in (95, 115)]
    assert hidden(geometry, *comes, *[[both]] * 2, [fist(HOST, "B"), fist((100, 70), "A")]) == [
        [],
        [],
        ["A"],
        ["A"],
        [],
    ]


@pytest.mark.parametrize(
    "looks",
    [
        [[fist(HOST, "A")]] * 2 + [[fist(HOST, "B")]] * 2,  # taken for another's: one hand all the time
        [[fist(HOST, "A")], [fist(HOST, "A"), fist((110, 110), "A")], [fist(HOST, "A")]],  # it showed but once
        [[fist(HOST, "A")], [fist((136, 100), "A"), fist((164, 80), "A")], [fist(HOST, "A")]],  # one showed as two
        [[fist(HOST, "A"), fist((x, 150), "A")] for x in (60, 30)] + [[fist(HOST, "A")]],  # it went away
        [[fist(HOST, "B"), fist((x, 70), "A")] for x in (85, 100)] + [[fist(HOST, "B")]],  # not near enough
        [[fist(HOST, "A")], [fist(HOST, "A")], []],
    ],
)
def test_what_may_as_well_have_gone_is_not_hidden(geometry, looks):
    assert not any(hidden(geometry, *looks))


def test_a_hand_keeps_its_player_where_the_sleeve_of_another_who_is_seen_elsewhere_goes_over_it(geometry):
    tracker, a, b = HandTracker(), (100, 90), (160, 90)
    tracker.update([fist(a, "A"), fist(b, "B")], geometry)
    assert [f.owner for f in tracker.update([fist(a, "B"), fist(b, "B")], geometry)] == ["A", "B"]


def test_sleeves_that_spread_wider_while_the_fist_stays_are_told(geometry):
    tracker = HandTracker()
    shown = ((150, 60), (151, 64), (150, 84), (139, 84), (180, 84))  # a second fist moves the middle of the patch
    looks = [[replace(fist((x, 90), "A"), spread_deg=deg)] for x, deg in shown]
    assert [of[0].growth_deg for of in (tracker.update(fists, geometry) for fists in looks)] == [
        0.0,
        4.0,
        24.0,
        24.0,
        0.0,
    ]
