"""Following what other programs write into a store of many tables: each look brings what is new, proven to follow what
was seen before."""

from dataclasses import dataclass, field

from referee.events import Event
from referee.journal.chain import GENESIS, Entry
from referee.journal.journal import Journal


@dataclass
class _Seen:
    """A match as far as it was read."""

    head: tuple[int, str] = (0, GENESIS)
    first: Event | None = None
    entries: list[Entry] | None = field(default_factory=list)


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
            if not entries:
                continue
            if seen.entries is None:  # it was over, and is taken up again
                seen.entries = self._journal.entries(match_id)[: seen.head[0]]
            seen.entries += entries
            seen.first, seen.head = seen.entries[0].event, (entries[-1].seq, entries[-1].hash)
            news[match_id] = [entry.event for entry in entries]
        return news

    def forget(self, match_id: str) -> None:
        """Keep no events of this match in memory but the first: it is over, most likely."""
        self._seen[match_id].entries = None

    def entries(self, match_id: str) -> list[Entry]:
        """The events of a match as of the last look; none of one that was forgotten and has no news."""
        seen = self._seen.get(match_id)
        return list(seen.entries or ()) if seen else []

    def events(self, match_id: str) -> list[Event]:
        """The same without their numbers and hashes."""
        return [entry.event for entry in self.entries(match_id)]

    def first(self, match_id: str) -> Event | None:
        """A match's first event; None for one that was not seen."""
        return self._seen[match_id].first if match_id in self._seen else None

    def matches(self, table: str) -> list[str]:
        """Ids of that table's matches as of the last look, in the order of their beginning."""
        return [m for m, at in self._tables.items() if at == table and m in self._seen]

    def tables(self) -> list[str]:
        """Every table that has begun a match, in the order of their first."""
        return list(dict.fromkeys(self._tables.values()))
