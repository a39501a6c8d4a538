"""The printed mats: from ArUco markers to the pose of every field, in one solve.

All mats lie on one table, so the unknowns are one plane pose (six numbers) and, for every
further mat, where it lies on that plane (three numbers). All corners of all markers seen pull
on them together: a mat of which a single marker is visible is still placed well, because the
plane is known from the others. Without a camera file the focal length and the lens's first radial
coefficient are two more unknowns, and one more is how much smaller glare makes the black squares look.

Geometry from CONTRACT.md, "The mat".
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np
import scipy

from calibration import ZONES
from calibration import markers as aruco
from calibration.camera import CameraModel, guessed_camera
from calibration.markers import MARKER_CENTRES, MARKER_MM, Corners
from cards.build import TALLEST_MM

FIELD = (95.0, 50.0)
"""Half extent (x, y) in mm of the printed field."""
BAND = (140.0, 50.0)
"""The same of the whole band between the markers: the field of organ pipes, six of which are up to 260 mm wide."""
SHEET = (297.0, 210.0)
SHEET_CORNERS = np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)]) * SHEET / 2
"""(4, 2) mm: far left, far right, near right, near left of who builds at the mat."""

FAR_PX = 3.0
"""A marker whose corners end this far from where the joint solve puts them is a misreading."""

MOST_ERROR = 6 / 1280
"""Of the picture's width: markers this far (RMS) from any flat sheet are of two. On devset and devset2 poses have at
most 1.8 px; two sheets of one letter, each giving some of its markers, have 20 and more."""

GROSS_PX = 15.0
"""A marker this far from where the mat's others put it is a misreading, whatever the lens bends."""

SURELY_FAR = 2
"""Times FAR_PX: beside other markers of its mat one this far off is left out before the last solve; by hand."""

MOST_SPAN = 2.0
"""Of the picture's width and height: what the room for builds over a mat may span. From 300 mm on, half of the nearest
that a rig is, a mat with two whole markers in the picture spans at most 1.72 of it (25 to 80 degrees down); what spans
more shows so little of its field that nothing is ruled by it, and its view takes gigabytes."""

FOCAL_PRIOR, FIXED = 0.02, 1e-6
"""Spread of the focal length's factor about the best of those tried, and of a lens
that is given: it stays. By hand."""

BEND_PRIOR = 0.1
"""Spread of the first radial coefficient about none: webcams have about -0.2 to 0.05. Without it poses by an estimated
lens were up to 29 px off those by the lens file at the top of a build, with it up to 2.4 (26 frames of 13 rigs)."""

POSE_SCALE, PLACE_SCALE, LENS_SCALE = (1.0, 1.0, 1.0, 300.0, 300.0, 300.0), (100.0, 100.0, 1.0), (1.0, 0.1, 0.1)
"""Usual sizes of the unknowns, for a well-conditioned fit: radians and mm of the first mat, mm, mm and radians of each
other one, mm of growth, the focal length's factor and the lens's bend."""

USUAL = np.array([0.0, 1.0, 0.0])
"""Growth in mm, the focal length's factor and the bend where nothing tells of any."""

BY_BEND = 10
"""Column of OpenCV's Jacobian that is by the first radial coefficient."""

FOCAL_RANGE, FOCAL_DOUBT_PX = (0.6, 1.8, 13), 0.05
"""Least and greatest factor of the usual focal length that are tried, how many; and px that a factor of e counts as:
where one mat alone tells little of the lens, the usual one is taken. By hand."""

LEAST_DESCENT = 1e-6
"""A ray that sinks less a unit of length runs along the table and meets it nowhere."""

GROWTH_PRIOR_MM = 1.0
"""Glare makes black squares look smaller, blur and ink larger: one common growth of the markers'
side is solved for, expected within about this much of zero."""


@dataclass(frozen=True)
class MatPose:
    """Where a mat is: ``rotation`` (3, 3) and ``translation`` (3,) take mat mm to camera mm."""

    zone: str
    rotation: np.ndarray
    translation: np.ndarray
    markers: tuple[int, ...]
    error_px: float

    def to_camera(self, points: np.ndarray) -> np.ndarray:
        """Points (n, 3) of the mat's frame in the camera's, mm."""
        return np.asarray(points @ self.rotation.T + self.translation)

    @property
    def camera_at(self) -> np.ndarray:
        """(3,) mm: the camera's position in the mat's frame."""
        return np.asarray(-self.rotation.T @ self.translation)


@dataclass(frozen=True)
class Mats:
    """Every mat in view and the lens they were solved with. ``error_px`` is the RMS over corners."""

    camera: CameraModel
    poses: Mapping[str, MatPose] = field(default_factory=dict)
    error_px: float = 0.0
    doubtful: tuple[str, ...] = ()
    """Zones whose markers fit no mat on the table: two sheets of one letter in view, or a bent one."""


def _look_where_expected(gray: np.ndarray, mats: Mats, markers: Corners) -> Corners:
    """Markers that detection missed but that show, bit for bit, where the pose expects them."""
    confirmed_markers: Corners = {}
    for zone, pose in mats.poses.items():
        for k, marker in enumerate(range(aruco.marker_id(zone, 0), aruco.marker_id(zone, 4))):
            flat = np.c_[aruco.marker_corners(k), np.zeros(4)]
            expected = mats.camera.project(pose.to_camera(flat))
            quad = None if marker in markers else aruco.confirmed_marker(gray, expected, marker)
            if quad is not None:
                confirmed_markers[marker] = quad
    return confirmed_markers


def markers_by_hand(
    placed: Mapping[str, np.ndarray], size: tuple[int, int], markers: Corners, earlier: Corners
) -> Corners:
    """Where a picture (width, height) must show the markers of sheets whose corners (4, 2) somebody has ``placed``, as
    shares of its size: of zones of which hardly one of the ``markers`` is seen. None where the markers of other sheets,
    which were seen ``earlier`` too, say that the camera has moved."""
    seen = aruco.zone_markers(markers)
    shared = [np.abs(markers[m] - earlier[m]).max() for m in markers.keys() & earlier.keys()]
    expected: Corners = {}
    for zone in [] if shared and np.median(shared) > FAR_PX else placed:
        if len(seen.get(zone, ())) < 2:
            to_pixels, _ = cv2.findHomography(SHEET_CORNERS, placed[zone] * size - 0.5)
            corners = [cv2.perspectiveTransform(aruco.marker_corners(k)[None], to_pixels)[0] for k in range(4)]
            expected |= {aruco.marker_id(zone, k): corners[k] for k in range(4)}
    return expected


def detect_mats(
    gray: np.ndarray, camera: CameraModel | None = None, earlier: Corners | None = None, detected: Corners | None = None
) -> Mats:
    """The mats in an 8-bit grey picture (h, w), in which ``find_markers`` has ``detected`` some, if it was asked.

    ``earlier`` are markers of a frame of the same session with the camera in the same place;
    they fill in for covered ones, unless the markers seen in both say that the camera moved. Where a single marker is
    all there is no mat is placed: a square so small is seen about as well from the mirrored side, and a pixel of blur
    turns the one into the other.
    """
    height, width = gray.shape[:2]
    markers = aruco.find_markers(gray, earlier) if detected is None else detected
    earlier = {m: quad for m, quad in (earlier or {}).items() if m < 4 * len(ZONES)}
    shared = [np.abs(markers[m] - earlier[m]).max() for m in markers.keys() & earlier.keys()]
    if shared and np.median(shared) <= FAR_PX:
        markers = {**earlier, **markers}
    mats = solve_mats(markers, (width, height), camera)
    for _ in range(2):
        more = _look_where_expected(gray, mats, markers)
        if not more:
            break
        markers = {**markers, **more}
        mats = solve_mats(markers, (width, height), camera)
    alone = sum(len(pose.markers) for pose in mats.poses.values()) < 2
    return Mats(mats.camera, doubtful=mats.doubtful) if alone else mats


def solve_mats(markers: Corners, size: tuple[int, int], camera: CameraModel | None = None) -> Mats:
    """Poses of all mats from marker corners. ``size`` is (width, height) of the picture in px."""
    lens = camera.scaled_to(*size) if camera else guessed_camera(*size)
    seen = aruco.zone_markers(markers)
    mats = {zone: _in_one_plane(markers, ids) for zone, ids in seen.items()}
    most = MOST_ERROR * size[0]
    bad = [z for z, ids in mats.items() if _sheet_error(markers, ids) > most or 2 * len(ids) <= len(seen[z])]
    doubtful = tuple(sorted(bad))
    mats = {zone: ids for zone, ids in mats.items() if zone not in doubtful}
    if not mats:
        return Mats(lens, doubtful=doubtful)
    solved = _solve(markers, mats, lens, free_focal=camera is None)
    kept = _without_misreadings(markers, mats, solved)
    if kept and kept != mats:
        solved = _solve(markers, kept, lens, free_focal=camera is None)
    large = [zone for zone, pose in solved.poses.items() if _too_large(pose, solved.camera)]
    if large:  # some texture was read as a marker: none of that mat is any
        least = min(large, key=lambda zone: len(solved.poses[zone].markers))
        return solve_mats({m: quad for m, quad in markers.items() if m not in seen[least]}, size, camera)
    return Mats(solved.camera, solved.poses, solved.error_px, doubtful)


def _too_large(pose: MatPose, lens: CameraModel) -> bool:
    """Whether the room for builds over a mat reaches behind the camera, or spans more than a picture can show."""
    x, y = FIELD
    room = np.array([(a, b, c) for a in (-x, x) for b in (-y, y) for c in (0.0, TALLEST_MM)])
    there = pose.to_camera(room)
    if there[:, 2].min() <= 0.0:
        return True
    pixels = there[:, :2] / there[:, 2:] * lens.focal_px
    return bool((np.ptp(pixels, axis=0) > MOST_SPAN * np.array([lens.width, lens.height])).any())


def _sheet_error(markers: Corners, ids: list[int]) -> float:
    """RMS distance in pixels of one mat's marker corners from the best flat sheet, whatever the focal length."""
    flat, pixels = aruco.on_sheet_and_seen(markers, ids)
    sheet, _ = cv2.findHomography(flat, pixels)
    if sheet is None:
        return math.inf
    off = cv2.perspectiveTransform(flat[None], sheet)[0] - pixels
    return float(np.sqrt((off**2).sum(1).mean()))


def _in_one_plane(markers: Corners, ids: list[int]) -> list[int]:
    """Those of one mat's markers that most of them agree with; a gross misreading would mislead the solve."""
    if len(ids) < 3:
        return ids
    _, inlier = cv2.findHomography(*aruco.on_sheet_and_seen(markers, ids), cv2.RANSAC, GROSS_PX)
    kept = [m for m, votes in zip(ids, inlier.reshape(-1, 4).sum(1), strict=True) if votes >= 2]
    return kept or ids


def _without_misreadings(markers: Corners, mats: dict[str, list[int]], solved: Mats) -> dict[str, list[int]]:
    """The mats' markers but for those that are far off where the others of their mat put them."""

    def is_near(marker: int, pose: MatPose) -> bool:
        flat = np.c_[aruco.marker_corners(marker % 4), np.zeros(4)]
        off = np.abs(solved.camera.project(pose.to_camera(flat)) - markers[marker]).max()
        return bool(off <= SURELY_FAR * FAR_PX)

    near = {z: [m for m in ids if len(ids) < 2 or is_near(m, solved.poses[z])] for z, ids in mats.items()}
    return {zone: ids for zone, ids in near.items() if ids}


def _solve(markers: Corners, mats: dict[str, list[int]], lens: CameraModel, free_focal: bool) -> Mats:
    order = sorted(mats, key=lambda z: (-len(mats[z]), z))
    if free_focal:
        lens = _first_focal(markers, mats[order[0]], lens)
    first = _mat_alone(markers, mats[order[0]], lens)
    start = [*first, *[v for z in order[1:] for v in _on_plane(first, _mat_alone(markers, mats[z], lens))]]
    start += [0.0, 1.0, 0.0]
    table = _Table(order, {z: [m % 4 for m in mats[z]] for z in order}, lens)
    target = np.concatenate([markers[m] for z in order for m in mats[z]])
    spread = np.array([GROWTH_PRIOR_MM, *((FOCAL_PRIOR, BEND_PRIOR) if free_focal else (FIXED, FIXED))])

    def residuals(v: np.ndarray) -> np.ndarray:
        return np.concatenate([(table.project(v)[0] - target).ravel(), (v[-3:] - USUAL) / spread])

    def slopes(v: np.ndarray) -> np.ndarray:
        return np.vstack([table.slopes(v), np.eye(3, len(v), len(v) - 3) / spread[:, None]])

    scale = np.array([*POSE_SCALE, *PLACE_SCALE * (len(order) - 1), *LENS_SCALE])
    return _as_mats(huber_fit(residuals, slopes, np.array(start), scale), table, target, free_focal)


def _as_mats(v: np.ndarray, table: "_Table", target: np.ndarray, free_focal: bool) -> Mats:
    errors = np.linalg.norm(table.project(v)[0] - target, axis=1)
    poses = {}
    for i, zone in enumerate(table.order):
        rms = float(np.sqrt((errors[table.mat == i] ** 2).mean()))
        poses[zone] = MatPose(zone, *_pose_of(v, i), tuple(table.seen[zone]), rms)
    return Mats(
        _adjusted(table.lens, v[-2], v[-1], free_focal),
        dict(sorted(poses.items())),
        float(np.sqrt((errors**2).mean())),
    )


class _Table:
    """The corners seen, on one table. A state v (n,) of it: Rodrigues vector and translation of the first mat,
    x, y, turn on the table of each further one, the markers' growth in mm, the focal length's factor, and how much
    more the lens bends: what is added to its first radial coefficient.
    """

    def __init__(self, order: list[str], seen: dict[str, list[int]], lens: CameraModel) -> None:
        """``order`` of the mats' zones; ``seen`` which of its markers (0..3), by zone."""
        self.order, self.seen, self.lens = order, seen, lens
        markers = [k for z in order for k in seen[z]]
        self.mat = np.repeat(np.arange(len(order)), [4 * len(seen[z]) for z in order])
        self.centres = np.repeat(MARKER_CENTRES[markers], 4, axis=0)
        self.sides = np.tile(aruco.CORNERS, (len(markers), 1))

    def _laid(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Corners (n, 2) on the table about their mat's centre, those centres, and what 1 mm of growth moves them."""
        place = np.concatenate([np.zeros(3), v[6:-3]]).reshape(-1, 3)[self.mat]
        c, s = np.cos(place[:, 2]), np.sin(place[:, 2])
        turned = [np.stack([c * x - s * y, s * x + c * y], 1) for x, y in (self.centres.T, self.sides.T)]
        return turned[0] + turned[1] * (1 + v[-3] / MARKER_MM), place[:, :2], turned[1] / MARKER_MM

    def project(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pixels (n, 2) of the corners, and OpenCV's Jacobian (2 n, …) of them by pose and lens."""
        about, centre, _ = self._laid(v)
        lens = _adjusted(self.lens, v[-2], v[-1], True)
        corners = np.column_stack([about + centre, np.zeros(len(about))])
        pixels, by_pose = cv2.projectPoints(corners, v[:3], v[3:6], lens.matrix, lens.distortion)
        return pixels.reshape(-1, 2), by_pose

    def slopes(self, v: np.ndarray) -> np.ndarray:
        """(2 n, len(v)) of the pixels by the state."""
        about, _, growth = self._laid(v)
        pixels, by_pose = self.project(v)
        # A step of a corner on the table is a step of the whole along the table's axes.
        by_place = (by_pose[:, 3:6] @ cv2.Rodrigues(v[:3])[0][:, :2]).reshape(-1, 2, 2)
        out = np.zeros((*pixels.shape, len(v)))
        out[..., :6] = by_pose[:, :6].reshape(-1, 2, 6)
        turning = np.stack([-about[:, 1], about[:, 0]], 1)
        for i in range(1, len(self.order)):
            mine = self.mat == i
            out[mine, :, 3 + 3 * i : 5 + 3 * i] = by_place[mine]
            out[mine, :, 5 + 3 * i] = np.einsum("nij,nj->ni", by_place[mine], turning[mine])
        out[..., -3] = np.einsum("nij,nj->ni", by_place, growth)
        out[..., -2] = (pixels - self.lens.matrix[:2, 2]) / v[-2]
        out[..., -1] = by_pose[:, BY_BEND].reshape(-1, 2)
        return out.reshape(-1, len(v))


def _adjusted(lens: CameraModel, factor: float, bend: float, free: bool) -> CameraModel:
    """The lens with a focal length so many times its own and so much more of the first radial coefficient."""
    if not free:
        return lens
    matrix, distortion = lens.matrix.copy(), lens.distortion.copy()
    matrix[0, 0] *= factor
    matrix[1, 1] *= factor
    distortion[0] += bend
    return CameraModel(lens.width, lens.height, matrix, distortion, estimated=True)


def _pose_of(v: np.ndarray, i: int) -> tuple[np.ndarray, np.ndarray]:
    rotation, translation = cv2.Rodrigues(v[:3])[0], v[3:6]
    if i == 0:
        return rotation, translation
    x, y, a = v[6 + 3 * (i - 1) : 9 + 3 * (i - 1)]
    turn = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1.0]])
    return rotation @ turn, rotation @ np.array([x, y, 0.0]) + translation


def _mat_alone(markers: Corners, ids: list[int], lens: CameraModel) -> np.ndarray:
    """Rodrigues vector and translation (6,) of one mat from its own markers, upright solution."""
    flat, pixels = aruco.on_sheet_and_seen(markers, ids)
    flat = np.column_stack([flat, np.zeros(len(flat))])
    _, rotations, translations, errors = cv2.solvePnPGeneric(
        flat, pixels, lens.matrix, lens.distortion, flags=cv2.SOLVEPNP_IPPE
    )
    poses = [np.concatenate([r.ravel(), t.ravel()]) for r, t in zip(rotations, translations, strict=True)]
    rows = zip(np.ravel(errors).tolist(), poses, strict=True)
    facing = [(e, v) for e, v in rows if cv2.Rodrigues(v[:3])[0][:, 2] @ v[3:] < 0]  # printed side to the camera
    return min(facing, key=lambda row: row[0])[1] if facing else poses[0]


def _on_plane(first: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """Where a mat lies on the first one's plane: x, y in mm and its turn in radians."""
    r1, r2 = cv2.Rodrigues(first[:3])[0], cv2.Rodrigues(other[:3])[0]
    # Along the other's ray to the plane, so that a poor distance does not matter.
    ray = r1.T @ other[3:6]
    origin = -r1.T @ first[3:6]
    at = origin + ray * (-origin[2] / ray[2]) if abs(ray[2]) > LEAST_DESCENT else origin
    axis = r1.T @ r2[:, 0]
    return float(at[0]), float(at[1]), math.atan2(axis[1], axis[0])


def _first_focal(markers: Corners, ids: list[int], lens: CameraModel) -> CameraModel:
    """The focal length, out of a geometric range, at which one mat's markers fit best."""
    flat, pixels = aruco.on_sheet_and_seen(markers, ids)
    flat = np.column_stack([flat, np.zeros(len(flat))])

    def error(factor: float) -> float:
        trial = _adjusted(lens, factor, 0.0, True)
        v = _mat_alone(markers, ids, trial)
        got = trial.project(flat @ cv2.Rodrigues(v[:3])[0].T + v[3:6])
        return float(np.abs(got - pixels).mean()) + FOCAL_DOUBT_PX * abs(math.log(factor))

    return _adjusted(lens, min(np.geomspace(*FOCAL_RANGE), key=error), 0.0, True)


def huber_fit(
    residuals: Callable[[np.ndarray], np.ndarray],
    slopes: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    scale: np.ndarray,
) -> np.ndarray:
    """The state (n,) from ``start`` on that minimises the Huber loss (bend at 1) of ``residuals`` (m,): MINPACK's
    Levenberg-Marquardt, by SciPy, whose own ``loss="huber"`` takes three times as long to the same within 0.003 mm.

    ``slopes`` (m, n) are the residuals' derivatives, ``scale`` (n,) what each parameter typically varies by.
    A local minimum; ``start`` itself where its residuals are not finite.
    """
    if not np.isfinite(residuals(start)).all():
        return start

    def rooted(v: np.ndarray) -> np.ndarray:
        """Residuals whose squares are Huber's loss of r: r up to 1, growing with its root beyond. Its slope is 1 over
        the greater of 1 and itself."""
        r = residuals(v)
        size = np.abs(r)
        return np.asarray(np.sign(r) * np.where(size <= 1.0, size, np.sqrt(2.0 * np.maximum(size, 1.0) - 1.0)))

    def rooted_slopes(v: np.ndarray) -> np.ndarray:
        return np.asarray(slopes(v) / np.maximum(np.abs(rooted(v)), 1.0)[:, None])

    fit = scipy.optimize.least_squares(rooted, start, rooted_slopes, method="lm", x_scale=scale)
    return np.asarray(fit.x)
