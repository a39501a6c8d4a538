"""What the bench of worn pieces draws, and how it counts."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bench_worn import DECK, SET, drawn, result, table_of, turned
from worn import LIGHT, Drift, WornTable, bare_skin, tone, worn_set

from calibration.mat import SHEET
from cards.build import Build
from referee.simulator.meshes import solid


def test_a_duel_is_drawn_by_its_number_and_its_truth_is_the_rules():
    duels = [drawn(n, 3, SET) for n in range(20)]
    assert duels[:5] == [drawn(n, 3, SET) for n in range(5)] and duels[0] != drawn(0, 4, SET)
    assert {d.caller for d in duels} == {"A", "B"} and 5 < sum(d.match for d in duels) < 18
    for duel in duels:
        assert duel.match == (not duel.card.faults(Build(SET, duel.builds[duel.caller])))
        assert all(len(built) <= SET.count for built in duel.builds.values())


def test_a_turned_piece_and_what_is_on_it_are_let_down_again():
    built = DECK.card("L09").pieces
    wrong = turned(built, SET, np.random.default_rng(2))
    assert [p.shape for p in wrong] == [p.shape for p in built] and sum(
        p.pose != q.pose for p, q in zip(wrong, built, strict=True)
    ) == 1


def test_a_ruling_against_the_truth_is_wrong_whoever_gets_the_card():
    assert result("match", True) == result("mismatch", False) == "right"
    assert result("mismatch", True) == result("match", False) == result("match", False, held_up=True) == "wrong"
    assert result("undecided", True) == result("", False) == result("match", True, held_up=True) == "human"


def test_the_table_counts_each_judging_and_names_what_the_film_is_not_right_about():
    told = {"number": "0 3", "name": "3 L09 layout A", "match": True}
    names = ("film", "settled frame alone", "set-up's empty table")
    rows = [
        told | {"results": dict(zip(names, of, strict=True)), "why": {"film": ["too_dark"]}}
        for of in (("right", "human", "wrong"), ("human", "human", "right"))
    ]
    lines = table_of(rows).splitlines()
    assert [line[24:].split() for line in lines[1:4]] == [
        ["2", "1", "0", "1", "50.0", "%"],
        ["2", "0", "0", "2", "0.0", "%"],
        ["2", "1", "1", "0", "100.0", "%"],
    ]
    assert lines[4:] == ["0 3: human: 3 L09 layout A, right build: too_dark"]


def test_the_camera_drifts_slowly_and_levels_without_drift_stay():
    levels = np.arange(241)  # above, the simulated tone curve gives none
    assert np.abs(tone(LIGHT[levels]) - levels).max() < 0.5
    drift = Drift(np.random.default_rng(5))
    told = np.array([drift.at(t) for t in np.arange(0, 900, 0.1)])
    assert (np.abs(told).max(0) <= (0.5, 0.08)).all() and (np.ptp(told, axis=0) > (0.1, 0.01)).all()
    assert (np.abs(np.diff(told, axis=0)).max(0) < (0.02, 0.003)).all()
    assert (np.diff(drift.levels(100.0)[0].astype(int), axis=0) >= 0).all()


@pytest.mark.parametrize("shape", sorted(SET.shapes))
def test_the_share_of_paint_that_is_asked_for_is_worn(shape):
    mesh = solid(SET.shapes[shape])
    bare = bare_skin(mesh, 0.08, 2.0, np.random.default_rng(1))
    area, whole = (
        np.linalg.norm(np.cross(*(m.corners[:, k] - m.corners[:, 0] for k in (1, 2))), axis=1).sum()
        for m in (bare, mesh)
    )
    assert 0.05 < area / whole < 0.11


def test_things_lie_beside_the_sheets_and_pieces_are_a_little_off():
    table = WornTable(7, "across")
    later = table.later(1, np.random.default_rng(3))
    assert table.clutter and later.clutter != table.clutter
    for thing in (*table.clutter, *later.clutter):
        for seat in table.seats.values():
            x, y, _ = seat.turn().T @ (thing.circle[0] - seat.x, thing.circle[1] - seat.y, 0.0)
            assert abs(x) > SHEET[0] / 2 or abs(y) > SHEET[1] / 2
    lengths = [s.width / SET.shapes[n].width for n, s in worn_set(np.random.default_rng(1)).shapes.items()]
    assert np.ptp(lengths) > 0.0 and np.abs(np.array(lengths) - 1).max() < 0.031
