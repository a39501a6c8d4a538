"""``referee judge`` and its kin keep the contract: rows, exit status, one clear line for every bad input."""

from __future__ import annotations

import json
import sys

import cv2
import numpy as np
import pytest
import yaml

from calibration.camera import camera_text
from cards.pieces import builtin_piece_set
from referee.benchmark.report import percent
from referee.cli import main
from referee.vision.image.files import LARGEST_PX, read_picture
from referee.vision.observer import Observer

DECK = {
    "name": "mini",
    "cards": [
        {"id": "H02", "kind": "height", "value": 1, "count": 2},
        {"id": "H09", "kind": "height", "value": 1, "count": 11},
        {"id": "S01", "kind": "shapes", "value": 1, "shapes": {"cube": 1, "cylinder": 1}},
        {"id": "S02", "kind": "shapes", "value": 1, "shapes": {"gate": 1}},
    ],
}


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


def garbled(jpeg: bytes, count: int) -> bytes:
    """The file with so many wrong bytes behind its header."""
    rng, data = np.random.default_rng(1), np.frombuffer(jpeg, np.uint8).copy()
    data[rng.integers(700, len(data) - 2, count)] = rng.integers(0, 256, count)
    return data.tobytes()


@pytest.fixture(scope="module")
def files(tmp_path_factory, rig, tower):
    """A folder with a good picture and everything that goes with it, and many bad ones."""
    folder = tmp_path_factory.mktemp("judge")
    built = rig.photograph({"A": tower})
    pictures = {
        "built.png": built,
        "bare.png": rig.photograph(),
        "black.png": np.zeros_like(built),
        "white.png": np.full_like(built, 255),
        "blurred.png": cv2.GaussianBlur(built, (0, 0), 30),
        "mirrored.png": np.ascontiguousarray(built[:, ::-1]),
        "small.png": built[:40, :40],
        "other_size.png": cv2.resize(built, (640, 360)),
        "square.png": built[:, 280:1000],
    }
    for name, picture in pictures.items():
        cv2.imwrite(str(folder / name), picture)
    (folder / "cut.png").write_bytes((folder / "built.png").read_bytes()[:20_000])
    jpeg = cv2.imencode(".jpg", built)[1].tobytes()
    (folder / "cut.jpg").write_bytes(jpeg[: len(jpeg) // 2])
    (folder / "garbled.jpg").write_bytes(garbled(jpeg, 300))
    (folder / "text.jpg").write_text("no picture")
    (folder / "nothing.jpg").write_bytes(b"")
    (folder / "deck.json").write_text(json.dumps(DECK))
    (folder / "no_cards.json").write_text('{"name": "x", "cards": []}')
    (folder / "not.json").write_text("{")
    (folder / "pieces.json").write_text(json.dumps(builtin_piece_set().to_json()))
    (folder / "no_pieces.json").write_text('{"name": "x", "shapes": {}, "colors": {}, "pieces": []}')
    (folder / "camera.yaml").write_text(camera_text(rig.camera))
    wrong = yaml.safe_load((folder / "camera.yaml").read_text()) | {"camera_matrix": {"data": [1, 2, 3]}}
    (folder / "bad_camera.yaml").write_text(yaml.safe_dump(wrong))
    return folder


BAD = {  # options that replace the good ones -> what the line must name
    "missing picture": ({"": "none.png"}, "none.png", "No such file"),
    "a folder for a picture": ({"": "."}, "", "directory"),
    "cut PNG": ({"": "cut.png"}, "cut.png", "ends early"),
    "cut JPEG": ({"": "cut.jpg"}, "cut.jpg", "ends early"),
    "garbled JPEG": ({"": "garbled.jpg"}, "garbled.jpg", "not what was written"),
    "text for a picture": ({"": "text.jpg"}, "text.jpg", "not a picture"),
    "empty file": ({"": "nothing.jpg"}, "nothing.jpg", "empty file"),
    "tiny picture": ({"": "small.png"}, "small.png", "too small"),
    "missing deck": ({"--deck": "none.json"}, "none.json", "No such file"),
    "deck without cards": ({"--deck": "no_cards.json"}, "no_cards.json", "non-empty list of cards"),
    "deck that is no JSON": ({"--deck": "not.json"}, "not.json", "not JSON"),
    "unknown card": ({"--card": "X99"}, "X99", "no card"),
    "card asking too many": ({"--card": "H09"}, "H09", "asks for 11 pieces, the set has 10"),
    "card asking a strange shape": ({"--card": "S02"}, "S02", "gate"),
    "missing piece set": ({"--pieces": "none.json"}, "none.json", "No such file"),
    "empty piece set": ({"--pieces": "no_pieces.json"}, "no_pieces.json", "shapes"),
    "missing camera": ({"--camera": "none.yaml"}, "none.yaml", "No such file"),
    "wrong camera": ({"--camera": "bad_camera.yaml"}, "bad_camera.yaml", "camera_matrix"),
    "camera of another format": ({"": "square.png"}, "camera.yaml", "the camera file is for 1280 x 720"),
    "empty frame of another size": ({"--empty": "other_size.png"}, "other_size.png", "640 x 360"),
    "colours frame without a mat": ({"--colors": "black.png"}, "black.png", "no mat"),
    "missing palette": ({"--palette": "none.json"}, "none.json", "No such file"),
    "a deck for a palette": ({"--palette": "deck.json"}, "deck.json", "colors"),
}


def arguments(files, changes: dict[str, str]) -> list[str]:
    good = {
        "": "built.png",
        "--card": "H02",
        "--deck": "deck.json",
        "--pieces": "pieces.json",
        "--camera": "camera.yaml",
    } | changes
    words = []
    for option, value in good.items():
        words += [option] * bool(option) + [value if option == "--card" else str(files / value)]
    return words


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_status_2(run, files, case):
    changes, name, fault = BAD[case]
    status, out, err = run("judge", *arguments(files, changes))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and name in err and fault in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("picture", "notes"),
    [
        ("black.png", ["no mat is in view", "the picture is black"]),
        ("white.png", ["no mat is in view", "the picture is white"]),
        ("blurred.png", ["no mat is in view", "the picture is blurred"]),
        ("mirrored.png", ["no mat is in view"]),
    ],
)
def test_a_picture_without_mats_is_no_fault_and_no_guess(run, files, picture, notes):
    status, out, err = run("judge", *arguments(files, {"": picture}), "--json")
    row = json.loads(out)
    assert (status, err, row["zones"], row["notes"]) == (0, "", {}, notes)


@pytest.mark.slow
def test_judge_writes_the_contracts_rows_an_overlay_and_its_steps(run, files):
    words = arguments(files, {"--empty": "bare.png", "--overlay": "drawn.png", "--steps": "steps"})
    status, out, err = run("judge", *words, "--zone", "A", "--json")
    row = json.loads(out)
    assert (status, err, out.count("\n")) == (0, "", 1)
    assert set(row) >= {"image", "card", "seconds", "zones"} and set(row["zones"]) == {"A"}
    zone = row["zones"]["A"]
    assert set(zone) >= {"verdict", "confidence", "reasons", "count", "ground_contacts", "pieces"}
    assert zone["verdict"] == "match" and (zone["count"], zone["ground_contacts"]) == (2, 1)
    cube = next(p for p in zone["pieces"] if p["shape"] == "cube")
    assert cube["color"] == "blue" and cube["touches_table"] and cube["rests_on"] == []
    assert (cube["x"], cube["z"]) == (pytest.approx(0, abs=6), pytest.approx(15, abs=6))
    drawn = cv2.imread(str(files / "drawn.png"))
    assert drawn.shape[0] == 720 and drawn.shape[1] > 1280
    steps = sorted(path.name for path in (files / "steps").iterdir())
    assert (steps[0], steps[5], steps[-1], len(steps)) == ("1_mats.jpg", "6_hypotheses_A.jpg", "8_verdict.jpg", 8)


def test_wilson_intervals_are_those_of_the_tables():
    """9 of 10: 59.6 to 98.2 (Brown, Cai, DasGupta 2001, by hand)."""
    assert percent(9, 10) == " 90.0 % [59.6, 98.2]"
    assert percent(0, 0) == "-"


def test_sound_jpegs_of_every_making_are_read(files, tmp_path):
    picture = cv2.imread(str(files / "built.png"))
    for name, options in {
        "coarse": [cv2.IMWRITE_JPEG_QUALITY, 8],
        "progressive": [cv2.IMWRITE_JPEG_PROGRESSIVE, 1],
        "restarts": [cv2.IMWRITE_JPEG_RST_INTERVAL, 4],
        "full colour": [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444],
    }.items():
        cv2.imwrite(str(tmp_path / f"{name}.jpg"), picture, options)
        assert read_picture(tmp_path / f"{name}.jpg").shape == picture.shape, name


def test_a_huge_picture_is_reduced_and_no_zone_is_lost(files, rig, tmp_path):
    huge = cv2.resize(cv2.imread(str(files / "built.png")), (8000, 4500))
    cv2.imwrite(str(tmp_path / "huge.jpg"), huge)
    read = read_picture(tmp_path / "huge.jpg")
    assert max(read.shape) == LARGEST_PX
    mats = Observer(rig.piece_set, rig.camera).look(read)
    assert {zone: len(pose.markers) for zone, pose in mats.poses.items()} == {"A": 4, "B": 4}
