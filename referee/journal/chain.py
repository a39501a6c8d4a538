"""The chain: an event as a line that proves itself and names the line before it. No store, no file.

One line holds one event, in canonical JSON:

    {"hash": SHA-256 of the rest, "prev": hash of the event before, "match": id, "seq": 1…, "event": …}

so every line proves itself, wherever it is found: ``referee.journal.recovery`` reads them out of a broken
file. The chain finds accidents and edits; who can rewrite a whole file can rewrite the chain
too, which is why score sheets print the last hash.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cards.sentences import sentence
from referee.errors import JournalDamaged, JournalUnwritable
from referee.events import Event, event_from_json

GENESIS = "0" * 64
"""The ``prev`` of a match's first event."""


LINE_START = b'{"hash":"'
"""How every line begins: the mark by which events are found in raw bytes."""


@dataclass(frozen=True)
class Entry:
    """One stored event with its place in the chain."""

    match_id: str
    seq: int
    event: Event
    prev: str
    hash: str

    @property
    def line(self) -> str:
        """The line that it was read from."""
        return line_of(self.match_id, self.seq, self.event, self.prev)[0]


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text. Raises ValueError on NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def line_of(match_id: str, seq: int, event: Event, prev: str) -> tuple[str, str]:
    """The event's line and its hash. Raises JournalUnwritable for what cannot be written as JSON text."""
    try:
        body = canonical({"event": event.to_json(), "match": match_id, "prev": prev, "seq": seq})
        digest = hashlib.sha256(body.encode()).hexdigest()
    except (ValueError, TypeError) as error:  # not a number, no Unicode, no JSON type
        raise JournalUnwritable(sentence("journal_event", kind=event.kind, fault=str(error))) from None
    return f'{{"hash":"{digest}",{body[1:]}', digest


def lines_of(match_id: str, events: Iterable[Event], head: tuple[int, str] = (0, GENESIS)) -> list[str]:
    """A match's record behind its ``head`` (number and hash), from its first event on, as lines."""
    lines, prev = list[str](), head[1]
    for seq, event in enumerate(events, head[0] + 1):
        line, prev = line_of(match_id, seq, event, prev)
        lines.append(line)
    return lines


def parse_line(line: str) -> Entry:
    """The inverse of ``line_of``. Raises ValueError when the line does not prove itself."""
    digest = line[9:73]
    body = "{" + line[75:]
    if line[:9] != '{"hash":"' or hashlib.sha256(body.encode()).hexdigest() != digest:
        raise ValueError("its checksum is wrong")
    row = json.loads(body)
    return Entry(row["match"], row["seq"], event_from_json(row["event"]), row["prev"], digest)


def check_chain(
    match_id: str, rows: Iterable[tuple[int, str]], head: tuple[int, str] = (0, GENESIS)
) -> Iterator[Entry]:
    """Entries of one match behind its ``head``, each proven and linked to the one before.

    Raises JournalDamaged at the first fault.
    """
    prev, expected = head[1], head[0] + 1
    for seq, line in rows:
        here = f"match {match_id}: event {seq}"
        if seq != expected:
            raise JournalDamaged(f"match {match_id}: event {expected} is missing")
        try:
            entry = parse_line(line)
        except (ValueError, KeyError, TypeError) as error:
            raise JournalDamaged(f"{here} is damaged: {error}") from None
        if (entry.match_id, entry.seq) != (match_id, seq):
            raise JournalDamaged(f"{here} belongs to match {entry.match_id}, {entry.seq}")
        if entry.prev != prev:
            raise JournalDamaged(f"{here} does not follow event {seq - 1}: one was changed")
        yield entry
        prev, expected = entry.hash, seq + 1


def longest_chains(entries: Iterable[Entry]) -> tuple[dict[str, list[Entry]], dict[str, list[Entry]]]:
    """Per match the longest unbroken chain from the first event, and the proven events that lie beyond."""
    by_match: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        by_match.setdefault(entry.match_id, {})[entry.prev] = entry
    kept, beyond = {}, {}
    for match_id, after in by_match.items():
        chain: list[Entry] = []
        prev = GENESIS
        while prev in after and after[prev].seq == len(chain) + 1:
            chain.append(after[prev])
            prev = chain[-1].hash
        known = {entry.hash for entry in chain}
        rest = (entry for entry in after.values() if entry.hash not in known)
        kept[match_id], beyond[match_id] = chain, sorted(rest, key=lambda entry: entry.seq)
    return kept, beyond
