"""A match out of the record, in every format, through the command line."""

from __future__ import annotations

import csv
import io
import json
from contextlib import closing

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.core import seed_hash
from referee.journal.journal import Journal
from referee.match.commands import DrawCard, NextDuel, Overrule


@pytest.fixture
def played(table, tmp_path):
    """Two matches in a journal: one finished, one with an overruling, a void duel and odd names."""
    path = tmp_path / "journal.db"
    whole, half = table(2), table(["=2+3", "<b>Çağla</b>", "木村"])
    whole.play_on(lambda s: "Ann" if s.duel_index else "Ben")
    half.duel("A", findings=("bumped",))
    half.duel("A")
    half.do(Overrule("mismatch", "Ref", "the bridge leant"), NextDuel(), DrawCard())
    with closing(Journal(path)) as journal:
        journal.append("whole", whole.log)
        journal.append("half", half.log)
    return path


def exported(path, *arguments):
    said = CliRunner().invoke(cli, ["export", *arguments, "--journal", str(path)])
    assert said.exit_code == 0, said.output
    return said.output


def test_without_a_match_the_record_is_listed(played):
    lines = exported(played).splitlines()
    assert lines[0].split()[:3] == ["whole", "2026-01-01T00:00", "finished"]
    assert lines[1].startswith("half  2026-01-01T00:00  card_drawn  =2+3, ")


def test_json_has_the_state_every_event_and_the_head(played):
    data = json.loads(exported(played, "whole"))
    assert data["match"]["winner"] == "Ann"
    assert data["head"] == {"seq": data["events"][-1]["seq"], "hash": data["events"][-1]["hash"]}
    assert data["events"][0]["data"]["rules"]["tie_window_ms"] == 5.0


def test_csv_has_a_row_per_attempt_and_no_formula(played):
    rows = list(csv.DictReader(io.StringIO(exported(played, "half", "--format", "csv"))))
    assert [r["attempt"] + " " + r["ruled_by"] for r in rows] == ["1 camera", "2 human"]
    assert rows[0]["award"] == ""
    assert rows[1]["verdict_a"] == "match"
    assert "'=2+3" in rows[0].values()


@pytest.mark.parametrize("form", ["html", "sheet"])
def test_the_seed_is_told_when_no_card_is_to_come_and_its_hash_from_the_beginning(played, form):
    hashed = f"SHA-256 of the seed {seed_hash(3)}"
    assert f"Seed 3. {hashed}" in exported(played, "whole", "--format", form)
    half = exported(played, "half", "--format", form)
    assert "Seed 3" not in half and hashed in half


def test_json_of_an_unfinished_match_holds_no_seed_no_pile_and_no_hidden_card(played):
    """``half`` stands between draw and go."""
    data = json.loads(exported(played, "half"))
    assert data["events"] == [] and list(data["head"]) == ["seq"]
    assert (data["match"]["seed"], data["match"]["seed_hash"]) == (None, seed_hash(3))
    assert data["match"]["card_id"] is None and data["match"]["duel"]["card_id"] is None
    assert isinstance(data["match"]["piles"]["cards"], int)


@pytest.mark.parametrize("form", ["html", "sheet"])
def test_no_hash_is_printed_while_a_card_is_hidden(played, form):
    assert "last hash" not in exported(played, "half", "--format", form)


@pytest.mark.parametrize("form", ["html", "sheet"])
def test_html_is_one_inert_page(played, form):
    page = exported(played, "half", "--format", form)
    assert page.startswith("<!doctype html>")
    assert "<b>Ç" not in page
    assert "&lt;b&gt;Çağla&lt;/b&gt;" in page
    assert "木村" in page
    for outside in ("http:", "https:", "src=", "<script"):
        assert outside not in page


def test_the_result_names_the_deciding_duel(played):
    match = json.loads(exported(played, "whole"))["match"]
    said = f"Ann wins with {match['scores']['Ann']} points; duel {match['result']['deciding_duel']}"
    assert said in exported(played, "whole", "--format", "html")


def test_the_score_sheet_has_a_row_for_every_duel_played_or_to_come(played, tmp_path):
    """Three players: 18 duels, one of them played, and a void attempt; four lines to sign."""
    exported(played, "half", "--format", "sheet", "-o", str(tmp_path / "sheet.html"))
    page = (tmp_path / "sheet.html").read_text(encoding="utf-8")
    main, signs = page.split("</table>")[:2]
    assert main.count("<tr>") == 1 + 18 + 1
    assert signs.count("signed") == 4


def test_a_simulated_match_says_so(table, tmp_path):
    from dataclasses import replace

    with closing(Journal(tmp_path / "journal.db")) as journal:
        journal.append("m", [replace(e, simulated=True) for e in table(2).log])
    for form in ("html", "sheet"):
        assert "SIMULATED" in exported(tmp_path / "journal.db", "m", "--format", form)


@pytest.mark.parametrize(
    "arguments, message",
    [(["export", "nope"], "no match 'nope'"), (["export", "whole", "-o", "/nowhere/x.json"], "/nowhere/x.json")],
)
def test_what_is_not_there_is_one_clear_line(played, arguments, message):
    said = CliRunner().invoke(cli, [*arguments, "--journal", str(played)])
    assert message in str(said.exception)


def test_reading_makes_no_journal(tmp_path):
    said = CliRunner().invoke(cli, ["export", "m", "--journal", str(tmp_path / "none.db")])
    assert "no such journal" in str(said.exception)
    assert list(tmp_path.iterdir()) == []
