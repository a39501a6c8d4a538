"""Whose hands are over a field, and how: rendered hands before the real gate."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from posed_table import loose_pieces

sys.path.insert(0, str(Path(__file__).parents[1] / "review"))

from staged_fouls import RESTS, SET, Table

from cards.deck import builtin_deck
from referee.devices.ports import Frame
from referee.simulator.meshes import place_piece
from referee.simulator.table import Hand, World
from referee.vision.hands.field_hands import (
    STOOD_LOOKS,
    FieldMasks,
    LoosePieces,
    StandingPieces,
    field_masks,
    hands_over,
)
from referee.vision.hands.fists import Fist, ReducedFrame, detect_fists, with_owner
from referee.vision.hands.geometry import STRANGER, HandGeometry, tongs_visible
from referee.vision.hands.tracker import HandTracker
from referee.vision.live.fouls import FoulWatch
from referee.vision.live.gate import Gate

pytestmark = pytest.mark.slow

TALL, LOW, BROAD = (builtin_deck().card(name) for name in ("L20", "L05", "L48"))
AT_WORK, AWAY = Hand((0.0, -2.0, 40.0)), Hand((120.0, -240.0, 60.0))
TOUCHES = Hand((0.0, -5.0, 30.0), bare=True)
STEADIES = Hand((-35.0, -5.0, 30.0), bare=True, left=True)


@pytest.fixture(scope="module")
def table():
    """Two players opposite the camera."""
    return Table(12, "across", 360)


@pytest.fixture(scope="module")
def arms(table):
    """What is seen of these hands over builds that came after the go: ``arms(hands, more)``, by zone; ``stood``: the
    builds had stood for a while when the hands came."""

    def look(hands, more=(), card=LOW, stood=False):
        loose = {z: loose_pieces(SET, card.pieces, 12 + ord(z)) for z in "AB"}
        built = {z: [*loose[z], *(place_piece(p) for p in card.pieces)] for z in "AB"}
        gate, watch = Gate(table.observer), FoulWatch()
        stands = [World(built)] * (STOOD_LOOKS if stood else 0)
        for n, world in enumerate((World(loose), *stands, World(built, hands, None, more))):
            gate.look(Frame(table.sim.render(world, n), n, n / 10))
            found = watch._hands(*gate.reduced_frame())
        return found

    return look


@pytest.mark.parametrize("card", [LOW, TALL])
def test_tongs_at_work_are_the_own_ones_and_no_bare_hand_behind_a_tall_build_either(arms, card):
    seen = arms({"A": AT_WORK, "B": AT_WORK}, card=card)
    assert {zone: (set(over.owners) <= {zone}, over.bare) for zone, over in seen.items()} == {
        "A": (True, False),
        "B": (True, False),
    }


@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_hand_without_tongs_at_a_piece_is_bare(arms, zone):
    seen = arms({zone: TOUCHES})
    assert seen[zone].bare and seen[zone].owners == (zone,) and seen[zone].hands == 1


@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_bare_hand_that_hides_what_stood_is_before_it_and_tongs_hide_nothing(arms, zone):
    x, y, z = place_piece(max(BROAD.pieces, key=lambda piece: piece.z)).centre
    at = (float(x), float(y) - 2, float(z) + 6)
    assert arms({zone: Hand(at, bare=True)}, card=BROAD, stood=True)[zone].bare
    assert not arms({zone: Hand(at, bare=True)}, card=BROAD)[zone].bare  # as behind it, for all that is known
    assert not arms({zone: Hand(at)}, card=BROAD, stood=True)[zone].bare


@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_second_hand_counts_where_the_first_is_at_work_elsewhere(arms, zone):
    assert arms({zone: AWAY}, ((zone, STEADIES),))[zone].hands == 2


@pytest.mark.parametrize("place", RESTS.values(), ids=RESTS)
@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_second_hand_that_rests_is_in_no_field_and_does_not_count(arms, zone, place):
    assert arms({zone: AT_WORK}, ((zone, Hand(place, bare=True, left=True)),))[zone].hands <= 1


@pytest.mark.parametrize(("zone", "other"), [("A", "B"), ("B", "A")])
def test_a_hand_from_the_other_mat_is_its_players(table, arms, zone, other):
    hand = Hand(tuple(table.seen_from(zone, (0.0, -10.0, 40.0))))
    seen = arms({zone: hand})
    assert zone in seen[other].owners and not seen[other].bare


def test_hands_at_loose_pieces_are_in_no_field(arms):
    seen = arms({"A": AWAY, "B": AWAY})
    assert not any(over.owners or over.hands or over.bare for over in seen.values())


def test_a_pixel_shows_the_point_of_its_plane(table):
    geometry = geometry_of(table)
    point = np.array([30.0, -20.0, 70.0])
    pose = geometry.mats.poses["A"]
    (pixel,) = geometry.pixels(pose, point[None])
    assert np.allclose(geometry.on_plane(pixel, pose, 70.0), point, atol=0.1)


def geometry_of(table: Table) -> HandGeometry:
    """Of its pictures of 640 by 360, reduced."""
    return HandGeometry(table.observer.look(table.sim.empty()), 2)


def fist(at: tuple[int, int], owner: str | None, tongs: bool | None = None) -> Fist:
    """One in a picture of 320 by 180."""
    mask = np.zeros((180, 320), bool)
    mask[at[1] - 5 : at[1] + 6, at[0] - 5 : at[0] + 6] = True
    return Fist(mask, np.array(at, float), mask, owner, tongs)


def test_a_hand_stays_its_players_where_its_arm_is_not_seen_any_more(table):
    geometry, tracker = geometry_of(table), HandTracker()
    known = [tracker.update([fist(at, owner)], geometry) for at, owner in (((100, 60), "B"), ((108, 64), None))]
    assert [f.owner for of in known for f in of] == ["B", "B"] and known[1][0].tongs_end is not None
    assert tracker.update([fist((108, 64), "A")], geometry)[0].owner == "A"  # what its arm says counts first
    assert tracker.update([fist((200, 64), None), fist((20, 64), None, tongs=False)], geometry)[0].owner is None


@pytest.mark.parametrize(("as_player", "owner"), [(2, STRANGER), (3, "A")])
def test_an_arm_is_a_strangers_once_it_led_to_nobody_who_plays_in_most_looks(table, as_player, owner):
    geometry, tracker = geometry_of(table), HandTracker()
    told = ["A"] * as_player + [STRANGER] * 3
    known = [tracker.update([fist((100 + 8 * n, 60), of)], geometry)[0].owner for n, of in enumerate(told)]
    assert known == ["A"] * (len(told) - 1) + [owner]


def test_a_patch_without_an_arm_is_nobodys_where_none_or_two_players_hands_were(table):
    geometry, tracker = geometry_of(table), HandTracker()
    assert tracker.update([fist((100, 60), None)], geometry) == []
    tracker.update([fist((95, 60), "A"), fist((105, 60), "B")], geometry)
    assert tracker.update([fist((100, 60), None)], geometry) == []


@pytest.mark.parametrize(("top", "seen"), [(60, 1), (0, 0)])
def test_what_is_only_the_pictures_rim_is_no_fist_though_something_leads_to_it(table, top, seen, monkeypatch):
    monkeypatch.setattr("referee.vision.hands.fists._arm_directions", lambda *_: iter([np.array([[0.0, -1.0]])]))
    geometry = geometry_of(table)
    skin = np.zeros((180, 320), bool)
    skin[top : top + 9, 86:125] = True
    monkeypatch.setattr("referee.vision.hands.fists._parts", lambda mask, _: iter([skin]))
    nothing = np.full(skin.shape, -1, np.int8)
    assert len(detect_fists(ReducedFrame(nothing, skin, skin), geometry)) == seen


@pytest.mark.parametrize(("row", "seen"), [(60, 1), (0, 0)])
def test_a_patch_of_skin_without_an_arm_may_be_a_fist_but_not_where_it_goes_on_beyond_the_picture(
    table, row, seen, monkeypatch
):
    monkeypatch.setattr("referee.vision.hands.fists._arm_directions", lambda *_: iter(()))
    geometry = geometry_of(table)
    skin = np.zeros((180, 320), bool)
    skin[row : row + 22, 86:115] = True
    nothing = np.full(skin.shape, -1, np.int8)
    assert len(detect_fists(ReducedFrame(nothing, skin, skin), geometry)) == seen


def test_two_hands_that_reach_over_a_field_are_two_though_the_tongs_of_neither_are_seen(table):
    geometry = geometry_of(table)
    pose, nothing = geometry.mats.poses["A"], np.zeros((180, 320), bool)
    field = FieldMasks(nothing, nothing, nothing)
    over = pose.to_camera(np.array([[0.0, 0.0, 20.0]]))[0]
    first, other = (replace(fist((x, 40), "A", tongs=False), tongs_end=over) for x in (100, 160))
    assert hands_over([first, other], field, geometry, pose).hands == 2
    for rests in (
        replace(other, tongs_end=None),
        replace(other, exposed=True),
    ):  # where it is, with no tongs before it
        assert hands_over([first, rests], field, geometry, pose).hands == 0
    assert hands_over([first], field, geometry, pose).hands == 0


@pytest.mark.parametrize(
    ("elsewhere", "hands"),
    [(["A", "B"], 2), (["B"], 1), (["A"], 0), ([], 0)],  # only the other player's being seen leaves the field's own
)
def test_nobodys_hand_in_a_field_is_its_players_once_the_others_is_seen_elsewhere(table, elsewhere, hands):
    geometry = geometry_of(table)
    pose = geometry.mats.poses["A"]
    x, y = map(round, geometry.mats.camera.project(pose.to_camera(np.zeros((1, 3))))[0] / 2)
    away = {"A": (x, 20), "B": (300, 20)}
    here = np.zeros((180, 320), bool)
    here[y - 8 : y + 9, x - 8 : x + 9] = True
    field = FieldMasks(here, here, np.zeros_like(here))
    fists = [fist((x, y), None, tongs=False), *(fist(away[zone], zone, tongs=True) for zone in elsewhere)]
    assert hands_over(fists, field, geometry, pose).hands == hands


@pytest.mark.parametrize(
    ("rows", "columns", "seen"),
    [((60, 66), (86, 110), 1), ((60, 84), (86, 92), 0), ((60, 62), (76, 120), 0), ((170, 176), (86, 110), 0)],
    ids=["at its end", "along it", "its edge alone", "at the picture's edge"],
)
def test_a_rim_of_skin_is_a_fist_at_its_sleeves_end_and_not_along_it(table, rows, columns, seen, monkeypatch):
    monkeypatch.setattr("referee.vision.hands.fists._arm_directions", lambda *_: iter([np.array([[0.0, -1.0]])]))
    geometry = geometry_of(table)
    skin = np.zeros((180, 320), bool)
    skin[slice(*rows), slice(*columns)] = True
    nothing = np.full(skin.shape, -1, np.int8)
    assert len(detect_fists(ReducedFrame(nothing, skin, skin), geometry)) == seen


@pytest.mark.parametrize("down_to", [12, 30], ids=["carried over it", "stands in it"])
def test_a_fist_touches_what_stands_in_the_field_and_not_what_is_only_seen_over_it(table, down_to):
    geometry = geometry_of(table)
    pose = geometry.mats.poses["A"]
    low, build = np.zeros((180, 320), bool), np.zeros((180, 320), bool)
    low[60:100, 60:140] = True
    build[46 : 46 + down_to, 106:114] = True
    field = FieldMasks(low, low, build)
    found = hands_over([replace(fist((100, 60), "A", tongs=False), exposed=True)], field, geometry, pose)
    assert found.hands == 1 and found.bare == (down_to == 30)


def test_from_behind_a_player_nothing_is_said_of_a_bare_hand():
    beside = Table(13, "beside", 360)
    poses = beside.observer.look(beside.sim.empty()).poses
    assert not any(tongs_visible(pose) for pose in poses.values())


@pytest.fixture(scope="module")
def beside():
    """Two players on the camera's side."""
    return Table(13, "beside", 360)


@pytest.mark.parametrize("zone", ["A", "B"])
@pytest.mark.parametrize(("more", "hands"), [((), 1), ((STEADIES,), 2)], ids=["one", "two"])
def test_two_sleeves_that_lead_to_one_place_are_two_hands_seen_from_behind(beside, zone, more, hands):
    gate, watch = Gate(beside.observer), FoulWatch()
    built = {z: [place_piece(p) for p in LOW.pieces] for z in "AB"}
    for n, world in enumerate((World(), World(built), World(built, {zone: AT_WORK}, None, [(zone, h) for h in more]))):
        gate.look(Frame(beside.sim.render(world, n), n, n / 10))
        seen = watch._hands(*gate.reduced_frame())
    assert seen[zone].hands == hands


@pytest.mark.parametrize(
    ("spread", "widened", "hands"), [(60, 0, 1), (74, 0, 1), (74, 20, 2), (74, 12, 1), (66, 20, 1), (92, 0, 2)]
)
def test_sleeves_that_spread_wide_are_two_and_so_are_less_wide_ones_that_spread_less_before(
    beside, spread, widened, hands
):
    geometry = geometry_of(beside)
    pose = geometry.mats.poses["A"]
    over = geometry.mats.camera.project(pose.to_camera(np.array([[18.0, -95.0, 70.0]])))[0] / 2
    at_work = with_owner(fist(tuple(over.round().astype(int)), "A"), "A", geometry)
    bare = ReducedFrame(np.full((180, 320), -1, np.int8), np.zeros((180, 320), bool), np.zeros((180, 320), bool))
    field = field_masks(bare, geometry, pose, bare.new)
    seen = hands_over([replace(at_work, spread_deg=spread, growth_deg=widened)], field, geometry, pose)
    assert seen.hands == hands


@pytest.mark.parametrize("hidden", [True, False], ids=["by a hand", "gone"])
def test_what_has_a_loose_pieces_colour_where_the_table_was_bare_since_was_put_there(hidden):
    there, loose = np.zeros((4, 4), bool), LoosePieces()
    there[1:3, 1:3] = True
    lies, bare = np.where(there, 2, -1).astype(np.int8), np.full((4, 4), -1, np.int8)
    looks = [
        loose.update(ReducedFrame(labels, there & (labels < 0) & hidden, there & False))
        for labels in (lies, bare, lies)
    ]
    assert (looks[0] == there).all() and not looks[1].any() and looks[2].any() == hidden


@pytest.mark.parametrize("between", [True, False], ids=["between pieces", "before the table"])
def test_what_is_thin_between_two_pieces_may_be_a_finger_and_no_tongs(table, between, monkeypatch):
    monkeypatch.setattr("referee.vision.hands.fists._arm_directions", lambda *_: iter([np.array([[0.0, -1.0]])]))
    geometry = geometry_of(table)
    skin, labels = np.zeros((180, 320), bool), np.full((180, 320), -1, np.int8)
    skin[50:72, 86:115] = True
    skin[72:100, 99:102] = True
    if between:
        labels[72:110, 92:99] = labels[72:110, 102:109] = 1
    assert [f.tongs for f in detect_fists(ReducedFrame(labels, skin, skin), geometry)] == [not between]


@pytest.mark.parametrize(
    ("left", "owner"),
    [(200, STRANGER), (280, None), (292, None)],
    ids=["in it", "in it, its arm mostly beyond", "at its edge"],
)
def test_a_fist_at_the_pictures_edge_is_not_told_to_be_a_strangers(table, left, owner):
    new, skin = (np.zeros((180, 320), bool) for _ in range(2))
    skin[80:106, left : left + 26] = True
    new[86:100, left:] = True
    found = detect_fists(ReducedFrame(np.full((180, 320), -1, np.int8), new, skin), geometry_of(table))
    assert [fist.owner for fist in found] == [owner]


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("tip", [(-30.0, -30.0, 80.0), (-30.0, 0.0, 40.0)])
def test_from_behind_tongs_show_where_their_player_holds_them_and_not_opposite_the_sleeve(tip, bare):
    behind = Table(2206, "beside", 360)
    gate = Gate(behind.observer)
    for n, hands in enumerate(({}, {}, {"B": Hand(tip, bare=bare)})):
        gate.look(Frame(behind.sim.render(World(hands=hands), n), n, n / 10))
    assert [fist.tongs for fist in detect_fists(*gate.reduced_frame())] == [not bare]


@pytest.mark.parametrize("tip", [(0.0, 0.0, 80.0), (0.0, -20.0, 80.0), (30.0, 10.0, 120.0)])
def test_an_own_arm_seen_from_low_down_with_a_sleeve_as_dark_as_the_table_is_no_strangers(tip):
    low = Table(1549, "beside", 360)
    gate = Gate(low.observer)
    for n, hands in enumerate(({}, {}, {"B": Hand(tip)})):
        gate.look(Frame(low.sim.render(World(hands=hands), n), n, n / 10))
    assert [fist.owner for fist in detect_fists(*gate.reduced_frame())] == [None]


@pytest.mark.parametrize("before", ["bare", "hidden"])
def test_tongs_are_not_looked_for_behind_a_piece_that_they_carry(beside, before):
    geometry, pieces = geometry_of(beside), StandingPieces()
    low, build, none = np.ones((180, 320), bool), np.zeros((180, 320), bool), np.zeros((180, 320), bool)
    build[60:70, 109:119] = True
    for seen, new in ((none, build & (before == "hidden")), (build, none)):
        frame = ReducedFrame(np.where(seen, 1, -1).astype(np.int8), new, none)
        field = pieces.update(frame, FieldMasks(low, low, seen))
    hand = with_owner(fist((100, 64), "A", tongs=False), "A", geometry)
    sole = hands_over([hand], field, geometry, geometry.mats.poses["A"]).sole
    assert sole is not None and (sole.shown_mm == 0) == (before == "bare")
