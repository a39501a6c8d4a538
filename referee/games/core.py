"""What the four games have in common: their commands, and ``Game``, the one door by which all else knows a game. Pure.

A game is a folder: ``rules`` has its state and commands, ``board.html`` shows its table, ``door`` tells how its cards
are printed and from what a camera reads which command was carried out, and holds the ``GAME``. The rules are functions
around one frozen state, in the frame of ``referee.core``:

    deal = game.begin(setup)                    # everything that chance decided
    batch = game.decide(state, command)         # raises IllegalCommand with the reason and changes nothing
    state = game.evolve(state, event)           # never chooses: the events say what was drawn

Cards are text, one word a kind of card; ``UNKNOWN`` is a card nobody has named. A *full* game deals by the recorded
seed and knows every card. A *scorer's* game is played with real cards: its hands and piles are unknown cards, and a
player who plays one names it. ``check_pieces`` then sees that no card is named more often than the deck has it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from cards.errors import first_fault
from cards.face import Face
from cards.sentences import Sentence, sentence
from referee.core import Command, Data, EventBatch, refuse_if
from referee.core import shuffled as shuffled
from referee.errors import IllegalCommand, RefereeError
from referee.events import Event

UNKNOWN = "?"
"""A card that lies hidden where nobody has read it in."""

GAME_OVER = "over"
"""The phase of a game that has ended."""

Mode = Literal["full", "scorer"]
Pile = tuple[str, ...]


class BadGame(RefereeError):
    """A game, its house rules or its players that cannot be: unknown name, wrong number, contradicting rules."""


class Rules(BaseModel):
    """Base of a game's house rules: one answer, with a default, for each point that its rules leave open."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GameCommand(Command):
    """What a seat (from 0, youngest first) asks for. ``IN_TURN``: only in turn. ``NAME`` is the one on record."""

    seat: int
    IN_TURN: ClassVar[bool] = True
    NAME: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.NAME = vars(cls).get("NAME", cls.__name__)

    def to_json(self) -> dict[str, Any]:
        """By field name, with the command's own name as ``command``."""
        row = {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items()}
        return {"command": self.NAME, **row}

    def carry_out(self, batch: EventBatch[Any]) -> None:
        """Add the events that it leads to. Raises IllegalCommand with the reason."""
        raise NotImplementedError


Site = tuple[int, int]
"""A plan (1-6) and a site on it (1-9)."""


@dataclass(frozen=True)
class MoveProposal:
    """What pictures tell of the table, held against the record: ``message`` in a sentence; the ``command`` to confirm,
    None where there is none, and why it would be refused now; ``others`` that fit as well; the sites that ``differ``
    from the record, and those of which the pictures do not tell."""

    message: Sentence
    command: GameCommand | None = None
    refusal: str = ""
    differ: tuple[Site, ...] = ()
    unknown: tuple[Site, ...] = ()
    others: tuple[GameCommand, ...] = ()


Reads = Literal["cards", "columns", "plans"]
"""What a camera reads of a game's table, and what ``Game.propose`` takes: the names of the cards that lie open, row by
row; columns of cards (``style``, ``height``, whether ``sure``); printed plans by number, with the towers on them."""

Stone = tuple[int, int]
"""Whose it is, and its storeys."""

Tower = tuple[Stone, ...]
"""Its stones, the lowest first."""

Row = Mapping[str, Any]
Scoring = Mapping[str, Any]
"""One scoring, JSON-able: its name ``scoring``, and ``lines``. A line says what was counted (``what``, ``of``); its
rows are by ``owner`` the ``count``, the ``rank``, the ``points``, and among how many the rank was ``shared``."""

Words = Callable[[str], str]
"""A text of the catalogue by its key."""

MOST_PRINTED_FOR = 5
"""A deck is printed for so many: of a game of two nothing is missing."""


@dataclass(frozen=True)
class Setup:
    """Who plays what how. ``players`` youngest first; ``rules`` of the game's own kind."""

    players: tuple[str, ...]
    rules: Any
    seed: int
    mode: Mode = "full"


@dataclass(frozen=True, kw_only=True)
class Table:
    """What every game's state has. ``hands`` are by seat, ``turn`` is the seat whose turn it is; ``shuffles`` how often
    chance was asked; ``scored`` are the scorings on record."""

    players: tuple[str, ...]
    seed: int
    mode: Mode
    phase: str
    hands: tuple[Pile, ...]
    turn: int = 0
    shuffles: int = 0
    scored: tuple[Scoring, ...] = ()

    @property
    def seats(self) -> range:
        """All seats."""
        return range(len(self.players))

    def after(self, seat: int) -> int:
        """The seat to the left."""
        return (seat + 1) % len(self.players)

    def in_order(self, first: int) -> tuple[int, ...]:
        """All seats, clockwise from ``first``."""
        return tuple((first + n) % len(self.players) for n in self.seats)

    def name(self, seat: int) -> str:
        """The player's name."""
        return self.players[seat]

    def hands_with(self, seat: int, *cards: str) -> tuple[Pile, ...]:
        """All hands, that seat's with these cards more."""
        return with_item(self.hands, seat, (*self.hands[seat], *cards))

    def hands_without(self, seat: int, cards: Iterable[str]) -> tuple[Pile, ...]:
        """All hands, that seat's without these cards. Raises IllegalCommand for what it cannot hold."""
        return with_item(self.hands, seat, hand_without(self.hands[seat], cards, self.name(seat)))


def dealt_fields(setup: Setup, deal: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a first state: what the set-up says, and the deal, its lists as tuples."""

    def frozen(value: Any) -> Any:
        return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value

    given = {"players": setup.players, "seed": setup.seed, "mode": setup.mode, "rules": setup.rules, "shuffles": 1}
    return given | {name: frozen(value) for name, value in deal.items()}


def score_row(owner: int, count: int, rank: int, points: int, shared: int = 1) -> Row:
    """A row of a line."""
    return {"owner": owner, "count": count, "rank": rank, "points": points, "shared": shared}


def ranked(counts: Sequence[int], points: Callable[[int, int, int], int]) -> list[Row]:
    """Rows of a line, most first, of the owners whose count is not 0; ``points`` are by count, rank, and how many share
    the rank."""
    ranks = [(1 + sum(other > count for other in counts), owner, count) for owner, count in enumerate(counts) if count]
    shared = [counts.count(count) for count in counts]
    return [score_row(o, n, rank, points(n, rank, shared[o]), shared[o]) for rank, o, n in sorted(ranks)]


def recorded_lines(data: Data, totals: Iterable[int]) -> Sequence[Mapping[str, Any]]:
    """The lines that a scoring's event tells; one of an earlier version tells ``totals`` by owner alone."""
    rows = [score_row(owner, 0, 0, total) for owner, total in enumerate(totals)]
    lines: Sequence[Mapping[str, Any]] = data.get("lines", ({"what": "total", "of": "", "rows": rows},))
    return lines


def total_points(scorings: Iterable[Scoring], owners: int) -> tuple[int, ...]:
    """Points by owner, summed over all lines."""
    totals = [0] * owners
    for row in (row for scoring in scorings for line in scoring["lines"] for row in line["rows"]):
        totals[row["owner"]] += row["points"]
    return tuple(totals)


S = TypeVar("S", bound=Table)


@dataclass(frozen=True)
class Game(Generic[S]):
    """What a game offers. ``seats`` may play it; ``pieces`` is every card, chip and stone wherever it lies.

    ``commands`` may be asked of it, ``changes`` say by kind what an event but the last makes of the state. ``begin``
    gives the first event's data, ``create`` the state of it; ``scored`` are the scorings that count in a state;
    ``view`` is JSON-able and shows what a seat may see (None: what lies open to all); ``legal`` are commands of that
    seat that would be accepted: all but payments with a card too many. ``deck`` is what the game's box holds.
    ``secret`` names the field of a command (as JSON) that only its own seat may read in the first state, when it was
    asked in the second.

    Cards and camera: ``face`` is how a kind of card is printed, ``also_printed`` cards that are in no hand or pile, and
    how many; ``reads`` what ``propose`` is told of the table, with what gives the state after a command; ``plan`` the
    number of the plan that a command built on, and the towers of its sites, None where a game has no plans.
    """

    name: str
    seats: range
    rules: type[Rules]
    commands: tuple[type[GameCommand], ...]
    changes: Mapping[str, Callable[[S, Data], S]]
    begin: Callable[[Setup], dict[str, Any]]
    create: Callable[[Setup, Mapping[str, Any]], S]
    view: Callable[[S, int | None], dict[str, Any]]
    legal: Callable[[S, int], tuple[GameCommand, ...]]
    pieces: Callable[[S], Counter[str]]
    deck: Callable[[S], Counter[str]]
    face: Callable[[str, Words], Face]
    reads: Reads
    propose: Callable[[S, Any, Callable[[GameCommand], S]], MoveProposal]
    scored: Callable[[S], Sequence[Scoring]] = lambda state: state.scored
    secret: Callable[[S, S, Mapping[str, Any]], str] = lambda now, before, command: ""
    also_printed: tuple[tuple[str, int], ...] = ()
    plan: Callable[[S, GameCommand], tuple[int, tuple[Tower, ...]] | None] = lambda state, command: None

    def scores(self, state: S) -> tuple[int, ...]:
        """Points by seat."""
        return total_points(self.scored(state), len(state.players) + 1)[: len(state.players)]

    def setup(self, players: Sequence[str], rules: Mapping[str, Any], seed: int, mode: Mode = "full") -> Setup:
        """A checked set-up. Raises BadGame."""
        names = tuple(name.strip() for name in players)
        if len(set(names)) != len(names) or not all(names):
            raise BadGame("players need different names that are not blank")
        if len(names) not in self.seats:
            raise BadGame(f"{self.name}: from {self.seats[0]} to {self.seats[-1]} can play, not {len(names)}")
        if mode not in ("full", "scorer"):
            raise BadGame(f"a game is full or a scorer's, not {mode!r}")
        try:
            return Setup(names, self.rules.model_validate(rules), seed, mode)
        except ValidationError as error:
            raise BadGame(f"{self.name}: house rules: {first_fault(error)}") from None

    def command(self, row: Mapping[str, Any]) -> GameCommand:
        """The inverse of ``GameCommand.to_json``. Raises IllegalCommand for one that the game does not know."""
        kind: Any = next((c for c in self.commands if row.get("command") == c.NAME), None)
        refuse_if(kind is None, "game.no_command", game=self.name, command=str(row.get("command")))
        try:
            read: GameCommand = _reader(kind).validate_python({k: v for k, v in row.items() if k != "command"})
        except ValidationError as error:
            raise IllegalCommand(sentence("game.unreadable", command=kind.NAME, fault=first_fault(error))) from None
        return read

    def refusal(self, state: S, command: GameCommand) -> str:
        """Why that kind of command is not possible now for that seat, whatever it says; empty when it is."""
        kind = type(command)
        if kind not in self.commands:
            return sentence("game.no_command", game=self.name, command=kind.NAME)
        if command.seat not in state.seats:
            return sentence("game.no_seat", seat=command.seat)
        if state.phase == GAME_OVER:
            return sentence("game.is_over")
        if kind.IN_TURN and command.seat != state.turn:
            return sentence("game.turn_of", player=state.name(state.turn))
        if state.phase not in kind.PHASES:
            return sentence("game.not_now", command=kind.NAME, phase=state.phase)
        return ""

    def shown(self, now: S, before: S, command: Mapping[str, Any], viewer: int | None) -> dict[str, Any]:
        """A command as the viewer may read it in the state ``now``: nothing is secret once the game is over."""
        secret = "" if now.phase == GAME_OVER or command["seat"] == viewer else self.secret(now, before, command)
        return dict(command) | ({secret: [UNKNOWN] * len(command[secret])} if secret else {})

    def decide(self, state: S, command: GameCommand) -> EventBatch[S]:
        """The command's events and the state after them. Raises IllegalCommand with the reason."""
        if refusal := self.refusal(state, command):
            raise IllegalCommand(refusal)
        batch = EventBatch(state, self.evolve)
        command.carry_out(batch)
        if state.mode == "scorer":
            self.check_pieces(batch.state)
        return batch

    def proposal(self, state: S, reading: Any) -> MoveProposal:
        """What a camera's reading proposes, with why the rules would refuse it now."""
        proposal = self.propose(state, reading, lambda command: self.decide(state, command).state)
        if proposal.command is None:
            return proposal
        try:
            self.decide(state, proposal.command)
        except IllegalCommand as error:
            return replace(proposal, refusal=error.wording)
        return proposal

    def evolve(self, state: S, event: Event) -> S:
        """The state after the event. Raises IllegalCommand for one that this version does not know."""
        if event.kind == "game_over":
            return replace(state, phase=GAME_OVER)
        refuse_if(event.kind not in self.changes, "game.no_fact", kind=event.kind, game=self.name)
        return self.changes[event.kind](state, event.data)

    def printed(self) -> tuple[tuple[str, int], ...]:
        """Every kind of card that is printed, its place here its marker, and how many of it; what is wood or stone is
        left out."""
        players = [f"P{n + 1}" for n in range(min(MOST_PRINTED_FOR, self.seats[-1]))]
        setup = self.setup(players, {}, 0)
        box = self.deck(self.create(setup, self.begin(setup)))
        return (*sorted((name, n) for name, n in box.items() if not name.startswith("stone")), *self.also_printed)

    def faces(self, words: Words = str) -> list[Face]:
        """The faces of all printed cards, alike ones together."""
        kinds = enumerate(self.printed())
        return [replace(self.face(name, words), marker=n) for n, (name, count) in kinds for _ in range(count)]

    def check_pieces(self, state: S) -> None:
        """Raises IllegalCommand when a card has been named more often than the box holds it."""
        held = self.deck(state)
        for piece, count in self.pieces(state).items():
            refuse_if(piece != UNKNOWN and count > held[piece], "game.too_many_named", n=held[piece], card=piece)


def from_rules(rules: ModuleType) -> dict[str, Any]:
    """Fields of a ``Game`` that its module of rules has under the same names."""
    same = ("begin", "create", "view", "legal", "pieces", "deck")
    return {"commands": rules.COMMANDS, "changes": rules.CHANGES} | {name: getattr(rules, name) for name in same}


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    """What reads and checks a command; made once, for that is slow."""
    return TypeAdapter(kind)


def new_pile(state: Table, cards: Iterable[str]) -> list[str]:
    """These cards as a new pile: in the seed's order, or unknown ones in a scorer's game."""
    return [UNKNOWN for _ in cards] if state.mode == "scorer" else shuffled(cards, state.seed, state.shuffles)


def hand_without(hand: Pile, cards: Iterable[str], whose: str) -> Pile:
    """The hand without these cards; an unknown one stands for any. Raises IllegalCommand for what it cannot hold."""
    rest = list(hand)
    for card in cards:
        refuse_if(card == UNKNOWN, "game.name_card")
        if card not in rest and UNKNOWN not in rest:
            code = "game.no_card" if card not in hand else "game.too_few"
            raise IllegalCommand(sentence(code, whose=whose, card=card))
        rest.remove(card if card in rest else UNKNOWN)
    return tuple(rest)


def possible(hand: Pile, kinds: Iterable[str]) -> list[str]:
    """The cards that a hand may hold: each kind where it holds one that nobody has named."""
    return sorted(set(kinds if UNKNOWN in hand else hand))


def with_item(rows: tuple[Any, ...], index: int, value: object) -> tuple[Any, ...]:
    """The tuple with one place changed."""
    return (*rows[:index], value, *rows[index + 1 :])


def hidden_hand(hand: Pile, seat: int, viewer: int | None) -> list[str]:
    """A hand as the viewer sees it: its owner's cards, of others' only how many there are."""
    return list(hand) if seat == viewer else [UNKNOWN] * len(hand)
