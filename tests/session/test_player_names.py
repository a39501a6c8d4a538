"""Names on the command line: never dropped without a word, never the same name twice; and ports that exist."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "match"))

from test_many_tables import equipment, program

from referee.cli import cli
from referee.commands.games import resume_game
from referee.commands.serving import running_session
from referee.devices.ports import SystemClock
from referee.games.catalogue import game_named
from referee.journal.journal import Journal
from referee.match.commands import DrawCard, RenamePlayer
from referee.session.game_table import GameTable, game_matches

REFEREE = [sys.executable, "-c", "from referee.cli import main; main()"]
TWINS = [
    ("schedule", "2", "--players", "Ann,ann"),
    ("run", "--players", "Ann,ann"),
    ("run", "--players", "Ann,Ben,ANN"),
    ("demo", "--players", "Ann,ann"),
    ("demo", "--game", "tower_bets", "--players", "Ann,ann,Ben"),
    ("practice", "--players", "Ann,ann"),
    ("practice", "--simulated", "--players", "Ann,ann"),
    ("game", "play", "tower_bets", "--players", "Ann,ann"),
    ("tournament", "begin", "Cup", "--players", "Ann,ann"),
]
PORTED = [
    ("run",), ("demo",), ("practice",), ("tournament", "run"), ("attempts", "show"),
    ("game", "play", "tower_bets", "--players", "Ann,Ben"), ("demo", "--game", "tower_bets"), ("demo", "--tables", "2"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Commands work in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def journal(tmp_path):
    """A record with an open match of Zoe, Yan and Xu, a card on the table."""
    with closing(Journal(tmp_path / "journal.db")) as journal:
        session = program(journal, tmp_path, "")
        session.create_match(["Zoe", "Yan", "Xu"], seed=1)
        session.command(DrawCard("L01"))
        yield journal


def started(journal, tmp_path, players, capsys):
    """The state in which the program begins when it is given these names, and what it says."""
    with running_session(equipment(journal, tmp_path), players) as session:
        return session.state, capsys.readouterr().out


@pytest.mark.parametrize("words", TWINS, ids=" ".join)
def test_two_players_whose_names_differ_in_capitals_alone_are_refused(words, tmp_path):
    said = CliRunner().invoke(cli, words)
    text = said.output + str(said.exception)
    assert said.exit_code != 0 and ("'ann'" in text.lower()) and "Traceback" not in text
    assert not list(tmp_path.rglob("attempts"))


def test_who_enters_a_tournament_under_a_name_that_is_taken_is_refused():
    assert CliRunner().invoke(cli, ["tournament", "begin", "Cup", "--players", "Ann,Ben"]).exit_code == 0
    said = CliRunner().invoke(cli, ["tournament", "enter", "ANN"])
    assert said.exit_code == 1 and "'ANN'" in str(said.exception)


@pytest.mark.parametrize("words", PORTED, ids=" ".join)
@pytest.mark.parametrize("port", ["99999", "65536", "-1"])
def test_a_port_that_there_is_not_is_refused(words, port):
    said = CliRunner().invoke(cli, [*words, "--port", port])
    assert said.exit_code == 2 and "--port" in said.output and "65535" in said.output


@pytest.mark.parametrize("players", [None, ["Zoe", "Yan", "Xu"], ["xu", "ZOE", "Yan"]])
def test_without_names_or_with_those_of_its_players_the_open_match_goes_on(journal, tmp_path, capsys, players):
    state, said = started(journal, tmp_path, players, capsys)
    assert state.players == ("Zoe", "Yan", "Xu") and state.phase == "card_drawn"
    assert said.count("\n") == 1 and said.startswith("going on with match") and "Zoe, Yan, Xu" in said


@pytest.mark.parametrize("players", [["Kim", "Leo"], ["Zoe", "Yan"], ["Zoe", "Yan", "Xu", "Kim"]])
def test_with_other_names_a_match_of_theirs_can_begin_and_what_stays_open_is_said(journal, tmp_path, capsys, players):
    (old,) = journal.matches()
    state, said = started(journal, tmp_path, players, capsys)
    assert state.phase == "new"
    assert said == f"match {old} of Zoe, Yan, Xu stays open; the console can take it up again\n"
    assert program(journal, tmp_path, "").state.match_id == old  # nothing was written


def test_a_player_who_was_renamed_may_still_be_given_by_either_name(journal, tmp_path, capsys):
    session = program(journal, tmp_path, "")
    session.command(RenamePlayer("Yan", "Jan", "Eva"))
    for players in (["Zoe", "Yan", "Xu"], ["Zoe", "Jan", "Xu"]):
        assert started(journal, tmp_path, players, capsys)[0].phase == "card_drawn"


def test_the_new_match_goes_on_after_a_restart_and_the_console_offers_the_old_one(journal, tmp_path):
    (old,) = journal.matches()
    with running_session(equipment(journal, tmp_path), ["Kim", "Leo"]) as session:
        session.create_match(["Kim", "Leo"], seed=1)
    again = program(journal, tmp_path, "")
    assert again.state.players == ("Kim", "Leo") and [row["id"] for row in again.older()] == [old]
    again.take_up(old)
    assert again.state.card_id == "L01"


def test_practice_takes_up_no_match(journal, tmp_path, capsys):
    state, said = started(journal, tmp_path, (), capsys)
    assert state.phase == "new" and "stays open" in said


@pytest.mark.slow
def test_practice_after_a_demo_in_the_same_folder_practises(tmp_path):
    demo = ["demo", "--headless", "--fast", "--duels", "1", "--seed", "1"]
    practice = ["practice", "--simulated", "--headless", "--fast", "--builds", "1", "--seed", "1"]
    for words in (demo, practice):
        done = subprocess.run([*REFEREE, *words], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "going on" not in done.stdout and "practising: Ann" in done.stdout


def test_run_refuses_names_beside_a_match_that_has_its_own():
    said = CliRunner().invoke(cli, ["run", "--match", "m1", "--players", "Ann,Ben"])
    assert said.exit_code == 2 and "leave --players out" in said.output


def test_a_tower_game_goes_on_for_its_own_players_only(tmp_path, capsys):
    with closing(Journal(tmp_path / "games.db")) as record:
        game, clock = "tower_bets", SystemClock()
        for n, names in enumerate((["Zoe", "Yan", "Xu"], ["Kim", "Leo", "Mia"])):
            assert resume_game(record, clock, game, names) is None
            GameTable.begun(record, clock, game, game_named(game).setup(names, {}, n))
        first, second = game_matches(record)
        assert f"{first} stays open: --players Zoe,Yan,Xu goes on with it\n" == capsys.readouterr().out
        assert resume_game(record, clock, game, ["yan", "Xu", "Zoe"]).match.match_id == first
        assert "going on with" in capsys.readouterr().out
        assert resume_game(record, clock, game, None).match.match_id == second
