"""What a seat and the public may not know does not reach them by the log, the changes or an export.

Two games are played side by side. They differ only in what is hidden: a card of a hand and one of a pile have changed
places, a choice was another. Who is shown two tables that are the same must read the same words of both.
"""

from __future__ import annotations

import json
import random
import sys
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import ask, new, options

from referee.commands.games import GameLines
from referee.errors import IllegalCommand
from referee.games.catalogue import GAMES
from referee.games.city_towers.rules import PickStones
from referee.games.match import Correct, UndoMove, decide, evolve, fold
from referee.games.quarters_and_currencies.rules import ReadHand, ReadIn
from referee.journal.chain import lines_of, parse_line
from referee.journal.game_export import export_game
from referee.web.i18n.games import command_sentence

PILE = {"city_towers": "deck", "nine_sum_towers": "draw", "quarters_and_currencies": "money", "tower_bets": "out"}
STEPS, SEEDS = 50, range(5)
EXPORTS = ("json", "csv", "html", "sheet")


def told(events, form):
    """The export of a game with these events."""
    return export_game(form, [parse_line(line) for line in lines_of("m", events)], partial(command_sentence, "en"))


class Twins:
    """Two games, and who has been shown the same of both from the first move on: seats, and None for the public."""

    def __init__(self, events, other):
        self.games = [list(events), list(other)]
        self.both = [fold(events), fold(other)]
        self.same = {None, *self.both[0].state.seats}
        self.compared = 0
        self.look()

    def tables(self, seat):
        """What lies on the table, without log and changes."""
        views = [match.view(seat) for match in self.both]
        return [{key: v for key, v in view.items() if key not in ("log", "changes")} for view in views]

    def look(self):
        """Who sees the same reads the same; somebody whose tables differ once can tell them apart from then on."""
        self.same = {seat for seat in self.same if self.tables(seat)[0] == self.tables(seat)[1]}
        for seat in self.same:
            one, two = ([match.view(seat)[key] for key in ("log", "changes")] for match in self.both)
            assert json.dumps(one) == json.dumps(two)
        if None in self.same and not self.both[0].over and len(self.games[0]) % 6 == 1:
            for form in EXPORTS:
                assert told(self.games[0], form) == told(self.games[1], form), form
        self.compared += len(self.same) if self.both[0] != self.both[1] else 0

    def do(self, command, other=None):
        """The command in both games, another one in the second; in neither when one of them refuses it."""
        try:
            made = [decide(m, c, "") for m, c in zip(self.both, (command, other or command), strict=True)]
        except IllegalCommand:
            return
        for n, events in enumerate(made):
            for event in events:
                self.both[n] = evolve(self.both[n], event)
            self.games[n] += events
        self.look()

    def step(self, rng):
        """Something at random: an undo, a correction, a move; of a secret choice two ways to make it."""
        one = self.both[0]
        if one.played and rng.random() < 0.2:
            self.do(UndoMove("Ref", "mistyped"))
        elif one.played and rng.random() < 0.2:
            number = len(one.played)
            seat = one.played[-1].command["seat"]
            choices = [c for c in one.game.legal(one.played[-1].before, seat) if not one.game.refusal(one.state, c)]
            if choices:
                self.do(Correct(number, rng.choice(choices), "Ref", "misread"))
        elif choices := options(one):
            command = rng.choice(choices)
            others = [c for c in choices if isinstance(c, PickStones) and c.seat == command.seat]
            self.do(command, rng.choice(others) if others and rng.random() < 0.6 else None)


def swapped(events, game, seat):
    """The deal with one card of the seat's hand and another of the pile in each other's place."""
    deal = json.loads(json.dumps(events[0].data["deal"]))
    hand, pile = deal["hands"][seat], deal[PILE[game]]
    at = next(n for n in reversed(range(len(pile))) if pile[n] not in (hand[0], "A", "B"))
    hand[0], pile[at] = pile[at], hand[0]
    first = events[0]
    return [type(first)(first.kind, {**first.data, "deal": deal}, first.at, simulated=True, step=1)]


@pytest.mark.parametrize("game", GAMES)
def test_two_games_that_differ_in_what_is_hidden_read_the_same(game):
    compared = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        _, events = new(game, rng.randint(2, 4), seed)
        twins = Twins(events, swapped(events, game, rng.randrange(2)))
        for _ in range(STEPS):
            twins.step(rng)
        compared += twins.compared
    assert compared > 100


def recoloured(hand):
    """As much money in other currencies."""
    return tuple("abcd"["abcd".index(card[0]) - 1] + card[1:] for card in hand)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_scored_games_with_other_hands_read_the_same(seed):
    """Money that a scorer reads in is its owner's secret for the whole game."""
    rng = random.Random(seed)
    hands = new("quarters_and_currencies", 3, seed)[1][0].data["deal"]["hands"]
    _, events = new("quarters_and_currencies", 3, seed, "scorer")
    twins = Twins(events, events)
    for seat, hand in enumerate(hands):
        twins.do(ReadHand(seat, tuple(hand)), ReadHand(seat, recoloured(hand)) if seat == 1 else None)
        if seat == 1 and seed % 2:
            twins.do(UndoMove("Ref", "mistyped"))
            twins.do(ReadHand(seat, tuple(hand)), ReadHand(seat, recoloured(hand)))
    for _ in range(STEPS):
        if twins.both[0].state.phase.startswith("reading"):
            twins.do(ReadIn(0, rng.choice(sorted(twins.both[0].game.deck(twins.both[0].state)))))
        else:
            twins.do(rng.choice(options(twins.both[0])))
    assert twins.compared > 50 and twins.same == {None, 0, 2}


def picked():
    """Ann has picked, taken it back and picked anew; Ben still has to."""
    match, events = new("city_towers", 2)
    for command in (PickStones(0, (1, 1, 1, 1, 1, 4)), UndoMove("Ann", "no"), PickStones(0, (2, 2, 2, 3, 3, 3))):
        made = decide(match, command, "")
        events += made
        match = fold(events)
    return match, events


def test_a_pick_is_read_by_its_seat_alone_and_by_all_once_all_have_picked():
    match, _ = picked()
    stones = {seat: match.view(seat)["log"][0]["command"]["stones"] for seat in (None, 0, 1)}
    assert stones == {None: ["?"] * 6, 0: [2, 2, 2, 3, 3, 3], 1: ["?"] * 6}
    match = ask(match, PickStones(1, (1, 1, 1, 2, 3, 4)))
    assert match.view(None)["log"][0]["command"]["stones"] == [2, 2, 2, 3, 3, 3]
    assert match.view(None)["changes"][0]["was"]["stones"] == ["?"] * 6, "this pick never lay open"


def test_picks_of_an_earlier_round_stay_open_while_the_next_are_made():
    match, rng = ask(picked()[0], PickStones(1, (1, 1, 1, 2, 3, 4))), random.Random(1)
    while match.state.phase == "playing":
        match = ask(match, rng.choice(options(match)))
    match = ask(match, PickStones(1, (1, 1, 1, 1, 1, 1)))
    told = [row["command"]["stones"] for row in match.view(0)["log"] if row["command"]["command"] == "PickStones"]
    assert told == [[2, 2, 2, 3, 3, 3], [1, 1, 1, 2, 3, 4], ["?"] * 6]


def test_the_terminal_says_no_pick_before_all_have_picked(capsys):
    match, events = new("city_towers", 2)
    lines = GameLines(match)
    for command in (PickStones(0, (2, 2, 2, 3, 3, 3)), UndoMove("Ref", "mistyped")):
        made = decide(match, command, "")
        events += made
        match = fold(events)
        lines(match, made)
    printed = capsys.readouterr().out
    assert "Ann picks stones ? ? ? ? ? ?" in printed and "Ref takes back" in printed and "2 2 2" not in printed


@pytest.mark.parametrize("form", EXPORTS)
def test_the_export_of_an_open_game_holds_no_pick_whether_it_stands_or_was_taken_back(form):
    text = told(picked()[1], form)
    assert "PickStones" in text or "picks stones" in text
    assert not any(stones in text for stones in ("1 1 1 4", "2 2 2 3", "[1, 1", "[2, 2"))
