"""When did a piece come: what the pixels of a staged field have shown before the press and after it."""

from __future__ import annotations

import numpy as np
import pytest

from referee.vision.live.field_snapshot import FieldSnapshot, arrival, pieces_placed

FIELD = 200
PAPER, BLUE, RED, SKIN, SHADOW = 200, 60, 110, 150, 140


def sight(top: int, hand: bool = False, at: tuple[int, int] = (5, 5)) -> FieldSnapshot:
    """A field of 10 x 20 pixels with a piece on its left, and what shows where the other one stands at last."""
    image = np.full((10, 20, 3), PAPER, np.uint8)
    image[3:8, 3:8], image[3:8, 12:17] = BLUE, top
    return FieldSnapshot(at, image, (image[..., 0] == BLUE) | (image[..., 0] == RED), FIELD, hand)


EMPTY, STANDS, BEHIND = sight(PAPER), sight(BLUE), sight(RED)
HAND, SHADED, BESIDE, DONE = sight(SKIN, True), sight(SHADOW, True), sight(PAPER, True), sight(BLUE, True)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([STANDS] * 3, [STANDS] * 3, "before"),
        ([STANDS, HAND], [HAND, HAND, STANDS], "before"),  # hidden only
        ([EMPTY, DONE, HAND], [HAND, STANDS], "before"),  # seen for a moment as the hand let go
        ([EMPTY, HAND], [BESIDE, BESIDE, HAND, STANDS], "after"),
        ([EMPTY, BESIDE], [BESIDE, BESIDE, STANDS], "after"),
        ([STANDS, STANDS, sight(SKIN)], [sight(SKIN), sight(SKIN), STANDS], "unknown"),  # a sleeve as pale as paper
        ([BEHIND, HAND], [BEHIND, BEHIND, STANDS], "after"),  # another piece shows where it is to come
        ([EMPTY, HAND], [HAND, STANDS], "unknown"),  # brought behind the hand, before the press or after it
        ([EMPTY, HAND], [SHADED, SHADED, STANDS], "unknown"),
        ([HAND], [BESIDE, BESIDE, STANDS], "unknown"),  # nobody knows how the field looked without the hand
        ([STANDS, HAND], [SHADED, SHADED, STANDS], "before"),
        ([EMPTY], [sight(PAPER, at=(5, 6))] * 2 + [STANDS], "unknown"),  # the mat was located anew
        ([STANDS], [], "unknown"),
    ],
)
def test_when_the_standing_pieces_came(before, after, said):
    assert pieces_placed(before, after) == said


def test_a_rim_is_no_piece():
    nudged = sight(BLUE)
    nudged.image[3:8, 12] = PAPER
    assert pieces_placed([nudged], [nudged, nudged, STANDS]) == "before"


@pytest.mark.parametrize(
    ("after", "at"),
    [
        ([BESIDE, BESIDE, HAND, STANDS], 1),
        ([HAND, BESIDE, BESIDE, HAND, DONE], 2),
        ([HAND, EMPTY, HAND, DONE], 1),  # once, with no hand there
        ([HAND, BESIDE, HAND, DONE], None),  # once, beside a hand: its sleeve may look so
        ([HAND, HAND, STANDS], None),  # nobody saw the place without it
        ([BESIDE, BESIDE, HAND], None),  # a hand is no piece
        ([BESIDE] * 4, None),
        ([], None),
    ],
)
def test_what_came_was_not_there_in_the_last_sight_of_its_bare_place(after, at):
    now = arrival([EMPTY], after)
    assert (now and (now.bare, now.stands)) == (at and (at, len(after) - 1))
