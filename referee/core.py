"""The one frame of everything that is played: commands in, events out, state folded from events. Pure.

    state = fold(evolve, start, events)
    events = decide(decider, state, command, at)    # raises IllegalCommand and changes nothing
    state = fold(evolve, state, events)

What is played brings a frozen ``State``, its commands, how one event changes the state, and a handler a command. A
handler works out everything that its command leads to and says it in events, so that reading an old log never depends
on today's code for choosing.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, replace
from typing import Annotated, Any, ClassVar, Generic, TypeVar, dataclass_transform

from cards.sentences import sentence
from referee.errors import IllegalCommand
from referee.events import Event

NEEDED = "needed"
Needed = Annotated[str, NEEDED]
"""Text of a command that must not be blank."""

Data = Mapping[str, Any]
PhaseTable = Mapping[str, tuple[tuple[str, ...], str]]
"""Event kind -> (phases it may come in, the phase it leads to)."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Command:
    """Base of all commands: a class that names it is a frozen dataclass. ``PHASES``: where it is legal; ``NEEDS``: its
    fields that are ``NEEDED``."""

    PHASES: ClassVar[tuple[str, ...]] = ()
    NEEDS: ClassVar[tuple[str, ...]] = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
        declared = cls.__annotations__.items()
        cls.NEEDS = tuple(name for name, kind in declared if NEEDED in getattr(kind, "__metadata__", ()))


@dataclass(frozen=True, kw_only=True)
class State:
    """Base of what events are folded to. ``seq`` counts the events, ``step`` the commands that they came of."""

    seq: int = 0
    step: int = 0
    simulated: bool = False


S = TypeVar("S")
Counted = TypeVar("Counted", bound=State)
C = TypeVar("C", bound=Command)
Change = Callable[[S, Data, Event], S]
"""What an event, and its data, makes of a state."""


UNSTAMPED_EVENT = Event("")
"""Of events that are stamped later."""


class EventBatch(Generic[S]):
    """The events of one command so far. ``state`` is always what they lead to."""

    def __init__(self, state: S, evolve: Callable[[S, Event], S], stamp: Event = UNSTAMPED_EVENT) -> None:
        """``stamp`` has the time, the person, the step and the simulated mark of every event to come."""
        self.state = state
        self.events: list[Event] = []
        self._evolve, self._stamp = evolve, stamp

    def add(self, kind: str, /, *, cites: int | None = None, **data: object) -> None:
        """One more event. Raises IllegalCommand when it cannot follow."""
        event = replace(self._stamp, kind=kind, data=data, cites=cites)
        self.state = self._evolve(self.state, event)
        self.events.append(event)


@dataclass(frozen=True)
class Decider(Generic[Counted, C]):
    """How one kind of thing is played. ``refusal`` says why a command is not possible now, whatever it says; empty when
    it is. The handlers, by command, raise IllegalCommand for what it says."""

    evolve: Callable[[Counted, Event], Counted]
    refusal: Callable[[Counted, C], str]
    handlers: Mapping[type[C], Callable[[EventBatch[Counted], Any], None]]


def refuse_if(condition: object, code: str, /, **values: Any) -> None:
    """Raises IllegalCommand with the sentence of that ``code`` where the condition holds."""
    if condition:
        raise IllegalCommand(sentence(code, **values))


def decide(decider: Decider[Counted, C], state: Counted, command: C, at: str, who: str = "") -> tuple[Event, ...]:
    """The events the command leads to, stamped with time ``at`` (ISO 8601 UTC) and with ``who`` asked, where the
    command does not say that itself.

    Raises IllegalCommand with the reason; ``state`` is a value and stays as it is.
    """
    for needed in command.NEEDS:
        refuse_if(not str(getattr(command, needed)).strip(), "needs", command=type(command).__name__, field=needed)
    if refusal := decider.refusal(state, command):
        raise IllegalCommand(refusal)
    simulated = state.simulated or getattr(command, "simulated", False)
    stamp = Event("", at=at, who=getattr(command, "who", "") or who, simulated=simulated, step=state.step + 1)
    batch = EventBatch(state, decider.evolve, stamp)
    decider.handlers[type(command)](batch, command)
    return tuple(batch.events)


def fold(evolve: Callable[[S, Event], S], state: S, events: Iterable[Event]) -> S:
    """The state after all of the events. Raises IllegalCommand for one that cannot follow."""
    for event in events:
        state = evolve(state, event)
    return state


def apply_event(state: Counted, event: Event, changes: Mapping[str, Change[Counted]], first: str) -> Counted:
    """The state after one more event, by the change of its kind. Raises IllegalCommand for an unknown kind, and where
    ``first`` is not the first event and that one alone."""
    refuse_if((event.kind == first) != (state.seq == 0), "not_that_event", kind=event.kind, n=state.seq + 1)
    refuse_if(event.kind not in changes, "unknown_event", kind=event.kind)
    return count_event(changes[event.kind](state, event.data, event), state, event)


def count_event(after: Counted, before: State, event: Event) -> Counted:
    """What the event made of the state ``before``, with that event counted."""
    return replace(after, seq=before.seq + 1, step=event.step, simulated=before.simulated or event.simulated)


def next_phase(table: PhaseTable, kind: str, phase: str) -> str:
    """The phase that an event of that kind leads to. Raises IllegalCommand when it cannot come in this one."""
    phases, following = table.get(kind, ((), ""))
    refuse_if(phase not in phases, "cannot_follow", kind=kind, phase=phase)
    return following


def seed_hash(seed: int) -> str:
    """What everybody may know of a seed before the end: SHA-256 of its decimal digits, in hex."""
    return hashlib.sha256(str(seed).encode()).hexdigest()


def shuffled(cards: Iterable[str], seed: int, name: object) -> list[str]:
    """These cards in the order that the seed gives to the pile or shuffle of that name: the same for ever."""
    order = sorted(cards)
    random.Random(f"{seed}/{name}").shuffle(order)
    return order
