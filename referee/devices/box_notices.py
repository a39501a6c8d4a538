"""What a box's sentences mean to the referee: events become notices, answers become facts. Pure."""

from dataclasses import dataclass, field

from cards.sentences import sentence
from referee.devices.box_protocol import NEXT_BUTTON, PADS, Message
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

    def add_counts(self, button: int, edges: int, settle_us: int, gap_us: int) -> None:
        """What one line did since the last answer."""
        before = self.counts.get(button, (0, 0, 0))
        self.counts[button] = (before[0] + edges, max(before[1], settle_us), max(before[2], gap_us))


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
    line = sentence("told_line_next") if player == NEXT_BUTTON else sentence("told_line", n=player)
    text = sentence(code, n=player, line=line)
    return BoxNotice(kind, at_s, player, press, text, event.box_us, error_s, facts.box_id)


def _meaning(event: Message) -> str:
    """The row of ``NOTICES``. A contact that is closed when the box starts is held, whatever its firmware calls it."""
    if event.kind == "BXPRS" and event.fields[2] == 0:
        return "power on" if event.protocol == 1 and event.box_us < POWER_ON_US else "tried"
    if event.kind == "BXHLD" and event.box_us < POWER_ON_US:
        return "power on"
    return event.kind
