"""Timelines for the firmware in simavr at exact cycles, and what came of them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from referee.devices.box_protocol import BadMessage, Message, parse

BOOTED_US = 40_000
BYTE_US = 40  # at 250000 baud


@dataclass
class Timeline:
    """Rows of (microseconds, words); see simavr_timeline.c, and "tx" with a whole command in hexadecimal. Commands are
    numbered as they are added.
    """

    rows: list[tuple[float, str]] = field(default_factory=list)
    _number: int = 0

    def pin(self, at_us: float, contact: int, closed: bool) -> None:
        """A contact changes."""
        self.rows.append((at_us, f"pin {contact} {int(closed)}"))

    def press(self, at_us: float, button: int, hold_us: float = 60_000) -> None:
        """A clean press and its release."""
        self.pin(at_us, button, True)
        self.pin(at_us + hold_us, button, False)

    def pulses(self, button: int, from_us: float, to_us: float, period_us: float, width_us: float) -> None:
        """Noise: the line is pulled down again and again."""
        at_us = from_us
        while at_us < to_us:
            self.pin(at_us, button, True)
            self.pin(at_us + width_us, button, False)
            at_us += period_us

    def tell(self, at_us: float, kind: str, *fields: int | str, protocol: int = 2) -> None:
        """A command of the host."""
        self._number += 1
        self.rows.append((at_us, f"tx {Message(kind, self._number, fields, protocol).encode().hex()}"))

    def duel(self, at_us: float = BOOTED_US) -> None:
        """Hello in protocol 2, and a duel."""
        self.tell(at_us, "RFHEL", 2)
        self.again(at_us + 10_000)

    def again(self, at_us: float) -> None:
        """Arm and resume, quietly."""
        self.tell(at_us, "RFARM")
        self.tell(at_us + 5_000, "RFRUN")

    def run(self, program: Path, elf: Path, end_us: float, board: str = "uno", eeprom: str = "-") -> Outcome:
        """What the box says and shows until then. A contact that is closed already cannot be pulled down again."""
        rows = merged(by_time([*bytewise(by_time(self.rows)), (end_us, "end")]))
        text = "".join(f"{at_us:.4f} {words}\n" for at_us, words in rows)
        command = [program, board, elf, eeprom]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, errors="replace")
        return Outcome([line.split(maxsplit=3) for line in done.stdout.splitlines()])


def by_time(rows: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """In their order; what comes at the same time stays as it was."""
    return sorted(rows, key=lambda row: row[0])


def bytewise(rows: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Commands as the bytes that they are on the wire, one after the other; contacts may change between them."""
    free_us, out = 0.0, []
    for at_us, words in rows:
        what, *rest = words.split()
        if what != "tx":
            out.append((at_us, words))
            continue
        for byte in bytes.fromhex(rest[0]):
            free_us = max(free_us, at_us) + BYTE_US
            out.append((free_us, f"byte {byte:02x}"))
    return out


def merged(rows: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Several things may close one contact; it is open when none does. Gives the changes of the line itself."""
    closers: dict[str, int] = {}
    out = []
    for at_us, words in rows:
        what, *rest = words.split()
        if what == "pin":
            before = closers.get(rest[0], 0)
            closers[rest[0]] = after = before + (1 if rest[1] == "1" else -1)
            if (before > 0) == (after > 0):
                continue
        out.append((at_us, words))
    return out


class Outcome:
    """What came of a timeline."""

    def __init__(self, rows: list[list[str]]) -> None:
        self.said = [(float(w[2]), w[3]) for w in rows if w[:1] == ["line"] and len(w) == 4]
        self.lamps = [(float(w[3]), int(w[1]), w[2] == "1") for w in rows if w[:1] == ["lamp"]]
        self.tones = [(float(w[2]), int(w[1])) for w in rows if w[:1] == ["tone"]]
        self.stack = int(next(w[1] for w in rows if w[:1] == ["stack"]))

    def sentences(self, *kinds: str) -> list[tuple[float, Message]]:
        """(when the line was complete, sentence) of these kinds, every event once, in the order of their telling."""
        seen, out = set(), []
        for at_us, text in self.said:
            try:
                sentence = parse(text.encode())
            except BadMessage:
                continue
            key = (sentence.kind, sentence.number)
            if sentence.kind in kinds and key not in seen:
                seen.add(key)
                out.append((at_us, sentence))
        return out

    def presses(self) -> list[tuple[int, int, float]]:
        """(button, the box's time of it, when it had been told) of every press."""
        return [(int(s.fields[1]), s.box_us, at_us) for at_us, s in self.sentences("BXPRS")]

    def kinds(self, *kinds: str) -> list[tuple[str, tuple]]:
        """(kind, fields after the time) of the sentences of these kinds."""
        return [(s.kind, s.fields[1:]) for _, s in self.sentences(*kinds)]
