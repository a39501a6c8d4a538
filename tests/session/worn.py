"""Rigs as they are after years: worn pieces a little off in size and paint, a camera that drifts, things that are no
pieces about the mats, people in the pieces' colours. All is drawn from seeds; nothing of it is known to the eyes.

The paint is worn to the wood along edges and in patches, drawn as a thin skin over the painted solid. The camera's
drift acts on linear light: the levels of the picture before the sensor's noise are taken back through the tone curve.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from unittest.mock import patch

import cv2
import numpy as np
import scipy
from staged import FPS, SET, PosedTable, Rig

from calibration.mat import SHEET, SHEET_CORNERS
from cards.pieces import PieceSet, Pose, Shape
from referee.simulator import room
from referee.simulator.build_plans import spread_set
from referee.simulator.meshes import Mesh, place_piece, solid, turn_about_z, turn_of
from referee.simulator.room import linear_light
from referee.simulator.table import World
from referee.vision.observer import Observer

COLORS_S, DUELS_S, DUEL_EVERY_S = 20.0, 150.0, 75.0
"""On the camera's clock: the colours frame, 20 s after the empty one, the first duel, and from duel to duel."""

WOOD = (132, 176, 210)
"""Bare wood, BGR sRGB."""
COARSE_MM, FINE_MM, SKIN_MM = 8.0, 1.7, 0.15
"""Longest edge of a triangle that is worn as a whole, at a patch's rim, and how far the bare skin lies outside."""

SHARP = 0.8
"""Cosine between two faces from which on downwards paint is worn along the edge between them."""


def tone(x: np.ndarray) -> np.ndarray:
    """``room.tone_curve`` unrounded, and beyond full light: linear to 0..255."""
    soft = np.where(x > 0.75, 0.75 + (1 - np.exp(-(x - 0.75) * 3)) / 4.2, x)
    return 255 * np.where(soft <= 0.0031308, 12.92 * soft, 1.055 * np.maximum(soft, 1e-9) ** (1 / 2.4) - 0.055)


LIGHT = np.interp(np.arange(256), tone(np.linspace(0, 1, 4096)), np.linspace(0, 1, 4096))
"""(256,) linear light of each level of a picture."""


LOOSE_MM = 180.0
"""So far to both sides of a mat's middle, on its player's side, loose pieces lie and hands come and go."""


class Drift:
    """How exposure and white balance of one camera wander: up to half a stop, and red against blue up to 8 %."""

    def __init__(self, rng: np.random.Generator) -> None:
        most = np.array([rng.uniform(0.15, 0.5), rng.uniform(0.02, 0.08)])
        self._most = most[:, None] * rng.dirichlet((2, 2, 2), 2)
        self._turns = 2 * np.pi / np.exp(rng.uniform(np.log(25), np.log(400), (2, 3)))
        self._from = rng.uniform(0, 2 * np.pi, (2, 3))

    def at(self, t_s: float) -> tuple[float, float]:
        """Stops of exposure, and by which share red is stronger and blue weaker."""
        stops, warm = (self._most * np.sin(self._turns * t_s + self._from)).sum(1)
        return float(stops), float(warm)

    def levels(self, t_s: float) -> np.ndarray:
        """(1, 256, 3) uint8: what becomes of each level of B, G, R."""
        stops, warm = self.at(t_s)
        light = LIGHT[:, None] * 2.0**stops * np.array([1 - warm, 1.0, 1 + warm])
        return np.clip(np.rint(tone(light)), 0, 255).astype(np.uint8)[None]


def worn_set(rng: np.random.Generator) -> PieceSet:
    """The set as it was made: all of it up to 2 % larger or smaller than the file says, each length 1 % more."""
    whole, shapes = rng.uniform(0.98, 1.02), {}
    for name, s in SET.shapes.items():
        w, h, d = whole * rng.uniform(0.99, 1.01, 3)
        shapes[name] = replace(s, width=s.width * w, height=s.height * h, depth=s.depth * d, opening=s.opening * w)
    return PieceSet(SET.name, shapes, SET.colors, SET.pieces)


def _edge_points(mesh: Mesh) -> np.ndarray:
    """(n, 3) mm: points half a millimetre apart on the mesh's sharp edges."""
    a, b, c = mesh.corners.transpose(1, 0, 2)
    faces = np.cross(b - a, c - a)
    faces /= np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-9)
    sides: dict[frozenset, list[tuple[np.ndarray, np.ndarray]]] = {}
    for corners, face in zip(mesh.corners, faces, strict=True):
        for p, q in zip(corners, np.roll(corners, -1, 0), strict=True):
            sides.setdefault(frozenset({tuple(p.round(2)), tuple(q.round(2))}), []).append((face, np.array([p, q])))
    sharp = [two[0][1] for two in sides.values() if len(two) == 2 and two[0][0] @ two[1][0] < SHARP]
    return np.concatenate([np.linspace(p, q, 2 + int(2 * np.linalg.norm(q - p))) for p, q in sharp])


def bare_skin(mesh: Mesh, share: float, edge_mm: float, rng: np.random.Generator) -> Mesh:
    """What of the mesh is worn to the wood, as triangles just outside it: ``share`` of its surface, patches by chance
    and mostly along its edges."""
    waves = rng.normal(size=(24, 3))
    waves *= 2 * np.pi / (np.linalg.norm(waves, axis=1) * np.exp(rng.uniform(np.log(6), np.log(30), 24)))[:, None]
    begins, edges = rng.uniform(0, 2 * np.pi, 24), scipy.spatial.cKDTree(_edge_points(mesh))

    def use(points: np.ndarray) -> np.ndarray:
        far = edges.query(points)[0]
        return np.cos(points @ waves.T + begins).sum(1) / 3.5 + 2.5 * np.exp(-far / edge_mm)

    area = np.linalg.norm(np.cross(*(mesh.corners[:, k] - mesh.corners[:, 0] for k in (1, 2))), axis=1)
    drawn = mesh.corners[rng.choice(len(area), 3000, p=area / area.sum())]
    limit = np.quantile(use((drawn * rng.dirichlet((1, 1, 1), 3000)[..., None]).sum(1)), 1 - share)
    corners, normals = mesh.corners, mesh.normals
    while True:
        worn = (use(corners.reshape(-1, 3)) > limit).reshape(-1, 3)
        sides = np.linalg.norm(corners - np.roll(corners, -1, 1), axis=2)
        cut = sides.max(1) > np.where(worn.any(1) & ~worn.all(1), FINE_MM, COARSE_MM)
        if not cut.any():
            break
        corners, normals = (_halved(of, cut, sides.argmax(1)) for of in (corners, normals))
    bare = use(corners.mean(1)) > limit
    return Mesh(corners[bare] + SKIN_MM * normals[bare], normals[bare])


def _halved(corners: np.ndarray, cut: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Triangles (n, 3, 3), those to ``cut`` halved at their ``side``."""
    a, b, c = (corners[np.nonzero(cut)[0], (side[cut] + k) % 3] for k in range(3))
    middle = (a + b) / 2
    return np.concatenate([corners[~cut], np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])


@dataclass(frozen=True, eq=False)
class Thing:
    """What is no piece and lies on the table: its mesh in the table's frame, its albedo (3,), and the circle (x, y, r)
    that it takes, mm."""

    mesh: Mesh
    albedo: np.ndarray
    circle: tuple[float, float, float]


def _thing(rng: np.random.Generator) -> tuple[Shape, Pose, np.ndarray]:
    """A cup, phone, playing card, pen or toy, and its colour, BGR sRGB; three in five in a colour of the pieces."""
    piece = SET.rgb(str(rng.choice(list(SET.colors))))[::-1]
    color = np.array(piece if rng.random() < 0.6 else rng.uniform(20, 235, 3)) * rng.uniform(0.8, 1.1)
    kind = str(rng.choice(["cup", "phone", "card", "pen", "toy block", "toy drum"]))
    w, h, d = rng.uniform((18, 18, 18), (48, 48, 48))
    shape = {
        "cup": Shape(kind, "cylinder", rng.uniform(66, 84), rng.uniform(75, 105), 0.0),
        "phone": Shape(kind, "box", rng.uniform(68, 78), 9.0, rng.uniform(140, 162)),
        "card": Shape(kind, "box", 60.0, 0.8, 88.0),
        "pen": Shape(kind, "cylinder", rng.uniform(8, 13), rng.uniform(120, 150), 0.0),
        "toy block": Shape(kind, "box", w, h, d),
        "toy drum": Shape(kind, "cylinder", w, h, 0.0),
    }[kind]
    return shape, Pose(90 if kind == "pen" else 0), np.clip(color, 0, 250)


class WornTable(PosedTable):
    """A rig with worn pieces, seen ``since_s`` after its set-up by a camera that drifts, with ``clutter`` on it."""

    def __init__(self, seed: int, seating: str) -> None:
        rng = np.random.default_rng((4, seed))
        paints = [SET.rgb(color)[::-1] for color in SET.colors]
        shirts = [tuple(int(c) for c in np.clip(np.array(p) * rng.uniform(0.8, 1.1), 0, 250)) for p in paints]
        with patch.object(room, "SLEEVES", tuple(shirts)):
            super().__init__(worn_set(rng), seed, seating=seating)
            self.get_ready()
        self.drift, self.since_s = Drift(rng), 0.0
        bare, self.faded = rng.uniform(0.02, 0.12), rng.uniform(0.0, 0.1)
        self._worn = {
            (zone, shape, color, k): self._wear(shape, color, bare, rng)
            for zone in self.seats
            for shape, color, count in SET.pieces
            for k in range(count)
        }
        self.clutter: list[Thing] = []
        self.clutter = self.strewn(int(rng.integers(2, 5)), rng)

    def _wear(
        self, shape: str, color: str, bare: float, rng: np.random.Generator
    ) -> tuple[tuple[Mesh, np.ndarray], ...]:
        """One piece: its painted solid and its bare skin, each with its albedo."""
        mesh, wood = solid(self.piece_set.shapes[shape]), linear_light(np.array(WOOD)) * rng.uniform(0.55, 0.95)
        mesh = Mesh(mesh.corners * rng.uniform(0.995, 1.005), mesh.normals)
        paint = self._paint[color] * rng.uniform(0.85, 1.12) * rng.uniform(0.94, 1.06, 3)
        paint += self.faded * rng.uniform(0, 1) * (wood - paint)
        skin = bare_skin(mesh, bare * rng.uniform(0.4, 1.6), rng.uniform(1.0, 2.6), rng)
        return (mesh, paint), (skin, wood)

    def develop(self, picture: np.ndarray, number: int) -> np.ndarray:
        """As the camera has set itself at the time of the frame."""
        return super().develop(cv2.LUT(picture, self.drift.levels(self.since_s + number / FPS)), number)

    def _parts(self, world: World) -> list[tuple[Mesh, np.ndarray, float]]:
        hands = super()._parts(World({}, world.hands, more_hands=world.more_hands))
        parts = [*hands, *((thing.mesh, thing.albedo, 0.03) for thing in self.clutter)]
        for zone, seat in self.seats.items():
            turn, centre, count = seat.turn(), np.array([seat.x, seat.y, 0.0]), Counter()
            for piece in world.pieces.get(zone, ()):
                kind = piece.shape, piece.color
                there = turn @ piece.turn, turn @ piece.centre + centre
                parts += [(m.moved(*there), a, 0.04) for m, a in self._worn[zone, *kind, count[kind]]]
                count[kind] += 1
        return parts

    def strewn(self, count: int, rng: np.random.Generator) -> list[Thing]:
        """So many more things, beside sheets, loose pieces and each other, and before no sheet."""
        more: list[Thing] = []
        for _ in range(400):
            shape, pose, color = _thing(rng)
            x, y, z = shape.size(pose)
            at, radius = rng.uniform((-420, -360), (420, 480)), float(np.hypot(x, y) / 2)
            circle = (float(at[0]), float(at[1]), radius)
            mesh = solid(shape).moved(turn_about_z(rng.uniform(0, 360)) @ turn_of(pose), np.array([*at, z / 2]))
            if self._has_room(mesh, circle, [*self.clutter, *more]):
                more.append(Thing(mesh, linear_light(color), circle))
            if len(more) == count:
                break
        return more

    def _has_room(self, mesh: Mesh, circle: tuple[float, float, float], things: Sequence[Thing]) -> bool:
        *at, radius = circle
        pixels = self.lens.project(mesh.corners.reshape(-1, 3))[0].astype(np.float32)
        size, hull = np.array([self.lens.width, self.lens.height]), cv2.convexHull(pixels)
        if not ((size * 0.06 < pixels) & (pixels < size * 0.98)).all():
            return False
        for seat in self.seats.values():
            x, y, _ = seat.turn().T @ (*(np.array(at) - (seat.x, seat.y)), 0.0)
            sheet = np.c_[SHEET_CORNERS * 1.03, np.zeros(4)] @ seat.turn().T + (seat.x, seat.y, 0.0)
            seen = self.lens.project(sheet)[0].astype(np.float32)
            beside = max(abs(x) - SHEET[0] / 2, abs(y) - SHEET[1] / 2) > radius + 4
            if not beside or (abs(x) - radius < LOOSE_MM and y < 0) or cv2.intersectConvexConvex(hull, seen)[0] > 0:
                return False
        return all(np.hypot(*np.subtract(at, t.circle[:2])) > radius + t.circle[2] + 4 for t in things)

    def later(self, nth: int, rng: np.random.Generator) -> WornTable:
        """This rig at its n-th duel: three things in four lie there yet, and some have come since."""
        other = copy.copy(self)
        other.since_s = DUELS_S + nth * DUEL_EVERY_S
        other.clutter = [thing for thing in self.clutter if rng.random() < 0.75]
        other.clutter += other.strewn(int(rng.integers(1, 4)), rng)
        return other


class WornRig(Rig):
    """A worn rig whose empty table, colours and sizes have been learnt, each as the camera was set then."""

    def __init__(self, seed: int, seating: str) -> None:
        self.table = WornTable(seed, seating)
        self.lens = self.table.lens.model()
        self.observer = Observer(SET, self.lens)
        self.observer.learn_empty(self.table.empty())
        standing = [place_piece(p) for p in spread_set(self.table.piece_set)]
        colors = self.table.render(World({"A": standing, "B": standing}), round(COLORS_S * FPS))
        self.observer.learn_colors(colors)
        self.observer.learn_sizes(colors)
        self._drawn = None

    def at(self, table: WornTable) -> WornRig:
        """The same rig with its table as it is later, and an observer of its own."""
        other = copy.copy(self)
        other.table, other._drawn, other.observer = table, None, copy.copy(self.observer)
        return other
