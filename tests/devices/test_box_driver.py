"""The real driver against the simulated box on a pseudo-terminal, with every fault it can have."""

import contextlib
import random
import threading

import pytest
from serial.tools.list_ports_common import ListPortInfo

from referee.devices.box import SerialBox
from referee.devices.box_sim import BadFault, SimulatedBox
from referee.errors import DeviceLost
from referee.ports import BoxNotice, SystemClock


class Heard:
    """Collects notices and waits for them."""

    def __init__(self):
        self.notices: list[BoxNotice] = []
        self._more = threading.Condition()

    def __call__(self, notice):
        with self._more:
            self.notices.append(notice)
            self._more.notify_all()

    def wait(self, kind, count=1, timeout_s=5.0):
        """The notices of that kind, once there are ``count`` of them."""
        with self._more:
            self._more.wait_for(lambda: len(self.of(kind)) >= count, timeout_s)
        assert len(self.of(kind)) >= count, f"no {kind} among {[n.kind for n in self.notices]}"
        return self.of(kind)

    def of(self, kind):
        return [n for n in self.notices if n.kind == kind]


@pytest.fixture
def rig():
    """(driver, simulated box, what was heard), connected."""
    clock = SystemClock()
    sim = SimulatedBox(7, clock).start()
    box, heard = SerialBox(sim.port, clock), Heard()
    box.listen(heard)
    heard.wait("found")
    yield box, sim, heard
    box.close()
    sim.stop()


def duel(box, heard, count):
    box.arm()
    box.go()
    heard.wait("go", count)


def test_two_presses_come_in_order_with_bounds_that_hold(rig):
    box, sim, heard = rig
    duel(box, heard, 1)
    sim.fault("bounce 1")
    before_s = SystemClock().now_s()
    sim.press(1)
    sim.press(0, after_s=0.05)
    first, second = heard.wait("press", 2)
    assert (first.player, second.player) == (1, 0)
    assert abs(first.press.at_s - before_s) < first.press.error_s + 0.01
    assert first.press.error_s < 0.05
    assert second.press.box_us - first.press.box_us == pytest.approx(50_000, abs=2_000)


def test_lost_lines_are_asked_for_again_and_nothing_is_told_twice(rig):
    box, sim, heard = rig
    duel(box, heard, 1)
    sim.fault("lost line 2")
    sim.press(0)
    sim.press(1, after_s=0.02)
    assert [n.player for n in heard.wait("press", 2)] == [0, 1]


def test_a_press_while_unplugged_is_told_when_the_cable_is_back(rig):
    box, sim, heard = rig
    duel(box, heard, 1)
    sim.fault("unplug 0.4")
    sim.press(0)
    heard.wait("lost")
    with pytest.raises(DeviceLost):
        box.go()
    assert not heard.of("press")
    heard.wait("found", 2)
    assert [n.player for n in heard.wait("press")] == [0]


def test_a_restart_is_noticed_and_the_box_is_usable_at_once(rig):
    box, sim, heard = rig
    sim.fault("reset")
    heard.wait("reset")
    duel(box, heard, 1)
    sim.press(1)
    assert heard.wait("press")[0].player == 1


def test_a_duel_goes_on_after_a_restart_in_the_middle_of_it(rig):
    box, sim, heard = rig
    duel(box, heard, 1)
    sim.fault("reset")
    heard.wait("reset")
    box.resume()
    sim.press(1, after_s=0.1)
    assert heard.wait("press")[0].player == 1
    assert len(heard.of("go")) == 1


def test_a_stuck_button_is_held_at_go_and_garbage_is_no_press(rig):
    box, sim, heard = rig
    sim.fault("stuck 0")
    sim.fault("garbage 300")
    duel(box, heard, 1)
    assert heard.wait("held_at_go")[0].player == 0
    sim.fault("free 0")
    heard.wait("free")
    assert heard.of("garbage") and not heard.of("press")
    assert box.status()["garbage"] > 0


def test_the_simulation_says_so(rig):
    box, _, _ = rig
    assert box.simulated and box.status()["box_id"].startswith("SIM")


@pytest.mark.parametrize("text", ["bonce 0", "stuck", "reset 3", "stuck 9", "unplug x", ""])
def test_an_unknown_fault_is_refused_by_name(rig, text):
    with pytest.raises(BadFault):
        rig[1].fault(text)


UNPLUGGINGS = 12


def test_unplugging_at_any_moment_neither_loses_nor_invents_a_press(rig):
    box, sim, heard = rig
    rng = random.Random(11)
    for n in range(UNPLUGGINGS):
        heard.wait("found", n + 1)
        when_s = rng.uniform(0, 0.06)
        sim.press(n % 4, after_s=rng.uniform(0, 0.06))
        unplugger = threading.Timer(when_s, sim.fault, ["unplug 0.02"])
        unplugger.start()
        with contextlib.suppress(DeviceLost):
            for _ in range(20):
                box.lamp(n % 4, True)  # so that there is always a sentence to be cut in two
        heard.wait("lost", n + 1)
        unplugger.join()
    heard.wait("found", UNPLUGGINGS + 1)
    assert [p.player for p in heard.wait("tried", UNPLUGGINGS)] == [n % 4 for n in range(UNPLUGGINGS)]


def test_a_port_that_cannot_be_is_refused_in_one_line():
    with pytest.raises(DeviceLost, match="nosuch://box"):
        SerialBox("nosuch://box", SystemClock())


def test_the_only_usb_box_is_found_without_naming_its_port(monkeypatch):
    clock = SystemClock()
    sim = SimulatedBox(3, clock).start()
    ports = [ListPortInfo("/dev/null"), ListPortInfo(sim.port)]
    ports[1].vid = 0x2341
    monkeypatch.setattr("serial.tools.list_ports.comports", lambda: ports)
    box = SerialBox(None, clock, box_id="SIMULATED")
    assert box.wait_connected(5) and box.port == sim.port
    box.close()
    sim.stop()
