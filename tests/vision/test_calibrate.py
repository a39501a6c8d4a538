"""``referee calibrate``: lens, colours and the rig's figures from pictures, with bad views and rigs named."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from made_cases import spread_over_sheet

from calibration.camera import load_camera
from calibration.palette import load_palette
from cards.pieces import builtin_piece_set
from referee.cli import main
from referee.simulator.build_plans import spread_set
from referee.vision.search.sizes import scaled_set

SPEC = importlib.util.spec_from_file_location(
    "lens_pictures", Path(__file__).parents[1] / "calibration" / "test_lens_fit.py"
)
LENS_PICTURES = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(LENS_PICTURES)


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the program: (exit status, standard output, standard error)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["referee", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out = capsys.readouterr()
        return ended.value.code or 0, out.out, out.err

    return call


PLACES = [
    *((x, y, 470) for y in (-70, 70) for x in (-170, -60, 60, 170)),
    *((0, 0, 380), (30, -20, 560), (-90, 0, 430), (90, 10, 430), (0, 40, 420)),
]


def photograph(folder: Path, places: list[tuple[float, float, float]]) -> np.ndarray:
    """A picture of the board at each place, as files of the folder; gives the last one."""
    rng = np.random.default_rng(5)
    for k, place in enumerate(places):
        picture = LENS_PICTURES.photographed(rng.uniform(-28, 28, 3), place, rng)
        cv2.imwrite(str(folder / f"view_{k:02}.png"), picture)
    return picture


@pytest.fixture(scope="module")
def boards(tmp_path_factory) -> Path:
    """13 views of the board, one picture without it, and one in which the printed board is bent."""
    folder = tmp_path_factory.mktemp("boards")
    picture = photograph(folder, PLACES)
    grid = np.stack(np.meshgrid(np.arange(1280), np.arange(720)), -1).astype(np.float32)
    grid[..., 1] += 14 * np.sin(grid[..., 0] / 110)
    cv2.imwrite(str(folder / "bent.png"), cv2.remap(picture, grid, None, cv2.INTER_LINEAR))
    cv2.imwrite(str(folder / "none.png"), np.full((720, 1280), 128, np.uint8))
    return folder


@pytest.mark.slow
def test_a_lens_file_is_made_with_each_views_error(run, boards, tmp_path):
    views = sorted(boards.glob("view_*.png"))
    status, out, err = run("calibrate", "lens", *views, boards / "none.png", "-o", tmp_path / "camera.yaml")
    assert (status, err) == (0, "") and "pass" in out and "none.png: BAD VIEW" in out
    assert sum(" px" in line and "view_" in line and "BAD" not in line for line in out.splitlines()) == 13
    assert load_camera(tmp_path / "camera.yaml").focal_px == pytest.approx(982, rel=0.01)


@pytest.mark.slow
def test_a_bent_board_is_named_and_fails(run, boards, tmp_path):
    views = [*sorted(boards.glob("view_*.png")), boards / "bent.png"]
    status, out, _ = run("calibrate", "lens", *views, "-o", tmp_path / "camera.yaml")
    assert status == 1 and "FAIL" in out
    bad = next(line for line in out.splitlines() if "BAD VIEW" in line)
    assert bad.startswith(str(boards / "bent.png"))


def test_eleven_views_are_too_few(run, tmp_path):
    photograph(tmp_path, PLACES[:2])
    views = sorted(tmp_path.glob("view_*.png"))
    status, out, err = run("calibrate", "lens", *views, "-o", tmp_path / "camera.yaml")
    assert (status, err) == (2, "referee: a lens file needs 12 views of the board, 2 of 2 pictures show it\n")
    assert not (tmp_path / "camera.yaml").exists() and out == ""


def test_colours_are_learnt_and_told(run, rig, tmp_path):
    pieces = builtin_piece_set()
    standing = spread_set(pieces)
    cv2.imwrite(str(tmp_path / "colours.png"), rig.photograph({"A": standing, "B": standing}))
    status, out, err = run("calibrate", "colors", tmp_path / "colours.png", "-o", tmp_path / "palette.json")
    assert (status, err) == (0, "") and out.count("pixels") == 4 and "too few" not in out
    assert (load_palette(tmp_path / "palette.json", pieces).learnt > 150).all()


def test_sizes_that_are_not_the_piece_files_are_told_and_kept_for_judging(run, rig, tmp_path):
    """Whoever judges with the palette, or with the colours frame, is warned; and not once the file has been mended."""
    standing = spread_over_sheet(rig.piece_set)
    colors, palette, larger = (tmp_path / name for name in ("colours.png", "palette.json", "pieces.json"))
    cv2.imwrite(str(colors), rig.photograph({"A": standing, "B": standing}))
    larger.write_text(json.dumps(scaled_set(rig.piece_set, 1.1).to_json()), "utf-8")
    status, out, _ = run("calibrate", "colors", colors, "--pieces", larger, "-o", palette)
    assert status == 0 and "warning: the pieces look -" in out
    for given in (("--palette", palette), ("--colors", colors)):
        status, out, _ = run("judge", colors, "--card", "H03", "--pieces", larger, *given)
        assert status == 0 and "the pieces look -" in out
    status, out, _ = run("judge", colors, "--card", "H03", "--palette", palette)
    assert status == 0 and "than the piece file says" not in out


def test_a_picture_of_builds_teaches_no_colours_and_judging_goes_without_it(run, rig, tower, tmp_path):
    duel = tmp_path / "duel.png"
    cv2.imwrite(str(duel), rig.photograph({"A": tower, "B": tower}))
    status, out, err = run("calibrate", "colors", duel, "-o", tmp_path / "palette.json")
    assert (status, err.count("\n")) == (2, 1) and "duel.png" in err and "standing apart" in err
    assert out == "" and not (tmp_path / "palette.json").exists()
    status, out, err = run("judge", duel, "--card", "H03", "--colors", duel)
    assert status == 0 and "standing apart on a mat; left out" in out + err


def test_colours_need_a_mat(run, tmp_path):
    cv2.imwrite(str(tmp_path / "grey.png"), np.full((300, 400, 3), 128, np.uint8))
    status, _, err = run("calibrate", "colors", tmp_path / "grey.png", "-o", tmp_path / "palette.json")
    assert (status, err.count("\n")) == (2, 1) and "grey.png" in err and "no mat" in err


def test_the_rig_is_told_fit_or_not(run, rig, tmp_path):
    picture = rig.photograph()
    cv2.imwrite(str(tmp_path / "good.png"), picture)
    cv2.imwrite(str(tmp_path / "dark.png"), (picture * 0.2).astype(np.uint8))
    status, out, err = run("calibrate", "rig", tmp_path / "good.png")
    assert (status, err) == (0, "") and "mat A" in out and "mat B" in out and "FAIL" not in out
    status, out, _ = run("calibrate", "rig", tmp_path / "dark.png")
    assert status == 1 and "FAIL  brightness" in out and "more light" in out
