"""The cards, the table as it stands, what may be asked of it, and how a fact changes it. Pure.

A number card is its number, ``1`` to ``8``; the others have names. A storey lies as two cards; a joker in it stands for
what makes nine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field

from referee.core import Data
from referee.games.core import OVER, GameCommand, Pile, Rules, Setup, Table, put, without

NUMBERS = tuple(str(n) for n in range(1, 9))
SUM = 9
DEALT, FULL_HAND, LEAST_HAND = 5, 8, 3
CARDS: Mapping[str, int] = {number: 4 for number in NUMBERS} | {
    "joker": 4,
    "dog": 4,
    "bone": 2,
    "hammer": 3,
    "ball": 1,
    "milkshake": 3,
    "truck": 1,
    "thief": 3,
    "superthief": 1,
}
"""Card -> how many there are; 54 in all."""


class NineRules(Rules):
    """What the rules leave open or tell in two ways, and the short game."""

    storeys: Literal[5, 4] = Field(5, description="Storeys of the winning tower; 4 is the short game.")
    milkshake: Literal["no_draw", "no_start_draw"] = Field(
        "no_draw", description="A turn with a milkshake: no card is drawn at all, or only none at its start."
    )
    full_hand: int = Field(FULL_HAND, ge=5, le=12, description="With so many cards in hand none is drawn.")
    stalled_rounds: int = Field(
        2, ge=1, le=9, description="So many rounds in which nobody draws or plays end the game: most storeys win."
    )


@dataclass(frozen=True)
class Storey:
    """Two cards side by side, what each stands for, and whether a dog guards them."""

    cards: tuple[str, str]
    values: tuple[int, int]
    dog: bool = False

    def to_json(self) -> dict[str, Any]:
        """By field name."""
        return {"cards": list(self.cards), "values": list(self.values), "dog": self.dog}


@dataclass(frozen=True, kw_only=True)
class Nine(Table):
    """The table. By seat: ``hands``, ``towers`` (the lowest storey first), ``milkshakes`` that stand before them.

    ``again``: the donut truck stands in the middle, the seat in turn plays again. ``idle`` counts the turns in a row
    in which nothing was drawn or played, ``acted`` is whether this one is not such a turn.
    """

    rules: NineRules
    hands: tuple[Pile, ...]
    draw: Pile
    discard: Pile = ()
    towers: tuple[tuple[Storey, ...], ...]
    milkshakes: tuple[bool, ...]
    again: bool = False
    idle: int = 0
    acted: bool = False


class BuildStorey(GameCommand):
    """A storey of two cards of the hand."""

    first: str
    second: str
    PHASES = ("playing",)


class StealStorey(GameCommand):
    """A storey of one's own number and a card of the victim's top storey; that storey's other card is discarded."""

    card: str
    victim: int
    steal: str
    PHASES = ("playing",)


class SetDog(GameCommand):
    """A guard dog beside one's own storey (1 is the lowest)."""

    storey: int
    PHASES = ("playing",)


class LureDog(GameCommand):
    """A bone for the dog beside a storey of the victim: both are discarded."""

    victim: int
    storey: int
    PHASES = ("playing",)


class Destroy(GameCommand):
    """The victim's top storey, by ``tool``: a hammer where no dog is, a wrecking ball anywhere."""

    victim: int
    tool: str
    PHASES = ("playing",)


class PlayThief(GameCommand):
    """One unseen card of the victim's hand."""

    victim: int
    PHASES = ("playing",)


class PlaySuperThief(GameCommand):
    """One unseen card of every other hand."""

    PHASES = ("playing",)


class ServeMilkshake(GameCommand):
    """A milkshake before the victim, whose next turn it is."""

    victim: int
    PHASES = ("playing",)


class ParkTruck(GameCommand):
    """The donut truck: everybody else skips a turn."""

    PHASES = ("playing",)


class EndTurn(GameCommand):
    """Nothing more: refill to three and the next seat's turn."""

    PHASES = ("playing",)


class DiscardMilkshake(GameCommand):
    """All that can be done in a turn with a milkshake."""

    PHASES = ("drinking",)


def create(setup: Setup, deal: Mapping[str, Any]) -> Nine:
    """The table after the deal, the youngest's first card drawn."""
    count = len(setup.players)
    return Nine(
        players=setup.players,
        seed=setup.seed,
        mode=setup.mode,
        phase="playing",
        shuffles=1,
        rules=setup.rules,
        hands=tuple(tuple(hand) for hand in deal["hands"]),
        draw=tuple(deal["draw"]),
        towers=((),) * count,
        milkshakes=(False,) * count,
        acted=True,
    )


def _spent(state: Nine, seat: int, *cards: str) -> Nine:
    """These cards of the hand played."""
    hands = put(state.hands, seat, without(state.hands[seat], cards, state.name(seat)))
    return replace(state, hands=hands, acted=True)


def _discarded(state: Nine, *cards: str) -> Nine:
    return replace(state, discard=(*state.discard, *cards))


def _built(state: Nine, data: Data) -> Nine:
    seat, cards, values = data["seat"], data["cards"], data["values"]
    storey = Storey((cards[0], cards[1]), (values[0], values[1]))
    state = _spent(state, seat, *data["from_hand"])
    return replace(state, towers=put(state.towers, seat, (*state.towers[seat], storey)))


def _top_gone(state: Nine, data: Data) -> Nine:
    """The victim's top storey is taken off; ``discarded`` of its cards go to the pile."""
    tower = state.towers[data["victim"]]
    return _discarded(replace(state, towers=put(state.towers, data["victim"], tower[:-1])), *data["discarded"])


def _dog(state: Nine, data: Mapping[str, Any], there: bool) -> Nine:
    owner, at = data["owner"], data["storey"] - 1
    tower = state.towers[owner]
    return replace(state, towers=put(state.towers, owner, put(tower, at, replace(tower[at], dog=there))))


def _dog_lured(state: Nine, data: Data) -> Nine:
    return _discarded(_dog(_spent(state, data["seat"], "bone"), data, False), "bone", "dog")


def _used(state: Nine, data: Data) -> Nine:
    """A card that goes to the discard pile at once."""
    return _discarded(_spent(state, data["seat"], data["card"]), data["card"])


def _stolen(state: Nine, data: Data) -> Nine:
    seat, victim, card = data["seat"], data["victim"], data["card"]
    rest = list(state.hands[victim])
    rest.remove(card)
    hands = put(put(state.hands, victim, tuple(rest)), seat, (*state.hands[seat], card))
    return replace(state, hands=hands, shuffles=state.shuffles + 1)


def _served(state: Nine, data: Data) -> Nine:
    state = _spent(state, data["seat"], "milkshake")
    return replace(state, milkshakes=put(state.milkshakes, data["victim"], True))


def _drunk(state: Nine, data: Data) -> Nine:
    state = replace(state, milkshakes=put(state.milkshakes, data["seat"], False), acted=True)
    return _discarded(state, "milkshake")


def _drawn(state: Nine, data: Data) -> Nine:
    hand = (*state.hands[data["seat"]], data["card"])
    return replace(state, hands=put(state.hands, data["seat"], hand), draw=state.draw[1:], acted=True)


def _turn_begun(state: Nine, data: Data) -> Nine:
    idle = 0 if state.acted else state.idle + 1
    return replace(state, turn=data["seat"], phase=data["phase"], idle=idle, acted=False)


def _truck_left(state: Nine, data: Data) -> Nine:
    return _discarded(replace(state, again=False), "truck")


CHANGES: Mapping[str, Callable[[Nine, Data], Nine]] = {
    "storey_built": _built,
    "top_gone": _top_gone,
    "dog_set": lambda s, d: _dog(_spent(s, d["owner"], "dog"), d, True),
    "dog_lured": _dog_lured,
    "used": _used,
    "stolen": _stolen,
    "milkshake_served": _served,
    "milkshake_drunk": _drunk,
    "truck_parked": lambda s, d: replace(_spent(s, d["seat"], "truck"), again=True),
    "truck_left": _truck_left,
    "card_drawn": _drawn,
    "reshuffled": lambda s, d: replace(s, draw=tuple(d["draw"]), discard=(), shuffles=s.shuffles + 1),
    "turn_begun": _turn_begun,
    "game_over": lambda s, d: replace(s, phase=OVER),
}


def pieces(state: Nine) -> Counter[str]:
    """Every card, wherever it is."""
    count = Counter((*state.draw, *state.discard, *(card for hand in state.hands for card in hand)))
    for storey in (storey for tower in state.towers for storey in tower):
        count.update((*storey.cards, *["dog"] * storey.dog))
    count.update(["milkshake"] * sum(state.milkshakes) + ["truck"] * state.again)
    return count
