"""Two cameras at one table: a piece that one does not see is seen by the other.

``tests/golden/two_views*`` are pairs of pictures of ``tests/witness/make_sessions.py --two-views``, made smaller. In
FIELD of the first a piece too many is hidden from the first camera, and the second alone does not tell where it stands.
``loose_before``: a loose piece stands before a build that is right; ``white``: a white piece too many on white paper.
"""

from __future__ import annotations

import dataclasses
import json
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.camera import load_camera
from calibration.errors import FewPieces
from cards.deck import load_deck
from cards.kinds.height import HeightCard
from cards.pieces import load_piece_set
from referee.vision.observer import Observer, judge_views

GOLDEN = Path(__file__).parents[1] / "golden" / "two_views"
TRUTH = json.loads((GOLDEN / "truth.json").read_text())["frames"][0]
CARD = load_deck(GOLDEN / "deck.json").card(TRUTH["card"])
(FIELD,) = (zone for zone, row in TRUTH["zones"].items() if row["why"].startswith("hidden"))


def views_of(folder: Path) -> list[tuple[Observer, np.ndarray]]:
    """Each camera's observer and its picture."""
    pieces = load_piece_set(folder / "pieces.json")
    found = []
    for of in ("", "_2"):
        empty, colours, duel = (cv2.imread(str(folder / f"{name}{of}.jpg")) for name in ("empty", "colours", "duel"))
        observer = Observer(pieces, load_camera(folder / f"camera{of}.yaml"), empty=empty)
        with suppress(FewPieces):
            observer.learn_colors(colours)
        found.append((observer, duel))
    return found


@pytest.fixture(scope="module")
def views() -> list[tuple[Observer, np.ndarray]]:
    """The first pair."""
    return views_of(GOLDEN)


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


def test_two_cameras_that_show_other_builds(make_rig, tower):
    """The same place, once with its pieces the other way round: whichever of them stands there, one picture is old."""
    other = [dataclasses.replace(p, color=c) for p, c in zip(tower, ("green", "orange"), strict=True)]
    rigs = [make_rig({"A": (0, 0, turn)}) for turn in (0, 60)]
    observers = [Observer(rig.piece_set, rig.camera, empty=rig.photograph()) for rig in rigs]
    pictures = [rig.photograph({"A": built}) for rig, built in zip(rigs, (tower, other), strict=True)]
    judgement = judge_views(list(zip(observers, pictures, strict=True)), HeightCard("H", 1, 2), ["A"])
    assert judgement.zones["A"].ruling == "undecided"
    assert "views_disagree" in judgement.views["A"].doubts


@pytest.mark.parametrize("name", ["two_views_loose_before", "two_views_white"])
def test_a_build_is_read_from_what_both_cameras_show(name):
    folder = GOLDEN.with_name(name)
    truth = json.loads((folder / "truth.json").read_text())["frames"][0]
    expected = {zone: row["expected"] for zone, row in truth["zones"].items()}
    judgement = judge_views(views_of(folder), load_deck(folder / "deck.json").card(truth["card"]))
    assert {zone: verdict.ruling for zone, verdict in judgement.zones.items()} == expected
