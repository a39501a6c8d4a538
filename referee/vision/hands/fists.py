"""The fists in one reduced picture: where each is, whose, where it points, and whether tongs show beyond it.

A *fist* is a new patch of the hue of skin that is as thick as one, so that tongs are none. Its *arm* is what is new and
leads straight away from it, further than its shadow on the paper does; ``HandGeometry.owner`` tells from which player
it comes. Its tongs point as that player's do, or opposite the arm where that one is not known.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np
from skimage.measure import label, regionprops

from referee.vision.hands.geometry import FIST_OVER_MM, MOST_DEG, STRANGER, HandGeometry
from referee.vision.image.parts import around
from referee.vision.measured import measured

FIST_MM = measured(26.0, "mm", "by hand: a fist is at least so thick, tongs and fingers are not")
FIST_MM2 = measured(700.0, "mm2", "by hand: and at least so large as it shows behind its sleeve")
SHOWN_AHEAD_MM = measured(35.0, "mm", "by hand: so far before a fist its tongs are looked for")
SHOWN_AHEAD = measured(0.6, "of the picture there", "by hand: where pieces hide less than the rest tongs would show")
TWO_FISTS_MM2 = measured(3000.0, "mm2", "by hand: a patch of less is one fist, however many arms lead to it")
SLEEVE_MM = measured(60.0, "mm", "by hand: what has a piece's colour and is thicker than this is no piece")
ARM_MM = measured(150.0, "mm", "by hand: so far an arm leads away from its fist; shadows and tongs are shorter")
ARM_SHARE = measured(0.9, "of the way", "by hand: so much of it must be arm; the rest is noise, or shade on a sleeve")
WIDEST_DEG = measured(150.0, "degrees", "by hand: what is wider is no arm but a body, or both")
RAYS = measured(90, "directions", "four degrees each; a sleeve is seen under twenty")
FROM_FIST = measured(0.3, "of ARM_MM", "by hand: so far from its middle a fist is all around it, and tells no sleeve")
NEAR_PX = measured(5, "reduced px", "by hand: side of a pixel's neighbourhood; at the picture's edge half is unseen")
RIM_PX = measured(3, "reduced px", "by hand: no more of a thing may be its rim alone")
DENSE = measured(0.45, "of the pixels", "by hand: beside a straight edge fewer are new, and noise is a twentieth")
RIM_MM2 = measured(250.0, "mm2", "by hand: what shows of a fist behind its own sleeve is at least so large")
FINGER_MM = measured(15.0, "mm", "by hand: tongs are thinner and show further from a fist, fingers do not")
TONGS_MM2 = measured(150.0, "mm2", "by hand: so much of the tongs shows there")
AHEAD = math.cos(math.radians(MOST_DEG))  # tongs show at most so far off their direction


@dataclass(frozen=True, eq=False)
class ReducedFrame:
    """A reduced picture as the gate sees it: ``labels`` (h, w) int8, colours >= 0; ``new`` (h, w) bool, what differs
    from how the place has looked without hands; ``skin`` (h, w) bool, what of that has the hue of skin or wood."""

    labels: np.ndarray
    new: np.ndarray
    skin: np.ndarray


@dataclass(frozen=True, eq=False)
class Fist:
    """One fist: ``mask`` (h, w) bool; ``centre`` (x, y) in reduced pixels; ``end`` (h, w) bool, the tongs that show, or
    else the fist; ``owner``: the zone of its player, ``STRANGER`` of nobody who plays, None where that cannot be told;
    ``tongs``: whether any show beyond it, None where it hides behind its sleeve and would hide them."""

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
    """Whose it may be where the arms of several players seem to lead to it."""
    spread_deg: float = 0.0
    """Over how much of a turn its player's sleeves lead away from it, as far as the picture shows them."""
    growth_deg: float = 0.0
    """By how much its sleeves spread more than they did a moment ago, with the fist at the same place."""
    strange: int = 0
    """In how many more looks its arm has led to nobody who plays than to a player, since it came."""
    hidden: bool = False
    """Whether it is not visible: another fist, whose mask and end these are, hides it."""

    def may_be_of(self, zone: str) -> bool:
        """Whether it counts as that player's: where several arms lead to a fist, each player's does."""
        return self.owner == zone or zone in self.candidates


def detect_fists(frame: ReducedFrame, geometry: HandGeometry) -> list[Fist]:
    """Every fist of the frame: one for each arm that leads to it, one for a patch without; none without a mat."""
    if not geometry.mats.poses:
        return []
    skin = _closed(frame.skin)
    arm = _arm_mask(frame, skin, geometry.px_per_mm)
    patches = [*_parts(thick_part(skin, FIST_MM * geometry.px_per_mm), FIST_MM2 * geometry.px_per_mm**2)]
    fists = [*_of_patches(patches, skin, frame.labels >= 0, arm, geometry), *_of_rims(patches, skin, arm, geometry)]
    return [replace(fist, spread_deg=_spread_deg(fist, arm, geometry)) for fist in fists]


def _of_patches(
    patches: list[np.ndarray], skin: np.ndarray, coloured: np.ndarray, arm: np.ndarray, geometry: HandGeometry
) -> Iterator[Fist]:
    """The fists that show as patches of skin; (h, w) bool: ``coloured``, of a piece's colour, ``arm``, of an arm."""
    nearest = np.argmin([distance_from(patch) for patch in patches], 0) if patches else None
    for n, mask in enumerate(patches):
        centre = _points(mask).mean(0)
        if not _inside(centre, mask.shape):
            continue
        own_skin = (skin > 0) & (nearest == n)
        ways = _arm_directions(centre, mask, arm, geometry.px_per_mm)
        fists = [_fist(mask, of, own_skin, coloured, geometry) for of in ways]
        candidates = frozenset(fist.owner for fist in fists)
        one = mask.sum() < TWO_FISTS_MM2 * geometry.px_per_mm**2  # and another's sleeve behind it
        if one and len(candidates) > 1:
            fists = [replace(with_owner(fist, None, geometry), candidates=candidates) for fist in fists]
        yield from fists
        if not fists and not leaves_picture(mask):  # its sleeve may be before a shirt of its colour
            yield Fist(mask, centre, mask, None, None)


def _of_rims(patches: list[np.ndarray], skin: np.ndarray, arm: np.ndarray, geometry: HandGeometry) -> Iterator[Fist]:
    """The fists of which a rim shows: their sleeves are before them, as seen from behind their players."""
    shown = thick_part(skin, RIM_PX)  # a dark line along a sleeve's edge is none
    parts = _parts(shown, RIM_MM2 * geometry.px_per_mm**2)
    rims = (part for part in parts if not any((part & patch).any() for patch in patches))
    for mask in rims:
        centre = _points(mask).mean(0)
        for ways in _arm_directions(centre, mask, arm, geometry.px_per_mm):
            behind = centre + ways[0] * FIST_MM * geometry.px_per_mm
            if not (_is_along(mask, ways[0]) or leaves_picture(mask)) and _inside(behind, mask.shape):
                rows, columns = np.indices(mask.shape)
                disc = np.hypot(columns - behind[0], rows - behind[1]) <= FIST_MM / 2 * geometry.px_per_mm
                rim = Fist(mask, behind, mask | disc, None, None)
                yield with_owner(rim, geometry.owner(centre, ways), geometry)


def _closed(mask: np.ndarray, side: int = 3) -> np.ndarray:
    return cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))


def thick_part(mask: np.ndarray, across_px: float) -> np.ndarray:
    """(h, w) bool: what of the mask is as thick as that."""
    across = max(3, round(across_px))
    round_ = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (across, across))
    return cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, round_) > 0


def _parts(mask: np.ndarray, least_px: float) -> Iterator[np.ndarray]:
    """(h, w) bool: each of the mask's connected parts of so many pixels."""
    parts = label(mask)
    for part in regionprops(parts):
        if part.area >= least_px:
            yield parts == part.label


def _is_along(mask: np.ndarray, way: np.ndarray) -> bool:
    """Whether it is longer that way (2,) than across: a sleeve's dark edge runs along it, a fist shows at its end."""
    points = _points(mask)
    return bool(np.ptp(points @ way) > np.ptp(points @ np.array([-way[1], way[0]])))


def leaves_picture(mask: np.ndarray) -> bool:
    """Whether it goes on beyond the picture, where what it belongs to is not seen."""
    return bool(mask[NEAR_PX:-NEAR_PX, NEAR_PX:-NEAR_PX].sum() < mask.sum())


def _inside(point: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether that is in the picture (h, w), and not at its edge."""
    return bool((point >= NEAR_PX).all() and (point < np.array(shape[::-1]) - NEAR_PX).all())


def _points(mask: np.ndarray) -> np.ndarray:
    rows, columns = np.nonzero(mask)
    return np.column_stack([columns, rows]).astype(float)


def distance_from(mask: np.ndarray) -> np.ndarray:
    """(h, w): px from what is in the mask."""
    return cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 3)


def _arm_mask(picture: ReducedFrame, skin: np.ndarray, px_per_mm: float) -> np.ndarray:
    """(h, w) bool: what is new and no piece; thicker than a piece is what has a piece's colour and is none. A sleeve
    as light as the table is new in so many of its pixels only."""
    sleeves = thick_part(picture.new & (picture.labels >= 0), SLEEVE_MM * px_per_mm)
    new = (picture.new & (picture.labels < 0)) | (skin > 0) | sleeves
    dense = cv2.blur(new.astype(np.float32), (NEAR_PX, NEAR_PX)) > DENSE
    return (_closed(new) > 0) | (dense & (picture.labels < 0))


def _arm_directions(centre: np.ndarray, mask: np.ndarray, arm: np.ndarray, px_per_mm: float) -> Iterator[np.ndarray]:
    """Of each arm that leads away from the fist, far enough or out of the picture, its direction and after it all in
    which any does, (n, 2)."""
    rays, there, out = _rays(centre, arm | mask, px_per_mm)
    whole = (there | out).mean(1) >= ARM_SHARE
    leaves = out[:, : round(FIST_MM * px_per_mm)].any(1)  # at the picture's edge nothing is seen of an arm
    whole &= ~leaves
    if not whole.any() or whole.all():
        return
    first = int(np.argmin(whole))
    number = label(np.roll(whole, -first))
    sectors = [np.roll(rays, -first, 0)[number == n] for n in range(1, number.max() + 1)]
    widest = max(map(len, sectors))
    for of in sectors:
        if widest / 2 <= len(of) <= WIDEST_DEG / 360 * RAYS:  # what is narrow leads along another's tongs
            yield np.vstack([of.mean(0) / np.linalg.norm(of.mean(0)), rays[whole]])


def _rays(centre: np.ndarray, arm: np.ndarray, px_per_mm: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions (n, 2) all around, and of each as far as an arm is followed, (n, steps) bool: whether it is there, and
    whether that is outside of the picture."""
    turns = np.arange(0.0, 2 * np.pi, 2 * np.pi / RAYS)
    rays = np.column_stack([np.cos(turns), np.sin(turns)])
    steps = centre + rays[:, None] * np.arange(1, round(ARM_MM * px_per_mm) + 1)[None, :, None]
    columns, rows = np.round(steps[..., 0]).astype(int), np.round(steps[..., 1]).astype(int)
    tall, wide = arm.shape
    out = (columns < NEAR_PX) | (rows < NEAR_PX) | (columns >= wide - NEAR_PX) | (rows >= tall - NEAR_PX)
    return rays, arm[np.clip(rows, 0, tall - 1), np.clip(columns, 0, wide - 1)], out


def _sector(centre: np.ndarray, way: np.ndarray, where: np.ndarray, far_px: float) -> np.ndarray:
    """(h, w) bool: what of the mask lies this way from there, not too far."""
    rows, columns = np.indices(where.shape)
    x, y = columns - centre[0], rows - centre[1]
    away = np.hypot(x, y)
    return np.asarray(where & (away <= far_px) & (x * way[0] + y * way[1] >= AHEAD * away))


def _fist(mask: np.ndarray, ways: np.ndarray, skin: np.ndarray, coloured: np.ndarray, geometry: HandGeometry) -> Fist:
    """The fist of an arm and its ways (n, 2), as ``_arm_directions``; ``skin`` (h, w) bool is what may be its own."""
    centre, px_per_mm = _points(mask).mean(0), geometry.px_per_mm
    owner = geometry.owner(centre, ways)
    unseen = leaves_picture(mask) or not _inside(centre + ways[0] * ARM_MM / 2 * px_per_mm, mask.shape)
    owner = None if owner == STRANGER and unseen else owner  # the way is of what is not seen
    pose = geometry.mats.poses.get(owner or "")
    tongs_way = -ways[0] if pose is None else geometry.tongs_way(centre, pose)
    ahead = _sector(centre, tongs_way, around(mask, skin), ARM_MM * px_per_mm)
    fingers = thick_part(skin | coloured, FINGER_MM * px_per_mm)  # what shows between pieces may be a finger
    away = distance_from(mask)
    hand = (distance_from(fingers & skin) <= 1) | (away <= FINGER_MM * px_per_mm)
    thin = ahead & ~hand
    tongs = bool(thin.sum() >= TONGS_MM2 * px_per_mm**2)
    end = thin if tongs else mask | (ahead & ~thin)
    before = _sector(centre, tongs_way, ~hand & (away < SHOWN_AHEAD_MM * px_per_mm), ARM_MM * px_per_mm)
    shows = (before & ~coloured).sum() > SHOWN_AHEAD * before.sum()
    low = pose is not None and geometry.height_over(centre, pose, -FIST_MM) < FIST_OVER_MM
    return with_owner(Fist(mask, centre, end, None, tongs, bool(pose and shows) or low), owner, geometry)


def with_owner(fist: Fist, owner: str | None, geometry: HandGeometry) -> Fist:
    """The same fist as that player's, or as nobody's; whether tongs would show is not asked again."""
    pose = geometry.mats.poses.get(owner or "")
    end = None if pose is None else geometry.tongs_end(fist.centre, pose)
    return replace(fist, owner=owner, tongs_end=end, candidates=frozenset())


def _spread_deg(fist: Fist, arm: np.ndarray, geometry: HandGeometry) -> float:
    """Over how much of a turn sleeves lead away from the fist on its player's side; 0 where that one is not known."""
    if not fist.owner:
        return 0.0
    rays, there, out = _rays(fist.centre, (_closed(arm, 5) > 0) | fist.mask, geometry.px_per_mm)
    beyond = round(FROM_FIST * there.shape[1])  # the fist itself is all around
    whole = ~out.any(1) & (there[:, beyond:].mean(1) >= ARM_SHARE)
    off = {zone: geometry.off_deg(fist.centre, rays[whole], pose) for zone, pose in geometry.mats.poses.items()}
    return float((off[fist.owner] <= np.min([*off.values()], 0)).sum() * 360 / RAYS)
