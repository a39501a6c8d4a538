"""Low towers beside high ones: what tells a height, in views drawn here from known places."""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from referee.vision.city import heights, mixed
from referee.vision.city.drawn import MOST_STOREYS, TowerPose
from referee.vision.city.mixed import side_tags
from referee.vision.city.reading import FLOORS, SITES, CityReading, Tower
from referee.vision.render.solids import FACES

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


def painted_looks(azimuths: tuple[int, ...]) -> CityReading:
    """Pictures of THERE whose every side is one colour, on grey paper; read as they are."""
    one, codes = reading_of(azimuths, THERE), {YELLOW: (40, 190, 230), BLUE: (170, 90, 30)}
    for look in one.looks:
        look.view.image = np.full((*look.view.valid.shape, 3), 200, np.uint8)
        tags = side_tags(look, one)
        for tag in np.unique(tags[tags >= 0]):
            storey, face = divmod(int(tag), FACES)
            color = THERE[storey // MOST_STOREYS][storey % MOST_STOREYS]
            look.view.image[tags == tag] = (np.array(codes[color]) * (1 - 0.12 * (face % 4))).astype(np.uint8)
    return one


@pytest.mark.parametrize("mistaken", [(YELLOW,), (YELLOW, BLUE, YELLOW), THERE[LOW]])
def test_a_height_that_pixels_leave_open_is_told_by_what_explains_the_pictures(mistaken, monkeypatch):
    """A storey more or fewer than there are is read, and that which is there is told."""
    monkeypatch.setattr(heights, "OPEN_NATS", 1e9)
    reading = painted_looks((20, 200, 110))
    reading.towers[LOW] = Tower(mistaken)
    for site in set(SITES) - set(reading.towers):
        reading.towers[site] = Tower()
    open_heights = heights.OpenHeights(reading)
    open_heights.sites = [LOW, HIGH]
    margins = open_heights.told()
    assert {site: len(tower.colors) for site, tower in reading.towers.items() if tower.colors} == {LOW: 2, HIGH: 5}
    assert margins[LOW] > heights.SURE_NATS and margins[HIGH] > heights.SURE_NATS


def test_what_lies_side_by_side_is_unmixed():
    """Two stripes three pixels wide, spread as far as colour is: their colours and the paper's are found again."""
    tags = np.full((30, 60), -1)
    tags[:, 20:40] = np.arange(20) // 3 % 2
    colors = np.array([[0.6, 0.3, 0.7], [0.2, 0.6, 0.4], [0.8, 0.5, 0.5]])
    image = np.stack(
        [cv2.GaussianBlur(colors[tags, k], (0, 0), spread) for k, spread in enumerate(mixed.SPREAD_PX)], -1
    ).astype(np.float32)
    valid = np.ones(tags.shape, bool)
    sides, told, pixels, left = mixed.unmixed(image, tags, mixed.clear_of(tags, valid), valid)
    assert sides.tolist() == [0, 1] and told == pytest.approx(colors[:2], abs=0.02)
    assert np.abs(left).max() < 0.03 and (pixels < (tags >= 0).sum() / 2).all()
