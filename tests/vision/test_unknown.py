"""What is neither table nor piece is unknown, wherever it lies in the field; shadows, gloss and pieces are not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from made_cases import of_a_tower

from calibration.palette import LINEAR, color_features, learn_palette, nominal_palette
from cards.build import Build
from cards.kinds.height import HeightCard
from cards.pieces import builtin_piece_set
from referee.vision.image.evidence import Empty, Evidence
from referee.vision.image.unknown import log_shadow, outsized, patches
from referee.vision.image.view import ZoneView, zone_view
from referee.vision.observer import Observer, ZonePixels, sheet_white
from referee.vision.overlay import GREEN, PURPLE, with_panel
from referee.vision.verdict.visibility import visibility_of

PIECES = builtin_piece_set()
PAINTS = nominal_palette(PIECES).means
SIDES = {"beside": 1, "other side": -1}


def lay(rig, frame: np.ndarray, corners: list[tuple[float, float]], code: tuple) -> np.ndarray:
    """The frame with something flat of one colour on mat A."""
    quad = np.array([rig.pixel("A", x, y, 0.0) for x, y in corners], np.int32)
    return cv2.fillConvexPoly(frame.copy(), quad, code, cv2.LINE_AA)


def phone(rig, frame: np.ndarray, side: int = 1) -> np.ndarray:
    return lay(rig, frame, [(side * x, y) for x, y in ((30, -45), (90, -45), (90, 30), (30, 30))], (52, 46, 44))


def dimmed(rig, frame: np.ndarray, left: float) -> np.ndarray:
    """The frame with a shadow over half of mat A's field that leaves so much of the light."""
    quad = np.array([rig.pixel("A", x, y, 0.0) for x, y in ((0, -60), (100, -60), (100, 60), (0, 60))], np.int32)
    mask = cv2.fillConvexPoly(np.zeros(frame.shape[:2], np.uint8), quad, 1) > 0
    out = frame.copy()
    out[mask] = np.searchsorted(LINEAR, LINEAR[frame[mask]] * left).clip(0, 255)
    return out


def seen(rig, frame: np.ndarray, empty: np.ndarray | None = None):
    view = zone_view(frame, rig.camera, rig.poses["A"])
    zone = ZonePixels(view, sheet_white(view, view.image), PAINTS, None if empty is None else of_empty(view, empty))
    return view, zone.evidence(learn_palette(PIECES, zone.foreground()))


def of_empty(view: ZoneView, empty: np.ndarray) -> Empty:
    there = view.crop(empty)
    white = sheet_white(view, there)
    nowhere = np.zeros(there.shape[:2], bool)
    return Empty(color_features(there, white), white, nowhere, nowhere, nowhere)


def doubts(view: ZoneView, evidence: Evidence) -> tuple[str, ...]:
    """Names of the doubts about a match in such a picture."""
    return of_a_tower("match", visibility_of(view, evidence, PIECES, Build(PIECES, ()))).doubts


def worst(rig, frame: np.ndarray, empty: np.ndarray | None = None) -> float:
    view, evidence = seen(rig, frame, empty)
    return max((p.pieces for p in patches(view, evidence.unknown, PIECES)), default=0.0)


@pytest.mark.parametrize("aided", [True, False])
def test_pieces_and_shadows_are_known(rig, tower, aided):
    empty = rig.photograph() if aided else None
    standing = rig.photograph({"A": tower})
    assert worst(rig, standing, empty) < 0.2
    assert worst(rig, dimmed(rig, standing, 0.3), empty) < 0.2


@pytest.mark.parametrize("aided", [True, False])
@pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)
def test_a_phone_is_unknown_where_it_lies(rig, tower, aided, side):
    frame = phone(rig, rig.photograph({"A": tower}), side)
    view, evidence = seen(rig, frame, rig.photograph() if aided else None)
    largest = patches(view, evidence.unknown, PIECES)[0]
    assert largest.pieces > 1.5 and largest.share > 0.1
    assert (largest.x_mm, largest.y_mm) == pytest.approx((side * 60, -7), abs=10)


@pytest.mark.parametrize("aided", [True, False])
def test_a_thing_larger_than_all_pieces_of_its_colour_is_none_of_them(rig, tower, aided):
    """An arm as orange as the bridge: skin, where worn wood taught that colour."""
    empty = rig.photograph() if aided else None
    frame = rig.photograph({"A": tower})
    orange = tuple(int(PIECES.colors["orange"][k : k + 2], 16) for k in (5, 3, 1))
    arm = lay(rig, frame, [(25, 100), (85, 100), (85, -70), (25, -70)], orange)
    view, evidence = seen(rig, arm, empty)
    found = outsized(view, evidence.labels, evidence.names, PIECES)
    assert set(evidence.labels[found]) == {evidence.names.index("orange")}
    assert "unknown_object" in doubts(view, evidence)
    piece = lay(rig, frame, [(40, 20), (70, 20), (70, -10), (40, -10)], orange)
    assert doubts(*seen(rig, piece, empty)) == ()


def test_a_phone_withholds_a_verdict_and_is_marked(rig, tower):
    frame = phone(rig, rig.photograph({"A": tower}))
    assert doubts(*seen(rig, frame, rig.photograph())) == ("unknown_object",)
    card = HeightCard("H", 1, 2, 1)
    judgement = Observer(PIECES, rig.camera, empty=rig.photograph()).judge([frame], card, {"A"})
    assert judgement.zones["A"].reasons[0].code == "unknown_object"
    drawn = with_panel(frame, judgement, card)
    assert (np.abs(drawn.astype(int) - PURPLE).max(-1) < 12).sum() > 200
    assert (np.abs(drawn.astype(int) - GREEN).max(-1) < 12).sum() < 20, "nothing was found right of an undecided build"


def test_a_clean_verdict_stands(rig, tower):
    assert doubts(*seen(rig, rig.photograph({"A": tower}), rig.photograph())) == ()


def test_a_gray_picture_has_no_colour(rig, tower):
    gray = cv2.cvtColor(cv2.cvtColor(rig.photograph({"A": tower}), cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    assert "no_colour" in doubts(*seen(rig, gray))


def test_field_and_build_cut_off_are_named_apart(make_rig, tower):
    def codes(at_mm: tuple[float, float]) -> tuple[str, ...]:
        rig = make_rig({"A": (*at_mm, 0)})
        return doubts(*seen(rig, rig.photograph({"A": tower})))

    assert "out_of_view" in codes((430, 0))
    assert "build_cut" in codes((0, 1330))
    assert codes((0, 300)) == ()


def test_a_deep_shadow_in_the_rooms_second_light_is_known():
    deep = np.array([[(-1.4, 0.0, 0.7)]])  # the sky fills it with blue
    assert log_shadow(deep, np.array([0.0, -0.5]))[0, 0] > log_shadow(deep, np.zeros(2))[0, 0] + 4


def test_a_room_that_outshines_a_shadowed_sheet_is_no_mirror_image(rig, tower):
    """A lamp's shadow over the sheet alone: the lit table around it is brighter than its paper, and as it was."""
    empty, frame = rig.photograph(), rig.photograph({"A": tower})
    sheet = np.array([rig.pixel("A", x, y, 0.0) for x, y in ((-155, -112), (155, -112), (155, 112), (-155, 112))])
    mask = cv2.fillConvexPoly(np.zeros(frame.shape[:2], np.uint8), sheet.astype(np.int32), 1) > 0
    lit_by = np.where(mask[..., None], 0.12, 1.0)
    shadowed = np.searchsorted(LINEAR, LINEAR[frame] * lit_by).clip(0, 255).astype(np.uint8)
    view = zone_view(shadowed, rig.camera, rig.poses["A"])
    zone = ZonePixels(view, sheet_white(view, view.image), PAINTS, of_empty(view, empty))
    evidence = zone.evidence(learn_palette(PIECES, zone.foreground()))
    beside = view.valid & ~view.regions[0]
    assert evidence.known[beside].mean() > 0.9
