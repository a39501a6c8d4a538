"""Piles and draws: seeded shuffles, by mode, reshuffled from the returned cards when they run out."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from cards.sentences import sentence
from referee.core import shuffled
from referee.errors import AsksFirst, IllegalCommand
from referee.match.card_facts import CardFacts
from referee.match.commands import MODES
from referee.match.state import MatchState

EXPERT_PILES = (2, 3, 4)
"""RULES.md, experts: duels 1, 2, 3 of a round draw from the piles of value 2, 3, 4."""


def pile_names(mode: str) -> tuple[str, ...]:
    """The mode's piles: one, or one per value for experts."""
    return tuple(f"value {v}" for v in EXPERT_PILES) if mode == "experts" else ("cards",)


def values_of(mode: str, pile: str) -> tuple[int, ...]:
    """The card values that belong on that pile."""
    return (int(pile.split()[1]),) if pile.startswith("value ") else MODES[mode]


def piles(
    cards: Mapping[str, CardFacts], mode: str, seed: int, drawn: Collection[str | None] = ()
) -> dict[str, list[str]]:
    """Every pile of the mode, shuffled, without the ``drawn`` cards.

    Raises IllegalCommand when the deck has no card for one.
    """
    made = {}
    for name in pile_names(mode):
        values = values_of(mode, name)
        fitting = [card for card, facts in cards.items() if facts.value in values]
        made[name] = shuffled((card for card in fitting if card not in drawn), seed, name)
        if not fitting:
            wanted = ", ".join(map(str, values))
            raise IllegalCommand(sentence("deck_lacks", mode=mode, values=wanted))
    return made


def pile_for(state: MatchState) -> str:
    """The pile the next card comes from; a tie-break among experts takes the last, value 4."""
    names = pile_names(state.mode)
    if state.round is not None and state.round.kind in ("extra", "sudden"):
        return names[-1]
    return names[min(state.duel_index, len(names) - 1)]


def unseen_cards(state: MatchState, pile: str) -> tuple[str, ...]:
    """Cards of the pile that nobody has seen, top first. (An undone draw leaves seen cards in it.)"""
    return tuple(c for c in state.piles.get(pile, ()) if c not in state.seen)


def next_card(state: MatchState, pile: str) -> str:
    """The pile's top card that neither player has met in this match; where there is none, its top card."""
    players = set(state.duel.seats.values())
    met = {d.card_id for d in state.past if d.go_at is not None and players & set(d.seats.values())}
    cards = unseen_cards(state, pile)
    return next((card for card in cards if card not in met), cards[0])


def reshuffled(state: MatchState, pile: str) -> dict[str, Any]:
    """A new order for a pile that ran out: the returned cards; when there are none, the won ones too.

    (The score stands in the record, so won cards may go round again.) The card of the attempt that
    has just been voided counts as returned only if there is no other.
    """
    values = values_of(state.mode, pile)
    back = _fitting(state, (*state.returned, *state.piles.get(pile, ())), values)
    source = "returned"
    if not back:
        back, source = _fitting(state, (*(d.card_id for d in state.past), state.card_id), values), "won"
    order = shuffled(set(back), state.seed, f"{pile}/{state.reshuffles + 1}")
    return {"pile": pile, "order": order, "source": source}


def _fitting(state: MatchState, cards: Iterable[str | None], values: tuple[int, ...]) -> list[str]:
    return [c for c in cards if c and state.cards[c].value in values]


def card_owner(state: MatchState, card_id: str) -> str | None:
    """Who has won that card and keeps it; None while it may be drawn."""
    if card_id in state.returned or any(card_id in pile for pile in state.piles.values()):
        return None
    won = [d.award for d in state.history if d.card_id == card_id and d.award is not None and not d.annulled]
    return won[-1] if won else None


def value_by_hand(state: MatchState, card_id: str, again: bool) -> int:
    """The value of a card drawn by hand.

    Raises IllegalCommand for one that is not in play now, AsksFirst for one that lies with a player unless ``again``.
    """
    card = state.cards.get(card_id)
    if card is None:
        raise IllegalCommand(sentence("no_card_in", card=card_id, deck=state.deck_name))
    values = values_of(state.mode, pile_for(state))
    if card.value not in values:
        wanted = ", ".join(map(str, values))
        raise IllegalCommand(sentence("other_value", card=card_id, has=card.value, wanted=wanted))
    keeper = None if again else card_owner(state, card_id)
    if keeper is not None:
        raise AsksFirst(sentence("asks_again", card=card_id, name=keeper), "again")
    return card.value
