"""Example builds and new layouts: seeded, stable, right by the judge."""

import pytest

from cards.build import Build
from cards.check import check_card
from cards.difficulty import Difficulty, difficulty
from cards.errors import BadCard
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard, distinct_layouts, make_layouts
from cards.kinds.organ_pipes import OrganCard
from cards.kinds.shapes import ShapesCard
from cards.pieces import builtin_piece_set
from cards.stability import check_stability

CARDS = [HeightCard("H", 1, 4), HeightCard("H", 1, 5, 1), ShapesCard("S", 1, (("cube", 1), ("triangle", 1)))]


@pytest.mark.parametrize("card", CARDS, ids=str)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["challenge", "village"])
def test_an_example_build_is_right_and_stands(card, seed, name):
    pieces = builtin_piece_set(name)
    if isinstance(card, ShapesCard) and name == "village":
        card = ShapesCard("S", 1, (("cube", 1), ("gate", 1), ("roof", 1)))
    build = card.example(pieces, seed)
    assert card.faults(Build(pieces, build)) == () and check_stability(pieces, build).stable
    assert build == card.example(pieces, seed)


@pytest.mark.parametrize("count", [4, 5, 6])
def test_organ_pipes_fall_from_left_to_right(count):
    pieces, card = builtin_piece_set(), OrganCard("P", 3, count)
    assert card.faults(Build(pieces, card.example(pieces))) == ()


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (OrganCard("P", 3, 9), "different heights"),
        (HeightCard("H", 1, 12), "12 pieces"),
        (ShapesCard("S", 1, (("cube", 3),)), "asks for"),
        pytest.param(
            ShapesCard("S", 1, (("triangle", 2), ("crescent", 1))), "no structure was found", marks=pytest.mark.slow
        ),  # three roofs
    ],
)
def test_what_cannot_be_built_is_refused_with_the_reason(card, words):
    pieces = builtin_piece_set()
    with pytest.raises(BadCard, match=words):
        card.example(pieces)
    assert any(words in fault for fault in check_card(card, pieces).faults)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), [("challenge", 1), ("challenge", 3), ("village", 2)])
def test_new_layouts_are_stable_distinct_and_worth_what_was_asked(name, value):
    pieces = builtin_piece_set(name)
    made = make_layouts(pieces, value, 4, seed=1)
    assert made == make_layouts(pieces, value, 4, seed=1)
    for n, card in enumerate(made):
        assert check_card(card, pieces).faults == () and check_card(card, pieces).worth == value
        assert all(distinct_layouts(pieces, card, other) for other in made[:n])
        assert all(card.faults(Build(pieces, other.pieces)) for other in made[:n])


def test_difficulty_grows_with_pieces_narrowness_and_lean():
    from cards.build import parse_build

    pieces = builtin_piece_set()
    texts = [
        "blue cube 0 front @ 0 0 15",
        "blue cube 0 front @ 0 0 15; blue cube 0 front @ 0 0 45",
        "blue cube 0 front @ 0 0 15; blue cube 0 front @ 10 0 45",
        "green rectangle 90 front @ 0 0 37.5; green rectangle 90 front @ 0 0 112.5",
    ]
    totals = [difficulty(pieces, parse_build(t)).total for t in texts]
    assert totals == sorted(totals) and len(set(totals)) == 4


def test_value_is_a_step_function_of_the_total():
    values = [Difficulty(n, 0, 0, 0, 0).value for n in range(1, 12)]
    assert values == sorted(values) and set(values) == {1, 2, 3, 4}


def test_a_layout_is_its_own_example():
    card = LayoutCard("L", 1, ())
    assert card.example(builtin_piece_set()) == ()
