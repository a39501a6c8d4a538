"""What is decided from readings of made-up certainty, and builds that a search is easily lost in."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calibration.palette import nominal
from cards.build import Build, Piece
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.kinds.organ_pipes import OrganCard
from cards.kinds.shapes import ShapesCard
from cards.pieces import Pose, builtin_piece_set, parse_piece_set
from referee.vision.image.evidence import gather_evidence
from referee.vision.observer import Observer
from referee.vision.search.canvas import Fit, Reading, canvas_of
from referee.vision.search.readings import readings
from referee.vision.search.stances import catalogue
from referee.vision.verdict.decide import HARDLY_STANDS, MOST_ALONE, decide
from referee.vision.verdict.proof import Proof
from referee.vision.verdict.rulings import Rulings

CERTAIN = Fit(1.0, 1.0, 0.0)


def shown(build: Build, rival: Build | None) -> Proof:
    """Every pixel shows what the reading ahead says."""
    return Proof(1.0, 0.0)


RED, WHITE = Piece("cube", "red", Pose(), 0.0, 0.0, 15.0), Piece("cube", "white", Pose(), 0.0, 0.0, 45.0)


@pytest.fixture(scope="module")
def cat():
    """Two red cubes and a white one."""
    cube = {"kind": "box", "width": 30, "depth": 30, "height": 30}
    pieces = parse_piece_set(
        {
            "name": "cubes",
            "shapes": {"cube": cube},
            "colors": {"red": "#c02028", "white": "#ece8e0"},
            "pieces": [["cube", "red", 2], ["cube", "white", 1]],
        }
    )
    return catalogue(pieces, tuple(pieces.colors))


def reading(cat, *pieces: Piece, loose: tuple[Piece, ...] = (), score: float = 30_000.0) -> Reading:
    def rows(some):
        return np.array([(cat.index[p.shape, p.color, p.pose], p.x, p.y, p.z, 0.0) for p in some]).reshape(-1, 5)

    return Reading(0.0, rows(pieces), score, loose=rows(loose))


@pytest.mark.parametrize("card", [LayoutCard("L", 1, (RED, WHITE)), HeightCard("H", 1, 2)], ids=["layout", "height"])
def test_a_white_piece_that_is_nowhere_seen_may_stand_on_the_paper(cat, card):
    verdict = decide(Rulings(cat, card), [reading(cat, RED)], CERTAIN, shown).verdict
    assert (verdict.ruling, verdict.leaning, verdict.reasons[0].code) == ("undecided", "mismatch", "unseen_colour")
    assert "white" in verdict.reasons[0].text


def test_a_white_piece_seen_lying_loose_is_missing_from_the_build(cat):
    beside = dataclasses.replace(WHITE, y=-120.0, z=15.0)
    card = LayoutCard("L", 1, (RED, WHITE))
    asked = reading(cat, RED, WHITE, score=10_000.0)
    verdict = decide(Rulings(cat, card), [reading(cat, RED, loose=(beside,)), asked], CERTAIN, shown).verdict
    assert verdict.ruling == "mismatch"


@pytest.mark.parametrize("built", [(RED,), (RED, WHITE)], ids=["mismatch", "match"])
def test_where_no_rival_was_met_nothing_is_sure(cat, built):
    """However much the only reading explains."""
    beside = dataclasses.replace(WHITE, x=30.0, y=-120.0, z=15.0)
    card, own = LayoutCard("L", 1, (RED, WHITE)), reading(cat, *built, loose=(beside,) * (2 - len(built)))
    other = reading(cat, *({(RED,): (RED, WHITE), (RED, WHITE): (RED,)}[built]), score=10_000.0)
    alone, beside_another = (decide(Rulings(cat, card), found, CERTAIN, shown) for found in ([own], [own, other]))
    assert alone.verdict.leaning or alone.verdict.ruling == beside_another.verdict.ruling
    assert alone.verdict.confidence <= MOST_ALONE
    assert (alone.features["rival"], beside_another.features["rival"]) == (0.0, 1.0)


@pytest.mark.parametrize(("ahead", "ruling"), [(400.0, "undecided"), (5000.0, "mismatch")])
def test_no_mismatch_is_sure_that_is_hardly_ahead_of_the_card(cat, ahead, ruling):
    """However much it explains and shows: a right build is robbed by a sure voice."""
    two = (RED, dataclasses.replace(RED, z=45.0))
    card = LayoutCard("L", 1, (RED, dataclasses.replace(RED, x=60.0)))
    asked = reading(cat, RED, dataclasses.replace(RED, x=60.0), score=30_000.0 - ahead)
    verdict = decide(Rulings(cat, card), [reading(cat, *two), asked], CERTAIN, shown).verdict
    assert (verdict.ruling, verdict.leaning or verdict.ruling) == (ruling, "mismatch")
    assert ruling == "mismatch" or [r.code for r in verdict.reasons] == ["two_readings"]


@pytest.mark.parametrize(("ahead", "ruling"), [(150.0, "undecided"), (300.0, "match")])
def test_no_match_is_given_that_is_hardly_ahead_of_a_wrong_build(cat, ahead, ruling):
    """However much it explains and shows: the one who pressed is given no card by a coin's toss."""
    two = (RED, dataclasses.replace(RED, z=45.0))
    beside = dataclasses.replace(WHITE, y=-120.0, z=15.0)
    found = [reading(cat, *two, loose=(beside,)), reading(cat, RED, loose=(beside,), score=30_000.0 - ahead)]
    verdict = decide(Rulings(cat, HeightCard("H", 1, 2)), found, CERTAIN, shown).verdict
    assert (verdict.ruling, verdict.leaning or verdict.ruling) == (ruling, "match")
    assert ruling == "match" or [r.code for r in verdict.reasons] == ["two_readings"]


def test_a_piece_of_the_tables_colour_may_stand_before_it_unseen(cat):
    """Without an empty frame a red table hides red pieces."""
    lacking, card = [reading(cat, WHITE), reading(cat, RED, WHITE, score=10_000.0)], LayoutCard("L", 1, (RED, WHITE))
    verdict = decide(Rulings(cat, card), lacking, CERTAIN, shown, hidden=("red",)).verdict
    assert (verdict.ruling, verdict.reasons[0].code) == ("undecided", "unseen_colour")
    assert decide(Rulings(cat, card), lacking, CERTAIN, shown).verdict.ruling == "mismatch"


def test_a_match_is_less_sure_while_a_white_piece_is_nowhere_seen(cat):
    """It could stand there as one too many."""
    two = (RED, dataclasses.replace(RED, z=45.0))
    beside = dataclasses.replace(WHITE, y=-120.0, z=15.0)
    unseen, seen = (
        decide(
            Rulings(cat, HeightCard("H", 1, 2)),
            [reading(cat, *two, loose=loose), reading(cat, RED, score=10_000.0)],
            CERTAIN,
            shown,
        ).verdict
        for loose in ((), (beside,))
    )
    assert (unseen.ruling, seen.ruling) == ("match", "match")
    assert unseen.confidence <= 0.93 < seen.confidence


def test_a_missing_piece_of_another_colour_is_missing_whatever_the_table_hides(cat):
    """No white piece that stands there unseen is the red one that the card asks for, nor rights a full build."""
    two, white_beside = (RED, dataclasses.replace(RED, z=45.0)), dataclasses.replace(WHITE, x=40.0, z=15.0)
    asked = reading(cat, *two, score=10_000.0)
    for built in ((RED,), (RED, dataclasses.replace(RED, x=40.0))):
        own = reading(cat, *built)
        verdict = decide(Rulings(cat, LayoutCard("L", 1, two)), [own, asked], CERTAIN, shown, hidden=("white",)).verdict
        assert verdict.ruling == "mismatch", built
    shapes = ShapesCard("S", 1, (("cube", 3),), 1)
    found = [reading(cat, *two), reading(cat, *two, white_beside, score=10_000.0)]
    verdict = decide(Rulings(cat, shapes), found, CERTAIN, shown, hidden=("white",)).verdict
    assert (verdict.ruling, verdict.reasons[0].code) == ("undecided", "unseen_colour")


@pytest.mark.parametrize(
    ("y", "ruling"), [(54.0, "match"), (50.6, "undecided"), (49.0, "undecided"), (45.0, "mismatch")]
)
def test_a_piece_on_the_fields_line_decides_nothing(cat, y, ruling):
    """Whether it counts is a matter of a millimetre, and a blurred picture tells five."""
    two, stray = (RED, dataclasses.replace(RED, z=45.0)), dataclasses.replace(WHITE, y=y, z=15.0)
    found = [reading(cat, *two, loose=(stray,)), reading(cat, RED, score=10_000.0)]
    verdict = decide(Rulings(cat, HeightCard("H", 1, 2)), found, CERTAIN, shown).verdict
    assert verdict.ruling == ruling
    assert ruling != "undecided" or verdict.reasons[0].code == "on_the_line"


def test_a_piece_on_the_fields_line_mends_no_build_that_is_wrong_anyway(cat):
    stray = dataclasses.replace(WHITE, y=50.6, z=15.0)
    found = [reading(cat, RED, loose=(stray,)), reading(cat, RED, dataclasses.replace(RED, z=45.0), score=10_000.0)]
    assert decide(Rulings(cat, HeightCard("H", 1, 4)), found, CERTAIN, shown).verdict.ruling == "mismatch"


def test_more_pieces_than_the_set_has_are_not_all_pieces(cat):
    """A phone's screen, a shadow's edge: a right build is robbed by what is taken for a piece beside it."""
    two = (RED, dataclasses.replace(WHITE, z=45.0))
    more = tuple(dataclasses.replace(RED, x=x, z=15.0) for x in (40.0, 75.0))
    found = [reading(cat, *two, loose=more), reading(cat, *two, score=10_000.0)]
    verdict = decide(Rulings(cat, LayoutCard("L", 1, two)), found, CERTAIN, shown).verdict
    assert (verdict.ruling, verdict.leaning, verdict.reasons[0].code) == ("undecided", "mismatch", "beyond_set")
    within = [reading(cat, *two, loose=more[:1]), found[1]]
    assert decide(Rulings(cat, LayoutCard("L", 1, two)), within, CERTAIN, shown).verdict.ruling == "mismatch"


def test_a_piece_that_shows_other_colours_within_it_is_perhaps_none(cat):
    three = tuple(dataclasses.replace(RED, z=z) for z in (15.0, 45.0, 75.0))
    found = [reading(cat, *three), reading(cat, *three[:2], score=10_000.0)]
    card = HeightCard("H", 1, 2)
    motley = Proof(1.0, 0.0, motley=three[0])
    verdict = decide(Rulings(cat, card), found, CERTAIN, lambda *_: motley).verdict
    assert (verdict.ruling, verdict.leaning, verdict.reasons[0].code) == ("undecided", "mismatch", "motley")
    assert decide(Rulings(cat, card), found[1:], CERTAIN, lambda *_: motley).verdict.ruling == "match"


@pytest.mark.parametrize(
    ("card", "ruling"),
    [
        (HeightCard("H", 1, 2), "undecided"),
        (HeightCard("H", 1, 4), "mismatch"),
        (LayoutCard("L", 1, (RED, dataclasses.replace(RED, z=45.0))), "undecided"),
        (LayoutCard("L", 1, (dataclasses.replace(RED, z=45.0), dataclasses.replace(WHITE, z=15.0))), "mismatch"),
    ],
    ids=["one too many", "one too few", "a third", "wrong without a third"],
)
def test_a_piece_too_many_that_would_hardly_stand_there_may_be_none(cat, card, ruling):
    """An egg on the table far behind was seen as a bar that leant on a right build."""
    three = (*(dataclasses.replace(RED, z=z) for z in (15.0, 45.0)), dataclasses.replace(WHITE, z=75.0))
    found = [reading(cat, *three), reading(cat, RED, score=10_000.0)]
    leaning = dataclasses.replace(CERTAIN, crooked=2 * HARDLY_STANDS)
    assert decide(Rulings(cat, card), found, leaning, shown).verdict.ruling == ruling
    assert decide(Rulings(cat, card), found, CERTAIN, shown).verdict.ruling == "mismatch"


def test_what_an_unseen_piece_could_not_mend_is_wrong(cat):
    two = (RED, dataclasses.replace(RED, z=45.0))
    found = [reading(cat, *two), reading(cat, RED, score=10_000.0)]
    assert decide(Rulings(cat, HeightCard("H", 1, 1)), found, CERTAIN, shown).verdict.ruling == "mismatch"


def test_what_the_pixels_do_not_show_is_not_ruled_however_far_it_is_ahead(cat):
    """A hand before a right build: skin fits some other pieces better than the table, and shows none of them."""
    found = [reading(cat, *(dataclasses.replace(RED, z=z) for z in (15.0, 45.0)))]
    found += [reading(cat, RED, score=10_000.0)]
    card = HeightCard("H", 1, 1)
    rulings = [
        decide(Rulings(cat, card), found, CERTAIN, lambda *_, s=s: Proof(s, 0.0, s < 0.05)).verdict for s in (1.0, 0.0)
    ]
    assert [v.ruling for v in rulings] == ["mismatch", "undecided"]
    assert (rulings[1].leaning, rulings[1].reasons[0].code) == ("mismatch", "covered")
    assert "2 pieces stand" in rulings[1].reasons[0].text
    doubted = dataclasses.replace(CERTAIN, agreement=-0.2)
    assert decide(Rulings(cat, card), found, doubted, shown).verdict.reasons[0].code == "covered"


def test_no_card_is_given_for_what_the_pixels_do_not_show_at_all(cat):
    """Two pieces exchanged in a hard shadow: the card was ahead, and not one pixel showed its pieces' colours."""
    found = [reading(cat, RED), reading(cat, *(dataclasses.replace(RED, z=z) for z in (15.0, 45.0)), score=10_000.0)]
    rulings = Rulings(cat, HeightCard("H", 1, 1))
    verdicts = [decide(rulings, found, CERTAIN, lambda *_, s=s: Proof(s, 0.0, s < 0.05)).verdict for s in (0.1, 0.0)]
    assert [v.ruling for v in verdicts] == ["match", "undecided"]
    assert (verdicts[1].leaning, verdicts[1].reasons[0].code) == ("match", "unproven")


def test_what_hardly_a_pixel_tells_apart_is_not_asked_of_pixels(cat):
    """A rival with one more piece right behind the build: a single pixel at its rim showed neither."""
    found = [reading(cat, RED), reading(cat, *(dataclasses.replace(RED, z=z) for z in (15.0, 45.0)), score=10_000.0)]
    rulings = Rulings(cat, HeightCard("H", 1, 1))
    verdicts = [decide(rulings, found, CERTAIN, lambda *_, n=n: Proof(0.0, 0.0, n)).verdict for n in (False, True)]
    assert [v.reasons[0].code if v.reasons else v.ruling for v in verdicts] != ["unproven", "unproven"]
    assert verdicts[1].reasons[0].code == "unproven"


def test_a_mismatch_that_explains_half_of_what_stands_there_is_none(cat):
    """Three pieces in a glare of which the search finds none: the field is not empty for that."""
    found = [reading(cat, *(dataclasses.replace(RED, z=z) for z in (15.0, 45.0)))]
    found += [reading(cat, RED, score=10_000.0)]
    rulings = Rulings(cat, HeightCard("H", 1, 1))
    verdicts = [decide(rulings, found, dataclasses.replace(CERTAIN, share=s), shown).verdict for s in (0.9, 0.5)]
    assert [v.ruling for v in verdicts] == ["mismatch", "undecided"]
    assert (verdicts[1].leaning, verdicts[1].reasons[0].code) == ("mismatch", "unexplained")


def test_a_card_that_asks_for_no_places_is_refused_only_where_most_is_explained(cat):
    """None of its builds can be tried beside what the search found: one seen behind a finger was said to lack a
    piece."""
    tower = tuple(dataclasses.replace(RED, z=z) for z in (15.0, 45.0))
    found = [reading(cat, *tower), reading(cat, RED, score=10_000.0)]
    fair, more = dataclasses.replace(CERTAIN, share=0.8), dataclasses.replace(CERTAIN, share=0.9)
    shapes = Rulings(cat, ShapesCard("S", 1, (("cube", 1),)))
    assert [decide(shapes, found, fit, shown).verdict.ruling for fit in (fair, more)] == ["undecided", "mismatch"]
    assert decide(Rulings(cat, LayoutCard("L", 1, (RED,))), found, fair, shown).verdict.ruling == "mismatch"


def test_what_lacks_may_be_under_what_nobody_can_explain(cat):
    """A glare on a tower leaves its foot and its top."""
    two = (RED, dataclasses.replace(RED, z=45.0))
    asked = reading(cat, *two, score=10_000.0)

    def ruling(found: list[Reading], count: int, left: float) -> str:
        """The ruling where so much touches the build."""
        return decide(
            Rulings(cat, HeightCard("H", 1, count)), found, CERTAIN, lambda *_: Proof(1.0, left)
        ).verdict.ruling

    beside = dataclasses.replace(WHITE, y=-120.0, z=15.0)
    few = reading(cat, RED, loose=(beside,))
    assert [ruling([few, asked], 2, left) for left in (0.3, 0.8)] == ["mismatch", "undecided"]
    many = reading(cat, *two)
    both = [many, dataclasses.replace(few, score=10_000.0)]
    assert [ruling(both, 1, left) for left in (0.8, 1.5)] == ["mismatch", "undecided"], (
        "too many stays so, but for an arm"
    )


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
    view, white = next(pair for pair in observer._views(frame, observer.look(frame)) if pair[0].zone == "A")
    seen = gather_evidence(view, nominal(pieces), white)
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
