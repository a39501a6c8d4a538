"""What a page or a program may ask the session to do: names, checked fields, and the call.

A command's fields are those of its dataclass in ``referee.match.commands``; what only the devices know
(times, verdicts) is not asked for. ``who`` defaults to the name the referee logged in with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, ValidationError, create_model

from cards.errors import first_fault
from cards.sentences import sentence
from referee.errors import AsksFirst, RefereeError
from referee.events import Event
from referee.match import commands
from referee.match.house_rules import HouseRules, parse_rules
from referee.session.seeds import SEED_BITS
from referee.web.plain_text import plain
from referee.web.ports import WebSession

PRINTABLE = "^[^\\x00-\\x1f\\x7f]*$"
Text = Annotated[str, Field(max_length=300, pattern=PRINTABLE), AfterValidator(plain)]
Name = Annotated[str, Field(min_length=1, max_length=40, pattern=PRINTABLE), AfterValidator(plain)]
Events = tuple[Event, ...]

PLAIN = (
    commands.DrawCard,
    commands.DrawByHand,
    commands.NameCard,
    commands.Ready,
    commands.HumanRuling,
    commands.Overrule,
    commands.OpenReview,
    commands.CloseReview,
    commands.Foul,
    commands.FoulRuling,
    commands.VoidDuel,
    commands.NextDuel,
    commands.Undo,
    commands.PlayerLeaves,
    commands.PlayerJoins,
    commands.PlayerLate,
    commands.RenamePlayer,
    commands.ReplayRound,
    commands.ReplayDuel,
    commands.ChangeMode,
    commands.GoUnsigned,
    commands.WaiveFields,
)
"""Commands that are passed on as they are asked for."""


SAID_BY_DEVICES = ("seen",)
"""Fields of commands that only the devices fill."""


class BadRequest(RefereeError):
    """What was sent does not fit the command; the text names the first fault."""


class CreateMatch(BaseModel):
    """Players youngest first; ``rules`` are the house rules that differ from the session's; a ``seed`` beyond 2^53 is
    sent as digits in a string, because JSON numbers are rounded there.

    While a match is open only with ``leave_open``: that one is left as it stands and can be taken up again."""

    model_config = ConfigDict(extra="forbid")
    players: list[Name] = Field(min_length=2, max_length=12)
    mode: Text = "all"
    seed: int | None = Field(None, ge=0, lt=2**SEED_BITS)
    rules: dict[Text, Any] = Field(default_factory=dict, max_length=40)
    leave_open: StrictBool = False


class TakeUpMatch(BaseModel):
    """Go on with an older match of this table; the present one waits as it stands."""

    model_config = ConfigDict(extra="forbid")
    match_id: Text


class Go(BaseModel):
    """The start call, now."""

    model_config = ConfigDict(extra="forbid")


class PressStop(BaseModel):
    """A Stop by hand, now, for the player at the zone."""

    model_config = ConfigDict(extra="forbid")
    zone: Literal["A", "B"]


class RestTongs(BaseModel):
    """The tongs of the player at the zone lie behind the mark, or leave it: a key held down where no pad feels them."""

    model_config = ConfigDict(extra="forbid")
    zone: Literal["A", "B"]
    resting: StrictBool


class CallTimeout(BaseModel):
    """The time limit is over, as of now."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Action:
    """A name in the API: the body it takes and what it does with a session."""

    model: type[BaseModel]
    run: Callable[[WebSession, Any, str], Events]


def _create(session: WebSession, body: CreateMatch, who: str) -> Events:
    state = session.state
    if state.phase not in ("new", "finished") and not body.leave_open:
        raise AsksFirst(sentence("asks_open", match=state.match_id, names=list(state.players)), "leave_open")
    rules = parse_rules({**session.rules.model_dump(), **body.rules}, "rules")
    return session.create_match(body.players, body.mode, body.seed, rules, who=who)


def _plain(command: type[commands.MatchCommand]) -> Action:
    hints = get_type_hints(command)
    rows: dict[str, Any] = {
        f.name: (_checked(hints[f.name], f.name), ... if f.default is MISSING else f.default)
        for f in fields(command)
        if f.name not in SAID_BY_DEVICES
    }
    if "who" in rows:
        rows["who"] = (Text, "")
    model = create_model(
        command.__name__, __config__=ConfigDict(extra="forbid"), __doc__=(command.__doc__ or "").strip(), **rows
    )

    def run(session: WebSession, body: BaseModel, who: str) -> Events:
        values = body.model_dump()
        who = values.get("who") or who
        return session.command(command(**values | ({"who": who} if "who" in values else {})), who)

    return Action(model, run)


def _checked(hint: Any, name: str) -> Any:
    """The field's type with the limits a stranger's input needs."""
    limits: Mapping[Any, Any] = {
        str: Text,
        str | None: Text | None,
        bool: StrictBool,
        int: Annotated[int, Field(ge=0, le=10**6, strict=True)],
        int | None: Annotated[int, Field(ge=0, le=10**6, strict=True)] | None,
    }
    return limits.get(hint, hint)


ACTIONS: Mapping[str, Action] = {
    "CreateMatch": Action(CreateMatch, _create),
    "TakeUpMatch": Action(TakeUpMatch, lambda session, body, who: session.take_up(body.match_id, who)),
    "Go": Action(Go, lambda session, body, who: session.go(who=who)),
    "PressStop": Action(PressStop, lambda session, body, who: session.press(body.zone, who=who)),
    "RestTongs": Action(RestTongs, lambda session, body, who: session.rest(body.zone, body.resting)),
    "CallTimeout": Action(
        CallTimeout,
        lambda session, body, who: session.command(commands.CallTimeout(session.clock.now_s() + session.shift_s), who),
    ),
} | {command.__name__: _plain(command) for command in PLAIN}


def perform(session: WebSession, name: str, data: object, who: str) -> Events:
    """Do the action ``name``. Raises BadRequest for a body that does not fit, or IllegalCommand."""
    action = ACTIONS[name]
    try:
        body = action.model.model_validate(data)
    except ValidationError as error:
        raise BadRequest(f"{name}: {first_fault(error)}") from None
    return action.run(session, body, who)


def modes() -> tuple[str, ...]:
    """Names of the ways to play."""
    return tuple(commands.MODES)


def rule_choices() -> dict[str, dict]:
    """Per house rule: its text, default and, where there are few, its choices."""
    schema = HouseRules.model_json_schema()["properties"]
    return {
        name: {"about": row.get("description", ""), "default": row.get("default"), "choices": row.get("enum")}
        for name, row in schema.items()
    }
