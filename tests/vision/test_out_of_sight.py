"""What of the set is out of sight, and where it could stand unseen."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from bench_deceive import observer_of, standing
from deceiving import SET, deceits, height, layout, put
from posed_table import PosedTable, loose_pieces

from referee.simulator.meshes import place_piece
from referee.simulator.table import World
from referee.vision.observer import NO_EARLIER_PICTURES
from referee.vision.search.canvas import Reading
from referee.vision.search.out_of_sight import kinds_out_of_sight, rests_in_sight

SEED = 12
WALL = deceits(1)[0].right


@cache
def table() -> PosedTable:
    return PosedTable(SET, SEED, seating="beside")


@cache
def observer():
    return observer_of(table())


def judged(card, solids, earlier=None):
    """The verdict on what stands and lies about mat A."""
    frame = table().render(World({"A": solids}), 0)
    return observer().judge([frame], card, ["A"], earlier=earlier).zones["A"]


def codes(verdict) -> list[str]:
    return [reason.code for reason in verdict.reasons]


def test_a_build_with_all_other_pieces_in_sight_is_right():
    assert judged(layout(*WALL), standing(SET, WALL, SEED)).ruling == "match"


def test_a_hidden_piece_leaves_a_build_undecided_and_is_named():
    verdict = judged(layout(*WALL), standing(SET, deceits(1)[0].wrong, SEED))
    assert (verdict.ruling, codes(verdict), verdict.leaning) == ("undecided", ["out_of_sight"], "match")
    assert verdict.reasons[0].values["piece"] == {"color": "blue", "shape": "cube"}


def test_a_piece_kept_from_the_table_may_stand_behind_a_wall():
    kept = put("cube", "blue")
    solids = [place_piece(piece) for piece in WALL] + loose_pieces(SET, [*WALL, kept], SEED)
    assert codes(judged(layout(*WALL), solids)) == ["out_of_sight"]


def test_where_a_film_has_nothing_to_add_no_piece_is_missed():
    """Judged again, a recorded build is what it was: recordings keep the pictures alone that changed a verdict."""
    hiding = standing(SET, deceits(1)[0].wrong, SEED)
    assert judged(layout(*WALL), hiding, earlier=NO_EARLIER_PICTURES).ruling == "match"


def test_pieces_that_are_all_kept_elsewhere_are_not_asked_for():
    assert judged(layout(*WALL), [place_piece(piece) for piece in WALL]).ruling == "match"


def test_a_piece_that_has_no_place_to_hide_is_not_asked_for():
    cube, kept = put("cube", "blue"), put("rectangle", "green")
    solids = [place_piece(cube), *loose_pieces(SET, [cube, kept], SEED)]
    assert judged(layout(cube), solids).ruling == "match"


@pytest.mark.parametrize("film", [None, NO_EARLIER_PICTURES], ids=["one picture", "a film that missed it"])
@pytest.mark.parametrize("in_sight", [True, False])
def test_a_piece_missing_from_the_build_is_missing_where_it_lies_in_sight(in_sight, film):
    lacking, hidden = (
        "lacks the third piece, which could be hidden: height",
        "right with its third piece hidden: height",
    )
    name = lacking if in_sight else hidden
    one = next(deceit for deceit in deceits(1) if deceit.name == name)
    verdict = judged(height(3), standing(SET, one.wrong, SEED), film)
    assert (verdict.ruling, verdict.leaning) == (("mismatch", None) if in_sight else ("undecided", "mismatch"))


@pytest.mark.parametrize(("patches", "nowhere"), [(0, True), (1, True), (2, False)])
def test_one_patch_of_a_colour_accounts_for_one_piece_of_it(patches, nowhere):
    cat = observer().catalogue(height(3))
    cube = cat.types.index(("cube", "blue"))
    some = np.repeat(np.arange(len(cat.stock)), np.where(np.arange(len(cat.stock)) == cube, 0, cat.stock))
    lying = np.array([[np.flatnonzero(cat.kind == kind)[0], 0.0, 0.0, 0.0, 0.0] for kind in some])
    rests = np.zeros(cat.color.max() + 1)
    blue = cat.color[np.flatnonzero(cat.kind == cube)[0]]
    rests[blue] = patches
    lacking, unseen = kinds_out_of_sight(SimpleNamespace(cat=cat), Reading(0.0, np.zeros((0, 5)), 0.0), lying, rests)
    assert cat.stock[cube] == 2 and lacking.tolist() == [cube] and unseen[blue] == nowhere


@pytest.mark.parametrize(("apart", "seen"), [(False, 0), (True, 1)])
def test_what_goes_on_in_an_explained_patch_is_no_further_piece(apart, seen):
    """A triangle whose fit is a few millimetres off leaves a corner of it unexplained."""
    labels, near = np.full((40, 60), -1, np.int8), np.zeros((40, 60))
    labels[10:30, 10:40] = 0
    near[10:30, 10:28] = 1.0
    if apart:
        labels[:, 26:29] = near[:, 26:29] = -1
    strongest = np.where(labels >= 0, 100.0, -1.0)
    maps = SimpleNamespace(near=near, gained=np.where(near > 0, strongest, 0.0))
    canvas = SimpleNamespace(labels=labels, maps=maps, strongest=strongest, gains=strongest[None], factor=2)
    assert rests_in_sight(canvas, labels >= -1, completes=True).tolist() == [seen]
    assert rests_in_sight(canvas, labels >= -1, completes=False).tolist() == [np.inf]
