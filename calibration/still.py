"""Markers that cannot be read: what an earlier picture of the same camera showed where they were."""

from typing import NamedTuple

import cv2
import numpy as np

from calibration.markers import MARKER_CENTRES, MARKER_MM, Corners, on_sheet_and_seen
from calibration.mat import SHEET

ALIKE_STILL, MOST_SHIFT_PX = 0.95, 2.0
"""Correlation (ECC) with an earlier picture from which a patch counts as the same, and px that it may have moved by.
On six sessions of devset and devset2, 46 of 58 markers that are read reach it, 0.06 px off (median); through motion of
15 px 39, 0.5 px off; where a mat slid by 4 mm they are 3 px and more away."""

AROUND, SOFTER = 0.3, 0.1
"""Of a marker's side: how much of its surroundings belongs to its patch, and how far both pictures are blurred first,
so that the shake of one does not matter. By hand."""

ECC_STEPS = (30, 0.01)
"""Of the search for a patch's shift: steps at most, and the gain in correlation that ends it."""

MOVED_SHARE = 0.75
"""Of the patches found again, how many are elsewhere where a sheet has moved: on devset and devset2 79 % and more of a
sheet that slid by 4 or 12 mm (by 35 mm hardly one is found), 26 % or less of one that lay still, 69 % or less where
three markers are covered."""

LEAST_STILL = 12
"""So many patches found where they were tell that a sheet lies still: a tenth of all. By hand."""

SPOTS, SPOT = 20, 0.22
"""Patches along each edge of a sheet that are looked at, and half the side of one, and of one of the nine about each
marker, as a share of a marker's. By hand."""

LEAST_CONTRAST = 8.0
"""Grey levels (standard deviation) that a patch must have to say where it is. By hand: more than noise."""


def still_markers(gray: np.ndarray, then: np.ndarray, earlier: Corners) -> Corners:
    """Those of the ``earlier`` markers (their corners in ``then``) that a picture shows where they were, if blurred.

    Both pictures are 8-bit grey of one size (h, w). No cell is read: what is there is held against what was there
    (the enhanced correlation coefficient; Evangelidis and Psarakis, 2008), and a marker of another mat, or the same a
    few millimetres on, is not it. The corners come back with the shift that was found.
    """
    markers: Corners = {}
    for marker, quad in earlier.items():
        side = float(np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1).mean())
        shift = _shift(gray, then, quad.min(0) - AROUND * side, quad.max(0) + AROUND * side, SOFTER * side)
        if shift is not None and np.hypot(*shift) <= MOST_SHIFT_PX:
            markers[marker] = quad + shift
    return markers


class Patches(NamedTuple):
    """How many patches of a sheet were found again where they were, and elsewhere."""

    still: int
    moved: int

    @property
    def lies_still(self) -> bool:
        """Whether the sheet, and the camera, surely are where they were."""
        return self.still >= LEAST_STILL and self.still > self.moved

    @property
    def has_moved(self) -> bool:
        """Whether it lies elsewhere. Where nothing is found again, or not clearly elsewhere, it lies as it lay: the
        camera does, by the other mats."""
        return self.moved > MOVED_SHARE * (self.still + self.moved)


def sheet_patches(gray: np.ndarray, then: np.ndarray, earlier: Corners) -> Patches:
    """What is left in ``gray`` of a sheet whose ``earlier`` markers were in ``then``: patches of its markers and its
    edges against the table; pictures as in ``still_markers``."""
    to_pixels, _ = cv2.findHomography(*on_sheet_and_seen(earlier, earlier))
    if to_pixels is None:
        return Patches(0, 1)
    sides = [np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1).mean() for quad in earlier.values()]
    half = SPOT * float(np.mean(sides))
    spots = cv2.perspectiveTransform(_spots()[None], to_pixels)[0]
    shifts = [_shift(gray, then, spot - half, spot + half, SOFTER * half) for spot in spots]
    moved = [bool(np.hypot(*shift) > MOST_SHIFT_PX) for shift in shifts if shift is not None]
    return Patches(len(moved) - sum(moved), sum(moved))


def _spots() -> np.ndarray:
    """(n, 2) mm of the sheet where something is printed, or it ends."""
    steps = (np.arange(SPOTS)[:, None] + 0.5) / SPOTS
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * SHEET / 2
    edges = [a + steps * (b - a) for a, b in zip(corners, np.roll(corners, -1, 0), strict=True)]
    nine = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) * MARKER_MM / 2
    return np.concatenate([*edges, *(centre + nine for centre in MARKER_CENTRES)])


def _shift(
    gray: np.ndarray, then: np.ndarray, least: np.ndarray, most: np.ndarray, blur_px: float
) -> np.ndarray | None:
    """(2,) px by which what ``then`` shows in a box (``least`` to ``most``, px) has moved; None if it is not there."""
    (x0, y0), (x1, y1) = np.floor(least).astype(int), np.ceil(most).astype(int) + 1
    height, width = gray.shape
    if gray.shape != then.shape or min(x0, y0) < 0 or x1 > width or y1 > height:
        return None
    now, before = (cv2.GaussianBlur(p[y0:y1, x0:x1].astype(np.float32), (0, 0), blur_px) for p in (gray, then))
    if min(now.std(), before.std()) < LEAST_CONTRAST:
        return None
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, *ECC_STEPS)
    none_yet, whole = np.eye(2, 3, dtype=np.float32), np.full(now.shape, 255, np.uint8)
    try:
        alike, found = cv2.findTransformECC(before, now, none_yet, cv2.MOTION_TRANSLATION, criteria, whole, 1)
    except cv2.error:  # it did not converge: nothing alike is near
        return None
    return np.asarray(found, float)[:, 2] if alike > ALIKE_STILL else None
