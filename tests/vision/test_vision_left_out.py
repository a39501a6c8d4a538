"""Sessions ruled by what other sessions taught, on margins made up to teach a known thing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from referee.commands.bench import bench, left_out_lines
from referee.vision.decide import MARGIN_SCALE, SURE, confidence_of
from referee.vision.left_out import fitted_scale, left_out, ruled
from referee.vision.scoring import ZoneScore


def score(session: str, margin: float, right: bool = True, by_margin: bool = True, ruling: str = "match") -> ZoneScore:
    truth = ruling if right else "mismatch"
    return ZoneScore(
        f"{session}/duel_00.jpg",
        "A",
        "H01",
        "height",
        truth,
        "",
        ruling,
        0.9,
        None,
        (),
        3,
        3,
        (),
        True,
        1,
        1,
        0.3,
        0.3,
        0.05,
        margin,
        1.0,
        by_margin,
    )


def drawn(scale: float, n: int, session: str = "s") -> list[ZoneScore]:
    """Margins up to 1200 nats, right as often as this scale says they are."""
    rng = np.random.default_rng(11)
    return [score(session, m, rng.random() < 1 / (1 + np.exp(-m / scale))) for m in rng.uniform(10, 1200, n)]


@pytest.mark.parametrize("scale", [90.0, 250.0])
def test_the_scale_that_made_the_margins_is_found(scale):
    assert fitted_scale(drawn(scale, 3000)) == pytest.approx(scale, rel=0.25)


def test_a_session_teaches_nothing_about_itself():
    """The careless one is ruled by the careful ones, and they by it."""
    careful, careless = drawn(60.0, 500, "careful"), drawn(400.0, 500, "careless")
    held_out = left_out(careful + careless)
    assert held_out["careless"][0] == fitted_scale(careful) < fitted_scale(careless) == held_out["careful"][0]


def test_a_margin_rules_by_the_scale_given():
    near = score("s", 200.0)
    assert ruled(near, 100.0).ruling == "match"
    doubted = ruled(near, 400.0)
    assert (doubted.ruling, doubted.leaning) == ("undecided", "match")
    assert doubted.confidence == confidence_of(200.0, 1.0, 400.0) < SURE
    assert ruled(doubted, 100.0).ruling == "match"


def test_what_no_margin_decides_stays():
    hidden = score("s", 5000.0, by_margin=False, ruling="undecided")
    assert ruled(hidden, MARGIN_SCALE) is hidden


def test_each_session_has_its_line():
    lines = left_out_lines(left_out([*drawn(100.0, 40, "den"), *drawn(100.0, 60, "hall")]))
    assert [line.split()[0] for line in lines[1:]] == ["den", "hall"]
    assert [int(line.split()[2]) for line in lines[1:]] == [40, 60]


def test_one_session_cannot_be_left_out():
    alone = Path(__file__).parents[1] / "golden" / "sessions" / "village"
    done = CliRunner().invoke(bench, [str(alone), "--leave-one-out"])
    assert done.exit_code == 2
    assert "two sessions" in done.output
