"""By what law the bench of the freeze says that an award is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bench_freeze import AFTER, STAGINGS, Duel, drawn, is_wrong, row, table_of

OWN = "own hand knocks it over"


def test_an_own_hand_that_comes_after_the_judged_view_costs_no_card_and_no_neighbours_wins_one():
    assert is_wrong(OWN, "caller", after_the_view=False) and not is_wrong(OWN, "caller", after_the_view=True)
    assert not any(is_wrong(name, "human", after) for name in STAGINGS for after in (False, True))
    for name in (name for name, staging in STAGINGS.items() if staging.knocks):
        assert is_wrong(name, "other", after_the_view=True)  # the build was right in both views
        assert name == OWN or is_wrong(name, "other", after_the_view=False)


def test_every_duel_is_in_one_line_of_the_table():
    duel = {"staging": OWN, "whom": "caller", "wrong": False, "held up": False}
    told = table_of([duel | {"after the view": True}, duel | {"after the view": False, "wrong": True}]).splitlines()
    lines = {line[:38].strip(): line[38:].split() for line in told}
    assert lines[AFTER] == ["1", "1", "0", "0", "0", "0"]
    assert lines[OWN] == ["1", "1", "0", "0", "1", "0"]


def test_a_duel_is_drawn_by_its_number_and_rigs_come_in_turn():
    duels = [drawn(OWN, n, 3) for n in range(60)]
    assert duels == [drawn(OWN, n, 3) for n in range(60)] and len({*map(str, duels)}) > 50
    assert [d.seed for d in duels] == sorted(d.seed for d in duels) and len({d.seed for d in duels}) == 12
    assert {d.step for d in duels} == {1, 2, 3} and {d.caller for d in duels} == {"A", "B"}


@pytest.mark.slow
def test_a_build_that_was_judged_when_a_hand_came_is_its_builders_one_that_was_not_is_not():
    late = row(Duel(220, "L01", "B", OWN, 0.6))
    assert late["whom"] == "caller" and late["judged_s"] < late["touched_s"]
    assert late["after the view"] and not late["wrong"]
    soon = row(Duel(220, "L01", "B", OWN, 0.15))
    assert soon["whom"] != "caller" and soon["judged_s"] > soon["touched_s"] and not soon["after the view"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "rig", "whom"),
    [
        pytest.param(2, 1370, "caller", id="on a plank that points at the camera"),
        pytest.param(15, 1380, "caller", id="the settled view alone shows another"),
        pytest.param(0, 1390, "human", id="no stage shows it"),
        pytest.param(6, 1960, "caller", id="no stage is read with its stance"),
        pytest.param(8, 1520, "caller", id="another piece of its colour fits the stages too"),
        pytest.param(24, 2020, "caller", id="the stage before shows other pieces by its best reading"),
        pytest.param(14, 2120, "human", id="a further piece explains a misread stage"),
        pytest.param(50, 2860, "human", id="what fits the stages does not fit the settled view"),
    ],
)
def test_a_piece_that_only_the_film_shows_counts_and_one_that_it_missed_is_asked_for(number, rig, whom):
    assert row(drawn("7 a piece hidden, right", number, rig))["whom"] == whom


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_edges_out_of_focus_are_no_strangers_arm(number):
    """A sheet's corner on a wooden table is of the hue of skin then, and new."""
    told = row(drawn("6 out of focus at the Stop, right", number, 2360))
    assert (told["whom"], told["fouls"]) == ("caller", [])
