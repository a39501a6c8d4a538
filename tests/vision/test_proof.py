"""How far pixels show a build: paint and table where it has them, and neither a hand nor another colour."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest

from calibration.palette import learn_palette
from cards.build import Build, Piece
from cards.pieces import Pose, builtin_piece_set
from referee.vision.image.view import zone_view
from referee.vision.observer import ZonePixels, sheet_white
from referee.vision.verdict.proof import Proof, proof_of

PIECES = builtin_piece_set()
BLUE, RED = Piece("cube", "blue", Pose(), 0.0, 0.0, 15.0), Piece("cube", "red", Pose(), 0.0, 0.0, 45.0)
TOWER = Build(PIECES, (BLUE, RED))
ORANGE = Piece("cube", "orange", Pose(), 35.0, 0.0, 15.0)
SKIN = (150, 176, 214)


def build(*pieces: Piece, loose: tuple[Piece, ...] = ()) -> Build:
    return Build(PIECES, pieces, loose)


@pytest.fixture(scope="module")
def proof(rig):
    """``proof_of`` a build beside a rival in a picture of what stands on mat A."""

    def of(frame: np.ndarray, ahead: Build, rival: Build | None) -> Proof:
        view = zone_view(frame, rig.camera, rig.poses["A"])
        zone = ZonePixels(view, sheet_white(view, view.image))
        return proof_of(view, zone.evidence(learn_palette(PIECES, zone.foreground())), PIECES, ahead, rival)

    return of


def test_pixels_show_what_stands_there_and_that_nothing_does(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED, ORANGE]})
    right = build(BLUE, RED, ORANGE)
    assert proof(frame, right, TOWER).shown > 0.8
    assert proof(frame, right, build(BLUE, RED, dataclasses.replace(ORANGE, x=-35.0))).shown > 0.8
    assert proof(frame, right, None).shown > 0.8
    assert proof(rig.photograph({"A": [BLUE, RED]}), TOWER, right).shown > 0.8
    assert proof(rig.photograph(), build(), TOWER).shown > 0.8


def test_pixels_do_not_show_what_a_wrong_reading_says_in_place_of_another(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED]})
    assert proof(frame, build(BLUE, dataclasses.replace(RED, color="green")), TOWER).shown < 0.1
    assert proof(frame, build(BLUE, RED, ORANGE), TOWER).shown < 0.1
    assert proof(frame, build(BLUE), TOWER).shown < 0.1


def test_one_piece_that_is_not_there_is_the_weakest_part(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED]})
    assert proof(frame, build(BLUE, RED, ORANGE), None).shown < 0.1


def test_skin_shows_no_orange_piece(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED]})
    quad = np.array([rig.pixel("A", x, -5.0, z) for x, z in ((18, 2), (52, 2), (52, 34), (18, 34))], np.int32)
    touched = cv2.fillConvexPoly(frame.copy(), quad, SKIN, cv2.LINE_AA)
    assert proof(touched, build(BLUE, RED, ORANGE), TOWER).shown < 0.5


def test_what_touches_the_build_and_is_no_piece_of_it_is_left(rig, proof):
    frame = rig.photograph({"A": [BLUE, RED, ORANGE]})
    right = build(BLUE, RED, ORANGE)
    assert proof(frame, right, None).unexplained_area < 0.2
    assert proof(frame, build(BLUE, RED, loose=(ORANGE,)), None).unexplained_area < 0.2
    assert proof(frame, TOWER, right).unexplained_area > 0.7
    far = dataclasses.replace(ORANGE, x=-80.0)
    assert proof(rig.photograph({"A": [BLUE, RED, far]}), TOWER, right).unexplained_area < 0.2
    assert proof(frame, build(), None).unexplained_area > 0.7, "an empty field has nothing standing in it"
    assert proof(rig.photograph(), build(), None).unexplained_area < 0.2


@pytest.mark.parametrize(("wide_mm", "touches"), [(17, False), (60, True)])
def test_tongs_laid_down_behind_a_build_hide_no_piece(rig, proof, wide_mm, touches):
    """Seen aslant a stick with its shadow is thinner than any piece; what is as wide as one may be one."""
    frame = rig.photograph({"A": [BLUE, RED]})
    corners = [rig.pixel("A", x, y, 0.0) for x, y in ((-70, 16), (70, 16), (70, 16 + wide_mm), (-70, 16 + wide_mm))]
    cv2.fillConvexPoly(frame, np.array(corners, np.int32), (110, 160, 190), cv2.LINE_AA)
    built, bare = rig.photograph({"A": [BLUE, RED]}), rig.photograph()
    stands = np.abs(built.astype(int) - bare).max(-1) > 12
    frame[stands] = built[stands]  # what stands before it hides it
    assert (proof(frame, TOWER, None).unexplained_area > 0.5) == touches
