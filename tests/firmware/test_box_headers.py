"""Timelines and properties of the firmware's own headers, compiled for this PC, and of the simulated box's build."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.devices.box_conversation import NOISY_S
from referee.devices.box_protocol import NEXT_BUTTON, PADS, PLAYERS, Message, parse
from referee.kernels.button_box import Firmware

SKETCH = Path(__file__).parents[2] / "firmware" / "button_box"
NUMBERS = {
    name: int(number)
    for header in ("debounce.h", "pads.h", "signals.h", "box.h")
    for name, number in re.findall(r"^const uint\d+_t (\w+) = (\d+);", (SKETCH / header).read_text(), re.M)
}
CONFIRM_US, SPIKE_US, GLITCH_US, DOUBT_US = (NUMBERS[f"{name}_US"] for name in ("CONFIRM", "SPIKE", "GLITCH", "DOUBT"))
RELEASE_US, QUIET_US, TOUCH_US, STUCK_US = (NUMBERS[f"{name}_US"] for name in ("RELEASE", "QUIET", "TOUCH", "STUCK"))
LEFT_US, RESTING_US, COUNT_STEP_US = (NUMBERS[f"{name}_US"] for name in ("LEFT", "RESTING", "COUNT_STEP"))

WRAP = 2**32
TURN_US = 400
NOISY_US = NOISY_S * 1e6


def hear(us, kind, number, *fields, protocol=1):
    """A timeline's line for a command of the host."""
    return f"hear {us} {Message(kind, number, fields, protocol).encode().hex()}"


def hear2(us, kind, number, *fields):
    """The same in protocol 2, as a row of a timeline."""
    return us, hear(us, kind, number, *fields, protocol=2)


def pad(us, player, closed):
    """A row: the tongs are put on the pad, or leave it."""
    return us, f"pad {us} {player} {int(closed)}"


def turns(start_us, end_us, step_us=TURN_US):
    """Turns of the loop from one time to another."""
    return [f"turn {us}" for us in range(start_us, end_us, step_us)]


def told(headers, timeline, start_us=0, after_us=1_000_000, closed=0):
    """The sentences of a timeline whose edges and commands are ``(us, line)``, with turns of the
    loop between them; ``closed`` are the contacts that are down at power-on, as bits.
    """
    end_us = max(us for us, _ in timeline) + after_us
    lines = [(us, 0, f"turn {us}") for us in range(start_us, end_us, TURN_US)]
    lines += [(us, 1, line) for us, line in timeline]
    return [parse(s.encode()) for s in headers.tell([f"new {start_us} {closed}", *(x[2] for x in sorted(lines))])]


def edge(us, button, closed):
    return us, f"edge {us} {button} {int(closed)}"


def duel2(at_us):
    """Hello in protocol 2, arm and go."""
    return [
        hear2(at_us, "RFHEL", 1, 2),
        hear2(at_us + 500, "RFARM", 2),
        hear2(at_us + 2000, "RFGOO", 3, 0),
    ]


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
    ("Start/Next", [edge(5000, NEXT_BUTTON, 1), edge(90000, NEXT_BUTTON, 0)], ["BXNXT"], [("BXNXT", 5000, ())]),
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
            (19000, hear(19000, "RFRUN", 1)),
            edge(20000, 1, 1),
            (40000, hear(40000, "RFRUN", 2)),
            edge(50000, 0, 1),
        ],
        ["BXGOO", "BXHLD", "BXPRS"],
        [("BXPRS", 500, (3, 0)), ("BXHLD", 19000, (3,)), ("BXPRS", 20000, (1, 1)), ("BXPRS", 50000, (0, 2))],
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


def lawful(gaps):
    """A whole number of openings, and all of it within the 25 ms of doubt that a press is given."""
    while sum(gaps) >= DOUBT_US - CONFIRM_US:
        gaps = gaps[:-1]
    return gaps[: len(gaps) // 2 * 2]


trains = st.tuples(st.integers(TOUCH_US, 900), st.lists(st.integers(1, GLITCH_US - TURN_US - 1), max_size=24)).map(
    lambda parts: lawful([parts[0], *parts[1]])
)
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


def hum_edges(button, from_us, until_us, period_us, width_us):
    """A line that hum closes once in every period."""
    starts = range(from_us, until_us, period_us)
    return [row for us in starts for row in (edge(us, button, True), edge(us + width_us, button, False))]


periods = st.sampled_from([8_333, 10_000, 16_667, 20_000])


@settings(max_examples=60, deadline=None)
@given(period_us=periods, duty=st.floats(0.001, 0.5), before=st.booleans())
def test_hum_for_up_to_half_of_the_time_is_no_press_and_is_told_as_noise(headers, period_us, duty, before):
    hum = hum_edges(1, 7_000 if before else 60_000, 700_000, period_us, max(TOUCH_US, int(period_us * duty)))
    said = told(headers, [hear2(1000, "RFHEL", 9, 2), *duel2(40_000), *hum], after_us=100_000)
    assert events(said, "BXPRS", "BXSTK") == []
    assert [fields for _, _, fields in events(said, "BXNOI")] == [(1,)]


@settings(max_examples=60, deadline=None)
@given(period_us=periods, duty=st.floats(0.5, 0.999), before=st.booleans())
def test_hum_is_told_as_noise_whatever_its_duty(headers, period_us, duty, before):
    hum = hum_edges(1, 7_000 if before else 60_000, 700_000, period_us, int(period_us * duty))
    said = told(headers, [hear2(1000, "RFHEL", 9, 2), *duel2(40_000), *hum], after_us=10_000)
    assert [fields for _, _, fields in events(said, "BXNOI")] == [(1,)]


@pytest.mark.parametrize("every_us", [30_000, 60_000, 100_000])
def test_a_hand_that_drums_on_a_button_is_no_noise(headers, every_us):
    taps = [row for us in range(60_000, 2_000_000, every_us) for row in (edge(us, 1, 1), edge(us + 20_000, 1, 0))]
    said = told(headers, [hear2(1000, "RFHEL", 9, 2), *duel2(40_000), *taps])
    assert events(said, "BXNOI") == [] and len(events(said, "BXPRS")) == 1


@settings(max_examples=60, deadline=None)
@given(period_us=periods, duty=st.floats(0.05, 0.5), at_us=st.integers(300_000, 320_000), first=st.integers(0, 1))
def test_a_press_on_a_humming_line_is_not_lost_and_not_before_the_others(headers, period_us, duty, at_us, first):
    """The finger keeps the line closed; hum on it goes on before and after."""
    width_us, lead_us = int(period_us * duty), 25_000
    mine_us, other_us = (at_us, at_us + lead_us) if first == 1 else (at_us + lead_us, at_us)
    end_us = mine_us + 60_000
    hum = hum_edges(1, 7_000, mine_us - width_us, period_us, width_us)
    after = hum_edges(1, end_us + 5_000, 900_000, period_us, width_us)
    presses = [edge(mine_us, 1, True), edge(end_us, 1, False), edge(other_us, 0, True)]
    said = told(headers, [hear2(1000, "RFHEL", 9, 2), *duel2(40_000), *hum, *presses, *after], after_us=100_000)
    told_presses = events(said, "BXPRS")
    assert [fields[:2] for _, _, fields in told_presses] == [(first, 1), (1 - first, 2)]
    stamps = {fields[0]: us for _, us, fields in told_presses}
    assert stamps[0] == other_us and mine_us - NOISY_US <= stamps[1] <= mine_us
    assert events(said, "BXNOI")[0][1] < mine_us


@pytest.mark.parametrize("width_us", [14_000, 16_000])
def test_what_is_closed_for_fifteen_milliseconds_is_a_press(headers, width_us):
    said = told(headers, [*duel(1000), edge(20_000, 0, 1), edge(20_000 + width_us, 0, 0)], after_us=60_000)
    assert len(events(said, "BXPRS")) == (width_us > CONFIRM_US)


def test_a_touch_before_a_press_makes_its_line_noisy_before_it_is_told(headers):
    touch = [edge(50_000, 0, 1), edge(52_000, 0, 0)]
    said = told(headers, [*duel2(1000), *touch, edge(90_000, 0, 1)], after_us=60_000)
    assert [s.kind for s in said if s.kind in ("BXNOI", "BXPRS")] == ["BXNOI", "BXPRS"]


PLAIN = ["RFARM", "RFRUN", "RFDIS", "RFCLK", "RFTST"]
small = st.integers(1, 4)  # numbers of commands: repetitions must happen
commands = st.one_of(
    st.tuples(st.sampled_from(PLAIN), small),
    st.tuples(st.just("RFGOO"), small, st.integers(0, 1)),
    st.tuples(st.just("RFHEL"), small, st.integers(1, 3)),
    st.tuples(st.just("RFLMP"), small, st.integers(0, 5), st.integers(0, 4)),
    st.tuples(st.just("RFRSN"), small, st.integers(0, 12)),
    st.tuples(st.just("RFACK"), small, st.integers(0, 12), st.integers(1, 2)),
    st.tuples(st.just("RFNAM"), small, st.sampled_from(["a", "box-2"])),
    st.tuples(st.just("RFCNT"), small, st.integers(0, 5)),
)
waits = st.one_of(
    st.integers(1, 3_000),
    st.sampled_from([CONFIRM_US, SPIKE_US, GLITCH_US, DOUBT_US, RELEASE_US, QUIET_US, STUCK_US, 250_000]),
    st.sampled_from([TOUCH_US, LEFT_US, RESTING_US, COUNT_STEP_US]),
)
steps = st.lists(
    st.tuples(
        waits,
        st.one_of(
            st.just(("turn",)),
            st.tuples(st.just("edge"), st.integers(0, NEXT_BUTTON), st.booleans()),
            st.tuples(st.just("burst"), st.integers(0, NEXT_BUTTON), st.integers(1, 16_000), st.integers(1, 11_000)),
            st.tuples(st.just("pad"), st.integers(0, PADS - 1), st.booleans()),
            commands,
        ),
    ),
    max_size=60,
)


class Both:
    """The firmware's headers and the simulated box's build, driven alike; ``lines`` is the timeline for the headers."""

    def __init__(self, start_us, closed):
        self.built, self.now_us, self.said, self.protocol = Firmware(), start_us, b"", 1
        bits = sum(1 << b for b in closed)
        self.lines = [f"new {start_us} {bits}"]
        self.built.start("BOX1", 1, bits, 1, start_us)

    def step(self, what, *rest):
        if what == "burst":
            for _ in range(12):
                self.step("edge", rest[0], True)
                self.now_us += rest[1]
                self.step("edge", rest[0], False)
                self.now_us += rest[2]
        else:
            self._one(what, *rest)
        self.lines.append(f"turn {self.now_us}")
        self.said += self.built.poll(self.now_us)

    def _one(self, what, *rest):
        if what == "edge":
            self.lines.append(edge(self.now_us, *rest)[1])
            self.built.edge(*rest, self.now_us)
        elif what == "pad":
            self.lines.append(pad(self.now_us, *rest)[1])
            self.built.pad(*rest)
        elif what != "turn":
            self._command(what, *rest)

    def _command(self, kind, number, *fields):
        """In the protocol that the box speaks now, except a hello, which says which it shall be."""
        if kind == "RFHEL":
            self.protocol = min(fields[0], 2)
        if self.protocol == 1 and kind in ("RFHEL", "RFGOO"):
            fields = ()
        if self.protocol == 1 and kind == "RFCNT":
            return
        self.lines.append(hear(self.now_us, kind, number, *fields, protocol=self.protocol))
        self.said += self.built.hear(Message(kind, number, tuple(fields), self.protocol).encode(), self.now_us)


@settings(max_examples=400, deadline=None)
@given(
    steps=steps,
    start_us=st.sampled_from([0, 77, WRAP - 4_000_000]),
    closed=st.sampled_from([(), (0,), (1, 4)]),
    protocol=st.integers(1, 2),
)
def test_the_simulated_box_says_and_shows_the_same_as_the_firmware(headers, steps, start_us, closed, protocol):
    both = Both(start_us, closed)
    both.step("RFHEL", 9, protocol)
    for wait_us, what in steps:
        both.now_us += wait_us
        both.step(*what)
    *said, shown = headers.tell([*both.lines, f"shown {both.now_us}"])
    assert said == both.said.decode().split()
    assert shown == "".join(str(int(on)) for on in both.built.lamps) + f" {both.built.tone_hz}"


@pytest.mark.parametrize("protocol", [1, 2])
def test_the_simulated_box_says_the_same_hello_as_the_firmware(headers, protocol):
    fields = (2,) if protocol == 2 else ()
    hello = headers.tell(["new 0", hear(5, "RFHEL", 1, *fields, protocol=protocol), "turn 6"])[0]
    box = Firmware()
    box.start("BOX1", 1, 0, 1, 0)
    assert box.hear(Message("RFHEL", 1, fields, protocol).encode(), 5) == b""
    assert box.poll(6).decode().split()[0] == hello
    assert parse(hello.encode()).protocol == protocol and PLAYERS in parse(hello.encode()).fields


def test_a_new_name_is_kept(headers):
    box = Firmware()
    box.start("BOX1", 1, 0, 1, 0)
    box.hear(Message("RFNAM", 1, ("NEW.name-12",)).encode(), 5)
    assert box.box_id == "NEW.name-12"


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_and_edges_neither_crash_nor_leave_the_buffers(headers, seed):
    assert int(headers.tell(["new 0", f"fuzz {seed} 50000"])[0].split()[0]) > 1000
