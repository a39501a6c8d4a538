"""`referee box check` and `referee box sim` as a user sees them."""

import threading

import pytest
from click.testing import CliRunner

from referee.commands.box import box
from referee.devices.box_sim import SimulatedBox
from referee.errors import DeviceLost
from referee.ports import SystemClock


@pytest.fixture
def sim():
    simulated = SimulatedBox(5, SystemClock()).start()
    yield simulated
    simulated.stop()


def check(*words):
    return CliRunner().invoke(box, ["check", *words])


def test_check_shows_the_figures_and_lets_every_button_be_tried(sim):
    presser = threading.Timer(2.6, lambda: (sim.press(0), sim.press(1, after_s=0.1)))
    presser.start()
    result = check("--box", sim.port, "--seconds", "8")
    presser.join()
    assert result.exit_code == 0, result.output
    for words in (
        "SIMULATED box SIMULATED on",
        "firmware 1.0",
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
            "reset\nlamps\nhelp\n\nsmoke 3\npress 9\npress\nquit\nnever read\n"
        ),
    )
    assert result.exit_code == 0
    assert result.stdout.startswith("SIMULATED box on ")
    assert "0:off 1:off 2:off 3:off" in result.stdout and "lost line N" in result.stdout
    assert len(result.stderr.splitlines()) == 3 and "no such fault: 'smoke 3'" in result.stderr
