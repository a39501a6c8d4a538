"""Nothing after the Stop: what a player did after the press, staged before the real eyes, and what must come of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from staged import DECK, Stage, finishing_late, hand_in_the_way, knocked_over, play, rig, untouched

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stage():
    return Stage(rig(3, "across"), DECK.card("L09"), "A")


@pytest.fixture(scope="module")
def mirrored():
    return Stage(rig(3, "across"), DECK.card("L09"), "B")


@pytest.mark.parametrize("late_s", [0.15, 0.3, 0.6])
def test_a_build_finished_after_the_press_is_a_false_stop(stage, late_s):
    state = play(stage, finishing_late(stage, late_s))
    assert state.award == ("Ben", 1) and state.duel.reason == "false_stop: touched_after_stop"
    assert state.verdicts["A"].reasons[0].code == "missing_piece"


def test_the_card_never_goes_to_whose_hand_knocked_the_build_over(mirrored):
    state = play(mirrored, knocked_over(mirrored, 0.3))
    assert state.phase == "undecided" and state.duel.findings["B"] == ("bumped",)
    said = state.verdicts["B"]
    assert (said.leaning, said.reasons[0].values) == ("void", {"player": "Ann"})


@pytest.mark.parametrize("front", [False, True], ids=["from behind", "from in front"])
def test_a_neighbour_whose_sleeve_is_lost_before_a_shirt_of_its_colour_gets_no_card(front):
    caller = Stage(rig(6, "across"), DECK.card("L48"), "B")
    assert play(caller, knocked_over(caller, 0.15, front=front)).phase == "undecided"


def test_who_knocks_over_the_own_build_has_touched_it(stage):
    state = play(stage, knocked_over(stage, 0.3, own=True))
    assert state.award == ("Ben", 1) and state.duel.findings["A"] == ("touched_after_stop",)


def test_a_clean_stop_is_judged_as_ever(stage):
    assert play(stage, untouched(stage, stage.full)).award == ("Ann", 1)
    wrong = play(stage, untouched(stage, stage.full_without_last()))
    assert wrong.award == ("Ben", 1) and wrong.duel.reason == "false_stop" and not wrong.duel.findings["A"]


@pytest.mark.parametrize("hides", [False, True], ids=["beside", "before it"])
@pytest.mark.parametrize("then", ["finishes", "knocks"])
def test_a_caller_whose_own_hand_stays_in_the_field_and_acts_after_the_press_has_touched_it(stage, hides, then):
    state = play(stage, hand_in_the_way(stage, 0.6 if then == "finishes" else 0.3, hides, then))
    assert state.award == ("Ben", 1) and state.duel.findings["A"] == ("touched_after_stop",)


def test_a_hand_that_rests_before_a_right_build_and_leaves_costs_nothing(stage):
    assert play(stage, hand_in_the_way(stage, 0.3, True, "leaves")).award == ("Ann", 1)
