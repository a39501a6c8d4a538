"""Duels with fouls and without, staged frame by frame before the real gate: when each foul begins is known.

``seen`` gives what is proposed of a staged duel, live and of a recording alike, since both are one watch.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "simulator"))

from posed_table import PosedTable

from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.devices.ports import Frame
from referee.match.foul import FoulProposal
from referee.simulator.build_plans import spread_set
from referee.simulator.hand_motion import Script
from referee.simulator.meshes import PosedPiece, place_piece
from referee.simulator.players import PlayerProfile, Players
from referee.simulator.room import still_picture
from referee.simulator.table import Hand, World
from referee.vision.live.fouls import FoulWatch
from referee.vision.live.gate import Gate
from referee.vision.observer import Observer

SET, DECK = builtin_piece_set(), builtin_deck()
FPS, GO_S, AFTER_S = 10.0, 1.0, 2.2
OTHER = {"A": "B", "B": "A"}
Act = Callable[[float, World], tuple[PosedTable, World]]
REACH_S, STAYS_S = 0.3, 1.0
"""How long a fouling hand takes to come and to go, and how long it stays."""


class Table:
    """A simulated rig whose empty table and colours are known to an observer."""

    def __init__(self, seed: int, seating: str, height: int = 720) -> None:
        self.sim = PosedTable(SET, seed, height=height, seating=seating)
        lens = self.sim.lens.model()
        self.observer = Observer(SET, lens)
        self.observer.learn_empty(self.sim.empty())
        standing = [place_piece(p) for p in spread_set(SET)]
        self.observer.learn_colors(self.sim.render(World({"A": standing, "B": standing})))

    def moved(self, zone: str, by_mm: float) -> PosedTable:
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
    """What is staged: ``foul`` (a kind, or none) by the player at ``zone`` in a duel over ``card``; or no foul, but
    that player's other hand ``rests`` at one of ``RESTS``."""

    card: str
    zone: str = "A"
    foul: str | None = None
    seed: int = 1
    rests: str | None = None


@dataclass(frozen=True)
class Shown:
    """A staged duel: frames in order, the Stop, and when the foul begins (None without one)."""

    frames: Iterator[tuple[float, np.ndarray]]
    stop_s: float
    foul_s: float | None
    begin_s: float


@dataclass(frozen=True, eq=False)
class Scene:
    """What is rendered as one frame; ``plain`` is the same moment with nobody fouling, as the players play on."""

    number: int
    sim: PosedTable
    world: World
    plain: World


@dataclass(frozen=True)
class Moment:
    """When and where a foul begins, and by what script its player acts until then; ``rng`` varies it."""

    table: Table
    zone: str
    begin_s: float
    script: Script
    stop_s: float
    rng: np.random.Generator

    def still(self, world: World, t: float) -> World:
        """The world with this player doing nothing but the foul."""
        if t < self.begin_s:
            return world
        pieces, hand = self.script.at(self.begin_s)
        return replace(world, pieces={**world.pieces, self.zone: pieces}, hands={**world.hands, self.zone: hand})

    @property
    def touched(self) -> np.ndarray:
        """Where a piece stands in the field that a hand may touch, (3,) mm."""
        moved = [m.index for m in self.script.moves if m.end_s <= self.begin_s]
        return self.script.at(self.begin_s)[0][moved[-1]].centre

    def around(self, point: tuple[float, float, float]) -> np.ndarray:
        """The point (3,), a little off."""
        return np.array(point) + self.rng.uniform(-15, 15, 3) * (1, 1, 0.5)


def staged(table: Table, what: Staged) -> Shown:
    """The duel as the simulated players play it, with the foul in the middle of it or after the Stop."""
    scenes, stop_s, foul_s, begin_s = _played(table, what)
    frames = ((scene.number / FPS, scene.sim.render(scene.world, scene.number)) for scene in scenes)
    return Shown(frames, stop_s, foul_s, begin_s)


def _played(table: Table, what: Staged) -> tuple[Iterator[Scene], float, float | None, float]:
    """What the duel shows, frame by frame; its Stop, when its foul is over the field, and when that begins."""
    acts = what.foul or what.rests
    profile = PlayerProfile(errs=0.0, falls=0.0) if acts else PlayerProfile()
    players = Players(SET, sorted(table.sim.seats), what.seed * 7 + table.sim.seed, profile)
    players.begin(DECK.card(what.card), GO_S)
    stop_s = min(players.presses().values())
    if acts is None:
        return _scenes(players, lambda t, world: (table.sim, world), stop_s), stop_s, None, stop_s
    script = players._scripts[what.zone]
    begin_s = stop_s + 0.35 if what.foul == "brought_after_stop" else _between_moves(script, stop_s)
    now = Moment(table, what.zone, begin_s, script, stop_s, np.random.default_rng(what.seed))
    act = ACTS[what.foul](now) if what.foul else _resting(now, RESTS[what.rests], works=what.seed % 2 == 0)
    foul_s = begin_s + ENTERS_S[what.foul] if what.foul else None
    return _scenes(players, act, stop_s, begin_s), stop_s, foul_s, begin_s


def _between_moves(script: Script, stop_s: float) -> float:
    """A moment in the middle of the building in which a piece stands in the field and none is in the air."""
    middle = GO_S + 0.55 * (stop_s - GO_S)
    return min((m.end_s + 0.05 for m in script.moves if m.end_s < stop_s - 0.1), key=lambda t: abs(t - middle))


ENTERS_S = {
    "second_hand": 0.24,
    "bare_hand": 0.24,
    "neighbours_hand": 0.24,
    "strangers_hand": 0.24,
    "came_together": 0.2,
    "shaken": 0.05,
    "brought_after_stop": 0.5,
}
"""How long after its beginning a staged hand is over the field; a mat is pushed between two frames."""

BEFORE_S, AFTER_FOUL_S = 2.0, 1.8
"""A foul is shown from so long before it begins until so long after; a clean duel from the go until after its Stop.
Before: as long as it takes to see some shadows of builds without a hand near them, which any duel gives."""


def _scenes(players: Players, act: Act, stop_s: float, begin_s: float | None = None) -> Iterator[Scene]:
    heard, first, end_s = False, 0, stop_s + AFTER_S
    if begin_s is not None:
        first = round(max(0.0, min(begin_s, stop_s) - BEFORE_S) * FPS)
        end_s = begin_s + AFTER_FOUL_S + (AFTER_S if begin_s > stop_s else 0.0)
    for number in (round(GO_S * FPS), *range(first, round(end_s * FPS))):  # the go is seen first
        now = number / FPS
        if now >= stop_s and not heard:
            players.stop(stop_s)
            heard = True
        plain = players.world(now)
        yield Scene(number, *act(now, plain), plain)


def _way(home: np.ndarray, tip: np.ndarray, since: float) -> np.ndarray | None:
    """Where a hand is that comes, stays and goes; None while it is away."""
    share = min(since / REACH_S, 1.0, (2 * REACH_S + STAYS_S - since) / REACH_S)
    return None if share <= 0 else home + (tip - home) * share


def _second_hand(at: Moment) -> Act:
    home, goal = np.array([-160.0, -230.0, 40.0]), at.touched + at.around((-30.0, 0.0, 5.0))

    def act(t: float, world: World) -> tuple[PosedTable, World]:
        tip, world = _way(home, goal, t - at.begin_s), at.still(world, t)
        first = world.hands.get(at.zone) or Hand((35.0, -10.0, 60.0))
        if tip is None:
            return at.table.sim, world
        hand = Hand(tuple(tip), bare=True, left=True)
        return at.table.sim, replace(world, hands={**world.hands, at.zone: first}, more_hands=((at.zone, hand),))

    return act


RESTS = {
    "at the edge": (-110.0, -150.0, 25.0),
    "before the sheet": (-60.0, -190.0, 25.0),
    "beside": (-175.0, -60.0, 25.0),
}
"""Where a second hand may rest that is in no field, mm in its mat's frame: the sheet ends at -148 in x, -105 in y."""


def _resting(at: Moment, place: tuple[float, float, float], works: bool) -> Act:
    """The other hand comes and rests there, while the first ``works`` on or waits over the field."""
    home, goal = np.array([-160.0, -330.0, 40.0]), at.around(place)

    def act(t: float, world: World) -> tuple[PosedTable, World]:
        since, world = t - at.begin_s, world if works else at.still(world, t)
        if since <= 0:
            return at.table.sim, world
        tip = home + (goal - home) * min(1.0, since / REACH_S)
        first = world.hands.get(at.zone) or (None if works else Hand((35.0, -10.0, 60.0)))
        second = Hand(tuple(tip), bare=True, left=True)
        return at.table.sim, replace(world, hands={**world.hands, at.zone: first}, more_hands=((at.zone, second),))

    return act


def _bare_hand(at: Moment) -> Act:
    goal = at.touched + [0.0, -2.0, 6.0]

    def act(t: float, world: World) -> tuple[PosedTable, World]:
        tip, world = _way(np.array([60.0, -230.0, 40.0]), goal, t - at.begin_s), at.still(world, t)
        hand = None if tip is None else Hand(tuple(tip), bare=True)
        return at.table.sim, replace(world, hands={**world.hands, at.zone: hand}) if t >= at.begin_s else world

    return act


def _neighbours_hand(at: Moment) -> Act:
    home, goal = np.array([0.0, -200.0, 90.0]), at.table.seen_from(at.zone, tuple(at.around((0.0, -10.0, 45.0))))

    def act(t: float, world: World) -> tuple[PosedTable, World]:
        tip, world = _way(home, goal, t - at.begin_s), at.still(world, t)
        hands = {**world.hands, at.zone: world.hands.get(at.zone) if tip is None else Hand(tuple(tip))}
        return at.table.sim, replace(world, hands=hands)

    return act


def _strangers_hand(at: Moment) -> Act:
    """Of somebody who stands at the table's end."""
    seat, goal = at.table.sim.seats[at.zone], at.touched + at.around((-30.0, 0.0, 5.0))
    shoulder = seat.turn().T @ np.array([np.copysign(760.0, seat.x) - seat.x, -seat.y, 190.0])
    home = goal + shoulder / np.linalg.norm(shoulder[:2]) * [260.0, 260.0, 0.0]

    def act(t: float, world: World) -> tuple[PosedTable, World]:
        tip, world = _way(home, goal, t - at.begin_s), at.still(world, t)
        if tip is None:
            return at.table.sim, world
        hand = Hand(tuple(tip), bare=True, shoulder=tuple(shoulder))
        return at.table.sim, replace(world, more_hands=((at.zone, hand),))

    return act


def _came_together(at: Moment) -> Act:
    """Two pieces of different colours are pushed in side by side, to where nothing stands."""
    loose = [p for p in at.script.places if not _moved(at.script, p, at.stop_s)]
    pair = [loose[0], next(p for p in loose if p.color != loose[0].color)]
    side = -np.sign(at.touched[0]) or 1.0

    def act(t: float, world: World) -> tuple[PosedTable, World]:
        since, world = t - at.begin_s, at.still(world, t)
        if since < 0:
            return at.table.sim, world
        ahead = np.array([0.0, -120.0, 0.0]) * max(0.0, 1 - since / 0.6)
        goals = [np.array([side * x, 20.0, p.centre[2]]) + ahead for x, p in zip((35.0, 75.0), pair, strict=True)]
        rest = [p for p in world.pieces[at.zone] if not any(np.allclose(p.centre, q.centre) for q in pair)]
        pushed = [PosedPiece(p.shape, p.color, p.turn, goal) for p, goal in zip(pair, goals, strict=True)]
        push = goals[0] + [0.0, -25.0, 0.0]
        tip = push if since < 0.6 else _way(REST, push, since - 0.6 + REACH_S + STAYS_S)
        pieces = {**world.pieces, at.zone: [*rest, *pushed]}
        hand = None if tip is None else Hand(tuple(tip))
        return at.table.sim, replace(world, pieces=pieces, hands={**world.hands, at.zone: hand})

    return act


def _shaken(at: Moment) -> Act:
    pushed = at.table.moved(at.zone, 5.0)

    def act(t: float, world: World) -> tuple[PosedTable, World]:
        return (pushed if 0 <= t - at.begin_s < 0.3 else at.table.sim), world

    return act


def _brought(at: Moment) -> Act:
    table, zone, begin_s = at.table, at.zone, at.begin_s
    loose = next(p for p in reversed(at.script.places) if not _moved(at.script, p, at.stop_s))
    goal = np.array([at.rng.choice([-70.0, 70.0]), -15.0, loose.centre[2]])

    def act(t: float, world: World) -> tuple[PosedTable, World]:
        since = t - begin_s
        if since < 0:
            return table.sim, world
        rest = [p for p in world.pieces[zone] if not np.allclose(p.centre, loose.centre)]
        lift = np.array([0.0, -110.0, 60.0]) * max(0.0, 1 - since / 0.8)
        held = PosedPiece(loose.shape, loose.color, loose.turn, goal + lift)
        tip = (
            held.centre + [0, 0, 18]
            if since < 0.8
            else _way(REST, held.centre + [0, 0, 18], since - 0.8 + REACH_S + STAYS_S)
        )
        hands = {**world.hands, zone: None if tip is None else Hand(tuple(tip))}
        return table.sim, replace(world, pieces={**world.pieces, zone: [*rest, held]}, hands=hands)

    return act


REST = np.array([115.0, -245.0, 70.0])


def _moved(script: Script, piece: PosedPiece, stop_s: float) -> bool:
    return any(script.places[m.index] is piece for m in script.moves)


ACTS = {
    "second_hand": _second_hand,
    "bare_hand": _bare_hand,
    "neighbours_hand": _neighbours_hand,
    "strangers_hand": _strangers_hand,
    "came_together": _came_together,
    "shaken": _shaken,
    "brought_after_stop": _brought,
}


SEEN_LEVELS, SEEN_PX = 16, 64
"""What a human can see of a film of 640 by 360: see ``visible``."""

BARE_MM, TONGS_MM = np.array((0.0, -22.0, 12.0)), np.array((18.0, -95.0, 62.0))
"""From the tip to the fist of a bare hand, and of one that holds tongs, as the simulator draws them."""


def without(table: Table, what: Staged, scene: Scene) -> tuple[PosedTable, World]:
    """The same moment without what makes its foul one: a bare hand's fist holds tongs, and where they would go into
    the table they are seen all the same; a second hand, a neighbour's or a piece that is brought is not there; a mat is
    where it was."""
    zone, world = what.zone, scene.world
    hand = world.hands.get(zone)
    if what.foul == "bare_hand" and hand is not None and hand.bare:
        held = Hand(tuple(np.array(hand.tip) + BARE_MM - TONGS_MM))
        world = replace(world, hands={**world.hands, zone: held})
    if what.foul in ("second_hand", "strangers_hand"):
        world = replace(world, more_hands=())
    if what.foul == "neighbours_hand":
        world = replace(world, hands={**world.hands, zone: None})
    if what.foul in ("brought_after_stop", "came_together"):
        world = replace(world, pieces={**world.pieces, zone: scene.plain.pieces[zone]})
    return table.sim, world


def visible(table: Table, what: Staged) -> tuple[bool, int]:
    """Whether a human could see the staged foul, and in how many pixels: by the renderer, whatever vision says.

    Compared are pictures without noise, with and without what makes it a foul. A pixel differs noticeably by
    ``SEEN_LEVELS`` of 255, six sigma of the noise. ``SEEN_PX`` of them are needed: to know what a thing is takes eight
    pixels over its lesser side (Johnson's four pairs of lines), and what is less in all, however it lies, cannot have
    them. They must be there in two looks in a row, a fifth of a second. The whole visit counts, on the way in and
    out too, so that what a human may just see is not excused."""
    scenes, _, _, begin_s = _played(table, what)
    most, before = 0, 0
    for scene in scenes:
        if scene.number / FPS < begin_s:
            continue
        sim, world = without(table, what, scene)
        shown, plain = scene.sim.clean(scene.world), sim.clean(world)
        differs = int((np.abs(shown.astype(np.int16) - plain).max(-1) >= SEEN_LEVELS).sum())
        most, before = max(most, min(before, differs)), differs
        if most >= SEEN_PX:
            break
    return most >= SEEN_PX, most


def seen(table: Table, shown: Shown) -> list[FoulProposal]:
    """What is proposed of it from the go on."""
    gate, watch, found = Gate(table.observer), FoulWatch(), list[FoulProposal]()
    for number, (now, image) in enumerate(shown.frames):
        frame = Frame(image, number, now)
        look = gate.look(frame)
        if now >= GO_S:
            found += watch.look(frame, gate.reduced_frame(), look, shown.stop_s if now >= shown.stop_s else None)
    return found
