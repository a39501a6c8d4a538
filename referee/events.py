"""One recorded fact of a match, whatever is played: what the journal stores and every state is folded from. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """One recorded fact. Facts are never edited: a correction is a new event that cites the first.

    ``at`` is ISO 8601 UTC; ``who`` the person or device it came from; ``cites`` the number (in
    this match, from 1) of the event it corrects; ``step`` the number of the command that made it:
    events of one command stand or fall together.
    """

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""
    who: str = ""
    simulated: bool = False
    cites: int | None = None
    step: int = 0

    def to_json(self) -> dict[str, Any]:
        """As a dictionary that ``event_from_json`` reads back to an equal event."""
        return {**vars(self), "data": dict(self.data)}


def event_from_json(row: Mapping[str, Any]) -> Event:
    """The inverse of ``Event.to_json``; unknown fields of later versions are ignored."""
    later = ("who", "simulated", "cites", "step")
    return Event(row["kind"], row["data"], row["at"], **{name: row[name] for name in later if name in row})
