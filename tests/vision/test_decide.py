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
from cards.kinds.shapes import ShapesCard
from cards.law import Reason
from cards.pieces import Pose, builtin_piece_set
from referee.vision.observer import Observer
from referee.vision.search.canvas import Reading, canvas_of
from referee.vision.search.readings import readings
from referee.vision.search.stances import catalogue
from referee.vision.verdict.proof import Proof
from referee.vision.verdict.visibility import Visibility


@pytest.mark.parametrize("card", [LayoutCard("L", 1, (RED, WHITE)), HeightCard("H", 1, 2)], ids=["layout", "height"])
def test_a_white_piece_may_stand_unseen_on_the_paper(card):
    verdict = decided(card, [reading(RED)]).verdict
    assert (verdict.ruling, verdict.leaning, verdict.reasons[0].code) == ("undecided", "mismatch", "unseen_colour")
    assert "white" in verdict.reasons[0].text


LACKING = ("missing_piece", "wrong_count", "empty_field", "not_one_structure", "wrong_support", "not_side_by_side")


@pytest.mark.parametrize(
    ("codes", "may"),
    [
        *(((code,), True) for code in LACKING),
        (LACKING, True),
        ((), False),
        (("extra_piece",), False),
        (("missing_piece", "extra_piece"), False),
    ],
    ids=str,
)
def test_a_piece_that_is_not_seen_may_be_the_cause_of_these_faults(codes, may):
    case = decided(LayoutCard("L", 1, (RED, WHITE)), [reading(RED)]).case
    best = case.best._replace(faults=tuple(Reason(code, code) for code in codes))
    case = dataclasses.replace(case, compared=dataclasses.replace(case.compared, best=best))
    assert case.may_lack is may


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


@pytest.mark.parametrize("built", [(RED,), (RED, WHITE)], ids=["mismatch", "match"])
def test_where_no_rival_was_met_nothing_is_sure(built):
    """However much the only reading explains."""
    card, own = LayoutCard("L", 1, (RED, WHITE)), reading(*built, loose=(WHITE_BESIDE,) * (2 - len(built)))
    other = reading(*({(RED,): (RED, WHITE), (RED, WHITE): (RED,)}[built]), score=10_000.0)
    alone, beside_another = (decided(card, found) for found in ([own], [own, other]))
    assert alone.verdict.ruling == beside_another.verdict.ruling
    assert alone.verdict.confidence <= 0.97 < alone.case.trust.confidence(alone.case.features)
    assert (alone.case.features["rival"], beside_another.case.features["rival"]) == (0.0, 1.0)


@pytest.mark.parametrize(("ahead", "ruling"), [(400.0, "undecided"), (5000.0, "mismatch")])
def test_no_mismatch_that_is_hardly_ahead(ahead, ruling):
    """However much it explains and shows: a right build is robbed by a sure voice."""
    two = (RED, HIGHER)
    card = LayoutCard("L", 1, (RED, dataclasses.replace(RED, x=60.0)))
    asked = reading(RED, dataclasses.replace(RED, x=60.0), score=30_000.0 - ahead)
    verdict = decided(card, [reading(*two), asked]).verdict
    assert (verdict.ruling, verdict.leaning or verdict.ruling) == (ruling, "mismatch")
    assert ruling == "mismatch" or [r.code for r in verdict.reasons] == ["two_readings"]


@pytest.mark.parametrize(("ahead", "ruling"), [(150.0, "undecided"), (600.0, "match")])
def test_no_match_that_is_hardly_ahead(ahead, ruling):
    """However much it explains and shows: the one who pressed is given no card by a coin's toss."""
    two = (RED, HIGHER)
    found = [reading(*two, loose=(WHITE_BESIDE,)), reading(RED, loose=(WHITE_BESIDE,), score=30_000.0 - ahead)]
    verdict = decided(HeightCard("H", 1, 2), found).verdict
    assert (verdict.ruling, verdict.leaning or verdict.ruling) == (ruling, "match")
    assert ruling == "match" or [r.code for r in verdict.reasons] == ["two_readings"]


def test_a_piece_of_the_tables_colour_may_stand_before_it_unseen():
    """Without an empty frame a red table hides red pieces."""
    lacking, card = [reading(WHITE), reading(RED, WHITE, score=10_000.0)], LayoutCard("L", 1, (RED, WHITE))
    verdict = decided(card, lacking, visibility=Visibility(hidden=("red",))).verdict
    assert (verdict.ruling, verdict.reasons[0].code) == ("undecided", "unseen_colour")
    assert decided(card, lacking).verdict.ruling == "mismatch"


def test_a_match_is_less_sure_while_a_white_piece_is_nowhere_seen():
    """It could stand there as one too many."""
    two = (RED, HIGHER)
    unseen, seen = (
        decided(
            HeightCard("H", 1, 2),
            [reading(*two, loose=loose), reading(RED, score=10_000.0)],
        ).verdict
        for loose in ((), (WHITE_BESIDE,))
    )
    assert (unseen.ruling, seen.ruling) == ("match", "match")
    assert unseen.confidence <= 0.93 < seen.confidence


def test_a_missing_piece_of_another_colour_is_missing_whatever_the_table_hides():
    """No white piece that stands there unseen is the red one that the card asks for, nor rights a full build."""
    two, white_beside = (RED, HIGHER), dataclasses.replace(WHITE, x=40.0, z=15.0)
    asked = reading(*two, score=10_000.0)
    for built in ((RED,), (RED, dataclasses.replace(RED, x=40.0))):
        own = reading(*built)
        verdict = decided(LayoutCard("L", 1, two), [own, asked], visibility=Visibility(hidden=("white",))).verdict
        assert verdict.ruling == "mismatch", built
    shapes = ShapesCard("S", 1, (("cube", 3),), 1)
    found = [reading(*two), reading(*two, white_beside, score=10_000.0)]
    verdict = decided(shapes, found, visibility=Visibility(hidden=("white",))).verdict
    assert (verdict.ruling, verdict.reasons[0].code) == ("undecided", "unseen_colour")


@pytest.mark.parametrize(
    ("y", "ruling"), [(53.1, "match"), (52.9, "undecided"), (47.1, "undecided"), (46.9, "mismatch")]
)
def test_a_piece_on_the_fields_line_decides_nothing(y, ruling):
    """Whether it counts is a matter of a millimetre, and a blurred picture tells five."""
    two, stray = (RED, HIGHER), dataclasses.replace(WHITE, y=y, z=15.0)
    found = [reading(*two, loose=(stray,)), reading(RED, score=10_000.0)]
    verdict = decided(HeightCard("H", 1, 2), found).verdict
    assert verdict.ruling == ruling
    assert ruling != "undecided" or verdict.reasons[0].code == "on_the_line"


def test_a_piece_on_the_fields_line_mends_no_build_that_is_wrong_anyway():
    stray = dataclasses.replace(WHITE, y=50.6, z=15.0)
    found = [reading(RED, loose=(stray,)), reading(RED, HIGHER, score=10_000.0)]
    assert decided(HeightCard("H", 1, 4), found).verdict.ruling == "mismatch"


def test_more_pieces_than_the_set_has_are_not_all_pieces():
    """A phone's screen, a shadow's edge: a right build is robbed by what is taken for a piece beside it."""
    two = (RED, dataclasses.replace(WHITE, z=45.0))
    more = tuple(dataclasses.replace(RED, x=x, z=15.0) for x in (40.0, 75.0))
    found = [reading(*two, loose=more), reading(*two, score=10_000.0)]
    verdict = decided(LayoutCard("L", 1, two), found).verdict
    assert (verdict.ruling, verdict.leaning, verdict.reasons[0].code) == ("undecided", "mismatch", "beyond_set")
    within = [reading(*two, loose=more[:1]), found[1]]
    assert decided(LayoutCard("L", 1, two), within).verdict.ruling == "mismatch"


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
    rulings = [decided(card, found, proof=Proof(s, 0.0)).verdict for s in (1.0, 0.0)]
    assert [v.ruling for v in rulings] == ["mismatch", "undecided"]
    assert (rulings[1].leaning, rulings[1].reasons[0].code) == ("mismatch", "covered")
    assert "2 pieces stand" in rulings[1].reasons[0].text
    doubted = dataclasses.replace(CERTAIN, agreement=-0.2)
    assert decided(card, found, doubted).verdict.reasons[0].code == "covered"


def test_what_lacks_may_be_covered():
    """A glare on a tower leaves its foot and its top."""
    two = (RED, HIGHER)
    asked = reading(*two, score=10_000.0)

    def ruling(found: list[Reading], count: int, left: float) -> str:
        """The ruling where so much touches the build."""
        return decided(HeightCard("H", 1, count), found, proof=Proof(1.0, left)).verdict.ruling

    few = reading(RED, loose=(WHITE_BESIDE,))
    assert [ruling([few, asked], 2, left) for left in (0.3, 0.8)] == ["mismatch", "undecided"]
    both = [reading(*two), dataclasses.replace(few, score=10_000.0)]
    assert ruling(both, 1, 1.5) == "mismatch", "too many stays so"


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
