"""Builds made to deceive: what a cheat could show, beside the honest build that looks most like it.

Most come from independent testers. ``back`` is +1 where the side away from the camera is +y of the mat, else -1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cards.build import Piece
from cards.card import Card
from cards.kinds import parse_card
from cards.pieces import PieceSet, Pose, builtin_piece_set, parse_piece_set
from referee.simulator.meshes import PosedPiece, place_piece, turn_about_z

SET = builtin_piece_set()
HALVES = parse_piece_set(
    {
        "name": "halves",
        "shapes": {
            "cube": {"kind": "box", "width": 30, "height": 30, "depth": 30},
            "slab": {"kind": "box", "width": 30, "height": 15, "depth": 30},
            "long": {"kind": "box", "width": 60, "height": 15, "depth": 30},
            "cylinder": {"kind": "cylinder", "width": 30, "height": 45, "depth": 30},
        },
        "colors": {"blue": "#1f5fb4", "red": "#c8202c", "green": "#3a9a3f"},
        "pieces": [["cube", "blue", 2], ["slab", "blue", 2], ["slab", "green", 2], ["long", "red", 2]]
        + [["cylinder", "red", 2]],
    }
)
"""A set in which two pieces together look like a third."""


@dataclass(frozen=True)
class Tilted:
    """A piece turned out of its pose by ``roll`` in the elevation and ``pitch`` towards the camera, in degrees, with
    its lowest point at ``foot_mm``."""

    piece: Piece
    roll: float = 0.0
    pitch: float = 0.0
    foot_mm: float | None = None

    def posed(self, pieces: PieceSet) -> PosedPiece:
        """The solid in space."""
        a, b = math.radians(self.roll), math.radians(self.pitch)
        roll = np.array([[math.cos(a), 0, -math.sin(a)], [0, 1, 0], [math.sin(a), 0, math.cos(a)]])
        pitch = np.array([[1, 0, 0], [0, math.cos(b), -math.sin(b)], [0, math.sin(b), math.cos(b)]])
        straight = place_piece(self.piece)
        turn = pitch @ roll @ turn_about_z(self.piece.yaw) @ straight.turn
        shape = pieces.shapes[self.piece.shape]
        half = np.array([shape.width, shape.depth, shape.height]) / 2
        corners = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * half
        foot = self.piece.z - shape.size(self.piece.pose)[2] / 2 if self.foot_mm is None else self.foot_mm
        centre = np.array([self.piece.x, self.piece.y, foot - float((corners @ turn.T)[:, 2].min())])
        return PosedPiece(self.piece.shape, self.piece.color, turn, centre)


Standing = Sequence[Piece | Tilted]


@dataclass(frozen=True)
class Deceit:
    """A ``card``, a build that is ``wrong`` by it though it may not look so, and an honest one that is ``right``; with
    ``is_right`` the first is right too, though a piece of it is hidden."""

    name: str
    card: Card
    wrong: Standing
    right: Standing
    is_right: bool = False
    pieces: PieceSet = SET


def put(
    shape: str,
    color: str,
    x: float = 0.0,
    y: float = 0.0,
    foot: float = 0.0,
    rotation: int = 0,
    facing: str = "front",
    yaw: float = 0.0,
    pieces: PieceSet = SET,
) -> Piece:
    """A piece whose lowest point is ``foot`` mm above the table."""
    pose = Pose(rotation, facing)  # type: ignore[arg-type]
    return Piece(shape, color, pose, x, y, foot + pieces.shapes[shape].size(pose)[2] / 2, yaw)


def layout(*pieces: Piece) -> Card:
    rows = [{"shape": p.shape, "color": p.color, **vars(p.pose), "x": p.x, "z": p.z} for p in pieces]
    return parse_card({"id": "C", "value": 1, "kind": "layout", "pieces": rows})


def height(count: int) -> Card:
    return parse_card({"id": "C", "value": 1, "kind": "height", "count": count, "max_ground_contacts": 2})


def shapes(**wanted: int) -> Card:
    return parse_card({"id": "C", "value": 1, "kind": "shapes", "shapes": wanted, "max_ground_contacts": 2})


def deceits(back: int) -> list[Deceit]:
    """All of them, seen from that side."""
    return [*_hidden(back), *_behind(back), *_same_colour(back), *_tilted(), *_turned(back), *_halves()]


def _wall() -> list[Piece]:
    return [
        put("rectangle", "green", -13, 0, 0, 90),
        put("rectangle", "green", 13, 0, 0, 90),
        put("bridge", "orange", 0, 0, 75),
    ]


def _hidden(b: int) -> list[Deceit]:
    """A piece that the camera does not see, or one that could stand there unseen and does not."""
    wall, cube = _wall(), put("cube", "blue", 0, 31 * b)
    base, front = put("rectangle", "green", facing="side"), put("rectangle", "green", 0, -24 * b, 25, 90, "side")
    back, far = put("cylinder", "red", 0, 9 * b, 25), put("cylinder", "red", 0, -24 * b, 100)
    bridge, top = put("bridge", "orange", 0, -24 * b, 100), put("cube", "blue", 0, -24 * b, 130)
    third, unseen = [base, front, far], [base, front, back]
    hides = [*wall, cube]
    pillar = [*wall, put("cylinder", "red", 0, 31 * b)]
    return [
        Deceit("a cube hidden behind a wall: layout", layout(*wall), hides, wall),
        Deceit("a cube hidden behind a wall: height", height(3), hides, wall),
        Deceit("two cubes hidden: height", height(3), [*hides, cube.at(z=45.0)], wall),
        Deceit("a cube behind peeks out by 6 mm", layout(*wall), [*wall, cube.at(x=17.0)], wall),
        Deceit("a hidden leg that carries nothing: shapes", shapes(rectangle=2, bridge=1), pillar, wall),
        Deceit("right with its third piece hidden: height", height(3), unseen, third, is_right=True),
        Deceit("right with a cylinder hidden: shapes", shapes(rectangle=2, cylinder=1), unseen, third, True),
        Deceit("lacks the third piece, which could be hidden: height", height(3), [base, front], third),
        Deceit("lacks a cylinder that could be hidden", shapes(rectangle=2, cylinder=1), [base, front], third),
        Deceit("lacks a fourth that could be hidden", height(4), [base, front, bridge], [base, front, bridge, top]),
        Deceit("a hidden piece makes three of two", height(2), unseen, [base, front]),
    ]


def _behind(b: int) -> list[Deceit]:
    """One piece more, right behind the build, its top in plain view."""
    roof = [put("rectangle", "green"), put("triangle", "red", foot=25)]
    tower = [put("cube", "blue"), put("bridge", "orange", foot=30), put("triangle", "red", foot=60)]
    gate = [put("cylinder", "red", -25), put("cylinder", "red", 25), put("rectangle", "green", foot=45)]
    two = [put("cube", "blue"), put("cylinder", "red", foot=30)]
    cube, plank = put("cube", "blue", 0, 31 * b), put("rectangle", "green", 0, 31 * b)
    more = {
        "a plank": plank,
        "a plank 12 mm aside": plank.at(x=12.0),
        "a cube": cube,
        "a lying cylinder": put("cylinder", "red", 0, 31 * b, 0, 90),
        "a bridge": put("bridge", "orange", 0, 31 * b),
    }
    cards = {"layout": layout(*roof), "shapes": shapes(rectangle=1, triangle=1), "height": height(2)}
    found = [
        Deceit(f"{what} behind plank and roof: {kind}", card, [*roof, piece], roof)
        for kind, card in cards.items()
        for what, piece in more.items()
    ]
    return [
        *found,
        Deceit("a cube behind a tower: layout", layout(*tower), [*tower, cube], tower),
        Deceit("a plank behind a gate: layout", layout(*gate), [*gate, plank], gate),
        Deceit("a third pillar behind a gate: height", height(3), [*gate, put("cube", "blue", 0, 26 * b)], gate),
        Deceit("a second cube behind: height", height(2), [*two, cube], two),
        Deceit("a second cube behind: layout", layout(*two), [*two, cube], two),
    ]


def _same_colour(b: int) -> list[Deceit]:
    """A piece more or less that has the colour of what it is on."""
    moon = put("crescent", "blue", facing="top")
    cube = put("cube", "blue", 0, -4 * b, SET.shapes["crescent"].size(moon.pose)[2])
    drum, tile = put("cylinder", "red", rotation=90, facing="side"), put("triangle", "red", foot=30, facing="top")
    planks = [put("rectangle", "green", facing="side"), put("rectangle", "green", foot=25, facing="side")]
    return [
        Deceit("lacks a cube on a crescent of its colour", layout(moon, cube), [moon], [moon, cube]),
        Deceit("a cube too many on a crescent of its colour", layout(moon), [moon, cube], [moon]),
        Deceit("lacks a flat triangle on a drum of its colour", layout(drum, tile), [drum], [drum, tile]),
        Deceit("lacks the lower of two planks", layout(*planks), planks[:1], planks),
    ]


def _tilted() -> list[Deceit]:
    """Pieces in poses that no card shows."""
    cube, plank = put("cube", "blue"), put("rectangle", "green", foot=30)
    flat, high = put("rectangle", "green"), put("cube", "blue", foot=25)
    tower = [put("cube", "blue"), put("bridge", "orange", foot=30), put("triangle", "red", foot=60)]
    post = [
        put("rectangle", "green", -13, 0, 0, 90),
        put("cube", "blue", -13, 0, 75),
        put("cylinder", "red", -13, 0, 105),
    ]
    four = [*post, put("triangle", "red", -13, 0, 150)]
    leans = Tilted(put("rectangle", "green", 16, 0, 0, 90), roll=14)
    yawed = [Deceit(f"a plank yawed by {yaw:g}", layout(cube, plank), [cube, plank.at(yaw=yaw)], [cube, plank])
             for yaw in (45.0, 60.0)]  # fmt: skip
    return [
        *yawed,
        Deceit("a plank tilted by 25", layout(cube, plank), [cube, Tilted(plank, roll=25, foot_mm=20)], [cube, plank]),
        Deceit("a cube on its edge", layout(flat, high), [flat, Tilted(high, roll=45)], [flat, high]),
        Deceit("a roof pitched by 20", layout(*tower), [*tower[:2], Tilted(tower[2], pitch=20)], tower),
        Deceit("a plank leans on the tower", height(4), [*post, leans], four),
    ]


def _turned(b: int) -> list[Deceit]:
    """Other pieces or poses that look alike from the front."""
    bridge, cube = put("bridge", "orange"), put("cube", "blue", foot=30)
    as_card = layout(bridge, cube)
    aside, upside = put("bridge", "orange", facing="side"), put("bridge", "orange", rotation=180, facing="side")
    plank, roof = put("rectangle", "green"), put("triangle", "red", foot=25)
    lying = put("cylinder", "red", foot=25, rotation=90)
    legs = [put("cube", "blue", -22), put("cube", "blue", 22), put("rectangle", "green", foot=30)]
    drum = put("cylinder", "red", 22, 12 * b, 0, 90, "side")
    tower = [put("cube", "blue"), put("bridge", "orange", foot=30), put("triangle", "red", foot=60)]
    apart = [put("cube", "blue", -35), put("cube", "blue", 35)]
    return [
        Deceit("a bridge upside down", as_card, [put("bridge", "orange", rotation=180), cube], [bridge, cube]),
        Deceit("a bridge turned away", as_card, [aside, cube], [bridge, cube]),
        Deceit("a bridge turned away and upside down", layout(aside, cube), [upside, cube], [aside, cube]),
        Deceit("two planks behind each other", layout(plank, roof), [plank, plank.at(y=31.0 * b), roof], [plank, roof]),
        Deceit(
            "a lying cylinder points away",
            layout(plank, lying),
            [plank, put("cylinder", "red", foot=25, rotation=90, facing="side")],
            [plank, lying],
        ),
        Deceit("a cylinder laid down for a leg", layout(*legs), [legs[0], drum, legs[2]], legs),
        Deceit("a roof 24 mm aside", layout(*tower), [*tower[:2], tower[2].at(x=24.0)], tower),
        Deceit("cubes apart in depth", layout(*apart), [apart[0].at(y=-33.0), apart[1].at(y=33.0)], apart),
    ]


def _halves() -> list[Deceit]:
    """Two half cubes are no cube."""
    base, cube = put("long", "red", pieces=HALVES), put("cube", "blue", foot=15, pieces=HALVES)
    slabs = [put("slab", "blue", foot=foot, pieces=HALVES) for foot in (15.0, 30.0)]
    one, two = [base, cube], [base, *slabs]
    return [
        Deceit("two halves for a cube: layout", layout(*one), two, one, pieces=HALVES),
        Deceit("a cube for two halves: layout", layout(*two), one, two, pieces=HALVES),
        Deceit("two halves make three: height", height(2), two, one, pieces=HALVES),
        Deceit("a cube is one, not two: height", height(3), one, two, pieces=HALVES),
    ]
