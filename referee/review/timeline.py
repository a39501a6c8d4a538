"""The time line of an attempt, kept beside it so that it is worked out once, and the pace of players."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from referee.devices.ports import Frame
from referee.recording import Attempt
from referee.recording.folder import sha256, write_json
from referee.review.film import observer_of, recorded_frames
from referee.review.placements import PlacedPiece, name_shapes, placed_pieces
from referee.review.stop_ruling import stop_findings
from referee.review.tracks import ZoneTrack, track_zones
from referee.vision.live.fouls import LOOK_S, DetectedFoul, FoulWatch
from referee.vision.live.gate import Gate

CACHE = ".timeline.json"
VERSION = 12
"""Raise when the reading changes, so that stored time lines are read anew."""


@dataclass(frozen=True, eq=False)
class Timeline:
    """Zone -> pieces placed until the Stop, and (in, out) seconds of hands; the fouls that are proposed."""

    placed: Mapping[str, list[PlacedPiece]]
    hands: Mapping[str, list[list[float]]]
    fouls: Sequence[DetectedFoul]
    go_s: float = 0.0

    def to_json(self) -> dict:
        """``{"zones": {zone: {"placed", "hands", "first_touch"}}, "fouls": [...]}``."""
        zones = {
            z: {
                "placed": [p.to_json() for p in rows],
                "hands": [[round(a, 3), round(b, 3)] for a, b in self.hands[z]],
                "first_touch": self._first_touch(z, rows),
            }
            for z, rows in sorted(self.placed.items())
        }
        return {"version": VERSION, "zones": zones, "fouls": [seen.to_json() for seen in self.fouls]}

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
    hands, fouls = _watched(attempt, tick)
    return Timeline(found, {z: hands.get(z, []) for z in strips}, fouls, go)


def _named(attempt: Attempt, zone: str, strip: ZoneTrack, found: list[PlacedPiece]) -> list[PlacedPiece]:
    known = (attempt.verdicts.get(zone) or {}).get("pieces")
    if not known and attempt.card and attempt.card.shown:
        known = attempt.card.to_json()["pieces"]
    return name_shapes(found, strip, attempt.piece_set, known or ())


def _watched(attempt: Attempt, tick: Callable[[], object]) -> tuple[dict[str, list[list[float]]], list[DetectedFoul]]:
    """Zone -> (in, out) seconds of hands over its field, and the proposed fouls in the order of time: what gate and
    watch say live. A single look that misses a hand between two that see it ends no visit: no hand goes and comes back
    between two looks, but tongs that open are missed."""
    gate, watch, fouls = Gate(observer_of(attempt)), FoulWatch(), list[DetectedFoul]()
    hands: dict[str, list[list[float]]] = {}
    looked_s, before = -math.inf, (set[str](), set[str]())
    for number, shown in enumerate(recorded_frames(attempt)):
        tick()
        if shown.seconds - looked_s < LOOK_S:
            continue
        looked_s = shown.seconds
        frame = Frame(shown.image, number, shown.seconds)
        look = gate.look(frame)
        here = {zone for zone, seen in look.zones.items() if seen.hand}
        for zone in here:
            spans = hands.setdefault(zone, [])
            if not any(zone in there for there in before):
                spans.append([shown.seconds] * 2)
            spans[-1][1] = shown.seconds
        before = before[1], here
        if shown.seconds >= (attempt.go_s or 0.0):
            fouls += watch.look(frame, gate.reduced_frame(), look, attempt.stop_s)
    return hands, sorted(fouls, key=lambda seen: seen.from_s)


def stored_timeline(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> dict:
    """The time line as JSON, worked out at the first call and kept beside the attempt where possible."""
    kept = _stored(attempt)
    if kept is not None:
        return kept
    found = read_timeline(attempt, tick).to_json() | {"findings": stop_findings(attempt, tick), "key": _key(attempt)}
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
