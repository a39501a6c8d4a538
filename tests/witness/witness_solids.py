"""Pieces as triangle meshes, made from CONTRACT.md's words alone: nothing here is taken from ``cards`` or vision.

A piece's own frame: u along its width, w along its height, d along its depth, origin in the middle of its
box, millimetres. An outline in (u, w) is extruded along d; the edges of wood are rounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import Delaunay

EDGE_MM = 0.7
"""Radius of a sanded edge of a wooden toy."""

RIM_STEPS = 3
ARC_STEPS = 40
SHARP_DEG = 20.0
"""Corners that turn by more than this are rounded; the joints of an arc's chords are not."""


@dataclass(frozen=True)
class Mesh:
    """``points`` (n, 3) mm, ``normals`` (n, 3), ``faces`` (m, 3) indices, ``uv`` (n, 2) of the grain."""

    points: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    uv: np.ndarray

    def moved(self, turn: np.ndarray, to: np.ndarray) -> Mesh:
        """The mesh turned by the rotation matrix (3, 3) and shifted by (3,) mm."""
        return Mesh(self.points @ turn.T + to, self.normals @ turn.T, self.faces, self.uv)


def piece_mesh(
    spec: dict, tolerance_mm: tuple[float, float, float] = (0.0, 0.0, 0.0), edge_mm: float = EDGE_MM
) -> Mesh:
    """The mesh of a shape as ``pieces.json`` describes it, its width, height and depth off by the tolerance."""
    wide, high, deep = (spec[k] + t for k, t in zip(("width", "height", "depth"), tolerance_mm, strict=True))
    if spec["kind"] == "cylinder":
        mesh = extruded(_arc(wide / 2, wide / 2, 0, 2 * math.pi, 2 * ARC_STEPS)[:-1], high, edge_mm)
        return mesh.moved(np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]), np.zeros(3))
    return extruded(outline(spec["kind"], wide, high, spec.get("opening", 0.0)), deep, edge_mm)


def outline(kind: str, wide: float, high: float, opening: float) -> np.ndarray:
    """Corners (n, 2) of the elevation, counter-clockwise, about the middle of its box."""
    a, b, r = wide / 2, high / 2, opening / 2
    if kind == "box":
        return np.array([(-a, -b), (a, -b), (a, b), (-a, b)])
    if kind == "triangle":
        return np.array([(-a, -b), (a, -b), (0.0, b)])
    if kind == "half_disc":
        return _arc(a, high, 0, math.pi) - (0, b)
    opening_arc = _arc(r, r, math.pi, 0) - (0, b)
    if kind == "bridge":
        return np.concatenate([[(-a, -b)], opening_arc, [(a, -b), (a, b), (-a, b)]])
    if kind == "crescent":
        return np.concatenate([_arc(a, high, 0, math.pi) - (0, b), opening_arc])
    raise ValueError(f"no outline for kind {kind!r}")


def _arc(ru: float, rw: float, start: float, end: float, steps: int = ARC_STEPS) -> np.ndarray:
    t = np.linspace(start, end, steps + 1)
    return np.stack([ru * np.cos(t), rw * np.sin(t)], 1)


def extruded(corners: np.ndarray, deep: float, edge_mm: float = EDGE_MM) -> Mesh:
    """The outline drawn out along d, with rounded corners and rims."""
    ring, side = _rounded(corners, edge_mm)
    t = np.linspace(0, math.pi / 2, RIM_STEPS + 1)
    inset, lift = edge_mm * (1 - np.sin(t)), deep / 2 - edge_mm * (1 - np.cos(t))
    rows = [(i, -z, -math.cos(a)) for i, z, a in zip(inset, lift, t, strict=True)]
    rows += [(i, z, math.cos(a)) for i, z, a in zip(inset[::-1], lift[::-1], t[::-1], strict=True)]
    points, normals = [], []
    for i, z, out in rows:
        flat = ring - side * i
        points.append(np.column_stack([flat[:, 0], np.full(len(ring), z), flat[:, 1]]))
        normals.append(
            np.column_stack(
                [side[:, 0] * math.sqrt(1 - out * out), np.full(len(ring), out), side[:, 1] * math.sqrt(1 - out * out)]
            )
        )
    faces = _band_faces(len(rows), len(ring))
    lid = _lid_faces(points[0][:, [0, 2]])
    points, normals = (
        [*points, points[0], points[-1]],
        [*normals, np.tile((0, -1.0, 0), (len(ring), 1)), np.tile((0, 1.0, 0), (len(ring), 1))],
    )
    n = len(rows) * len(ring)
    faces = np.concatenate([faces, lid + n, lid[:, ::-1] + n + len(ring)])
    points, normals = np.concatenate(points), np.concatenate(normals)
    return Mesh(points, normals, faces, _grain(points))


def _grain(points: np.ndarray) -> np.ndarray:
    """Texture coordinates (n, 2): grain runs along u, 64 mm a tile; ends and sides get slanted sections."""
    u, d, w = points.T
    return np.stack([u + 0.31 * d, w + 0.77 * d], 1) / 64.0


def _band_faces(rows: int, n: int) -> np.ndarray:
    k = np.arange(n)
    after = (k + 1) % n
    bands = []
    for r in range(rows - 1):
        a, b = r * n, (r + 1) * n
        bands += [np.column_stack([k + a, after + b, after + a]), np.column_stack([k + a, k + b, after + b])]
    return np.concatenate(bands)


def _lid_faces(ring: np.ndarray) -> np.ndarray:
    """Triangles (m, 3) that fill the ring (n, 2), seen from d < 0 counter-clockwise."""
    faces = Delaunay(ring).simplices
    middle = ring[faces].mean(1)
    faces = faces[[_inside(ring, point) for point in middle]]
    a, b, c = (ring[faces[:, k]] for k in range(3))
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    faces = faces[np.abs(area) > 1e-9]
    clockwise = area[np.abs(area) > 1e-9] < 0
    faces[clockwise] = faces[clockwise][:, ::-1]
    return faces


def _inside(ring: np.ndarray, point: np.ndarray) -> bool:
    (x, y), after = ring.T, np.roll(ring, -1, 0)
    straddles = (y > point[1]) != (after[:, 1] > point[1])
    span = np.where(straddles, after[:, 1] - y, 1.0)
    crossing = x + (point[1] - y) / span * (after[:, 0] - x)
    return bool(np.count_nonzero(straddles & (point[0] < crossing)) % 2)


def _rounded(corners: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """The outline with its convex corners rounded: points (n, 2) and outward normals (n, 2)."""
    step = np.roll(corners, -1, 0) - corners
    along = step / np.linalg.norm(step, axis=1, keepdims=True)
    out = np.stack([along[:, 1], -along[:, 0]], 1)
    points, normals = [], []
    for k, corner in enumerate(corners):
        before, after = out[k - 1], out[k]
        turn = math.atan2(before[0] * after[1] - before[1] * after[0], float(before @ after))
        middle = (before + after) / np.linalg.norm(before + after)
        if math.degrees(turn) < SHARP_DEG:
            points.append(corner)
            normals.append(middle)
            continue
        centre = corner - middle * radius / math.cos(turn / 2)
        for s in np.linspace(0, turn, 5):
            c, sn = math.cos(s), math.sin(s)
            normal = np.array([before[0] * c - before[1] * sn, before[0] * sn + before[1] * c])
            points.append(centre + radius * normal)
            normals.append(normal)
    return np.array(points), np.array(normals)


def pose_turn(rotation: float, facing: str, yaw: float) -> np.ndarray:
    """Rotation (3, 3) of a piece's (u, d, w) into the player's (x, y, z), by CONTRACT.md's order of turns."""
    turn = about_y(-rotation)
    if facing == "side":
        turn = about_z(90) @ turn
    elif facing == "top":
        turn = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]) @ turn
    return about_z(yaw) @ turn


def placed(mesh: Mesh, rotation: int, facing: str, centre: tuple[float, float, float], yaw: float) -> Mesh:
    """The mesh in the player's frame with the middle of its box at ``centre`` mm; ``rotation`` in quarter turns."""
    return mesh.moved(pose_turn(rotation, facing, yaw), np.array(centre, float))


def about_z(degrees: float) -> np.ndarray:
    """Rotation (3, 3) counter-clockwise seen from above."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def about_y(degrees: float) -> np.ndarray:
    """Rotation (3, 3) about y: positive turns z towards x."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, 0, s], [0, 1.0, 0], [-s, 0, c]])


def about_x(degrees: float) -> np.ndarray:
    """Rotation (3, 3) about x: positive turns y towards z."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
