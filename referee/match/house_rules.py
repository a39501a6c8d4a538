"""The house rules: what the printed rules leave open, as data with a default each (RULES.md).

A table plays by one ``HouseRules`` value. It comes from ``house_rules.toml`` or the console, and
the match's first event records it, so that an old match is always read by the rules it was
played by. ``rule_zone`` turns what the camera says of one build into what the house makes of it.
"""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, get_args

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from cards.errors import first_fault, parsed_file
from cards.law import Tolerances
from referee.errors import RefereeError
from referee.match.card_facts import NO_CARD, CardFacts
from referee.match.verdict import ZoneVerdict


class BadRules(RefereeError):
    """A house-rules file that cannot be read or asks for what the referee cannot do."""


class HouseRules(BaseModel):
    """One answer per open question. Every default is RULES.md's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    duels_per_round: int = Field(3, ge=1, le=9, description="Duels in one round (printed: 3).")
    judged_view: Literal["two_views", "settled", "at_stop"] = Field(
        "two_views",
        description="What is judged: the view at the press and the first settled, unobstructed view after Stop "
        "together; or one of them alone.",
    )
    hand_at_stop: Literal["wrong", "human", "ignore"] = Field(
        "wrong", description="A piece still gripped, or a hand in the field, at Stop."
    )
    fell_after_stop: Literal["wrong", "human", "ignore"] = Field(
        "wrong", description="The build falls by itself after Stop, before it is judged."
    )
    bumped: Literal["void", "human"] = Field(
        "void",
        description="The opponent bumped the table or the build. What the camera only thinks a human confirms.",
    )
    touched_after_stop: Literal["wrong", "human"] = Field(
        "wrong", description="The caller goes on building after the press."
    )
    empty_fields: Literal["asked", "free"] = Field(
        "asked",
        description="Before the go both fields are empty and hands out of them, or a human waives it; or nobody asks.",
    )
    false_start: Literal["human", "wrong", "void", "ignore"] = Field(
        "human", description="A hand was over the caller's field already when the go sounded."
    )
    earliest_stop_s: float = Field(
        1.0, ge=0, le=60, description="A press sooner than this after the go, in seconds, is void."
    )
    tie_window_ms: float = Field(
        5.0, ge=0, le=1000, description="Two presses this close, in milliseconds of box time, are both."
    )
    both_right: Literal["fresh_card", "human"] = Field(
        "fresh_card", description="Both pressed and both builds are right."
    )
    both_wrong: Literal["fresh_card", "human"] = Field(
        "fresh_card", description="Both pressed and both builds are wrong."
    )
    ground_contacts: Literal["at_most_two", "exactly_two"] = Field(
        "at_most_two", description="How many pieces of a height or shapes card touch the table."
    )
    surplus_on_height: Literal["wrong", "right"] = Field(
        "wrong", description="More pieces than a height card asks for."
    )
    loose_piece: Literal["counts", "human"] = Field(
        "counts",
        description="A piece in the field that is not part of the build: it counts as build, "
        "or the human referee decides when nothing else is wrong.",
    )
    foul: Literal["human", "warning", "duel"] = Field(
        "human", description="A foul: the human referee decides, a warning, or the duel to the opponent."
    )
    foul_watch: Literal["off", "proposes"] = Field(
        "off",
        description="The camera proposes fouls it sees to the human referee. Off: of 60 staged fouls it "
        "saw 43, and three in 36 clean duels.",
    )
    time_limit_s: float | None = Field(
        None, gt=0, description="Nobody presses for this many seconds: no card, fresh card."
    )
    tie_of_many: Literal["round_robin", "shared"] = Field(
        "round_robin", description="Three or more level at the top: extra duels, or a shared first place."
    )
    camera_decides: Literal["at_once", "proposes"] = Field(
        "at_once", description="The camera's verdict counts at once, or only when a human confirms it."
    )
    sign_off: Literal["free", "asked"] = Field(
        "free",
        description="The first card: drawn at any time, or only when both players have signed the "
        "set-up (or the referee goes on without).",
    )
    leaver_points: Literal["kept", "annulled"] = Field(
        "kept", description="Duels that a player who leaves has played: they stay, or count for nobody."
    )
    depth_right_mm: float = Field(
        40.0,
        ge=0,
        le=100,
        description="A layout stands in one plane: its pieces this near one another in depth, in mm.",
    )
    depth_wrong_mm: float = Field(
        60.0, ge=0, le=100, description="A piece of a layout this far before or behind another, in mm, is wrong."
    )
    pipes_overlap_mm: float = Field(
        3.0, ge=0, le=30, description="Neighbouring organ pipes may stand this far behind one another's edge, in mm."
    )
    pipes_depth_mm: float = Field(
        40.0, ge=0, le=100, description="Neighbouring organ pipes are this near one another in depth, in mm."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.depth_wrong_mm < self.depth_right_mm:
            raise ValueError("depth_wrong_mm is less than depth_right_mm")
        return self

    @property
    def tolerances(self) -> Tolerances:
        """What the judge needs of them."""
        return Tolerances(self.depth_right_mm, self.depth_wrong_mm, self.pipes_overlap_mm, self.pipes_depth_mm)


DEFAULT_RULES = HouseRules()


def parse_rules(data: object, source: str = "house rules") -> HouseRules:
    """House rules from parsed TOML or JSON. Raises BadRules naming ``source`` and the first fault."""
    try:
        return HouseRules.model_validate(data)
    except ValidationError as error:
        raise BadRules(f"{source}: {first_fault(error)}") from None


def load_rules(path: str | Path) -> HouseRules:
    """Read ``house_rules.toml``. Raises BadRules with one line that names the file and the fault."""
    return parse_rules(parsed_file(path, tomllib.loads, "TOML", BadRules), str(path))


def rules_toml(rules: HouseRules = DEFAULT_RULES) -> str:
    """The rules as a commented TOML file that ``load_rules`` reads back to equal rules."""
    lines = []
    for name, about in HouseRules.model_fields.items():
        value = getattr(rules, name)
        setting = f"# {name} = (not set)" if value is None else f"{name} = {toml_value(value)}"
        lines += [f"# {about.description}", *_allowed(about), setting, ""]
    return "\n".join(lines)


def _allowed(about: FieldInfo) -> list[str]:
    """The line that says which words or numbers a setting may have; none where any will do."""
    words = [f'"{word}"' for word in get_args(about.annotation) if isinstance(word, str)]
    if words:
        return [f"# One of {', '.join(words)}."]
    low = next((m.ge for m in about.metadata if isinstance(m, Ge)), None)
    high = next((m.le for m in about.metadata if isinstance(m, Le)), None)
    return [f"# From {low} to {high}."] if low is not None and high is not None else []


def toml_value(value: object) -> str:
    """A text, number, list or truth as TOML writes it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


@dataclass(frozen=True)
class HouseRuling:
    """What the house makes of one zone: match, mismatch, undecided or void, and by which rule."""

    ruling: Literal["match", "mismatch", "undecided", "void"]
    rule: str = ""


FINDINGS = ("hand_at_stop", "fell_after_stop", "bumped", "touched_after_stop", "false_start")
"""What may have been seen around the press besides the build: names of the rules that answer it."""

_ANSWERS = {"wrong": "mismatch", "void": "void", "human": "undecided"}


def rule_zone(
    rules: HouseRules, verdict: ZoneVerdict, findings: Collection[str] = (), card: CardFacts = NO_CARD
) -> HouseRuling:
    """The ruling on one zone from the camera's verdict and the findings.

    Without a ``card`` the rules on ground
    contacts and surplus pieces leave the camera's verdict as it is. A finding goes before the
    build; ``bumped`` before all others, so that the card never goes to who bumped it, and left open
    where the camera's verdict is; then ``void`` before ``wrong`` before ``human``.
    """
    if "bumped" in findings:
        sure = rules.bumped == "void" and verdict.ruling != "undecided"
        return HouseRuling("void" if sure else "undecided", "bumped")
    answers = [(_ANSWERS.get(getattr(rules, f)), f) for f in FINDINGS if f in findings]
    for ruling in ("void", "mismatch", "undecided"):
        for answer, finding in answers:
            if answer == ruling:
                return HouseRuling(ruling, finding)
    return _of_build(rules, verdict, card)


def _of_build(rules: HouseRules, verdict: ZoneVerdict, card: CardFacts) -> HouseRuling:
    ruling, kind = verdict.ruling, card.kind
    if (
        ruling == "match"
        and kind in ("height", "shapes")
        and rules.ground_contacts == "exactly_two"
        and verdict.ground_contacts not in (None, 2)
    ):
        return HouseRuling("mismatch", "ground_contacts")
    if (
        ruling == "mismatch"
        and kind == "height"
        and rules.surplus_on_height == "right"
        and verdict.codes == {"wrong_count"}
        and verdict.count > card.count
    ):
        return HouseRuling("match", "surplus_on_height")
    if ruling == "mismatch" and rules.loose_piece == "human" and _only_loose(verdict, card):
        return HouseRuling("undecided", "loose_piece")
    return HouseRuling(ruling)


def _only_loose(verdict: ZoneVerdict, card: CardFacts) -> bool:
    """Whether pieces too many, standing apart, are all that is wrong."""
    codes = verdict.codes
    surplus = "wrong_count" not in codes or verdict.count > card.count
    return bool(codes) and codes <= {"extra_piece", "not_one_structure", "wrong_count"} and surplus
