"""A webcam's exposure, white balance and focus: held at what it has chosen by itself, and read back.

A driver may take a value and not keep it, and forgets it when the webcam is plugged in again: in force is what the
device says afterwards. OpenCV's capture, which reads the frames, hands both on to V4L2; elsewhere it says that it has
no such control.
"""

from typing import NamedTuple, Protocol

import cv2

from cards.sentences import Sentence, sentence


class Controls(Protocol):
    """A device whose controls can be read and set by OpenCV's numbers; -1 and False for one that it has not."""

    def get(self, control: int, /) -> float: ...
    def set(self, control: int, value: float, /) -> bool: ...


class Control(NamedTuple):
    """A setting: the switch that leaves it to the device, how that stands ``on`` and ``off``, its value, and what is
    said where it is another."""

    switch: int
    on: float
    off: float
    value: int
    fault: str


CONTROLS = {
    "exposure": Control(cv2.CAP_PROP_AUTO_EXPOSURE, 3, 1, cv2.CAP_PROP_EXPOSURE, "exposure_off"),
    "white_balance": Control(cv2.CAP_PROP_AUTO_WB, 1, 0, cv2.CAP_PROP_WB_TEMPERATURE, "white_balance_off"),
    "focus": Control(cv2.CAP_PROP_AUTOFOCUS, 1, 0, cv2.CAP_PROP_FOCUS, "focus_off"),
}
"""With V4L2's numbers for an exposure by the aperture's priority (3), which webcams have, and by hand (1)."""


class CameraSettings:
    """What is ``wanted`` of a device and what it has (``actual``; None while it chooses by itself), by name."""

    def __init__(self) -> None:
        self.wanted: dict[str, float] = {}
        self.actual: dict[str, float | None] = {}
        self.automatic: list[str] = []

    def release(self, device: Controls) -> None:
        """The device chooses by itself what it can (``automatic``)."""
        self.wanted, self.actual = {}, {}
        self.automatic = [name for name, c in CONTROLS.items() if device.set(c.switch, c.on)]

    def hold(self, device: Controls) -> None:
        """What the device has chosen is wanted from now on, as far as it lets itself be told."""
        chosen = {name: device.get(c.value) for name, c in CONTROLS.items()}  # told by hand, it may have another
        told = {name for name, c in CONTROLS.items() if device.set(c.switch, c.off)}
        self.wanted = {name: value for name, value in chosen.items() if value >= 0 and name in told}
        self.enforce(device)

    def enforce(self, device: Controls) -> None:
        """Set what is wanted, and read it back."""
        for name, wanted in self.wanted.items():
            control = CONTROLS[name]
            device.set(control.switch, control.off)
            device.set(control.value, wanted)
            held = device.get(control.switch) == control.off
            self.actual[name] = device.get(control.value) if held else None

    def faults(self) -> dict[str, Sentence]:
        """Name -> what is wanted and not in force, with what is; nothing of what has not been read back yet."""
        by_itself = sentence("by_itself")
        rows = [(name, round(self.wanted[name]), actual) for name, actual in self.actual.items()]
        return {
            name: sentence(CONTROLS[name].fault, wanted=wanted, actual=by_itself if actual is None else round(actual))
            for name, wanted, actual in rows
            if actual is None or round(actual) != wanted
        }
