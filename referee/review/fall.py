"""When did it fall? From the press on: the first frame in which a standing piece moved, and who was near.

Compared are single frames of the zone's view with the picture at the press. The noise of the sensor and of
the encoding is measured on the same pixels, so the thresholds follow the camera.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise

import cv2
import numpy as np
import skimage as ski

from referee.recording import Attempt
from referee.review.film import film
from referee.review.tracks import OTHER_LABEL, SCALE, ZoneTrack
from referee.vision.image.parts import around

BEFORE_S, AFTER_S = 0.3, 10.0
"""What is looked at around the press."""

LEAST_CHANGE, NOISE_TIMES = 10.0, 6.0
"""Grey levels, and times the noise: a pixel that differs by both has changed."""

LEAST_AREA_MM2 = 40.0
"""A 30 mm edge that moved by 1.5 mm."""

BUILD_SHARE = 0.35
"""Share of a changed patch on the build: a piece that begins to move covers its old place and little more."""

STAYS_S, KNOWN_SHARE, STAYS_SHARE = 0.4, 0.3, 0.5
"""What moved is gone for good: so long after, where so much of its old place is in sight, so much of that differs."""

TOUCH_MM = 6.0
HAND_BEFORE_S = 0.35
"""A hand that touched the piece moved in this time before it: three frames of the slowest camera."""


@dataclass(frozen=True)
class Fall:
    """The first motion of a standing piece after the press, in one zone.

    ``frame`` and ``seconds`` of the first frame that shows it; ``after_press_s``; ``moved_mm``: how far what
    moved had come by then, across the line of sight; ``changed_mm2`` of the pieces' picture in that frame and
    ``at_most_mm2`` later; ``hand``: none, at rest or moving in the third of a second before; ``touching``:
    whether a moving hand or tongs were next to what moved; ``settled_s``: when all was at rest again.
    """

    zone: str
    frame: int
    seconds: float
    after_press_s: float
    moved_mm: float
    changed_mm2: float
    at_most_mm2: float
    hand: str
    touching: bool
    settled_s: float | None

    def to_json(self) -> dict:
        """JSON-able."""
        return {k: round(v, 3) if isinstance(v, float) else v for k, v in asdict(self).items()}


@dataclass(frozen=True, eq=False)
class _Shot:
    index: int
    seconds: float
    gray: np.ndarray
    changed: np.ndarray  # against the frame before
    differs: np.ndarray  # against the picture at the press


def first_move(attempt: Attempt, strips: dict[str, ZoneTrack], standing: dict[str, np.ndarray]) -> list[Fall]:
    """The falls of all zones by time; ``standing`` zone -> (h, w) bool, the strip's pixels of the pieces that
    stood at the press. Empty when nothing fell, or nobody pressed."""
    stop = attempt.stop_s
    if stop is None:
        return []
    shots: dict[str, list] = {z: [] for z in strips}
    for frame in film(attempt):
        if stop - BEFORE_S <= frame.seconds <= stop + AFTER_S:
            for zone, strip in strips.items():
                gray = cv2.cvtColor(strip.view.crop(frame.image), cv2.COLOR_BGR2GRAY)
                shots[zone].append((frame.index, frame.seconds, cv2.GaussianBlur(gray, (0, 0), 1.0)))
    falls = (_in_zone(strips[z], standing[z], stop, shots[z]) for z in strips if standing[z].any())
    return sorted((f for f in falls if f), key=lambda f: f.seconds)


def findings(falls: list[Fall]) -> dict[str, list[str]]:
    """Zone -> findings for the house rules (``rules.FINDINGS``): a build that fell with no moving hand at it.

    What a moving hand touched is left to a human: the picture does not say whose hand it was.
    """
    return {f.zone: ["fell_after_stop"] for f in falls if not f.touching}


def _in_zone(strip: ZoneTrack, standing: np.ndarray, stop: float, frames: list) -> Fall | None:
    reference = _at_press(frames, stop)
    shots = list(_compare(frames, reference))
    build = _full_size(standing, strip)
    pixel = 1.0 / strip.view.px_per_mm**2
    after = [s for s in shots if s.seconds >= stop]
    # A change that the next frame does not show as well is a flicker of the encoder, one that does not stay a shadow.
    moves = [_area(_by_itself(s.differs, build), pixel) >= LEAST_AREA_MM2 for s in after]
    lasting = (n for n in range(len(moves)) if all(moves[n : n + 2]))
    first = next((n for n in lasting if _stays(strip, after[n:], _by_itself(after[n].differs, build))), None)
    if first is None:
        return None
    shot = after[first]
    moved = _by_itself(shot.differs, build)
    hands = _hand_pixels(strip, shot.seconds) & ~build
    stirred = _stirred(shots, shot, build)
    beside = cv2.dilate(around(moved, build).astype(np.uint8), _disc(TOUCH_MM * strip.view.px_per_mm)) > 0
    moving = _area(stirred & ~beside, pixel) + _area(stirred & hands, pixel) >= LEAST_AREA_MM2
    return Fall(
        strip.view.zone,
        shot.index,
        shot.seconds,
        shot.seconds - stop,
        _way_px(reference, shot.gray, moved) / strip.view.px_per_mm,
        _area(moved, pixel),
        max(_area(s.differs & build, pixel) for s in after),
        _hand(moving, hands, pixel),
        bool(moving and (stirred & hands & beside).any()),
        _settled(after[first:], pixel),
    )


def _stays(strip: ZoneTrack, shots: list[_Shot], moved: np.ndarray) -> bool:
    """Whether most of the ``moved`` pixels (h, w) still differ at their last sight without a hand; also where the film
    ends before there is one."""
    later = [s for s in shots if s.seconds >= shots[0].seconds + STAYS_S]
    if not later:
        return True
    differs, seen = np.zeros(moved.shape, bool), np.zeros(moved.shape, bool)
    for shot in later:
        sight = ~_hand_pixels(strip, shot.seconds)
        differs[sight], seen = shot.differs[sight], seen | sight
    known = moved & seen
    return bool(known.sum() >= KNOWN_SHARE * moved.sum() and differs[known].mean() >= STAYS_SHARE)


def _way_px(before: np.ndarray, now: np.ndarray, moved: np.ndarray) -> float:
    """How far the ``moved`` pixels (h, w) went between two grey pictures: the median of dense optical flow."""
    flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    no_guess = np.zeros((1, 1, 2), np.float32)  # of another size than the pictures: nothing to begin with
    ways = flow.calc(before.astype(np.uint8), now.astype(np.uint8), no_guess)[moved]
    return float(np.median(np.hypot(ways[:, 0], ways[:, 1])))


def _by_itself(differs: np.ndarray, build: np.ndarray) -> np.ndarray:
    """Changed pixels of the build that are no hand coming over it: a hand's picture reaches far beyond."""
    parts = ski.measure.label(differs)
    inside, whole = (np.bincount(parts[where], minlength=parts.max() + 1) for where in (build, differs))
    return (inside >= BUILD_SHARE * whole)[parts] & build & differs


def _at_press(frames: list, stop: float) -> np.ndarray:
    """The picture at the press, (h, w) float32: the median of three frames."""
    at = next((n for n, f in enumerate(frames) if f[1] >= stop), len(frames) - 1)
    return np.median([gray.astype(np.float32) for _, _, gray in frames[max(0, at - 1) : at + 2]], 0)


def _compare(frames: list, reference: np.ndarray) -> Iterable[_Shot]:
    """Each frame against the one before and against the picture at the press."""
    grays = [g.astype(np.float32) for _, _, g in frames]
    steps = [np.abs(b - a) for a, b in pairwise(grays)]
    noise = 1.48 * float(np.median([np.median(s) for s in steps])) if steps else 0.0
    least = max(LEAST_CHANGE, NOISE_TIMES * noise)
    for n, (index, seconds, gray) in enumerate(frames):
        moved = steps[n - 1] > least if n else np.zeros(gray.shape, bool)
        yield _Shot(index, seconds, gray, moved, np.abs(grays[n] - reference) > least)


def _stirred(shots: list[_Shot], first: _Shot, build: np.ndarray) -> np.ndarray:
    """(h, w) bool: pixels outside the build that changed in the frames just before the first motion."""
    before = [s.changed for s in shots if first.seconds - HAND_BEFORE_S <= s.seconds < first.seconds]
    grown = cv2.dilate(build.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return np.any(before, axis=0) & ~grown if before else np.zeros(build.shape, bool)


def _hand_pixels(strip: ZoneTrack, seconds: float) -> np.ndarray:
    """(h, w) bool in the full view: what is neither a piece's colour nor as before, at the frame before."""
    n = max(0, int(np.searchsorted(strip.seconds, seconds)) - 1)
    return _full_size(strip.labels[n] == OTHER_LABEL, strip)


def _full_size(mask: np.ndarray, strip: ZoneTrack) -> np.ndarray:
    height, width = strip.view.image.shape[:2]
    return cv2.resize(mask.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST) > 0


def _hand(moving: bool, hands: np.ndarray, pixel: float) -> str:
    if moving:
        return "moving"
    return "at rest" if _area(hands, pixel) >= LEAST_AREA_MM2 / SCALE else "none"


def _settled(shots: list[_Shot], pixel: float) -> float | None:
    """Time of the first frame after which nothing changes any more for the frames there are."""
    last = max((n for n, s in enumerate(shots) if _area(s.changed, pixel) >= LEAST_AREA_MM2), default=0)
    return shots[last + 1].seconds if last + 1 < len(shots) else None


def _area(mask: np.ndarray, pixel_mm2: float) -> float:
    return float(mask.sum() * pixel_mm2)


def _disc(radius_px: float) -> np.ndarray:
    size = 2 * round(radius_px) + 1
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
