"""The builds made to deceive are what they say: wrong by their card, and their honest twins right."""

from __future__ import annotations

import pytest
from deceiving import Tilted, deceits

from cards.build import Build


@pytest.mark.parametrize("one", deceits(1), ids=lambda one: one.name)
def test_the_law_says_what_each_build_is(one):
    right = Build(one.pieces, tuple(one.right))
    assert one.card.is_right(right)
    if not any(isinstance(piece, Tilted) for piece in one.wrong):
        assert one.card.is_right(Build(one.pieces, tuple(one.wrong))) == one.is_right


def test_a_tilted_piece_stands_on_its_lowest_corner():
    for one in deceits(-1):
        for piece in (p for p in one.wrong if isinstance(p, Tilted)):
            posed = piece.posed(one.pieces)
            assert posed.centre[2] > 0 and abs(float(posed.turn[:, 0] @ posed.turn[:, 1])) < 1e-9
