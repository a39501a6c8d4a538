"""A grey sleeve is told from shadows by how dark this table's shadows are."""

from __future__ import annotations

import numpy as np
import pytest

from referee.vision.image.shadow import LEAST, SHADOW, ShadowModel
from referee.vision.live.gate import reduced_frame

PAPER = np.full((20, 20, 3), 220, np.uint8)


def dimmed(left: float, pixels: int) -> np.ndarray:
    """The paper with so many pixels that keep this share of the light."""
    dim = PAPER.copy().reshape(-1, 3)
    dim[:pixels] = dim[:pixels] * left
    return dim.reshape(PAPER.shape)


def taught(left: float, pixels: int = 200) -> ShadowModel:
    """Who has seen shadows that leave so much."""
    shade = ShadowModel()
    shade.learn(dimmed(left, pixels), PAPER, np.ones(PAPER.shape[:2], bool))
    return shade


@pytest.mark.parametrize(("left", "new"), [(0.55, True), (0.8, False), (0.93, False)])
def test_what_is_darker_than_this_tables_shadows_is_none(left, new):
    nothing, hues = np.full(PAPER.shape[:2], -1, np.int8), np.zeros((32, 32, 32), bool)
    now = dimmed(left, 100)
    darkest = taught(0.8).darkest
    assert reduced_frame(now, PAPER, nothing, hues, darkest).new.any() == new
    assert not reduced_frame(now, PAPER, nothing, hues).new.any()  # nothing learnt: it may be a shadow


def test_a_few_shadows_teach_nothing_and_pale_ones_not_too_much():
    assert taught(0.8, LEAST - 1).darkest == SHADOW
    assert SHADOW < taught(0.6).darkest < 0.6
    assert taught(0.9).darkest < 0.8
