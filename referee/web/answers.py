"""What the API answers, as far as other programs may rely on it: the description is made of it, and tests hold answers
against it. Fields beside these may come."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, WithJsonSchema

from cards import kinds as kinds  # which are known once this is read
from cards.card import Card
from referee.events import Event
from referee.journal.public_events import FIELDS
from referee.match.duel import PHASES
from referee.match.state import Standing
from referee.web.views import RoundRow

Row = dict[str, Any]
Phase = Annotated[str, WithJsonSchema({"enum": [*PHASES, "finished"]})]
CardKind = Annotated[str, WithJsonSchema({"enum": [*Card.kinds]})]


class ErrorAnswer(BaseModel):
    """Why it was refused."""

    error: str
    confirm: str = Field("", description="The command is seldom meant; sent again with this field true it is done")


class LogInBody(BaseModel):
    """The referee's PIN, and a name to record."""

    pin: Annotated[str, Field(max_length=200)]
    name: Annotated[str, Field(max_length=40)] = ""


class SessionAnswer(BaseModel):
    """Who this client is."""

    csrf: str
    referee: bool
    pin_needed: bool
    name: str
    simulated: bool


class MatchNowAnswer(BaseModel):
    """The card is null before the go; scores stay frozen under review. Seats, callers and rulings go by zone."""

    match_id: str
    phase: Phase
    card_id: str | None
    value: int
    round_index: int
    duel_index: int
    seats: dict[str, str]
    callers: list[str]
    rulings: dict[str, str]
    award: Row
    scores: dict[str, int]
    under_review: bool
    winner: str | None


class MatchAnswer(MatchNowAnswer):
    """The whole match."""

    seed_hash: str = Field(description="SHA-256 of the seed's decimal digits; empty in records of older versions")
    seed: str | None = Field(description="What the cards were shuffled by, once the match is over")
    players: list[Row]
    rounds: list[Row]
    standings: list[Standing]
    duel: Row
    history: list[Row]


class EventAnswer(BaseModel):
    """A public event, the data of one server-sent event: referee/journal/public_events.md tells what each kind says."""

    version: Literal[1]
    id: str
    kind: Annotated[str, WithJsonSchema({"enum": [*FIELDS]})]
    at: str = Field(description="When it happened, ISO 8601 in UTC")
    simulated: bool
    table: str
    data: Row
    match: MatchNowAnswer


class StateAnswer(BaseModel):
    """The match as the public may know it."""

    version: int
    simulated: bool
    match: MatchAnswer | None


class SnapshotAnswer(BaseModel):
    """Everything the console shows."""

    version: int
    simulated: bool
    match: Row | None
    live: Row
    alarms: list[Row]
    verdict: Row | None


class StandingsAnswer(BaseModel):
    """The table."""

    standings: list[Standing]
    winner: str | None
    under_review: bool


class ScheduleAnswer(BaseModel):
    """Rounds, in order."""

    rounds: list[RoundRow]


class CardAnswer(BaseModel):
    """A card as in deck.json, where its kind asks for more."""

    id: str
    kind: CardKind
    value: Annotated[int, Field(ge=1, le=4)]


class DeckAnswer(BaseModel):
    """The deck, as in deck.json."""

    name: str
    cards: list[CardAnswer]


class CommandAnswer(BaseModel):
    """A command, and whether it is possible now."""

    name: str
    allowed: bool


class CommandsAnswer(BaseModel):
    """All commands."""

    commands: list[CommandAnswer]


class DoneAnswer(BaseModel):
    """The events that a command led to, and the state after them."""

    events: list[Event]
    state: StateAnswer
