"""A game on the terminal: on record, taken up after a kill, told and replayed command by command."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import urllib.request

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.devices.ports import SystemClock
from referee.errors import IllegalCommand, JournalUnwritable
from referee.games.catalogue import GAMES
from referee.games.core import GameCommand
from referee.games.match import UndoMove, fold
from referee.journal.journal import Journal
from referee.session.game_table import GameTable, game_matches
from referee.simulator.city_camera import next_command
from referee.web.i18n.texts import LANGUAGES, catalogue, command_sentence

REFEREE = [sys.executable, "-c", "from referee.cli import main; main()"]


def run(*arguments: object) -> str:
    """What ``referee …`` says."""
    done = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def journal(tmp_path):
    opened = Journal(tmp_path / "journal.db")
    yield opened
    opened.close()


def begun(journal, game="city_towers", seed=3):
    setup = GAMES[game].setup(["Ann", "Ben"], {}, seed)
    return GameTable.begun(journal, SystemClock(), game, setup, simulated=True)


@pytest.mark.parametrize("game", GAMES)
def test_a_demo_plays_a_whole_game_marked_simulated_and_the_record_tells_it_again(game, tmp_path):
    told = run("demo", "--game", game, "--fast", "--players", 3, "--seed", 5, "--data-dir", tmp_path)
    assert told.startswith("SIMULATED") and "winner: " in told
    listed = run("game", "list", "--data-dir", tmp_path)
    assert game in listed and "SIMULATED winner: " in listed
    replayed = run("game", "replay", "--data-dir", tmp_path)
    assert "SIMULATED Ann, Ben, Cem, seed 5" in replayed
    assert replayed.splitlines()[1:] == told.splitlines()[2:]


def test_a_demo_of_an_unknown_game_or_with_too_many_players_is_refused_in_one_line(referee, tmp_path):
    assert run("game", "list", "--data-dir", tmp_path) == "no game is on record\n"
    for arguments, said_so in ((["chess"], "no game 'chess'"), (["city_towers", "--players", "7"], "from 2 to 4")):
        done = referee("demo", "--game", *arguments, "--data-dir", tmp_path)
        assert done.returncode == 2 and said_so in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_demo_shows_its_board_and_what_its_simulated_camera_proposes(tmp_path):
    """In a process of its own, at its usual pace until the first round has been looked at."""
    command = [*REFEREE, "demo", "--game", "city_towers", "--players", "2", "--seed", "1", "--data-dir", str(tmp_path)]
    with subprocess.Popen([*command, "--no-browser", "--port", "0"], stdout=subprocess.PIPE, text=True) as demo:
        try:
            told = []
            for line in demo.stdout:
                told.append(line)
                if "board: " in line:
                    with urllib.request.urlopen(line.split()[1]) as page:
                        assert "SIMULATED" in page.read().decode()
                if "camera (SIMULATED" in line:
                    break
        finally:
            demo.kill()
    assert any("board: " in line for line in told)
    assert "5 pictures" in told[-1] and told[-1].endswith(": as played\n")


def test_a_replay_of_nothing_says_so(tmp_path):
    for arguments in ([], ["m1"]):
        done = CliRunner().invoke(cli, ["game", "replay", *arguments, "--data-dir", str(tmp_path)])
        assert "no game is on record" in str(done.exception)


def test_the_house_rules_are_printed_as_a_file_that_reads_back(tmp_path):
    import tomllib

    for name, game in GAMES.items():
        file = tomllib.loads(run("game", "rules", name))
        assert game.setup(["A", "B"], file, 0).rules == game.rules()


@pytest.mark.slow
def test_a_killed_game_goes_on_and_ends_as_if_nothing_had_happened(tmp_path):
    """kill -9 in the middle; the computer players choose alike for the same state, so the end is the same."""
    whole = run("demo", "--game", "tower_bets", "--fast", "--seed", 8, "--data-dir", tmp_path / "whole")
    command = [*REFEREE, "demo", "--game", "tower_bets", "--seed", "8", "--data-dir", str(tmp_path / "cut")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        told = []
        for line in program.stdout:
            told.append(line.rstrip("\n"))
            if line.startswith("   5 "):
                break
        program.send_signal(signal.SIGKILL)
    time.sleep(0.1)
    rest = run("demo", "--game", "tower_bets", "--fast", "--seed", 8, "--data-dir", tmp_path / "cut")
    kept = int(rest.split("behind command ")[1].split(":")[0])
    assert kept >= 5
    assert rest.splitlines()[-1] == whole.splitlines()[-1]
    assert f"{kept + 1:4d} " in rest and f"\n{kept:4d} " not in rest


def test_what_a_command_led_to_is_on_record_before_it_counts(journal):
    table = begun(journal)
    command = next_command(table.match)
    table.command(command, "Ann")
    assert fold(journal.events(table.match.match_id)) == table.match
    assert game_matches(journal) == {table.match.match_id: "city_towers"}


def test_a_refused_command_leaves_record_and_match_alone(journal):
    table = begun(journal)
    before = table.match
    with pytest.raises(IllegalCommand):
        table.command(UndoMove("Ref"))
    assert table.match == before and len(journal.events(before.match_id)) == 1


def test_a_command_that_cannot_be_kept_changes_nothing(journal):
    table, other = begun(journal), None
    other = GameTable(journal, SystemClock(), table.match)
    other.command(next_command(other.match))
    before = table.match
    with pytest.raises(JournalUnwritable, match="another program writes to it"):
        table.command(next_command(table.match))
    assert table.match == before


def test_listeners_hear_the_match_and_the_events(journal):
    table, heard = begun(journal), []
    table.listen(lambda match, events: heard.append((match.seq, [event.kind for event in events])))
    table.command(next_command(table.match))
    assert heard == [(table.version, ["asked", "stones_picked"])]


def test_computer_players_choose_the_same_in_the_same_match_and_only_what_is_legal(journal):
    table = begun(journal)
    for _ in range(40):
        command = next_command(table.match)
        assert command == next_command(table.match)
        assert command in table.match.legal(command.seat)
        table.command(command)
    over = begun(journal, "tower_bets")
    while (command := next_command(over.match)) is not None:
        over.command(command)
    assert over.match.over and not over.match.legal(0)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_game_and_command_has_words_in_both_languages(lang):
    texts = catalogue(lang)
    wanted = [f"game.name.{name}" for name in GAMES]
    wanted += [f"game.said.{kind.NAME}" for game in GAMES.values() for kind in game.commands]
    assert [key for key in wanted if key not in texts] == []


def test_a_command_in_words_names_players_and_cards():
    steal = {"command": "StealStorey", "seat": 0, "card": "3", "victim": 1, "steal": "joker"}
    assert command_sentence("en", steal, ["Ann", "Ben"]) == "Ann steals the joker of Ben with the 3"
    assert command_sentence("de", steal, ["Ann", "Ben"]) == "Ann stiehlt Ben die Karte Joker zu einer 3"
    buy = {"command": "Buy", "seat": 0, "place": 2, "pay": ["b3", "b4"], "give": True}
    assert (
        command_sentence("en", buy, ["Ann", "Ben"])
        == "Ann buys the building at place 2 for b3 b4 for the passive owner"
    )
    assert command_sentence("en", buy | {"give": False}, ["Ann", "Ben"]).endswith("for b3 b4")
    assert issubclass(GAMES["city_towers"].commands[0], GameCommand)
