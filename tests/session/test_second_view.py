"""Two cameras at one table: both judge, and either may go away in mid-duel."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from cards.sentences import say
from referee.errors import IllegalCommand
from referee.match.commands import DrawCard, Ready
from referee.recording.folder import find_attempts, load_attempt
from referee.recording.video import read_video
from referee.review import rejudge
from referee.review.options import RejudgeOptions, files_used
from referee.session import second_view
from referee.session.practising import PracticeRunner
from referee.session.rig_setup import kept_cameras
from referee.simulator.lens import typical_lens
from referee.vision.live.gate_history import Aftermath, GateHistory
from referee.vision.observer import Judgement
from referee.web.pages import replay


@pytest.fixture
def views_judged(monkeypatch):
    """How many views each judgement rests on that more than one camera gave."""
    seen = []

    def judge_views(views, *how, **more):
        if len(views) > 1:
            seen.append([len(frames) for _, frames in views])
        return views[0][0].judge(views[0][1], *how, **more)

    monkeypatch.setattr(second_view, "judge_views", judge_views)
    return seen


def unplug(camera, monkeypatch):
    monkeypatch.setattr(camera, "_publish", lambda frame: camera._lose("unplugged"))


def play(session, rig, until, meanwhile=lambda: None):
    """A duel that A stops after three seconds; gives what was said of the verdict."""
    session.create_match(("Ann", "Ben"), seed=1)
    session.command(DrawCard("L01"))
    session.command(Ready())
    session.go()
    rig.players.begin(session.deck.card("L01"), session.clock.now_s())
    meanwhile()
    until(lambda: session.state.duel.go_at_s and session.clock.now_s() > session.state.duel.go_at_s + 3.0)
    rig.players.stop(session.clock.now_s())
    rig._contacts.press(0)
    until(lambda: session.state.phase == "decided")
    return [e for e in session.journal.events(session.state.match_id) if e.kind == "verdict"][-1].data["evidence"]


def alarm_texts(session):
    return {alarm["code"]: alarm["text"] for alarm in session.notifier.alarms()}


def test_a_duel_is_judged_by_both_cameras(at_table, until, views_judged):
    with at_table(second=True) as (session, rig):
        evidence = play(session, rig, until)
        assert all(views_judged) and len(views_judged[-1]) == 2 and min(views_judged[-1]) > 0
        assert evidence["notes"][-1] == "judged by SIMULATED table and SIMULATED table, side"
        (note,) = session.state.verdicts["A"].row["notes"]
        assert say("de", note) == "beurteilt nach SIMULATED table und SIMULATED table, side"
        assert "one_camera" not in alarm_texts(session)


def test_the_second_camera_lost_in_mid_duel_is_told_and_the_first_judges(
    at_table, until, views_judged, monkeypatch, tmp_path
):
    with at_table(second=True, record=True) as (session, rig):
        evidence = play(session, rig, until, lambda: unplug(rig.second, monkeypatch))
        assert not views_judged and evidence["notes"][-1] == "judged by SIMULATED table"
        until(lambda: "one_camera" in alarm_texts(session))
        assert alarm_texts(session)["one_camera"].startswith(
            "camera SIMULATED table, side: unplugged; SIMULATED table "
        )
    (attempt,) = map(load_attempt, find_attempts(tmp_path / "attempts"))
    film, shorter = ([frame.seconds for frame in read_video(attempt.seen_by(n).film)] for n in (1, 2))
    assert attempt.cut_short is None and not attempt.problems()
    assert attempt.meta["second"]["cut_short"].startswith("the camera gave no frame after ")
    assert 0 < len(shorter) == len(attempt.seen_by(2).seconds) and shorter[-1] < film[-1] - 2.0


def test_the_first_camera_lost_in_mid_duel_is_told_and_the_second_judges_until_it_is_back(
    at_table, until, views_judged, tmp_path, monkeypatch
):
    with at_table(second=True, record=True) as (session, rig):
        first = session.observer
        with monkeypatch.context() as gone:

            def lose_first():
                unplug(rig.camera, gone)
                until(lambda: session.camera is rig.second)

            evidence = play(session, rig, until, lose_first)
            assert not views_judged and evidence["notes"][-1] == "judged by SIMULATED table, side"
            assert session.observer is not first and session.second.observer is first
            until(lambda: "one_camera" in alarm_texts(session))
        until(lambda: session.camera is rig.camera)
        assert session.observer is first and not session.second.is_first
        until(lambda: "one_camera" not in alarm_texts(session))
        match_id = session.state.match_id
    assert replay.find(tmp_path, match_id, 1).path.name == "video_2.mp4"


@pytest.mark.parametrize("late_s", [0.0, 0.5])
def test_what_stood_at_the_press_is_judged_by_both_cameras_where_both_surely_saw_it(
    at_table, until, views_judged, tmp_path, monkeypatch, late_s
):
    with at_table(second=True, record=True) as (session, rig):
        status = rig.second.status()
        monkeypatch.setattr(rig.second, "status", lambda: status | {"frame_error_s": late_s})
        monkeypatch.setattr(GateHistory, "after", lambda *_: Aftermath("own"))
        play(session, rig, until)
    (attempt,) = map(load_attempt, find_attempts(tmp_path / "attempts"))
    row, stop_s = attempt.at_press["A"], attempt.stop_s
    assert row["row"]["verdict"] and row["after"] != "still" and max(row["seconds"]) <= stop_s + 0.02
    if late_s:
        assert "beside" not in row and not views_judged
        return
    assert min(row["seconds"]) <= min(row["beside"]["seconds"]) <= max(row["beside"]["seconds"]) < stop_s
    assert [len(row["files"]), len(row["beside"]["files"])] in views_judged
    assert [view.number for view, _ in attempt.press_views("A")] == [1, 2] and not attempt.problems()
    used = files_used(attempt, RejudgeOptions())
    assert {*row["files"], *row["beside"]["files"]} <= set(used)
    seen = []
    monkeypatch.setattr(rejudge, "judge_views", lambda views, *_, **__: seen.append(views) or Judgement({}, 0.0, None))
    rejudge.press_row(attempt, "A", attempt.card, RejudgeOptions(), row["row"])
    assert [len(frames) for _, frames in seen[0]] == [len(row["files"]), len(row["beside"]["files"])]


def test_frames_of_the_other_camera_count_only_within_both_bounds(at_table, until):
    with at_table(second=True) as (session, _):
        until(lambda: session.second.newest())
        time.sleep(0.4)
        now_s = session.clock.now_s()
        assert len(session.second.between(now_s - 0.3, now_s, 0.0)) >= 2
        assert not session.second.between(now_s - 0.3, now_s, 0.16)
        until(lambda: session.picture("live_2"))
        assert session.snapshot()["live"]["second"]["name"] == "SIMULATED table, side"


def test_what_is_practised_is_judged_by_both_cameras(at_table, until, views_judged):
    with at_table(second=True) as (session, rig):
        until(lambda: session.second.newest())
        runner = PracticeRunner(session, SimpleNamespace(matches=list))
        runner.now = SimpleNamespace(wants_view=lambda *rest: True, card=("L01",))
        first = frame = rig.camera.latest(-1, 5.0)
        for _ in range(3):
            frame = rig.camera.latest(frame.number, 5.0)
            gate = SimpleNamespace(mat_seen=True, hand=False, settled_s=1.0 + frame.at_s - first.at_s)
            runner._watch("A", frame, SimpleNamespace(zones={"A": gate}, snapshots={}))
        assert runner._watched["A"].pending[1].result().row["verdict"]
        runner.stop()
        assert views_judged[-1][0] == 3 and views_judged[-1][1] >= 1


def test_the_second_camera_is_removed_and_chosen_anew_between_duels(at_table, until, tmp_path):
    with at_table(second=True, record=True) as (session, rig):
        learnt = session.second.observer
        assert session.use_camera(None, 2) is rig.second and session.cameras == [rig.camera]
        assert session.snapshot()["live"]["second"] is None and kept_cameras(tmp_path) == [("SIMULATED table", {})]
        assert session.use_camera(rig.second, 2) is None and session.second.observer is not learnt
        until(lambda: session.second.between(0.0, session.clock.now_s(), 0.0))
        assert [view.camera for view in session.views] == [rig.camera, rig.second]
        first = session.use_camera(rig.camera)
        assert first is rig.camera and len(kept_cameras(tmp_path)) == 2
        session.create_match(("Ann", "Ben"), seed=1)
        for command in (DrawCard("L01"), Ready()):
            session.command(command)
        session.go()
        with pytest.raises(IllegalCommand):
            session.use_camera(None, 2)
    (attempt,) = map(load_attempt, find_attempts(tmp_path / "attempts"))
    assert attempt.meta["second"]["camera"] == "SIMULATED table, side"


def test_both_cameras_are_remembered_with_the_rig_until_one_is_used_alone(at_table, tmp_path):
    with at_table(second=True) as (session, _):
        session.setup.keep_camera()
        assert kept_cameras(tmp_path) == [("SIMULATED table", {}), ("SIMULATED table, side", {})]
        session.second = None
        session.setup.keep_camera()
        assert kept_cameras(tmp_path) == [("SIMULATED table", {})]
    assert kept_cameras(tmp_path / "nowhere") == [("0", {})]


def test_the_frames_that_both_cameras_were_judged_by_are_recorded_and_judged_again(
    at_table, until, views_judged, tmp_path, monkeypatch
):
    lens, side_lens = (typical_lens(np.random.default_rng(seed)).model() for seed in (1, 2))
    with at_table(second=True, record=True) as (session, rig):
        session.observer.camera, session.second.observer.camera = lens, side_lens
        play(session, rig, until)
    (folder,) = find_attempts(tmp_path / "attempts")
    attempt = load_attempt(folder)
    assert [len(view.judged_frames()) for view in attempt.judged_views] == [3, views_judged[-1][1]]
    assert attempt.meta["second"]["cut_short"] is None
    for view in attempt.judged_views:
        shown_s = [frame.seconds for frame in read_video(view.film)]
        assert shown_s == pytest.approx([s - view.seconds[0] for s in view.seconds], abs=1e-3)
        assert view.seconds[0] < view.go_s < view.stop_s < view.seconds[-1]
    focal_px = [view.camera.focal_px for view in attempt.judged_views]
    assert focal_px == pytest.approx([lens.focal_px, side_lens.focal_px])
    seen = []
    monkeypatch.setattr(rejudge, "judge_views", lambda views, *_, **__: seen.append(views) or Judgement({}, 0.0, None))
    rejudge.judge_frames(attempt, attempt.card)
    assert [len(frames) for _, frames in seen[0]] == [3, views_judged[-1][1]]
    assert not attempt.problems()
    (folder / "second_0.png").write_bytes(b"another")
    assert attempt.problems(files_used(attempt, RejudgeOptions())) == ["second_0.png is not the file that was recorded"]
