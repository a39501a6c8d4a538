"""A command being worked out: events so far, and the state they lead to."""

from __future__ import annotations

from referee.match.duel import Event
from referee.match.evolve import evolve
from referee.match.state import MatchState


class Plan:
    """Collects the events of one command. ``state`` is always the fold of what was added."""

    def __init__(self, state: MatchState, at: str, who: str) -> None:
        self.state = state
        self.events: list[Event] = []
        self.simulated = state.simulated
        self._at, self._who, self._step = at, who, state.step + 1

    def add(self, kind: str, *, cites: int | None = None, **data: object) -> None:
        """One more event. Raises IllegalCommand when it cannot follow."""
        event = Event(kind, data, self._at, self._who, self.simulated, cites, self._step)
        self.state = evolve(self.state, event)
        self.events.append(event)
