"""From whose side an arm comes: a patch of skin with a sleeve, drawn as the gate sees them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.mat import MatPose, Mats
from referee.simulator import room
from referee.simulator.lens import typical_lens
from referee.simulator.table import SEATINGS
from referee.vision.hands.fists import ReducedFrame, detect_fists
from referee.vision.hands.geometry import STRANGER, HandGeometry
from referee.vision.hands.tracker import HandTracker

SEEDS = range(300, 310)
OWN_MM, END_MM = np.array([60.0, -560.0, 190.0]), 760.0
"""A player's shoulder in the mat's frame, and how far from the table's middle somebody stands at its end."""
FORE_MM, FIST_MM, SLEEVE_MM = 150.0, 60.0, 70.0


def geometry_of(seed: int, seating: str) -> tuple[HandGeometry, dict[str, room.MatPlace]]:
    lens, seats = typical_lens(np.random.default_rng(seed)), SEATINGS[seating]
    poses = {
        zone: MatPose(
            zone, lens.turn @ seat.turn(), lens.turn @ (np.array([seat.x, seat.y, 0.0]) - lens.position), (), 0
        )
        for zone, seat in seats.items()
    }
    return HandGeometry(Mats(lens.model(), poses), 4), seats


def owners_of(
    geometry: HandGeometry, zone: str, fist: np.ndarray, shoulder: np.ndarray, below: float = 1.0
) -> list[str | None]:
    """Whose arm it is, from that fist (3,) to that shoulder in the mat's frame, where the picture shows it; ``below``:
    so much of the sleeve's lower half is new."""
    arm = shoulder - fist
    hand, along = geometry.pixels(geometry.mats.poses[zone], [fist, fist + arm / np.linalg.norm(arm) * FORE_MM])
    way = (along - hand) / np.linalg.norm(along - hand)
    skin, new = np.zeros((180, 320), np.uint8), np.zeros((180, 320), np.uint8)
    across = np.array([-way[1], way[0]]) * SLEEVE_MM / 2 * geometry.px_per_mm
    across *= np.sign(across[1]) or 1.0  # downwards in the picture
    for side, share in ((-across, 1.0), (across, below)):
        corners = [hand, hand + 400 * way, hand + 400 * way + side, hand + side]
        half = cv2.fillConvexPoly(np.zeros_like(new), np.round(corners).astype(np.int32), 1)
        new |= half & (np.random.default_rng(1).random(half.shape) < share).astype(np.uint8)
    cv2.circle(skin, tuple(map(int, hand.round())), round(FIST_MM / 2 * geometry.px_per_mm), 1, -1)
    frame = ReducedFrame(np.full(skin.shape, -1, np.int8), (skin | new) > 0, skin > 0)
    return [fist.owner for fist in HandTracker().update(detect_fists(frame, geometry), geometry)]


def hands(seating: str):
    """Geometry, zone, its seat and a bare fist over its field, over some rigs."""
    rng = np.random.default_rng(7)
    for seed in SEEDS:
        geometry, seats = geometry_of(seed, seating)
        for zone, seat in seats.items():
            yield geometry, zone, seat, np.array([rng.uniform(-60, 60), rng.uniform(-50, 10), rng.uniform(30, 120)])


@pytest.mark.parametrize("seating", SEATINGS)
def test_an_arm_from_the_tables_near_end_is_hardly_ever_a_players(seating):
    told = []
    for geometry, zone, seat, fist in hands(seating):
        end = seat.turn().T @ np.array([np.copysign(END_MM, seat.x) - seat.x, -seat.y, 190.0])
        told += owners_of(geometry, zone, fist, end)
    assert np.mean([owner == STRANGER for owner in told]) >= 0.85


@pytest.mark.parametrize("below", [1.0, 0.3], ids=["a whole sleeve", "one as dark as the table below"])
@pytest.mark.parametrize("seating", SEATINGS)
def test_a_players_own_arm_is_nobody_elses(seating, below):
    told = [
        (zone, owner)
        for geometry, zone, _, fist in hands(seating)
        for owner in owners_of(geometry, zone, fist, OWN_MM, below)
    ]
    assert STRANGER not in {owner for _, owner in told}
    assert np.mean([owner in (zone, None) for zone, owner in told]) >= 0.95


@pytest.mark.parametrize("seating", SEATINGS)
def test_between_a_player_and_the_own_sheet_an_arm_may_lead_to_the_side(seating):
    told = []
    for geometry, zone, _, (x, _, _) in hands(seating):
        told += owners_of(geometry, zone, np.array([x, -260.0, 90.0]), np.array([x + 270.0, -560.0, 90.0]))
    assert told and STRANGER not in told
