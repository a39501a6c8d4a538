"""The mats' ArUco markers: which there are, where on the sheet they are printed, and where a picture shows them.

Geometry from CONTRACT.md, "The mat".
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np

DICTIONARY = cv2.aruco.DICT_4X4_250


MARKER_MM = 44.0


MARKER_CENTRES = np.array([(-121.0, -77.5), (121.0, -77.5), (121.0, 77.5), (-121.0, 77.5)])


ZONES = "ABCDEFGHIJKL"


ALIKE = 0.75
"""Correlation with the printed bits from which an expected marker counts as seen. On the dev
set markers in full view have 0.85 and more, half covered ones less than 0.6."""


CELL_RIM, CELL_PX = 0.33, 8
"""Share of a cell at each side that has no vote, for bleeding and blur spoil it (measured on the dev set); and px that
a cell is looked at with."""

GROWN_PX = 5
"""Side of the square by which dark parts are grown at twice the size: thin cells come back."""

SIDE_PARTS, REACH_PX, REFINED = 14, (2, 5), (30, 0.01)
"""A corner is refined within a fourteenth of a side (the paper ends an eighth of it away), at least and at most so many
px; in so many steps at most, until a step is this small, px. By hand."""

EDGE_PX, SMALL_PX, STRAYED = 5, 10, 0.12
"""An expected marker is looked for where it is this far from the picture's edge and its sides are no smaller, px; its
corners are refined by no more than this share of a side. By hand."""

FLAT_PX = 48
"""Side that a marker is flattened to, for holding it against the printed bits: eight px a cell."""

CORNERS = np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)]) * MARKER_MM / 2
"""(4, 2) mm: a marker's corners about its centre, in ArUco's order."""


def marker_id(zone: str, k: int) -> int:
    """ArUco id of marker ``k`` (0..3, the contract's order) of a zone's mat."""
    return 4 * ZONES.index(zone) + k


def marker_corners(k: int) -> np.ndarray:
    """(4, 2) mm: the corners of marker ``k`` in the mat's frame, in ArUco's order."""
    return np.asarray(MARKER_CENTRES[k] + CORNERS)


Corners = dict[int, np.ndarray]


def find_markers(gray: np.ndarray, known: Corners | None = None) -> Corners:
    """ArUco markers in an 8-bit picture: id -> (4, 2) px, sub-pixel corners.

    Overexposed paper bleeds into the black cells, so a second and third look are taken at the
    picture with its dark parts grown (at twice the size for thin cells). Corners are always
    refined on the picture itself. An id seen in two places is left out: one of the two is not
    what it says. Where the first look sees that every mat lies as ``known``, the others, which take four times as
    long, are left out: what they might add is known.
    """
    found = _detect(gray)
    if known and _lies_as_known(first := {m: _refine(gray, quad) for m, quad in found.items()}, known):
        return first
    looks = [_grown]
    if len(by_zone(found)) < 2 or min(map(len, by_zone(found).values())) < 3:
        looks.append(_grown_twice)
    with ThreadPoolExecutor(len(looks)) as pool:  # one beside the other: OpenCV lets go of Python's lock
        for seen in pool.map(lambda look: look(gray), looks):
            for marker, quad in seen.items():
                found.setdefault(marker, quad)
    return {m: _refine(gray, quad) for m, quad in found.items()}


def _grown(gray: np.ndarray) -> Corners:
    return _detect(cv2.erode(gray, np.ones((3, 3), np.uint8)))


def _grown_twice(gray: np.ndarray) -> Corners:
    twice = cv2.resize(gray, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    found = _detect(cv2.erode(twice, np.ones((GROWN_PX, GROWN_PX), np.uint8)))
    return {marker: quad / 2.0 for marker, quad in found.items()}


STILL_PX = 3.0
"""A marker whose corners are seen this near to where they are known to be has not moved."""


def _lies_as_known(seen: Corners, known: Corners) -> bool:
    """Whether two markers at least of every mat, seen or known, are seen where they are known to be."""
    still = by_zone({m: seen[m] for m in seen.keys() & known.keys() if np.abs(seen[m] - known[m]).max() <= STILL_PX})
    mats = by_zone({**known, **seen})
    return bool(mats) and all(len(still.get(zone, ())) > 1 for zone in mats)


def _detect(gray: np.ndarray) -> Corners:
    parameters = cv2.aruco.DetectorParameters()
    parameters.perspectiveRemoveIgnoredMarginPerCell = CELL_RIM
    parameters.perspectiveRemovePixelPerCell = CELL_PX
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY), parameters)
    corners, ids, _ = detector.detectMarkers(gray)
    found: Corners = {}
    twice = set()
    for quad, marker in zip(corners, [] if ids is None else ids.ravel().tolist(), strict=True):
        if marker in found:
            twice.add(marker)
        found[int(marker)] = quad.reshape(4, 2).astype(float)
    return {m: quad for m, quad in found.items() if m not in twice}


def _refine(gray: np.ndarray, quad: np.ndarray) -> np.ndarray:
    side = min(np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1))
    reach = int(np.clip(side / SIDE_PARTS, *REACH_PX))
    points = quad.astype(np.float32).reshape(-1, 1, 2)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, *REFINED)
    return cv2.cornerSubPix(gray, points, (reach, reach), (-1, -1), criteria).reshape(4, 2).astype(float)


def by_zone(markers: Corners) -> dict[str, list[int]]:
    """The ids of each zone's markers, ascending; those of no mat are left out."""
    mats: dict[str, list[int]] = {}
    for marker in sorted(markers):
        if marker < 4 * len(ZONES):
            mats.setdefault(ZONES[marker // 4], []).append(marker)
    return mats


def confirmed(gray: np.ndarray, quad: np.ndarray, marker: int) -> np.ndarray | None:
    """The marker's corners (4, 2) px, refined, if it shows bit for bit where it is expected; else None."""
    height, width = gray.shape
    if (quad < EDGE_PX - 1).any() or (quad > (width - EDGE_PX, height - EDGE_PX)).any():
        return None
    side = np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1)
    if side.min() < SMALL_PX:
        return None
    refined = _refine(gray, quad)
    if np.abs(refined - quad).max() > STRAYED * side.max():
        return None
    bits = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), marker, FLAT_PX)
    square = np.array([(0, 0), (FLAT_PX, 0), (FLAT_PX, FLAT_PX), (0, FLAT_PX)], np.float32) - 0.5
    to_flat = cv2.getPerspectiveTransform(refined.astype(np.float32), square)
    flat = cv2.warpPerspective(gray, to_flat, (FLAT_PX, FLAT_PX))
    alike = np.corrcoef(bits.ravel().astype(float), flat.ravel().astype(float))[0, 1]
    return refined if alike > ALIKE else None


ALIKE_STILL, MOST_SHIFT_PX = 0.95, 2.0
"""Correlation (ECC) with an earlier picture from which a patch counts as the same, and px that it may have moved by.
On six sessions of devset and devset2, 46 of 58 markers that are read reach it, 0.06 px off (median); through motion of
15 px 39, 0.5 px off; where a mat slid by 4 mm they are 3 px and more away."""

AROUND, SOFTER = 0.3, 0.1
"""Of a marker's side: how much of its surroundings belongs to its patch, and how far both pictures are blurred first,
so that the shake of one does not matter. By hand."""

ECC_STEPS = (30, 0.01)
"""Of the search for a patch's shift: steps at most, and the gain in correlation that ends it."""


def still_markers(gray: np.ndarray, then: np.ndarray, known: Corners) -> Corners:
    """Those of the ``known`` markers (their corners in ``then``) that a picture shows where they were, however blurred.

    Both pictures are 8-bit grey of one size (h, w). No cell is read: what is there is held against what was there
    (the enhanced correlation coefficient; Evangelidis and Psarakis, 2008), and a marker of another mat, or the same a
    few millimetres on, is not it. The corners come back with the shift that was found.
    """
    found: Corners = {}
    for marker, quad in known.items():
        side = float(np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1).mean())
        shift = _shift(gray, then, quad.min(0) - AROUND * side, quad.max(0) + AROUND * side, SOFTER * side)
        if shift is not None and np.hypot(*shift) <= MOST_SHIFT_PX:
            found[marker] = quad + shift
    return found


SHEET_CORNERS = np.array([(-148.5, -105.0), (148.5, -105.0), (148.5, 105.0), (-148.5, 105.0)])
"""(4, 2) mm: the sheet's corners in the mat's frame: A4."""

MOVED_SHARE = 0.75
"""Of the patches found again, how many are elsewhere where a sheet has moved: on devset and devset2 79 % and more of a
sheet that slid by 4 or 12 mm (by 35 mm hardly one is found), 26 % or less of one that lay still, 69 % or less where
three markers are covered."""

SPOTS, SPOT = 20, 0.22
"""Patches along each edge of a sheet that are looked at, and half the side of one, and of one of the nine about each
marker, as a share of a marker's. By hand."""


def sheet_moved(gray: np.ndarray, then: np.ndarray, known: Corners) -> bool:
    """Whether a sheet, whose ``known`` markers in ``then`` are all covered in ``gray``, lies elsewhere now, by what is
    left of its markers and its edges against the table; pictures as in ``still_markers``. Where nothing of it is found
    again, or not clearly elsewhere, it lies as it lay: the camera does, by the other mats."""
    flat = np.concatenate([marker_corners(m % 4) for m in known])
    to_pixels, _ = cv2.findHomography(flat, np.concatenate(list(known.values())))
    if to_pixels is None:
        return True
    sides = [np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1).mean() for quad in known.values()]
    half = SPOT * float(np.mean(sides))
    spots = cv2.perspectiveTransform(_spots()[None], to_pixels)[0]
    shifts = [_shift(gray, then, spot - half, spot + half, SOFTER * half) for spot in spots]
    moved = [bool(np.hypot(*shift) > MOST_SHIFT_PX) for shift in shifts if shift is not None]
    return sum(moved) > MOVED_SHARE * len(moved)


def _spots() -> np.ndarray:
    """(n, 2) mm of the sheet where something is printed, or it ends."""
    steps = (np.arange(SPOTS)[:, None] + 0.5) / SPOTS
    edges = [a + steps * (b - a) for a, b in zip(SHEET_CORNERS, np.roll(SHEET_CORNERS, -1, 0), strict=True)]
    nine = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) * MARKER_MM / 2
    return np.concatenate([*edges, *(centre + nine for centre in MARKER_CENTRES)])


LEAST_CONTRAST = 8.0
"""Grey levels (standard deviation) that a patch must have to say where it is. By hand: more than noise."""


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
