"""quarters_and_currencies: the source's examples, and a test named after every sentence of the rules table."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import ask, new, options, play, refused

from referee.games.core import BadGame, total_points
from referee.games.match import Match
from referee.games.quarters_and_currencies.rules import (
    KINDS,
    Buy,
    PassTurn,
    QuarterRules,
    ReadHand,
    ReadIn,
    TakeMoney,
    building_cards,
    first_seat,
    money_cards,
    money_value,
    payments,
    prices,
    rank_points,
    score,
    with_scoring_cards,
)
from referee.web.i18n.texts import LANGUAGES, catalogue

NAME = "quarters_and_currencies"


def table(players=3, **changes: object) -> Match:
    """A game whose first seat begins, its table changed by hand. Place 1 holds a park for 10."""
    match, _ = new(NAME, players)
    start = {
        "turn": 0,
        "hands": (("a1", "a4", "a7", "a9", "b6"), *match.state.hands[1:]),
        "market": ("a2", "b3", "c1", "d9"),
        "yard": ("5:10", "1:2", "2:3", "3:4"),
        "money": ("b1", "b2", "b4", "b5"),
    }
    return replace(match, state=replace(match.state, **(start | changes)))


def owning(*counts: int) -> list[list[str]]:
    """Owners with so many buildings of kind 5."""
    return [["5:6"] * count for count in counts]


def gives(scoring, owned):
    """Points by owner in that scoring."""
    return total_points([score(scoring, owned)], len(owned))


def of(state):
    """Points by owner so far."""
    return total_points(state.scored, len(state.owned))


def shares(counts):
    """Points by owner in scoring C for kind 1: 16, 8, 1."""
    return [*gives("C", [["1:2"] * count for count in counts])]


# -- the source's examples ---------------------------------------------------------------------------


def test_example_a_most_of_kind_4_gives_4():
    assert gives("A", [["4:5", "4:6"], ["4:7"]]) == (4, 0)


def test_example_b_most_of_kind_6_gives_13_and_second_6():
    assert gives("B", [["6:7", "6:8"], ["6:9"], []]) == (13, 6, 0)


def test_example_b_a_tie_for_first_shares_13_and_6_which_is_9_each():
    assert gives("B", [["6:7"] * 4, ["6:9"] * 4]) == (9, 9)


def test_example_c_two_ties_32_by_2_is_16_and_5_by_2_is_2():
    assert gives("C", owning(2, 3, 3, 2)) == (2, 16, 16, 2)


def test_example_the_money_of_which_the_sum_is_at_most_5_or_any_one():
    match = table(market=("a2", "b3", "c7", "d9"))
    takes = {c.cards for c in options(match) if isinstance(c, TakeMoney)}
    assert takes == {("a2", "b3"), ("a2",), ("b3",), ("c7",), ("d9",)}


def test_example_eleven_paid_for_ten_no_change_and_the_turn_is_over():
    match = table(hands=(("a4", "a7"), ("a1",), ("a1",)))
    after = ask(match, Buy(0, 1, ("a4", "a7"))).state
    assert after.owned[0] == ("5:10",) and after.hands[0] == () and after.turn == 1
    assert Counter(after.spent) == Counter(("a4", "a7"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_garden_of_the_example_is_the_park(lang):
    """The source's table of kinds has no garden: the fifth, of which one costs 10, is the park in every language."""
    names = [catalogue(lang)[f"game.page.kind.{kind}"] for kind in KINDS]
    assert names[4] == "Park" and 10 in prices(5, QuarterRules())
    assert not {"Garden", "Garten"} & set(names) and len(set(names)) == 6


def test_exact_payment_and_its_repeat():
    match = table(hands=(("a1", "a9", "b2", "c3"), ("a1",), ("a1",)))
    after = ask(match, Buy(0, 1, ("a1", "a9")))
    assert after.state.turn == 0 and after.state.yard[0] == ""
    after = ask(after, Buy(0, 2, ("b2",)))
    assert after.state.turn == 0 and after.state.actions == 2
    assert ask(after, TakeMoney(0, ("d9",))).state.turn == 1


# -- the rules table ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "fits"), [(1, False), (2, True), (6, True), (7, False)])
def test_2_to_6_players(players, fits):
    if fits:
        assert len(new(NAME, players)[0].state.players) == players
    else:
        with pytest.raises(BadGame, match="from 2 to 6"):
            new(NAME, players)


def test_108_money_cards_four_currencies_values_1_to_9_three_of_each():
    cards = Counter(money_cards(3))
    assert sum(cards.values()) == 108 and set(cards.values()) == {3}
    assert set(cards) == {f"{c}{v}" for c in "abcd" for v in range(1, 10)}


def test_54_buildings_six_kinds():
    cards = building_cards(QuarterRules())
    assert len(cards) == 54
    kinds = Counter(card[0] for card in cards)
    assert kinds == {"1": 7, "2": 7, "3": 9, "4": 9, "5": 11, "6": 11}


@pytest.mark.parametrize(
    ("kind", "low", "high"), [(1, 2, 8), (2, 3, 9), (3, 4, 10), (4, 5, 11), (5, 6, 12), (6, 7, 13)]
)
def test_the_prices_of_every_kind(kind, low, high):
    found = prices(kind, QuarterRules())
    assert set(found) == set(range(low, high + 1)) and max(Counter(found).values()) <= 2


def test_prices_come_twice_from_the_centre_outwards():
    assert [p for p, n in Counter(prices(3, QuarterRules())).items() if n == 2] == [6, 7]
    assert [p for p, n in Counter(prices(6, QuarterRules())).items() if n == 2] == [8, 9, 10, 11]
    assert [p for p, n in Counter(prices(3, QuarterRules(doubled_prices="cheap"))).items() if n == 2] == [4, 5]
    assert [p for p, n in Counter(prices(3, QuarterRules(doubled_prices="dear"))).items() if n == 2] == [9, 10]


def test_a_yard_with_one_place_for_each_currency():
    match = table(hands=(("a9", "b9"), ("a1",), ("a1",)))
    assert len(match.state.yard) == 4
    refused(match, Buy(0, 2, ("a9",)), "place 2 takes currency b, not a9")
    refused(match, Buy(0, 5, ("a9",)), "no building lies at place 5")
    refused(match, Buy(0, 0, ("a9",)), "no building lies at place 0")


def test_start_money_until_20_or_more():
    for seed in range(20):
        for hand in new(NAME, 4, seed)[0].state.hands:
            assert 20 <= sum(map(money_value, hand)) <= 28
            assert sum(map(money_value, hand[:-1])) < 20


def test_fewest_cards_begins_then_lowest_sum_then_youngest():
    assert first_seat([("a9", "a9", "a3"), ("a9", "a9", "a1", "a1")]) == 0
    assert first_seat([("a9", "a9", "a3"), ("a9", "a9", "a2")]) == 1
    assert first_seat([("a9", "a9", "a3"), ("b9", "b9", "b3")]) == 0


def test_scoring_card_a_goes_into_the_second_fifth_b_into_the_fourth():
    places = set()
    for seed in range(200):
        deck = with_scoring_cards([f"a{n % 9 + 1}" for n in range(50)], seed)
        assert 10 <= deck.index("A") <= 20 and 31 <= deck.index("B") <= 41
        places.add(deck.index("A"))
    assert len(places) == 11


def test_a_turn_take_one_money_card():
    after = ask(table(), TakeMoney(0, ("d9",))).state
    assert "d9" in after.hands[0] and after.turn == 1 and len(after.market) == 4


def test_a_turn_or_several_whose_sum_is_at_most_5():
    assert ask(table(), TakeMoney(0, ("a2", "b3"))).state.hands[0][-2:] == ("a2", "b3")
    refused(table(), TakeMoney(0, ("a2", "b3", "c1")), "may come to 5 at most, not 6")
    refused(table(), TakeMoney(0, ()), "at least one card")
    refused(table(), TakeMoney(0, ("a2", "a2")), "too few of a2")
    refused(table(), TakeMoney(0, ("c9",)), "no card c9")


def test_a_turn_or_buy_one_building_with_at_least_its_price_in_its_places_currency():
    refused(table(), Buy(0, 1, ("a9",)), "costs 10, not 9")
    refused(table(), Buy(0, 1, ("a9", "b6")), "takes currency a, not b6")
    refused(table(), Buy(0, 1, ("a9", "a9")), "too few of a9")
    refused(table(), Buy(1, 1, ("a9",)), "it is the turn of Ann")
    assert ask(table(), Buy(0, 1, ("a9", "a1"))).state.owned[0] == ("5:10",)


def test_no_change():
    after = ask(table(), Buy(0, 1, ("a9", "a7"))).state
    assert after.hands[0] == ("a1", "a4", "b6")


def test_at_most_five_actions_in_a_row():
    """Four exact payments empty the yard; the fifth action takes money."""
    match = table(hands=(("a9", "a1", "b2", "c3", "d4"), ("a1",), ("a1",)))
    for place, pay in ((1, ("a9", "a1")), (2, ("b2",)), (3, ("c3",)), (4, ("d4",))):
        match = ask(match, Buy(0, place, pay))
    assert match.state.turn == 0 and {type(c) for c in options(match)} == {TakeMoney}
    assert ask(match, TakeMoney(0, ("d9",))).state.turn == 1


def test_the_yard_is_not_refilled_during_a_turn_but_to_four_buildings_and_four_money_after_it():
    match = table(hands=(("a9", "a1", "b2"), ("a1",), ("a1",)))
    match = ask(ask(match, Buy(0, 1, ("a9", "a1"))), Buy(0, 2, ("b2",)))
    assert match.state.yard[:2] == ("", "")
    refused(match, Buy(0, 1, ()), "no building lies at place 1")
    after = ask(match, TakeMoney(0, ("a2", "b3"))).state
    assert "" not in after.yard and len(after.market) == 4


def test_refilled_places_keep_their_currency_cards_do_not_slide():
    match = table()
    top = match.state.buildings[0]
    after = ask(ask(match, Buy(0, 1, ("a9", "a1"))), TakeMoney(0, ("d9",))).state
    assert after.yard == (top, "1:2", "2:3", "3:4")


def test_an_empty_money_deck_is_reshuffled():
    after = ask(table(money=(), spent=("d1", "d2", "d3")), TakeMoney(0, ("d9",))).state
    assert len(after.market) == 4 and after.spent == () and len(after.money) == 2


def test_nobody_passes_who_can_act_and_who_cannot_passes():
    refused(table(), PassTurn(0), "one of them is possible")
    stuck = table(hands=((), ("a1",), ("a1",)), market=(), money=(), spent=())
    assert options(stuck) == [PassTurn(0)]
    assert ask(stuck, PassTurn(0)).state.turn == 1


@pytest.mark.parametrize("card", ["A", "B"])
def test_scoring_a_and_b_at_once_when_drawn_before_the_next_turn(card):
    match = table(money=(card, "b2", "b4"), owned=(("1:2",), (), ()))
    after = ask(match, TakeMoney(0, ("d9",))).state
    assert of(after) == ({"A": 1, "B": 8}[card], 0, 0) and after.turn == 1
    assert len(after.market) == 4 and after.scored[0]["scoring"] == card


@pytest.mark.parametrize(
    ("scoring", "kind", "ranks"),
    [("A", 1, [1]), ("A", 6, [6]), ("B", 1, [8, 1]), ("B", 6, [13, 6]), ("C", 1, [16, 8, 1]), ("C", 6, [21, 13, 6])],
)
def test_kinds_1_to_6_and_their_ranks(scoring, kind, ranks):
    assert rank_points(scoring, kind) == ranks


def test_ties_share_the_ranks_sum_rounded_down():
    assert shares([2, 2, 2]) == [8, 8, 8]
    assert shares([3, 1, 1, 1]) == [16, 3, 3, 3]
    assert shares([0, 0]) == [0, 0]
    assert shares([1, 0, 0]) == [16, 0, 0]


def test_end_the_yard_cannot_be_refilled_to_four():
    match = table(buildings=("6:7",))
    once = ask(ask(match, Buy(0, 1, ("a9", "a1"))), TakeMoney(0, ("c1",)))
    assert not once.over and once.state.buildings == ()
    assert ask(match, TakeMoney(0, ("d9",))).state.phase == "acting"
    over = ask(table(buildings=()), Buy(0, 1, ("a9", "a4")))
    assert over.over and over.state.scored[-1]["scoring"] == "C"
    refused(over, TakeMoney(1, ("c1",)), "the game is over")


def test_what_lies_there_goes_to_who_has_most_money_in_its_places_currency_tie_nobody_then_c():
    hands = (("a9", "a7", "b2"), ("b3", "c5"), ("c5", "d1"))
    over = ask(table(buildings=(), hands=hands), Buy(0, 1, ("a9", "a7"))).state
    assert over.owned == (("5:10",), ("1:2",), ("3:4",)) and over.yard == ("", "", "2:3", "")
    assert of(over) == (20, 16, 18)


def test_equal_totals_share_the_win():
    match = play(NAME, 3)[0]
    even = replace(match, state=replace(match.state, scored=()))
    assert [row.wins for row in even.standings] == [True] * len(even.state.players)


def test_two_players_one_of_each_money_card_taken_out():
    assert len(money_cards(2)) == 72
    state = new(NAME, 2)[0].state
    held = Counter((*state.money, *state.market, *state.hands[0], *state.hands[1])) - Counter("AB")
    assert sum(held.values()) == 72 and set(held.values()) == {2}


def test_two_players_a_passive_owner_gets_6_buildings_at_the_start():
    state = new(NAME, 2)[0].state
    assert state.passive == 2 and len(state.owned[2]) == 6
    assert new(NAME, 3)[0].state.passive is None


@pytest.mark.parametrize(("card", "left", "given"), [("A", 20, 6), ("A", 4, 4), ("B", 20, 6), ("B", 11, 3)])
def test_two_players_6_after_a_a_third_of_the_rest_rounded_down_after_b(card, left, given):
    match = table(2, money=(card, "b2", "b4"), buildings=("6:7",) * left)
    had = len(match.state.owned[2])
    assert len(ask(match, TakeMoney(0, ("d9",))).state.owned[2]) == had + given


def test_two_players_the_passive_owner_counts_in_the_scorings_but_does_not_win():
    match = table(2, money=("A", "b2", "b4"), owned=((), (), ("1:2",) * 6))
    after = ask(match, TakeMoney(0, ("d9",)))
    assert of(after.state) == (0, 0, 1)
    assert [row.player for row in after.standings] == ["Ann", "Ben"]


def test_two_players_a_bought_building_may_be_given_to_the_passive_owner():
    match = table(2)
    after = ask(match, Buy(0, 1, ("a9", "a1"), give=True)).state
    assert after.owned[0] == () and after.owned[2][-1] == "5:10"
    refused(table(3), Buy(0, 1, ("a9", "a1"), give=True), "only with two players")


def test_payments_are_all_of_which_no_card_is_too_many():
    assert payments(("a4", "a7", "a9", "b1"), "a", 11) == [("a4", "a7"), ("a4", "a9"), ("a7", "a9")]
    assert payments(("a9", "a4", "a5", "a5"), "a", 9) == [("a9",), ("a4", "a5"), ("a5", "a5")]
    assert payments(("c5", "c5", "c9"), "c", 8) == [("c9",), ("c5", "c5")]
    assert payments(tuple(f"a{n}" for n in range(1, 10)) * 3, "a", 13)[0] == ("a4", "a9")
    assert payments(("a4", "a9"), "a", 10) == [("a4", "a9")]
    assert payments(("a4",), "a", 10) == []


# -- with real cards ---------------------------------------------------------------------------------


def test_a_scorer_reads_in_hands_yard_and_money_and_then_plays():
    match, _ = new(NAME, 3, mode="scorer")
    refused(match, ReadHand(0, ("a9", "a9")), "until it comes to 20 or more")
    refused(match, ReadHand(0, ("a9", "a9", "a9", "a1")), "until it comes to 20 or more")
    refused(match, ReadHand(0, ("x9", "a9", "a9")), "no money card x9")
    for seat, hand in enumerate((("a9", "a9", "a3"), ("b9", "b9", "b2"), ("c9", "c9", "c1", "c1"))):
        match = ask(match, ReadHand(seat, hand))
    refused(match, ReadHand(0, ("a9", "a9", "a3")), "not possible in phase reading_building")
    assert match.state.turn == 1
    refused(match, ReadIn(1, "b9"), "'b9' cannot be turned up now")
    for card in ("1:2", "2:3", "3:4", "4:5", "d1", "d2", "d3", "d4"):
        match = ask(match, ReadIn(0, card))
    assert match.state.phase == "acting" and match.state.yard == ("1:2", "2:3", "3:4", "4:5")
    match = ask(match, Buy(1, 2, ("b9",)))
    assert match.state.phase == "reading_building" and match.state.owned[1] == ("2:3",)
    match = ask(match, ReadIn(1, "6:13"))
    assert match.state.turn == 2 and match.state.yard[1] == "6:13"
    match = ask(match, TakeMoney(2, ("d1",)))
    match = ask(match, ReadIn(2, "A"))
    assert of(match.state) == (0, 2, 0) and match.state.phase == "reading_money"
    refused(match, ReadIn(2, "A"), "cannot be turned up now")
    assert ask(match, ReadIn(2, "a9")).state.turn == 0


def test_a_scorer_cannot_name_a_card_more_often_than_there_are():
    match, _ = new(NAME, 3, mode="scorer")
    match = ask(match, ReadHand(0, ("a9", "a9", "a9")))
    refused(match, ReadHand(1, ("a9", "b9", "b9")), "only 3 of a9")
