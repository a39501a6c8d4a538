"""A scorer who enters what happens at a table gets the same game as the one that the program dealt."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import NAMES, ask, new, options

from referee.games.catalogue import GAMES
from referee.games.match import decide, evolve
from referee.games.quarters_and_currencies.rules import ReadHand, ReadIn
from referee.games.tower_bets import rules as tower_bets

TURNED_UP = ("building_laid", "gift_laid", "money_laid", "scored")


def turned_up(name, deal):
    """What lies open after the deal, in the order in which it is read in."""
    if name == "tower_bets":
        return []
    return [*deal.get("passive", ()), *deal.get("yard", ()), *deal.get("market", ())]


def read_in(scored, full, queue):
    """Whatever the scorer's game waits for is read in."""
    while scored.state.phase.startswith("reading"):
        if scored.game.name == "tower_bets":
            pile = next(n for n, cards in enumerate(scored.state.piles, 1) if cards[0] == "?")
            scored = ask(scored, tower_bets.ReadPile(0, pile, full.state.piles[pile - 1][0]))
        else:
            scored = ask(scored, ReadIn(0, queue.pop(0)))
    return scored


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", GAMES)
def test_a_scored_game_has_the_same_public_course_and_result(name, seed):
    rng = random.Random(seed)
    players = rng.choice(GAMES[name].seats)
    full, events = new(name, players, seed)
    scored, _ = new(name, players, seed, "scorer")
    deal = events[0].data["deal"]
    if scored.state.phase == "reading_hands":
        for seat in range(players):
            scored = ask(scored, ReadHand(seat, tuple(deal["hands"][seat])))
    queue = turned_up(name, deal)
    scored = read_in(scored, full, queue)
    while not full.over:
        command = rng.choice(options(full))
        made = decide(full, command, "")
        for event in made:
            full = evolve(full, event)
        queue += [e.data.get("card") or e.data["scoring"] for e in made if e.kind in TURNED_UP]
        if full.over and "C" in queue:
            queue.remove("C")  # the last scoring is no card
        scored = read_in(ask(scored, command), full, queue)
        assert scored.game.scores(scored.state) == full.game.scores(full.state)
        assert scored.state.turn == full.state.turn and scored.over == full.over
    shown = [m.view(None) for m in (full, scored)]
    for key in ("towers", "owned", "yard", "points", "standings", "chips", "storeys"):
        assert shown[0].get(key) == shown[1].get(key)
    assert len(NAMES) > players
