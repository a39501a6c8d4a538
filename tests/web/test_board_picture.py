"""The README's picture of the board shows the board of today."""

from __future__ import annotations

import pytest
from board_picture import COMMAND, HASH, PICTURE, JudgedSession, board, layout

MOST_BYTES = 200_000


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


def test_the_picture_is_small_enough_for_the_readme():
    assert PICTURE.stat().st_size <= MOST_BYTES
