"""Towers of storeys that sum to nine, with dogs, hammers and thieves: cards, table and rules. Pure.

A number card is its number, ``1`` to ``8``; the others have names. A storey lies as two cards; a joker in it stands for
what makes nine.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from typing import Any, Literal

from pydantic import Field

from referee.core import Data, EventBatch, refuse_if
from referee.errors import IllegalCommand
from referee.games import core
from referee.games.core import GAME_OVER, UNKNOWN, GameCommand, Pile, Rules, Scoring, Setup, Table, ranked, with_item

NUMBERS = tuple(str(n) for n in range(1, 9))
SUM = 9
DEALT_CARDS, FULL_HAND, LEAST_HAND = 5, 8, 3
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


@dataclass(frozen=True, kw_only=True)
class Nine(Table):
    """The table. By seat: ``hands``, ``towers`` (the lowest storey first), ``milkshakes`` that stand before them.

    ``again``: the donut truck stands in the middle, the seat in turn plays again. ``idle`` counts the turns in a row
    in which nothing was drawn or played, ``acted`` is whether this one is not such a turn.
    """

    rules: NineRules
    draw: Pile
    discard: Pile = ()
    towers: tuple[tuple[Storey, ...], ...]
    milkshakes: tuple[bool, ...]
    again: bool = False
    idle: int = 0
    acted: bool = False


class PlayingCommand(GameCommand):
    """Asked for in a turn, but for one with a milkshake."""

    PHASES = ("playing",)


class BuildStorey(PlayingCommand):
    """A storey of two cards of the hand."""

    first: str
    second: str

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        values, cards = pair_values(self.first, self.second), [self.first, self.second]
        batch.state.hands_without(self.seat, cards)
        _raise(batch, self.seat, cards, values, cards)


class StealStorey(PlayingCommand):
    """A storey of one's own number and a card of the victim's top storey; that storey's other card is discarded."""

    card: str
    victim: int
    steal: str

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        state = batch.state
        _other(state, self.seat, self.victim)
        refuse_if(self.card not in NUMBERS, "game.steal_joker")
        state.hands_without(self.seat, [self.card])
        top = _top(state, self.victim)
        refuse_if(top.dog, "game.guarded", player=state.name(self.victim))
        refuse_if(self.steal not in top.cards, "game.not_on_top", card=self.steal, player=state.name(self.victim))
        at = top.cards.index(self.steal)
        a, b = int(self.card), top.values[at]
        refuse_if(a + b != SUM, "game.not_nine", a=a, b=b, total=a + b)
        batch.add("top_gone", victim=self.victim, discarded=[top.cards[1 - at]])
        _raise(batch, self.seat, [self.card, self.steal], (a, b), [self.card])


class SetDog(PlayingCommand):
    """A guard dog beside one's own storey (1 is the lowest)."""

    storey: int

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        batch.state.hands_without(self.seat, ["dog"])
        refuse_if(_storey(batch.state, self.seat, self.storey).dog, "game.dog_there")
        batch.add("dog_set", owner=self.seat, storey=self.storey)


class LureDog(PlayingCommand):
    """A bone for the dog beside a storey of the victim: both are discarded."""

    victim: int
    storey: int

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        batch.state.hands_without(self.seat, ["bone"])
        refuse_if(not _storey(batch.state, self.victim, self.storey).dog, "game.no_dog")
        batch.add("dog_lured", seat=self.seat, owner=self.victim, storey=self.storey)


class Destroy(PlayingCommand):
    """The victim's top storey, by ``tool``: a hammer where no dog is, a wrecking ball anywhere."""

    victim: int
    tool: str

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        state = batch.state
        refuse_if(self.tool not in TOOLS, "game.no_tool", card=self.tool)
        _other(state, self.seat, self.victim)
        state.hands_without(self.seat, [self.tool])
        top = _top(state, self.victim)
        refuse_if(top.dog and self.tool == "hammer", "game.guarded_hammer", player=state.name(self.victim))
        batch.add("used", seat=self.seat, card=self.tool)
        batch.add("top_gone", victim=self.victim, discarded=[*top.cards, *["dog"] * top.dog])


class PlayThief(PlayingCommand):
    """One unseen card of the victim's hand."""

    victim: int

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        _other(batch.state, self.seat, self.victim)
        batch.state.hands_without(self.seat, ["thief"])
        refuse_if(not batch.state.hands[self.victim], "game.empty_hand", player=batch.state.name(self.victim))
        batch.add("used", seat=self.seat, card="thief")
        _rob(batch, self.seat, self.victim)


class PlaySuperThief(PlayingCommand):
    """One unseen card of every other hand."""

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        batch.state.hands_without(self.seat, ["superthief"])
        victims = [seat for seat in batch.state.in_order(self.seat)[1:] if batch.state.hands[seat]]
        refuse_if(not victims, "game.empty_hands")
        batch.add("used", seat=self.seat, card="superthief")
        for victim in victims:
            _rob(batch, self.seat, victim)


class ServeMilkshake(PlayingCommand):
    """A milkshake before the victim, whose next turn it is."""

    victim: int

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        _other(batch.state, self.seat, self.victim)
        batch.state.hands_without(self.seat, ["milkshake"])
        refuse_if(batch.state.milkshakes[self.victim], "game.milkshake_there", player=batch.state.name(self.victim))
        batch.add("milkshake_served", seat=self.seat, victim=self.victim)


class ParkTruck(PlayingCommand):
    """The donut truck: everybody else skips a turn."""

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        batch.state.hands_without(self.seat, ["truck"])
        batch.add("truck_parked", seat=self.seat)


class EndTurn(PlayingCommand):
    """Nothing more: refill to three and the next seat's turn."""

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        _refill(batch, self.seat)
        _next_turn(batch)


class DiscardMilkshake(GameCommand):
    """All that can be done in a turn with a milkshake."""

    PHASES = ("drinking",)

    def carry_out(self, batch: EventBatch[Nine]) -> None:
        batch.add("milkshake_drunk", seat=self.seat)
        if batch.state.rules.milkshake == "no_start_draw":
            _refill(batch, self.seat)
        _next_turn(batch)


def create(setup: Setup, deal: Mapping[str, Any]) -> Nine:
    """The table after the deal, the youngest's first card drawn."""
    count = len(setup.players)
    given = core.dealt_fields(setup, deal)
    return Nine(**given, phase="playing", towers=((),) * count, milkshakes=(False,) * count, acted=True)


def _spent(state: Nine, seat: int, *cards: str) -> Nine:
    """These cards of the hand played."""
    return replace(state, hands=state.hands_without(seat, cards), acted=True)


def _discarded(state: Nine, *cards: str) -> Nine:
    return replace(state, discard=(*state.discard, *cards))


def _built(state: Nine, data: Data) -> Nine:
    seat, cards, values = data["seat"], data["cards"], data["values"]
    storey = Storey((cards[0], cards[1]), (values[0], values[1]))
    state = _spent(state, seat, *data["from_hand"])
    return replace(state, towers=with_item(state.towers, seat, (*state.towers[seat], storey)))


def _top_gone(state: Nine, data: Data) -> Nine:
    """The victim's top storey is taken off; ``discarded`` of its cards go to the pile."""
    tower = state.towers[data["victim"]]
    return _discarded(replace(state, towers=with_item(state.towers, data["victim"], tower[:-1])), *data["discarded"])


def _dog(state: Nine, data: Mapping[str, Any], there: bool) -> Nine:
    owner, at = data["owner"], data["storey"] - 1
    tower = state.towers[owner]
    return replace(state, towers=with_item(state.towers, owner, with_item(tower, at, replace(tower[at], dog=there))))


def _stolen(state: Nine, data: Data) -> Nine:
    seat, victim, card = data["seat"], data["victim"], data["card"]
    rest = list(state.hands[victim])
    rest.remove(card)
    hands = with_item(with_item(state.hands, victim, tuple(rest)), seat, (*state.hands[seat], card))
    return replace(state, hands=hands, shuffles=state.shuffles + 1)


def _milkshake(state: Nine, seat: int, there: bool) -> Nine:
    return replace(state, milkshakes=with_item(state.milkshakes, seat, there), acted=True)


CHANGES: Mapping[str, Callable[[Nine, Data], Nine]] = {
    "storey_built": _built,
    "top_gone": _top_gone,
    "dog_set": lambda s, d: _dog(_spent(s, d["owner"], "dog"), d, True),
    "dog_lured": lambda s, d: _discarded(_dog(_spent(s, d["seat"], "bone"), d, False), "bone", "dog"),
    "used": lambda s, d: _discarded(_spent(s, d["seat"], d["card"]), d["card"]),
    "stolen": _stolen,
    "milkshake_served": lambda s, d: _milkshake(_spent(s, d["seat"], "milkshake"), d["victim"], True),
    "milkshake_drunk": lambda s, d: _discarded(_milkshake(s, d["seat"], False), "milkshake"),
    "truck_parked": lambda s, d: replace(_spent(s, d["seat"], "truck"), again=True),
    "truck_left": lambda s, d: _discarded(replace(s, again=False), "truck"),
    "card_drawn": lambda s, d: replace(s, hands=s.hands_with(d["seat"], d["card"]), draw=s.draw[1:], acted=True),
    "reshuffled": lambda s, d: replace(s, draw=tuple(d["draw"]), discard=(), shuffles=s.shuffles + 1),
    "turn_begun": lambda s, d: replace(
        s, turn=d["seat"], phase=d["phase"], idle=0 if s.acted else s.idle + 1, acted=False
    ),
}


def pieces(state: Nine) -> Counter[str]:
    """Every card, wherever it is."""
    count = Counter((*state.draw, *state.discard, *(card for hand in state.hands for card in hand)))
    for storey in (storey for tower in state.towers for storey in tower):
        count.update((*storey.cards, *["dog"] * storey.dog))
    count.update(["milkshake"] * sum(state.milkshakes) + ["truck"] * state.again)
    return count


def deck(state: Nine) -> Counter[str]:
    """What the box holds."""
    return Counter(CARDS)


def scored(state: Nine) -> tuple[Scoring]:
    """A point for every storey."""
    heights = [len(tower) for tower in state.towers]
    rows = ranked(heights, lambda count, rank, shared: count)
    return ({"scoring": "end", "lines": [{"what": "storeys", "of": state.rules.storeys, "rows": rows}]},)


TOOLS = ("hammer", "ball")


def begin(setup: Setup) -> dict[str, Any]:
    """The deal: five cards each, and the youngest's first draw."""
    cards = [card for card, count in CARDS.items() for _ in range(count)]
    cards = [UNKNOWN] * len(cards) if setup.mode == "scorer" else core.shuffled(cards, setup.seed, 0)
    dealt = len(setup.players) * DEALT_CARDS
    hands = [cards[n : n + DEALT_CARDS] for n in range(0, dealt, DEALT_CARDS)]
    return {"hands": [[*hands[0], cards[dealt]], *hands[1:]], "draw": cards[dealt + 1 :]}


def pair_values(first: str, second: str) -> tuple[int, int]:
    """What two cards of a storey stand for. Raises IllegalCommand when they make none."""
    for card in (first, second):
        refuse_if(card not in (*NUMBERS, "joker"), "game.no_storey_card", card=card)
    refuse_if(first == second == "joker", "game.two_jokers")
    if first == "joker":
        return SUM - int(second), int(second)
    a = int(first)
    b = SUM - a if second == "joker" else int(second)
    refuse_if(a + b != SUM, "game.not_nine", a=a, b=b, total=a + b)
    return a, b


def _other(state: Nine, seat: int, victim: int) -> None:
    refuse_if(victim not in state.seats, "game.no_seat", seat=victim)
    refuse_if(victim == seat, "game.others_only")


def _top(state: Nine, victim: int) -> Storey:
    refuse_if(not state.towers[victim], "game.no_storeys", player=state.name(victim))
    return state.towers[victim][-1]


def _storey(state: Nine, owner: int, number: int) -> Storey:
    refuse_if(owner not in state.seats, "game.no_seat", seat=owner)
    refuse_if(not 1 <= number <= len(state.towers[owner]), "game.no_storey", player=state.name(owner), number=number)
    return state.towers[owner][number - 1]


def _raise(batch: EventBatch[Nine], seat: int, cards: list[str], values: tuple[int, int], from_hand: list[str]) -> None:
    """One more storey, and the end when it was the last that was missing."""
    batch.add("storey_built", seat=seat, cards=cards, values=list(values), from_hand=from_hand)
    if len(batch.state.towers[seat]) >= batch.state.rules.storeys:
        batch.add("game_over", reason="tower")


def _rob(batch: EventBatch[Nine], seat: int, victim: int) -> None:
    """One card that the thief cannot see: the seed picks it."""
    hand = batch.state.hands[victim]
    at = int(core.shuffled([f"{n:02d}" for n in range(len(hand))], batch.state.seed, batch.state.shuffles)[0])
    batch.add("stolen", seat=seat, victim=victim, card=hand[at])


def _refill(batch: EventBatch[Nine], seat: int) -> None:
    while len(batch.state.hands[seat]) < LEAST_HAND and _draw(batch, seat):
        pass


def _draw(batch: EventBatch[Nine], seat: int) -> bool:
    """One card, the discard pile shuffled first when there is no other; False when both are empty."""
    if not batch.state.draw and batch.state.discard:
        batch.add("reshuffled", draw=core.new_pile(batch.state, batch.state.discard))
    if not batch.state.draw:
        return False
    batch.add("card_drawn", seat=seat, card=batch.state.draw[0])
    return True


def _next_turn(batch: EventBatch[Nine]) -> None:
    """Whose turn it is, what it begins with; or the end when nothing moves any more."""
    state = batch.state
    seat = state.turn if state.again else state.after(state.turn)
    if state.again:
        batch.add("truck_left")
    drinks = state.milkshakes[seat]
    batch.add("turn_begun", seat=seat, phase="drinking" if drinks else "playing")
    if batch.state.idle >= batch.state.rules.stalled_rounds * len(state.players):
        batch.add("game_over", reason="stalled")
    elif not drinks and len(batch.state.hands[seat]) < batch.state.rules.full_hand:
        _draw(batch, seat)


COMMANDS: tuple[type[GameCommand], ...] = (*PlayingCommand.__subclasses__(), DiscardMilkshake)


def moves(state: Nine, cards: Sequence[str]) -> Iterator[GameCommand]:
    """What may be tried in this turn with these cards of the hand."""
    seat = state.turn
    yield from (BuildStorey(seat, *pair) for pair in combinations(cards, 2))
    yield from (SetDog(seat, n + 1) for n in range(len(state.towers[seat])))
    for victim in state.in_order(seat)[1:]:
        tower = state.towers[victim]
        yield from (LureDog(seat, victim, n + 1) for n in range(len(tower)))
        yield from (Destroy(seat, victim, tool) for tool in TOOLS)
        yield from (ServeMilkshake(seat, victim), PlayThief(seat, victim))
        stolen = sorted(set(tower[-1].cards)) if tower else []
        yield from (StealStorey(seat, card, victim, s) for card, s in product(cards, stolen))
    yield from (DiscardMilkshake(seat), ParkTruck(seat), PlaySuperThief(seat))


def legal(state: Nine, seat: int) -> tuple[GameCommand, ...]:
    """What that seat may ask for now: of all that it may try what is not refused."""
    if seat != state.turn or state.phase == GAME_OVER:
        return ()
    tried = (*moves(state, core.possible(state.hands[seat], CARDS)), EndTurn(seat))
    return tuple(move for move in tried if state.phase in move.PHASES and _accepted(state, move))


def _accepted(state: Nine, move: GameCommand) -> bool:
    try:
        move.carry_out(EventBatch(state, lambda s, e: CHANGES[e.kind](s, e.data) if e.kind in CHANGES else s))
    except IllegalCommand:
        return False
    return True


def view(state: Nine, seat: int | None) -> dict[str, Any]:
    """What lies open to all, and the seat's own cards."""
    return {
        "towers": [[asdict(storey) for storey in tower] for tower in state.towers],
        "storeys": state.rules.storeys,
        "milkshakes": list(state.milkshakes),
        "truck": state.again,
        "draw": len(state.draw),
        "discard": list(state.discard),
    }
