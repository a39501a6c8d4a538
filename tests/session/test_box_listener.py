"""What the session makes of a button box: whom it believes, what it arms, lights and records."""

from __future__ import annotations

import contextlib
import threading
from contextlib import closing

import pytest

from referee.devices.box_keyboard import KeysBox
from referee.devices.ports import BoxNotice, Lamp, Press, SystemClock
from referee.errors import IllegalCommand
from referee.match.commands import DrawCard, HumanRuling, Ready, VoidDuel

CLOCK = SystemClock()
PAIR = ("Ann", "Ben")
GO_US = 5_000_000


class StandInBox:
    """A box that does at once what it is told, and says what the test lets it say."""

    name, simulated, connected = "stand-in", True, True

    def __init__(self, box_id="RED"):
        self.box_id, self.said, self.lamps, self.pads = box_id, [], {}, {}
        self.insisted, self.on_go, self._tell = [], None, None
        self.zero_s = None

    def listen(self, callback):
        self._tell = callback

    def go(self, countdown=False):
        self.said.append("countdown" if countdown else "go")
        self.zero_s = CLOCK.now_s()
        self.tell(self.on_go or BoxNotice("go", self.zero_s, box_us=GO_US, box_id=self.box_id))

    def press(self, player, after_s, box_id=None, kind="press", error_s=0.001, noisy=False):
        """A Stop so long after the go."""
        at_s, box_us = self.zero_s + after_s, GO_US + int(after_s * 1e6)
        press = Press(player, box_us, at_s, error_s, noisy=noisy)
        self.tell(BoxNotice(kind, at_s, player, press, "pressed", box_us, error_s, box_id or self.box_id))

    def tell(self, notice):
        self._tell(notice)

    def arm(self):
        self.said.append("arm")
        self.lamps.clear()

    def resume(self):
        self.said.append("resume")

    def disarm(self):
        self.said.append("disarm")

    def lamp(self, player, lamp):
        self.lamps[player] = lamp

    def insist(self, box_id):
        self.insisted.append(box_id)

    def status(self):
        return {"box_id": self.box_id, "pads": dict(self.pads)}

    def close(self):
        pass


@pytest.fixture
def box():
    return StandInBox()


def ready(session):
    session.create_match(PAIR, seed=1)
    session.command(DrawCard("L01"))
    session.command(Ready())


def begin(session):
    ready(session)
    session.go()


def codes(session):
    return {alarm["code"] for alarm in session.snapshot()["alarms"]}


def test_an_early_press_goes_on_without_a_second_go(at_table, until, box):
    with at_table(box=box) as (session, _):
        begin(session)
        box.said.clear()
        box.press(0, 0.85)
        until(lambda: session.state.duel.presses)
        until(lambda: "resume" in box.said)
        assert box.said == ["arm", "resume"] and session.state.phase == "building"
        box.tell(BoxNotice("held_at_go", 0.0, 0, text="button 0 was held down at the go"))
        until(lambda: "box_held_at_go" in codes(session))
        box.tell(BoxNotice("free", 0.0, 0))
        until(lambda: "box_held_at_go" not in codes(session))


def test_a_press_that_overtakes_its_go_is_kept(at_table, until, box):
    """The box has sounded the go and heard a Stop while this program is still about to write the go down."""

    def go(countdown=False):
        box.zero_s = CLOCK.now_s() - 3.0
        box.press(1, -0.2, kind="tried")
        box.tell(BoxNotice("go", box.zero_s, box_us=GO_US, box_id=box.box_id))
        box.press(0, 2.5)
        box.tell(BoxNotice("noisy", 0.0, 1, text="heard: all before it has been heard, too"))
        until(lambda: "box_noisy" in codes(session))

    with at_table(box=box) as (session, _):
        ready(session)
        box.go = go
        session.go()
        until(lambda: session.state.phase != "building")
        assert session.state.duel.callers == ("A",)
        assert [p.zone for p in session.state.duel.presses] == ["A"], "what was before the go is no press of this duel"


def test_a_go_that_is_asked_for_twice_at_once_sounds_once(at_table, until, box):
    with at_table(box=box) as (session, _):
        ready(session)
        both = [threading.Thread(target=attempted, args=(session.go,)) for _ in range(4)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert box.said.count("go") == 1 and session.state.phase == "building"


def attempted(step):
    with contextlib.suppress(IllegalCommand):
        step()


def test_a_listener_that_fails_makes_nobody_deaf(at_table, until, box, capsys):
    """Who is told of a command comes after the record; his fault is an alarm, and the next press is heard."""

    def failing(state, events):
        raise FileNotFoundError(2, "No such file or directory", "attempts")

    with at_table(box=box) as (session, _):
        heard = []
        session.listen(failing)
        session.listen(lambda state, events: heard.extend(e.kind for e in events))
        begin(session)
        box.press(0, 0.85)
        until(lambda: session.state.duel.presses)
        assert "part_failed" in codes(session)
        box.press(0, 1.5)
        until(lambda: session.state.phase != "building")
        assert "stop" in heard
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(("noisy", "callers"), [(True, {"A", "B"}), (False, {"A"})])
def test_a_press_on_a_noisy_line_ties_with_one_within_its_bound(at_table, until, box, noisy, callers):
    """Its box time is no closer than that."""
    with at_table(box=box) as (session, _):
        session.observer.says.update(A="undecided", B="undecided")
        begin(session)
        box.press(0, 1.500, error_s=0.021 if noisy else 0.001, noisy=noisy)
        box.press(1, 1.518)
        until(lambda: len(session.state.duel.presses) == 2)
        assert {press.zone for press in session.state.duel.presses if press.box_us is None} == (
            {"A"} if noisy else set()
        )
        assert set(session.state.duel.callers) == callers


def test_lost_events_and_noisy_lines_are_alarms(at_table, until, box):
    with at_table(box=box) as (session, _):
        box.tell(BoxNotice("events_lost", 0.0, text="6 events of the box are lost"))
        box.tell(BoxNotice("noisy", 0.0, 1, text="the line of button 1 is noisy"))
        until(lambda: {"box_events_lost", "box_noisy"} <= codes(session))
        box.tell(BoxNotice("quiet", 0.0, 1))
        until(lambda: "box_noisy" not in codes(session))


def test_only_the_box_that_was_signed_is_believed(at_table, until, box):
    with at_table(box=box) as (session, _):
        session.create_match(PAIR, seed=1)
        assert box.insisted[-1] is None
        session.setup.sign(PAIR, {}, "Eve")
        assert box.insisted[-1] == "RED"
        session.command(DrawCard("L01"))
        session.command(Ready())
        session.go()
        box.press(0, 1.5, box_id="BLUE")
        until(lambda: "box_foreign" in codes(session))
        assert session.state.phase == "building" and not session.state.duel.presses
        box.press(1, 1.6)
        until(lambda: session.state.phase != "building")
        assert session.state.duel.callers == ("B",)
    again = StandInBox("BLUE")
    with at_table(box=again):
        assert again.insisted[-1] == "RED", "a program that is started again still believes the signed box only"


def test_a_dead_heat_lights_both_lamps(at_table, until, box):
    with at_table(box=box) as (session, _):
        session.observer.says.update(A="undecided", B="undecided")
        begin(session)
        box.press(0, 1.500)
        box.press(1, 1.503)
        until(lambda: session.state.duel.callers == ("A", "B"))
        until(lambda: box.lamps.get(0) and box.lamps.get(1))


def test_the_lamps_show_the_verdict(at_table, until, box):
    with at_table(box=box) as (session, _):
        session.observer.says["A"] = "undecided"
        begin(session)
        session.command(VoidDuel("Eve", "bumped"))
        assert (box.lamps[0], box.lamps[1]) == (Lamp.BLINK, Lamp.BLINK)
        session.command(DrawCard("L01"))
        assert (box.lamps[0], box.lamps[1]) == (Lamp.OFF, Lamp.OFF)
        session.command(Ready())
        session.go()
        box.press(0, 1.5)
        until(lambda: session.state.phase == "undecided")
        until(lambda: box.lamps.get(0) == Lamp.PULSE)
        session.command(HumanRuling("mismatch", "Eve", "I looked"))
        assert session.state.award[0] == "Ben"
        assert (box.lamps[0], box.lamps[1]) == (Lamp.OFF, Lamp.ON)


def test_pads_are_counted_down_for_and_a_false_start_is_recorded(at_table, until, box):
    with at_table(box=box) as (session, _):
        ready(session)
        box.pads = {0: True, 1: False}
        with pytest.raises(IllegalCommand, match="the tongs of Ben are not behind the mark"):
            session.go()
        box.pads = {0: True, 1: True}
        box.on_go = BoxNotice("false_start", 7.0, 1, text="player 1 left the mark before the go", box_us=123)
        with pytest.raises(IllegalCommand, match="false start: Ben left the mark before the go"):
            session.go()
        assert session.state.phase == "ready" and box.said[-1] == "countdown"
        assert session.state.fouls[-1].player == "Ben" and "false_start" in codes(session)
        box.on_go = None
        session.go()
        assert session.state.phase == "building" and "false_start" not in codes(session)


def test_the_dashboards_keys_stand_for_pads_and_real_pads_need_none(at_table, until, box):
    keys = KeysBox(CLOCK, step_s=0.02)
    with closing(keys), at_table(box=keys) as (session, _):
        ready(session)
        session.rest("A", True)
        session.rest("B", False)
        with pytest.raises(IllegalCommand, match="the tongs of Ben are not behind the mark"):
            session.go()
        session.rest("B", True)
        session.go()
        assert session.state.phase == "building"
    with at_table(box=box) as (session, _), pytest.raises(IllegalCommand, match="by its own pads"):
        session.rest("A", True)
