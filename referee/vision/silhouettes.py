"""Which piece each pixel of a view shows: placed pieces drawn by depth. For overlays and scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cards.build import Piece, shape_of
from cards.pieces import PieceSet
from referee.vision.solids import draw_solid, solid
from referee.vision.view import ZoneView


def piece_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: the index of the piece that each pixel of the view shows, -1 for none."""
    shape = view.image.shape[:2]
    tags, inverse_depth = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
    for i, p in enumerate(pieces):
        s = solid(shape_of(piece_set, p), p.pose)
        draw_solid(s.points, s.faces, s.normals, p.x, p.y, p.z, math.radians(p.yaw), view.camera, view.matrix,
                   i, inverse_depth, tags, False)
    return tags
