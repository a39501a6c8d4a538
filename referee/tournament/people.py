"""People over evenings: one record each, its names and what became of it; their careers and ratings. Pure.

A record's life is told by events, apart from the matches': a person's events can be deleted, a match's cannot. Matches
know people by the name that they played under: every name that a person has had leads to that person, and no name
leads to two.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import Any

from openskill.models import PlackettLuce

from cards.sentences import sentence
from referee.core import refuse_if
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.schedule import comparable_name
from referee.tournament.results import FinishedMatch, PlayerResult

MOST_NAME = 60
COLOR = re.compile(r"#[0-9a-f]{6}")


@dataclass(frozen=True)
class Person:
    """One record. ``names`` are all that led or lead here, the present one last; ``merged`` the records taken in."""

    id: str
    name: str
    color: str = ""
    picture: str = ""
    names: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    since: str = ""
    history: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Register:
    """Everybody, by id; ``number`` of the last record that was ever made."""

    people: Mapping[str, Person] = field(default_factory=dict)
    number: int = 0

    def named(self, name: str) -> Person | None:
        """Who plays or played under that name."""
        key = comparable_name(" ".join(name.split()))
        return next((p for p in self.people.values() if key in map(comparable_name, p.names)), None)

    def person(self, id_or_name: str) -> Person:
        """By id, also of a record taken in, or by name. Raises IllegalCommand."""
        person = next((p for p in self.people.values() if id_or_name in (p.id, *p.merged)), None)
        person = person or self.named(id_or_name)
        if person is None:
            raise IllegalCommand(sentence("people.unknown", name=id_or_name[:MOST_NAME]))
        return person


def fold(rows: Iterable[tuple[str, Event]]) -> Register:
    """The register after these events, each with whose it is."""
    return reduce(lambda register, row: evolve(register, *row), rows, Register())


def evolve(register: Register, person: str, event: Event) -> Register:
    """The register after one more event of that person's."""
    people, data = dict(register.people), event.data
    number = max(register.number, int(person.removeprefix("P")), data.get("number", 0))
    if event.kind == "person_deleted":
        people.pop(person, None)
        return Register(people, number)
    if event.kind == "person_added":
        people[person] = Person(person, data["name"], data.get("color", ""), "", (data["name"],), since=event.at)
        return Register(people, number)
    refuse_if(person not in people, "people.unknown", name=person)
    people[person] = _changed(people, people[person], event)
    if event.kind == "person_merged":
        del people[data["other"]]
    return Register(people, number)


def _changed(people: Mapping[str, Person], was: Person, event: Event) -> Person:
    data = event.data
    entry = {"kind": event.kind, "at": event.at, "who": event.who, **data}
    person = replace(was, history=(*was.history, entry))
    if event.kind == "person_renamed":
        names = tuple(n for n in was.names if comparable_name(n) != comparable_name(data["name"]))
        return replace(person, name=data["name"], names=(*names, data["name"]))
    if event.kind in ("person_colored", "person_pictured"):
        return replace(person, **data)
    if event.kind == "person_merged":
        other = people[data["other"]]
        names = tuple(n for n in other.names if comparable_name(n) not in map(comparable_name, was.names))
        history = (*other.history, *person.history)
        merged = (*was.merged, other.id, *other.merged)
        return replace(
            person, names=(*names, *was.names), merged=merged, history=history, picture=was.picture or other.picture
        )
    raise IllegalCommand(sentence("unknown_event", kind=event.kind))


def add_person(register: Register, name: str, at: str, who: str = "", color: str = "") -> tuple[str, Event]:
    """A new record. Raises IllegalCommand for a name that leads to somebody already."""
    kept = _free(register, name)
    _known_color(color)
    return f"P{register.number + 1}", Event("person_added", {"name": kept, "color": color}, at, who)


def rename_person(register: Register, person: Person, name: str, at: str, who: str) -> tuple[str, Event]:
    """Another name; the earlier ones still lead here."""
    kept = _free(register, name, person)
    refuse_if(kept == person.name, "named_already", player=kept)
    return person.id, Event("person_renamed", {"name": kept}, at, who)


def color_person(person: Person, color: str, at: str, who: str) -> tuple[str, Event]:
    """Another colour, '' for none."""
    _known_color(color)
    return person.id, Event("person_colored", {"color": color}, at, who)


def merge_people(person: Person, other: Person, at: str, who: str) -> tuple[str, Event]:
    """Both are one: the other's names and results are this one's from now on."""
    refuse_if(person.id == other.id, "people.same", name=person.name)
    return person.id, Event("person_merged", {"other": other.id}, at, who)


def normalized_name(name: str) -> str:
    """The name as it is kept. Raises IllegalCommand for one that is empty, too long or not one line."""
    kept = " ".join(name.split())
    refuse_if(not kept or not kept.isprintable() or len(kept) > MOST_NAME, "tour.name", name=kept[:20], most=MOST_NAME)
    return kept


def _free(register: Register, name: str, own: Person | None = None) -> str:
    kept = normalized_name(name)
    other = register.named(kept)
    if other is not None and (own is None or other.id != own.id):
        raise IllegalCommand(sentence("people.taken", name=kept, person=other.id))
    return kept


def _known_color(color: str) -> None:
    refuse_if(color and not COLOR.fullmatch(color), "people.color", color=color[:20])


@dataclass(frozen=True)
class Meeting:
    """One match in somebody's career: against whom (ids; names of people without a record), and how it went."""

    match_id: str
    at: str
    against: tuple[str, ...]
    seat: PlayerResult


@dataclass(frozen=True)
class Career:
    """All of a person's matches, the latest first; ``best``: card -> (seconds, match)."""

    meetings: tuple[Meeting, ...] = ()
    best: Mapping[str, tuple[float, str]] = field(default_factory=dict)

    @property
    def wins(self) -> int:
        """Matches won alone."""
        return sum(m.seat.place == 1 for m in self.meetings)

    @property
    def cards(self) -> int:
        """Card points over all matches."""
        return sum(m.seat.points for m in self.meetings)


def careers(register: Register, matches: Iterable[FinishedMatch]) -> dict[str, Career]:
    """Id -> career of everybody in the register, over these matches, oldest first."""
    by_id = {person_id: Career() for person_id in register.people}
    for match in sorted(matches, key=lambda match: datetime.fromisoformat(match.at)):
        ids = [p.id if (p := register.named(seat.name)) else seat.name for seat in match.seats]
        for own, seat in zip(ids, match.seats, strict=True):
            if own in by_id:
                against = tuple(other for other in ids if other != own)
                by_id[own] = _with(by_id[own], Meeting(match.match_id, match.at, against, seat))
    return by_id


def _with(career: Career, meeting: Meeting) -> Career:
    now = {card: (seconds, meeting.match_id) for card, seconds in meeting.seat.best.items()}
    faster = {card: best for card, best in now.items() if card not in career.best or best[0] < career.best[card][0]}
    return Career((meeting, *career.meetings), {**career.best, **faster})


CONFIDENCE_SD = 2.0
"""Standard deviations on either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True)
class Rating:
    """``value`` is within ``margin`` with 95 %, if the model holds; ``matches`` it rests on."""

    value: float
    margin: float
    matches: int = 0

    @property
    def careful(self) -> float:
        """What the player is worth at least, with 97.5 %: what first pairings go by."""
        return self.value - self.margin


def ratings(register: Register, matches: Iterable[FinishedMatch]) -> dict[str, Rating]:
    """Id -> rating of everybody in the register. Matches count in the order of their ends; who left before the end
    of one, or has no record, is not in it.

    The model is Plackett-Luce in the approximation of R. C. Weng and C.-J. Lin, "A Bayesian approximation method for
    online ranking", JMLR 12 (2011) 267-300, from the package openskill: it takes matches of any number of players,
    which printed round-robins are, and ties. A rating is a mean and a standard deviation; who has not played has 25
    and 25/3.
    """
    model = PlackettLuce()
    rated = {person_id: model.rating() for person_id in register.people}
    counted = dict.fromkeys(rated, 0)
    for match in sorted(matches, key=lambda m: m.at):
        rows = [(p.id, seat.place) for seat in match.seats if (p := register.named(seat.name)) and seat.place]
        if len({person for person, _ in rows}) < 2 or len({person for person, _ in rows}) != len(rows):
            continue
        after = model.rate([[rated[p]] for p, _ in rows], ranks=[float(place) for _, place in rows])
        for (person, _), team in zip(rows, after, strict=True):
            rated[person], counted[person] = team[0], counted[person] + 1
    return {p: Rating(r.mu, CONFIDENCE_SD * r.sigma, counted[p]) for p, r in rated.items()}
