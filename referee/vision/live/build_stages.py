"""The stages of a build: what was last seen at rest at each pixel of a field's window while players build.

A hand, a sleeve and what is carried are never at rest: a stage shows the pieces as they stood when the last hand was
before them, and none has gone where a hand is. It is kept when something as large as a piece has come or gone since the
one before and nothing for a moment. What stands behind another piece in the end is shown by those before that one came.
"""

import copy
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import cv2
import numpy as np

from referee.devices.ports import Frame
from referee.vision.hands.geometry import reduction
from referee.vision.image.shadow import CHANGED, channel_max
from referee.vision.image.view import ZoneView
from referee.vision.live.field_snapshot import FieldSnapshot, is_piece
from referee.vision.measured import measured
from referee.vision.observer import EarlierPicture, ReadPicture

CALM_S = measured(0.2, "s", "by hand: a stage has not changed for so long: two looks or more")
MOST_STAGES = measured(24, "stages", "for memory, some megabytes each: ten pieces come, and some are taken away again")
LATELY_S = measured(3.0, "s", "by hand: who presses believes in a build of so long ago")
MOST_LOST = measured(3, "stages", "by hand, for time: so many of the last that showed what was lost")

Reading = Future[ReadPicture | None]
"""What is read in a stage's picture, on another thread."""


@dataclass(eq=False)
class Stage:
    """What stood at rest in a field's window: ``picture`` (h, w, 3) uint8, whose first row and column in the frame are
    ``at``; ``labels`` (h / factor, w / factor) int8, as ``FieldSnapshot``'s, -1 for none. Like it ``gone``, bool, where
    it shows a piece and the field was seen empty since; ``since_s``, from when on the label has been seen, and
    ``before_s``, when last what had been there before; ``rested_s``, when anything was last at rest there.
    ``readings``: what is read in its picture without the pixels of a map, bool."""

    at: tuple[int, int]
    picture: np.ndarray
    labels: np.ndarray
    gone: np.ndarray
    since_s: np.ndarray
    before_s: np.ndarray
    rested_s: np.ndarray
    factor: int
    readings: list[tuple[np.ndarray, Reading]] = field(default_factory=list)

    def covered(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(h / factor, w / factor) bool: where these columns and rows (n,) of the frame are."""
        found = np.zeros(self.labels.shape, bool)
        at = [((where - first) / self.factor).astype(int) for where, first in zip((y, x), self.at, strict=True)]
        found.flat[np.ravel_multi_index(at, found.shape, "clip")] = True
        return found

    def in_frame(self, frame: np.ndarray, without: np.ndarray) -> np.ndarray:
        """The frame (h, w, 3) with this in its place, but for the pixels ``without``, bool."""
        (y, x), (h, w) = self.at, self.picture.shape[:2]
        out = frame.copy()
        shown = cv2.resize((~without).astype(np.uint8), (w, h), interpolation=cv2.INTER_NEAREST)
        cv2.copyTo(self.picture, shown, out[y : y + h, x : x + w])
        return out

    def known_in(self, frame: np.ndarray, without: np.ndarray) -> np.ndarray:
        """The same as (h, w, 4) BGRA, transparent where nothing has been at rest since the last piece came: it may
        reach there."""
        (y, x), (h, w) = self.at, self.picture.shape[:2]
        out = cv2.cvtColor(self.in_frame(frame, without), cv2.COLOR_BGR2BGRA)
        came_s = self.since_s[self.labels >= 0].max(initial=0.0)
        known = np.where(self.rested_s < came_s, 0, 255).astype(np.uint8)
        out[y : y + h, x : x + w, 3] = cv2.resize(known, (w, h), interpolation=cv2.INTER_NEAREST)
        return out

    def seen_in(self, view: ZoneView, *maps: np.ndarray) -> Iterator[np.ndarray]:
        """Those ``maps`` of it in the pixels (h, w) of a view; -1 beyond."""
        x, y = ((m - first + 0.5) / self.factor - 0.5 for m, first in zip(view.maps, self.at[::-1], strict=True))
        sites = x.astype(np.float32), y.astype(np.float32)
        for of in maps:
            yield cv2.remap(of.astype(np.float32), *sites, cv2.INTER_NEAREST, borderValue=-1)


class BuildStages:
    """The stages of one field, from its looks in order; ``kept`` from the first on, and what is at rest ``now``."""

    def __init__(self) -> None:
        self.kept: list[Stage] = []
        self.now: Stage | None = None
        self._empty = self._begun = np.zeros((0, 0, 3), np.uint8)
        self._before: np.ndarray = np.zeros((0, 0), np.int8)
        self._since_s = self._at_s = 0.0
        self._field_px = 0
        self._seen, self._filled = self._before, self._before >= 0  # labels now; where a piece stood at the first look
        self._seen_since_s = self._shown_s = self._before.astype(float)
        self._covered: tuple[np.ndarray, ...] = ()

    def add(self, frame: Frame, look: FieldSnapshot) -> None:
        """One more look; one of another window, where a mat was moved, begins anew."""
        if look.rest is None or look.labels is None:
            return
        factor = reduction(frame.image)
        (y, x), (h, w) = ((factor * a, factor * b) for a, b in (look.at, look.piece.shape))
        shown = frame.image[y : y + h, x : x + w]
        if self.now is None or self.now.at != (y, x) or self.now.picture.shape != shown.shape:
            none = np.full(look.piece.shape, -1, np.int8)
            begun = np.full(none.shape, frame.at_s)
            self.now = Stage((y, x), shown.copy(), none, none >= 0, begun, begun.copy(), begun.copy(), factor)
            self.kept, self._before, self._since_s = [], none.copy(), frame.at_s
            self._begun, self._filled = frame.image, look.labels >= 0
            self._empty, self._seen, self._seen_since_s, self._shown_s = look.image, none, begun.copy(), begun.copy()
            self._covered = none.copy(), begun.copy(), begun.copy()
        self._at_s, self._field_px, now = frame.at_s, look.field, self.now
        at_rest = look.rest & ~(look.hand & (now.labels >= 0) & (look.labels < 0))
        self._time(now, replace(look, rest=at_rest), frame.at_s)
        self.see_gone(look)
        size = shown.shape[1::-1]
        rest = cv2.resize(at_rest.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        cv2.copyTo(np.ascontiguousarray(shown), rest, now.picture)
        now.rested_s[at_rest] = frame.at_s
        if is_piece(now.labels != self._before, look.field):
            self._before, self._since_s = now.labels.copy(), frame.at_s
        elif frame.at_s - self._since_s >= CALM_S and (
            not self.kept or is_piece(now.labels != self.kept[-1].labels, look.field)
        ):
            self.kept.append(copy.deepcopy(now))
            if len(self.kept) > MOST_STAGES:  # the one most like the next tells least
                alike = [(one.labels == after.labels).mean() for one, after in pairwise(self.kept[1:])]
                del self.kept[1 + int(np.argmax(alike))]

    def _time(self, now: Stage, look: FieldSnapshot, at_s: float) -> None:
        """Note what has come to rest, and since when its label has been seen there: a piece that shows again, before
        which a sleeve as pale as paper had been, has stood there all the while."""
        assert look.labels is not None and look.rest is not None, "asked by add()"
        self._seen_since_s[look.labels != self._seen] = at_s
        self._seen = look.labels
        labels = np.where(look.piece, look.labels, -1)
        came = look.rest & (labels != now.labels)
        again = came & (labels >= 0) & (labels == self._covered[0])
        known, new = (now.labels, now.since_s, now.before_s), (labels, self._seen_since_s, self._shown_s)
        for of, to, back in zip(known, new, self._covered, strict=True):
            was = of[came]
            of[came], of[again] = to[came], back[again]
            back[came] = was
        self._shown_s[look.labels == now.labels] = at_s

    def see_gone(self, look: FieldSnapshot) -> None:
        """Note where the field looks empty, also when nobody builds any more: a hand may have been before what went."""
        now = self.now
        if not now or look.hand or look.rest is None or look.labels is None or look.image.shape != self._empty.shape:
            return
        free, as_empty = look.rest & (look.labels < 0), channel_max(cv2.absdiff(look.image, self._empty)) <= CHANGED
        for stage in self.kept:
            stage.gone |= free & as_empty & (stage.labels >= 0)
        went = free & (as_empty | self._filled) & (now.labels >= 0) & (self._shown_s < self._at_s)
        now.labels[went], now.before_s[went] = -1, self._at_s

    def read_next(self, begin: Callable[[np.ndarray], Reading]) -> Reading | None:
        """Have the first stage read, from its picture as ``known_in``, that was not yet, or not since a piece of it
        went; None where there is none."""
        for stage in self._past():
            if self._read(stage, without := self._without(stage)) is None:
                stage.readings.append((without, begin(stage.known_in(self._begun, without))))
                return stage.readings[-1][1]
        return None

    def earlier(self, stage: Stage, lost: bool) -> EarlierPicture:
        """The picture of a stage, with what is ``lost`` or without, and what is read in it. Around the field it shows
        the table as it was when the first stage began."""
        without = self._without(stage, lost)
        return EarlierPicture(partial(stage.known_in, self._begun, without), lost, self._read(stage, without))

    def _without(self, stage: Stage, lost: bool = False) -> np.ndarray:
        """The pixels of a stage that its picture is to lack: pieces that went, but for what is ``lost``."""
        return stage.gone & (not lost and is_piece(stage.gone, self._field_px))

    def _read(self, stage: Stage, without: np.ndarray) -> Reading | None:
        """What is read in a stage's picture: in one that shows no piece too few, and of the build none too many."""
        for lacks, reading in stage.readings:
            too_many = without & ~lacks
            if is_piece(too_many, self._field_px) and reading.exception() is None and (known := reading.result()):
                too_many &= stage.covered(*known.built)
            if not any(is_piece(one, self._field_px) for one in (lacks & ~without, too_many)):
                return reading
        return None

    def snapshot(self) -> "BuildStages":
        """The same, in which nothing is seen to be gone any more."""
        now = copy.copy(self)
        now.now, now.kept = copy.deepcopy(self.now), [replace(one, gone=one.gone.copy()) for one in self._past()]
        return now

    def _past(self) -> list[Stage]:
        """The stages that show something else than what is at rest now."""
        return [one for one in self.kept if self.now and is_piece(one.labels != self.now.labels, self._field_px)]

    def lost(self) -> list[Stage]:
        """The last few stages that showed something as large as a piece until lately where it does not show now, in
        order."""
        if self.now is None:
            return []
        lately = self.now.before_s > self._at_s - LATELY_S
        went = [(one.labels >= 0) & (one.labels != self.now.labels) & lately for one in self.kept]
        return [one for one, where in zip(self.kept, went, strict=True) if is_piece(where, self._field_px)][-MOST_LOST:]
