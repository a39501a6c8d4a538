"""The button box's line protocol: one readable line per sentence, in the NMEA 0183 manner.

``$BXPRS,17,81234567,0,1,BOX1,7,2*31F0`` is talker BX (the box) or RF (the referee), a kind, a number, fields, and the
checksum of everything between ``$`` and ``*`` in hexadecimal: four digits of CRC-16 in protocol 2, two digits of XOR in
protocol 1. `firmware/README.md` describes every kind and `firmware/vectors.txt` holds lines that this module and the
firmware's own parser must read alike. ``Message.encode`` and ``parse`` are inverses.

Why a CRC: of the 18,336 ways to turn over two bits of a press line, XOR lets 132 pass, and 8 of them name the other
player. The CRC has Hamming distance 4 up to 32,751 bits (Koopman and Chakravarty 2004): no two wrong bits of a line
pass, also when one of them stands in the digits of the checksum, where it may change two bits of it.
"""

import binascii
import functools
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass

from referee.errors import RefereeError

PROTOCOL = 2  # the newest that is spoken here
PLAYERS = NEXT_BUTTON = 4  # buttons of players, from 0; after them comes Start/Next
PADS = 2  # of the first players
BAUDS = (250_000, 115_200)  # of a box of firmware 2, whose 16 MHz divide into it, and of one before
LONGEST = 111  # bytes of a sentence without its line end; the firmware's buffer is one more
MAX_VALUES = {"u8": 2**8 - 1, "u16": 2**16 - 1, "u32": 2**32 - 1, "u64": 2**64 - 1}

# kind -> types of the fields after the number; every sentence of the box has its time in microseconds first
OLD_FIELDS: dict[str, tuple[str, ...]] = {
    "BXHEL": ("u64", "word", "word", "u16", "u8", "u32", "u32", "u32"),
    # version, id, number of the start, buttons, first event still kept, last event, events overwritten
    "BXCLK": ("u64", "u16", "u32", "u32"),  # number of the start, first event still kept, last event
    "BXACK": ("u64", "word"),  # phase after the command
    "BXERR": ("u64", "word"),  # what was wrong with the line
    "BXTST": ("u64", "u8", "u32"),  # closed buttons as bits, longest turn of the loop in microseconds
    "BXBOT": ("u64", "u16"),  # number of the start
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
    "RFLMP": ("u8", "u8"),  # button, 0 or 1; in protocol 2 a lamp mode
    "RFACK": ("u32", "u16"),  # all events up to this one of that start are safe with the host
    "RFRSN": ("u32",),  # say all events again from this one on
    "RFNAM": ("word",),  # new box id, kept in EEPROM
}
NEW_FIELDS: dict[str, tuple[str, ...]] = OLD_FIELDS | {
    "BXHEL": ("u64", "u8", "word", "word", "u16", "u8", "u32", "u32", "u32"),  # the protocol before the version
    "BXCLK": ("u64", "u16", "u32", "u32", "u16"),  # and how the lines are, as bits
    "BXTST": ("u64", "u8", "u32", "u8"),  # and why the processor started
    "BXBOT": ("u64", "u16", "u8"),  # and why
    "BXGOO": ("u64", "word", "u16", "u16"),  # box id, number of the start, number of the duel since then
    "BXPRS": ("u64", "u8", "u8", "word", "u16", "u16"),  # and the same three
    "BXFLS": ("u64", "u8"),  # false start: the tongs have left player's mark before the go
    "BXNOI": ("u64", "u8"),  # noisy line
    "BXQUI": ("u64", "u8"),  # quiet again
    "BXCNT": ("u64", "u8", "u16", "u32", "u32"),  # button, edges, longest settling and lift-off in microseconds
    "RFHEL": ("u8",),  # the newest protocol that the host speaks
    "RFGOO": ("u8",),  # 1 with a countdown
    "RFCNT": ("u8",),  # a button's counts since the last time
}
FIELDS = {1: OLD_FIELDS, 2: NEW_FIELDS}
EVENTS = frozenset({"BXBOT", "BXGOO", "BXPRS", "BXHLD", "BXSTK", "BXFRE", "BXNXT", "BXFLS", "BXNOI", "BXQUI"})
_LINE = re.compile(rb"\$([A-Z]{5}),([^*$]*)\*([0-9A-F]{4}|[0-9A-F]{2})")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,19}")
_WORD = re.compile(r"[A-Za-z0-9._-]{1,12}")


class BadMessage(RefereeError):
    """A line that is not a sentence of this protocol; the text says why."""


@dataclass(frozen=True)
class Message:
    """One sentence. ``number`` counts events or names the command answered; ``fields`` follow ``FIELDS``."""

    kind: str
    number: int
    fields: tuple[int | str, ...] = ()
    protocol: int = 1

    def __post_init__(self) -> None:
        types = ("u32", *_types(self.kind, self.protocol))
        if len(types) != len(self.fields) + 1:
            raise BadMessage(f"{self.kind} has {len(types)} fields, not {len(self.fields) + 1}")
        for kind, value in zip(types, (self.number, *self.fields), strict=True):
            _check(kind, value)

    @property
    def box_us(self) -> int:
        """The box's time in microseconds since its start; only the box's own sentences have one."""
        return int(self.fields[0])

    def encode(self) -> bytes:
        """The line with its CR LF."""
        body = ",".join([self.kind, str(self.number), *map(str, self.fields)]).encode()
        return b"$%s*%s\r\n" % (body, checksum(body, self.protocol))


def checksum(body: bytes, protocol: int) -> bytes:
    """The hexadecimal digits that guard the bytes between ``$`` and ``*``.

    Protocol 1: their XOR, as in NMEA 0183. Protocol 2: their CRC-16/IBM-3740 ("CCITT-FALSE": polynomial 0x1021,
    from 0xFFFF, not reflected; 0x29B1 of "123456789").
    """
    if protocol == 1:
        return b"%02X" % functools.reduce(operator.xor, body, 0)
    return b"%04X" % binascii.crc_hqx(body, 0xFFFF)


def parse(line: bytes) -> Message:
    """The sentence of a line without its line end. Raises BadMessage for everything else."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise BadMessage("not of the form $KIND,...*HHHH")
    protocol = 1 if len(found[3]) == 2 else 2
    if checksum(line[1 : -len(found[3]) - 1], protocol) != found[3]:
        raise BadMessage("checksum")
    kind, texts = found[1].decode(), found[2].decode("latin-1").split(",")
    types = ("u32", *_types(kind, protocol))
    if len(texts) != len(types):
        raise BadMessage(f"{kind} has {len(types)} fields, not {len(texts)}")
    number, *fields = (_value(t, text) for t, text in zip(types, texts, strict=True))
    return Message(kind, int(number), tuple(fields), protocol)


def _types(kind: str, protocol: int) -> tuple[str, ...]:
    if kind not in FIELDS[protocol]:
        raise BadMessage(f"unknown kind {kind}")
    return FIELDS[protocol][kind]


def _value(kind: str, text: str) -> int | str:
    if kind == "word":
        return text
    if _NUMBER.fullmatch(text) is None:
        raise BadMessage(f"{text!r} is no number")
    return int(text)


def _check(kind: str, value: int | str) -> None:
    if kind == "word":
        if not isinstance(value, str) or _WORD.fullmatch(value) is None:
            raise BadMessage(f"{value!r} is no word of 1 to 12 letters, digits, dots, dashes")
    elif not isinstance(value, int) or not 0 <= value <= MAX_VALUES[kind]:
        raise BadMessage(f"{value!r} is no {kind}")


class MessageReader:
    """Cuts a byte stream into sentences; whatever is none is counted in ``garbage`` (bytes) and dropped.

    Holds at most ``LONGEST`` bytes, so that no flood can fill the memory. ``bad_hello`` is why the latest line that
    looked like a box's hello was none.
    """

    def __init__(self) -> None:
        self.garbage = 0
        self.bad_hello: str | None = None
        self._line: bytearray | None = None

    def restart(self) -> None:
        """Drop a half-read line: the port has been opened anew."""
        self._line = None

    def feed(self, data: bytes) -> Iterator[Message]:
        """The sentences that end in ``data``."""
        for byte in data:
            sentence = self._take(byte)
            if sentence is not None:
                yield sentence

    def _take(self, byte: int) -> Message | None:
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

    def _end(self) -> Message | None:
        line, self._line = bytes(self._line or b""), None
        try:
            return parse(line)
        except BadMessage as error:
            self.garbage += len(line)
            if line.startswith(b"$BXHEL,"):
                self.bad_hello = str(error)
            return None
