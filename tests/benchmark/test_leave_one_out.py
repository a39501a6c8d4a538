"""Sessions ruled by what other sessions taught, on scores made up to teach a known thing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from made_scores import drawn

from referee.benchmark.fit import fit_trust, leave_sessions_out, lessons_of, with_trust
from referee.benchmark.report import left_out_lines
from referee.benchmark.scoring import ZoneScore
from referee.commands.bench import bench
from referee.vision.verdict.trust import Guarantee, Trust

NONE = Guarantee(0.01, 0.05, 0, 0, 0)
STERN = {r: Trust(0.0, {"margin": 1.0}, 0.95, 0.999, NONE) for r in ("match", "mismatch")}
MILD = {r: Trust(0.0, {"margin": 1.0}, 0.70, 0.999, NONE) for r in ("match", "mismatch")}


def den_and_hall() -> list[ZoneScore]:
    rng = np.random.default_rng(3)
    return [s for k in range(6) for s in drawn(rng, 150, f"room{k}", slope=2.0)]


def test_a_session_teaches_nothing_about_itself():
    """What rules a session is what the others alone would have taught."""
    scores = den_and_hall()
    careless = drawn(np.random.default_rng(5), 300, "careless", slope=0.1)
    held_out = leave_sessions_out(scores + careless)
    assert held_out["careless"][0] == fit_trust(lessons_of(scores))
    assert held_out["room0"][0] != fit_trust(lessons_of(scores))


def test_features_rule_by_the_trust_given():
    near = drawn(np.random.default_rng(1), 1, "s", slope=1.0, at=1.5)[0]
    assert with_trust(near, MILD).ruling == "match"
    doubted = with_trust(near, STERN)
    assert (doubted.ruling, doubted.leaning) == ("undecided", "match")
    assert doubted.confidence == pytest.approx(1 / (1 + np.exp(-1.5)))
    assert with_trust(doubted, MILD).ruling == "match"


def test_what_no_feature_decides_stays():
    hidden = drawn(np.random.default_rng(1), 1, "s", slope=1.0, at=9.0, by_margin=False)[0]
    assert with_trust(hidden, MILD) is hidden


def test_each_session_has_its_line():
    lines = left_out_lines(leave_sessions_out(den_and_hall()))
    assert [line.split()[0] for line in lines[1:7]] == [f"room{k}" for k in range(6)]
    assert all(line.split()[3] == "150" for line in lines[1:7])


def test_one_session_cannot_be_left_out():
    alone = Path(__file__).parents[2] / "referee" / "example" / "sessions" / "village"
    done = CliRunner().invoke(bench, [str(alone), "--leave-one-out"])
    assert done.exit_code == 2
    assert "sessions" in done.output


def test_lessons_of_elsewhere_teach_and_what_is_judged_does_not():
    lessons = lessons_of(den_and_hall()[50:])
    held_out = leave_sessions_out(den_and_hall(), lessons=lessons)
    assert held_out["room0"][0] == fit_trust([lesson for lesson in lessons if lesson.session != "room0"])
