"""The set-up in the record: signed and frozen, opened again, gone without; and undo within bounds."""

from __future__ import annotations

import pytest

from referee.errors import IllegalCommand
from referee.match.commands import (
    ChangeLens,
    DrawByHand,
    DrawCard,
    GoUnsigned,
    OpenSetup,
    Ready,
    SignSetup,
    Undo,
    VoidDuel,
)
from referee.match.state import MOST_UNDONE

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
