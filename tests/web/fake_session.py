"""A session without devices for the pages' tests: the real match, a clock of its own, drawn pictures."""

from __future__ import annotations

import shutil
import sys
import threading
import time
import weakref
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "simulator"))

from posed_table import PosedTable

from calibration.markers import CORNERS, MARKER_CENTRES
from calibration.mat import SHEET_CORNERS, detect_mats
from calibration.palette import nominal_palette
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.devices.box_keyboard import KeysBox
from referee.devices.camera_settings import CameraSettings
from referee.devices.ports import Frame
from referee.errors import IllegalCommand
from referee.journal.public_events import EventFeed
from referee.match.card_facts import cards_of
from referee.match.commands import CameraVerdict, CreateMatch, Go, PressStop
from referee.match.decide import decide
from referee.match.evolve import evolve
from referee.match.house_rules import DEFAULT_RULES
from referee.match.state import MatchState
from referee.match.verdict import zone_verdict
from referee.session.proving import TableProof
from referee.session.rig_setup import RigSetup
from referee.session.second_view import CameraView


class FakeClock:
    """The host's monotonic clock, set ahead by ``sleep``."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now_s(self) -> float:
        return time.monotonic() + self.ahead_s

    def boot_id(self) -> str:
        return "one run of the machine"

    def utc(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        self.ahead_s += seconds


class StillClock(FakeClock):
    """Stands still but for ``sleep``."""

    def now_s(self) -> float:
        return 100.0 + self.ahead_s


@lru_cache
def table_picture() -> np.ndarray:
    """One picture of the simulated rig, (720, 1280, 3) BGR, with empty mats."""
    return PosedTable(builtin_piece_set(), 3, seating="beside").empty()


def without_markers(image, zone):
    """A picture in which that mat's markers are grey, and where its sheet's corners (4, 2) are, shares of it."""
    mats = detect_mats(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    pose, spoilt = mats.poses[zone], image.copy()
    for centre in MARKER_CENTRES:
        square = np.c_[centre + 1.1 * CORNERS, np.zeros(4)]
        cv2.fillConvexPoly(spoilt, mats.camera.project(pose.to_camera(square)).round().astype(np.int32), (90, 90, 90))
    corners = mats.camera.project(pose.to_camera(np.c_[SHEET_CORNERS, np.zeros(4)]))
    return spoilt, (corners + 0.5) / (image.shape[1], image.shape[0])


class FakeObserver:
    """Learns nothing, but remembers that it was asked to."""

    def __init__(self, piece_set) -> None:
        self.camera, self.palette, self.asked = None, nominal_palette(piece_set), []
        self.empty, self.at_go, self.colors, self.markers, self.placed = None, None, None, {}, {}

    def learn_empty(self, image) -> None:
        self.asked.append("empty")
        self.empty = image

    def learn_colors(self, image):
        self.asked.append("colors")
        self.colors = image
        return self.palette

    def learn_sizes(self, image):
        self.asked.append("sizes")
        return 1.0


class FakeCamera:
    """Gives one picture for ever."""

    name = source = "fake"
    simulated = True

    def __init__(self) -> None:
        self.settings, self.device = CameraSettings(), None

    def adjust(self, how) -> None:
        if self.device is not None:
            how(self.device)

    def latest(self, after: int = -1, timeout_s: float = 1.0) -> Frame:
        return Frame(table_picture(), 1, 0.0)

    def status(self) -> dict:
        return {"fps": 30.0, "frame_error_s": 0.015}


class FakeJudging:
    """Counts how often the rig was declared to be as it should."""

    def __init__(self) -> None:
        self.set_up = 0

    def set_up_anew(self) -> None:
        self.set_up += 1


MISSING = ("missing_piece", "1 blue cube missing", {"n": 1, "piece": {"color": "blue", "shape": "cube"}})
"""A reason for ``see``."""


class FakeSession:
    """What the pages use of ``referee.session.session.Session``; verdicts are told to it by ``see``."""

    @property
    def cameras(self):
        return [self.camera, *([self.second.camera] if self.second else ())]

    @property
    def views(self):
        return [CameraView(one.camera, one.observer) for one in (self, self.second) if one]

    def put_back_views(self) -> None:
        """They never change places."""

    def __init__(self, simulated: bool = True) -> None:
        self.simulated = simulated
        self.clock, self.shift_s = FakeClock(), 0.0
        self.deck, self.piece_set, self.rules = builtin_deck(), builtin_piece_set(), DEFAULT_RULES
        self.observer, self.camera = FakeObserver(self.piece_set), FakeCamera()
        self.box = KeysBox(self.clock)
        self.judging = FakeJudging()
        self.setup = RigSetup(self)
        self.practice = self.choices = self.second = None
        self.proof, self.journal = TableProof(self), self
        self.data_dir = Path(gettempdir()) / f"referee-web-{token_hex(5)}"  # mkdtemp's names have "_", as codes do
        self.data_dir.mkdir()
        weakref.finalize(self, shutil.rmtree, self.data_dir, ignore_errors=True)
        (self.data_dir / "evening.json").write_text('{"countdown": 0}', encoding="utf-8")
        self.state = MatchState()
        self.alarms: list[dict] = []
        self.fields: dict[str, str] = {}
        self.older_matches: list[dict] = []
        self.changed = threading.Condition()
        self.version = 0
        self.events: list = []
        self.feed = EventFeed(self, "", "")
        self.listeners = [self.feed.follow]
        self.listen = self.listeners.append

    def command(self, command, who: str = ""):
        events = decide(self.state, command, self.clock.utc().isoformat())
        for event in events:
            self.state = evolve(self.state, event)
        self.events += events
        for listener in self.listeners:
            listener(self.state, events)
        self.touch()
        return events

    def matches(self, table: str | None = None) -> list[str]:
        return []  # no record: what happened before is unknown

    def touch(self) -> None:
        with self.changed:
            self.version += 1
            self.changed.notify_all()

    def create_match(self, players, mode="all", seed=None, rules=None, who=""):
        self.state = MatchState()
        events = self.command(
            CreateMatch(
                tuple(players),
                mode,
                1 if seed is None else seed,
                self.deck.name,
                rules or self.rules,
                cards_of(self.deck),
                f"match-{self.version}",
                self.simulated,
            )
        )
        self.setup.match_created()
        return events

    def take_up(self, match_id: str, who: str = ""):
        raise IllegalCommand(f"no match {match_id!r} of this table is in the record")

    def older(self) -> list[dict]:
        return self.older_matches

    def go(self, who: str = ""):
        return self.command(Go(self.clock.now_s()))

    def press(self, zone: str, who: str = "", key=None):
        return self.command(PressStop(zone, *(key or (self.clock.now_s(), 0.001)), by="key" if key else "page"))

    def rest(self, zone: str, resting: bool):
        self.box.rest("AB".index(zone), resting)
        return ()

    def see(self, zone: str, verdict: str, confidence: float = 0.97, reasons=(), *, findings=(), **more) -> None:
        """The camera's verdict on a zone; ``reasons`` as (code, text), with values or without; ``findings`` by name."""
        row = {
            "verdict": verdict,
            "confidence": confidence,
            "reasons": [{"code": code, "text": text, "values": dict(*values)} for code, text, *values in reasons],
            **more,
        }
        self.command(CameraVerdict(zone, zone_verdict(row), findings))

    def snapshot(self) -> dict:
        judged = self.state.verdicts
        match = self.state.to_json() if self.state.match_id else None
        return {
            "version": self.version,
            "simulated": self.simulated,
            "match": match,
            "card": None,
            "alarms": self.alarms,
            "live": {
                "fields": self.fields,
                "card_read": self.state.card_id,
                "camera": {"name": "fake", "fps": 30.0, "dropped": 0, "lost": None},
                "box": {"connected": True, "version": "fake"},
                "gates": {
                    z: {"mat_seen": True, "hand": False, "moving": 0.0, "settled_s": 1.2, "fill": 0.0} for z in "AB"
                },
            },
            "verdict": {"overlay": f"/media/{self.overlay}.jpg", "builds": self._builds()} if judged else {},
            "pictures": {d.number: f"/media/overlay/{d.number}.jpg" for d in self.state.history},
        }

    def _builds(self) -> dict:
        """What the pictures of the builds alone would be."""
        source = f"/media/build/{self.state.duel.number}"
        return {zone: {"src": f"{source}/{zone}.jpg", "width": 240.0, "height": 135.0} for zone in self.state.verdicts}

    @property
    def overlay(self) -> str:
        """The name of the present verdict's picture."""
        return f"overlay/{self.state.duel.number}"

    def wait(self, version: int, timeout_s: float) -> int:
        with self.changed:
            self.changed.wait_for(lambda: self.version > version, timeout_s)
            return self.version

    def picture(self, name: str) -> bytes | None:
        if name.startswith("overlay/") and int(name[8:]) > self.state.duel.number:
            return None
        return jpeg(name.partition("/")[0], int(self.clock.now_s() * 8))


@lru_cache(8)
def jpeg(name: str, tick: int) -> bytes:
    """The table's picture, or a zone's half of it, with a count on it, as JPEG."""
    halves = {"zone_A": np.s_[:, :640], "zone_B": np.s_[:, 640:]}
    image = table_picture()[halves.get(name, np.s_[:])].copy()
    cv2.putText(image, str(tick % 1000), (20, 700), 0, 1, (255, 255, 255), 2)
    return cv2.imencode(".jpg", image)[1].tobytes()
