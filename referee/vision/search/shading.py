"""What the light on a fitted build says: each flat face is of one shade, and pieces light the paper under their arches.

Evidence of colours hardly tells a face's shade: a colour's own varies from side to side by half its light or more.
Within one flat face it varies by the grain alone. Two builds of the same colours differ in where their faces meet: a
cube for a drum, a brick for two cubes, a piece turned. Where a build's faces are not where the picture's are, pixels
are unlike the rest of their face.
"""

import math
from functools import lru_cache, partial

import cv2
import numpy as np

from cards.pieces import Pose, Shape
from referee.kernels.polygons import draw_solid
from referee.vision.measured import measured
from referee.vision.render.solids import FACES, solid, z_buffer
from referee.vision.search.canvas import Canvas, Reading, draw_loose, turned
from referee.vision.search.stances import Catalogue

FACE_SPREAD = measured(0.1, "log light", "by hand: of grain and noise within a face")
MOST_UNEVEN = measured(2.0, "nats", "two spreads: beyond, a pixel shows a highlight, a shadow or another face")
GRAIN_NATS = measured(
    0.5,
    "nats a pixel",
    "the mean of half a squared standard normal: what grain of that spread costs; even faces win it",
)
FIT_REACH = measured((0.4, 0.2), "log light", "by hand: what is further off a face's median, then off its fit, is left")
ARC_BEND = measured(0.5, "radians", "facets of an arc meet at 0.31: ``solids.ROUND_STEPS``; no flat faces of a set do")
SLOPE_STIFF = measured(0.01, "of the pixels", "by hand: a face's light slopes gently")


def light_score(canvas: Canvas, reading: Reading) -> float:
    """Nats by which the light on a reading's pieces, fitted at full resolution, speaks for it; 0 on a coarse canvas."""
    if not canvas.light.size:
        return 0.0
    return in_openings(canvas, reading) - unevenness(canvas, reading)


def unevenness(canvas: Canvas, reading: Reading) -> float:
    """Nats against a reading for the faces of what stands in the field are not of one shade each, by the pixels that
    show their colour."""
    apart = (np.abs(reading.loose[:, 1:3]) <= canvas.field_mm).all(1)
    standing = np.vstack([turned(reading.pieces, reading.turn), reading.loose[apart]])
    rows = np.vstack([standing, reading.loose[~apart]])
    if not len(rows):
        return 0.0
    faces = faces_shown(canvas, rows)
    x, y, w, h = cv2.boundingRect((faces >= 0).astype(np.uint8))
    window = np.s_[max(0, y - 1) : y + h + 1, max(0, x - 1) : x + w + 1]
    faces = faces[window]
    inner = (faces >= 0) & (faces < FACES * len(standing))
    of_piece = np.concatenate([*(_surfaces(*_posed(canvas.cat, stance)) for stance in rows[:, 0]), [0]])
    surfaces = of_piece[faces] + faces // FACES * FACES
    for one, next_one in ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1])):
        same = surfaces[one] == surfaces[next_one]
        inner[one] &= same
        inner[next_one] &= same
    at, face = np.argwhere(inner).T, faces[inner]
    colors = canvas.cat.color[standing[:, 0].astype(int)][face // FACES]
    shows = canvas.gains[:, *window][colors, *at] > 0
    at, face = at[:, shows], face[shows]
    light = canvas.light[window][*at]
    order = np.lexsort((light, face))
    off = _residuals(light[order], at[:, order], np.unique(face, return_counts=True)[1])
    return float(np.minimum(np.square(off / FACE_SPREAD) / 2, MOST_UNEVEN).sum()) - GRAIN_NATS * len(off)


def _residuals(light: np.ndarray, at: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Residuals (n,) of the ``light`` (n,) of pixels ``at`` (2, n) against a plane fitted to each face: least squares
    of what is near the face's median, then near that fit. Pixels are sorted by face, then by light; ``count`` (f,) of
    them are of each face."""
    if not len(light):
        return light
    first = np.cumsum(count) - count
    sums, each = partial(np.add.reduceat, indices=first, axis=-1), partial(np.repeat, repeats=count, axis=-1)
    terms = np.ones((3, len(light)))
    terms[1:] = (at - each(sums(at) / count)) / each(np.sqrt(count))
    off = light = light - each(light[first + count // 2])
    stiff = count[:, None, None] * SLOPE_STIFF * np.eye(3)
    for reach in FIT_REACH:
        near = terms * (np.abs(off) < reach)
        normal, right = sums(near[:, None] * terms).T, sums(near * light).T
        off = light - (each(np.linalg.solve(normal + stiff, right[..., None])[..., 0].T) * terms).sum(0)
    return off


@lru_cache(maxsize=4096)
def _surfaces(shape: Shape, pose: Pose) -> np.ndarray:
    """(``FACES``,) the surface that each face of a shape in a pose is of: facets of an arc are of one."""
    normals = solid(shape, pose).normals[2:]  # of the sides about it; the first two are its ends
    about = np.cumsum((normals * np.roll(normals, 1, 0)).sum(1) < math.cos(ARC_BEND))
    about[about == 0] = about.max()  # the last goes on at the first
    return np.concatenate([[0, 1], 2 + about, np.zeros(FACES - 2 - len(about), np.int64)])


def faces_shown(canvas: Canvas, rows: np.ndarray) -> np.ndarray:
    """(h, w) int32: ``FACES`` times the index of a piece (n, 5), in the mat's frame, plus that of its face, which each
    pixel shows; -1 for none."""
    buffer = z_buffer(canvas.gains.shape[1:])
    for i, (stance, *place) in enumerate(rows.tolist()):
        draw_solid(solid(*_posed(canvas.cat, stance)), place, canvas.camera, canvas.matrix, buffer, i, FACES)
    return buffer.tags


def _posed(cat: Catalogue, stance: float) -> tuple[Shape, Pose]:
    shape, _ = cat.types[cat.kind[int(stance)]]
    return cat.piece_set.shapes[shape], cat.poses[int(stance)]


def in_openings(canvas: Canvas, reading: Reading) -> float:
    """Nats by which the light that a reading's pieces reflect explains the paper under their arches: what is within a
    piece's outline and shows nothing of any piece."""
    cat, hollow = canvas.cat, [row for row in reading.pieces if canvas.cat.hollow[int(row[0])]]
    if canvas.openings is None or not hollow:
        return 0.0
    canvas.draw(reading)
    draw_loose(canvas, reading)
    free, total = canvas.maps.near == 0, 0.0
    view = canvas.matrix @ canvas.scene(reading.turn).camera
    for stance, *at, yaw in hollow:
        points = cat.points_of(int(stance))
        points = turned(np.c_[points[:, 0], points, points[:, 0]], yaw)[:, 1:4] + at
        there = np.c_[points, np.ones(len(points))] @ view.T
        outline = cv2.convexHull((there[:, :2] / there[:, 2:]).round().astype(np.int32))
        within = cv2.fillConvexPoly(np.zeros(free.shape, np.uint8), outline, 1) > 0
        total += float(canvas.openings[cat.color[int(stance)]][within & free].sum())
        free &= ~within
    return total
