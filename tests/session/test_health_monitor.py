"""What the console is told without anybody asking: a duel that stands still, a clock that was set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from cards.sentences import say
from referee.devices.camera_settings import CameraSettings
from referee.session.health_monitor import IDLE_S, HealthMonitor
from referee.session.notifier import Notifier

BOTH = {"A": {"settled_s": 1.0}, "B": {"settled_s": 1.0}}


class Hands:
    """Clocks that a test moves."""

    def __init__(self) -> None:
        self.s, self.day = 1000.0, datetime(2026, 1, 1, tzinfo=UTC)

    def now_s(self) -> float:
        return self.s

    def utc(self) -> datetime:
        return self.day

    def run(self, seconds: float, set_by_s: float = 0.0) -> None:
        self.s += seconds
        self.day += timedelta(seconds=seconds + set_by_s)


@pytest.fixture
def watched(tmp_path: Path):
    """A monitor over a duel that was started at 1000 s, and what it watches."""
    session = MagicMock(data_dir=tmp_path, clock=Hands(), shift_s=0.0)
    session.camera.status.return_value = {}
    session.state = SimpleNamespace(phase="building", duel=SimpleNamespace(go_at_s=1000.0), rules=MagicMock())
    session.gates.return_value = {"A": {"settled_s": 500.0}, "B": {"settled_s": 500.0}}
    return HealthMonitor(session, lambda now_s: None), session


def test_a_duel_in_which_nothing_happens_for_a_minute_is_told(watched):
    monitor, session = watched
    session.clock.run(IDLE_S - 1)
    assert monitor._found()["duel_idle"] is None
    session.clock.run(2)
    assert "nobody has pressed" in monitor._found()["duel_idle"]


def test_a_setting_that_is_not_in_force_is_told_with_both_values(watched):
    monitor, session = watched
    held = session.camera.settings = CameraSettings()
    held.wanted, held.actual = {"exposure": 156.0, "focus": 30.0}, {"exposure": 312.0, "focus": None}
    found = monitor._found()
    assert found["exposure"] == "the camera's exposure is 312 and should be 156" and found["white_balance"] is None
    assert found["focus"] == "the camera's focus is chosen by itself and should be 30"
    assert say("de", found["focus"]) == "die Schärfe der Kamera ist selbst gewählt und sollte 30 sein"


def test_a_duel_is_not_idle_while_a_build_moves_or_before_and_after_it(watched):
    monitor, session = watched
    session.clock.run(10 * IDLE_S)
    session.gates.return_value = {"A": {"settled_s": 500.0}, "B": {"settled_s": 3.0}}
    assert monitor._found()["duel_idle"] is None
    session.gates.return_value = {"A": {"settled_s": 500.0}, "B": {"settled_s": 500.0}}
    session.state.phase = "ready"
    assert monitor._found()["duel_idle"] is None


@pytest.mark.parametrize(
    ("frames", "gates", "told"), [(0, {}, None), (9, {}, "mat A and B is"), (9, {"B": {}}, "mat A is"), (9, BOTH, None)]
)
def test_mats_that_nobody_sees_are_told_also_both_of_them(watched, frames, gates, told):
    monitor, session = watched
    session.camera.status.return_value = {"frames": frames}
    session.gates.return_value = gates
    found = monitor._found()["mats_unseen"]
    assert found == told or found.startswith(told)


def test_a_clock_that_was_set_is_told_for_a_while(watched):
    monitor, session = watched
    for _ in range(3):
        session.clock.run(1.0, set_by_s=0.0005)  # what NTP slews in a second
        assert monitor._found()["clock_set"] is None
    session.clock.run(1.0, set_by_s=-3600)
    assert monitor._found()["clock_set"] == "the computer's clock was set by -3600 s"
    session.clock.run(1.0)
    assert monitor._found()["clock_set"] is not None
    session.clock.run(700.0)
    assert monitor._found()["clock_set"] is None


def test_what_keeps_the_record_from_its_server_is_told(watched):
    monitor, session = watched
    session.journal.problem = "the server is gone; 3 events wait on this computer"
    assert "3 events wait" in monitor._found()["record"]


def test_the_worst_alarm_comes_first_and_of_the_others_the_oldest():
    hands = Hands()
    notifier = Notifier(hands)
    for code in ("mat_moved", "light_changed", "disk_low", "camera_lost"):
        notifier.alarm(code, "…")
        hands.run(1.0)
    notifier.alarm("light_changed", None)
    notifier.alarm("light_changed", "…")
    assert [a["code"] for a in notifier.alarms()] == ["camera_lost", "disk_low", "mat_moved", "light_changed"]


def test_only_what_keeps_a_duel_from_going_on_is_said_and_once_while_it_stands():
    notifier, said = Notifier(Hands()), []
    notifier.say = said.append
    for text in ("no disk", "no disk at all", None, "no disk again"):
        notifier.alarm("disk_low", text)
        notifier.alarm("mat_moved", text)
    assert said == ["no disk", "no disk again"]
