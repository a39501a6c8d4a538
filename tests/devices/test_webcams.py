"""Webcams by name, path and index, their settings held and read back; all of them SIMULATED."""

from __future__ import annotations

import sys
import time
from functools import partial

import pytest
from simulated_webcams import SWITCHES, VALUES, SimulatedCapture, plug_in

from referee.devices import camera as cameras
from referee.devices.camera import open_camera
from referee.devices.camera_settings import CameraSettings
from referee.devices.ports import SystemClock
from referee.devices.webcams import find_webcam, webcams

C920 = "HD Pro Webcam C920"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Two SIMULATED webcams of different makers; the first has a node for its data too."""
    monkeypatch.setattr(sys, "platform", "linux")
    plug_in(tmp_path, 0, C920, "Logitech_C920_11AA", "0:1")
    plug_in(tmp_path, 1, C920, "Logitech_C920_11AA", "0:1", index=1)
    plug_in(tmp_path, 2, "Brio 100", "Brio_22BB", "0:2")
    return tmp_path


def test_each_webcam_is_listed_once_with_its_name_and_the_path_that_stays_its_own(root):
    by_id = str(root / "dev/v4l/by-id")
    assert [(w.index, w.name, w.path) for w in webcams(root)] == [
        (0, C920, f"{by_id}/usb-Logitech_C920_11AA-video-index0"),
        (2, "Brio 100", f"{by_id}/usb-Brio_22BB-video-index0"),
    ]


LINKS = ["by-id/usb-Logitech_C920_11AA-video-index0", "by-path/pci-usb-0:1-video-index0"]


@pytest.mark.parametrize("source", ["0", C920, "hd pro webcam c920", "c920", "/dev/video0", *LINKS])
def test_a_webcam_is_meant_by_index_name_part_of_it_and_every_path(root, source):
    path = str(root / "dev/v4l" / source) if source in LINKS else source
    assert find_webcam(path, root).index == 0


@pytest.mark.parametrize("source", ["", "9", "7", "nothing", "/dev/v4l/by-id/gone", "http://phone"])
def test_what_is_no_webcam_is_none(root, source):
    assert find_webcam(source, root) is None


def test_two_of_a_name_are_told_apart_by_their_paths_only(root):
    plug_in(root, 4, C920, "Logitech_C920_33CC", "0:3")
    assert find_webcam("c920", root) is None and find_webcam(C920, root) is None
    paths = {w.index: w.path for w in webcams(root)}
    assert [find_webcam(paths[n], root).index for n in (0, 4)] == [0, 4]


def test_two_without_serial_numbers_share_a_link_and_are_told_apart_by_their_sockets(tmp_path):
    for number, socket in ((0, "0:1"), (2, "0:2")):
        plug_in(tmp_path, number, "Webcam", "Maker_Webcam", socket)
    assert [w.path.rpartition("/")[2][:11] for w in webcams(tmp_path)] == ["pci-usb-0:1", "pci-usb-0:2"]


def wait_for(what, timeout_s: float = 15.0) -> None:
    end = time.monotonic() + timeout_s
    while not what():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


@pytest.fixture
def plugged(root, monkeypatch):
    """Index -> SIMULATED capture that is opened there."""
    captures = {0: SimulatedCapture(40), 2: SimulatedCapture(200)}
    monkeypatch.setattr(cameras, "find_webcam", partial(find_webcam, root=root))
    monkeypatch.setattr(cameras.cv2, "VideoCapture", lambda index, *_: captures[index])
    monkeypatch.setattr(cameras, "RETRY_S", 0.02)
    return captures


def grey_of(camera) -> int:
    return int(camera.latest(-1, 5.0).image[0, 0, 0])


def test_two_that_swap_their_ports_stay_themselves(root, plugged):
    camera = open_camera("0", SystemClock())
    try:
        assert grey_of(camera) == 40 and camera.name == C920 and 0 < camera.status()["delay_s"] < 0.3
        assert camera.name == C920 and camera.source.endswith("C920_11AA-video-index0")
        plug_in(root, 0, "Brio 100", "Brio_22BB", "0:1")
        plug_in(root, 2, C920, "Logitech_C920_11AA", "0:2")
        first, plugged[0], plugged[2] = plugged[0], SimulatedCapture(200), SimulatedCapture(41)
        first.left = 0  # pulled out
        wait_for(lambda: not camera.status()["lost"] and grey_of(camera) == 41)
        assert camera.name == C920
    finally:
        camera.close()
    plugged[2] = SimulatedCapture(41)
    again = open_camera(camera.source, SystemClock())  # as it is remembered
    try:
        assert grey_of(again) == 41
    finally:
        again.close()


def test_settings_are_in_force_again_after_every_start_of_the_stream(plugged):
    camera = open_camera("c920", SystemClock())
    try:
        grey_of(camera)
        camera.adjust(camera.settings.hold)
        assert camera.settings.wanted == {"exposure": 156, "white_balance": 4600, "focus": 30}
        assert [plugged[0].get(SWITCHES[name]) for name in SWITCHES] == [1, 0, 0] and camera.settings.faults() == {}
        first, plugged[0] = plugged[0], SimulatedCapture(41)
        plugged[0].set(VALUES["exposure"], 20)  # plugged in again it chooses by itself
        first.left = 0
        wait_for(lambda: not camera.status()["lost"] and grey_of(camera) == 41)
        assert plugged[0].get(VALUES["exposure"]) == 156 and plugged[0].get(SWITCHES["exposure"]) == 1
        plugged[0].stubborn = ("focus",)
        plugged[0].has[VALUES["focus"]] = 0
        camera.adjust(camera.settings.enforce)
        assert camera.settings.faults() == {"focus": "the camera's focus is 0 and should be 30"}
    finally:
        camera.close()
    camera.adjust(camera.settings.release)  # nobody is there to do it, and nobody waits


def test_what_a_device_has_not_or_keeps_to_itself_is_said(monkeypatch):
    settings, device = CameraSettings(), SimulatedCapture(lacking=("focus",))
    settings.release(device)
    assert settings.automatic == ["exposure", "white_balance"]
    settings.hold(device)
    assert settings.wanted.keys() == {"exposure", "white_balance"} and settings.faults() == {}
    monkeypatch.setattr(device, "set", lambda prop, value: True)
    device.has[SWITCHES["exposure"]] = 3
    settings.enforce(device)
    told = settings.faults()["exposure"]
    assert told == "the camera's exposure is chosen by itself and should be 156"
    fixed = CameraSettings()
    fixed.hold(SimulatedCapture(lacking=("exposure", "white_balance", "focus")))
    assert fixed.wanted == {}
