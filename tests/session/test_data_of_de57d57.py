"""A data folder and a house-rule file that revision de57d57 wrote open, play on and are judged again today.

``golden/data_of_de57d57`` is what that revision's ``demo --fast --fps 5 --duels 3 --seed 6 --players Ann,Ben,Cem
--rules house_rules.toml`` left: the journal with its second copy, the archive's index and the third attempt. To keep it
small its table was drawn 360 lines high in sixteen steps of each colour; the first two attempts and the verdicts'
pictures were left out. The rule file is that revision's ``referee rules`` with six settings changed.
"""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.devices.ports import SystemClock
from referee.journal.journal import Journal
from referee.match.commands import DrawCard, HumanRuling, NextDuel, Ready
from referee.match.evolve import fold
from referee.match.house_rules import DEFAULT_RULES, load_rules
from referee.recording import Recorder
from referee.recording.index import Index

WRITTEN = Path(__file__).parents[1] / "golden" / "data_of_de57d57"
MATCH = "20261125-130141-1"
ATTEMPT = f"{MATCH}-003"


@pytest.fixture
def data(tmp_path):
    """A copy of the folder, to be changed."""
    return Path(shutil.copytree(WRITTEN, tmp_path / "data"))


def referee(*words) -> str:
    """What a command prints that ends well."""
    result = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_house_rules_are_read_and_are_those_that_the_match_is_played_by(data):
    rules = load_rules(data / "house_rules.toml")
    changed = {name: value for name, value in vars(rules).items() if value != getattr(DEFAULT_RULES, name)}
    assert changed == {
        "duels_per_round": 4,
        "tie_window_ms": 8.0,
        "foul_watch": "proposes",
        "time_limit_s": 600.0,
        "tie_of_many": "shared",
        "depth_right_mm": 38.0,
    }
    with closing(Journal(data / "journal.db", reading=True)) as journal:
        assert fold(journal.events(MATCH)).rules == rules


def test_the_journal_is_sound_and_says_how_the_match_stands(data):
    assert f"{MATCH}: 27 events, sound" in referee("journal", "verify", "-j", data / "journal.db")
    with closing(Journal(data / "journal.db")) as journal:
        state = fold(journal.events(MATCH))
    assert (state.phase, state.scores) == ("decided", {"Ann": 3, "Ben": 0, "Cem": 6})
    assert [(d.number, d.card_id, d.award, d.reason) for d in state.history] == [
        (1, "P03", "Cem", "right"),
        (2, "S09", "Cem", "right"),
        (3, "P01", "Ann", "false_stop"),
    ]
    exported = referee("export", MATCH, "-j", data / "journal.db", "--format", "csv")
    assert "P01" in exported and "Cem" in exported


def test_a_lost_journal_comes_back_from_its_second_copy(data):
    with closing(Journal(data / "journal.db", reading=True)) as journal:
        events = journal.events(MATCH)
    (data / "journal.db").write_bytes(b"")
    referee("journal", "salvage", data / "journal.db", data / "salvaged.db")
    with closing(Journal(data / "salvaged.db", reading=True)) as journal:
        assert journal.events(MATCH) == events


def test_the_match_is_played_on(data, at_table, until):
    journal, recorder = Journal(data / "journal.db"), Recorder(data / "attempts", SystemClock())
    rules = load_rules(data / "house_rules.toml")
    with (
        closing(journal),
        closing(recorder),
        at_table(journal=journal, recorder=recorder, rules=rules, data_dir=data) as (session, _),
    ):
        assert (session.state.match_id, session.state.phase, session.state.rules) == (MATCH, "decided", rules)
        session.command(NextDuel())
        session.command(DrawCard("L01"))
        session.command(Ready())
        until(lambda: not session.fields())
        session.go()
        time.sleep(1.1)
        session.press("A")
        session.command(HumanRuling("match", "Eva", "as it stands"))
        assert (session.state.duel.number, session.state.scores["Ann"]) == (4, 4)
    assert "sound" in referee("journal", "verify", "-j", data / "journal.db")
    with closing(Index(data / "attempts")) as index:
        assert index.refresh() == 0
        assert [folder.name for n in (3, 4) for folder in index.of_duel(MATCH, n)] == [ATTEMPT, f"{MATCH}-004"]


@pytest.mark.slow
def test_the_demo_goes_on_with_the_match(data):
    said = referee("demo", "--fast", "--headless", "--duels", 4, "--data-dir", data, "--seed", 6)
    assert "duel 4: " in said
    attempts = [data / "attempts" / name for name in (ATTEMPT, f"{MATCH}-004")]
    whole = referee("verify", *attempts, "--journal", data / "journal.db")
    assert [line.split()[0] for line in whole.splitlines()] == [path.name for path in attempts]


def test_the_attempt_is_whole_and_sealed(data):
    said = referee("verify", data / "attempts" / ATTEMPT, "--journal", data / "journal.db")
    assert said.startswith(f"{ATTEMPT}  whole, sealed by event 27 of match {MATCH}")


@pytest.mark.parametrize("how", ["--stored", "--look"])
def test_the_attempt_is_judged_again_with_the_same_result(data, tmp_path, how):
    rules = data / "house_rules.toml"
    said = referee("rejudge", data / "attempts", how, "--rules", rules, "-j", 1, "-o", tmp_path / "again")
    assert "1 attempts, 0 changed, 0 cards moved, 0 not judged" in said
