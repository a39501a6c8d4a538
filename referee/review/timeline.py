"""The time line of an attempt, kept beside it so that it is worked out once, and the pace of players."""

import copy
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from referee.devices.ports import Frame
from referee.errors import BadAttempt
from referee.match.foul import FoulProposal
from referee.recording import Attempt
from referee.recording.folder import sha256, write_json
from referee.review.film import observer_of, recorded_frames
from referee.review.placements import PlacedPiece, RestingBuild, placed_pieces, read_resting
from referee.review.stop_ruling import stop_findings
from referee.vision.live.build_stages import BuildStages, Stage
from referee.vision.live.fouls import LOOK_S, FoulWatch
from referee.vision.live.gate import Gate, GateState

CACHE = ".timeline.json"
VERSION = 14
"""Raise when the reading changes, so that stored time lines are read anew."""

LATER_S = 0.7
"""So long after the Stop what had been brought before is at rest, and its hand gone."""


@dataclass(frozen=True, eq=False)
class Timeline:
    """Zone -> pieces placed until the Stop, and (in, out) seconds of hands; the fouls that are proposed."""

    placed: Mapping[str, list[PlacedPiece]]
    hands: Mapping[str, list[list[float]]]
    fouls: Sequence[FoulProposal]
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
        fouls = [{key: what for key, what in asdict(seen).items() if key != "after_go_s"} for seen in self.fouls]
        return {"version": VERSION, "zones": zones, "fouls": fouls}

    def _first_touch(self, zone: str, rows: Sequence[PlacedPiece]) -> float | None:
        """When the first hand came over the field after the go: that which carries the first piece."""
        came = [a for a, _ in self.hands[zone] if a > self.go_s]
        first = min([*came, *(p.seconds for p in rows)], default=None)
        return first and round(first, 3)


def read_timeline(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> Timeline:
    """Read the video; ``tick`` is called per frame. Raises BadAttempt for one without frames or mats."""
    film = WatchedFilm(attempt)
    for number, shown in enumerate(recorded_frames(attempt)):
        tick()
        film.look(Frame(shown.image, number, shown.seconds))
    if not film.stages:
        raise BadAttempt(f"{attempt.film}: {'shows no mat' if film.looked_s >= 0 else 'has no frames'}")
    return film.timeline()


class WatchedFilm:
    """What gate and foul watch say of a film's frames in order, as live, and what stands in its fields."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt, self._observer, self.looked_s = attempt, observer_of(attempt), -math.inf
        self._gate, self._watch = Gate(self._observer), FoulWatch()
        self._go_s = attempt.go_s or 0.0
        self._stop_s = math.inf if attempt.stop_s is None else attempt.stop_s
        self.stages: defaultdict[str, BuildStages] = defaultdict(BuildStages)
        self._at_stop: dict[str, Stage] | None = None
        self._frame = np.zeros((0, 0, 3), np.uint8)
        self.hands: dict[str, list[list[float]]] = {}
        self._here: tuple[set[str], set[str]] = set(), set()
        self._fouls: list[FoulProposal] = []

    def look(self, frame: Frame) -> None:
        """One more frame."""
        if frame.at_s - self.looked_s < LOOK_S:
            return
        self.looked_s = frame.at_s
        look = self._gate.look(frame)
        self.note_hands(look, frame.at_s)
        if frame.at_s > self._stop_s:
            self._at_stop = self._at_stop or self._resting()
        if frame.at_s <= self._stop_s + LATER_S:
            self._frame = frame.image
            for zone, snapshot in look.snapshots.items():
                self.stages[zone].add(frame, snapshot)
        if frame.at_s >= self._go_s:
            self._fouls += self._watch.look(frame, self._gate.reduced_frame(), look, self._attempt.stop_s)

    def note_hands(self, look: GateState, at_s: float) -> None:
        """A single look that misses a hand between two that see it ends no visit: no hand goes and comes back between
        two looks, but tongs that open are missed."""
        here = {zone for zone, seen in look.zones.items() if seen.hand}
        for zone in here:
            spans = self.hands.setdefault(zone, [])
            if not any(zone in there for there in self._here):
                spans.append([at_s] * 2)
            spans[-1][1] = at_s
        self._here = self._here[1], here

    def _resting(self) -> dict[str, Stage]:
        return {zone: copy.deepcopy(stages.now) for zone, stages in self.stages.items() if stages.now}

    def timeline(self) -> Timeline:
        """All of it."""
        later = self._resting()
        placed = {zone: self._placed(zone, (self._at_stop or {}).get(zone), stage) for zone, stage in later.items()}
        hands = {zone: self.hands.get(zone, []) for zone in later}
        return Timeline(placed, hands, sorted(self._fouls, key=lambda seen: seen.seconds), self._go_s)

    def _placed(self, zone: str, at_stop: Stage | None, later: Stage) -> list[PlacedPiece]:
        names, _ = self._gate.colours or ((), None)

        def read(stage: Stage | None) -> RestingBuild:
            some = self._observer, self._attempt.card, zone, names
            return read_resting(*some, stage, self._frame) if stage else RestingBuild()

        return placed_pieces(read(at_stop), read(later), self._go_s, self._stop_s)


def stored_timeline(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> dict:
    """The time line as JSON, worked out at the first call and kept beside the attempt where possible."""
    if (kept := kept_timeline(attempt)) is not None:
        return kept
    found = read_timeline(attempt, tick).to_json() | {"findings": stop_findings(attempt, tick), "key": _key(attempt)}
    with suppress(OSError):
        write_json(attempt.folder / CACHE, found)
    return found


def kept_timeline(attempt: Attempt) -> dict | None:
    """What ``stored_timeline`` answers at once; None where it is to be worked out: never yet, or by another version."""
    with suppress(OSError, ValueError):
        kept = json.loads((attempt.folder / CACHE).read_text(encoding="utf-8"))
        return kept if isinstance(kept, dict) and kept.get("key") == _key(attempt) else None
    return None


def _key(attempt: Attempt) -> str:
    return f"{VERSION}-{sha256(Path(attempt.folder) / 'attempt.json')}"


def pace(told: Iterable[tuple[Mapping[str, str], float | None, float | None, Mapping]]) -> list[dict]:
    """Per player over a match: duels, pieces, seconds per piece, idle seconds, first touch and first piece
    after the go.

    ``told``: per attempt players (zone -> name), go and stop in seconds, and the time line's JSON. Idle is
    the time from go to stop in which no hand is over the player's field.
    """
    duels: defaultdict[str, list[tuple[float, float, Mapping]]] = defaultdict(list)
    for players, go, stop, story in told:
        if go is None or stop is None or go < 0:  # recorded on after the go: nobody saw what came before
            continue
        for zone, row in story["zones"].items():
            if zone in players:
                duels[players[zone]].append((go, stop, row))
    return [_pace(player, rows) for player, rows in sorted(duels.items())]


def _pace(player: str, duels: Sequence[tuple[float, float, Mapping]]) -> dict:
    """``duels``: go, stop and what the time line tells of the player's field."""
    placed = [[p["seconds"] - go for p in row["placed"]] for go, _, row in duels]
    touched = [row["first_touch"] - go for go, _, row in duels if row.get("first_touch") is not None]
    at_work = [sum(max(0.0, min(b, stop) - max(a, go)) for a, b in row["hands"]) for go, stop, row in duels]
    idle = [max(0.0, stop - go - work_s) for (go, stop, _), work_s in zip(duels, at_work, strict=True)]
    pieces = sum(map(len, placed))
    per_piece = sum(max(seconds, default=0.0) for seconds in placed) / pieces if pieces else None
    return {
        "player": player,
        "duels": len(duels),
        "pieces": pieces,
        "seconds_per_piece": per_piece and round(per_piece, 2),
        "idle_s": round(sum(idle), 2),
        "first_touch_s": _mean(touched),
        "first_placed_s": _mean([seconds[0] for seconds in placed if seconds]),
    }


def _mean(seconds: Sequence[float]) -> float | None:
    return round(float(np.mean(seconds)), 2) if seconds else None
