"""What counts as the build and what as loose, by places alone."""

from __future__ import annotations

import pytest

from cards.build import Build, Piece
from cards.kinds.height import HeightCard
from cards.kinds.organ_pipes import OrganCard
from cards.pieces import Pose, builtin_piece_set
from referee.vision.verdict.rulings import split_by_field

ROW = OrganCard("P", 3, 3)


def cube(x: float, y: float = 0.0, z: float = 15.0) -> Piece:
    return Piece("cube", "blue", Pose(), x, y, z)


def build(*pieces: Piece, loose: tuple[Piece, ...] = ()) -> Build:
    return Build(builtin_piece_set(), pieces, loose)


@pytest.mark.parametrize("x, counts", [(94.0, True), (96.0, False)])
def test_a_piece_on_the_line_belongs_where_its_centre_is(x, counts):
    seen = split_by_field(build(cube(0.0), cube(x)), HeightCard("H", 1, 2))
    assert (len(seen.pieces), len(seen.loose)) == ((2, 0) if counts else (1, 1))


def test_what_carries_others_is_of_the_build_wherever_it_stands():
    plank = Piece("rectangle", "green", Pose(), 70.0, 0.0, 42.5)
    assert len(split_by_field(build(cube(96.0), cube(45.0), plank), HeightCard("H", 1, 3)).pieces) == 3


@pytest.mark.parametrize("as_loose", [True, False])
@pytest.mark.parametrize("x, counts", [(105.0, True), (140.0, True), (140.1, False), (-139.0, True)])
def test_organ_pipes_stand_in_the_whole_band_between_the_markers(x, counts, as_loose):
    outer = cube(x)
    seen = split_by_field(
        build(cube(20.0), cube(60.0), loose=(outer,)) if as_loose else build(cube(20.0), cube(60.0), outer), ROW
    )
    assert (outer in seen.pieces, outer in seen.loose) == (counts, not counts)


def test_every_piece_in_the_band_counts_also_one_too_many_or_out_of_line():
    strays = (cube(100.0, 45.0), cube(-120.0, -49.0), cube(0.0, 51.0))
    seen = split_by_field(build(cube(20.0), cube(60.0), loose=strays), ROW)
    assert seen.pieces[2:] == strays[:2] and seen.loose == strays[2:]


def test_of_other_cards_what_lies_loose_in_the_band_stays_loose():
    assert split_by_field(build(cube(0.0), loose=(cube(100.0),)), HeightCard("H", 1, 2)).loose == (cube(100.0),)
