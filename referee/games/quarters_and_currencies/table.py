"""The table as it stands, what may be asked of it, and how a fact changes it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from referee.core import Data
from referee.games.core import OVER, GameCommand, Pile, Setup, Table, put, without
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


class TakeMoney(GameCommand):
    """Open money cards into the hand."""

    cards: tuple[str, ...]
    PHASES = ("acting",)


class Buy(GameCommand):
    """The building of the yard's place 1 to 4, paid with these cards; ``give`` it to the passive owner."""

    place: int
    pay: tuple[str, ...]
    give: bool = False
    PHASES = ("acting",)


class PassTurn(GameCommand):
    """Nothing can be taken and nothing bought."""

    PHASES = ("acting",)


class ReadHand(GameCommand):
    """A scorer's game: the money that the seat was dealt."""

    cards: tuple[str, ...]
    PHASES = ("reading_hands",)
    IN_TURN = False


class ReadIn(GameCommand):
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


def _taken(state: Quarters, data: Data) -> Quarters:
    seat, cards = data["seat"], tuple(data["cards"])
    hands = put(state.hands, seat, (*state.hands[seat], *cards))
    return replace(state, hands=hands, market=without(state.market, cards, "the market"), actions=state.actions + 1)


def _bought(state: Quarters, data: Data) -> Quarters:
    seat, place, owner, pay = data["seat"], data["place"] - 1, data["owner"], tuple(data["pay"])
    return replace(
        state,
        hands=put(state.hands, seat, without(state.hands[seat], pay, state.name(seat))),
        spent=(*state.spent, *pay),
        owned=put(state.owned, owner, (*state.owned[owner], state.yard[place])),
        yard=put(state.yard, place, ""),
        actions=state.actions + 1,
    )


def _building_laid(state: Quarters, data: Data) -> Quarters:
    yard = put(state.yard, data["place"] - 1, data["card"])
    return replace(state, yard=yard, buildings=state.buildings[1:], phase="acting")


def _gift_laid(state: Quarters, data: Data) -> Quarters:
    last = len(state.owned) - 1
    owned = put(state.owned, last, (*state.owned[last], data["card"]))
    return replace(state, owned=owned, buildings=state.buildings[1:], gifts=state.gifts - 1, phase="acting")


def _money_laid(state: Quarters, data: Data) -> Quarters:
    return replace(state, market=(*state.market, data["card"]), money=state.money[1:], phase="acting")


def _scored(state: Quarters, data: Data) -> Quarters:
    total = tuple(a + b for a, b in zip(state.points, data["points"], strict=True))
    money = state.money[1:] if data["scoring"] in SCORINGS else state.money
    row = {"scoring": data["scoring"], "points": list(data["points"])}
    return replace(state, points=total, scored=(*state.scored, row), money=money, gifts=data["gifts"], phase="acting")


def _left_over(state: Quarters, data: Data) -> Quarters:
    owner, place = data["owner"], data["place"] - 1
    owned = put(state.owned, owner, (*state.owned[owner], state.yard[place]))
    return replace(state, owned=owned, yard=put(state.yard, place, ""))


def _hand_read(state: Quarters, data: Data) -> Quarters:
    hands = put(state.hands, data["seat"], tuple(data["cards"]))
    return replace(state, hands=hands, money=state.money[len(data["cards"]) :])


def _reshuffled(state: Quarters, data: Data) -> Quarters:
    return replace(state, money=tuple(data["money"]), spent=(), shuffles=state.shuffles + 1)


CHANGES: Mapping[str, Callable[[Quarters, Data], Quarters]] = {
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
