"""A duel seen, recorded, exported and judged again in an empty environment gives the same verdict."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from fake_session import without_markers
from posed_table import PosedTable

from calibration.camera import camera_text, load_camera
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.devices.ports import Frame, SystemClock
from referee.recording import Budget, Recorder, load_attempt
from referee.recording.folder import PLACED, pack, read_image
from referee.review.batch import Results
from referee.session.duel_recording import kept_files
from referee.simulator.meshes import place_piece
from referee.simulator.table import World
from referee.vision.observer import Observer

PROGRAM = "from referee.cli import main; main()"


@pytest.mark.slow
def test_an_exported_duel_is_judged_the_same_on_an_empty_machine(tmp_path):
    pieces, deck, clock = builtin_piece_set(), builtin_deck(), SystemClock()
    table, card = PosedTable(pieces, 5, seating="across"), deck.card("L01")
    camera = camera_text(table.lens.model())
    (tmp_path / "camera.yaml").write_text(camera)
    observer = Observer(pieces, load_camera(tmp_path / "camera.yaml"))
    empty, observer.placed["A"] = without_markers(table.empty(), "A")  # its corners are given by hand
    hidden = (empty != table.empty()).any(axis=2)
    observer.learn_empty(empty)
    built = World({zone: [place_piece(p) for p in card.pieces] for zone in "AB"})
    films = [table.render(built, n) for n in range(24)]
    shots = [Frame(np.where(hidden[..., None], np.uint8(90), film), n, 10.0 + n / 12) for n, film in enumerate(films)]
    recorder = Recorder(tmp_path / "attempts", clock, budget=Budget(free_bytes=0))
    recorder.begin(
        {
            "match_id": "S",
            "card": card.id,
            "players": {"A": "Ann", "B": "Ben"},
            "zones": ["A", "B"],
            "simulated": True,
            "go_at_s": 10.0,
            "files": {
                "deck.json": deck.to_json(),
                "pieces.json": pieces.to_json(),
                "camera.yaml": camera,
                "palette.json": observer.palette,
                "empty.png": observer.empty,
                PLACED: kept_files(deck, pieces, observer)[PLACED],
            },
        }
    )
    for shot in shots:
        recorder.frame(shot)
    recorder.mark("stop", 11.5, zone="A")
    judgement = observer.judge([s.image for s in shots[-3:]], card, ["A"])  # the caller's, as in play
    recorder.judged(shots[-3:], judgement.to_json("stop.png", "")["zones"])
    folder = recorder.finish({"award": "Ann", "callers": ["A"]})
    recorder.close()
    pack(load_attempt(folder), tmp_path / "bundle.zip")

    empty = tmp_path / "elsewhere"
    empty.mkdir()
    (empty / "bundle.zip").write_bytes((tmp_path / "bundle.zip").read_bytes())
    env = {"PATH": os.environ["PATH"], "HOME": str(empty)}
    env["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")  # the program under test
    command = [sys.executable, "-c", PROGRAM, "rejudge", "bundle.zip", "-o", "out"]
    subprocess.run(command, cwd=empty, env=env, check=True)
    results = Results(empty / "out")
    row = results.get(*results.done())
    results.close()
    assert row["problem"] is None and not row["changed"]
    assert list(row["zones"]) == ["A"]
    assert {z: p["now"] for z, p in row["zones"].items()} == judgement.to_json("", "")["zones"]
    assert row["pixels"] == load_attempt(folder).meta["judged"][0]["pixels"]
    assert np.array_equal(read_image(folder / "stop.png"), shots[-3].image)
