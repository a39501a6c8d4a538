"""Cases of made-up certainty for the tests of decisions and doubts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from cards.build import Piece
from cards.card import Card
from cards.kinds.height import HeightCard
from cards.pieces import PieceSet, Pose, parse_piece_set
from referee.simulator.build_plans import spread_set
from referee.vision.search.canvas import Fit, Reading
from referee.vision.search.stances import Catalogue, catalogue
from referee.vision.verdict.case import Case
from referee.vision.verdict.doubts import Decision, decide
from referee.vision.verdict.rulings import Rulings
from referee.vision.verdict.visibility import Visibility

CERTAIN = Fit(1.0, 1.0, 0.0)
SHOWN = 1.0
"""Every pixel shows what the reading ahead says."""
CLEAR = Visibility()
RED, WHITE = Piece("cube", "red", Pose(), 0.0, 0.0, 15.0), Piece("cube", "white", Pose(), 0.0, 0.0, 45.0)
HIGHER = Piece("cube", "red", Pose(), 0.0, 0.0, 45.0)
WHITE_BESIDE = Piece("cube", "white", Pose(), 0.0, -120.0, 15.0)


def spread_over_sheet(pieces: PieceSet) -> list[Piece]:
    """The whole set so far apart that no piece covers another in a picture."""
    return [p.at(x=1.1 * p.x, y=2.8 * p.y, z=p.z) for p in spread_set(pieces)]


@cache
def cubes() -> Catalogue:
    """Two red cubes and a white one."""
    cube = {"kind": "box", "width": 30, "depth": 30, "height": 30}
    pieces = parse_piece_set(
        {
            "name": "cubes",
            "shapes": {"cube": cube},
            "colors": {"red": "#c02028", "white": "#ece8e0"},
            "pieces": [["cube", "red", 2], ["cube", "white", 1]],
        }
    )
    return catalogue(pieces, tuple(pieces.colors))


def reading(*pieces: Piece, loose: tuple[Piece, ...] = (), score: float = 30_000.0) -> Reading:
    """The reading of the cubes that these pieces stand there."""

    def rows(some: Sequence[Piece]) -> np.ndarray:
        return np.array([(cubes().index[p.shape, p.color, p.pose], p.x, p.y, p.z, 0.0) for p in some]).reshape(-1, 5)

    return Reading(0.0, rows(pieces), score, loose=rows(loose))


def decided(
    card: Card,
    readings: Sequence[Reading],
    fit: Fit = CERTAIN,
    proof: float = SHOWN,
    visibility: Visibility = CLEAR,
    size_factor: float = 1.0,
) -> Decision:
    """What is decided from readings of the cubes, best first."""
    rulings = Rulings(cubes(), card)
    return decide(Case(rulings, rulings.compare(readings), fit, proof, visibility, size_factor), readings)


def of_a_tower(ruling: str, visibility: Visibility = CLEAR, size_factor: float = 1.0) -> Decision:
    """What is decided of two cubes that are surely the card's two ("match"), or surely one too many ("mismatch")."""
    tower, one = reading(RED, HIGHER, loose=(WHITE_BESIDE,)), reading(RED, loose=(WHITE_BESIDE,), score=10_000.0)
    card = HeightCard("H", 1, 2 if ruling == "match" else 1)
    return decided(card, [tower, one], visibility=visibility, size_factor=size_factor)
