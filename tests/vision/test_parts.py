"""Connected parts of masks."""

from __future__ import annotations

import numpy as np

from referee.vision.image.parts import around


def drawn(*rows: str) -> np.ndarray:
    return np.array([list(row) for row in rows]) == "#"


def test_a_part_is_kept_whole_where_it_holds_some_of_the_seed():
    mask = drawn("##..#", "..#..", "#...#")
    seed = drawn("#....", ".....", "....#")
    assert (around(seed, mask) == drawn("##...", "..#..", "....#")).all()


def test_a_seed_beside_the_mask_keeps_nothing():
    assert not around(drawn("..#"), drawn("##.")).any()
