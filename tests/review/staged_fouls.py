"""Duels with fouls and without, staged frame by frame before the real gate: when each foul begins is known.

``seen`` gives what is proposed of a staged duel, live and of a recording alike, since both are one watch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import CameraModel
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.devices.ports import Frame
from referee.simulator.build_plans import apart
from referee.simulator.hand_motion import Script
from referee.simulator.meshes import Placed, place
from referee.simulator.players import Manners, Players
from referee.simulator.room import still_picture
from referee.simulator.table import Hand, TableSim, World
from referee.vision.live.fouls import FoulSeen, FoulWatch
from referee.vision.live.gate import Gate
from referee.vision.observer import Observer

SET, DECK = builtin_piece_set(), builtin_deck()
FPS, GO_S, AFTER_S = 10.0, 1.0, 2.2
OTHER = {"A": "B", "B": "A"}
REACH_S, STAYS_S = 0.3, 1.0
"""How long a fouling hand takes to come and to go, and how long it stays."""


class Table:
    """A simulated rig whose empty table and colours are known to an observer."""

    def __init__(self, seed: int, seating: str) -> None:
        self.sim = TableSim(SET, seed, seating=seating)
        shot = self.sim.lens.camera_file()
        matrix = np.array(shot["camera_matrix"]["data"]).reshape(3, 3)
        lens = CameraModel(
            shot["image_width"], shot["image_height"], matrix, np.array(shot["distortion_coefficients"]["data"])
        )
        self.observer = Observer(SET, lens)
        self.observer.learn_empty(self.sim.empty())
        standing = [place(p) for p in apart(SET)]
        self.observer.learn_colors(self.sim.render(World({"A": standing, "B": standing})))

    def moved(self, zone: str, by_mm: float) -> TableSim:
        """The same rig with that mat pushed aside."""
        other = copy.copy(self.sim)
        other.seats = {**self.sim.seats, zone: replace(self.sim.seats[zone], y=self.sim.seats[zone].y + by_mm)}
        light, rng = self.sim.light, np.random.default_rng(self.sim.seed + 1)
        other._still_linear = still_picture(other.lens, other.seats, light, other.table, rng)
        other._still = other._developed(other._still_linear)
        return other

    def seen_from(self, zone: str, point_mm: tuple[float, float, float]) -> np.ndarray:
        """A point of the other zone's frame in this zone's."""
        there, here = self.sim.seats[OTHER[zone]], self.sim.seats[zone]
        on_table = there.turn() @ np.array(point_mm) + np.array([there.x, there.y, 0.0])
        return here.turn().T @ (on_table - np.array([here.x, here.y, 0.0]))


@dataclass(frozen=True)
class Staged:
    """What is staged: ``foul`` (a kind, or none) by the player at ``zone`` in a duel over ``card``."""

    card: str
    zone: str = "A"
    foul: str | None = None
    seed: int = 1


@dataclass(frozen=True)
class Shown:
    """A staged duel: frames in order, the Stop, and when the foul begins (None without one)."""

    frames: Iterator[tuple[float, np.ndarray]]
    stop_s: float
    foul_s: float | None


def staged(table: Table, what: Staged) -> Shown:
    """The duel as the simulated players play it, with the foul in the middle of it or after the Stop."""
    players = Players(SET, sorted(table.sim.seats), what.seed * 7 + table.sim.seed, Manners(errs=0.0, falls=0.0))
    players.begin(DECK.card(what.card), GO_S)
    presses = players.presses()
    stop_s = min(presses.values())
    script = players._scripts[what.zone]
    begin_s = stop_s + 0.35 if what.foul == "brought_after_stop" else GO_S + 0.55 * (stop_s - GO_S)
    act = (
        ACTS[what.foul](table, what.zone, begin_s, script, stop_s) if what.foul else lambda t, world: (table.sim, world)
    )
    return Shown(_frames(players, act, stop_s), stop_s, begin_s + ENTERS_S[what.foul] if what.foul else None)


ENTERS_S = {
    "second_hand": 0.24,
    "bare_hand": 0.24,
    "neighbours_hand": 0.24,
    "shaken": 0.05,
    "brought_after_stop": 0.5,
}
"""How long after its beginning a staged hand is over the field; a mat is pushed between two frames."""

Act = Callable[[float, World], tuple[TableSim, World]]


def _frames(players: Players, act: Act, stop_s: float) -> Iterator[tuple[float, np.ndarray]]:
    heard = False
    for number in range(round((stop_s + AFTER_S) * FPS)):
        now = number / FPS
        if now >= stop_s and not heard:
            players.stop(stop_s)
            heard = True
        sim, world = act(now, players.world(now))
        yield now, sim.render(world, number)


def _way(home: np.ndarray, tip: np.ndarray, since: float) -> np.ndarray | None:
    """Where a hand is that comes, stays and goes; None while it is away."""
    share = min(since / REACH_S, 1.0, (2 * REACH_S + STAYS_S - since) / REACH_S)
    return None if share <= 0 else home + (tip - home) * share


def _second_hand(table: Table, zone: str, begin_s: float, script: Script, stop_s: float) -> Act:
    def act(t: float, world: World) -> tuple[TableSim, World]:
        tip = _way(np.array([-160.0, -230.0, 40.0]), np.array([-55.0, 0.0, 30.0]), t - begin_s)
        first = world.hands.get(zone) or Hand((35.0, -10.0, 60.0))
        if tip is None:
            return table.sim, world
        hand = Hand(tuple(tip), bare=True, left=True)
        return table.sim, replace(world, hands={**world.hands, zone: first}, more_hands=((zone, hand),))

    return act


def _bare_hand(table: Table, zone: str, begin_s: float, script: Script, stop_s: float) -> Act:
    def act(t: float, world: World) -> tuple[TableSim, World]:
        tip = _way(np.array([60.0, -230.0, 40.0]), np.array([0.0, 0.0, 30.0]), t - begin_s)
        if tip is None:
            return table.sim, world
        return table.sim, replace(world, hands={**world.hands, zone: Hand(tuple(tip), bare=True)})

    return act


def _neighbours_hand(table: Table, zone: str, begin_s: float, script: Script, stop_s: float) -> Act:
    home = np.array([0.0, -200.0, 90.0])

    def act(t: float, world: World) -> tuple[TableSim, World]:
        tip = _way(home, table.seen_from(zone, (0.0, -10.0, 45.0)), t - begin_s)
        hands = {**world.hands, zone: world.hands.get(zone) if tip is None else Hand(tuple(tip))}
        return table.sim, replace(world, hands=hands)

    return act


def _shaken(table: Table, zone: str, begin_s: float, script: Script, stop_s: float) -> Act:
    pushed = table.moved(zone, 5.0)

    def act(t: float, world: World) -> tuple[TableSim, World]:
        return (pushed if 0 <= t - begin_s < 0.3 else table.sim), world

    return act


def _brought(table: Table, zone: str, begin_s: float, script: Script, stop_s: float) -> Act:
    loose = next(p for p in reversed(script.places) if not _moved(script, p, stop_s))
    goal = np.array([70.0, -15.0, loose.centre[2]])

    def act(t: float, world: World) -> tuple[TableSim, World]:
        since = t - begin_s
        if since < 0:
            return table.sim, world
        rest = [p for p in world.pieces[zone] if not np.allclose(p.centre, loose.centre)]
        lift = np.array([0.0, -110.0, 60.0]) * max(0.0, 1 - since / 0.8)
        held = Placed(loose.shape, loose.color, loose.turn, goal + lift)
        tip = (
            held.centre + [0, 0, 18]
            if since < 0.8
            else _way(REST, held.centre + [0, 0, 18], since - 0.8 + REACH_S + STAYS_S)
        )
        hands = {**world.hands, zone: None if tip is None else Hand(tuple(tip))}
        return table.sim, replace(world, pieces={**world.pieces, zone: [*rest, held]}, hands=hands)

    return act


REST = np.array([115.0, -245.0, 70.0])


def _moved(script: Script, piece: Placed, stop_s: float) -> bool:
    return any(script.places[m.index] is piece for m in script.moves)


ACTS = {
    "second_hand": _second_hand,
    "bare_hand": _bare_hand,
    "neighbours_hand": _neighbours_hand,
    "shaken": _shaken,
    "brought_after_stop": _brought,
}


def seen(table: Table, shown: Shown) -> list[FoulSeen]:
    """What is proposed of it from the go on."""
    gate, watch, found = Gate(table.observer), FoulWatch(), list[FoulSeen]()
    for number, (now, image) in enumerate(shown.frames):
        frame = Frame(image, number, now)
        look = gate.look(frame)
        if now >= GO_S:
            found += watch.look(frame, gate.picture(), look, shown.stop_s if now >= shown.stop_s else None)
    return found
