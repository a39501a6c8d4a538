"""The shell between devices and match: presses, the go, recovery, alarms, pictures, people who rule."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import cv2
import numpy as np
import pytest

from referee.errors import DeviceLost, IllegalCommand
from referee.match.commands import DrawCard, Foul, HumanRuling, NextDuel, Ready, RuleByHand, WaiveFields
from referee.match.foul import FoulProposal
from referee.session.stop_judging import LOOKS_AGAIN_S
from referee.simulator.meshes import place_piece
from referee.simulator.table import Hand, World
from referee.vision.live.gate_history import FRAME_LATE_S, GateHistory

PAIR = ("Ann", "Ben")


def begin_duel(session, card="L01"):
    session.create_match(PAIR, seed=1)
    session.command(DrawCard(card))
    session.command(Ready())
    session.go()


def test_a_press_on_the_box_is_judged_and_awards_the_card(at_table, until):
    with at_table() as (session, rig):
        begin_duel(session)
        rig.players.begin(session.deck.card("L01"), session.clock.now_s())
        until(lambda: session.state.duel.go_at_s and session.clock.now_s() > session.state.duel.go_at_s + 3.0)
        rig.players.stop(session.clock.now_s())
        rig._contacts.press(0)
        until(lambda: session.state.phase == "decided")
        state = session.state
        assert state.duel.presses[0].zone == "A" and state.duel.presses[0].box_us > 0
        assert abs(state.duel.presses[0].elapsed_s - 3.0) < 0.5
        right = state.verdicts["A"].ruling == "match"
        assert state.award == ("Ann" if right else "Ben", 1)


def test_the_simulated_operator_rules_on_a_finding_that_holds_the_award_up(at_table):
    """Once it waited for ever: it ruled on builds that the camera had left open, and none was."""
    seen = FoulProposal("came_together", "A", 1.0, 1.0)
    with at_table() as (session, rig):
        session.create_match(PAIR, seed=5)
        session.listen(
            lambda state, events: [
                session.attempt(Foul(state.seats["A"], "seen", "camera", seen=seen)) for e in events if e.kind == "stop"
            ]
        )
        with rig.played(session, 1, False) as done:
            assert done.wait(40)
        (foul,) = session.state.fouls
        assert (foul.sanction, foul.ruled_by) == ("none", "simulated referee")
        assert session.state.history[0].award


def test_the_go_carries_the_boxs_time_and_needs_its_phase(at_table):
    with at_table() as (session, _):
        with pytest.raises(IllegalCommand):
            session.go()
        done = []
        session.camera.adjust = done.append
        begin_duel(session)
        assert done == [session.camera.settings.enforce]  # before the match
        assert session.state.phase == "building"
        assert abs(session.state.duel.go_at_s - session.clock.now_s()) < 1.0


def test_there_is_no_go_over_a_build_that_stands_already_unless_a_human_waives_it(at_table, until):
    with at_table() as (session, rig):
        session.create_match(PAIR, seed=1)
        session.command(DrawCard("L09"))
        rig.players.stage(World({"A": [place_piece(p) for p in session.deck.card("L09").pieces], "B": []}))
        session.command(Ready())
        until(lambda: session.fields())
        with pytest.raises(IllegalCommand, match="field A is not empty"):
            session.go()
        assert "field_A" in {a["code"] for a in session.snapshot()["alarms"]}
        rig.players.stage(World({"A": [], "B": []}, {"B": Hand((0.0, 0.0, 40.0))}))
        until(lambda: session.fields() == {"B": "hand"})
        session.command(WaiveFields("Eve", "she only points"))
        session.go()
        assert session.state.phase == "building" and session.state.duel.waived == "she only points"
        until(lambda: not [a for a in session.snapshot()["alarms"] if a["code"].startswith("field_")])


def test_builds_left_standing_after_a_duel_are_told_until_they_are_broken_and_hold_up_the_next_go(at_table, until):
    def field_alarms():
        return {a["code"] for a in session.snapshot()["alarms"] if a["code"].startswith("field_")}

    with at_table() as (session, rig):
        session.observer.says["A"] = "match"
        begin_duel(session)
        left = [place_piece(p) for p in session.deck.card("L01").pieces]
        rig.players.stage(World({"A": left, "B": left}))
        time.sleep(1.1)
        session.press("A")
        until(lambda: session.state.phase == "decided")
        assert not field_alarms()  # it is looked at until the next one
        session.command(NextDuel())
        until(lambda: field_alarms() == {"field_A", "field_B"})
        rig.players.stage(World({"A": [], "B": left}))
        until(lambda: field_alarms() == {"field_B"})
        session.command(DrawCard("L09"))
        session.command(Ready())
        with pytest.raises(IllegalCommand, match="field B is not empty"):
            session.go()
        rig.players.stage(World({"A": [], "B": []}))
        until(lambda: not session.fields() and not field_alarms())
        session.go()
        assert session.state.phase == "building" and not session.state.duel.waived


def test_a_press_too_early_is_noted_and_the_same_button_counts_later(at_table, until):
    with at_table() as (session, rig):
        begin_duel(session)
        rig._contacts.press(1)
        until(lambda: session.state.duel.presses)
        assert session.state.phase == "building" and session.state.duel.presses[0].why == "too_early"
        time.sleep(1.2)
        rig._contacts.press(1)
        until(lambda: session.state.phase == "decided")
        assert session.state.duel.callers == ("B",)


def test_what_the_camera_cannot_tell_waits_for_a_human(at_table, until, monkeypatch):
    with at_table() as (session, _):
        told, alarm = [], session.alarm
        monkeypatch.setattr(session, "alarm", lambda name, what: [told.append((name, what)), alarm(name, what)])
        session.observer.says["A"] = "undecided"
        begin_duel(session)
        time.sleep(1.1)
        session.press("A")
        until(lambda: session.state.phase == "undecided")
        assert not [what for name, what in told if name == "blocked" and what], "two builds fit: no look is clearer"
        session.command(HumanRuling("match", "Eve", "I looked"))
        assert session.state.award == ("Ann", 1) and session.state.verdicts["A"].ruling == "undecided"


@pytest.mark.parametrize(("says", "blurred"), [("unclear", False), ("undecided", True)])
def test_what_the_picture_shows_badly_is_told_and_looked_at_again(at_table, until, monkeypatch, says, blurred):
    monkeypatch.setattr(GateHistory, "was_unfocused", lambda *_: blurred)
    with at_table() as (session, _):
        session.observer.says["A"] = says
        begin_duel(session)
        time.sleep(1.1)
        session.press("A")
        until(lambda: any(a["code"] == "blocked" for a in session.snapshot()["alarms"]))
        del session.observer.says["A"]
        until(lambda: session.state.phase == "decided", 2 * LOOKS_AGAIN_S)


def test_nothing_is_judged_while_the_view_is_blocked_and_the_operator_is_told(at_table, until, monkeypatch):
    monkeypatch.setattr("referee.session.stop_judging.WAITS_S", 0.5)
    with at_table() as (session, _):
        session.gate.blind = True
        begin_duel(session)
        time.sleep(1.1)
        session.press("B")
        until(lambda: any(a["code"] == "blocked" for a in session.snapshot()["alarms"]))
        assert session.state.phase == "stopped"
        session.gate.blind = False
        until(lambda: session.state.phase == "decided")
        until(lambda: not any(a["code"] == "blocked" for a in session.snapshot()["alarms"]))


def test_a_view_that_stays_blocked_goes_to_a_human(at_table, until, monkeypatch):
    monkeypatch.setattr("referee.session.stop_judging.BLOCKED_S", 0.5)
    with at_table() as (session, _):
        session.gate.blind = True
        begin_duel(session)
        time.sleep(1.1)
        session.press("B")
        until(lambda: session.state.phase == "undecided")
        assert session.state.verdicts["B"].codes == {"no_clear_view"}


def test_a_stop_that_no_camera_sees_goes_to_a_human(at_table, until, monkeypatch):
    monkeypatch.setattr("referee.session.stop_judging.BLOCKED_S", 0.5)
    with at_table() as (session, _):
        begin_duel(session)
        time.sleep(1.1)
        session.camera.latest = lost
        session.press("B")
        until(lambda: session.state.phase == "undecided")
        assert session.state.verdicts["B"].codes == {"camera_gone"}


def test_an_evening_goes_on_without_its_camera_by_one_command_and_with_another_camera_as_before(at_table, until):
    with at_table() as (session, _):
        latest, session.camera.latest = session.camera.latest, lost
        begin_duel(session)
        session.command(RuleByHand(True), "Eve")
        time.sleep(1.1)
        session.press("B")
        until(lambda: session.state.phase == "undecided", 5.0)  # nobody waits for eight seconds
        assert session.state.verdicts["B"].codes == {"by_hand"}
        session.command(HumanRuling("match", "Eve", "I looked"))
        assert session.snapshot()["match"]["duel"]["by_hand"]
        session.command(NextDuel())
        session.camera.latest = latest
        session.use_camera(session.camera)
        assert not session.state.by_hand


def test_pictures_of_an_unknown_time_are_an_alarm_and_no_view_of_a_stop(at_table, until, monkeypatch):
    monkeypatch.setattr("referee.session.stop_judging.BLOCKED_S", 0.5)
    with at_table() as (session, _):
        begin_duel(session)
        time.sleep(1.1)
        status = session.camera.status
        session.camera.status = lambda: status() | {"frame_error_s": 0.52}
        until(lambda: "times" in codes(session))
        session.press("B")
        until(lambda: session.state.phase == "undecided")
        assert session.state.verdicts["B"].codes == {"camera_gone"}
        session.camera.status = status
        until(lambda: "times" not in codes(session))


def lost(after, timeout_s):
    raise DeviceLost("the camera is gone")


def test_a_killed_program_goes_on_in_the_same_phase_of_the_same_duel(at_table, until):
    with at_table() as (session, _):
        begin_duel(session)
        before = session.state
    with at_table() as (session, _):
        assert session.state == before and session.state.phase == "building"
        session.press("A") if session.clock.now_s() - before.duel.go_at_s > 1.1 else time.sleep(1.2)
        until(lambda: session.state.phase == "decided" or not session.state.duel.presses)


def test_an_unplugged_box_is_an_alarm_and_comes_back(at_table, until):
    with at_table() as (session, rig):
        rig._contacts.fault("unplug 1.5")
        until(lambda: any(a["code"] == "box_unplugged" for a in session.snapshot()["alarms"]))
        until(lambda: not any(a["code"] == "box_unplugged" for a in session.snapshot()["alarms"]))


def test_the_snapshot_is_json_and_hides_the_card_until_the_go(at_table):
    with at_table() as (session, _):
        session.create_match(PAIR, seed=1)
        session.command(DrawCard())
        assert json.loads(json.dumps(session.snapshot()))["card"] is None
        session.command(Ready())
        version = session.snapshot()["version"]
        session.go()
        assert session.wait(version, 1.0) > version
        assert session.snapshot()["card"]["id"] == session.state.card_id


def test_pictures_are_made_for_who_looks(at_table, until):
    with at_table() as (session, _):
        until(lambda: session.picture("live"))
        live = cv2.imdecode(np.frombuffer(session.picture("live"), np.uint8), cv2.IMREAD_COLOR)
        assert live.shape == (360, 640, 3)
        until(lambda: session.picture("zone_A"))
        zone = cv2.imdecode(np.frombuffer(session.picture("zone_A"), np.uint8), cv2.IMREAD_COLOR)
        assert zone.shape[1] < 400
        assert session.picture("no such picture") is None
        begin_duel(session)
        time.sleep(1.1)
        session.press("A")
        until(lambda: session.picture("overlay"))
        until(lambda: session.snapshot()["verdict"].get("overlay") == "/media/overlay/1.jpg")
        assert session.picture("overlay/1") == session.picture("overlay")


def test_a_verdict_s_picture_is_there_after_a_restart_and_never_another_match_s(at_table, until):
    """One that was cut short while it was written is as good as none."""
    with at_table() as (session, _):
        begin_duel(session)
        time.sleep(1.1)
        session.press("A")
        until(lambda: session.snapshot()["verdict"].get("builds") is not None and session.state.phase == "decided")
        before, kept, match = session.snapshot(), session.picture("overlay/1"), session.state.match_id
    with at_table() as (again, _):
        assert again.state.match_id == match and again.picture("overlay/1") == kept
        assert again.snapshot()["verdict"]["overlay"] == before["verdict"]["overlay"] == "/media/overlay/1.jpg"
        assert again.snapshot()["pictures"] == before["pictures"]
        begin_duel(again)
        shown = again.snapshot()
        assert shown["pictures"] == {} and "overlay" not in shown["verdict"]
        time.sleep(1.1)
        again.press("A")
        until(lambda: again.snapshot()["verdict"].get("builds") is not None and again.state.phase == "decided")
        data_dir = again.data_dir
    (data_dir / "verdicts" / match / "1.json").write_text('{"number": 1, "du')
    with at_table() as (third, _):
        third.take_up(match)
        assert "overlay" not in third.snapshot()["verdict"] and third.snapshot()["pictures"] == {}


def test_every_duel_leaves_an_attempt_that_says_simulated(at_table, until, tmp_path):
    with at_table(record=True) as (session, _):
        begin_duel(session)
        time.sleep(1.2)
        session.press("A")
        until(lambda: session.state.phase == "decided")
        session.command(NextDuel())
    (folder,) = filter(Path.is_dir, (tmp_path / "attempts").iterdir())
    said = json.loads((folder / "attempt.json").read_text())
    assert said["simulated"] is True and said["card"] == "L01"
    assert said["award"] == session.state.history[0].award
    assert (folder / "stop.png").exists() and (folder / "video.mp4").stat().st_size > 1000


def codes(session) -> set[str]:
    return {alarm["code"] for alarm in session.snapshot()["alarms"]}


def test_a_frame_that_breaks_the_seeing_is_an_alarm_and_the_next_are_seen(at_table, until, monkeypatch):
    monkeypatch.setattr("referee.session.live_judging.FAULT_SHOWN_S", 0.3)
    with at_table() as (session, _):
        look, broken = session.gate.look, [ValueError("no pixel above the median")]
        session.gate.look = lambda frame: (_ for _ in ()).throw(broken.pop()) if broken else look(frame)
        until(lambda: "seeing" in codes(session))
        assert session.judging.alive
        until(lambda: "seeing" not in codes(session))
        begin_duel(session)
        time.sleep(1.1)
        session.press("A")
        until(lambda: session.state.phase == "decided")


@pytest.mark.parametrize(("times", "phase"), [(1, "decided"), (99, "undecided")])
def test_a_build_that_one_look_cannot_judge_is_judged_by_the_next_or_left_to_a_human(at_table, until, times, phase):
    with at_table() as (session, _):
        judge, faults = session.observer.judge, [IndexError("no paper")] * times
        session.observer.judge = lambda *a, **k: (_ for _ in ()).throw(faults.pop()) if faults else judge(*a, **k)
        begin_duel(session)
        time.sleep(1.1)
        session.press("A")
        until(lambda: session.state.phase == phase)
        assert session.judging.alive
        reasons = session.state.verdicts["A"].codes
        assert ("not_judged" in reasons) == (phase == "undecided")
        if phase == "decided":
            until(lambda: "judging" not in codes(session))


def test_a_picture_of_another_size_in_mid_duel_is_an_alarm_and_what_was_before_is_unseen(at_table, until):
    unseen = GateHistory._unseen  # no table of these tests misses a press but this one
    with at_table() as (session, _), patch.object(GateHistory, "_unseen", unseen):
        begin_duel(session)
        until(session.gates)  # pictures of the first size have been seen
        time.sleep(1.1)
        latest = session.camera.latest
        session.camera.latest = lambda *_: time.sleep(0.02)  # nothing is seen between press and change
        session.press("A")
        since_s = session.clock.now_s() + 2 * FRAME_LATE_S

        def smaller(*given):
            frame = latest(*given)
            seen = frame is not None and frame.at_s > since_s  # an earlier one shows what was there at the press
            return replace(frame, image=frame.image[::2, ::2]) if seen else None

        session.camera.latest = smaller
        until(lambda: "picture_size" in codes(session))
        (told,) = (a["text"] for a in session.snapshot()["alarms"] if a["code"] == "picture_size")
        assert "from 640 × 360 to 320 × 180 pixels" in told and "seeing" not in codes(session)
        until(lambda: session.state.phase == "undecided")
        assert session.state.verdicts["A"].codes & {"press_unseen", "press_hidden"}
        session.command(HumanRuling("void", "Eve", "nobody saw it"))
        until(lambda: "picture_size" not in codes(session))


@pytest.mark.parametrize("blocked", ["stop.png", None])
def test_a_verdict_counts_only_when_its_picture_is_on_the_disk(at_table, until, tmp_path, monkeypatch, blocked):
    """Else a human rules; the camera's view is told to him, and what is missing."""
    replace = os.replace

    def full(draft, path):
        if Path(path).name == blocked:
            raise OSError(28, "No space left on device")
        replace(draft, path)

    monkeypatch.setattr("referee.recording.writer.os.replace", full)
    with at_table(record=True) as (session, _):
        begin_duel(session)
        time.sleep(1.2)
        session.press("A")
        until(lambda: session.state.verdicts)
        said = session.state.verdicts["A"]
        (folder,) = filter(Path.is_dir, (tmp_path / "attempts").iterdir())
        assert (folder / "stop.png").exists() == (blocked is None)
        if blocked is None:
            assert said.ruling == "mismatch"
        else:
            assert (session.state.phase, said.ruling, said.leaning) == ("undecided", "undecided", "mismatch")
            assert said.codes == {"not_kept"}
