"""From whose side an arm comes, by the way that it leads on the table; no picture is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.mat import MatPose, Mats
from referee.simulator import room
from referee.simulator.lens import typical_lens
from referee.simulator.table import SEATINGS
from referee.vision.hands.geometry import STRANGER, HandGeometry

SEEDS = range(300, 310)
OWN_MM, END_MM = np.array([60.0, -560.0, 190.0]), 760.0
"""A player's shoulder in the mat's frame, and how far from the table's middle somebody stands at its end."""
FORE_MM = 150.0


def geometry_of(seed: int, seating: str) -> tuple[HandGeometry, dict[str, room.MatPlace]]:
    lens, seats = typical_lens(np.random.default_rng(seed)), SEATINGS[seating]
    poses = {
        zone: MatPose(
            zone, lens.turn @ seat.turn(), lens.turn @ (np.array([seat.x, seat.y, 0.0]) - lens.position), (), 0
        )
        for zone, seat in seats.items()
    }
    return HandGeometry(Mats(lens.model(), poses), 4), seats


def owner_of(geometry: HandGeometry, zone: str, fist: np.ndarray, *shoulders: np.ndarray) -> str | None:
    """Whose arm leads from there to the first of these shoulders, and is so wide that it is seen towards all."""
    arms = [(to - fist) / np.linalg.norm(to - fist) * FORE_MM for to in shoulders]
    hand, *along = geometry.pixels(geometry.mats.poses[zone], [fist, *(fist + arm for arm in arms)])
    return geometry.owner(hand, (along - hand) / np.linalg.norm(along - hand, axis=1)[:, None])


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
        told.append((owner_of(geometry, zone, fist, end), owner_of(geometry, zone, fist, end, OWN_MM)))
    assert np.mean([owner == STRANGER for owner, _ in told]) >= 0.85
    assert {wide for owner, wide in told if owner == STRANGER} == {None}, "an arm as wide as that may be the player's"


@pytest.mark.parametrize("seating", SEATINGS)
def test_a_players_own_arm_is_nobody_elses(seating):
    told = [(zone, owner_of(geometry, zone, fist, OWN_MM)) for geometry, zone, _, fist in hands(seating)]
    assert STRANGER not in {owner for _, owner in told}
    assert np.mean([owner in (zone, None) for zone, owner in told]) >= 0.95
