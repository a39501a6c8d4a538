"""What the version before 0.2 (commit a43dec6) has written still opens, folds and is judged again.

``golden/before_0_2`` holds its journal of a match with two decided duels, a press too early, one too late, a foul
and an overruling, and the attempt folder of the first duel: simulated table, 360 lines, one judged frame.
"""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from referee.journal.journal import Journal
from referee.match.decide import NextDuel, decide, evolve, fold
from referee.match.duel import StopPress
from referee.match.house_rules import DEFAULT_RULES
from referee.recording import load_attempt
from referee.review.options import Options
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
    assert [f["text"] for f in state.fouls] == ["shook the table"]
    assert json.loads(json.dumps(state.to_json()))["scores"] == state.scores


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
    row = judge_again(str(BEFORE / "attempt"), Options(look=False))
    assert row["problem"] is None and not row["changed"]
    assert (row["award_was"], row["award_now"]) == ("Ann", "Ann")


@pytest.mark.slow
def test_an_old_attempt_is_looked_at_again():
    row = judge_again(str(BEFORE / "attempt"), Options())
    assert row["problem"] is None
    assert row["zones"]["A"]["now"]["verdict"] in ("match", "undecided")
