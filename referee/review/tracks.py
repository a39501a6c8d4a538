"""A zone followed through the video: per frame and pixel, is it a piece's colour, as at the start, or else?

Works on the zone's view (undistorted, a fixed number of pixels to the millimetre), at half its scale and at
most ten frames a second: a piece is 15 pixels wide then, and a placing takes several frames.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import cv2
import numpy as np
from skimage.morphology import remove_small_objects

from calibration.markers import find_markers
from calibration.mat import FAR_PX, FIELD, Mats
from calibration.palette import Palette, color_features, learn_palette
from cards.pieces import PieceSet
from referee.errors import BadAttempt
from referee.recording import Attempt
from referee.review.film import recorded_frames
from referee.vision.image.aids import believed_mats
from referee.vision.image.background import LOG_ANYTHING, log_paper
from referee.vision.image.evidence import paper_white
from referee.vision.image.shadow import channel_max
from referee.vision.image.view import ZoneView, regions, zone_view

UNCHANGED_LABEL, OTHER_LABEL = -1, -2
"""Labels below the colours: paper or what the pixel showed before anybody built; and neither, a hand say."""

UNCHANGED_FEATURES = (0.25, 0.12, 0.15)
"""How near the features (l, a, b) of an unchanged pixel stay: three times a webcam's noise at half scale."""

DIM_SHARE, DIM_LOOKS = 0.25, 40
"""So many of a pixel's sights of paper are lighter than it is taken to be, in so many looks."""

BARE_SHARE = 0.2
"""What looks like paper for so much of the film is paper, and nothing else is as it was there."""

SCALE = 0.5
RATE_HZ, LONG_S, LONG_RATE_HZ = 10.0, 90.0, 5.0
"""Frames a second that are looked at, and for videos longer than LONG_S."""

FIELD_MARGIN_MM = 5.0
TOP_FACTOR = 1.4
"""A box seen from 30 degrees above shows its front and as much again of its top by half."""

NEARNESS = 1.4
"""What stands 100 mm above the mat, 650 mm from the camera, looks so much larger than on the mat."""

FIND_MATS_EVERY_S, FIND_OFTEN_UNTIL_S, FIND_LATER_EVERY_S = 0.5, 5.0, 2.0
"""Mats are looked for this often at first, and later, until each marker of two mats has been seen: hands and
loose pieces leave them in the course of a duel."""

ALL_MARKERS = 8


@dataclass(frozen=True, eq=False)
class ZoneTrack:
    """One zone over time. ``seconds`` (t,) rising; ``labels`` (t, h, w) int8: a colour's index, AS_BEFORE
    or OTHER; ``field`` (h, w) bool: the pixel's ray meets the table inside the printed field; ``mm2``: area
    of a pixel on the plane through the mat's centre that faces the camera; ``dim`` (t, h, w) bool: it looks like paper
    that is darker than it is there: in a shadow, or a sleeve of that grey.
    """

    view: ZoneView
    colors: tuple[str, ...]
    seconds: np.ndarray
    labels: np.ndarray
    field: np.ndarray
    mm2: float
    dim: np.ndarray

    @property
    def rate_hz(self) -> float:
        """Frames a second, by the median."""
        return 1.0 / float(np.median(np.diff(self.seconds)))

    def pixel(self, x: float, y: float, z: float) -> tuple[int, int]:
        """(row, column) of the strip's pixel that shows a point of the mat's frame, mm."""
        column, row = self.view.project(np.array([(x, y, z)]))[0] * SCALE
        return round(row), round(column)


def track_zones(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> dict[str, ZoneTrack]:
    """Follow every zone whose mat is in view. Raises BadAttempt for a video without frames or mats."""
    mats = find_mats(attempt)
    seconds, crops, views = _crops(attempt, mats, tick)
    return {z: _strip(attempt, views[z], seconds, crops[z]) for z in views}


def find_mats(attempt: Attempt) -> Mats:
    """The mats as the empty picture and the frames show them together: the camera stands still, hands and
    pieces do not. They are looked for in the last picture that shows them where they were: at its end a film may show
    anything. Raises BadAttempt when no frame shows any."""
    looks: dict[int, list[np.ndarray]] = {}
    last = None
    for gray in _looks(attempt):
        quads = {m: quad for m, quad in find_markers(gray).items() if m < ALL_MARKERS}
        known = {m: np.median(looks[m], 0) for m in quads.keys() & looks.keys()}
        off_px = [float(np.abs(quads[m] - quad).max()) for m, quad in known.items()]
        if last is None or (quads and not (off_px and np.median(off_px) > FAR_PX)):
            last = gray
        for marker, quad in quads.items():
            looks.setdefault(marker, []).append(quad)
        if len(looks) >= ALL_MARKERS:
            break
    if last is None:
        raise BadAttempt(f"{attempt.film}: has no frames")
    earlier = {m: np.median(quads, 0) for m, quads in looks.items()}
    mats = believed_mats(last, attempt.camera, earlier, None, attempt.placed)
    if not mats.poses:
        raise BadAttempt(f"{attempt.film}: shows no mat")
    return mats


def is_mirrored(attempt: Attempt) -> bool:
    """Whether its pictures show mats once they are flipped left to right."""
    return any(len(find_markers(np.ascontiguousarray(gray[:, ::-1]))) >= 2 for gray in islice(_looks(attempt), 4))


def _looks(attempt: Attempt) -> Iterator[np.ndarray]:
    """The pictures, 8-bit grey (h, w), in which mats are looked for: the empty one and some frames."""
    if attempt.empty is not None:
        yield cv2.cvtColor(attempt.empty, cv2.COLOR_BGR2GRAY)
    next_s = 0.0
    for frame in recorded_frames(attempt):
        if frame.seconds >= next_s:
            yield cv2.cvtColor(frame.image, cv2.COLOR_BGR2GRAY)
            next_s = frame.seconds + (FIND_MATS_EVERY_S if frame.seconds < FIND_OFTEN_UNTIL_S else FIND_LATER_EVERY_S)


def _crops(
    attempt: Attempt, mats: Mats, tick: Callable[[], object]
) -> tuple[np.ndarray, dict[str, list[np.ndarray]], dict[str, ZoneView]]:
    """Times, and per zone the small view of every frame that is looked at."""
    rate = RATE_HZ if attempt.seconds[-1] <= LONG_S else LONG_RATE_HZ
    views: dict[str, ZoneView] = {}
    seconds: list[float] = []
    crops: dict[str, list[np.ndarray]] = {}
    for frame in recorded_frames(attempt):
        tick()
        if seconds and frame.seconds - seconds[-1] < 0.95 / rate:
            continue
        views = views or {z: zone_view(frame.image, mats.camera, pose) for z, pose in mats.poses.items()}
        seconds.append(frame.seconds)
        for zone, view in views.items():
            small = cv2.resize(view.crop(frame.image), None, fx=SCALE, fy=SCALE, interpolation=cv2.INTER_AREA)
            crops.setdefault(zone, []).append(small)
    return np.array(seconds), crops, views


def _strip(attempt: Attempt, view: ZoneView, seconds: np.ndarray, crops: Sequence[np.ndarray]) -> ZoneTrack:
    height, width = crops[0].shape[:2]
    ground = cv2.resize(view.ground, (width, height), interpolation=cv2.INTER_NEAREST)
    paper, marker, _ = regions(ground)
    opening = _opening(attempt, seconds)
    white = paper_white(np.median(np.stack([crops[i] for i in opening]), 0).astype(np.uint8), paper)
    seen = [color_features(crop, white) for crop in crops]
    palette = _palette(attempt.palette, attempt.piece_set, seen, paper & ~marker)
    before = np.median(np.stack([seen[i] for i in opening]), 0)
    mm2 = (1 / (view.px_per_mm * SCALE)) ** 2
    largest = np.array([NEARNESS * sum(sights_mm2(attempt.piece_set, c)) for c in palette.names]) / mm2
    sheet = np.stack([paper & (log_paper(f) > LOG_ANYTHING) for f in seen])
    same = _same(seen, sheet, before)
    labels = np.stack([_labels(f, s, palette, paper, largest) for f, s in zip(seen, same, strict=True)])
    field = np.all(np.abs(ground) < np.array(FIELD) + FIELD_MARGIN_MM, axis=-1)
    return ZoneTrack(view, palette.names, seconds, labels, field, mm2, _dim(seen, sheet))


def _opening(attempt: Attempt, seconds: np.ndarray) -> np.ndarray:
    """Indices of frames in which nothing stands in the fields yet and hands are mostly away.

    The hands leave their rest at the go; a third of the way to the Stop more than one piece may stand.
    """
    go = attempt.go_s or 0.0
    stop = attempt.stop_s if attempt.stop_s is not None else seconds[-1]
    end = go + 0.5 + min(2.5, max(0.5, 0.35 * (stop - go)))
    found = np.flatnonzero((seconds >= go + 0.5) & (seconds <= end))
    return found if len(found) else np.arange(min(5, len(seconds)))


def _palette(learnt: Palette | None, piece_set: PieceSet, seen: Sequence[np.ndarray], sheet: np.ndarray) -> Palette:
    if learnt is not None and set(learnt.names) == set(piece_set.colors):
        return learnt
    some = seen[:: max(1, len(seen) // 15)]
    pixels = np.concatenate([f[(log_paper(f) < LOG_ANYTHING - 2.0) & sheet] for f in some])
    return learn_palette(piece_set, pixels[:: max(1, len(pixels) // 20_000)])


def _same(seen: Sequence[np.ndarray], sheet: np.ndarray, before: np.ndarray) -> np.ndarray:
    """(t, h, w) bool: where it looks like paper (``sheet``), or as ``before`` where it hardly ever does: what was
    before bare paper while nobody had built was a hand."""
    bare = sheet.mean(0) >= BARE_SHARE
    return sheet | np.stack([~(channel_max(np.abs(f - before) >= UNCHANGED_FEATURES) | bare) for f in seen])


def _dim(seen: Sequence[np.ndarray], sheet: np.ndarray) -> np.ndarray:
    """(t, h, w) bool: where what looks like paper (``sheet``) is darker than most sights of paper at that pixel are."""
    light = np.stack([f[..., 0] for f in seen])
    some = slice(None, None, max(1, len(seen) // DIM_LOOKS))
    rising = np.sort(np.where(sheet[some], light[some], -np.inf), axis=0)
    at = len(rising) - 1 - (DIM_SHARE * sheet[some].sum(0)).astype(int)
    plain = np.take_along_axis(rising, at.clip(0)[None], 0)
    return sheet & (light < plain - UNCHANGED_FEATURES[0])


def _labels(f: np.ndarray, same: np.ndarray, palette: Palette, paper: np.ndarray, largest_px: np.ndarray) -> np.ndarray:
    density = palette.log_density(f)
    best, plain = density.max(0), log_paper(f)
    coloured = (best > LOG_ANYTHING) & ((best > plain) | ~paper)
    plainly = np.where(same, UNCHANGED_LABEL, OTHER_LABEL).astype(np.int8)
    labels = np.where(coloured, density.argmax(0), plainly).astype(np.int8)
    # Patches of a colour that are larger than all its pieces together are none: a sleeve, a wooden table.
    for k, most in enumerate(largest_px):
        if (mask := labels == k).sum() > most:
            large = remove_small_objects(mask, max_size=most, connectivity=2)
            labels[large] = plainly[large]
    return labels


def sights_mm2(piece_set: PieceSet, color: str) -> list[float]:
    """The most that each piece of a colour can cover, seen from obliquely above, mm²."""
    shapes = [piece_set.shapes[s] for s, c, n in piece_set.pieces if c == color for _ in range(n)]
    return [TOP_FACTOR * max(x * z for x, _, z in map(shape.size, shape.poses())) for shape in shapes]
