"""Which piece, and which face of it, each pixel of a view shows: placed pieces drawn by depth."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from cards.build import Piece, shape_of
from cards.pieces import Kind, PieceSet
from referee.kernels.polygons import draw_solid
from referee.vision.image.view import ZoneView
from referee.vision.render.solids import FACES, solid, z_buffer


def piece_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: the index of the piece that each pixel of the view shows, -1 for none."""
    return _drawn(view, piece_set, pieces, False)


def face_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: ``FACES`` times the index of the piece plus that of its face (``solids.solid``), -1 for none."""
    return _drawn(view, piece_set, pieces, True)


def arch_tags(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece]) -> np.ndarray:
    """(h, w) int32: of what piece each pixel would show something if its arches were filled, -1 for none."""
    filled: dict[Kind, Kind] = {"bridge": "box", "crescent": "half_disc"}
    buffer = z_buffer(view.image.shape[:2])
    for i, p in enumerate(pieces):
        arch = shape_of(piece_set, p)
        if arch.kind in filled:
            whole = dataclasses.replace(arch, kind=filled[arch.kind], opening=0.0)
            draw_solid(solid(whole, p.pose), _place(p), view.camera, view.matrix, buffer, i, 0)
    return buffer.tags


def _drawn(view: ZoneView, piece_set: PieceSet, pieces: Sequence[Piece], faces: bool) -> np.ndarray:
    buffer = z_buffer(view.image.shape[:2])
    for i, p in enumerate(pieces):
        draw_solid(
            solid(shape_of(piece_set, p), p.pose), _place(p), view.camera, view.matrix, buffer, i, FACES if faces else 0
        )
    return buffer.tags


def _place(p: Piece) -> tuple[float, float, float, float]:
    return float(p.x), float(p.y), float(p.z), math.radians(p.yaw)
