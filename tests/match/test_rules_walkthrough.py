"""RULES.md, read aloud: each test is one of its sentences, played at a table.

Players are named by age: Ann is the youngest, then Ben, Cem, Dia.
"""

from __future__ import annotations

import pytest

from referee.errors import IllegalCommand
from referee.match.card_facts import CardFacts
from referee.match.commands import (
    BeginJudging,
    CallTimeout,
    CameraVerdict,
    ChangeMode,
    DrawByHand,
    DrawCard,
    Foul,
    FoulRuling,
    Go,
    HumanRuling,
    NameCard,
    NextDuel,
    PressStop,
    Ready,
    VoidDuel,
)
from referee.match.house_rules import DEFAULT_RULES
from referee.match.state import public_match
from referee.match.verdict import zone_verdict


def the_card(state):
    return state.cards[state.card_id].value


# --- The game -------------------------------------------------------------------------------------


def test_an_inactive_player_draws_the_card(table):
    state = table(players=4).state
    assert set(state.seats.values()) == {"Ann", "Dia"}
    assert state.drawer in ("Ben", "Cem")


def test_two_players_take_turns_at_drawing(table):
    t = table(players=2)
    drawers = [t.state.drawer]
    for _ in range(5):
        drawers.append(t.win("Ann").drawer)
    assert drawers == ["Ann", "Ben"] * 3


def test_the_inactive_player_places_the_card_and_gives_the_start_call(table):
    t = table()
    assert t.do(DrawCard()).phase == "card_drawn"
    assert t.do(Ready()).phase == "ready"
    assert t.do(Go(100.0)).phase == "building"


def test_nobody_sees_a_card_before_the_go(table):
    t = table()
    t.do(DrawCard(), Ready())
    assert public_match(t.state.to_json())["card_id"] is None
    assert t.state.card_id not in repr(public_match(t.state.to_json()))
    t.do(Go(100.0))
    assert public_match(t.state.to_json())["card_id"] == t.state.card_id


def test_whoever_finishes_calls_stop_and_from_then_on_nobody_may_act(table):
    t = table()
    t.stop("A")
    assert t.state.phase == "stopped"
    t.do(PressStop("B", 112.0))
    assert t.state.duel.callers == ("A",)


def test_right_and_the_caller_gets_the_card(table, verdicts):
    right, _, _ = verdicts
    t = table()
    t.duel("A", right)
    caller = t.state.seats["A"]
    assert t.state.award == (caller, the_card(t.state))
    assert t.state.scores[caller] == the_card(t.state)


def test_wrong_and_the_other_player_gets_it(table, verdicts):
    _, wrong, _ = verdicts
    t = table()
    t.duel("A", wrong)
    assert t.state.award == (t.state.seats["B"], the_card(t.state))


def test_then_the_next_card_is_drawn(table):
    t = table()
    first = t.duel().card_id
    t.do(NextDuel(), DrawCard())
    assert t.state.duel_index == 1
    assert t.state.card_id != first


def test_a_round_is_one_pairing_and_three_duels(table):
    t = table()
    pair = dict(t.state.seats)
    for duel in range(3):
        assert (t.state.round_index, t.state.duel_index, dict(t.state.seats)) == (0, duel, pair)
        t.win("Ann")
    assert (t.state.round_index, t.state.duel_index) == (1, 0)


# --- Schedules ------------------------------------------------------------------------------------


@pytest.mark.parametrize("players, duels", [(2, 6), (3, 18), (4, 18)])
def test_printed_lengths(table, players, duels):
    """Six duels for two; six rounds of three for three and four ("ends after the 4th" is overruled)."""
    state = table(players=players).play_on(lambda s: min(s.seats.values()))
    assert sum(d.award is not None for d in state.history) == duels


def test_highest_total_wins(table):
    state = table().play_on(lambda s: "Cem" if "Cem" in s.seats.values() else s.seats["A"])
    assert state.winner == "Cem"
    assert state.scores["Cem"] == max(state.scores.values())
    assert state.standings[0].player == "Cem"


LEVEL = {f"C{i:02}": CardFacts("height", 2, 4) for i in range(40)}


def test_equal_totals_an_extra_duel(table):
    """Two who take three duels each are level; the extra duel decides, and is named."""
    t = table(players=2, cards=LEVEL)
    for winner in ["Ann", "Ben"] * 3:
        t.win(winner)
    assert t.state.scores == {"Ann": 6, "Ben": 6}
    assert t.state.round.kind == "extra"
    assert t.state.round.duels == 1
    state = t.win("Ben")
    assert (state.winner, state.finished["deciding_duel"], state.finished["extra"]) == ("Ben", 7, True)


def poorer(state):
    return min(state.seats.values(), key=lambda p: (state.scores[p], p))


def test_three_level_at_the_top_play_a_round_robin(table):
    t = table(players=3, cards=LEVEL)
    while t.state.round.kind != "extra":
        t.win(poorer(t.state))
    assert set(t.state.scores.values()) == {12}
    extra = [r for r in t.state.rounds if r.kind == "extra"]
    assert sorted(sorted(r.players) for r in extra) == [["Ann", "Ben"], ["Ann", "Cem"], ["Ben", "Cem"]]
    state = t.play_on(lambda s: min(s.seats.values()))
    assert state.winner == "Ann"


def test_three_level_may_share_by_house_rule(table):
    t = table(players=3, cards=LEVEL, tie_of_many="shared")
    state = t.play_on(poorer)
    assert state.winner is None
    assert state.finished["shared"] == ["Ann", "Ben", "Cem"]


def test_young_players_agree_on_values_1_and_2_later_add_3_later_all(table):
    t = table(mode="young-1-2")

    def values():
        return {t.state.cards[c].value for c in t.state.piles["cards"]}

    assert values() == {1, 2}
    t.do(ChangeMode("young-1-3", "the parents"))
    assert values() == {1, 2, 3}
    t.do(ChangeMode("all", "the parents"))
    assert values() == {1, 2, 3, 4}


def test_experts_draw_from_piles_2_3_4_in_duels_1_2_3(table):
    t = table(mode="experts")
    state = t.play_on(lambda s: min(s.seats.values()))
    for duel in state.history:
        assert duel.value == (2, 3, 4)[duel.duel_index]
    assert 1 not in {state.cards[c].value for pile in state.piles.values() for c in pile}


def test_a_final_extra_duel_of_experts_uses_value_4(table):
    t = table(players=2, mode="experts")
    for winner in ["Ann"] * 3 + ["Ben"] * 3:
        t.win(winner)
    assert t.state.round.kind == "extra"
    t.do(DrawCard())
    assert the_card(t.state) == 4


def test_a_pile_that_runs_out_is_reshuffled_from_the_returned_cards(table):
    few = {f"C{i}": CardFacts("height", 1, 3) for i in range(2)}
    t = table(players=2, cards=few)
    first = t.do(DrawCard()).card_id
    t.do(VoidDuel("Ref", "dropped"), DrawCard())
    assert t.state.card_id != first
    t.do(VoidDuel("Ref", "dropped"), DrawCard())
    assert t.state.card_id == first
    assert [e.kind for e in t.log if e.kind == "reshuffled"] == ["reshuffled"]


def test_cards_drawn_by_hand_are_read_in_the_holder_or_typed(table, verdicts):
    t = table()
    t.do(DrawByHand(), Ready(), Go(100.0), PressStop("A", 110.0))
    with pytest.raises(IllegalCommand, match="not been named"):
        t.do(CameraVerdict("A", zone_verdict(verdicts[0])))
    t.do(NameCard("C07", "marker"), CameraVerdict("A", zone_verdict(verdicts[0])))
    assert t.state.award == (t.state.seats["A"], 4)


def test_the_shuffle_is_in_the_record_and_follows_the_seed(table):
    created = [table(seed=seed).log[0].data["piles"] for seed in (1, 1, 2)]
    assert created[0] == created[1] != created[2]


# --- Where the rules are silent: every default, then the other choice ------------------------------


def test_a_hand_in_the_field_at_stop_is_a_wrong_stop(table, verdicts):
    t = table()
    t.duel("A", verdicts[0], findings=("hand_at_stop",))
    assert t.state.award[0] == t.state.seats["B"]
    assert t.state.duel.reason == "false_stop: hand_at_stop"


def test_it_falls_by_itself_after_stop_and_is_a_wrong_stop(table, verdicts):
    t = table()
    t.duel("A", verdicts[0], findings=("fell_after_stop",))
    assert t.state.award[0] == t.state.seats["B"]


def test_the_opponent_bumped_it_void_fresh_card(table, verdicts):
    t = table()
    first = t.duel("A", verdicts[1], findings=("bumped", "fell_after_stop")).card_id
    assert (t.state.phase, t.state.award) == ("void", (None, 0))
    t.do(DrawCard())
    assert t.state.card_id != first
    assert (t.state.duel_index, t.state.duel.attempt) == (0, 2)


def test_a_bump_that_the_camera_saw_waits_for_a_human_whatever_else_it_saw(table):
    t = table()
    t.duel("A", {"verdict": "undecided", "leaning": "void"}, findings=("bumped", "fell_after_stop", "hand_at_stop"))
    assert (t.state.phase, t.state.award) == ("undecided", (None, 0))
    t.do(HumanRuling("void", "Ref", "Ben's elbow"))
    assert t.state.phase == "void"


def test_stop_earlier_than_any_build_is_possible_is_a_void_press_and_logged(table):
    t = table()
    t.build()
    t.do(PressStop("A", 100.9))
    assert t.state.phase == "building"
    assert [p.why for p in t.state.duel.presses] == ["too_early"]
    assert t.do(PressStop("A", 101.1)).phase == "stopped"


@pytest.mark.parametrize(
    "a, b, award",
    [("match", "mismatch", "A"), ("mismatch", "match", "B"), ("match", "match", None), ("mismatch", "mismatch", None)],
)
def test_both_press_within_the_tie_window_and_both_builds_are_judged(table, a, b, award):
    t = table()
    t.stop("A", 110.0, box_us=5_000_000)
    t.do(PressStop("B", 110.02, box_us=5_004_900))
    assert t.state.duel.callers == ("A", "B")
    t.do(CameraVerdict("A", zone_verdict({"verdict": a})))
    assert t.state.phase == "stopped"
    t.do(CameraVerdict("B", zone_verdict({"verdict": b})))
    assert t.state.award[0] == (t.state.seats[award] if award else None)
    assert t.state.phase == ("decided" if award else "void")


def test_box_time_decides_whatever_order_presses_arrive_in(table):
    t = table()
    t.stop("A", 110.0, box_us=5_010_000)
    t.do(PressStop("B", 110.02, box_us=5_000_000))
    assert t.state.duel.callers == ("B",)


def test_the_time_of_a_duel_is_the_boxs_when_it_has_one(table):
    t = table()
    t.do(DrawCard(), Ready(), Go(100.0, box_us=2_000_000), PressStop("A", 107.03, 0.02, 9_012_345))
    assert t.state.duel.presses[0].elapsed_s == 7.012345


def test_a_box_that_has_restarted_since_the_go_is_not_believed(table):
    t = table()
    t.do(DrawCard(), Ready(), Go(100.0, box_us=900_000_000), PressStop("A", 107.03, 0.02, 12_345))
    assert t.state.duel.presses[0].elapsed_s == 7.03
    assert t.state.phase == "stopped"


def test_presses_that_clocks_cannot_tell_apart_are_a_dead_heat(table):
    """Without box time the bounds of both errors count: what cannot be told is not guessed."""
    t = table()
    t.stop("A", 110.0, error_s=0.01)
    t.do(PressStop("B", 110.02, error_s=0.01))
    assert t.state.duel.callers == ("A", "B")


@pytest.mark.parametrize(
    ("gap_s", "box_us", "callers"),
    [
        (0.064, None, ("A", "B")),
        (0.066, None, ("A",)),  # 5 ms of box time are not added
        (-0.064, None, ("A", "B")),
        (-0.066, None, ("B",)),  # it came later, and was earlier
        (0.064, 10_064_000, ("A", "B")),  # one by key, one by the box
        (0.066, 10_066_000, ("A",)),
    ],
)
def test_presses_by_key_tie_within_the_sum_of_their_bounds(table, gap_s, box_us, callers):
    t = table()
    t.stop("A", 110.0, error_s=0.035, by="key")
    t.do(PressStop("B", 110.0 + gap_s, 0.03, box_us, by="" if box_us else "key"))
    assert t.state.duel.callers == callers


def test_a_foul_is_recorded_and_the_human_referee_decides(table):
    t = table()
    t.build()
    t.do(Foul("Dia", "touched a piece with the hand", "Ben"))
    assert t.state.fouls[0].sanction is None
    t.do(FoulRuling(0, "warning", "Ref"))
    assert t.state.to_json()["players"][3]["warnings"] == 1
    assert t.state.phase == "building"


def test_or_the_duel_goes_to_the_opponent(table):
    t = table()
    t.build()
    t.do(Foul("Dia", "moved the table", "Ben"), FoulRuling(0, "duel", "Ref"))
    assert t.state.award == ("Ann", the_card(t.state))


def test_the_camera_cannot_tell_and_the_human_referee_rules(table, verdicts):
    t = table()
    t.stop("A")
    t.do(BeginJudging(), CameraVerdict("A", zone_verdict(verdicts[2])))
    assert t.state.phase == "undecided"
    assert t.state.scores == t.state.public_scores
    with pytest.raises(IllegalCommand, match="needs why"):
        t.do(HumanRuling("match", "Ref", " "))
    t.do(HumanRuling("match", "Ref", "I see it stand"))
    assert t.state.award[0] == t.state.seats["A"]
    assert t.state.verdicts["A"].ruling == "undecided"
    assert t.state.duel.human[0]["who"] == "Ref"


def test_no_time_limit_by_default(table):
    t = table()
    t.build()
    with pytest.raises(IllegalCommand, match="no time limit"):
        t.do(CallTimeout(100_000.0))


def test_with_a_limit_nobody_presses_no_card_fresh_card(table):
    t = table(time_limit_s=60)
    t.build()
    with pytest.raises(IllegalCommand, match="59"):
        t.do(CallTimeout(159.0))
    assert t.do(CallTimeout(160.0)).phase == "void"
    assert t.do(DrawCard()).duel_index == 0


@pytest.mark.parametrize(
    "rule, verdict, kind, at_default, changed",
    [
        ({"hand_at_stop": "ignore"}, {"verdict": "match"}, "hand_at_stop", "B", "A"),
        ({"hand_at_stop": "human"}, {"verdict": "match"}, "hand_at_stop", "B", None),
        ({"fell_after_stop": "ignore"}, {"verdict": "match"}, "fell_after_stop", "B", "A"),
        ({"bumped": "human"}, {"verdict": "match"}, "bumped", None, None),
        ({"ground_contacts": "exactly_two"}, {"verdict": "match", "ground_contacts": 1}, "", "A", "B"),
        (
            {"surplus_on_height": "right"},
            {"verdict": "mismatch", "count": 9, "reasons": [{"code": "wrong_count"}]},
            "",
            "B",
            "A",
        ),
        (
            {"loose_piece": "human"},
            {"verdict": "mismatch", "count": 5, "reasons": [{"code": "not_one_structure"}]},
            "",
            "B",
            None,
        ),
        ({"camera_decides": "proposes"}, {"verdict": "match"}, "", "A", None),
    ],
)
def test_a_house_rule_changes_the_ruling(table, rule, verdict, kind, at_default, changed):
    for rules, winner in ((DEFAULT_RULES.model_dump(), at_default), (rule, changed)):
        t = table(**rules)
        t.duel("A", verdict, findings=(kind,))
        assert t.state.award[0] == (t.state.seats[winner] if winner else None)
