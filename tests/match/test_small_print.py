"""The small print of a match: who draws, which card, fouls before the go, ties that go round in a circle."""

from __future__ import annotations

from collections import Counter

import pytest

from referee.errors import IllegalCommand
from referee.match.decide import CameraVerdict, DrawCard, Foul, FoulRuling, Go, NextDuel, PressStop, Ready, VoidDuel

ONE_VALUE = {f"C{i:02}": {"kind": "height", "value": 2, "count": 4} for i in range(60)}


@pytest.mark.parametrize("players", [3, 4, 5])
def test_who_has_drawn_least_draws_next(table, players):
    t, drawn = table(players=players), Counter()
    while t.state.phase != "finished" and sum(drawn.values()) < 18:
        waiting = t.state.inactive
        assert drawn[t.state.drawer] == min(drawn[p] for p in waiting)
        drawn[t.state.drawer] += 1
        t.win(sorted(t.state.seats.values())[0])


def test_after_a_void_another_draws(table):
    t = table(players=2)
    t.do(DrawCard())
    first = t.state.drawer
    t.do(VoidDuel("Ref", "a lamp fell"), DrawCard())
    assert {first, t.state.drawer} == {"Ann", "Ben"}


def test_a_card_that_neither_has_met_goes_before_one_that_somebody_has(table):
    few = {card: ONE_VALUE[card] for card in list(ONE_VALUE)[:9]}
    t = table(players=6, cards=few)
    chosen = 0
    while t.state.phase != "finished":
        before, players = t.state, set(t.state.seats.values())
        t.do(DrawCard())
        lying = {*t.state.piles["cards"], t.state.card_id} - before.seen
        met = {d.card_id for d in before.past if d.go_at is not None and players & set(d.seats.values())}
        if t.state.reshuffles == before.reshuffles and lying - met:
            assert t.state.card_id not in met
            chosen += bool(lying & met)
        t.do(Ready(), Go(100.0), PressStop("A", 110.0), CameraVerdict("A", {"verdict": "match"}), NextDuel())
    assert chosen


@pytest.mark.parametrize("sanction", [None, "duel"])
def test_no_foul_awards_a_hidden_card(table, sanction):
    t = table(foul="duel")
    t.do(DrawCard(), Ready())
    if sanction == "duel":
        with pytest.raises(IllegalCommand, match="hidden"):
            t.do(Foul(t.state.seats["A"], "peeked", "Ref", sanction))
    else:
        t.do(Foul(t.state.seats["A"], "peeked", "Ref"))
        assert t.state.fouls[0]["sanction"] == "warning"
    assert t.state.phase == "ready" and t.state.award == (None, 0)


def test_a_foul_ruled_on_before_the_go_awards_nothing_either(table):
    t = table()
    t.do(DrawCard(), Foul(t.state.seats["A"], "peeked", "Ref"))
    with pytest.raises(IllegalCommand, match="hidden"):
        t.do(FoulRuling(0, "duel", "Ref"))


BEATS = {frozenset(("Ann", "Ben")): "Ann", frozenset(("Ben", "Cem")): "Ben", frozenset(("Ann", "Cem")): "Cem"}


def test_a_tie_that_goes_round_in_a_circle_ends_in_sudden_death(table):
    t = table(players=3, cards=ONE_VALUE)
    state = t.play_on(lambda s: BEATS[frozenset(s.seats.values())])
    kinds = [r.kind for r in state.rounds if r.kind != "scheduled"]
    assert kinds == ["extra"] * 6 + ["sudden"] * 2
    assert [r.players for r in state.rounds[-2:]] == [("Ann", "Ben"), ("Ann", "Cem")]
    assert state.winner == "Cem" and state.finished["extra"]
