"""The stress bench: effects are drawn as told, the same for the same seed; a crash is a row, not an end."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from made_scores import score

from cards.build import Piece
from cards.pieces import Pose, builtin_piece_set
from referee.benchmark.effects import light
from referee.benchmark.effects.catalogue import EFFECTS
from referee.benchmark.effects.scene import piece_corners
from referee.benchmark.report import aids_lines, calibration_error, stress_lines, trust_lines
from referee.benchmark.run import Job, Knowledge, run
from referee.benchmark.stress import (
    StressJob,
    StressScore,
    effect_names,
    observer_of,
    perturbed_inputs,
    run_stress,
    stress_jobs,
    stress_rows,
)
from referee.commands.bench import bench
from referee.errors import BadImage, FewPieces
from referee.vision.observer import Observer

GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "sessions"
CHALLENGE = GOLDEN / "challenge"


def job(effect: str, level: object = None, **more: object) -> StressJob:
    return StressJob(CHALLENGE, 0, effect, EFFECTS[effect].levels[-1] if level is None else level, **more)


@pytest.mark.parametrize("name", [name for name in EFFECTS if name not in ("clean", "garbled")])
def test_each_effect_changes_what_the_observer_is_given_and_the_same_seed_the_same(name):
    plain, _ = perturbed_inputs(job("clean"))
    other = GOLDEN / "village"
    one, zone = perturbed_inputs(job(name, other=other))
    two, _ = perturbed_inputs(job(name, other=other))
    assert zone in "AB"
    changed = []
    for part in ("frame", "empty", "colors"):
        was, now = getattr(plain, part), getattr(one, part)
        assert now.dtype == np.uint8
        assert np.array_equal(now, getattr(two, part))
        changed.append(was.shape != now.shape or bool((was != now).any()))
    assert any(changed) or one.camera is not plain.camera or one.piece_set is not plain.piece_set


def test_the_observer_under_stress_has_the_aids_that_it_is_given_and_no_others():
    take, _ = perturbed_inputs(job("clean"))
    alone = observer_of(take, Knowledge(empty=False, colors=False, camera=False))
    assert alone.empty is None and alone.palette is None and alone.camera is None
    whole = observer_of(take)
    assert whole.empty is take.empty and whole.palette is not None and whole.camera is take.camera
    assert job("clean", knowledge=Knowledge(camera=False)).name != job("clean").name


def test_a_session_whose_colours_frame_is_one_of_a_duel_is_judged_without_its_colours(tmp_path):
    folder = shutil.copytree(CHALLENGE, tmp_path / "challenge")
    shutil.copy(folder / "duel_01.jpg", folder / "colours.jpg")
    with pytest.raises(FewPieces):
        Observer(perturbed_inputs(job("clean"))[0].piece_set).learn_colors(cv2.imread(str(folder / "colours.jpg")))
    assert run(Job(folder, 0))


def test_another_seed_lays_things_elsewhere():
    assert (perturbed_inputs(job("hand"))[0].frame != perturbed_inputs(job("hand", seed=1))[0].frame).any()


def test_an_effect_of_one_field_leaves_the_far_corners_alone():
    plain, shaded = perturbed_inputs(job("clean"))[0].frame, perturbed_inputs(job("coin"))[0].frame
    changed = (plain != shaded).any(2)
    assert 20 < changed.sum() < 0.03 * changed.size


def test_light_comes_back_as_the_bytes_it_was():
    bytes_ = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, 2)
    assert np.array_equal(light.srgb_bytes(light.linear_light(bytes_)), bytes_)


def test_one_stop_more_is_twice_the_light():
    gray = np.full((4, 4, 3), 100, np.uint8)
    assert light.linear_light(light.exposure(gray, 1.0)).mean() == pytest.approx(
        2 * light.linear_light(gray).mean(), rel=0.01
    )
    assert (light.exposure(gray, 9.0) == 255).all()


def test_a_shadow_is_bluer_and_darker_where_it_falls():
    white, where = np.full((4, 4, 3), 200, np.uint8), np.eye(4, dtype=np.float32)
    dark = light.shadow(white, where, 0.25)
    assert (dark[~np.eye(4, dtype=bool)] == 200).all()
    blue, green, red = light.linear_light(dark)[0, 0] / light.linear_light(white)[0, 0]
    assert blue > green > red and green == pytest.approx(0.25, abs=0.01)


def test_pieces_are_where_their_truth_says():
    pieces = builtin_piece_set()
    low = piece_corners(pieces, Piece("cube", "blue", Pose(), 0, 0, 15))
    high = piece_corners(pieces, Piece("cylinder", "red", Pose(), 0, 0, 55))
    assert low.min(0).tolist() == [-15, -15, 0] and low.max(0).tolist() == [15, 15, 30]
    assert high[:, 2].min() == pytest.approx(55 - pieces.shapes["cylinder"].height / 2)


def test_a_crash_of_one_frame_is_a_row(monkeypatch):
    def broken(self, frames, card, zones):
        raise IndexError("index -1 is out of bounds")

    monkeypatch.setattr("referee.benchmark.stress.Observer.judge", broken)
    rows = run_stress(job("blur"))
    assert [row.outcome for row in rows] == ["crash", "crash"]
    assert rows[0].crash == "IndexError: index -1 is out of bounds"


def test_a_file_that_is_refused_is_undecided(monkeypatch):
    monkeypatch.setattr("referee.benchmark.effects.rig.read_picture", _refuse)
    rows = run_stress(job("garbled"))
    assert [row.outcome for row in rows] == ["undecided", "undecided"] and rows[0].score.reasons == ("spoilt",)


def _refuse(path):
    raise BadImage("spoilt")


@pytest.mark.parametrize("every", [1, 2, 7, 9, 20])
def test_every_effect_level_session_and_frame_keeps_its_share(tmp_path, every):
    folders = [tmp_path / f"rig{k}" for k in range(13)]
    for folder in folders:
        folder.mkdir()
        (folder / "truth.json").write_text(json.dumps({"frames": [{"card": "H01"}] * 7}))
    some = stress_jobs(folders, list(EFFECTS), every, 0)
    assert len(some) == pytest.approx(13 * 7 * len(EFFECTS) / every, rel=0.05)
    for of in (lambda j: j.effect, lambda j: j.folder, lambda j: j.index):
        counts = Counter(map(of, some))
        assert max(counts.values()) - min(counts.values()) <= max(4, 0.35 * max(counts.values())), counts
    levels = Counter(j.level for j in some if j.effect == "noise")
    assert max(levels.values()) - min(levels.values()) <= 1


def test_names_of_effects_are_checked():
    assert effect_names("blur, hand") == ["blur", "hand"]
    assert effect_names(None) == list(EFFECTS)
    done = CliRunner().invoke(bench, [str(CHALLENGE), "--stress", "--effects", "fog"])
    assert done.exit_code == 2 and "'fog' is none of clean, overexposed" in done.output


def test_the_tables_part_right_builds_from_wrong_ones_and_match_from_mismatch():
    rows = [
        StressScore("blur", 1.0, score("match", "match", 0.99)),
        StressScore("blur", 3.0, score("match", "mismatch", 0.99)),
        StressScore("blur", 3.0, score("mismatch", "mismatch", 0.9)),
        StressScore("clean", 0, score("mismatch", None, 0.5), "IndexError: x"),
    ]
    lines = stress_lines(rows)
    assert [line.split()[:2] for line in lines[2:]] == [
        ["clean", "0"],
        ["blur", "1.0"],
        ["blur", "3.0"],
        ["blur", "all"],
        ["all", "2"],
        ["all", "but"],
    ]
    assert lines[5].split() == ["blur", "all", "2", "1", "1", "0", "0", "1", "1", "0", "0", "0", "33.3", "%"]
    assert lines[2].split()[-3] == "1"  # the crash
    match, mismatch = trust_lines([row.score for row in rows if not row.crash])[1:]
    assert match.split()[1] == "1" and mismatch.split()[1] == "2"
    assert "50.0 %" in mismatch and "  0.0 %" in mismatch  # of all, and of the sure ones


def test_the_calibration_error_of_a_boaster_is_what_he_boasts():
    boaster = [score("match", "match" if k % 2 else "mismatch", 0.9) for k in range(40)]
    assert calibration_error(boaster) == pytest.approx(0.4, abs=0.06)
    assert calibration_error([score("match", "match", 1.0)] * 20) == 0.0


def test_each_combination_of_aids_has_its_line():
    lines = aids_lines({(True, True, False): [score("match", "match")], (False, True, True): [score("match", None)]})
    assert lines[1].split()[:4] == ["yes", "yes", "no", "1"] and lines[2].split()[:3] == ["no", "yes", "yes"]


def test_a_run_cut_short_is_taken_up_again(tmp_path):
    judged = []

    def fake(name):
        judged.append(name.name)
        return [StressScore(name.effect, name.level, score("match", "match", features=(("margin", 1.5),)))]

    work, kept = stress_jobs([CHALLENGE], ["blur", "coin"], 1, 0), tmp_path / "rows.jsonl"
    first = list(stress_rows(work[:2], 1, StressScore, fake, kept))
    again = list(stress_rows(work, 1, StressScore, fake, kept))
    assert len(judged) == len(set(judged)) == len(work) == len(again)
    assert again[:2] == first


@pytest.mark.slow
def test_a_stress_run_from_the_command_line(tmp_path):
    done = CliRunner().invoke(
        bench,
        [str(CHALLENGE), "--stress", "--effects", "clean,mirrored", "--processes", "1", "--pictures", str(tmp_path)],
    )
    assert done.exit_code == 0, done.output
    assert any(line.split()[:2] == ["mirrored", "0"] for line in done.output.splitlines())
    kept = cv2.imread(str(next(tmp_path.glob("mirrored_*.jpg"))))
    assert kept.shape == cv2.imread(str(CHALLENGE / "duel_01.jpg")).shape
