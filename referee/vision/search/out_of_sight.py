"""Pieces of the set that a picture does not show, and where one of them could stand unseen.

The law. The box holds so many pieces: each stands in the build, lies in sight, or is out of sight. A piece that lies in
sight stands nowhere else. One out of sight, while most others are in sight, may stand in the field where hardly a pixel
would tell: right behind the build, or on it behind others. Where the ruling would be another with it there, one picture
does not tell the ruling. A film shows what came; but it may have missed a piece, so that a mismatch is doubted all the
same where such a piece would make the build right. Who calls Stop believes that it is: a piece that ``completes`` a
build is looked for more closely than one that would spoil it.
"""

from dataclasses import replace

import cv2
import numpy as np

from referee.kernels.loose_pieces import climb
from referee.vision.measured import measured
from referee.vision.search import loose_pieces
from referee.vision.search.canvas import Canvas, Reading, draw_loose, turned
from referee.vision.search.readings import with_loose
from referee.vision.search.rules import STEP_X

SURROUNDINGS_MM = measured(
    (170.0, 230.0), "mm", "loose pieces of the dev sets lie at most 150 and 205 mm off the middle"
)
HALF_HIDDEN_ROUNDS = measured(2, "rounds", "by hand: what lies behind a half hidden piece is found in the next")
SURROUNDINGS_FACTOR = measured(2, "px of the view a pixel", "by hand, for time")
HARDLY_TOLD = measured(100.0, "nats", "by hand: a misplaced edge of a piece that stands as it is read costs as much")
REST_IN_SIGHT = measured(30.0, "mm2 of the view", "by hand: so large a patch of its colour shows some of a piece")
NEAR_MM = np.stack(np.meshgrid(*[STEP_X / 3 * np.arange(-2, 3)] * 2), -1).reshape(-1, 2)
"""(n, 2) steps about the best place of each piece, between those of the grid."""
NOT_THIN = np.ones((3, 3), np.uint8)
TELLS = measured(75.0, "nats", "by hand: a piece in the field that wins so much may be what shows there")


def unseen_places(canvas: Canvas, reading: Reading, completes: bool) -> tuple[np.ndarray, np.ndarray]:
    """(n, 5) in the mat's frame: pieces that a reading leaves in the box where they could stand in the field and the
    view would hardly tell, and (n,) what each explains, in nats, the most first. One that ``completes`` the build may
    lie on others in any pose, and stand between the places of the grid."""
    rows = np.vstack([loose_pieces.places_apart(canvas, reading), _on_others(canvas, reading, completes)])
    canvas.draw(reading)
    draw_loose(canvas, reading)
    won = _won(canvas, rows)
    if completes:
        ordered = rows[np.argsort(-won, kind="stable")]
        _, best = np.unique(ordered[:, 0], return_index=True)
        near = np.repeat(ordered[best], len(NEAR_MM), axis=0)
        near[:, 1:3] += np.tile(NEAR_MM, (len(best), 1))
        rows, won = np.vstack([rows, near]), np.append(won, _won(canvas, near))
    order = np.argsort(-won, kind="stable")[: int((won > -HARDLY_TOLD).sum())]
    return rows[order], won[order]


def _won(canvas: Canvas, rows: np.ndarray) -> np.ndarray:
    """(n,) what each piece (n, 5) explains beside what is drawn, in nats."""
    some = np.c_[rows, np.zeros((len(rows), 2))]
    return climb(canvas.arrays, some, np.zeros(2), loose_pieces.NO_STEPS, canvas.scene())[:, 5]


def _on_others(canvas: Canvas, reading: Reading, rare: bool) -> np.ndarray:
    """(n, 5) rows of every piece left in the box with its middle over one of a reading's pieces that it lies on, clear
    of the others, in the mat's frame; in ``rare`` poses too."""
    cat, pieces = canvas.cat, reading.pieces
    size, left = cat.size, loose_pieces.left_in_box(cat, pieces[:, 0].astype(int), rare)
    half, found = size[pieces[:, 0].astype(int)] / 2, [np.zeros((0, 5))]
    for piece, own in zip(pieces, half, strict=True):
        grid = (np.arange(-reach + STEP_X / 2, reach, STEP_X) for reach in own[:2])
        s, x, y = (a.ravel() for a in np.meshgrid(left, *grid, indexing="ij"))
        z = piece[3] + own[2] + size[s, 2] / 2
        at = np.c_[s, piece[1] + x, piece[2] + y, z, np.zeros(len(s))]
        off = np.abs(at[:, None, 1:4] - pieces[:, 1:4])
        found.append(at[(off > half + size[s, None] / 2 - STEP_X / 2).any(2).all(1)])
    rows = turned(np.vstack(found), reading.turn)
    return rows[(np.abs(rows[:, 1:3]) <= np.array(canvas.field_mm)).all(1)]


def lying_about(surroundings: Canvas, reading: Reading) -> np.ndarray:
    """(n, 5) the loose pieces that the surroundings of a build show outside the field, in the mat's frame, left drawn
    with it: first those that stand clear, then such as are half hidden behind these or the build."""
    build, loose = Reading(reading.turn, reading.pieces, 0.0), loose_pieces.candidates(surroundings)
    for _ in range(HALF_HIDDEN_ROUNDS):
        loose = loose_pieces.with_pieces_behind(surroundings, with_loose(surroundings, [build], loose)[0], loose)
    lying = with_loose(surroundings, [build], loose)[0].loose
    surroundings.draw(build)
    field_mm = np.array(surroundings.field_mm)
    some = np.c_[lying, np.zeros((len(lying), 2))][(np.abs(lying[:, 1:3]) > field_mm).any(1)]
    rows = climb(surroundings.arrays, some, field_mm, loose_pieces.FINE_CLIMB, surroundings.scene())[:, :5]
    draw_loose(surroundings, replace(build, loose=rows))
    return rows


def kinds_out_of_sight(
    surroundings: Canvas, reading: Reading, lying: np.ndarray, rests: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Types of which a reading's build leaves more in the box than are ``lying`` (n, 5) about, and more of their
    colour; and (k,) bool: the colours of which it leaves more than are lying and seen besides, in ``rests`` (k,) other
    places. No type where most of what is left is not seen at all: it is kept elsewhere."""
    cat = surroundings.cat
    stands, lies = (
        np.bincount(cat.kind[rows[:, 0].astype(int)], minlength=len(cat.stock)) for rows in (reading.pieces, lying)
    )
    left, color = np.maximum(cat.stock - stands, 0), cat.color[np.unique(cat.kind, return_index=True)[1]]
    of_color = np.bincount(color, left - lies, len(rests))
    lacking, nowhere = (left > lies) & (of_color > 0)[color], of_color > rests
    unseen = (left - lies)[lacking & nowhere[color]].sum()
    return np.flatnonzero(lacking) if unseen <= left.sum() / 2 else np.zeros(0, int), nowhere


def rests_in_sight(surroundings: Canvas, where: np.ndarray, completes: bool) -> np.ndarray:
    """(k,) the most pieces of each colour that may be seen in what is left to explain, as the maps are, ``where``
    (h, w) of the canvas: any number in one patch, or where a piece that ``completes`` the build is asked for one in
    each, and none in what is thin or goes on in what a piece of its colour explains: that one lies not quite where it
    was found."""
    labels, drawn = np.where(where, surroundings.labels, -1), surroundings.maps.near > 0
    rest, seen = np.where(where, loose_pieces.unexplained(surroundings), -1), np.zeros(len(surroundings.gains))
    for k in range(len(seen)):
        patches = (rest == k).astype(np.uint8)
        if completes:
            regions = cv2.connectedComponents((labels == k).astype(np.uint8))[1]
            patches[np.isin(regions, regions[drawn & (labels == k)])] = 0
            patches = cv2.morphologyEx(patches, cv2.MORPH_OPEN, NOT_THIN)
        areas = cv2.connectedComponentsWithStats(patches)[2][1:, cv2.CC_STAT_AREA]
        seen[k] = (areas * surroundings.factor**2 >= REST_IN_SIGHT).sum()
    return seen if completes else np.where(seen, np.inf, 0.0)
