"""What the light says of a reading: the faces that it claims must look like faces.

Colour alone does not tell a drum that stands from one that lies, nor an arch from the glow in its
opening. But a face, flat or rounded, is lit smoothly: within a few millimetres only noise and grain
change it, while an edge between two faces, two pieces, or a piece and a hole is a step. So the best
readings of both rulings are compared by how smooth the picture is within the faces they claim, and
by how much it looks like the bare table where they claim nothing. Only where a build is claimed by
one of them does it count: how loose pieces lie decides nothing.

What is seen through an arch glows in its colour. Where it is darker than the arch's face, colour does
not count it for the arch (``arch_glow_nats``).

Light makes a ruling surer or doubtful; it never turns one: shadows in a corner look like a face of
their own. Where it speaks for the other ruling, and louder than colour, the two are even.
"""

import dataclasses
from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np

from cards.build import Build, shape_of
from cards.pieces import PieceSet, Pose, Shape
from referee.kernels.faces import likeliest, smoothed
from referee.vision.image.background import ANYTHING
from referee.vision.image.evidence import REACH_PX, Evidence
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured
from referee.vision.render.solids import FACES, arch_tags, face_tags, solid
from referee.vision.search.canvas import FEW_READINGS, NEAR_PX, Reading
from referee.vision.verdict.rulings import CLEAR_MARGIN, Rulings

FACE_SD = measured(
    0.08,
    "of each feature",
    "spread of a face about its neighbourhood: median of fitted true builds, dev set and witness: 0.07 to 0.09",
)
SAME_CURVE_DEG = measured(40.0, "degrees", "by hand: facets whose normals are nearer are one rounded face")

FACE_SPREAD_FACTOR = measured(3.0, "spreads of a face", "by hand: grain, highlights and soft shadows")
STRANGE_SHARE = measured(0.03, "of a face's pixels", "by hand: so often they are anything at all")
WIDER_SHARE = measured(0.17, "of a face's pixels", "by hand: so often they are that wide")
_BEST = float(-3 * np.log(FACE_SD) - 1.5 * np.log(2 * np.pi))
DENSITY = {
    **dict.fromkeys(("light", "a", "b"), FACE_SD**2),
    "near": float(np.log(1 - WIDER_SHARE - STRANGE_SHARE)),
    "wide": float(np.log(WIDER_SHARE) - 3 * np.log(FACE_SPREAD_FACTOR)),
    "wider": FACE_SPREAD_FACTOR * FACE_SPREAD_FACTOR,
    "strange": float(STRANGE_SHARE * ANYTHING / np.exp(_BEST)),
}
"""Of a pixel of a face about its neighbourhood's mean, relative to its best; see ``referee.kernels.faces.Density``."""
LEAST = measured(-13.0, "nats a pixel", "about what an empty frame says of a pixel that shows a piece")
WEIGHT = measured(
    0.1, "of each nat", "of 0.05 to 0.3 the one with the fewest wrong margins in witness sessions; the dev set's stay"
)
THROUGH_ARCH_FACE = FACES - 1
"""What is seen through an arch, as if it were a face of it: it is lit in its own way."""
SAMPLE_STEP_PX = 2
"""For time every second pixel of a neighbourhood is looked at."""
GLOW = measured(0.8, "of the evidence for an arch's colour", "by hand: what reflected light may give an opening")
GLOW_DARKER = measured(0.25, "log light", "by hand: an opening is this much darker than its face")
SAME_CURVE = np.cos(np.radians(SAME_CURVE_DEG))


def rescored_by_shading(
    view: ZoneView, evidence: Evidence, rulings: Rulings, readings: Sequence[Reading]
) -> list[Reading]:
    """The readings, best first, with what light says added to the scores of the best of each ruling.

    ``readings`` best first. Where only one ruling has any, or its margin is clear, they come back as they are. The
    ruling that was ahead may come out even, never behind.
    """
    cat, rows = rulings.cat, [(r, rulings.build(r)) for r in readings]
    is_right = [rulings.is_right(r) for r in readings]
    right = [row for row, ok in zip(rows, is_right, strict=True) if ok][:FEW_READINGS]
    wrong = [row for row, ok in zip(rows, is_right, strict=True) if not ok][:FEW_READINGS]
    if not right or not wrong or abs(right[0][0].score - wrong[0][0].score) > CLEAR_MARGIN:
        return list(readings)
    compared = right + wrong
    drawn = [_faces(view, cat.piece_set, build) for _, build in compared]
    glow = {id(r): arch_glow_nats(evidence, build, faces) for faces, (r, build) in zip(drawn, compared, strict=True)}
    where = _claimed(view, [(faces, len(build.pieces)) for faces, (_, build) in zip(drawn, compared, strict=True)])
    said = {id(r): WEIGHT * shading_nats(evidence, faces, where) for faces, (r, _) in zip(drawn, compared, strict=True)}
    least = min(said.values())  # what is not compared must not gain by that
    before = _best(right, glow) - _best(wrong, glow)
    after = _best(right, glow, said) - _best(wrong, glow, said)
    turned = abs(after) if before * after < 0 else 0.0
    scored = [
        dataclasses.replace(
            r, score=r.score + glow.get(id(r), 0.0) + said.get(id(r), least) - (turned if ok == (after > 0) else 0.0)
        )
        for r, ok in zip(readings, is_right, strict=True)
    ]
    return sorted(scored, key=lambda r: -r.score)


def _best(rows: list[tuple[Reading, Build]], *more: dict[int, float]) -> float:
    return max(r.score + sum(m[id(r)] for m in more) for r, _ in rows)


def arch_glow_nats(evidence: Evidence, build: Build, faces: np.ndarray) -> float:
    """Nats of the pixels seen through the build's arches that have the arch's colour and are darker than its face:
    not the arch, but its light on what lies behind. ``faces`` (h, w) as ``_faces`` gives them."""
    total = 0.0
    for i, piece in enumerate(build.pieces):
        if not shape_of(build.piece_set, piece).opening:
            continue
        through = faces == i * FACES + THROUGH_ARCH_FACE
        own = faces[(faces >= i * FACES) & (faces < i * FACES + THROUGH_ARCH_FACE)]
        if not through.any() or not len(own):
            continue
        face = np.bincount(own - i * FACES).argmax() + i * FACES
        light = evidence.features[..., 0]
        dark = through & (light < np.median(light[faces == face]) - GLOW_DARKER)
        gains = evidence.gains[evidence.names.index(piece.color)]
        total += GLOW * float(np.maximum(gains[dark], 0.0).sum())
    return total


def shading_nats(evidence: Evidence, faces: np.ndarray, where: np.ndarray) -> float:
    """Nats (at most 0) of the pixels ``where`` (h, w) if they show these ``faces`` (h, w) int32, -1: none."""
    smooth = smoothed(evidence.features, faces, where, REACH_PX, SAMPLE_STEP_PX)
    return float(np.maximum(likeliest(evidence.features, faces, smooth, evidence.bare, where, DENSITY), LEAST).sum())


def _faces(view: ZoneView, piece_set: PieceSet, build: Build) -> np.ndarray:
    """(h, w) int32: which face of which piece each pixel shows, rounded ones whole; build first, -1 for none."""
    pieces = (*build.pieces, *build.loose)
    tags = face_tags(view, piece_set, pieces)
    whole = np.concatenate(
        [i * FACES + _whole_faces(shape_of(piece_set, p), p.pose) for i, p in enumerate(pieces)] + [np.array([-1])]
    )
    faces = whole.astype(np.int32)[tags]
    arches = arch_tags(view, piece_set, pieces)
    through = (faces < 0) & (arches >= 0)
    faces[through] = arches[through] * FACES + THROUGH_ARCH_FACE
    return faces


@lru_cache(maxsize=4096)
def _whole_faces(shape: Shape, pose: Pose) -> np.ndarray:
    """(FACES,) of each face of the drawn solid the one it counts as: facets of a curve are one."""
    normals = solid(shape, pose).normals
    same = np.arange(FACES)
    for i in range(2, len(normals)):
        j = i + 1 if i + 1 < len(normals) else 2
        if normals[i] @ normals[j] > SAME_CURVE:
            same[same == same[j]] = same[i]
    return same


def _claimed(view: ZoneView, drawn: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """(h, w) where one of the readings shows its build, and just around it, but none a loose piece."""
    build, loose = np.zeros(view.valid.shape, np.uint8), np.zeros(view.valid.shape, bool)
    for faces, count in drawn:
        build |= (faces >= 0) & (faces < FACES * count)
        loose |= faces >= FACES * count
    side = 2 * NEAR_PX + 1
    return (cv2.dilate(build, np.ones((side, side), np.uint8)) > 0) & view.valid & ~loose
