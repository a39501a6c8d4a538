"""The host's half of the conversation with the box, without port, thread or clock: bytes and times
in, notices out.

Law: events are told to the referee in the box's order, each exactly once. An event is taken only when its
number is the next one; a higher number means that something was missed and makes the host ask again; a
lower one has been heard and is dropped. What the box knows last comes with every clock reply, so the loss
of the very last sentence is noticed as well.

Two protocols: a hello of protocol 1 is understood by every box. One whose version begins with 2 or more is asked again
in protocol 2, and from its answer on nothing is believed that is not in protocol 2.

Commands are said again until they are answered, and none overtakes the one before.
"""

from collections import deque
from dataclasses import dataclass, field, replace

from cards import sentences
from referee.devices.box_protocol import EVENTS, NEXT_BUTTON, PADS, PROTOCOL, Message, MessageReader
from referee.devices.clock_sync import ClockTie
from referee.devices.ports import BoxNotice, Press

POWER_ON_US = 100_000  # what a box tells of its first tenth of a second happened before it could look
STAMP_S = 40e-6  # an edge waits at most so long for its interrupt: 33.6 us measured in simavr
NOISY_S = 0.02  # the stamp of a press on a noisy line may be so far off: a mains period; see arbitration.h

NOTICES = {  # event -> kind and sentence of its notice
    "BXBOT": ("", ""),  # the hello has told it
    "BXGOO": ("go", "told_go"),
    "BXPRS": ("press", "told_press"),
    "tried": ("tried", "told_press"),
    "BXHLD": ("held_at_go", "told_held"),
    "power on": ("held_at_go", "told_down"),
    "BXSTK": ("stuck", "told_stuck"),
    "BXFRE": ("free", "told_free"),
    "BXNXT": ("next", "told_next"),
    "BXFLS": ("false_start", "told_left"),
    "BXNOI": ("noisy", "told_noisy"),
    "BXQUI": ("quiet", "told_quiet"),
}


@dataclass
class BoxFacts:
    """What the box said of itself; ``box_id`` is empty before the first hello.

    ``lines`` are how its lines are, as bits (``noisy_lines``, ``pads``).
    """

    version: str = ""
    box_id: str = ""
    boot: int = -1
    buttons: int = 0
    overwritten: int = 0
    tested: tuple[int, int] | None = None  # self-test: closed buttons as bits, longest loop turn in us
    cause: int | None = None  # why its processor started, as the ATmega's MCUSR says it
    lines: int = 0
    noise: int = 0  # noisy lines as bits, as the events told so far have it
    counts: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Button -> edges since the counts were cleared, longest settling and longest lift-off in microseconds."""

    def noisy_lines(self) -> list[int]:
        """Buttons whose lines are noisy at present."""
        return [button for button in range(NEXT_BUTTON + 1) if self.lines >> button & 1]

    def note_noise(self, event: Message) -> None:
        """Events come in their order, also long after; the lines of the last clock reply are those of now."""
        if event.kind in ("BXNOI", "BXQUI"):
            bit = 1 << int(event.fields[1])
            self.noise = self.noise | bit if event.kind == "BXNOI" else self.noise & ~bit

    def pads(self) -> dict[int, bool]:
        """Players with a pad, and whether their tongs rest on it."""
        return {player: bool(self.lines >> 5 + player & 1) for player in range(PADS) if self.lines >> 7 + player & 1}


def is_from_box(event: Message, facts: BoxFacts) -> bool:
    """Whether the event is this box's and of its present start, as far as it says so."""
    named = {"BXGOO": 1, "BXPRS": 3}.get(event.kind)
    if event.protocol == 1 or named is None:
        return True
    return event.fields[named : named + 2] == (facts.box_id, facts.boot)


def notice_of(event: Message, tie: ClockTie, facts: BoxFacts) -> BoxNotice | None:
    """What the event tells, in the host's time; None when it tells nothing."""
    at_s, tied_s = tie.to_host(event.box_us)
    player = int(event.fields[1]) if len(event.fields) > 1 and event.kind != "BXGOO" else None
    noisy = event.kind == "BXPRS" and bool((facts.lines | facts.noise) >> int(event.fields[1]) & 1)
    error_s = tied_s + (NOISY_S if noisy else STAMP_S)
    meaning = _meaning(event)
    kind, code = NOTICES[meaning]
    if not kind:
        return None
    press = None
    if event.kind in ("BXPRS", "BXHLD"):
        press = Press(int(event.fields[1]), event.box_us, at_s, error_s, noisy)
    line = sentences.sentence("told_line_next") if player == NEXT_BUTTON else sentences.sentence("told_line", n=player)
    text = sentences.sentence(code, n=player, line=line)
    return BoxNotice(kind, at_s, player, press, text, event.box_us, error_s, facts.box_id)


def _meaning(event: Message) -> str:
    """The row of ``NOTICES``. A contact that is closed when the box starts is held, whatever its firmware calls it."""
    if event.kind == "BXPRS" and event.fields[2] == 0:
        return "power on" if event.protocol == 1 and event.box_us < POWER_ON_US else "tried"
    if event.kind == "BXHLD" and event.box_us < POWER_ON_US:
        return "power on"
    return event.kind


RESEND_S = 0.15  # well above the 2 x 30 ms a bad line may take
TRIES = 8


@dataclass
class _Pending:
    sentence: Message
    due_s: float
    tries: int = 0


@dataclass
class CommandQueue:
    """``hello`` goes before all commands and is never given up. ``resent`` and ``given_up`` count since the start."""

    resent: int = 0
    given_up: int = 0
    _hello: _Pending | None = None
    _commands: deque[_Pending] = field(default_factory=deque)  # only the first is under way

    @property
    def greeting(self) -> bool:
        """Whether a hello waits for its answer."""
        return self._hello is not None

    def greet(self, hello: Message, now_s: float) -> None:
        """Say this hello until it is answered, in place of any other."""
        self._hello = _Pending(hello, now_s)

    def add(self, command: Message, now_s: float) -> None:
        """Say this command when those before it are answered."""
        self._commands.append(_Pending(command, now_s))

    def clear(self) -> None:
        """Give up all commands; a hello goes on."""
        self._commands.clear()

    def begin(self) -> None:
        """A new connection: the hello of the last one is void."""
        self._hello = None

    def answered(self, number: int) -> Message | None:
        """The hello or command that this number answers, which is then done; None for none."""
        if self._hello is not None and self._hello.sentence.number == number:
            hello, self._hello = self._hello, None
            return hello.sentence
        if self._commands and self._commands[0].sentence.number == number:
            return self._commands.popleft().sentence
        return None

    def due(self, met: bool, now_s: float) -> list[Message]:
        """What to say now: the hello, and once the box is ``met`` the first command."""
        out = self._say(self._hello, now_s)
        if not met or self._hello is not None or not self._commands:
            return out
        head = self._commands[0]
        if head.tries >= TRIES and now_s >= head.due_s:
            self._commands.popleft()
            self.given_up += 1
            return out
        return out + self._say(head, now_s)

    def _say(self, pending: _Pending | None, now_s: float) -> list[Message]:
        if pending is None or now_s < pending.due_s:
            return []
        self.resent += pending.tries > 0
        pending.tries += 1
        pending.due_s = now_s + RESEND_S
        return [pending.sentence]


CLOCK_EVERY_S = 0.12  # a missed last sentence is noticed after this
BURST = 8  # quick clock queries after finding the box
BURST_EVERY_S = 0.03
ASK_S = 0.06  # between two questions for events that are missing
SILENT_S = 1.5  # without any reply: lost
FUTURE_S = 1.0  # after a jump of either clock the tie is made anew in two clock replies; then a time has to fit
SLACK_US = 1_000_000  # a press is told when its bounce is over, perhaps after a later event
GARBAGE_EVERY_S = 1.0
TIMES_KEPT = 256  # numbers of commands whose sending times are remembered


@dataclass
class Counters:
    """What went wrong on the line since the program began."""

    doubled: int = 0  # events heard again
    missed: int = 0  # times something had to be asked for again
    gone: int = 0  # events the box no longer had
    refused: int = 0  # commands the box did not understand
    implausible: int = 0  # events dropped because their time cannot be
    foreign: int = 0  # events and hellos of another box than the one that is talked to


@dataclass
class BoxTalk:
    """The state of one conversation. ``wanted`` is the box id to insist on; None takes any."""

    wanted: str | None = None
    tie: ClockTie = field(default_factory=ClockTie)
    lines: MessageReader = field(default_factory=MessageReader)
    counters: Counters = field(default_factory=Counters)
    facts: BoxFacts = field(default_factory=BoxFacts)
    queue: CommandQueue = field(default_factory=CommandQueue)
    met: bool = False  # a hello was answered on this connection
    foreign: bool = False  # another box than the wanted one answered on this connection
    protocol: int = 1  # the one agreed on
    latency_s: float = float("inf")  # quickest round trip on this connection
    number: int = 0  # of the last command; a first one that nobody foresees makes old answers worthless
    _expected: int = 0  # number of the next event; 0 before the first hello
    _sent: dict[int, float] = field(default_factory=dict)
    _out: list[Message] = field(default_factory=list)
    _clock_due_s: float = 0.0
    _burst: int = 0
    _asked_s: float = -1e9
    _known: int = 0  # number of the last event that the box is known to have
    _heard_s: float = 0.0
    _last_event_us: int = 0
    _doubted: Message | None = None
    _doubted_s: float = 0.0
    _foreign: str = ""  # the other box that was told of last
    _garbage_told: int = 0
    _garbage_due_s: float = 0.0

    def begin(self, now_s: float) -> None:
        """A port has been opened: greet."""
        self.met, self.foreign, self.latency_s, self._burst, self._heard_s = False, False, float("inf"), BURST, now_s
        self.protocol = 1
        self._out.clear()
        self._sent.clear()
        self.lines.restart()
        self.queue.begin()
        self._greet(now_s)

    def end(self) -> None:
        """The port is gone. Commands under way are given up: a late go would be worse than none."""
        self.met = False
        self.queue.clear()
        self._out.clear()

    def command(self, kind: str, *fields: int | str, now_s: float) -> None:
        """Send and repeat until the box has answered, after the commands before it."""
        self.queue.add(self._next(kind, *fields), now_s)

    def insist(self, box_id: str | None) -> None:
        """Believe only this box from now on; None takes any."""
        self.wanted = box_id
        if box_id is not None and self.facts.box_id != box_id:
            self.met = False

    def silent(self, now_s: float) -> bool:
        """Whether the box has not been heard for too long."""
        return now_s - self._heard_s > SILENT_S

    def due(self, now_s: float) -> list[Message]:
        """What to write now. Call ``wrote`` with each just before it goes out."""
        if not self.met:
            return self.queue.due(self.met, now_s)
        if now_s >= self._clock_due_s:
            self._burst = max(0, self._burst - 1)
            self._clock_due_s = now_s + (BURST_EVERY_S if self._burst else CLOCK_EVERY_S)
            self._out.append(self._next("RFCLK"))
        if self._known >= self._expected and now_s - self._asked_s > ASK_S:
            self._ask_again(now_s)  # the question or the answer was lost
        out, self._out = self._out, []
        return out + self.queue.due(self.met, now_s)

    def wrote(self, sentence: Message, now_s: float) -> None:
        """Remember when a command first went out: no answer can be older."""
        self._sent.setdefault(sentence.number, now_s)
        while len(self._sent) > TIMES_KEPT:
            del self._sent[next(iter(self._sent))]

    def hear(self, data: bytes, now_s: float) -> list[BoxNotice]:
        """Bytes that had arrived by ``now_s``; the notices they amount to, in the box's order."""
        notices = []
        for sentence in self.lines.feed(data):
            if sentence.kind.startswith("BX"):
                notices += self._hear(sentence, now_s)
        return notices + self._garbage(now_s)

    def _hear(self, sentence: Message, now_s: float) -> list[BoxNotice]:
        if sentence.protocol != self.protocol and sentence.kind != "BXHEL":
            if self.met:
                self._greet(now_s)  # it does not speak as agreed any more: it was restarted
            return []
        self._heard_s = now_s
        take = self._event if sentence.kind in EVENTS else self._reply
        return take(sentence, now_s)

    def _garbage(self, now_s: float) -> list[BoxNotice]:
        """At most one notice a second; what came before the hello is half a sentence or another device."""
        if not self.met:
            self._garbage_told = self.lines.garbage
        count = self.lines.garbage - self._garbage_told
        if count == 0 or now_s < self._garbage_due_s:
            return []
        self._garbage_told, self._garbage_due_s = self.lines.garbage, now_s + GARBAGE_EVERY_S
        return [BoxNotice("garbage", now_s, text=f"{count} bytes of garbage dropped")]

    def _next(self, kind: str, *fields: int | str, protocol: int | None = None) -> Message:
        self.number = self.number % 0xFFFF + 1
        return Message(kind, self.number, fields, protocol or self.protocol)

    def _greet(self, now_s: float) -> None:
        if not self.queue.greeting:
            self.queue.greet(self._next("RFHEL", protocol=1), now_s)

    # --- what the box answers

    def _reply(self, sentence: Message, now_s: float) -> list[BoxNotice]:
        done = self.queue.answered(sentence.number)
        if done is None and sentence.kind == "BXHEL":
            return []  # said again, or what another conversation was told
        if done is not None and done.kind == "RFNAM":
            self.facts.box_id = str(done.fields[0])
            self.wanted = self.facts.box_id if self.wanted is not None else None
        sent_s = self._sent.get(sentence.number)
        hello, known = sentence.kind == "BXHEL", (self.facts.box_id, self.facts.boot)
        restarted = hello and self.facts.boot >= 0 and sentence.fields[-6:-4] != known
        if restarted and not self._is_foreign(sentence):
            self.tie.clear()
        if sent_s is not None and sentence.kind != "BXERR" and not self._is_foreign(sentence):
            self.tie.add(sent_s, sentence.box_us, now_s)
            self.latency_s = min(self.latency_s, now_s - sent_s)
        match sentence.kind:
            case "BXHEL":
                return self._hello(sentence, restarted, now_s)
            case "BXCLK":
                return self._clock(*map(int, sentence.fields[1:]), now_s=now_s)
            case "BXTST":
                self.facts.tested = (int(sentence.fields[1]), int(sentence.fields[2]))
                self.facts.cause = int(sentence.fields[3]) if sentence.protocol > 1 else None
            case "BXCNT":
                button, edges, settle_us, gap_us = map(int, sentence.fields[1:])
                before = self.facts.counts.get(button, (0, 0, 0))
                self.facts.counts[button] = (before[0] + edges, max(before[1], settle_us), max(before[2], gap_us))
            case "BXERR":
                self.counters.refused += 1
        return []

    def _is_foreign(self, sentence: Message) -> bool:
        return sentence.kind == "BXHEL" and self.wanted not in (None, sentence.fields[-6])

    def _hello(self, hello: Message, restarted: bool, now_s: float) -> list[BoxNotice]:
        version, box_id, boot, buttons, first, last, overwritten = hello.fields[-7:]
        if self.wanted is not None and box_id != self.wanted:
            self.counters.foreign += 1
            self.foreign = True
            text = f"the box that answers is {box_id}, not {self.wanted}"
            told, self._foreign = self._foreign == box_id, str(box_id)
            return [] if told else [BoxNotice("foreign", now_s, text=text)]
        if hello.protocol == 1 and str(version)[0] != "1":
            self.queue.greet(self._next("RFHEL", PROTOCOL, protocol=PROTOCOL), now_s)
            return []
        self.protocol, self._foreign = hello.protocol, ""
        notices = []
        if restarted:
            notices.append(BoxNotice("reset", now_s, text=sentences.sentence("box_reset", name=box_id, n=boot)))
            self.queue.clear()
        if restarted or self._expected == 0:
            self._expected, self._known, self._last_event_us = int(first), 0, 0
        known = self.facts if not restarted else BoxFacts()
        self.facts = replace(
            known,
            version=str(version),
            box_id=str(box_id),
            boot=int(boot),
            buttons=int(buttons),
            overwritten=int(overwritten),
        )
        if not self.met:
            self.met, self._clock_due_s = True, now_s
            notices.append(BoxNotice("found", now_s, text=f"box {box_id}, version {version}", box_id=str(box_id)))
        return notices + self._compare(int(first), int(last), now_s)

    def _clock(self, boot: int, first: int, last: int, lines: int = 0, *, now_s: float) -> list[BoxNotice]:
        if boot == self.facts.boot:
            self.facts.lines = lines
            if last < self._expected:
                self.facts.noise = lines  # every event has been told, but one of no duel may have been dropped
            return self._compare(first, last, now_s)
        self._greet(now_s)  # a restart whose first sentence was lost
        return []

    def _compare(self, first: int, last: int, now_s: float) -> list[BoxNotice]:
        gone, self._known = max(0, first - self._expected), last
        if gone:
            self.counters.gone += gone
            self._expected = first
        if last >= self._expected and now_s - self._asked_s > ASK_S:
            self._ask_again(now_s)
        elif first < self._expected:
            self._acknowledge()
        return [BoxNotice("events_lost", now_s, text=sentences.sentence("box_events_lost", n=gone))] if gone else []

    def _acknowledge(self) -> None:
        self._out.append(self._next("RFACK", self._expected - 1, self.facts.boot))

    def _ask_again(self, now_s: float) -> None:
        self._asked_s = now_s
        self._out.append(self._next("RFRSN", self._expected))

    # --- what the box tells

    def _event(self, event: Message, now_s: float) -> list[BoxNotice]:
        if not self.met:
            return []  # asked for again after the hello
        if event.kind == "BXBOT" and event.fields[1] != self.facts.boot:
            self._greet(now_s)  # it restarted under us; the hello sorts it out
            return []
        if event.number < self._expected:
            self.counters.doubled += 1
            return []
        if event.number > self._expected:
            self._known = max(self._known, event.number)
            if now_s - self._asked_s > ASK_S:
                self.counters.missed += 1
                self._ask_again(now_s)
            return []
        if not is_from_box(event, self.facts):
            self.counters.foreign += 1
            self._greet(now_s)  # another box sits at the end of the line, or this one has another name
            return []
        if not self._plausible(event, now_s):
            self.counters.implausible += 1
            return []
        self._expected += 1
        self._last_event_us = event.box_us
        self._acknowledge()
        self.facts.note_noise(event)
        notice = notice_of(event, self.tie, self.facts)
        return [] if notice is None else [notice]

    def _plausible(self, event: Message, now_s: float) -> bool:
        """Whether the event's time can be; one checksum in 256 lies, the same lie twice is the truth. A time that is
        still to come is believed only if it stays so when a clock that has jumped, as a sleeping host's, is tied anew.
        """
        early_s, _ = self.tie.window_s(event.box_us)
        again = event == self._doubted
        if not again:
            self._doubted, self._doubted_s = event, now_s
        if early_s > now_s:
            return again and now_s - self._doubted_s > FUTURE_S
        return again or event.box_us + SLACK_US >= self._last_event_us
