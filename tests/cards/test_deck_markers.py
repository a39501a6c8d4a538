"""Which marker each card of a deck carries, and decks that would run out of markers."""

import pytest

from cards.deck import parse_deck
from cards.errors import BadCard


def deck(count, **more):
    rows = [{"id": f"H{n}", "kind": "height", "value": 1, "count": 3} for n in range(count)]
    return {"name": "d", "cards": rows, **more}


def test_a_deck_that_says_nothing_begins_at_the_contracts_marker():
    read = parse_deck(deck(3))
    assert read.marker("H2") == 52 and read.with_marker(52).id == "H2"
    assert "first_marker" not in read.to_json()


def test_a_second_deck_on_the_table_begins_elsewhere():
    read = parse_deck(deck(3, first_marker=130))
    assert [read.marker(c.id) for c in read.cards] == [130, 131, 132]
    assert read.with_marker(50) is None and read.with_marker(131).id == "H1"
    assert parse_deck(read.to_json()) == read


def test_two_hundred_cards_use_all_markers():
    assert parse_deck(deck(200)).marker("H199") == 249


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (deck(201), "201 cards, but markers 50 to 249 are enough for 200 only"),
        (deck(2, first_marker=249), "2 cards, but markers 249 to 249 are enough for 1 only"),
        (deck(1, first_marker=49), "first_marker is a whole number from 50 to 249"),
        (deck(1, first_marker=250), "first_marker is a whole number"),
        (deck(1, first_marker=True), "first_marker is a whole number"),
        (deck(1, first_marker="60"), "first_marker is a whole number"),
    ],
)
def test_markers_that_do_not_suffice_are_one_line(data, words):
    with pytest.raises(BadCard, match=words):
        parse_deck(data, "my.json")
