"""An empty frame is checked before it is believed, and the light is told where it is not the usual one."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest

from calibration.palette import LINEAR
from cards.build import Piece
from cards.card import HeightCard
from cards.pieces import Pose
from referee.match.verdict import Verdict
from referee.vision.image.view import zone_view
from referee.vision.observer import Observer, _white
from referee.vision.search.sizes import resized
from referee.vision.verdict.visibility import sized

CARD = HeightCard("H", 1, 2, 1)
LAID = tuple(Piece("cube", "blue", Pose(), x, 10, 15) for x in (-60, 0, 60))


def relit(frame: np.ndarray, red: float, green: float, blue: float) -> np.ndarray:
    light = LINEAR[frame] * np.float32((blue, green, red))
    return np.searchsorted(LINEAR, light.clip(0, 1)).clip(0, 255).astype(np.uint8)


def notes(rig, frame: np.ndarray, empty: np.ndarray) -> str:
    return " | ".join(Observer(rig.piece_set, rig.camera, empty=empty).judge([frame], CARD).notes)


@pytest.fixture(scope="module")
def bare(rig):
    return rig.photograph()


@pytest.fixture(scope="module")
def built(rig, tower):
    return rig.photograph({"A": tower, "B": tower})


def test_an_empty_frame_that_fits_is_used_without_a_word(rig, bare, built):
    assert notes(rig, built, bare) == ""


def test_an_empty_frame_of_elsewhere_is_left_out_and_the_build_is_judged_without(rig, make_rig, built):
    elsewhere = make_rig({"A": (-150, 30, 4), "B": (170, -20, 186)}).photograph()
    judgement = Observer(rig.piece_set, rig.camera, empty=elsewhere).judge([built], CARD)
    assert "does not fit mat A and B" in judgement.notes[0]
    assert {zone: v.ruling for zone, v in judgement.zones.items()} == {"A": "match", "B": "match"}


def test_only_the_mat_that_slid_loses_its_empty_frame(rig, make_rig, built):
    slid = make_rig({"A": (-165, 0, 0), "B": (165, 30, 180)}).photograph()
    assert "does not fit mat B:" in notes(rig, built, slid)


def test_an_empty_frame_with_pieces_on_it_is_refused(rig, built):
    assert "does not fit mat A" in notes(rig, built, rig.photograph({"A": LAID}))


@pytest.mark.parametrize(
    ("light", "said"),
    [
        ((1.3, 1.3, 1.3), "mat A is overexposed"),
        ((0.7, 0.7, 0.7), "the light is darker"),
        ((1.0, 0.9, 0.75), "the light is warmer"),
    ],
)
def test_another_light_is_told(rig, bare, built, light, said):
    assert said in notes(rig, relit(built, *light), bare)


def test_one_shadowed_field_is_told(rig, bare, built):
    dark = built.copy()
    half = cv2.rectangle(np.zeros(dark.shape[:2], np.uint8), (0, 0), (640, 720), 1, -1) > 0
    dark[half] = relit(built, 0.5, 0.5, 0.5)[half]
    assert "mat A lies in shadow" in notes(rig, dark, bare)


@pytest.mark.parametrize(("focal", "bend"), [(0.92, 0.0), (0.7, 0.0), (1.5, 0.0), (1.0, -0.35), (1.0, 0.2)])
def test_a_lens_file_of_another_lens_is_left_out_and_the_build_is_judged_without(rig, built, focal, bend):
    matrix = rig.camera.matrix * [[focal, 1, 1], [1, focal, 1], [1, 1, 1]]
    other = dataclasses.replace(rig.camera, matrix=matrix, distortion=np.array([bend, 0, 0, 0, 0]))
    judgement = Observer(rig.piece_set, other).judge([built], CARD)
    assert "the lens file does not fit the markers; left out" in judgement.notes
    assert {zone: v.ruling for zone, v in judgement.zones.items()} == {"A": "match", "B": "match"}
    assert judgement.mats.camera.focal_px == pytest.approx(rig.camera.focal_px, rel=0.02)


def test_an_empty_frame_teaches_no_colour_by_a_builds_shadow(rig, bare, built):
    """Without a colours frame colours come from the build itself: a shadow is none of them, whatever the aids."""
    x, y, r = *rig.pixel("A", 45, 0, 0), 26
    dark = built.copy()
    spot = cv2.circle(np.zeros(dark.shape[:2], np.uint8), (x, y), r, 1, -1) > 0
    dark[spot] = relit(built, 0.11, 0.11, 0.11)[spot]
    view = zone_view(dark, rig.camera, rig.poses["A"])
    observer, white = Observer(rig.piece_set, rig.camera, empty=bare), _white(view, view.image)
    table = observer._empties(observer.look(dark), [(view, white)])["A"].features
    taught = observer._foreground(view, white, 0, table, shadows=False)
    assert len(taught) > 1000 and not (np.abs(taught[:, 1:]).max(1) < 0.1).any()
    assert (np.abs(observer._foreground(view, white, 0, table)[:, 1:]).max(1) < 0.1).sum() > 300


def test_a_shadow_over_the_sheet_alone_does_not_fill_the_lit_room_with_pieces(rig, bare, built):
    """Beside paper in deep shadow a brown wall in the light is as bright as orange paint."""
    room = (np.abs(bare.astype(int) - (120, 118, 112)).max(-1) < 12) & (np.indices(bare.shape[:2])[0] < 330)
    wall = [np.where(room[..., None], np.uint8((44, 90, 150)), picture) for picture in (bare, built)]
    pieces = np.abs(built.astype(int) - bare).max(-1) > 20
    shaded = np.where((room & ~pieces)[..., None], wall[1], relit(built, 0.25, 0.25, 0.25))
    judgement = Observer(rig.piece_set, rig.camera, empty=wall[0]).judge([shaded], CARD, ["A"])
    beyond = ~judgement.views["A"].view.regions[0]
    assert (judgement.views["A"].evidence.labels[beyond] >= 0).mean() < 0.15
    assert judgement.zones["A"].ruling == "match"


def test_a_piece_file_that_is_far_off_is_told_and_robs_nobody(rig, bare):
    """Pieces a tenth smaller than the file says: a build that is not the card's by it may be the card's."""
    apart = tuple(
        Piece(shape, color, Pose(), x, 10, rig.piece_set.shapes[shape].height / 2)
        for shape, color, x in (("cube", "blue", -70), ("cylinder", "red", -25), ("rectangle", "green", 35))
    )
    colors = rig.photograph({"A": apart, "B": apart})
    factors = {}
    for scale in (1.0, 1.1):
        observer = Observer(resized(rig.piece_set, scale), rig.camera, empty=bare)
        observer.learn_colors(colors)
        factors[scale] = observer.learn_sizes(colors)
    assert factors[1.0] == pytest.approx(1.0, abs=0.03)
    assert factors[1.1] == pytest.approx(1 / 1.1, abs=0.04)
    assert "smaller than the piece file says" in " | ".join(observer.judge([colors], CARD).notes)
    robbed = sized(Verdict("mismatch", 0.99), factors[1.1])
    assert (robbed.ruling, robbed.leaning, robbed.reasons[0].code) == ("undecided", "mismatch", "wrong_sizes")
    assert sized(Verdict("mismatch", 0.99), factors[1.0]).ruling == "mismatch"
    assert sized(Verdict("match", 0.99), factors[1.1]).ruling == "match"
