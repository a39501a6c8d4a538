"""The card in view, named by its marker; anything doubtful names none."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from cards.deck import Deck, builtin_deck
from cards.drawing import card_png
from cards.pieces import builtin_piece_set
from referee.session.card_reader import read_card_markers

DECK, PIECES = builtin_deck(), builtin_piece_set()


def shown(rig, *cards, width: int = 130) -> np.ndarray:
    picture = cv2.cvtColor(rig.photograph(), cv2.COLOR_BGR2GRAY)
    for k, card in enumerate(cards):
        face = cv2.cvtColor(card_png(card, DECK, PIECES, 704), cv2.COLOR_BGR2GRAY)
        face = cv2.resize(face, (width, round(face.shape[0] * width / 704)), interpolation=cv2.INTER_AREA)
        picture[5 : 5 + face.shape[0], 500 + 150 * k : 500 + 150 * k + width] = face
    return picture


@pytest.mark.parametrize("number", [0, 17, -1])
def test_the_card_in_view_is_named(rig, number):
    assert read_card_markers(shown(rig, DECK.cards[number]), DECK).card == DECK.cards[number].id


def test_two_cards_name_none(rig):
    assert read_card_markers(shown(rig, DECK.cards[3], DECK.cards[4]), DECK).card is None


def test_the_mats_markers_are_no_cards(rig):
    assert read_card_markers(shown(rig), DECK).card is None


def test_a_card_of_another_deck_is_foreign_and_names_none(rig):
    here = Deck("here", DECK.cards[:5])
    seen = read_card_markers(shown(rig, DECK.cards[17]), here)
    assert (seen.card, seen.foreign) == (None, (67,))
    assert read_card_markers(shown(rig, DECK.cards[3], DECK.cards[17]), here).card == DECK.cards[3].id
