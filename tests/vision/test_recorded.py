"""The gate on a recorded duel whose build falls after Stop, and the labelling comparison as documented."""

from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path

import av
import pytest

from calibration.camera import load_camera
from cards.pieces import load_piece_set
from referee.devices.ports import Frame
from referee.vision.live.gate import Gate
from referee.vision.live.gate_history import TOUCHING, GateHistory
from referee.vision.observer import Observer

ATTEMPT = Path(__file__).parents[2] / "referee" / "example" / "duel"
NEAR_S = 0.35


@pytest.fixture(scope="module")
def looks() -> list[tuple[float, object]]:
    """The recording's time in seconds and the gate's state, frame by frame."""
    gate = Gate(Observer(load_piece_set(ATTEMPT / "pieces.json"), load_camera(ATTEMPT / "camera.yaml")))
    rows = list(csv.reader((ATTEMPT / "frames.csv").read_text().splitlines()))[1:]
    times = [float(row[1]) for row in rows]
    with av.open(str(ATTEMPT / "video.mp4")) as video:
        frames = [f.to_ndarray(format="bgr24") for f in video.decode(video=0)]
    return [(t, gate.look(Frame(image, i, t))) for i, (t, image) in enumerate(zip(times, frames, strict=True))]


@pytest.mark.slow
def test_a_hand_is_over_the_field_whenever_a_piece_is_placed(looks):
    placed = json.loads((ATTEMPT / "truth.json").read_text())["placed"]
    for zone, pieces in placed.items():
        for piece in pieces:
            if piece["finished"]:
                near = [s.zones[zone].hand for t, s in looks if abs(t - piece["seconds"]) < NEAR_S]
                assert any(near), (zone, piece)


@pytest.mark.slow
def test_the_fall_after_stop_moves_with_no_hand_near(looks):
    stop = json.loads((ATTEMPT / "attempt.json").read_text())["stop"]
    history = GateHistory()
    for at_s, state in looks:
        if at_s <= stop["seconds"] + 1.5:
            history.add(Frame(None, 0, at_s), state, "stopped")
    assert history.after(stop["zone"], stop["seconds"]).after == "nobody"
    assert max(s.zones[stop["zone"]].moving for t, s in looks if t > stop["seconds"] + 0.1) > TOUCHING
    assert looks[-1][1].zones[stop["zone"]].settled_s > 1.0


@pytest.mark.slow
def test_the_table_labels_about_as_well_as_segmentations():
    # How much quicker it is, compare_labels.py prints.
    path = Path(__file__).with_name("compare_labels.py")
    spec = importlib.util.spec_from_file_location("compare_labels", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    found = script.compare([script.GOLDEN / "village"])
    ours = found.pop("table (ours)")
    for _, pieces, sheet in found.values():
        assert ours[1] > pieces - 0.05 and ours[2] > sheet - 0.03
