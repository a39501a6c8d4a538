"""Which camera and button box there are, and changing over to another while the program runs.

The set-up page offers these; what it sends back must be one of them, an address of a network camera, or a recorded
file in the data folder: no name from a page reaches any other file.
"""

import threading
from collections.abc import Callable
from contextlib import ExitStack, closing

import numpy as np
from serial.tools import list_ports

from cards.sentences import sentence
from referee.devices.box import SerialBox
from referee.devices.box_keyboard import KeysBox
from referee.devices.camera import open_camera
from referee.devices.phone import PHONE
from referee.devices.ports import ButtonBox, Camera, Clock
from referee.devices.webcams import webcams
from referee.errors import DeviceLost
from referee.session.ports import RunningSession

FIRST_PICTURE_S = 5.0
"""A webcam that has not given a picture by then is not the right one."""

Opener = Callable[[str, Clock], Camera]
ADDRESSES = ("http://", "https://", "rtsp://")

NO_CAMERA = "none"
"""What is chosen for a table without a second camera."""

LOOKED_AT_S = 5.0
"""A webcam that nobody has looked at for so long is closed again."""


def open_box(port: str, clock: Clock, box_id: str | None = None) -> ButtonBox:
    """Real buttons at that port (``auto`` looks for them), or for ``none`` the dashboard's.

    ``box_id`` insists on the box of that name.
    """
    if port == "none":
        return KeysBox(clock)
    return SerialBox(None if port == "auto" else port, clock, box_id)


class DeviceChoices:
    """The devices of a real session. ``camera`` and ``box`` name the ones in use; ``close`` closes them."""

    def __init__(self, session: RunningSession, box: str, clock: Clock, opener: Opener = open_camera) -> None:
        self._session, self._clock, self._open = session, clock, opener
        self.box = box
        self._lock = threading.Lock()
        self._looked_at: dict[str, Camera] = {}
        self._unwatched = threading.Timer(0, self._look_away)

    @property
    def camera(self) -> str:
        """What opens the camera in use again."""
        return self._session.camera.source

    @property
    def second(self) -> str:
        """What opens the second camera again; NO_CAMERA without one."""
        return [*(camera.source for camera in self._session.cameras), NO_CAMERA][1]

    def cameras(self) -> dict[str, str]:
        """What opens it -> its name, of every webcam, a phone's browser, and those in use, which are first."""
        names = {one.path: one.name for one in webcams()}
        return {source: camera.name for source, camera in self._in_use().items()} | names | {PHONE: PHONE}

    def boxes(self) -> list[str]:
        """``none`` (keys and the dashboard), ``auto``, every serial port, and the one in use."""
        ports = sorted(port.device for port in list_ports.comports())
        return list(dict.fromkeys([self.box, "none", "auto", *ports]))

    def use_camera(self, source: str, number: int = 1) -> None:
        """Change over to it as the first camera or the second. Raises DeviceLost for one that gives no picture; then
        the old one stays."""
        none = number == 2 and source == NO_CAMERA
        if not none and source not in self.cameras() and not source.startswith(ADDRESSES):
            source = self._recorded(source)
        if source == (self.camera, self.second)[number - 1]:
            return
        if source in self._in_use():
            raise DeviceLost(sentence("camera_twice", name=source))
        self._look_away()  # no webcam can be opened twice
        with self._lock, ExitStack() as unless_used:
            fresh = None if none else unless_used.enter_context(closing(self._open(source, self._clock)))
            if fresh and source != PHONE and fresh.latest(-1, FIRST_PICTURE_S) is None:
                raise DeviceLost(sentence("no_picture", name=source))
            spare = self._session.use_camera(fresh, number)
            unless_used.pop_all()
            if spare:
                spare.close()

    def picture(self, source: str) -> np.ndarray:
        """What a camera of the list shows now; a webcam that is not in use is opened for as long as somebody looks.

        Raises DeviceLost.
        """
        in_use = self._in_use()
        with self._lock:
            camera = in_use.get(source) or self._session.camera
            if source not in in_use:
                if source not in [one.path for one in webcams()]:
                    raise DeviceLost(sentence("no_camera", name=source, known=list(self.cameras())))
                camera = self._looked_at.get(source) or self._open(source, self._clock)
                self._looked_at[source] = camera
                self._unwatched.cancel()
                self._unwatched = threading.Timer(LOOKED_AT_S, self._look_away)
                self._unwatched.start()
        frame = camera.latest(-1, FIRST_PICTURE_S)
        if frame is None:
            raise DeviceLost(sentence("no_picture", name=source))
        return frame.image

    def _in_use(self) -> dict[str, Camera]:
        return {camera.source: camera for camera in self._session.cameras}

    def _look_away(self) -> None:
        with self._lock:
            for camera in self._looked_at.values():
                camera.close()
            self._looked_at.clear()

    def _recorded(self, name: str) -> str:
        """The path of a recorded file by its name in the data folder. Raises DeviceLost when there is none in it."""
        folder = self._session.data_dir.resolve()
        path = (folder / name).resolve()
        if path.is_relative_to(folder) and path.is_file():
            return str(path)
        raise DeviceLost(sentence("no_camera", name=name, known=list(self.cameras())))

    def use_box(self, port: str) -> None:
        """Change over; a box that does not answer yet is an alarm, as at the start."""
        if port not in self.boxes():
            raise DeviceLost(sentence("no_box", name=port, known=list(self.boxes())))
        if port == self.box:
            return
        with self._lock, ExitStack() as unless_used:
            fresh = unless_used.enter_context(closing(open_box(port, self._clock)))
            spare = self._session.use_box(fresh)
            unless_used.pop_all()
            spare.close()
            self.box = port

    def close(self) -> None:
        """Close what is in use now, or looked at."""
        self._unwatched.cancel()
        self._look_away()
        for camera in self._session.cameras:
            camera.close()
        self._session.box.close()
