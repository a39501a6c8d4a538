"""The simulated table with the real eyes before it: what ``referee demo`` runs, for tests with a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from cards.deck import builtin_deck
from cards.law import Reason
from cards.pieces import builtin_piece_set
from referee.commands.play import AT_A_TABLE
from referee.devices.ports import SystemClock
from referee.journal.journal import Journal
from referee.session.session import Equipment, Session
from referee.simulator.build_plans import spread_set
from referee.simulator.meshes import place_piece
from referee.simulator.players import FAST_PLAYER
from referee.simulator.rig import SimulatedTable, Staging
from referee.simulator.table import World
from referee.vision.live.gate import Gate
from referee.vision.live.gate_history import GateHistory
from referee.vision.observer import Observer
from referee.vision.overlay import with_marks

STEADY, CLUMSY = replace(FAST_PLAYER, errs=0.0, falls=0.0), replace(FAST_PLAYER, errs=1.0, falls=0.0)
"""Players who build what the card shows, and players who err every time."""


@dataclass
class Eyes:
    """The real observer; while ``doubts`` it says of what it has seen that it cannot tell."""

    observer: Observer
    doubts: bool = False

    def __getattr__(self, name: str) -> object:
        return getattr(self.observer, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("observer", "doubts"):
            object.__setattr__(self, name, value)
        else:
            setattr(self.observer, name, value)

    def judge(self, frames, card, zones, tolerances, earlier=None):
        seen = self.observer.judge(frames, card, zones, tolerances, earlier=earlier or {})
        if not self.doubts:
            return seen
        why = (Reason("two_readings", "two readings explain the picture about equally well"),)
        unsure = {
            z: replace(v, ruling="undecided", leaning="match", confidence=0.6, reasons=why)
            for z, v in seen.zones.items()
        }
        return replace(seen, zones=unsure)


class RealTable:
    """A session at work at the simulated rig; ``stage_*`` lay out what a set-up asks for."""

    def __init__(self, session: Session, rig: SimulatedTable, eyes: Eyes) -> None:
        self.session, self.rig, self.eyes = session, rig, eyes

    def manners(self, manners) -> None:
        """How the players build from the next go on."""
        self.rig.players.profile = manners

    def stage_empty(self) -> None:
        """Nothing lies on the table, and the camera has seen that."""
        self.rig._photo(World(), self.rig.camera)

    def stage_colors(self) -> None:
        """Every piece of the set apart from the others in both fields."""
        standing = [place_piece(p) for p in spread_set(self.session.piece_set)]
        self.rig._photo(World({"A": standing, "B": standing}), self.rig.camera)

    def stage_play(self) -> None:
        """The players' own pieces again."""
        self.rig.players.stage(None)


@contextmanager
def real_table(folder: Path, seed: int = 3, rules=AT_A_TABLE) -> Iterator[RealTable]:
    """Everything real but the table itself; nothing has been set up yet. The eyes miss no press, however busy the
    machine is."""
    clock, pieces, deck = SystemClock(), builtin_piece_set(), builtin_deck()
    with ExitStack() as stack:
        stack.enter_context(patch.object(GateHistory, "_unseen", lambda *_: False))
        rig = stack.enter_context(SimulatedTable(pieces, clock, Staging(seed, "across", True, 8.0)))
        rig.players.profile = STEADY
        observer = Observer(pieces, rig.lens)
        eyes = Eyes(observer)
        journal = stack.enter_context(closing(Journal(folder / "journal.sqlite")))
        session = Session(
            Equipment(
                journal=journal,
                deck=deck,
                piece_set=pieces,
                observer=eyes,
                gate=Gate(observer),
                camera=rig.camera,
                box=rig.box,
                clock=clock,
                rules=rules,
                data_dir=folder,
                simulated=True,
                draw=lambda frame, judgement, card: with_marks(frame, judgement, language=None),
            )
        )
        session.start()
        stack.callback(session.stop)
        yield RealTable(session, rig, eyes)
