"""The set-up in the record: signed and frozen, opened again, gone without; and undo within bounds."""

from __future__ import annotations

import pytest

from referee.errors import IllegalCommand
from referee.journal.export import csv_of
from referee.match.commands import (
    CameraVerdict,
    ChangeLens,
    DrawByHand,
    DrawCard,
    Go,
    GoUnsigned,
    HumanRuling,
    NextDuel,
    OpenSetup,
    PressStop,
    Ready,
    RuleByHand,
    SignSetup,
    Undo,
    VoidDuel,
)
from referee.match.state import MOST_UNDONE
from referee.match.verdict import zone_verdict

SIGN = SignSetup(("Ann", "Dia"), "Ref", {"steps": {"mats": []}})
UNSIGNED = "both players have not signed the set-up"


@pytest.mark.parametrize("draw", [DrawCard(), DrawCard("C01"), DrawByHand()])
def test_no_card_is_drawn_before_both_have_signed(table, draw):
    t = table(sign_off="asked")
    with pytest.raises(IllegalCommand, match=UNSIGNED):
        t.do(draw)
    assert not {"DrawCard", "DrawByHand"} & set(t.state.allowed())
    t.do(SIGN, draw)
    assert t.state.phase == "card_drawn"
    assert t.state.to_json()["setup"] == {"state": "signed", "signed": ["Ann", "Dia"], "unsigned": False}


def test_the_referee_may_go_on_without_and_is_asked_once(table):
    t = table(sign_off="asked")
    t.do(GoUnsigned("Ref"), DrawCard())
    assert t.log[1].kind == "setup_waived" and t.log[1].who == "Ref"
    t.do(VoidDuel("Ref", "again"), DrawCard())
    assert t.state.phase == "card_drawn"


def test_a_house_that_does_not_ask_plays_at_once(table):
    t = table()
    with pytest.raises(IllegalCommand, match="no set-up is waiting for signatures"):
        t.do(GoUnsigned("Ref"))
    assert t.do(DrawCard()).phase == "card_drawn"


def test_what_is_signed_stays_until_it_is_opened(table):
    t = table(sign_off="asked")
    t.do(SIGN)
    with pytest.raises(IllegalCommand, match="Ann and Dia have signed"):
        t.do(SIGN)
    with pytest.raises(IllegalCommand, match="frozen for this match"):
        t.do(ChangeLens({"image_width": 1280}))
    t.do(OpenSetup("Ref", "the lamp fell"), ChangeLens({"image_width": 1280}))
    with pytest.raises(IllegalCommand, match=UNSIGNED):
        t.do(DrawCard())
    with pytest.raises(IllegalCommand, match="open already"):
        t.do(OpenSetup("Ref"))
    t.do(SIGN)
    assert t.replayed() == t.state


def test_what_humans_decide_without_a_camera_is_marked_until_it_judges_again(table):
    t = table()
    t.do(RuleByHand(True, "Ref"), DrawCard(), Ready(), Go(0.0), PressStop("A", 5.0))
    t.do(HumanRuling("match", "Ref", "I looked"), Undo("Ref"))
    assert t.state.by_hand and not t.state.duel.by_hand  # an undo is of the ruling, not of how the evening goes on
    t.do(HumanRuling("match", "Ref", "I looked"))
    first = t.state.duel
    assert first.by_hand and first.to_json()["by_hand"] and t.state.to_json()["by_hand"]
    t.do(RuleByHand(False, "Ref"), NextDuel(), DrawCard(), Ready(), Go(0.0), PressStop("A", 5.0))
    t.do(HumanRuling("match", "Ref", "I looked"))
    assert not t.state.duel.by_hand and t.state.past[0].by_hand
    (row,) = (row for row in t.state.standings if row.player == first.award)
    assert (row.score, row.by_hand) == (first.points + t.state.duel.points, first.points)
    assert [line.split(",")[-3] for line in csv_of(t.state.history).splitlines()] == ["by_hand", "yes", ""]
    assert t.replayed() == t.state


def test_a_verdict_that_the_camera_still_gives_is_the_cameras(table):
    t = table()
    t.do(DrawCard(), Ready(), Go(0.0), PressStop("A", 5.0), RuleByHand(True))
    t.do(CameraVerdict("A", zone_verdict({"verdict": "match", "confidence": 0.99})))
    assert (t.state.duel.decided_by, t.state.duel.by_hand) == ("camera", False)


@pytest.mark.parametrize("names", [("Ann",), ("Ann", " "), ("Ann", "Ann"), ()])
def test_both_sign_each_with_a_name(table, names):
    with pytest.raises(IllegalCommand, match="both players sign"):
        table().do(SignSetup(names))


def test_no_set_up_is_changed_during_a_duel(table):
    t = table()
    t.build()
    for command in (SIGN, OpenSetup("Ref"), ChangeLens({})):
        with pytest.raises(IllegalCommand, match="phase building"):
            t.do(command)


def test_an_undo_takes_no_signature_back(table):
    t = table(sign_off="asked")
    t.do(
        SIGN, DrawCard(), VoidDuel("Ref", "bumped"), OpenSetup("Ref"), ChangeLens({"image_width": 9}), SIGN, Undo("Ref")
    )
    assert (t.state.phase, t.state.setup) == ("card_drawn", "signed")
    t.do(Undo("Ref"))
    assert (t.state.phase, t.state.setup) == ("idle", "signed")


def test_memory_of_what_can_be_undone_is_bounded(table):
    t = table()
    for _ in range(MOST_UNDONE):
        t.do(DrawCard(), Ready(), VoidDuel("Ref", "again"))
    assert len(t.state.earlier) == MOST_UNDONE
    assert all(not state.earlier for state in t.state.earlier)
    for _ in range(MOST_UNDONE):
        t.do(Undo("Ref"))
    with pytest.raises(IllegalCommand, match="nothing to undo"):
        t.do(Undo("Ref"))
    assert t.replayed() == t.state
