"""The mats' ArUco markers: which there are, where on the sheet they are printed, and where a picture shows them.

Geometry from CONTRACT.md, "The mat".
"""

from collections.abc import Callable, Iterable

import cv2
import numpy as np

from calibration import ZONES

DICTIONARY = cv2.aruco.DICT_4X4_250
MARKER_MM = 44.0
MARKER_CENTRES = np.array([(-121.0, -77.5), (121.0, -77.5), (121.0, 77.5), (-121.0, 77.5)])

MARKER_CORRELATION = 0.75
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

NEARBY, STILL_NEARBY, THRESHOLD_PX = 1.0, 0.4, 12
"""Of a marker's side: how far about its place it is looked for, by two or more others of its sheet, and where it may
not have moved; by hand. At least half of the largest window that OpenCV takes a threshold in, px, so that it is found
as in the whole picture: 874 of 874 corners in the dev sets are the same."""

DUEL_MATS = 2
"""So many mats lie on a duel's table. Where as many are known others are looked for only when these have moved."""

EDGE_PX, SMALL_PX, MAX_CORNER_SHIFT = 5, 10, 0.12
"""An expected marker is looked for where it is this far from the picture's edge and its sides are no smaller, px; its
corners are refined by no more than this share of a side. By hand."""

FLAT_PX = 48
"""Side that a marker is flattened to, for holding it against the printed bits: eight px a cell."""

CORNERS = np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)]) * MARKER_MM / 2
"""(4, 2) mm: a marker's corners about its centre, in ArUco's order."""

Corners = dict[int, np.ndarray]

STILL_PX = 3.0
"""A marker whose corners are seen this near to where they are known to be has not moved."""


def marker_id(zone: str, k: int) -> int:
    """ArUco id of marker ``k`` (0..3, the contract's order) of a zone's mat."""
    return 4 * ZONES.index(zone) + k


def marker_corners(k: int) -> np.ndarray:
    """(4, 2) mm: the corners of marker ``k`` in the mat's frame, in ArUco's order."""
    return np.asarray(MARKER_CENTRES[k] + CORNERS)


def on_sheet_and_seen(markers: Corners, ids: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    """The corners (n, 2) of these of the ``markers`` in mm of their sheet, and in px where they are seen."""
    return np.concatenate([marker_corners(m % 4) for m in ids]), np.concatenate([markers[m] for m in ids])


def find_markers(gray: np.ndarray, earlier: Corners | None = None, bgr: np.ndarray | None = None) -> Corners:
    """ArUco markers in an 8-bit picture: id -> (4, 2) px, sub-pixel corners.

    Overexposed paper bleeds into the black cells, so a second look is taken at the picture with its dark parts grown,
    and a third, at twice the size for thin cells, at where a mat's other markers must be; at all of the picture where
    that is not known, there also at the brightest channel of the same picture ``bgr`` (h, w, 3), if that is given: in
    grey a piece that touches a marker is as dark. Corners are always refined on the picture itself. An id seen in two
    places is left out: one of the two is not what it says. Where the first look sees every mat lie as ``earlier``,
    the others are left out: what they might add is known; of a duel's mats it is taken at their places alone. Where it
    sees only one marker of a mat there, the others' places are looked at.
    """
    if earlier and len(zone_markers(earlier)) >= DUEL_MATS:
        still = _detect_at(gray, earlier, STILL_NEARBY, lambda part: _detect(part, max(gray.shape) / max(part.shape)))
        if known := _seen_as_earlier(gray, still, earlier):
            return known
    detected = _detect(gray)
    if earlier and (known := _seen_as_earlier(gray, detected, earlier)):
        return known
    detected = {**_detect(cv2.erode(gray, np.ones((3, 3), np.uint8))), **detected}
    mats = zone_markers(detected)
    if len(mats) > 1 and min(map(len, mats.values())) > 1:
        detected |= _detect_at(gray, _expected(detected, mats))
    else:
        detected = {**_grown_twice(gray), **detected}
        if bgr is not None:
            blue, green, red = cv2.split(bgr)
            brightest = cv2.max(cv2.max(blue, green), red)
            touched = {m: _refine(brightest, quad) for m, quad in _detect(brightest).items() if m not in detected}
            return touched | {m: _refine(gray, quad) for m, quad in detected.items()}
    return {m: _refine(gray, quad) for m, quad in detected.items()}


def _seen_as_earlier(gray: np.ndarray, detected: Corners, earlier: Corners) -> Corners:
    """The markers, refined, where every mat lies as ``earlier``, with those that a look at the others' places finds
    where of a mat only one was ``detected``; else none."""
    seen = {m: _refine(gray, quad) for m, quad in detected.items()}
    if _lies_as_earlier(seen, earlier):
        return seen
    if not _lies_as_earlier(seen, earlier, least=1):
        return {}
    more = _detect_at(gray, {m: quad for m, quad in earlier.items() if m not in seen})
    return seen | {m: _refine(gray, quad) for m, quad in more.items()}


def _grown_twice(gray: np.ndarray) -> Corners:
    twice = cv2.resize(gray, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    found = _detect(cv2.erode(twice, np.ones((GROWN_PX, GROWN_PX), np.uint8)))
    return {marker: quad / 2.0 for marker, quad in found.items()}


def _expected(markers: Corners, mats: dict[str, list[int]]) -> Corners:
    """Where the other markers of these mats must be, about, by those ``markers``."""
    places: Corners = {}
    for zone, ids in mats.items():
        to_pixels, _ = cv2.findHomography(*on_sheet_and_seen(markers, ids))
        if to_pixels is not None:
            others = set(range(marker_id(zone, 0), marker_id(zone, 4))) - set(ids)
            places |= {m: cv2.perspectiveTransform(marker_corners(m % 4)[None], to_pixels)[0] for m in others}
    return places


def _detect_at(
    gray: np.ndarray, places: Corners, nearby: float = NEARBY, look: Callable[[np.ndarray], Corners] = _grown_twice
) -> Corners:
    """Those markers that a ``look``, at twice the size, finds at these ``places`` or near."""
    markers: Corners = {}
    for marker, quad in places.items():
        reach = nearby * np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1).max()
        reach = max(reach, THRESHOLD_PX)
        least = np.maximum(np.floor(quad.min(0) - reach), 0).astype(int)
        most = np.minimum(np.ceil(quad.max(0) + reach), gray.shape[::-1]).astype(int)
        if (most - least).min() > SMALL_PX:
            seen = look(gray[least[1] : most[1], least[0] : most[0]])
            markers |= {m: at + least for m, at in seen.items() if m == marker}
    return markers


def _lies_as_earlier(detected: Corners, earlier: Corners, least: int = 2) -> bool:
    """Whether so many markers of every mat, seen or known, are seen where they are known to be; of a mat of which only
    one needs to be, none elsewhere."""
    both = detected.keys() & earlier.keys()
    still = [m for m in both if np.abs(detected[m] - earlier[m]).max() <= STILL_PX]
    mats, there = zone_markers({**earlier, **detected}), zone_markers({m: detected[m] for m in still})
    enough = bool(mats) and all(len(there.get(zone, ())) >= least for zone in mats)
    return enough and (least > 1 or len(still) == len(both))


def _detect(gray: np.ndarray, part_of: float = 1.0) -> Corners:
    """The markers in a picture, or in a part of one that is ``part_of`` times as long: OpenCV takes markers' sizes as
    shares of that length."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.minMarkerPerimeterRate *= part_of
    parameters.maxMarkerPerimeterRate *= part_of
    parameters.perspectiveRemoveIgnoredMarginPerCell = CELL_RIM
    parameters.perspectiveRemovePixelPerCell = CELL_PX
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY), parameters)
    corners, ids, _ = detector.detectMarkers(gray)
    seen = [] if ids is None else [int(m) for m in ids.ravel()]
    return {m: quad.reshape(4, 2).astype(float) for m, quad in zip(seen, corners, strict=True) if seen.count(m) == 1}


def _refine(gray: np.ndarray, quad: np.ndarray) -> np.ndarray:
    side = min(np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1))
    reach = int(np.clip(side / SIDE_PARTS, *REACH_PX))
    points = quad.astype(np.float32).reshape(-1, 1, 2)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, *REFINED)
    return cv2.cornerSubPix(gray, points, (reach, reach), (-1, -1), criteria).reshape(4, 2).astype(float)


def zone_markers(markers: Corners) -> dict[str, list[int]]:
    """The ids of each zone's markers, ascending; those of no mat are left out."""
    mats: dict[str, list[int]] = {}
    for marker in sorted(markers):
        if marker < 4 * len(ZONES):
            mats.setdefault(ZONES[marker // 4], []).append(marker)
    return mats


def confirmed_marker(gray: np.ndarray, quad: np.ndarray, marker: int) -> np.ndarray | None:
    """The marker's corners (4, 2) px, refined, if it shows bit for bit where it is expected; else None."""
    height, width = gray.shape
    if (quad < EDGE_PX - 1).any() or (quad > (width - EDGE_PX, height - EDGE_PX)).any():
        return None
    side = np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1)
    if side.min() < SMALL_PX:
        return None
    refined = _refine(gray, quad)
    if np.abs(refined - quad).max() > MAX_CORNER_SHIFT * side.max():
        return None
    bits = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), marker, FLAT_PX)
    square = np.array([(0, 0), (FLAT_PX, 0), (FLAT_PX, FLAT_PX), (0, FLAT_PX)], np.float32) - 0.5
    to_flat = cv2.getPerspectiveTransform(refined.astype(np.float32), square)
    flat = cv2.warpPerspective(gray, to_flat, (FLAT_PX, FLAT_PX))
    alike = np.corrcoef(bits.ravel().astype(float), flat.ravel().astype(float))[0, 1]
    return refined if alike > MARKER_CORRELATION else None
