"""The time line of an attempt, kept beside it so that it is worked out once, and the pace of players."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import skimage as ski

from referee.recording import Attempt
from referee.recording.folder import sha256, write_json
from referee.review.patches import TOGETHER_S
from referee.review.placements import PlacedPiece, name_shapes, placed_pieces
from referee.review.seen_fouls import seen_fouls
from referee.review.stop_ruling import stop_findings
from referee.review.tracks import SCALE, ZoneTrack, track_zones

CACHE = ".timeline.json"
VERSION = 10
"""Raise when the reading changes, so that stored time lines are read anew."""

HAND_MM2, HAND_LONG_MM = 200.0, 100.0
"""A hand or tongs over the field show this much there, and reach further than any piece is long: the table
that a loose piece leaves behind when it is taken does not."""

HAND_HEIGHT_MM = 80.0
"""How high above the field a hand counts as over it."""

HAND_GAP_S = 0.25
"""Shorter gaps in a hand's presence are its tongs opening."""


@dataclass(frozen=True, eq=False)
class Timeline:
    """Zone -> pieces placed until the Stop, and (in, out) seconds of hands."""

    placed: Mapping[str, list[PlacedPiece]]
    hands: Mapping[str, list[tuple[float, float]]]
    go_s: float = 0.0

    def to_json(self) -> dict:
        """``{"zones": {zone: {"placed", "hands", "first_touch"}}}``."""
        zones = {
            z: {
                "placed": [p.to_json() for p in rows],
                "hands": [[round(a, 3), round(b, 3)] for a, b in self.hands[z]],
                "first_touch": self._first_touch(z, rows),
            }
            for z, rows in sorted(self.placed.items())
        }
        return {"version": VERSION, "zones": zones}

    def _first_touch(self, zone: str, rows: Sequence[PlacedPiece]) -> float | None:
        """When the first hand came over the field after the go: that which carries the first piece."""
        came = [a for a, _ in self.hands[zone] if a > self.go_s]
        first = min([*came, *(p.seconds for p in rows)], default=None)
        return first and round(first, 3)


def read_timeline(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> Timeline:
    """Read the video; ``tick`` is called per frame. Raises BadAttempt for one without frames or mats."""
    strips = track_zones(attempt, tick)
    go, stop = attempt.go_s or 0.0, math.inf if attempt.stop_s is None else attempt.stop_s
    found = {z: _named(attempt, z, s, placed_pieces(s, attempt.piece_set, go, stop)) for z, s in strips.items()}
    return Timeline(found, {z: hand_intervals(s, found[z]) for z, s in strips.items()}, go)


def _named(attempt: Attempt, zone: str, strip: ZoneTrack, found: list[PlacedPiece]) -> list[PlacedPiece]:
    known = (attempt.verdicts.get(zone) or {}).get("pieces")
    if not known and attempt.card and attempt.card.shown:
        known = attempt.card.to_json()["pieces"]
    return name_shapes(found, strip, attempt.piece_set, known or ())


def hand_intervals(strip: ZoneTrack, found: Sequence[PlacedPiece] = ()) -> list[tuple[float, float]]:
    """(in, out) seconds of hands and tongs over the field, with what they carry."""
    spans: list[list[float]] = []
    for seconds, there in zip(strip.seconds, _hand_there(strip, found), strict=True):
        if there and spans and seconds - spans[-1][1] <= HAND_GAP_S + 1 / strip.rate_hz:
            spans[-1][1] = float(seconds)
        elif there:
            spans.append([float(seconds), float(seconds)])
    return [(a, b) for a, b in spans]


def _hand_there(strip: ZoneTrack, found: Sequence[PlacedPiece]) -> Iterable[bool]:
    """Per frame whether something large that is new and no standing piece is over the field."""
    px_per_mm = strip.view.px_per_mm * SCALE
    tall, small = round(HAND_HEIGHT_MM * px_per_mm), np.ones((3, 3), np.uint8)
    over = cv2.dilate(strip.field.astype(np.uint8), np.ones((2 * tall + 1, 1), np.uint8)) > 0
    for seconds, same in zip(strip.seconds, strip.same, strict=True):
        strange = (~same).astype(np.uint8)
        for piece in found:
            if piece.seconds <= seconds + TOGETHER_S:
                strange &= 1 - cv2.dilate(piece.mask.astype(np.uint8), small, iterations=3)
        strange = cv2.morphologyEx(strange, cv2.MORPH_OPEN, small)
        yield any(
            max(part.image.shape) >= HAND_LONG_MM * px_per_mm and part.image_intensity.sum() * strip.mm2 >= HAND_MM2
            for part in ski.measure.regionprops(ski.measure.label(strange), over)
        )


def stored_timeline(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> dict:
    """The time line as JSON, worked out at the first call and kept beside the attempt where possible."""
    kept = _stored(attempt)
    if kept is not None:
        return kept
    fouls = [seen.to_json() for seen in seen_fouls(attempt, tick)]
    story = read_timeline(attempt, tick).to_json()
    found = story | {"fouls": fouls, "findings": stop_findings(attempt, tick), "key": _key(attempt)}
    with suppress(OSError):
        write_json(attempt.folder / CACHE, found)
    return found


def is_stored(attempt: Attempt) -> bool:
    """Whether ``stored_timeline`` answers at once."""
    return _stored(attempt) is not None


def _stored(attempt: Attempt) -> dict | None:
    """The kept time line, unless the record or the way of reading has changed since."""
    with suppress(OSError, ValueError):
        kept = json.loads((attempt.folder / CACHE).read_text(encoding="utf-8"))
        return kept if kept.get("key") == _key(attempt) else None
    return None


def _key(attempt: Attempt) -> str:
    return f"{VERSION}-{sha256(Path(attempt.folder) / 'attempt.json')}"


def pace(told: Iterable[tuple[Mapping[str, str], float | None, float | None, Mapping]]) -> list[dict]:
    """Per player over a match: duels, pieces, seconds per piece, idle seconds, first touch and first piece
    after the go.

    ``told``: per attempt players (zone -> name), go and stop in seconds, and the time line's JSON. Idle is
    the time from go to stop in which no hand is over the player's field.
    """
    sums: dict[str, dict] = {}
    for players, go, stop, story in told:
        if go is None or stop is None or go < 0:  # recorded on after the go: nobody saw what came before
            continue
        for zone, rows in story["zones"].items():
            if zone in players:
                new = {"duels": 0, "pieces": 0, "busy": 0.0, "idle": 0.0, "first": [], "touch": []}
                row = sums.setdefault(players[zone], new)
                _add(row, rows, go, stop)
    return [_pace(player, row) for player, row in sorted(sums.items())]


def _add(row: dict, rows: Mapping, go: float, stop: float) -> None:
    at_work = sum(max(0.0, min(b, stop) - max(a, go)) for a, b in rows["hands"])
    touches = [p["seconds"] - go for p in rows["placed"]]
    row["duels"] += 1
    row["pieces"] += len(rows["placed"])
    row["busy"] += max(touches, default=0.0)
    row["idle"] += max(0.0, stop - go - at_work)
    row["first"] += touches[:1]
    row["touch"] += [] if rows.get("first_touch") is None else [rows["first_touch"] - go]


def _pace(player: str, row: Mapping) -> dict:
    per_piece = row["busy"] / row["pieces"] if row["pieces"] else None
    return {
        "player": player,
        "duels": row["duels"],
        "pieces": row["pieces"],
        "seconds_per_piece": per_piece and round(per_piece, 2),
        "idle_s": round(row["idle"], 2),
        "first_touch_s": _mean(row["touch"]),
        "first_placed_s": _mean(row["first"]),
    }


def _mean(seconds: Sequence[float]) -> float | None:
    return round(float(np.mean(seconds)), 2) if seconds else None
