"""Nothing before the go: both fields empty, hands out of them, or a human who waives it on record."""

from __future__ import annotations

import pytest

from referee.errors import IllegalCommand
from referee.match.commands import CameraVerdict, DrawCard, Go, NextDuel, PressStop, Ready, Undo, WaiveFields
from referee.match.state import public_match
from referee.match.verdict import zone_verdict

RIGHT = zone_verdict({"verdict": "match"})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"A": "not_empty"}, "field A is not empty"),
        ({"B": "hand"}, "a hand is in field B"),
        ({"B": "not_empty", "A": "hand"}, "a hand is in field A, field B is not empty"),
    ],
)
def test_there_is_no_go_while_a_field_is_not_as_it_should_be(table, fields, why):
    t = table()
    t.do(DrawCard(), Ready())
    with pytest.raises(IllegalCommand, match=why):
        t.do(Go(100.0, None, fields))
    assert t.state.phase == "ready"
    assert public_match(t.state.to_json())["card_id"] is None
    assert t.do(Go(100.0)).phase == "building"


def test_a_human_may_waive_it_for_this_duel_and_the_record_says_so(table):
    t = table()
    t.do(DrawCard(), Ready(), WaiveFields("Ref", "a loose piece"), Go(100.0, None, {"A": "not_empty"}))
    assert t.state.phase == "building" and t.state.duel.waived == "a loose piece"
    assert [e.who for e in t.log if e.kind == "fields_waived"] == ["Ref"]
    assert t.log[-1].data["fields"] == {"A": "not_empty"}
    t.do(PressStop("A", 110.0), CameraVerdict("A", RIGHT))
    assert t.state.award[0] == t.state.seats["A"]


def test_the_next_duel_asks_again(table):
    t = table()
    t.do(DrawCard(), Ready(), WaiveFields("Ref", "so be it"), Go(100.0, None, {"A": "hand"}))
    t.do(PressStop("A", 110.0), CameraVerdict("A", RIGHT))
    t.do(NextDuel(), DrawCard(), Ready())
    assert t.state.duel.waived == ""
    with pytest.raises(IllegalCommand):
        t.do(Go(200.0, None, {"A": "hand"}))


def test_a_house_may_not_ask(table):
    t = table(empty_fields="free")
    t.do(DrawCard(), Ready())
    assert t.do(Go(100.0, None, {"A": "not_empty"})).phase == "building"


@pytest.mark.parametrize(
    ("rule", "phase"), [("human", "undecided"), ("wrong", "decided"), ("void", "void"), ("ignore", "decided")]
)
def test_a_hand_over_the_callers_field_at_the_go_is_a_false_start(table, rule, phase):
    t = table(false_start=rule)
    t.do(DrawCard(), Ready(), Go(100.0, None, {}, ("A",)), PressStop("A", 110.0), CameraVerdict("A", RIGHT))
    assert t.state.duel.findings["A"] == ("false_start",)
    assert t.state.phase == phase
    if phase == "decided":
        assert t.state.award[0] == t.state.seats["B" if rule == "wrong" else "A"]


def test_the_others_false_start_is_not_the_callers(table):
    t = table()
    t.do(DrawCard(), Ready(), Go(100.0, None, {}, ("B",)), PressStop("A", 110.0), CameraVerdict("A", RIGHT))
    assert t.state.duel.findings["A"] == () and t.state.phase == "decided"


def test_an_undo_passes_over_the_waiver(table):
    t = table()
    t.do(DrawCard(), Ready(), WaiveFields("Ref", "so be it"))
    assert t.do(Undo("Ref")).phase == "card_drawn"
