"""What is decided from readings of made-up certainty, and builds that a search is easily lost in."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from made_cases import CERTAIN, HIGHER, RED, WHITE, WHITE_BESIDE, decided, reading

from calibration.palette import nominal_palette
from cards.build import Piece
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.kinds.organ_pipes import OrganCard
from cards.law import Reason
from cards.pieces import Pose, builtin_piece_set
from referee.vision.observer import Observer
from referee.vision.search.canvas import canvas_of
from referee.vision.search.readings import readings
from referee.vision.search.stances import catalogue
from referee.vision.verdict.doubts import doubts_about

LEANINGS = {2: "match", 3: "mismatch"}


def test_all_that_a_piece_too_many_may_bring_with_it_goes_with_it():
    """Of a card that only counts."""
    card = HeightCard("H", 1, 2)
    case = decided(card, [reading(RED, HIGHER)]).case
    codes = ("extra_piece", "wrong_count", "not_one_structure", "too_many_on_table")
    for more, spare in (((), True), (("not_straight",), False)):
        best = case.best._replace(faults=tuple(Reason(code, code) for code in (*codes, *more)))
        again = dataclasses.replace(case, compared=dataclasses.replace(case.compared, best=best))
        assert again.one_too_many is spare


def test_a_white_piece_seen_lying_loose_is_missing_from_the_build():
    card = LayoutCard("L", 1, (RED, WHITE))
    asked = reading(RED, WHITE, score=10_000.0)
    verdict = decided(card, [reading(RED, loose=(WHITE_BESIDE,)), asked]).verdict
    assert verdict.ruling == "mismatch"


@pytest.mark.parametrize(
    ("count", "ahead", "ruling"),
    [(2, 150.0, None), (2, 600.0, "match"), (3, 400.0, None), (3, 600.0, "mismatch")],
)
def test_no_ruling_that_is_hardly_ahead(count, ahead, ruling):
    """However much it explains and shows: nobody is given a card, or robbed of one, by a coin's toss."""
    best, other = (RED, HIGHER), (RED,) if count == 2 else (RED, HIGHER, WHITE)
    found = [reading(*best, loose=(WHITE_BESIDE,)), reading(*other, score=30_000.0 - ahead)]
    verdict = decided(HeightCard("H", 1, count), found).verdict
    assert (verdict.ruling, verdict.leaning) == ((ruling, None) if ruling else ("undecided", LEANINGS[count]))
    assert ruling or [r.code for r in verdict.reasons] == ["two_readings"]


@pytest.mark.parametrize(("ahead", "doubts"), [(290.0, ("close",)), (310.0, ())])
def test_less_is_enough_where_two_views_show_it(ahead, doubts):
    found = [reading(RED, HIGHER, loose=(WHITE_BESIDE,)), reading(RED, score=30_000.0 - ahead)]
    decision = decided(HeightCard("H", 1, 2), found)
    assert decision.doubts[:1] == ("close",)
    views = dataclasses.replace(decision.case, others=[reading(RED, HIGHER, loose=(WHITE_BESIDE,))])
    assert tuple(doubts_about(views)) == doubts


@pytest.mark.parametrize(
    ("y", "ruling"), [(53.1, "match"), (52.9, "undecided"), (47.1, "undecided"), (46.9, "mismatch")]
)
def test_a_piece_on_the_fields_line_decides_nothing(y, ruling):
    """Whether it counts is a matter of a millimetre, and a blurred picture tells five."""
    two, stray = (RED, HIGHER), dataclasses.replace(WHITE, y=y, z=15.0)
    found = [reading(*two, loose=(stray,)), reading(RED, score=10_000.0)]
    decision = decided(HeightCard("H", 1, 2), found)
    assert decision.verdict.ruling == ruling
    assert decision.doubts == (("on_the_line",) if ruling == "undecided" else ())
    assert ruling != "undecided" or decision.verdict.reasons[0].code == "on_the_line"
    for other, doubts in ((stray, decision.doubts), (dataclasses.replace(stray, y=80.0), ())):
        views = dataclasses.replace(decision.case, others=[reading(*two, loose=(other,))])
        assert tuple(doubts_about(views)) == doubts, "where another camera sees it, it is not on the line"


def test_a_piece_on_the_fields_line_mends_no_build_that_is_wrong_anyway():
    stray = dataclasses.replace(WHITE, y=50.6, z=15.0)
    found = [reading(RED, loose=(stray,)), reading(RED, HIGHER, score=10_000.0)]
    assert decided(HeightCard("H", 1, 4), found).verdict.ruling == "mismatch"


@pytest.mark.parametrize(
    ("card", "ruling"),
    [
        (HeightCard("H", 1, 2), "undecided"),
        (HeightCard("H", 1, 4), "mismatch"),
        (LayoutCard("L", 1, (RED, HIGHER)), "undecided"),
        (LayoutCard("L", 1, (HIGHER, dataclasses.replace(WHITE, z=15.0))), "mismatch"),
    ],
    ids=["one too many", "one too few", "a third", "wrong without a third"],
)
def test_a_piece_too_many_that_hardly_stands(card, ruling):
    """An egg on the table far behind was seen as a bar that leant on a right build."""
    three = (RED, HIGHER, dataclasses.replace(WHITE, z=75.0))
    found = [reading(*three), reading(RED, score=10_000.0)]
    leaning = dataclasses.replace(CERTAIN, instability_nats=121.0)
    assert decided(card, found, leaning).verdict.ruling == ruling
    assert decided(card, found).verdict.ruling == "mismatch"


def test_what_an_unseen_piece_could_not_mend_is_wrong():
    two = (RED, HIGHER)
    found = [reading(*two), reading(RED, score=10_000.0)]
    assert decided(HeightCard("H", 1, 1), found).verdict.ruling == "mismatch"


def test_what_pixels_do_not_show_is_not_ruled():
    """A hand before a right build: skin fits some other pieces better than the table, and shows none of them."""
    found = [reading(RED, HIGHER)]
    found += [reading(RED, score=10_000.0)]
    card = HeightCard("H", 1, 1)
    rulings = [decided(card, found, proof=s).verdict for s in (1.0, 0.0)]
    assert [v.ruling for v in rulings] == ["mismatch", "undecided"]
    assert (rulings[1].leaning, rulings[1].reasons[0].code) == ("mismatch", "covered")
    assert "2 pieces stand" in rulings[1].reasons[0].text
    doubted = dataclasses.replace(CERTAIN, agreement=-0.2)
    assert decided(card, found, doubted).verdict.reasons[0].code == "covered"


def test_where_nothing_stands_nothing_is_found(rig):
    """Nor is there anything to begin a search with."""
    seen = Observer(builtin_piece_set(), rig.camera).judge([rig.photograph()], HeightCard("H", 1, 2))
    assert {z: (v.ruling, v.reasons[0].code) for z, v in seen.zones.items()} == {
        z: ("mismatch", "empty_field") for z in "AB"
    }


def test_pieces_that_only_lie_about_are_counted_once(rig):
    """Fitting the empty field, however often, adds nothing to what its loose pieces explain."""
    pieces = builtin_piece_set()
    loose = [Piece("cube", "blue", Pose(), x, -80.0, 15.0) for x in (-60.0, 60.0)]
    observer = Observer(pieces, rig.camera)
    frame = rig.photograph({"A": loose})
    zone = observer.zones(frame, observer.look(frame))[0]
    view, seen = zone.view, zone.evidence(nominal_palette(pieces))
    canvas = canvas_of(view, seen, catalogue(pieces, tuple(pieces.colors)))
    best = readings(canvas, HeightCard("H", 1, 2))[0]
    possible = np.maximum(seen.gains.max(0), 0.0).sum()
    assert best.count == 0
    assert len(best.loose) == 2
    assert best.score < possible


def test_triangles_laid_flat_under_a_bridge_are_found(rig):
    """As builders stack what has no level upper side; one cylinder there would look nearly the same."""
    pieces = builtin_piece_set()
    plank = Piece("rectangle", "green", Pose(), 0.0, 0.0, 12.5)
    flat = [Piece("triangle", "red", Pose(0, "top"), x, 0.0, 40.0) for x in (-21.5, 21.5)]
    bridge = Piece("bridge", "orange", Pose(), 0.0, 0.0, 55.0 + pieces.shapes["bridge"].size(Pose())[2] / 2)
    seen = Observer(pieces, rig.camera).judge([rig.photograph({"A": (plank, *flat, bridge)})], HeightCard("H", 1, 4))
    assert seen.zones["A"].ruling == "match"
    assert sum(p.shape == "triangle" for p in seen.zones["A"].build.pieces) == 2


def test_a_crescent_turned_sideways_is_an_organ_pipe_of_its_own_height(rig):
    """Seen from the front it is nearly a cube, which would be as high as its neighbour."""
    pieces = builtin_piece_set()
    row = (
        ("cylinder", "red", Pose(), -40.0),
        ("cube", "blue", Pose(), 0.0),
        ("crescent", "blue", Pose(0, "side"), 34.0),
    )
    built = [Piece(shape, color, pose, x, 0.0, pieces.shapes[shape].size(pose)[2] / 2) for shape, color, pose, x in row]
    seen = Observer(pieces, rig.camera).judge([rig.photograph({"A": built})], OrganCard("P", 1, 3))
    assert seen.zones["A"].ruling == "match", seen.zones["A"].reasons
