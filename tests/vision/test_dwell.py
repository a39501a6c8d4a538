"""A bare hand seen from behind is told by its stay at a piece and by its leaving: looks of one hand over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from referee.vision.hands.dwell import DwellDetector
from referee.vision.hands.field_hands import SoleHand

HZ = 10
FAR = np.array([80.0, 0.0])


def at_work(looks: int, step_mm: float = 0.0, tongs: bool = False) -> list[SoleHand | None]:
    """A hand at a piece that goes on by so much from look to look."""
    return [SoleHand(True, tongs, 45.0, np.array([n * step_mm, 0.0])) for n in range(looks)]


def past(looks: int) -> list[SoleHand | None]:
    """A hand on its way out past something else that stands there."""
    return [SoleHand(True, False, 60.0, FAR)] * looks


def leaving(looks: int, tongs: bool = False, shown_mm: float = 60.0, at: np.ndarray = FAR) -> list[SoleHand | None]:
    """A hand on its way out, whose tongs would show by so much."""
    return [SoleHand(False, tongs, shown_mm, at)] * looks


def placed(times: int, tongs: bool) -> list[SoleHand | None]:
    """Pieces put down one after the other, each of them quickly; the tongs show on every way, or on none."""
    return [*at_work(2), *leaving(3, tongs=tongs), *[None] * 5] * times


@pytest.mark.parametrize(
    ("looks", "since"),
    [
        (at_work(12) + leaving(3), 0.0),
        ([*leaving(4), *at_work(12), *leaving(3)], 0.4),
        ([*at_work(5), None, None, *at_work(5), *leaving(3)], 0.0),  # lost for a moment
        ([*at_work(6), *at_work(1, tongs=True), *at_work(12), *leaving(2)], 0.7),  # other tongs were put away first
        (at_work(12) + leaving(3, tongs=True), None),  # a piece was let go of: its tongs show
        (at_work(12) + past(1) + leaving(1), 0.0),
        (at_work(12) + past(1) + leaving(1, tongs=True), None),
        (at_work(12) + past(1), None),
        (at_work(5) + past(12) + leaving(1), None),  # it works elsewhere now
        (at_work(12) + leaving(3, at=FAR / 8), None),  # it lets go of a piece, which hides its tongs
        (at_work(12) + leaving(2, at=FAR / 8) + leaving(2), 0.0),
        (at_work(9) + [replace(hand, centre_mm=FAR) for hand in at_work(6)] + leaving(2, at=1.1 * FAR), None),
        (at_work(12) + leaving(1), None),  # gone before that could be seen
        (at_work(12) + leaving(3, shown_mm=30.0), None),  # its fist would hide them all the way
        (at_work(5) + leaving(3), None),  # it only passed
        (at_work(12, step_mm=9.0) + leaving(3), None),  # what is carried goes on
        ([*at_work(5), *[None] * 6, *at_work(5), *leaving(3)], None),  # two visits, each of them short
    ],
)
def test_a_hand_that_stayed_at_a_piece_and_leaves_without_tongs_is_bare(looks, since):
    dwell = DwellDetector()
    found = [told for n, hand in enumerate(looks) if (told := dwell.update(hand, n / HZ)) is not None]
    assert [round(from_s, 2) for from_s, _ in found] == ([] if since is None else [since])
    assert all(0 < sure <= 1 for _, sure in found)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (placed(4, tongs=True), True),
        (placed(4, tongs=False), False),  # nobody sees this player's tongs: wood before wood
        (placed(2, tongs=True) + placed(2, tongs=False), True),
        (placed(1, tongs=True) + placed(3, tongs=False), False),
        (placed(1, tongs=False), True),  # the way to the piece is judged itself
        (leaving(3, shown_mm=30.0) + placed(1, tongs=False), True),  # where they would not show nothing is learnt
    ],
)
def test_a_player_whose_tongs_never_show_is_not_told_by_them(before, told):
    dwell = DwellDetector()
    looks = [*before, *at_work(12), *leaving(3)]
    found = [n for n, hand in enumerate(looks) if dwell.update(hand, n / HZ) is not None]
    assert [n > len(before) for n in found] == [True] * told


def test_a_bare_hand_is_told_again_though_its_first_way_out_showed_no_tongs():
    dwell = DwellDetector()
    looks = [*at_work(12), *leaving(3), *[None] * 6] * 3
    assert sum(dwell.update(hand, n / HZ) is not None for n, hand in enumerate(looks)) == 3
