"""`referee box check` and `referee box sim` as a user sees them."""

import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.commands.box import bounce_lines, box, noise_lines
from referee.devices.ports import SystemClock
from referee.errors import DeviceLost
from referee.simulator.box import SimulatedBox


@pytest.fixture(autouse=True)
def slewed(monkeypatch):
    """The monotonic clock that NTP slews is far ahead of the host's own."""
    ahead_s = time.monotonic() / 2
    monkeypatch.setattr(SystemClock, "now_s", lambda self: time.monotonic() - ahead_s)


@pytest.fixture
def sim(slewed):
    simulated = SimulatedBox(5, SystemClock()).start()
    yield simulated
    simulated.stop()


def check(*words):
    return CliRunner().invoke(box, ["check", "--listen", "0.5", *words])


def test_check_shows_the_figures_and_lets_every_button_be_tried(sim):
    presser = threading.Timer(6.5, lambda: (sim.press(0), sim.press(1, after_s=0.1)))
    presser.start()
    result = check("--box", sim.port, "--seconds", "8")
    presser.join()
    assert result.exit_code == 0, result.output
    for words in (
        "SIMULATED box SIMULATED on",
        "firmware 2.0",
        "protocol 2",
        "noise         none",
        "bounce        button 0: rests",
        "latency",
        "clock offset",
        "known to",
        "0 garbage",
        "button 0 pressed",
        "button 1 pressed",
    ):
        assert words in result.output


def test_check_names_the_buttons_that_nobody_pressed(sim):
    result = check("--box", sim.port, "--seconds", "0.1", "--buttons", "3")
    assert result.exit_code == 1
    assert result.output.splitlines()[-1] == "not pressed: button 0, button 1, button 2"


def test_check_insists_on_the_box_of_that_name(sim, monkeypatch):
    monkeypatch.setattr("referee.commands.box.FIND_S", 0.5)
    assert isinstance(check("--box", sim.port, "--id", "other").exception, DeviceLost)


def test_check_renames_the_box(sim):
    assert "box SIM-red on" in check("--box", sim.port, "--rename", "SIM-red", "--buttons", "0").output


def test_check_says_in_one_line_that_there_is_no_box(monkeypatch, tmp_path):
    monkeypatch.setattr("referee.commands.box.FIND_S", 0.1)
    result = check("--box", str(tmp_path / "nothing"))
    assert isinstance(result.exception, DeviceLost)
    assert str(result.exception).startswith(f"no button box answers on {tmp_path / 'nothing'} (")
    assert "No such file" in str(result.exception)


def test_sim_takes_presses_and_faults_and_refuses_the_rest():
    result = CliRunner().invoke(
        box,
        ["sim", "--seed", "2"],
        input=(
            "press 0\npress 1 20\nnext\nbounce 0\nstuck 1\nfree 1\ngarbage 9\ndelay 20\nlost line 1\nunplug 0.1\n"
            "reset\nlamps\nnoise 0 20\nemi\nswap\nrest 0\nlift 0 5\nhelp\n\nsmoke 3\n"
            "press 9\npress\nrest 7\nquit\nnever read\n"
        ),
    )
    assert result.exit_code == 0
    assert result.stdout.startswith("SIMULATED box on ")
    assert "0:off 1:off 2:off 3:off" in result.stdout and "lost line N" in result.stdout
    assert len(result.stderr.splitlines()) == 4 and "no such fault: 'smoke 3'" in result.stderr


def test_check_survives_a_box_that_falls_silent(sim, monkeypatch):
    """Seen before: a traceback out of ``_ms(None)``."""
    monkeypatch.setattr("referee.commands.box.SETTLE_S", 3.0)
    silencer = threading.Timer(1.0, sim.fault, ["lost line 100000"])
    silencer.start()
    result = check("--box", sim.port, "--seconds", "0.1", "--buttons", "0")
    silencer.join()
    assert result.exit_code == 0, result.exception
    assert "the box has stopped to answer" in result.output


def test_check_says_which_line_is_noisy(sim):
    noisy = threading.Timer(3.2, sim.fault, ["noise 1 1500"])
    noisy.start()
    result = check("--box", sim.port, "--listen", "2", "--buttons", "0")
    noisy.join()
    lines = [line for line in result.output.splitlines() if line.startswith("noise")]
    assert len(lines) == 1 and "button 1:" in lines[0] and "edges in 2 s" in lines[0]


def test_check_tells_of_an_old_box_what_it_cannot_measure():
    assert noise_lines({}, 10.0) == ["noise         the box did not tell its counts"]
    assert bounce_lines({0: (9, 9_144, 87_334), 1: (0, 0, 0)}) == [
        "bounce        button 0: rests 9.14 ms after its first edge, longest lift-off 87.33 ms, 9 edges"
    ]


AVRDUDE = """#!/bin/sh
echo "$@" > "$0.said"
echo "avrdude: 16082 bytes of flash verified" >&2
exit {status}
"""


@pytest.mark.parametrize(
    ("board", "words"),
    [
        ("uno", "-p atmega328p -c arduino -P /dev/ttyX -b 115200 -D -U flash:w:"),
        ("nano-old", "-p atmega328p -c arduino -P /dev/ttyX -b 57600 -D -U flash:w:"),
        ("mega", "-p atmega2560 -c wiring -P /dev/ttyX -b 115200 -D -U flash:w:"),
    ],
)
def test_flash_sends_the_boards_firmware_through_avrdude(tmp_path, monkeypatch, board, words):
    program = tmp_path / "avrdude"
    program.write_text(AVRDUDE.format(status=0))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    result = CliRunner().invoke(box, ["flash", "--port", "/dev/ttyX", "--board", board])
    assert result.exit_code == 0, result.output
    said = (tmp_path / "avrdude.said").read_text().strip()
    assert said.startswith(words)
    sent = Path(said.removesuffix(":i").split("flash:w:")[1])
    assert sent.read_text().splitlines()[-1] == ":00000001FF", "a whole Intel HEX file"


def test_flash_says_in_one_line_what_went_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = CliRunner().invoke(box, ["flash", "--port", "/dev/ttyX"]).exception
    assert isinstance(missing, DeviceLost) and "avrdude is not installed" in str(missing)
    program = tmp_path / "avrdude"
    program.write_text(AVRDUDE.format(status=1))
    program.chmod(0o755)
    failed = CliRunner().invoke(box, ["flash", "--port", "/dev/ttyX"]).exception
    assert str(failed) == "/dev/ttyX: avrdude: 16082 bytes of flash verified"
