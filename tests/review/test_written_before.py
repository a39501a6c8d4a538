"""What the version before 0.2 (commit a43dec6) has written still opens, folds and is judged again.

``golden/before_0_2`` holds its journal of a match with two decided duels, a press too early, one too late, a foul
and an overruling, and the attempt folder of the first duel: simulated table, 360 lines, one judged frame.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.errors import JournalDamaged, JournalUnwritable
from referee.journal.journal import Journal
from referee.match.commands import NextDuel
from referee.match.decide import decide
from referee.match.duel import StopPress
from referee.match.evolve import evolve, fold
from referee.match.house_rules import DEFAULT_RULES
from referee.recording import load_attempt
from referee.recording.address import AttemptSource
from referee.recording.folder import sha256
from referee.review.options import RejudgeOptions
from referee.review.rejudge import judge_again

BEFORE = Path(__file__).parents[1] / "golden" / "before_0_2"


@pytest.fixture
def events(tmp_path):
    """The events of the old journal, read from a copy of it."""
    shutil.copy(BEFORE / "journal.db", tmp_path / "journal.db")
    with closing(Journal(tmp_path / "journal.db")) as journal:
        return journal.events(journal.matches()[-1])


def test_an_old_journal_folds_to_the_state_it_stood_for(events):
    state = fold(events)
    assert state.scores == {"Ann": 2, "Ben": 0} and state.phase == "decided"
    assert [(d.number, d.award, d.reason) for d in state.history] == [(1, "Ann", "right"), (2, "Ann", "overruled")]
    assert [f.wording.text for f in state.fouls] == ["shook the table"]
    assert json.loads(json.dumps(state.to_json()))["scores"] == state.scores


def as_it_is(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file of a folder with its digest and when it was changed."""
    return {p.name: (sha256(p), p.stat().st_mtime_ns) for p in sorted(folder.iterdir())}


@pytest.fixture
def old(tmp_path):
    """A folder with the old journal alone."""
    folder = tmp_path / "archive"
    folder.mkdir()
    shutil.copy(BEFORE / "journal.db", folder / "journal.db")
    return folder


def test_reading_an_old_journal_leaves_it_as_it_is(old):
    before = as_it_is(old)
    with closing(Journal(old / "journal.db", reading=True)) as journal:
        [match] = journal.matches()
        assert journal.matches("") == [match] and journal.matches("another table") == []
        assert journal.verify() == {match: 20}
        with pytest.raises(JournalUnwritable):
            journal.append(match, journal.events(match)[:1])
        assert as_it_is(old) == before
    assert as_it_is(old) == before
    with closing(Journal(old / "journal.db")) as written:
        assert written.matches() == [match] and written.matches("") == [match]
    assert as_it_is(old)["journal.db"] != before["journal.db"]  # a program that plays on adds what it needs


@pytest.mark.parametrize(
    "command",
    [
        ["journal", "verify", "-j", "{journal}"],
        ["export", "-j", "{journal}"],
        ["verify", "{attempt}", "--journal", "{journal}"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_the_commands_that_read_a_journal_leave_it_as_it_is(old, command):
    before = as_it_is(old)
    [attempt] = [p.parent for p in BEFORE.rglob("attempt.json")]
    said = CliRunner().invoke(cli, [word.format(journal=old / "journal.db", attempt=attempt) for word in command])
    assert not said.exception or isinstance(said.exception, SystemExit), said.output
    assert said.output and as_it_is(old) == before


def test_a_journal_that_is_being_written_is_read_as_it_stands(old):
    """What the program that holds it open has said last is read from its log; nothing is taken from under it."""
    with closing(Journal(old / "journal.db")) as playing:
        [match] = playing.matches()
        last = playing.events(match)[-1]
        for more in (1, 2):
            playing.append(match, [last])
            with closing(Journal(old / "journal.db", reading=True)) as read:
                assert read.verify() == {match: 20 + more}
        assert playing.verify() == {match: 22}


def test_a_file_that_is_no_journal_gets_no_tables_from_being_read(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as made:
        made.execute("CREATE TABLE things (name TEXT)")
    before = as_it_is(tmp_path)
    with pytest.raises(JournalDamaged, match="no journal"):
        Journal(tmp_path / "other.db", reading=True)
    assert as_it_is(tmp_path) == before


def test_the_presses_of_an_old_journal_are_presses(events):
    presses = fold(events).history[0].presses
    assert [(p.zone, p.why, p.callers) for p in presses] == [
        ("B", "too_early", ()),
        ("A", "", ("A",)),
        ("B", "late", ()),
    ]
    assert all(isinstance(p, StopPress) and p.elapsed_s > 0 for p in presses)
    written = [e.data for e in events if e.kind in ("stop", "press_noted")][:3]
    assert [p.to_json() for p in presses] == [dict(row) for row in written]


def test_an_old_match_goes_on(events):
    state = fold(events)
    for event in decide(state, NextDuel(), "2026-01-01T00:00:00+00:00"):
        state = evolve(state, event)
    assert state.phase == "idle" and state.duel.number == 3


def test_an_old_match_keeps_the_rules_it_was_played_by(events):
    recorded = fold(events).rules
    assert recorded.duels_per_round == DEFAULT_RULES.duels_per_round
    assert recorded.judged_view == "settled"


def test_an_old_attempt_is_whole_and_applying_the_rules_to_it_again_changes_nothing():
    attempt = load_attempt(BEFORE / "attempt")
    assert attempt.problems() == [] and attempt.caller == "A" and attempt.card.id == "L09"
    row = judge_again(AttemptSource(str(BEFORE / "attempt")), RejudgeOptions(look=False))
    assert row["problem"] is None and not row["changed"]
    assert (row["award_was"], row["award_now"]) == ("Ann", "Ann")


@pytest.mark.slow
def test_an_old_attempt_is_looked_at_again():
    row = judge_again(AttemptSource(str(BEFORE / "attempt")), RejudgeOptions())
    assert row["problem"] is None
    assert row["zones"]["A"]["now"]["verdict"] in ("match", "undecided")
