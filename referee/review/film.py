"""The pictures of a recording as the review reads them: held still by the mats where the camera was held by hand.

A film whose markers stay where they are is given as it was decoded. In another one every picture is turned back to how
the first pictures lie, by the homography between the markers' corners: exact for the table, and for everything where
the camera only turns. Judged are pictures as decoded all the same (``StabilizedFrame.raw``).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from calibration import ZONES
from calibration.markers import find_markers
from calibration.mat import FAR_PX, Mats
from calibration.palette import load_palette
from referee.devices.ports import Frame
from referee.errors import BadAttempt
from referee.recording import Attempt
from referee.recording.video import VideoFrame, read_video
from referee.vision.image.aids import believed_mats
from referee.vision.observer import Observer

LOOKS, LOOK_EVERY_S = 8, 0.4
"""So many pictures at the beginning, so far apart, tell whether the camera stands."""

STEADY_SHARE = 1.5 / 1280
"""Of the picture's width: a marker's corners wander by less in a film whose camera stands."""

LEAST_MARKERS = 2
"""Markers in common from which a picture can be turned back; with fewer it stays as the one before was."""

FIND_MATS_EVERY_S, FIND_OFTEN_UNTIL_S, FIND_LATER_EVERY_S = 0.5, 5.0, 2.0
"""Mats are looked for this often at first, and later, until each marker of two mats has been seen: hands and
loose pieces leave them in the course of a duel."""

ALL_MARKERS = 4 * len(ZONES)


def observer_of(attempt: Attempt, palette: str | None = None) -> Observer:
    """An observer with the attempt's pieces, lens, empty view and, unless another file is given, its palette."""
    colors = load_palette(palette) if palette else attempt.palette
    observer = Observer(attempt.piece_set, attempt.camera, colors, attempt.empty)
    observer.placed, observer.at_go = attempt.placed, attempt.at_go
    return observer


@dataclass(frozen=True, eq=False)
class StabilizedFrame(VideoFrame):
    """A picture held still: ``back`` (3, 3) takes its pixels to where they lie in the first pictures."""

    back: np.ndarray = field(kw_only=True)

    @cached_property
    def raw(self) -> np.ndarray:
        """(h, w, 3) uint8 BGR as decoded."""
        return VideoFrame(self.index, self.seconds, self.decoded).image

    @cached_property
    def image(self) -> np.ndarray:
        """(h, w, 3) uint8 BGR, held still; its rim repeats what is at the edge."""
        height, width = self.raw.shape[:2]
        return cv2.warpPerspective(self.raw, self.back, (width, height), borderMode=cv2.BORDER_REPLICATE)


def recorded_frames(attempt: Attempt) -> Iterator[VideoFrame]:
    """The recording's pictures in order, without broken ones. Raises BadAttempt when they cannot be decoded."""
    ways = _ways_back(attempt.film)
    for shown in read_video(attempt.film):
        if not shown.broken and ways is not None:
            yield StabilizedFrame(shown.index, shown.seconds, shown.decoded, back=ways[shown.index])
        elif not shown.broken:
            yield shown


@dataclass(frozen=True, eq=False)
class FilmFrame(Frame):
    """A frame of a film for the gate; ``raw`` (h, w, 3) uint8 BGR, as the decoder gave it."""

    raw: np.ndarray = field(kw_only=True)


def film_frame(shown: VideoFrame) -> FilmFrame:
    """The frame for the gate that a recording's picture makes."""
    raw = shown.raw if isinstance(shown, StabilizedFrame) else shown.image
    return FilmFrame(shown.image, shown.index, shown.seconds, raw=raw)


def as_decoded(frame: Frame) -> np.ndarray:
    """The picture (h, w, 3) of a frame as the decoder gave it."""
    return frame.raw if isinstance(frame, FilmFrame) else frame.image


def is_shaken(attempt: Attempt) -> bool:
    """Whether the camera was held by hand."""
    return _ways_back(attempt.film) is not None


@lru_cache(maxsize=4)
def _ways_back(film: Path) -> list[np.ndarray] | None:
    """Per picture the homography (3, 3) back to the first ones; None where the camera stands."""
    if not _wanders(film):
        return None
    known: dict[int, np.ndarray] = {}
    ways: list[np.ndarray] = []
    for shown in read_video(film):
        quads = {} if shown.broken else _quads(cv2.cvtColor(shown.image, cv2.COLOR_BGR2GRAY))
        common = [m for m in quads if m in known]
        back = ways[-1] if ways else np.eye(3)
        if len(common) >= LEAST_MARKERS:
            here = np.concatenate([quads[m] for m in common])
            there = np.concatenate([known[m] for m in common])
            found, _ = cv2.findHomography(here, there, cv2.RANSAC, 2.0)
            back = back if found is None else found
        if len(common) >= LEAST_MARKERS or not ways:
            for marker in set(quads) - set(known):
                known[marker] = cv2.perspectiveTransform(quads[marker][None].astype(np.float64), back)[0]
        ways.append(back)
    return ways


def _quads(gray: np.ndarray) -> dict[int, np.ndarray]:
    """The mats' markers in a picture (h, w): id -> (4, 2) px."""
    return {m: quad for m, quad in find_markers(gray).items() if m < ALL_MARKERS}


def _wanders(film: Path) -> bool:
    """Whether the markers move together from look to look."""
    seen: dict[int, list[np.ndarray]] = {}
    next_s, looks, width = 0.0, 0, 1
    for shown in read_video(film):
        if shown.broken or shown.seconds < next_s:
            continue
        width, next_s, looks = shown.image.shape[1], shown.seconds + LOOK_EVERY_S, looks + 1
        for marker, quad in _quads(cv2.cvtColor(shown.image, cv2.COLOR_BGR2GRAY)).items():
            seen.setdefault(marker, []).append(quad.mean(0))
        if looks >= LOOKS:
            break
    ways = [np.linalg.norm(np.std(centres, axis=0)) for centres in seen.values() if len(centres) >= 3]
    return len(ways) >= LEAST_MARKERS and float(np.median(ways)) > STEADY_SHARE * width


def find_mats(attempt: Attempt) -> Mats:
    """The mats as the empty picture and the frames show them together: the camera stands still, hands and
    pieces do not. They are looked for in the last picture that shows them where they were: at its end a film may show
    anything. Raises BadAttempt when no frame shows any."""
    looks: dict[int, list[np.ndarray]] = {}
    last = None
    for gray in _looks(attempt):
        quads = _quads(gray)
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
