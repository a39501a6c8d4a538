"""The host's half of the conversation with the box, without port, thread or clock: bytes and times
in, notices out.

Law: events are told to the referee in the box's order, each exactly once. An event is taken only when its
number is the next one; a higher number means that something was missed and makes the host ask again; a
lower one has been heard and is dropped. What the box knows last comes with every clock reply, so the loss
of the very last sentence is noticed as well.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from referee.devices.box_protocol import EVENTS, Lines, Sentence
from referee.devices.clock_tie import ClockTie
from referee.ports import BoxNotice, Press

CLOCK_EVERY_S = 0.25  # a missed last sentence is noticed after this
BURST = 8  # quick clock queries after finding the box
BURST_EVERY_S = 0.03
RESEND_S = 0.15  # well above the 2 x 30 ms a bad line may take
TRIES = 8
SILENT_S = 1.5  # without any reply: lost
SLACK_US = 1_000_000  # a press is told when its bounce is over, perhaps after a later event
GARBAGE_EVERY_S = 1.0
TIMES_KEPT = 256  # numbers of commands whose sending times are remembered


TOLD = {  # event -> kind and words of its notice
    "BXBOT": ("", ""),  # the hello has told it
    "BXGOO": ("go", "go"),
    "BXPRS": ("press", "button {0} pressed"),
    "tried": ("tried", "button {0} pressed"),
    "BXHLD": ("held_at_go", "button {0} was held down at the go"),
    "BXSTK": ("stuck", "button {0} has been down for 5 s"),
    "BXFRE": ("free", "button {0} is up again"),
    "BXNXT": ("next", "Start/Next pressed"),
}


@dataclass
class _Pending:
    sentence: Sentence
    due_s: float
    tries: int = 0


@dataclass
class Counters:
    """What went wrong on the line since the program began."""

    doubled: int = 0  # events heard again
    missed: int = 0  # times something had to be asked for again
    gone: int = 0  # events the box no longer had
    resent: int = 0  # commands sent again
    given_up: int = 0  # commands the box never answered
    refused: int = 0  # commands the box did not understand
    implausible: int = 0  # events dropped because their time cannot be


@dataclass
class BoxFacts:
    """What the box said of itself; ``box_id`` is empty before the first hello."""

    version: str = ""
    box_id: str = ""
    boot: int = -1
    buttons: int = 0
    overwritten: int = 0
    tested: tuple[int, int] | None = None  # self-test: closed buttons as bits, longest loop turn in us


@dataclass
class BoxTalk:
    """The state of one conversation. ``wanted`` is the box id to insist on; None takes any."""

    wanted: str | None = None
    tie: ClockTie = field(default_factory=ClockTie)
    lines: Lines = field(default_factory=Lines)
    counters: Counters = field(default_factory=Counters)
    facts: BoxFacts = field(default_factory=BoxFacts)
    met: bool = False  # a hello was answered on this connection
    latency_s: float = float("inf")  # quickest round trip on this connection
    _number: int = 0
    _expected: int = 0  # number of the next event; 0 before the first hello
    _sent: dict[int, float] = field(default_factory=dict)
    _hail: _Pending | None = None  # the hello under way
    _queue: deque[_Pending] = field(default_factory=deque)  # only the first is under way: none overtakes
    _out: list[Sentence] = field(default_factory=list)
    _clock_due_s: float = 0.0
    _burst: int = 0
    _asked_s: float = -1e9
    _heard_s: float = 0.0
    _last_event_us: int = 0
    _doubted: Sentence | None = None
    _garbage_told: int = 0
    _garbage_due_s: float = 0.0

    def begin(self, now_s: float) -> None:
        """A port has been opened: greet."""
        self.met, self.latency_s, self._burst, self._heard_s = False, float("inf"), BURST, now_s
        self._out.clear()
        self._sent.clear()
        self.lines.restart()
        self._hail = None
        self._greet(now_s)

    def end(self) -> None:
        """The port is gone. Commands under way are given up: a late go would be worse than none."""
        self.met = False
        self._queue.clear()
        self._out.clear()

    def command(self, kind: str, *fields: int | str, now_s: float) -> None:
        """Send and repeat until the box has answered, after the commands before it."""
        self._queue.append(_Pending(self._next(kind, *fields), now_s))

    def silent(self, now_s: float) -> bool:
        """Whether the box has not been heard for too long."""
        return now_s - self._heard_s > SILENT_S

    def due(self, now_s: float) -> list[Sentence]:
        """What to write now. Call ``wrote`` with each just before it goes out."""
        if not self.met:
            return self._repeats(now_s)
        if now_s >= self._clock_due_s:
            self._burst = max(0, self._burst - 1)
            self._clock_due_s = now_s + (BURST_EVERY_S if self._burst else CLOCK_EVERY_S)
            self._out.append(self._next("RFCLK"))
        out, self._out = self._out, []
        return out + self._repeats(now_s)

    def wrote(self, sentence: Sentence, now_s: float) -> None:
        """Remember when a command first went out: no answer can be older."""
        self._sent.setdefault(sentence.number, now_s)
        while len(self._sent) > TIMES_KEPT:
            del self._sent[next(iter(self._sent))]

    def hear(self, data: bytes, now_s: float) -> list[BoxNotice]:
        """Bytes that had arrived by ``now_s``; the notices they amount to, in the box's order."""
        notices = []
        for sentence in self.lines.feed(data):
            if sentence.kind.startswith("BX"):
                self._heard_s = now_s
                take = self._event if sentence.kind in EVENTS else self._reply
                notices += take(sentence, now_s)
        return notices + self._garbage(now_s)

    def _garbage(self, now_s: float) -> list[BoxNotice]:
        """At most one notice a second; what came before the hello is half a sentence or another device."""
        if not self.met:
            self._garbage_told = self.lines.garbage
        count = self.lines.garbage - self._garbage_told
        if count == 0 or now_s < self._garbage_due_s:
            return []
        self._garbage_told, self._garbage_due_s = self.lines.garbage, now_s + GARBAGE_EVERY_S
        return [BoxNotice("garbage", now_s, text=f"{count} bytes of garbage dropped")]

    def _next(self, kind: str, *fields: int | str) -> Sentence:
        self._number = self._number % 0xFFFF + 1
        return Sentence(kind, self._number, fields)

    def _greet(self, now_s: float) -> None:
        if self._hail is None:
            self._hail = _Pending(self._next("RFHEL"), now_s)

    def _repeats(self, now_s: float) -> list[Sentence]:
        out = self._repeat(self._hail, now_s)
        if not self.met or self._hail is not None or not self._queue:
            return out
        head = self._queue[0]
        if head.tries >= TRIES and now_s >= head.due_s:
            self._queue.popleft()
            self.counters.given_up += 1
            return out
        return out + self._repeat(head, now_s)

    def _repeat(self, pending: _Pending | None, now_s: float) -> list[Sentence]:
        if pending is None or now_s < pending.due_s:
            return []
        self.counters.resent += pending.tries > 0
        pending.tries += 1
        pending.due_s = now_s + RESEND_S
        return [pending.sentence]

    def _answered(self, number: int) -> None:
        if self._hail is not None and self._hail.sentence.number == number:
            self._hail = None
        elif self._queue and self._queue[0].sentence.number == number:
            done = self._queue.popleft().sentence
            if done.kind == "RFNAM":
                self._renamed(str(done.fields[0]))

    def _renamed(self, box_id: str) -> None:
        self.facts.box_id = box_id
        self.wanted = box_id if self.wanted is not None else None

    # --- what the box answers

    def _reply(self, sentence: Sentence, now_s: float) -> list[BoxNotice]:
        self._answered(sentence.number)
        sent_s = self._sent.get(sentence.number)
        restarted = sentence.kind == "BXHEL" and self._is_restart(sentence)
        if restarted:
            self.tie.clear()
        if sent_s is not None and sentence.kind != "BXERR":
            self.tie.add(sent_s, sentence.box_us, now_s)
            self.latency_s = min(self.latency_s, now_s - sent_s)
        match sentence.kind:
            case "BXHEL":
                return self._hello(sentence, restarted, now_s)
            case "BXCLK":
                self._clock(*map(int, sentence.fields[1:]), now_s=now_s)
            case "BXTST":
                self.facts.tested = (int(sentence.fields[1]), int(sentence.fields[2]))
            case "BXERR":
                self.counters.refused += 1
        return []

    def _is_restart(self, hello: Sentence) -> bool:
        return self.facts.boot >= 0 and hello.fields[2:4] != (self.facts.box_id, self.facts.boot)

    def _hello(self, hello: Sentence, restarted: bool, now_s: float) -> list[BoxNotice]:
        _, version, box_id, boot, buttons, first, last, overwritten = hello.fields
        if self.wanted is not None and box_id != self.wanted:
            return []
        notices = []
        if restarted:
            notices.append(BoxNotice("reset", now_s, text=f"box {box_id} was restarted (start {boot})"))
        if restarted or self._expected == 0:
            self._expected, self._last_event_us = int(first), 0
        self.facts = BoxFacts(str(version), str(box_id), int(boot), int(buttons), int(overwritten), self.facts.tested)
        if not self.met:
            self.met, self._clock_due_s = True, now_s
            notices.append(BoxNotice("found", now_s, text=f"box {box_id}, version {version}"))
        self._compare(int(first), int(last), now_s)
        return notices

    def _clock(self, boot: int, first: int, last: int, now_s: float) -> None:
        if boot == self.facts.boot:
            self._compare(first, last, now_s)
        else:
            self._greet(now_s)  # a restart whose first sentence was lost

    def _compare(self, first: int, last: int, now_s: float) -> None:
        if first > self._expected:
            self.counters.gone += first - self._expected
            self._expected = first
        if last >= self._expected and now_s - self._asked_s > RESEND_S:
            self._ask_again(now_s)
        elif first < self._expected:
            self._acknowledge()

    def _acknowledge(self) -> None:
        self._out.append(self._next("RFACK", self._expected - 1, self.facts.boot))

    def _ask_again(self, now_s: float) -> None:
        self._asked_s = now_s
        self._out.append(self._next("RFRSN", self._expected))

    # --- what the box tells

    def _event(self, event: Sentence, now_s: float) -> list[BoxNotice]:
        if not self.met:
            return []  # asked for again after the hello
        if event.kind == "BXBOT" and event.fields[1] != self.facts.boot:
            self._greet(now_s)  # it restarted under us; the hello sorts it out
            return []
        if event.number < self._expected:
            self.counters.doubled += 1
            return []
        if event.number > self._expected:
            if now_s - self._asked_s > RESEND_S:
                self.counters.missed += 1
                self._ask_again(now_s)
            return []
        if not self._plausible(event, now_s):
            self.counters.implausible += 1
            return []
        self._expected += 1
        self._last_event_us = event.box_us
        self._acknowledge()
        return self._tell(event)

    def _plausible(self, event: Sentence, now_s: float) -> bool:
        """Whether the event's time can be; one checksum in 256 lies, the same lie twice is the truth."""
        early_s, _ = self.tie.window_s(event.box_us)
        in_order = event.box_us + SLACK_US >= self._last_event_us
        doubted, self._doubted = self._doubted, event
        return (in_order and early_s <= now_s) or event == doubted

    def _tell(self, event: Sentence) -> list[BoxNotice]:
        at_s, error_s = self.tie.to_host(event.box_us)
        player = int(event.fields[1]) if len(event.fields) > 1 else None
        press = None
        if event.kind in ("BXPRS", "BXHLD"):
            press = Press(player, event.box_us, at_s, error_s, event.kind == "BXHLD", event.number)
        unranked = event.kind == "BXPRS" and event.fields[2] == 0
        kind, text = TOLD["tried" if unranked else event.kind]
        if not kind:
            return []
        return [BoxNotice(kind, at_s, player, press, text.format(player), event.box_us, error_s)]
