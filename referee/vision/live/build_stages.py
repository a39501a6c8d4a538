"""The stages of a build: what was last seen at rest at each pixel of a field's window while players build.

A hand, a sleeve and what is carried are never at rest, so a stage shows the pieces as they stood when the last hand was
before them. A stage is kept when something as large as a piece has come or gone since the one before and nothing has
for a moment. What stands behind another piece in the end is shown by the stages from before that one came.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from cards.build import Build
from referee.devices.ports import Frame
from referee.vision.hands.geometry import reduction
from referee.vision.image.shadow import CHANGED, channel_max
from referee.vision.image.view import ZoneView
from referee.vision.live.field_snapshot import FieldSnapshot, is_piece
from referee.vision.measured import measured
from referee.vision.render.solids import piece_tags

CALM_S = measured(0.5, "s", "by hand: a stage has not changed for so long; nobody places two pieces sooner")
MOST_STAGES = measured(24, "stages", "for memory, half a megabyte each: ten pieces come, and some are taken away again")
LOOK_PX = measured(3, "px of a view", "one of a look's, about")
MOST_READ = measured(3, "stages", "by hand, for time: a fifth of a second each")
SHOWN_SHARE = measured(0.8, "of a piece's pixels", "by hand: a stage that shows so many in its colour shows the piece")


@dataclass(frozen=True, eq=False)
class Stage:
    """What stood at rest in a field's window: ``picture`` (h, w, 3) uint8, whose first row and column in the frame are
    ``at``; ``labels`` (h / factor, w / factor) int8, as ``FieldSnapshot``'s, -1 for none; ``gone`` like it, bool, where
    the field was seen empty since."""

    at: tuple[int, int]
    picture: np.ndarray
    labels: np.ndarray
    gone: np.ndarray
    factor: int

    def in_frame(self, frame: np.ndarray) -> np.ndarray:
        """The frame (h, w, 3) with this in its place."""
        (y, x), (h, w) = self.at, self.picture.shape[:2]
        out = frame.copy()
        out[y : y + h, x : x + w] = self.picture
        return out

    def labels_in(self, view: ZoneView) -> tuple[np.ndarray, np.ndarray]:
        """The labels in the pixels (h, w) of a view, and where it is ``gone``."""
        x, y = ((m - first + 0.5) / self.factor - 0.5 for m, first in zip(view.maps, self.at[::-1], strict=True))
        sites = x.astype(np.float32), y.astype(np.float32)
        shown = cv2.remap((self.labels + 1).astype(np.uint8), *sites, cv2.INTER_NEAREST)
        return shown.astype(np.int8) - 1, cv2.remap(self.gone.astype(np.uint8), *sites, cv2.INTER_NEAREST) > 0


class BuildStages:
    """The stages of one field, from its looks in order; ``kept`` from the first on."""

    def __init__(self) -> None:
        self.kept: list[Stage] = []
        self._now: Stage | None = None
        self._empty = np.zeros((0, 0, 3), np.uint8)
        self._before: np.ndarray = np.zeros((0, 0), np.int8)
        self._since_s = 0.0

    def add(self, frame: Frame, look: FieldSnapshot) -> None:
        """One more look; one of another window, where a mat was moved, begins anew."""
        if look.rest is None or look.labels is None:
            return
        factor = reduction(frame.image)
        (y, x), (h, w) = ((factor * a, factor * b) for a, b in (look.at, look.piece.shape))
        shown = frame.image[y : y + h, x : x + w]
        if self._now is None or self._now.at != (y, x) or self._now.picture.shape != shown.shape:
            none = np.full(look.piece.shape, -1, np.int8)
            self._now, self._empty = Stage((y, x), shown.copy(), none, none >= 0, factor), look.image
            self.kept, self._before, self._since_s = [], none.copy(), frame.at_s
        now = self._now
        now.labels[look.rest] = np.where(look.piece, look.labels, -1)[look.rest]
        self.see_gone(look)
        size = shown.shape[1::-1]
        rest = cv2.resize(look.rest.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        cv2.copyTo(np.ascontiguousarray(shown), rest, now.picture)
        if is_piece(now.labels != self._before, look.field):
            self._before, self._since_s = now.labels.copy(), frame.at_s
        elif frame.at_s - self._since_s >= CALM_S and (
            not self.kept or is_piece(now.labels != self.kept[-1].labels, look.field)
        ):
            self.kept.append(Stage(now.at, now.picture.copy(), now.labels.copy(), now.gone.copy(), factor))
            if len(self.kept) > MOST_STAGES:  # the one most like the next tells least
                alike = [(one.labels == after.labels).mean() for one, after in pairwise(self.kept[1:])]
                del self.kept[1 + int(np.argmax(alike))]

    def see_gone(self, look: FieldSnapshot) -> None:
        """Note where the field looks empty, also when nobody builds any more."""
        if look.rest is None or look.labels is None or look.image.shape != self._empty.shape:
            return
        bare = look.rest & (look.labels < 0) & (channel_max(cv2.absdiff(look.image, self._empty)) <= CHANGED)
        for stage in self.kept:
            stage.gone[bare] = True

    def hidden_by(self, view: ZoneView, names: Sequence[str], build: Build) -> list[Stage]:
        """Those that show something as large as a piece which the ``build`` hides now and has no piece for, the most
        telling first. ``names``: the colours that labels count."""
        tags = piece_tags(view, build.piece_set, build.pieces)
        pieces = [
            _Silhouette(names.index(p.color), piece_tags(view, build.piece_set, [p]) >= 0, tags == i)
            for i, p in enumerate(build.pieces)
        ]
        field_px = int(view.regions[2].sum())
        first = self.kept[0].labels_in(view)[0] if self.kept else None
        found = []
        for stage in self.kept[1:]:
            labels, gone = stage.labels_in(view)
            left = (tags >= 0) & (labels >= 0) & (labels != first) & ~gone
            for piece in pieces:
                if piece.is_in(labels):
                    left &= ~(piece.alone & (labels == piece.color))
            found += [(stage, color, left & (labels == color)) for color in np.unique(labels[left])]
        chosen: list[Stage] = []
        covered = {color: np.zeros(tags.shape, bool) for _, color, _ in found}
        for stage, color, patch in sorted(found, key=lambda f: -int(f[2].sum())):
            if stage in chosen or (len(chosen) < MOST_READ and _is_patch(patch & ~covered[color], field_px)):
                chosen += [] if stage in chosen else [stage]
                covered[color] |= patch
        return chosen


@dataclass(frozen=True, eq=False)
class _Silhouette:
    """A piece of a build in a view: where (h, w) bool it would be seen ``alone``, and where it is ``shown`` there."""

    color: int
    alone: np.ndarray
    shown: np.ndarray

    def is_in(self, labels: np.ndarray) -> bool:
        """Whether a stage's labels (h, w) show it."""
        where = self.shown if self.shown.any() else self.alone
        return bool((labels[where] == self.color).mean() > SHOWN_SHARE) if where.any() else False


def _is_patch(mask: np.ndarray, field_px: int) -> bool:
    """Whether a mask (h, w) in a view has a patch as large as a piece, as looks tell it."""
    small = cv2.resize(mask.astype(np.float32), None, fx=1 / LOOK_PX, fy=1 / LOOK_PX, interpolation=cv2.INTER_AREA)
    return is_piece(small > 0.5, field_px // LOOK_PX**2)
