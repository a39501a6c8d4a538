"""What stands in a field at the go of an imported film is a false start; what stands before it is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bench_findings import EARLY, SET, Play, filmed, told, untouched

from cards.build import Piece
from cards.pieces import Pose
from referee.simulator.meshes import place_piece

pytestmark = pytest.mark.slow


def behind_a_tall_piece(stage):
    """A clean duel in which a rectangle stands upright between the camera and the caller's field."""
    upright = Pose(90, "front")
    tall = Piece("rectangle", "green", upright, -60.0, -75.0, SET.shapes["rectangle"].size(upright)[2] / 2, 0.0)
    stage.loose = {**stage.loose, stage.caller: [*stage.loose[stage.caller], place_piece(tall)]}
    return untouched(stage, stage.full)


@pytest.mark.parametrize(("finding", "seconds"), [("", []), (EARLY, [0.0])], ids=["empty", "built before the go"])
def test_a_tall_piece_before_an_empty_field_is_no_false_start(tmp_path, finding, seconds):
    play = Play("tall", 10, "beside", "L09", "A", behind_a_tall_piece, finding)
    _, found = told(filmed(play, tmp_path / "film"), tmp_path / "made")
    assert [f["seconds"] for f in found if f["finding"] == EARLY] == seconds
