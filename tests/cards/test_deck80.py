"""The deck that ships: its make-up, that every card can be built, that no build fits two layouts."""

from collections import Counter
from functools import cache

import pytest

from cards.build import Build
from cards.check import check_card
from cards.deck import BUILTIN_DECKS, builtin_deck, load_deck
from cards.kinds.layout import LayoutCard, distinct_layouts
from cards.pieces import builtin_piece_set

PIECES = builtin_piece_set()
DECK = builtin_deck()
LAYOUTS = [card for card in DECK.cards if isinstance(card, LayoutCard)]


def test_the_make_up_is_the_games():
    assert Counter(c.kind for c in DECK.cards) == {"layout": 52, "height": 8, "shapes": 16, "organ_pipes": 4}
    assert {3, 4, 5, 10} <= {c.count for c in DECK.cards if c.kind == "height"}
    assert {c.count for c in DECK.cards if c.kind == "organ_pipes"} == {6}
    assert len({c.shapes for c in DECK.cards if c.kind == "shapes"}) == 16
    assert all(n >= 12 for n in Counter(c.value for c in DECK.cards).values())
    assert load_deck(BUILTIN_DECKS / "challenge80.json", PIECES).cards == DECK.cards


def test_layouts_are_left_right_asymmetric_often_enough():
    def mirrored(card):
        return sorted((p.shape, p.color, p.pose, p.z, -p.x) for p in card.pieces)

    lopsided = [c for c in LAYOUTS if mirrored(c) != sorted((p.shape, p.color, p.pose, p.z, p.x) for p in c.pieces)]
    assert len(lopsided) >= len(LAYOUTS) / 2


def test_a_quarter_of_the_layouts_uses_a_rarer_pose():
    """Lying cylinders, a crescent hollow-up, a piece laid on its face."""

    def rare(piece):
        lies = piece.shape == "cylinder" and piece.pose.rotation % 180 == 90
        hollow_up = piece.shape == "crescent" and piece.pose.rotation == 180
        return lies or hollow_up or piece.pose.facing == "top"

    assert sum(any(map(rare, card.pieces)) for card in LAYOUTS) >= len(LAYOUTS) / 4
    assert {v for card in LAYOUTS if any(map(rare, card.pieces)) for v in [card.value]} == {1, 2, 3, 4}


@cache
def proved(card_id):
    return check_card(DECK.card(card_id), PIECES)


@pytest.mark.slow
@pytest.mark.parametrize("card", DECK.cards, ids=lambda c: c.id)
def test_every_card_is_proved_and_worth_its_value(card):
    found = proved(card.id)
    assert found.faults == ()
    assert found.worth == card.value
    assert card.faults(Build(PIECES, found.build)) == ()


@pytest.mark.slow
def test_eighty_by_eighty_no_build_is_right_for_another_layout(capsys):
    builds = {card.id: Build(PIECES, proved(card.id).build) for card in DECK.cards}
    right = {(b, c.id) for b, build in builds.items() for c in LAYOUTS if not c.faults(build)}
    with capsys.disabled():
        print(
            f"\n80 builds against {len(LAYOUTS)} layouts: {len(right)} judged right, "
            f"{len(right - {(c.id, c.id) for c in LAYOUTS})} confusions"
        )
    assert right == {(c.id, c.id) for c in LAYOUTS}


def test_layouts_are_distinct_by_the_decks_own_rule():
    for n, card in enumerate(LAYOUTS):
        assert all(distinct_layouts(PIECES, card, other) for other in LAYOUTS[:n])
        assert not distinct_layouts(PIECES, card, card)
