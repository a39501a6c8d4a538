"""The live gate: per frame and field, is the mat in view, does anything move, is a hand over it.

Every frame of the camera passes here, so the work is done on a copy of about 320 pixels' width
with one compiled pass a frame, in about two milliseconds; the mats are located only now and then.

A *hand* (tongs and sleeves included) is one connected thing that reaches from outside into the box
over the field in which builds stand, and that is no piece: on the sheet whatever is neither mat nor
piece-coloured, elsewhere what differs from how the background has looked. What has lain still for a
while outside the sheet is background, so tongs put down behind a build do not block judging.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import cv2
import numpy as np

from calibration.mat import FIELD, SHEET, MatPose
from calibration.palette import Palette, nominal_palette
from referee.devices.ports import Frame
from referee.kernels.pictures import compare
from referee.vision.hands.dwell import SURE_LOOKS
from referee.vision.hands.fists import RIM_PX, ReducedFrame
from referee.vision.hands.geometry import HandGeometry, reduced, reduction
from referee.vision.hands.reaching_arm import OVER_MM
from referee.vision.image.color_lut import BITS, DARK, GROUND, SHADED, SKIN, UNKNOWN, label_table, skin_table
from referee.vision.image.evidence import paper_white
from referee.vision.image.shadow import CHANGED, SHADE_FLOOR, SHADOW, TINTED, ShadowModel, channel_max, is_shadow
from referee.vision.live.field_snapshot import FieldSnapshot
from referee.vision.measured import measured
from referee.vision.observer import Observer

WINDOW_PX = measured(2, "reduced px", "a mat that lies still is located so far off at most; by hand")
SHEET_INSET_MM = measured(3, "mm", "by hand: so far within its edge the sheet is surely paper")
NOISE_SHARE = measured(0.004, "of the field's or box's pixels", "by hand: less is noise: some five reduced pixels")
AWAKE_SHARE = measured(0.3, "of NOISE_SHARE", "by hand: so much of a moving thing must have moved of late")
REST_S = measured(1.2, "s", "by hand: what has not changed for so long off the sheet is background, but for pieces")
AWAKE_S = measured(0.7, "s", "by hand: what has moved within this time is a hand from a much smaller size on")
ARM_REST_S = measured(8.0, "s", "as REST_S for whose arm it is: a sleeve rests longer than a hand works")
STILL_S = measured(0.3, "s", "by hand: a piece that is carried has not been at one place for so long")
WARM_REST_S = measured(90.0, "s", "by hand: REST_S of what has the hue of skin, for a hand at rest is still a hand")
HAND_RESTING = measured(0.03, "of the box", "by hand: things at rest that cover less of it together are no hand")
WARM_SHARE = measured(0.2, "of a thing's pixels", "by hand: of skin's or wood's hue it is a hand, whatever its sleeve")
FIELD_COVERED = measured(
    0.1,
    "of the field",
    "what covers more is no gap, rim or dark side of a build (at most 0.06 in the dev sets): a phone, a cup; phones "
    "that lie in the field cover 0.15 to 0.3",
)
CHECK_S = measured(2.0, "s", "by hand, for time: between looks for mats; four times as often while none is known")
SKIN_TINTED = measured(0.08, "of the light", "as TINTED, of what has skin's hue: before wood it is nearly a shadow")
WHITE_DRIFT = measured(0.06, "of the paper's light", "by hand: the label table is made anew when it changed by more")


@dataclass(frozen=True)
class ZoneGate:
    """One field now. ``moving``: share of its pixels that changed since the previous frame; ``fill``:
    share covered by piece-coloured ones; ``settled_s``: for how long nothing has moved."""

    mat_seen: bool
    moving: float
    hand: bool
    settled_s: float
    fill: float


@dataclass(frozen=True)
class GateState:
    """The gates by zone; a zone whose mat has not been in view is left out. ``snapshots``: what their pixels show."""

    zones: Mapping[str, ZoneGate]
    snapshots: Mapping[str, FieldSnapshot] = field(default_factory=dict)


@dataclass(eq=False)
class _Zone:
    """A zone in the reduced copy: ``at`` its window; masks (h, w) bool of field, sheet and box in it."""

    at: tuple[slice, slice]
    field: np.ndarray
    sheet: np.ndarray
    box: np.ndarray
    moved_s: float
    missed: int = 0
    strange: np.ndarray | None = None
    hand: np.ndarray | None = None


class _Memory(NamedTuple):
    """What is known of every reduced pixel, (h, w), kernels write into it. Pictures (h, w, 3) uint8: the frame
    ``before``, what is ``usual`` there, what was usual before that (``older``); ``still_s`` seconds without a change;
    its label; whether it ``changed`` since the frame before; whether it differs from both backgrounds (``unusual``)."""

    before: np.ndarray
    usual: np.ndarray
    older: np.ndarray
    still_s: np.ndarray
    labels: np.ndarray
    changed: np.ndarray
    unusual: np.ndarray


class Gate:
    """Looks at one camera's frames in order; not to be shared between threads."""

    def __init__(self, observer: Observer) -> None:
        """``observer`` locates mats and knows the colours."""
        self._observer = observer
        self._zones: dict[str, _Zone] = {}
        self._check_s = -np.inf
        self._previous_s = -np.inf
        self._size: tuple[int, ...] = ()
        self._memory = memory_of(np.zeros((0, 0, 3), np.uint8), None)
        self._factor = 1
        self._bare = self._memory.usual
        self._shade = ShadowModel()
        self._geometry: HandGeometry | None = None
        self._palette: Palette | None = None
        self._white = np.zeros(3)
        self._table = np.full((32, 32, 32), UNKNOWN, np.int8)
        self._skin = np.zeros(self._table.shape, bool)

    def restart(self) -> None:
        """What was seen before is too long ago to compare with."""
        self._size = ()

    @property
    def colours(self) -> tuple[tuple[str, ...], np.ndarray] | None:
        """Names and label table (``lut.label_frame``) in use; None before any mat was in view."""
        return (self._palette.names, self._table) if self._palette else None

    def reduced_frame(self) -> tuple[ReducedFrame, HandGeometry] | None:
        """What the last look saw, whole, and where the mats were found last; None before any was. To be asked often:
        what is new is told from how the place has looked when it was asked before."""
        if self._geometry is None:
            return None
        now = self._memory
        around_piece = cv2.dilate((now.labels >= 0).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        rests = ~around_piece & (now.labels != SKIN) & (now.still_s > ARM_REST_S)
        self._bare[rests] = now.before[rests]
        for zone in self._zones.values():
            if zone.strange is None:
                free = zone.sheet & (now.labels[zone.at] < 0)
                self._shade.learn(now.before[zone.at], self._bare[zone.at], free)
        return reduced_frame(now.before, self._bare, now.labels.copy(), self._skin, self._shade.darkest), self._geometry

    def hand_mask(self, zone: str) -> tuple[np.ndarray, tuple[int, int], int] | None:
        """What is taken for a hand in that zone: mask (h, w) bool, its left top (x, y) in the reduced copy, and
        how many pixels of the picture one of it is; None when the last look saw no hand."""
        known = self._zones.get(zone)
        if known is None or known.strange is None:
            return None
        return known.strange, (known.at[1].start, known.at[0].start), self._factor

    def look(self, frame: Frame) -> GateState:
        """What there is in this frame, and since when."""
        self._factor = factor = reduction(frame.image)
        small = reduced(frame.image, factor)
        if frame.image.shape != self._size:
            self._begin(frame.image, small, factor)
        if frame.at_s >= self._check_s:
            self._locate(frame, small, factor)
        step_s = float(np.clip(frame.at_s - self._previous_s, 0.0, AWAKE_S))
        self._previous_s = frame.at_s
        compare(small, self._memory, self._table, CHANGED, step_s, (REST_S, WARM_REST_S), SKIN)
        self._memory = self._memory._replace(before=small)
        zones = sorted(self._zones.items())
        gates = {name: self._gate(zone, frame.at_s) for name, zone in zones}
        return GateState(gates, {name: self._sight(zone, gates[name].hand) for name, zone in zones})

    def _begin(self, image: np.ndarray, small: np.ndarray, factor: int) -> None:
        """Another picture size, or the first frame: nothing is known."""
        empty, self._size = self._observer.empty, image.shape
        if empty is not None and empty.shape != image.shape:
            empty = None
        self._memory = memory_of(small, None if empty is None else reduced(empty, factor))
        self._bare = self._memory.usual.copy()
        self._shade = ShadowModel()
        self._zones.clear()
        self._check_s = -np.inf

    def _locate(self, frame: Frame, small: np.ndarray, factor: int) -> None:
        mats = self._observer.look(frame.image)
        geometry = HandGeometry(mats, factor)
        for name in list(self._zones):
            self._zones[name].missed += name not in mats.poses
            if self._zones[name].missed >= SURE_LOOKS:
                del self._zones[name]
        if mats.poses and (self._geometry is None or len(mats.poses) >= len(self._geometry.mats.poses)):
            self._geometry = geometry
        for name, pose in mats.poses.items():
            zone, known = _zone(pose, geometry, small.shape[:2]), self._zones.get(name)
            if known is not None and zone is not None and _is_near(zone, known):
                known.missed = 0
            elif zone is not None:
                zone.moved_s = frame.at_s if known is None else known.moved_s
                self._zones[name] = zone
        self._know_colours(small)
        self._check_s = frame.at_s + (CHECK_S if self._zones else CHECK_S / 4)

    def _know_colours(self, small: np.ndarray) -> None:
        sheets = [small[z.at][z.sheet] for z in self._zones.values()]
        if not sheets:
            return
        pixels = np.concatenate(sheets)[None]
        white = paper_white(pixels, np.ones(pixels.shape[:2], bool))
        palette = self._observer.palette or self._palette
        drift = np.abs(white / np.maximum(self._white, 1e-3) - 1).max()
        if palette is None or palette is not self._palette or drift > WHITE_DRIFT:
            self._palette = palette or nominal_palette(self._observer.piece_set)
            self._white, self._table, self._skin = white, label_table(self._palette, white), skin_table(white)

    def _gate(self, zone: _Zone, at_s: float) -> ZoneGate:
        labels, changed = self._memory.labels[zone.at], self._memory.changed[zone.at]
        of_piece = labels >= 0
        stirred = changed & (zone.field | (zone.box & of_piece))
        pixels = max(1, int(zone.field.sum()))
        moving = min(1.0, float(stirred.sum()) / pixels)
        if moving > NOISE_SHARE:
            zone.moved_s = at_s
        unlike_sheet = (labels <= UNKNOWN) & (zone.field | (labels != DARK))  # dark beside the field are the markers
        strange = np.where(zone.sheet, unlike_sheet, self._memory.unusual[zone.at] & ~of_piece)
        zone.hand = _reaching_in(strange, zone, self._memory.still_s[zone.at] < AWAKE_S, labels == SKIN)
        hand = bool(zone.hand.any())
        zone.strange = strange if hand else None
        fill = float((of_piece & zone.field).sum()) / pixels
        return ZoneGate(zone.missed == 0, moving, hand, at_s - zone.moved_s, fill)

    def _sight(self, zone: _Zone, hand: bool) -> FieldSnapshot:
        labels = self._memory.labels[zone.at].copy()
        image, at = self._memory.before[zone.at].copy(), (zone.at[0].start, zone.at[1].start)
        light = channel_max(image / np.maximum(self._bare[zone.at], 1.0))  # a grey sleeve leaves less than a shadow
        told = (labels == GROUND) & (light > self._shade.darkest) | ~self._memory.unusual[zone.at]
        told |= cv2.dilate((labels >= 0).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        rest = told & (self._memory.still_s[zone.at] >= STILL_S)
        if zone.hand is not None:
            rest &= cv2.dilate(zone.hand.astype(np.uint8), np.ones((3, 3), np.uint8)) == 0
            shaded = (labels == GROUND) & (channel_max(cv2.absdiff(image, self._bare[zone.at])) > CHANGED)
            rest &= ~_sleeves(np.where(shaded, SHADED, labels), zone.hand)
        return FieldSnapshot(at, image, zone.box & (labels >= 0), int(zone.field.sum()), hand, zone.field, labels, rest)


def reduced_frame(
    small: np.ndarray, bare: np.ndarray, labels: np.ndarray, hues: np.ndarray, darkest: float = SHADOW
) -> ReducedFrame:
    """What is new in a reduced picture (h, w, 3) against the ``bare`` one; ``hues``: what has the hue of skin, as
    ``color_lut.skin_table``. Skin before wood is darker wood but for its tint, and counts as new for that.
    ``darkest``: shadows leave at least this share of the light."""
    changed = channel_max(cv2.absdiff(small, bare)) > CHANGED
    bgr = small >> (8 - BITS)
    warm = (labels < 0) & hues[bgr[..., 0], bgr[..., 1], bgr[..., 2]]
    new = changed & ~is_shadow(small, bare, darkest)
    tinted = np.clip(SHADE_FLOOR / np.maximum(bare.min(-1), 1), SKIN_TINTED, TINTED)  # noise tints what is dark
    skin = warm & changed & ~is_shadow(small, bare, SHADOW, tinted)
    return ReducedFrame(labels, new | skin, skin)


def memory_of(small: np.ndarray, empty: np.ndarray | None) -> _Memory:
    """The memory at the first reduced frame (h, w, 3) of a size; ``empty`` is the bare table like it, if known."""
    shape, usual = small.shape[:2], small.copy() if empty is None else empty
    still_s = np.full(shape, AWAKE_S, np.float32)
    labels = np.full(shape, GROUND, np.int8)
    return _Memory(small, usual, usual.copy(), still_s, labels, np.zeros(shape, bool), np.zeros(shape, bool))


def _zone(pose: MatPose, geometry: HandGeometry, size: tuple[int, int]) -> _Zone | None:
    """The masks of one mat in the reduced copy (h, w); None when its box is out of the picture."""
    x, y, w, h = cv2.boundingRect(geometry.outline(pose, FIELD, (0.0, OVER_MM)))
    at = slice(max(0, y - 2 * RIM_PX), y + h + 2 * RIM_PX), slice(max(0, x - 2 * RIM_PX), x + w + 2 * RIM_PX)
    paper = SHEET[0] / 2 - SHEET_INSET_MM, SHEET[1] / 2 - SHEET_INSET_MM
    outlines = (FIELD, (0.0,)), (paper, (0.0,)), (FIELD, (0.0, OVER_MM))
    inner, sheet, box = (geometry.inside(pose, half, heights, size)[at] for half, heights in outlines)
    return _Zone(at, inner, sheet, box, 0.0) if box.any() else None


def _is_near(zone: _Zone, known: _Zone) -> bool:
    """Whether its window lies as a mat's may that is located anew and lies still: then the known one stays."""
    ends = ((s.start, s.stop) for s in (*zone.at, *known.at))
    return bool(np.abs(np.subtract(*np.array([*ends]).reshape(2, 4))).max() <= WINDOW_PX)


def _sleeves(labels: np.ndarray, hand: np.ndarray) -> np.ndarray:
    """(h, w) bool: connected things of a piece's colour that leave the window, and what else of that colour touches the
    ``hand`` (h, w) where one of these does: a sleeve, in light and shade. A pale sleeve seems ``SHADED``: of that only
    what leaves the window and touches the hand is one."""
    found, near = np.zeros(labels.shape, bool), cv2.dilate(hand.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    for color in np.unique(labels[labels >= 0]):
        count, things = cv2.connectedComponents((labels == color).astype(np.uint8), connectivity=8)
        leaves, touches = np.zeros((2, count), bool)
        for edge in (things[0], things[-1], things[:, 0], things[:, -1]):
            leaves[edge] = True
        touches[things[near]] = True
        leaves[0] = touches[0] = False
        found |= (leaves | touches if (leaves & touches).any() else leaves & (color != SHADED))[things]
    return found


def _reaching_in(strange: np.ndarray, zone: _Zone, awake: np.ndarray, warm: np.ndarray) -> np.ndarray:
    """(h, w) bool: connected strange things that are in the box and also outside of it, or are skin or wood, or cover
    much of the field."""
    box = zone.box
    thick = cv2.morphologyEx(strange.astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    count, things = cv2.connectedComponents(thick, connectivity=8)

    def pixels(where: np.ndarray) -> np.ndarray:
        return np.bincount(things[where], minlength=count)

    inside, whole = pixels(box), box.sum()
    of_hand = (pixels(~box) > RIM_PX) | (pixels(box & warm) > WARM_SHARE * inside)
    moving = (pixels(box & awake) > AWAKE_SHARE * NOISE_SHARE * whole) & (inside > NOISE_SHARE * whole)
    covers = pixels(zone.field) > FIELD_COVERED * zone.field.sum()
    reaching = covers | of_hand & (moving | ((inside * of_hand)[1:].sum() > HAND_RESTING * whole))
    reaching[0] = False
    return np.asarray(reaching[things])
