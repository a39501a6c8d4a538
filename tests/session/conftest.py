"""A session at the simulated table with stand-ins for the eyes, for tests of what is around the eyes."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from posed_table import PosedTable

from calibration.mat import FIELD
from cards.deck import builtin_deck
from cards.law import Reason
from cards.pieces import builtin_piece_set
from referee.devices.ports import SystemClock
from referee.journal.journal import Journal
from referee.match.verdict import Verdict
from referee.recording import Recorder
from referee.session.second_view import SecondView
from referee.session.session import Equipment, Session
from referee.simulator.rig import SIDE_DEG, SimulatedTable, Staging
from referee.vision.live.gate_history import GateHistory
from referee.vision.observer import Judgement

CLOCK, SET, DECK = SystemClock(), builtin_piece_set(), builtin_deck()


@dataclass
class StandInObserver:
    """Says what it is told to, else the truth; looks at no pixel."""

    players: object
    says: dict = field(default_factory=dict)
    camera: object = None
    colors: object = None
    empty: object = None
    at_go: object = None
    palette: object = None
    placed: dict = field(default_factory=dict)
    ready: bool = True

    def look(self, frame):
        return SimpleNamespace(poses={})

    def read_earlier(self, image, zone, card, encode=None):
        """Reads nothing."""

    def renew_empty(self, frame):
        """Learns nothing: no pixel is looked at."""

    def judge(self, frames, card, zones, tolerances, earlier=None):
        truth = {z: "match" if self.players.right(z, card) else "mismatch" for z in zones}
        rulings = {z: self.says.get(z) or truth[z] for z in zones}
        reasons = {
            "match": (),
            "mismatch": (Reason("missing_piece", "1 blue cube missing"),),
            "undecided": (Reason("two_readings", "either"),),
            "unclear": (Reason("unknown_object", "a phone"),),
        }
        verdicts = {z: Verdict(r.replace("unclear", "undecided"), 0.9, reasons[r]) for z, r in rulings.items()}
        return Judgement(verdicts, 0.01, SimpleNamespace(poses={}))


@dataclass
class StandInGate:
    """Sees hands and moving things by knowing the world."""

    players: object
    blind: bool = False
    colours = None

    def restart(self):
        """Remembers nothing."""

    def look(self, frame):
        world = self.players.world(frame.at_s)
        still = all(frame.at_s >= self.players.still_s(zone) for zone in self.players.zones)
        gates = {
            z: SimpleNamespace(
                mat_seen=not self.blind,
                moving=0.0 if still else 0.1,
                fill=0.1 * any(_in_field(p) for p in world.pieces.get(z, ())),
                hand=_over_field(world.hands.get(z)),
                settled_s=1.0 if still else 0.0,
            )
            for z in "AB"
        }
        return SimpleNamespace(zones=gates, snapshots={})


def _in_field(piece) -> bool:
    return abs(piece.centre[0]) < FIELD[0] and abs(piece.centre[1]) < FIELD[1]


def _over_field(hand) -> bool:
    return hand is not None and hand.tip[1] > -80


@cache
def scene() -> PosedTable:
    """The table's still parts, drawn once for all tests."""
    return PosedTable(SET, 3, seating="across", height=360)


@cache
def side() -> PosedTable:
    """The same table from another side."""
    return scene().seen_from(scene().lens.moved_around(SIDE_DEG))


@contextmanager
def table(tmp_path, seed=3, record=False, second=False, **changes):
    """(session, simulated table) at work under ``tmp_path``, with a ``second`` camera if asked for. Its eyes miss no
    press, however busy the machine is."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(GateHistory, "_unseen", lambda *_: False))
        stack.enter_context(patch.object(PosedTable, "seen_from", lambda *_: side())) if second and side() else None
        rig = stack.enter_context(SimulatedTable(SET, CLOCK, Staging(seed, "across", True, 12.0, second), scene()))
        journal = stack.enter_context(closing(Journal(tmp_path / "journal.sqlite")))
        recorder = stack.enter_context(closing(Recorder(tmp_path / "attempts", CLOCK))) if record else None
        parts = {
            "journal": journal,
            "deck": DECK,
            "piece_set": SET,
            "observer": StandInObserver(rig.players),
            "gate": StandInGate(rig.players),
            "camera": rig.camera,
            "box": rig.box,
            "clock": CLOCK,
            "recorder": recorder,
            "second": beside(rig) if second else None,
            "data_dir": tmp_path,
            "simulated": True,
        } | changes
        session = Session(Equipment(**parts))
        session.start()
        stack.callback(session.stop)
        if record:
            rig.camera.latest(-1, 30.0)  # the first picture takes seconds on a busy machine: a Stop could go unfilmed
        yield session, rig


def beside(rig) -> SecondView:
    rig.second.latest(-1, 0.0)  # it begins to draw
    return SecondView(rig.second, StandInObserver(rig.players), StandInGate(rig.players))


@pytest.fixture
def at_table(tmp_path):
    """Opens a table under this test's folder."""
    return lambda **changes: table(tmp_path, **changes)


@pytest.fixture
def until():
    """Waits for something to become true."""

    def wait(what, timeout_s=20.0):
        end = time.monotonic() + timeout_s
        while not what():
            assert time.monotonic() < end, "waited too long"
            time.sleep(0.01)

    return wait
