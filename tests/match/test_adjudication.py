"""What is said of a duel and what follows, word for word: every ruling as the events that it leaves in the record."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from cards.sentences import sentence
from referee.errors import IllegalCommand
from referee.match.commands import (
    BeginJudging,
    CameraVerdict,
    CloseReview,
    DrawByHand,
    DrawCard,
    Foul,
    FoulRuling,
    Go,
    HumanRuling,
    NameCard,
    NextDuel,
    OpenReview,
    Overrule,
    PlayerLeaves,
    PressStop,
    Ready,
    Undo,
    VoidDuel,
    WaiveFields,
)
from referee.match.foul import FoulProposal, foul_sentence
from referee.match.verdict import zone_verdict

RIGHT, WRONG, UNSURE = (zone_verdict({"verdict": ruling}) for ruling in ("match", "mismatch", "undecided"))


def events(t, *commands):
    """(kind, data) of every event that the commands lead to."""
    before = len(t.log)
    t.do(*commands)
    return [(e.kind, dict(e.data)) for e in t.log[before:]]


def noted(zone, verdict, ruling, findings=(), evidence=None):
    """The data of a verdict's event."""
    return {
        "zone": zone,
        "verdict": verdict.to_json(),
        "findings": list(findings),
        "ruling": ruling,
        "evidence": dict(evidence or {}),
    }


def decided(t, zone, by, reason):
    """The event of an award to the player of that zone."""
    return ("duel_decided", {"award": t.state.seats[zone], "value": t.state.duel.value, "by": by, "reason": reason})


def tied(t, **rules):
    """A table at which both pressed at once."""
    t.stop("A", 110.0, box_us=10_000_000)
    t.do(PressStop("B", 110.0, box_us=10_001_000))
    return t


def refused(t, command, message):
    """The command is refused with exactly that message, and nothing changes."""
    before = t.state
    with pytest.raises(IllegalCommand) as caught:
        t.do(command)
    assert (str(caught.value), t.state) == (message, before)


# --- The camera's verdict ---------------------------------------------------------------------------


@pytest.mark.parametrize("judging", [False, True])
@pytest.mark.parametrize(
    ("verdict", "ruling", "zone", "reason"),
    [(RIGHT, "match", "A", "right"), (WRONG, "mismatch", "B", "false_stop")],
)
def test_a_verdict_on_the_caller_decides(table, verdict, ruling, zone, reason, judging):
    t = table()
    t.stop("A")
    if judging:
        t.do(BeginJudging())
    said = events(t, CameraVerdict("A", verdict, evidence={"frame": 7}))
    assert said == [
        ("verdict", noted("A", verdict, ruling, (), {"frame": 7})),
        decided(t, "A" if zone == "A" else "B", "camera", reason),
    ]


def test_what_cannot_be_told_waits_and_is_said_once(table):
    t = table()
    t.stop("A")
    assert events(t, CameraVerdict("A", UNSURE)) == [
        ("verdict", noted("A", UNSURE, "undecided")),
        ("duel_undecided", {"reason": "cannot_tell"}),
    ]
    assert events(t, CameraVerdict("A", RIGHT)) == [("verdict_noted", noted("A", RIGHT, "match"))]
    assert t.state.phase == "undecided"


def test_a_bystanders_verdict_is_noted_and_counts_for_nothing(table):
    t = table()
    t.stop("A")
    assert events(t, CameraVerdict("B", RIGHT)) == [("verdict_noted", noted("B", RIGHT, "match"))]
    assert t.state.phase == "stopped"
    said = events(t, CameraVerdict("A", WRONG, others={"B": RIGHT}))
    assert said[:2] == [("verdict_noted", noted("B", RIGHT, "match")), ("verdict", noted("A", WRONG, "mismatch"))]
    assert said[2:] == [decided(t, "B", "camera", "false_stop")]


def test_an_undo_of_a_verdict_that_came_with_a_bystanders_takes_back_the_verdict_and_not_the_press(table):
    t = table()
    t.stop("A")
    t.do(CameraVerdict("A", RIGHT, others={"B": WRONG}), Undo("Ref"))
    assert (t.state.phase, t.state.award, t.state.duel.callers) == ("undecided", (None, 0), ("A",))
    t.do(Undo("Ref"))
    assert (t.state.phase, t.state.duel.callers) == ("stopped", ("A",))


TAKEN_BACK = ("duel_undecided", {"reason": "taken_back"})


def test_an_undo_of_a_verdict_notes_it_again_and_leaves_the_duel_to_a_human(table):
    t = table()
    t.duel("A", RIGHT.to_json())
    (undone, _), *rest = events(t, Undo("Ref"))
    assert undone == "undone" and rest == [("verdict_noted", noted("A", RIGHT, "undecided")), TAKEN_BACK]


def test_an_undo_of_the_last_of_two_verdicts_notes_that_one_again(table):
    t = tied(table())
    t.do(CameraVerdict("A", RIGHT))
    assert [kind for kind, _ in events(t, CameraVerdict("B", WRONG))] == ["verdict", "duel_decided"]
    assert events(t, Undo("Ref"))[1:] == [("verdict_noted", noted("B", WRONG, "undecided")), TAKEN_BACK]


def test_an_undo_of_the_first_of_two_verdicts_leaves_the_duel_to_be_judged(table):
    t = tied(table())
    t.do(CameraVerdict("A", RIGHT))
    assert [kind for kind, _ in events(t, Undo("Ref"))] == ["undone"]
    assert t.state.phase == "stopped"


def test_an_undo_of_a_verdict_that_voids_a_dead_heat_notes_what_was_said_and_no_more(table):
    t = tied(table())
    assert [kind for kind, _ in events(t, CameraVerdict("A", WRONG, ("bumped",)))] == ["verdict", "duel_void"]
    noted_again = noted("A", WRONG, "undecided", ["bumped"])
    assert events(t, Undo("Ref"))[1:] == [("verdict_noted", noted_again), TAKEN_BACK]


def test_an_undo_of_a_humans_award_is_that_alone(table):
    t = table()
    t.duel("A", UNSURE.to_json())
    t.do(HumanRuling("award_B", "Ref", "seen"))
    assert [kind for kind, _ in events(t, Undo("Ref"))] == ["undone"]
    assert (t.state.phase, t.state.duel.reason) == ("undecided", "cannot_tell")


def test_findings_are_those_the_house_asks_about_and_of_the_judged_zone_alone(table):
    t = table()
    t.stop("A")
    said = events(t, CameraVerdict("A", RIGHT, ("hand_at_stop", "it_was_late"), {"B": RIGHT}))
    assert said[0] == ("verdict_noted", noted("B", RIGHT, "match"))
    assert said[1] == ("verdict", noted("A", RIGHT, "mismatch", ["hand_at_stop"]))
    assert said[2] == decided(t, "B", "camera", "false_stop: hand_at_stop")


def test_a_verdict_after_the_award_is_noted(table):
    t = table()
    t.duel("A")
    assert events(t, CameraVerdict("A", WRONG)) == [("verdict_noted", noted("A", WRONG, "mismatch"))]
    assert t.state.award[0] == t.state.seats["A"]


@pytest.mark.parametrize("others", [{}, {"B": zone_verdict({"verdict": "perhaps"})}])
def test_what_is_no_verdict_is_refused(table, others):
    t = table()
    t.stop("A")
    zone, row = ("B", RIGHT) if others else ("A", zone_verdict({}))
    if others:
        refused(t, CameraVerdict("A", RIGHT, (), others), "mat B: a verdict is match, mismatch or undecided")
    else:
        refused(t, CameraVerdict(zone, row), "mat A: a verdict is match, mismatch or undecided")


def by_hand(t):
    """Both build a card that nobody has named."""
    t.do(DrawByHand(), Ready(), Go(100.0), PressStop("A", 110.0))
    return t


def test_without_a_named_card_the_callers_verdict_waits_and_a_bystanders_is_noted(table):
    t = by_hand(table())
    refused(t, CameraVerdict("A", RIGHT), "the card has not been named yet")
    refused(t, CameraVerdict("B", RIGHT, (), {"A": RIGHT}), "the card has not been named yet")
    assert [kind for kind, _ in events(t, CameraVerdict("B", WRONG))] == ["verdict_noted"]
    t = by_hand(table())
    t.do(NameCard("C03"))
    assert [kind for kind, _ in events(t, CameraVerdict("A", RIGHT))] == ["verdict", "duel_decided"]


def test_the_house_rules_ask_for_the_cards_own_facts(table):
    t = table(surplus_on_height="right")
    t.stop("A")
    surplus = zone_verdict({"verdict": "mismatch", "count": 5, "reasons": [{"code": "wrong_count"}]})
    assert events(t, CameraVerdict("A", surplus))[0] == ("verdict", noted("A", surplus, "match"))


# --- Both pressed -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "end"),
    [
        (RIGHT, WRONG, ("decided", "A", "dead_heat_right")),
        (WRONG, RIGHT, ("decided", "B", "dead_heat_right")),
        (RIGHT, RIGHT, ("void", None, "both_right")),
        (WRONG, WRONG, ("void", None, "both_wrong")),
    ],
)
def test_a_dead_heat_waits_for_both(table, first, second, end):
    t = tied(table())
    assert [kind for kind, _ in events(t, CameraVerdict("A", first))] == ["verdict"]
    last = events(t, CameraVerdict("B", second))[-1]
    phase, zone, reason = end
    assert last == (decided(t, zone, "camera", reason) if zone else ("duel_void", {"by": "camera", "reason": reason}))
    assert t.state.phase == phase


def test_in_a_dead_heat_a_human_says_which_zone_unless_one_is_open(table):
    t = tied(table())
    refused(t, HumanRuling("match", "Ref", "seen"), "both pressed: say whose build the ruling is on")
    refused(t, HumanRuling("match", "Ref", "seen", "C"), "nobody called Stop at mat C")
    t.do(CameraVerdict("B", WRONG), CameraVerdict("A", UNSURE))
    assert t.state.phase == "undecided"
    said = events(t, HumanRuling("match", "Ref", "seen"))  # only A is open
    assert said == [
        ("ruling", {"ruling": "match", "why": "seen", "zone": "A"}),
        decided(t, "A", "human", "dead_heat_right"),
    ]


def test_a_zone_that_is_undecided_is_open_beside_one_that_has_its_ruling(table):
    t = tied(table(camera_decides="proposes"))
    t.do(CameraVerdict("A", RIGHT), HumanRuling("mismatch", "Ref", "seen", "A"))
    t.do(CameraVerdict("B", UNSURE))
    assert events(t, HumanRuling("match", "Ref", "seen"))[0][1]["zone"] == "B"


def test_a_human_rules_once_more_on_the_only_caller_though_it_has_its_ruling(table):
    t = table()
    t.stop("A")
    t.do(BeginJudging())
    assert events(t, HumanRuling("match", "Ref", "seen"))[0][1]["zone"] == "A"


def test_a_human_may_name_the_zone_of_a_dead_heat(table):
    t = tied(table())
    assert events(t, HumanRuling("mismatch", "Ref", "seen", "B")) == [
        ("ruling", {"ruling": "mismatch", "why": "seen", "zone": "B"})
    ]
    assert events(t, HumanRuling("match", "Ref", "seen"))[1:] == [decided(t, "A", "human", "dead_heat_right")]


def test_a_human_rules_again_on_the_only_caller(table):
    t = table(camera_decides="proposes")
    t.duel("A")
    assert t.state.phase == "undecided"
    said = events(t, HumanRuling("mismatch", "Ref", "a gap"))
    assert said == [
        ("ruling", {"ruling": "mismatch", "why": "a gap", "zone": "A"}),
        decided(t, "B", "human", "false_stop"),
    ]


def test_both_right_may_be_left_to_a_human_who_is_then_asked_which(table):
    t = tied(table(both_right="human"))
    t.do(CameraVerdict("A", RIGHT))
    assert events(t, CameraVerdict("B", RIGHT))[1:] == [("duel_undecided", {"reason": "both_right"})]
    refused(t, HumanRuling("mismatch", "Ref", "x"), "both pressed: say whose build the ruling is on")
    said = events(t, HumanRuling("match", "Ref", "seen", "A"))  # still both right: open already, and said so once
    assert said == [("ruling", {"ruling": "match", "why": "seen", "zone": "A"})]


# --- A human's ruling on the whole duel --------------------------------------------------------------


@pytest.mark.parametrize(("ruling", "zone"), [("award_A", "A"), ("award_B", "B")])
def test_a_human_may_award_the_card(table, ruling, zone):
    t = table()
    t.stop("A")
    assert events(t, HumanRuling(ruling, "Ref", "I saw it")) == [
        ("ruling", {"ruling": ruling, "why": "I saw it", "zone": None}),
        decided(t, zone, "human", "I saw it"),
    ]
    assert t.state.duel.rulings == {}


def test_a_human_may_void_the_duel(table):
    t = table()
    t.stop("A")
    assert events(t, HumanRuling("void", "Ref", "a dog")) == [
        ("ruling", {"ruling": "void", "why": "a dog", "zone": None}),
        ("duel_void", {"by": "human", "reason": "a dog"}),
    ]


def test_no_other_ruling_is_known(table):
    message = "no ruling 'win': it is one of match, mismatch, void, award_A, award_B"
    t = table()
    t.stop("A")
    refused(t, HumanRuling("win", "Ref", "x"), message)
    t.do(CameraVerdict("A", RIGHT))
    refused(t, Overrule("win", "Ref", "x"), message)


def test_no_award_without_a_named_card(table):
    t = by_hand(table())
    refused(t, HumanRuling("award_A", "Ref", "x"), "the card has not been named yet, so its value is not known")


# --- Overruling -------------------------------------------------------------------------------------


def test_overruling_says_what_was_and_cites_it(table):
    t = table()
    t.duel("A")
    a, b, value = t.state.seats["A"], t.state.seats["B"], t.state.duel.value
    ended = t.state.duel.ended_seq
    assert events(t, Overrule("mismatch", "Ref", "photo")) == [
        (
            "duel_overruled",
            {
                "number": 1,
                "ruling": "mismatch",
                "award": b,
                "why": "photo",
                "value": value,
                "was": {"award": a, "by": "camera", "reason": "right"},
            },
        )
    ]
    assert t.log[-1].cites == ended and t.log[ended - 1].kind == "duel_decided"


def test_match_and_mismatch_speak_of_the_only_caller(table):
    for caller, ruling, zone in [("A", "match", "A"), ("B", "match", "B"), ("B", "mismatch", "A")]:
        t = table()
        t.duel(caller, WRONG.to_json())
        t.do(Overrule(ruling, "Ref", "photo"))
        assert t.state.award[0] == t.state.seats[zone]


def test_of_two_callers_the_award_is_said(table):
    t = tied(table())
    t.do(CameraVerdict("A", RIGHT), CameraVerdict("B", WRONG))
    message = "not exactly one player called Stop: rule award_A, award_B or void"
    refused(t, Overrule("match", "Ref", "x"), message)
    assert t.do(Overrule("award_B", "Ref", "x")).award[0] == t.state.seats["B"]
    assert t.do(Overrule("void", "Ref", "x")).award == (None, 0)


def test_the_latest_is_overruled_unless_a_number_is_given(table):
    t = table()
    t.duel("A")
    t.do(NextDuel())
    t.duel("A")
    assert events(t, Overrule("void", "Ref", "x"))[0][1]["number"] == 2
    assert events(t, Overrule("void", "Ref", "x", 1))[0][1]["number"] == 1
    refused(t, Overrule("void", "Ref", "x", 3), "no duel 3 has ended")


def test_what_counts_no_longer_or_was_played_again_is_not_overruled(table):
    t = table(players=3, leaver_points="annulled")
    t.duel("A")
    t.do(NextDuel())
    leaver = t.state.seats["A"]
    t.do(PlayerLeaves(leaver, "Ref", "ill"))
    refused(t, Overrule("void", "Ref", "x", 1), "duel 1 counts no longer: ill")
    t = table()
    t.stop("A")
    t.do(VoidDuel("Ref", "dropped"))
    assert t.do(Overrule("award_A", "Ref", "not at all")).award[0] == t.state.seats["A"]
    t = table()
    t.stop("A")
    t.do(VoidDuel("Ref", "dropped"), DrawCard())
    refused(t, Overrule("award_A", "Ref", "x", 1), "duel 1 was void and has been played again")


def test_a_duel_without_a_named_card_has_no_value_to_award(table):
    t = by_hand(table())
    t.do(VoidDuel("Ref", "x"))
    refused(t, Overrule("award_A", "Ref", "x"), "duel 1 had no named card, so it has no value to award")
    assert t.do(Overrule("void", "Ref", "x")).award == (None, 0)


def test_overruling_after_the_end_names_the_result_anew(table):
    t = table(players=2)
    t.play_on(lambda s: "Ann")
    assert [kind for kind, _ in events(t, Overrule("void", "Jury", "x", 1))] == ["duel_overruled", "match_finished"]
    t = table()
    t.duel("A")
    assert [kind for kind, _ in events(t, Overrule("void", "Jury", "x"))] == ["duel_overruled"]


# --- Review -----------------------------------------------------------------------------------------


def test_a_review_is_opened_and_closed_once(table):
    t = table()
    t.duel("A")
    with pytest.raises(IllegalCommand, match="no review"):
        t.do(CloseReview("Ref"))
    assert events(t, OpenReview("Ref", "protest")) == [("review_opened", {"why": "protest"})]
    with pytest.raises(IllegalCommand, match="review is open"):
        t.do(OpenReview("Ref", "again"))
    assert events(t, CloseReview("Ref")) == [("review_closed", {})]


# --- Fouls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("house", "asked", "sanction"),
    [
        ("human", None, None),
        ("warning", None, "warning"),
        ("duel", None, "duel"),
        ("human", "warning", "warning"),
        ("warning", "none", "none"),
        ("duel", "none", "none"),
        ("human", "duel", "duel"),
    ],
)
def test_a_foul_takes_the_sanction_asked_for_else_the_houses(table, house, asked, sanction):
    t = table(foul=house)
    t.build()
    player = t.state.seats["B"]
    said = events(t, Foul(player, "a hand", "Eva", asked))
    assert said[0] == ("foul", {"player": player, "text": "a hand", "sanction": sanction})
    award = [decided(t, "A", "foul", "foul: a hand")] if sanction == "duel" else []
    assert said[1:] == award


@pytest.mark.parametrize(("house", "sanction"), [("duel", "warning"), ("warning", "warning"), ("human", None)])
def test_before_the_go_the_houses_duel_is_a_warning(table, house, sanction):
    """The card is hidden: there is nothing yet that could go to the opponent."""
    t = table(foul=house)
    t.do(DrawCard())
    player = t.state.seats["B"]
    said = events(t, Foul(player, "a hand", "Eva"))
    assert said == [("foul", {"player": player, "text": "a hand", "sanction": sanction})]


def test_a_foul_of_nobody_here_is_refused(table):
    t = table()
    t.build()
    refused(t, Foul("Zoe", "x", "Eva"), "'Zoe' does not play in this match")


def test_a_foul_waits_for_its_ruling_and_takes_one(table):
    t = table()
    t.build()
    player = t.state.seats["A"]
    t.do(Foul(player, "a hand", "Eva"), Foul(player, "an elbow", "Eva"))
    refused(t, FoulRuling(2, "warning", "Ref"), "no open foul 2")
    refused(t, FoulRuling(-1, "warning", "Ref"), "no open foul -1")
    cited = t.state.fouls[1].seq
    said = events(t, FoulRuling(1, "warning", "Ref", "once"))
    assert said == [("foul_ruled", {"index": 1, "sanction": "warning", "why": "once"})]
    assert t.log[-1].cites == cited and t.log[cited - 1].data["text"] == "an elbow"
    refused(t, FoulRuling(1, "none", "Ref"), "no open foul 1")
    said = events(t, FoulRuling(0, "duel", "Ref"))
    assert said[1] == decided(t, "B", "foul", "foul: a hand")


SEEN = FoulProposal("shaken", "B", 2.5, 0.8, None, 4.0)


@pytest.mark.parametrize("house", ["human", "warning", "duel"])
def test_what_a_camera_proposes_waits_for_a_human_whatever_the_house_says(table, house):
    t = table(foul=house)
    t.build()
    player, said = t.state.seats["B"], foul_sentence("shaken", "B")
    kept = {"code": "seen_shaken", "text": str(said), "values": {"zone": "B"}}
    row = {"player": player, "text": str(said), "sanction": None, "seen": asdict(SEEN), "said": kept}
    assert events(t, Foul(player, said, "camera", seen=SEEN)) == [("foul", row)]


def test_what_a_box_says_of_a_foul_goes_with_the_award(table):
    t = table(foul="duel")
    t.build()
    player = t.state.seats["B"]
    said = sentence("false_start", name=player)
    kept = {"code": "false_start", "text": str(said), "values": {"name": player}}
    noted, award = events(t, Foul(player, said, "button box"))
    assert noted == ("foul", {"player": player, "text": str(said), "sanction": "duel", "said": kept})
    kind, data = decided(t, "A", "foul", f"foul: {said}")
    assert award == (kind, data | {"said": kept})


@pytest.mark.parametrize("ended", [False, True])
def test_a_foul_may_make_the_duel_void(table, ended):
    t = table()
    t.duel("A") if ended else t.build()
    t.do(Foul(t.state.seats["A"], "a hand", "Eva"))
    said = events(t, FoulRuling(0, "void", "Ref", "seen"))
    assert said == [
        ("foul_ruled", {"index": 0, "sanction": "void", "why": "seen"}),
        ("duel_void", {"by": "human", "reason": "foul", "why": "a hand"}),
    ]


def test_only_a_duel_in_play_or_decided_becomes_void_by_a_foul(table):
    t = table()
    t.build()
    t.do(Foul(t.state.seats["A"], "a hand", "Eva"), Foul(t.state.seats["B"], "a hand", "Eva"))
    t.do(FoulRuling(0, "void", "Ref"))
    refused(t, FoulRuling(1, "void", "Ref"), "no duel is in play that could be void (phase void)")
    t.do(DrawCard())
    refused(t, FoulRuling(1, "void", "Ref"), "that duel is over: overrule it instead")


def test_a_hidden_card_goes_to_nobody(table):
    t = table()
    t.do(DrawCard())
    refused(
        t, Foul(t.state.seats["A"], "a hand", "Eva", "duel"), "before the go the card is hidden: warn, or void the duel"
    )


def test_the_duel_goes_to_the_opponent_only_while_it_is_this_one(table):
    t = table()
    t.build()
    player = t.state.seats["B"]
    t.do(
        Foul(player, "a hand", "Eva"),
        PressStop("A", 110.0),
        CameraVerdict("A", RIGHT),
        NextDuel(),
        DrawCard(),
    )
    refused(t, FoulRuling(0, "duel", "Ref"), "that duel is over: overrule it instead")
    assert events(t, FoulRuling(0, "none", "Ref"))[0][1]["sanction"] == "none"


HAND, SHAKEN = (
    FoulProposal("neighbours_hand", "A", 2.5, 0.8, "B", 4.0),
    FoulProposal("shaken", "A", 2.5, 0.8, None, 4.0),
)
HELD = ("duel_undecided", {"reason": "open_finding"})


def accused(t, zone, verdict, seen=None):
    """What follows A's Stop and the camera's verdict, with a finding open against the player at that zone."""
    t.build()
    t.do(Foul(t.state.seats[zone], "seen", "camera", seen=seen), PressStop("A", 110.0))
    return events(t, CameraVerdict("A", verdict))


@pytest.mark.parametrize(
    ("zone", "verdict", "seen"),
    [
        ("B", WRONG, HAND),
        ("B", WRONG, None),
        ("A", RIGHT, None),
        ("A", WRONG, SHAKEN),
        ("A", RIGHT, SHAKEN),
    ],
    ids=["the neighbour's hand", "reported", "the caller", "nobody knows who shook it", "or whether it was the caller"],
)
def test_no_card_goes_to_whom_an_open_finding_of_this_duel_may_be_against(table, zone, verdict, seen):
    t = table()
    assert accused(t, zone, verdict, seen)[1:] == [HELD]
    assert t.state.award == (None, 0) and t.state.can(FoulRuling) and t.state.can(HumanRuling)
    assert t.replayed() == t.state


@pytest.mark.parametrize(("zone", "verdict", "winner"), [("B", RIGHT, "A"), ("A", WRONG, "B")])
def test_an_open_finding_against_the_loser_holds_nothing_up(table, zone, verdict, winner):
    t = table()
    assert accused(t, zone, verdict)[1][1]["award"] == t.state.seats[winner]


def test_an_open_finding_of_another_duel_holds_nothing_up(table):
    t = table()
    t.build()
    t.do(Foul(t.state.seats["A"], "a hand", "Eva"), VoidDuel("Ref", "a cable"))
    assert t.duel("A").award[0] == t.state.seats["A"]


@pytest.mark.parametrize("sanction", ["none", "warning"])
def test_once_the_finding_is_ruled_on_the_cameras_verdict_counts(table, sanction):
    t = table()
    accused(t, "B", WRONG, HAND)
    ruled = {"index": 0, "sanction": sanction, "why": "seen"}
    award = decided(t, "B", "camera", "false_stop")
    assert events(t, FoulRuling(0, sanction, "Ref", "seen")) == [("foul_ruled", ruled), award]
    assert t.do(Undo("Ref")).phase == "undecided" and t.state.fouls[0].open


@pytest.mark.parametrize(("sanction", "phase", "award"), [("duel", "decided", "A"), ("void", "void", None)])
def test_a_finding_that_is_ruled_a_foul_decides_the_duel(table, sanction, phase, award):
    t = table()
    accused(t, "B", WRONG, HAND)
    t.do(FoulRuling(0, sanction, "Ref"))
    assert (t.state.phase, t.state.award[0]) == (phase, award and t.state.seats[award])


def test_a_human_who_rules_on_the_duel_decides_it_with_the_finding_open(table):
    t = table()
    accused(t, "B", WRONG, HAND)
    assert t.do(HumanRuling("mismatch", "Ref", "seen")).award[0] == t.state.seats["B"]
    assert t.state.duel.decided_by == "human"


def test_while_another_finding_is_open_the_card_waits(table):
    t = table()
    t.build()
    t.do(Foul(t.state.seats["B"], "a hand", "Eva"))
    t.do(Foul(t.state.seats["B"], "an elbow", "Eva"), PressStop("A", 110.0), CameraVerdict("A", WRONG))
    assert t.do(FoulRuling(0, "none", "Ref")).phase == "undecided"
    assert t.do(FoulRuling(1, "none", "Ref")).award[0] == t.state.seats["B"]


@pytest.mark.parametrize(("zone", "award"), [("A", None), ("B", "A")])
def test_in_a_dead_heat_a_finding_against_who_was_right_holds_the_card_up(table, zone, award):
    t = table()
    t.build()
    t.do(Foul(t.state.seats[zone], "a hand", "Eva"))
    t.do(PressStop("A", 110.0), PressStop("B", 110.001), CameraVerdict("A", RIGHT), CameraVerdict("B", WRONG))
    assert t.state.award[0] == (award and t.state.seats[award])
    assert t.state.phase == ("decided" if award else "undecided")


def test_what_the_camera_cannot_tell_is_no_clearer_once_a_finding_is_ruled_on(table):
    t = table()
    accused(t, "B", UNSURE, HAND)
    assert t.do(FoulRuling(0, "none", "Ref")).phase == "undecided" and t.state.duel.reason == "cannot_tell"


def test_a_foul_may_take_an_award_back(table):
    t = table()
    t.duel("A")
    player = t.state.seats["A"]
    assert events(t, Foul(player, "a hand", "Eva", "duel"))[1:] == [decided(t, "B", "foul", "foul: a hand")]


def test_without_a_duel_in_play_no_card_goes_to_the_opponent(table):
    t = table()
    refused(
        t,
        Foul(t.state.seats["A"], "x", "Eva", "duel"),
        "no duel is in play that could go to the opponent (phase idle)",
    )


# --- Touched before the go --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("touched", "waived", "found", "findings"),
    [
        (("A",), False, (), ["false_start"]),
        (("A",), False, ("false_start",), ["false_start"]),
        (("A",), False, ("hand_at_stop",), ["hand_at_stop", "false_start"]),
        (("B",), False, (), []),
        (("A",), True, (), []),
        ((), False, (), []),
    ],
)
def test_what_was_touched_before_the_go_is_a_false_start_unless_it_was_waived(table, touched, waived, found, findings):
    t = table()
    t.do(DrawCard(), Ready())
    if waived:
        t.do(WaiveFields("Ref", "only a leaf"))
    t.do(Go(100.0, touched=touched), PressStop("A", 110.0))
    assert sorted(events(t, CameraVerdict("A", RIGHT, found))[0][1]["findings"]) == sorted(findings)
