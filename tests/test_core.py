"""The event frame on a counter: what is legal, what is stamped, and what may follow."""

from dataclasses import dataclass, replace

import pytest

from referee import core
from referee.core import Command, Decider, Needed, State, apply_event, decide, fold, next_phase, seed_hash, shuffled
from referee.errors import IllegalCommand
from referee.events import Event


class Begin(Command):
    simulated: bool = False


class Add(Command):
    n: int
    who: str = ""
    why: Needed = "because"


class Raise(Command):
    """Adds one."""


@dataclass(frozen=True)
class Counter(State):
    total: int = 0


CHANGES = {
    "begun": lambda state, data, event: state,
    "added": lambda state, data, event: replace(state, total=state.total + data["n"]),
}


def evolve(state, event):
    return apply_event(state, event, CHANGES, "begun")


def add(batch, c):
    """Two events, the second of which says what the first led to."""
    batch.add("added", n=c.n)
    batch.add("added", cites=7, n=batch.state.total, kind="twice")


def refusal(state, command):
    return "" if state.seq or isinstance(command, Begin) else "nothing has begun"


COUNTER = Decider(
    evolve, refusal, {Begin: lambda b, c: b.add("begun"), Add: add, Raise: lambda b, c: b.add("added", n=1)}
)
BEGUN = fold(evolve, Counter(), decide(COUNTER, Counter(), Begin(), "at"))


def test_a_command_is_a_frozen_value():
    assert Add(1) == Add(1, "") and len({Add(1), Add(1)}) == 1
    with pytest.raises(AttributeError):
        Add(1).n = 2


def test_a_handler_sees_what_its_events_led_to_and_the_state_stays():
    events = decide(COUNTER, BEGUN, Add(2, "Ann"), "at", "Ben")
    stamp = Event("added", at="at", who="Ann", step=2)
    assert events == (replace(stamp, data={"n": 2}), replace(stamp, data={"n": 2, "kind": "twice"}, cites=7))
    assert Counter(0, seq=1, step=1) == BEGUN
    assert fold(evolve, BEGUN, events) == Counter(4, seq=3, step=2)


@pytest.mark.parametrize(
    ("command", "asker", "who"),
    [
        (Add(1, "Ann"), ("Ben",), "Ann"),
        (Add(1), ("Ben",), "Ben"),
        (Add(1), ("",), ""),
        (Add(1), (), ""),
        (Raise(), ("Ben",), "Ben"),  # a command that has no place for who asked
    ],
)
def test_the_command_says_who_asked_before_the_caller_does(command, asker, who):
    assert {event.who for event in decide(COUNTER, BEGUN, command, "at", *asker)} == {who}


@pytest.mark.parametrize("simulated", [False, True])
def test_what_began_simulated_stays_so(simulated):
    begun = decide(COUNTER, Counter(), Begin(simulated), "at")
    state = fold(evolve, Counter(), begun)
    assert state.simulated == simulated
    assert {event.simulated for event in (*begun, *decide(COUNTER, state, Add(1), "at"))} == {simulated}
    after = fold(evolve, BEGUN, decide(COUNTER, BEGUN, Add(1), "at")[:1])
    assert fold(evolve, after, [Event("added", {"n": 1}, simulated=True), Event("added", {"n": 1})]).simulated


@pytest.mark.parametrize(
    ("state", "command", "code"),
    [
        (BEGUN, Add(1, why=""), "needs"),
        (BEGUN, Add(1, why=" \n"), "needs"),
        (Counter(), Add(1), ""),  # the refusal of what is played, in its own words
        (Counter(), Add(1, why=""), "needs"),  # what is lacking is said first
        (BEGUN, Begin(), "not_that_event"),
    ],
)
def test_an_illegal_command_is_refused_with_the_reason(state, command, code):
    with pytest.raises(IllegalCommand) as refused:
        decide(COUNTER, state, command, "at")
    assert getattr(refused.value.wording, "code", "") == code


@pytest.mark.parametrize(
    ("state", "kind", "code"),
    [(Counter(), "added", "not_that_event"), (BEGUN, "begun", "not_that_event"), (BEGUN, "taken", "unknown_event")],
)
def test_an_event_that_cannot_follow_is_refused(state, kind, code):
    with pytest.raises(IllegalCommand) as refused:
        evolve(state, Event(kind, {"n": 1}))
    assert refused.value.wording.code == code


@pytest.mark.parametrize(
    ("state", "kind", "n"), [(Counter(), "added", 1), (BEGUN, "begun", 2), (Counter(seq=8), "begun", 9)]
)
def test_a_refused_event_is_told_by_its_number(state, kind, n):
    with pytest.raises(IllegalCommand, match=f"event {n} ") as refused:
        evolve(state, Event(kind, {"n": 1}))
    assert refused.value.wording.values == {"kind": kind, "n": n}


def test_the_first_event_alone_is_the_first():
    assert apply_event(Counter(), Event("begun", step=1), CHANGES, "begun") == Counter(seq=1, step=1)


TABLE = {"opened": (("shut", "locked"), "open")}


def test_a_phase_follows_from_the_table():
    assert [next_phase(TABLE, "opened", phase) for phase in ("shut", "locked")] == ["open", "open"]


@pytest.mark.parametrize(("kind", "phase"), [("opened", "open"), ("knocked", "shut")])
def test_what_the_table_does_not_allow_is_refused(kind, phase):
    with pytest.raises(IllegalCommand) as refused:
        next_phase(TABLE, kind, phase)
    assert refused.value.wording.code == "cannot_follow"


def test_the_number_of_events_is_counted_from_the_state_before():
    event = Event("added", step=9)
    assert core.count_event(Counter(5), Counter(seq=3), event) == Counter(5, seq=4, step=9)


def test_a_seed_is_promised_by_the_sha256_of_its_digits():
    """As ``printf 42 | sha256sum`` prints it."""
    assert seed_hash(42) == "73475cb40a568e8da8a045ced110137e159f890ac4da883b6b17dc651b3a8049"


@pytest.mark.parametrize(
    ("cards", "seed", "name", "order"),
    [
        ("abcde", 42, "pile", "ebcda"),
        ("edcba", 42, "pile", "ebcda"),  # whatever order they came in
        ("abcde", 43, "pile", "ceabd"),
        ("abcde", 42, 2, "cadbe"),
        ("", 42, "pile", ""),
    ],
)
def test_a_seed_shuffles_the_same_for_ever(cards, seed, name, order):
    assert "".join(shuffled(cards, seed, name)) == order
