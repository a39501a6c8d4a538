"""Towers in six cities: build on every site, also on others' towers, and lead most (plays like *Manhattan*). Pure.

Six cities of nine sites; 24 stones a player, of height 1 to 4. In each round every player picks stones and then plays
them in turn, each with a site card: the card names the site, the player the city. Onto a tower that another leads, a
stone must be at least as high as the leader's storeys less one's own. After each round a tower gives 1 point, the
majority of the towers in a city 2, the highest tower of all 3.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from cards.sentences import sentence
from referee.core import Data, EventBatch, refuse_if
from referee.errors import IllegalCommand
from referee.games import core
from referee.games.core import UNKNOWN, GameCommand, Pile, Rules, Setup, Table, Tower, new_pile, with_item

CITIES = range(1, 7)
SITES = range(1, 10)
HEIGHTS = (1, 2, 3, 4)
TOWER_POINTS, MAJORITY_POINTS, HIGHEST_POINTS = 1, 2, 3


class CityRules(Rules):
    """What the rules leave open, and the variant of six rounds."""

    rounds: Literal[4, 6] = Field(4, description="Four rounds of six stones, or six of four.")
    stone_mix: tuple[int, int, int, int] = Field((11, 6, 4, 3), description="Stones of height 1, 2, 3 and 4 a player.")
    site_copies: int = Field(5, ge=3, le=20, description="How often each site is in the deck.")
    hand: int = Field(4, ge=1, le=6, description="Site cards in a hand.")
    even_tower: Literal["topmost", "nobody"] = Field(
        "topmost", description="Most storeys are shared: the tower is theirs who placed the topmost stone, or nobody's."
    )
    even_highest: Literal["nobody", "all"] = Field(
        "nobody", description="Several towers are highest: nobody gets the 3 points, or each owner once."
    )
    starter: Literal["passes_on", "stays"] = Field("passes_on", description="Who begins the next round.")

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if sum(self.stone_mix) != 24 or min(self.stone_mix) < 0:
            raise ValueError("stone_mix: the stones must be 24")
        return self

    @property
    def stones_a_round(self) -> int:
        """How many stones each picks for a round."""
        return 24 // self.rounds


@dataclass(frozen=True, kw_only=True)
class City(Table):
    """The table. By seat: ``stock`` (heights not yet picked), ``picked`` (for this round), ``hands``.

    ``towers`` are 54, city by city; ``aside`` stones that were given up.
    """

    rules: CityRules
    stock: tuple[tuple[int, ...], ...]
    picked: tuple[tuple[int, ...], ...]
    deck: Pile
    discard: Pile = ()
    towers: tuple[Tower, ...] = ((),) * 54
    aside: Tower = ()
    round: int = 1
    starter: int = 0

    def tower(self, city: int, site: int) -> Tower:
        """What stands there."""
        return self.towers[(city - 1) * 9 + site - 1]


class PickStones(GameCommand):
    """The stones for this round, by their heights."""

    stones: tuple[int, ...]
    PHASES = ("picking",)
    IN_TURN = False

    def carry_out(self, batch: EventBatch[City]) -> None:
        state, count, name = batch.state, batch.state.rules.stones_a_round, batch.state.name(self.seat)
        refuse_if(state.picked[self.seat], "game.picked", player=name)
        refuse_if(len(self.stones) != count, "game.pick", count=count, n=len(self.stones))
        for height, wanted in sorted(Counter(self.stones).items()):
            if wanted > (there := state.stock[self.seat].count(height)):
                raise IllegalCommand(sentence("game.stones_left", player=name, n=there, height=height, wanted=wanted))
        batch.add("stones_picked", seat=self.seat, stones=sorted(self.stones))


class PlayStone(GameCommand):
    """A picked stone onto a site (1-9, which a card of the hand names) of a city (1-6)."""

    stone: int
    site: int
    city: int
    PHASES = ("playing",)

    def carry_out(self, batch: EventBatch[City]) -> None:
        state = batch.state
        if self.stone not in state.picked[self.seat]:
            raise IllegalCommand(sentence("game.no_stone", player=state.name(self.seat), height=self.stone))
        refuse_if(self.city not in CITIES or self.site not in SITES, "game.no_site", site=self.site, city=self.city)
        state.hands_without(self.seat, (str(self.site),))
        if refusal := refusal_to_place(state, self.seat, self.stone, self.site, self.city):
            raise IllegalCommand(refusal)
        batch.add("stone_placed", seat=self.seat, stone=self.stone, site=self.site, city=self.city)
        _draw(batch, self.seat, 1)
        _pass_on(batch)


class GiveUpStone(GameCommand):
    """No stone can be placed with any card: a stone is laid aside and the hand exchanged."""

    stone: int
    PHASES = ("playing",)

    def carry_out(self, batch: EventBatch[City]) -> None:
        state = batch.state
        if self.stone not in state.picked[self.seat]:
            raise IllegalCommand(sentence("game.no_stone", player=state.name(self.seat), height=self.stone))
        known = sorted({*state.hands[self.seat]} - {UNKNOWN})
        if (place := next(places(state, self.seat, known), None)) is not None:
            raise IllegalCommand(sentence("game.can_place", height=place[0], site=place[1], city=place[2]))
        batch.add("stone_given_up", seat=self.seat, stone=self.stone)
        _draw(batch, self.seat, state.rules.hand)
        _pass_on(batch)


def storeys(tower: Tower) -> dict[int, int]:
    """Seat -> storeys in the tower, for every seat that has some."""
    count: dict[int, int] = {}
    for seat, height in tower:
        count[seat] = count.get(seat, 0) + height
    return count


def owner(tower: Tower, even: str = "topmost") -> int | None:
    """Whose tower it is: most storeys; equal: who placed the topmost stone of those, or nobody."""
    if not tower:
        return None
    count = storeys(tower)
    most = max(count.values())
    best = [seat for seat, _ in reversed(tower) if count[seat] == most]
    return None if len(set(best)) > 1 and even == "nobody" else best[0]


def least_stone_height(tower: Tower, seat: int) -> int:
    """How high a stone of that seat must be at least to go onto the tower; above 4: it is safe."""
    if not tower:
        return 1
    count = storeys(tower)
    return max(1, max(count.values()) - count.get(seat, 0))


def score_round(name: int, towers: tuple[Tower, ...], players: int, rules: CityRules) -> core.Scoring:
    """One scoring: city by city the towers and the majority of them, then the highest tower of all."""
    owners = [owner(tower, rules.even_tower) for tower in towers]
    lines: list[Mapping[str, Any]] = []
    for city in CITIES:
        counts = [owners[city * 9 - 9 : city * 9].count(seat) for seat in range(players)]
        rows = core.ranked(counts, lambda n, rank, shared: n * TOWER_POINTS + MAJORITY_POINTS * (rank == shared == 1))
        lines.append({"what": "city", "of": city, "rows": rows})
    heights = [sum(height for _, height in tower) for tower in towers]
    highest = [i for i, height in enumerate(heights) if height == max(heights) > 0]
    value = HIGHEST_POINTS * (len(highest) == 1 or rules.even_highest == "all")
    whose = sorted({o for i in highest if (o := owners[i]) is not None})
    rows = [core.score_row(seat, max(heights), 1, value, len(highest)) for seat in whose]
    sites = " ".join(f"{i // 9 + 1}/{i % 9 + 1}" for i in highest)
    return {"scoring": str(name), "lines": [*lines, {"what": "highest", "of": sites, "rows": rows}]}


def begin(setup: Setup) -> dict[str, Any]:
    """The deal: hands and deck of site cards."""
    deck = [str(site) for site in SITES for _ in range(setup.rules.site_copies)]
    cards = [UNKNOWN] * len(deck) if setup.mode == "scorer" else core.shuffled(deck, setup.seed, 0)
    size, count = setup.rules.hand, len(setup.players)
    return {"hands": [cards[n * size : (n + 1) * size] for n in range(count)], "deck": cards[count * size :]}


def create(setup: Setup, deal: Mapping[str, Any]) -> City:
    """The table after the deal."""
    stones = tuple(h for h, count in zip(HEIGHTS, setup.rules.stone_mix, strict=True) for _ in range(count))
    count = len(setup.players)
    return City(**core.dealt_fields(setup, deal), phase="picking", stock=(stones,) * count, picked=((),) * count)


def refusal_to_place(state: City, seat: int, stone: int, site: int, city: int) -> str:
    """Why that stone may not go there, card and turn apart; empty when it may."""
    need = least_stone_height(state.tower(city, site), seat)
    if need > max(HEIGHTS):
        return sentence("game.safe", height=need)
    return sentence("game.stone_low", height=need) if stone < need else ""


def places(state: City, seat: int, cards: Iterable[str]) -> Iterator[tuple[int, int, int]]:
    """Every (stone, site, city) that these cards allow."""
    for card in cards:
        for city in CITIES:
            need = least_stone_height(state.tower(city, int(card)), seat)
            yield from ((stone, int(card), city) for stone in sorted(set(state.picked[seat])) if stone >= need)


def _draw(batch: EventBatch[City], seat: int, count: int) -> None:
    for _ in range(count):
        if not batch.state.deck and batch.state.discard:
            batch.add("reshuffled", deck=new_pile(batch.state, batch.state.discard))
        if batch.state.deck:
            batch.add("card_drawn", seat=seat, card=batch.state.deck[0])


def _pass_on(batch: EventBatch[City]) -> None:
    """The next seat; after the last stone of a round its points; after the last round the end."""
    state = batch.state
    if any(state.picked):
        batch.add("turn_passed", seat=state.after(state.turn))
        return
    batch.add("round_scored", **score_round(state.round, state.towers, len(state.players), state.rules))
    if state.round == state.rules.rounds:
        batch.add("game_over")
        return
    starter = state.starter if state.rules.starter == "stays" else state.after(state.starter)
    batch.add("round_begun", round=state.round + 1, starter=starter)


COMMANDS: tuple[type[GameCommand], ...] = (PickStones, PlayStone, GiveUpStone)


def _picked(state: City, data: Data) -> City:
    seat, stones = data["seat"], Counter[int](data["stones"])
    rest = tuple(sorted((Counter(state.stock[seat]) - stones).elements()))
    picked = with_item(state.picked, seat, tuple(data["stones"]))
    phase = "playing" if all(picked) else "picking"
    return replace(state, stock=with_item(state.stock, seat, rest), picked=picked, phase=phase)


def _used(state: City, seat: int, stone: int) -> tuple[tuple[int, ...], ...]:
    at = state.picked[seat].index(stone)
    return with_item(state.picked, seat, state.picked[seat][:at] + state.picked[seat][at + 1 :])


def _placed(state: City, data: Data) -> City:
    seat, stone, card = data["seat"], data["stone"], str(data["site"])
    at = (data["city"] - 1) * 9 + data["site"] - 1
    return replace(
        state,
        picked=_used(state, seat, stone),
        hands=state.hands_without(seat, (card,)),
        discard=(*state.discard, card),
        towers=with_item(state.towers, at, (*state.towers[at], (seat, stone))),
    )


def _given_up(state: City, data: Data) -> City:
    seat, stone = data["seat"], data["stone"]
    return replace(
        state,
        picked=_used(state, seat, stone),
        hands=with_item(state.hands, seat, ()),
        discard=(*state.discard, *state.hands[seat]),
        aside=(*state.aside, (seat, stone)),
    )


def _round_scored(state: City, data: Data) -> City:
    lines = core.recorded_lines(data, (row["total"] for row in data.get("points", ())))
    return replace(state, scored=(*state.scored, {"scoring": str(state.round), "lines": lines}))


CHANGES: Mapping[str, Callable[[City, Data], City]] = {
    "stones_picked": _picked,
    "stone_placed": _placed,
    "stone_given_up": _given_up,
    "card_drawn": lambda s, d: replace(s, hands=s.hands_with(d["seat"], d["card"]), deck=s.deck[1:]),
    "reshuffled": lambda s, d: replace(s, deck=tuple(d["deck"]), discard=(), shuffles=s.shuffles + 1),
    "turn_passed": lambda s, d: replace(s, turn=d["seat"]),
    "round_scored": _round_scored,
    "round_begun": lambda s, d: replace(s, phase="picking", round=d["round"], starter=d["starter"], turn=d["starter"]),
}


def legal(state: City, seat: int) -> tuple[GameCommand, ...]:
    """What that seat may ask for now."""
    if state.phase == "picking" and not state.picked[seat]:
        count, stock = state.rules.stones_a_round, Counter(state.stock[seat])
        sets = combinations_with_replacement(sorted(stock), count)
        return tuple(PickStones(seat, stones) for stones in sets if not Counter(stones) - stock)
    if state.phase != "playing" or seat != state.turn:
        return ()
    hand = state.hands[seat]
    plays = tuple(PlayStone(seat, *place) for place in places(state, seat, core.possible(hand, map(str, SITES))))
    rest = tuple(GiveUpStone(seat, stone) for stone in sorted(set(state.picked[seat])))
    return plays if plays and UNKNOWN not in hand else (*plays, *rest)


def view(state: City, seat: int | None) -> dict[str, Any]:
    """What lies open to all, and the seat's own cards; what the others pick is open when all have picked."""
    open_now = state.phase != "picking"
    towers = [
        {
            "city": i // 9 + 1,
            "site": i % 9 + 1,
            "stones": [list(stone) for stone in tower],
            "owner": owner(tower, state.rules.even_tower),
            "parts": Counter(storeys(tower)).most_common(),
            "needs": [least_stone_height(tower, seat) for seat in state.seats],
        }
        for i, tower in enumerate(state.towers)
        if tower
    ]
    return {
        "round": state.round,
        "rounds": state.rules.rounds,
        "towers": towers,
        "picked": [list(p) if open_now or n == seat else len(p) * [0] for n, p in enumerate(state.picked)],
        "stock": [list(s) if open_now or n == seat else len(s) * [0] for n, s in enumerate(state.stock)],
        "deck": len(state.deck),
        "next": score_round(state.round, state.towers, len(state.players), state.rules),
    }


def pieces(state: City) -> Counter[str]:
    """Every site card and every stone, wherever it is."""
    count = Counter((*state.deck, *state.discard, *(card for hand in state.hands for card in hand)))
    for seat in state.seats:
        count.update(f"stone {seat}/{height}" for height in (*state.stock[seat], *state.picked[seat]))
    count.update(f"stone {seat}/{height}" for tower in (*state.towers, state.aside) for seat, height in tower)
    return count


def deck(state: City) -> Counter[str]:
    """What the box holds for so many players."""
    count = Counter({str(site): state.rules.site_copies for site in SITES})
    stones = zip(HEIGHTS, state.rules.stone_mix, strict=True)
    return count + Counter({f"stone {seat}/{h}": n for h, n in stones for seat in state.seats})
