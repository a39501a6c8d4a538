"""SIMULATED webcams: what Linux lists of them in a folder, and one of OpenCV's captures with V4L2's controls."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import MappingProxyType

import cv2
import numpy as np

from referee.errors import DeviceLost

SWITCHES = {
    "exposure": cv2.CAP_PROP_AUTO_EXPOSURE,
    "white_balance": cv2.CAP_PROP_AUTO_WB,
    "focus": cv2.CAP_PROP_AUTOFOCUS,
}
VALUES = {"exposure": cv2.CAP_PROP_EXPOSURE, "white_balance": cv2.CAP_PROP_WB_TEMPERATURE, "focus": cv2.CAP_PROP_FOCUS}


def plug_in(root: Path, number: int, name: str, serial: str = "", socket: str = "", index: int = 0) -> None:
    """List a SIMULATED webcam as Linux does, below ``root``; what was plugged in last takes a link's name over."""
    folders = {"by-id": serial and f"usb-{serial}", "by-path": socket and f"pci-usb-{socket}"}
    told = root / "sys/class/video4linux" / f"video{number}"
    for folder in (told, root / "dev/v4l/by-id", root / "dev/v4l/by-path"):
        folder.mkdir(parents=True, exist_ok=True)
    if not (device := root / f"dev/video{number}").exists():
        os.mkfifo(device)  # no regular file, as a device is none
    (told / "name").write_text(name + "\n")
    (told / "index").write_text(f"{index}\n")
    for folder, link in folders.items():
        if link:
            path = root / "dev/v4l" / folder / f"{link}-video-index{index}"
            path.unlink(missing_ok=True)
            path.symlink_to(f"../../video{number}")


class SimulatedCapture:
    """A SIMULATED capture: grey pictures, controls as V4L2 has them. ``stubborn`` settings take a value and keep their
    own; ``lacking`` ones are not there; ``level`` is the grey of its pictures."""

    def __init__(self, level: int = 90, stubborn: tuple[str, ...] = (), lacking: tuple[str, ...] = ()) -> None:
        self.level, self.stubborn, self.left = level, stubborn, 10**9
        self.has = {}
        for name, (automatic, value) in {"exposure": (3, 156), "white_balance": (1, 4600), "focus": (1, 30)}.items():
            if name not in lacking:
                self.has |= {SWITCHES[name]: automatic, VALUES[name]: value}

    def get(self, prop):
        return float(self.has.get(prop, 0 if prop == cv2.CAP_PROP_POS_MSEC else -1))

    def set(self, prop, value):
        if prop in self.has and prop not in [VALUES[name] for name in self.stubborn]:
            self.has[prop] = value
        return prop in self.has

    def isOpened(self):
        return self.left > 0

    def grab(self):
        time.sleep(0.005)
        self.left -= 1
        return self.left > 0

    def retrieve(self):
        return True, np.full((120, 160, 3), self.level, np.uint8)

    def release(self):
        self.left = 0


BRIO = "/dev/v4l/by-id/usb-Brio_22BB-video-index0"


class SimulatedChoices:
    """Choices of devices as a page sees them: two SIMULATED webcams, the one in use without a picture."""

    camera, second, box = "0", "none", "none"

    names = MappingProxyType({"0": "", BRIO: "Brio 100", "phone": "phone"})

    def cameras(self):
        return {self.camera: ""} | dict(self.names)

    def picture(self, source):
        if source != BRIO:
            raise DeviceLost("camera 0: was not found")
        return np.full((720, 1280, 3), 77, np.uint8)

    def boxes(self):
        return ["none", "auto", "/dev/ttyUSB0"]

    def use_camera(self, source, number=1):
        if source == "9":
            raise DeviceLost("no camera '9': take one of 0, 1 or an address")
        setattr(self, ("camera", "second")[number - 1], source)

    def use_box(self, port):
        self.box = port
