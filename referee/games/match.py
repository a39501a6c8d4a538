"""A game being played: its state, what led to it, and how that is taken back or put right. Pure.

    match = fold(events)
    events = decide(match, PlayStone(...), at, who)     # raises IllegalCommand and changes nothing
    events = decide(match, Undo("Ann", "wrong card"), at)
    events = decide(match, Correct(7, PlayStone(...), "Ann", "it was city 3"), at)

Every command is recorded as an event ``asked``, followed by what came of it. A correction changes one earlier command
and decides all later ones anew; it is refused, with the reason, when one of those would not have been legal. Nothing
is edited: the events before it stay, and it cites the one it replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cards.sentences import sentence
from referee.errors import IllegalCommand
from referee.events import Event
from referee.games.catalogue import game_named
from referee.games.core import OVER, Command, Fact, Game, Mode, Setup, Table, ranks, winners


@dataclass(frozen=True)
class Undo:
    """Take back the last command. ``why`` may be blank."""

    who: str
    why: str = ""


@dataclass(frozen=True)
class Correct:
    """Command ``number`` (from 1) was another one than was entered."""

    number: int
    command: Command
    who: str
    why: str


@dataclass(frozen=True)
class Played:
    """One command: what was asked, by whom, in which state, as which event of the match.

    ``last`` is the state in which it stood last; None while it stands.
    """

    command: Mapping[str, Any]
    who: str
    before: Table
    seq: int
    last: Table | None = None


@dataclass(frozen=True)
class Standing:
    """One row of the table; equal scores share a rank."""

    player: str
    score: int
    rank: int
    wins: bool


@dataclass(frozen=True)
class Match:
    """A game as it stands. ``played`` are the commands that count, ``changes`` every undo and correction made.

    Both hold every secret: what a page, a terminal or an export shows of them comes from ``view`` or ``shown``.
    """

    match_id: str
    game: Game[Any]
    setup: Setup
    state: Table
    played: tuple[Played, ...] = ()
    changes: tuple[Mapping[str, Any], ...] = ()
    seq: int = 0
    step: int = 0
    simulated: bool = False

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.state.phase == OVER

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The table, best first."""
        scores = self.game.scores(self.state)
        rank, best = ranks(scores), winners(scores) if self.over else ()
        rows = [Standing(p, scores[s], rank[s], s in best) for s, p in enumerate(self.state.players)]
        return tuple(sorted(rows, key=lambda row: row.rank))

    def shown(self, seat: int | None, played: Played) -> dict[str, Any]:
        """The command as that seat may read it; one that was taken back as it could when that was done."""
        now = self.state if self.over or played.last is None else played.last
        return self.game.shown(now, played.before, played.command, seat)

    def view(self, seat: int | None) -> dict[str, Any]:
        """What that seat may see (None: everybody), JSON-able: the table, ``log`` and ``changes``."""
        table = [row.__dict__ for row in self.standings]
        log = [{"number": n, "command": self.shown(seat, p), "who": p.who} for n, p in enumerate(self.played, 1)]
        return self.game.view(self.state, seat) | {
            "match_id": self.match_id,
            "game": self.game.name,
            "players": list(self.state.players),
            "mode": self.state.mode,
            "phase": self.state.phase,
            "turn": None if self.over else self.state.turn,
            "standings": table,
            "simulated": self.simulated,
            "number": len(self.played),
            "log": log,
            "changes": [{**change, "was": self.shown(seat, change["was"])} for change in self.changes],
        }


@dataclass(frozen=True)
class Begin:
    """A new game. ``setup`` as ``Game.setup`` checks it."""

    match_id: str
    game: str
    setup: Setup
    simulated: bool = False


def begin(c: Begin, at: str) -> tuple[Event, ...]:
    """The events of a new game."""
    game, setup = game_named(c.game), c.setup
    head = {"match_id": c.match_id, "game": game.name, "players": list(setup.players), "seed": setup.seed}
    head |= {"mode": setup.mode, "rules": setup.rules.model_dump(mode="json")}
    return (Event("game_begun", head | {"deal": game.begin(setup)}, at, simulated=c.simulated, step=1),)


def decide(match: Match, command: Command | Undo | Correct, at: str, who: str = "") -> tuple[Event, ...]:
    """The events the command leads to, stamped with time ``at`` (ISO 8601 UTC) and ``who`` asked.

    Raises IllegalCommand with the reason; ``match`` is a value and stays as it is.
    """
    if isinstance(command, Undo):
        return _undone(match, command, at)
    if isinstance(command, Correct):
        return _corrected(match, command, at)
    facts, _ = match.game.decided(match.state, command)
    return _events(match, [(command.to_json(), facts)], at, who)


def fold(events: Iterable[Event]) -> Match:
    """The match after all of these events (at least one). Raises IllegalCommand for what cannot follow."""
    rows = iter(events)
    first = next(rows, None)
    if first is None or first.kind != "game_begun":
        raise IllegalCommand(sentence("game.no_events"))
    match = _created(first)
    for event in rows:
        match = evolve(match, event)
    return match


def evolve(match: Match, event: Event) -> Match:
    """The match after one more event. Raises IllegalCommand for one that cannot follow."""
    if event.kind == "game_begun":
        raise IllegalCommand(sentence("game.begun"))
    state, played, changes = match.state, match.played, match.changes
    if event.kind == "asked":
        played = (*played, Played(event.data, event.who, state, match.seq + 1))
    elif event.kind in ("undone", "corrected"):
        state, played, changes = _taken_back(match, event)
    else:
        state = match.game.evolve(state, Fact(event.kind, event.data))
    simulated = match.simulated or event.simulated
    return Match(match.match_id, match.game, match.setup, state, played, changes, match.seq + 1, event.step, simulated)


def _created(event: Event) -> Match:
    data = event.data
    game, mode = game_named(data["game"]), data["mode"]
    setup = Setup(tuple(data["players"]), game.rules.model_validate(data["rules"]), data["seed"], _mode(mode))
    state = game.create(setup, data["deal"])
    return Match(data["match_id"], game, setup, state, seq=1, step=event.step, simulated=event.simulated)


def _mode(text: str) -> Mode:
    return "scorer" if text == "scorer" else "full"


def _taken_back(match: Match, event: Event) -> tuple[Table, tuple[Played, ...], tuple[Mapping[str, Any], ...]]:
    """State, commands and changes once a command and all after it are gone."""
    number = event.data["number"]
    if not 1 <= number <= len(match.played):
        raise IllegalCommand(sentence("game.no_number", number=number))
    was = replace(match.played[number - 1], last=match.state)
    change = {"kind": event.kind, "number": number, "was": was, "who": event.who, "at": event.at}
    return was.before, match.played[: number - 1], (*match.changes, change | {"why": event.data["why"]})


def _undone(match: Match, c: Undo, at: str) -> tuple[Event, ...]:
    if not c.who.strip():
        raise IllegalCommand(sentence("game.undo_who"))
    if not match.played:
        raise IllegalCommand(sentence("game.nothing_to_undo"))
    data = {"number": len(match.played), "why": c.why.strip()}
    return (Event("undone", data, at, c.who, match.simulated, match.played[-1].seq, match.step + 1),)


def _corrected(match: Match, c: Correct, at: str) -> tuple[Event, ...]:
    """The correction, and every command from there on decided anew."""
    if not c.who.strip() or not c.why.strip():
        raise IllegalCommand(sentence("game.correct_who"))
    if not 1 <= c.number <= len(match.played):
        raise IllegalCommand(sentence("game.no_number", number=c.number))
    wrong, later = match.played[c.number - 1], match.played[c.number :]
    if c.command.to_json() == match.game.command(wrong.command).to_json():
        raise IllegalCommand(sentence("game.says_that", number=c.number))
    facts, state = match.game.decided(wrong.before, c.command)
    decided = [(c.command.to_json(), facts)]
    for number, played in enumerate(later, c.number + 1):
        try:
            facts, state = match.game.decided(state, match.game.command(played.command))
        except IllegalCommand as error:
            later_one = {"number": number, "command": played.command["command"], "fault": error.said}
            raise IllegalCommand(sentence("game.later_illegal", **later_one)) from None
        decided.append((dict(played.command), facts))
    data = {"number": c.number, "why": c.why.strip()}
    head = Event("corrected", data, at, c.who, match.simulated, wrong.seq, match.step + 1)
    return (head, *_events(match, decided, at, c.who))


def _events(match: Match, decided: list[tuple[dict[str, Any], list[Fact]]], at: str, who: str) -> tuple[Event, ...]:
    rows = [row for command, facts in decided for row in (Fact("asked", command), *facts)]
    return tuple(Event(row.kind, row.data, at, who, match.simulated, None, match.step + 1) for row in rows)
