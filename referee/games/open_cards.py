"""What a camera read of the cards that lie open, held against the record: which move leads to that. Pure.

Every move that the seat in turn could have made is tried on the record; proposed is what leads to the cards that are
seen. Where several lead there (a joker stands for more than one number) all are offered, and a human chooses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from cards.sentences import Sentence, sentence
from referee.errors import IllegalCommand
from referee.games import tower_bets as bets
from referee.games.core import GameCommand, Table
from referee.games.match import Match
from referee.games.nine_sum_towers import table as nine
from referee.games.nine_sum_towers.play import TOOLS
from referee.games.quarters_and_currencies import table as quarters
from referee.games.quarters_and_currencies.cards import MOST_AT_ONCE, PLACES, SCORINGS, value
from referee.games.sighting import Proposal

Cards = Counter[str]
MOST_OFFERED = 4
"""More moves than that are not told apart by what lies open: then it is entered."""


def propose_cards(match: Match, seen: Sequence[str]) -> Proposal:
    """The moves after which the cards that are ``seen`` would lie open, as the pictures show them row by row."""
    state, there = match.state, Counter(seen)
    found: list[GameCommand] = []
    for command in _candidates(state, seen):
        try:
            after = match.game.decide(state, command).state
        except IllegalCommand:
            continue
        must, may = open_after(state, command, after)
        if must <= there and there - must <= may and (there != lying(state) or isinstance(command, quarters.ReadHand)):
            found.append(command)
    if 1 <= len(found) <= MOST_OFFERED:
        said = sentence("game.camera.cards", n=len(seen))
        return Proposal(said, found[0], others=tuple(found[1:]))
    return Proposal(_unexplained(there, lying(state), len(found)))


def _unexplained(there: Cards, recorded: Cards, found: int) -> Sentence:
    if there == recorded:
        return sentence("game.camera.cards_same", n=there.total())
    if found:
        return sentence("game.camera.cards_many", n=found)
    more, less = (sorted((a - b).elements()) or ["–"] for a, b in ((there, recorded), (recorded, there)))
    return sentence("game.camera.cards_odd", more=more, less=less)


def propose_storeys(state: bets.Bets, heights: Mapping[str, int], doubtful: Sequence[str] = ()) -> Proposal:
    """The card that was built, from how many storeys each column of ``heights`` has; ``doubtful`` could not be read."""
    grown = {style: high - state.heights[bets.STYLES.index(style)] for style, high in heights.items()}
    other = {style: by for style, by in sorted(grown.items()) if by}
    if doubtful:
        return Proposal(sentence("game.camera.columns_doubtful", towers=sorted(doubtful)))
    if not other:
        return Proposal(sentence("game.camera.columns_same", n=len(heights)))
    if len(other) > 1 or not set(other.values()) <= set(bets.STOREYS):
        told = [f"{style} {heights[style]}" for style in other]
        return Proposal(sentence("game.camera.columns_odd", towers=told))
    ((style, by),) = other.items()
    said = sentence("game.camera.column", player=state.name(state.turn), tower=style, n=by)
    return Proposal(said, bets.Build(state.turn, style, by))


def lying(state: Table) -> Cards:
    """What lies open by the record, and must be seen."""
    if isinstance(state, nine.Nine):
        lying = Counter(card for tower in state.towers for storey in tower for card in storey.cards)
        lying.update(dog=sum(storey.dog for tower in state.towers for storey in tower))
        lying.update(milkshake=sum(state.milkshakes), truck=int(state.again))
        return +lying
    if isinstance(state, quarters.Quarters):
        return Counter([*filter(None, state.yard), *state.market])
    return Counter()


def open_after(before: Table, command: GameCommand, after: Table) -> tuple[Cards, Cards]:
    """What must lie open after the command, and what more may: of used cards what it discarded."""
    if isinstance(after, nine.Nine) and isinstance(before, nine.Nine):
        return lying(after), Counter(after.discard[len(before.discard) :]) + Counter(after.discard[-1:])
    must = lying(after)
    if isinstance(command, quarters.Buy):
        return must + Counter(command.pay), Counter()
    if isinstance(command, quarters.ReadHand):
        return Counter(command.cards), Counter()
    if isinstance(command, quarters.ReadIn) and (
        command.card in SCORINGS or getattr(before, "phase", "") == "reading_gift"
    ):
        return must + Counter([command.card]), Counter()
    return must, Counter()


def _candidates(state: Table, seen: Sequence[str]) -> Iterator[GameCommand]:
    """What may have been done, as far as cards that lie open tell of it."""
    if isinstance(state, nine.Nine):
        yield from _nine(state, sorted((Counter(seen) - lying(state)).elements()))
    elif isinstance(state, quarters.Quarters):
        yield from _quarters(state, seen, sorted((Counter(seen) - lying(state)).elements()))


def _nine(state: nine.Nine, new: list[str]) -> Iterator[GameCommand]:
    seat, others = state.turn, [s for s in state.seats if s != state.turn]
    yield from (nine.BuildStorey(seat, *pair) for pair in sorted(set(combinations(new, 2))))
    yield from (nine.SetDog(seat, n + 1) for n in range(len(state.towers[seat])))
    for victim in others:
        tower = state.towers[victim]
        yield from (nine.LureDog(seat, victim, n + 1) for n in range(len(tower)))
        yield from (nine.Destroy(seat, victim, tool) for tool in TOOLS)
        yield from (nine.ServeMilkshake(seat, victim), nine.PlayThief(seat, victim))
        stolen = sorted(set(tower[-1].cards)) if tower else []
        yield from (nine.StealStorey(seat, card, victim, s) for card, s in product(nine.NUMBERS, stolen) if card in new)
    yield from (nine.DiscardMilkshake(seat), nine.ParkTruck(seat), nine.PlaySuperThief(seat))


def _quarters(state: quarters.Quarters, seen: Sequence[str], new: list[str]) -> Iterator[GameCommand]:
    seat = state.turn
    if state.phase == "reading_hands":
        yield quarters.ReadHand(next(s for s in state.seats if not state.hands[s]), tuple(seen))
    yield from (quarters.ReadIn(seat, card) for card in sorted(set(new)))
    gone = tuple(sorted((Counter(state.market) - Counter(seen)).elements()))
    if gone and (len(gone) == 1 or sum(map(value, gone)) <= MOST_AT_ONCE):
        yield quarters.TakeMoney(seat, gone)
    for place, give in product(range(1, PLACES + 1), (False, True)):
        yield quarters.Buy(seat, place, tuple(new), give)
