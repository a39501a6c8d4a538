"""Practice before the real eyes at the simulated table: the finish is seen when it comes, and never before."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from practised import WAYS, finished, practise
from staged import DECK, rig

OFF_S = 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "card", "zone"), [("straight", "L05", "A"), ("pausing", "H03", "B"), ("erring", "L12", "A")]
)
def test_a_build_is_finished_when_its_last_piece_stands(way, card, zone, tmp_path):
    assert way in WAYS
    done = practise(rig(3, "across"), zone, DECK.card(card), way, 5, tmp_path)
    result = done.practice.results[-1]
    assert (result.ruling, result.by) == ("match", "camera")
    assert done.ended_s > done.truth_s and abs(result.seconds - done.truth_s) < OFF_S


@pytest.mark.slow
@pytest.mark.parametrize("shot", range(3))
def test_a_row_of_pipes_in_order_is_no_wrong_one(shot):
    """Many exchanges of two pipes have the card's pieces; the one that puts them in order must be among those tried."""
    at = rig(3, "across")
    picture = at.picture(finished(at, "B", DECK.card("P04"), "straight", 9), shot)
    verdict = at.observer.judge([picture], DECK.card("P04")).zones["B"]
    assert verdict.ruling == "match", verdict.reasons


@pytest.mark.slow
def test_the_program_practises_by_itself_and_keeps_what_was_built(tmp_path):
    program = [sys.executable, "-c", "from referee.cli import main; main()", "practice", "--simulated", "--fast"]
    args = ["--players", "Ann,Ben", "--builds", "2", "--seed", "4", "--headless", "--data-dir", str(tmp_path / "d")]
    done = subprocess.run([*program, *args], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("SIMULATED") and "practising: Ann, Ben" in lines
    assert len([line for line in lines if re.match(r"(Ann|Ben) .*(\d s by camera|no time)", line)]) >= 2
    assert (tmp_path / "d" / "simulated" / "practice.db").exists()


def test_the_help_says_who_can_practise(referee):
    done = referee("practice", "--help")
    assert done.returncode == 0 and "--simulated" in done.stdout and "One name or two" in done.stdout
