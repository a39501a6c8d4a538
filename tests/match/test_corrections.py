"""Corrections: every one is a new event with who and why, and nothing recorded goes away."""

from __future__ import annotations

import pytest

from referee.errors import IllegalCommand
from referee.events import event_from_json
from referee.journal.camera_record import camera_record
from referee.journal.journal import Journal
from referee.match.card_facts import CardFacts
from referee.match.commands import (
    CameraVerdict,
    CloseReview,
    CreateMatch,
    DrawCard,
    Foul,
    FoulRuling,
    Go,
    HumanRuling,
    NextDuel,
    OpenReview,
    Overrule,
    PlayerJoins,
    PlayerLate,
    PlayerLeaves,
    PressStop,
    Ready,
    RenamePlayer,
    ReplayRound,
    Undo,
    VoidDuel,
)
from referee.match.state import public_match
from referee.match.verdict import zone_verdict

# --- Overrule and review ----------------------------------------------------------------------------


def test_an_overruling_keeps_the_cameras_verdict_beside_it(table):
    t = table()
    t.duel("A")
    a, b = t.state.seats["A"], t.state.seats["B"]
    t.do(Overrule("mismatch", "Ref", "the bridge was not touching"))
    duel = t.state.duel
    assert (duel.award, duel.decided_by, duel.verdicts["A"].ruling) == (b, "human", "match")
    assert (duel.human[-1]["who"], duel.human[-1]["why"]) == ("Ref", "the bridge was not touching")
    assert t.log[-1].data["was"] == {"award": a, "by": "camera", "reason": "right"}
    assert t.log[t.log[-1].cites - 1].kind == "duel_decided"


@pytest.mark.parametrize(
    "ruling, phase, winner",
    [
        ("match", "decided", "A"),
        ("mismatch", "decided", "B"),
        ("void", "void", None),
        ("award_A", "decided", "A"),
        ("award_B", "decided", "B"),
    ],
)
def test_every_ruling_of_a_human(table, ruling, phase, winner):
    t = table()
    t.duel("A")
    t.do(Overrule(ruling, "Ref", "seen"))
    assert (t.state.phase, t.state.award[0]) == (phase, t.state.seats[winner] if winner else None)


def test_a_duel_long_past_is_overruled_by_number(table):
    t = table()
    first = t.win("Ann").history[0]
    t.win("Ann")
    t.do(Overrule("award_" + ("B" if first.seats["A"] == "Ann" else "A"), "Ref", "photo", number=1))
    assert t.state.history[0].award == "Dia"
    assert t.state.scores["Dia"] == first.value
    assert t.state.phase == "idle"


def test_overruling_after_the_end_names_another_winner(table):
    t = table(players=2)
    state = t.play_on(lambda s: "Ann" if s.duel_index else "Ben")
    assert state.winner == "Ann"
    for duel in state.history:
        zone = duel.zone_of("Ben")
        t.do(Overrule(f"award_{zone}", "Jury", "the tongs were held wrongly", number=duel.number))
    assert t.state.winner == "Ben"
    assert t.state.finished["deciding_duel"] == 1


def test_overruling_after_the_end_may_need_an_extra_duel(table):
    level = {f"C{i}": CardFacts("height", 1, 3) for i in range(20)}
    t = table(players=2, cards=level)
    for winner in ["Ann"] * 4 + ["Ben"] * 2:
        t.win(winner)
    assert t.state.winner == "Ann"
    t.do(Overrule(f"award_{t.state.history[0].zone_of('Ben')}", "Jury", "photo", number=1))
    assert (t.state.phase, t.state.round.kind, t.state.finished) == ("idle", "extra", None)
    assert t.win("Ben").winner == "Ben"


@pytest.mark.parametrize("number, message", [(9, "no duel 9"), (1, "played again")])
def test_what_cannot_be_overruled(table, number, message):
    t = table()
    t.duel("A", findings=("bumped",))
    t.duel("A")
    with pytest.raises(IllegalCommand, match=message):
        t.do(Overrule("match", "Ref", "why not", number=number))


def test_the_public_score_is_frozen_under_review_and_says_so(table):
    t = table()
    t.duel("A")
    t.do(NextDuel())
    before = t.duel("B").scores
    t.do(OpenReview("Ref", "players protest"))
    assert (t.state.under_review, t.state.public_scores) == (True, before)
    t.do(NextDuel())
    t.win("Ann")
    assert t.state.public_scores == before != t.state.scores
    assert public_match(t.state.to_json())["scores"] == before
    t.do(CloseReview("Ref"))
    assert t.state.public_scores == t.state.scores


def test_an_overruling_closes_the_review(table):
    t = table()
    t.duel("A")
    t.do(OpenReview("Ref", "protest"), Overrule("mismatch", "Ref", "photo"))
    assert not t.state.under_review


# --- Undo -------------------------------------------------------------------------------------------


def test_undo_takes_the_last_command_back_and_keeps_the_record(table):
    t = table()
    t.build()
    before, length = t.state, len(t.log)
    t.do(PressStop("A", 105.0), Undo("Ref"))
    assert (t.state.phase, t.state.duel.presses) == (before.phase, before.duel.presses)
    assert len(t.log) == length + 2
    assert t.log[-1].cites == length + 1


def test_undo_takes_a_whole_command_back_the_verdict_with_the_award(table):
    t = table()
    t.duel("A")
    t.do(Undo("Ref"))
    assert (t.state.phase, t.state.award) == ("undecided", (None, 0))


def test_a_camera_verdict_taken_back_is_left_to_a_human_and_stays_to_be_read(table, verdicts):
    """The camera would judge the same build the same again."""
    t = table()
    t.duel("A")
    t.do(Undo("Ref"))
    assert (t.state.phase, t.state.duel.reason, t.state.duel.rulings) == ("undecided", "taken_back", {"A": "undecided"})
    assert t.state.verdicts["A"].ruling == "match"
    t.do(HumanRuling("mismatch", "Ref", "the bridge lies beside it"))
    assert (t.state.phase, t.state.duel.award) == ("decided", t.state.seats["B"])


def test_a_second_undo_goes_back_to_before_the_verdict(table):
    t = table()
    t.duel("A")
    t.do(Undo("Ref"), Undo("Ref"))
    assert (t.state.phase, t.state.duel.callers) == ("stopped", ("A",))


def test_a_state_says_what_an_undo_takes_back(table, verdicts):
    t = table()
    assert t.state.to_json()["undo"] == ""
    t.do(DrawCard())
    assert t.state.to_json()["undo"] == "card_drawn"
    t.do(Ready(), Go(100.0), PressStop("A", 110.0), CameraVerdict("A", zone_verdict(verdicts[0])))
    assert t.state.to_json()["undo"] == "verdict"


def test_undo_goes_back_as_far_as_the_beginning_and_no_further(table):
    t = table()
    t.win("Ann")
    for _ in range(7):
        t.do(Undo("Ref"))
    assert (t.state.phase, t.state.history) == ("idle", ())
    with pytest.raises(IllegalCommand, match="nothing to undo"):
        t.do(Undo("Ref"))


def test_undo_passes_over_evidence(table, verdicts):
    """A late press or a verdict on the other zone is no command of the referee's."""
    t = table()
    t.duel("A")
    t.do(CameraVerdict("B", zone_verdict(verdicts[1])), Undo("Ref"))
    assert (t.state.phase, t.state.duel.award) == ("undecided", None)


def test_a_card_that_was_seen_is_not_drawn_again_after_an_undo(table):
    t = table()
    seen = t.build().card_id
    for _ in range(3):
        t.do(Undo("Ref"))
    assert t.state.phase == "idle"
    t.do(DrawCard())
    assert t.state.card_id != seen


def test_an_unseen_card_is(table):
    t = table()
    unseen = t.do(DrawCard(), Ready()).card_id
    t.do(Undo("Ref"), Undo("Ref"), DrawCard())
    assert t.state.card_id == unseen


# --- People come and go -----------------------------------------------------------------------------


def test_who_leaves_keeps_points_and_plays_no_more(table):
    t = table()
    t.win("Dia")
    t.build()
    t.do(PlayerLeaves("Dia", "Ref", "the last bus"))
    assert t.state.history[-1].phase == "void"
    assert t.state.scores["Dia"] > 0
    state = t.play_on(lambda s: min(s.seats.values()))
    assert not any("Dia" in d.seats.values() for d in state.history[2:])
    assert state.standings[-1] == type(state.standings[-1])("Dia", state.scores["Dia"], 1, None)
    assert state.winner == "Ann"


def test_a_leavers_duels_may_count_for_nobody(table):
    t = table(leaver_points="annulled")
    t.win("Ann")
    t.do(PlayerLeaves("Dia", "Ref", "the last bus"))
    assert t.state.scores == dict.fromkeys(t.state.players, 0)
    assert t.state.history[0].award == "Ann"
    assert t.state.history[0].annulled == "the last bus"


def test_the_last_one_there_wins(table):
    t = table(players=2)
    t.do(PlayerLeaves("Ann", "Ref", "ill"))
    assert (t.state.phase, t.state.winner) == ("finished", "Ben")


def test_who_waits_can_leave_while_others_build(table):
    t = table()
    t.build()
    t.do(PlayerLeaves("Cem", "Ref", "ill"))
    assert t.state.phase == "building"
    assert [sorted(r.players) for r in t.state.rounds] == [["Ann", "Dia"], ["Ann", "Ben"], ["Ben", "Dia"]]


def test_who_joins_late_meets_everyone_once(table):
    t = table(players=3)
    t.build()
    t.do(PlayerJoins("Zoe", "Ref"))
    assert t.state.phase == "building"
    late = [r for r in t.state.rounds if r.kind == "late"]
    assert len(late) == 3
    assert {next(iter(set(r.players) - {"Zoe"})) for r in late} == {"Ann", "Ben", "Cem"}
    assert t.state.scores["Zoe"] == 0


def test_who_is_late_plays_later(table):
    t = table()
    t.do(PlayerLate("Dia", "Ref"))
    assert ["Dia" in r.players for r in t.state.rounds] == [False] * 3 + [True] * 3
    assert dict(t.state.seats) == {"A": t.state.rounds[0].a, "B": t.state.rounds[0].b}
    with pytest.raises(IllegalCommand, match="no round"):
        t.do(PlayerLate("Dia", "Ref"))


def test_a_name_entered_wrongly_is_mended_everywhere(table):
    t = table()
    t.win("Ann")
    t.do(DrawCard())
    before = t.state
    t.do(RenamePlayer("Ann", " Anna ", "Ref"))
    assert t.state.players == ("Anna", "Ben", "Cem", "Dia")
    assert t.state.scores == {"Anna": before.scores["Ann"], "Ben": 0, "Cem": 0, "Dia": 0}
    assert "Ann" not in {p for r in t.state.rounds for p in r.players}
    assert t.state.history[0].award == "Anna" and "Anna" in t.state.seats.values()
    assert t.replayed() == t.state
    t.do(Undo("Ref"))
    assert t.state.players == before.players


def test_the_winner_of_a_finished_match_is_renamed_too(table):
    t = table(players=2)
    t.do(PlayerLeaves("Ann", "Ref", "ill"), RenamePlayer("Ben", "Benno", "Ref"))
    assert (t.state.winner, [row.player for row in t.state.standings]) == ("Benno", ["Benno", "Ann"])


@pytest.mark.parametrize("name", ["ben", "BEN ", "\uff22en"])
def test_names_that_differ_in_capitals_alone_are_the_same(table, name):
    with pytest.raises(IllegalCommand, match="different names"):
        table(players=("Ann", "Ben", name))
    t = table()
    with pytest.raises(IllegalCommand, match="already"):
        t.do(PlayerJoins(name, "Ref"))
    with pytest.raises(IllegalCommand, match="already"):
        t.do(RenamePlayer("Ann", name, "Ref"))


def test_a_players_own_name_may_change_its_capitals(table):
    t = table(players=("ann", "Ben"))
    t.do(RenamePlayer("ann", "Ann", "Ref"))
    assert t.state.players == ("Ann", "Ben")


# --- Rounds again -----------------------------------------------------------------------------------


def test_a_round_is_played_again(table):
    t = table()
    for _ in range(3):
        t.win("Ann")
    t.do(ReplayRound(0, "Ref", "the mats were swapped"))
    assert t.state.scores["Ann"] == 0
    assert set(t.state.seats.values()) == {"Ann", "Dia"}
    assert t.state.round.kind == "replay"
    for _ in range(3):
        t.win("Dia")
    assert t.state.scores["Ann"] == 0 < t.state.scores["Dia"]
    assert set(t.state.seats.values()) == {"Ben", "Cem"}


def test_an_older_round_waits_until_the_present_one_is_over(table):
    t = table()
    for _ in range(4):
        t.win(t.state.seats["A"])
    t.do(ReplayRound(0, "Ref", "photo"))
    assert set(t.state.seats.values()) == {"Ben", "Cem"}
    t.win("Ben")
    t.win("Ben")
    assert (set(t.state.seats.values()), t.state.round.kind) == ({"Ann", "Dia"}, "replay")


def test_the_present_round_starts_over(table):
    t = table()
    t.win("Ann")
    t.do(ReplayRound(0, "Ref", "wrong deck"))
    assert (t.state.duel_index, t.state.round.kind, t.state.scores["Ann"]) == (0, "replay", 0)


# --- Refusals ---------------------------------------------------------------------------------------


REFUSED = [
    (["idle"], Ready(), "phase idle"),
    (["idle"], NextDuel(), "phase idle"),
    (["idle"], CreateMatch(("Ann", "Ben")), "phase idle"),
    (["idle"], DrawCard("nope"), "no card 'nope'"),
    (["idle"], Overrule("match", "Ref", "why"), "no duel has ended"),
    (["idle"], Foul("Zoe", "x", "Ref"), "'Zoe' does not play"),
    (["idle"], FoulRuling(0, "warning", "Ref"), "no open foul"),
    (["idle"], PlayerJoins("Ann", "Ref"), "already"),
    (["idle"], PlayerLeaves("Zoe", "Ref", "x"), "does not play"),
    (["idle"], ReplayRound(0, "Ref", "x"), "not been played"),
    (["idle"], ReplayRound(99, "Ref", "x"), "not been played"),
    (["idle"], CloseReview("Ref"), "no review"),
    (["idle"], Undo("Ref"), "nothing to undo"),
    (["idle"], Undo(""), "needs who"),
    (["build"], PressStop("C", 110.0), "no zone 'C'"),
    (["build"], Foul("Ben", "x", "Ref", "duel"), "Ben does not play in this duel"),
    (["build"], Go(1.0), "phase building"),
    (["stop"], CameraVerdict("A", zone_verdict({"verdict": "maybe"})), "a verdict is"),
    (["stop"], HumanRuling("perhaps", "Ref", "x"), "no ruling"),
    (["stop"], HumanRuling("match", "", "x"), "needs who"),
    (["stop"], HumanRuling("match", "Ref", "x", zone="B"), "nobody called Stop"),
    (["stop"], VoidDuel("Ref", ""), "needs why"),
]


@pytest.mark.parametrize("way, command, message", REFUSED, ids=[f"{c}"[:60] for _, c, _ in REFUSED])
def test_an_illegal_command_says_why_and_changes_nothing(table, way, command, message):
    t = table()
    for step in way:
        {"idle": lambda: None, "build": t.build, "stop": t.stop}[step]()
    before, length = t.state, len(t.log)
    with pytest.raises(IllegalCommand, match=message):
        t.do(command)
    assert (t.state, len(t.log)) == (before, length)


@pytest.mark.parametrize(
    "create, message",
    [
        (CreateMatch(("Ann",)), "2 to 12"),
        (CreateMatch(("Ann", "Ann")), "different names"),
        (CreateMatch(("Ann", " ")), "blank"),
        (CreateMatch(("Ann", "Ben"), mode="wild"), "no mode"),
        (CreateMatch(("Ann", "Ben")), "the deck has none"),
    ],
)
def test_a_match_that_cannot_be(table, create, message):
    with pytest.raises(IllegalCommand, match=message):
        table(create=False).do(create)


# --- What the record tells of the camera -------------------------------------------------------------


def test_the_record_tells_how_many_of_the_cameras_rulings_people_turned_round(table, tmp_path):
    t = table()
    t.duel("A")
    t.do(Overrule("mismatch", "Eva", "the roof is turned"), NextDuel())  # turned round
    t.duel("B", {"verdict": "mismatch"})
    t.do(Overrule("award_A", "Eva", "seen by all"), NextDuel())  # as the camera said
    t.duel("A")
    t.do(Overrule("void", "Eva", "the table was bumped"))  # says nothing of the build
    t.duel("A", {"verdict": "undecided"})
    t.do(HumanRuling("match", "Eva", "seen"), NextDuel())  # the camera ruled nothing
    t.duel("B")
    t.do(Undo("Eva"), HumanRuling("mismatch", "Eva", "one is missing"))  # taken back, and turned round
    journal = Journal(tmp_path / "journal.db")
    journal.append("m1", t.log)
    journal.append("T", [event_from_json({**t.log[0].to_json(), "kind": "tournament_begun"})])
    assert camera_record(journal).values == {"n": 4, "m": 2}
    assert camera_record(journal, "2027").values == {"n": 0, "m": 0}
    journal.close()
