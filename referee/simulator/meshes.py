"""Solids of the simulated table as triangle meshes: pieces from their outlines, arms, hands and tongs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cards.build import Piece, envelope
from cards.pieces import Pose, Shape

ROUND, RINGS = 28, 9
"""Segments of a full circle in a cylinder; rings of corners on a ball."""

SMOOTH_DEG = 35.0
"""Outline corners blunter than this are shaded as a curve, sharper ones as an edge."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangle soup: ``corners`` (n, 3, 3) mm and ``normals`` (n, 3, 3) of unit length, outward."""

    corners: np.ndarray
    normals: np.ndarray

    def moved(self, turn: np.ndarray, centre: np.ndarray) -> "Mesh":
        """The mesh turned by (3, 3) and then shifted by (3,)."""
        return Mesh(self.corners @ turn.T + centre, self.normals @ turn.T)


@dataclass(frozen=True, eq=False)
class PosedPiece:
    """A piece anywhere in space: ``turn`` (3, 3) and ``centre`` (3,) mm, in the frame of its player's mat."""

    shape: str
    color: str
    turn: np.ndarray
    centre: np.ndarray


def place_piece(piece: Piece) -> PosedPiece:
    """The piece of a build as a solid in space."""
    turn = turn_about_z(piece.yaw) @ turn_of(piece.pose)
    return PosedPiece(piece.shape, piece.color, turn, np.array([piece.x, piece.y, piece.z]))


@lru_cache(maxsize=64)
def turn_of(pose: Pose) -> np.ndarray:
    """(3, 3): from the outline's frame (u, depth, w) to the player's, before yaw; see ``cards.pieces``."""
    a = math.radians(pose.rotation)
    c, s = round(math.cos(a), 12), round(math.sin(a), 12)
    spin = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    facing = {
        "front": np.eye(3),
        "side": np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
        "top": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
    }[pose.facing]
    return facing @ spin


def turn_about_z(degrees: float) -> np.ndarray:
    """(3, 3) counter-clockwise seen from above."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@lru_cache(maxsize=64)
def solid(shape: Shape) -> Mesh:
    """The shape's mesh about its box's centre, outline towards -y (the player)."""
    if shape.kind == "cylinder":
        return rod((0, 0, -shape.height / 2), (0, 0, shape.height / 2), shape.width / 2, shape.width / 2)
    return _extruded(shape)


def _extruded(shape: Shape) -> Mesh:
    outline, depth = shape.outline, shape.depth

    def at(uv: np.ndarray, e: float) -> np.ndarray:
        return np.stack([uv[..., 0], np.full(uv.shape[:-1], e), uv[..., 1]], -1)

    u, low, high = (v.reshape(-1, 2).T for v in envelope(shape, 0))
    foot, top = np.stack([u, low], -1), np.stack([u, high], -1)  # (2, n, 2): the left and right ends of upright strips
    caps = np.concatenate([np.stack([foot[0], foot[1], top[1]], 1), np.stack([foot[0], top[1], top[0]], 1)])
    front, back = at(caps, -depth / 2), at(caps[:, ::-1], depth / 2)
    flat = np.zeros_like(front)
    flat[..., 1] = -1.0
    sides, side_normals = _band(outline, at, depth)
    return _outward(Mesh(np.concatenate([front, back, sides]), np.concatenate([flat, -flat, side_normals])))


def _outward(mesh: Mesh) -> Mesh:
    """The mesh with every triangle's corners counter-clockwise as seen from outside."""
    a, b, c = mesh.corners.transpose(1, 0, 2)
    wrong = (np.cross(b - a, c - a) * mesh.normals.sum(1)).sum(1) < 0
    order = np.where(wrong[:, None], (0, 2, 1), (0, 1, 2))[..., None]
    return Mesh(np.take_along_axis(mesh.corners, order, 1), np.take_along_axis(mesh.normals, order, 1))


def _band(outline: np.ndarray, at, depth: float) -> tuple[np.ndarray, np.ndarray]:
    a, b = outline, np.roll(outline, -1, 0)
    edge = b - a
    normal = np.stack([edge[:, 1], -edge[:, 0]], 1) / np.linalg.norm(edge, axis=1, keepdims=True)
    na, nb = _blend(normal, np.roll(normal, 1, 0)), _blend(normal, np.roll(normal, -1, 0))
    af, ab, bf, bb = at(a, -depth / 2), at(a, depth / 2), at(b, -depth / 2), at(b, depth / 2)
    na, nb = at(na, 0.0), at(nb, 0.0)
    quads = np.concatenate([np.stack([af, bf, bb], 1), np.stack([af, bb, ab], 1)])
    return quads, np.concatenate([np.stack([na, nb, nb], 1), np.stack([na, nb, na], 1)])


def _blend(mine: np.ndarray, other: np.ndarray) -> np.ndarray:
    smooth = (mine * other).sum(1) > math.cos(math.radians(SMOOTH_DEG))
    mixed = np.where(smooth[:, None], mine + other, mine)
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def rod(
    start: Sequence[float] | np.ndarray,
    end: Sequence[float] | np.ndarray,
    radius: float,
    end_radius: float,
    sides: int = ROUND,
) -> Mesh:
    """A closed round rod between two points (3,), mm; its radius may change along it."""
    p, q = np.asarray(start, float), np.asarray(end, float)
    axis = (q - p) / np.linalg.norm(q - p)
    helper = np.array([1.0, 0, 0]) if abs(axis[0]) < 0.9 else np.array([0, 1.0, 0])
    e1 = np.cross(axis, helper)
    e1 /= np.linalg.norm(e1)
    e2 = np.cross(axis, e1)
    t = np.linspace(0, 2 * math.pi, sides + 1)
    ring = np.cos(t)[:, None] * e1 + np.sin(t)[:, None] * e2
    low, high = p + radius * ring, q + end_radius * ring
    return _outward(_joined(_strip(low, high, ring, ring), _fan(low, p, -axis), _fan(high, q, axis)))


def _strip(low: np.ndarray, high: np.ndarray, low_normal: np.ndarray, high_normal: np.ndarray) -> Mesh:
    def band(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        a, b, c, d = low[:-1], low[1:], high[1:], high[:-1]
        return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])

    return Mesh(band(low, high), band(low_normal, high_normal))


def _fan(ring: np.ndarray, centre: np.ndarray, normal: np.ndarray) -> Mesh:
    n = len(ring) - 1
    corners = np.stack([np.broadcast_to(centre, (n, 3)), ring[:-1], ring[1:]], 1)
    return Mesh(corners, np.broadcast_to(normal, corners.shape).copy())


def ball(centre: Sequence[float], radii: Sequence[float]) -> Mesh:
    """An ellipsoid with half axes ``radii`` (3,) mm."""
    lat = np.linspace(-math.pi / 2, math.pi / 2, RINGS)
    lon = np.linspace(0, 2 * math.pi, 2 * RINGS)
    unit = np.stack(
        [
            np.outer(np.cos(lat), np.cos(lon)),
            np.outer(np.cos(lat), np.sin(lon)),
            np.outer(np.sin(lat), np.ones_like(lon)),
        ],
        -1,
    )
    parts = [_strip(unit[i], unit[i + 1], unit[i], unit[i + 1]) for i in range(RINGS - 1)]
    sphere = _joined(*parts)
    scale = np.asarray(radii, float)
    normals = sphere.normals / scale
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return _outward(Mesh(sphere.corners * scale + np.asarray(centre, float), normals))


def _joined(*parts: Mesh) -> Mesh:
    return Mesh(np.concatenate([m.corners for m in parts]), np.concatenate([m.normals for m in parts]))
