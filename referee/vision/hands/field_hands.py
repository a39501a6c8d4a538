"""The hands over one field: whose they are, how many of its own player, and whether a bare one is among them.

Seen from behind its player one hand hides another; there two hands are told by how wide the sleeves spread that lead to
one place. Whether tongs are held is None there, since a fist hides them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from calibration.mat import FIELD, MatPose
from referee.vision.hands.fists import NEAR_PX, RIM_PX, SHOWN_AHEAD_MM, Fist, ReducedFrame, distance_from
from referee.vision.hands.geometry import MIDDLE_MM, STRANGER, TONGS, HandGeometry, tongs_shown_mm, tongs_visible
from referee.vision.hands.reaching_arm import OVER_MM
from referee.vision.hands.tracker import SEPARATE_FISTS_MM, separate_hands
from referee.vision.image.color_lut import GROUND
from referee.vision.image.parts import around
from referee.vision.measured import measured

REACH_MM = measured(
    (10.0, 150.0, 60.0),
    "mm",
    "by hand: how far off the end of unseen tongs is guessed: in x, in y from in front and behind",
)
SHOWS_MM2 = measured(70.0, "mm2", "by hand: so much of tongs or fist is in the field, or before a build; less is a rim")
STOOD_LOOKS = measured(4, "looks", "by hand: what shows so often in a row stands; what is carried is seen shorter")
TWO_ARMS_DEG = measured(88.0, "degrees", "by hand, from behind: one sleeve spreads over 40 to 80, two over 100")
WIDENED_DEG = measured(16.0, "degrees", "by hand: so much less where it spread so much less lately; noise is eight")


@dataclass(frozen=True, eq=False)
class SoleHand:
    """The only hand of a field's player, where that can be told: whether it ``works`` there, at what stands in it;
    whether its ``tongs`` show; ``shown_mm``: so much of them would, 0 behind a piece that it carries; ``centre_mm``:
    where it is in the picture, (2,) in mm of the fields' scale."""

    works: bool
    tongs: bool | None
    shown_mm: float
    centre_mm: np.ndarray = field(default_factory=lambda: np.zeros(2))


@dataclass(frozen=True)
class FieldHands:
    """``owners``: zone of the player of each hand in the field, None where that cannot be told. ``hands``: so many of
    the field's own player are in it or at work in it, and in view elsewhere where the one in it is the second.
    ``bare``: an own hand without tongs touches a piece; None where tongs would not be seen. ``unseen``: zones of the
    other players of whom no hand is seen anywhere."""

    owners: tuple[str | None, ...] = ()
    hands: int = 0
    bare: bool | None = False
    sole: SoleHand | None = None
    unseen: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class FieldMasks:
    """A field in the reduced picture, (h, w) bool each: ``low``, it and what is not high over it; ``over``, the same
    for who has nothing to do there; ``build``, what has come to stand in it; ``hidden``, what stood there until
    something came before it, None where that is not followed; ``brought``, what of the build is seen where nothing
    new was in the look before."""

    low: np.ndarray
    over: np.ndarray
    build: np.ndarray
    hidden: np.ndarray | None = None
    brought: np.ndarray | np.bool_ = np.False_


@dataclass(eq=False)
class LoosePieces:
    """Follows what lies loose since the first look: a place has that look's colour, and the bare table has not shown
    there since. What has the same colour later was put there."""

    _first: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int8))

    def update(self, frame: ReducedFrame) -> np.ndarray:
        """(h, w) bool: where pieces lie as they did at the first look."""
        if self._first.shape != frame.labels.shape:
            self._first = frame.labels.copy()
        self._first[(frame.labels < 0) & ~frame.new] = GROUND
        return np.asarray((frame.labels >= 0) & (frame.labels == self._first))


@dataclass(eq=False)
class StandingPieces:
    """Follows what stands in one field, look by look: where it shows no more it is hidden by what is new there, or
    it has gone. What is carried through never stays long enough to stand."""

    _looks: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    _stood: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool))
    _bare: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool))

    def update(self, frame: ReducedFrame, masks: FieldMasks) -> FieldMasks:
        """The same field, with what is hidden in it now, and what is brought."""
        if self._looks.shape != masks.build.shape:
            self._looks, self._stood = np.zeros(masks.build.shape, np.int32), np.zeros(masks.build.shape, bool)
            self._bare = self._stood
        hides = frame.new & (frame.labels < 0)
        self._looks = np.where(masks.build, self._looks + 1, 0)
        self._stood = (self._stood & (masks.build | hides)) | (self._looks >= STOOD_LOOKS)
        brought, self._bare = masks.build & self._bare, ~(masks.build | hides)
        return replace(masks, hidden=self._stood & hides, brought=brought)


def field_masks(frame: ReducedFrame, geometry: HandGeometry, pose: MatPose, loose: np.ndarray) -> FieldMasks:
    """The field of one mat; ``loose`` (h, w) bool is where pieces lie as they did at the go."""
    heights = MIDDLE_MM, 2 * MIDDLE_MM, OVER_MM
    low, over, high = (geometry.inside(pose, FIELD, (0.0, z), loose.shape) for z in heights)
    build = (high & (frame.labels >= 0) & ~loose).astype(np.uint8)
    return FieldMasks(low, over, cv2.morphologyEx(build, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0)


def hands_over(fists: Sequence[Fist], masks: FieldMasks, geometry: HandGeometry, pose: MatPose) -> FieldHands:
    """The hands over that mat's field now."""
    px_per_mm, others = geometry.px_per_mm, geometry.mats.poses.keys() - {pose.zone}
    here = [f for f in fists if _is_here(f, masks, pose, SHOWS_MM2 * px_per_mm**2)]
    owners = tuple(f.owner for f in here)
    unseen = frozenset(others - {f.owner for f in fists if not f.hidden})
    left = [f for f in here if _is_left_over(f, fists, others, SEPARATE_FISTS_MM * px_per_mm)]
    own, own_here = ([*(f for f in of if f.may_be_of(pose.zone) and not f.hidden), *left] for of in (fists, here))
    hides = SHOWS_MM2 * px_per_mm**2
    sole, bare, two = None, None, False
    if tongs_visible(pose):
        bare = any(_touches_build(f, masks) for f in own_here if f.exposed or _hidden_px(f, masks) >= hides)
    else:  # from in front the sleeves may be before their player
        of_player = [f for f in fists if f.owner == pose.zone]
        sole = _sole_hand(of_player, masks, pose, px_per_mm)
        two = not {*owners} & others and any(_has_two_sleeves(f) and _would_reach(f, pose) for f in of_player)
    away = [f for f in own if f not in own_here and not _is_at_work(f, pose)]
    second = bare or (any(f.tongs for f in away) and any(not f.tongs for f in own_here))
    hands = len(separate_hands(own if second else [f for f in own if f not in away], px_per_mm))
    there = bool(own_here) or two or hands > 1
    behind = sum(f.hidden and f.owner == pose.zone for f in here)
    return FieldHands(owners, max(hands + behind, 1 + two) * there, bare if there else False, sole, unseen)


def _is_here(fist: Fist, masks: FieldMasks, pose: MatPose, least_px: float) -> bool:
    """Whether its end is in the field, it touches what stands there, or it is another player's that would reach in."""
    end = fist.end & (masks.low if fist.may_be_of(pose.zone) else masks.over)
    foreign = fist.owner != pose.zone and _would_reach(fist, pose)
    return bool(end.sum() >= least_px) or _touches_build(fist, masks) or foreign


def _sole_hand(own: Sequence[Fist], masks: FieldMasks, pose: MatPose, px_per_mm: float) -> SoleHand | None:
    """The player's hand, where it is one patch."""
    end = own[0].tongs_end if own else None
    if end is None or any(f.hidden or not np.array_equal(f.centre, own[0].centre) for f in own):
        return None
    near = [distance_from(f.end)[masks.brought] < 2 * SHOWN_AHEAD_MM * px_per_mm for f in own]
    carries = any(of.sum() >= 4 * SHOWS_MM2 * px_per_mm**2 for of in near)  # a third of a small face
    shown = 0.0 if carries else tongs_shown_mm(pose, end - pose.rotation @ TONGS)
    works = any(_touches_build(f, masks) for f in own) or _hidden_px(own[0], masks) >= SHOWS_MM2 * px_per_mm**2
    return SoleHand(works, any(f.tongs for f in own), shown, own[0].centre / px_per_mm)


def _would_reach(fist: Fist, pose: MatPose) -> bool:
    """Whether its tongs would end in the field, or behind it as the camera sees it."""
    if fist.tongs_end is None:
        return False
    x, y, _ = (fist.tongs_end - pose.translation) @ pose.rotation
    behind = REACH_MM[1] if fist.owner == pose.zone else REACH_MM[2]  # the own one may be over a tower
    away = REACH_MM[1] if pose.camera_at[1] > 0 else -behind  # a higher fist seems farther from the camera
    return bool(abs(x) < FIELD[0] + REACH_MM[0] and min(0, -away) < y + FIELD[1] < 2 * FIELD[1] + max(0, -away))


def _is_at_work(fist: Fist, pose: MatPose) -> bool:
    """Whether it is the player's hand whose tongs, hidden or not, end in the field; one that would show them, and shows
    none, rests where it is."""
    bare = fist.tongs is False and fist.exposed
    return fist.owner == pose.zone and _would_reach(fist, pose) and not bare


def _touches_build(fist: Fist, masks: FieldMasks) -> bool:
    """Whether a fist without tongs is next to what stands in the field, and is not only seen over it; a stranger's
    also to a piece that it brings, however high."""
    if fist.tongs is not False:
        return False
    near = cv2.dilate(fist.end.astype(np.uint8), np.ones((NEAR_PX,) * 2, np.uint8)) > 0
    stands = masks.build if fist.owner == STRANGER else around(masks.low, masks.build)
    return bool((near & stands).sum() >= RIM_PX)


def _has_two_sleeves(fist: Fist) -> bool:
    """Whether two sleeves lead to it."""
    wider = fist.spread_deg >= TWO_ARMS_DEG - WIDENED_DEG and fist.growth_deg >= WIDENED_DEG
    return wider or fist.spread_deg >= TWO_ARMS_DEG


def _is_left_over(fist: Fist, fists: Sequence[Fist], others: Collection[str], apart_px: float) -> bool:
    """Whether nobody's hand can only be the field's player's, since every other one's is seen elsewhere."""
    known = {f.owner for f in fists if np.linalg.norm(f.centre - fist.centre) > apart_px}
    return fist.owner is None and bool(others) and known >= {*others}


def _hidden_px(fist: Fist, masks: FieldMasks) -> float:
    """How many pixels of what stands there are behind the fist: it is before the build, and its tongs would be too."""
    return 0.0 if masks.hidden is None else float(((fist.mask | fist.end) & masks.hidden).sum())
