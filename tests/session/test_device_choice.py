"""Changing over to another camera or box while the session goes on."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.devices.ports import SystemClock
from referee.devices.webcams import Webcam, webcams
from referee.errors import DeviceLost, IllegalCommand
from referee.session import device_choice
from referee.session.device_choice import DeviceChoices


class Device:
    """A camera or box that notes whether it was closed."""

    def __init__(self, source: str, picture: object = "a frame") -> None:
        self.source = self.name = source
        self.picture, self.closed = picture, False

    def latest(self, after, timeout_s):
        return self.picture

    def close(self):
        self.closed = True


class Session:
    """Takes new devices and gives the old ones back, unless a duel is in play."""

    def __init__(self) -> None:
        self.camera, self.box, self.in_play = Device("0"), Device("none"), False
        self.second = None
        self.data_dir = Path("nowhere")

    @property
    def cameras(self):
        return [camera for camera in (self.camera, self.second) if camera]

    def use_camera(self, camera, number=1):
        return self._swap(("camera", "second")[number - 1], camera)

    def use_box(self, box):
        return self._swap("box", box)

    def _swap(self, name, new):
        if self.in_play:
            raise IllegalCommand("finish or void the duel first")
        old = getattr(self, name)
        setattr(self, name, new)
        return old


@pytest.fixture
def rig():
    session = Session()
    opened: list[Device] = []

    def opener(source, clock):
        opened.append(Device(source, None if source == "phone" or "blind" in source else SimpleNamespace(image="it")))
        return opened[-1]

    return SimpleNamespace(
        session=session,
        opened=opened,
        choices=DeviceChoices(session, "none", SystemClock(), opener),
    )


def test_a_phone_is_taken_before_it_gives_a_picture(rig):
    assert "phone" in rig.choices.cameras()
    rig.choices.use_camera("phone")
    assert rig.session.camera is rig.opened[0] and rig.choices.camera == "phone"


def test_another_camera_takes_over_and_the_old_one_is_closed(rig):
    old = rig.session.camera
    rig.choices.use_camera("http://phone/video")
    assert rig.session.camera is rig.opened[0] and old.closed and not rig.opened[0].closed
    assert rig.choices.camera == "http://phone/video" in rig.choices.cameras()


def test_a_second_camera_is_chosen_changed_and_removed_and_is_never_the_first(rig):
    for source in ("http://side/video", "http://behind/video"):
        rig.choices.use_camera(source, 2)
        assert rig.choices.second == source == rig.session.second.source in rig.choices.cameras()
    side, behind = rig.opened
    assert side.closed and not behind.closed and rig.choices.camera == "0"
    for source, number in (("0", 2), ("http://behind/video", 1)):
        with pytest.raises(DeviceLost, match="is the other camera already"):
            rig.choices.use_camera(source, number)
    rig.choices.use_camera("none", 2)
    assert behind.closed and rig.session.second is None and rig.choices.second == "none"
    with pytest.raises(DeviceLost):
        rig.choices.use_camera("none")


def test_a_camera_without_a_picture_is_closed_and_the_old_one_stays(rig):
    old = rig.session.camera
    with pytest.raises(DeviceLost, match="gives no picture"):
        rig.choices.use_camera("http://blind/video")
    assert rig.session.camera is old and not old.closed and rig.opened[0].closed


def test_during_a_duel_nothing_changes(rig):
    rig.session.in_play = True
    with pytest.raises(IllegalCommand):
        rig.choices.use_camera("http://phone/video")
    with pytest.raises(IllegalCommand):
        rig.choices.use_box("auto")
    assert rig.opened[0].closed and rig.choices.camera == "0" and rig.choices.box == "none"


@pytest.mark.parametrize("source", ["/etc/passwd", "../video.mp4", "file:///etc/passwd", "17x", ""])
def test_no_name_from_a_page_reaches_a_file(rig, source):
    with pytest.raises(DeviceLost, match="no camera"):
        rig.choices.use_camera(source)
    with pytest.raises(DeviceLost, match="no button box"):
        rig.choices.use_box(source)
    assert rig.opened == []


def test_a_recorded_file_is_taken_from_the_data_folder_and_from_nowhere_else(rig, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for path in (folder / "film.avi", tmp_path / "secret.avi"):
        path.write_bytes(b"film")
    (folder / "link.avi").symlink_to(tmp_path / "secret.avi")
    rig.session.data_dir = folder
    for name in ("../secret.avi", "link.avi", str(tmp_path / "secret.avi"), ".", "", "nothing.avi"):
        with pytest.raises(DeviceLost, match="no camera"):
            rig.choices.use_camera(name)
    rig.choices.use_camera("film.avi")
    assert rig.choices.camera == str(folder / "film.avi") and rig.session.camera is rig.opened[-1]


def test_webcams_are_listed_by_their_names_and_looked_at_as_long_as_somebody_does(rig, monkeypatch):
    found = [Webcam(0, "C920", "0"), Webcam(2, "Brio", "/dev/v4l/by-id/brio")]
    monkeypatch.setattr(device_choice, "webcams", lambda: found)
    monkeypatch.setattr(device_choice, "LOOKED_AT_S", 0.05)
    assert rig.choices.cameras() == {"0": "C920", "/dev/v4l/by-id/brio": "Brio", "phone": "phone"}
    rig.session.camera.picture = SimpleNamespace(image="in use")
    assert rig.choices.picture("0") == "in use" and rig.opened == []
    assert [rig.choices.picture("/dev/v4l/by-id/brio") for _ in range(3)] == ["it"] * 3 and len(rig.opened) == 1
    for other in ("1", "/etc/passwd", "http://phone/video"):
        with pytest.raises(DeviceLost, match="no camera"):
            rig.choices.picture(other)
    end = time.monotonic() + 10
    while not rig.opened[0].closed:
        assert time.monotonic() < end
        time.sleep(0.01)
    monkeypatch.setattr(device_choice, "LOOKED_AT_S", 60)
    rig.choices.picture("/dev/v4l/by-id/brio")
    rig.choices.use_camera("/dev/v4l/by-id/brio")
    assert rig.opened[1].closed and rig.session.camera is rig.opened[2]
    rig.choices.close()


def test_other_systems_offer_the_first_few_to_try(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert [one.path for one in webcams()] == ["0", "1", "2", "3"]


def test_the_same_device_again_is_left_as_it_is(rig):
    rig.choices.use_camera("0")
    rig.choices.use_box("none")
    assert rig.opened == [] and not rig.session.camera.closed


def test_closing_closes_what_is_in_use(rig):
    rig.choices.use_camera("http://phone/video")
    rig.choices.close()
    assert rig.opened[0].closed and rig.session.box.closed
