"""Five towers grow, and chips say which will be highest. Pure.

A turn: one card onto the tower of its style raises it by one, two or three storeys; then, who likes, bets one chip on a
tower whose style lies open on a pile, at least as high as the storeys just added; then draws from the pile with that
number. When a pile is used up the four highest towers get flags of two values, for the most and the second most power.

Towers stand in a row, ``A`` to ``E``, ``A`` nearest to the piles.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field

from cards.sentences import sentence
from referee.core import Data, EventBatch, refuse_if
from referee.errors import IllegalCommand
from referee.games import core
from referee.games.core import GAME_OVER, UNKNOWN, GameCommand, Pile, Rules, Setup, Table, with_item

STYLES = ("A", "B", "C", "D", "E")
CHIPS = (1, 2, 3)
STOREYS = (1, 2, 3)
TAKEN_OUT = {2: 5, 3: 3, 4: 1, 5: 0}
"""Players -> cards of each style that stay in the box."""

HAND = 3

Bet = tuple[int, tuple[int, ...]]
"""A seat and its chips on one tower, in the order in which they were laid."""


class BetRules(Rules):
    """What the rules leave open, and the variant of the bet."""

    bet_on: Literal["open", "played"] = Field(
        "open", description="A bet may go on a tower whose style lies open on a pile, or on the one just played on."
    )
    cards_a_style: int = Field(12, ge=9, le=20, description="Tower cards of each style.")
    chips_of_each: int = Field(2, ge=1, le=4, description="Chips of each value 1, 2 and 3 a player.")
    flags: tuple[tuple[int, int], ...] = Field(
        ((8, 4), (6, 3), (4, 2), (2, 1)),
        min_length=4,
        max_length=4,
        description="The flags from the highest tower down: for most power, and for the second most.",
    )


@dataclass(frozen=True, kw_only=True)
class Bets(Table):
    """The table. ``piles``: numbers 1 to 3, the open card first; ``heights`` and ``bets`` by tower, A first.

    ``added`` are the storeys of this turn, on ``built``; ``chips`` by seat, how many of value 1, 2 and 3 are left.
    """

    rules: BetRules
    piles: tuple[Pile, ...]
    out: Pile
    played: Pile = ()
    heights: tuple[int, ...] = (0,) * 5
    bets: tuple[tuple[Bet, ...], ...] = ((),) * 5
    chips: tuple[tuple[int, ...], ...] = ()
    built: str = ""
    added: int = 0

    @property
    def open_cards(self) -> Pile:
        """The styles that lie open, pile 1 first."""
        return tuple(pile[0] for pile in self.piles if pile)


class PlayCard(GameCommand):
    """A card of the hand onto the tower of its style, which it raises by so many storeys."""

    NAME = "Build"

    style: str
    storeys: int
    PHASES = ("building",)

    def carry_out(self, batch: EventBatch[Bets]) -> None:
        _known(self.style)
        refuse_if(self.storeys not in STOREYS, "game.storeys", n=self.storeys)
        batch.state.hands_without(self.seat, (self.style,))
        batch.add("built", seat=self.seat, style=self.style, storeys=self.storeys)


class BetChip(GameCommand):
    """One chip onto a tower."""

    tower: str
    chip: int
    PHASES = ("betting",)

    def carry_out(self, batch: EventBatch[Bets]) -> None:
        _known(self.tower)
        if refusal := refusal_to_bet(batch.state, self.seat, self.tower, self.chip):
            raise IllegalCommand(refusal)
        batch.add("bet", seat=self.seat, tower=self.tower, chip=self.chip)


class Draw(GameCommand):
    """The card from the pile with the number of storeys just added; the turn ends."""

    PHASES = ("betting", "drawing")

    def carry_out(self, batch: EventBatch[Bets]) -> None:
        state = batch.state
        pile = state.added
        batch.add("card_drawn", seat=self.seat, pile=pile, card=state.piles[pile - 1][0])
        if not batch.state.piles[pile - 1]:
            batch.add("game_over", scores=list(core.total_points(scored(batch.state), len(state.players))))
            return
        batch.add("turn_passed", seat=state.after(state.turn))


class ReadPile(GameCommand):
    """A scorer's game: the card that lies open on a pile (1-3)."""

    NAME = "ReadIn"

    pile: int
    style: str
    PHASES = ("reading",)
    IN_TURN = False

    def carry_out(self, batch: EventBatch[Bets]) -> None:
        _known(self.style)
        refuse_if(self.pile not in STOREYS, "game.no_pile", pile=self.pile)
        refuse_if(batch.state.piles[self.pile - 1][0] != UNKNOWN, "game.pile_read", pile=self.pile)
        batch.add("card_read", pile=self.pile, card=self.style)


def tower_order(heights: tuple[int, ...]) -> list[int]:
    """The towers from the highest down; equal: nearer to the piles first."""
    return sorted(range(5), key=lambda tower: (-heights[tower], tower))


def tower_powers(bets: tuple[Bet, ...]) -> list[tuple[int, int]]:
    """(power, seat) on one tower, most first; equal: who bet first."""
    return sorted(((sum(chips), seat) for seat, chips in bets), key=lambda row: -row[0])


def scored(state: Bets) -> tuple[core.Scoring]:
    """What the game gives were it to end now, from the highest tower down; the last one has no flag."""
    lines = []
    for tower, flag in zip(tower_order(state.heights), (*state.rules.flags, ()), strict=True):
        values, powers = (*flag, *[0] * len(state.players)), tower_powers(state.bets[tower])
        rows = [core.score_row(seat, power, n, values[n - 1]) for n, (power, seat) in enumerate(powers, 1)]
        lines.append({"what": "tower", "of": STYLES[tower], "height": state.heights[tower], "flag": flag, "rows": rows})
    return ({"scoring": "end", "lines": lines},)


def begin(setup: Setup) -> dict[str, Any]:
    """The deal: what stays in the box, hands of three, three equal piles, what is left over; the oldest begins."""
    players = len(setup.players)
    each = setup.rules.cards_a_style - TAKEN_OUT[players]
    box = [style for style in STYLES for _ in range(TAKEN_OUT[players])]
    cards = [style for style in STYLES for _ in range(each)]
    cards = [UNKNOWN] * len(cards) if setup.mode == "scorer" else core.shuffled(cards, setup.seed, 0)
    hands = [cards[n * HAND : (n + 1) * HAND] for n in range(players)]
    rest = cards[players * HAND :]
    size = len(rest) // 3
    piles = [rest[n * size : (n + 1) * size] for n in range(3)]
    return {"hands": hands, "piles": piles, "out": box + rest[3 * size :], "first": players - 1}


def create(setup: Setup, deal: Mapping[str, Any]) -> Bets:
    """The table after the deal. A deal that does not say who begins is of an earlier version: the youngest did."""
    given = core.dealt_fields(setup, deal)
    start = {"turn": given.pop("first", 0), "phase": "reading" if setup.mode == "scorer" else "building"}
    return Bets(**given, **start, chips=((setup.rules.chips_of_each,) * 3,) * len(setup.players))


def _known(style: str) -> int:
    refuse_if(style not in STYLES, "game.no_tower", tower=style)
    return STYLES.index(style)


def refusal_to_bet(state: Bets, seat: int, tower: str, chip: int) -> str:
    """Why that chip may not go onto that tower now; empty when it may."""
    if chip not in CHIPS or not state.chips[seat][chip - 1]:
        return sentence("game.no_chip", player=state.name(seat), chip=chip)
    if chip < state.added:
        return sentence("game.chip_small", n=state.added)
    if state.rules.bet_on == "played" and tower != state.built:
        return sentence("game.bet_built", tower=state.built)
    if state.rules.bet_on == "open" and tower not in state.open_cards:
        return sentence("game.bet_open", tower=tower, open=sorted(set(state.open_cards)))
    return ""


def _built(state: Bets, data: Data) -> Bets:
    seat, style, tower = data["seat"], data["style"], STYLES.index(data["style"])
    return replace(
        state,
        phase="betting",
        hands=state.hands_without(seat, (style,)),
        played=(*state.played, style),
        heights=with_item(state.heights, tower, state.heights[tower] + data["storeys"]),
        built=style,
        added=data["storeys"],
    )


def _betted(state: Bets, data: Data) -> Bets:
    seat, chip, tower = data["seat"], data["chip"], STYLES.index(data["tower"])
    bets, row = state.bets[tower], state.chips[seat]
    place = next((n for n, (who, _) in enumerate(bets) if who == seat), None)
    if place is None:
        bets = (*bets, (seat, (chip,)))
    else:
        bets = with_item(bets, place, (seat, (*bets[place][1], chip)))
    chips = with_item(state.chips, seat, with_item(row, chip - 1, row[chip - 1] - 1))
    return replace(state, phase="drawing", bets=with_item(state.bets, tower, bets), chips=chips)


def _drawn(state: Bets, data: Data) -> Bets:
    seat, at = data["seat"], data["pile"] - 1
    hands = state.hands_with(seat, data["card"])
    return replace(state, hands=hands, piles=with_item(state.piles, at, state.piles[at][1:]))


def _read(state: Bets, data: Data) -> Bets:
    at = data["pile"] - 1
    piles = with_item(state.piles, at, (data["card"], *state.piles[at][1:]))
    return replace(state, piles=piles, phase=_next_phase(piles))


def _next_phase(piles: tuple[Pile, ...]) -> str:
    """A turn can begin once every open card is known."""
    return "reading" if any(pile[0] == UNKNOWN for pile in piles) else "building"


COMMANDS: tuple[type[GameCommand], ...] = (PlayCard, BetChip, Draw, ReadPile)
CHANGES: Mapping[str, Callable[[Bets, Data], Bets]] = {
    "built": _built,
    "bet": _betted,
    "card_drawn": _drawn,
    "card_read": _read,
    "turn_passed": lambda s, d: replace(s, turn=d["seat"], phase=_next_phase(s.piles), built="", added=0),
}


def legal(state: Bets, seat: int) -> tuple[GameCommand, ...]:
    """What that seat may ask for now."""
    if state.phase == GAME_OVER or seat != state.turn:
        return ()
    if state.phase == "building":
        return tuple(PlayCard(seat, style, n) for style in core.possible(state.hands[seat], STYLES) for n in STOREYS)
    bets: tuple[GameCommand, ...] = ()
    if state.phase == "betting":
        asked = ((tower, chip) for tower in STYLES for chip in CHIPS)
        bets = tuple(BetChip(seat, *row) for row in asked if not refusal_to_bet(state, seat, *row))
    return (*bets, Draw(seat)) if state.phase in Draw.PHASES else ()


def view(state: Bets, seat: int | None) -> dict[str, Any]:
    """What lies open to all, and the seat's own cards."""
    towers = [
        {"style": style, "height": state.heights[n], "bets": [{"seat": s, "chips": list(c)} for s, c in state.bets[n]]}
        for n, style in enumerate(STYLES)
    ]
    return {
        "towers": towers,
        "piles": [{"open": pile[0] if pile else None, "cards": len(pile)} for pile in state.piles],
        "chips": [list(row) for row in state.chips],
        "added": state.added,
        "built": state.built,
    }


def pieces(state: Bets) -> Counter[str]:
    """Every card and every chip, wherever it is."""
    cards = (*(c for pile in (*state.hands, *state.piles) for c in pile), *state.out, *state.played)
    count = Counter(cards)
    for seat, row in enumerate(state.chips):
        count.update({f"chip {seat}/{value}": left for value, left in zip(CHIPS, row, strict=True)})
    for bets in state.bets:
        count.update(f"chip {seat}/{chip}" for seat, chips in bets for chip in chips)
    return count


def deck(state: Bets) -> Counter[str]:
    """What the box holds for so many players."""
    chips = {f"chip {seat}/{value}": state.rules.chips_of_each for seat in state.seats for value in CHIPS}
    return Counter({style: state.rules.cards_a_style for style in STYLES} | chips)
