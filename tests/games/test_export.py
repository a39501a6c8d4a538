"""A tower game out of the record: json, csv, html, a sheet; and out of a record that is damaged."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.devices.ports import SystemClock
from referee.games.catalogue import GAMES
from referee.games.match import UndoMove, fold
from referee.journal.journal import Journal
from referee.session.game_table import GameTable
from referee.simulator.city_camera import next_command

NAMES = ("=Ann()", "<b>Ben</b>", "Cem")


def played(folder, game, commands=None):
    """A record with a game of so many commands, one taken back; to its end without a number. (file, match)"""
    path = folder / "journal.db"
    journal = Journal(path)
    table = GameTable.begun(journal, SystemClock(), game, GAMES[game].setup(NAMES, {}, 5), simulated=True)
    while (command := next_command(table.match)) is not None and len(table.match.played) != commands:
        table.command(command, table.match.state.name(command.seat))
        if len(table.match.played) == 8 and not table.match.changes:
            table.command(UndoMove("Ref", "too <soon>"), "Ref")
    journal.close()
    return path, table.match


def export(path, *arguments) -> str:
    done = CliRunner().invoke(cli, ["export", *arguments, "--journal", str(path)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_exported_in_every_format(game, tmp_path):
    path, match = played(tmp_path, game)
    whole = json.loads(export(path, match.match_id))
    assert whole["match"]["standings"] == [row.__dict__ for row in match.standings]
    assert whole["head"]["seq"] == len(whole["events"]) == match.seq and whole["events"][0]["kind"] == "game_begun"
    moves, _, panel = export(path, match.match_id, "--format", "csv").partition("\n\n")
    head, *lines = csv.reader(io.StringIO(panel))
    assert head == ["scoring", "of", "owner", "how_many", "rank", "shared_by", "points"]
    assert sum(int(row[-1]) for row in lines) == sum(match.game.scores(match.state))
    assert len(lines) == sum(len(of["rows"]) for scoring in match.view(None)["scored"] for of in scoring["lines"])
    head, *rows = csv.reader(io.StringIO(moves))
    assert head == ["number", "move", "entered_by", "'=Ann()", "<b>Ben</b>", "Cem"]
    assert len(rows) == len(match.played) and [int(p) for p in rows[-1][3:]] == list(match.game.scores(match.state))
    assert not any(cell.startswith("=") for row in rows for cell in row)
    for form in ("html", "sheet"):
        page = export(path, match.match_id, "--format", form)
        assert "SIMULATED" in page and " won." in page and whole["head"]["hash"] in page
        assert "too &lt;soon&gt;" in page and "<b>Ben" not in page
        points = re.findall(r"<tr>(?:<td>[^<]*</td>){6}<td>(\d+)</td></tr>", page.partition("shared by")[2])
        assert sum(map(int, points)) == sum(match.game.scores(match.state))
    assert page.count("signed") == len(NAMES) + 1


@pytest.mark.parametrize("form", ["html", "sheet"])
def test_the_seed_is_told_when_the_game_is_over(form, tmp_path):
    (tmp_path / "half").mkdir()
    whole, match = played(tmp_path, "tower_bets")
    assert "Seed 5. SHA-256 of the seed" in export(whole, match.match_id, "--format", form)
    half, match = played(tmp_path / "half", "tower_bets", 9)
    assert "Seed" not in export(half, match.match_id, "--format", form)


def test_the_record_lists_its_games(tmp_path):
    path, match = played(tmp_path, "tower_bets", 9)
    assert export(path).split() == [match.match_id, match.state.phase, "=Ann(),", "<b>Ben</b>,", "Cem", "SIMULATED"]
    assert "Not finished: 9 moves" in export(path, match.match_id, "--format", "html")


def test_a_game_that_nobody_has_moved_in_is_exported(tmp_path):
    path, match = played(tmp_path, "city_towers", 0)
    assert export(path, match.match_id, "--format", "csv").splitlines() == [
        "number,move,entered_by,'=Ann(),<b>Ben</b>,Cem",
        "",
        "scoring,of,owner,how_many,rank,shared_by,points",
    ]


def test_an_open_game_is_exported_without_deal_seed_picks_and_hash(tmp_path):
    path, match = played(tmp_path, "city_towers", 2)
    whole = json.loads(export(path, match.match_id))
    assert whole["events"] == [] and whole["head"] == {"seq": match.seq}
    assert [row["command"]["stones"] for row in whole["match"]["log"]] == [["?"] * 6] * 2
    for form in ("csv", "html", "sheet"):
        text = export(path, match.match_id, "--format", form)
        assert text.count("picks stones ? ? ? ? ? ?") == 2 and "hash" not in text and "Seed" not in text


def test_what_a_damaged_record_still_proves_of_a_game_is_salvaged_and_replays(tmp_path):
    path, match = played(tmp_path, "nine_sum_towers", 30)
    (tmp_path / "games").mkdir()
    target = tmp_path / "games" / "journal.db"
    with sqlite3.connect(path) as damaged:
        damaged.execute("UPDATE events SET line = substr(line, 1, 20) || '#' || substr(line, 22) WHERE seq = 40")
    damaged.close()
    told = CliRunner().invoke(cli, ["journal", "salvage", str(path), str(target)], catch_exceptions=False).output
    assert f"{match.match_id}: 39 of {match.seq} events kept" in told
    replayed = CliRunner().invoke(cli, ["game", "replay", "--data-dir", str(tmp_path)], catch_exceptions=False)
    assert replayed.exit_code == 0 and "   1 " in replayed.output
    on = run_on(target, match.match_id)
    assert len(on.played) > len(match.played) - 20 and on.over


def run_on(path, match_id):
    """The game of a record played to its end by computer players."""
    journal = Journal(path)
    table = GameTable(journal, SystemClock(), fold(journal.events(match_id)))
    while (command := next_command(table.match)) is not None:
        table.command(command)
    journal.close()
    return table.match
