"""The camera of city_towers: stacks on printed plans, from a table that the witness traced.

``tests/golden/city`` is table 101 of ``tests/witness/make_cities.py`` at 960 x 540 from four sides and from above, with
stones of another workshop; its ``three_sides`` table 820, one plan at 640 pixels across.
``tests/games/bench_cities.py`` counts over many tables.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.camera import load_camera
from cards.pieces import builtin_piece_set, load_piece_set
from referee.cli import cli
from referee.games.catalogue import GAMES
from referee.games.city_towers.rules import PlayStone
from referee.vision.city.overlay import overlay
from referee.vision.city.sight import CityEye, Sighting

GOLDEN = Path(__file__).parents[1] / "golden" / "city"
PICTURES = sorted(GOLDEN.glob("look_*.jpg"))
TRUTH = json.loads((GOLDEN / "truth.json").read_text())["cities"]
SMALL = GOLDEN / "three_sides"
SIDES = sorted(SMALL.glob("look_*.jpg"))
((SMALL_CITY, SMALL_TRUTH),) = json.loads((SMALL / "truth.json").read_text())["cities"].items()

pytestmark = pytest.mark.slow


def look(pictures: list[np.ndarray], folder: Path = GOLDEN) -> Sighting:
    return CityEye(load_piece_set(folder / "pieces.json"), load_camera(folder / "camera.yaml")).look(pictures)


@pytest.fixture(scope="module")
def seen() -> Sighting:
    return look([cv2.imread(str(path)) for path in PICTURES])


def test_every_tower_is_read_storey_by_storey(seen):
    assert set(seen.cities) == {1, 2}
    right = [
        seen.cities[int(city)].sites[int(site)].colors == tuple(there)
        for city, sites in TRUTH.items()
        for site, there in sites.items()
        if there
    ]
    assert len(right) == 14 and all(right)


def test_what_is_sure_is_right_and_the_paper_between_six_towers_in_their_glow_is_free(seen):
    for city, sites in TRUTH.items():
        for site, there in sites.items():
            sight = seen.cities[int(city)].sites[int(site)]
            assert not sight.sure or sight.colors == tuple(there), (city, site)
    between = seen.cities[1]
    assert between.sites[5].sure and between.sites[5].colors == ()
    assert between.allows(5, []) and not between.allows(5, [0, 0])


def test_what_is_on_record_is_allowed_and_one_storey_more_or_another_colour_is_not(seen):
    city, names = seen.cities[2], list(load_piece_set(GOLDEN / "pieces.json").colors)
    there = [names.index(color) for color in TRUTH["2"]["9"]]
    assert city.allows(9, there)
    assert not city.allows(9, there[:-1]) and not city.allows(9, [*there, there[-1]]) and not city.allows(9, [])
    assert not city.allows(9, [(there[0] + 1) % len(names), *there[1:]])


def test_a_hand_before_the_towers_in_one_picture_is_no_stone():
    pictures = [cv2.imread(str(path)) for path in SIDES]
    cv2.ellipse(pictures[0], (325, 188), (38, 26), 20, 0, 360, (130, 160, 205), -1)
    found = look(pictures, SMALL).cities[int(SMALL_CITY)]
    for site, there in SMALL_TRUTH.items():
        assert not found.sites[int(site)].sure or found.sites[int(site)].colors == tuple(there), site
    assert sum(s.sure for s in found.sites.values()) < 9


def test_one_side_alone_is_never_enough():
    (city,) = look([cv2.imread(str(SIDES[1]))] * 2, SMALL).cities.values()
    codes = [[reason.code for reason in sight.reasons] for sight in city.sites.values()]
    assert len(codes) == 9 and all("city_one_side" in row for row in codes)


def test_the_stone_that_is_not_yet_on_record_is_proposed(seen):
    setup = GAMES["city_towers"].setup(["Ann", "Ben", "Cem", "Dia"], {}, 4, "scorer")
    state = GAMES["city_towers"].create(setup, GAMES["city_towers"].begin(setup))
    names = list(load_piece_set(GOLDEN / "pieces.json").colors)
    towers = [()] * 54
    for city, sites in TRUTH.items():
        for site, there in sites.items():
            towers[(int(city) - 1) * 9 + int(site) - 1] = tuple((names.index(color), 1) for color in there)
    told = GAMES["city_towers"].proposal(replace(state, towers=tuple(towers)), seen.cities)
    assert told.command is None and not told.differ and told.unknown in ((), ((1, 5),))
    towers[9 + 3] = towers[9 + 3][:-2]
    told = GAMES["city_towers"].proposal(replace(state, towers=tuple(towers)), seen.cities)
    assert told.command == PlayStone(names.index("yellow"), 2, 4, 2)


def test_the_overlay_shows_every_picture_of_the_city(seen):
    drawn = overlay(seen.cities[1])
    assert drawn.shape[0] == 720 and drawn.shape[1] > 900


def test_game_look_says_what_stands_there(tmp_path):
    asked = ["game", "look", *map(str, SIDES), "--stones", str(SMALL / "pieces.json")]
    done = CliRunner().invoke(cli, [*asked, "--overlay", str(tmp_path / "o")])
    assert done.exit_code == 0 and f"city {SMALL_CITY}:" in done.output
    told = re.findall(r"site (\d): (\d+) high", done.output)
    assert dict(told) == {site: str(len(there)) for site, there in SMALL_TRUTH.items() if there}
    assert (tmp_path / "o" / f"city{SMALL_CITY}.png").exists()


def test_game_look_on_a_picture_without_a_plan_is_one_clear_line(tmp_path):
    cv2.imwrite(str(tmp_path / "bare.png"), np.full((300, 400, 3), 200, np.uint8))
    done = CliRunner().invoke(cli, ["game", "look", str(tmp_path / "bare.png")])
    assert "no city plan is in view" in str(done.exception)


def test_the_usual_stones_are_the_games_stones():
    stones = builtin_piece_set("city_stones")
    assert {count for _, _, count in stones.pieces} == {11, 6, 4, 3} and stones.count == 4 * 24
    assert CityEye(stones).storey.high == 10
