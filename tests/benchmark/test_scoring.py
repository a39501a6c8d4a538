"""The bench's arithmetic, on builds whose answer is plain."""

from __future__ import annotations

import json
import math

import pytest
from made_scores import score

from cards.build import Piece
from cards.pieces import Pose, builtin_piece_set
from referee.benchmark.report import (
    confusion_lines,
    doubt_lines,
    outcome_lines,
    reliability_lines,
    step_lines,
    wrong_lines,
)
from referee.benchmark.run import Knowledge, jobs, sessions
from referee.benchmark.scoring import NO_PIECE_LABEL, matched_pieces, piece_right
from referee.errors import BadImage

PIECES = builtin_piece_set()
CUBE = Piece("cube", "blue", Pose(), 0.0, 0.0, 15.0)


@pytest.mark.parametrize(
    ("seen", "right"),
    [
        (CUBE, True),
        (CUBE.at(x=6.0, z=21.0), True),  # just within 6 mm both ways
        (CUBE.at(x=6.1), False),
        (CUBE.at(y=25.0), True),  # depth is not asked for
        (Piece("cube", "blue", Pose(90, "side"), 0, 0, 15), True),  # a cube has one pose
        (Piece("cylinder", "red", Pose(), 0, 0, 15), False),
        (None, False),
    ],
)
def test_a_piece_is_right_within_6_mm(seen, right):
    assert piece_right(PIECES, CUBE, seen) is right


def test_a_bridge_on_its_end_is_no_bridge_upright():
    bridge = Piece("bridge", "orange", Pose(0), 0, 0, 15)
    assert not piece_right(PIECES, bridge, Piece("bridge", "orange", Pose(90), 0, 0, 15))


def test_pieces_are_matched_by_place_so_that_a_wrong_colour_is_a_confusion():
    other = Piece("crescent", "blue", Pose(), 1.0, 0.0, 14.0)
    far = CUBE.at(x=80.0)
    assert matched_pieces([CUBE], [other]) == [(CUBE, other)]
    assert matched_pieces([CUBE, far], [other]) == [(CUBE, other), (far, None)]
    assert matched_pieces([], [far]) == [(None, far)] and matched_pieces([CUBE], []) == [(CUBE, None)]
    assert matched_pieces([CUBE], [far]) == [(CUBE, None), (None, far)]


@pytest.mark.parametrize(
    ("expected", "ruling", "outcome"),
    [
        ("match", "match", "right"),
        ("mismatch", "mismatch", "right"),
        ("mismatch", "match", "false accept"),
        ("match", "mismatch", "false reject"),
        ("match", "undecided", "undecided"),
        ("match", None, "undecided"),
    ],
)
def test_outcomes(expected, ruling, outcome):
    assert score(expected, ruling).outcome == outcome


def test_the_tables_count_by_kind_and_in_all():
    rows = [
        score("match", "match"),
        score("match", "mismatch", kind="layout"),
        score("mismatch", "match", 0.99),
        score(
            "match",
            None,
            0.5,
            label_pixels=0,
            labels_right=0,
            colors_right=0,
            pose_px=math.nan,
            pieces_right=0,
            confusions=(("blue cube", NO_PIECE_LABEL),),
            contacts_right=False,
        ),
    ]
    text = "\n".join(outcome_lines(rows))
    assert "height          3" in text and "layout          1" in text and "all             4" in text
    assert "right among decided:  33.3 % [6.1, 79.2]" in text
    steps = "\n".join(step_lines(rows))
    assert "mats located        75.0 %" in steps and "labels              90.0 % of 300" in steps
    assert "80.0 % by their own colour alone" in steps
    assert "75.0 % [46.8, 91.1] of 12" in steps
    assert any(
        line.startswith("blue cube") and line.split() == ["blue", "cube", "3", "1"] for line in confusion_lines(rows)
    )
    reliability = reliability_lines(rows)
    assert len(reliability) == 3 and " 50.0 %" in reliability[1] and "  0.0 %" in reliability[2]
    listed = wrong_lines(rows)
    assert [("undecided" in line) for line in listed[1:]] == [False, False, True]
    assert wrong_lines(rows[:1]) == ["every verdict is right"]


def test_sessions_are_found_in_and_among_folders(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "truth.json").write_text(json.dumps({"frames": [{"card": "H01"}] * 3}))
    assert sessions([tmp_path]) == [tmp_path / "one", tmp_path / "two"]
    assert sessions([tmp_path / "two"]) == [tmp_path / "two"]
    assert len(jobs(sessions([tmp_path]), Knowledge())) == 6
    assert len(jobs(sessions([tmp_path]), Knowledge(), every=2)) == 4
    with pytest.raises(BadImage, match=r"no folder with a truth\.json"):
        sessions([tmp_path / "one" / "nothing"])


def test_a_broken_truth_is_named(tmp_path):
    (tmp_path / "truth.json").write_text("{")
    with pytest.raises(BadImage, match=r"truth\.json"):
        sessions([tmp_path])


def test_what_a_doubt_is_worth_is_what_it_withholds_and_what_it_alone_does():
    caught = score("match", "undecided", leaning="mismatch", doubts=("hardly_shown", "unsure"))
    alone = score("match", "undecided", leaning="mismatch", doubts=("hardly_shown",))
    cost = score("mismatch", "undecided", leaning="mismatch", doubts=("hardly_shown",))
    rows = [caught, alone, cost, score("match", "match"), score("match", None)]
    table = {
        line[:18].strip(): line[18:].split() for line in doubt_lines({"one": rows, "two": [score("match", "match")]})
    }
    assert table["hardly_shown"] == ["2", "(1)", "1", "(1)", ".", "."]
    assert table["unsure"] == ["1", "(0)", ".", ".", "."]
    assert table["any of them"] == ["2", "1", ".", "."]
    assert table["of all ahead"] == ["2", "2", "0", "1"]
