"""Piece sets: what the ten wooden pieces are, how big, and in which poses they can lie.

Frames and conventions (shared by every module of the project):

* The player's frame: x to the player's right, y away from the player, z up; millimetres.
* A shape's *outline* lives in (u, w): u along its width, w along its height, origin at the
  centre of its bounding box, counter-clockwise. All kinds but the cylinder are that outline
  extruded by ``depth``.
* A pose is ``rotation`` (degrees counter-clockwise, turning the outline in the elevation) and
  then ``facing``: ``front`` leaves the outline towards the player (u -> x, w -> z, depth -> y);
  ``side`` turns that a quarter about the vertical (x -> y); ``top`` lays it down with the
  outline upwards (w -> y, depth -> z). Which way round a laid piece points cannot be seen in
  an elevation, so ``top`` poses that differ only by that are one pose.
* ``yaw`` turns the posed piece about the vertical, degrees counter-clockwise seen from above.
"""

import json
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from cards.errors import BadPieceSet, first_fault, parsed_file

ARC_STEPS = 24
"""Straight segments in a half circle. 24 keep a 50 mm arc within 0.06 mm of its circle."""

Kind = Literal["box", "cylinder", "triangle", "bridge", "crescent", "half_disc"]
Facing = Literal["front", "side", "top"]


@dataclass(frozen=True, order=True)
class Pose:
    """How a piece is turned before yaw: ``rotation`` in degrees and ``facing``."""

    rotation: int = 0
    facing: Facing = "front"


@dataclass(frozen=True)
class Shape:
    """One kind of piece; ``width``, ``height``, ``depth``, ``opening`` in millimetres."""

    name: str
    kind: Kind
    width: float
    height: float
    depth: float
    opening: float = 0.0

    @cached_property
    def outline(self) -> np.ndarray:
        """The outline as an (n, 2) array of (u, w), counter-clockwise, centred on its box."""
        return _outline(self.kind, self.width, self.height, self.opening)

    @cached_property
    def least_face(self) -> float:
        """Area in mm² of the smallest of its front, its side and its top."""
        (u, w), (u_next, w_next) = self.outline.T, np.roll(self.outline, -1, axis=0).T
        front = float(u @ w_next - w @ u_next) / 2
        return min(front, self.height * self.depth_mm, self.width * self.depth_mm)

    def turned_outline(self, rotation: float) -> np.ndarray:
        """The outline turned counter-clockwise by ``rotation`` degrees, (n, 2), re-centred."""
        a = math.radians(rotation)
        c, s = round(math.cos(a), 12), round(math.sin(a), 12)
        turned = self.outline @ np.array([[c, s], [-s, c]])
        return np.asarray(turned - (turned.min(0) + turned.max(0)) / 2)

    def corners(self, pose: Pose) -> np.ndarray:
        """(n, 3) mm about its centre: the corners of the posed piece before yaw; of a cylinder those of its box."""
        u, w = self.turned_outline(pose.rotation).T
        ends = []
        for d in (-self.depth_mm / 2, self.depth_mm / 2):
            e = np.full_like(u, d)
            ends.append(np.stack({"front": (u, e, w), "side": (-e, u, w), "top": (u, w, e)}[pose.facing], 1))
        return np.concatenate(ends)

    def size(self, pose: Pose) -> tuple[float, float, float]:
        """Extent (x, y, z) in mm of the posed piece's box, before yaw."""
        if pose not in self._sizes:  # a dictionary of its own: to hash a shape takes longer than to look up
            self._sizes[pose] = self._size(pose)
        return self._sizes[pose]

    @cached_property
    def _sizes(self) -> dict[Pose, tuple[float, float, float]]:
        return {}

    def _size(self, pose: Pose) -> tuple[float, float, float]:
        u, w = np.ptp(self.turned_outline(pose.rotation), axis=0)
        u, w, d = float(round(u, 6)), float(round(w, 6)), float(self.depth_mm)
        return {"front": (u, d, w), "side": (d, u, w), "top": (u, w, d)}[pose.facing]

    @property
    def depth_mm(self) -> float:
        """Extent along the outline's normal: ``depth``, and the diameter for a cylinder."""
        return self.width if self.kind == "cylinder" else self.depth

    def axis(self, pose: Pose) -> str:
        """For a cylinder, which of ``x``, ``y``, ``z`` its axis lies along."""
        upright = pose.rotation % 180 == 0
        return {"front": "z" if upright else "x", "side": "z" if upright else "y", "top": "y" if upright else "x"}[
            pose.facing
        ]

    def canonical(self, pose: Pose) -> Pose:
        """The representative of all poses that look and stand like ``pose``."""
        return _canonical(self, Pose(pose.rotation % 360, pose.facing))

    def poses(self) -> tuple[Pose, ...]:
        """Every distinct quarter-turn pose of the shape, canonical, most usual first."""
        seen = dict.fromkeys(self.canonical(p) for p in _ALL_POSES)
        return tuple(seen)

    def same_pose(self, a: Pose, b: Pose) -> bool:
        """Whether the two poses look and stand the same."""
        return self.canonical(a) == self.canonical(b)


_ALL_POSES = tuple(Pose(r, f) for f in ("front", "side", "top") for r in (0, 90, 180, 270))


def _half_circle(radius: float) -> np.ndarray:
    t = np.linspace(0.0, math.pi, ARC_STEPS + 1)
    return np.stack([radius * np.cos(t), radius * np.sin(t)], 1)


def _outline(kind: Kind, width: float, height: float, opening: float) -> np.ndarray:
    w, h, r = width / 2, height / 2, opening / 2
    if kind in ("box", "cylinder"):
        points = np.array([(-w, -h), (w, -h), (w, h), (-w, h)])
    elif kind == "triangle":
        points = np.array([(-w, -h), (w, -h), (0, h)])
    elif kind == "bridge":
        arch = _half_circle(r)[::-1] + (0, -h)
        points = np.concatenate([[(-w, -h)], arch, [(w, -h), (w, h), (-w, h)]])
    elif kind == "crescent":
        outer = _half_circle(1.0) * (w, height) + (0, -h)
        inner = (_half_circle(r) * (1.0, 1.0))[::-1] + (0, -h)
        points = np.concatenate([outer, inner])
    else:
        points = _half_circle(1.0) * (w, height) + (0, -h)
    points = np.asarray(points, float)
    points.setflags(write=False)
    return points


@lru_cache(maxsize=4096)
def _solid_key(shape: Shape, pose: Pose) -> frozenset[Any]:
    """A value equal for poses whose solids coincide (``top``: up to a mirror in y)."""
    if shape.kind == "cylinder":
        return frozenset({shape.axis(pose)})
    key = frozenset(map(tuple, np.round(np.round(shape.corners(pose), 3), 2) + 0.0))
    if pose.facing == "top":
        mirrored = frozenset((x, -y + 0.0, z) for x, y, z in key)
        return key if mirrored == key else frozenset({key, mirrored})
    return key


@lru_cache(maxsize=4096)
def _canonical(shape: Shape, pose: Pose) -> Pose:
    key = _solid_key(shape, pose)
    for candidate in _ALL_POSES:
        if _solid_key(shape, candidate) == key:
            return candidate
    return pose


class _ShapeModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Kind
    width: float = Field(gt=0, le=400)
    height: float = Field(gt=0, le=400)
    depth: float = Field(gt=0, le=400)
    opening: float = Field(default=0.0, ge=0, le=400)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.kind in ("bridge", "crescent"):
            if not 0 < self.opening < self.width:
                raise ValueError(f"a {self.kind} needs an opening between 0 and its width")
            if self.opening / 2 >= self.height:
                raise ValueError(f"the {self.kind}'s opening is higher than the piece")
        return self


class _SetModel(BaseModel):
    model_config = ConfigDict(extra="ignore")
    name: str = Field(min_length=1)
    shapes: dict[str, _ShapeModel] = Field(min_length=1)
    colors: dict[str, str] = Field(min_length=1)
    pieces: list[tuple[str, str, int]] = Field(min_length=1)

    @field_validator("colors")
    @classmethod
    def _hex(cls, colors: dict[str, str]) -> dict[str, str]:
        for name, value in colors.items():
            if len(value) != 7 or value[0] != "#" or set(value[1:].lower()) - set("0123456789abcdef"):
                raise ValueError(f"color {name!r} is {value!r}, not #rrggbb")
        return colors

    @model_validator(mode="after")
    def _known(self) -> Self:
        for shape, color, count in self.pieces:
            if shape not in self.shapes:
                raise ValueError(f"pieces names the shape {shape!r}, which shapes does not define")
            if color not in self.colors:
                raise ValueError(f"pieces names the color {color!r}, which colors does not define")
            if count < 1:
                raise ValueError(f"pieces counts {count} of {color} {shape}")
        return self


@dataclass(frozen=True)
class PieceSet:
    """A player's pieces: shapes by name, colours by name (``#rrggbb``), and how many of each."""

    name: str
    shapes: dict[str, Shape]
    colors: dict[str, str]
    pieces: tuple[tuple[str, str, int], ...]

    __hash__ = object.__hash__

    @cached_property
    def inventory(self) -> Counter[tuple[str, str]]:
        """How many there are of each (shape, color)."""
        total: Counter[tuple[str, str]] = Counter()
        for shape, color, count in self.pieces:
            total[shape, color] += count
        return total

    @property
    def count(self) -> int:
        """How many pieces a player has."""
        return sum(self.inventory.values())

    @property
    def typical_mm(self) -> float:
        """The geometric mean of all its shapes' widths and heights, mm: of a set twice as large it is twice that."""
        return math.exp(
            sum(math.log(s.width) + math.log(s.height) for s in self.shapes.values()) / (2 * len(self.shapes))
        )

    def rgb(self, color: str) -> tuple[int, int, int]:
        """The nominal sRGB value, 0-255, of a colour of the set."""
        value = self.colors[color]
        return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)

    def to_json(self) -> dict[str, Any]:
        """The contract's ``pieces.json`` as a dictionary; ``parse_piece_set`` reads it back."""
        shapes = {}
        for name, s in self.shapes.items():
            row = {"kind": s.kind, "width": s.width, "height": s.height, "depth": s.depth}
            shapes[name] = row | ({"opening": s.opening} if s.opening else {})
        return {
            "name": self.name,
            "shapes": shapes,
            "colors": dict(self.colors),
            "pieces": [list(row) for row in self.pieces],
        }


def parse_piece_set(data: object, source: str = "piece set") -> PieceSet:
    """A PieceSet from parsed JSON. Raises BadPieceSet naming ``source`` and the first fault."""
    try:
        model = _SetModel.model_validate(data)
    except ValidationError as error:
        raise BadPieceSet(f"{source}: {first_fault(error)}") from None
    shapes = {n: Shape(n, s.kind, s.width, s.height, s.depth, s.opening) for n, s in model.shapes.items()}
    return PieceSet(model.name, shapes, dict(model.colors), tuple(model.pieces))


def load_piece_set(path: str | Path) -> PieceSet:
    """Read a ``pieces.json``. Raises BadPieceSet with one line that names file and fault."""
    return parse_piece_set(parsed_file(path, json.loads, "JSON", BadPieceSet), str(path))


BUILTIN_SETS = Path(__file__).parent / "piece_sets"


def builtin_piece_set(name: str = "challenge") -> PieceSet:
    """A piece set that ships with the package, by name."""
    return load_piece_set(BUILTIN_SETS / f"{name}.json")
