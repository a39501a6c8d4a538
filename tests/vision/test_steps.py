"""Every stage of a judgement as a picture, and the README that explains the stages with them."""

from __future__ import annotations

import re

import bench_stages
import numpy as np
import pytest
from step_pictures import COMMAND, HASH, PICTURES, README, judged, made_from

from cards.build import Build, Piece
from cards.kinds.height import HeightCard
from cards.pieces import Pose
from referee.vision import observer as seeing
from referee.vision.image.view import zone_view
from referee.vision.observer import Observer, ZoneStudy
from referee.vision.steps import painted, step_pictures

STAGES = ("mats", "view", "background", "labels", "candidates", "hypotheses", "proof", "verdict")
MOST_BYTES = 400_000


def test_every_stage_of_every_zone_is_a_picture(rig, tower):
    frame, studies = rig.photograph({"A": tower}), []
    observer, card = Observer(rig.piece_set, rig.camera, empty=rig.photograph()), HeightCard("H", 1, 2)
    judgement = observer.judge([frame], card, studied=studies.append)
    names = [name for name, picture in step_pictures(frame, judgement, studies, card) if picture.std() > 1.0]
    zones = [f"{k}_{stage}_{zone}" for zone in "AB" for k, stage in enumerate(STAGES[1:-1], 2)]
    assert names == ["1_mats", *zones, "8_verdict"]


def test_a_build_is_drawn_where_it_stands_and_its_sides_are_told_apart(rig):
    view = zone_view(rig.photograph(), rig.camera, rig.poses["A"])
    cube = Piece("cube", "blue", Pose(), 0.0, 0.0, 15.0, 30.0)
    drawn = painted(view, rig.piece_set, Build(rig.piece_set, (cube,)), np.zeros_like(view.image))
    x, y = view.project(np.array([(0.0, 0.0, 15.0)]))[0].round().astype(int)
    assert drawn[y, x].argmax() == 0, "blue"
    assert len(np.unique(drawn.reshape(-1, 3), axis=0)) == 4, "three sides and what is behind"


@pytest.mark.slow
def test_the_readmes_pictures_were_made_of_this_program():
    _, judgement, studies = judged()
    assert [type(study) for study in studies] == [ZoneStudy]
    assert made_from(judgement) == HASH.read_text().strip(), (
        f"the steps have changed: make the pictures anew: {COMMAND}"
    )


def test_the_readme_shows_every_stage_and_is_light():
    shown = re.findall(r"\]\(pictures/([\w.]+)\)", README.read_text(encoding="utf-8"))
    assert shown == [f"{k}_{stage}.webp" for k, stage in enumerate(STAGES, 1)]
    assert sorted(p.name for p in PICTURES.glob("*.webp")) == shown
    assert sum(p.stat().st_size for p in PICTURES.iterdir()) < MOST_BYTES


def test_the_stages_that_are_timed_are_functions_of_the_observer():
    for name in (name for names in bench_stages.STAGES.values() for name in names):
        assert callable(getattr(Observer, name, None) or getattr(seeing, name, None)), name
