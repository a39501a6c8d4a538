"""The storeys' paints by the light of their sides, on sides whose paints and lights are given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.palette import LINEAR
from referee.vision.city.paints import SIDE_LIGHT, Paint, Sides, _Fit, _shares, _stray, log_light
from referee.vision.city.sight import _bare, _doubted

CODES = ((234, 122, 32), (34, 88, 168), (148, 194, 60), (112, 70, 44))
NAMED = log_light(LINEAR[np.array(CODES)] * 0.8)
ORANGE, BLUE, LIME, BROWN = range(4)
LIT, DIM, DARK = 0.9, 0.4, 0.12
"""Of the paper's light: a top face, a side towards the window, one away from it."""


def told_apart(sides: Sides, named: np.ndarray, first: np.ndarray) -> np.ndarray:
    """(s, k) nats of each storey for each colour; ``named`` (k, 3) are the colours' features as the set names them,
    ``first`` (s, k) nats from which it starts."""
    return _Fit(sides, named).color_nats(_shares(first))[:, :-1]


def seen(colors, lights=(LIT, DIM, DARK), shadow=None, seed=0, gloss=0.0):
    """The sides of storeys of these colours, each under each light; a ``shadow`` (n,) on all of a storey's; and
    ``gloss`` of the paper's light on all."""
    rng = np.random.default_rng(seed)
    rows = [(n, k) for n in range(len(colors)) for k in range(len(lights))]
    storey, light = np.array(rows).T
    linear = LINEAR[np.array([CODES[colors[n]] for n in storey])]
    linear = linear * np.array(lights)[light][:, None] * rng.lognormal(0, 0.1, (len(rows), 1))
    if shadow is not None:
        linear = linear * np.asarray(shadow)[storey][:, None]
    keys = tuple((1, n, 0) for n in range(len(colors)))
    pixels, none = np.full(len(rows), 80.0), np.zeros((len(rows), 3))
    return Sides(keys, storey, np.arange(len(rows)), light, light == 0, pixels, log_light(linear + gloss), none)


def as_pixels_say(sides, colors):
    """Nats that take every orange storey for a brown one, as its dark side looks."""
    first = np.full((len(sides.keys), len(CODES)), -200.0)
    first[np.arange(len(colors)), [BROWN if color == ORANGE else color for color in colors]] = 0.0
    first[[n for n, color in enumerate(colors) if color == ORANGE and n % 2], ORANGE] = -5.0
    return first


COLORS = [ORANGE, BLUE, LIME, BROWN] * 6


@pytest.mark.parametrize("seed", range(3))
def test_orange_and_brown_are_told_apart_under_any_side_s_light(seed):
    sides = seen(COLORS, seed=seed)
    nats = told_apart(sides, NAMED, as_pixels_say(sides, COLORS))
    assert nats.argmax(1).tolist() == COLORS
    best = np.sort(nats, 1)
    assert (best[:, -1] - best[:, -2]).min() > 4


def test_colours_that_gloss_washes_out_are_told_as_surely():
    """A 25th of the paper's light on a side that gets an eighth: without it, orange ones were taken for brown."""
    sides = seen(COLORS, gloss=0.04)
    fit = _Fit(sides, NAMED)
    nats = fit.color_nats(_shares(as_pixels_say(sides, COLORS)))[:, :-1]
    assert nats.argmax(1).tolist() == COLORS
    washed = sides.features - fit.matt[np.arange(len(sides.storey)), np.array(COLORS)[sides.storey]]
    assert washed[sides.light == 2, 0].min() > 0.2


def test_one_side_known_in_its_light_leaves_the_paint_open():
    """A storey of which one side is seen, between two paints, in a light that no other storey has: it may be either."""
    sides, n = seen(COLORS), len(COLORS)
    alone = Sides(
        (*sides.keys, (1, n, 0)),
        np.append(sides.storey, n),
        np.append(sides.side, len(sides.side)),
        np.append(sides.light, 3),
        np.append(sides.top, False),
        np.append(sides.pixels, 80.0),
        np.vstack([sides.features, (NAMED[ORANGE] + NAMED[BROWN]) / 2 + SIDE_LIGHT]),
        np.zeros((len(sides.side) + 1, 3)),
    )
    first = np.vstack([as_pixels_say(sides, COLORS), np.zeros(4)])
    nats = told_apart(alone, NAMED, first)
    assert nats[:-1].argmax(1).tolist() == COLORS
    best = np.sort(nats[-1])
    assert best[-1] - best[-2] < 4


def test_a_tower_in_a_shadow_keeps_its_paints():
    shadow = np.where(np.arange(len(COLORS)) % 8 < 4, 1.0, 0.45)
    sides = seen(COLORS, shadow=shadow)
    assert told_apart(sides, NAMED, as_pixels_say(sides, COLORS)).argmax(1).tolist() == COLORS


def test_a_low_storey_between_towers_is_told_by_the_light_that_they_leave():
    """All of an orange storey's sides in deep shade look as brown ones in the light: how much the towers take tells."""
    taken, n = 0.3, len(COLORS)
    shadow = np.where(np.arange(n + 1) == n, taken, 1.0)
    sides = seen([*COLORS, ORANGE], shadow=shadow)
    first = as_pixels_say(sides, [*COLORS, ORANGE])
    told = replace(sides, sky=np.where((sides.storey == n)[:, None], [np.log(taken), 0.0, 0.0], 0.0))
    blind, seeing = (told_apart(one, NAMED, first)[n] for one in (sides, told))
    assert seeing.argmax() == ORANGE
    assert np.sort(seeing)[-1] - np.sort(seeing)[-2] > 4
    assert seeing[ORANGE] - seeing[BROWN] > 3 + blind[ORANGE] - blind[BROWN]


def test_dark_sides_of_strong_colours_tell_their_colour_less():
    deep, pale = log_light(np.array([[0.05, 0.002, 0.002], [0.5, 0.4, 0.3]]))
    stray = _stray(np.array([deep, pale]))
    assert (stray[1] < 0.001).all()
    red, rest = 0.004 / 0.056, 0.004 / 0.008
    assert stray[0] == pytest.approx([(red**2 + 2 * rest**2) / 9, red**2 + rest**2, rest**2 + (red**2 + rest**2) / 4])


def test_paper_in_the_shade_between_towers_is_told_from_every_paint():
    """What was read as a low stone there has, in the light that the towers leave, paper's light and no paint's."""
    sides, n = seen([*COLORS, LIME]), len(COLORS)
    mine, taken = sides.storey == n, np.where(sides.storey == n, -1.0, 0.0)
    light = np.log(np.array((LIT, DIM, DARK)))[sides.light]
    paper = np.stack([light + taken, np.full(len(mine), 0.15), np.full(len(mine), -0.4)], 1)
    sky = np.stack([taken, np.zeros(len(mine)), np.zeros(len(mine))], 1)
    sides = replace(sides, features=np.where(mine[:, None], paper, sides.features), sky=sky)
    nats = _Fit(sides, NAMED).color_nats(_shares(as_pixels_say(sides, [*COLORS, LIME])))
    assert nats[n, -1] > nats[n, :-1].max() + 5
    assert (nats[:n, -1] < nats[:n, :-1].max(1)).all()
    assert nats[:n, :-1].argmax(1).tolist() == COLORS


def paint(bare, pixels=700):
    """A storey's paint whose paper is so far ahead of the likeliest colour."""
    return Paint(np.array([-9.0, -30.0]), pixels, -9.0 + bare)


@pytest.mark.parametrize(
    ("storeys", "free"),
    [
        ([paint(12.0)], True),
        ([paint(4.0)], False),
        ([paint(12.0, 300)], False),
        ([paint(12.0), paint(-3.0)], False),
        ([paint(-3.0), paint(12.0)], False),
        ([paint(-1.0, 20), paint(12.0)], True),
        ([None, paint(12.0)], True),
        ([paint(12.0), None], False),
        ([], False),
    ],
)
def test_a_site_is_free_where_all_that_is_seen_on_it_is_paper(storeys, free):
    """Little of a storey says nothing; and the highest one's top must be seen: a stone's has 600 pixels here."""
    assert _bare(storeys, 600.0) is free


def test_what_is_rather_paper_is_no_storey_to_be_sure_of():
    nats, shares = np.array([[0.0, -20.0]]), np.array([[1.0, 0.0]])
    assert not len(_doubted(nats, shares, [paint(-5.0)])) and not len(_doubted(nats, shares, [None]))
    assert _doubted(nats, shares, [paint(3.0)]).tolist() == [0]
    assert paint(3.0).bare == pytest.approx(3.0) and Paint(np.array([-1.0]), 40).bare == -np.inf
