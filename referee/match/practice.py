"""Practice: one or two players build card after card against the clock, without a box and without a referee. Pure.

The law:

1. *The go comes by itself.* Once all practised fields have been empty, and hands out of them, for ``EMPTY_S``, a
   countdown of ``COUNTDOWN_S`` runs; a hand or a piece in a field before its end breaks it off. Its end is the go.
2. *A settled view* of a field is one in which nothing has moved for ``stop_views.SETTLED_S`` and no hand is near.
   A build is finished once ``AGREE`` settled views of it, each of frames of its own and with no motion between them,
   say that it matches the card. Its time is when the last piece came to rest, as far as the pictures show it, and at
   the latest the last motion in the field before these views: **by camera**.
3. A view that does not match ends nothing, and one that cannot be told neither: the player goes on building. It is
   looked at again, ``AGAIN`` times in all: one poor picture must not leave a finished build unseen.
4. *A press* is optional. It ends the build and is its time, **by box**; the settled views after it say whether it was
   right. Where the field moved later than ``AFTER_PRESS_S`` after the press, that cannot be told.
5. *Giving up* ends a build too: the next settled view says what was wrong. Giving up again ends it unseen.
6. Only a match has a time that counts. A camera's times and a box's are kept apart: they do not measure the same.

The table below says which event may follow in which phase, and where it leads; ``decide`` makes events, ``evolve``
folds them. What was not finished when the program ended has no result, and the practice goes on with a fresh card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cards.law import Reason, because
from cards.sentences import sentence
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.verdict import ZoneVerdict, reason_from_json

EMPTY_S, COUNTDOWN_S = 1.0, 3.0
SHOWN_S = 4.0
"""A result stays at least so long before the next card comes."""

AGREE = 2
AGAIN = 3
"""A view that does not match, or cannot be told, is looked at so often; then something has to move first."""

AFTER_PRESS_S = 1.0
"""A hand is out of the field by then."""

SAME_S = 0.005
"""Two looks that put the last motion this near to one another mean the same one."""

TABLE: Mapping[str, tuple[tuple[str, ...], str]] = {
    "practice_begun": (("new",), "waiting"),
    "practice_card": (("waiting", "counting", "building", "shown"), "waiting"),
    "countdown": (("waiting",), "counting"),
    "countdown_broken": (("counting",), "waiting"),
    "practice_go": (("counting",), "building"),
    "view": (("building",), "building"),
    "pressed": (("building",), "building"),
    "giving_up": (("building",), "building"),
    "build_ended": (("building",), "building"),
    "all_ended": (("building",), "shown"),
    "practice_ended": (("waiting", "counting", "building", "shown"), "ended"),
}
"""Event kind -> (phases it may come in, the phase it leads to)."""

UNSEEN, TOUCHED = because("practice_unseen"), because("practice_touched")


@dataclass(frozen=True)
class Begin:
    """A new practice. ``players`` by zone; ``cards`` are (id, value) in the order in which they come, again and again;
    ``level`` is the difficulty they were chosen by, None for all."""

    session_id: str
    players: Mapping[str, str]
    cards: tuple[tuple[str, int], ...]
    level: int | None = None
    deck: str = ""
    simulated: bool = False


@dataclass(frozen=True)
class Watch:
    """Time passes. ``clear_s``: for how long all fields have been empty and hands out of them; None when not."""

    at_s: float
    clear_s: float | None = None


@dataclass(frozen=True)
class Viewed:
    """A settled view of a field: when it last moved, and what was ``said`` of it.

    ``built_s`` is since when what stands there has stood as it does, where that is known to be sooner than
    ``rested_s``: a hand that leaves moves too.
    """

    zone: str
    rested_s: float
    said: ZoneVerdict
    at_s: float
    built_s: float | None = None


@dataclass(frozen=True)
class Press:
    """The zone's button, on the clock of the go."""

    zone: str
    at_s: float


@dataclass(frozen=True)
class GiveUp:
    """The player of that zone has enough of this card."""

    zone: str
    at_s: float


@dataclass(frozen=True)
class NextCard:
    """Another card at once; who has not ended has no result."""


@dataclass(frozen=True)
class End:
    """Enough practised."""


Command = Begin | Watch | Viewed | Press | GiveUp | NextCard | End


@dataclass(frozen=True)
class View:
    """What the last settled view said, of the rest since ``rested_s``, and how many in a row have said so."""

    rested_s: float
    ruling: str
    times: int = 1
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Field:
    """One player's build. ``press_s`` is the press that ended it; ``gave_up`` that he wants to be told."""

    player: str
    view: View | None = None
    press_s: float | None = None
    gave_up: bool = False
    ended: bool = False

    @property
    def ending(self) -> bool:
        """Whether only its verdict is waited for."""
        return not self.ended and (self.gave_up or self.press_s is not None)


@dataclass(frozen=True)
class Result:
    """One build that has ended. ``seconds`` since the go where it matches, else None; ``by`` camera, box, or empty."""

    player: str
    zone: str
    card_id: str
    value: int
    ruling: str
    seconds: float | None
    by: str
    reasons: tuple[Reason, ...] = ()
    at: str = ""
    deck: str = ""
    simulated: bool = False


@dataclass(frozen=True)
class Practice:
    """A practice as it stands. ``go_at_s`` is the planned go while counting, then the go; ``turn`` counts cards."""

    session_id: str = ""
    phase: str = "new"
    players: Mapping[str, str] = field(default_factory=dict)
    cards: tuple[tuple[str, int], ...] = ()
    level: int | None = None
    deck: str = ""
    simulated: bool = False
    turn: int = 0
    go_at_s: float | None = None
    shown_s: float = 0.0
    fields: Mapping[str, Field] = field(default_factory=dict)
    results: tuple[Result, ...] = ()
    seq: int = 0
    step: int = 0

    @property
    def on(self) -> bool:
        """Whether somebody practises."""
        return self.phase not in ("new", "ended")

    @property
    def card(self) -> tuple[str, int]:
        """Id and value of the card that is built."""
        return self.cards[self.turn % len(self.cards)]

    @property
    def open(self) -> tuple[str, ...]:
        """Zones whose build has not ended."""
        return tuple(zone for zone, row in self.fields.items() if not row.ended)

    @property
    def last(self) -> Mapping[str, Result]:
        """Zone -> how its build of this card ended."""
        ended = [zone for zone, row in self.fields.items() if row.ended]
        return {r.zone: r for r in self.results[len(self.results) - len(ended) :]} if ended else {}

    def wants_view(self, zone: str, rested_s: float) -> bool:
        """Whether a settled view of that rest would change anything."""
        row = self.fields.get(zone)
        if self.phase != "building" or row is None or row.ended or self.go_at_s is None or rested_s <= self.go_at_s:
            return self.phase == "building" and row is not None and row.ending
        view = row.view
        if row.ending or view is None or abs(view.rested_s - rested_s) > SAME_S:
            return True
        return view.ruling == "match" or view.times < AGAIN


def fold(events: Iterable[Event]) -> Practice:
    """The practice after all of these events."""
    practice = Practice()
    for event in events:
        practice = evolve(practice, event)
    return practice


def decide(practice: Practice, command: Command, at: str = "") -> tuple[Event, ...]:
    """The events the command leads to, none where it changes nothing. Raises IllegalCommand; changes nothing itself."""
    if isinstance(command, Begin):
        rows = _begin(practice, command)
    elif not practice.on:
        raise IllegalCommand(sentence("practice_nobody"))
    elif isinstance(command, Watch):
        rows = _watch(practice, command)
    elif isinstance(command, Viewed):
        rows = _viewed(practice, command)
    elif isinstance(command, Press):
        rows = _pressed(practice, command)
    elif isinstance(command, GiveUp):
        rows = _gave_up(practice, command)
    else:
        rows = [("practice_card", {})] if isinstance(command, NextCard) else [("practice_ended", {})]
    simulated = command.simulated if isinstance(command, Begin) else practice.simulated
    return tuple(Event(kind, data, at, simulated=simulated, step=practice.step + 1) for kind, data in rows)


Rows = list[tuple[str, dict[str, Any]]]


def _begin(practice: Practice, c: Begin) -> Rows:
    names = [name.strip() for name in c.players.values()]
    if practice.on:
        raise IllegalCommand(sentence("practice_on"))
    if not 1 <= len(names) <= 2 or not all(names) or len({name.casefold() for name in names}) < len(names):
        raise IllegalCommand(sentence("practice_names"))
    if not c.cards:
        raise IllegalCommand(sentence("practice_cards"))
    data = {"session_id": c.session_id, "players": dict(zip(c.players, names, strict=True)), "level": c.level}
    return [("practice_begun", data | {"cards": [list(card) for card in c.cards], "deck": c.deck})]


def _watch(practice: Practice, c: Watch) -> Rows:
    clear = c.clear_s is not None and c.clear_s >= EMPTY_S
    if practice.phase == "waiting" and clear:
        return [("countdown", {"go_at_s": c.at_s + COUNTDOWN_S})]
    if practice.phase == "counting" and c.clear_s is None:
        return [("countdown_broken", {})]
    if practice.phase == "counting" and practice.go_at_s is not None and c.at_s >= practice.go_at_s:
        return [("practice_go", {"at_s": c.at_s})]
    if practice.phase == "shown" and clear and c.at_s >= practice.shown_s + SHOWN_S:
        return [("practice_card", {})]
    return []


def _viewed(practice: Practice, c: Viewed) -> Rows:
    if not practice.wants_view(c.zone, c.rested_s):
        return []
    row, ruling = practice.fields[c.zone], c.said.ruling
    view = row.view
    same = view is not None and abs(view.rested_s - c.rested_s) <= SAME_S and view.ruling == ruling
    times = view.times + 1 if same and view is not None else 1
    seen = {"zone": c.zone, "rested_s": c.rested_s, "ruling": ruling, "times": times}
    seen |= {"reasons": [reason.to_json() for reason in c.said.reasons]}
    sure = ruling != "match" or times >= AGREE
    ends = sure and (ruling == "match" or (row.ending and (ruling == "mismatch" or times >= AGAIN)))
    return [("view", seen), *(_ended(practice, c, ruling) if ends else [])]


def _ended(practice: Practice, c: Viewed, ruling: str) -> Rows:
    """The build of a zone ends with what was just seen."""
    row, go_s = practice.fields[c.zone], practice.go_at_s or 0.0
    built_s = c.rested_s if c.built_s is None else min(c.built_s, c.rested_s)
    reasons, by, seconds = c.said.reasons, "camera", built_s - go_s
    if row.press_s is not None:
        by, seconds = "box", row.press_s - go_s
        if c.rested_s > row.press_s + AFTER_PRESS_S:
            ruling, reasons = "undecided", (TOUCHED,)
    counts = ruling == "match"
    return _end(practice, c.zone, c.at_s, _said(ruling, seconds if counts else None, by if counts else "", reasons))


def _said(ruling: str, seconds: float | None, by: str, reasons: tuple[Reason, ...]) -> dict[str, Any]:
    told = [reason.to_json() for reason in reasons]
    return {"ruling": ruling, "seconds": None if seconds is None else round(seconds, 3), "by": by, "reasons": told}


def _end(practice: Practice, zone: str, at_s: float, said: dict[str, Any]) -> Rows:
    last = practice.open == (zone,)
    return [("build_ended", {"zone": zone, **said}), *([("all_ended", {"at_s": at_s})] if last else [])]


def _building(practice: Practice, zone: str) -> Field:
    row = practice.fields.get(zone)
    if practice.phase != "building" or row is None or row.ended:
        raise IllegalCommand(sentence("practice_zone"))
    return row


def _pressed(practice: Practice, c: Press) -> Rows:
    row = _building(practice, c.zone)
    early = practice.go_at_s is None or c.at_s <= practice.go_at_s
    return [] if row.ending or early else [("pressed", {"zone": c.zone, "at_s": c.at_s})]


def _gave_up(practice: Practice, c: GiveUp) -> Rows:
    if _building(practice, c.zone).gave_up:
        return _end(practice, c.zone, c.at_s, _said("undecided", None, "", (UNSEEN,)))
    return [("giving_up", {"zone": c.zone})]


def evolve(practice: Practice, event: Event) -> Practice:
    """The practice after one more event. Raises IllegalCommand for one that cannot follow in this phase."""
    kind, data = event.kind, event.data
    froms, to = TABLE.get(kind, ((), ""))
    if practice.phase not in froms:
        raise IllegalCommand(sentence("cannot_follow", kind=kind, phase=practice.phase))
    now = replace(practice, phase=to, seq=practice.seq + 1, step=event.step)
    if kind == "practice_begun":
        cards = tuple((card_id, value) for card_id, value in data["cards"])
        now = replace(now, session_id=data["session_id"], players=dict(data["players"]), cards=cards)
        return _fresh(replace(now, level=data["level"], deck=data["deck"], simulated=event.simulated), 0)
    if kind == "practice_card":
        return _fresh(now, practice.turn + 1)
    if kind in ("countdown", "countdown_broken", "practice_go"):
        return replace(now, go_at_s=data.get("go_at_s", data.get("at_s")))
    if kind == "all_ended":
        return replace(now, shown_s=data["at_s"])
    return _of_a_zone(now, event) if "zone" in data else now


def _fresh(practice: Practice, turn: int) -> Practice:
    fields = {zone: Field(name) for zone, name in practice.players.items()}
    return replace(practice, turn=turn, go_at_s=None, fields=fields)


def _of_a_zone(practice: Practice, event: Event) -> Practice:
    kind, data, zone = event.kind, event.data, event.data["zone"]
    row, results = practice.fields[zone], practice.results
    if kind == "view":
        row = replace(row, view=View(data["rested_s"], data["ruling"], data["times"], _reasons(data)))
    elif kind == "pressed":
        row = replace(row, press_s=data["at_s"])
    elif kind == "giving_up":
        row = replace(row, gave_up=True)
    else:
        row, (card_id, value) = replace(row, ended=True), practice.card
        said = (data["ruling"], data["seconds"], data["by"], _reasons(data), event.at)
        results = (*results, Result(row.player, zone, card_id, value, *said, practice.deck, event.simulated))
    return replace(practice, fields={**practice.fields, zone: row}, results=results)


def _reasons(data: Mapping[str, Any]) -> tuple[Reason, ...]:
    return tuple(reason_from_json(row) for row in data["reasons"])


def bests(results: Iterable[Result]) -> dict[tuple[str, str, str], Result]:
    """The fastest match of each (player, card, by); the earlier of two that are equal."""
    return _fastest(((r.player, r.card_id, r.by), r) for r in results)


def level_bests(results: Iterable[Result]) -> dict[tuple[str, int, str], Result]:
    """The fastest match of each (player, difficulty, by)."""
    return _fastest(((r.player, r.value, r.by), r) for r in results)


def _fastest(rows: Iterable[tuple[Any, Result]]) -> dict[Any, Result]:
    found: dict[Any, Result] = {}
    for key, row in rows:
        if row.seconds is not None and (key not in found or row.seconds < (found[key].seconds or 0.0)):
            found[key] = row
    return found
