"""Low towers beside high ones: what tells a height, in views drawn here from known places."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from referee.vision.city.drawn import TowerPose
from referee.vision.city.reading import FLOORS, CityReading, Tower
from referee.vision.city.sight import _told_beside

sys.path.insert(0, str(Path(__file__).parent))
from test_slipped_towers import BLUE, STONE, YELLOW, look_from

LOW, HIGH = 5, 8
THERE = {LOW: (YELLOW, BLUE), HIGH: (YELLOW, BLUE, *[YELLOW] * 3)}


def reading_of(azimuths: tuple[int, ...], towers: dict[int, tuple[int, ...]], seen: dict | None = None) -> CityReading:
    """``towers`` as they are read where the pictures show the towers ``seen``, pixel by pixel."""
    looks, bare = ([look_from(azimuth) for azimuth in azimuths] for _ in range(2))
    seen = seen or THERE
    storeys = CityReading(bare, STONE, {site: Tower(colors) for site, colors in seen.items()}).shown().storeys
    for look, shown in zip(looks, storeys, strict=True):
        for site, colors in seen.items():
            for n, color in enumerate(colors):
                look.evidence.gains[color][shown == site * FLOORS + n] = 4.0
    return CityReading(looks, STONE, {site: Tower(colors) for site, colors in towers.items()})


def test_a_height_is_told_whatever_a_tower_beside_was_called_where_it_was_not_seen():
    """City 731: a neighbour's blue second storey was called a third storey of the low tower, and then green."""
    mistaken = {**THERE, HIGH: (YELLOW, YELLOW, *THERE[HIGH][2:])}
    right, wrong = (reading_of((0, 180, 90), towers) for towers in (THERE, mistaken))
    scores = [[trial.score for trial in one.trials(LOW, TowerPose(), range(1, 5))] for one in (right, wrong)]
    assert scores[0] == pytest.approx(scores[1]) and int(np.argmax(scores[0])) == 1


def test_a_height_in_full_view_is_sure_and_another_is_told_by_a_side_beside_it():
    azimuths = (20, 110, 200, 290)
    assert not _told_beside(reading_of(azimuths, THERE), LOW, 399.0)
    assert not _told_beside(reading_of(azimuths, THERE), HIGH, 399.0)
    assert _told_beside(reading_of(azimuths, {**THERE, LOW: (YELLOW, BLUE, YELLOW)}), LOW, 399.0)
    assert _told_beside(reading_of(azimuths, {**THERE, LOW: (YELLOW,)}), LOW, 399.0)
    assert not _told_beside(reading_of(azimuths, {**THERE, LOW: (YELLOW,)}), LOW, 400.0)


def test_where_the_pictures_are_at_odds_the_height_is_told_beside():
    """One picture shows three storeys, three that nothing moved about show two: what is left of 4 nats a pixel for
    three is less than half."""
    more = {**THERE, LOW: (YELLOW, BLUE, BLUE)}
    one, others = reading_of((20,), more, more), reading_of((110, 200, 290), more)
    mixed = CityReading([*one.looks, *others.looks], STONE, one.towers)
    assert not _told_beside(one, LOW, 399.0) and _told_beside(mixed, LOW, 399.0)
