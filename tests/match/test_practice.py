"""The law of practice (referee/match/practice.py), one sentence a test."""

from __future__ import annotations

import json

import pytest

from referee.errors import IllegalCommand
from referee.events import event_from_json
from referee.match.practice import (
    TABLE,
    BeginPractice,
    End,
    GiveUp,
    NextCard,
    Practice,
    PracticePress,
    Viewed,
    Watch,
    best_by_level,
    best_results,
    decide,
    evolve,
    fold,
)
from referee.match.verdict import zone_verdict

CARDS = (("L01", 1), ("H05", 3))
MATCH, UNTOLD = (zone_verdict({"verdict": ruling, "reasons": []}) for ruling in ("match", "undecided"))
WRONG = zone_verdict({"verdict": "mismatch", "reasons": [{"code": "missing_piece", "text": "1 blue cube missing"}]})


class Run:
    """A practice and every event of it."""

    def __init__(self, **players):
        self.now, self.events = Practice(), []
        self.do(BeginPractice("p1", players or {"A": "Ann"}, CARDS, None, "starter"))

    def do(self, *commands):
        for command in commands:
            made = decide(self.now, command, "2026-01-01T00:00:00+00:00")
            for event in made:
                self.now = evolve(self.now, event)
            self.events += made
        return self

    def gone(self, at_s=10.0):
        """The go was at that time."""
        return self.do(Watch(at_s - 3.0, 1.0), Watch(at_s, 4.0))

    @property
    def kinds(self):
        return [e.kind for e in self.events]


def test_the_go_comes_by_itself_once_the_field_is_empty():
    run = Run().do(Watch(1.0, None), Watch(2.0, 0.5))
    assert run.now.phase == "waiting"
    run.do(Watch(3.0, 1.0))
    assert (run.now.phase, run.now.go_at_s) == ("counting", 6.0)
    run.do(Watch(5.9, 3.9))
    assert run.now.phase == "counting"
    run.do(Watch(6.1, 4.0))
    assert (run.now.phase, run.now.go_at_s) == ("building", 6.1)


def test_a_hand_before_the_go_breaks_the_countdown_off():
    run = Run().do(Watch(3.0, 1.0), Watch(5.0, None))
    assert (run.now.phase, run.now.go_at_s) == ("waiting", None)
    run.do(Watch(6.5, 0.9))
    assert run.now.phase == "waiting"


def test_two_settled_views_that_agree_finish_a_build_at_its_last_motion():
    run = Run().gone().do(Viewed("A", 17.25, MATCH, 17.7))
    assert run.now.phase == "building"
    run.do(Viewed("A", 17.251, MATCH, 18.0))
    result = run.now.last["A"]
    assert (run.now.phase, result.ruling, result.seconds, result.by) == ("shown", "match", 7.251, "camera")


def test_two_views_with_a_motion_between_them_do_not_agree():
    run = Run().gone().do(Viewed("A", 17.2, MATCH, 17.7), Viewed("A", 18.0, MATCH, 18.5))
    assert run.now.phase == "building"
    run.do(Viewed("A", 18.0, UNTOLD, 18.9), Viewed("A", 18.0, MATCH, 19.2))
    assert run.now.phase == "building", "the view between them cannot tell"
    assert run.do(Viewed("A", 18.0, MATCH, 19.5)).now.last["A"].seconds == 8.0


@pytest.mark.parametrize("row", [WRONG, UNTOLD], ids=["wrong", "untold"])
def test_what_does_not_match_or_cannot_be_told_ends_nothing_and_is_looked_at_three_times(row):
    run = Run().gone()
    for n in range(3):
        assert run.now.wants_view("A", 12.0), n
        run.do(Viewed("A", 12.0, row, 12.5 + n))
    assert run.now.phase == "building" and not run.now.wants_view("A", 12.0)
    assert run.now.wants_view("A", 13.0), "it has moved"


def test_one_poor_picture_does_not_leave_a_finished_build_unseen():
    run = Run().gone().do(Viewed("A", 12.0, MATCH, 12.5), Viewed("A", 12.0, WRONG, 13.0))
    assert run.now.phase == "building" and run.now.wants_view("A", 12.0)
    run.do(Viewed("A", 12.0, MATCH, 13.5), Viewed("A", 12.0, MATCH, 14.0))
    assert run.now.last["A"].seconds == 2.0


def test_a_field_that_has_not_moved_since_the_go_is_not_looked_at():
    assert not Run().gone().now.wants_view("A", 9.9)


def test_a_press_is_the_time_by_box_and_the_view_after_it_rules():
    run = Run().gone().do(PracticePress("A", 15.5))
    assert run.now.phase == "building"
    run.do(Viewed("A", 15.2, MATCH, 16.0), Viewed("A", 15.2, MATCH, 16.3))
    assert (run.now.last["A"].seconds, run.now.last["A"].by) == (5.5, "box")
    wrong = Run().gone().do(PracticePress("A", 15.5), Viewed("A", 15.2, WRONG, 16.0)).now.last["A"]
    assert (wrong.ruling, wrong.seconds, wrong.by) == ("mismatch", None, "") and wrong.reasons == (WRONG.reasons)


def test_who_builds_on_after_the_press_has_no_time():
    run = Run().gone().do(PracticePress("A", 15.5), Viewed("A", 17.0, MATCH, 17.5), Viewed("A", 17.0, MATCH, 17.8))
    result = run.now.last["A"]
    assert (result.ruling, result.seconds, result.reasons[0].code) == ("undecided", None, "practice_touched")


def test_a_press_before_the_go_or_a_second_one_changes_nothing():
    run = Run().gone().do(PracticePress("A", 9.0))
    assert "pressed" not in run.kinds
    run.do(PracticePress("A", 15.0), PracticePress("A", 16.0))
    assert run.now.fields["A"].press_s == 15.0


def test_giving_up_tells_the_fault_and_giving_up_again_ends_it_unseen():
    run = Run().gone().do(Viewed("A", 12.0, WRONG, 12.5), GiveUp("A", 14.0))
    assert run.now.phase == "building" and run.now.wants_view("A", 12.0)
    run.do(Viewed("A", 12.0, WRONG, 14.5))
    assert run.now.last["A"].reasons[0].code == "missing_piece"
    unseen = Run().gone().do(GiveUp("A", 14.0), GiveUp("A", 15.0)).now
    assert (unseen.phase, unseen.last["A"].ruling, unseen.last["A"].reasons[0].code) == (
        "shown",
        "undecided",
        "practice_unseen",
    )


def test_who_gives_up_an_empty_field_is_told_so():
    run = Run().gone().do(GiveUp("A", 14.0))
    assert run.now.wants_view("A", 9.0)


def test_each_of_two_ends_alone_and_the_card_is_over_with_the_second():
    run = Run(A="Ann", B="Ben").gone()
    run.do(Viewed("B", 14.0, MATCH, 14.5), Viewed("B", 14.0, MATCH, 14.8))
    assert run.now.phase == "building" and run.now.open == ("A",)
    assert not run.now.wants_view("B", 16.0)
    run.do(Viewed("A", 16.0, MATCH, 16.5), Viewed("A", 16.0, MATCH, 16.8))
    assert run.now.phase == "shown" and {z: r.seconds for z, r in run.now.last.items()} == {"A": 6.0, "B": 4.0}


def test_the_next_card_comes_once_the_result_was_seen_and_the_field_is_empty():
    run = Run().gone().do(Viewed("A", 14.0, MATCH, 14.5), Viewed("A", 14.0, MATCH, 14.8))
    run.do(Watch(16.0, 1.0))
    assert run.now.phase == "shown", "too soon"
    run.do(Watch(30.0, None))
    assert run.now.phase == "shown", "pieces lie there"
    run.do(Watch(32.0, 1.0))
    assert (run.now.phase, run.now.card, run.now.last) == ("waiting", ("H05", 3), {})
    assert run.do(NextCard()).now.card == ("L01", 1), "then from the beginning again"


def test_bests_are_by_player_card_and_how_it_was_timed():
    run = Run()
    for seconds, press in ((7.0, False), (6.0, False), (8.0, False), (6.5, True)):
        go = 100.0
        run.gone(go)
        if press:
            run.do(PracticePress("A", go + seconds))
        view = Viewed("A", go + seconds, MATCH, go + seconds + 0.5)
        run.do(view, view, NextCard(), NextCard())
    best = {key: row.seconds for key, row in best_results(run.now.results).items()}
    assert best == {("Ann", "L01", "camera"): 6.0, ("Ann", "L01", "box"): 6.5}
    assert {key: r.seconds for key, r in best_by_level(run.now.results).items()} == {
        ("Ann", 1, "camera"): 6.0,
        ("Ann", 1, "box"): 6.5,
    }


def test_what_is_on_record_gives_the_same_practice_again():
    run = Run(A="Ann", B="Ben").gone().do(Viewed("A", 14.0, WRONG, 14.4), PracticePress("A", 15.0), GiveUp("B", 16.0))
    kept = [event_from_json(json.loads(json.dumps(e.to_json()))) for e in run.events]
    assert fold(kept) == run.now


def test_what_cannot_be_is_refused_and_changes_nothing():
    run = Run()
    for command in (BeginPractice("p2", {"A": "Ann"}, CARDS), PracticePress("A", 1.0), GiveUp("B", 1.0)):
        with pytest.raises(IllegalCommand):
            decide(run.now, command)
    for begin in (
        BeginPractice("p", {}, CARDS),
        BeginPractice("p", {"A": "Ann", "B": "ann"}, CARDS),
        BeginPractice("p", {"A": " "}, CARDS),
    ):
        with pytest.raises(IllegalCommand, match="one or two"):
            decide(Practice(), begin)
    with pytest.raises(IllegalCommand, match="no card"):
        decide(Practice(), BeginPractice("p", {"A": "Ann"}, ()))
    with pytest.raises(IllegalCommand, match="nobody is practising"):
        decide(run.do(End()).now, Watch(1.0))
    for kind, (froms, to) in TABLE.items():
        assert set(froms) <= {"new", "waiting", "counting", "building", "shown"}, (kind, to)
