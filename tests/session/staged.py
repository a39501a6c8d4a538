"""Duels staged frame by frame before the real gate, observer and stop judging, in a time of their own: no threads,
no waiting, so that what is said depends on the pictures alone.

``play`` renders what happens, second by second, and gives the state of the match at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from calibration.camera import CameraModel
from cards.build import Piece
from cards.card import LayoutCard
from cards.deck import builtin_deck
from cards.pieces import Pose, builtin_piece_set
from referee.devices.ports import Frame
from referee.match.decide import CreateMatch, DrawCard, Go, MatchState, PressStop, Ready, cards_of, decide, evolve
from referee.session.stop_judging import StopJudging
from referee.simulator.build_plans import apart
from referee.simulator.loose_pieces import loose_pieces
from referee.simulator.meshes import Placed, place
from referee.simulator.table import Hand, TableSim, World
from referee.vision.live.gate import Gate
from referee.vision.live.gate_history import STOPPED, GateHistory
from referee.vision.observer import Observer

SET, DECK = builtin_piece_set(), builtin_deck()
FPS = 10.0
PRESS_S = 3.0
PLAYERS = {"A": "Ann", "B": "Ben"}
OTHER = {"A": "B", "B": "A"}


class Rig:
    """A simulated rig whose empty table and colours have been learnt."""

    def __init__(self, seed: int, seating: str) -> None:
        self.table = TableSim(SET, seed, seating=seating)
        shot = self.table.lens.camera_file()
        matrix = np.array(shot["camera_matrix"]["data"]).reshape(3, 3)
        distortion = np.array(shot["distortion_coefficients"]["data"])
        self.lens = CameraModel(shot["image_width"], shot["image_height"], matrix, distortion)
        self.observer = Observer(SET, self.lens)
        self.observer.learn_empty(self.table.empty())
        standing = [place(p) for p in apart(SET)]
        self.observer.learn_colors(self.table.render(World({"A": standing, "B": standing})))
        self._drawn: tuple[World, np.ndarray] | None = None

    def picture(self, world: World, number: int) -> np.ndarray:
        """The webcam's frame of that number."""
        if self._drawn is None or self._drawn[0] is not world:
            self._drawn = (world, self.table.clean(world))
        return self.table.develop(self._drawn[1].copy(), number)

    def seen_from(self, zone: str, point_mm: Sequence[float]) -> tuple[float, float, float]:
        """A point in the other zone's frame, in this zone's frame."""
        there, here = self.table.seats[OTHER[zone]], self.table.seats[zone]
        on_table = there.turn() @ np.array(point_mm, float) + np.array([there.x, there.y, 0.0])
        return tuple(here.turn().T @ (on_table - np.array([here.x, here.y, 0.0])))


@lru_cache(maxsize=4)
def rig(seed: int, seating: str) -> Rig:
    """One rig per seed and seating for a whole run."""
    return Rig(seed, seating)


@dataclass
class Stage:
    """What stands on the table of a duel over one card; builds are in the caller's zone."""

    rig: Rig
    card: LayoutCard
    caller: str = "A"
    loose: Mapping[str, Sequence[Placed]] = field(init=False)

    def __post_init__(self) -> None:
        seed = self.rig.table.seed * 31
        built = {self.caller: self.card.pieces, OTHER[self.caller]: ()}
        self.loose = {z: loose_pieces(SET, built[z], seed + ord(z)) for z in "AB"}

    @property
    def full(self) -> list[Placed]:
        """The build as the card shows it."""
        return [place(p) for p in self.card.pieces]

    def full_without_last(self) -> list[Placed]:
        """All but the highest piece."""
        full = self.full
        del full[self.last_index()]
        return full

    def last_index(self) -> int:
        """Index of the card's highest piece."""
        return max(range(len(self.card.pieces)), key=lambda i: self.card.pieces[i].z)

    @property
    def fallen(self) -> list[Placed]:
        """The build knocked over: its highest piece lies in front of it."""
        piece = self.card.pieces[self.last_index()]
        facing = "top" if SET.shapes[piece.shape].kind in ("triangle", "crescent") else "front"
        height = SET.shapes[piece.shape].size(Pose(0, facing))[2]
        lying = Piece(
            piece.shape, piece.color, Pose(0, facing), 70.0 if piece.x < 0 else -70.0, -30.0, height / 2, 25.0
        )
        return [*self.full_without_last(), place(lying)]

    def world(self, build: Sequence[Placed], hands: Mapping[str, Hand] | None = None) -> World:
        """The table with that build in the caller's field."""
        pieces = {z: list(self.loose[z]) for z in "AB"}
        pieces[self.caller] += build
        return World(pieces, dict(hands or {}))


class StagedSession:
    """What stop judging needs of a session, without threads and devices."""

    recording = None
    shift_s = 0.0

    def __init__(self, rig: Rig, card: str) -> None:
        self.deck, self.observer, self.gate = DECK, rig.observer, Gate(rig.observer)
        self.previews = self
        self.state = MatchState()
        self.alarms: dict[str, str | None] = {}
        self.command(CreateMatch(tuple(PLAYERS.values()), cards=cards_of(DECK)))
        self.command(DrawCard(card))
        self.command(Ready())
        self.command(Go(0.0))

    def command(self, command, who: str = ""):
        events = decide(self.state, command, "2026-01-01T00:00:00+00:00")
        for event in events:
            self.state = evolve(self.state, event)
        return events

    def attempt(self, command) -> None:
        self.command(command)

    def alarm(self, code: str, text: str | None) -> None:
        self.alarms[code] = text

    def verdict(self, number, frame, judgement, card) -> None:
        """No picture is drawn."""

    def last(self) -> int:
        return 0

    def shown(self, state) -> dict:
        return {}

    def touch(self) -> None:
        """Nobody waits."""


def play(stage: Stage, happens: Callable[[float], World], until_s: float = 9.0) -> MatchState:
    """The match after a Stop at ``PRESS_S``; ``happens`` gives the world at each time."""
    session = StagedSession(stage.rig, stage.card.id)
    history = GateHistory()
    stop = StopJudging(session, history)
    zone = next(z for z, name in session.state.seats.items() if name == PLAYERS[stage.caller])
    assert zone == stage.caller
    for number in range(1, round(until_s * FPS)):
        at_s = number / FPS
        if session.state.phase == "building" and at_s > PRESS_S:
            session.command(PressStop(zone, PRESS_S))
        frame = Frame(stage.rig.picture(happens(at_s), number), number, at_s)
        look = session.gate.look(frame)
        stopped = session.state.phase in STOPPED
        history.add(frame, look, session.state.phase, stop.owners(frame, look, session.state) if stopped else {})
        if stopped:
            stop.look(frame, look, session.state)
        if session.state.phase in ("decided", "undecided", "void"):
            break
    return session.state


def finishing_late(stage: Stage, delay_s: float) -> Callable[[float], World]:
    """The caller presses with the highest piece missing and puts it on ``delay_s`` later."""
    part, full = stage.full_without_last(), stage.full
    last = full[stage.last_index()]
    rest, done = stage.world(part), stage.world(full)

    def happens(t: float) -> World:
        since = t - PRESS_S - delay_s
        if since < 0:
            return rest
        if since < 0.8:
            left = 1 - since / 0.8
            held = Placed(last.shape, last.color, last.turn, last.centre + np.array([60.0, -60.0, 50.0]) * left)
            return stage.world([*part, held], {stage.caller: Hand(tuple(held.centre + [0, 0, 18]))})
        if since < 1.3:
            out = (since - 0.8) / 0.5
            tip = last.centre + np.array([0.0, 0.0, 18.0]) + np.array([80.0, -160.0, 60.0]) * out
            return stage.world(full, {stage.caller: Hand(tuple(tip))})
        return done

    return happens


def knocked_over(stage: Stage, delay_s: float, front: bool = False, own: bool = False) -> Callable[[float], World]:
    """The caller's build is right; a hand comes ``delay_s`` after the press and its highest piece falls."""
    who = stage.caller if own else OTHER[stage.caller]
    rest, fallen = stage.world(stage.full), stage.world(stage.fallen)

    def hand(reach: float) -> Hand:
        tip = (0.0, -60.0 if front else -10.0, 55.0)
        if own:
            return Hand((tip[0] + 60 * (1 - reach), tip[1] - 160 * (1 - reach), tip[2]))
        home = np.array([0.0, -120.0, 90.0])
        return Hand(tuple(home + (np.array(stage.rig.seen_from(who, tip)) - home) * reach))

    def happens(t: float) -> World:
        since = t - PRESS_S - delay_s
        if since < 0:
            return rest
        if since < 0.3:
            return stage.world(stage.full, {who: hand(since / 0.3)})
        if since < 0.7:
            return stage.world(stage.fallen, {who: hand(1.0)})
        if since < 1.0:
            return stage.world(stage.fallen, {who: hand((1.0 - since) / 0.3)})
        return fallen

    return happens


def untouched(stage: Stage, build: Sequence[Placed]) -> Callable[[float], World]:
    """A clean Stop: the caller's hand has left the field in time, and nobody acts after the press."""
    rest = stage.world(build)
    return lambda t: rest


def hand_in_the_way(stage: Stage, delay_s: float, hides: bool, then: str) -> Callable[[float], World]:
    """The caller's hand rests in the field through the press, beside the build or where its highest piece goes
    (``hides``). ``delay_s`` after the press it brings the highest piece (``then`` finishes), knocks it over
    (knocks) or leaves (leaves; the build was right)."""
    full, part = stage.full, stage.full_without_last()
    last = full[stage.last_index()]
    place = last.centre + np.array([0.0, 0.0, 18.0]) if hides else np.array([80.0, -20.0, 45.0])
    home = np.array([115.0, -245.0, 70.0])
    rest, away = {stage.caller: Hand(tuple(place))}, last.centre + np.array([60.0, -60.0, 50.0])
    stands = part if then == "finishes" else full
    before, comes, waits = stage.world(stands), PRESS_S - 1.6, stage.world(stands, rest)
    late = {"finishes": finishing_late, "knocks": lambda s, d: knocked_over(s, d, own=True)}.get(then)
    goes = late(stage, delay_s + 0.4) if late else None

    def happens(t: float) -> World:
        if t < comes:
            return before
        if t < comes + 0.4:
            return stage.world(stands, {stage.caller: Hand(tuple(home + (place - home) * (t - comes) / 0.4))})
        since = t - PRESS_S - delay_s
        if since < 0:
            return waits
        if goes is None:
            out = place + (home - place) * since / 0.5
            return stage.world(stands, {stage.caller: Hand(tuple(out))}) if since < 0.5 else before
        if since < 0.4:
            to = away if then == "finishes" else np.array([60.0, -220.0, 55.0])
            return stage.world(stands, {stage.caller: Hand(tuple(place + (to - place) * since / 0.4))})
        return goes(t)

    return happens
