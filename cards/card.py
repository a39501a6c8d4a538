"""The four kinds of card: what each asks for, and whether a piece set can give it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from cards.build import Piece
from cards.errors import BadCard, first_fault
from cards.pieces import PieceSet, Pose
from cards.sentences import sentence

MAX_GROUND_CONTACTS = 2
"""Printed rule: "only two can touch", ruled as at most two (RULES.md)."""


@dataclass(frozen=True)
class LayoutCard:
    """Exactly these pieces, placed and turned as shown; ``pieces`` stand at y = 0, yaw = 0."""

    id: str
    value: int
    pieces: tuple[Piece, ...]
    kind: Literal["layout"] = "layout"


@dataclass(frozen=True)
class HeightCard:
    """``count`` pieces built on one another, at most ``max_ground_contacts`` on the table."""

    id: str
    value: int
    count: int
    max_ground_contacts: int = MAX_GROUND_CONTACTS
    kind: Literal["height"] = "height"


@dataclass(frozen=True)
class ShapesCard:
    """Exactly these shapes (name -> how many) in any colour as one structure."""

    id: str
    value: int
    shapes: tuple[tuple[str, int], ...]
    max_ground_contacts: int = MAX_GROUND_CONTACTS
    kind: Literal["shapes"] = "shapes"

    @property
    def count(self) -> int:
        """How many pieces the card asks for."""
        return sum(n for _, n in self.shapes)


@dataclass(frozen=True)
class OrganCard:
    """``count`` pieces side by side, heights falling from the player's left to right."""

    id: str
    value: int
    count: int
    kind: Literal["organ_pipes"] = "organ_pipes"


Card = LayoutCard | HeightCard | ShapesCard | OrganCard


class _LayoutPiece(BaseModel):
    model_config = ConfigDict(extra="ignore")
    shape: str
    color: str
    rotation: int = 0
    facing: Literal["front", "side", "top"] = "front"
    x: float
    z: float


class _Base(BaseModel):
    model_config = ConfigDict(extra="ignore")
    id: str = Field(min_length=1, max_length=40)
    value: int = Field(ge=1, le=4)


class _Layout(_Base):
    kind: Literal["layout"]
    pieces: list[_LayoutPiece] = Field(min_length=1, max_length=40)


class _Height(_Base):
    kind: Literal["height"]
    count: int = Field(ge=1, le=40)
    max_ground_contacts: int = Field(default=MAX_GROUND_CONTACTS, ge=1)


class _Shapes(_Base):
    kind: Literal["shapes"]
    shapes: dict[str, Annotated[int, Field(ge=1)]] = Field(min_length=1)
    max_ground_contacts: int = Field(default=MAX_GROUND_CONTACTS, ge=1)


class _Organ(_Base):
    kind: Literal["organ_pipes"]
    count: int = Field(ge=2, le=40)


_ADAPTER: TypeAdapter[Any] = TypeAdapter(Annotated[_Layout | _Height | _Shapes | _Organ, Field(discriminator="kind")])


def parse_card(data: object, source: str = "card") -> Card:
    """A card from parsed JSON. Raises BadCard naming ``source`` and the first fault."""
    try:
        model = _ADAPTER.validate_python(data)
    except ValidationError as error:
        raise BadCard(f"{source}: {first_fault(error)}") from None
    if isinstance(model, _Layout):
        pieces = tuple(Piece(p.shape, p.color, Pose(p.rotation, p.facing), p.x, 0.0, p.z) for p in model.pieces)
        return LayoutCard(model.id, model.value, pieces)
    if isinstance(model, _Height):
        return HeightCard(model.id, model.value, model.count, model.max_ground_contacts)
    if isinstance(model, _Shapes):
        shapes = tuple(sorted(model.shapes.items()))
        return ShapesCard(model.id, model.value, shapes, model.max_ground_contacts)
    return OrganCard(model.id, model.value, model.count)


def card_to_json(card: Card) -> dict[str, Any]:
    """The contract's form of a card; ``parse_card`` reads it back to an equal card."""
    row: dict[str, Any] = {"id": card.id, "kind": card.kind, "value": card.value}
    if isinstance(card, LayoutCard):
        row["pieces"] = [
            {
                "shape": p.shape,
                "color": p.color,
                "rotation": p.pose.rotation,
                "facing": p.pose.facing,
                "x": p.x,
                "z": p.z,
            }
            for p in card.pieces
        ]
    elif isinstance(card, ShapesCard):
        row |= {"shapes": dict(card.shapes), "max_ground_contacts": card.max_ground_contacts}
    elif isinstance(card, HeightCard):
        row |= {"count": card.count, "max_ground_contacts": card.max_ground_contacts}
    else:
        row["count"] = card.count
    return row


def inventory_problems(card: Card, pieces: PieceSet) -> list[str]:
    """Every way in which the card asks for more than the set holds; empty when it fits."""
    if isinstance(card, LayoutCard):
        return _layout_problems(card, pieces)
    if isinstance(card, ShapesCard):
        have: Counter[str] = Counter()
        for shape, _, n in pieces.pieces:
            have[shape] += n
        return [sentence("asks_pieces", n=n, piece={"shape": s}, m=have[s]) for s, n in card.shapes if n > have[s]]
    if card.count > pieces.count:
        return [sentence("asks_count", n=card.count, m=pieces.count)]
    return []


def _layout_problems(card: LayoutCard, pieces: PieceSet) -> list[str]:
    want = Counter((p.shape, p.color) for p in card.pieces)
    problems: list[str] = []
    for (shape, color), n in sorted(want.items()):
        have = pieces.inventory[shape, color]
        if n > have:
            problems.append(sentence("asks_pieces", n=n, piece={"color": color, "shape": shape}, m=have))
    return problems
