"""A tournament in the making, played by dice: commands through ``decide``, the log kept."""

from __future__ import annotations

import random

from referee.tournament import plan
from referee.tournament.commands import CallGame, CreateTournament, GameBegins, GameEnds, PairRound, decide
from referee.tournament.evolve import evolve, fold
from referee.tournament.state import Fixture, GameResult, ResultRow, TournamentOptions

NAMES = tuple(f"{first}{last}" for last in ("", " B.", " C.", " D.") for first in (
    "Ann", "Ben", "Cem", "Dia", "Eli", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Ole", "Pia"
))  # fmt: skip


def over(number, *players):
    """A Swiss game that is over, won by the first; of one player a round off."""
    rows = tuple(ResultRow(p, place=place) for place, p in enumerate(players, 1))
    return Fixture(number, 1, "swiss", players, result=GameResult(rows, "match" if players[1:] else "bye"))


class Organised:
    """``state`` is the fold of ``log``. Time goes on by a second with every command."""

    def __init__(self, players=8, tables=2, seed=1, **options):
        self.log, self.state, self.chance = [], fold([]), random.Random(seed)
        names = NAMES[:players] if isinstance(players, int) else tuple(players)
        places = tuple(f"T{n + 1}" for n in range(tables))
        self.do(CreateTournament("t1", "Cup", TournamentOptions(seed=seed, **options), names, places))

    def do(self, *commands):
        for command in commands:
            minutes, seconds = divmod(len(self.log), 60)
            events = decide(self.state, command, f"2026-01-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}+00:00")
            for event in events:
                self.state = evolve(self.state, event)
            self.log += events
        return self.state

    def call_all(self):
        for game, table in plan.next_calls(self.state):
            self.do(CallGame(game.number, table))

    def begin(self, number):
        game, again = self.state.game(number), len(self.state.game(number).void)
        return self.do(GameBegins(number, f"m{number}.{again}", self.state.sitting(game)))

    def end(self, number, *best_first):
        """The game ends in this order; by dice without one."""
        game = self.state.game(number)
        order = list(best_first) or self.chance.sample(game.seated, len(game.seated))
        rows = []
        for place, player in enumerate(order, 1):
            won = len(order) - place + self.chance.randrange(2)
            rows.append(ResultRow(player, won * self.chance.randrange(1, 5), won, 6, place))
        return self.do(GameEnds(number, game.match_id, GameResult(tuple(rows), seconds=60.0)))

    def play_round(self):
        while any(g.result is None for g in self.state.games):
            self.call_all()
            for game in self.state.games:
                if game.phase == "called":
                    self.begin(game.number)
                    self.end(game.number)
        return self.state

    def play_on(self):
        """To the end, without more ado."""
        while self.state.phase != "finished":
            self.play_round()
            self.do(PairRound())
        return self.state
