"""The witness itself: its meshes are the contract's pieces, its truth holds, and a small picture shows both."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import mitsuba
import numpy as np
import pytest
from make_cities import KINDS, kind_of, make_table, things_on
from make_cities import truth as city_truth
from make_sessions import ZONES, drifted, grain, in_world, make_frames, make_rig, shoot, truth, worn
from witness_chance import worn_session
from witness_hidden import hidden_stand
from witness_sessions import ASHES, BARS, EMBERS, QUARTETS, SESSIONS, TIMBER
from witness_solids import Mesh, piece_mesh, placed
from witness_webcam import Webcam, take

from calibration.camera import CameraModel
from calibration.mat import detect_mats
from cards.build import Build, Piece
from cards.deck import load_deck
from cards.pieces import load_piece_set, parse_piece_set
from cards.stability import stands
from referee.benchmark.scoring import true_pieces

SETS = {data["name"]: data for data in (BARS, QUARTETS, TIMBER, EMBERS, ASHES)}
SHAPES = [(name, shape) for name, data in SETS.items() for shape in data["shapes"]]

TIP_MM = 2.1
"""A triangle's rounded tips end this much before the sharp ones; all else is true to a tenth."""


def volume(mesh: Mesh) -> float:
    """Of a closed mesh, mm³, by the divergence theorem; negative when it is inside out."""
    a, b, c = (mesh.points[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def solid_volume(spec: dict) -> float:
    """The contract's piece, edges sharp."""
    w, h, d, r = spec["width"], spec["height"], spec["depth"], spec.get("opening", 0) / 2
    area = {
        "box": w * h,
        "triangle": w * h / 2,
        "half_disc": math.pi * w * h / 4,
        "bridge": w * h - math.pi * r * r / 2,
        "crescent": math.pi * w * h / 4 - math.pi * r * r / 2,
        "cylinder": math.pi * w * w / 4,
    }[spec["kind"]]
    return area * (h if spec["kind"] == "cylinder" else d)


@pytest.mark.parametrize("name, shape", SHAPES)
def test_a_mesh_fills_the_contracts_piece(name, shape):
    spec = SETS[name]["shapes"][shape]
    assert volume(piece_mesh(spec)) == pytest.approx(solid_volume(spec), rel=0.01)


@pytest.mark.parametrize("name, shape", SHAPES)
def test_a_posed_mesh_takes_the_room_the_cards_say(name, shape):
    spec, of_cards = SETS[name]["shapes"][shape], parse_piece_set(SETS[name]).shapes[shape]
    for pose in of_cards.poses():
        mesh = placed(piece_mesh(spec), pose.rotation, pose.facing, (10.0, -5.0, 40.0), 0.0)
        assert np.ptp(mesh.points, axis=0) == pytest.approx(of_cards.size(pose), abs=TIP_MM)
        assert (mesh.points.min(0) + mesh.points.max(0)) / 2 == pytest.approx((10.0, -5.0, 40.0), abs=TIP_MM / 2)


def test_truth_holds_before_the_judge_and_the_line():
    rig = make_rig(replace(next(s for s in SESSIONS if s.name == "bars_day"), frames=4))
    frames = make_frames(rig, random.Random(5))
    for (card, _), row in zip(frames, truth(rig, frames)["frames"], strict=True):
        for zone in ZONES:
            told = row["zones"][zone]
            there = true_pieces(told, "build")
            assert bool(card.faults(Build(rig.pieces, there))) == (told["expected"] == "mismatch")
            assert all(abs(p.x) < 95 and abs(p.y) < 50 for p in there)
            assert all(abs(p.x) > 95 or abs(p.y) > 50 for p in true_pieces(told, "loose"))


def test_wear_shows_wood_rounds_edges_and_lets_the_camera_drift():
    worn_rig = replace(make_rig(worn_session(1)), session=worn_session(1))
    color = next(c for c in worn_rig.paints if c != "natural")
    new, used = grain(worn_rig, color).astype(int), worn(worn_rig, color, "A0").astype(int)
    bare = (np.abs(new - used).max(2) > 12).mean()
    assert 0.2 * worn_rig.session.wear.bare < bare < 2.5 * worn_rig.session.wear.bare
    cube = {"kind": "box", "width": 30, "height": 30, "depth": 30}
    assert volume(piece_mesh(cube, edge_mm=2.5)) < volume(piece_mesh(cube)) < 27000
    exposures = [drifted(worn_rig.session, k).exposure for k in range(6)]
    reach = 2**worn_rig.session.wear.stops
    assert len(set(exposures)) == 6 and max(exposures) / min(exposures) <= reach * reach
    assert drifted(SESSIONS[0], 3) == SESSIONS[0].webcam


def test_a_small_picture_shows_mats_and_pieces_where_the_truth_has_them():
    mitsuba.set_variant("scalar_rgb")
    small = Webcam(640, 360, 480, (321, 178), noise=1.0, blur_px=0.3, exposure=1.0)
    rig = make_rig(replace(SESSIONS[0], webcam=small, spp=6))
    cube = Piece("cube", "blue", rig.pieces.shapes["cube"].poses()[0], 20.0, 0.0, 15.0)
    light = shoot(rig, {"A": (cube,)}, 1)
    picture = take(light, small, np.quantile(light, 0.9, (0, 1)), np.random.default_rng(1))
    camera = CameraModel(640, 360, small.matrix, small.distortion)
    mats = detect_mats(picture.mean(2).astype(np.uint8), camera)
    assert set(mats.poses) == set(ZONES)
    turn, shift = rig.view.pose()
    blue, paper = (
        small.project(in_world(np.array([spot]), rig.mats[0]), turn, shift)[0].round().astype(int)
        for spot in ((20.0, 0.0, 30.0), (-70.0, 0.0, 0.0))
    )
    b, _, r = picture[blue[1], blue[0]].astype(int)
    paper_b, _, paper_r = picture[paper[1], paper[0]].astype(int)
    assert b / r > 2 * paper_b / paper_r


def test_a_citys_truth_names_the_color_of_every_storey_that_stands_there():
    table = make_table(3)
    told = city_truth(table)["cities"]
    assert len(told) == 2 and len(table.views) == 5
    for zone, towers in table.towers.items():
        rows = told[str("ABCDEF".index(zone) + 1)]
        assert sum(map(bool, rows.values())) == len(towers) and max(map(len, rows.values())) <= 12
        for site, tower in towers.items():
            assert rows[str(site)] == [color for color, storeys in tower for _ in range(storeys)]
    stones = sum(len(tower) for towers in table.towers.values() for tower in towers.values())
    assert len(things_on(table)) == stones + 2


def test_tables_of_kinds_have_one_plan_noise_and_very_unequal_neighbours():
    table, usual = make_table(4, kind="noisy unequal", plans=1), make_table(4)
    heights = {sum(n for _, n in tower) for tower in next(iter(table.towers.values())).values()}
    assert len(table.towers) == 1 and heights <= {1, 2, *range(8, 13)} and min(heights) <= 2 < max(heights)
    assert table.session.webcam.noise == 2 * usual.session.webcam.noise and table.session.webcam.quality <= 60
    assert {kind_of(seed) for seed in range(800, 808)} == set(KINDS)


@pytest.mark.parametrize("seed", range(4))
def test_a_piece_that_hides_another_can_stand_as_it_does(seed):
    folder = Path(__file__).parents[1] / "golden" / "two_views"
    pieces, (card, *_) = load_piece_set(folder / "pieces.json"), load_deck(folder / "deck.json").cards
    eyes = np.array((60.0, 500.0, 330.0)), np.array((420.0, 330.0, 450.0))
    stand = hidden_stand(card, pieces, eyes, 0, random.Random(seed))
    assert stand.loose and all(stands(pieces, (piece,)) for piece in stand.loose)
