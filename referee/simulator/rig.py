"""The simulated rig put together: table, players, camera, box, and who runs the match."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import numpy as np

from cards.deck import Deck
from cards.pieces import PieceSet
from referee.devices.box import SerialBox
from referee.devices.ports import Clock
from referee.errors import DeviceLost
from referee.session.session import Session
from referee.simulator.box import SimulatedBox
from referee.simulator.build_plans import spread_set
from referee.simulator.camera import SimulatedCamera
from referee.simulator.meshes import place_piece
from referee.simulator.operator import FAST_PAUSES, Operator, Pauses, Robots
from referee.simulator.players import FAST_PLAYER, PlayerProfile, Players
from referee.simulator.table import TableSim, World
from referee.vision.observer import Observer

WAIT_S = 300.0
"""Longer than any machine takes for its first picture."""


@dataclass(frozen=True)
class Staging:
    """What is simulated: all follows from ``seed``; ``fast`` players have hands faster than any human's; the camera
    gives ``fps`` pictures a second."""

    seed: int
    seating: str
    fast: bool
    fps: float


class SimulatedTable:
    """A context in which ``camera`` and ``box`` work like real ones. A ``table`` may be given ready."""

    def __init__(self, pieces: PieceSet, clock: Clock, staging: Staging, table: TableSim | None = None) -> None:
        self._pieces, self._clock, self._fast = pieces, clock, staging.fast
        self._table = table or TableSim(pieces, staging.seed, seating=staging.seating)
        self.players = Players(pieces, "AB", staging.seed, FAST_PLAYER if staging.fast else PlayerProfile())
        self._fps, self._seed = staging.fps, staging.seed
        self.lens = self._table.lens.model()

    def __enter__(self) -> Self:
        self._contacts = SimulatedBox(self._seed, self._clock).start()
        self.box = SerialBox(self._contacts.port, self._clock)
        self.camera = SimulatedCamera(self._table, self.players, self._clock, self._fps)
        if not self.box.wait_connected(WAIT_S):
            self.__exit__()
            raise DeviceLost("the simulated button box does not answer")
        return self

    def __exit__(self, *_: object) -> None:
        self.camera.close()
        self.box.close()
        self._contacts.stop()

    def get_ready(self) -> None:
        """Draw what does not move, so that pictures come at once."""
        self._table.get_ready()

    def set_up(self, observer: Observer) -> None:
        """What a user does once per rig: show the empty table and the colour frame."""
        observer.learn_empty(self._photo(World()))
        standing = [place_piece(p) for p in spread_set(self._pieces)]
        observer.learn_colors(self._photo(World({"A": standing, "B": standing})))
        self.players.stage(None)

    def truth(self, deck: Deck) -> Callable[[str, str], bool]:
        """Says of a zone and a card id whether the build is right, as who sits at the table can see."""
        return lambda zone, card_id: self.players.right(zone, deck.card(card_id))

    @contextmanager
    def played(self, session: Session, duels: int | None, manual: bool) -> Iterator[threading.Event]:
        """Players (and unless ``manual`` an operator) at the table; the event says that they are done."""
        robots = Robots(session, self.players, self._contacts.press)
        robots.start()
        pauses = FAST_PAUSES if self._fast else Pauses()
        operator = None if manual else Operator(session, self.players, pauses, duels)
        if operator:
            operator.start()
        try:
            yield operator.done if operator else threading.Event()
        finally:
            if operator:
                operator.stop()
            robots.stop()

    def _photo(self, world: World) -> np.ndarray:
        """A frame of the camera that surely shows this world."""
        self.players.stage(world)
        staged_s, frame = self._clock.now_s(), self.camera.latest(-1, WAIT_S)
        while frame and frame.at_s <= staged_s:  # what is being drawn now may have been begun before
            frame = self.camera.latest(frame.number, WAIT_S)
        if frame is None:
            raise DeviceLost("the simulated camera shows nothing")
        return frame.image
