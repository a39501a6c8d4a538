"""The table as it stands, what may be asked of it, and how a fact changes it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cards.sentences import sentence
from referee.errors import IllegalCommand
from referee.games.core import OVER, Command, Fact, Pile, Setup, Table, put, without
from referee.games.quarters_and_currencies.cards import SCORINGS, QuarterRules


@dataclass(frozen=True, kw_only=True)
class Quarters(Table):
    """The table. ``yard`` has a place for each currency, '' where it is empty; ``market`` is the open money.

    ``owned`` and ``points`` are by owner: the seats, and with two players the passive owner last. ``gifts`` are
    buildings that are still to be given to it; ``opening`` is a scorer's game before its first turn.
    """

    rules: QuarterRules
    hands: tuple[Pile, ...]
    yard: Pile
    market: Pile
    money: Pile
    buildings: Pile
    owned: tuple[Pile, ...]
    points: tuple[int, ...]
    spent: Pile = ()
    scored: tuple[Mapping[str, Any], ...] = ()
    actions: int = 0
    gifts: int = 0
    opening: bool = False

    @property
    def passive(self) -> int | None:
        """The passive owner's number; None when there is none."""
        return len(self.players) if len(self.owned) > len(self.players) else None


@dataclass(frozen=True)
class TakeMoney(Command):
    """Open money cards into the hand."""

    cards: tuple[str, ...]
    PHASES = ("acting",)


@dataclass(frozen=True)
class Buy(Command):
    """The building of the yard's place 1 to 4, paid with these cards; ``give`` it to the passive owner."""

    place: int
    pay: tuple[str, ...]
    give: bool = False
    PHASES = ("acting",)


@dataclass(frozen=True)
class PassTurn(Command):
    """Nothing can be taken and nothing bought."""

    PHASES = ("acting",)


@dataclass(frozen=True)
class ReadHand(Command):
    """A scorer's game: the money that the seat was dealt."""

    cards: tuple[str, ...]
    PHASES = ("reading_hands",)
    IN_TURN = False


@dataclass(frozen=True)
class ReadIn(Command):
    """A scorer's game: the next card that was turned up: a building, money, or a scoring card."""

    card: str
    PHASES = ("reading_building", "reading_money", "reading_gift")
    IN_TURN = False


def create(setup: Setup, deal: Mapping[str, Any]) -> Quarters:
    """The table after the deal."""
    owners = len(setup.players) + (len(setup.players) == 2)
    owned = (((),) * len(setup.players) + (tuple(deal["passive"]),))[:owners]
    return Quarters(
        players=setup.players,
        seed=setup.seed,
        mode=setup.mode,
        phase="reading_hands" if setup.mode == "scorer" else "acting",
        turn=deal["first"],
        shuffles=deal["shuffles"],
        rules=setup.rules,
        hands=tuple(tuple(hand) for hand in deal["hands"]),
        yard=tuple(deal["yard"]),
        market=tuple(deal["market"]),
        money=tuple(deal["money"]),
        buildings=tuple(deal["buildings"]),
        owned=owned,
        points=(0,) * owners,
        opening=setup.mode == "scorer",
    )


def evolve(state: Quarters, fact: Fact) -> Quarters:
    """The table after the fact. Raises IllegalCommand for one that this version does not know."""
    if fact.kind not in _CHANGES:
        raise IllegalCommand(sentence("game.no_fact", kind=fact.kind, game="quarters_and_currencies"))
    return _CHANGES[fact.kind](state, fact.data)


def _taken(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    seat, cards = data["seat"], tuple(data["cards"])
    hands = put(state.hands, seat, (*state.hands[seat], *cards))
    return replace(state, hands=hands, market=without(state.market, cards, "the market"), actions=state.actions + 1)


def _bought(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    seat, place, owner, pay = data["seat"], data["place"] - 1, data["owner"], tuple(data["pay"])
    return replace(
        state,
        hands=put(state.hands, seat, without(state.hands[seat], pay, state.name(seat))),
        spent=(*state.spent, *pay),
        owned=put(state.owned, owner, (*state.owned[owner], state.yard[place])),
        yard=put(state.yard, place, ""),
        actions=state.actions + 1,
    )


def _building_laid(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    yard = put(state.yard, data["place"] - 1, data["card"])
    return replace(state, yard=yard, buildings=state.buildings[1:], phase="acting")


def _gift_laid(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    last = len(state.owned) - 1
    owned = put(state.owned, last, (*state.owned[last], data["card"]))
    return replace(state, owned=owned, buildings=state.buildings[1:], gifts=state.gifts - 1, phase="acting")


def _money_laid(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    return replace(state, market=(*state.market, data["card"]), money=state.money[1:], phase="acting")


def _scored(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    total = tuple(a + b for a, b in zip(state.points, data["points"], strict=True))
    money = state.money[1:] if data["scoring"] in SCORINGS else state.money
    row = {"scoring": data["scoring"], "points": list(data["points"])}
    return replace(state, points=total, scored=(*state.scored, row), money=money, gifts=data["gifts"], phase="acting")


def _left_over(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    owner, place = data["owner"], data["place"] - 1
    owned = put(state.owned, owner, (*state.owned[owner], state.yard[place]))
    return replace(state, owned=owned, yard=put(state.yard, place, ""))


def _hand_read(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    hands = put(state.hands, data["seat"], tuple(data["cards"]))
    return replace(state, hands=hands, money=state.money[len(data["cards"]) :])


def _reshuffled(state: Quarters, data: Mapping[str, Any]) -> Quarters:
    return replace(state, money=tuple(data["money"]), spent=(), shuffles=state.shuffles + 1)


_CHANGES: dict[str, Callable[[Quarters, Mapping[str, Any]], Quarters]] = {
    "money_taken": _taken,
    "bought": _bought,
    "nothing_possible": lambda s, d: s,
    "building_laid": _building_laid,
    "gift_laid": _gift_laid,
    "money_laid": _money_laid,
    "reshuffled": _reshuffled,
    "scored": _scored,
    "turn_passed": lambda s, d: replace(s, turn=d["seat"], actions=0, opening=False),
    "left_over": _left_over,
    "hand_read": _hand_read,
    "first_known": lambda s, d: replace(s, turn=d["seat"], gifts=d["gifts"], phase="acting"),
    "waits_for": lambda s, d: replace(s, phase=f"reading_{d['what']}"),
    "game_over": lambda s, d: replace(s, phase=OVER),
}
