"""Which of the pieces seen stand in the field, and so are the build, and which lie loose.

RULES.md: what stands in the printed field is the build, and a piece on the line belongs where its
centre is. That holds for a piece that stands alone; one that others rest on, or that rests on others,
belongs to them. CONTRACT.md: for organ pipes the field is the whole band between the markers, and every piece
in it counts.
"""

from __future__ import annotations

from calibration.mat import BAND, FIELD
from cards.build import Build, Piece
from cards.card import Card


def field_of(card: Card) -> tuple[float, float]:
    """Half extent (x, y) in mm of the field in which this card is built."""
    return BAND if card.fills_band else FIELD


def in_field(build: Build, card: Card, wider_mm: float = 0.0) -> Build:
    """The build with what stands alone outside the field among the loose, and all that stands in it in the build; the
    field's line drawn so much further out."""
    x, y = field_of(card)
    field = (x + wider_mm, y + wider_mm)
    astray = _astray(build, field)
    kept = [p for i, p in enumerate(build.pieces) if i not in astray]
    loose = [*build.loose, *(build.pieces[i] for i in astray)]
    kept += [p for p in loose if _inside(p, field)]
    loose = [p for p in loose if not _inside(p, field)]
    return Build(build.piece_set, tuple(kept), tuple(loose))


def _inside(piece: Piece, field: tuple[float, float]) -> bool:
    return abs(piece.x) <= field[0] and abs(piece.y) <= field[1]


def _astray(build: Build, field: tuple[float, float]) -> list[int]:
    """Indices of the pieces that stand alone on the table with their centre outside the field."""
    beyond = [i for i, p in enumerate(build.pieces) if not _inside(p, field)]
    carrying = {j for below in build.contacts for j in below} if beyond else ()
    return [i for i in beyond if build.on_table[i] and i not in carrying]
