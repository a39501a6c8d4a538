"""What a zone's picture allows to be told: how much of the field it has, whether colours are lost, what is unknown."""

from dataclasses import dataclass

import cv2
import numpy as np

from calibration.quality import clipped_pixels
from cards.build import Build
from cards.pieces import PieceSet
from cards.sentences import sentence
from referee.vision.image.evidence import REACH_PX, Evidence
from referee.vision.image.parts import around
from referee.vision.image.unknown import UnknownThing, outsized, patches
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured
from referee.vision.render.solids import piece_tags
from referee.vision.search.canvas import NEAR_PX

UNKNOWN_PIECES = measured(
    0.5, "of the smallest piece's front", "clean frames of devset and devset2 have at most 0.4, phones 0.6 to 4"
)

NEAR_EDGE = np.ones((NEAR_PX,) * 2, np.uint8)


@dataclass(frozen=True, eq=False)
class Visibility:
    """What one zone's picture allows to be told of a build; by default all of it. Shares are 0 to 1.

    ``field_seen``: share of the field's pixels that the picture has; ``cut_mm``: how many mm of the picture's edge run
    through what stands in the field; ``coloured``: spread of red against green, about 0 in a grey picture; ``unknown``:
    the largest thing that is neither table nor piece; ``paper_lighter``: how much more of the table about the build is
    clipped than in the empty frame: a lamp's mirror image or a longer exposure came since, in which pieces fade.
    """

    field_seen: float = 1.0
    cut_mm: float = 0.0
    coloured: float = 1.0
    unknown: UnknownThing | None = None
    paper_lighter: float = 0.0


def visibility_of(
    view: ZoneView, evidence: Evidence, piece_set: PieceSet, build: Build, empty: np.ndarray | None = None
) -> Visibility:
    """What the picture allows to be told of a build. ``empty`` (h, w) bool: where the empty frame is ``clipped``."""
    shown = (piece_tags(view, piece_set, build.pieces) >= 0).astype(np.uint8)
    near = _near(view, shown)
    increase = np.zeros(view.valid.shape, int) if empty is None else clipped_pixels(view.image).astype(int) - empty
    return Visibility(
        _mean(view.valid[view.regions[2]]),
        _cut_mm(view, evidence.labels >= 0),
        evidence.coloured,
        next(iter(unknown_things(view, evidence, piece_set)), None),
        _mean(increase[near & (shown == 0) & view.valid]),
    )


def _near(view: ZoneView, shown: np.ndarray) -> np.ndarray:
    """(h, w) bool: where a build is ``shown`` (h, w) uint8 and about it; the field where none is."""
    if not shown.any():
        return view.regions[2]
    side = 2 * round(REACH_PX * view.px_per_mm) + 1
    return cv2.dilate(shown, np.ones((side, side), np.uint8)) > 0


def _mean(of: np.ndarray) -> float:
    """The mean, 0 of none."""
    return float(of.mean()) if of.size else 0.0


def size_fault(factor: float) -> str:
    """What is wrong with the piece file, in words."""
    return sentence("wrong_sizes", n=percent_off(factor))


def percent_off(factor: float) -> str:
    """How many per cent longer than the piece file says, signed."""
    return f"{100 * (factor - 1):+.0f}"


def unknown_things(view: ZoneView, evidence: Evidence, piece_set: PieceSet) -> tuple[UnknownThing, ...]:
    """Unknown patches in the field that are large enough to hide a piece or to be taken for one, largest first."""
    seen = np.where(evidence.bare < 0, evidence.labels, -1)  # a wall behind, never seen bare, may have a piece's colour
    large = outsized(view, seen, evidence.names, piece_set) & view.regions[2]
    if not (evidence.unknown.any() or large.any()):
        return ()
    found = [p for p in patches(view, evidence.unknown & ~large, piece_set) if p.pieces >= UNKNOWN_PIECES]
    return tuple(sorted([*found, *patches(view, large, piece_set)], key=lambda p: -p.share))


def _cut_mm(view: ZoneView, of_pieces: np.ndarray) -> float:
    """How many mm of the picture's edge run through piece-coloured things that reach from there into the field."""
    if view.valid.all():
        return 0.0
    edge = cv2.dilate((~view.valid).astype(np.uint8), NEAR_EDGE) > 0
    whole = cv2.morphologyEx((of_pieces & view.valid).astype(np.uint8), cv2.MORPH_CLOSE, NEAR_EDGE) > 0
    cut = around(view.regions[2], whole) & edge
    return max(int(cut.any(0).sum()), int(cut.any(1).sum())) / view.px_per_mm
