"""A whole program for an evening in the browser. Session, journal and dashboard are the real ones; what the camera
would see is told: every build that is called is right.

    python tests/web/evening_program.py FOLDER PORT
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from calibration.palette import nominal_palette
from cards.build import Build
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.devices.box_keyboard import KeysBox
from referee.devices.camera_settings import CameraSettings
from referee.devices.ports import Frame, SystemClock
from referee.journal.journal import Journal
from referee.match.verdict import Verdict
from referee.session.session import Equipment, Session
from referee.vision.observer import Judgement
from referee.web.app import create_app
from referee.web.server import Server

EVERY_S, LATE_S = 0.1, 2.0
ZONES = "AB"


class TableCamera:
    """A still picture, ten times a second to each thread that asks. What a busy machine was late for comes at once,
    with its own time, and leaves no hole in which nobody looked."""

    name, simulated = "told", True

    def __init__(self, clock: SystemClock) -> None:
        self._clock, self._number, self.settings = clock, 0, CameraSettings()
        self._image, self._told = np.full((90, 160, 3), 128, np.uint8), threading.local()

    def adjust(self, how) -> None:
        pass  # a picture has no settings

    def latest(self, after: int = -1, timeout_s: float = 1.0) -> Frame:
        now_s = self._clock.now_s()
        self._told.at_s = max(getattr(self._told, "at_s", now_s) + EVERY_S, now_s - LATE_S)
        time.sleep(max(0.0, self._told.at_s - now_s))
        self._number += 1
        return Frame(self._image, self._number, self._told.at_s)

    def listen(self, callback) -> None:
        """Nobody records."""

    def status(self) -> dict:
        return {"name": self.name, "fps": 10.0, "dropped": 0, "lost": None}

    def close(self) -> None:
        """There is no device."""


class ToldObserver:
    """Calls every build right."""

    camera, colors, empty, at_go = None, None, np.zeros((90, 160, 3), np.uint8), None

    def __init__(self, pieces) -> None:
        self.piece_set, self.palette, self.markers = pieces, nominal_palette(pieces), {}

    def look(self, frame):
        return SimpleNamespace(poses={}, doubtful=(), camera=None)

    def read_earlier(self, image, zone, card, encode=None):
        """Reads nothing."""

    def judge(self, frames, card, zones, tolerances, earlier=None):
        verdicts = {zone: Verdict("match", 0.97, build=Build(self.piece_set, ())) for zone in zones}
        return Judgement(verdicts, 0.01, SimpleNamespace(poses={}))


class ToldGate:
    """Sees both fields empty, at rest, and no hand."""

    colours = None

    def look(self, frame):
        gate = SimpleNamespace(mat_seen=True, moving=0.0, hand=False, settled_s=1.0, fill=0.0)
        return SimpleNamespace(zones={zone: gate for zone in ZONES}, snapshots={})

    def picture(self):
        return None

    def hand_mask(self, zone):
        return None


def main(folder: Path, port: int) -> None:
    """Until it is killed."""
    clock, pieces = SystemClock(), builtin_piece_set()
    folder.mkdir(parents=True, exist_ok=True)
    with closing(Journal(folder / "journal.db")) as journal, closing(Journal(folder / "practice.db")) as practice:
        session = Session(
            Equipment(
                journal=journal,
                practice=practice,
                deck=builtin_deck(),
                piece_set=pieces,
                observer=ToldObserver(pieces),
                gate=ToldGate(),
                camera=TableCamera(clock),
                box=KeysBox(clock),
                clock=clock,
                data_dir=folder,
                simulated=True,
            )
        )
        session.start()
        server = Server(create_app(session), "127.0.0.1", port)
        print(f"board: {server.url}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
