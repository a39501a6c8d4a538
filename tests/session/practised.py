"""Builds practised frame by frame at the simulated table, in a time of their own: no threads, no waiting.

The real gate, observer and practice see a player carry piece after piece; what a build truly took is known.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from staged import DECK, SET, Rig

from cards.card import Card
from referee.devices.ports import Frame
from referee.journal.journal import Journal
from referee.match.practice import Practice
from referee.match.state import MatchState
from referee.session.practising import PracticeRunner
from referee.simulator.build_plans import is_right, plan_build, with_mistake
from referee.simulator.hand_motion import Move, Script
from referee.simulator.meshes import place_piece
from referee.simulator.players import PlayerProfile, build_script, loose_places, without_band
from referee.simulator.table import World
from referee.vision.live.gate import Gate

FPS = 10.0
JUDGING_S = 0.4
"""How long a judgement takes in the table's time: frames go on meanwhile."""

PATIENCE_S = 8.0
"""So long after the last piece the build has to be finished."""


class TableClock:
    """The table's own time."""

    t_s = 0.0

    def now_s(self) -> float:
        return self.t_s

    def utc(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)


class LateJudge:
    """A pool whose answers come ``JUDGING_S`` of the table's time after the question."""

    def __init__(self, clock: TableClock) -> None:
        self._clock, self._due = clock, []

    def submit(self, work: Callable, *args) -> Future:
        done: Future = Future()
        heapq.heappush(self._due, (self._clock.t_s + JUDGING_S, id(done), done, work(*args)))
        return done

    def settle(self) -> None:
        while self._due and self._due[0][0] <= self._clock.t_s:
            _, _, done, answer = heapq.heappop(self._due)
            done.set_result(answer)

    def shutdown(self, **_: object) -> None:
        """There is no thread."""


@dataclass
class PractisedSession:
    """What practice needs of a session."""

    observer: object
    gate: Gate
    clock: TableClock
    deck: object = DECK
    simulated: bool = True
    second: object = None
    state: MatchState = field(default_factory=MatchState)
    alarms: dict = field(default_factory=dict)

    def draw(self, frame, judgement, card):
        return frame

    def touch(self) -> None:
        """Nobody waits."""

    def alarm(self, code: str, text: str | None) -> None:
        self.alarms[code] = text


@dataclass(frozen=True)
class Doing:
    """What a player does with a card: the script as of the go at 0, when the last piece came to rest, and what was
    right of it at any time before."""

    script: Script
    done_s: float


def straight(card: Card, places, rng: np.random.Generator) -> Doing:
    """Piece after piece."""
    script = build_script(places, plan_build(card, SET, rng), 0.0, PlayerProfile(per_piece_s=1.3), rng)
    return Doing(script, script.moves[-1].end_s)


def pausing(card: Card, places, rng: np.random.Generator) -> Doing:
    """The hands go away for some seconds before the last piece."""
    doing = straight(card, places, rng)
    pause = float(rng.uniform(1.5, 3.0))
    *moves, last = doing.script.moves
    last = replace(last, start_s=last.start_s + pause, end_s=last.end_s + pause)
    return Doing(replace(doing.script, moves=(*moves, last)), last.end_s)


def erring(card: Card, places, rng: np.random.Generator) -> Doing:
    """The build is wrong first; some seconds later what is wrong is put right, piece by piece."""
    right = plan_build(card, SET, rng)
    wrong = with_mistake(right, card, SET, rng)
    same = sorted((p.shape, p.color) for p in wrong) == sorted((p.shape, p.color) for p in right)
    if not same or is_right(wrong, card, SET):
        return pausing(card, places, rng)
    script = build_script(places, wrong, 0.0, PlayerProfile(per_piece_s=1.3), rng)
    t, moves = script.moves[-1].end_s + float(rng.uniform(1.5, 3.0)), list(script.moves)
    mended = {}
    for move in script.moves:
        mended.setdefault((move.goal.shape, move.goal.color), []).append(move.index)
    for piece in right:
        index, goal = mended[piece.shape, piece.color].pop(0), place_piece(piece)
        before = next(m.goal for m in script.moves if m.index == index)
        if np.abs(before.centre - goal.centre).max() > 0.5:
            moves.append(Move(index, t, t + 1.5, goal))
            t += 1.5
    return Doing(replace(script, moves=tuple(moves)), moves[-1].end_s)


WAYS = {"straight": straight, "pausing": pausing, "erring": erring}


@dataclass(frozen=True)
class Practised:
    """How one build went: the practice in the end, what it truly took, and when the practice said it was finished."""

    practice: Practice
    truth_s: float
    ended_s: float | None

    @property
    def seconds(self) -> float | None:
        """What the camera measured; None when it did not finish."""
        return self.practice.results[-1].seconds if self.practice.results else None


def supplies(rig: Rig) -> dict[str, tuple]:
    """Where every piece lies before the go, by zone."""
    return {z: tuple(without_band(SET, loose_places(SET, rig.table.seed * 31 + ord(z)))) for z in "AB"}


def finished(rig: Rig, zone: str, card: Card, way: str, seed: int) -> World:
    """The table when the build that ``practise`` watches with the same arguments is done and the hands are gone."""
    places = supplies(rig)
    doing = WAYS[way](card, places[zone], np.random.default_rng(seed))
    pieces, _ = doing.script.at(doing.script.still_s + 1.0)
    return World({**{z: list(p) for z, p in places.items()}, zone: pieces})


def practise(rig: Rig, zone: str, card: Card, way: str, seed: int, folder: Path) -> Practised:
    """One build of the card by a player at that zone, from the empty field to its end."""
    rng, places = np.random.default_rng(seed), supplies(rig)
    clock, gate = TableClock(), Gate(rig.observer)
    deck = replace(DECK, cards=(card,))
    journal = Journal(folder / f"practice-{seed}.db")
    practising = PracticeRunner(PractisedSession(rig.observer, gate, clock, SimpleNamespace(**_of(deck))), journal)
    practising.stop()
    judge = practising._pool = LateJudge(clock)
    practising.begin({zone: "Ann"}, seed=seed)
    doing, number, ended_s = WAYS[way](card, places[zone], rng), 0, None
    rest = World({z: list(p) for z, p in places.items()})
    last = None
    while practising.now.phase != "shown":
        clock.t_s, number = number / FPS, number + 1
        go_s = practising.now.go_at_s if practising.now.phase == "building" else None
        if go_s is None:
            world = rest
        elif clock.t_s <= go_s + doing.script.still_s or last is None:
            pieces, hand = doing.script.at(clock.t_s - go_s)
            world = World({**rest.pieces, zone: pieces}, {zone: hand})
            last = world if clock.t_s > go_s + doing.script.still_s else None
        else:
            world = last
        frame = Frame(rig.picture(world, number), number, clock.t_s)
        judge.settle()
        practising.look(frame, gate.look(frame))
        if clock.t_s > (go_s or clock.t_s) + doing.done_s + PATIENCE_S or clock.t_s > 120:
            break
    else:
        ended_s = clock.t_s - (practising.now.go_at_s or 0.0)
    journal.close()
    return Practised(practising.now, doing.done_s, ended_s)


def _of(deck) -> dict:
    return {"name": deck.name, "cards": deck.cards, "card": deck.card, "shuffled": deck.shuffled, "by_id": deck.by_id}
