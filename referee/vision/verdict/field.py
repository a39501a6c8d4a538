"""Which of the pieces seen stand in the field, and so are the build, and which lie loose.

RULES.md: what stands in the printed field is the build, and a piece on the line belongs where its
centre is. That holds for a piece that stands alone; one that others rest on, or that rests on others,
belongs to them. Six organ pipes side by side hardly fit between the lines: where a row lacks some of what
the card asks for, one that continues it just beyond the line belongs to it.
"""

from __future__ import annotations

import numpy as np

from calibration.mat import FIELD
from cards.build import Build, Piece, bottom
from cards.card import Card, OrganCard

BEYOND_MM, IN_LINE_MM, NEXT_MM = 12.0, 15.0, 50.0
"""A pipe belongs to a row when its centre is no further beyond the line, no further off the row's own line, and no
further in x from the next pipe of the row."""


def in_field(build: Build, card: Card) -> Build:
    """The build with what stands alone outside the field among the loose pieces, and a row of pipes whole."""
    astray = _astray(build)
    kept = [p for i, p in enumerate(build.pieces) if i not in astray]
    loose = [*build.loose, *(build.pieces[i] for i in astray)]
    if isinstance(card, OrganCard) and kept:
        row = [p for p in loose if _continues(build, p, kept)][: max(card.count - len(kept), 0)]
        kept, loose = kept + row, [p for p in loose if p not in row]
    return Build(build.piece_set, tuple(kept), tuple(loose))


def _astray(build: Build) -> list[int]:
    """Indices of the pieces that stand alone on the table with their centre outside the field."""
    beyond = [i for i, p in enumerate(build.pieces) if abs(p.x) > FIELD[0] or abs(p.y) > FIELD[1]]
    carrying = {j for below in build.contacts for j in below} if beyond else ()
    return [i for i in beyond if build.on_table[i] and i not in carrying]


def _continues(build: Build, piece: Piece, row: list[Piece]) -> bool:
    """Whether a piece outside stands next in the row."""
    near = abs(piece.x) <= FIELD[0] + BEYOND_MM and abs(piece.y - np.mean([p.y for p in row])) <= IN_LINE_MM
    return near and bottom(build.piece_set, piece) < 1.0 and min(abs(piece.x - p.x) for p in row) <= NEXT_MM
