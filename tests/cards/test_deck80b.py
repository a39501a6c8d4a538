"""The second deck that ships: as the first in make-up, other in every card, and never taken for it."""

import hashlib
from collections import Counter

import pytest

from cards.build import Build, top
from cards.check import check_card
from cards.deck import BUILTIN_DECKS, builtin_deck, builtin_deck_names
from cards.kinds.layout import LayoutCard, distinct_layouts
from cards.pieces import builtin_piece_set
from referee.commands.named_files import named_deck

PIECES = builtin_piece_set()
FIRST, DECK = builtin_deck(), named_deck("challenge80b", PIECES)
LAYOUTS = [card for card in DECK.cards if isinstance(card, LayoutCard)]
SAMPLE = DECK.cards[5::12]


def test_the_printed_deck_is_what_it_was_byte_for_byte():
    data = (BUILTIN_DECKS / "challenge80.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == "4a5a0dbef5c18b16323de5319c0e30c6323b2038bb0a57990d608d18a54deaa2"
    assert builtin_deck_names() == ["challenge80", "challenge80b"]


def test_it_has_the_first_decks_make_up_with_ids_and_markers_of_its_own():
    def make_up(deck):
        return Counter((card.kind, card.value) for card in deck.cards)

    assert make_up(DECK) == make_up(FIRST)
    assert not DECK.by_id.keys() & FIRST.by_id.keys()
    markers = [{deck.marker(card.id) for card in deck.cards} for deck in (FIRST, DECK)]
    assert markers == [set(range(50, 130)), set(range(130, 210))]


def test_at_most_half_of_its_layouts_end_in_a_triangle():
    def ends_in_a_triangle(card):
        highest = max(top(PIECES, p) for p in card.pieces)
        return any(p.shape == "triangle" and top(PIECES, p) > highest - 0.5 for p in card.pieces)

    assert sum(map(ends_in_a_triangle, LAYOUTS)) <= len(LAYOUTS) / 2


def test_hidden_arches_are_drawn_dashed_and_nothing_else_is_other_than_in_the_first_deck():
    hidden = [c for c in LAYOUTS if any(PIECES.shapes[p.shape].opening and p.pose.facing != "front" for p in c.pieces)]
    assert len(hidden) >= 6 and {c.value for c in hidden} == {1, 2, 3, 4}
    for card in LAYOUTS:
        shown, bare = (LayoutCard(card.id, card.value, card.pieces, dashed).picture(PIECES) for dashed in (True, False))
        assert shown == card.picture(PIECES) and len(shown) - len(bare) == (card in hidden)
        assert [p for p in shown if p not in bare] == [p for p in shown if len(p.contours) > 3]


def test_its_layouts_are_distinct_from_each_other_and_from_the_first_decks():
    first = [card for card in FIRST.cards if isinstance(card, LayoutCard)]
    for n, card in enumerate(LAYOUTS):
        assert all(distinct_layouts(PIECES, card, other) for other in (*first, *LAYOUTS[:n]))


def proved(card):
    found = check_card(card, PIECES)
    assert found.faults == () and found.worth == card.value
    assert card.faults(Build(PIECES, found.build)) == ()


@pytest.mark.parametrize("card", SAMPLE, ids=lambda c: c.id)
def test_a_sample_is_proved_and_worth_its_value(card):
    proved(card)


@pytest.mark.slow
@pytest.mark.parametrize("card", [c for c in LAYOUTS if c not in SAMPLE], ids=lambda c: c.id)
def test_every_other_layout_is_proved_and_worth_its_value(card):  # all cards: referee cards check challenge80b
    proved(card)
