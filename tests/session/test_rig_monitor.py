"""A rig that is no longer what it was set up as is noticed, one that is only played with is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from posed_table import PosedTable

from calibration.palette import LINEAR
from cards.build import parse_build
from cards.pieces import builtin_piece_set
from referee.session.rig_monitor import RigMonitor
from referee.simulator.table import RigLayout

SET = builtin_piece_set()
TOWER = parse_build("green rectangle 0 front @ 0 0 12.5; blue cube 0 front @ 0 0 40.0")


@pytest.fixture(scope="module")
def sim():
    return PosedTable(SET, 21, seating="across")


def alarms(first, *later):
    monitor = RigMonitor()
    monitor.look(first)
    said = [monitor.look(picture) for picture in later][-1]
    return {code for code, text in said.items() if text}


def test_play_is_no_alarm(sim):
    pictures = [sim.picture({"A": TOWER}, number=n) for n in range(3)]
    assert alarms(sim.empty(), *pictures) == set()


def test_a_pushed_camera_is_noticed_but_only_the_second_time(sim):
    pushed = np.roll(sim.empty(), 14, axis=1)
    assert alarms(sim.empty(), pushed) == set()
    assert alarms(sim.empty(), pushed, pushed) == {"camera_moved"}


def test_a_pushed_mat_is_named(sim):
    other = PosedTable(SET, 21, seating="across")
    seats = {**other.seats, "B": replace(other.seats["B"], x=other.seats["B"].x + 15)}
    moved = PosedTable(SET, 21, where=RigLayout(sim.lens, sim.light, seats)).empty()
    assert alarms(sim.empty(), moved, moved) == {"mat_moved"}


def test_a_lamp_that_goes_out_is_noticed(sim):
    dark = (sim.empty() * 0.6).astype(np.uint8)
    assert alarms(sim.empty(), dark, dark) == {"light_changed"}


def relit(picture: np.ndarray, *bgr: float) -> np.ndarray:
    return np.searchsorted(LINEAR, (LINEAR[picture] * np.float32(bgr)).clip(0, 1)).clip(0, 255).astype(np.uint8)


def test_overexposed_paper_is_an_alarm_from_the_beginning(sim):
    white = relit(sim.empty(), 3.0, 3.0, 3.0)
    assert alarms(white, white) == {"overexposed"}


@pytest.mark.parametrize(("light", "code"), [((0.78, 0.78, 0.78), "light_changed"), ((0.8, 0.9, 1.0), "light_changed")])
def test_less_and_warmer_light_are_noticed(sim, light, code):
    other = relit(sim.empty(), *light)
    assert alarms(sim.empty(), other, other) == {code}


def test_a_shadow_over_one_field_is_noticed(sim):
    shaded = sim.empty()
    shaded[:, : shaded.shape[1] // 2] = relit(shaded[:, : shaded.shape[1] // 2], 0.5, 0.5, 0.5)
    assert "field_shadowed" in alarms(sim.empty(), shaded, shaded)
