"""``referee doctor``: each thing that may be missing is made so, and the page names it with what mends it."""

from __future__ import annotations

import json
import subprocess
import webbrowser
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from simulated_webcams import SimulatedCapture

from referee.commands import doctor
from referee.devices.camera_settings import CameraSettings
from referee.devices.webcams import Webcam
from referee.errors import DeviceLost
from referee.journal.journal import Journal

Usage = namedtuple("Usage", "total used free")
Port = namedtuple("Port", "device vid")


@pytest.fixture
def brio(monkeypatch):
    """One SIMULATED webcam."""
    found = [Webcam(2, "Brio", "/dev/v4l/by-id/brio")]
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.setattr(doctor, "webcams", lambda: found)
    monkeypatch.setattr(doctor, "find_webcam", lambda source: found[0] if source in ("2", found[0].path) else None)
    monkeypatch.setattr(doctor.os, "access", lambda path, how: True)


def test_a_camera_that_is_not_there_is_missing_and_another_is_offered(brio):
    (found,) = doctor.check_camera("0")
    assert found.state == "missing" and "Brio (2, /dev/v4l/by-id/brio)" in found.mend


def test_a_camera_that_may_not_be_opened_names_the_group(brio, monkeypatch):
    monkeypatch.setattr(doctor.os, "access", lambda path, how: False)
    assert "usermod -aG video" in doctor.check_camera("2")[0].mend


class Opened:
    """A SIMULATED camera that is open; without a ``picture`` it is silent."""

    name = "film"

    def __init__(self, picture=None, device=None):
        self.picture, self.device, self.settings = picture, device, CameraSettings()

    def latest(self, after, timeout_s):
        if self.picture is None:
            raise DeviceLost("camera film: no picture")
        return SimpleNamespace(image=self.picture, number=1)

    def status(self):
        return {"fps": 24.9, "delay_s": 0.141, "frame_error_s": 0.155}

    def adjust(self, how):
        how(self.device)

    def close(self):
        pass


def test_a_camera_without_a_picture_is_missing(monkeypatch):
    monkeypatch.setattr(doctor, "open_camera", lambda source, clock: Opened())
    (found,) = doctor.check_camera("http://film")
    assert (found.state, found.text) == ("missing", "camera film: no picture")


def test_every_webcam_is_listed_with_what_it_gives_and_what_of_its_settings_is_not_in_force(brio, monkeypatch):
    device = SimulatedCapture(stubborn=("exposure",))
    monkeypatch.setattr(doctor, "RATE_S", 0.0)
    opened = Opened(np.zeros((720, 1280, 3), np.uint8), device)
    monkeypatch.setattr(doctor, "open_camera", lambda source, clock: opened)
    stream, webcam = doctor.check_cameras([("http://phone", {})])
    assert "1280x720, 25 a second, 141 ms after they were taken, ± 155 ms" in stream.text
    assert webcam.what == "another camera" and "Brio (2, /dev/v4l/by-id/brio) gives pictures" in webcam.text
    one, exposure = doctor.check_cameras([("2", {"exposure": 99.0, "focus": 12.0})])
    assert one.state == "ok" and exposure.state == "missing"
    assert exposure.text == "the camera's exposure is 156 and should be 99" and "/setup" in exposure.mend


def test_a_phone_lacks_at_most_the_package_that_makes_its_certificate(monkeypatch):
    assert doctor.check_camera("phone")[0].state == "ok"
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert "referee[phone]" in doctor.check_camera("phone")[0].mend


def test_no_box_is_a_hint_and_one_that_may_not_be_opened_is_missing(monkeypatch):
    monkeypatch.setattr(doctor.list_ports, "comports", lambda: [Port("/dev/ttyS0", None)])
    assert doctor.check_button_box().state == "hint" and "--box none" in doctor.check_button_box().mend
    monkeypatch.setattr(doctor.list_ports, "comports", lambda: [Port("/dev/ttyACM7", 0x2341)])
    monkeypatch.setattr(doctor.os, "access", lambda path, how: False)
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    assert "usermod -aG dialout" in doctor.check_button_box().mend


def test_a_full_disk_is_missing_and_a_small_one_says_what_to_allow(monkeypatch, tmp_path):
    for free_gb, state in ((1, "missing"), (20, "hint"), (100, "ok")):
        monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path, n=free_gb: Usage(0, 0, n << 30))
        folder, room = doctor.check_disk(tmp_path / "not" / "made")
        assert (folder.state, room.state) == ("ok", state), room
    assert not (tmp_path / "not").exists()


def test_a_data_folder_that_cannot_be_written_is_missing(tmp_path):
    (tmp_path / "file").write_text("")
    assert doctor.check_disk(tmp_path / "file" / "data")[0].state == "missing"


def test_a_clock_that_nobody_sets_is_missing(monkeypatch):
    for answer, state in {"yes": "ok", "no": "missing"}.items():
        done = subprocess.CompletedProcess([], 0, f"{answer}\n")
        monkeypatch.setattr(doctor.subprocess, "run", lambda *_, done=done, **__: done)
        assert doctor.check_clock().state == state
    assert "set-ntp" in doctor.check_clock().mend

    def none(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(doctor.subprocess, "run", none)
    assert doctor.check_clock().state == "hint"


def test_a_folder_in_which_no_file_can_be_made_is_missing_for_root_too():
    assert doctor.check_disk(Path("/proc/data"))[0].state == "missing"


def test_no_browser_is_a_hint(monkeypatch):
    def none():
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(doctor.webbrowser, "get", none)
    assert doctor.check_browser().state == "hint" and "--host 0.0.0.0" in doctor.check_browser().mend


@pytest.mark.parametrize(("lack", "status"), [(False, 0), (True, 1)])
def test_one_page_and_a_status(monkeypatch, tmp_path, lack, status):
    lost = doctor.Finding("camera", "missing", "there is no /dev/video0", "plug one in")
    sound = doctor.Finding("camera", "ok", "camera 0 gives pictures of 1280x720")
    tried = []
    (tmp_path / "rig").mkdir()
    (tmp_path / "rig" / "camera.json").write_text('{"camera": "/dev/v4l/by-id/brio", "settings": {"focus": 12}}')
    monkeypatch.setattr(doctor, "check_cameras", lambda *asked: tried.append(asked) or [lost if lack else sound])
    monkeypatch.setattr(doctor, "check_button_box", lambda: doctor.Finding("button box", "hint", "none", "--box none"))
    monkeypatch.setattr(doctor, "check_clock", lambda: doctor.Finding("clock", "ok", "kept"))
    monkeypatch.setattr(doctor, "check_disk", lambda folder: [doctor.Finding("disk", "ok", "much")])
    done = CliRunner().invoke(doctor.doctor, ["--data-dir", str(tmp_path)])
    assert done.exit_code == status and tried == [([("/dev/v4l/by-id/brio", {"focus": 12.0})],)]
    assert ("-> plug one in" in done.output) == lack and "-> --box none" in done.output
    assert done.output.splitlines()[-1] == ("1 missing" if lack else "nothing is missing")


def test_a_small_picture_is_a_hint(tmp_path):
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 15, (640, 360))
    for _ in range(5):
        writer.write(np.full((360, 640, 3), 90, np.uint8))
    writer.release()
    assert doctor.check_camera(str(path))[0].state == "hint"


def test_the_tables_own_figures_are_told_with_the_overrulings_since(tmp_path):
    assert doctor.check_proof(tmp_path).mend == "referee prove"
    proof = tmp_path / "proofs" / "20260101-1" / "proof.json"
    proof.parent.mkdir(parents=True)
    proof.write_text(json.dumps({"figures": {"right": 9, "wrong": 0, "undecided": 1, "at": "2026"}}))
    assert doctor.check_proof(tmp_path).text.endswith("at least 60 % are right")
    Journal(tmp_path / "journal.db").close()
    assert "9 of 10 right" in (said := doctor.check_proof(tmp_path).text) and "ruled on 0 builds" in said
