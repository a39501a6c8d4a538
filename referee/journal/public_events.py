"""What anybody may know of a match while it is played, event by event: the format is in ``public_events.md``.

A hidden card, seeds, piles, free words of the referee and his name are in none: beside the fields listed here an event
carries only what ``public_match`` leaves of the match after the command that it came of.
"""

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from referee import core
from referee.events import Event
from referee.journal.chain import Entry
from referee.journal.spool import Record
from referee.match.evolve import evolve
from referee.match.state import MatchState, public_match

VERSION = 1

FIELDS: Mapping[str, tuple[str, ...]] = {
    "match_created": ("players", "mode", "deck_name", "seed_hash"),
    **dict.fromkeys(("card_drawn", "card_named", "ready", "go", "judging", "duel_undecided", "next_duel"), ()),
    "stop": ("zone", "elapsed_s", "error_s", "by", "callers"),
    "press_noted": ("zone", "elapsed_s", "error_s", "by", "why"),
    **dict.fromkeys(("verdict", "ruling"), ("zone", "ruling")),
    "duel_decided": ("award", "by"),
    "duel_void": ("by",),
    "duel_overruled": ("number", "award"),
    **dict.fromkeys(("foul", "foul_ruled", "review_opened", "review_closed", "undone"), ()),
    **dict.fromkeys(("rounds_added", "round_replayed", "duel_replayed", "match_taken_up", "match_finished"), ()),
    **dict.fromkeys(("player_left", "player_joined", "player_late"), ("player",)),
    "player_renamed": ("player", "name"),
    "mode_changed": ("mode",),
    "by_hand": ("on",),
}
"""Every public kind of event, and what of its data is public. Other kinds are nobody's business outside."""

MATCH_FIELDS = (
    *("match_id", "phase", "round_index", "duel_index", "seats", "card_id", "value", "callers", "rulings", "award"),
    *("scores", "under_review", "winner"),
)


@dataclass(frozen=True)
class PublicEvent:
    """One of them: ``id`` names it for ever, ``seq`` in its match; ``at`` is when it was, ``body`` its JSON."""

    id: str
    seq: int
    at: str
    body: bytes


def of_command(state: MatchState, events: Sequence[Event], table: str = "") -> Iterator[PublicEvent]:
    """The public ones of a command's events, which led to ``state``."""
    match = public_match(state.to_json())
    now = {name: match[name] for name in MATCH_FIELDS}
    for seq, event in enumerate(events, state.seq - len(events) + 1):
        if event.kind in FIELDS:
            event_id = f"{state.match_id}/{seq}"
            data = {name: event.data[name] for name in FIELDS[event.kind] if name in event.data}
            row = {"version": VERSION, "id": event_id, "kind": event.kind, "at": event.at}
            row |= {"simulated": state.simulated, "table": table, "data": data, "match": now}
            body = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
            yield PublicEvent(event_id, seq, event.at, body.encode())


def of_match(entries: Sequence[Entry], table: str = "") -> Iterator[PublicEvent]:
    """The public events of a match, from its first."""
    state = MatchState()
    for _, command in groupby((entry.event for entry in entries), key=lambda event: event.step):
        events = tuple(command)
        state = core.fold(evolve, state, events)
        yield from of_command(state, events, table)


def recorded_after(record: Record, table: str, event_id: str) -> list[PublicEvent]:
    """What came at that table after the event of that id, in the order of its time; all that is on record where that
    event is not."""
    begun, since, found = record.matches(table), "", []
    match_id, _, number = event_id.rpartition("/")
    if match_id in begun:
        begun = begun[begun.index(match_id) :]
        since = record.entries(match_id)[: int(number)][-1].event.at
    for name in begun:  # grows by the older matches that were taken up since
        entries = record.entries(name)
        left = [e.event.data["for_match"] for e in entries if e.event.kind == "match_left" and e.event.at >= since]
        begun += [other for other in left if other not in begun]
        known = int(number) if name == match_id else 0
        found.append([event for event in of_match(entries, table) if event.at >= since and event.seq > known])
    return list(heapq.merge(*found, key=lambda event: event.at))


class EventFeed:
    """A table's public events as they come, for whoever reads on at his own pace: nobody is waited for.

    ``events`` begins with those of the match that goes on, or was the last, and only grows. ``first_id`` is that of the
    last event of any kind as the program began; empty where there was none.
    """

    def __init__(self, record: Record, table: str, match_id: str) -> None:
        self.record, self.table = record, table
        last = match_id or next(reversed(record.matches(table)), "")
        recorded = record.entries(last) if last else []
        self.first_id = f"{last}/{len(recorded)}" if last else ""
        self.events: list[PublicEvent] = list(of_match(recorded, table))

    def follow(self, state: MatchState, events: Sequence[Event]) -> None:
        """A command has led to these events and this state."""
        self.events += of_command(state, events, self.table)

    def place_after(self, event_id: str) -> int:
        """How many of the ``events`` come before what follows that one; none where it is not among them."""
        return next((n for n, event in enumerate(self.events, 1) if event.id == event_id), 0)
