"""``referee doctor``: each thing that may be missing is made so, and the page names it with what mends it."""

from __future__ import annotations

import socket
import subprocess
import webbrowser
from collections import namedtuple
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from referee.commands import doctor
from referee.errors import DeviceLost

Usage = namedtuple("Usage", "total used free")
Port = namedtuple("Port", "device vid")


def test_a_camera_that_is_not_there_is_missing_and_another_is_offered(monkeypatch):
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.setattr(doctor.Path, "exists", lambda self: False)
    monkeypatch.setattr(doctor.Path, "glob", lambda self, what: iter([doctor.Path("/dev/video2")]))
    found = doctor.check_camera("0")
    assert found.state == "missing" and "/dev/video2" in found.mend


def test_a_camera_that_may_not_be_opened_names_the_group(monkeypatch):
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.setattr(doctor.Path, "exists", lambda self: True)
    monkeypatch.setattr(doctor.os, "access", lambda path, how: False)
    assert "usermod -aG video" in doctor.check_camera("0").mend


def test_a_camera_without_a_picture_is_missing(monkeypatch):
    class Silent:
        def latest(self, after, timeout_s):
            raise DeviceLost("camera film: no picture")

        def close(self):
            pass

    monkeypatch.setattr(doctor, "open_camera", lambda source, clock: Silent())
    assert (doctor.check_camera("film.avi").state, doctor.check_camera("film.avi").text) == (
        "missing",
        "camera film: no picture",
    )


def test_a_phone_lacks_at_most_the_package_that_makes_its_certificate(monkeypatch):
    assert doctor.check_camera("phone").state == "ok"
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert "referee[phone]" in doctor.check_camera("phone").mend


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


def test_no_browser_and_a_taken_port_are_hints(monkeypatch):
    def none():
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(doctor.webbrowser, "get", none)
    assert doctor.check_browser().state == "hint" and "--host 0.0.0.0" in doctor.check_browser().mend
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        assert doctor.check_port(number).state == "hint" and "--port 0" in doctor.check_port(number).mend
    assert doctor.check_port(0).state == "ok"


@pytest.mark.parametrize(("lack", "status"), [(False, 0), (True, 1)])
def test_one_page_and_a_status(monkeypatch, tmp_path, lack, status):
    lost = doctor.Finding("camera", "missing", "there is no /dev/video0", "plug one in")
    sound = doctor.Finding("camera", "ok", "camera 0 gives pictures of 1280x720")
    monkeypatch.setattr(doctor, "check_camera", lambda source: lost if lack else sound)
    monkeypatch.setattr(doctor, "check_button_box", lambda: doctor.Finding("button box", "hint", "none", "--box none"))
    monkeypatch.setattr(doctor, "check_clock", lambda: doctor.Finding("clock", "ok", "kept"))
    monkeypatch.setattr(doctor, "check_disk", lambda folder: [doctor.Finding("disk", "ok", "much")])
    done = CliRunner().invoke(doctor.doctor, ["--port", "0", "--data-dir", str(tmp_path)])
    assert done.exit_code == status
    assert ("-> plug one in" in done.output) == lack and "print at 100 %" in done.output
    assert done.output.splitlines()[-1] == ("1 missing" if lack else "nothing is missing")


def test_a_small_picture_is_a_hint(tmp_path):
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 15, (640, 360))
    for _ in range(5):
        writer.write(np.full((360, 640, 3), 90, np.uint8))
    writer.release()
    assert doctor.check_camera(str(path)).state == "hint"
