"""The match of a session: decide (pure), append to the journal (durable), then apply and tell.

The state is what the journal says, so a program that is killed goes on in the same phase of the same duel.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cards.deck import Deck
from cards.sentences import sentence
from referee import core
from referee.core import refuse_if
from referee.devices.ports import Clock
from referee.errors import IllegalCommand, RefereeError
from referee.events import Event
from referee.match.card_facts import cards_of
from referee.match.commands import CreateMatch, LeaveMatch, MatchCommand, TakeUpMatch
from referee.match.decide import decide
from referee.match.evolve import evolve, fold
from referee.match.house_rules import DEFAULT_RULES, HouseRules
from referee.match.state import MatchState
from referee.session.notifier import Notifier
from referee.session.ports import Record
from referee.session.seeds import new_seed

Listener = Callable[[MatchState, Sequence[Event]], None]

MATCHES_OFFERED = 12
"""So many older matches are offered to be taken up."""

REBOOTED_S = 5.0
"""Host clocks further apart than this are not of the same run of the machine."""


@dataclass(frozen=True)
class MatchRequest:
    """What somebody asks of a new match; None is the session's own choice."""

    players: tuple[str, ...]
    mode: str = "all"
    seed: int | None = None
    rules: HouseRules | None = None


class MatchRunner:
    """Runs one match after another on one journal. Raises JournalDamaged when the record cannot be trusted.

    ``table`` names this table's matches in a store that many tables share; the one begun last goes on. ``shift_s`` is
    what to add to the host's clock in this match: 0, unless the machine was started again in the middle of it. Who
    holds the ``lock`` sees no change.
    """

    def __init__(self, journal: Record, deck: Deck, clock: Clock, notifier: Notifier, table: str = "") -> None:
        self.journal, self.deck = journal, deck
        self._clock, self._notifier = clock, notifier
        self._table = table
        self.lock = threading.RLock()
        self._listeners: list[Listener] = []
        self.state, self.shift_s = self._recovered()

    def command(self, command: MatchCommand, who: str = "") -> tuple[Event, ...]:
        """Decide, keep, apply, tell. Raises IllegalCommand, JournalUnwritable; then nothing has changed."""
        with self.lock:
            events = decide(self.state, command, self._clock.utc().isoformat(), who)
            state = core.fold(evolve, self.state, events)
            self.journal.append(state.match_id, events, after=self.state.seq, table=self._table)
            self.state = state
            for listener in self._listeners:
                self._told(listener, events)
        self._notifier.touch()
        return events

    def _told(self, listener: Listener, events: Sequence[Event]) -> None:
        """The events stand in the record: whatever befalls one who hears of them takes them back from nobody, and
        neither keeps the others from hearing nor ends the thread that listens to the box."""
        try:
            listener(self.state, events)
        except Exception as fault:
            text = sentence("part_failed", kind=events[-1].kind, fault=f"{type(fault).__name__}: {fault}")
            self._notifier.alarm("part_failed", text)

    def attempt(self, command: MatchCommand) -> None:
        """A command that nobody waits for: what is illegal now is none, what cannot be kept is an alarm."""
        try:
            self.command(command)
        except IllegalCommand:
            return
        except RefereeError as error:
            self._notifier.alarm("journal", error.wording)

    def create(self, wish: MatchRequest, simulated: bool, who: str = "") -> tuple[Event, ...]:
        """Begin a match; one that is still open is left as it stands in the journal."""
        now = self._clock.utc()
        prefix = f"{self._table}-" if self._table else ""
        match_id = f"{prefix}{now:%Y%m%d-%H%M%S}-{len(self.journal.matches(self._table)) + 1}"
        seed = new_seed() if wish.seed is None else wish.seed
        rules, cards = wish.rules or DEFAULT_RULES, cards_of(self.deck)
        create = CreateMatch(wish.players, wish.mode, seed, self.deck.name, rules, cards, match_id, simulated)
        with self.lock:
            before, self.state = self.state, MatchState()
            try:
                return self.command(create, who)
            except RefereeError:
                self.state = before
                raise

    def take_up(self, match_id: str, who: str = "") -> tuple[Event, ...]:
        """Go on with an older match of this table; the present one waits as it stands.

        Raises IllegalCommand in the middle of a duel, for an unknown match, and for one with cards that the deck lacks.
        """
        with self.lock:
            events = self.journal.events(match_id) if match_id in self.journal.matches(self._table) else []
            refuse_if(not events, "takeup_unknown", match=match_id)
            refuse_if(match_id == self.state.match_id, "takeup_here", match=match_id)
            refuse_if(self.state.match_id and not self.state.can(LeaveMatch), "takeup_duel")
            target = fold(events)
            if not set(target.cards) <= set(self.deck.by_id):
                raise IllegalCommand(
                    sentence("takeup_deck", match=match_id, one=target.deck_name, other=self.deck.name)
                )
            before, shift_s = (self.state, self.shift_s), self._shift(events)
            self.state, self.shift_s = target, shift_s
            try:
                taken = self.command(TakeUpMatch(who), who)
            except RefereeError:
                self.state, self.shift_s = before
                raise
            if (left := before[0]).match_id:  # it keeps which one is gone on with: after a restart that one is found
                told = decide(left, LeaveMatch(match_id, who), self._clock.utc().isoformat())
                self.journal.append(left.match_id, told, after=left.seq, table=self._table)
            return taken

    def set_aside(self) -> None:
        """Leave the match as it stands in the record, and wait for a new one."""
        with self.lock:
            self.state, self.shift_s = MatchState(), 0.0

    def older(self) -> list[dict]:
        """This table's other matches, the latest ``MATCHES_OFFERED`` first: ``id``, ``at``, ``players``, ``phase``."""
        ids = [m for m in reversed(self.journal.matches(self._table)) if m != self.state.match_id][:MATCHES_OFFERED]
        states = [fold(self.journal.events(m)) for m in ids]
        return [{"id": s.match_id, "at": s.created_at, "players": list(s.players), "phase": s.phase} for s in states]

    def listen(self, listener: Listener) -> None:
        """Call back with (new state, events) after every command, on the commanding thread: be quick."""
        self._listeners.append(listener)

    def _recovered(self) -> tuple[MatchState, float]:
        """The match begun last, or the one that was taken up instead, unless it is finished; and what to add to the
        host's clock in it."""
        following: str = next(reversed(self.journal.matches(self._table)), "")
        events: list[Event] = []
        state, known = MatchState(), set[str]()
        while following and following not in known:
            known.add(following)
            events = self.journal.events(following)
            state = fold(events)
            following = state.left_for
        if not events:
            return MatchState(), 0.0
        return (state, self._shift(events)) if state.phase != "finished" else (MatchState(), 0.0)

    def _shift(self, events: Sequence[Event]) -> float:
        """What keeps recorded times comparable: as it was while the machine runs on, whatever the time of day was
        set to; after it was started again only the time of day tells how long that took."""
        last = next((e for e in reversed(events) if e.kind == "go"), None)
        if last is None:
            return 0.0
        if self._clock.boot_id() and last.data.get("boot") == self._clock.boot_id():
            return float(last.data["shift_s"])
        passed = (self._clock.utc() - datetime.fromisoformat(last.at)).total_seconds()
        shift = float(last.data["at_s"]) + passed - self._clock.now_s()
        if abs(shift) <= REBOOTED_S:
            return 0.0
        self._notifier.alarm("restarted", sentence("restarted"))
        return shift
