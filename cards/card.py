"""What every kind of card can be asked; each kind is one file of ``cards.kinds``.

A kind says what its card asks for, how it is drawn, how a right build of it is found, and what is wrong with a build:
the law, from RULES.md and CONTRACT.md. Pure; sees no pixels, reads no clock.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import Field, GetPydanticSchema, TypeAdapter
from pydantic_core import core_schema

from cards.build import Build, Piece
from cards.errors import BadCard
from cards.law import TOLERANCES, Reason, Tolerances, because
from cards.pieces import PieceSet, Pose
from cards.scene import Patch
from cards.sentences import sentence
from cards.stability import StabilityReport


def converted_from(json_type: Any, convert: Callable[[Any], Any]) -> GetPydanticSchema:
    """Annotates a field that JSON has in another form: what is read as ``json_type`` is converted."""
    after = core_schema.no_info_after_validator_function
    return GetPydanticSchema(lambda source, handler: after(convert, handler.generate_schema(json_type)))


@cache
def _adapter(kind: "type[Card]") -> "TypeAdapter[Card]":
    return TypeAdapter(kind)


Kind = tuple[str, str]
"""Shape and colour of a piece; the colour is empty where a card asks for the shape in any."""

Proofs = dict[tuple[Piece, ...], StabilityReport]
"""How builds stand that were looked at before."""


@dataclass(frozen=True)
class Card(ABC):
    """A card of one kind. Its fields are those of the contract's JSON, in its order, with what they may be."""

    id: Annotated[str, Field(min_length=1, max_length=40)]
    value: Annotated[int, Field(ge=1, le=4)]

    kind: ClassVar[str]
    """The kind's name in the contract."""

    fills_band: ClassVar[bool] = False
    """Whether the field is the whole band between the mat's markers."""

    one_structure: ClassVar[bool] = False
    """Whether its pieces are built on one another, however the player arranges them."""

    number_alone: ClassVar[bool] = False
    """Whether any pieces make a right structure that are as many as the card asks for."""

    shapes_alone: ClassVar[bool] = False
    """Whether the card names shapes, in any colour."""

    kinds: ClassVar[dict[str, "type[Card]"]] = {}
    """Every kind by its name."""

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            Card.kinds[cls.kind] = cls

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Self:
        """The card in the contract's object. Raises pydantic's ValidationError."""
        return cast(Self, _adapter(cls).validate_python(row))

    def to_json(self) -> dict[str, Any]:
        """The contract's form of the card."""
        row = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"id": row.pop("id"), "kind": self.kind, "value": row.pop("value"), **row}

    # -- what it asks for

    @cached_property
    def asked(self) -> Counter[Kind]:
        """The pieces that the card names, and how many of each; empty where any will do."""
        return Counter()

    @property
    def piece_count(self) -> int:
        """How many pieces the card asks for."""
        return self.asked.total()

    @property
    def shown(self) -> tuple[Piece, ...]:
        """The build that the card shows, at y = 0; empty where the player arranges the pieces."""
        return ()

    def named(self, kinds: Iterable[Kind]) -> Counter[Kind]:
        """How many there are of each, named as the card names them."""
        return Counter(kinds)

    def asks_for(self, kinds: Sequence[Kind], spare: int = 0) -> bool:
        """Whether pieces of these kinds are what the card asks for, however they stand: just those, or, where any will
        do, as many to within ``spare``."""
        if self.asked:
            return self.named(kinds) == self.asked
        return abs(len(kinds) - self.piece_count) <= spare

    def picked(self, stock: Iterable[Kind]) -> list[Kind]:
        """The first pieces of the stock that the card asks for, in its order; fewer where it has fewer."""
        left, taken = Counter(self.asked), list[Kind]()
        for kind in stock:
            (name,) = self.named([kind])
            if left[name] > 0 if self.asked else len(taken) < self.piece_count:
                left[name] -= 1
                taken.append(kind)
        return taken

    def inventory_problems(self, pieces: PieceSet) -> list[str]:
        """Every way in which the card asks for more than the set holds; empty when it fits."""
        have = self.named(pieces.inventory.elements())
        lacks = [(key, n) for key, n in sorted(self.asked.items()) if n > have[key]]
        if not self.asked and self.piece_count > pieces.count:
            return [sentence("asks_count", n=self.piece_count, m=pieces.count)]
        return [sentence("asks_pieces", n=n, piece=piece_words(key), m=have[key]) for key, n in lacks]

    def bad(self, fault: str) -> BadCard:
        """The error that says this of the card."""
        return BadCard(sentence("of_card", card=self.id, rest=fault))

    # -- how it looks, and what is built of it

    @abstractmethod
    def picture(self, pieces: PieceSet) -> tuple[Patch, ...]:
        """What the card shows, in mm of the build for pieces, ground line at y = 0."""

    @abstractmethod
    def proved_example(
        self, pieces: PieceSet, seed: int = 0, proofs: Proofs | None = None
    ) -> tuple[tuple[Piece, ...], StabilityReport | None]:
        """A right build and the proof that it stands; None where builds of this kind need none.

        ``proofs`` remembers proofs: several seeds often try the same builds. Raises BadCard when the set cannot give a
        build, or none is found.
        """

    def example(self, pieces: PieceSet, seed: int = 0) -> tuple[Piece, ...]:
        """A stable build that the card calls right, by default always the same one. Raises BadCard without one."""
        return self.proved_example(pieces, seed)[0]

    def usual_poses(self, pieces: PieceSet) -> tuple[tuple[str, Pose], ...]:
        """Poses (shape, pose) that builders of this card are likely to use though others seldom do: pieces laid flat
        on their face, because others stand well on them."""
        flat = ("triangle", "half_disc", "crescent")
        return tuple((s.name, Pose(0, "top")) for s in pieces.shapes.values() if s.kind in flat)

    # -- the law

    def faults(self, build: Build, tolerances: Tolerances = TOLERANCES) -> tuple[Reason, ...]:
        """Every fault of the build; empty when it is right."""
        return self.law(build, tolerances) if build.pieces else (because("empty_field"),)

    def is_right(self, build: Build, tolerances: Tolerances = TOLERANCES) -> bool:
        """Whether ``faults`` finds none, found out without all of them: how pieces stand takes a hundred times as long
        to tell as which they are."""
        return self.asks_for(kinds_of(build)) and not self.faults(build, tolerances)

    @abstractmethod
    def law(self, build: Build, tolerances: Tolerances) -> tuple[Reason, ...]:
        """Every fault of a build of at least one piece."""

    def wrong_pieces(self, build: Build) -> tuple[Reason, ...]:
        """What is missing of the pieces that the card names, and what is there beside them."""
        have = self.named(kinds_of(build))
        found = [
            because("missing_piece", n=n, piece=piece_words(key)) for key, n in sorted((self.asked - have).items())
        ]
        for key, n in sorted((have - self.asked).items()):
            which = tuple(i for i, kind in enumerate(kinds_of(build)) if key in self.named([kind]))
            found.append(because("extra_piece", which, n=n, piece=piece_words(key)))
        return tuple(found)

    def wrong_count(self, build: Build) -> tuple[Reason, ...]:
        """That the pieces are not as many as the card asks for, if so."""
        n = len(build.pieces)
        return () if n == self.piece_count else (because("wrong_count", n=n, m=self.piece_count),)


def kinds_of(build: Build) -> list[Kind]:
    """Shape and colour of each piece of the build."""
    return [(p.shape, p.color) for p in build.pieces]


def piece_words(kind: Kind) -> dict[str, str]:
    """The kind as a sentence's value: colour, where one is asked for, and shape."""
    shape, color = kind
    return {"color": color, "shape": shape} if color else {"shape": shape}
