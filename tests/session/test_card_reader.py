"""The card in the holder: a card of another deck is an alarm once it has been read twice."""

from __future__ import annotations

import numpy as np
import pytest

from cards.deck import Deck, builtin_deck
from referee.devices.ports import Frame
from referee.match.card_facts import cards_of
from referee.match.commands import CreateMatch, DrawCard
from referee.match.decide import decide
from referee.match.evolve import fold
from referee.session import card_reader
from referee.session.card_reader import CardMarkers, CardReader

DECK = Deck("here", builtin_deck().cards[:5])


def drawn():
    """A match with a card on the table."""
    events = decide(fold([]), CreateMatch(("Ann", "Ben"), cards=cards_of(DECK)), "2026-01-01T00:00:00+00:00")
    return fold([*events, *decide(fold(events), DrawCard("L01"), "2026-01-01T00:00:01+00:00")])


@pytest.mark.parametrize(
    ("reads", "alarm"),
    [
        ([(67,), (67,)], "a card with marker 67: deck here has 50 to 54"),
        ([(67,)], None),
        ([(67,), (), (67,)], None),
        ([(67,), (68,)], None),
        ([(67,), (67,), ()], None),
        ([], None),
    ],
)
def test_a_card_of_another_deck_is_an_alarm_when_it_is_read_twice_running(monkeypatch, reads, alarm):
    told = iter(reads)
    monkeypatch.setattr(card_reader, "read_card_markers", lambda gray, deck: CardMarkers(None, next(told)))
    reader, state = CardReader(), drawn()
    for n in range(len(reads)):
        reader.look(Frame(np.zeros((8, 8, 3), np.uint8), n, float(n)), state, DECK)
    assert reader.other_deck(DECK) == alarm
