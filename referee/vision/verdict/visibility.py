"""What forbids a ruling whatever the readings say: a field out of the picture, something unknown in it, no colour."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np

from cards.pieces import PieceSet
from referee.match.verdict import Reason, Verdict
from referee.vision.image.evidence import Evidence
from referee.vision.image.unknown import Patch, patches
from referee.vision.image.view import ZoneView
from referee.vision.parameters import BUILD_CUT_MM, FIELD_SEEN, LEAST_COLOUR, SIZES_DOUBTED, UNKNOWN_PIECES


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


def sized(verdict: Verdict, factor: float) -> Verdict:
    """The verdict; undecided where the build is not the card's by a piece file whose lengths are far off: pieces that
    are larger or smaller than their solids look like others, or like none. ``factor``: the pieces' lengths, of it."""
    if verdict.ruling != "mismatch" or abs(factor - 1) <= SIZES_DOUBTED.value:
        return verdict
    n = round(100 * (factor - 1))
    reason = Reason("wrong_sizes", size_fault(factor), values={"n": f"{n:+d}"})
    return dataclasses.replace(verdict, ruling="undecided", reasons=(reason,), leaning="mismatch")


def size_fault(factor: float) -> str:
    """What is wrong with the piece file, in words."""
    word = "larger" if factor > 1 else "smaller"
    return f"the pieces look {100 * abs(factor - 1):.0f} % {word} than the piece file says: measure them"


def obstacles(view: ZoneView, evidence: Evidence, piece_set: PieceSet) -> tuple[Reason, ...]:
    """Everything that forbids a ruling in this view."""
    found = []
    if _field_seen(view) < FIELD_SEEN.value:
        found.append(Reason("out_of_view", "a large part of this field is outside the picture"))
    elif _cut_mm(view, evidence.labels >= 0) > BUILD_CUT_MM.value:
        found.append(Reason("build_cut", "the build goes beyond the picture's edge"))
    if evidence.coloured < LEAST_COLOUR.value:
        found.append(Reason("no_colour", "the picture has no colour: pieces cannot be told apart"))
    found += [_unknown(p) for p in unknown_things(view, evidence, piece_set)[:1]]
    return tuple(found)


def unknown_things(view: ZoneView, evidence: Evidence, piece_set: PieceSet) -> tuple[Patch, ...]:
    """Unknown patches in the field that are large enough to hide a piece or to be taken for one, largest first."""
    if not evidence.unknown.any():
        return ()
    return tuple(p for p in patches(view, evidence.unknown, piece_set) if p.pieces >= UNKNOWN_PIECES.value)


def _unknown(patch: Patch) -> Reason:
    x, y, share = round(patch.x_mm), round(patch.y_mm), round(100 * patch.share)
    return Reason(
        "unknown_object",
        f"something in the field is neither piece nor table: {share} % of it, at x {x} mm, y {y} mm",
        values={"n": share, "x": x, "y": y},
    )


def _cut_mm(view: ZoneView, of_pieces: np.ndarray) -> float:
    """How many mm of the picture's edge run through piece-coloured things that reach from there into the field."""
    if view.valid.all():
        return 0.0
    edge = cv2.dilate((~view.valid).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    whole = cv2.morphologyEx((of_pieces & view.valid).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    _, things = cv2.connectedComponents(whole)
    in_field = np.unique(things[view.regions[2]])
    cut = np.isin(things, in_field[in_field > 0]) & edge
    return max(int(cut.any(0).sum()), int(cut.any(1).sum())) / view.px_per_mm


def _field_seen(view: ZoneView) -> float:
    """Share of the view's field that the picture has."""
    field = view.regions[2]
    return float(view.valid[field].mean()) if field.any() else 0.0
