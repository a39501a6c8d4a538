"""What the law of every kind of card is written with: reasons, what a house may choose, where a build's pieces are.

The law is judged on point values (``referee/match/why_a_line.md``): each line between right and wrong is drawn half
way between what CONTRACT.md calls right and what it calls wrong. What has no turn of its own, a standing cylinder,
counts for nobody's turn.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cards.build import Build, Piece, shape_of
from cards.sentences import sentence


@dataclass(frozen=True)
class Reason:
    """One fault, or one cause why it cannot be told. ``pieces`` index the build's pieces.

    ``because`` makes one. ``text`` says it in English; ``values`` fill the blanks of the sentence for ``code`` in any
    language (``cards.sentences``) and are JSON-able: numbers (``n``, ``m``), pieces (``worded_piece``), lists of
    colours, other reasons (their JSON). What was recorded before values were kept has text alone.
    """

    code: str
    text: str
    pieces: tuple[int, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """The contract's form, code and text, with the values where there are any."""
        row: dict[str, Any] = {"code": self.code, "text": self.text}
        return row | ({"values": dict(self.values)} if self.values else {})


def because(code: str, pieces: tuple[int, ...] = (), **values: Any) -> Reason:
    """The reason of that code, about those pieces, with its English text. Raises KeyError for a code without one."""
    return Reason(code, str(sentence(code, **values)), pieces, values)


def worded_piece(piece: Piece) -> dict[str, str]:
    """A piece as a reason's value: colour and shape, each to be said in the reader's language."""
    return {"color": piece.color, "shape": piece.shape}


def of_piece(code: str, build: Build, which: int, **values: Any) -> Reason:
    """The reason of that code about one piece of the build."""
    return because(code, (int(which),), piece=worded_piece(build.pieces[which]), **values)


@dataclass(frozen=True)
class Tolerances:
    """What a house may choose of the law, with the contract's defaults, mm.

    A layout's pieces are within ``depth_right`` of one another in y, and ``depth_wrong`` is wrong. Neighbouring
    pipes overlap in x by at most ``pipes_overlap`` and are within ``pipes_depth`` of one another in y.
    """

    depth_right: float = 40.0
    depth_wrong: float = 60.0
    pipes_overlap: float = 3.0
    pipes_depth: float = 40.0

    @property
    def depth_line(self) -> float:
        """The line that is drawn between right and wrong on point values."""
        return (self.depth_right + self.depth_wrong) / 2


TOLERANCES = Tolerances()


def build_turn(build: Build) -> float:
    """The build's turn about the vertical in degrees: the mean of its pieces' yaws, 0 where none has a turn."""
    yaws = [p.yaw for p in build.pieces if not is_round(build, p)]
    return float(np.mean(yaws)) if yaws else 0.0


def is_round(build: Build, piece: Piece) -> bool:
    """Whether the piece looks the same however it is turned: a standing cylinder."""
    shape = shape_of(build.piece_set, piece)
    return shape.kind == "cylinder" and shape.axis(piece.pose) == "z"


def along_build(build: Build, turn: float) -> np.ndarray:
    """x and y of each piece along the build's own axes, (n, 2) mm: positions turned back by ``turn`` degrees."""
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return np.array([(p.x * c + p.y * s, p.y * c - p.x * s) for p in build.pieces])
