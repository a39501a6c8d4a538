"""The simulated rig put together: table, players, camera, box, and who runs the match."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Self

import numpy as np

from cards.deck import Deck
from cards.pieces import PieceSet
from referee.devices.box import SerialBox
from referee.devices.camera import ThreadedCamera
from referee.devices.ports import Clock, Frame
from referee.errors import DeviceLost
from referee.session.session import Session
from referee.simulator.box import SimulatedBox
from referee.simulator.build_plans import spread_set
from referee.simulator.meshes import place_piece
from referee.simulator.operator import FAST_PAUSES, Operator, Pauses, ProofBuilder, Robots
from referee.simulator.players import FAST_PLAYER, PlayerProfile, Players
from referee.simulator.table import TableSim, World
from referee.vision.observer import Observer


class SimulatedCamera(ThreadedCamera):
    """A webcam's twin: shows the table at ``fps`` frames a second; a busy machine drops frames and counts them."""

    simulated = True

    def __init__(
        self, table: TableSim, players: Players, clock: Clock, fps: float = 15.0, name: str = "SIMULATED table"
    ) -> None:
        super().__init__(name, clock)
        self._table, self._players, self._period_s = table, players, 1.0 / fps
        self._still: np.ndarray | None = None
        self._looked = (-1, 0.0)
        self._wanted = threading.Event()
        self.start()

    def latest(self, after: int = -1, timeout_s: float = 1.0) -> Frame | None:
        """As every camera's; nothing is drawn before the first is asked for, so that a program starts quickly."""
        self._wanted.set()
        return super().latest(after, timeout_s)

    def close(self) -> None:
        """Stop drawing."""
        self._closing.set()
        self._wanted.set()
        super().close()

    def _read_all(self) -> None:
        self._wanted.wait()
        begin_s, number = self.clock.now_s(), 0
        while not self._closing.is_set():
            due_s = begin_s + number * self._period_s
            self._closing.wait(max(0.0, due_s - self.clock.now_s()))
            world, self._looked, changed = self._players.look(due_s, self._looked)
            if changed or self._still is None:  # what does not move is not drawn again
                self._still = self._table.clean(world)
            self._publish(Frame(self._table.develop(self._still, number), number, due_s))
            late = int((self.clock.now_s() - due_s) / self._period_s)
            self.dropped += max(0, late - 1)
            number += max(1, late)


SIDE_DEG = 55.0
"""So far around the table the second camera stands from the first."""

WAIT_S = 300.0
"""Longer than any machine takes for its first picture."""


@dataclass(frozen=True)
class Staging:
    """What is simulated: all follows from ``seed``; ``fast`` players have hands faster than any human's; the camera
    gives ``fps`` pictures a second; a ``second`` one looks at the table from another side."""

    seed: int
    seating: str
    fast: bool
    fps: float
    second: bool = False


class SimulatedTable:
    """A context in which ``camera`` and ``box`` work like real ones, and the ``second`` camera if there is one. A
    ``table`` may be given ready."""

    def __init__(self, pieces: PieceSet, clock: Clock, staging: Staging, table: TableSim | None = None) -> None:
        self._pieces, self._clock, self._fast = pieces, clock, staging.fast
        self._table = table or TableSim(pieces, staging.seed, seating=staging.seating)
        self.players = Players(pieces, "AB", staging.seed, FAST_PLAYER if staging.fast else PlayerProfile())
        self._fps, self._seed = staging.fps, staging.seed
        self._beside = self._table.seen_from(self._table.lens.moved_around(SIDE_DEG)) if staging.second else None
        self.lens = self._table.lens.model()
        self.second: SimulatedCamera | None = None
        self.side_lens = self._beside.lens.model() if self._beside else None

    def __enter__(self) -> Self:
        self._contacts = SimulatedBox(self._seed, self._clock).start()
        self.box = SerialBox(self._contacts.port, self._clock)
        self.camera = SimulatedCamera(self._table, self.players, self._clock, self._fps)
        if self._beside:
            self.second = SimulatedCamera(self._beside, self.players, self._clock, self._fps, "SIMULATED table, side")
        if not self.box.wait_connected(WAIT_S):
            self.__exit__()
            raise DeviceLost("the simulated button box does not answer")
        return self

    def __exit__(self, *_: object) -> None:
        self.camera.close()
        if self.second:
            self.second.close()
        self.box.close()
        self._contacts.stop()

    def set_up(self, observer: Observer, second: Observer | None = None) -> None:
        """What a user does once per rig: show the empty table and the colour frame, to each camera's observer."""
        views = [(self.camera, observer), *([(self.second, second)] if self.second and second else ())]
        standing = [place_piece(p) for p in spread_set(self._pieces)]
        for camera, learner in views:
            learner.learn_empty(self._photo(World(), camera))
            learner.learn_colors(self._photo(World({"A": standing, "B": standing}), camera))
        self.players.stage(None)

    def truth(self, deck: Deck) -> Callable[[str, str], bool]:
        """Says of a zone and a card id whether the build is right, as who sits at the table can see."""
        return lambda zone, card_id: self.players.right(zone, deck.card(card_id))

    @contextmanager
    def played(self, session: Session, duels: int | None, manual: bool) -> Iterator[threading.Event]:
        """Players, who build what a proof of the table asks for too (and unless ``manual`` an operator), at the table;
        the event says that they are done."""
        pauses = FAST_PAUSES if self._fast else Pauses()
        operator = None if manual else Operator(session, self.players, pauses, duels)
        builder = ProofBuilder(session.proof, self.players, session.deck, session.clock)
        seated = [Robots(session, self.players, self._contacts.press), builder, *([operator] if operator else [])]
        with ExitStack() as stack:
            for one in seated:
                stack.callback(one.stop)
                one.start()
            yield operator.done if operator else threading.Event()

    def _photo(self, world: World, camera: SimulatedCamera) -> np.ndarray:
        """A frame of the camera that surely shows this world."""
        self.players.stage(world)
        staged_s, frame = self._clock.now_s(), camera.latest(-1, WAIT_S)
        while frame and frame.at_s <= staged_s:  # what is being drawn now may have been begun before
            frame = camera.latest(frame.number, WAIT_S)
        if frame is None:
            raise DeviceLost("the simulated camera shows nothing")
        return frame.image
