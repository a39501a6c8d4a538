"""What a seat and the public may not know does not reach them by the log, the changes or an export.

Two games are played side by side. They differ only in what is hidden: a card of a hand and one of a pile have changed
places, a choice was another. Who is shown two tables that are the same must read the same words of both.
"""

from __future__ import annotations

import io
import json
import random
import sys
import tempfile
from contextlib import redirect_stdout
from functools import cache, partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import ask, new, options

from referee.commands.games import GameLines
from referee.devices.ports import SystemClock
from referee.errors import IllegalCommand
from referee.games.catalogue import GAMES
from referee.games.city_towers.rules import PickStones
from referee.games.match import Correct, UndoMove, decide, evolve, fold
from referee.games.quarters_and_currencies.rules import ReadHand, ReadIn
from referee.journal.chain import lines_of, parse_line
from referee.journal.export import export_game
from referee.web.base_app import SECRET_FILE, kept_secret
from referee.web.games.app import create_game_app, seat_link
from referee.web.i18n.texts import command_sentence, line_words

PILE = {"city_towers": "deck", "nine_sum_towers": "draw", "quarters_and_currencies": "money", "tower_bets": "out"}
STEPS, SEEDS, LONG, PAGES_EVERY = 50, range(5), 60, 60
EXPORTS = ("json", "csv", "html", "sheet")


HIDDEN = {
    "stones_picked": ("stones",),
    "PickStones": ("stones",),
    "hand_read": ("cards",),
    "ReadHand": ("cards",),
    "card_drawn": ("card",),
    "stolen": ("card",),
    "reshuffled": ("deck", "draw", "money"),
}
"""What others do not see: a choice behind the hand, a card drawn or pulled out of a hand, a shuffled pile."""


def witnessed(game, event, seat):
    """What that seat (None: who looks on) sees of an event at the table, by the printed rules."""
    kind, data = event.kind, dict(event.data)
    mine = seat is not None and seat in (data.get("seat"), data.get("victim") if kind == "stolen" else None)
    hidden = () if mine and kind != "reshuffled" else HIDDEN.get(data.get("command", kind), ())
    if game == "tower_bets" and kind == "card_drawn":
        hidden = ()  # the piles lie open
    return kind, {name: value for name, value in data.items() if name not in hidden and name not in UNSEEN}


UNSEEN = ("was", "seed", "deal")


def table_of(match):
    """What lies open for all and comes of no event alone: the open piles' new tops, stones once all have picked."""
    state, game = match.state, match.game.name
    if game == "tower_bets":
        return [pile[:1] for pile in state.piles]
    if game == "city_towers" and state.phase != "picking":
        return state.picked
    return None


class Pages:
    """The pages over a game of that kind and size; the game is put in."""

    def __init__(self, game, players):
        self.match, self._listeners = new(game, players)[0], []
        self.folder = tempfile.mkdtemp(prefix="referee-")
        app = create_game_app(self, self.folder, SystemClock())
        app.extensions["referee.streams"].close()
        key = kept_secret(Path(self.folder) / SECRET_FILE)
        self.links = [seat_link(key, self.match.match_id, seat) for seat in self.match.state.seats]
        self.client = app.test_client()

    @property
    def version(self):
        return self.match.seq

    def page(self, match, path):
        """The bytes that the page is."""
        self.match = match
        answer = self.client.get(path)
        assert answer.status_code == 200
        return answer.data


app_of = cache(Pages)


def told(events, form):
    """The export of a game with these events."""
    words = (partial(command_sentence, "en"), partial(line_words, "en"))
    return export_game(form, [parse_line(line) for line in lines_of("m", events)], *words)


class Twins:
    """Two games, and who must not be able to tell them apart: seats, and None for the public. Whoever has seen a
    difference at the table, by ``witnessed`` and not by the program's own views, is compared no more."""

    def __init__(self, events, other, knows=()):
        """``knows``: seats that see the difference from the first move on."""
        self.games = [list(events), list(other)]
        self.both = [fold(events), fold(other)]
        self.same = {None, *self.both[0].state.seats} - set(knows)
        self.compared = self.pages = self.next_pages = 0
        self.app = app_of(self.both[0].game.name, len(self.both[0].state.players))
        self.lines = [GameLines(match) for match in self.both]
        self.look()

    def look(self):
        """Who cannot tell the games apart is sent the same bytes."""
        if self.both[0].over or self.both[1].over:
            self.same = set()  # nothing is secret any more
        one, two = self.both
        if table_of(one) != table_of(two):
            self.same = set()
        for seat in self.same:
            assert json.dumps(one.view(seat)) == json.dumps(two.view(seat)), seat
        if self.compared >= self.next_pages:
            self.next_pages = self.compared + PAGES_EVERY
            self.look_at_pages()
        self.compared += len(self.same) if one != two else 0

    def look_at_pages(self):
        """The board, the console and every seat's page by its link, the version, and the exports."""
        paths = {None: ("/", "/referee", "/version")} | {n: (f"/seat/{link}",) for n, link in enumerate(self.app.links)}
        for path in (path for seat in self.same for path in paths[seat]):
            one, two = (self.app.page(match, path) for match in self.both)
            assert one == two, path
            self.pages += 1
        for form in EXPORTS if None in self.same else ():
            assert told(self.games[0], form) == told(self.games[1], form), form

    def do(self, command, other=None):
        """The command in both games, another one in the second; in neither when one of them refuses it."""
        try:
            made = [decide(m, c, "") for m, c in zip(self.both, (command, other or command), strict=True)]
        except IllegalCommand:
            return
        printed = []
        for n, events in enumerate(made):
            for event in events:
                self.both[n] = evolve(self.both[n], event)
            self.games[n] += events
            with redirect_stdout(io.StringIO()) as lines:
                self.lines[n](self.both[n], events)
            printed.append(lines.getvalue())
        name, told_apart = self.both[0].game.name, set()
        for seat in self.same:
            one, two = ([witnessed(name, event, seat) for event in events] for events in made)
            told_apart |= {seat} if one != two else set()
        self.same -= told_apart
        self.look()
        assert None not in self.same or printed[0] == printed[1]

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
    if not set(pile) - {hand[0]}:
        pile = deal["piles"][0]  # with five at the table no card is left out: one that lies deep
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
        knows = rng.randrange(2)
        twins = Twins(events, swapped(events, game, knows), [knows])
        for _ in range(STEPS):
            twins.step(rng)
        compared += twins.compared
    assert compared > 100


def played_out(game, seed):
    """A game and its twin, for ``LONG`` commands or until everybody can tell them apart: how often a viewer was
    compared, and how many pages."""
    rng = random.Random(seed)
    _, events = new(game, rng.choice(GAMES[game].seats), 0)
    knows = rng.randrange(len(events[0].data["players"]))
    twins = Twins(events, swapped(events, game, knows), [knows])
    for _ in range(LONG):
        twins.step(rng)
        if not twins.same:
            break
    return twins.compared, twins.pages


def recoloured(hand):
    """As much money in other currencies."""
    return tuple("abcd"["abcd".index(card[0]) - 1] + card[1:] for card in hand)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_scored_games_with_other_hands_read_the_same(seed):
    """Money that a scorer reads in is its owner's secret for the whole game."""
    rng = random.Random(seed)
    hands = new("quarters_and_currencies", 3, seed)[1][0].data["deal"]["hands"]
    _, events = new("quarters_and_currencies", 3, seed, "scorer")
    twins = Twins(events, events, [1])
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


if __name__ == "__main__":  # python tests/games/test_secrets.py 1000 [GAME …]
    for kind in sys.argv[2:] or GAMES:
        counts = [played_out(kind, seed) for seed in range(int(sys.argv[1]))]
        compared, pages = map(sum, zip(*counts, strict=True))
        print(
            f"{kind}: {len(counts)} games, {compared} comparisons of a viewer, {pages} pages: the same bytes",
            flush=True,
        )
