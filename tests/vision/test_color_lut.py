"""The label table: what it says of known colours, how near it is to the exact densities, how quick."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.palette import LINEAR, color_features, nominal_palette
from cards.pieces import builtin_piece_set
from referee.vision.image.color_lut import DARK, GROUND, SKIN, label_frame, label_table

PIECES = builtin_piece_set()
PALETTE = nominal_palette(PIECES)
WHITE = LINEAR[np.array([235, 235, 235])]


@pytest.mark.parametrize("bits", [5, 6])
@pytest.mark.parametrize(
    ("bgr", "label"),
    [
        ((235, 235, 235), GROUND),  # lit paper
        ((150, 150, 150), GROUND),  # paper in shadow
        ((16, 16, 16), DARK),  # a marker's black
        ((120, 150, 205), SKIN),  # skin
    ],
)
def test_the_mat_and_hands_are_told_from_pieces(bgr, label, bits):
    frame = np.full((4, 6, 3), bgr, np.uint8)
    assert (label_frame(frame, label_table(PALETTE, WHITE, bits)) == label).all()


@pytest.mark.parametrize("color", PALETTE.names)
def test_each_nominal_colour_has_its_label_in_light_and_shade(color):
    table = label_table(PALETTE, WHITE)
    for light in (0.95, 0.75, 0.6):
        bgr = (np.array(PIECES.rgb(color)[::-1]) * light).astype(np.uint8)
        assert label_frame(np.full((2, 2, 3), bgr, np.uint8), table)[0, 0] == PALETTE.names.index(color)


def test_the_table_agrees_with_the_exact_densities(rig, tower):
    frame = rig.photograph({"A": tower, "B": tower})
    labels = label_frame(frame, label_table(PALETTE, WHITE))
    pieces = labels >= 0
    exact = PALETTE.log_density(color_features(frame, WHITE)).argmax(0)
    assert pieces.sum() > 2000
    assert (exact[pieces] == labels[pieces]).mean() > 0.98
