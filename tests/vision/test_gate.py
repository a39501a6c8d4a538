"""The live gate on scripted scenes: stillness, hands, falls, things laid aside."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest

from calibration.palette import nominal_palette
from referee.devices.ports import Frame
from referee.vision.image.color_lut import GROUND, label_frame, label_table
from referee.vision.live import gate
from referee.vision.live.gate import AWAKE_S, REST_S, Gate
from referee.vision.observer import Observer

SKIN, SLEEVE, WOOD = (120, 150, 205), (60, 50, 45), (110, 165, 205)
STEP_S = 1 / 10


class Film:
    """Shows pictures to a gate at ten a second."""

    def __init__(self, rig, empty: np.ndarray | None = None) -> None:
        self.gate, self.count = Gate(Observer(rig.piece_set, rig.camera, empty=empty)), 0

    def show(self, image: np.ndarray, frames: int = 1) -> list:
        shown = []
        for _ in range(frames):
            shown.append(self.gate.look(Frame(image, self.count, self.count * STEP_S)))
            self.count += 1
        return shown


def with_hand(rig, image: np.ndarray, zone: str, x: float, y: float) -> np.ndarray:
    """A hand whose fingertips are at a point of the field, its arm leaving upwards out of the picture."""
    tip, away = rig.pixel(zone, x, y, 20), np.array((40, -260))
    out = image.copy()
    cv2.line(out, tip, (tip + away // 3).tolist(), SKIN, 64)
    cv2.line(out, (tip + away // 3).tolist(), (tip + away * 2).tolist(), SLEEVE, 80)
    return out


@pytest.fixture(scope="module")
def bare(rig) -> np.ndarray:
    return rig.photograph()


@pytest.fixture(scope="module")
def built(rig, tower) -> np.ndarray:
    return rig.photograph({"A": tower})


def test_still_field_settles(rig, built):
    seen = Film(rig).show(built, 8)
    assert set(seen[-1].zones) == {"A", "B"}
    a, b = seen[-1].zones["A"], seen[-1].zones["B"]
    assert a.mat_seen and not a.hand and not b.hand and a.moving == 0
    assert a.settled_s == pytest.approx(0.7)
    assert all(x.zones["A"].settled_s < y.zones["A"].settled_s for x, y in pairwise(seen))
    assert a.fill > 0.03 > b.fill


def test_hand_over_one_field_is_seen_there_only(rig, built):
    film = Film(rig)
    film.show(built, 3)
    now = film.show(with_hand(rig, built, "A", 20, 0))[0].zones
    assert now["A"].hand and now["A"].moving > 0.01 and now["A"].settled_s == 0
    assert not now["B"].hand and now["B"].settled_s > 0.2


def test_resting_hand_stays_a_hand_and_leaves_no_ghost(rig, built):
    film = Film(rig)
    film.show(built, 3)
    held = film.show(with_hand(rig, built, "A", 20, 0), round((REST_S + AWAKE_S) / STEP_S) + 20)
    assert all(state.zones["A"].hand for state in held)
    after = film.show(built, 12)
    assert not after[-1].zones["A"].hand and after[-1].zones["A"].settled_s > 0.5


def test_fall_moves_without_a_hand(rig, tower, built):
    film = Film(rig)
    film.show(built, 4)
    cube, cylinder = tower
    now = film.show(rig.photograph({"A": (cube, cylinder.at(x=45.0, z=25.0))}))[0].zones["A"]
    assert now.moving > 0.03 and not now.hand


def test_tongs_laid_behind_the_build_become_background(rig, built):
    film = Film(rig)
    film.show(built, 3)
    laid = built.copy()
    cv2.line(laid, rig.pixel("A", -70, 130, 0), rig.pixel("A", 75, 135, 0), WOOD, 9)
    assert not film.show(laid, round(AWAKE_S / STEP_S) + 3)[-1].zones["A"].hand


def test_a_hand_at_rest_of_which_parts_show_is_one(rig, built):
    """The legs of tongs and the fist are apart in the picture, and each by itself is no more than tongs that lie."""
    film = Film(rig)
    film.show(built, 3)
    parts = built.copy()
    for x in (-45, 0, 45):
        cv2.line(parts, rig.pixel("A", x, 100, 0), rig.pixel("A", x, 20, 60), WOOD, 24)
    assert film.show(parts, round(AWAKE_S / STEP_S) + 3)[-1].zones["A"].hand
    assert not film.show(built, 12)[-1].zones["A"].hand


def test_a_phone_in_the_field_is_seen_where_ink_is_not_printed(rig, built):
    """Dark glass looks like a marker's ink; nothing of it lies beyond the field."""
    film = Film(rig)
    film.show(built, 3)
    phone = built.copy()
    corners = [rig.pixel("A", x, y, 4) for x, y in ((25, -40), (85, -40), (85, 30), (25, 30))]
    cv2.fillConvexPoly(phone, np.array(corners), (14, 13, 12))
    held = film.show(phone, round((REST_S + AWAKE_S) / STEP_S) + 5)
    assert all(state.zones["A"].hand and not state.zones["B"].hand for state in held)
    assert not film.show(built, 12)[-1].zones["A"].hand


def test_a_hand_that_keeps_still_for_a_minute_is_not_forgotten(rig, built):
    """Over the room behind the build, where what rests becomes background; its sleeve is no longer told from that."""
    film = Film(rig)
    film.show(built, 3)
    still = built.copy()
    cv2.circle(still, rig.pixel("A", 10, 60, 150), 52, SKIN, -1)
    for _ in range(60):  # seconds
        held = film.gate.look(Frame(still, film.count, film.count * STEP_S))
        for _ in range(round(1 / STEP_S)):
            held = film.show(still)[-1]
    assert held.zones["A"].hand
    assert not film.show(built, 12)[-1].zones["A"].hand


def test_skin_of_all_tones_is_no_piece_beside_orange_ones(rig):
    """Of each tone in light and in half shadow hardly anything is taken for paint."""
    table = label_table(nominal_palette(rig.piece_set), np.array([0.8, 0.8, 0.8]))
    tones = [(0xE8, 0xBE, 0xA0), (0xD9, 0xA3, 0x83), (0xB9, 0x80, 0x60), (0x7A, 0x4C, 0x34)]
    shades = np.array([[(b * s, g * s, r * s) for s in (1.0, 0.85, 0.7)] for r, g, b in tones]).astype(np.uint8)
    assert (label_frame(shades, table) >= 0).mean() <= 0.1


@pytest.mark.parametrize("empty_known", [True, False])
def test_a_table_of_wood_that_pieces_uncover_is_no_hand(rig, bare, empty_known):
    """Duel after duel other pieces lie on the table, reaching into the box; at last none does."""
    table = bare.copy()
    corner, away = rig.pixel("A", -150, 160, 0), rig.pixel("A", 60, 110, 0)
    cv2.rectangle(table, corner, away, WOOD, -1)
    film = Film(rig, empty=table if empty_known else None)
    film.show(table, 5)
    for color in ((45, 40, 190), (150, 60, 30), (40, 120, 30)):
        covered = table.copy()
        cv2.rectangle(covered, corner, away, color, -1)
        film.show(covered, round(2 * REST_S / STEP_S))
    assert not film.show(table, round(AWAKE_S / STEP_S) + 2)[-1].zones["A"].hand


def test_the_empty_frame_tells_a_hand_that_was_there_from_the_start(rig, bare):
    film = Film(rig, empty=bare)
    seen = film.show(with_hand(rig, bare, "A", 0, 0), 3)
    assert seen[-1].zones["A"].hand


def test_without_mats_there_are_no_zones(rig):
    assert Film(rig).show(np.full((720, 1280, 3), 90, np.uint8), 2)[-1].zones == {}


def test_another_picture_size_begins_anew(rig, built):
    film = Film(rig)
    film.show(built, 2)
    small = cv2.resize(built, (960, 540), interpolation=cv2.INTER_AREA)
    assert set(film.show(small)[0].zones) == {"A", "B"}


@pytest.mark.parametrize(("off_px", "stays"), [(2, True), (-2, True), (9, False)])
def test_a_mat_located_a_pixel_away_keeps_its_window(rig, bare, monkeypatch, off_px, stays):
    film = Film(rig)
    film.show(bare)
    before, zone_of = film.gate._zones["A"].at, gate._zone

    def beside(*given):
        found = zone_of(*given)
        rows, columns = found.at
        return replace(found, at=(rows, slice(columns.start + off_px, columns.stop + off_px)))

    monkeypatch.setattr(gate, "_zone", beside)
    film.show(bare, 30)
    assert (film.gate._zones["A"].at == before) == stays


def test_a_sleeve_in_a_pieces_colour_does_not_come_to_rest(rig):
    """Half of it is in shade; what a piece is behind it is told by no look."""
    red = tuple(int(c) for c in rig.piece_set.rgb("red")[::-1])
    film, empty = Film(rig, rig.photograph()), rig.photograph()
    tip, away = rig.pixel("A", 0, 0, 20), np.array((40, -260))
    reaching = empty.copy()
    cv2.line(reaching, (tip + away // 5).tolist(), (tip + away * 2).tolist(), red, 60)
    cv2.line(reaching, tip, (tip + away // 5).tolist(), SKIN, 64)
    film.show(empty, 5)
    (look,) = film.show(reaching, 10)[-1:]
    sight = look.snapshots["A"]
    sleeve = sight.piece & (sight.labels >= 0)
    assert sight.hand and sleeve.sum() > 0.1 * sight.field
    assert not (sight.rest & sleeve).any()


@pytest.mark.parametrize(
    ("share", "hand", "rests"),
    [(0.75, False, True), (0.6, False, False), (0.75, True, False)],
    ids=["shadow", "darker than this table's", "as pale, with a hand at its end"],
)
def test_a_sleeve_as_colourless_as_a_shadow_does_not_come_to_rest(rig, bare, share, hand, rests):
    film = Film(rig, bare)
    film.show(bare, 5)
    paper, everywhere = np.full((20, 20, 3), 220, np.uint8), np.ones((20, 20), bool)
    film.gate._shade.learn((0.7 * paper).astype(np.uint8), paper, everywhere)
    across = np.zeros(bare.shape[:2], np.uint8)
    cv2.line(across, rig.pixel("A", 0, 0, 0), (rig.pixel("A", 0, 0, 0) + np.array((40, -260))).tolist(), 1, 60)
    grey = np.where(across[..., None] > 0, share * bare, bare).astype(np.uint8)
    if hand:
        cv2.line(grey, rig.pixel("A", 0, -40, 0), rig.pixel("A", 0, -60, 0), SKIN, 64)
    (look,) = film.show(grey, 6)[-1:]
    sight = look.snapshots["A"]
    there = film.gate._memory.unusual[film.gate._zones["A"].at] & sight.ground & (sight.labels == GROUND)
    assert sight.hand == hand and there.sum() > 0.05 * sight.field
    share_at_rest = sight.rest[there].mean()
    assert share_at_rest > 0.9 if rests else share_at_rest < 0.2, "but for its rim"
