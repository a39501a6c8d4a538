"""Which piece, and which face of it, each pixel of a view shows: placed pieces drawn by depth."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from cards.build import Piece, shape_of
from cards.pieces import PieceSet
from referee.vision.solids import draw_solid, solid
from referee.vision.view import ZoneView

FACES = 64
"""More than any drawn solid has faces."""


def piece_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: the index of the piece that each pixel of the view shows, -1 for none."""
    return _drawn(view, piece_set, pieces, False)


def face_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: ``FACES`` times the index of the piece plus that of its face (``solids.solid``), -1 for none."""
    return _drawn(view, piece_set, pieces, True)


def arch_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: of what piece each pixel would show something if its arches were filled, -1 for none."""
    filled = {"bridge": "box", "crescent": "half_disc"}
    shape = view.image.shape[:2]
    tags, inverse_depth = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
    for i, p in enumerate(pieces):
        arch = shape_of(piece_set, p)
        if arch.kind in filled:
            s = solid(dataclasses.replace(arch, kind=filled[arch.kind], opening=0.0), p.pose)
            draw_solid(
                s.points,
                s.faces,
                s.normals,
                p.x,
                p.y,
                p.z,
                math.radians(p.yaw),
                view.camera,
                view.matrix,
                i,
                inverse_depth,
                tags,
                False,
            )
    return tags


def _drawn(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece], faces: bool) -> np.ndarray:
    shape = view.image.shape[:2]
    tags, inverse_depth = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
    for i, p in enumerate(pieces):
        s = solid(shape_of(piece_set, p), p.pose)
        draw_solid(
            s.points,
            s.faces,
            s.normals,
            p.x,
            p.y,
            p.z,
            math.radians(p.yaw),
            view.camera,
            view.matrix,
            i,
            inverse_depth,
            tags,
            faces,
        )
    return tags
