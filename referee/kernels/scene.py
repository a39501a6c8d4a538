"""What the kernels of the search draw with: stances, evidence, maps, and the camera that sees them.

Made once and kept, so that a call costs nothing but its own arguments. Pieces of a state are rows (stance, x, y, z,
yaw): mm, radians. The picture so far is two maps: the inverse depth of the nearest piece and the evidence it claims.
"""

from itertools import count

import cython
import numpy as np
from cython.cimports.cpython.buffer import (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cython.cimports.libc.math import cos, sin

TABLES = count()
NO_RULES = cython.declare(Rules)
RULES = tuple(NO_RULES)
"""Names of the rules that kernels judge by."""

BUILT_FROM = REFEREE_SOURCES
"""``sources.digest`` of what these modules were built from."""


class StanceTable:
    """All ``stances`` (a ``Catalogue`` of ``referee.vision.search.stances``) with their ``solids``, as arrays, and the
    rules that they are judged by. ``flat`` (s, 2): whether their lower, their upper side are level."""

    def __init__(self, stances, flat, solids, rules):
        """``rules`` by name, as ``Rules`` in ``scene.pxd`` has them. Raises ValueError where one is missing."""
        self.arrays, s = (stances, flat, solids), cython.address(self.stances)
        s.table, (s.count, s.samples) = next(TABLES), stances.lower.shape
        s.kind, s.color = indices(stances.kind), indices(stances.color)
        s.rare, s.level = truths(stances.rare), cython.cast("Level *", truths(flat))
        s.size = cython.cast("Size *", doubles(stances.size))
        s.lower, s.upper = doubles(stances.lower), doubles(stances.upper)
        s.points = cython.cast("Vector *", doubles(solids.points))
        s.normals = cython.cast("Vector *", doubles(solids.normals))
        s.on_face, s.edges = indices(solids.on_face), cython.cast("Edge *", indices(solids.edges))
        s.part_at, s.point_at = indices(solids.part_at), indices(solids.point_at)
        s.face_at, s.edge_at = indices(solids.face_at), indices(solids.edge_at)
        s.rules = rules


class Gains:
    """Evidence to draw from: ``each`` (k, h, w) float32 nats a pixel, ``sums`` (k, h, w + 1) running sums of rows; and
    that of the view ``beside``."""

    def __init__(self, each, beside=None):
        self.each = padded(each.shape)
        self.each[...] = each
        self.sums = np.zeros((*each.shape[:2], each.shape[2] + 1), np.float32)
        np.cumsum(self.each, axis=2, out=self.sums[..., 1:])
        self.evidence.colors, self.evidence.each, self.evidence.sums = len(each), floats(self.each), floats(self.sums)
        self.beside = beside
        if beside is not None:
            self.evidence.beside = cython.address(self.beside.evidence)


class Maps:
    """``near`` (h, w) inverse depth, ``gained`` (h, w) evidence claimed, both empty at first.

    The rest is scratch: the columns of each row that may not be empty, and of each part in its slot the runs of
    columns and the planes. Each thread has its own.
    """

    def __init__(self, height, width):
        v = cython.address(self.view)
        self.near, self.gained, self.own = padded((height, width)), padded((height, width)), padded((2, width))
        self.from_col, self.to_col = np.full(height, width, np.int64), np.full(height, -1, np.int64)
        self.left, self.right = np.empty((2, MOST_PARTS, height), np.int64)
        self.parts, self.front = np.empty((MOST_PARTS, 3), np.int64), np.empty(MOST_FACES, np.bool_)
        self.corners, self.planes = np.empty((5, MOST_CORNERS)), np.empty((MOST_PARTS, MOST_FACES, 3), np.float32)
        self.turned = np.full((MOST_TURNED, cython.sizeof(Turned) // 8), -1, np.int64)
        v.height, v.width = height, width
        v.near, v.gained, v.own = floats(self.near), floats(self.gained), floats(self.own)
        v.from_col, v.to_col = indices(self.from_col), indices(self.to_col)
        v.left, v.right = indices(self.left), indices(self.right)
        v.parts, v.front = cython.cast("Part *", indices(self.parts)), truths(self.front)
        v.corners = cython.cast("Corners *", doubles(self.corners))
        v.turned = cython.cast("Turned *", indices(self.turned))
        v.planes = cython.cast("Plane *", floats(self.planes))


def padded(shape):
    """Zeros of this shape, with room behind the last row for what is read in blocks of columns."""
    count = int(np.prod(shape))
    return np.zeros(count + BLOCK, np.float32)[:count].reshape(shape)


class Scene:
    """What pieces are drawn into and held against: the ``camera`` (3, 4) from mm to the camera's frame, the pinhole
    ``matrix`` (3, 3), the evidence and the maps; and what another camera shows of the same pieces ``beside``: they are
    drawn into both, and win what they win in both."""

    def __init__(self, camera, matrix, gains, maps, beside=None):
        self.camera, self.matrix, self.gains, self.maps, self.beside = camera, matrix, gains, maps, beside
        self.view = self.maps.view
        if beside is not None:
            self.view.beside = cython.address(self.beside.view)
        self.view.evidence = self.gains.evidence
        for row in range(3):
            for column in range(4):
                self.view.camera[row][column] = camera[row, column]
        self.view.fx, self.view.fy = matrix[0, 0], matrix[1, 1]
        self.view.cx, self.view.cy = matrix[0, 2], matrix[1, 2]

    def with_gains(self, gains):
        """The same scene with other evidence."""
        return Scene(self.camera, self.matrix, gains, self.maps, self.beside)


def turned(view, turn):
    """The view for coordinates of a build turned by ``turn`` radians."""
    c, s, out = cos(turn), sin(turn), view[0]
    out.turn += turn
    for k in range(3):
        out.camera[k][0] = view.camera[k][0] * c + view.camera[k][1] * s
        out.camera[k][1] = -view.camera[k][0] * s + view.camera[k][1] * c
    return out


def beside_of(view):
    """The view beside, with its part of the evidence; of a view with none, one of no height."""
    out: View
    if view.beside == cython.NULL or view.evidence.beside == cython.NULL:
        out.height = 0
        return out
    out = turned(view.beside, view.turn)
    out.evidence = view.evidence.beside[0]
    return out


def address(array, kinds):
    """Where the numbers of an array lie that is C-contiguous and of one of these kinds. Raises TypeError."""
    view: Py_buffer
    PyObject_GetBuffer(array, cython.address(view), PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    where, kind = view.buf, cython.cast(bytes, view.format)
    PyBuffer_Release(cython.address(view))
    if kind not in kinds:
        raise TypeError(f"a kernel was given numbers of kind {kind.decode()}, and takes {kinds.decode()}")
    return where


def doubles(array):
    return cython.cast(cython.p_double, address(array, b"d"))


def floats(array):
    return cython.cast(cython.p_float, address(array, b"f"))


def indices(array):
    """Whole numbers of 64 bits, which are ``l`` on some systems and ``q`` on others."""
    return cython.cast("i64 *", address(array, b"lq"))


def truths(array):
    return cython.cast("truth *", address(array, b"?"))


def labels_of(array):
    return cython.cast(cython.p_schar, address(array, b"b"))


def pieces_of(array):
    """The rows (n, 5) of a state, or of several (k, n, 5). Raises ValueError of more than any scratch holds."""
    if array.ndim > 1 and array.shape[array.ndim - 2] > MOST_PIECES:
        raise ValueError(f"a build of {array.shape[array.ndim - 2]} pieces: more than {MOST_PIECES}")
    return cython.cast("Piece *", doubles(array))
