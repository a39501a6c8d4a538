"""The fists in one reduced picture: where each is, whose, where it points, and whether tongs show beyond it.

A *fist* is a new patch of the hue of skin that is as thick as one, so that tongs are none. Its *arm* is what is new and
leads straight away from it, further than its shadow on the paper does; the way is compared with those to the players'
shoulders, and where two players' ways look alike from the camera the fist is nobody's. It points the other way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np
import skimage as ski

from calibration.mat import ALONG, MatPose, Mats
from referee.vision import live_parameters as parameters
from referee.vision.image.parts import around

MIDDLE_MM = parameters.MIDDLE_MM.value
FIST_MM = parameters.FIST_MM.value
FIST_MM2 = parameters.FIST_MM2.value
SHOWN_AHEAD_MM = parameters.SHOWN_AHEAD_MM.value
SHOWN_AHEAD = parameters.SHOWN_AHEAD.value
FINGERS_MM = parameters.FINGERS_MM.value
BARE_BELOW_MM = parameters.BARE_BELOW_MM.value
TWO_FISTS_MM2 = parameters.TWO_FISTS_MM2.value
FIST_OVER_MM = parameters.FIST_OVER_MM.value
SLEEVE_MM = parameters.SLEEVE_MM.value
ARM_MM = parameters.ARM_MM.value
ARM_SHARE = parameters.ARM_SHARE.value
WIDEST_DEG = parameters.WIDEST_DEG.value
RAYS = parameters.RAYS.value
FROM_FIST = parameters.FROM_FIST.value
SLEEVE_SHARE = parameters.SLEEVE_SHARE.value
EDGE_PX = parameters.OFF_EDGE_PX.value
DENSE = parameters.DENSE.value
DENSE_PX = parameters.DENSE_PX.value
RIM_MM2 = parameters.RIM_MM2.value
FINGER_MM = parameters.FINGER_MM.value
TONGS_MM = parameters.TONGS_MM.value
TONGS_MM2 = parameters.TONGS_MM2.value
TONGS_LONG_MM = parameters.TONGS_LONG_MM.value
AHEAD = parameters.AHEAD.value
TONGS = np.array(parameters.TONGS.value)
SHOULDERS_MM = np.array(parameters.SHOULDERS_MM.value)
APART_DEG = parameters.FIST_APART_DEG.value
MOST_DEG = parameters.MOST_DEG.value


@dataclass(frozen=True, eq=False)
class ReducedFrame:
    """A reduced picture as the gate sees it: ``labels`` (h, w) int8, colours >= 0; ``new`` (h, w) bool, what differs
    from how the place has looked without hands; ``skin`` (h, w) bool, what of that has the hue of skin or wood;
    ``factor``: full pixels to one of these."""

    labels: np.ndarray
    new: np.ndarray
    skin: np.ndarray
    factor: int


@dataclass(frozen=True, eq=False)
class Fist:
    """One fist: ``mask`` (h, w) bool; ``centre`` (x, y) in reduced pixels; ``end`` (h, w) bool, the tongs that show, or
    else the fist; ``owner``: the zone of its player, None where that cannot be told; ``tongs``: whether any show beyond
    it, None where it hides behind its sleeve and would hide them."""

    mask: np.ndarray
    centre: np.ndarray
    end: np.ndarray
    owner: str | None
    tongs: bool | None
    exposed: bool = False
    """Whether tongs would show, or it is so low that over its player's field it can hold none."""
    tongs_end: np.ndarray | None = None
    """Where its tongs would end, (3,) mm in the camera's frame; None where its player is not known."""
    candidates: frozenset[str | None] = frozenset()
    """Whose it may be where more than one player's arm seems to lead to it."""
    spread_deg: float = 0.0
    """Over how much of a turn its player's sleeves lead away from it, as far as the picture shows them."""
    growth_deg: float = 0.0
    """By how much its sleeves spread more than they did a moment ago, with the fist at the same place."""
    hidden: bool = False
    """Whether it is not seen: another one, whose mask and end these are, hides it."""

    def may_be_of(self, zone: str) -> bool:
        """Whether it is taken for that player's: a fist before another's sleeve is rather one's own."""
        return self.owner == zone or zone in self.candidates


def detect_fists(picture: ReducedFrame, mats: Mats) -> list[Fist]:
    """Every fist in the picture, one for each arm that leads to it, one for what has none; none without a mat."""
    if not mats.poses:
        return []
    px_per_mm = px_per_mm_of(mats, picture.factor)
    skin = _closed(picture.skin)
    arm = _arm_mask(picture, skin, px_per_mm)
    patches = [*_fist_patches(skin, px_per_mm)]
    nearest = _nearest(patches)
    found: list[Fist] = []
    for n, mask in enumerate(patches):
        centre = _points(mask).mean(0)
        if not _inside(centre, mask.shape):
            continue
        own_skin = (skin > 0) & (nearest == n)
        of_patch = [
            _fist(mask, centre, way, own_skin, picture.labels >= 0, (mats, picture.factor))
            for way in _arm_directions(centre, mask, arm, px_per_mm)
        ]
        one = mask.sum() < TWO_FISTS_MM2 * px_per_mm**2  # and another's sleeve behind it
        candidates = frozenset(f.owner for f in of_patch)
        sure = not one or len(candidates) == 1
        if not of_patch and not at_edge(mask):  # its sleeve may be before a shirt of its colour
            found.append(Fist(mask, centre, mask, None, None))
        found += of_patch if sure else [replace(f, owner=None, tongs_end=None, candidates=candidates) for f in of_patch]
    for mask in _fist_rims(skin, patches, px_per_mm):
        centre = _points(mask).mean(0)
        for way in _arm_directions(centre, mask, arm, px_per_mm):
            if _is_along(mask, way) or at_edge(mask):
                continue
            behind = centre + way * FIST_MM * px_per_mm
            if not _inside(behind, mask.shape):
                continue
            end = mask | _disc(behind, FIST_MM / 2 * px_per_mm, mask.shape)
            rim, owner = Fist(mask, behind, end, None, None), _owner(centre, way, mats, picture.factor)
            found.append(rim if owner is None else with_owner(rim, owner, mats, picture.factor))
    return [replace(fist, spread_deg=_spread_deg(fist, arm, mats, picture.factor)) for fist in found]


def px_per_mm_of(mats: Mats, factor: int) -> float:
    """Reduced pixels to the mm at the fields' centres, along x, as seen on average."""
    half = parameters.SCALE_MM.value
    ends = np.array([(-half, 0.0, MIDDLE_MM), (half, 0.0, MIDDLE_MM)])
    seen = [mats.camera.project(pose.to_camera(ends)) for pose in mats.poses.values()]
    return float(np.mean([np.linalg.norm(b - a) for a, b in seen])) / (2 * half * factor)


def _closed(mask: np.ndarray) -> np.ndarray:
    return cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))


def thick(mask: np.ndarray, across_px: float) -> np.ndarray:
    """(h, w) bool: what of the mask is as thick as that."""
    across = max(3, round(across_px))
    round_ = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (across, across))
    return cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, round_) > 0


def _fist_patches(skin: np.ndarray, px_per_mm: float) -> Iterator[np.ndarray]:
    """Masks (h, w) of what of the skin is as thick and as large as a fist."""
    things = ski.measure.label(thick(skin, FIST_MM * px_per_mm))
    for part in ski.measure.regionprops(things):
        if part.area >= FIST_MM2 * px_per_mm**2:
            yield things == part.label


def _fist_rims(skin: np.ndarray, patches: list[np.ndarray], px_per_mm: float) -> Iterator[np.ndarray]:
    """Masks (h, w) of what shows of fists whose sleeves are before them, as seen from behind their players."""
    things = ski.measure.label(skin)
    known = {int(n) for mask in patches for n in np.unique(things[mask])}
    for part in ski.measure.regionprops(things):
        if part.label not in known and part.area >= RIM_MM2 * px_per_mm**2:
            yield things == part.label


def _is_along(mask: np.ndarray, way: np.ndarray) -> bool:
    """Whether it is longer that way (2,) than across: a sleeve's dark edge runs along it, a fist shows at its end."""
    points = _points(mask)
    return bool(np.ptp(points @ way) > np.ptp(points @ np.array([-way[1], way[0]])))


def _disc(centre: np.ndarray, radius_px: float, shape: tuple[int, ...]) -> np.ndarray:
    rows, columns = np.indices(shape)
    return np.asarray(np.hypot(columns - centre[0], rows - centre[1]) <= radius_px)


def _fist(
    mask: np.ndarray,
    centre: np.ndarray,
    way: np.ndarray,
    skin: np.ndarray,
    coloured: np.ndarray,
    seen: tuple[Mats, int],
) -> Fist:
    """The fist whose arm leads this way (2,); ``skin`` (h, w) bool is what may be its own."""
    mats, factor = seen
    px_per_mm = px_per_mm_of(mats, factor)
    ahead = _sector(centre, -way, around(mask, skin), TONGS_LONG_MM * px_per_mm)
    fingers = thick(skin | coloured, FINGER_MM * px_per_mm)  # what shows between pieces may be a finger
    hand = _grown(fingers & skin, 1.0) | _grown(mask, TONGS_MM * px_per_mm)
    thin = ahead & ~hand
    tongs = bool(thin.sum() >= TONGS_MM2 * px_per_mm**2)
    end = thin if tongs else mask | (ahead & ~thin)
    owner = _owner(centre, way, mats, factor)
    tongs_end = None if owner is None else _tongs_end_of(centre, mats, mats.poses[owner], factor)
    before = _sector(centre, -way, ~hand & (_distance(mask) < SHOWN_AHEAD_MM * px_per_mm), TONGS_LONG_MM * px_per_mm)
    shows = (before & ~coloured).sum() > SHOWN_AHEAD * before.sum()
    exposed = owner is not None and (shows or _is_low(centre, mats, mats.poses[owner], factor))
    return Fist(mask, centre, end, owner, tongs, bool(exposed), tongs_end)


def _is_low(centre: np.ndarray, mats: Mats, player: MatPose, factor: int) -> bool:
    return height_over((centre + 0.5) * factor - 0.5, mats, player, FINGERS_MM) < BARE_BELOW_MM


def at_edge(mask: np.ndarray) -> bool:
    """Whether it goes on beyond the picture, where what it belongs to is not seen."""
    inner = mask[EDGE_PX:-EDGE_PX, EDGE_PX:-EDGE_PX]
    return bool(inner.sum() < mask.sum())


def _inside(point: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether that is in the picture (h, w), and not at its edge."""
    return bool((point >= EDGE_PX).all() and (point < np.array(shape[::-1]) - EDGE_PX).all())


def with_owner(fist: Fist, owner: str, mats: Mats, factor: int) -> Fist:
    """The same fist as that player's, with what follows from it; whether tongs would show is not asked again."""
    tongs_end = _tongs_end_of(fist.centre, mats, mats.poses[owner], factor)
    return replace(fist, owner=owner, tongs_end=tongs_end, candidates=frozenset())


def _tongs_end_of(centre: np.ndarray, mats: Mats, player: MatPose, factor: int) -> np.ndarray:
    """Where the tongs of a fist at work end, (3,) mm in the camera's frame."""
    fist = on_plane((centre + 0.5) * factor - 0.5, mats, player, FIST_OVER_MM)
    return player.to_camera((fist + TONGS)[None])[0]


def _points(mask: np.ndarray) -> np.ndarray:
    rows, columns = np.nonzero(mask)
    return np.column_stack([columns, rows]).astype(float)


def _nearest(patches: list[np.ndarray]) -> np.ndarray:
    """(h, w): number of the nearest patch."""
    return np.argmin([_distance(p) for p in patches], 0) if patches else np.zeros(0)


def _distance(mask: np.ndarray) -> np.ndarray:
    """(h, w): px from what is in the mask."""
    return cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 3)


def _grown(mask: np.ndarray, by_px: float) -> np.ndarray:
    return np.asarray(_distance(mask) <= by_px)


def _arm_mask(picture: ReducedFrame, skin: np.ndarray, px_per_mm: float) -> np.ndarray:
    """(h, w) bool: what is new and no piece; thicker than a piece is what has a piece's colour and is none. A sleeve
    as light as the table is new in so many of its pixels only."""
    sleeves = thick(picture.new & (picture.labels >= 0), SLEEVE_MM * px_per_mm)
    new = (picture.new & (picture.labels < 0)) | (skin > 0) | sleeves
    dense = cv2.blur(new.astype(np.float32), (DENSE_PX, DENSE_PX)) > DENSE
    return (_closed(new) > 0) | (dense & (picture.labels < 0))


def _arm_directions(centre: np.ndarray, mask: np.ndarray, arm: np.ndarray, px_per_mm: float) -> Iterator[np.ndarray]:
    """Directions (2,) in which an arm leads away from the fist, far enough or out of the picture."""
    rays, there, out = _rays(centre, arm | mask, px_per_mm)
    whole = (there | out).mean(1) >= ARM_SHARE
    leaves = out[:, : round(FIST_MM * px_per_mm)].any(1)  # at the picture's edge nothing is seen of an arm
    whole &= ~leaves
    if not whole.any() or whole.all():
        return
    first = int(np.argmin(whole))
    number = ski.measure.label(np.roll(whole, -first))
    sectors = [np.roll(rays, -first, 0)[number == n] for n in range(1, number.max() + 1)]
    widest = max(map(len, sectors))
    for of in sectors:
        if widest / 2 <= len(of) <= WIDEST_DEG / 360 * RAYS:  # what is narrow leads along another's tongs
            way = of.mean(0)
            yield way / np.linalg.norm(way)


def _rays(centre: np.ndarray, arm: np.ndarray, px_per_mm: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions (n, 2) all around, and of each as far as an arm is followed, (n, steps) bool: whether it is there, and
    whether that is outside of the picture."""
    turns = np.arange(0.0, 2 * np.pi, 2 * np.pi / RAYS)
    rays = np.column_stack([np.cos(turns), np.sin(turns)])
    steps = centre + rays[:, None] * np.arange(1, round(ARM_MM * px_per_mm) + 1)[None, :, None]
    columns, rows = np.round(steps[..., 0]).astype(int), np.round(steps[..., 1]).astype(int)
    tall, wide = arm.shape
    edge = EDGE_PX
    out = (columns < edge) | (rows < edge) | (columns >= wide - edge) | (rows >= tall - edge)
    return rays, arm[np.clip(rows, 0, tall - 1), np.clip(columns, 0, wide - 1)], out


def _spread_deg(fist: Fist, arm: np.ndarray, mats: Mats, factor: int) -> float:
    """Over how much of a turn sleeves lead away from the fist on its player's side; 0 where that one is not known."""
    if fist.owner is None:
        return 0.0
    near = cv2.morphologyEx(arm.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)) > 0
    rays, there, out = _rays(fist.centre, near | fist.mask, px_per_mm_of(mats, factor))
    beyond = round(FROM_FIST * there.shape[1])  # the fist itself is all around
    whole = ~out.any(1) & (there[:, beyond:].mean(1) >= SLEEVE_SHARE)
    off = {
        zone: [_off(fist.centre, way, mats, pose, factor) for way in rays[whole]] for zone, pose in mats.poses.items()
    }
    own = np.array(off[fist.owner]) <= np.min([*off.values()], 0)
    return float(own.sum() * 360 / RAYS)


def _sector(centre: np.ndarray, way: np.ndarray, where: np.ndarray, far_px: float) -> np.ndarray:
    """(h, w) bool: what of the mask lies this way from there, not too far."""
    rows, columns = np.indices(where.shape)
    x, y = columns - centre[0], rows - centre[1]
    away = np.hypot(x, y)
    return np.asarray(where & (away <= far_px) & (x * way[0] + y * way[1] >= AHEAD * away))


def _owner(centre: np.ndarray, way: np.ndarray, mats: Mats, factor: int) -> str | None:
    """Zone of the player from whose shoulders the arm may come; the only known player's, where there is one mat."""
    if len(mats.poses) < 2:
        return next(iter(mats.poses))
    angles = sorted((_off(centre, way, mats, pose, factor), zone) for zone, pose in mats.poses.items())
    sure = angles[0][0] < MOST_DEG and angles[1][0] - angles[0][0] > APART_DEG
    return angles[0][1] if sure else None


def _off(centre: np.ndarray, way: np.ndarray, mats: Mats, player: MatPose, factor: int) -> float:
    """Degrees in the picture between the way and that to the player's nearer shoulder."""
    start = on_plane((centre + 0.5) * factor - 0.5, mats, player, FIST_OVER_MM)
    there = start + (SHOULDERS_MM - start) / parameters.UP_THE_ARM.value
    seen = mats.camera.project(player.to_camera(np.vstack([start, there]))) / factor
    return min(_degrees(way, end - seen[0]) for end in seen[1:])


def on_plane(pixel: np.ndarray, mats: Mats, pose: MatPose, height_mm: float) -> np.ndarray:
    """The point (3,) of the mat's frame, so high over the table, that a full picture's pixel (2,) shows."""
    eye, ray = pose.camera_at, _ray(pixel, mats, pose)
    return np.asarray(eye + ray * ((height_mm - eye[2]) / min(ray[2], -ALONG)))


def height_over(pixel: np.ndarray, mats: Mats, pose: MatPose, y_mm: float) -> float:
    """How high over the table (mm) what a full picture's pixel (2,) shows would be if it were over that line of the
    mat's frame."""
    eye, ray = pose.camera_at, _ray(pixel, mats, pose)
    along = ray[1] if abs(ray[1]) > ALONG else ALONG
    return float((eye + ray * ((y_mm - eye[1]) / along))[2])


def _ray(pixel: np.ndarray, mats: Mats, pose: MatPose) -> np.ndarray:
    lens = mats.camera
    x, y = cv2.undistortPoints(np.array([[pixel]], float), lens.matrix, lens.distortion)[0, 0]
    return np.asarray(np.array([x, y, 1.0]) @ pose.rotation)


def _degrees(one: np.ndarray, other: np.ndarray) -> float:
    cosine = one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-9)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
