"""What a page or a program may ask the session to do: names, checked fields, and the call.

A command's fields and their limits stand in ``referee.match.commands``; what only the program knows (times, verdicts)
is not asked for. ``who`` defaults to the name the referee logged in with.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cards.errors import first_fault
from cards.sentences import sentence
from referee.errors import AsksFirst, RefereeError
from referee.events import Event
from referee.fields import Flag, Text, Zone, body_of
from referee.match import commands
from referee.match.house_rules import HouseRules, parse_rules
from referee.session.seeds import SEED_BITS
from referee.session.session import Session

Events = tuple[Event, ...]

PLAIN_COMMANDS = (
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
    commands.RuleByHand,
    commands.WaiveFields,
)
"""Commands that are passed on as they are asked for."""


class BadRequest(RefereeError):
    """What was sent does not fit the command; the text names the first fault."""


class RestTongs(BaseModel):
    """The tongs of the player at the zone lie behind the mark, or leave it: a key held down where no pad feels them."""

    model_config = ConfigDict(extra="forbid")
    zone: Zone
    resting: Flag


@dataclass(frozen=True)
class Action:
    """A name in the API: the body it takes and what it does with a session."""

    model: type[BaseModel]
    run: Callable[[Session, Any, str], Events]


CREATE = body_of(
    commands.CreateMatch,
    """A new match, its players youngest first. ``rules`` are the house rules that differ from the session's; a ``seed``
beyond 2^53 is sent as digits in a string, because JSON numbers are rounded there.

While a match is open only with ``leave_open``: that one is left as it stands and can be taken up again.""",
    seed=(Annotated[int, Field(ge=0, lt=2**SEED_BITS)] | None, None),
    rules=(Annotated[dict[Text, Any], Field(max_length=40)], Field(default_factory=dict)),
    leave_open=(Flag, False),
)
TAKE_UP = body_of(
    commands.TakeUpMatch,
    "Go on with an older match of this table; the present one waits as it stands.",
    match_id=(Text, ...),
)


def _create(session: Session, body: Any, who: str) -> Events:
    state = session.state
    if state.phase not in ("new", "finished") and not body.leave_open:
        raise AsksFirst(sentence("asks_open", match=state.match_id, names=list(state.players)), "leave_open")
    rules = parse_rules({**session.rules.model_dump(), **body.rules}, "rules")
    return session.create_match(body.players, body.mode, body.seed, rules, who=who)


def _plain(command: type[commands.MatchCommand]) -> Action:
    def run(session: Session, body: BaseModel, who: str) -> Events:
        values = body.model_dump()
        who = values.get("who") or who
        return session.command(command(**values | ({"who": who} if "who" in values else {})), who)

    return Action(body_of(command), run)


ACTIONS: Mapping[str, Action] = {
    "CreateMatch": Action(CREATE, _create),
    "TakeUpMatch": Action(TAKE_UP, lambda session, body, who: session.take_up(body.match_id, who)),
    "Go": Action(body_of(commands.Go), lambda session, body, who: session.go(who=who)),
    "PressStop": Action(body_of(commands.PressStop), lambda session, body, who: session.press(body.zone, who=who)),
    "RestTongs": Action(RestTongs, lambda session, body, who: session.rest(body.zone, body.resting)),
    "CallTimeout": Action(
        body_of(commands.CallTimeout),
        lambda session, body, who: session.command(commands.CallTimeout(session.clock.now_s() + session.shift_s), who),
    ),
} | {command.__name__: _plain(command) for command in PLAIN_COMMANDS}


def perform(session: Session, name: str, data: object, who: str) -> Events:
    """Do the action ``name``. Raises BadRequest for a body that does not fit, or IllegalCommand."""
    action = ACTIONS[name]
    try:
        body = action.model.model_validate(data)
    except ValidationError as error:
        raise BadRequest(f"{name}: {first_fault(error)}") from None
    return action.run(session, body, who)


def rule_choices() -> dict[str, dict]:
    """Per house rule: its text, default and, where there are few, its choices."""
    schema = HouseRules.model_json_schema()["properties"]
    return {
        name: {"about": row.get("description", ""), "default": row.get("default"), "choices": row.get("enum")}
        for name, row in schema.items()
    }
