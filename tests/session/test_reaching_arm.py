"""Whose arm reaches into a field, on rendered tables of all three seatings."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from staged import Stage, rig

from calibration.mat import Mats
from cards.deck import builtin_deck
from referee.simulator.table import Hand
from referee.vision.hands.geometry import STRANGER
from referee.vision.hands.reaching_arm import ReachingArm, reaching_arm

CARD = builtin_deck().card("L09")


@cache
def at_rest(seating: str, zone: str) -> tuple[Stage, np.ndarray, Mats]:
    """A build in that zone's field, its picture, and the mats."""
    stage = Stage(rig(8, seating), CARD, zone)
    before = stage.rig.picture(stage.world(stage.full), 1)
    return stage, before, stage.rig.observer.look(before)


def reaching_in(seating: str, zone: str, who: str, tip: tuple[float, float, float]):
    """That zone's field without an arm and with that player's, and the mats."""
    stage, before, mats = at_rest(seating, zone)
    hand = Hand(tip if who == zone else stage.rig.seen_from(who, tip))
    return before, stage.rig.picture(stage.world(stage.full, {who: hand}), 2), mats


@pytest.mark.parametrize("tip", [(0.0, 0.0, 60.0), (-60.0, 10.0, 90.0)], ids=["middle", "left and high"])
@pytest.mark.parametrize("who", "AB")
@pytest.mark.parametrize("zone", "AB")
@pytest.mark.parametrize("seating", ["across", "facing"])
def test_an_arm_is_its_owners_wherever_it_reaches(seating, zone, who, tip):
    before, image, mats = reaching_in(seating, zone, who, tip)
    assert reaching_arm(image, before, zone, mats).owner == who


def test_nobody_is_named_where_nothing_reaches_in():
    stage, before, mats = at_rest("across", "A")
    assert reaching_arm(stage.rig.picture(stage.world(stage.fallen), 2), before, "A", mats).owner is None
    assert reaching_arm(before, np.zeros((2, 2, 3), np.uint8), "A", mats).owner is None


@pytest.mark.parametrize("who", "AB")
@pytest.mark.parametrize("zone", "AB")
@pytest.mark.parametrize("seating", ["across", "beside", "facing"])
def test_while_only_one_mat_is_known_an_arm_is_its_players_or_a_strangers(seating, zone, who):
    before, image, mats = reaching_in(seating, zone, who, (0.0, 0.0, 60.0))
    alone = replace(mats, poses={zone: mats.poses[zone]})
    told = reaching_arm(image, before, zone, alone).owner
    said = zone if who == zone else STRANGER
    assert told == said or (told is None and seating == "beside")  # from behind two ways look alike


@pytest.mark.parametrize("seating", ["across", "beside"])
def test_an_arm_that_comes_is_short_of_the_field_until_its_tongs_are_over_it(seating):
    stage, before, mats = at_rest(seating, "A")
    for y, short in ((-120.0, True), (-100.0, True), (0.0, False)):
        image = stage.rig.picture(stage.world(stage.full, {"A": Hand((30.0, y, 55.0))}), 2)
        assert reaching_arm(image, before, "A", mats) == ReachingArm("A", short)


def test_a_shadow_is_no_arm():
    at = rig(14, "across")
    stage = Stage(at, CARD, "B")
    before = at.picture(stage.world(stage.full), 1)
    mats = at.observer.look(before)
    image = at.picture(stage.world(stage.full, {"B": Hand((0.0, -10.0, 55.0))}), 2)
    assert reaching_arm(image, before, "B", mats).owner in ("B", None)
