"""The frame of all games: undo, correction, and what a log must be. Played on city_towers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import ask, new, play, refused, reread

from referee.errors import IllegalCommand
from referee.events import Event
from referee.games.catalogue import game_named
from referee.games.city_towers.rules import PickStones, PlayStone
from referee.games.core import BadGame, hand_without, shuffled
from referee.games.match import Correct, UndoMove, decide, evolve, fold

SIX = (1, 1, 1, 2, 3, 4)


def begun():
    """Both have picked; seat 0 has played its first card with a stone of height 1 in city 1."""
    match, _ = new("city_towers", 2)
    for command in (PickStones(0, SIX), PickStones(1, SIX)):
        match = ask(match, command)
    card = int(match.state.hands[0][0])
    return ask(match, PlayStone(0, 1, card, 1)), card


def test_an_undo_takes_back_the_last_command_and_says_who_and_why():
    match, card = begun()
    before = match.played[-1].before
    back = ask(match, UndoMove("Ref", "wrong city"))
    assert back.state == before and len(back.played) == 2
    assert back.view(None)["changes"][0]["was"]["command"] == "PlayStone"
    assert (back.changes[0]["who"], back.changes[0]["why"]) == ("Ref", "wrong city")
    assert ask(back, PlayStone(0, 1, card, 2)).state.tower(2, card) == ((0, 1),)


def test_an_undo_needs_who_and_something_to_undo():
    match, _ = begun()
    refused(match, UndoMove(" "), "needs who")
    refused(new("city_towers")[0], UndoMove("Ref"), "nothing to undo")


def test_a_correction_changes_one_command_and_decides_the_later_ones_anew():
    match, card = begun()
    reply = int(match.state.hands[1][0])
    match = ask(match, PlayStone(1, 4, reply, 5))
    right = ask(match, Correct(3, PlayStone(0, 1, card, 6), "Ref", "it was city 6"))
    assert right.state.tower(6, card) == ((0, 1),) and right.state.tower(1, card) == ()
    assert right.state.tower(5, reply) == ((1, 4),)
    assert [p.command["command"] for p in right.played] == ["PickStones", "PickStones", "PlayStone", "PlayStone"]
    assert right.changes[0]["why"] == "it was city 6" and right.changes[0]["number"] == 3


def test_a_correction_that_makes_a_later_command_illegal_is_refused_and_says_which():
    match, _ = begun()
    match = ask(match, PlayStone(1, 4, int(match.state.hands[1][0]), 5))
    refused(
        match,
        Correct(2, PickStones(1, (1,) * 6), "Ref", "x"),
        r"command 4 \(PlayStone\) would not be legal: .*height 4",
    )


@pytest.mark.parametrize(
    ("number", "who", "why", "said"),
    [(3, "", "x", "needs who and why"), (3, "R", " ", "needs who and why"), (9, "R", "x", "no command 9")],
)
def test_a_correction_needs_who_why_and_a_command_that_there_is(number, who, why, said):
    match, card = begun()
    refused(match, Correct(number, PlayStone(0, 1, card, 6), who, why), said)


def test_a_correction_must_change_something():
    match, card = begun()
    refused(match, Correct(3, PlayStone(0, 1, card, 1), "R", "x"), "says that already")


def test_a_corrected_game_replays_to_the_same_state_and_cites_what_it_replaces():
    match, events = new("city_towers", 2)
    for command in (PickStones(0, SIX), PickStones(1, SIX), Correct(2, PickStones(1, (1,) * 6), "Ref", "misread")):
        made = decide(match, command, "")
        for event in made:
            match = evolve(match, event)
        events += made
    assert fold(reread(events)) == match
    corrected = next(event for event in events if event.kind == "corrected")
    assert events[corrected.cites - 1].data["seat"] == 1 and corrected.who == "Ref"
    assert match.state.picked[1] == (1,) * 6


def test_undoing_a_whole_game_leads_back_to_the_deal():
    match, events = play("city_towers", 4)
    while match.played:
        match = ask(match, UndoMove("Ref"))
    assert match.state == fold(events[:1]).state


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (Event("game_begun", {}), "begun already"),
        (Event("card_flown", {}), "nothing that happens"),
        (Event("undone", {"number": 7, "why": ""}), "no command 7"),
    ],
)
def test_an_event_that_cannot_follow_is_refused(event, why):
    match, _ = begun()
    with pytest.raises(IllegalCommand, match=why):
        evolve(match, event)


def test_a_log_must_begin_with_the_deal():
    with pytest.raises(IllegalCommand, match="not those of a game"):
        fold([])
    with pytest.raises(IllegalCommand, match="not those of a game"):
        fold([Event("match_created", {})])


def test_a_simulated_game_is_marked_from_its_first_event_on():
    match, events = play("city_towers", 2)
    assert match.simulated and all(event.simulated for event in events) and match.view(None)["simulated"]


def test_unknown_games_players_modes_and_rules_are_named():
    with pytest.raises(BadGame, match="no game 'chess'"):
        game_named("chess")
    game = game_named("city_towers")
    for players, rules, mode, why in (
        (["A", "A"], {}, "full", "different names"),
        (["A", " "], {}, "full", "not blank"),
        (["A", "B"], {"hand": 0}, "full", "hand"),
        (["A", "B"], {"colour": 1}, "full", "colour"),
        (["A", "B"], {}, "half", "'half'"),
    ):
        with pytest.raises(BadGame, match=why):
            game.setup(players, rules, 0, mode)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"command": "Fly", "seat": 0}, "no command 'Fly'"),
        ({"command": "PlayStone", "seat": 0}, "PlayStone"),
        ({"command": "PlayStone", "seat": 0, "stone": "tall", "site": 1, "city": 1}, "stone"),
    ],
)
def test_a_command_that_cannot_be_read_says_why(row, why):
    with pytest.raises(IllegalCommand, match=why):
        game_named("city_towers").command(row)


def test_seats_that_there_are_not_are_refused():
    match, card = begun()
    refused(match, PlayStone(7, 1, card, 1), "no seat 7")
    refused(match, PlayStone(-1, 1, card, 1), "no seat -1")


def test_a_shuffle_is_the_seeds_and_the_order_of_the_cards_does_not_matter():
    assert shuffled("abcdef", 1, 0) == shuffled("fedcba", 1, 0) != shuffled("abcdef", 1, 1)


def test_an_unknown_card_stands_for_any_but_must_be_named():
    assert hand_without(("a", "?"), ("b",), "Ann") == ("a",)
    for cards, why in ((("b", "c"), "no card c"), (("?",), "name the card"), (("b", "a", "a"), "too few of a")):
        with pytest.raises(IllegalCommand, match=why):
            hand_without(("a", "?"), cards, "Ann")
