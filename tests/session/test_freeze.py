"""Nothing after the Stop: what a player did after the press, staged before the real eyes, and what must come of it."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from staged import (
    DARK,
    DECK,
    FPS,
    LOST,
    PRESS_S,
    Stage,
    StagedSession,
    at_once,
    between,
    by_a_third_person,
    changes,
    every_nth,
    finishing_late,
    gripped,
    hand_in_the_way,
    knocked_over,
    mat_pulled,
    play,
    played,
    rig,
    untouched,
)

from referee.devices.ports import Frame
from referee.match.commands import PressStop
from referee.match.stop_views import SETTLED_S
from referee.session.live_judging import LiveJudging

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stage():
    return Stage(rig(3, "across"), DECK.card("L09"), "A")


@pytest.fixture(scope="module")
def mirrored():
    return Stage(rig(3, "across"), DECK.card("L09"), "B")


@pytest.mark.parametrize("late_s", [0.15, 0.3, 0.45])
def test_a_build_finished_after_the_press_is_a_false_stop(stage, late_s):
    state = play(stage, finishing_late(stage, late_s))
    assert state.award == ("Ben", 1) and state.duel.reason == "false_stop: touched_after_stop"
    assert state.verdicts["A"].reasons[0].code == "missing_piece"


def test_the_card_never_goes_to_whose_hand_knocked_the_build_over(mirrored):
    state = play(mirrored, knocked_over(mirrored, 0.3))
    assert state.phase == "undecided" and state.duel.findings["B"] == ("bumped",)
    said = state.verdicts["B"]
    assert (said.leaning, said.reasons[0].values) == ("void", {"player": "Ann"})


@pytest.mark.parametrize("front", [False, True], ids=["from behind", "from in front"])
def test_a_neighbour_whose_sleeve_is_lost_before_a_shirt_of_its_colour_gets_no_card(front):
    caller = Stage(rig(6, "across"), DECK.card("L48"), "B")
    assert play(caller, knocked_over(caller, 0.15, front=front)).phase == "undecided"


def test_who_knocks_over_the_own_build_has_touched_it(stage):
    state = play(stage, knocked_over(stage, 0.3, own=True))
    assert state.award == ("Ben", 1) and state.duel.findings["A"] == ("touched_after_stop",)


def test_a_clean_stop_is_judged_as_ever(stage):
    assert play(stage, untouched(stage, stage.full)).award == ("Ann", 1)
    wrong = play(stage, untouched(stage, stage.full_without_last()))
    assert wrong.award == ("Ben", 1) and wrong.duel.reason == "false_stop" and not wrong.duel.findings["A"]


def test_a_build_is_judged_while_its_view_settles(stage, monkeypatch):
    """By the first calm frames after the press, once."""
    judged = Counter()
    judge = stage.rig.observer.judge

    def counted(*given, **named):
        judged["times"] += 1
        return judge(*given, **named)

    monkeypatch.setattr(stage.rig.observer, "judge", counted)
    state, last_s = played(stage, untouched(stage, stage.full))
    assert state.award == ("Ann", 1) and judged["times"] == 1
    assert last_s < PRESS_S + SETTLED_S


def test_a_stage_of_the_build_that_is_not_read_at_the_press_is_read_before_the_view_is_calm(stage):
    asked = []

    def begin(call):
        asked.append(call.func.__name__)
        return at_once(call)

    grows = changes(stage.world(stage.full_without_last()), stage.world(stage.full), PRESS_S - 1.0)
    assert play(stage, grows, begin=begin).award == ("Ann", 1)
    assert asked == ["read_earlier", "judge_by_cameras"]


def test_what_happens_while_a_settled_view_is_judged_decides_nothing(stage):
    """It takes 1.2 s, and looking goes on; the build falls by itself meanwhile."""
    falls = changes(stage.world(stage.full), stage.world(stage.fallen), PRESS_S + 0.9)

    def begin(call):
        return known_after(call, round(1.2 * FPS))

    assert play(stage, falls, begin=begin).award == ("Ann", 1)
    assert play(stage, changes(falls(0), falls(9), PRESS_S + 0.3), begin=begin).award == ("Ben", 1), "before it settled"


def test_a_view_that_was_settled_before_the_camera_was_gone_is_judged(stage):
    session = StagedSession(stage.rig, stage.card.id)
    eyes = LiveJudging(session, lambda call: known_after(call, 8))
    picture = stage.rig.picture(stage.world(stage.full), 0)
    for number in range(1, 90):
        if session.state.phase == "building" and number / FPS > PRESS_S:
            session.command(PressStop("A", PRESS_S))
        if session.state.phase == "judging":
            eyes._stop.look_away(session.state)
        elif not session.state.duel.ended:
            eyes._see(Frame(picture, number, number / FPS))
    assert session.state.award == ("Ann", 1)


def known_after(call, looks):
    """What another thread is asked, known after so many looks."""
    answer, asked = at_once(call), count()
    answer.done = lambda: next(asked) >= looks
    return answer


@pytest.mark.parametrize("hides", [False, True], ids=["beside", "before it"])
@pytest.mark.parametrize("then", ["finishes", "knocks"])
def test_a_caller_whose_own_hand_stays_in_the_field_and_acts_after_the_press_has_touched_it(stage, hides, then):
    state = play(stage, hand_in_the_way(stage, 0.6 if then == "finishes" else 0.3, hides, then))
    assert state.award == ("Ben", 1) and state.duel.findings["A"] == ("hand_at_stop", "touched_after_stop")


@pytest.mark.parametrize("hides", [False, True], ids=["beside", "before it"])
def test_a_hand_that_rests_in_the_field_at_the_press_is_a_wrong_stop(stage, hides):
    state = play(stage, hand_in_the_way(stage, 0.3, hides, "leaves"))
    assert state.award == ("Ben", 1) and state.duel.reason == "false_stop: hand_at_stop"


@pytest.fixture(params=[(3, "across", "L09", "A"), (4, "beside", "L20", "B"), (5, "facing", "L09", "A")], ids=str)
def any_stage(request):
    seed, seating, card, caller = request.param
    return Stage(rig(seed, seating), DECK.card(card), caller)


def left_open(stage, state, *why):
    """Nobody has the card, and the verdict says why."""
    said = state.verdicts[stage.caller]
    assert (state.phase, state.award[0], tuple(r.code for r in said.reasons)) == ("undecided", None, why)
    return state.duel.findings[stage.caller]


@pytest.mark.parametrize("release_s", [0.05, 0.3])
def test_a_piece_that_is_still_gripped_at_the_press_is_a_wrong_stop(any_stage, release_s):
    state = play(any_stage, gripped(any_stage, release_s))
    assert state.award[0] not in (None, state.seats[any_stage.caller])
    assert state.duel.reason == "false_stop: hand_at_stop"


@pytest.mark.parametrize("knocked", [False, True], ids=["finished", "knocked over"])
@pytest.mark.parametrize(("from_s", "to_s"), [(-0.5, 3.0), (0.05, 2.0)])
def test_what_happens_while_no_picture_comes_is_left_to_a_human(any_stage, knocked, from_s, to_s):
    full = any_stage.world(any_stage.full)
    part, fallen = any_stage.world(any_stage.full_without_last()), any_stage.world(any_stage.fallen)
    happens = changes(full, fallen, PRESS_S + 1) if knocked else changes(part, full, PRESS_S + 1)
    happens = between(happens, LOST, PRESS_S + from_s, PRESS_S + to_s)
    assert left_open(any_stage, play(any_stage, happens, 12.0), "press_unseen") == ()


def test_what_is_done_before_a_camera_that_is_covered_for_long_is_left_to_a_human(any_stage):
    happens = changes(any_stage.world(any_stage.full_without_last()), any_stage.world(any_stage.full), 11.0)
    state = play(any_stage, between(happens, DARK, 1.0, 13.0), 17.0, press_s=11.0)
    assert left_open(any_stage, state, "press_unseen") == ()


def test_a_right_build_that_falls_as_its_mat_is_pulled_is_left_to_a_human(any_stage):
    assert left_open(any_stage, play(any_stage, mat_pulled(any_stage), 12.0), "mat_shaken") == ("bumped",)


def test_a_neighbour_who_knocks_it_over_before_the_press_gets_no_card(any_stage):
    state = play(any_stage, knocked_over(any_stage, -1.3), 12.0, fouls=True)
    assert left_open(any_stage, state, "was_right") == ()
    assert [(f.seen.kind, f.player) for f in state.fouls if f.open] == [
        ("neighbours_hand", state.seats["B" if any_stage.caller == "A" else "A"])
    ]


@pytest.mark.parametrize(
    ("seed", "seating", "card", "caller"),
    [(40, "beside", "L33", "B"), (42, "across", "L20", "A"), (44, "facing", "L48", "A")],
    ids=["beside", "across", "facing"],
)
def test_nobody_gets_the_card_while_a_third_persons_hand_is_an_open_finding(seed, seating, card, caller):
    helped = Stage(rig(seed, seating), DECK.card(card), caller)
    state = play(helped, by_a_third_person(helped), fouls=True)
    assert (state.phase, state.award[0], state.duel.reason) == ("undecided", None, "open_finding")
    assert {f.seen.kind for f in state.fouls if f.open} == {"strangers_hand"}


class Keeper:
    """Keeps what it is given of the views at the press."""

    def __init__(self):
        self.at = {}
        self.recorder = self

    def judged(self, frames, rows):
        pass

    def at_press(self, zone, frames, said, beside):
        self.at[zone] = said


def test_a_press_that_nobody_saw_is_recorded_as_such(stage, monkeypatch):
    monkeypatch.setattr(StagedSession, "recording", Keeper())
    play(stage, between(untouched(stage, stage.full), LOST, PRESS_S - 0.5, PRESS_S + 3), 12.0)
    said = StagedSession.recording.at["A"]
    assert ([r["code"] for r in said["row"]["reasons"]], said["after"]) == (["press_unseen"], "somebody")


def test_frames_that_were_on_their_way_at_the_press_show_the_build_at_the_press(stage):
    session, happens = StagedSession(stage.rig, stage.card.id), finishing_late(stage, 0.3)
    eyes = LiveJudging(session, at_once)
    for number in range(1, 90):
        if session.state.phase == "building" and number / FPS > PRESS_S - 0.4:
            session.command(PressStop("A", PRESS_S))
        eyes._see(Frame(stage.rig.picture(happens(number / FPS), number), number, number / FPS))
        if session.state.duel.ended or session.state.phase == "undecided":
            break
    assert session.state.award == ("Ben", 1) and session.state.duel.reason == "false_stop: touched_after_stop"


def test_a_press_that_comes_in_while_a_settled_view_is_judged_counts(stage):
    """Nobody can tell which was the first; in the other's field there is nothing."""
    session = StagedSession(stage.rig, stage.card.id)

    def begin(call):
        if len(session.state.duel.stops) == 1:
            session.command(PressStop("B", PRESS_S + 0.01, 0.02))
        return known_after(call, 5)

    eyes = LiveJudging(session, begin)
    picture = stage.rig.picture(stage.world(stage.full), 0)
    for number in range(1, 90):
        if session.state.phase == "building" and number / FPS > PRESS_S:
            session.command(PressStop("A", PRESS_S, 0.02))
        eyes._see(Frame(picture, number, number / FPS))
    assert session.state.duel.callers == ("A", "B") and session.state.award == ("Ann", 1)


def test_a_clean_stop_at_three_frames_a_second_is_judged_as_ever(any_stage):
    state = play(any_stage, every_nth(untouched(any_stage, any_stage.full), 3))
    assert state.award[0] == state.seats[any_stage.caller]
