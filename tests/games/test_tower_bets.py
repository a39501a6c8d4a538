"""tower_bets: a test named after every sentence of the rules table. (The source has no worked figures.)"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import GAMES, ask, new, options, play, refused

from referee.games.core import BadGame
from referee.games.match import Match, fold
from referee.games.tower_bets.rules import STYLES, BetChip, Draw, PlayCard, ReadPile, tower_order, tower_powers


def table(match: Match | None = None, **changes: object) -> Match:
    """A game of three, its table changed by hand; Ann holds A, B, C; A, B and C lie open."""
    match = match or new("tower_bets", 3)[0]
    state = match.state
    start = {
        "turn": 0,
        "hands": (("A", "B", "C"), *state.hands[1:]),
        "piles": tuple((style, *pile[1:]) for style, pile in zip("ABC", state.piles, strict=True)),
    }
    return replace(match, state=replace(state, **(start | changes)))


@pytest.mark.parametrize(("players", "fits"), [(1, False), (2, True), (5, True), (6, False)])
def test_2_to_5_players(players, fits):
    if fits:
        assert len(new("tower_bets", players)[0].state.players) == players
    else:
        with pytest.raises(BadGame, match="from 2 to 5"):
            new("tower_bets", players)


def test_the_oldest_begins():
    """As in the source; a deal that does not say so is of a version where the youngest did."""
    for mode in ("full", "scorer"):
        match, events = new("tower_bets", 3, mode=mode)
        assert match.state.turn == 2
        data = dict(events[0].data)
        earlier = {key: value for key, value in data["deal"].items() if key != "first"}
        assert fold([replace(events[0], data=data | {"deal": earlier})]).state.turn == 0


def test_five_base_cards():
    assert tuple(dict.fromkeys(face.title for face in GAMES["tower_bets"].faces() if face.base)) == STYLES
    assert len(new("tower_bets")[0].state.heights) == 5


def test_five_styles_of_twelve_tower_cards_three_in_each_hand_three_piles():
    state = new("tower_bets", 5)[0].state
    cards = Counter((*state.out, *(c for pile in (*state.hands, *state.piles) for c in pile)))
    assert cards == dict.fromkeys("ABCDE", 12)
    assert [len(hand) for hand in state.hands] == [3] * 5 and len(state.piles) == 3


@pytest.mark.parametrize(
    ("players", "out", "pile", "surplus"), [(2, 5, 9, 2), (3, 3, 12, 0), (4, 1, 14, 1), (5, 0, 15, 0)]
)
def test_cards_taken_out_per_style_and_the_surplus_of_three_equal_piles_is_removed(players, out, pile, surplus):
    state = new("tower_bets", players)[0].state
    assert [len(p) for p in state.piles] == [pile] * 3
    assert len(state.out) == 5 * out + surplus
    assert all(state.out.count(style) >= out for style in "ABCDE")


def test_power_chips_1_2_3_two_of_each_value():
    assert new("tower_bets", 2)[0].state.chips == ((2, 2, 2), (2, 2, 2))


@pytest.mark.parametrize("storeys", [1, 2, 3])
def test_add_one_card_to_the_tower_of_its_style_raising_it_by_one_two_or_three_storeys(storeys):
    after = ask(table(), PlayCard(0, "B", storeys)).state
    assert after.heights == (0, storeys, 0, 0, 0) and Counter(after.hands[0]) == Counter("AC")


def test_a_card_raises_by_no_other_number_and_only_from_the_hand_and_in_turn():
    refused(table(), PlayCard(0, "A", 0), "one, two or three storeys, not 0")
    refused(table(), PlayCard(0, "A", 4), "not 4")
    refused(table(), PlayCard(0, "D", 1), "Ann has no card D")
    refused(table(), PlayCard(0, "F", 1), "no tower 'F'")
    refused(table(), PlayCard(1, "A", 1), "it is the turn of Ann")
    refused(table(), Draw(0), "not possible in phase building")
    refused(ask(table(), PlayCard(0, "A", 1)), PlayCard(0, "B", 1), "not possible in phase betting")


def test_the_base_card_counts_no_storey():
    assert new("tower_bets")[0].state.heights == (0,) * 5


def test_optionally_bet_one_chip():
    built = ask(table(), PlayCard(0, "A", 1))
    assert ask(built, Draw(0)).state.bets == ((),) * 5
    after = ask(built, BetChip(0, "B", 1))
    assert after.state.bets[1] == ((0, (1,)),) and after.state.chips[0] == (1, 2, 2)
    refused(after, BetChip(0, "B", 1), "not possible in phase drawing")


def test_bet_on_a_tower_whose_style_lies_open_on_a_pile():
    refused(ask(table(), PlayCard(0, "A", 1)), BetChip(0, "D", 1), "D lies open on no pile: only A, B, C")


def test_the_chip_is_at_least_as_high_as_the_storeys_just_added():
    built = ask(table(), PlayCard(0, "A", 2))
    refused(built, BetChip(0, "A", 1), "2 storeys were added: the chip must be at least 2")
    assert ask(built, BetChip(0, "A", 2)).state.bets[0] == ((0, (2,)),)
    assert ask(built, BetChip(0, "A", 3)).state.bets[0] == ((0, (3,)),)


def test_a_chip_that_is_used_up_cannot_be_bet():
    built = ask(table(chips=((0, 2, 2), (2, 2, 2), (2, 2, 2))), PlayCard(0, "A", 1))
    refused(built, BetChip(0, "A", 1), "Ann has no chip of 1 left")
    refused(built, BetChip(0, "A", 4), "Ann has no chip of 4 left")


@pytest.mark.parametrize("storeys", [1, 2, 3])
def test_draw_from_the_pile_with_the_number_of_storeys_added_and_turn_its_next_card(storeys):
    start = table()
    after = ask(ask(start, PlayCard(0, "A", storeys)), Draw(0)).state
    assert after.hands[0] == ("B", "C", "ABC"[storeys - 1]) and after.turn == 1
    assert after.piles[storeys - 1] == start.state.piles[storeys - 1][1:]
    assert after.open_cards[storeys - 1] == start.state.piles[storeys - 1][1]


def test_the_last_card_of_a_pile_is_drawn_the_game_ends_after_the_turn():
    match = table(piles=(("A",), ("B", "C"), ("C", "C")))
    over = ask(ask(match, PlayCard(0, "A", 1)), Draw(0))
    assert over.over and over.state.piles[0] == ()
    refused(over, PlayCard(1, "A", 1), "the game is over")
    assert not ask(ask(match, PlayCard(0, "A", 2)), Draw(0)).over


def test_flags_from_the_highest_tower_down_four_flags_none_on_the_shortest():
    one = tuple(((0, (1,)),) for _ in range(5))
    state = replace(new("tower_bets", 2)[0].state, heights=(5, 4, 3, 2, 1), bets=one)
    assert GAMES["tower_bets"].scores(state) == (8 + 6 + 4 + 2, 0)


def test_equal_towers_nearer_to_the_piles_gets_the_higher_flag():
    assert tower_order((2, 5, 5, 0, 2)) == [1, 2, 0, 4, 3]


def test_per_tower_most_power_gets_the_high_value_second_the_low():
    bets = (((0, (1,)), (1, (3, 1)), (2, (2,))), (), (), (), ())
    state = replace(new("tower_bets", 3)[0].state, heights=(5, 0, 0, 0, 0), bets=bets)
    assert GAMES["tower_bets"].scores(state) == (0, 8, 4)


def test_equal_power_who_bet_first():
    assert tower_powers(((2, (3,)), (0, (1, 2)), (1, (4,)))) == [(4, 1), (3, 2), (3, 0)]


def test_a_chip_raised_on_the_same_tower_keeps_its_first_place_in_the_order():
    first = ((0, (1,)), (1, (3,)))
    after = ask(ask(table(bets=(first, (), (), (), ())), PlayCard(0, "A", 1)), BetChip(0, "A", 2)).state
    assert after.bets[0] == ((0, (1, 2)), (1, (3,)))
    assert tower_powers(after.bets[0])[0] == (3, 0)


def test_highest_total_wins_equal_totals_share_the_win():
    bets = (((0, (1,)),), ((1, (1,)),), ((1, (1,)),), (), ())
    match = table(piles=(("A",), ("B",), ("C",)), heights=(5, 1, 1, 0, 0), bets=bets)
    over = ask(ask(match, PlayCard(0, "C", 1)), Draw(0))
    rows = {row.player: (row.score, row.wins) for row in over.standings}
    assert rows == {"Ann": (8, False), "Ben": (10, True), "Cem": (0, False)}
    shared = replace(over, state=replace(over.state, bets=((),) * 5))
    assert [row.wins for row in shared.standings] == [True] * 3


def test_variant_bet_on_a_tower_onto_which_one_has_just_played():
    match = table(new("tower_bets", 3, bet_on="played")[0])
    built = ask(match, PlayCard(0, "A", 1))
    refused(built, BetChip(0, "B", 1), "the tower just played on: A")
    assert ask(built, BetChip(0, "A", 1)).state.bets[0] == ((0, (1,)),)


def test_flags_are_house_rules():
    bets = (((0, (1,)),), (), (), (), ())
    state = new("tower_bets", 2, flags=((9, 1), (1, 1), (1, 1), (1, 1)))[0].state
    assert GAMES["tower_bets"].scores(replace(state, heights=(1, 0, 0, 0, 0), bets=bets)) == (9, 0)


def test_a_scorer_reads_in_what_lies_open_before_a_turn_begins():
    match, _ = new("tower_bets", 2, mode="scorer")
    refused(match, PlayCard(1, "A", 1), "not possible in phase reading")
    for pile, style in ((1, "A"), (2, "B"), (3, "B")):
        match = ask(match, ReadPile(0, pile, style))
    match = ask(ask(match, PlayCard(1, "E", 1)), BetChip(1, "A", 1))
    match = ask(match, Draw(1))
    assert match.state.phase == "reading" and match.state.turn == 0
    refused(match, ReadPile(1, 2, "A"), "has been read in")
    refused(match, ReadPile(1, 4, "A"), "no pile 4")
    assert ask(match, ReadPile(1, 1, "C")).state.phase == "building"


def test_a_scorer_cannot_name_more_cards_than_there_are():
    match, _ = new("tower_bets", 2, mode="scorer")
    match = replace(match, state=replace(match.state, turn=0, phase="building", played=("A",) * 7))
    refused(match, PlayCard(0, "A", 1), "only 12 of A")  # five of twelve lie in the box


def test_every_bet_offered_is_legal_and_none_is_forgotten():
    built = ask(table(), PlayCard(0, "A", 2))
    assert {c for c in options(built) if isinstance(c, BetChip)} == {BetChip(0, t, n) for t in "ABC" for n in (2, 3)}
    assert play("tower_bets", 3)[0].over
