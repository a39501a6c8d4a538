"""The button box's own logic once more, in Python: the brain of the simulated box.

It follows `firmware/button_box/` turn by turn, and a test drives both with the same timelines and compares
every sentence. Times are microseconds since the box's start and never wrap here.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from referee.devices.box_protocol import BadSentence, Sentence, parse

VERSION = "1.0"
PLAYERS = 4
NEXT = 4  # the Start/Next button comes after the players'
CONFIRM_US = 1_000  # closed this long without a break: a press
GLITCH_US = 10_000  # open again this long before that: a spike, no press
RELEASE_US = 120_000  # open this long: released; until then everything is bounce
STUCK_US = 5_000_000
BUZZ_US = 600_000
TEST_STEP_US = 250_000  # one lamp of the self-test
KEPT = 20  # events until the host acknowledges
KEPT_TRIED = 10  # presses outside a duel must not push out a duel's
LINE_MAX = 47  # the box's input buffer


@dataclass
class Contact:
    """One button: the first edge is the time, everything after it is bounce until the contact has rested."""

    state: str = "open"  # open, trying, down
    closed: bool = False
    changed_us: int = 0
    first_us: int = 0
    fresh: bool = False  # confirmed and not yet told
    held: bool = False  # was down at the go: does not count
    stuck: bool = False

    def edge(self, closed: bool, now_us: int) -> None:
        """The pin changed; runs in the interrupt on the real box, which may come too late to see a
        short pulse.
        """
        self.closed, self.changed_us = closed, now_us
        if self.state == "open":
            self.state, self.first_us = "trying", now_us

    def engaged(self) -> bool:
        """Whether a press that began before now is still going on."""
        return self.closed or self.state == "trying" or self.fresh

    def poll(self, now_us: int) -> bool:
        """Let time pass; True when a button that had been reported as held or stuck is up again."""
        steady = now_us - self.changed_us
        if self.state == "trying" and self.closed and steady >= CONFIRM_US:
            self.state, self.fresh = "down", True
        elif not self.closed and not self.fresh and steady >= self._rest_us():
            return self._open()
        return False

    def _rest_us(self) -> int:
        return GLITCH_US if self.state == "trying" else RELEASE_US

    def _open(self) -> bool:
        reported = self.held or self.stuck
        self.state, self.held, self.stuck = "open", False, False
        return reported


@dataclass
class BoxTwin:
    """The box between its pins and its serial line. ``out`` collects what it has said."""

    box_id: str = "BOX1"
    boot: int = 1
    contacts: list[Contact] = field(default_factory=lambda: [Contact() for _ in range(PLAYERS + 1)])
    lamps: list[bool] = field(default_factory=lambda: [False] * PLAYERS)
    phase: str = "idle"  # idle, armed, running, stopped
    buzzer: bool = False
    out: deque[Sentence] = field(default_factory=deque)
    overwritten: int = 0
    _events: deque[Sentence] = field(default_factory=deque)
    _last: int = 0
    _cursor: int = 1  # number of the next event to say
    _ranked: list[int] = field(default_factory=list)
    _done: int = 0  # number of the last command carried out
    _buzz_until_us: int = 0
    _test_since_us: int | None = None
    _line: bytearray = field(default_factory=bytearray)

    def start(self, now_us: int) -> None:
        """Power on."""
        self._log("BXBOT", now_us, self.boot)

    @property
    def first(self) -> int:
        """Number of the oldest event kept."""
        return self._last - len(self._events) + 1

    def poll(self, now_us: int) -> None:
        """One turn of the loop: contacts, what they amount to, lamps and buzzer, then one sentence."""
        for index, contact in enumerate(self.contacts):
            if contact.poll(now_us) and index < PLAYERS:
                self._log("BXFRE", now_us, index)
        self._settle()
        self._look_for_stuck(now_us)
        if self.buzzer and now_us >= self._buzz_until_us:
            self.buzzer = False
        self._test_turn(now_us)
        self.say()

    def say(self) -> None:
        """The next event that has not been said."""
        if self._cursor <= self._last:
            self.out.append(self._events[self._cursor - self.first])
            self._cursor += 1

    # --- presses

    def _settle(self) -> None:
        """Tell confirmed presses in the order of their first edges; an earlier edge still in doubt
        holds them back.
        """
        while fresh := [(c.first_us, i) for i, c in enumerate(self.contacts) if c.fresh]:
            first_us, index = min(fresh)
            if any(c.state == "trying" and c.first_us < first_us for c in self.contacts):
                return
            self.contacts[index].fresh = False
            if index == NEXT:
                self._log("BXNXT", first_us)
            elif not self.contacts[index].held:
                self._press(index, first_us)

    def _press(self, index: int, at_us: int) -> None:
        if self.phase in ("idle", "armed"):
            if len(self._events) < KEPT_TRIED:
                self._log("BXPRS", at_us, index, 0)
            return
        if index in self._ranked:
            return
        self._ranked.append(index)
        if self.phase == "running":
            self.phase, self.lamps[index] = "stopped", True
        self._log("BXPRS", at_us, index, len(self._ranked))

    def _look_for_stuck(self, now_us: int) -> None:
        for index, contact in enumerate(self.contacts[:PLAYERS]):
            if contact.state == "down" and not contact.stuck and now_us - contact.first_us >= STUCK_US:
                contact.stuck = True
                self._log("BXSTK", now_us, index)

    def _log(self, kind: str, at_us: int, *fields: int) -> None:
        self._last += 1
        self._events.append(Sentence(kind, self._last, (at_us, *fields)))
        if len(self._events) > KEPT:
            self._events.popleft()
            self.overwritten += 1
            self._cursor = max(self._cursor, self.first)

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
            if not command.kind.startswith("RF"):
                raise BadSentence("not for a box")
        except BadSentence:
            self._reply("BXERR", 0, now_us, "line")
            return
        getattr(self, "_" + command.kind[2:].lower())(command, now_us)

    def _hel(self, command: Sentence, now_us: int) -> None:
        self._done = 0
        self._reply(
            "BXHEL",
            command.number,
            now_us,
            VERSION,
            self.box_id,
            self.boot,
            PLAYERS,
            self.first,
            self._last,
            self.overwritten,
        )

    def _clk(self, command: Sentence, now_us: int) -> None:
        self._reply("BXCLK", command.number, now_us, self.boot, self.first, self._last)

    def _ack(self, command: Sentence, now_us: int) -> None:
        number, boot = command.fields
        while boot == self.boot and self._events and self._events[0].number <= number:
            self._events.popleft()
        self._cursor = max(self._cursor, self.first)

    def _rsn(self, command: Sentence, now_us: int) -> None:
        self._cursor = max(self.first, min(self._last + 1, command.fields[0]))

    def _tst(self, command: Sentence, now_us: int) -> None:
        if command.number != self._done:
            self._done, self._test_since_us = command.number, now_us
            self.buzzer, self._buzz_until_us = True, now_us + TEST_STEP_US
        bits = sum(c.closed << i for i, c in enumerate(self.contacts))
        self._reply("BXTST", command.number, now_us, bits, 0)

    def _arm(self, command: Sentence, now_us: int) -> None:
        if self._once(command):
            self.phase, self.lamps = "armed", [False] * PLAYERS
            self._ranked.clear()
        self._reply("BXACK", command.number, now_us, self.phase)

    def _goo(self, command: Sentence, now_us: int) -> None:
        if command.number != self._done and self.phase != "armed":
            self._reply("BXERR", command.number, now_us, "not_armed")
            return
        if self._once(command):
            self.buzzer, self._buzz_until_us = True, now_us + BUZZ_US
            self._log("BXGOO", now_us)
            self._begin_duel(now_us)
        self._reply("BXACK", command.number, now_us, self.phase)

    def _run(self, command: Sentence, now_us: int) -> None:
        if self._once(command) and self.phase in ("idle", "armed"):
            self._ranked.clear()
            self._begin_duel(now_us)
        self._reply("BXACK", command.number, now_us, self.phase)

    def _begin_duel(self, now_us: int) -> None:
        self.phase = "running"
        for index, contact in enumerate(self.contacts[:PLAYERS]):
            contact.held = contact.engaged()
            if contact.held:
                self._log("BXHLD", now_us, index)

    def _dis(self, command: Sentence, now_us: int) -> None:
        if self._once(command):
            self.phase, self.buzzer = "idle", False
        self._reply("BXACK", command.number, now_us, self.phase)

    def _lmp(self, command: Sentence, now_us: int) -> None:
        button, on = command.fields
        if button >= PLAYERS or on > 1:
            self._reply("BXERR", command.number, now_us, "fields")
            return
        if self._once(command):
            self.lamps[button] = bool(on)
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
        self.out.append(Sentence(kind, number, fields))

    def _test_turn(self, now_us: int) -> None:
        if self._test_since_us is None:
            return
        step = (now_us - self._test_since_us) // TEST_STEP_US
        self.lamps = [step == index for index in range(PLAYERS)]
        if step >= PLAYERS:
            self._test_since_us = None
