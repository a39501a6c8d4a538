"""The button box's line protocol: one readable line per sentence, in the NMEA 0183 manner.

``$BXPRS,17,81234567,0,1*3A`` is talker BX (the box) or RF (the referee), a kind, a number, fields, and the
XOR of everything between ``$`` and ``*`` in hexadecimal. `firmware/README.md` describes every kind and
`firmware/vectors.txt` holds lines that this module and the firmware's own parser must read alike.
``Sentence.encode`` and ``parse`` are inverses.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass

from referee.errors import RefereeError

BAUD = 115_200
LONGEST = 95  # bytes of a sentence without its line end; the firmware's buffer is one more
BIGGEST = {"u8": 2**8 - 1, "u16": 2**16 - 1, "u32": 2**32 - 1, "u64": 2**64 - 1}

# kind -> types of the fields after the number; every sentence of the box has its time in microseconds first
FIELDS: dict[str, tuple[str, ...]] = {
    "BXHEL": ("u64", "word", "word", "u16", "u8", "u32", "u32", "u32"),
    # version, id, boot number, buttons, first event still kept, last event, events overwritten
    "BXCLK": ("u64", "u16", "u32", "u32"),  # boot number, first event still kept, last event
    "BXACK": ("u64", "word"),  # phase after the command
    "BXERR": ("u64", "word"),  # what was wrong with the line
    "BXTST": ("u64", "u8", "u32"),  # closed buttons as bits, longest turn of the loop in microseconds
    "BXBOT": ("u64", "u16"),  # boot number
    "BXGOO": ("u64",),
    "BXPRS": ("u64", "u8", "u8"),  # button, rank (0 outside a duel, 1 first, 2 second ...)
    "BXHLD": ("u64", "u8"),
    "BXSTK": ("u64", "u8"),
    "BXFRE": ("u64", "u8"),
    "BXNXT": ("u64",),
    "RFHEL": (),
    "RFCLK": (),
    "RFARM": (),
    "RFGOO": (),
    "RFRUN": (),
    "RFDIS": (),
    "RFTST": (),
    "RFLMP": ("u8", "u8"),  # button, 0 or 1
    "RFACK": ("u32", "u16"),  # all events up to this one of that boot are safe with the host
    "RFRSN": ("u32",),  # say all events again from this one on
    "RFNAM": ("word",),  # new box id, kept in EEPROM
}
EVENTS = frozenset({"BXBOT", "BXGOO", "BXPRS", "BXHLD", "BXSTK", "BXFRE", "BXNXT"})
_LINE = re.compile(rb"\$([A-Z]{5}),([^*$]*)\*([0-9A-F]{2})")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,19}")
_WORD = re.compile(r"[A-Za-z0-9._-]{1,12}")


class BadSentence(RefereeError):
    """A line that is not a sentence of this protocol; the text says why."""


@dataclass(frozen=True)
class Sentence:
    """One sentence. ``number`` counts events or names the command answered; ``fields`` follow ``FIELDS``."""

    kind: str
    number: int
    fields: tuple[int | str, ...] = ()

    def __post_init__(self) -> None:
        types = ("u32", *FIELDS[self.kind])
        if len(types) != len(self.fields) + 1:
            raise BadSentence(f"{self.kind} has {len(types)} fields, not {len(self.fields) + 1}")
        for kind, value in zip(types, (self.number, *self.fields), strict=True):
            _check(kind, value)

    @property
    def box_us(self) -> int:
        """The box's time in microseconds since its start; only the box's own sentences have one."""
        return int(self.fields[0])

    def encode(self) -> bytes:
        """The line with its CR LF."""
        body = ",".join([self.kind, str(self.number), *map(str, self.fields)]).encode()
        return b"$%s*%02X\r\n" % (body, checksum(body))


def checksum(body: bytes) -> int:
    """XOR of the bytes between ``$`` and ``*``, as in NMEA 0183."""
    return functools.reduce(operator.xor, body, 0)


def parse(line: bytes) -> Sentence:
    """The sentence of a line without its line end. Raises BadSentence for everything else."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise BadSentence("not of the form $KIND,...*HH")
    if checksum(line[1:-3]) != int(found[3], 16):
        raise BadSentence("checksum")
    kind, texts = found[1].decode(), found[2].decode("latin-1").split(",")
    if kind not in FIELDS:
        raise BadSentence(f"unknown kind {kind}")
    types = ("u32", *FIELDS[kind])
    if len(texts) != len(types):
        raise BadSentence(f"{kind} has {len(types)} fields, not {len(texts)}")
    number, *fields = (_value(t, text) for t, text in zip(types, texts, strict=True))
    return Sentence(kind, int(number), tuple(fields))


def _value(kind: str, text: str) -> int | str:
    if kind == "word":
        return text
    if _NUMBER.fullmatch(text) is None:
        raise BadSentence(f"{text!r} is no number")
    return int(text)


def _check(kind: str, value: int | str) -> None:
    if kind == "word":
        if not isinstance(value, str) or _WORD.fullmatch(value) is None:
            raise BadSentence(f"{value!r} is no word of 1 to 12 letters, digits, dots, dashes")
    elif not isinstance(value, int) or not 0 <= value <= BIGGEST[kind]:
        raise BadSentence(f"{value!r} is no {kind}")


class Lines:
    """Cuts a byte stream into sentences; whatever is none is counted in ``garbage`` (bytes) and dropped.

    Holds at most ``LONGEST`` bytes, so that no flood can fill the memory.
    """

    def __init__(self) -> None:
        self.garbage = 0
        self._line: bytearray | None = None

    def restart(self) -> None:
        """Drop a half-read line: the port has been opened anew."""
        self._line = None

    def feed(self, data: bytes) -> Iterator[Sentence]:
        """The sentences that end in ``data``."""
        for byte in data:
            sentence = self._take(byte)
            if sentence is not None:
                yield sentence

    def _take(self, byte: int) -> Sentence | None:
        if byte == 0x24:  # '$' always begins anew: a torn sentence cannot swallow the next
            self.garbage += len(self._line or b"")
            self._line = bytearray(b"$")
        elif self._line is None:
            self.garbage += byte not in b"\r\n"
        elif byte in b"\r\n":
            return self._end()
        elif len(self._line) >= LONGEST:
            self.garbage += len(self._line) + 1
            self._line = None
        else:
            self._line.append(byte)
        return None

    def _end(self) -> Sentence | None:
        line, self._line = bytes(self._line or b""), None
        try:
            return parse(line)
        except BadSentence:
            self.garbage += len(line)
            return None
