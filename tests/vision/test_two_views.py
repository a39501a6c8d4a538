"""Two cameras at one table: a piece that one does not see is seen by the other.

``tests/golden/two_views`` is a pair of pictures of ``tests/witness/make_sessions.py --two-views``, made smaller: in
FIELD a piece too many is hidden from the first camera, and the second alone does not tell where it stands.
"""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.camera import load_camera
from cards.deck import load_deck
from cards.pieces import load_piece_set
from referee.vision.observer import Observer, judge_views

GOLDEN = Path(__file__).parents[1] / "golden" / "two_views"
TRUTH = json.loads((GOLDEN / "truth.json").read_text())["frames"][0]
CARD = load_deck(GOLDEN / "deck.json").card(TRUTH["card"])
(FIELD,) = (zone for zone, row in TRUTH["zones"].items() if row["why"].startswith("hidden"))


def picture(name: str) -> np.ndarray:
    return cv2.imread(str(GOLDEN / name))


@pytest.fixture(scope="module")
def views() -> list[tuple[Observer, np.ndarray]]:
    """Each camera's observer and its picture."""
    pieces = load_piece_set(GOLDEN / "pieces.json")
    found = []
    for of in ("", "_2"):
        observer = Observer(pieces, load_camera(GOLDEN / f"camera{of}.yaml"), empty=picture(f"empty{of}.jpg"))
        observer.learn_colors(picture(f"colours{of}.jpg"))
        found.append((observer, picture(f"duel{of}.jpg")))
    return found


def test_a_piece_that_one_camera_does_not_see_is_seen_by_the_other(views):
    first, second, both = (judge_views(some, CARD, [FIELD]).zones[FIELD] for some in (views[:1], views[1:], views))
    assert TRUTH["zones"][FIELD]["expected"] not in (first.ruling, second.ruling)
    assert both.ruling == TRUTH["zones"][FIELD]["expected"]


def test_a_camera_that_does_not_show_a_build_is_left_out_and_that_is_noted(views):
    (first, frame), (second, other) = views
    view = second.gather(other)[2][FIELD][0]
    covered = other.copy()
    where = np.stack([axis[view.regions[2]] for axis in view.maps], 1).round().astype(np.int32)
    cv2.fillConvexPoly(covered, cv2.convexHull(where), (60, 200, 60))
    alone = first.judge(frame, CARD, [FIELD])
    told = judge_views([(first, frame), (second, covered)], CARD, [FIELD])
    assert any(getattr(note, "code", "") == "view_left_out" for note in told.notes)
    assert any("camera 2 does not show it clearly" in note for note in told.notes)
    assert told.zones[FIELD].to_json() == alone.zones[FIELD].to_json()


def test_a_mat_that_the_main_camera_does_not_show_is_judged_by_the_other(views):
    (first, frame), second = views
    told = judge_views([(first, np.zeros_like(frame)), second], CARD, [FIELD])
    assert told.zones[FIELD].ruling == judge_views([second], CARD, [FIELD]).zones[FIELD].ruling
    assert not told.views and not told.mats.poses
