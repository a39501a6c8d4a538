"""A tournament on a journal, and the tables that play it: decide (pure), append (durable), apply, tell.

Nobody owns a tournament: whoever commands appends behind the last event that was seen, and decides again when another
program was first. What is called, has begun and is over is read from the tables' own matches. All of it stands in the
record, so that a director who is killed, or a second one, goes on where the record stands.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from cards.sentences import sentence
from referee import core
from referee.core import refuse_if
from referee.devices.ports import Clock
from referee.errors import IllegalCommand, JournalUnwritable, RefereeError
from referee.events import Event
from referee.journal.follow import Follower
from referee.journal.journal import Journal
from referee.journal.side_tables import Presence, TableHeartbeat
from referee.journal.spool import SpooledJournal
from referee.match.evolve import evolve as evolve_match
from referee.match.evolve import fold as fold_match
from referee.match.schedule import comparable_name
from referee.match.state import MatchState
from referee.session.notifier import Notifier
from referee.session.ports import Record
from referee.tournament import commands
from referee.tournament.commands import TournamentCommand, decide
from referee.tournament.evolve import evolve, fold
from referee.tournament.plan import next_calls
from referee.tournament.results import FinishedMatch, finished_match, result_of
from referee.tournament.state import RECORD, Fixture, GameResult, Tournament

TRIES = 8
"""So often a command is decided anew because another program was first."""

SILENT_S = 8.0
"""A table that has said nothing for so long is told of: its program says something every two seconds."""

POLL_S = 0.5
"""How often the director looks at the tables."""

Listener = Callable[[Tournament, Sequence[Event]], None]


@dataclass
class TableNow:
    """A table as the hall sees it: its latest match, and what its program says. ``silent``: it said so long ago."""

    name: str
    match: MatchState = field(default_factory=MatchState)
    told: TableHeartbeat | None = None
    heard_s: float = 0.0
    silent: bool = False


@dataclass(frozen=True)
class _Over:
    """A finished match: its result, players by their place in it, and what careers count of it."""

    result: GameResult
    played: FinishedMatch


def tournaments(journal: Record) -> list[str]:
    """Ids of all tournaments in the record, in the order in which they were begun."""
    return journal.matches(RECORD)


class Director:
    """One tournament and all tables of a store. Thread-safe; ``step`` is to be called again and again.

    What is read of the store is read without ``lock``: who asks or commands does not wait for a server.
    """

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        tournament: str = "",
        presence: Presence | None = None,
        record: SpooledJournal | None = None,
    ) -> None:
        """``tournament``: its id; '' for the one begun last, if there is any. ``record`` keeps the tournament's own
        events where a server may be away."""
        self.record: Record = record or journal
        self.clock, self.notifier = clock, Notifier(clock)
        self.auto = False
        self.lock, self._looking = threading.RLock(), threading.RLock()
        self._spool, self._unsure = record, list[tuple[TournamentCommand, Event]]()
        self._presence, self._follower = presence, Follower(journal)
        self._listeners: list[Listener] = []
        self._tables: dict[str, TableNow] = {}
        self._matches: dict[str, MatchState] = {}
        self._over: dict[str, _Over] = {}
        known = tournaments(self.record)
        refuse_if(tournament and tournament not in known, "tour.unknown", name=tournament)
        self.id = tournament or (known[-1] if known else "")
        self.state = fold(self.record.events(self.id)) if self.id else Tournament()
        self._looked = False

    def listen(self, listener: Listener) -> None:
        """Call back with (new state, events) whenever the tournament has changed: be quick."""
        self._listeners.append(listener)

    def create(self, command: commands.CreateTournament) -> Tournament:
        """Begin a tournament; its id is made here."""
        now = self.clock.utc()
        with self.lock:
            number = len(tournaments(self.record)) + 1
            self.id, self.state = f"{RECORD}-{now:%Y%m%d-%H%M%S}-{number}", Tournament()
            self.command(replace(command, id=self.id))
            return self.state

    def command(self, command: TournamentCommand) -> tuple[Event, ...]:
        """Decide, keep, apply, tell. Raises IllegalCommand, JournalUnwritable; then nothing has changed."""
        with self.lock:
            for again in range(TRIES):
                events = decide(self.state, command, self.clock.utc().isoformat())
                try:
                    self.record.append(self.id, events, after=self.state.seq, table=RECORD)
                except JournalUnwritable:
                    if again == TRIES - 1 or not self._catch_up():
                        raise
                    continue
                self._unsure += [(command, event) for event in events[:1]] if self._spool else []
                self._apply(events)
                break
        return events

    def _apply(self, events: Sequence[Event]) -> None:
        self.state = core.fold(evolve, self.state, events)
        for listener in self._listeners:
            listener(self.state, events)
        self.notifier.touch()

    def _catch_up(self) -> bool:
        """Take in what other programs did with this tournament; whether there was anything."""
        before, events = self.state, self.record.events(self.id)
        self.state = fold(events[: before.seq])  # what was kept here alone may have had to give way
        self._apply(events[before.seq :])
        return self.state != before

    def _decide_again(self) -> None:
        """What was commanded while the server was away and others were faster is decided anew, or told of."""
        lost, rest_is_kept = self._spool.lost() if self._spool else ([], True)
        if lost:
            self._catch_up()
        again = [command for command, event in self._unsure if event in lost]
        self._unsure = [] if rest_is_kept else self._unsure
        for command in again:
            try:
                self.command(command)
            except RefereeError as error:
                what = sentence("hall_overtaken", command=type(command).__name__, fault=error.wording)
                self.notifier.alarm("hall_overtaken", what)

    # --- the tables

    def step(self) -> None:
        """Look at the tables: what has begun or is over goes into the record, free tables get the next games."""
        self._look()
        with self.lock:
            self._decide_again()
            if self.state.phase in ("new", "finished"):
                return
            for game in self.state.games:
                self._follow(game)
            if self.auto and self.state.phase in ("entering", "between"):
                self._attempt(commands.PairRound())
            for game, table in next_calls(self.state):
                self._attempt(commands.CallGame(game.number, table, len(self._follower.matches(table))))

    def _attempt(self, command: TournamentCommand) -> None:
        """What may have been overtaken by another program, and then is none."""
        with suppress(IllegalCommand):
            self.command(command)

    def _follow(self, game: Fixture) -> None:
        """What has become of the game at its table."""
        if game.phase == "called":
            if match_id := self._begun(game):
                seated = self._seated(game, match_id)
                self._attempt(commands.GameBegins(game.number, match_id, seated))
        elif over := self._over.get(game.match_id):
            rows = tuple(replace(row, player=game.seated[row.player]) for row in over.result.rows)
            if game.result is None or (game.result.by == "match" and game.result.rows != rows):
                self._attempt(commands.GameEnds(game.number, game.match_id, replace(over.result, rows=rows)))

    def _begun(self, game: Fixture) -> str:
        """The match that the game's players have begun at its table since they were called there."""
        used = {m for g in self.state.games for m in (*g.void, g.match_id)}
        later = [m for m in self._follower.matches(game.table)[game.after :] if m not in used]
        return next((m for m in later if self._seated(game, m)), "")

    def _seated(self, game: Fixture, match_id: str) -> tuple[int, ...]:
        """The game's players in the order of the match; empty for a match between others."""
        here = {comparable_name(self.state.entrants[n].name): n for n in self.state.sitting(game)}
        created = self._follower.first(match_id)
        names = [comparable_name(name) for name in created.data.get("players", ())] if created else []
        return tuple(here[name] for name in names) if sorted(names) == sorted(here) else ()

    def _look_once(self) -> None:
        """Who asks about the tables sees them, also before the first step; who only commands need not read them all."""
        if not self._looked:
            self._look()

    def _look(self) -> None:
        """Read what the tables have written, and what their programs say."""
        with self._looking:
            self._looked = True
            news, told = self._follower.look(), self._presence.now() if self._presence else None
            with self.lock:
                self._take_in(news, told)

    def _take_in(self, news: Mapping[str, list[Event]], told: Mapping[str, TableHeartbeat] | None) -> None:
        """What has been read."""
        for match_id, events in news.items():
            if match_id == self.id and self._spool:
                self._spool.take_in(match_id, self._follower.entries(match_id))
                self._catch_up()
            elif match_id == self.id:
                self._apply(self._follower.events(match_id)[self.state.seq :])
            elif match_id in self._matches or events[0].kind == "match_created":
                self._take(match_id, events)
        for name in self._follower.tables():
            own = [m for m in self._follower.matches(name) if m in self._matches]
            if name != RECORD and own:
                self._table(name).match = self._matches[own[-1]]
        if (told is not None and self._hear(told)) or news:
            self.notifier.touch()

    def _take(self, match_id: str, news: Sequence[Event]) -> None:
        """More of a match. Of one that is over only what it came to is kept in memory."""
        if self._over.pop(match_id, None):  # taken up again: a correction, an undo
            state = fold_match(self._follower.events(match_id))
        else:
            state = core.fold(evolve_match, self._matches.get(match_id, MatchState()), news)
        self._matches[match_id] = state
        if state.finished:
            events = self._follower.events(match_id)
            if counted := finished_match(events):
                self._over[match_id] = _Over(result_of(events, range(len(state.players))), counted)
                self._follower.forget(match_id)
                self._matches[match_id] = replace(state, earlier=())

    def _table(self, name: str) -> TableNow:
        return self._tables.setdefault(name, TableNow(name))

    def _hear(self, told: Mapping[str, TableHeartbeat]) -> bool:
        """What the tables' programs say of themselves; whether that has changed."""
        now_s, changed = self.clock.now_s(), False
        for name in {*told, *self._tables}:
            table, said = self._table(name), told.get(name)
            if said is None or table.told is None or said.beat != table.told.beat:
                table.heard_s = now_s
            silent = said is not None and now_s - table.heard_s > SILENT_S
            changed |= silent != table.silent or replace(said or TableHeartbeat(0), beat=0) != replace(
                table.told or TableHeartbeat(0), beat=0
            )
            table.told, table.silent = said, silent
        return changed

    def tables(self) -> list[TableNow]:
        """Every table: those of the tournament in their order, then all that have been heard of."""
        self._look_once()
        with self.lock:
            named = [*self.state.tables, *sorted(self._tables.keys() - set(self.state.tables))]
            return [replace(self._table(name)) for name in named]

    def table(self, name: str) -> TableNow | None:
        """That table; None for an unknown one."""
        return next((t for t in self.tables() if t.name == name), None)

    def played(self) -> list[FinishedMatch]:
        """Every finished match of the record, but those that a tournament has played again. Simulated ones count in a
        simulated tournament, and nothing else does there: what is real and what is not never make one rating."""
        self._look_once()
        with self.lock:
            void = {
                m
                for t in self._follower.matches(RECORD)
                for game in fold(self._follower.events(t)).games
                for m in game.void
            }
            counted = [over.played for m, over in self._over.items() if m not in void]
            return [match for match in counted if match.simulated == self.state.simulated]

    def passed_s(self) -> dict[int, float]:
        """Game -> seconds since it began, of those in play."""
        now = self.clock.utc()
        began = {g.number: datetime.fromisoformat(g.began_at) for g in self.state.games if g.phase == "playing"}
        return {number: (now - at).total_seconds() for number, at in began.items()}

    def run(self, over: threading.Event) -> None:
        """Look at the tables until it is over; a store that fails is an alarm, and tried again."""
        self._looked = True  # nobody else need
        while not over.is_set():
            try:
                self.step()
                self.notifier.alarm("journal", self._waiting())
            except RefereeError as error:
                self.notifier.alarm("journal", self._waiting() or error.wording)
            over.wait(POLL_S)

    def _waiting(self) -> str | None:
        """Why events of the tournament are on this computer alone."""
        return self._spool.problem if self._spool else None
