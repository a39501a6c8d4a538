"""What counts as the build and what as loose, by places alone."""

from __future__ import annotations

import pytest

from cards.build import Build, Piece
from cards.card import HeightCard, OrganCard
from cards.pieces import Pose, builtin_piece_set
from referee.vision.field import in_field

ROW = OrganCard("P", 3, 3)


def cube(x: float, y: float = 0.0, z: float = 15.0) -> Piece:
    return Piece("cube", "blue", Pose(), x, y, z)


def build(*pieces: Piece, loose: tuple[Piece, ...] = ()) -> Build:
    return Build(builtin_piece_set(), pieces, loose)


@pytest.mark.parametrize("x, counts", [(94.0, True), (96.0, False)])
def test_a_piece_on_the_line_belongs_where_its_centre_is(x, counts):
    seen = in_field(build(cube(0.0), cube(x)), HeightCard("H", 1, 2))
    assert (len(seen.pieces), len(seen.loose)) == ((2, 0) if counts else (1, 1))


def test_what_carries_others_is_of_the_build_wherever_it_stands():
    plank = Piece("rectangle", "green", Pose(), 70.0, 0.0, 42.5)
    assert len(in_field(build(cube(96.0), cube(45.0), plank), HeightCard("H", 1, 3)).pieces) == 3


@pytest.mark.parametrize("as_loose", [True, False])
def test_a_row_of_pipes_goes_on_just_beyond_the_line(as_loose):
    outer = cube(105.0, 4.0)
    seen = in_field(
        build(cube(20.0), cube(60.0), loose=(outer,)) if as_loose else build(cube(20.0), cube(60.0), outer), ROW
    )
    assert [p.x for p in seen.pieces] == [20.0, 60.0, 105.0]
    assert not seen.loose


@pytest.mark.parametrize(
    "outer, row",
    [
        (cube(109.0), (20.0, 60.0)),  # too far beyond
        (cube(100.0, 30.0), (20.0, 60.0)),  # out of line
        (cube(100.0), (-30.0, 0.0)),  # too far from the row
        (cube(100.0), (0.0, 35.0, 70.0)),  # nothing lacks
        (cube(100.0, 0.0, 45.0), (20.0, 60.0)),  # not on the table
    ],
)
def test_what_does_not_continue_the_row_lies_loose(outer, row):
    seen = in_field(build(*map(cube, row), loose=(outer,)), ROW)
    assert seen.loose == (outer,)
