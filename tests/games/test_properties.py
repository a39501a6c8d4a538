"""What holds in every game, however it is played: a few hundred games at random. ``bench_games.py`` plays many more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import new, play, refuse_some, reread
from recount import panel, panel_sums, recount

from referee.games.catalogue import GAMES
from referee.games.match import evolve, fold

SEEDS = range(25)


@pytest.mark.parametrize("name", GAMES)
def test_a_random_game_ends_conserves_replays_and_is_recounted(name):
    for seed in SEEDS:
        seen = []

        def look(match, rng, seen=seen):
            seen.append(match.game.pieces(match.state) == match.game.deck(match.state))

        match, events = play(name, seed, look)
        assert all(seen) and len(seen) > 5, f"seed {seed}"
        assert fold(reread(events)) == match, f"seed {seed}"
        assert recount(name, events) == panel(match.view(None)), f"seed {seed}"
        assert panel_sums(match.view(None))[: len(match.state.players)] == list(match.game.scores(match.state)), (
            f"seed {seed}"
        )
        assert {row.player for row in match.standings if row.wins}, f"seed {seed}"


@pytest.mark.parametrize("name", GAMES)
def test_illegal_commands_are_refused_with_a_reason_and_change_nothing(name):
    count = []
    for seed in range(3):
        play(name, seed, lambda match, rng: count.append(refuse_some(match, rng, 5)))
    assert sum(count) > 500


@pytest.mark.parametrize("name", GAMES)
def test_every_prefix_of_a_log_is_a_state_and_shows_no_seat_what_is_hidden(name):
    _, events = play(name, 7)
    match = fold(events[:1])
    for event in events[1:]:
        match = evolve(match, event)
        for seat in (None, *match.state.seats):
            shown = match.view(seat)["hands"]
            assert all(set(hand) <= {"?"} for n, hand in enumerate(shown) if n != seat)


@pytest.mark.parametrize("name", GAMES)
def test_the_same_seed_is_the_same_deal_and_another_seed_another(name):
    assert new(name, 3, 5)[1] == new(name, 3, 5)[1]
    deals = {str(new(name, 3, seed)[1][0].data["deal"]) for seed in range(5)}
    assert len(deals) == 5
