"""``referee tournament`` and ``referee people`` as an organiser types them; a session that plays what is called."""

from __future__ import annotations

import importlib.util
import json
import sys
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from test_director import Hall

from referee.cli import cli
from referee.commands.hall import linked_to_hall
from referee.commands.tables import invented_names
from referee.errors import RefereeError
from referee.journal.journal import Journal
from referee.journal.side_tables import Presence
from referee.session.called_games import CalledGames, TableService

PEOPLE = "Ann,Ben,Cem,Dia,Eli"


@pytest.fixture
def typed(tmp_path):
    """Types a command about a journal of its own; gives what it says, or raises the fault as one line."""
    journal = str(tmp_path / "cup.db")

    def run(*words):
        done = CliRunner().invoke(cli, [*map(str, words), "-j", journal], standalone_mode=True)
        if isinstance(done.exception, RefereeError):
            assert "\n" not in str(done.exception)
            raise done.exception
        if done.exit_code:
            raise click.UsageError(done.output)
        return done.output

    run.journal = journal
    return run


def test_an_evening_from_the_command_line(typed):
    assert "5 players, tables T1, T2" in typed("tournament", "begin", "Cup", "--tables", "T1,T2", "--players", PEOPLE)
    assert "6 players" in typed("tournament", "enter", "Fay")
    assert "round 1 of 3" in typed("tournament", "pair")
    assert "next at table T1" in typed("tournament", "plan")
    shown = typed("tournament", "show")
    assert "places by match points" in shown and shown.count("waiting") == 3
    assert "5 players" in typed("tournament", "leave", "Fay", "train")
    assert "6 players" in typed("tournament", "return", "Fay")
    game = next(line for line in shown.splitlines() if line.strip().startswith("1:"))
    winner = game.split(":")[1].split(" - ")[0].strip()
    assert "of 3 games over" in typed("tournament", "rule", 1, winner, "the other one did not come")
    assert "Spring" not in typed("tournament", "list")
    typed("tournament", "open-table", "T3")
    typed("tournament", "close-table", "T1", "broken lamp")
    typed("tournament", "rename", "Ben", "Benno")
    assert [p["name"] for p in json.loads(typed("tournament", "export"))["entrants"]][1] == "Benno"


def test_strengths_are_typed_and_somebody_sits_out(typed):
    typed("tournament", "begin", "Cup", "--players", "Ann=1,Ben=4, Cem,Dia=2.5")
    typed("tournament", "enter", "Fay", "--strength", "3")
    typed("tournament", "sit-out", "Fay")
    typed("tournament", "pair")
    shown = typed("tournament", "show").partition("round 1")[2]
    assert [line.split(": ")[1] for line in shown.splitlines()[1:]] == ["Ben - Ann", "Dia - Cem", "Fay"]
    assert "Fay: sits out, 1 point" in shown
    assert typed("tournament", "export", "--format", "trf").startswith("012 Cup\n")
    with pytest.raises(RefereeError, match="strengths are numbers"):
        typed("tournament", "begin", "Cup", "--players", "Ann=x,Ben")


def test_people_from_the_command_line(typed):
    typed("tournament", "begin", "Cup", "--players", PEOPLE)
    assert typed("people", "list").count("25.0 ± 16.7") == 5
    assert "P6  Twin" in typed("people", "add", "Twin", "--color", "#102030")
    typed("people", "merge", "Ann", "Twin")
    typed("people", "rename", "Ann", "Anna")
    assert "names: Twin, Ann, Anna" in typed("people", "show", "P6")
    assert "is deleted" in typed("people", "delete", "Anna", "--yes")
    with pytest.raises(RefereeError, match="nobody is known"):
        typed("people", "show", "Anna")


@pytest.mark.parametrize(
    "words",
    [
        ("tournament", "show"), ("tournament", "pair"), ("people", "list"), ("tournament", "enter", "Ann"),
        ("tournament", "begin", " "), ("tournament", "begin", "Cup", "--players", "Ann,ann"),
        ("tournament", "begin", "Cup", "--tables", "a/b"), ("tournament", "begin", "Cup", "--group-size", 99),
        ("tournament", "run", "--id", "x"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_in_one_line(typed, words):
    with pytest.raises(RefereeError):
        typed(*words)


@pytest.mark.parametrize("words", [("tournament", "bgin"), ("tournament", "begin"), ("tournament", "rerun", "x", "y")])
def test_what_is_mistyped_is_told(typed, words):
    with pytest.raises(click.UsageError):
        typed(*words)


@pytest.mark.parametrize("words", [("--tournament",), ("--table", "tournament")])
def test_a_table_without_a_name_or_with_the_tournaments_own_is_refused(words):
    done = CliRunner().invoke(cli, ["run", *words])
    assert done.exit_code == 2 and "--table" in done.output and "Traceback" not in done.output


def test_a_hundred_players_have_a_hundred_names():
    assert len(set(invented_names(224))) == 224


def test_a_real_session_plays_what_is_called_and_the_hall_hears_of_its_alarms(tmp_path):
    spec = importlib.util.spec_from_file_location("many", Path(__file__).parents[1] / "match" / "test_many_tables.py")
    many = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(many)
    hall = Hall(str(tmp_path / "journal.db"), tables=1)
    hall.begin(2)
    hall.director.step()
    with closing(Journal(hall.store)) as journal, closing(Presence(hall.store)) as presence:
        session = many.program(journal, tmp_path / "data", "T1")
        session.alarm("camera_lost", "gone")
        service = TableService(session, "T1", presence, CalledGames(journal, "T1"))
        service.begin_called()
        hall.director.step()
        assert hall.director.state.games[0].match_id == session.state.match_id != ""
        with linked_to_hall(session, hall.store, "T1", called=True) as running:
            running.tell()
            assert presence.now()["T1"].alarms[0]["code"] == "camera_lost"
        assert presence.now() == {}
    hall.stack.close()
