"""What must hold of verdicts on any picture: the checks' cards and mirrors, and the checks on shipped pictures."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cards.build import Build, Piece
from cards.deck import builtin_deck
from cards.kinds.layout import LayoutCard, distinct_layouts
from cards.kinds.organ_pipes import OrganCard
from cards.pieces import Pose, builtin_piece_set
from referee.benchmark import consistency
from referee.benchmark.consistency import (
    CHECKS,
    SMALL_CHANGES,
    Consistency,
    consistency_lines,
    contradicting_layouts,
    mirrored_card,
    run_consistency,
)
from referee.benchmark.run import sessions, truth_of
from referee.benchmark.stress import StressJob
from referee.commands.bench import bench

SESSIONS = Path(__file__).parents[2] / "referee" / "example" / "sessions"
SET = builtin_piece_set()
LAYOUTS = [card for card in builtin_deck().cards if isinstance(card, LayoutCard)]


@pytest.mark.parametrize("card", LAYOUTS[::8], ids=lambda card: card.id)
def test_no_build_satisfies_two_of_the_cards_that_contradict_each_other(card):
    made = contradicting_layouts(Build(SET, card.pieces))
    assert len(made) >= 3 and all(distinct_layouts(SET, a, b) for a, b in combinations(made, 2))
    assert made[0].is_right(Build(SET, card.pieces))


def test_a_build_that_is_turned_is_the_card_s_all_the_same():
    turned = [p.at(x=0.8 * p.x, y=0.6 * p.x, yaw=36.87) for p in LAYOUTS[0].pieces]
    assert contradicting_layouts(Build(SET, tuple(turned)))[0].is_right(Build(SET, LAYOUTS[0].pieces))
    assert contradicting_layouts(Build(SET, ())) == []


@pytest.mark.parametrize("card", LAYOUTS[::8], ids=lambda card: card.id)
def test_a_mirrored_card_is_satisfied_by_the_mirrored_build_and_twice_mirrored_it_is_the_card(card):
    mirrored = mirrored_card(card)
    assert [p.x for p in mirrored.pieces] == [-p.x for p in card.pieces]
    assert mirrored_card(mirrored) == card


def test_a_piece_that_points_away_is_mirrored_as_it_is_and_a_row_of_pipes_has_no_mirror_image():
    aslant = Piece("triangle", "red", Pose(90, "front"), 10.0, 0.0, 25.0)
    away = Piece("triangle", "red", Pose(90, "side"), 10.0, 0.0, 25.0)
    mirrored = mirrored_card(LayoutCard("C", 1, (aslant, away)))
    assert [p.pose for p in mirrored.pieces] == [Pose(270, "front"), Pose(90, "side")]
    assert mirrored_card(next(card for card in builtin_deck().cards if isinstance(card, OrganCard))) is None


def test_an_empty_field_is_no_proof_of_consistency(monkeypatch):
    monkeypatch.setattr(consistency, "CHECKS", [consistency._contradiction])
    monkeypatch.setattr(consistency, "contradicting_layouts", lambda build: [])
    assert run_consistency(StressJob(sessions([SESSIONS])[0], 0, "clean", 0)) == []


def test_small_changes_are_small():
    grey = np.full((40, 60, 3), 120, np.uint8)
    grey[10:20, 10:30] = 60
    for change in SMALL_CHANGES.values():
        changed = change(grey)
        assert changed.shape == grey.shape and changed.dtype == np.uint8
        assert np.median(np.abs(changed.astype(int) - grey)) <= 5
    assert not np.array_equal(SMALL_CHANGES["brighter"](grey), grey)


def test_the_table_tells_how_often_a_check_holds_and_where_not():
    rows = [Consistency("aids", "a", "A"), Consistency("aids", "b", "B", "match 0.99, then mismatch 0.98 (off)")]
    table = "\n".join(consistency_lines(rows))
    assert "aids                    2        1   50.00%" in table
    assert "aids b B: match 0.99, then mismatch 0.98 (off)" in table


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_check_holds_on_shipped_pictures(check, monkeypatch):
    monkeypatch.setattr(consistency, "CHECKS", [check])
    jobs = [
        StressJob(folder, n, "clean", 0)
        for folder in sessions([SESSIONS])
        for n in range(len(truth_of(folder)["frames"]))
    ]
    rows = [row for job in jobs for row in run_consistency(job)]
    assert len(rows) >= 3 and [row for row in rows if row.broken] == []


@pytest.mark.slow
def test_consistency_from_the_command_line(tmp_path):
    asked = [str(SESSIONS), "--consistency", "--every", "6", "--rows", str(tmp_path / "rows.jsonl"), "--json"]
    done = CliRunner().invoke(bench, asked)
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)
