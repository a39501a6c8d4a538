"""Near misses of the shipped sessions: each build is right by its own layout, and misses the others by one mistake."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from near_misses import write

from cards.build import Build
from cards.deck import load_deck
from cards.pieces import load_piece_set
from referee.benchmark.run import truth_of
from referee.benchmark.scoring import true_pieces

SESSION = Path(__file__).parents[2] / "referee" / "example" / "sessions" / "village"


@pytest.fixture(scope="module")
def near(tmp_path_factory):
    out = tmp_path_factory.mktemp("near")
    write(SESSION, out, seed=1, most=4)
    return out / "near_village"


def test_the_true_build_tells_what_is_right(near):
    deck, of = load_deck(near / "deck.json"), load_piece_set(near / "pieces.json")
    asked = Counter()
    for frame in truth_of(near)["frames"]:
        (row,) = frame["zones"].values()
        build = Build(of, true_pieces(row, "build"), true_pieces(row, "loose"))
        card = deck.card(frame["card"])
        assert card.is_right(build) == (row["expected"] == "match") == (not row["why"])
        assert not card.inventory_problems(of)
        asked[row["why"]] += 1
    builds = sum(bool(true_pieces(row, "build")) for f in truth_of(SESSION)["frames"] for row in f["zones"].values())
    assert asked[""] == builds and max(asked.values()) == builds and len(asked) >= 4


def test_a_session_comes_with_its_pictures(near):
    assert {file.name for file in near.glob("*.jpg")} == {file.name for file in SESSION.glob("*.jpg")}


def test_another_seed_draws_other_mistakes(near, tmp_path):
    write(SESSION, tmp_path, seed=2, most=4)
    assert (tmp_path / "near_village" / "deck.json").read_text() != (near / "deck.json").read_text()
