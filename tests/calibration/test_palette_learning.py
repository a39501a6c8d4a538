"""What a palette learns from pixels: haze, places, spreads, drift and wear, and what teaches it nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calibration.palette import (
    HAZES,
    LEAST_INNER,
    LEAST_PIXELS,
    WOOD,
    WOOD_REACH,
    color_features,
    drifted_palette,
    learn_palette,
    learn_wear,
    nominal_palette,
)
from cards.pieces import PieceSet, builtin_piece_set, parse_piece_set

PIECES = builtin_piece_set()
NOMINAL = nominal_palette(PIECES)
HAND = (0.4, 0.8, 3.5)
"""Features that no colour is near."""


def cubes(**colors: str) -> PieceSet:
    """A cube in each of these colours."""
    cube = {"kind": "box", "width": 30, "depth": 30, "height": 30}
    pieces = [["cube", name, 1] for name in colors]
    return parse_piece_set({"name": "cubes", "shapes": {"cube": cube}, "colors": colors, "pieces": pieces})


def cloud(mean, sd, n: int, seed: int = 1) -> np.ndarray:
    """Features (n, 3) spread about a mean."""
    return np.random.default_rng(seed).normal(mean, sd, (n, 3))


def clouds(means, sd=0.1, n: int = 1500) -> np.ndarray:
    """Features (len(means) n, 3): n spread about each mean."""
    return np.concatenate([cloud(mean, sd, n, seed) for seed, mean in enumerate(means)])


def test_an_empty_part_of_a_picture_has_no_features():
    assert color_features(np.zeros((4, 0, 3), np.uint8), np.ones(3)).shape == (4, 0, 3)


@pytest.mark.parametrize("channel", range(3))
def test_a_channel_that_the_paper_does_not_light_at_all_is_still_finite(channel):
    white = np.where(np.arange(3) == channel, 0.0, 0.8)
    assert np.isfinite(color_features(np.full((1, 1, 3), 128, np.uint8), white)).all()


def test_features_are_the_logarithms_of_the_light():
    """Half, a quarter and an eighth of the paper's light in R, G, B, beside the noise."""
    codes = np.array([[[99, 137, 188]]], np.uint8)  # B, G, R
    logs = np.log(np.array([0.5029, 0.2502, 0.1248]) + 0.02)
    want = (logs.mean(), logs[0] - logs[1], logs[2] - (logs[0] + logs[1]) / 2)
    assert color_features(codes, np.ones(3))[0, 0] == pytest.approx(want, abs=2e-3)


@pytest.mark.parametrize("haze", [0.0, 0.015, 0.03, 0.06, 0.1, 0.15])
def test_learning_begins_from_the_haze_that_fits(haze):
    shown = nominal_palette(PIECES, haze)
    assert learn_palette(PIECES, clouds(shown.means, 0.05), rounds=0).means == pytest.approx(shown.means)


def test_a_handful_of_pixels_is_the_least_that_teaches():
    pixels = clouds(nominal_palette(PIECES, HAZES[-1]).means, 0.05, LEAST_PIXELS)[::4]
    few, enough = learn_palette(PIECES, pixels[:-1], rounds=0), learn_palette(PIECES, pixels, rounds=0)
    assert few.means == pytest.approx(NOMINAL.means)
    assert enough.means == pytest.approx(nominal_palette(PIECES, HAZES[-1]).means)


@pytest.mark.parametrize(("sd", "near"), [((0.3, 0.2, 0.2), 0.15), ((0.5, 0.1, 0.3), 0.15), ((0.1, 0.05, 0.05), 0.05)])
def test_the_spread_of_a_colour_is_learnt(sd, near):
    """That of the pixels, of the usual one as 150 of them, and half of the least variance: neighbours err together."""
    learnt = learn_palette(PIECES, clouds(NOMINAL.means, sd, 8000))
    own = (8000 * np.square(sd) + 150 * np.square((0.45, 0.28, 0.28))) / 8150
    want = own + np.square((0.18, 0.09, 0.09)) / 2
    assert [np.diag(c) for c in learnt.covariances] == [pytest.approx(want, rel=near)] * len(learnt.names)


def test_a_mean_stays_near_the_nominal_one_while_few_pixels_speak_for_another():
    """As many pixels as the nominal colour counts for move it half way."""
    shift = np.array([0.0, 0.2, 0.0])
    learnt = learn_palette(PIECES, clouds(NOMINAL.means + shift, 0.02, 150))
    assert learnt.means - NOMINAL.means == pytest.approx(np.tile(shift / 2, (4, 1)), abs=0.03)


def test_colours_that_are_not_shown_follow_the_light_by_half():
    darker = NOMINAL.means[:2] - (0.4, 0.1, 0.0)
    learnt = learn_palette(PIECES, clouds(darker, 0.05, 4000))
    moved = learnt.means - NOMINAL.means
    assert moved[:2] == pytest.approx(np.array([(-0.4, -0.1, 0.0)] * 2), abs=0.03)
    assert moved[2:] == pytest.approx(np.array([(-0.2, 0.0, 0.0)] * 2), abs=0.03)


def test_few_pixels_of_one_colour_move_no_other():
    darker = NOMINAL.means[:2] - (0.4, 0.1, 0.0)
    assert learn_palette(PIECES, clouds(darker, 0.05, 400)).means[2:] == pytest.approx(NOMINAL.means[2:], abs=1e-3)


def test_a_colour_between_its_nominal_place_and_its_pixels_is_as_wide_as_both():
    """Half way between them, each 0.2 from the mean: that adds 0.04 to the mean of their variances."""
    learnt = learn_palette(PIECES, clouds(NOMINAL.means - (0.4, 0.0, 0.0), 0.02, 150))
    want = (0.02**2 + 0.45**2) / 2 + 0.04 + 0.18**2 / 2
    assert learnt.covariances[:, 0, 0] == pytest.approx(np.full(4, want), rel=0.05)


def test_a_pixel_that_no_colour_explains_better_than_chance_counts_less_than_half():
    """Chance: one of 250 over all features, 0.3 of each colour's weight, here four."""
    start = nominal_palette(PIECES, haze=0.0)
    top = -0.5 * np.log(np.linalg.det(2 * np.pi * start.covariances[0]))
    off = np.sqrt(2 * start.covariances[0, 0, 0] * (top + np.log(250)))
    pixels = np.tile(start.means[0] - (off, 0.0, 0.0), (600, 1))
    assert learn_palette(PIECES, pixels, rounds=0).means == pytest.approx(start.means)
    assert learn_palette(PIECES, pixels, rounds=1).learnt[0] == pytest.approx(600 / (1 + 4 * 0.3), rel=0.02)


def test_hands_teach_no_colour():
    """What fits none counts for none."""
    pixels = clouds(NOMINAL.means, 0.15)
    alone, beside = (
        learn_palette(PIECES, pixels),
        learn_palette(PIECES, np.concatenate([pixels, cloud(HAND, 0.1, 5000)])),
    )
    assert alone.learnt == pytest.approx(np.full(4, 1500), rel=0.02)
    assert beside.learnt == pytest.approx(alone.learnt, rel=0.02)
    assert beside.means == pytest.approx(alone.means, abs=0.02)


def test_worn_wood_drifts_with_the_paint():
    factor, step = 0.8, np.array([-0.2, 0.04, -0.05])
    narrow = dataclasses.replace(NOMINAL, covariances=NOMINAL.covariances / 9, wear=WOOD)
    there = narrow.means * (1.0, factor, factor) + step
    moved = drifted_palette(narrow, clouds(there, 0.05))
    assert moved.means == pytest.approx(there, abs=0.03)
    assert moved.wear.mean == pytest.approx(WOOD.mean * (1.0, factor, factor) + step, abs=0.03)
    assert (moved.wear.share, moved.wear.covariance.tolist()) == (WOOD.share, WOOD.covariance.tolist())


def test_white_does_not_drift():
    """Paper has the same tint in any light, to which everything is relative, and so has what looks like paper."""
    usual = nominal_palette(cubes(red="#c02020", blue="#2040c0", green="#209040", white="#f0f0ec"))
    tint = np.array([0.0, 0.2, -0.2])
    moved = drifted_palette(usual, clouds(usual.means[:3] + tint, 0.1, 2000))
    assert moved.means[3] == pytest.approx(usual.means[3])
    assert moved.means[:3] == pytest.approx(usual.means[:3] + tint, abs=0.1)


def test_a_lasting_drift_is_no_more_than_is_usual():
    """The light of a few pixels is believed less than that of many: each frame is held to what drifts usually."""
    far = clouds(NOMINAL.means - (0.6, 0.0, 0.0), 0.05, LEAST_INNER)
    steps = [NOMINAL.means[:, 0] - drifted_palette(NOMINAL, far[::stride]).means[:, 0] for stride in (1, 4)]
    for step in steps:
        assert step == pytest.approx(np.full(4, 0.6), abs=0.05)


def test_many_pixels_drift_as_a_sample_of_them():
    pixels = clouds(NOMINAL.means - (0.3, 0.0, 0.0), 0.1, 4000)
    assert drifted_palette(NOMINAL, pixels).means == pytest.approx(drifted_palette(NOMINAL, pixels[::5]).means)


def test_log_density_of_worn_wood_is_that_of_its_gaussian():
    at, off = WOOD.mean[None], WOOD.mean[None] + np.sqrt(np.diag(WOOD.covariance))
    top = -0.5 * np.log(np.linalg.det(2 * np.pi * WOOD.covariance))
    assert WOOD.log_density(at) == pytest.approx([top], abs=1e-4)
    assert WOOD.log_density(off) == pytest.approx([top - 1.5], abs=1e-4)


def worn(share: float, wood=WOOD.mean, pieces: PieceSet = PIECES, n: int = 1500) -> np.ndarray:
    """Features of pieces in all colours, that share of them as bare ``wood``."""
    paint = clouds(nominal_palette(pieces).means, 0.12, n)
    bare = round(len(paint) * share / (1 - share))
    return np.concatenate([paint, cloud(wood, 0.1, bare, 99)]).astype(np.float32)


@pytest.mark.parametrize(("share", "believed"), [(0.0, False), (0.015, False), (0.06, True), (0.3, True)])
def test_wear_is_believed_from_a_share_that_highlights_do_not_reach(share, believed):
    palette = learn_palette(PIECES, worn(share))
    after = learn_wear(palette, PIECES, worn(share))
    assert (after is not palette) == believed
    if believed:
        assert after.wear.share == pytest.approx(share, abs=0.02)
        assert after.learnt == pytest.approx(np.full(4, 1500), rel=0.05)


def test_hands_are_no_wear():
    pixels = np.concatenate([worn(0.2), cloud(HAND, 0.1, 1500)])
    after = learn_wear(NOMINAL, PIECES, pixels)
    assert after.wear.mean == pytest.approx(WOOD.mean, abs=0.05)
    assert after.wear.share == pytest.approx(1500 / 9000, abs=0.02)
    assert after.learnt == pytest.approx(np.full(4, 1500), rel=0.05)
    assert after.means == pytest.approx(NOMINAL.means, abs=0.1)


@pytest.mark.parametrize("haze", [0.0, 0.06])
def test_worn_pieces_are_seen_through_the_haze_that_fits(haze):
    shown = nominal_palette(PIECES, haze).means
    pixels = np.concatenate([clouds(shown, 0.1), cloud(WOOD.mean, 0.1, 1200, 99)])
    assert learn_wear(NOMINAL, PIECES, pixels).means == pytest.approx(shown, abs=0.05)


def test_learnt_wood_stays_within_reach_of_the_usual_one():
    """Beyond, it is another thing."""
    off = WOOD_REACH * (0.0, -1.2, 0.0)
    wood = learn_wear(NOMINAL, PIECES, worn(0.4, WOOD.mean + off)).wear
    assert wood.mean[1] == pytest.approx(WOOD.mean[1] - WOOD_REACH[1], abs=0.01)


def test_pieces_of_bare_wood_have_no_wear():
    """Where a colour is that of wood itself, what looks like wood is that colour."""
    pieces = cubes(red="#c02028", blue="#2040a0", wood="#f0c890")
    pixels = worn(0.2, pieces=pieces)
    palette = learn_palette(pieces, pixels)
    assert learn_wear(palette, pieces, pixels) is palette


def test_few_pixels_show_no_wear():
    pixels = worn(0.2)
    some = pixels[:: len(pixels) // LEAST_INNER]
    assert learn_wear(NOMINAL, PIECES, some[:999]) is NOMINAL
    assert learn_wear(NOMINAL, PIECES, some[:1000]) is not NOMINAL


@pytest.mark.parametrize(
    ("axis", "sign"), [(0, -1), (0, 1), (1, -1), (1, 1), (2, 1)], ids=["darker", "lighter", "green", "red", "blue"]
)
def test_learnt_wood_stays_within_reach_on_every_side(axis, sign):
    off = np.eye(3)[axis] * sign * WOOD_REACH
    pixels = np.concatenate([clouds(NOMINAL.means, 0.1, 800), cloud(WOOD.mean + 1.2 * off, 0.05, 1600, 5)])
    assert learn_wear(NOMINAL, PIECES, pixels).wear.mean == pytest.approx(WOOD.mean + off, abs=0.01)


@pytest.mark.parametrize(
    ("off", "moved"), [((0.6, 0, 0), 0.051), ((0, -0.3, 0), 0.094), ((0, 0, 0.45), 0.069)], ids=["light", "a", "b"]
)
def test_wood_is_where_its_pixels_are_densest(off, moved):
    """Half of what is worn is a mixture with something else: it counts the less the farther it is, as a Gaussian."""
    dense, mixed = cloud(WOOD.mean, 0.05, 800, 5), cloud(WOOD.mean + off, 0.05, 800, 6)
    pixels = np.concatenate([clouds(NOMINAL.means, 0.1, 800), dense, mixed])
    wood = learn_wear(NOMINAL, PIECES, pixels).wear
    assert wood.share == pytest.approx(1 / 3, abs=0.01)
    assert np.linalg.norm(wood.mean - WOOD.mean) == pytest.approx(moved, abs=0.01)


def test_few_pixels_of_wood_leave_it_near_the_usual_one():
    """150 of them, of which the usual wood counts for 50, move it by three quarters."""
    off = np.array([0.1, -0.08, 0.1])
    pixels = np.concatenate([clouds(NOMINAL.means, 0.1, 900), cloud(WOOD.mean + off, 0.02, 150, 5)])
    assert learn_wear(NOMINAL, PIECES, pixels).wear.mean - WOOD.mean == pytest.approx(0.75 * off, abs=0.004)


def test_between_paint_and_wood_the_more_frequent_one_is_believed():
    """Where they overlap, a pixel is wood the sooner the more of the pieces is worn: three quarters of the picture."""
    bare = np.random.default_rng(9).normal(WOOD.mean, np.sqrt(np.diag(WOOD.covariance)), (9600, 3))
    pixels = np.concatenate([clouds(NOMINAL.means, (0.45, 0.28, 0.28), 800), bare])
    assert learn_wear(NOMINAL, PIECES, pixels).wear.share == pytest.approx(0.75, abs=0.03)


def test_a_pixel_of_worn_pieces_that_nothing_explains_better_than_chance_counts_by_half():
    """Chance: one of 250 over all features, a tenth of the weight that all the colours and the wood have."""
    start = nominal_palette(PIECES, haze=0.0)
    top = -0.5 * np.log(np.linalg.det(2 * np.pi * start.covariances[0]))
    far = np.sqrt(2 * start.covariances[0, 0, 0] * (top + np.log((1 - WOOD.share) / 4) - np.log(0.1 / 250)))
    odd = np.tile(start.means[0] - (far, 0.0, 0.0), (600, 1))
    pixels = np.concatenate([odd, *(np.tile(mean, (900, 1)) for mean in start.means[1:]), cloud(WOOD.mean, 0.1, 900)])
    assert learn_wear(NOMINAL, PIECES, pixels, rounds=1).learnt[0] == pytest.approx(300, rel=0.02)
    assert learn_wear(NOMINAL, PIECES, pixels, rounds=1).learnt[1] == pytest.approx(900, rel=0.005)


@pytest.mark.parametrize(("n", "follow"), [(590, False), (625, True)])
def test_four_times_the_nominal_colours_weight_moves_the_others(n, follow):
    """That is 600 pixels."""
    learnt = learn_palette(PIECES, clouds(NOMINAL.means[:2] - (0.4, 0.0, 0.0), 0.02, n))
    assert (learnt.means[2:, 0] < NOMINAL.means[2:, 0] - 0.1).tolist() == [follow] * 2


@pytest.mark.parametrize(
    ("factor", "step"),
    [
        (0.8, (0.0, 0.0, 0.0)),
        (1.0, (-0.3, 0.0, 0.0)),
        (1.0, (0.0, 0.15, 0.0)),
        (1.0, (0.0, 0.0, -0.15)),
        (1.1, (0.2, -0.1, 0.1)),
    ],
)
def test_saturation_light_and_both_tints_drift_each_by_itself(factor, step):
    narrow = dataclasses.replace(NOMINAL, covariances=NOMINAL.covariances / 25)
    there = narrow.means * (1.0, factor, factor) + step
    assert drifted_palette(narrow, clouds(there, 0.03)).means == pytest.approx(there, abs=0.01)


@pytest.mark.parametrize(("spread", "believed"), [(0.5, 0.97), (1.5, 0.8), (3.0, 0.5)])
def test_a_drift_of_a_wide_colour_is_believed_less(spread, believed):
    """The light of a frame counts as 400 pixels of such a spread, against a usual drift of 0.15."""
    red = nominal_palette(cubes(red="#c02028"))
    wide = dataclasses.replace(red, covariances=np.diag(np.square([spread, 0.05, 0.05]))[None])
    moved = drifted_palette(wide, cloud(red.means[0] - (0.4, 0.0, 0.0), 0.02, 3000))
    assert red.means[0, 0] - moved.means[0, 0] == pytest.approx(0.4 * believed, abs=0.005)


def test_a_small_frame_drifts_by_all_of_its_pixels():
    """Every second one is lighter: the mean counts."""
    narrow = dataclasses.replace(NOMINAL, covariances=NOMINAL.covariances / 9)
    pixels = clouds(narrow.means, 0.02, 1400)
    pixels[::2, 0] += 0.2
    assert drifted_palette(narrow, pixels).means[:, 0] - narrow.means[:, 0] == pytest.approx(np.full(4, 0.1), abs=0.02)


@pytest.mark.parametrize(
    ("colour", "believed"), [("#e6934d", False), ("#e68f47", True)], ids=["1.47 spreads off", "1.95 spreads off"]
)
def test_wear_is_believed_where_wood_is_one_and_a_half_spreads_from_every_paint(colour, believed):
    pieces = cubes(red="#c02028", blue="#2040a0", wooden=colour)
    start = nominal_palette(pieces)
    pixels = np.concatenate([clouds(start.means, 0.25), cloud(WOOD.mean, 0.1, 1125, 99)])
    assert (learn_wear(start, pieces, pixels) is not start) == believed


@pytest.mark.parametrize(
    ("learn", "rounds"),
    [
        (lambda pixels, **how: learn_palette(PIECES, pixels, **how), 6),
        (lambda pixels, **how: drifted_palette(NOMINAL, pixels, **how), 5),
        (lambda pixels, **how: learn_wear(NOMINAL, PIECES, pixels, **how), 8),
    ],
    ids=["colours", "drift", "wear"],
)
def test_so_many_rounds_are_gone_unless_others_are_asked_for(learn, rounds):
    """On pixels that one round more or less still moves: mixtures of all colours."""
    wood = cloud(WOOD.mean + (0.2, -0.2, 0.2), 0.3, 2500, 9)
    pixels = np.concatenate([clouds(NOMINAL.means, (0.6, 0.5, 0.5)), wood])
    usual = learn(pixels).means
    assert (usual == learn(pixels, rounds=rounds).means).all()
    assert all((usual != learn(pixels, rounds=rounds + more).means).any() for more in (-1, 1))
