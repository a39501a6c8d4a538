"""A game being played: its state, what led to it, and how that is taken back or put right. Pure.

    match = fold(events)
    events = decide(match, PlayStone(...), at, who)     # raises IllegalCommand and changes nothing
    events = decide(match, UndoMove("Ann", "wrong card"), at)
    events = decide(match, Correct(7, PlayStone(...), "Ann", "it was city 3"), at)

Every command is recorded as an event ``asked``, followed by what came of it. A correction changes one earlier command
and decides all later ones anew; it is refused, with the reason, when one of those would not have been legal. Nothing
is edited: the events before it stay, and it cites the one it replaces.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cards.sentences import sentence
from referee import core
from referee.core import Command, Decider, EventBatch, State, refuse_if
from referee.errors import IllegalCommand
from referee.events import Event
from referee.games.catalogue import GAMES, game_named
from referee.games.core import GAME_OVER, Game, GameCommand, Setup, Table, hidden_hand


class UndoMove(Command):
    """Take back the last command. ``why`` may be blank."""

    who: str
    why: str = ""


class Correct(Command):
    """Command ``number`` (from 1) was another one than was entered."""

    number: int
    command: GameCommand
    who: str
    why: str


@dataclass(frozen=True)
class PlayedCommand:
    """One command: what was asked, by whom, in which state, as which event of the match.

    ``last`` is the state in which it stood last; None while it stands.
    """

    command: Mapping[str, Any]
    who: str
    before: Table
    seq: int
    last: Table | None = None


@dataclass(frozen=True)
class GameStanding:
    """One row of the table: rank 1 is the best, equal scores share one; of an ended game those of rank 1 win."""

    player: str
    score: int
    rank: int
    wins: bool


@dataclass(frozen=True)
class Match(State):
    """A game as it stands. ``played`` are the commands that count, ``changes`` every undo and correction made.

    Both hold every secret: what a page, a terminal or an export shows of them comes from ``view`` or ``shown``.
    """

    match_id: str
    game: Game[Any]
    setup: Setup
    state: Table
    seed_hash: str = ""
    played: tuple[PlayedCommand, ...] = ()
    changes: tuple[Mapping[str, Any], ...] = ()

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.state.phase == GAME_OVER

    @property
    def standings(self) -> tuple[GameStanding, ...]:
        """The table, best first."""
        scores = self.game.scores(self.state)
        rows = sorted(zip(self.state.players, scores, strict=True), key=lambda row: -row[1])
        ranked = [(player, score, 1 + sum(other > score for other in scores)) for player, score in rows]
        return tuple(GameStanding(*row, self.over and row[2] == 1) for row in ranked)

    def legal(self, seat: int) -> tuple[GameCommand, ...]:
        """What that seat may do now."""
        return () if self.over else self.game.legal(self.state, seat)

    def shown(self, seat: int | None, played: PlayedCommand) -> dict[str, Any]:
        """The command as that seat may read it; one that was taken back as it could when that was done."""
        now = self.state if self.over or played.last is None else played.last
        return self.game.shown(now, played.before, played.command, seat)

    def view(self, seat: int | None) -> dict[str, Any]:
        """What that seat may see (None: everybody), JSON-able: the table, ``log`` and ``changes``."""
        table = [row.__dict__ for row in self.standings]
        log = [{"number": n, "command": self.shown(seat, p), "who": p.who} for n, p in enumerate(self.played, 1)]
        return self.game.view(self.state, seat) | {
            "hands": [hidden_hand(hand, n, seat) for n, hand in enumerate(self.state.hands)],
            "rules": self.setup.rules.model_dump(mode="json"),
            "scored": list(self.game.scored(self.state)),
            "match_id": self.match_id,
            "game": self.game.name,
            "players": list(self.state.players),
            "mode": self.state.mode,
            "seed_hash": self.seed_hash,
            "seed": str(self.setup.seed) if self.over else None,
            "phase": self.state.phase,
            "turn": None if self.over else self.state.turn,
            "standings": table,
            "simulated": self.simulated,
            "number": len(self.played),
            "log": log,
            "changes": [{**change, "was": self.shown(seat, change["was"])} for change in self.changes],
        }


def begin(match_id: str, game: Game[Any], setup: Setup, at: str, simulated: bool = False) -> tuple[Event, ...]:
    """The events of a new game; ``setup`` as ``Game.setup`` checks it."""
    head = {"match_id": match_id, "game": game.name, "players": list(setup.players), "seed": setup.seed}
    head |= {"seed_hash": core.seed_hash(setup.seed), "mode": setup.mode, "rules": setup.rules.model_dump(mode="json")}
    return (Event("game_begun", head | {"deal": game.begin(setup)}, at, simulated=simulated, step=1),)


def decide(match: Match, command: Command, at: str, who: str = "") -> tuple[Event, ...]:
    """The events the command leads to: ``referee.core.decide`` for an undo, a correction or what a seat asks for."""
    return core.decide(_DECIDER, match, command, at, who)


def fold(events: Iterable[Event]) -> Match:
    """The match after all of these events (at least one). Raises IllegalCommand for what cannot follow."""
    rows = iter(events)
    first = next(rows, None)
    if first is None or first.kind != "game_begun":
        raise IllegalCommand(sentence("game.no_events"))
    return core.fold(evolve, _created(first), rows)


def evolve(match: Match, event: Event) -> Match:
    """The match after one more event. Raises IllegalCommand for one that cannot follow."""
    refuse_if(event.kind == "game_begun", "game.begun")
    if event.kind == "asked":
        played = PlayedCommand(event.data, event.who, match.state, match.seq + 1)
        after = replace(match, played=(*match.played, played))
    elif event.kind in ("undone", "corrected"):
        after = _taken_back(match, event)
    else:
        after = replace(match, state=match.game.evolve(match.state, event))
    return core.count_event(after, match, event)


def _created(event: Event) -> Match:
    data = event.data
    game, mode = game_named(data["game"]), data["mode"]
    setup = Setup(tuple(data["players"]), game.rules.model_validate(data["rules"]), data["seed"], mode)
    state = game.create(setup, data["deal"])
    hashed = data.get("seed_hash", "")
    return Match(data["match_id"], game, setup, state, hashed, seq=1, step=event.step, simulated=event.simulated)


def _taken_back(match: Match, event: Event) -> Match:
    """The match once a command and all after it are gone."""
    number = event.data["number"]
    refuse_if(not 1 <= number <= len(match.played), "game.no_number", number=number)
    was = replace(match.played[number - 1], last=match.state)
    change = {"kind": event.kind, "number": number, "was": was, "who": event.who, "at": event.at}
    changes = (*match.changes, change | {"why": event.data["why"]})
    return replace(match, state=was.before, played=match.played[: number - 1], changes=changes)


def _asked(batch: EventBatch[Match], command: GameCommand) -> None:
    """What a seat asked for, and what came of it."""
    facts = batch.state.game.decide(batch.state.state, command).events
    batch.add("asked", **command.to_json())
    for fact in facts:
        batch.add(fact.kind, **fact.data)


def _undo(batch: EventBatch[Match], c: UndoMove) -> None:
    refuse_if(not c.who.strip(), "game.undo_who")
    played = batch.state.played
    refuse_if(not played, "game.nothing_to_undo")
    batch.add("undone", cites=played[-1].seq, number=len(played), why=c.why.strip())


def _correct(batch: EventBatch[Match], c: Correct) -> None:
    """The correction, and every command from there on decided anew."""
    game, played = batch.state.game, batch.state.played
    refuse_if(not c.who.strip() or not c.why.strip(), "game.correct_who")
    refuse_if(not 1 <= c.number <= len(played), "game.no_number", number=c.number)
    wrong, later = played[c.number - 1], played[c.number :]
    refuse_if(c.command.to_json() == game.command(wrong.command).to_json(), "game.says_that", number=c.number)
    batch.add("corrected", cites=wrong.seq, number=c.number, why=c.why.strip())
    _asked(batch, c.command)
    for number, row in enumerate(later, c.number + 1):
        try:
            _asked(batch, game.command(row.command))
        except IllegalCommand as error:
            later_one = {"number": number, "command": row.command["command"], "fault": error.wording}
            raise IllegalCommand(sentence("game.later_illegal", **later_one)) from None


_OF_SEATS: Mapping[type[Command], Callable[..., None]] = {kind: _asked for g in GAMES.values() for kind in g.commands}
_DECIDER = Decider[Match, Command](evolve, lambda match, command: "", {**_OF_SEATS, UndoMove: _undo, Correct: _correct})
