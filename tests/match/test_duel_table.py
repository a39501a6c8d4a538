"""The duel as a table: its diagram is drawn from it, and events that it does not list are refused."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import referee.match
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.duel import PHASES, PHASES_IN_PLAY, TABLE, Duel, step

DATA = {
    "card_id": "C01",
    "value": 1,
    "pile": "cards",
    "at_s": 1.0,
    "zone": "A",
    "callers": ["A"],
    "by": "camera",
    "reason": "right",
    "award": "Ann",
}
SEATED = {"seats": {"A": "Ann", "B": "Ben"}}


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    lines = [f"    {phase} --> {to}: {kind}" for kind, (froms, to) in TABLE.items() for phase in froms]
    return "\n".join(["stateDiagram-v2", "    [*] --> idle", *lines])


def test_the_diagram_in_the_readme_is_the_tables():
    assert f"```mermaid\n{diagram()}\n```" in Path(referee.match.__file__).with_name("README.md").read_text("utf-8")


def test_every_phase_is_in_the_diagram_and_no_other():
    words = set(diagram().replace("-->", " ").replace(":", " ").split())
    assert words >= set(PHASES)
    assert {p for froms, to in TABLE.values() for p in (*froms, to)} == set(PHASES)
    assert set(PHASES_IN_PLAY) < set(PHASES)


@pytest.mark.parametrize("phase, kind", [p for p in product(PHASES, TABLE) if p[0] in TABLE[p[1]][0]])
def test_an_event_of_the_table_leads_where_it_says(phase, kind):
    assert step(Duel(phase=phase, **SEATED), Event(kind, DATA)).phase == TABLE[kind][1]


@pytest.mark.parametrize("phase, kind", [p for p in product(PHASES, TABLE) if p[0] not in TABLE[p[1]][0]])
def test_any_other_event_is_refused(phase, kind):
    with pytest.raises(IllegalCommand, match=f"{kind} cannot follow in phase {phase}"):
        step(Duel(phase=phase, **SEATED), Event(kind, DATA))


def test_every_phase_can_be_reached_and_left():
    reached, grown = {"idle"}, True
    while grown:
        more = {to for froms, to in TABLE.values() if reached & set(froms)} - reached
        reached, grown = reached | more, bool(more)
    assert reached == set(PHASES)
    assert all(any(p in froms and to != p for froms, to in TABLE.values()) for p in PHASES)
