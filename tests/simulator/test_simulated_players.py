"""Simulated players: their plans satisfy the rules, their mistakes break them, their hands obey the Stop."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cards.build import Piece
from cards.deck import builtin_deck
from cards.kinds.height import HeightCard
from cards.pieces import builtin_piece_set
from referee.simulator.build_plans import in_field, is_right, plan_build, spread_set, with_mistake
from referee.simulator.hand_motion import clear_fields
from referee.simulator.meshes import place_piece, solid
from referee.simulator.players import EARLIEST_PRESS_S, FAST_PLAYER, PlayerProfile, Players, build_script

SET, DECK = builtin_piece_set(), builtin_deck()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(DECK.cards), st.integers(0, 10**6))
def test_a_plan_is_right_and_spoiled_it_is_wrong(card, seed):
    rng = np.random.default_rng(seed)
    built = plan_build(card, SET, rng)
    assert in_field(built, SET) and is_right(built, card, SET)
    wrong = with_mistake(built, card, SET, rng)
    assert not is_right(wrong, card, SET)


@pytest.mark.parametrize("name", ["challenge", "village"])
def test_all_ten_can_be_built_into_one_tower(name):
    pieces = builtin_piece_set(name)
    card = HeightCard("H", 4, 10)
    assert is_right(plan_build(card, pieces, np.random.default_rng(5)), card, pieces)


@pytest.mark.parametrize("name", ["challenge", "village"])
def test_the_colour_frame_shows_every_piece_apart_in_the_field(name):
    pieces = builtin_piece_set(name)
    standing = spread_set(pieces)
    assert len(standing) == pieces.count and in_field(standing, pieces)
    for row in (-24.0, 24.0):
        edges = sorted(
            (p.x - w, p.x + w) for p in standing if p.y == row for w in [pieces.shapes[p.shape].size(p.pose)[0] / 2]
        )
        assert all(b[0] - a[1] > 2 for a, b in pairwise(edges))


def script_of(seed: int, profile: PlayerProfile = FAST_PLAYER):
    players = Players(SET, "AB", seed, profile)
    rng = np.random.default_rng(seed)
    card = DECK.cards[seed % len(DECK.cards)]
    return build_script(players._places["A"], plan_build(card, SET, rng), 100.0, profile, rng)


@pytest.mark.parametrize("profile", [PlayerProfile(), FAST_PLAYER])
def test_the_hand_has_left_the_field_when_stop_is_pressed(profile):
    for seed in range(10):
        script = script_of(seed, profile)
        assert script.press_s >= 100.0 + EARLIEST_PRESS_S
        hand = script.at(script.press_s)[1]
        assert hand is None or hand.tip[1] < -80


def test_every_piece_moves_without_a_jump():
    script = script_of(7, PlayerProfile())
    times = np.arange(100.0, script.press_s, 1 / 60)
    centres = np.array([[p.centre for p in script.at(t)[0]] for t in times])
    assert np.linalg.norm(np.diff(centres, axis=0), axis=2).max() < 40
    turns = np.array([[p.turn for p in script.at(t)[0]] for t in times])
    assert np.allclose(turns @ turns.transpose(0, 1, 3, 2), np.eye(3), atol=1e-9)


def test_after_a_stop_nobody_builds_on_and_what_is_in_the_air_is_put_back():
    script = script_of(3)
    for stop_s in np.linspace(100.5, script.press_s, 23):
        stopped = script.stopped(stop_s)
        before, after = script.at(stop_s)[0], stopped.at(stop_s + 60)[0]
        finished = {m.index for m in script.moves if m.end_s <= stop_s}
        for i, piece in enumerate(after):
            wanted = before[i] if i in finished else script.places[i]
            assert np.allclose(piece.centre, wanted.centre)
        assert stopped.at(stopped.still_s + 0.1)[1] is None


def test_clearing_puts_everything_back():
    script = script_of(3)
    now = script.at(script.press_s)[0]
    cleared = clear_fields(now, script.places, 200.0, 1.0)
    assert all(a is b for a, b in zip(cleared.at(200.0)[0], now, strict=True))
    assert all(a is b for a, b in zip(cleared.at(cleared.still_s)[0], script.places, strict=True))


def test_a_placed_piece_has_the_size_its_pose_says():

    for name, shape in SET.shapes.items():
        for pose in shape.poses():
            piece = place_piece(Piece(name, "red", pose, 0.0, 0.0, 0.0))
            corners = solid(shape).moved(piece.turn, piece.centre).corners.reshape(-1, 3)
            assert np.allclose(np.ptp(corners, axis=0), shape.size(pose), atol=0.4)
