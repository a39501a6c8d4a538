"""What forbids a ruling whatever the readings say: a field out of the picture, something unknown in it, no colour."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np

from calibration.quality import CLIPPED_CODE, clipped
from cards.law import Reason, because
from cards.pieces import PieceSet
from cards.sentences import sentence
from referee.match.verdict import Verdict
from referee.vision.image.evidence import Evidence
from referee.vision.image.parts import around
from referee.vision.image.unknown import Patch, outsized, patches
from referee.vision.image.view import ZoneView
from referee.vision.parameters import (
    BLOWN_SINCE,
    BUILD_CUT_MM,
    FIELD_SEEN,
    GLARE_LIGHT,
    GLARE_NEAR_MM,
    GLARE_SHARE,
    LEAST_COLOUR,
    PIECES_CLIPPED,
    PIECES_TINTED,
    SIZES_DOUBTED,
    UNKNOWN_PIECES,
)
from referee.vision.render.silhouettes import piece_tags
from referee.vision.verdict import parameters

NOTHING_TOLD = parameters.TOLD_LEANING.value
NEAR_EDGE = np.ones((parameters.NEAR_EDGE_PX.value,) * 2, np.uint8)


def withheld(verdict: Verdict, view: ZoneView, evidence: Evidence, piece_set: PieceSet) -> Verdict:
    """The verdict, or ``undecided`` with what forbids one; it still leans where it leant."""
    reasons = obstacles(view, evidence, piece_set)
    if not reasons:
        return verdict
    return dataclasses.replace(
        verdict,
        ruling="undecided",
        reasons=reasons,
        leaning=verdict.leaning or (verdict.ruling if verdict.ruling != "undecided" else None),
    )


def sized(verdict: Verdict, factor: float, counted: bool = False) -> Verdict:
    """The verdict; undecided where the build is not the card's by a piece file whose lengths are far off: pieces that
    are larger or smaller than their solids look like others, or like none. So it is where they are ``counted``, and
    right by that count: a plank that is not there fills what the others' solids are too low for. ``factor``: the
    pieces' lengths, of the file's."""
    if not (verdict.ruling == "mismatch" or (counted and verdict.ruling == "match")):
        return verdict
    if abs(factor - 1) <= SIZES_DOUBTED.value:
        return verdict
    reason = because("wrong_sizes", n=_percent(factor))
    return dataclasses.replace(verdict, ruling="undecided", reasons=(reason,), leaning=verdict.ruling)


def exposed(
    verdict: Verdict, view: ZoneView, evidence: Evidence, piece_set: PieceSet, then: np.ndarray | None = None
) -> Verdict:
    """The verdict; undecided in a picture so overexposed that colours are lost.

    A clipped channel turns paints into each other, and pale ones into paper: no build is called wrong by such pieces.
    And where more paper is clipped than in the empty frame (``then``, (h, w), where that is ``clipped``), a lamp's
    mirror image or a longer exposure came since: pieces fade into it, and what differs from that frame is no piece by
    it. For a mismatch the whole field counts, for a piece may be missing anywhere; for a match what is about the build.
    """
    if verdict.ruling == "undecided":
        return verdict
    field = view.regions[2] & view.valid
    pieces = (view.image[(evidence.labels >= 0) & field] >= CLIPPED_CODE).sum(-1)
    lost = verdict.ruling == "mismatch" and (
        _share(pieces >= 2) > PIECES_CLIPPED.value or _share(pieces >= 1) > PIECES_TINTED.value
    )
    build, near = _about(verdict, view, piece_set)
    where = field if verdict.ruling == "mismatch" else near & (build == 0) & view.valid
    since = then is not None and _share(clipped(view.image)[where]) - _share(then[where]) > BLOWN_SINCE.value
    return _colours_lost(verdict) if lost or since else verdict


def unglared(verdict: Verdict, view: ZoneView, evidence: Evidence, piece_set: PieceSet) -> Verdict:
    """The verdict; undecided where the build is not the card's by colours that a lamp's mirror image washes out: about
    the build as it was understood, or in an empty field, light is added to the bare table. A card that is
    matched all the same is."""
    if verdict.ruling != "mismatch" or verdict.build is None:
        return verdict
    build, near = _about(verdict, view, piece_set)
    light = evidence.added(near & (cv2.dilate(build, np.ones((5, 5), np.uint8)) == 0))  # a rim's pixels are mixtures
    return _colours_lost(verdict) if _share(light > GLARE_LIGHT.value) > GLARE_SHARE.value else verdict


def _about(verdict: Verdict, view: ZoneView, piece_set: PieceSet) -> tuple[np.ndarray, np.ndarray]:
    """(h, w) uint8: where the build as it was understood is seen; and bool: there and about it, of no build the
    field."""
    pieces = verdict.build.pieces if verdict.build else ()
    build = (piece_tags(view, piece_set, pieces) >= 0).astype(np.uint8)
    side = 2 * round(GLARE_NEAR_MM.value * view.px_per_mm) + 1
    return build, cv2.dilate(build, np.ones((side, side), np.uint8)) > 0 if build.any() else view.regions[2]


def _colours_lost(verdict: Verdict) -> Verdict:
    sure, reasons = min(verdict.confidence, NOTHING_TOLD), (because("overexposed"),)
    return dataclasses.replace(verdict, ruling="undecided", confidence=sure, reasons=reasons, leaning=verdict.ruling)


def _share(where: np.ndarray) -> float:
    """Share of true ones, 0 of none."""
    return float(where.mean()) if where.size else 0.0


def size_fault(factor: float) -> str:
    """What is wrong with the piece file, in words."""
    return sentence("wrong_sizes", n=_percent(factor))


def _percent(factor: float) -> str:
    return f"{100 * (factor - 1):+.0f}"


def obstacles(view: ZoneView, evidence: Evidence, piece_set: PieceSet) -> tuple[Reason, ...]:
    """Everything that forbids a ruling in this view."""
    found = []
    if _field_seen(view) < FIELD_SEEN.value:
        found.append(because("out_of_view"))
    elif _cut_mm(view, evidence.labels >= 0) > BUILD_CUT_MM.value:
        found.append(because("build_cut"))
    if evidence.coloured < LEAST_COLOUR.value:
        found.append(because("no_colour"))
    found += [_unknown(p) for p in unknown_things(view, evidence, piece_set)[:1]]
    return tuple(found)


def unknown_things(view: ZoneView, evidence: Evidence, piece_set: PieceSet) -> tuple[Patch, ...]:
    """Unknown patches in the field that are large enough to hide a piece or to be taken for one, largest first."""
    seen = np.where(evidence.bare < 0, evidence.labels, -1)  # a wall behind, never seen bare, may have a piece's colour
    large = outsized(view, seen, evidence.names, piece_set) & view.regions[2]
    if not (evidence.unknown.any() or large.any()):
        return ()
    found = [p for p in patches(view, evidence.unknown & ~large, piece_set) if p.pieces >= UNKNOWN_PIECES.value]
    return tuple(sorted([*found, *patches(view, large, piece_set)], key=lambda p: -p.share))


def _unknown(patch: Patch) -> Reason:
    x, y, share = round(patch.x_mm), round(patch.y_mm), round(100 * patch.share)
    return because("unknown_object", n=share, x=x, y=y)


def _cut_mm(view: ZoneView, of_pieces: np.ndarray) -> float:
    """How many mm of the picture's edge run through piece-coloured things that reach from there into the field."""
    if view.valid.all():
        return 0.0
    edge = cv2.dilate((~view.valid).astype(np.uint8), NEAR_EDGE) > 0
    whole = cv2.morphologyEx((of_pieces & view.valid).astype(np.uint8), cv2.MORPH_CLOSE, NEAR_EDGE) > 0
    cut = around(view.regions[2], whole) & edge
    return max(int(cut.any(0).sum()), int(cut.any(1).sum())) / view.px_per_mm


def _field_seen(view: ZoneView) -> float:
    """Share of the view's field that the picture has."""
    field = view.regions[2]
    return float(view.valid[field].mean()) if field.any() else 0.0
