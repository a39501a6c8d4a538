"""city_towers: the source's worked example, and a test named after every sentence of the rules table."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import ask, new, options, play, refused

from referee.events import Event
from referee.games.catalogue import GAMES
from referee.games.city_towers.rules import (
    CityRules,
    GiveUpStone,
    PickStones,
    PlayStone,
    least_stone_height,
    owner,
    refusal_to_place,
    score_round,
)
from referee.games.core import BadGame, total_points
from referee.games.match import Match

BLUE, WHITE = 0, 1
SIX = (1, 1, 1, 2, 3, 4)


def towers(*cities):
    """54 towers from, city by city, rows of towers."""
    return tuple(t for city in cities for t in (*city, *[()] * (9 - len(city))))


def with_state(match: Match, **changes: object) -> Match:
    """The match with its table changed by hand."""
    return replace(match, state=replace(match.state, **changes))


def picked(players=2, **rules):
    """A game in which everybody has picked the same six."""
    match, _ = new("city_towers", players, **rules)
    for seat in range(players):
        match = ask(match, PickStones(seat, SIX))
    return match


def at_site(match, hand=("1", "2", "3", "4"), tower=()):
    """Seat 0 to play, with that hand; that tower on site 1 of city 1."""
    hands = (hand, *match.state.hands[1:])
    return with_state(match, hands=hands, towers=(tower, *match.state.towers[1:]))


def gained(table, **rules):
    """What cities give two seats, and what the highest tower gives them."""
    scoring = score_round(1, table, 2, CityRules(**rules))
    return tuple(total_points([{"lines": part}], 2) for part in (scoring["lines"][:6], scoring["lines"][6:]))


def test_the_worked_example_15_to_13():
    """Six cities with the towers of the source's table; white owns the one highest tower, in city 5."""
    b, w, high = ((BLUE, 1),), ((WHITE, 1),), ((WHITE, 4), (WHITE, 4), (WHITE, 1))
    table = towers([b, w, w], [b, b], [b, w, w], [b, w], [b, b, high], [b, b, w, w])
    scoring = score_round(1, table, 2, CityRules())
    counts = [sum(r["count"] for line in scoring["lines"][:6] for r in line["rows"] if r["owner"] == s) for s in (0, 1)]
    assert counts == [9, 8] and total_points([scoring], 2) == (9 + 4, 8 + 4 + 3)
    row = {"owner": WHITE, "count": 9, "rank": 1, "points": 3, "shared": 1}
    assert scoring["lines"][6] == {"what": "highest", "of": "5/3", "rows": [row]}


def test_the_three_towers_of_the_source_3_1_2_0_and_9_4():
    blue_tower = ((WHITE, 1), (BLUE, 3))
    assert least_stone_height(blue_tower, WHITE) == 2
    assert least_stone_height(((BLUE, 2),), WHITE) == 2
    assert least_stone_height(((BLUE, 4), (WHITE, 4), (WHITE, 4), (WHITE, 1)), BLUE) == 5


@pytest.mark.parametrize(("players", "fits"), [(1, False), (2, True), (3, True), (4, True), (5, False)])
def test_2_to_4_players(players, fits):
    if fits:
        assert len(new("city_towers", players)[0].state.players) == players
    else:
        with pytest.raises(BadGame, match="from 2 to 4"):
            new("city_towers", players)


def test_six_cities_of_nine_sites():
    match = at_site(picked(), hand=("9",))
    assert len(match.state.towers) == 54
    assert ask(match, PlayStone(0, 1, 9, 6)).state.tower(6, 9) == ((0, 1),)
    refused(match, PlayStone(0, 1, 9, 7), "no site 9 of city 7")
    refused(match, PlayStone(0, 1, 10, 1), "no site 10 of city 1")
    refused(match, PlayStone(0, 1, 9, 0), "no site 9 of city 0")


def test_24_tower_stones_a_player_with_heights_1_to_4():
    state = new("city_towers", 3)[0].state
    assert all(len(stock) == 24 and set(stock) == {1, 2, 3, 4} for stock in state.stock)


def test_four_rounds():
    match, _ = play("city_towers", 1)
    assert len(match.state.scored) == 4 and match.over
    refused(match, PickStones(0, SIX), "the game is over")


def test_each_round_every_player_picks_six_stones():
    match, _ = new("city_towers", 2)
    refused(match, PickStones(0, (1, 1, 1, 1, 1)), "pick 6 stones, not 5")
    refused(match, PickStones(0, (4, 4, 4, 4, 1, 1)), "has 3 stones of height 4 left, not 4")
    refused(match, PlayStone(0, 1, 1, 1), "not possible in phase picking")
    match = ask(match, PickStones(1, SIX))
    refused(match, PickStones(1, SIX), "has picked already")
    match = ask(match, PickStones(0, SIX))
    assert match.state.phase == "playing" and len(match.state.stock[0]) == 18


def test_then_in_turn_plays_one_stone_with_a_site_card():
    match = at_site(picked())
    refused(match, PlayStone(1, 1, 1, 1), "it is the turn of Ann")
    after = ask(match, PlayStone(0, 2, 3, 5))
    assert after.state.turn == 1
    assert after.state.discard == ("3",) and after.state.picked[0] == (1, 1, 1, 3, 4)


def test_the_card_names_the_site_the_player_the_city():
    match = at_site(picked(), hand=("2", "2", "5", "7"))
    refused(match, PlayStone(0, 1, 1, 1), "no card 1")
    sites = {(c.site, c.city) for c in options(match)}
    assert sites == {(site, city) for site in (2, 5, 7) for city in range(1, 7)}


def test_a_stone_that_is_not_picked_cannot_be_played():
    refused(at_site(picked()), PlayStone(0, 5, 1, 1), "no stone of height 5 left in this round")
    used = with_state(at_site(picked()), picked=((1, 1), SIX))
    refused(used, PlayStone(0, 4, 1, 1), "no stone of height 4 left in this round")


@pytest.mark.parametrize(("mine", "theirs", "least"), [(1, 3, 2), (0, 2, 2), (0, 4, 4), (2, 5, 3), (3, 3, 1)])
def test_onto_a_tower_that_another_leads_the_stone_must_be_at_least_the_difference(mine, theirs, least):
    """Equal storeys: the other placed the topmost, and any stone will do."""
    stones = [(0, 1)] * mine + [(1, 1)] * theirs
    match = at_site(picked(), tower=tuple(stones))
    if least > 1:
        refused(match, PlayStone(0, least - 1, 1, 1), f"at least {least} high")
    assert ask(match, PlayStone(0, least, 1, 1)).state.tower(1, 1)[-1] == (0, least)


def test_more_than_4_apart_is_safe():
    assert refusal_to_place(at_site(picked(), tower=((1, 4), (1, 1))).state, 0, 4, 1, 1) == (
        "the tower is safe: it would take a stone of height 5"
    )
    match = at_site(picked(), tower=((0, 1), (1, 4), (1, 1)))
    assert ask(match, PlayStone(0, 4, 1, 1)).state.tower(1, 1)[-1] == (0, 4)


def test_own_or_empty_sites_are_always_free():
    match = at_site(picked(), tower=((0, 4), (1, 3)))
    assert ask(match, PlayStone(0, 1, 1, 1)).state.tower(1, 1)[-1] == (0, 1)
    assert ask(match, PlayStone(0, 1, 2, 1)).state.tower(1, 2) == ((0, 1),)


def test_after_each_round_1_point_for_every_tower_owned():
    assert gained(towers([((0, 1),), ((1, 1),)], [((1, 1),), ((0, 1),)])) == ((2, 2), (0, 0))


def test_2_for_the_majority_of_towers_in_a_city_tie_nobody():
    mine, theirs = ((0, 1),), ((1, 1),)
    assert gained(towers([mine, mine, theirs], [mine, theirs])) == ((3 + 2, 2), (0, 0))


def test_3_for_the_highest_tower_a_tie_gives_nobody_the_3():
    one = towers([((0, 3),), ((1, 4),)])
    even = towers([((0, 4),), ((1, 4),)])
    assert gained(one)[1] == (0, 3)
    assert gained(even)[1] == (0, 0)
    assert gained(even, even_highest="all")[1] == (3, 3)
    assert gained(towers())[1] == (0, 0)


def test_variant_six_rounds_of_four_stones():
    match, _ = new("city_towers", 2, rounds=6)
    refused(match, PickStones(0, SIX), "pick 4 stones, not 6")
    over, _ = play("city_towers", 3, rounds=6)
    assert len(over.state.scored) == 6


def test_stone_mix_11_of_height_1_6_of_2_4_of_3_3_of_4():
    assert Counter(new("city_towers")[0].state.stock[0]) == {1: 11, 2: 6, 3: 4, 4: 3}
    with pytest.raises(BadGame, match="must be 24"):
        new("city_towers", stone_mix=(11, 6, 4, 4))


def test_site_deck_each_of_the_nine_sites_five_times_hand_of_4():
    state = new("city_towers", 4)[0].state
    cards = Counter((*state.deck, *(c for hand in state.hands for c in hand)))
    assert cards == {str(site): 5 for site in range(1, 10)}
    assert [len(hand) for hand in state.hands] == [4, 4, 4, 4]


def test_draw_one_after_playing():
    match = at_site(picked())
    top, *rest = match.state.deck
    after = ask(match, PlayStone(0, 2, 3, 5)).state
    assert after.hands[0] == ("1", "2", "4", top) and after.deck == tuple(rest)
    assert after.hands[1] == match.state.hands[1]


def test_reshuffle_when_the_deck_is_empty():
    match = with_state(at_site(picked()), deck=(), discard=("7", "8", "9"))
    after = ask(match, PlayStone(0, 1, 1, 1)).state
    assert len(after.deck) == 3 and after.discard == () and len(after.hands[0]) == 4


def test_the_owner_has_most_storeys_equal_who_placed_the_topmost_stone():
    assert owner(((0, 3), (1, 1), (1, 1))) == 0
    assert owner(((0, 2), (1, 2))) == 1
    assert owner(((1, 2), (0, 2))) == 0
    assert owner(((0, 2), (1, 2), (2, 1))) == 1
    assert owner(((0, 2), (1, 2)), "nobody") is None
    assert owner(()) is None


@pytest.mark.parametrize(("rule", "begins"), [("passes_on", 1), ("stays", 0)])
def test_the_starting_player_passes_on_each_round_the_youngest_begins(rule, begins):
    match = picked(starter=rule)
    assert match.state.turn == 0
    while match.state.round == 1:
        match = ask(match, options(match)[0])
    assert (match.state.starter, match.state.turn, match.state.phase) == (begins, begins, "picking")


def test_who_can_place_no_stone_gives_one_up_and_exchanges_the_hand():
    """A gap of the rules: else the game would stand still."""
    safe = ((1, 4), (1, 4))
    match = with_state(picked(), hands=(("1",) * 4, ("2",) * 4), towers=(safe, *[()] * 8) * 6)
    assert {type(c) for c in options(match)} == {GiveUpStone}
    after = ask(match, GiveUpStone(0, 1)).state
    assert after.aside == ((0, 1),) and after.discard == ("1",) * 4 and len(after.hands[0]) == 4 and after.turn == 1
    refused(at_site(picked()), GiveUpStone(0, 1), "a stone can be placed")


def test_a_scorer_names_real_cards_and_never_more_than_the_deck_has():
    match, _ = new("city_towers", 2, mode="scorer")
    for seat in (0, 1):
        match = ask(match, PickStones(seat, SIX))
    for city, seat in enumerate((0, 1, 0, 1, 0), 1):
        match = ask(match, PlayStone(seat, 1 if city < 4 else 2, 3, city) if city != 5 else PlayStone(0, 1, 3, 5))
    refused(match, PlayStone(1, 3, 3, 6), "only 5 of 3")
    assert ask(match, PlayStone(1, 3, 4, 6)).state.tower(6, 4) == ((1, 3),)


def test_a_seat_sees_its_own_cards_and_of_others_how_many():
    match, _ = new("city_towers", 2)
    match = ask(match, PickStones(0, SIX))
    mine, board = match.view(0), match.view(None)
    assert mine["hands"][0] == list(match.state.hands[0]) and mine["hands"][1] == ["?"] * 4
    assert board["hands"] == [["?"] * 4] * 2
    assert mine["picked"][0] == list(SIX) and match.view(1)["picked"][0] == [0] * 6


def test_commands_are_read_from_their_json():
    command = PlayStone(0, 2, 3, 4)
    assert GAMES["city_towers"].command(command.to_json()) == command


def test_the_view_tells_a_towers_owner_by_the_house_rule_its_parts_and_what_it_takes_to_build_over_it():
    tower = ((0, 2), (1, 4), (0, 2))
    for rules, whose in (({}, 0), ({"even_tower": "nobody"}, None)):
        (shown,) = at_site(picked(**rules), tower=tower).view(None)["towers"]
        assert shown["owner"] == whose and shown["parts"] == [(0, 4), (1, 4)] and shown["needs"] == [1, 1]
    (shown,) = at_site(picked(3), tower=((0, 4), (0, 4), (1, 3))).view(2)["towers"]
    assert shown["parts"] == [(0, 8), (1, 3)] and shown["needs"] == [1, 5, 8]


def test_a_rounds_event_of_an_earlier_version_tells_totals_alone():
    match = new("city_towers", 2)[0]
    event = Event("round_scored", {"points": [{"towers": 9, "total": 13}, {"towers": 8, "total": 15}]}, "", step=2)
    assert match.game.scores(match.game.evolve(match.state, event)) == (13, 15)
