"""Following what other programs write into a store of many tables: each look brings what is new, proven to follow what
was seen before."""

from dataclasses import dataclass, field

from referee.events import Event
from referee.journal.chain import GENESIS
from referee.journal.journal import Journal


@dataclass
class _Seen:
    """A match as far as it was read."""

    head: tuple[int, str] = (0, GENESIS)
    events: list[Event] | None = field(default_factory=list)


class Follower:
    """The matches of a store, read on and on. Not for several threads at once."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen: dict[str, _Seen] = {}
        self._tables: dict[str, str] = {}

    def look(self) -> dict[str, list[Event]]:
        """Match -> its new events, of all that have some. Raises JournalDamaged, JournalUnwritable."""
        heads, news = self._journal.heads(), {}
        if heads.keys() - self._tables.keys():
            self._tables = self._journal.table_of()
        for match_id, head in heads.items():
            seen = self._seen.setdefault(match_id, _Seen())
            if head[0] == seen.head[0]:
                continue
            entries = self._journal.since(match_id, seen.head)
            if entries:
                seen.head = (entries[-1].seq, entries[-1].hash)
                news[match_id] = [entry.event for entry in entries]
                if seen.events is not None:
                    seen.events += news[match_id]
        return news

    def forget(self, match_id: str) -> None:
        """Keep no events of this match in memory: it is over, most likely."""
        self._seen[match_id].events = None

    def events(self, match_id: str) -> list[Event]:
        """All events of a match as of the last look; read anew where they were forgotten."""
        seen = self._seen.get(match_id)
        if seen is None:
            return []
        return self._journal.events(match_id)[: seen.head[0]] if seen.events is None else list(seen.events)

    def matches(self, table: str) -> list[str]:
        """Ids of that table's matches as of the last look, in the order of their beginning."""
        return [m for m, at in self._tables.items() if at == table and m in self._seen]

    def tables(self) -> list[str]:
        """Every table that has begun a match, in the order of their first."""
        return list(dict.fromkeys(self._tables.values()))
