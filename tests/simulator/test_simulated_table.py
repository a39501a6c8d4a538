"""The simulated table's pictures: right geometry by an independent reader, deterministic, marked, quick."""

from __future__ import annotations

import time
from contextlib import closing
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from posed_table import PosedTable

from calibration.mat import BAND
from cards.build import parse_build
from cards.pieces import builtin_piece_set
from referee.devices.ports import SystemClock
from referee.simulator.build_plans import spread_set
from referee.simulator.meshes import turn_about_z
from referee.simulator.players import loose_places, without_band
from referee.simulator.rig import SimulatedCamera, SimulatedTable, Staging
from referee.simulator.table import SEATINGS, Hand

SET = builtin_piece_set()
TOWER = parse_build("green rectangle 0 front @ 0 0 12.5; blue cube 0 front @ 0 0 40.0; red triangle 0 front @ 0 0 72.5")


def on_table(seat, points):
    """Points of a seat's mat (n, 3) mm in the table's frame."""
    return points @ seat.turn().T + (seat.x, seat.y, 0.0)


@pytest.fixture(scope="module")
def sim() -> PosedTable:
    return PosedTable(SET, 4)


def test_the_same_world_gives_the_same_picture(sim):
    again = PosedTable(SET, 4)
    assert np.array_equal(sim.picture({"A": TOWER}, number=3), again.picture({"A": TOWER}, number=3))


@pytest.mark.parametrize("seating", sorted(SEATINGS))
def test_opencv_finds_all_markers_where_the_lens_says(seating):
    sim = PosedTable(SET, 9, seating=seating)
    settings = cv2.aruco.DetectorParameters()
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250), settings)
    corners, ids, _ = detector.detectMarkers(cv2.cvtColor(sim.empty(), cv2.COLOR_BGR2GRAY))
    assert sorted(ids.ravel()) == list(range(8))
    for quad, marker in zip(corners, ids.ravel(), strict=True):
        seat = sim.seats["AB"[marker // 4]]
        x, y = ((-121, -77.5), (121, -77.5), (121, 77.5), (-121, 77.5))[marker % 4]
        square = np.array([(x - 22, y + 22, 0), (x + 22, y + 22, 0), (x + 22, y - 22, 0), (x - 22, y - 22, 0)])
        wanted, _ = sim.lens.project(on_table(seat, square))
        assert np.abs(quad[0] - wanted).max() < 0.6


@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_cube_covers_the_pixels_that_its_corners_say(sim, zone):
    cube = parse_build("blue cube 0 front @ 20 5 15 yaw 10")
    picture, empty = (sim.picture(builds, {}).astype(int) for builds in ({zone: cube}, {}))
    blue = (picture[..., 0] > picture[..., 2] * 1.8) & (np.abs(picture - empty).max(2) > 30)
    seen = np.argwhere(blue)[:, ::-1]
    corners = np.array([(x, y, z) for x in (-15, 15) for y in (-15, 15) for z in (0, 30)])
    wanted, _ = sim.lens.project(on_table(sim.seats[zone], corners @ turn_about_z(10).T + (20, 5, 0)))
    assert np.abs(seen.min(0) - wanted.min(0)).max() < 1.5
    assert np.abs(seen.max(0) + 1 - wanted.max(0)).max() < 1.5


def test_every_picture_says_that_it_is_simulated(sim):
    top = sim.empty()[: sim.lens.height // 26]
    assert top.min() < 60 and top.max() > 240


def test_a_hand_is_seen(sim):
    hands = {"A": Hand((0.0, -30.0, 80.0))}
    bare = sim.picture({"A": TOWER})
    seen = sim.picture({"A": TOWER}, hands=hands, number=0)
    assert (np.abs(seen.astype(int) - bare).max(2) > 40).mean() > 0.005


def test_loose_pieces_lie_outside_the_field(sim):
    for seed in range(12):
        for piece in loose_places(SET, seed):
            assert abs(piece.centre[0]) > 95 or abs(piece.centre[1]) > 50


@pytest.mark.parametrize("seating", SEATINGS)
def test_who_builds_organ_pipes_has_nothing_of_the_neighbours_in_the_band(seating):
    for seed in range(3, 9):
        seats = PosedTable(SET, seed, seating=seating).seats
        places = {zone: without_band(SET, loose_places(SET, seed * 31 + ord(zone))) for zone in seats}
        lying = np.concatenate([on_table(seats[z], np.array([p.centre for p in places[z]])) for z in seats])
        assert len(lying) == 20
        for seat in seats.values():
            there = (lying - (seat.x, seat.y, 0.0)) @ seat.turn()
            assert (np.abs(there[:, :2]) > np.array(BAND)).any(1).all()


def test_a_busy_machine_learns_what_stands_there_and_not_what_stood_before(monkeypatch):
    table = PosedTable(SET, 5)
    monkeypatch.setattr(table, "clean", lambda world: len(world.pieces.get("A", ())))

    def developed_late(still, number):
        time.sleep(0.2)
        return still

    monkeypatch.setattr(table, "develop", developed_late)
    rig, seen = SimulatedTable(SET, SystemClock(), Staging(5, "across", True, 15.0), table), []

    def learn(image):
        time.sleep(0.05)
        seen.append(image)

    with closing(SimulatedCamera(table, rig.players, SystemClock())) as rig.camera:
        rig.set_up(SimpleNamespace(learn_empty=learn, learn_colors=learn))
    assert seen == [0, len(spread_set(SET))]
