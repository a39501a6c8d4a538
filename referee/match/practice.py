"""Practice: one or two players build card after card against the clock, without a box and without a referee. Pure.

The law:

1. *The go comes by itself.* Once all practised fields have been empty, and hands out of them, for ``EMPTY_S``, a
   countdown of ``COUNTDOWN_S`` runs; a hand or a piece in a field before its end breaks it off. Its end is the go.
2. *A settled view* of a field is one in which nothing has moved for ``stop_views.SETTLED_S`` and no hand is near.
   A build is finished once ``AGREEING`` settled views of it, each of frames of its own and with no motion between them,
   say that it matches the card. Its time is when the last piece came to rest, as far as the pictures show it, and at
   the latest the last motion in the field before these views: **by camera**.
3. A view that does not match ends nothing, and one that cannot be told neither: the player goes on building. It is
   looked at again, ``MAX_REPEATED_VIEWS`` times in all: one poor picture must not leave a finished build unseen.
4. *A press* is optional. It ends the build and is its time, **by box**; the settled views after it say whether it was
   right. Where the field moved later than ``AFTER_PRESS_S`` after the press, that cannot be told.
5. *Giving up* ends a build too: the next settled view says what was wrong. Giving up again ends it unseen.
6. Only a match has a time that counts. A camera's times and a box's are kept apart: they do not measure the same.

The table below says which event may follow in which phase, and where it leads; ``decide`` makes events, ``evolve``
folds them. What was not finished when the program ended has no result, and the practice goes on with a fresh card.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cards.law import Reason, because
from cards.sentences import sentence
from referee import core
from referee.core import Command, Decider, EventBatch, PhaseTable, State, refuse_if
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.verdict import ZoneVerdict, reason_from_json

EMPTY_S, COUNTDOWN_S = 1.0, 3.0
RESULT_SHOWN_S = 4.0
"""A result stays at least so long before the next card comes."""

AGREEING = 2
MAX_REPEATED_VIEWS = 3
"""A view that does not match, or cannot be told, is looked at so often; then something has to move first."""

AFTER_PRESS_S = 1.0
"""A hand is out of the field by then."""

SAME_S = 0.005
"""Two looks that put the last motion this near to one another mean the same one."""

TABLE: PhaseTable = {
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

UNSEEN_REASON, TOUCHED_REASON = because("practice_unseen"), because("practice_touched")


class PracticeCommand(Command):
    """Base of what may be asked of a practice, and of what it is told."""


class BeginPractice(PracticeCommand):
    """A new practice. ``players`` by zone; ``cards`` are (id, value) in the order in which they come, again and again;
    ``level`` is the difficulty they were chosen by, None for all."""

    session_id: str
    players: Mapping[str, str]
    cards: tuple[tuple[str, int], ...]
    level: int | None = None
    deck: str = ""
    simulated: bool = False


class Watch(PracticeCommand):
    """Time passes. ``clear_s``: for how long all fields have been empty and hands out of them; None when not."""

    at_s: float
    clear_s: float | None = None


class Viewed(PracticeCommand):
    """A settled view of a field: when it last moved, and what was ``said`` of it.

    ``built_s`` is since when what stands there has stood as it does, where that is known to be sooner than
    ``rested_s``: a hand that leaves moves too.
    """

    zone: str
    rested_s: float
    said: ZoneVerdict
    at_s: float
    built_s: float | None = None


class PracticePress(PracticeCommand):
    """The zone's button, on the clock of the go."""

    zone: str
    at_s: float


class GiveUp(PracticeCommand):
    """The player of that zone has enough of this card."""

    zone: str
    at_s: float


class NextCard(PracticeCommand):
    """Another card at once; who has not ended has no result."""


class End(PracticeCommand):
    """Enough practised."""


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
class PracticeResult:
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
class Practice(State):
    """A practice as it stands. ``go_at_s`` is the planned go while counting, then the go; ``turn`` counts cards."""

    session_id: str = ""
    phase: str = "new"
    players: Mapping[str, str] = field(default_factory=dict)
    cards: tuple[tuple[str, int], ...] = ()
    level: int | None = None
    deck: str = ""
    turn: int = 0
    go_at_s: float | None = None
    shown_s: float = 0.0
    fields: Mapping[str, Field] = field(default_factory=dict)
    results: tuple[PracticeResult, ...] = ()

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
    def last(self) -> Mapping[str, PracticeResult]:
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
        return view.ruling == "match" or view.times < MAX_REPEATED_VIEWS


PracticeBatch = EventBatch[Practice]


def fold(events: Iterable[Event]) -> Practice:
    """The practice after all of these events."""
    return core.fold(evolve, Practice(), events)


def decide(practice: Practice, command: PracticeCommand, at: str = "") -> tuple[Event, ...]:
    """The events the command leads to, none where it changes nothing: ``referee.core.decide`` for a practice."""
    return core.decide(_DECIDER, practice, command, at)


def _refusal(practice: Practice, command: PracticeCommand) -> str:
    if isinstance(command, BeginPractice):
        return sentence("practice_on") if practice.on else ""
    return "" if practice.on else sentence("practice_nobody")


def _begin(batch: PracticeBatch, c: BeginPractice) -> None:
    names = [name.strip() for name in c.players.values()]
    if not 1 <= len(names) <= 2 or not all(names) or len({name.casefold() for name in names}) < len(names):
        raise IllegalCommand(sentence("practice_names"))
    refuse_if(not c.cards, "practice_cards")
    players, cards = dict(zip(c.players, names, strict=True)), [list(card) for card in c.cards]
    batch.add("practice_begun", session_id=c.session_id, players=players, level=c.level, cards=cards, deck=c.deck)


def _watch(batch: PracticeBatch, c: Watch) -> None:
    practice, clear = batch.state, c.clear_s is not None and c.clear_s >= EMPTY_S
    if practice.phase == "waiting" and clear:
        batch.add("countdown", go_at_s=c.at_s + COUNTDOWN_S)
    elif practice.phase == "counting" and c.clear_s is None:
        batch.add("countdown_broken")
    elif practice.phase == "counting" and practice.go_at_s is not None and c.at_s >= practice.go_at_s:
        batch.add("practice_go", at_s=c.at_s)
    elif practice.phase == "shown" and clear and c.at_s >= practice.shown_s + RESULT_SHOWN_S:
        batch.add("practice_card")


def _viewed(batch: PracticeBatch, c: Viewed) -> None:
    if not batch.state.wants_view(c.zone, c.rested_s):
        return
    row, ruling = batch.state.fields[c.zone], c.said.ruling
    view = row.view
    same = view is not None and abs(view.rested_s - c.rested_s) <= SAME_S and view.ruling == ruling
    times = view.times + 1 if same and view is not None else 1
    batch.add("view", zone=c.zone, rested_s=c.rested_s, ruling=ruling, times=times, reasons=_rows(c.said.reasons))
    sure = ruling != "match" or times >= AGREEING
    if sure and (ruling == "match" or (row.ending and (ruling == "mismatch" or times >= MAX_REPEATED_VIEWS))):
        _judged(batch, c, ruling)


def _judged(batch: PracticeBatch, c: Viewed, ruling: str) -> None:
    """The build of a zone ends with what was just seen."""
    row, go_s = batch.state.fields[c.zone], batch.state.go_at_s or 0.0
    built_s = c.rested_s if c.built_s is None else min(c.built_s, c.rested_s)
    reasons, by, seconds = c.said.reasons, "camera", built_s - go_s
    if row.press_s is not None:
        by, seconds = "box", row.press_s - go_s
        if c.rested_s > row.press_s + AFTER_PRESS_S:
            ruling, reasons = "undecided", (TOUCHED_REASON,)
    counts = ruling == "match"
    timed = {"seconds": round(seconds, 3) if counts else None, "by": by if counts else ""}
    _end(batch, c, ruling=ruling, **timed, reasons=_rows(reasons))


def _rows(reasons: Iterable[Reason]) -> list[dict[str, Any]]:
    return [reason.to_json() for reason in reasons]


def _end(batch: PracticeBatch, c: Viewed | GiveUp, **result: Any) -> None:
    batch.add("build_ended", zone=c.zone, **result)
    if not batch.state.open:
        batch.add("all_ended", at_s=c.at_s)


def _building(practice: Practice, zone: str) -> Field:
    row = practice.fields.get(zone)
    if practice.phase != "building" or row is None or row.ended:
        raise IllegalCommand(sentence("practice_zone"))
    return row


def _press(batch: PracticeBatch, c: PracticePress) -> None:
    row, go_at_s = _building(batch.state, c.zone), batch.state.go_at_s
    if not row.ending and go_at_s is not None and c.at_s > go_at_s:
        batch.add("pressed", zone=c.zone, at_s=c.at_s)


def _give_up(batch: PracticeBatch, c: GiveUp) -> None:
    if _building(batch.state, c.zone).gave_up:
        _end(batch, c, ruling="undecided", seconds=None, by="", reasons=_rows((UNSEEN_REASON,)))
    else:
        batch.add("giving_up", zone=c.zone)


def evolve(practice: Practice, event: Event) -> Practice:
    """The practice after one more event. Raises IllegalCommand for one that cannot follow in this phase."""
    kind, data = event.kind, event.data
    after = replace(practice, phase=core.next_phase(TABLE, kind, practice.phase))
    now = core.count_event(after, practice, event)
    if kind == "practice_begun":
        cards = tuple((card_id, value) for card_id, value in data["cards"])
        now = replace(now, session_id=data["session_id"], players=dict(data["players"]), cards=cards)
        return _fresh(replace(now, level=data["level"], deck=data["deck"]), 0)
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
        results = (*results, PracticeResult(row.player, zone, card_id, value, *said, practice.deck, event.simulated))
    return replace(practice, fields={**practice.fields, zone: row}, results=results)


def _reasons(data: Mapping[str, Any]) -> tuple[Reason, ...]:
    return tuple(reason_from_json(row) for row in data["reasons"])


_HANDLERS: Mapping[type[PracticeCommand], Callable[[PracticeBatch, Any], None]] = {
    BeginPractice: _begin,
    Watch: _watch,
    Viewed: _viewed,
    PracticePress: _press,
    GiveUp: _give_up,
    NextCard: lambda b, c: b.add("practice_card"),
    End: lambda b, c: b.add("practice_ended"),
}
_DECIDER = Decider(evolve, _refusal, _HANDLERS)


def best_results(results: Iterable[PracticeResult]) -> dict[tuple[str, str, str], PracticeResult]:
    """The fastest match of each (player, card, by); the earlier of two that are equal."""
    return _fastest(((r.player, r.card_id, r.by), r) for r in results)


def best_by_level(results: Iterable[PracticeResult]) -> dict[tuple[str, int, str], PracticeResult]:
    """The fastest match of each (player, difficulty, by)."""
    return _fastest(((r.player, r.value, r.by), r) for r in results)


def _fastest(rows: Iterable[tuple[Any, PracticeResult]]) -> dict[Any, PracticeResult]:
    found: dict[Any, PracticeResult] = {}
    for key, row in rows:
        if row.seconds is not None and (key not in found or row.seconds < (found[key].seconds or 0.0)):
            found[key] = row
    return found
