"""The public events of a session as they come, for whoever follows them: the API's stream, and those who send them on.

None of them is waited for: an event is in the record before it is in the feed, and everybody reads on at his own pace.
"""

import threading
from collections.abc import Sequence

from referee.events import Event
from referee.journal.public_events import PublicEvent, of_command, of_match
from referee.match.state import MatchState
from referee.session.ports import Record


class EventFeed:
    """``events`` begins with those of the match that goes on, or was the last at this table, and only grows.
    ``first_id`` is that of the last event of any kind as the program began; empty where there was none."""

    def __init__(self, record: Record, table: str, match_id: str) -> None:
        self.record, self.table = record, table
        last = match_id or next(reversed(record.matches(table)), "")
        recorded = record.entries(last) if last else []
        self.first_id = f"{last}/{len(recorded)}" if last else ""
        self.events: list[PublicEvent] = list(of_match(recorded, table))
        self._changed = threading.Condition()

    def follow(self, state: MatchState, events: Sequence[Event]) -> None:
        """A command has led to these events and this state."""
        with self._changed:
            self.events += of_command(state, events, self.table)
            self._changed.notify_all()

    def place_after(self, event_id: str) -> int:
        """How many of the ``events`` come before what follows that one; none where it is not among them."""
        return next((n for n, event in enumerate(self.events, 1) if event.id == event_id), 0)

    def wait(self, place: int, timeout_s: float) -> list[PublicEvent]:
        """The events from that place on, once there is one or the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.events) > place, timeout_s)
            return self.events[place:]
