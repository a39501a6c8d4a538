"""One duel, from the draw to the award: events, phases and the table that joins them. Pure.

The law (RULES.md): a card is drawn unseen, both are ready, the go; whoever presses Stop first is
the *caller*. The caller's build is judged: right, and the caller gets the card; wrong, and the
other player gets it. What cannot be told waits for a human. A void duel takes a fresh card.

``TABLE`` is the whole of it: which event may follow in which phase, and where it leads. The folder's README shows
it as a diagram.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cards.sentences import sentence
from referee.core import Change, Data, PhaseTable, next_phase
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.card_facts import CardFacts
from referee.match.cause import CODE_SEPARATOR, OPEN_CAUSE, Cause, cause_of
from referee.match.house_rules import FINDINGS, HouseRules, rule_zone
from referee.match.verdict import ZoneVerdict, zone_verdict

PHASES = ("idle", "card_drawn", "ready", "building", "stopped", "judging", "undecided", "decided", "void")
PHASES_IN_PLAY = ("card_drawn", "ready", "building", "stopped", "judging", "undecided")
"""Phases in which a card is on the table and nobody has it yet."""

BEFORE_GO = ("card_drawn", "ready")
"""Phases in which nobody has seen the card."""

TABLE: PhaseTable = {
    "card_drawn": (("idle", "void"), "card_drawn"),
    "ready": (("card_drawn",), "ready"),
    "go": (("ready",), "building"),
    "stop": (("building", "stopped", "judging", "undecided"), "stopped"),
    "judging": (("stopped",), "judging"),
    "duel_undecided": (("stopped", "judging"), "undecided"),
    "duel_decided": ((*PHASES_IN_PLAY, "decided", "void"), "decided"),
    "duel_void": ((*PHASES_IN_PLAY, "decided", "void"), "void"),
    "next_duel": (("decided",), "idle"),
}
"""Other kinds of event leave the phase alone."""

OTHER_ZONE = {"A": "B", "B": "A"}

SAID_ANYWAY = ("touched_after_stop",)
"""Findings that are named as the reason of a false stop also where the build was wrong."""


@dataclass(frozen=True)
class StopPress:
    """One press of a Stop button during a duel.

    ``at_s`` is host time, good to ``error_s``; ``box_us`` the box's own, None without one; ``elapsed_s`` the time
    since the go. ``callers`` are the zones whose Stop counts once this press is in; a press that does not count
    has none and says ``why``: too_early or late. ``by`` is "key" for one by key, "page" for one by a page's button,
    empty for the box's.
    """

    zone: str
    at_s: float
    error_s: float = 0.0
    box_us: int | None = None
    elapsed_s: float = 0.0
    callers: tuple[str, ...] = ()
    why: str = ""
    by: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is a Stop, and not a press that was noted only."""
        return bool(self.callers)

    def to_json(self) -> dict[str, Any]:
        """The event's data: with ``callers`` when it counts, else with ``why``."""
        row: dict[str, Any] = {name: getattr(self, name) for name in ("zone", "at_s", "error_s", "box_us", "elapsed_s")}
        row |= {"by": self.by} if self.by else {}
        return row | ({"callers": list(self.callers)} if self.counts else {"why": self.why})


def stop_time(seconds: float, clock: bool = False) -> str:
    """The time of a Stop after the go as it is shown everywhere, in seconds: ``65.20``; as a ``clock``: ``1:05.20``."""
    text = f"{seconds:.2f}"
    minutes, hundredths = divmod(round(100 * float(text)), 6000)
    return f"{minutes}:{hundredths / 100:05.2f}" if clock else text


def press_from_json(row: Mapping[str, Any]) -> StopPress:
    """The inverse of ``StopPress.to_json``; what older records lack takes its default."""
    known = {name: row[name] for name in StopPress.__dataclass_fields__ if name in row}
    return StopPress(**known | {"callers": tuple(row.get("callers", ()))})


@dataclass(frozen=True)
class Duel:
    """One attempt at one duel. Zones are 'A' and 'B'; players are names.

    ``callers`` are the zones whose Stop counts (two in a dead heat). ``verdicts`` keep what the
    camera said per zone, ``rulings`` what the house rules made of it, ``human`` every human ruling
    in order: none replaces another. ``award`` is the player who gets the card, or None;
    ``why`` what a human said who ended it; ``ended_seq`` the number of the event that said so, for corrections to cite.
    ``by_hand``: a human ended it, without a camera.
    ``waived`` says why the go was given although a field was not as it should be; ``touched`` are the zones whose
    field a hand was over at the go.
    """

    number: int = 1
    round_index: int = 0
    duel_index: int = 0
    attempt: int = 1
    seats: Mapping[str, str] = field(default_factory=dict)
    phase: str = "idle"
    card_id: str | None = None
    value: int = 0
    pile: str | None = None
    go_at_s: float | None = None
    go_at: str | None = None
    go_box_us: int | None = None
    waived: str = ""
    touched: tuple[str, ...] = ()
    presses: tuple[StopPress, ...] = ()
    callers: tuple[str, ...] = ()
    verdicts: Mapping[str, ZoneVerdict] = field(default_factory=dict)
    findings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rulings: Mapping[str, str] = field(default_factory=dict)
    human: tuple[Mapping[str, Any], ...] = ()
    award: str | None = None
    decided_by: str = ""
    cause: Cause = OPEN_CAUSE
    why: str = ""
    annulled: str = ""
    ended_seq: int | None = None
    by_hand: bool = False

    def at_zone(self, zone: str) -> str:
        """The player who sits there."""
        return self.seats[zone]

    def zone_of(self, player: str) -> str:
        """Where the player sits. Raises IllegalCommand when not in this duel."""
        for zone, name in self.seats.items():
            if name == player:
                return zone
        raise IllegalCommand(sentence("duels_not", player=player))

    @property
    def stops(self) -> tuple[StopPress, ...]:
        """The presses that count, in the order in which they were heard."""
        return tuple(p for p in self.presses if p.counts)

    @property
    def reason(self) -> str:
        """Why it ended or is open, in the record's words."""
        return self.cause.text

    @property
    def ended(self) -> bool:
        """Whether it has been awarded or is void."""
        return self.phase in ("decided", "void")

    @property
    def points(self) -> int:
        """What it adds to the award's total: the card's value, or 0 when annulled or void."""
        return self.value if self.award is not None and not self.annulled else 0

    def to_json(self) -> dict[str, Any]:
        """JSON-able, every field by its name, ``points`` and ``reason``."""
        row = {name: getattr(self, name) for name in self.__dataclass_fields__}
        row |= {"presses": [p.to_json() for p in self.presses], "points": self.points}
        row |= {"reason": self.reason, "cause": self.cause.to_json()}
        row["verdicts"] = {zone: said.to_json() for zone, said in self.verdicts.items()}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in row.items()}


def step(duel: Duel, event: Event) -> Duel:
    """The duel after the event. Raises IllegalCommand when the table does not allow it."""
    kind, data = event.kind, event.data
    if kind in TABLE:
        duel = replace(duel, phase=next_phase(TABLE, kind, duel.phase))
    return _CHANGES[kind](duel, data, event) if kind in _CHANGES else duel


def _go(duel: Duel, data: Data, event: Event) -> Duel:
    touched = tuple(data.get("touched", ()))
    return replace(duel, go_at_s=data["at_s"], go_at=event.at, go_box_us=data.get("box_us"), touched=touched)


def _pressed(duel: Duel, data: Data, event: Event) -> Duel:
    press = press_from_json(data)
    return replace(duel, presses=(*duel.presses, press), callers=press.callers or duel.callers)


def _verdict(duel: Duel, data: Data, event: Event) -> Duel:
    zone = data["zone"]
    return replace(
        duel,
        verdicts={**duel.verdicts, zone: zone_verdict(data["verdict"])},
        findings={**duel.findings, zone: tuple(data["findings"])},
        rulings={**duel.rulings, zone: data["ruling"]},
    )


def _ruling(duel: Duel, data: Data, event: Event) -> Duel:
    rulings = {**duel.rulings, data["zone"]: data["ruling"]} if data.get("zone") else duel.rulings
    return replace(duel, rulings=rulings, human=(*duel.human, {**data, "who": event.who, "at": event.at}))


def _ended(duel: Duel, data: Data, event: Event) -> Duel:
    why = data.get("why", "")
    cause = cause_of(data["reason"], data.get("said"), why)
    return replace(duel, award=data.get("award"), decided_by=data["by"], cause=cause, why=why)


_CHANGES: dict[str, Change[Duel]] = {
    "fields_waived": lambda duel, data, event: replace(duel, waived=data["why"]),
    "card_drawn": lambda duel, data, event: replace(duel, **{k: data[k] for k in ("card_id", "value", "pile")}),
    "card_named": lambda duel, data, event: replace(duel, card_id=data["card_id"], value=data["value"]),
    "go": _go,
    "stop": _pressed,
    "press_noted": _pressed,
    "verdict": _verdict,
    "verdict_noted": _verdict,
    "ruling": _ruling,
    "duel_decided": _ended,
    "duel_void": _ended,
    "duel_undecided": lambda duel, data, event: replace(duel, cause=cause_of(data["reason"])),
}


@dataclass(frozen=True)
class Outcome:
    """What the rulings so far make of the duel: decided, void, undecided, or wait for a verdict."""

    kind: str
    winner: str | None = None  # zone
    reason: str = ""


WAIT_OUTCOME = Outcome("wait")


def outcome(duel: Duel, rules: HouseRules) -> Outcome:
    """The award of RULES.md for the callers' rulings. Nothing is guessed: what is open stays open."""
    rulings = [duel.rulings.get(zone) for zone in duel.callers]
    if "void" in rulings:
        return Outcome("void", reason="bumped" if "bumped" in sum(duel.findings.values(), ()) else "human")
    if not rulings or None in rulings:
        return WAIT_OUTCOME
    if "undecided" in rulings:
        return Outcome("undecided", reason="cannot_tell")
    if len(rulings) == 1:
        return _single(duel, duel.callers[0], str(rulings[0]))
    if rulings[0] != rulings[1]:
        return Outcome("decided", duel.callers[rulings.index("match")], "dead_heat_right")
    reason = "both_right" if rulings[0] == "match" else "both_wrong"
    return Outcome("void" if getattr(rules, reason) == "fresh_card" else "undecided", reason=reason)


def _single(duel: Duel, caller: str, ruling: str) -> Outcome:
    if ruling == "match":
        return Outcome("decided", caller, "right")
    said = duel.verdicts.get(caller)
    found = [] if duel.human else [f for f in FINDINGS if f in duel.findings.get(caller, ())]
    seen = [f for f in found if said is None or said.ruling != "mismatch" or f in SAID_ANYWAY]
    return Outcome("decided", OTHER_ZONE[caller], CODE_SEPARATOR.join(["false_stop", *seen[:1]]))


def house_ruling(rules: HouseRules, verdict: ZoneVerdict, findings: tuple[str, ...], card: CardFacts) -> str:
    """The ruling on one zone under the house rules; with ``camera_decides = proposes`` a human confirms."""
    if rules.camera_decides == "proposes":
        return "undecided"
    return rule_zone(rules, verdict, findings, card).ruling
