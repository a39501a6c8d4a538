"""Whose hands are over a field, and how: rendered hands before the real gate."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "review"))

from staged_fouls import SET, Table

from cards.deck import builtin_deck
from referee.devices.ports import Frame
from referee.simulator.loose_pieces import loose_pieces
from referee.simulator.meshes import place
from referee.simulator.table import Hand, World
from referee.vision.live.arms import tongs_show
from referee.vision.live.fists import on_plane
from referee.vision.live.fouls import FoulWatch
from referee.vision.live.gate import Gate

pytestmark = pytest.mark.slow

TALL, LOW = builtin_deck().card("L20"), builtin_deck().card("L05")
AT_WORK, AWAY = Hand((0.0, -2.0, 40.0)), Hand((120.0, -240.0, 60.0))
TOUCHES = Hand((0.0, -5.0, 30.0), bare=True)
STEADIES = Hand((-35.0, -5.0, 30.0), bare=True, left=True)


@pytest.fixture(scope="module")
def table():
    """Two players opposite the camera."""
    return Table(12, "across", 360)


@pytest.fixture(scope="module")
def arms(table):
    """What is seen of these hands over builds that came after the go: ``arms(hands, more)``, by zone."""

    def look(hands, more=(), card=LOW):
        loose = {z: loose_pieces(SET, card.pieces, 12 + ord(z)) for z in "AB"}
        built = {z: [*loose[z], *(place(p) for p in card.pieces)] for z in "AB"}
        gate, watch = Gate(table.observer), FoulWatch()
        for n, world in enumerate((World(loose), World(built, hands, None, more))):
            gate.look(Frame(table.sim.render(world, n), n, n / 10))
            found = watch._arms(*gate.picture())
        return found

    return look


@pytest.mark.parametrize("card", [LOW, TALL])
def test_tongs_at_work_are_the_own_ones_and_no_bare_hand_behind_a_tall_build_either(arms, card):
    seen = arms({"A": AT_WORK, "B": AT_WORK}, card=card)
    assert {zone: (set(over.owners) <= {zone}, over.bare) for zone, over in seen.items()} == {
        "A": (True, False),
        "B": (True, False),
    }


@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_hand_without_tongs_at_a_piece_is_bare(arms, zone):
    seen = arms({zone: TOUCHES})
    assert seen[zone].bare and seen[zone].owners == (zone,) and seen[zone].hands == 1


@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_second_hand_counts_where_the_first_is_at_work_elsewhere(arms, zone):
    assert arms({zone: AWAY}, ((zone, STEADIES),))[zone].hands == 2


@pytest.mark.parametrize(("zone", "other"), [("A", "B"), ("B", "A")])
def test_a_hand_from_the_other_mat_is_its_players(table, arms, zone, other):
    hand = Hand(tuple(table.seen_from(zone, (0.0, -10.0, 40.0))))
    seen = arms({zone: hand})
    assert zone in seen[other].owners and not seen[other].bare


def test_hands_at_loose_pieces_are_in_no_field(arms):
    seen = arms({"A": AWAY, "B": AWAY})
    assert not any(over.owners or over.hands or over.bare for over in seen.values())


def test_a_pixel_shows_the_point_of_its_plane(table):
    mats = table.observer.look(table.sim.empty())
    point = np.array([30.0, -20.0, 70.0])
    pixel = mats.camera.project(mats.poses["A"].to_camera(point[None]))[0]
    assert np.allclose(on_plane(pixel, mats, mats.poses["A"], 70.0), point, atol=0.1)


def test_from_behind_a_player_nothing_is_said_of_a_bare_hand():
    beside = Table(13, "beside", 360)
    poses = beside.observer.look(beside.sim.empty()).poses
    assert not any(tongs_show(pose) for pose in poses.values())
