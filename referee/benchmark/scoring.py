"""What was seen held against the truth of a rendered session, step by step.

One ``ZoneScore`` per zone and frame; everything a table needs is a number in it. Pieces are
matched by place, so that a wrong colour shows as a confusion and not as one missing and one extra.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from cards.build import Piece
from cards.card import Card
from cards.pieces import PieceSet
from referee.vision.image.view import ZoneView
from referee.vision.observer import Judgement, ZoneSight
from referee.vision.render.solids import piece_tags

PLACE_MM = 6.0
"""Issue: a piece is right when its centre is within this in x and z, shape, colour and pose too."""

SAME_PIECE_MM = 30.0
"""Further apart than this a piece seen is another one than the piece that is there."""

NO_PIECE_LABEL = "(nothing)"

BY_FEATURES = frozenset({"two_readings", "unexplained", "unproven"})
"""Reasons of an undecided verdict that more confidence would take away; for any other it stays undecided whatever its
features say."""


@dataclass(frozen=True)
class ZoneScore:
    """One zone of one frame against its truth.

    ``ruling`` is None when the mat was not located. ``confusions`` are (true piece, seen piece) by
    name; ``label_pixels`` counts the build's pixels in the view, ``labels_right`` those understood as a piece of the
    right colour (``understood_labels``), ``colors_right`` those whose own colour alone says it; ``pose_px`` is the RMS
    of the mat's marker corners; ``features`` by name are what the confidence rests on, ``margin`` (nats) and
    ``explained`` (0..1) among them; when ``by_margin`` it is they that decided. ``doubts``: by name, those that apply.
    """

    image: str
    zone: str
    card: str
    kind: str
    expected: str
    why: str
    ruling: str | None
    confidence: float
    leaning: str | None
    reasons: tuple[str, ...]
    count: int
    pieces_right: int
    confusions: tuple[tuple[str, str], ...]
    contacts_right: bool
    labels_right: int
    label_pixels: int
    pose_px: float
    seconds: float
    mats_seconds: float
    margin: float = 0.0
    explained: float = 1.0
    by_margin: bool = False
    features: tuple[tuple[str, float], ...] = ()
    colors_right: int = 0
    doubts: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """``right``, ``false accept``, ``false reject`` or ``undecided`` (also for a mat not seen)."""
        if self.ruling not in ("match", "mismatch"):
            return "undecided"
        if self.ruling == self.expected:
            return "right"
        return "false accept" if self.ruling == "match" else "false reject"


def true_pieces(row: dict, part: str) -> tuple[Piece, ...]:
    """Pieces of a zone of ``truth.json`` that are ``part`` of: build or loose."""
    return tuple(Piece.from_json(p | {"yaw": p["yaw_deg"]}) for p in row["pieces"] if p["part_of"] == part)


def score_frame(judgement: Judgement, image: str, card: Card, truth: dict, piece_set: PieceSet) -> list[ZoneScore]:
    """A score for each zone of the frame's truth, seen or not."""
    return [_score(judgement, image, zone, card, row, piece_set) for zone, row in sorted(truth.items())]


def _score(judgement: Judgement, image: str, zone: str, card: Card, row: dict, piece_set: PieceSet) -> ZoneScore:
    verdict, sight = judgement.zones.get(zone), judgement.views.get(zone)
    there = true_pieces(row, "build")
    seen = sight.build.pieces if sight else ()
    pairs = matched_pieces(there, seen) if there or not row["count"] else []  # else nobody measured where they stand
    right, by_color, pixels = labels_right(sight, piece_set, row) if sight else (0, 0, 0)
    return ZoneScore(
        image,
        zone,
        card.id,
        card.kind,
        row["expected"],
        row.get("why", ""),
        verdict.ruling if verdict else None,
        verdict.confidence if verdict else 0.5,
        verdict.leaning if verdict else None,
        tuple(r.text for r in verdict.reasons) if verdict else ("the mat was not located",),
        len(there),
        sum(piece_right(piece_set, a, b) for a, b in pairs),
        tuple((_name(a), _name(b)) for a, b in pairs),
        sight is not None and sight.build.ground_contacts == row["ground_contacts"],
        right,
        pixels,
        judgement.mats.poses[zone].error_px if sight else math.nan,
        judgement.seconds,
        judgement.timings.get("mats", 0.0),
        sight.margin if sight else 0.0,
        sight.explained if sight else 0.0,
        verdict is not None and (verdict.ruling != "undecided" or {r.code for r in verdict.reasons} <= BY_FEATURES),
        tuple((name, round(value, 4)) for name, value in sorted((sight.features if sight else {}).items())),
        by_color,
        sight.doubts if sight else (),
    )


def unjudged_score(image: str, zone: str, card: Card, row: dict, why: str) -> ZoneScore:
    """The score of a zone about which nothing was said, and why."""
    count, nan = row["count"], math.nan
    expected, reason = row["expected"], row.get("why", "")
    seen = (None, 0.5, None, (why,), count, 0, (), False, 0, 0, nan, nan, nan)
    return ZoneScore(image, zone, card.id, card.kind, expected, reason, *seen)


def _name(piece: Piece | None) -> str:
    return f"{piece.color} {piece.shape}" if piece else NO_PIECE_LABEL


def matched_pieces(actual: Sequence[Piece], detected: Sequence[Piece]) -> list[tuple[Piece | None, Piece | None]]:
    """Pairs (true, detected) nearest to one another; None for a piece missed or made up."""
    if not actual or not detected:
        return [(p, None) for p in actual] + [(None, p) for p in detected]
    away = np.array(
        [
            [
                math.hypot(a.x - b.x, a.z - b.z)
                + 0.3 * abs(a.y - b.y)
                + 4.0 * ((a.shape, a.color) != (b.shape, b.color))
                for b in detected
            ]
            for a in actual
        ]
    )
    rows, columns = scipy.optimize.linear_sum_assignment(away)
    close = {int(i): int(j) for i, j in zip(rows, columns, strict=True) if away[i, j] < SAME_PIECE_MM}
    pairs = [(a, detected[close[i]] if i in close else None) for i, a in enumerate(actual)]
    return pairs + [(None, b) for j, b in enumerate(detected) if j not in close.values()]


def piece_right(piece_set: PieceSet, actual: Piece | None, detected: Piece | None) -> bool:
    """Shape, colour and pose right, centre within ``PLACE_MM`` in x and in z."""
    if actual is None or detected is None or (actual.shape, actual.color) != (detected.shape, detected.color):
        return False
    near = abs(actual.x - detected.x) <= PLACE_MM and abs(actual.z - detected.z) <= PLACE_MM
    return near and piece_set.shapes[actual.shape].same_pose(actual.pose, detected.pose)


def true_labels(view: ZoneView, piece_set: PieceSet, names: Sequence[str], row: dict) -> np.ndarray:
    """(h, w) int8: the colour (index in ``names``) that each pixel of the view truly shows, -1 for none."""
    pieces = [p for part in ("build", "loose") for p in true_pieces(row, part)]
    colors = np.array([*(names.index(p.color) for p in pieces), -1], np.int8)
    return colors[piece_tags(view, piece_set, pieces)]


def understood_labels(sight: ZoneSight, piece_set: PieceSet) -> np.ndarray:
    """(h, w) int8: the colour that each pixel is understood to show: that of the piece which the verdict's reading has
    there, elsewhere the one its own colour says; -1 for none."""
    names, pieces = sight.evidence.names, (*sight.build.pieces, *sight.build.loose)
    colors = np.array([*(names.index(p.color) for p in pieces), -1], np.int8)
    said = colors[piece_tags(sight.view, piece_set, pieces)]
    return np.where(said >= 0, said, sight.evidence.labels)


def labels_right(sight: ZoneSight, piece_set: PieceSet, row: dict) -> tuple[int, int, int]:
    """Of the pixels that truly show the build: how many are understood as of its colour, how many are so by their own
    colour alone, and how many they are."""
    names = sight.evidence.names
    truth = true_labels(sight.view, piece_set, names, row)
    of_build = piece_tags(sight.view, piece_set, true_pieces(row, "build") + true_pieces(row, "loose"))
    mask = (of_build >= 0) & (of_build < len(true_pieces(row, "build"))) & sight.view.valid
    right, by_color = (
        int((of == truth)[mask].sum()) for of in (understood_labels(sight, piece_set), sight.evidence.labels)
    )
    return right, by_color, int(mask.sum())


def count_outcomes(scores: Sequence[ZoneScore]) -> Counter[str]:
    """How many of each outcome."""
    return Counter(score.outcome for score in scores)
