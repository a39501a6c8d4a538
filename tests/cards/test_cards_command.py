"""``referee cards`` from the outside: what a user types and reads."""

import io
import itertools
import json
import sys
from functools import partial

import cv2
import pytest
from click.testing import CliRunner

from cards.deck import parse_deck
from cards.pieces import builtin_piece_set
from referee.commands.cards import _checked, cards

GOOD = {
    "id": "L1",
    "kind": "layout",
    "value": 1,
    "pieces": [
        {"shape": "cube", "color": "blue", "x": 0, "z": 15},
        {"shape": "triangle", "color": "red", "x": 0, "z": 47.5},
    ],
}
BAD = {
    "overlap": [
        {"shape": "cube", "color": "blue", "x": 0, "z": 15},
        {"shape": "cylinder", "color": "red", "x": 10, "z": 22.5},
    ],
    "it falls": [
        {"shape": "cube", "color": "blue", "x": 0, "z": 15},
        {"shape": "rectangle", "color": "green", "x": 20, "z": 42.5},
    ],
    "2 mm off": [
        {"shape": "cube", "color": "blue", "x": 0, "z": 15},
        {"shape": "rectangle", "color": "green", "x": 13, "z": 42.5},
    ],
    "rests on nothing": [{"shape": "cube", "color": "blue", "x": 0, "z": 55}],
    "the set has 1": [
        {"shape": "bridge", "color": "orange", "x": -40, "z": 15},
        {"shape": "bridge", "color": "orange", "x": 40, "z": 15},
    ],
    "mm high": [
        {"shape": "rectangle", "color": "green", "rotation": 90, "x": 0, "z": 37.5},
        {"shape": "rectangle", "color": "green", "rotation": 90, "x": 0, "z": 112.5},
        {"shape": "bridge", "color": "orange", "rotation": 90, "x": 0, "z": 180},
        {"shape": "cylinder", "color": "red", "x": 0, "z": 232.5},
    ],
}


def run(*words):
    return CliRunner().invoke(cards, [str(w) for w in words], catch_exceptions=False)


def deck_of(tmp_path, *rows):
    path = tmp_path / "deck.json"
    path.write_text(json.dumps({"name": "d", "cards": list(rows)}))
    return path


def test_a_good_deck_is_proved(tmp_path):
    result = run("check", deck_of(tmp_path, GOOD))
    assert result.exit_code == 0
    assert "L1" in result.output and "stands, tilt margin" in result.output
    assert "1 of 1 cards" in result.output


@pytest.mark.parametrize("reason", BAD)
def test_an_impossible_card_is_refused_with_reason_and_picture(reason, tmp_path):
    path = deck_of(tmp_path, GOOD, {"id": "X", "kind": "layout", "value": 1, "pieces": BAD[reason]})
    result = run("check", path, "--pictures", tmp_path / "pics")
    assert result.exit_code == 1
    assert reason in result.output and "1 of 2 cards" in result.output
    assert cv2.imread(str(tmp_path / "pics" / "X.png")).shape[1] == 640


@pytest.mark.parametrize("terminal", [True, False])
def test_the_check_shows_how_far_it_is_on_a_terminal_and_leaves_files_alone(terminal, monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return terminal

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("tqdm.std.time", partial(next, itertools.count(1.0)))  # each card takes a second
    deck = parse_deck({"name": "d", "cards": [GOOD, GOOD | {"id": "L2"}]})
    checks = _checked(deck, builtin_piece_set())
    assert [row.card.id for row in checks] == ["L1", "L2"]
    shown = screen.getvalue()
    assert all(done in shown for done in ("0/2", "1/2", "2/2")) if terminal else shown == ""


def test_made_cards_are_the_same_for_the_same_seed(tmp_path):
    first, second = (run("make", "--value", 2, "--n", 2, "--seed", 5).output for _ in range(2))
    assert first == second
    made = tmp_path / "made.json"
    run("make", "--value", 2, "--n", 2, "--seed", 5, "-o", made)
    assert json.loads(first) == json.loads(made.read_text())
    assert run("check", made).exit_code == 0


@pytest.mark.parametrize(
    ("kind", "read"),
    [("svg", lambda p: p.read_text().startswith("<svg")), ("png", lambda p: cv2.imread(str(p)).shape[1] == 300)],
)
def test_faces_are_drawn(kind, read, tmp_path):
    result = run("draw", "challenge80", "L05", "H10", "--format", kind, "--px", 300, "-o", tmp_path)
    assert result.exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"H10.{kind}", f"L05.{kind}"]
    assert all(read(p) for p in tmp_path.iterdir())
    one = tmp_path / f"c.{kind}"
    assert run("draw", "challenge80", "L05", "--px", 300, "-o", one).output == f"1 card drawn into {one}\n"
    assert read(one)
    many = run("draw", "challenge80", "L05", "H10", "-o", one)
    assert many.exit_code == 2 and "for one card" in many.output
