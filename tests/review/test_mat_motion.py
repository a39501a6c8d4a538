"""A mat that is pushed is told from a camera that is: rendered before the real mats."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from staged_fouls import Table, World

from referee.vision.live.mat_motion import MatMotion

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def table():
    return Table(12, "across")


@pytest.fixture
def shake(table):
    """A watch that has seen the table at rest."""
    motion, mats = MatMotion(), table.observer.look(table.sim.empty())
    for number in (1, 2):
        assert motion.update(table.sim.render(World(), number), mats) == {}
    return lambda image: motion.update(image, mats)


@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_mat_that_is_pushed_has_moved_and_the_other_has_not(table, shake, zone):
    moved = shake(table.moved(zone, 5.0).render(World(), 3))
    assert set(moved) == {zone} and 1.5 < moved[zone] < 6.0  # away from the camera it looks shorter


@pytest.mark.parametrize("by_mm", [-30.0, -15.0, 15.0, 30.0])
def test_a_mat_that_is_jerked_far_has_moved_though_its_near_edge_shows_more_of_it(table, shake, by_mm):
    assert set(shake(table.moved("A", by_mm).render(World(), 3))) == {"A"}


def test_a_camera_that_is_pushed_moves_no_mat(table, shake):
    assert shake(np.roll(table.sim.render(World(), 3), 6, axis=1)) == {}
