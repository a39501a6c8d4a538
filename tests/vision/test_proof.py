"""How far pixels show a build: paint and table where it has them, and neither a hand nor another colour."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest

from calibration.palette import learn_palette, nominal_palette
from cards.build import Build, Piece
from cards.pieces import Pose, builtin_piece_set
from referee.vision.image.view import zone_view
from referee.vision.observer import ZonePixels, sheet_white
from referee.vision.verdict.proof import ShownPixels, proof_of, shown_of

PIECES = builtin_piece_set()
PAINTS = nominal_palette(PIECES).means
BLUE, RED = Piece("cube", "blue", Pose(), 0.0, 0.0, 15.0), Piece("cube", "red", Pose(), 0.0, 0.0, 45.0)
TOWER = Build(PIECES, (BLUE, RED))
ORANGE = Piece("cube", "orange", Pose(), 35.0, 0.0, 15.0)
SKIN = (150, 176, 214)


def build(*pieces: Piece, loose: tuple[Piece, ...] = ()) -> Build:
    return Build(PIECES, pieces, loose)


@pytest.fixture(scope="module")
def proof(rig):
    """``proof_of`` a build beside a rival in a picture of what stands on mat A."""

    def of(frame: np.ndarray, ahead: Build, rival: Build | None) -> float:
        view = zone_view(frame, rig.camera, rig.poses["A"])
        zone = ZonePixels(view, sheet_white(view, view.image), PAINTS)
        evidence = zone.evidence(learn_palette(PIECES, zone.foreground()))
        return proof_of([shown_of(view, evidence, PIECES, ahead, rival)])

    return of


def test_pixels_show_what_stands_there_and_that_nothing_does(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED, ORANGE]})
    right = build(BLUE, RED, ORANGE)
    assert proof(frame, right, TOWER) > 0.8
    assert proof(frame, right, build(BLUE, RED, dataclasses.replace(ORANGE, x=-35.0))) > 0.8
    assert proof(frame, right, None) > 0.8
    assert proof(rig.photograph({"A": [BLUE, RED]}), TOWER, right) > 0.8
    assert proof(rig.photograph(), build(), TOWER) > 0.8


def test_pixels_do_not_show_what_a_wrong_reading_says_in_place_of_another(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED]})
    assert proof(frame, build(BLUE, dataclasses.replace(RED, color="green")), TOWER) < 0.1
    assert proof(frame, build(BLUE, RED, ORANGE), TOWER) < 0.1
    assert proof(frame, build(BLUE), TOWER) < 0.1


def test_one_piece_that_is_not_there_is_the_weakest_part(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED]})
    assert proof(frame, build(BLUE, RED, ORANGE), None) < 0.1


def test_skin_shows_no_orange_piece(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED]})
    quad = np.array([rig.pixel("A", x, -5.0, z) for x, z in ((18, 2), (52, 2), (52, 34), (18, 34))], np.int32)
    touched = cv2.fillConvexPoly(frame.copy(), quad, SKIN, cv2.LINE_AA)
    assert proof(touched, build(BLUE, RED, ORANGE), TOWER) < 0.5


def test_a_view_that_puts_a_piece_on_the_other_side_of_the_line_counts_no_pieces():
    first = ShownPixels(np.array([8, 10]), np.array([(9, 10), (7, 10)]))
    other = ShownPixels(np.array([10, 10]), np.array([(0, 10)]))
    assert proof_of([first, other]) == 0.7
    assert proof_of([first, first]) == 0.7
    assert proof_of([other, other]) == 0.0


def test_a_piece_like_paper_is_not_asked_to_be_shown(rig):
    frame = rig.photograph({"A": [BLUE, RED]})
    view = zone_view(frame, rig.camera, rig.poses["A"])
    zone = ZonePixels(view, sheet_white(view, view.image), PAINTS)
    evidence = zone.evidence(learn_palette(PIECES, zone.foreground()))
    nothing_there = build(BLUE, RED, ORANGE)
    assert proof_of([shown_of(view, evidence, PIECES, nothing_there, None)]) < 0.1
    untold = dataclasses.replace(evidence, untold=(evidence.names.index("orange"),))
    assert shown_of(view, untold, PIECES, nothing_there, None).pieces[2].tolist() == [0, 0]
