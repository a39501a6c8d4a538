"""``shapes``: these shapes in any colour, built on one another.

The law: exactly these shapes, one structure, at most ``max_ground_contacts`` on the table.
"""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from cards.build import Build
from cards.card import Kind, converted_from
from cards.elevation import piece_patches
from cards.kinds.structure import MAX_GROUND_CONTACTS, StructureCard, shuffled
from cards.law import Reason, Tolerances
from cards.pieces import PieceSet, Pose
from cards.scene import Patch, placed
from cards.sentences import sentence

GREY, GAP_MM = (158, 160, 164), 14.0
"""Colour of the shapes on the card, and what is between two of them."""

Shapes = Annotated[dict[str, Annotated[int, Field(ge=1)]], Field(min_length=1)]


@dataclass(frozen=True)
class ShapesCard(StructureCard):
    """Exactly these shapes (name -> how many) in any colour as one structure."""

    shapes: Annotated[tuple[tuple[str, int], ...], converted_from(Shapes, lambda read: tuple(sorted(read.items())))]
    max_ground_contacts: Annotated[int, Field(ge=1)] = MAX_GROUND_CONTACTS
    kind = "shapes"
    shapes_alone = True

    def to_json(self) -> dict[str, Any]:
        """The contract's form: an object of shapes."""
        return super().to_json() | {"shapes": dict(self.shapes)}

    @cached_property
    def asked(self) -> Counter[Kind]:
        """The shapes, without colours."""
        return Counter({(shape, ""): n for shape, n in self.shapes})

    def named(self, kinds: Iterable[Kind]) -> Counter[Kind]:
        """Whatever their colour is."""
        return Counter((shape, "") for shape, _ in kinds)

    def chosen(self, pieces: PieceSet, rng: random.Random) -> list[Kind]:
        """In the card's order of shapes."""
        order = [shape for shape, _ in self.shapes]
        chosen = sorted(self.picked(shuffled(pieces, rng)), key=lambda kind: order.index(kind[0]))
        if len(chosen) < self.piece_count:
            raise self.bad(sentence("asks_shapes", name=pieces.name))
        return chosen

    def law(self, build: Build, tolerances: Tolerances) -> tuple[Reason, ...]:
        """The shapes, and one structure."""
        return self.wrong_pieces(build) + self.not_one_structure(build)

    def picture(self, pieces: PieceSet) -> tuple[Patch, ...]:
        """The shapes in grey, largest first, in rows that leave the picture about square."""
        each = [pieces.shapes[name] for name, n in self.shapes for _ in range(n)]
        each.sort(key=lambda s: (-s.width, -s.height, s.name))
        rows = _rows([s.width for s in each])
        made: list[Patch] = []
        y, first = 0.0, 0
        for length in reversed(rows):
            row = each[len(each) - first - length : len(each) - first]
            first += length
            x = -(sum(s.width for s in row) + GAP_MM * (len(row) - 1)) / 2
            for s in row:
                made += placed(piece_patches(s, Pose(), GREY), 1.0, x + s.width / 2, y + s.height / 2)
                x += s.width + GAP_MM
            y += max(s.height for s in row) + GAP_MM
        return tuple(made)


def _rows(widths: list[float]) -> list[int]:
    """How many shapes go into each row, top row first, so that the rows are about as wide as high."""
    total = sum(widths) + GAP_MM * len(widths)
    limit = max(*widths, (total * 50.0) ** 0.5) if len(widths) > 1 else widths[0]
    counts, used = [0], 0.0
    for width in widths:
        if counts[-1] and used + width > limit:
            counts.append(0)
            used = 0.0
        counts[-1] += 1
        used += width + GAP_MM
    return counts
