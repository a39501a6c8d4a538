"""Buildings of six kinds, each bought in the currency of its place in the yard (plays like *Stimmt so!*). Pure.

A money card is its currency's letter and its value, ``b7``; a building its kind and its price, ``5:11``; ``A`` and
``B`` are the scoring cards in the money deck.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from typing import Any, Literal

from pydantic import Field

from cards.sentences import sentence
from referee.core import Data, EventBatch, refuse_if
from referee.errors import IllegalCommand
from referee.games import core
from referee.games.core import UNKNOWN, GameCommand, Pile, Rules, Setup, Table, with_item

CURRENCIES = ("a", "b", "c", "d")
VALUES = range(1, 10)
COPIES = 3
KINDS = range(1, 7)
PRICES = {1: (2, 8), 2: (3, 9), 3: (4, 10), 4: (5, 11), 5: (6, 12), 6: (7, 13)}
"""Kind -> lowest and highest price. 1 museum, 2 theatre, 3 station, 4 church, 5 park, 6 skyscraper."""

COUNTS = {1: 7, 2: 7, 3: 9, 4: 9, 5: 11, 6: 11}
PLACES = 4
GIFT_BUILDINGS = 6
"""Buildings that the passive owner of a game of two gets at the start, and after scoring A."""

START_SUM = 20
MOST_AT_ONCE = 5
"""Several money cards are taken together when they come to no more than this."""

MOST_ACTIONS = 5
SCORINGS = ("A", "B")
LAST_SCORING = "C"


class QuarterRules(Rules):
    """What the rules leave open: which prices come twice where a kind has more cards than prices."""

    doubled_prices: Literal["centre", "cheap", "dear"] = Field(
        "centre", description="Prices that come twice: from the centre outwards (cheaper first), or from an end."
    )


def money_cards(players: int) -> list[str]:
    """All money cards; for two players one of each is taken out."""
    copies = COPIES - 1 if players == 2 else COPIES
    return [f"{c}{v}" for c in CURRENCIES for v in VALUES for _ in range(copies)]


def prices(kind: int, rules: QuarterRules) -> list[int]:
    """The prices of that kind's cards: each of its span once, and some twice until there are enough."""
    low, high = PRICES[kind]
    span = list(range(low, high + 1))
    middle = (low + high) / 2
    order = {
        "centre": sorted(span, key=lambda price: (abs(price - middle), price)),
        "cheap": span,
        "dear": span[::-1],
    }[rules.doubled_prices]
    return sorted(span + order[: COUNTS[kind] - len(span)])


def building_cards(rules: QuarterRules) -> list[str]:
    """All 54 buildings."""
    return [f"{kind}:{price}" for kind in KINDS for price in prices(kind, rules)]


def money_value(money: str) -> int:
    """A money card's value; 0 for one that nobody has named."""
    return int(money[1:] or 0)


def kind_of(building: str) -> int:
    """A building's kind, 1 to 6."""
    return int(building.partition(":")[0])


def price_of(building: str) -> int:
    """A building's price."""
    return int(building.partition(":")[2])


@dataclass(frozen=True, kw_only=True)
class Quarters(Table):
    """The table. ``yard`` has a place for each currency, '' where it is empty; ``market`` is the open money.

    ``owned`` is by owner: the seats, and with two players the passive owner last. ``gifts`` are
    buildings that are still to be given to it; ``opening`` is a scorer's game before its first turn.
    """

    rules: QuarterRules
    yard: Pile
    market: Pile
    money: Pile
    buildings: Pile
    owned: tuple[Pile, ...]
    spent: Pile = ()
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

    def carry_out(self, batch: EventBatch[Quarters]) -> None:
        refuse_if(not self.cards, "game.take_one")
        core.hand_without(batch.state.market, self.cards, sentence("game.the_market"))
        total = sum(map(money_value, self.cards))
        refuse_if(len(self.cards) > 1 and total > MOST_AT_ONCE, "game.too_much", most=MOST_AT_ONCE, total=total)
        batch.add("money_taken", seat=self.seat, cards=list(self.cards))
        _refill(batch)


class Buy(GameCommand):
    """The building of the yard's place 1 to 4, paid with these cards; ``give`` it to the passive owner."""

    place: int
    pay: tuple[str, ...]
    give: bool = False
    PHASES = ("acting",)

    def carry_out(self, batch: EventBatch[Quarters]) -> None:
        state = batch.state
        refuse_if(not 1 <= self.place <= PLACES or not state.yard[self.place - 1], "game.no_building", place=self.place)
        refuse_if(self.give and state.passive is None, "game.no_passive")
        state.hands_without(self.seat, self.pay)
        currency, price = CURRENCIES[self.place - 1], price_of(state.yard[self.place - 1])
        if wrong := [card for card in self.pay if card[0] != currency]:
            raise IllegalCommand(sentence("game.wrong_currency", place=self.place, currency=currency, card=wrong[0]))
        paid = sum(map(money_value, self.pay))
        refuse_if(paid < price, "game.price", price=price, paid=paid)
        owner = state.passive if self.give and state.passive is not None else self.seat
        exact = paid == price
        batch.add("bought", seat=self.seat, place=self.place, pay=list(self.pay), owner=owner, exact=exact)
        if not exact or batch.state.actions >= MOST_ACTIONS:
            _refill(batch)


class PassTurn(GameCommand):
    """Nothing can be taken and nothing bought."""

    PHASES = ("acting",)

    def carry_out(self, batch: EventBatch[Quarters]) -> None:
        refuse_if(legal_actions(batch.state, self.seat), "game.something_possible")
        batch.add("nothing_possible", seat=self.seat)
        _refill(batch)


class ReadHand(GameCommand):
    """A scorer's game: the money that the seat was dealt."""

    cards: tuple[str, ...]
    PHASES = ("reading_hands",)
    IN_TURN = False

    def carry_out(self, batch: EventBatch[Quarters]) -> None:
        state = batch.state
        refuse_if(state.hands[self.seat], "game.hand_read", player=state.name(self.seat))
        known = set(money_cards(len(state.players)))
        if unknown := [card for card in self.cards if card not in known]:
            raise IllegalCommand(sentence("game.no_money", card=unknown[0]))
        total = sum(map(money_value, self.cards))
        if total < START_SUM or total - money_value(self.cards[-1]) >= START_SUM:
            raise IllegalCommand(sentence("game.deal_sum", least=START_SUM, total=total, n=len(self.cards)))
        batch.add("hand_read", seat=self.seat, cards=list(self.cards))
        if all(batch.state.hands):
            gifts = GIFT_BUILDINGS if state.passive is not None else 0
            batch.add("first_known", seat=first_seat(batch.state.hands), gifts=gifts)
            _refill(batch)


class ReadIn(GameCommand):
    """A scorer's game: the next card that was turned up: a building, money, or a scoring card."""

    card: str
    PHASES = ("reading_building", "reading_money", "reading_gift")
    IN_TURN = False

    def carry_out(self, batch: EventBatch[Quarters]) -> None:
        state = batch.state
        if state.phase == "reading_money":
            scored = {row["scoring"] for row in state.scored}
            known = {*money_cards(len(state.players)), *SCORINGS} - scored
        else:
            known = set(building_cards(state.rules))
        refuse_if(self.card not in known, "game.no_turn_up", card=self.card)
        _refill(batch, self.card)


def create(setup: Setup, deal: Mapping[str, Any]) -> Quarters:
    """The table after the deal."""
    owners = len(setup.players) + (len(setup.players) == 2)
    given, scorer = core.dealt_fields(setup, deal), setup.mode == "scorer"
    owned = (((),) * len(setup.players) + (given.pop("passive"),))[:owners]
    start = {"turn": given.pop("first"), "phase": "reading_hands" if scorer else "acting", "opening": scorer}
    return Quarters(**given, **start, owned=owned)


def _taken(state: Quarters, data: Data) -> Quarters:
    seat, cards = data["seat"], tuple(data["cards"])
    hands, market = state.hands_with(seat, *cards), core.hand_without(state.market, cards, "the market")
    return replace(state, hands=hands, market=market, actions=state.actions + 1)


def _bought(state: Quarters, data: Data) -> Quarters:
    seat, place, owner, pay = data["seat"], data["place"] - 1, data["owner"], tuple(data["pay"])
    return replace(
        state,
        hands=state.hands_without(seat, pay),
        spent=(*state.spent, *pay),
        owned=with_item(state.owned, owner, (*state.owned[owner], state.yard[place])),
        yard=with_item(state.yard, place, ""),
        actions=state.actions + 1,
    )


def _gift_laid(state: Quarters, data: Data) -> Quarters:
    last = len(state.owned) - 1
    owned = with_item(state.owned, last, (*state.owned[last], data["card"]))
    return replace(state, owned=owned, buildings=state.buildings[1:], gifts=state.gifts - 1, phase="acting")


def _scored(state: Quarters, data: Data) -> Quarters:
    money = state.money[1:] if data["scoring"] in SCORINGS else state.money
    lines = core.recorded_lines(data, data.get("points", ()))
    scored = (*state.scored, {"scoring": data["scoring"], "lines": lines})
    return replace(state, scored=scored, money=money, gifts=data["gifts"], phase="acting")


def _left_over(state: Quarters, data: Data) -> Quarters:
    owner, place = data["owner"], data["place"] - 1
    owned = with_item(state.owned, owner, (*state.owned[owner], state.yard[place]))
    return replace(state, owned=owned, yard=with_item(state.yard, place, ""))


CHANGES: Mapping[str, Callable[[Quarters, Data], Quarters]] = {
    "money_taken": _taken,
    "bought": _bought,
    "nothing_possible": lambda s, d: s,
    "building_laid": lambda s, d: replace(
        s, yard=with_item(s.yard, d["place"] - 1, d["card"]), buildings=s.buildings[1:], phase="acting"
    ),
    "gift_laid": _gift_laid,
    "money_laid": lambda s, d: replace(s, market=(*s.market, d["card"]), money=s.money[1:], phase="acting"),
    "reshuffled": lambda s, d: replace(s, money=tuple(d["money"]), spent=(), shuffles=s.shuffles + 1),
    "scored": _scored,
    "turn_passed": lambda s, d: replace(s, turn=d["seat"], actions=0, opening=False),
    "left_over": _left_over,
    "hand_read": lambda s, d: replace(s, hands=s.hands_with(d["seat"], *d["cards"]), money=s.money[len(d["cards"]) :]),
    "first_known": lambda s, d: replace(s, turn=d["seat"], gifts=d["gifts"], phase="acting"),
    "waits_for": lambda s, d: replace(s, phase=f"reading_{d['what']}"),
}


def rank_points(scoring: str, kind: int) -> list[int]:
    """What the ranks of that kind give, the first first: one in A, two in B, three in C."""
    return {"A": [kind], "B": [7 + kind, kind], "C": [15 + kind, 7 + kind, kind]}[scoring]


def shared_value(values: Sequence[int], count: int, rank: int, shared: int) -> int:
    """Owners with as many buildings share the values of their ranks, rounded down."""
    return sum(values[rank - 1 : rank - 1 + shared]) // shared


def score(scoring: str, owned: Sequence[Sequence[str]]) -> core.Scoring:
    """That scoring, kind by kind."""
    lines = []
    for kind in KINDS:
        counts = [sum(kind_of(building) == kind for building in row) for row in owned]
        rows = core.ranked(counts, partial(shared_value, rank_points(scoring, kind)))
        lines.append({"what": "kind", "of": kind, "rows": rows})
    return {"scoring": scoring, "lines": lines}


def begin(setup: Setup) -> dict[str, Any]:
    """The deal. A scorer's begins with everything in piles that nobody has read."""
    players, two = len(setup.players), len(setup.players) == 2
    money, buildings = money_cards(players), building_cards(setup.rules)
    if setup.mode == "scorer":
        piles = {"money": [UNKNOWN] * (len(money) + len(SCORINGS)), "buildings": [UNKNOWN] * len(buildings)}
        rest = {"hands": [[]] * players, "yard": [""] * PLACES, "market": [], "passive": [], "first": 0}
        return piles | rest | {"shuffles": 0}
    money, buildings = core.shuffled(money, setup.seed, 0), core.shuffled(buildings, setup.seed, 1)
    hands: list[list[str]] = []
    for _ in range(players):
        hand: list[str] = []
        while sum(map(money_value, hand)) < START_SUM:
            hand.append(money.pop(0))
        hands.append(hand)
    market, money = money[:PLACES], money[PLACES:]
    yard, gifts = buildings[:PLACES], buildings[PLACES : PLACES + GIFT_BUILDINGS * two]
    return {
        "hands": hands,
        "market": market,
        "yard": yard,
        "passive": gifts,
        "buildings": buildings[PLACES + len(gifts) :],
        "money": with_scoring_cards(money, setup.seed),
        "first": first_seat(hands),
        "shuffles": 4,
    }


def with_scoring_cards(money: Sequence[str], seed: int) -> list[str]:
    """The money deck with A in its second fifth and B in its fourth. The first fifths have what does not divide."""
    size, more = divmod(len(money), 5)
    ends = [n * size + min(n, more) for n in range(6)]
    piles = [list(money[a:b]) for a, b in pairwise(ends)]
    for number, (fifth, scoring) in enumerate(((1, "A"), (3, "B")), 2):
        at = int(core.shuffled([f"{n:03d}" for n in range(len(piles[fifth]) + 1)], seed, number)[0])
        piles[fifth].insert(at, scoring)
    return [card for pile in piles for card in pile]


def first_seat(hands: Sequence[Sequence[str]]) -> int:
    """Who begins: fewest cards, then the lowest sum, then the youngest."""
    return min(range(len(hands)), key=lambda seat: (len(hands[seat]), sum(map(money_value, hands[seat])), seat))


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
            batch.add("reshuffled", money=core.new_pile(batch.state, state.spent))
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
        gifts = {"A": min(GIFT_BUILDINGS, left), "B": left // 3, "C": 0}[scoring]
    batch.add("scored", **score(scoring, state.owned), gifts=gifts)


def _end(batch: EventBatch[Quarters]) -> None:
    """What is left in the yard goes to who has most money of its currency; then the last scoring."""
    for place, currency in enumerate(CURRENCIES, 1):
        if not batch.state.yard[place - 1]:
            continue
        sums = [sum(money_value(card) for card in hand if card[0] == currency) for hand in batch.state.hands]
        if max(sums) > 0 and sums.count(max(sums)) == 1:
            batch.add("left_over", place=place, owner=sums.index(max(sums)))
    _score(batch, LAST_SCORING)
    batch.add("game_over")


COMMANDS: tuple[type[GameCommand], ...] = (TakeMoney, Buy, PassTurn, ReadHand, ReadIn)


def payments(hand: Sequence[str], currency: str, price: int) -> list[tuple[str, ...]]:
    """Every way to pay of which no card can be left out: those with the smallest sum first, then with fewest cards."""
    too_little: set[tuple[str, ...]] = {()}
    enough: set[tuple[str, ...]] = set()
    for card in sorted((card for card in hand if card[0] == currency), reverse=True):
        for cards in [(card, *others) for others in too_little]:
            (enough if sum(map(money_value, cards)) >= price else too_little).add(cards)
    return sorted(enough, key=lambda cards: (sum(map(money_value, cards)), len(cards), cards))


def legal_actions(state: Quarters, seat: int) -> tuple[GameCommand, ...]:
    """Taking and buying, with every way to pay in which no card is too many."""
    takes = {cards for n in range(1, PLACES + 1) for cards in combinations(sorted(state.market), n)}
    few = [cards for cards in sorted(takes) if len(cards) == 1 or sum(map(money_value, cards)) <= MOST_AT_ONCE]
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
    names = (*SCORINGS, LAST_SCORING)
    return {
        "yard": list(state.yard),
        "market": list(state.market),
        "money": len(state.money),
        "buildings": len(state.buildings),
        "owned": [list(row) for row in state.owned],
        "points": core.total_points(state.scored, len(state.owned)),
        "next": score(names[min(len(state.scored), len(SCORINGS))], state.owned),
        "reference": {name: [rank_points(name, kind) for kind in KINDS] for name in names},
        "again": state.actions + 1 < MOST_ACTIONS,
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
