"""nine_sum_towers: the source's examples, and a test named after every sentence of the rules table."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import ask, new, options, refused

from referee.games.core import BadGame
from referee.games.match import Match
from referee.games.nine_sum_towers.rules import (
    CARDS,
    BuildStorey,
    Destroy,
    DiscardMilkshake,
    EndTurn,
    LureDog,
    ParkTruck,
    PlaySuperThief,
    PlayThief,
    ServeMilkshake,
    SetDog,
    StealStorey,
    Storey,
    pair_values,
)

NAME = "nine_sum_towers"
SIX_THREE = Storey(("6", "3"), (6, 3))
JOKER_THREE = Storey(("joker", "3"), (6, 3))
GUARDED = Storey(("5", "4"), (5, 4), dog=True)


def table(*hand: str, players=2, rules=None, **changes: object) -> Match:
    """Ann's turn with that hand; Ben holds an 8 and a 7."""
    match, _ = new(NAME, players, **(rules or {}))
    hands = (hand, ("8", "7"), *match.state.hands[2:])
    return replace(match, state=replace(match.state, **({"hands": hands} | changes)))


def ben(*tower: Storey, players=2) -> tuple[tuple[Storey, ...], ...]:
    """Towers of which only Ben has one."""
    return ((), tower, *[()] * (players - 2))


# -- the sources' examples ---------------------------------------------------------------------------


def test_example_6_and_3_are_nine_a_storey():
    assert ask(table("6", "3"), BuildStorey(0, "6", "3")).state.towers[0] == (SIX_THREE,)


def test_example_the_joker_stolen_as_6():
    match = table("3", "6", towers=ben(JOKER_THREE))
    refused(match, StealStorey(0, "6", 1, "joker"), "6 and 6 are 12")
    after = ask(match, StealStorey(0, "3", 1, "joker")).state
    assert after.towers == ((Storey(("3", "joker"), (3, 6)),), ()) and after.discard == ("3",)


def test_example_bone_hammer_steal_in_one_turn():
    match = table("bone", "hammer", "6", towers=ben(SIX_THREE, GUARDED))
    refused(match, Destroy(0, 1, "hammer"), "a dog guards the top storey of Ben")
    match = ask(match, LureDog(0, 1, 2))
    match = ask(match, Destroy(0, 1, "hammer"))
    after = ask(match, StealStorey(0, "6", 1, "3")).state
    assert after.towers == ((Storey(("6", "3"), (6, 3)),), ())
    assert Counter(after.discard) == Counter(("bone", "dog", "hammer", "5", "4", "6"))


def test_example_thief_first_then_the_stolen_card_is_played():
    match = table("thief", "2", hands=(("thief", "2"), ("7",)))
    after = ask(ask(match, PlayThief(0, 1)), BuildStorey(0, "2", "7")).state
    assert len(after.towers[0]) == 1 and after.hands == ((), ())


# -- the rules table ---------------------------------------------------------------------------------


def test_54_cards():
    assert sum(CARDS.values()) == 54
    assert all(CARDS[str(n)] == 4 for n in range(1, 9))
    special = {"joker": 4, "dog": 4, "bone": 2, "hammer": 3, "ball": 1, "milkshake": 3, "truck": 1}
    assert {k: CARDS[k] for k in special} == special and (CARDS["thief"], CARDS["superthief"]) == (3, 1)


@pytest.mark.parametrize(("players", "fits"), [(1, False), (2, True), (6, True), (7, False)])
def test_2_to_6_players_five_cards_each(players, fits):
    if fits:
        state = new(NAME, players)[0].state
        assert [len(hand) for hand in state.hands] == [6] + [5] * (players - 1)  # the first has drawn
    else:
        with pytest.raises(BadGame, match="from 2 to 6"):
            new(NAME, players)


def test_the_youngest_begins():
    assert new(NAME, 4)[0].state.turn == 0


@pytest.mark.parametrize("storeys", [5, 4])
def test_first_tower_of_five_storeys_wins_short_four(storeys):
    tower = (SIX_THREE,) * (storeys - 2)
    match = table("6", "3", "5", "4", towers=(tower, ()), rules={"storeys": storeys})
    match = ask(match, BuildStorey(0, "6", "3"))
    assert not match.over
    over = ask(match, BuildStorey(0, "5", "4"))
    assert over.over and over.standings[0].player == "Ann" and over.standings[0].wins
    refused(over, EndTurn(0), "the game is over")


def test_a_stolen_storey_can_be_the_last_one_too():
    match = table("6", towers=((SIX_THREE,) * 4, (SIX_THREE,)))
    assert ask(match, StealStorey(0, "6", 1, "3")).over


def test_turn_draw_one():
    after = ask(table("1", "2", "4"), EndTurn(0)).state
    assert after.turn == 1 and len(after.hands[1]) == 3


@pytest.mark.parametrize(("held", "then"), [(7, 8), (8, 8)])
def test_not_with_eight_in_hand(held, then):
    after = ask(table(hands=(("1", "1", "1"), ("8",) * held)), EndTurn(0)).state
    assert len(after.hands[1]) == then


def test_play_any_number_also_none():
    match = table("1", "8", "2", "7")
    for pair in (("1", "8"), ("2", "7")):
        match = ask(match, BuildStorey(0, *pair))
    assert len(match.state.towers[0]) == 2
    assert ask(table("1", "8", "2"), EndTurn(0)).state.turn == 1


@pytest.mark.parametrize(("held", "then"), [(0, 3), (2, 3), (3, 3), (5, 5)])
def test_refill_to_three(held, then):
    assert len(ask(table(*["1"] * held), EndTurn(0)).state.hands[0]) == then


def test_a_storey_is_two_cards_that_sum_to_nine():
    refused(table("6", "4"), BuildStorey(0, "6", "4"), "6 and 4 are 10")
    refused(table("6", "3"), BuildStorey(0, "5", "4"), "Ann has no card 5")
    refused(table("dog", "3"), BuildStorey(0, "dog", "3"), "dog is no card of a storey")
    refused(table("6", "3"), BuildStorey(1, "8", "7"), "it is the turn of Ann")


def test_a_joker_is_any_number_never_with_a_joker():
    assert pair_values("joker", "2") == (7, 2) and pair_values("2", "joker") == (2, 7)
    refused(table("joker", "joker"), BuildStorey(0, "joker", "joker"), "never with a joker")


def test_steal_one_own_number_plus_one_card_of_anothers_top_storey_the_other_card_is_discarded():
    match = table("3", "6", towers=ben(GUARDED, SIX_THREE))
    after = ask(match, StealStorey(0, "3", 1, "6")).state
    assert after.towers == ((Storey(("3", "6"), (3, 6)),), (GUARDED,))
    assert after.discard == ("3",) and after.hands[0] == ("6",)
    refused(match, StealStorey(0, "3", 1, "5"), "5 does not lie in the top storey of Ben")
    refused(match, StealStorey(0, "3", 1, "3"), "3 and 3 are 6")
    refused(match, StealStorey(0, "4", 1, "6"), "Ann has no card 4")
    refused(match, StealStorey(0, "3", 0, "6"), "another player only")
    refused(match, StealStorey(0, "3", 5, "6"), "no seat 5")
    refused(table("3"), StealStorey(0, "3", 1, "6"), "Ben has no storey")


def test_not_from_a_guarded_storey():
    refused(table("4", towers=ben(GUARDED)), StealStorey(0, "4", 1, "5"), "a dog guards the top storey of Ben")


def test_a_joker_is_never_used_to_steal():
    refused(table("joker", towers=ben(SIX_THREE)), StealStorey(0, "joker", 1, "6"), "never with a joker")


def test_a_stolen_storey_card_is_played_at_once():
    after = ask(table("3", towers=ben(SIX_THREE)), StealStorey(0, "3", 1, "6")).state
    assert "6" not in after.hands[0] and after.towers[0][0].cards == ("3", "6")


def test_guard_dog_beside_a_storey():
    match = table("dog", "dog", towers=((SIX_THREE, SIX_THREE), ()))
    after = ask(match, SetDog(0, 1))
    assert [storey.dog for storey in after.state.towers[0]] == [True, False]
    refused(after, SetDog(0, 1), "guards that storey already")
    refused(after, SetDog(0, 3), "Ann has no storey 3")
    refused(after, SetDog(0, 0), "Ann has no storey 0")
    refused(table("1", towers=((SIX_THREE,), ())), SetDog(0, 1), "Ann has no card guard dog")


def test_bone_removes_dog_both_discarded():
    match = table("bone", towers=ben(GUARDED, SIX_THREE))
    after = ask(match, LureDog(0, 1, 1)).state
    assert not after.towers[1][0].dog and after.discard == ("bone", "dog")
    refused(match, LureDog(0, 1, 2), "no dog guards that storey")
    refused(match, LureDog(0, 4, 1), "no seat 4")


def test_hammer_destroys_an_unguarded_top_storey():
    after = ask(table("hammer", towers=ben(GUARDED, SIX_THREE)), Destroy(0, 1, "hammer")).state
    assert after.towers[1] == (GUARDED,) and after.discard == ("hammer", "6", "3")
    refused(table("hammer", towers=ben(GUARDED)), Destroy(0, 1, "hammer"), "from the hammer")
    refused(table("hammer"), Destroy(0, 1, "hammer"), "Ben has no storey")
    refused(table("hammer", towers=((SIX_THREE,), ())), Destroy(0, 0, "hammer"), "another player only")
    refused(table("bone", towers=ben(SIX_THREE)), Destroy(0, 1, "bone"), "bone destroys nothing")


def test_wrecking_ball_any_top_storey_dog_included():
    after = ask(table("ball", towers=ben(SIX_THREE, GUARDED)), Destroy(0, 1, "ball")).state
    assert after.towers[1] == (SIX_THREE,) and Counter(after.discard) == Counter(("ball", "5", "4", "dog"))


def test_thief_one_unseen_card_from_one_hand():
    after = ask(table("thief"), PlayThief(0, 1)).state
    assert len(after.hands[0]) == 1 and after.hands[0][0] in ("8", "7") and len(after.hands[1]) == 1
    assert after.discard == ("thief",)
    picks = {ask(replace_seed(table("thief"), seed), PlayThief(0, 1)).state.hands[0][0] for seed in range(20)}
    assert picks == {"8", "7"}
    refused(table(hands=(("thief",), ())), PlayThief(0, 1), "Ben has no card in hand")
    refused(table("thief"), PlayThief(0, 0), "another player only")


def replace_seed(match: Match, seed: int) -> Match:
    return replace(match, state=replace(match.state, seed=seed))


def test_super_thief_one_from_each():
    match = table(players=4, hands=(("superthief",), ("8", "7"), (), ("5",)))
    after = ask(match, PlaySuperThief(0)).state
    assert [len(hand) for hand in after.hands] == [2, 1, 0, 0] and after.discard == ("superthief",)
    refused(table(hands=(("superthief",), ())), PlaySuperThief(0), "nobody else has a card")


def test_milkshake_before_a_player_on_the_next_turn_only_discard_it():
    match = ask(ask(table("milkshake", "1", "1", "1"), ServeMilkshake(0, 1)), EndTurn(0))
    assert options(match) == [DiscardMilkshake(1)]
    refused(match, EndTurn(1), "not possible in phase drinking")
    after = ask(match, DiscardMilkshake(1)).state
    assert after.turn == 0 and after.discard[-1] == "milkshake" and after.milkshakes == (False, False)


@pytest.mark.parametrize(("rule", "cards"), [("no_draw", 2), ("no_start_draw", 3)])
def test_after_a_milkshake_no_drawing_at_all_or_only_none_at_the_start(rule, cards):
    match = table("milkshake", "1", "1", "1", rules={"milkshake": rule})
    match = ask(ask(match, ServeMilkshake(0, 1)), EndTurn(0))
    assert len(match.state.hands[1]) == 2
    assert len(ask(match, DiscardMilkshake(1)).state.hands[1]) == cards


def test_a_second_milkshake_cannot_be_given_to_the_same_player():
    match = table("milkshake", "milkshake", players=3)
    match = ask(match, ServeMilkshake(0, 1))
    refused(match, ServeMilkshake(0, 1), "Ben has a milkshake already")
    refused(match, ServeMilkshake(0, 0), "another player only")
    assert ask(match, ServeMilkshake(0, 2)).state.milkshakes == (False, True, True)


def test_donut_truck_everybody_else_skips_the_turn_ends_as_usual_the_same_player_plays_again():
    match = ask(table("truck", "1", "8", players=3), ParkTruck(0))
    match = ask(match, BuildStorey(0, "1", "8"))  # more cards after it
    after = ask(match, EndTurn(0)).state
    assert after.turn == 0 and len(after.hands[0]) == 4  # refilled to three, and the new turn's card
    assert "truck" in after.discard
    assert ask(ask(match, EndTurn(0)), EndTurn(0)).state.turn == 1


def test_a_milkshake_that_a_truck_drives_past_stays_for_the_next_turn():
    match = table("truck", "milkshake", "1", "1", "1")
    for command in (ServeMilkshake(0, 1), ParkTruck(0), EndTurn(0)):
        match = ask(match, command)
    assert match.state.turn == 0 and match.state.milkshakes == (False, True)
    assert ask(match, EndTurn(0)).state.phase == "drinking"


def test_the_draw_pile_is_empty_the_discard_pile_is_shuffled():
    after = ask(table("1", draw=(), discard=("2", "3", "4", "5")), EndTurn(0)).state
    assert len(after.hands[0]) == 3 and len(after.hands[1]) == 3 and after.discard == () and len(after.draw) == 1


def test_both_piles_empty_no_draw():
    after = ask(table("1", draw=(), discard=()), EndTurn(0)).state
    assert after.hands == (("1",), ("8", "7")) and after.turn == 1


def test_when_nothing_moves_any_more_most_storeys_win():
    """A gap of the rules: both piles empty and nobody can or will play."""
    match = table("1", draw=(), discard=(), towers=ben(SIX_THREE), acted=False)
    for seat in (0, 1, 0):
        match = ask(match, EndTurn(seat))
    assert not match.over
    over = ask(match, EndTurn(1))
    assert over.over and [row.player for row in over.standings if row.wins] == ["Ben"]


def test_full_hand_is_a_house_rule():
    match = table(hands=(("1", "1", "1"), ("8",) * 6), rules={"full_hand": 6})
    assert len(ask(match, EndTurn(0)).state.hands[1]) == 6


def test_every_kind_of_card_is_offered_to_a_computer_player():
    match = table(hands=(tuple(c for c in CARDS), ("8",)), towers=((SIX_THREE,), (SIX_THREE, GUARDED)))
    kinds = {type(c) for c in options(match)}
    assert kinds == set(match.game.commands) - {DiscardMilkshake, StealStorey}
    open_top = table("3", towers=ben(SIX_THREE))
    assert StealStorey(0, "3", 1, "6") in options(open_top)


def test_a_scorer_names_what_is_played():
    match, _ = new(NAME, 2, mode="scorer")
    match = ask(match, BuildStorey(0, "6", "3"))
    match = ask(match, ServeMilkshake(0, 1))
    assert match.state.towers[0] == (SIX_THREE,) and match.state.hands[0] == ("?",) * 3
    match = ask(match, PlayThief(0, 1))
    assert match.state.hands == (("?",) * 3, ("?",) * 4)
    match = replace(match, state=replace(match.state, discard=("ball",)))
    refused(match, Destroy(0, 1, "ball"), "Ben has no storey")
    refused(match, LureDog(0, 0, 1), "no dog guards that storey")


def test_a_scorer_cannot_name_a_card_more_often_than_there_are():
    match, _ = new(NAME, 2, mode="scorer")
    match = replace(match, state=replace(match.state, discard=("truck",)))
    refused(match, ParkTruck(0), "only 1 of donut truck")
