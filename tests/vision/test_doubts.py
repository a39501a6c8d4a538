"""The list of doubts: each is shown by a test, all that apply are told, and one rule says how sure what is left is."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from made_cases import CERTAIN, CLEAR, HIGHER, RED, WHITE_BESIDE, decided, of_a_tower, reading

from cards.kinds.height import HeightCard
from referee.vision.image.unknown import UnknownThing
from referee.vision.verdict.doubts import DOUBTS, hides


def test_every_doubt_has_a_name_of_its_own_and_a_test_that_shows_it():
    tests = re.findall(r"^def (test_\w+)", "".join(f.read_text() for f in Path(__file__).parent.glob("*.py")), re.M)
    assert len({d.name for d in DOUBTS}) == len(DOUBTS)
    assert {d.name: d.shown_by for d in DOUBTS if d.shown_by not in tests} == {}


@pytest.mark.parametrize("ruling", ["match", "mismatch"])
def test_all_doubts_that_apply_are_told_in_their_order_each_reason_once(ruling):
    blind = dataclasses.replace(CLEAR, field_seen=0.5, coloured=0.0)
    decision = of_a_tower(ruling, blind)
    assert decision.doubts == ("out_of_view", "no_colour")
    assert [r.code for r in decision.verdict.reasons] == ["out_of_view", "no_colour"]
    assert (decision.verdict.ruling, decision.verdict.leaning) == ("undecided", ruling)


@pytest.mark.parametrize("ruling", ["match", "mismatch"])
def test_a_doubt_leaves_the_leaning_less_sure_however_sure_the_ruling_was(ruling):
    clear, cut = of_a_tower(ruling), of_a_tower(ruling, dataclasses.replace(CLEAR, cut_mm=30.0))
    assert (clear.verdict.ruling, clear.doubts, clear.verdict.leaning) == (ruling, (), None)
    assert cut.doubts == ("build_cut",)
    assert cut.verdict.confidence == 0.65 < clear.verdict.confidence


@pytest.mark.parametrize(
    ("of_picture", "hidden"),
    [
        ({"field_seen": 0.5}, True),
        ({"cut_mm": 30.0}, True),
        ({"coloured": 0.0}, True),
        ({"paper_lighter": 0.5}, True),
        ({"unknown": UnknownThing(0.2, 0.0, 0.0, 2.0, np.zeros((0, 2)))}, True),
        ({}, False),
    ],
)
def test_a_picture_that_does_not_show_the_build_may_be_left_out_beside_another(of_picture, hidden):
    assert hides(of_a_tower("match", dataclasses.replace(CLEAR, **of_picture)).case) == hidden


@pytest.mark.parametrize(("share", "doubts"), [(0.9, ()), (0.65, ("unsure",))])
def test_what_past_sessions_make_too_little_of_is_not_ruled(share, doubts):
    """No other doubt applies: it is far enough ahead, and explains as much as a mismatch must."""
    tower, one = reading(RED, HIGHER, loose=(WHITE_BESIDE,)), reading(RED, loose=(WHITE_BESIDE,), score=28_800.0)
    decision = decided(HeightCard("H", 1, 1), [tower, one], dataclasses.replace(CERTAIN, share=share))
    assert decision.doubts == doubts and not hides(decision.case)  # it is of the reading, not of the picture
    assert [r.code for r in decision.verdict.reasons] == ["unexplained" if doubts else "wrong_count"]
