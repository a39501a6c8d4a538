"""Paper that a coloured shadow makes look like a stone is known by how it lies, in views drawn here."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from calibration.palette import Palette
from referee.vision.city.drawn import CityPicture, TowerPose, drawn
from referee.vision.city.reading import CityReading, Tower
from referee.vision.city.tinted import tint_distributions, tinted_paper, with_tinted_paper
from referee.vision.image.evidence import Evidence

sys.path.insert(0, str(Path(__file__).parent))
from test_strange_spots import AZIMUTHS, BROWNISH, STONE, look_from, show

SITE, HIGH = 5, 4
BROWN = Palette(("blue", "brown"), np.array([(-1.0, -0.5, 1.5), (-0.7, 0.3, -0.8)]), np.array([np.eye(3) / 9] * 2), ())


@pytest.fixture
def looks() -> list[CityPicture]:
    return [look_from(azimuth) for azimuth in AZIMUTHS]


def brown_tower(looks: list[CityPicture]) -> CityReading:
    return CityReading(looks, STONE, {SITE: Tower((1,) * HIGH, TowerPose())})


def test_a_tower_read_of_a_coloured_shadow_tells_what_paper_looks_like_there(looks):
    for look in looks:
        look.evidence.features[:] = BROWNISH
        show(look, 0.0)
    found = tinted_paper([brown_tower(looks)])
    assert len(found) > 500 and np.allclose(found, BROWNISH)


def test_a_tower_that_stands_tells_nothing_of_paper(looks):
    reading = brown_tower(looks)
    for look in looks:
        one = drawn(look, STONE, SITE, TowerPose(), range(HIGH, HIGH + 1))
        look.evidence.features[one.box][one.tags[0] >= 0] = BROWNISH
    assert len(tinted_paper([reading])) == 0


def test_before_tinted_paper_its_colour_says_little_and_others_what_they_did():
    features = np.float32([[BROWNISH, (-1.0, -0.5, 1.5)]])
    gains = np.full((2, 1, 2), -4.0, np.float32)
    gains[1, 0, 0] = gains[0, 0, 1] = 4.0
    evidence = Evidence((), gains, np.zeros((1, 2), np.int8), np.ones(3), features, np.zeros((1, 2), np.float32))
    rng = np.random.default_rng(1)
    paper = tint_distributions(np.float32(BROWNISH + rng.normal(0.0, 0.1, (600, 3))))
    seen = with_tinted_paper(CityPicture(SimpleNamespace(), evidence), paper, BROWN).evidence.gains
    assert seen[1, 0, 0] < 0.5
    assert seen[0, 0, 1] == pytest.approx(4.0, abs=0.1)


def test_few_pixels_teach_nothing_and_without_tints_a_picture_stays_as_it_is(looks):
    assert tint_distributions(np.zeros((5, 3), np.float32)) is None
    assert with_tinted_paper(looks[0], None, BROWN) is looks[0]
