"""A whole tournament of simulated tables on one store, directors and tables dying in the middle; counted anew."""

from __future__ import annotations

import random
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from organised import NAMES
from tournament_recount import misplaced, swiss_table

from cards.deck import builtin_deck
from referee.devices.ports import SystemClock
from referee.errors import IllegalCommand
from referee.journal.export import match_listing
from referee.journal.journal import Journal
from referee.journal.recovery import check_journal
from referee.journal.side_tables import Presence, TableHeartbeat
from referee.match.commands import Overrule, PlayerLeaves, Undo
from referee.match.house_rules import DEFAULT_RULES
from referee.session.called_games import CalledGames, TableService
from referee.session.director import SILENT_S, Director, tournaments
from referee.simulator.quick_table import QuickTable
from referee.tournament.commands import CreateTournament, Enter, Leave, Rerun
from referee.tournament.standings import standings
from referee.tournament.state import TournamentOptions

RULES = DEFAULT_RULES.model_copy(update={"duels_per_round": 1})


class Hall:
    """A director and its tables in one process, each with its own connection; ``again`` is a kill and a restart."""

    def __init__(self, store, tables=4, seed=1):
        self.store, self.names, self.seed = store, [f"T{n + 1}" for n in range(tables)], seed
        self.stack, self.clock = ExitStack(), SystemClock()
        self.again()

    def again(self):
        """Everybody starts anew from what stands in the record."""
        self.stack.close()
        self.director = Director(self.journal(), self.clock)
        self.director.auto = True
        self.tables = {name: self.sit_down(name) for name in self.names}

    def journal(self):
        return self.stack.enter_context(closing(Journal(self.store)))

    def sit_down(self, name):
        journal = self.journal()
        return (
            QuickTable(journal, builtin_deck(), self.clock, name, self.seed, RULES),
            CalledGames(journal, name),
            journal,
        )

    def begin(self, players=8, **options):
        named = {"players": NAMES[:players], "tables": tuple(self.names)}
        options = TournamentOptions(seed=self.seed, **options)
        return self.director.create(CreateTournament("", "Cup", options, **named, simulated=True))

    def step(self, name):
        table, games, _ = self.tables[name]
        if not table.step() and (names := games.called()):
            table.create_match(names)

    def play(self, chance=None, kills=()):
        """To the end; with ``chance`` the tables take their turns by dice."""
        for turn in range(100_000):
            self.director.step()
            if self.director.state.phase == "finished":
                return self.director.state
            for name in chance.choices(self.names, k=9) if chance else self.names * 4:
                self.step(name)
            if turn in kills:
                self.again()
        raise AssertionError("it does not end")


@pytest.fixture
def hall(store):
    made = Hall(store)
    yield made
    made.stack.close()


def same_as_recounted(store, state):
    counted, lines = swiss_table(store), standings(state)
    assert {row.name: (row.match_points, row.buchholz, row.cards, row.duels_won) for row in lines} == counted
    keys = [counted[row.name] for row in lines]
    assert keys == sorted(keys, reverse=True)


@pytest.mark.slow
def test_a_swiss_on_four_tables_is_what_an_independent_recount_says(hall):
    hall.begin(9)
    state = hall.play(random.Random(5))
    assert misplaced(hall.store) == []
    same_as_recounted(hall.store, state)


@pytest.mark.slow
def test_killed_again_and_again_it_ends_as_it_should(hall):
    hall.begin(8)
    state = hall.play(random.Random(6), kills=(2, 3, 9, 17, 30))
    assert misplaced(hall.store) == []
    same_as_recounted(hall.store, state)


@pytest.mark.slow
def test_two_directors_at_once_call_nobody_twice(hall):
    hall.begin(5)
    with closing(Journal(hall.store)) as journal:
        second = Director(journal, hall.clock)
        second.auto = True
        while second.state.phase != "finished":
            hall.director.step()
            second.step()
            for name in hall.names:
                hall.step(name)
        hall.director.step()
        assert second.state == hall.director.state
    assert misplaced(hall.store) == []
    same_as_recounted(hall.store, second.state)


@pytest.mark.slow
def test_groups_with_a_knock_out_on_tables(hall):
    hall.begin(7, format="groups")
    state = hall.play()
    assert misplaced(hall.store) == []
    assert sorted(len(g.players) for g in state.of_round(1)) == [3, 4] and state.round == 3
    assert standings(state)[0].player == state.games[-1].result.winner


def test_what_is_corrected_at_the_table_is_corrected_in_the_tournament(tmp_path):
    hall = Hall(str(tmp_path / "journal.db"), tables=1)
    hall.begin(2, format="printed")
    while not hall.director.state.games or hall.director.state.games[0].result is None:
        hall.director.auto = hall.director.state.phase == "entering"
        hall.director.step()
        hall.step("T1")
    before = hall.director.state.games[0].result
    table = hall.tables["T1"][0]
    loser = next(p for p in table.state.players if p != table.state.winner)
    for duel in table.state.history:
        zone = next(z for z, name in duel.seats.items() if name == loser)
        table._runner.command(Overrule(f"award_{zone}", "Org", "seen again", duel.number))
    while table.step():
        pass
    hall.director.step()
    after = hall.director.state.games[0].result
    assert after.winner is not None and after.winner != before.winner
    hall.stack.close()


def test_a_game_that_is_played_again_gets_a_match_of_its_own(tmp_path):
    hall = Hall(str(tmp_path / "journal.db"), tables=2)
    hall.begin(4)
    while not any(g.result for g in hall.director.state.games):
        hall.director.step()
        for name in hall.names:
            hall.step(name)
    game = next(g for g in hall.director.state.games if g.result)
    hall.director.command(Rerun(game.number, "torn card", "Org"))
    state = hall.play()
    again = state.game(game.number)
    assert again.void == (game.match_id,) and again.match_id not in ("", game.match_id)
    assert game.match_id not in {row.match_id for row in hall.director.played()}
    assert len(hall.director.played()) == len(state.games)
    hall.stack.close()


def test_somebody_who_comes_and_somebody_who_goes_in_the_middle(tmp_path):
    hall = Hall(str(tmp_path / "journal.db"), tables=2)
    hall.begin(6)
    for _ in range(3):
        hall.director.step()
        for name in hall.names * 3:
            hall.step(name)
    busy = next(g for g in hall.director.state.games if g.phase == "playing")
    table, _, _ = hall.tables[busy.table]
    hall.director.command(Enter("Zoe", who="Org"))
    leaver = busy.players[0]
    hall.director.command(Leave(leaver, "ill", "Org"))
    table._runner.command(PlayerLeaves(hall.director.state.entrants[leaver].name, "Org", "ill"))
    state = hall.play()
    assert state.game(busy.number).result.by == "left"
    assert "Zoe" in {n for g in state.games for n in state.named(g)}
    assert standings(state)[-1].player == leaver
    hall.stack.close()


def test_a_friendly_match_at_the_table_is_no_game_of_the_tournament(tmp_path):
    hall = Hall(str(tmp_path / "journal.db"), tables=1)
    table = hall.tables["T1"][0]
    table.create_match(NAMES[:2])
    while table.step():
        pass
    hall.begin(2)
    hall.director.step()
    assert hall.director.state.games[0].phase == "called", "that match was over before they were called"
    state = hall.play()
    assert state.games[0].match_id != hall.director.record.matches("T1")[0]
    assert len(hall.director.played()) == 2
    hall.director.create(CreateTournament("", "Real", players=("Ann", "Ben")))
    assert hall.director.played() == [], "what was simulated counts for nobody"
    hall.stack.close()


def test_a_record_with_a_tournament_is_listed_and_sound(tmp_path):
    hall = Hall(str(tmp_path / "journal.db"), tables=1)
    hall.begin(2)
    hall.play()
    assert [line[:2] for line in match_listing(hall.director.record)] == ["T1"]
    assert set(check_journal(hall.director.record)) == {hall.director.id, *hall.director.record.matches("T1")}
    hall.stack.close()


def test_a_tournament_that_is_not_there_is_told_in_one_line(tmp_path):
    with closing(Journal(tmp_path / "journal.db")) as journal:
        assert tournaments(journal) == []
        with pytest.raises(IllegalCommand, match="no tournament 'x'"):
            Director(journal, SystemClock(), "x")


class Steps(SystemClock):
    ahead_s = 0.0

    def now_s(self):
        return super().now_s() + self.ahead_s


def test_a_table_that_falls_silent_is_told_of(store):
    clock = Steps()
    with closing(Journal(store)) as journal, closing(Presence(store)) as presence:
        director = Director(journal, clock, presence=presence)
        presence.tell(
            "T1", TableHeartbeat(1, "http://t1/", ({"code": "box_lost", "text": "gone", "since": ""},), "host:1")
        )
        director.step()
        assert director.table("T1").told.alarms[0]["code"] == "box_lost" and not director.table("T1").silent
        clock.ahead_s = SILENT_S + 1
        director.step()
        assert director.table("T1").silent
        presence.tell("T1", TableHeartbeat(2))
        director.step()
        assert not director.table("T1").silent and director.table("T1").told.alarms == ()
        presence.leave("T1")
        director.step()
        assert director.table("T1").told is None


def test_a_tables_program_begins_what_is_called_and_says_that_it_lives(tmp_path):
    hall = Hall(str(tmp_path / "journal.db"), tables=1)
    table, games, journal = hall.tables["T1"]
    with closing(Presence(hall.store)) as presence:
        service = TableService(table, "T1", presence, games)
        service.alarms, service.patience_s = table.alarms, 0.0
        service.begin_called()
        assert table.state.phase == "new"
        hall.begin(2)
        hall.director.step()
        table.alarm("box_lost", "gone")
        service.tell()
        service.begin_called()
        service.begin_called()
        assert table.state.phase == "idle" and presence.now()["T1"].alarms[0]["code"] == "box_lost"
        assert len(journal.matches("T1")) == 1
        while table.step():
            pass
        hall.director.step()
        hall.director.command(Rerun(1, "torn card", "Org"))
        hall.director.step()
        service.patience_s = 60.0
        service.begin_called()
        assert len(journal.matches("T1")) == 1, "the winner stays on the board for a while"
        service.patience_s = 0.0
        service.begin_called()
        assert len(journal.matches("T1")) == 2
    hall.stack.close()


def test_an_undo_at_a_finished_table_takes_nothing_from_the_tournament_until_it_is_over_again(tmp_path):
    hall = Hall(str(tmp_path / "journal.db"), tables=2)
    hall.begin(4)
    while not any(g.result for g in hall.director.state.games):
        hall.director.step()
        hall.step("T1")
    game = next(g for g in hall.director.state.games if g.result)
    hall.tables["T1"][0]._runner.command(Undo("Org"))
    hall.director.step()
    assert hall.director.state.game(game.number).result == game.result
    state = hall.play()
    assert misplaced(hall.store) == []
    same_as_recounted(hall.store, state)
    hall.stack.close()
