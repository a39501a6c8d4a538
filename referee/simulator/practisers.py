"""SIMULATED people who practise: they hear the go, build, give up where it is wrong, and clear the field."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress

from cards.deck import Deck
from cards.drawing import card_png
from cards.pieces import PieceSet
from referee.devices.ports import Clock
from referee.errors import RefereeError
from referee.events import Event
from referee.match.practice import Practice, Result
from referee.session.practising import Practising
from referee.simulator.players import Players

LOOKS_S = 3.0
"""So long somebody looks at his own wrong build before he gives up, at pace 1."""

RIGHT_S = 20.0
"""So long he waits for the camera to see a right one."""


class Practisers:
    """Plays the part of everybody who practises. ``ended`` counts the builds that have ended."""

    def __init__(self, room: Practising, players: Players, deck: Deck, pieces: PieceSet, clock: Clock) -> None:
        self._room, self._players, self._deck, self._pieces, self._clock = room, players, deck, pieces, clock
        self._jobs: queue.Queue[tuple[str, Practice] | None] = queue.Queue()
        self._enough: dict[str, float] = {}
        self._lines: deque[str] = deque()
        self.ended = 0
        self._thread = threading.Thread(target=self._run, name="SIMULATED practisers", daemon=True)
        room.listen(self._heard)

    def start(self) -> None:
        """Sit down."""
        self._thread.start()

    def stop(self) -> None:
        """Get up."""
        self._jobs.put(None)
        self._thread.join()

    def lines(self) -> Iterator[str]:
        """A line for each build that has ended since it was asked last."""
        while self._lines:
            yield self._lines.popleft()

    def _heard(self, practice: Practice, events: Sequence[Event]) -> None:
        for event in events:
            self._jobs.put((event.kind, practice))
            if event.kind == "build_ended":
                self._lines.append(line_of(practice.results[-1]))
                self.ended += 1

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=0.2)
            except queue.Empty:
                self._give_up(self._clock.now_s())
                continue
            if job is None:
                return
            self._react(*job)

    def _react(self, kind: str, practice: Practice) -> None:
        now_s, zones = self._clock.now_s(), tuple(practice.players)
        if kind == "practice_go":
            card = self._deck.card(practice.card[0])
            self._players.show(card_png(card, self._deck, self._pieces, 440))
            self._players.begin(card, now_s, zones)
            patience = {zone: RIGHT_S if self._players.right(zone, card) else LOOKS_S for zone in zones}
            self._enough = {zone: self._players.still_s(zone) + s for zone, s in patience.items()}
        elif kind in ("all_ended", "practice_card", "practice_begun"):
            self._enough = {}
            self._players.show(None)
            self._players.clear(now_s)

    def _give_up(self, now_s: float) -> None:
        for zone in [zone for zone, at_s in self._enough.items() if at_s < now_s]:
            self._enough[zone] = now_s + RIGHT_S
            with suppress(RefereeError):  # it has ended meanwhile
                self._room.give_up(zone)


def line_of(result: Result) -> str:
    """How one build ended, for a terminal."""
    time = f"{result.seconds:6.2f} s by {result.by}" if result.seconds is not None else "  no time"
    why = "; ".join(reason.text for reason in result.reasons)
    line = f"{result.player:10s} {result.card_id}  {result.ruling:9s} {time}"
    return line if result.seconds is not None else f"{line}  {why}"
