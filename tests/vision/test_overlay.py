"""Overlays drawn from judgements made by hand: outlines where the pieces are, faults marked, target shown."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.mat import Mats
from calibration.palette import nominal_palette
from cards.build import Build, Piece
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.law import Reason, because
from cards.pieces import Pose
from referee.match.verdict import Verdict
from referee.vision import overlay
from referee.vision.image.evidence import Evidence
from referee.vision.image.view import zone_view
from referee.vision.observer import Judgement, ZoneSight
from referee.vision.overlay import AMBER, GREEN, RED, outlines, with_panel
from referee.vision.render import lettering
from referee.vision.render.solids import piece_tags


def judged(rig, frame: np.ndarray, pieces, verdict: Verdict, loose=()) -> Judgement:
    """A judgement of zone A as if these pieces had been understood."""
    view = zone_view(frame, rig.camera, rig.poses["A"])
    size = view.image.shape[:2]
    names = nominal_palette(rig.piece_set).names
    evidence = Evidence(
        names,
        np.zeros((len(names), *size), np.float32),
        np.full(size, -1, np.int8),
        np.ones(3),
        np.zeros((*size, 3), np.float32),
        np.zeros(size, np.float32),
    )
    sight = ZoneSight(view, evidence, Build(rig.piece_set, tuple(pieces), tuple(loose)), 900.0, 0.95)
    return Judgement({"A": verdict}, 0.2, Mats(rig.camera, rig.poses), ("a note",), {"A": sight})


def count(picture: np.ndarray, colour: tuple) -> int:
    return int((np.abs(picture.astype(int) - colour).max(-1) < 12).sum())


@pytest.mark.parametrize("distortion", [(0, 0, 0, 0, 0), (-0.25, 0.08, 0.001, -0.001, 0.0)])
def test_outlines_lie_on_the_pieces_in_a_bent_picture_too(make_rig, distortion):
    rig = make_rig({"A": (-165, 0, 10)}, distortion)
    cube = Piece("cube", "blue", Pose(), -70.0, 20.0, 15.0, 8.0)
    view = zone_view(np.zeros((720, 1280, 3), np.uint8), rig.camera, rig.poses["A"])
    (found,) = outlines(view, rig.camera, Build(rig.piece_set, (cube,)))
    c, s = np.cos(np.radians(8)), np.sin(np.radians(8))
    corners = np.array(
        [(-70 + c * x - s * y, 20 + s * x + c * y, z) for x in (-15, 15) for y in (-15, 15) for z in (0, 30)]
    )
    pixels = rig.camera.project(rig.poses["A"].to_camera(corners)).astype(np.float32)
    hull = cv2.convexHull(pixels)
    away = [abs(cv2.pointPolygonTest(hull, tuple(map(float, p)), True)) for p in found.contours[0]]
    assert max(away) < 2.5 and np.mean(away) < 1.2


def test_hidden_pieces_have_no_outline(rig):
    front = Piece("rectangle", "green", Pose(90), 0.0, -30.0, 37.5)
    behind = Piece("cube", "blue", Pose(), 0.0, 0.0, 15.0)
    view = zone_view(np.zeros((720, 1280, 3), np.uint8), rig.camera, rig.poses["A"])
    tags = piece_tags(view, rig.piece_set, (front, behind))
    assert (tags == 0).sum() > 500 > (tags == 1).sum()


def test_a_right_build_is_drawn_green_and_without_a_cross(rig, tower):
    frame = rig.photograph({"A": tower})
    drawn = with_panel(frame, judged(rig, frame, tower, Verdict("match", 0.99)), HeightCard("H02", 1, 2))
    assert drawn.shape[0] == 720 and drawn.shape[1] > 1280 and drawn.dtype == np.uint8
    picture = drawn[:, :1280]
    assert count(picture, GREEN) > 500 and count(picture, RED) == 0
    assert (drawn[:, 1280:] < 100).any()


def test_faults_are_marked_red_at_their_piece(rig, tower):
    frame = rig.photograph({"A": tower})
    verdict = Verdict("mismatch", 0.97, (Reason("wrong_place", "the red cylinder stands beside its place", (1,)),))
    drawn = with_panel(frame, judged(rig, frame, tower, verdict), LayoutCard("L01", 1, tower))
    x, y = rig.pixel("A", 0, 0, 55)
    assert count(drawn[y - 50 : y + 50, x - 50 : x + 50], RED) > 200
    x, y = rig.pixel("A", 0, 0, 8)
    assert count(drawn[y - 12 : y + 12, x - 25 : x + 25], RED) == 0


def test_undecided_is_amber_and_reasons_of_any_script_are_written(rig, tower):
    frame = rig.photograph({"A": tower})
    verdict = Verdict("undecided", 0.6, (Reason("hand", "Hand über dem Feld: größer als 30 %"),), None, "match")
    drawn = with_panel(frame, judged(rig, frame, tower, verdict), HeightCard("H02", 1, 2))
    assert count(drawn[:, :1280], AMBER) > 500


def test_a_picture_speaks_the_language_asked_for_and_no_developers_words(rig, tower, monkeypatch):
    written = []

    def write(picture, text, *more):
        written.append(text)
        return lettering.write(picture, text, *more)

    monkeypatch.setattr(overlay, "write", write)
    frame = rig.photograph({"A": tower})
    why = because("missing_piece", n=1, piece={"color": "blue", "shape": "cube"})
    seen = judged(rig, frame, tower, Verdict("undecided", 0.6, (why,), None, "mismatch"))
    with_panel(frame, seen, HeightCard("H02", 1, 2), "de", details=False)
    assert "Karte H02, Wert 1" in written and "A: nicht zu erkennen" in written and "eher falsch, 60 %" in written
    assert "Würfel, blau" in " ".join(written)
    assert not [text for text in written if set(text.lower().split()) & {"nats", "margin", "card", "missing", "note"}]
    written.clear()
    with_panel(frame, seen, HeightCard("H02", 1, 2))
    assert "Card H02, worth 1" in written and "a note" in written and "nats" in " ".join(written)


def test_letters_with_dots_are_drawn_as_such_and_long_words_stay_inside():
    plain, dotted = (np.full((60, 400, 3), 255, np.uint8) for _ in range(2))
    lettering.write(plain, "Worter", (10, 45), lettering.Letters(30))
    lettering.write(dotted, "Wörter", (10, 45), lettering.Letters(30))
    assert (plain != dotted).any(2).sum() > 10
    lines = lettering.wrapped("ein Teil steht nicht neben dem anderen, sondern davor", lettering.Letters(14), 160)
    assert len(lines) > 2 and max(lettering.width_px(line, lettering.Letters(14)) for line in lines) <= 160
    lettering.write(plain, "über den Rand", (390, 5), lettering.Letters(30))
    lettering.write(plain, "ganz draußen", (900, 900), lettering.Letters(30))


def test_nothing_seen_still_gives_a_picture(rig):
    frame = np.zeros((720, 1280, 3), np.uint8)
    drawn = with_panel(frame, Judgement({}, 0.1, Mats(rig.camera, {}), ("no mat is in view",)), HeightCard("H02", 1, 2))
    assert drawn.shape[0] == 720 and not drawn[:, :1280].any()


def test_the_frame_itself_is_left_alone(rig, tower):
    frame = rig.photograph({"A": tower})
    before = frame.copy()
    with_panel(frame, judged(rig, frame, tower, Verdict("match", 0.9)), HeightCard("H02", 1, 2))
    assert (frame == before).all()
