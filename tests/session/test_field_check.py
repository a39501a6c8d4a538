"""Fields before the go, on rendered tables before the real gate and observer."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from staged import DECK, FPS, Rig, Stage, World

from referee.devices.ports import Frame
from referee.match.card_facts import cards_of
from referee.match.commands import CameraVerdict, CreateMatch, DrawCard, Go, NextDuel, PressStop, Ready, VoidDuel
from referee.match.decide import decide
from referee.match.evolve import evolve, fold
from referee.match.state import MatchState
from referee.match.verdict import zone_verdict
from referee.session.field_check import FieldCheck, fields_must_be_empty
from referee.session.live_judging import LiveJudging
from referee.simulator.table import Hand
from referee.vision.live.gate import Gate

CARD = DECK.card("L09")


def faults(rig: Rig, *worlds: World) -> list[dict]:
    """What is said of the fields at the end of a second of each world."""
    gate, check, said, number = Gate(rig.observer), FieldCheck(), [], 0
    for world in worlds:
        for _ in range(round(FPS)):
            number += 1
            frame = Frame(rig.picture(world, number), number, number / FPS)
            check.look(frame, gate.look(frame), rig.observer, CARD)
        said.append(dict(check.faults))
    return said


def after(*commands) -> MatchState:
    """A match in which these commands were given."""
    state = fold([])
    for command in (CreateMatch(("Ann", "Ben"), cards=cards_of(DECK)), *commands):
        for event in decide(state, command, "2026-01-01T00:00:00+00:00"):
            state = evolve(state, event)
    return state


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "seating"), [(3, "across"), (4, "beside"), (5, "facing")])
def test_loose_pieces_are_no_fault_a_build_and_a_hand_are(seed, seating):
    rig = Rig(seed, seating)
    stage = Stage(rig, CARD, "B")
    pointing = stage.world([], {"A": Hand((0.0, 0.0, 50.0))})
    empty, built, hand, again = faults(rig, stage.world([]), stage.world(stage.full), pointing, stage.world([]))
    assert (empty, built, again) == ({}, {"B": "not_empty"}, {})
    assert hand["A"] == "hand"


@pytest.mark.slow
@pytest.mark.parametrize(("shown", "learnt"), [("loose", True), ("full", False)])
def test_a_moment_before_the_go_the_empty_table_is_learnt_anew(shown, learnt):
    """In dimmer light; what lies about the fields is no part of it. Not while a build stands in one."""
    rig = Rig(6, "across")
    stage, observer, before = Stage(rig, CARD, "B"), rig.observer, rig.observer.empty
    world = stage.world(stage.full if shown == "full" else [])
    session = SimpleNamespace(observer=observer, deck=DECK, alarm=lambda *_: None, second=None)
    state, gate, judging = after(DrawCard("L01"), Ready()), Gate(observer), LiveJudging(session)
    for number in range(1, round(1.5 * FPS)):
        frame = Frame((rig.picture(world, number) * 0.85).astype(np.uint8), number, number / FPS)
        judging._look_at_fields(frame, gate.look(frame), state)
    if learnt:
        off = np.abs(observer.empty.astype(float) - 0.85 * before)
        assert off.mean() < 4 and (off.max(-1) > 60).mean() < 0.001
    else:
        assert observer.empty is before


@pytest.mark.parametrize(
    ("phase", "is_asked"),
    [("first idle", False), ("card_drawn", True), ("ready", True), ("building", False), ("decided", False),
     ("idle", True), ("void", True)],
)  # fmt: skip
def test_fields_are_looked_at_before_the_go_and_when_builds_are_broken_after_a_duel(phase, is_asked):
    ways = {
        "first idle": [],
        "card_drawn": [DrawCard("L01")],
        "ready": [DrawCard("L01"), Ready()],
        "building": [DrawCard("L01"), Ready(), Go(100.0)],
        "decided": [
            DrawCard("L01"),
            Ready(),
            Go(100.0),
            PressStop("A", 110.0),
            CameraVerdict("A", zone_verdict({"verdict": "match"})),
        ],
        "void": [DrawCard("L01"), VoidDuel("Ref", "a lamp fell")],
    }
    ways["idle"] = [*ways["decided"], NextDuel()]
    state = after(*ways[phase])
    assert state.phase == phase.split()[-1]
    assert fields_must_be_empty(state) == is_asked
