"""Every piece of the set stands, lies loose or is out of sight; one that is may stand in the field unseen.

The tables are simulated: zone A shows what is tested, zone B its honest twin, of which every loose piece is seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cards.build import Piece
from cards.card import Card
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.pieces import Pose, builtin_piece_set
from referee.match.verdict import Verdict
from referee.simulator.build_plans import spread_set
from referee.simulator.table import TableSim
from referee.vision.observer import Observer

PIECES = builtin_piece_set()
UPRIGHT, SIDE = Pose(90), Pose(0, "side")
WALL = (
    Piece("rectangle", "green", UPRIGHT, -13.0, 0.0, 37.5),
    Piece("rectangle", "green", UPRIGHT, 13.0, 0.0, 37.5),
    Piece("bridge", "orange", Pose(), 0.0, 0.0, 90.0),
)
BEHIND = Piece("cube", "blue", Pose(), 0.0, 31.0, 15.0)
BASE = Piece("rectangle", "green", SIDE, 0.0, 0.0, 12.5)
SCREEN = Piece("rectangle", "green", Pose(90, "side"), 0.0, -24.0, 62.5)
ON_BASE = Piece("cylinder", "red", Pose(), 0.0, 9.0, 47.5)
ON_SCREEN = Piece("cylinder", "red", Pose(), 0.0, -24.0, 122.5)


@pytest.fixture(scope="module")
def table() -> tuple[TableSim, Observer]:
    """A simulated table with both players on the camera's side, and what has learnt it."""
    table = TableSim(PIECES, 11, seating="beside")
    observer = Observer(PIECES, table.lens.model(), None, table.empty())
    spread = table.picture({"A": spread_set(PIECES), "B": spread_set(PIECES)})
    observer.learn_colors(spread)
    observer.learn_sizes(spread)
    return table, observer


def judged(table: tuple[TableSim, Observer], card: Card, *builds: Sequence[Piece]) -> list[Verdict]:
    """The verdicts on what stands in A and in B."""
    picture = table[0].picture(dict(zip("AB", builds, strict=True)))
    zones = table[1].judge(picture, card).zones
    return [zones["A"], zones["B"]]


@pytest.mark.parametrize("card", [LayoutCard("L", 1, WALL), HeightCard("H", 1, 3)], ids=["layout", "height"])
def test_a_piece_out_of_sight_may_be_in_the_build(table, card):
    hiding, honest = judged(table, card, (*WALL, BEHIND), WALL)
    assert (hiding.ruling, hiding.leaning, hiding.reasons[0].code) == ("undecided", "match", "out_of_sight")
    assert honest.ruling == "match"


def test_a_right_build_with_a_piece_hidden_is_not_called_wrong(table):
    hidden, plain = judged(table, HeightCard("H", 1, 3), (BASE, SCREEN, ON_BASE), (BASE, SCREEN, ON_SCREEN))
    assert hidden.ruling == "undecided"
    assert "out_of_sight" in [reason.code for reason in hidden.reasons]
    assert plain.ruling == "match"


def test_a_piece_that_lacks_and_lies_loose_in_view_is_missing(table):
    lacking, plain = judged(table, HeightCard("H", 1, 3), (BASE, SCREEN), (BASE, SCREEN, ON_SCREEN))
    assert (lacking.ruling, plain.ruling) == ("mismatch", "match")
