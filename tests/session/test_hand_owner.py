"""Whose arm reaches into a field, on rendered tables of all three seatings."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from staged import OTHER, Rig, Stage

from cards.deck import builtin_deck
from referee.simulator.table import Hand
from referee.vision.live.hand_owner import hand_owner

CARD = builtin_deck().card("L09")


@pytest.mark.parametrize("seating", ["across", "facing"])
def test_an_arm_is_its_owners_wherever_it_reaches(seating):
    rig = Rig(8, seating)
    for zone in "AB":
        stage = Stage(rig, CARD, zone)
        before = rig.picture(stage.world(stage.full), 1)
        mats = rig.observer.look(before)
        for tip in ((0.0, 0.0, 60.0), (-60.0, 10.0, 90.0)):
            for who in (zone, OTHER[zone]):
                hand = Hand(tip if who == zone else rig.seen_from(who, tip))
                image = rig.picture(stage.world(stage.full, {who: hand}), 2)
                assert hand_owner(image, before, zone, mats) == who


def test_nobody_is_named_where_nothing_reaches_in():
    rig = Rig(8, "across")
    stage = Stage(rig, CARD)
    before = rig.picture(stage.world(stage.full), 1)
    mats = rig.observer.look(before)
    assert hand_owner(rig.picture(stage.world(stage.fallen), 2), before, "A", mats) is None
    assert hand_owner(before, np.zeros((2, 2, 3), np.uint8), "A", mats) is None


def test_nobody_is_named_while_only_one_mat_is_known():
    rig = Rig(8, "across")
    stage = Stage(rig, CARD)
    before, image = (
        rig.picture(stage.world(stage.full), 1),
        rig.picture(stage.world(stage.full, {"A": Hand((0, 0, 60))}), 2),
    )
    mats = rig.observer.look(before)
    assert hand_owner(image, before, "A", mats) == "A"
    assert hand_owner(image, before, "A", replace(mats, poses={"A": mats.poses["A"]})) is None
