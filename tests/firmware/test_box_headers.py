"""Timelines and properties of the firmware's own headers, compiled for this PC, and their Python twin."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.devices.box_protocol import Sentence, parse
from referee.devices.box_twin import (
    CONFIRM_US,
    GLITCH_US,
    NEXT,
    PLAYERS,
    RELEASE_US,
    STUCK_US,
    BoxTwin,
)

WRAP = 2**32
TURN_US = 400


def hear(us, kind, number, *fields):
    """A timeline's line for a command of the host."""
    return f"hear {us} {Sentence(kind, number, fields).encode().hex()}"


def turns(start_us, end_us, step_us=TURN_US):
    """Turns of the loop from one time to another."""
    return [f"turn {us}" for us in range(start_us, end_us, step_us)]


def told(headers, timeline, start_us=0, after_us=1_000_000):
    """The sentences of a timeline whose edges and commands are ``(us, line)``, with turns of the
    loop between them.
    """
    end_us = max(us for us, _ in timeline) + after_us
    lines = [(us, 0, f"turn {us}") for us in range(start_us, end_us, TURN_US)]
    lines += [(us, 1, line) for us, line in timeline]
    return [parse(s.encode()) for s in headers.tell([f"new {start_us}", *(x[2] for x in sorted(lines))])]


def edge(us, button, closed):
    return us, f"edge {us} {button} {int(closed)}"


def duel(at_us, number=1):
    """Arm and go."""
    return [(at_us, hear(at_us, "RFARM", number)), (at_us + 2000, hear(at_us + 2000, "RFGOO", number + 1))]


def events(sentences, *kinds):
    """(kind, time, fields after the time) of the events among them."""
    return [(s.kind, s.box_us, s.fields[1:]) for s in sentences if s.kind in kinds]


TIMELINES = [
    # name, timeline, kinds looked at, expected (kind, us, fields)
    ("a press outside a duel has no rank", [edge(5000, 0, 1), edge(90000, 0, 0)], ["BXPRS"], [("BXPRS", 5000, (0, 0))]),
    (
        "the first Stop and the one after it",
        [*duel(1000), edge(20000, 1, 1), edge(21000, 0, 1)],
        ["BXPRS"],
        [("BXPRS", 20000, (1, 1)), ("BXPRS", 21000, (0, 2))],
    ),
    (
        "a second press of the same player says nothing",
        [*duel(1000), edge(20000, 1, 1), edge(60000, 1, 0), edge(400000, 1, 1)],
        ["BXPRS"],
        [("BXPRS", 20000, (1, 1))],
    ),
    (
        "a long bounce does not lose the first place to a clean press",
        [*duel(1000), edge(20000, 0, 1), edge(20700, 0, 0), edge(22000, 1, 1), edge(27000, 0, 1)],
        ["BXPRS"],
        [("BXPRS", 20000, (0, 1)), ("BXPRS", 22000, (1, 2))],
    ),
    (
        "a spike is no press, and holds nobody back for long",
        [*duel(1000), edge(20000, 0, 1), edge(20003, 0, 0), edge(21000, 1, 1)],
        ["BXPRS"],
        [("BXPRS", 21000, (1, 1))],
    ),
    (
        "a pulse too short to be seen begins a press all the same",
        [*duel(1000), edge(20000, 0, 0), edge(20300, 0, 1)],
        ["BXPRS"],
        [("BXPRS", 20000, (0, 1))],
    ),
    (
        "held at the go: reported, does not count, freed on release",
        [edge(500, 2, 1), *duel(100000), edge(300000, 2, 0)],
        ["BXHLD", "BXFRE", "BXPRS"],
        [("BXPRS", 500, (2, 0)), ("BXHLD", 102000, (2,)), ("BXFRE", 420000, (2,))],
    ),
    (
        "a bounce across the go belongs to before it",
        [*duel(100000), edge(101900, 0, 1), edge(102300, 0, 0), edge(102500, 0, 1)],
        ["BXHLD", "BXPRS"],
        [("BXHLD", 102000, (0,))],
    ),
    (
        "stuck after five seconds, once",
        [edge(1000, 3, 1), edge(7_000_000, 3, 0)],
        ["BXSTK", "BXFRE"],
        [("BXSTK", 1000 + STUCK_US, (3,)), ("BXFRE", 7_000_000 + RELEASE_US, (3,))],
    ),
    ("Start/Next", [edge(5000, NEXT, 1), edge(90000, NEXT, 0)], ["BXNXT"], [("BXNXT", 5000, ())]),
    (
        "after disarm presses are only tried",
        [*duel(1000), (9000, hear(9000, "RFDIS", 3)), edge(20000, 1, 1)],
        ["BXPRS"],
        [("BXPRS", 20000, (1, 0))],
    ),
    ("no go without arm", [(9000, hear(9000, "RFGOO", 3))], ["BXGOO", "BXERR"], [("BXERR", 9000, ("not_armed",))]),
    (
        "a go said twice is one go",
        [*duel(1000), (9000, hear(9000, "RFGOO", 2))],
        ["BXGOO", "BXERR"],
        [("BXGOO", 3000, ())],
    ),
    (
        "after a restart a duel goes on without a go; in a running one that changes nothing",
        [
            edge(500, 3, 1),
            (9000, hear(9000, "RFRUN", 1)),
            edge(20000, 1, 1),
            (40000, hear(40000, "RFRUN", 2)),
            edge(50000, 0, 1),
        ],
        ["BXGOO", "BXHLD", "BXPRS"],
        [("BXPRS", 500, (3, 0)), ("BXHLD", 9000, (3,)), ("BXPRS", 20000, (1, 1)), ("BXPRS", 50000, (0, 2))],
    ),
    (
        "garbage is answered and obeyed by nobody",
        [(9000, f"hear 9000 {b'$RFGOO,1*00'.hex()}0a")],
        ["BXGOO", "BXERR"],
        [("BXERR", 9000, ("line",))],
    ),
    (
        "a torn line does not swallow the next",
        [(9000, f"hear 9000 {(b'$RFAR' + b'$RFCLK,2*4E').hex()}0a")],
        ["BXCLK", "BXERR"],
        [("BXCLK", 9000, (1, 1, 1))],
    ),
]


@pytest.mark.parametrize(("name", "timeline", "kinds", "wanted"), TIMELINES, ids=[r[0] for r in TIMELINES])
def test_timeline(headers, name, timeline, kinds, wanted):
    got = events(told(headers, timeline), *kinds)
    assert [(k, f) for k, _, f in got] == [(k, f) for k, _, f in wanted], name
    assert all(0 <= g[1] - w[1] <= TURN_US for g, w in zip(got, wanted, strict=True))


def test_events_are_kept_said_again_and_dropped_when_acknowledged(headers):
    timeline = [
        edge(5000, 0, 1),
        edge(50000, 0, 0),
        (100000, hear(100000, "RFRSN", 1, 1)),
        (200000, hear(200000, "RFACK", 2, 1, 1)),
        (200500, hear(200500, "RFACK", 2, 2, 7)),
        (201000, hear(201000, "RFRSN", 3, 1)),
        (210000, hear(210000, "RFCLK", 4)),
    ]
    said = told(headers, timeline)
    assert [(s.kind, s.number) for s in said] == [
        ("BXBOT", 1),
        ("BXPRS", 2),
        ("BXBOT", 1),
        ("BXPRS", 2),
        ("BXPRS", 2),
        ("BXCLK", 4),
    ]
    assert said[-1].fields[1:] == (1, 2, 2)
    assert said[1] == said[3] == said[4], "an event said again is the same to the letter"


def test_idle_presses_cannot_push_out_a_duel(headers):
    starts = range(500_000, 6_500_000, 200_000)
    presses = [e for us in starts for e in (edge(us, 1, 1), edge(us + 40_000, 1, 0))]
    said = told(
        headers,
        [
            *duel(1000),
            edge(20000, 0, 1),
            edge(60000, 0, 0),
            (400000, hear(400000, "RFDIS", 3)),
            *presses,
            (7_000_000, hear(7_000_000, "RFCLK", 4)),
        ],
    )
    _, first, last = said[-1].fields[1:]
    assert (first, last) == (1, 10)
    assert ("BXPRS", (0, 1)) in [(s.kind, s.fields[1:]) for s in said]


@pytest.mark.parametrize("start_us", [0, WRAP - 30_000, WRAP - 5_000])
def test_time_goes_on_across_the_wrap_of_the_32_bit_clock(headers, start_us):
    said = told(
        headers, [*duel(start_us + 1000), edge(start_us + 20_000, 1, 1), edge(start_us + 40_000, 0, 1)], start_us
    )
    assert [at - start_us for _, at, _ in events(said, "BXPRS")] == [20_000, 40_000]


trains = st.lists(st.integers(1, GLITCH_US - 1), max_size=24).map(lambda gaps: gaps[: len(gaps) // 2 * 2])
"""Lengths of what follows the first edge: closed, open, closed, open ... and then closed for good."""


def train_edges(button, at_us, gaps):
    """The edges of a press that bounces so."""
    rows, closed = [edge(at_us, button, True)], True
    for gap in gaps:
        at_us, closed = at_us + gap, not closed
        rows.append(edge(at_us, button, closed))
    return rows


@settings(max_examples=150, deadline=None)
@given(gaps=trains)
def test_any_bounce_is_one_press_at_its_first_edge(headers, gaps):
    said = told(headers, [*duel(1000), *train_edges(0, 20_000, gaps)], after_us=60_000)
    assert events(said, "BXPRS") == [("BXPRS", 20_000, (0, 1))]


@settings(max_examples=150, deadline=None)
@given(a=trains, b=trains, lead_us=st.integers(1, 200_000))
def test_presses_rank_in_the_order_of_their_first_edges_whatever_bounces(headers, a, b, lead_us):
    said = told(
        headers, [*duel(1000), *train_edges(2, 20_000, a), *train_edges(1, 20_000 + lead_us, b)], after_us=60_000
    )
    assert events(said, "BXPRS") == [("BXPRS", 20_000, (2, 1)), ("BXPRS", 20_000 + lead_us, (1, 2))]


PLAIN = ["RFARM", "RFGOO", "RFRUN", "RFDIS", "RFHEL", "RFCLK", "RFTST"]
steps = st.lists(
    st.tuples(
        st.one_of(st.integers(1, 3_000), st.sampled_from([CONFIRM_US, GLITCH_US, RELEASE_US, STUCK_US, 250_000])),
        st.one_of(
            st.just(("turn",)),
            st.tuples(st.just("edge"), st.integers(0, NEXT), st.booleans()),
            st.tuples(st.sampled_from(PLAIN), st.integers(1, 4)),
            st.tuples(st.just("RFLMP"), st.integers(1, 4), st.integers(0, 5), st.integers(0, 2)),
            st.tuples(st.just("RFRSN"), st.integers(1, 4), st.integers(0, 12)),
            st.tuples(st.just("RFACK"), st.integers(1, 4), st.integers(0, 12), st.integers(1, 2)),
            st.tuples(st.just("RFNAM"), st.integers(1, 4), st.sampled_from(["a", "box-2"])),
        ),
    ),
    max_size=80,
)


@settings(max_examples=400, deadline=None)
@given(steps=steps, start_us=st.sampled_from([0, 77, WRAP - 4_000_000]))
def test_the_python_twin_says_the_same_as_the_firmware(headers, steps, start_us):
    twin, now_us, lines = BoxTwin(), start_us, [f"new {start_us}"]
    twin.start(start_us)
    for wait_us, (what, *rest) in steps:
        now_us += wait_us
        if what == "edge":
            lines.append(edge(now_us, *rest)[1])
            twin.contacts[rest[0]].edge(rest[1], now_us)
        elif what != "turn":
            lines.append(hear(now_us, what, *rest))
            twin.hear(Sentence(what, rest[0], tuple(rest[1:])).encode(), now_us)
        lines.append(f"turn {now_us}")
        twin.poll(now_us)
    assert [masked(parse(s.encode())) for s in headers.tell(lines)] == [masked(s) for s in twin.out]


def masked(sentence):
    """Without the longest turn of the loop, which the twin does not measure."""
    return sentence if sentence.kind != "BXTST" else (sentence.number, sentence.fields[:2])


def test_the_sketch_and_the_twin_have_the_same_constants(headers):
    hello = parse(headers.tell(["new 0", hear(5, "RFHEL", 1), "turn 6"])[0].encode())
    twin = BoxTwin()
    twin.start(0)
    twin.hear(Sentence("RFHEL", 1).encode(), 5)
    assert hello == twin.out[0] and hello.fields[4] == PLAYERS


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_and_edges_neither_crash_nor_leave_the_buffers(headers, seed):
    assert int(headers.tell(["new 0", f"fuzz {seed} 50000"])[0].split()[0]) > 1000
