"""The README's pictures show the board of today."""

from __future__ import annotations

import pytest
from board_picture import COMMAND, HASH, PICTURE, JudgedSession, board, layout
from moving_picture import COMMAND as MOVING_COMMAND
from moving_picture import MADE_OF, MOVING
from PIL import Image

MOST_BYTES, MOVING_BYTES = 200_000, 1_000_000


@pytest.mark.slow
def test_the_readmes_picture_was_made_of_this_board(browser):
    now = layout(board(browser))
    assert now == HASH.read_text(encoding="utf-8").strip(), f"the board has changed: make its picture anew: {COMMAND}"


@pytest.mark.slow
def test_a_change_of_a_text_or_of_a_box_is_noticed(browser, monkeypatch):
    rows = board(browser)
    known = layout(rows)
    assert [text for text, *_ in rows if text == "Wrong"] and layout(board(browser)) == known
    moved = [[text, x + (text == "Wrong"), *box] for text, x, *box in rows]
    monkeypatch.setattr(
        JudgedSession, "simulated", property(lambda self: False, lambda self, value: None), raising=False
    )
    assert known not in (layout(moved), layout(board(browser)))


@pytest.mark.parametrize("name", ["board", "console", "phone", "rig"])
def test_a_still_picture_is_small_enough_for_the_readme(name):
    assert PICTURE.with_name(f"{name}.jpg").stat().st_size <= MOST_BYTES


def test_the_moving_picture_shows_a_duel_on_the_board_of_today():
    assert MADE_OF.read_text(encoding="utf-8") == HASH.read_text(encoding="utf-8"), f"make it anew: {MOVING_COMMAND}"
    assert MOVING.stat().st_size <= MOVING_BYTES
    with Image.open(MOVING) as picture:
        assert picture.n_frames >= 20
