"""The button box's own logic once more, in Python: the brain of the simulated box.

It follows `firmware/button_box/` turn by turn, and a test drives both with the same timelines and compares
every sentence. Times are microseconds since the box's start and never wrap here. It is one module, as `box.h` is one
header, so that the two can be read side by side.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from referee.devices.box_protocol import PROTOCOL, BadSentence, Sentence, parse
from referee.simulator.box_contact import FREED, NOISY, QUIET, Contact, Pad

VERSION = "2.0"
PLAYERS = 4
NEXT = 4  # the Start/Next button comes after the players'
PADS = 2
STUCK_US = 5_000_000
HOST_AWAY_US = 2_000_000
COUNT_STEP_US = 1_000_000  # from one tone of the countdown to the next
COUNT_STEPS = 3
TEST_STEP_US = 250_000  # one lamp of the self-test
TONES = {"go": (2300, 600_000), "count": (1150, 120_000), "stop": (1750, 150_000)}
TONES |= {"false start": (400, 500_000), "test": (2300, 250_000)}  # hertz, microseconds
KEPT = 20  # events until the host acknowledges
KEPT_MINOR = 10  # what is no part of a duel must not push out a duel's events
LINE_MAX = 47  # the box's input buffer
POWER_ON = 1  # why the processor started, as the ATmega says it
TOLD = {FREED: "BXFRE", NOISY: "BXNOI", QUIET: "BXQUI"}
OLD_KINDS = {"BXNOI": "BXSTK", "BXQUI": "BXFRE", "BXFLS": "BXFRE"}  # what a host of protocol 1 is told instead


@dataclass
class BoxTwin:
    """The box between its pins and its serial line. ``out`` collects what it has said."""

    box_id: str = "BOX1"
    boot: int = 1
    cause: int = POWER_ON
    contacts: list[Contact] = field(default_factory=lambda: [Contact() for _ in range(PLAYERS + 1)])
    pads: list[Pad] = field(default_factory=lambda: [Pad() for _ in range(PADS)])
    lamps: list[bool] = field(default_factory=lambda: [False] * PLAYERS)
    connected_lamp: bool = False
    armed_lamp: bool = False
    phase: str = "idle"  # idle, armed, counting, running, stopped
    tone_hz: int = 0
    out: deque[Sentence] = field(default_factory=deque)
    overwritten: int = 0
    run: int = 0  # number of the duel since the start
    _protocol: int = 1  # what the host has asked for in its hello
    _events: deque[Sentence] = field(default_factory=deque)
    _last: int = 0
    _cursor: int = 1  # number of the next event to say
    _ranked: list[int] = field(default_factory=list)
    _modes: list[int] = field(default_factory=lambda: [0] * PLAYERS)
    _done: int = 0  # number of the last command carried out
    _heard_us: int | None = None
    _tone_until_us: int = 0
    _count_since_us: int = 0
    _counted: int = 0
    _go_us: int = 0
    _test_since_us: int | None = None
    _line: bytearray = field(default_factory=bytearray)

    def start(self, now_us: int, closed: tuple[int, ...] = ()) -> None:
        """Power on, with these contacts closed already."""
        self._log("BXBOT", now_us, self.boot, self.cause)
        for index, contact in enumerate(self.contacts):
            contact.power_on(index in closed, now_us)
        self._tell_held([i for i in range(PLAYERS) if i in closed], now_us)

    @property
    def first(self) -> int:
        """Number of the oldest event kept."""
        return self._last - len(self._events) + 1

    def poll(self, now_us: int) -> None:
        """One turn of the loop: contacts, what they amount to, pads, lamps and tones, then one sentence."""
        for index, contact in enumerate(self.contacts):
            for news in contact.poll(now_us):
                if index < PLAYERS or news != FREED:
                    self._minor(TOLD[news], now_us, index)
        self._tell_presses(now_us)
        self._look_for_stuck(now_us)
        self._look_at_pads(now_us)
        if self.phase == "counting":
            self._count_down(now_us)
        if self.tone_hz and now_us >= self._tone_until_us:
            self.tone_hz = 0
        self._show(now_us)
        self.say()

    def say(self) -> None:
        """The next event that has not been said."""
        if self._cursor <= self._last:
            self.out.append(self._in_dialect(self._events[self._cursor - self.first]))
            self._cursor += 1

    def _in_dialect(self, event: Sentence) -> Sentence:
        """The event as the host understands it; it is kept in protocol 2, and the box goes by its present name."""
        if self._protocol > 1:
            named = {"BXGOO": 1, "BXPRS": 3}.get(event.kind)
            fields = event.fields if named is None else (*event.fields[:named], self.box_id, *event.fields[named + 1 :])
            return Sentence(event.kind, event.number, fields, PROTOCOL)
        kind = OLD_KINDS.get(event.kind, event.kind)
        return Sentence(kind, event.number, event.fields[: {"BXGOO": 1, "BXPRS": 3}.get(kind, 2)])

    # --- presses

    def _tell_presses(self, now_us: int) -> None:
        """Confirmed presses in the order of their first edges; an earlier edge still in doubt holds them back."""
        players = self.contacts[:PLAYERS]
        while fresh := [(c.first_us, i) for i, c in enumerate(players) if c.fresh]:
            first_us, index = min(fresh)
            if any(c.state == "trying" and c.first_us < first_us for c in players):
                break
            players[index].fresh = False
            if not players[index].held:
                self._press(index, first_us, now_us)
        start = self.contacts[NEXT]
        fresh_start, start.fresh = start.fresh, False
        if fresh_start and not start.held:
            self._minor("BXNXT", start.first_us)

    def _press(self, index: int, at_us: int, now_us: int) -> None:
        if self.phase not in ("running", "stopped"):
            self._minor("BXPRS", at_us, index, 0, self.box_id, self.boot, self.run)
            return
        if index in self._ranked:
            return
        self._ranked.append(index)
        if self.phase == "running":
            self.phase, self._modes[index] = "stopped", 1
            self._sound("stop", now_us)
        self._log("BXPRS", at_us, index, len(self._ranked), self.box_id, self.boot, self.run)

    def _look_for_stuck(self, now_us: int) -> None:
        for index, contact in enumerate(self.contacts[:PLAYERS]):
            if contact.state == "down" and not contact.stuck and now_us - contact.first_us >= STUCK_US:
                contact.stuck = True
                self._minor("BXSTK", now_us, index)

    def _log(self, kind: str, at_us: int, *fields: int | str) -> None:
        self._last += 1
        self._events.append(Sentence(kind, self._last, (at_us, *fields), PROTOCOL))
        if len(self._events) > KEPT:
            self._events.popleft()
            self.overwritten += 1
            self._cursor = max(self._cursor, self.first)

    def _minor(self, kind: str, at_us: int, *fields: int | str) -> None:
        """An event that no duel depends on."""
        if len(self._events) < KEPT_MINOR:
            self._log(kind, at_us, *fields)

    # --- pads and countdown

    def _look_at_pads(self, now_us: int) -> None:
        for index, pad in enumerate(self.pads):
            if pad.poll(now_us) and self._too_early(pad.changed_us):
                self._false_start(index, now_us)

    def _too_early(self, left_us: int) -> bool:
        return self.phase == "counting" or (self.phase in ("running", "stopped") and left_us < self._go_us)

    def _false_start(self, index: int, now_us: int) -> None:
        self._log("BXFLS", self.pads[index].changed_us, index)
        if self.phase == "counting":
            self._rearm()
            self._sound("false start", now_us)

    def _count_down(self, now_us: int) -> None:
        if now_us - self._count_since_us < self._counted * COUNT_STEP_US:
            return
        if self._counted == COUNT_STEPS:
            self._go(now_us)
        else:
            self._counted += 1
            self._sound("count", now_us)

    # --- lamps and tones

    def _sound(self, tone: str, now_us: int) -> None:
        self.tone_hz, for_us = TONES[tone]
        self._tone_until_us = now_us + for_us

    def _show(self, now_us: int) -> None:
        if self._test_since_us is not None and now_us - self._test_since_us >= PLAYERS * TEST_STEP_US:
            self._test_since_us = None
        self.lamps = [self._shines(index, now_us) for index in range(PLAYERS)]
        self.connected_lamp = self._heard_us is not None and now_us - self._heard_us < HOST_AWAY_US
        self.armed_lamp = self.phase in ("armed", "counting") and not any(pad.missing for pad in self.pads)

    def _shines(self, index: int, now_us: int) -> bool:
        if self._test_since_us is not None:
            return (now_us - self._test_since_us) // TEST_STEP_US == index
        mode = self._modes[index]
        if mode == 0:
            return self.contacts[index].noisy and now_us >> 16 & 1 == 1
        return (True, now_us >> 18 & 1 == 1, now_us >> 17 & 7 == 0)[mode - 1]

    # --- commands

    def hear(self, data: bytes, now_us: int) -> None:
        """Bytes from the host; whole lines are carried out at once."""
        for byte in data:
            if byte == 0x24:
                self._line = bytearray(b"$")
            elif byte not in b"\r\n":
                if self._line and len(self._line) <= LINE_MAX:
                    self._line.append(byte)
            elif self._line:
                line, self._line = bytes(self._line), bytearray()
                self._obey(line, now_us)

    def _obey(self, line: bytes, now_us: int) -> None:
        try:
            if len(line) > LINE_MAX:
                raise BadSentence("too long")
            command = parse(line)
            if not command.kind.startswith("RF") or (command.protocol != self._protocol and command.kind != "RFHEL"):
                raise BadSentence("not for this box now")
        except BadSentence:
            self._reply("BXERR", 0, now_us, "line")
            return
        self._heard_us = now_us
        getattr(self, "_" + command.kind[2:].lower())(command, now_us)

    def _hel(self, command: Sentence, now_us: int) -> None:
        self._done, self._protocol = 0, min(command.protocol, PROTOCOL)
        said = (self._protocol,) if self._protocol > 1 else ()
        self._reply(
            *("BXHEL", command.number, now_us, *said, VERSION, self.box_id, self.boot, PLAYERS),
            *(self.first, self._last, self.overwritten),
        )

    def _clk(self, command: Sentence, now_us: int) -> None:
        said = (self._lines(),) if self._protocol > 1 else ()
        self._reply("BXCLK", command.number, now_us, self.boot, self.first, self._last, *said)

    def _lines(self) -> int:
        flags = [c.noisy for c in self.contacts] + [p.resting for p in self.pads] + [p.wired for p in self.pads]
        return sum(flag << bit for bit, flag in enumerate(flags))

    def _ack(self, command: Sentence, now_us: int) -> None:
        number, boot = map(int, command.fields)
        while boot == self.boot and self._events and self._events[0].number <= number:
            self._events.popleft()
        self._cursor = max(self._cursor, self.first)

    def _rsn(self, command: Sentence, now_us: int) -> None:
        self._cursor = max(self.first, min(self._last + 1, int(command.fields[0])))

    def _tst(self, command: Sentence, now_us: int) -> None:
        if command.number != self._done:
            self._done, self._test_since_us = command.number, now_us
            self._sound("test", now_us)
        bits = sum(c.closed << i for i, c in enumerate(self.contacts))
        self._reply("BXTST", command.number, now_us, bits, 0, *((self.cause,) if self._protocol > 1 else ()))

    def _cnt(self, command: Sentence, now_us: int) -> None:
        button = int(command.fields[0])
        if button > NEXT:
            self._reply("BXERR", command.number, now_us, "fields")
            return
        contact = self.contacts[button]
        self._reply("BXCNT", command.number, now_us, button, contact.edges, contact.settle_us, contact.gap_us)
        contact.edges = contact.settle_us = contact.gap_us = 0

    def _arm(self, command: Sentence, now_us: int) -> None:
        if self._once(command):
            self._rearm()
            self._modes = [0] * PLAYERS
        self._reply("BXACK", command.number, now_us, self.phase)

    def _rearm(self) -> None:
        self.phase = "armed"
        self._ranked.clear()

    def _goo(self, command: Sentence, now_us: int) -> None:
        if command.number != self._done and self.phase != "armed":
            self._reply("BXERR", command.number, now_us, "not_armed")
            return
        if self._once(command):
            if any(command.fields):
                self._begin_count(now_us)
            else:
                self._go(now_us)
        self._reply("BXACK", command.number, now_us, self.phase)

    def _begin_count(self, now_us: int) -> None:
        self.phase, self._count_since_us, self._counted = "counting", now_us, 1
        self._sound("count", now_us)
        self._missing_pads(now_us)

    def _go(self, now_us: int) -> None:
        held = self._begin_duel(now_us)
        self._sound("go", now_us)
        self._log("BXGOO", now_us, self.box_id, self.boot, self.run)
        self._tell_held(held, now_us)
        self._missing_pads(now_us)

    def _missing_pads(self, now_us: int) -> None:
        for index, pad in enumerate(self.pads):
            if pad.missing:
                self._false_start(index, now_us)

    def _run(self, command: Sentence, now_us: int) -> None:
        if self._once(command) and self.phase not in ("running", "stopped"):
            self._ranked.clear()
            self._tell_held(self._begin_duel(now_us), now_us)
        self._reply("BXACK", command.number, now_us, self.phase)

    def _begin_duel(self, now_us: int) -> list[int]:
        self.phase, self._go_us = "running", now_us
        self.run = (self.run + 1) % 2**16
        for contact in self.contacts[:PLAYERS]:
            contact.held = contact.engaged()
        return [index for index, contact in enumerate(self.contacts[:PLAYERS]) if contact.held]

    def _tell_held(self, held: list[int], now_us: int) -> None:
        for index in held:
            self._log("BXHLD", now_us, index)

    def _dis(self, command: Sentence, now_us: int) -> None:
        if self._once(command):
            self.phase, self.tone_hz = "idle", 0
        self._reply("BXACK", command.number, now_us, self.phase)

    def _lmp(self, command: Sentence, now_us: int) -> None:
        button, mode = map(int, command.fields)
        if button >= PLAYERS or mode >= (2 if self._protocol == 1 else 4):
            self._reply("BXERR", command.number, now_us, "fields")
            return
        if self._once(command):
            self._modes[button] = mode
        self._reply("BXACK", command.number, now_us, self.phase)

    def _nam(self, command: Sentence, now_us: int) -> None:
        if self._once(command):
            self.box_id = str(command.fields[0])
        self._reply("BXACK", command.number, now_us, self.phase)

    def _once(self, command: Sentence) -> bool:
        """Whether this command is new; a repetition is answered but not carried out again."""
        new = command.number != self._done
        self._done = command.number
        return new

    def _reply(self, kind: str, number: int, *fields: int | str) -> None:
        self.out.append(Sentence(kind, number, fields, self._protocol))
