"""Colours that light does not move, palettes as files, and the figures of a rig with their limits."""

from __future__ import annotations

import dataclasses
import json

import cv2
import numpy as np
import pytest

from calibration.camera import guessed_camera
from calibration.errors import BadPalette
from calibration.mat import MatPose, Mats
from calibration.palette import (
    CHUNK,
    LINEAR,
    WOOD,
    Palette,
    color_features,
    drifted_palette,
    learn_palette,
    learn_wear,
    lit_as,
    load_palette,
    nominal_palette,
    save_palette,
)
from calibration.quality import picture_faults, quality_figure, rig_quality, sharpness, tilt_deg
from cards.pieces import builtin_piece_set, parse_piece_set

PIECES = builtin_piece_set()
WHITE = np.array([0.8, 0.8, 0.8])
PINK = {"colors": {"pink": {"mean": [0, 0, 0], "covariance": np.eye(3).tolist()}}}


def codes(linear: np.ndarray) -> np.ndarray:
    """Linear light (…, 3) RGB as 8-bit BGR."""
    return np.searchsorted(LINEAR, np.clip(linear, 0, 1)).clip(0, 255).astype(np.uint8)[..., ::-1]


@pytest.mark.parametrize(
    ("code", "light"),
    [
        (0, 0.0),
        (1, 0.000304),
        (10, 0.003035),
        (11, 0.003347),
        (15, 0.004777),
        (64, 0.051269),
        (188, 0.502886),
        (255, 1),
    ],
)
def test_srgb_is_the_standards(code, light):
    """IEC 61966-2-1: a line up to code 10, then a power."""
    assert LINEAR[code] == pytest.approx(light, abs=1e-6)


def test_paper_is_the_origin():
    assert color_features(codes(WHITE[None]), WHITE)[0] == pytest.approx((np.log(1.02),) * 1 + (0, 0), abs=0.01)


def test_the_lamps_colour_cancels():
    """A warm lamp tints paper and piece alike: the features stay."""
    piece, warm = np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.75, 0.45])
    neutral = color_features(codes(piece[None] * 0.8), WHITE)[0]
    tinted = color_features(codes(piece[None] * warm * 0.8), WHITE * warm)[0]
    assert tinted == pytest.approx(neutral, abs=0.05)


def test_shade_moves_brightness_alone():
    piece = np.array([[0.5, 0.3, 0.2]])
    lit, shaded = color_features(codes(piece), WHITE)[0], color_features(codes(piece * 0.5), WHITE)[0]
    assert lit[0] - shaded[0] > 0.5 and shaded[1:] == pytest.approx(lit[1:], abs=0.12)


def test_nominal_colours_are_their_own():
    palette = nominal_palette(PIECES, haze=0.0)
    for k, name in enumerate(palette.names):
        pixel = color_features(codes(LINEAR[np.array(PIECES.rgb(name))][None] * 0.8 * WHITE), WHITE)
        assert palette.log_density(pixel)[:, 0].argmax() == k


def test_log_density_is_that_of_the_gaussians():
    palette = nominal_palette(PIECES)
    spread = np.array([[0.2, 0.05, 0.0], [0.05, 0.1, -0.02], [0.0, -0.02, 0.15]])
    palette = Palette(palette.names, palette.means, np.tile(spread, (len(palette.names), 1, 1)), palette.learnt)
    some = np.random.default_rng(5).normal(size=(CHUNK + 7, 3)).astype(np.float32)
    off = some[:, None] - palette.means
    want = -0.5 * np.einsum("nki,ij,nkj->kn", off, np.linalg.inv(spread), off) - 0.5 * np.log(
        np.linalg.det(2 * np.pi * spread)
    )
    assert np.abs(palette.log_density(some) - want).max() < 1e-2


def test_learning_moves_the_colours_that_are_seen():
    rng = np.random.default_rng(3)
    start = nominal_palette(PIECES)
    shift = np.array([0.1, -0.1, 0.1])
    pixels = np.concatenate([mean + shift + rng.normal(0, 0.05, (800, 3)) for mean in start.means])
    learnt = learn_palette(PIECES, pixels.astype(np.float32))
    truth = start.means + shift
    assert np.abs(learnt.means - truth).max() < 0.25
    assert (learnt.learnt > 400).all()


def test_too_few_pixels_leave_the_nominal_palette():
    assert (learn_palette(PIECES, np.zeros((5, 3), np.float32)).learnt == 0).all()


def test_a_palette_is_read_back(tmp_path):
    palette = dataclasses.replace(nominal_palette(PIECES), piece_mm=38.125)
    save_palette(palette, tmp_path / "palette.json")
    back = load_palette(tmp_path / "palette.json", PIECES)
    assert (back.names, back.piece_mm) == (palette.names, 38.125)
    assert back.means == pytest.approx(palette.means, abs=1e-4)
    assert back.covariances == pytest.approx(palette.covariances, abs=1e-5)


def test_a_palette_file_keeps_so_many_digits(tmp_path):
    third = np.eye(3) / 3
    wear = dataclasses.replace(WOOD, mean=third[0], covariance=third * 2, share=1 / 3)
    palette = Palette(("red",), np.full((1, 3), 1 / 3), third[None], np.array([7.9]), wear, 20 / 3)
    save_palette(palette, tmp_path / "palette.json")
    file = json.loads((tmp_path / "palette.json").read_text())
    red = file["colors"]["red"]
    assert (red["mean"], red["covariance"][0], red["pixels"]) == ([0.33333] * 3, [0.333333, 0, 0], 7)
    assert (file["wear"]["mean"], file["wear"]["covariance"][2]) == ([0.33333, 0, 0], [0, 0, 0.666667])
    assert (file["wear"]["share"], file["piece_mm"]) == (0.3333, 6.667)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"colors": {}}, "colors"),
        (
            {"colors": {"red": {"mean": [0, 0], "covariance": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}},
            "3 numbers|mean needs 3",
        ),
        ({"colors": {"red": {"mean": [0, 0, 0]}}}, "not a palette"),
        ({"colors": {"red": {"mean": [0, 0, 0], "covariance": [[0] * 3] * 3}}}, "not a palette"),
        (
            {"colors": PINK["colors"] | {"teal": PINK["colors"]["pink"]}},
            "colours are pink, teal, the piece set has red, blue, green, orange$",
        ),
    ],
)
def test_a_bad_palette_is_refused_with_its_fault(tmp_path, change, fault):
    path = tmp_path / "palette.json"
    path.write_text(json.dumps(change))
    with pytest.raises(BadPalette, match=fault) as raised:
        load_palette(path, PIECES)
    assert "palette.json" in str(raised.value) and "\n" not in str(raised.value)


def test_what_is_no_text_is_no_palette(tmp_path):
    (tmp_path / "palette.json").write_bytes(b"\xff")
    with pytest.raises(BadPalette, match=r"not a palette \('utf-8' codec"):
        load_palette(tmp_path / "palette.json")


def test_a_palette_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(BadPalette, match=r"palette\.json: No such file"):
        load_palette(tmp_path / "palette.json")


def test_tilt_by_hand():
    """A camera 300 mm up and 400 mm away looks down at atan(3/4) = 36.87 degrees."""
    rotation = np.diag([1.0, -1, -1])
    pose = MatPose("A", rotation, -rotation @ np.array([0.0, -400, 300]), (0, 1, 2, 3), 0.3)
    assert tilt_deg(pose) == pytest.approx(36.87, abs=0.01)


def test_figures_pass_and_fail_with_advice():
    assert quality_figure("scale", 1.4).passed and quality_figure("scale", 1.4).advice == ""
    low = quality_figure("scale", 0.4)
    assert not low.passed and "closer" in low.line() and low.line().startswith("FAIL")


def test_a_rig_seen_from_straight_above_is_told_to_lower_its_camera():
    gray = np.full((720, 1280), 120, np.uint8)
    cv2.rectangle(gray, (500, 250), (780, 470), 220, -1)
    pose = MatPose("A", np.diag([1.0, -1, -1]), np.array([0.0, 0, 1000]), (0, 1, 2, 3), 0.3)
    found = {f.name: f for f in rig_quality(gray, Mats(guessed_camera(1280, 720), {"A": pose}))["A"]}
    assert found["tilt"].value == pytest.approx(90) and "lower the camera" in found["tilt"].advice
    assert found["scale"].value == 1.0 and found["field in view"].value == pytest.approx(100)


def test_a_mat_half_out_of_the_picture_fails():
    gray = np.full((720, 1280), 120, np.uint8)
    pose = MatPose("A", np.diag([1.0, -1, -1]), np.array([-640 / 0.9984, 0.0, 1000]), (1, 2), 0.3)
    found = {f.name: f for f in rig_quality(gray, Mats(guessed_camera(1280, 720), {"A": pose}))["A"]}
    assert found["field in view"].value == pytest.approx(50, abs=1) and not found["field in view"].passed


def edge(blur_px: float) -> np.ndarray:
    gray = np.full((200, 200), 40, np.uint8)
    gray[:, 100:] = 220
    gray[100:, :100] = 220
    return cv2.GaussianBlur(gray, (0, 0), blur_px) if blur_px else gray


def test_sharpness_falls_with_blur():
    everywhere = np.ones((200, 200), bool)
    values = [sharpness(edge(b), everywhere) for b in (0, 0.8, 2, 6)]
    assert values == sorted(values, reverse=True) and values[0] > 0.9 and values[-1] < 0.1


@pytest.mark.parametrize(
    ("gray", "fault"),
    [
        (np.zeros((100, 100), np.uint8), "black"),
        (np.full((100, 100), 255, np.uint8), "white"),
        (np.full((100, 100), 128, np.uint8), "one grey"),
        (edge(25), "blurred"),
    ],
)
def test_pictures_beyond_use_are_named(gray, fault):
    assert fault in picture_faults(gray)[0]


def test_a_sharp_picture_has_no_fault():
    assert picture_faults(edge(0)) == ()


def test_foreground_teaches_nothing_about_white_and_grey():
    """They look like paper and its shadows, so the foreground near them is the rims of other pieces."""
    cube = {"kind": "box", "width": 30, "depth": 30, "height": 30}
    colors = {"red": "#c02028", "white": "#ece8e0", "grey": "#8c8e90", "black": "#28282c"}
    pieces = parse_piece_set(
        {"name": "greys", "shapes": {"cube": cube}, "colors": colors, "pieces": [["cube", name, 1] for name in colors]}
    )
    before = nominal_palette(pieces)
    rng = np.random.default_rng(5)
    shown = [before.means[k] + rng.normal(0, 0.1, (2000, 3)) for k in (0, 3)]
    rims = before.means[0] * (0.5, 0.4, 0.4) + rng.normal(0, 0.15, (1500, 3))  # red bled into the paper
    after = learn_palette(pieces, np.concatenate([*shown, rims]))
    assert after.learnt[[1, 2]].tolist() == [0, 0]
    assert np.abs(after.means[[1, 2], 1:] - before.means[[1, 2], 1:]).max() < 0.02
    assert after.learnt[[0, 3]].min() > 1500


def painted_pixels(worn: float, rng: np.random.Generator) -> np.ndarray:
    """Features of pieces in all colours, that share of them worn to a wood a little off the usual one."""
    paint = np.concatenate([mean + rng.normal(0, 0.15, (1500, 3)) for mean in nominal_palette(PIECES).means])
    wood = WOOD.mean + (0.1, 0.1, -0.1) + rng.normal(0, 0.12, (int(worn * len(paint)), 3))
    return np.concatenate([paint, wood]).astype(np.float32)


def test_wear_is_learnt_from_worn_pieces():
    pixels = painted_pixels(0.2, np.random.default_rng(7))
    worn = learn_wear(learn_palette(PIECES, pixels), PIECES, pixels)
    assert worn.wear.share == pytest.approx(0.2 / 1.2, abs=0.04)
    assert worn.wear.mean == pytest.approx(WOOD.mean + (0.1, 0.1, -0.1), abs=0.08)
    assert np.abs(worn.means - nominal_palette(PIECES).means).max() < 0.25


def test_sound_paint_has_no_wear():
    pixels = painted_pixels(0.0, np.random.default_rng(7))
    palette = learn_palette(PIECES, pixels)
    assert learn_wear(palette, PIECES, pixels) is palette


def test_wear_is_read_back(tmp_path):
    save_palette(dataclasses.replace(nominal_palette(PIECES), wear=WOOD), tmp_path / "palette.json")
    back = load_palette(tmp_path / "palette.json", PIECES).wear
    assert (back.mean, back.share) == (pytest.approx(WOOD.mean), WOOD.share)
    assert back.covariance == pytest.approx(WOOD.covariance, abs=1e-5)


def test_wear_in_a_file_that_is_none_is_a_bad_palette(tmp_path):
    save_palette(dataclasses.replace(nominal_palette(PIECES), wear=WOOD), tmp_path / "palette.json")
    file = json.loads((tmp_path / "palette.json").read_text())
    file["wear"]["share"] = 1.5
    (tmp_path / "palette.json").write_text(json.dumps(file))
    with pytest.raises(BadPalette, match="wear"):
        load_palette(tmp_path / "palette.json", PIECES)


@pytest.mark.parametrize(("left", "added"), [(0.5, 0.0), (1.0, 0.04)], ids=["half the light", "a sheen"])
def test_a_colour_follows_the_light_down_to_the_noise(left, added):
    """The mean of a colour at half its light is where its features at half the light are; under a sheen likewise."""
    palette = nominal_palette(PIECES, haze=0.0)
    linear = LINEAR[np.array([PIECES.rgb(name) for name in palette.names])] * 0.8
    log = np.log(linear * left + added + 0.02)
    want = np.stack([log.mean(1), log[:, 0] - log[:, 1], log[:, 2] - (log[:, 0] + log[:, 1]) / 2], 1)
    assert lit_as(palette, left, added).means == pytest.approx(want, abs=1e-5)


@pytest.mark.parametrize("factor, step", [(0.6, (0.0, 0.0, 0.0)), (1.0, (-0.3, 0.05, -0.1)), (0.7, (0.1, 0.05, 0.05))])
def test_a_palette_drifts_with_the_light_of_the_frame(factor, step):
    """Saturation and light change for all colours alike."""
    learnt = nominal_palette(PIECES)
    narrow = dataclasses.replace(learnt, covariances=learnt.covariances / 9)
    rng = np.random.default_rng(3)
    there = narrow.means * (1.0, factor, factor) + step
    pixels = np.concatenate(
        [rng.multivariate_normal(m, c, 800) for m, c in zip(there, narrow.covariances, strict=True)]
    )
    hand = rng.normal((-0.5, 1.4, -2.6), 0.05, (1500, 3))
    moved = drifted_palette(narrow, np.concatenate([pixels, hand]).astype(np.float32))
    before, after = (np.abs(p.means - there)[:, 1:].max() for p in (narrow, moved))
    assert after < 0.15 and (after < before / 2 or before < 0.15)
    assert np.array_equal(moved.covariances, narrow.covariances)


def test_a_frame_with_hardly_any_foreground_moves_no_colour():
    learnt = nominal_palette(PIECES)
    assert drifted_palette(learnt, np.zeros((20, 3), np.float32)) is learnt
