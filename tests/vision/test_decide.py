"""What is decided from readings of made-up certainty, and builds that a search is easily lost in."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calibration.palette import nominal
from cards.build import Piece
from cards.card import HeightCard, LayoutCard, OrganCard
from cards.pieces import Pose, builtin_piece_set, parse_piece_set
from referee.vision.image.evidence import gather_evidence
from referee.vision.observer import Observer
from referee.vision.search.canvas import Fit, Reading, canvas_of
from referee.vision.search.readings import readings
from referee.vision.search.stances import catalogue
from referee.vision.verdict.decide import MOST_ALONE, decide
from referee.vision.verdict.rulings import Rulings

CERTAIN = Fit(1.0, 1.0, 0.0)
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
    verdict = decide(Rulings(cat, card), [reading(cat, RED)], CERTAIN).verdict
    assert (verdict.ruling, verdict.leaning, verdict.reasons[0].code) == ("undecided", "mismatch", "unseen_colour")
    assert "white" in verdict.reasons[0].text


def test_a_white_piece_seen_lying_loose_is_missing_from_the_build(cat):
    beside = dataclasses.replace(WHITE, y=-120.0, z=15.0)
    card = LayoutCard("L", 1, (RED, WHITE))
    asked = reading(cat, RED, WHITE, score=10_000.0)
    verdict = decide(Rulings(cat, card), [reading(cat, RED, loose=(beside,)), asked], CERTAIN).verdict
    assert verdict.ruling == "mismatch"


@pytest.mark.parametrize("built", [(RED,), (RED, WHITE)], ids=["mismatch", "match"])
def test_where_no_rival_was_met_nothing_is_sure(cat, built):
    """However much the only reading explains."""
    beside = dataclasses.replace(WHITE, x=30.0, y=-120.0, z=15.0)
    card, own = LayoutCard("L", 1, (RED, WHITE)), reading(cat, *built, loose=(beside,) * (2 - len(built)))
    other = reading(cat, *({(RED,): (RED, WHITE), (RED, WHITE): (RED,)}[built]), score=10_000.0)
    alone, beside_another = (decide(Rulings(cat, card), found, CERTAIN) for found in ([own], [own, other]))
    assert alone.verdict.leaning or alone.verdict.ruling == beside_another.verdict.ruling
    assert alone.verdict.confidence <= MOST_ALONE
    assert (alone.features["rival"], beside_another.features["rival"]) == (0.0, 1.0)


def test_a_piece_of_the_tables_colour_may_stand_before_it_unseen(cat):
    """Without an empty frame a red table hides red pieces."""
    lacking, card = [reading(cat, WHITE), reading(cat, RED, WHITE, score=10_000.0)], LayoutCard("L", 1, (RED, WHITE))
    verdict = decide(Rulings(cat, card), lacking, CERTAIN, hidden=("red",)).verdict
    assert (verdict.ruling, verdict.reasons[0].code) == ("undecided", "unseen_colour")
    assert decide(Rulings(cat, card), lacking, CERTAIN).verdict.ruling == "mismatch"


def test_a_match_is_less_sure_while_a_white_piece_is_nowhere_seen(cat):
    """It could stand there as one too many."""
    two = (RED, dataclasses.replace(RED, z=45.0))
    beside = dataclasses.replace(WHITE, y=-120.0, z=15.0)
    unseen, seen = (
        decide(
            Rulings(cat, HeightCard("H", 1, 2)),
            [reading(cat, *two, loose=loose), reading(cat, RED, score=10_000.0)],
            CERTAIN,
        ).verdict
        for loose in ((), (beside,))
    )
    assert (unseen.ruling, seen.ruling) == ("match", "match")
    assert unseen.confidence <= 0.93 < seen.confidence


def test_what_an_unseen_piece_could_not_mend_is_wrong(cat):
    two = (RED, dataclasses.replace(RED, z=45.0))
    found = [reading(cat, *two), reading(cat, RED, score=10_000.0)]
    assert decide(Rulings(cat, HeightCard("H", 1, 1)), found, CERTAIN).verdict.ruling == "mismatch"


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
    view, white = observer._views(frame, observer.look(frame), ["A"])[0]
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
