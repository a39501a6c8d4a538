"""Pieces as surfaces, drawn by depth: which piece, and which face of it, each pixel of a view shows.

``referee.kernels.polygons`` draws them: a build of ten pieces in well under a millisecond.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cards.build import Piece, shape_of
from cards.pieces import PieceSet, Pose, Shape
from referee.kernels.polygons import draw_solid
from referee.vision.image.view import ZoneView

ROUND_STEPS = 20
"""Facets of a full circle in a drawn cylinder: 0.2 mm from round for a 30 mm piece."""

PLAIN_CORNERS, ARC_STEP = 8, 1.5
"""An outline of no more corners has no arc; in one that has, steps up to so many times the usual one are of an arc."""

FACES = 64
"""More than any drawn solid has faces, and any of its faces corners."""


class Solid(NamedTuple):
    """Faces of a posed shape about its centre, before yaw.

    ``points`` (p, 3) mm; ``faces`` (f + 1,) offsets into points; ``normals`` (f, 3) outward.
    Faces are planar polygons, not necessarily convex.
    """

    points: np.ndarray
    faces: np.ndarray
    normals: np.ndarray


@lru_cache(maxsize=4096)
def solid(shape: Shape, pose: Pose) -> Solid:
    """The faces of a shape in a pose."""
    outline = _round_outline(shape) if shape.kind == "cylinder" else _coarse_outline(shape, pose.rotation)
    depth = shape.height if shape.kind == "cylinder" else shape.depth
    polygons, normals = _extruded(outline, depth)
    if shape.kind == "cylinder":
        # The disc lies in (u, v); stand it along the axis the pose gives it.
        order = {"z": (0, 1, 2), "x": (2, 0, 1), "y": (1, 2, 0)}[shape.axis(pose)]
    else:
        order = {"front": (0, 2, 1), "side": (2, 0, 1), "top": (0, 1, 2)}[pose.facing]
    points = np.concatenate(polygons)[:, order]
    offsets = np.cumsum([0, *map(len, polygons)]).astype(np.int64)
    return Solid(np.ascontiguousarray(points), offsets, np.ascontiguousarray(np.array(normals)[:, order]))


def _round_outline(shape: Shape) -> np.ndarray:
    t = np.arange(ROUND_STEPS) * 2 * math.pi / ROUND_STEPS
    return np.stack([np.cos(t), np.sin(t)], 1) * shape.width / 2


def _coarse_outline(shape: Shape, rotation: float) -> np.ndarray:
    """The turned outline with its arcs thinned to about ROUND_STEPS facets a circle."""
    outline = shape.turned_outline(rotation)
    if len(outline) <= PLAIN_CORNERS:
        return outline
    steps = np.linalg.norm(np.roll(outline, -1, 0) - outline, axis=1)
    short = np.median(steps) * ARC_STEP
    keep, run = [], 0
    for i in range(len(outline)):
        corner = steps[i] > short or steps[i - 1] > short
        run = 0 if corner else run + 1
        if corner or run % 2 == 0:
            keep.append(i)
    return outline[keep]


def _extruded(outline: np.ndarray, depth: float) -> tuple[list[np.ndarray], list[tuple]]:
    """Polygons (n, 3) in (u, w, d) with outward normals: both ends and a quad an edge."""
    d = depth / 2
    n = len(outline)
    polygons = [np.c_[outline, np.full(n, d)], np.c_[outline[::-1], np.full(n, -d)]]
    normals: list[tuple] = [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    for i in range(n):
        a, b = outline[i], outline[(i + 1) % n]
        along = b - a
        length = math.hypot(*along)
        polygons.append(np.array([(*a, -d), (*b, -d), (*b, d), (*a, d)]))
        normals.append((along[1] / length, -along[0] / length, 0.0))
    return polygons, normals


class ZBuffer(NamedTuple):
    """``inverse_depth`` (h, w) float32 of what is nearest, and its ``tags`` (h, w) int32, -1 where nothing is."""

    inverse_depth: np.ndarray
    tags: np.ndarray


def z_buffer(shape: tuple[int, int]) -> ZBuffer:
    """An empty buffer of (h, w) pixels."""
    return ZBuffer(np.zeros(shape, np.float32), np.full(shape, -1, np.int32))


def piece_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: the index of the piece that each pixel of the view shows, -1 for none."""
    return _tags(view, piece_set, pieces, 0)


def face_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: ``FACES`` times the index of the piece plus that of its face (``solid``), -1 for none."""
    return _tags(view, piece_set, pieces, FACES)


def _tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece], faces: int) -> np.ndarray:
    buffer = z_buffer(view.image.shape[:2])
    for i, p in enumerate(pieces):
        at = float(p.x), float(p.y), float(p.z), math.radians(p.yaw)
        draw_solid(solid(shape_of(piece_set, p), p.pose), at, view.camera, view.matrix, buffer, i, faces)
    return buffer.tags
