"""The real driver against the simulated box on a pseudo-terminal, with every fault it can have."""

import contextlib
import os
import random
import termios
import threading
import time
from pathlib import Path

import pytest
from serial.tools.list_ports_common import ListPortInfo

from referee.devices.box import SerialBox
from referee.devices.box_protocol import BAUDS
from referee.devices.ports import BoxNotice, SystemClock
from referee.errors import DeviceLost
from referee.simulator.box import BadFault, SimulatedBox


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


def test_of_two_boxes_at_once_the_wanted_one_is_found_and_the_other_is_not_heard(monkeypatch):
    clock, heard = SystemClock(), Heard()
    sims = [SimulatedBox(n, clock, f"SIM-{n}").start() for n in (1, 2)]
    ports = [ListPortInfo(sim.port) for sim in sims]
    for port in ports:
        port.vid = 0x2341
    monkeypatch.setattr("serial.tools.list_ports.comports", lambda: ports)
    box = SerialBox(None, clock, box_id="SIM-2")
    box.listen(heard)
    with contextlib.closing(box), contextlib.ExitStack() as stack:
        for sim in sims:
            stack.callback(sim.stop)
        heard.wait("found")
        duel(box, heard, 1)
        sims[0].press(0)
        sims[1].press(1, after_s=0.05)
        assert [n.player for n in heard.wait("press")] == [1] and box.port == sims[1].port


@pytest.mark.parametrize("wanted", [None, "SIMULATED-box*"])
def test_a_box_that_usb_gives_another_name_is_found_again_and_tells_what_was_pressed_meanwhile(monkeypatch, wanted):
    clock, heard = SystemClock(), Heard()
    sim = SimulatedBox(7, clock).start()
    before, after = sim.port, f"{sim.port}-1"

    def plugged():
        found = [ListPortInfo(port) for port in (before, after) if os.path.exists(port)]
        for port in found:
            port.vid = 0x2341
        return found

    monkeypatch.setattr("serial.tools.list_ports.comports", plugged)
    box = SerialBox(wanted and str(Path(before).with_name(wanted)), clock)
    box.listen(heard)
    with contextlib.closing(box), contextlib.ExitStack() as stack:
        stack.callback(sim.stop)
        heard.wait("found")
        duel(box, heard, 1)
        sim.fault("unplug 0.4")
        sim.port = after
        sim.press(1)
        sim.press(0, after_s=0.05)
        heard.wait("found", 2)
        assert box.status()["port"] == after and not os.path.exists(before)
        assert [n.player for n in heard.wait("press", 2)] == [1, 0]
        box.arm()
        box.go()
        heard.wait("go", 2)


def test_a_box_that_takes_the_place_of_the_signed_one_is_not_believed(rig):
    """Seen before: its go and its press were told as this duel's."""
    box, sim, heard = rig
    duel(box, heard, 1)
    box.insist("SIMULATED")
    sim.fault("swap")
    sim.press(1, after_s=0.05)
    heard.wait("lost")
    assert heard.wait("foreign", timeout_s=10.0)[0].text == "the box that answers is SIM-OTHER, not SIMULATED"
    assert not box.connected and not heard.of("press") and len(heard.of("go")) == 1


def test_noise_steals_no_duel_and_is_told(rig):
    box, sim, heard = rig
    duel(box, heard, 1)
    sim.fault("noise 1 600")
    sim.press(0, after_s=0.3)
    sim.press(1, after_s=0.8)
    assert [n.player for n in heard.wait("press", 2)] == [0, 1]
    assert heard.wait("noisy")[0].player == 1
    assert box.status()["noisy"] in ([1], [])


def test_a_burst_on_every_line_is_no_press(rig):
    box, sim, heard = rig
    duel(box, heard, 1)
    sim.fault("emi")
    sim.press(1, after_s=0.1)
    assert [n.player for n in heard.wait("press")] == [1]


class Starved:
    """A clock that can stand still and then jump: what a thread sees that got no processor meanwhile."""

    def __init__(self):
        self._held_s, self._lost = None, threading.Lock()

    def now_s(self):
        with self._lost:
            return time.monotonic() if self._held_s is None else self._held_s

    def hold(self):
        with self._lost:
            self._held_s = time.monotonic()

    def go_on(self):
        with self._lost:
            self._held_s = None


@pytest.mark.parametrize("for_s", [0.01, 0.2, 1.0])
def test_a_press_is_heard_though_the_simulated_box_got_no_processor_while_it_lasted(for_s):
    """Seen before: both edges of the press were given to the box at once, and it took them for a spike. The player
    had pressed, nobody heard, and the duel stood still for ever."""
    clock, heard = Starved(), Heard()
    sim = SimulatedBox(7, clock).start()
    box = SerialBox(sim.port, SystemClock())
    box.listen(heard)
    with contextlib.closing(box), contextlib.ExitStack() as stack:
        stack.callback(sim.stop)
        heard.wait("found")
        duel(box, heard, 1)
        clock.hold()
        sim.press(0)
        time.sleep(for_s)
        clock.go_on()
        first = heard.wait("press")[0]
        assert first.player == 0
        sim.press(1)
        assert heard.wait("press", 2)[1].player == 1


def test_a_button_held_over_a_restart_is_no_press(rig):
    box, sim, heard = rig
    sim.fault("stuck 0")
    heard.wait("tried")
    duel(box, heard, 1)
    sim.fault("reset")
    heard.wait("reset")
    assert heard.wait("held_at_go", 2)[-1].text == "button 0 was down when the box started"
    box.resume()
    sim.press(1, after_s=0.2)
    assert [n.player for n in heard.wait("press")] == [1] and len(heard.of("tried")) == 1


def test_tongs_on_pads_a_countdown_and_a_false_start(rig):
    box, sim, heard = rig
    sim.rest(0)
    sim.rest(1)
    box.arm()
    wait_until(lambda: box.status()["pads"] == {0: True, 1: True})
    box.go(countdown=True)
    sim.lift(1, after_s=0.5)
    left = heard.wait("false_start")[0]
    assert left.player == 1 and left.box_us is not None
    assert not heard.of("go")
    wait_until(lambda: box.status()["pads"] == {0: True, 1: False})
    sim.rest(1)
    wait_until(lambda: box.status()["pads"] == {0: True, 1: True})
    box.go(countdown=True)
    assert heard.wait("go")[0].at_s - left.at_s > 2.5


def wait_until(holds, timeout_s=5.0):
    end_s = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def test_what_speaks_like_a_box_but_has_no_legal_name_is_explained(monkeypatch):
    """Seen before: "no button box answers", and no hint, with the first firmware on a used Arduino."""
    sim = SimulatedBox(7, SystemClock()).start()
    monkeypatch.setattr(sim, "_send", lambda line: sim._write(line.replace(b"SIMULATED", b"\xc3\xf5H@")))
    box = SerialBox(sim.port, SystemClock())
    wait_until(lambda: box.trouble)
    assert not box.connected and "its hello is malformed" in box.trouble and "referee box flash" in box.trouble
    box.close()
    sim.stop()


def test_both_speeds_are_tried_until_a_box_answers():
    """Firmware 1 speaks at 115200; 16 MHz divide into 250000 without a remainder and into 115200 they do not."""
    master, slave = os.openpty()
    box, speeds = SerialBox(os.ttyname(slave), SystemClock()), set()

    def both() -> bool:
        speeds.add(termios.tcgetattr(master)[4])
        return len(speeds - {termios.B38400}) > 1

    wait_until(both)
    assert termios.B115200 in speeds
    box.close()
    os.close(slave)
    os.close(master)


def test_the_sketch_speaks_at_the_speed_that_is_tried_first():
    sketch = Path(__file__).parents[2] / "firmware" / "button_box" / "button_box.ino"
    assert f"const long BAUD = {BAUDS[0]};" in sketch.read_text()
    assert 16_000_000 % (8 * BAUDS[0]) == 0
