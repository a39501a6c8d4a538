"""The small print of a match: who draws, which card, fouls before the go, ties that go round in a circle."""

from __future__ import annotations

from collections import Counter

import pytest

from referee.errors import AsksFirst, IllegalCommand
from referee.match.card_facts import CardFacts
from referee.match.commands import (
    CameraVerdict,
    DrawByHand,
    DrawCard,
    Foul,
    FoulRuling,
    Go,
    HumanRuling,
    LeaveMatch,
    NameCard,
    NextDuel,
    Overrule,
    PlayerLeaves,
    PressStop,
    Ready,
    ReplayDuel,
    TakeUpMatch,
    VoidDuel,
)
from referee.match.foul import FoulProposal, foul_sentence
from referee.match.verdict import zone_verdict
from referee.web.views import rounds

RIGHT = zone_verdict({"verdict": "match"})

ONE_VALUE = {f"C{i:02}": CardFacts("height", 2, 4) for i in range(60)}


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
        t.do(Ready(), Go(100.0), PressStop("A", 110.0), CameraVerdict("A", RIGHT), NextDuel())
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
        assert t.state.fouls[0].sanction == "warning"
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


# --- A void duel is played again --------------------------------------------------------------------


def test_a_duel_declared_void_later_is_played_again_and_nobody_ends_with_five(table):
    t = table(players=2, cards=ONE_VALUE)
    for _ in range(4):
        t.win("Ann")
    t.do(Overrule("void", "Ref", "the mats were swapped", 2), ReplayDuel(2, "Ref", "as agreed"))
    assert t.state.duel.number == 5 and t.state.round.kind == "scheduled"  # the round that is begun goes on
    for _ in range(2):
        t.win("Ann")
    assert (t.state.round.kind, t.state.duel_index, t.state.phase) == ("replay", 1, "idle")
    t.win("Ben")
    assert t.state.phase == "finished"
    assert sum(d.award is not None and not d.annulled for d in t.state.history) == 6
    assert t.state == t.replayed()


def test_a_duel_played_again_after_the_end_opens_the_match_once_more(table):
    t = table(players=2, cards=ONE_VALUE)
    t.play_on(lambda s: "Ann")
    t.do(Overrule("void", "Ref", "photo", 6), ReplayDuel(6, "Ref", "photo"))
    assert (t.state.phase, t.state.finished, t.state.duel_index) == ("idle", None, 2)
    assert t.win("Ben").phase == "finished"


def test_among_experts_a_duel_played_again_draws_from_its_own_pile(table):
    t = table(players=2, mode="experts")
    for _ in range(3):
        t.win("Ann")
    t.do(Overrule("void", "Ref", "photo", 3), ReplayDuel(3, "Ref", "photo"))
    assert t.do(DrawCard()).duel.value == 4


@pytest.mark.parametrize(
    ("number", "why"),
    [(1, "decided: declare it void first"), (2, "a fresh card already"), (9, "no duel 9 has ended")],
)
def test_what_is_not_played_again(table, number, why):
    t = table()
    t.win("Ann")
    t.do(DrawCard(), VoidDuel("Ref", "a lamp fell"))
    with pytest.raises(IllegalCommand, match=why):
        t.do(ReplayDuel(number, "Ref", "photo"))


def test_a_duel_is_played_again_once(table):
    t = table()
    t.win("Ann")
    t.win("Ann")
    t.do(Overrule("void", "Ref", "photo", 1), ReplayDuel(1, "Ref", "photo"))
    with pytest.raises(IllegalCommand, match="counts no longer"):
        t.do(ReplayDuel(1, "Ref", "photo"))


def test_a_duel_declared_void_by_mistake_may_be_overruled_back(table):
    t = table()
    t.win("Ann")
    t.do(Overrule("void", "Ref", "photo", 1), Overrule(f"award_{t.state.past[0].zone_of('Ann')}", "Ref", "sorry", 1))
    assert t.state.history[0].award == "Ann"


def test_the_round_of_a_duel_played_again_has_one_cell(table):
    t = table(players=2, cards=ONE_VALUE)
    t.play_on(lambda s: "Ann")
    t.do(Overrule("void", "Ref", "photo", 2), ReplayDuel(2, "Ref", "photo"))
    assert [len(r.duels) for r in rounds(t.state.to_json())] == [3, 3, 1]


# --- The same card twice by hand --------------------------------------------------------------------


def test_a_card_that_a_player_has_won_is_asked_about_before_it_is_played_again(table):
    t = table(cards=ONE_VALUE)
    t.do(DrawCard("C07"), Ready(), Go(100.0), PressStop("A", 110.0), CameraVerdict("A", RIGHT))
    keeper = t.state.award[0]
    t.do(NextDuel())
    with pytest.raises(AsksFirst, match=f"C07 has been won by {keeper}") as asked:
        t.do(DrawCard("C07"))
    assert asked.value.confirm == "again" and t.state.phase == "idle"
    assert t.do(DrawCard("C07", again=True)).card_id == "C07"


def test_the_old_card_left_in_the_holder_does_not_name_the_next_duel(table):
    t = table(cards=ONE_VALUE)
    t.do(DrawCard("C07"), Ready(), Go(100.0), PressStop("A", 110.0), CameraVerdict("A", RIGHT))
    t.do(NextDuel(), DrawByHand())
    with pytest.raises(AsksFirst):
        t.do(NameCard("C07", "marker"))
    assert t.do(NameCard("C08", "marker")).card_id == "C08"


def test_a_card_whose_duel_was_void_is_nobodys(table):
    t = table(cards=ONE_VALUE)
    t.do(DrawCard("C07"), VoidDuel("Ref", "a lamp fell"))
    assert t.do(DrawCard("C07")).card_id == "C07"


def left_in_a_duel(table):
    """A table where a duel was void because a player left; its number, its card, a ruling on it."""
    t = table(cards=dict([*ONE_VALUE.items()][:6]))
    t.build()
    card, seats = t.state.card_id, t.state.seats
    t.do(PlayerLeaves(seats["B"], "Ref", "ill"))
    return t, t.state.history[0].number, card, "award_A"


def test_a_void_duels_card_that_somebody_has_won_since_is_not_awarded_too(table):
    t, number, card, ruling = left_in_a_duel(table)
    t.do(DrawCard(card), Ready(), Go(100.0))
    for commands in ([], [PressStop("A", 110.0), CameraVerdict("A", RIGHT)], [NextDuel()]):
        t.do(*commands)
        with pytest.raises(IllegalCommand, match=f"{card} has been played for again in duel 2"):
            t.do(Overrule(ruling, "Ref", "it stood", number))
    t.do(Overrule("void", "Ref", "it had not stood", 2), Overrule(ruling, "Ref", "it stood", number))
    assert [d.award for d in t.state.history if d.card_id == card and d.award] == [t.state.history[0].seats["A"]]


def test_a_void_duels_card_that_is_awarded_after_all_is_in_no_pile_any_more(table):
    t, number, card, ruling = left_in_a_duel(table)
    while card not in t.state.piles["cards"]:  # until the deck is used up and all cards go round again
        t.win(t.state.seats["A"])
    t.do(Overrule(ruling, "Ref", "it stood", number))
    assert card not in t.state.piles["cards"]
    with pytest.raises(AsksFirst, match=f"{card} has been won by"):
        t.do(DrawCard(card))
    assert t.state == t.replayed()


# --- A match that waits -----------------------------------------------------------------------------


def test_no_match_is_left_in_the_middle_of_a_duel(table):
    t = table()
    t.build()
    with pytest.raises(IllegalCommand, match="phase building"):
        t.do(LeaveMatch("older"))


def test_a_match_that_is_played_on_is_not_left(table):
    t = table()
    t.win("Ann")
    t.do(LeaveMatch("older"))
    assert t.state.left_for == "older"
    assert t.do(TakeUpMatch()).left_for == ""


# --- What a camera thinks is a foul -----------------------------------------------------------------

SEEN = FoulProposal("second_hand", "A", 3.2, 0.9, "A", 7.5)


@pytest.mark.parametrize("rule", ["human", "warning", "duel"])
def test_what_the_camera_proposes_waits_for_a_human_whatever_the_rule(table, rule):
    t = table(foul=rule)
    t.build()
    t.do(Foul(t.state.seats["A"], "a second hand", "camera", seen=SEEN))
    assert t.state.phase == "building" and t.state.fouls[0].sanction is None
    assert t.state.fouls[0].seen == SEEN and t.state == t.replayed()


@pytest.mark.parametrize(
    ("sanction", "phase"), [("none", "building"), ("warning", "building"), ("void", "void"), ("duel", "decided")]
)
def test_a_human_answers_it_with_nothing_a_warning_void_or_the_duel(table, sanction, phase):
    t = table()
    t.build()
    t.do(Foul(t.state.seats["A"], "a second hand", "camera", seen=SEEN), FoulRuling(0, sanction, "Ref"))
    assert t.state.phase == phase and t.state.fouls[0].sanction == sanction
    assert t.state.award[0] == (t.state.seats["B"] if sanction == "duel" else None)


@pytest.mark.parametrize("sanction", ["void", "duel"])
def test_what_a_device_said_of_a_foul_is_recorded_with_its_code_and_values(table, sanction):
    t = table()
    t.build()
    t.do(
        Foul(t.state.seats["A"], foul_sentence("second_hand", "A"), "camera", seen=SEEN), FoulRuling(0, sanction, "Ref")
    )
    said = t.state.fouls[0].wording
    assert (said.code, dict(said.values), said.text) == ("seen_second_hand", {"zone": "A"}, "a second hand in field A")
    assert (t.state.duel.cause.code, t.state.duel.cause.wording) == ("foul", said)
    assert t.state == t.replayed()


def test_what_a_human_said_of_a_foul_is_recorded_as_text_alone(table):
    t = table()
    t.build()
    t.do(Foul(t.state.seats["A"], "a hand", "Eva", "duel"))
    assert not any("said" in event.data for event in t.log)
    assert t.state.duel.cause.wording == t.state.fouls[0].wording and t.state.fouls[0].wording.text == "a hand"


def test_a_duel_that_is_over_is_overruled_instead(table):
    t = table()
    t.build()
    t.do(Foul(t.state.seats["A"], "a second hand", "camera", seen=SEEN))
    t.do(PressStop("A", 110.0), CameraVerdict("A", RIGHT), HumanRuling("match", "Ref", "seen"), NextDuel())
    with pytest.raises(IllegalCommand, match="overrule it"):
        t.do(FoulRuling(0, "void", "Ref"))
