"""The deal, a turn and what follows it: refilling, scorings, the end. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from cards.sentences import sentence
from referee.core import EventBatch
from referee.errors import IllegalCommand
from referee.games.core import UNKNOWN, Game, GameCommand, Setup, hidden, new_pile, shuffled, without
from referee.games.quarters_and_currencies.cards import (
    CURRENCIES,
    GIFTS,
    MOST_ACTIONS,
    MOST_AT_ONCE,
    PLACES,
    SCORINGS,
    START_SUM,
    QuarterRules,
    building_cards,
    money_cards,
    price_of,
    value,
)
from referee.games.quarters_and_currencies.scoring import points
from referee.games.quarters_and_currencies.table import (
    CHANGES,
    Buy,
    PassTurn,
    Quarters,
    ReadHand,
    ReadIn,
    TakeMoney,
    create,
)


def begin(setup: Setup) -> dict[str, Any]:
    """The deal. A scorer's begins with everything in piles that nobody has read."""
    players, two = len(setup.players), len(setup.players) == 2
    money, buildings = money_cards(players), building_cards(setup.rules)
    if setup.mode == "scorer":
        piles = {"money": [UNKNOWN] * (len(money) + len(SCORINGS)), "buildings": [UNKNOWN] * len(buildings)}
        rest = {"hands": [[]] * players, "yard": [""] * PLACES, "market": [], "passive": [], "first": 0}
        return piles | rest | {"shuffles": 0}
    money, buildings = shuffled(money, setup.seed, 0), shuffled(buildings, setup.seed, 1)
    hands: list[list[str]] = []
    for _ in range(players):
        hand: list[str] = []
        while sum(map(value, hand)) < START_SUM:
            hand.append(money.pop(0))
        hands.append(hand)
    market, money = money[:PLACES], money[PLACES:]
    yard, gifts = buildings[:PLACES], buildings[PLACES : PLACES + GIFTS * two]
    return {
        "hands": hands,
        "market": market,
        "yard": yard,
        "passive": gifts,
        "buildings": buildings[PLACES + len(gifts) :],
        "money": with_scorings(money, setup.seed),
        "first": first_seat(hands),
        "shuffles": 4,
    }


def with_scorings(money: Sequence[str], seed: int) -> list[str]:
    """The money deck with A in its second fifth and B in its fourth. The first fifths have what does not divide."""
    size, more = divmod(len(money), 5)
    ends = [n * size + min(n, more) for n in range(6)]
    piles = [list(money[a:b]) for a, b in pairwise(ends)]
    for number, (fifth, scoring) in enumerate(((1, "A"), (3, "B")), 2):
        at = int(shuffled([f"{n:03d}" for n in range(len(piles[fifth]) + 1)], seed, number)[0])
        piles[fifth].insert(at, scoring)
    return [card for pile in piles for card in pile]


def first_seat(hands: Sequence[Sequence[str]]) -> int:
    """Who begins: fewest cards, then the lowest sum, then the youngest."""
    return min(range(len(hands)), key=lambda seat: (len(hands[seat]), sum(map(value, hands[seat])), seat))


def _take(batch: EventBatch[Quarters], c: TakeMoney) -> None:
    if not c.cards:
        raise IllegalCommand(sentence("game.take_one"))
    without(batch.state.market, c.cards, sentence("game.the_market"))
    total = sum(map(value, c.cards))
    if len(c.cards) > 1 and total > MOST_AT_ONCE:
        raise IllegalCommand(sentence("game.too_much", most=MOST_AT_ONCE, total=total))
    batch.add("money_taken", seat=c.seat, cards=list(c.cards))
    _refill(batch)


def _buy(batch: EventBatch[Quarters], c: Buy) -> None:
    state = batch.state
    if not 1 <= c.place <= PLACES or not state.yard[c.place - 1]:
        raise IllegalCommand(sentence("game.no_building", place=c.place))
    if c.give and state.passive is None:
        raise IllegalCommand(sentence("game.no_passive"))
    without(state.hands[c.seat], c.pay, state.name(c.seat))
    currency, price = CURRENCIES[c.place - 1], price_of(state.yard[c.place - 1])
    if wrong := [card for card in c.pay if card[0] != currency]:
        raise IllegalCommand(sentence("game.wrong_currency", place=c.place, currency=currency, card=wrong[0]))
    paid = sum(map(value, c.pay))
    if paid < price:
        raise IllegalCommand(sentence("game.price", price=price, paid=paid))
    owner = state.passive if c.give and state.passive is not None else c.seat
    exact = paid == price
    batch.add("bought", seat=c.seat, place=c.place, pay=list(c.pay), owner=owner, exact=exact)
    if not exact or batch.state.actions >= MOST_ACTIONS:
        _refill(batch)


def _pass(batch: EventBatch[Quarters], c: PassTurn) -> None:
    if legal_actions(batch.state, c.seat):
        raise IllegalCommand(sentence("game.something_possible"))
    batch.add("nothing_possible", seat=c.seat)
    _refill(batch)


def _refill(batch: EventBatch[Quarters], named: str = "") -> None:
    """After a turn: buildings to four, money to four, what is drawn of scorings; then the next turn, or the end.

    ``named`` is the card a scorer has read in; where the next one is not known, the game waits for it.
    """
    while True:
        state = batch.state
        if state.gifts or "" in state.yard:
            what, pile = "gift" if state.gifts else "building", state.buildings
        else:
            what, pile = "money", state.money
        if what == "building" and not pile:
            _end(batch)
            return
        if what == "money" and not pile and state.spent:
            batch.add("reshuffled", money=new_pile(batch.state, state.spent))
            continue
        if what == "money" and (len(state.market) >= PLACES or not pile):
            batch.add("turn_passed", seat=state.turn if state.opening else state.after(state.turn))
            return
        card, named = (named or UNKNOWN, "") if pile[0] == UNKNOWN else (pile[0], named)
        if card == UNKNOWN:
            batch.add("waits_for", what=what)
            return
        _lay(batch, what, card)


def _lay(batch: EventBatch[Quarters], what: str, card: str) -> None:
    """One card that was turned up: where it goes, or the scoring that it brings."""
    state = batch.state
    if what == "building":
        batch.add("building_laid", place=state.yard.index("") + 1, card=card)
    elif what == "gift":
        batch.add("gift_laid", card=card)
    elif card in SCORINGS:
        _score(batch, card)
    else:
        batch.add("money_laid", card=card)


def _score(batch: EventBatch[Quarters], scoring: str) -> None:
    state, left, gifts = batch.state, len(batch.state.buildings), 0
    if state.passive is not None:
        gifts = {"A": min(GIFTS, left), "B": left // 3, "C": 0}[scoring]
    batch.add("scored", scoring=scoring, points=points(scoring, state.owned), gifts=gifts)


def _end(batch: EventBatch[Quarters]) -> None:
    """What is left in the yard goes to who has most money of its currency; then the last scoring."""
    for place, currency in enumerate(CURRENCIES, 1):
        if not batch.state.yard[place - 1]:
            continue
        sums = [sum(value(card) for card in hand if card[0] == currency) for hand in batch.state.hands]
        if max(sums) > 0 and sums.count(max(sums)) == 1:
            batch.add("left_over", place=place, owner=sums.index(max(sums)))
    _score(batch, "C")
    batch.add("game_over")


def _read_hand(batch: EventBatch[Quarters], c: ReadHand) -> None:
    state = batch.state
    if state.hands[c.seat]:
        raise IllegalCommand(sentence("game.hand_read", player=state.name(c.seat)))
    known = set(money_cards(len(state.players)))
    if unknown := [card for card in c.cards if card not in known]:
        raise IllegalCommand(sentence("game.no_money", card=unknown[0]))
    total = sum(map(value, c.cards))
    if total < START_SUM or total - value(c.cards[-1]) >= START_SUM:
        raise IllegalCommand(sentence("game.deal_sum", least=START_SUM, total=total, n=len(c.cards)))
    batch.add("hand_read", seat=c.seat, cards=list(c.cards))
    if all(batch.state.hands):
        gifts = GIFTS if state.passive is not None else 0
        batch.add("first_known", seat=first_seat(batch.state.hands), gifts=gifts)
        _refill(batch)


def _read_in(batch: EventBatch[Quarters], c: ReadIn) -> None:
    state = batch.state
    if state.phase == "reading_money":
        scored = {row["scoring"] for row in state.scored}
        known = {*money_cards(len(state.players)), *SCORINGS} - scored
    else:
        known = set(building_cards(state.rules))
    if c.card not in known:
        raise IllegalCommand(sentence("game.no_turn_up", card=c.card))
    _refill(batch, c.card)


HANDLERS: Mapping[type[GameCommand], Callable[[EventBatch[Quarters], Any], None]] = {
    TakeMoney: _take,
    Buy: _buy,
    PassTurn: _pass,
    ReadHand: _read_hand,
    ReadIn: _read_in,
}


def payments(hand: Sequence[str], currency: str, price: int) -> list[tuple[str, ...]]:
    """The fewest cards that pay exactly and, where there are such, those that overpay least."""
    sums: dict[int, tuple[str, ...]] = {0: ()}
    for card in sorted(card for card in hand if card[0] == currency):
        for total, cards in list(sums.items()):
            more = total + value(card)
            if total < price and (more not in sums or len(cards) + 1 < len(sums[more])):
                sums[more] = (*cards, card)
    enough = sorted(total for total in sums if total >= price)
    return [sums[total] for total in enough[: 1 + (price in sums)]]


def legal_actions(state: Quarters, seat: int) -> tuple[GameCommand, ...]:
    """Taking and buying; of the ways to pay the exact one and the one that overpays least."""
    takes = {cards for n in range(1, PLACES + 1) for cards in combinations(sorted(state.market), n)}
    few = [cards for cards in sorted(takes) if len(cards) == 1 or sum(map(value, cards)) <= MOST_AT_ONCE]
    buys = [
        Buy(seat, place, pay, give)
        for place, (currency, building) in enumerate(zip(CURRENCIES, state.yard, strict=True), 1)
        if building
        for pay in payments(state.hands[seat], currency, price_of(building))
        for give in ((False,) if state.passive is None else (False, True))
    ]
    return (*(TakeMoney(seat, cards) for cards in few), *buys)


def legal(state: Quarters, seat: int) -> tuple[GameCommand, ...]:
    """What that seat may ask for now; when nothing else is left, to pass."""
    if state.phase != "acting" or seat != state.turn:
        return ()
    return legal_actions(state, seat) or (PassTurn(seat),)


def view(state: Quarters, seat: int | None) -> dict[str, Any]:
    """What lies open to all, and the seat's own money."""
    return {
        "yard": list(state.yard),
        "market": list(state.market),
        "money": len(state.money),
        "buildings": len(state.buildings),
        "hands": [hidden(hand, n, seat) for n, hand in enumerate(state.hands)],
        "owned": [list(row) for row in state.owned],
        "points": list(state.points),
        "scored": [dict(row) for row in state.scored],
        "actions": state.actions,
    }


def pieces(state: Quarters) -> Counter[str]:
    """Every card, wherever it is; a scoring card that was drawn lies among the scorings."""
    count = Counter((*state.money, *state.market, *state.spent, *(card for hand in state.hands for card in hand)))
    count.update(card for row in (state.buildings, filter(None, state.yard), *state.owned) for card in row)
    count.update(row["scoring"] for row in state.scored if row["scoring"] in SCORINGS)
    return count


def deck(state: Quarters) -> Counter[str]:
    """What the box holds for so many players."""
    return Counter((*money_cards(len(state.players)), *building_cards(state.rules), *SCORINGS))


GAME: Game[Quarters] = Game(
    name="quarters_and_currencies",
    seats=range(2, 7),
    rules=QuarterRules,
    handlers=HANDLERS,
    changes=CHANGES,
    begin=begin,
    create=create,
    scores=lambda state: state.points[: len(state.players)],
    view=view,
    legal=legal,
    pieces=pieces,
    deck=deck,
    secret=lambda now, before, command: "cards" if command["command"] == "ReadHand" else "",
)
