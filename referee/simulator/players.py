"""Simulated players: they see a card at the go, build it piece by piece, err now and then, and press Stop."""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cards.build import Piece, shape_of
from cards.card import Card
from cards.pieces import Facing, Kind, PieceSet, Pose
from referee.simulator.build_plans import is_right, plan_build, with_mistake
from referee.simulator.hand_motion import FALL_S, Move, Script, clear_fields
from referee.simulator.meshes import PosedPiece, place_piece, turn_about_z, turn_of
from referee.simulator.table import World

BAND_X_MM, BAND_Y_MM = 160.0, 80.0
"""Where a loose piece might reach into the field of organ pipes."""

BEFORE_X_MM, SHEET_END_MM, DEEP_MM = 140.0, 112.0, 400.0
"""Half the width of the place before the sheet, where it begins, and more depth than ten pieces can fill."""
SPOT_MM = 10.0
RADIUS_GAP_MM = 6.0
"""Air between two loose pieces' circles."""


def loose_places(pieces: PieceSet, seed: int) -> list[PosedPiece]:
    """The whole inventory spread around the mat, in the set's order."""
    rng = np.random.default_rng(seed)
    taken: list[tuple[float, float, float]] = []
    placed = []
    for shape, color, count in pieces.pieces:
        for _ in range(count):
            pose = _pose(pieces, shape, rng)
            sx, sy, sz = pieces.shapes[shape].size(pose)
            reach = math.hypot(sx, sy) / 2
            x, y = _spot(rng, reach, taken)
            taken.append((x, y, reach))
            turn = turn_about_z(rng.uniform(0, 360)) @ turn_of(pose)
            placed.append(PosedPiece(shape, color, turn, np.array([x, y, sz / 2])))
    return placed


def without_band(pieces: PieceSet, places: Sequence[PosedPiece]) -> list[PosedPiece]:
    """The same with nothing beside the field, where organ pipes stand: what lay there lies before the sheet, at the
    nearest free spot. Farther out beside it the neighbour's sheet begins, and his organ pipes."""
    beside = [abs(p.centre[1]) < BAND_Y_MM and abs(p.centre[0]) < BAND_X_MM for p in places]
    reach = [math.hypot(*sorted(pieces.shapes[p.shape].size(Pose()))[1:]) / 2 for p in places]
    taken = [(p.centre[:2], r) for p, r, aside in zip(places, reach, beside, strict=True) if not aside]
    freed = []
    for placed, r, aside in zip(places, reach, beside, strict=True):
        if aside:
            spot = min(_free_before(r, taken), key=lambda xy: math.dist(xy, placed.centre[:2]))
            taken.append((np.array(spot), r))
            placed = replace(placed, centre=np.array([*spot, placed.centre[2]]))
        freed.append(placed)
    return freed


def _free_before(reach: float, taken: Sequence[tuple[np.ndarray, float]]) -> list[tuple[float, float]]:
    """Spots before the sheet, on the player's side, where nothing is within a piece's ``reach``."""
    xs, depths = np.arange(-BEFORE_X_MM, BEFORE_X_MM + 1, SPOT_MM), np.arange(0.0, DEEP_MM, SPOT_MM)
    spots = [(float(x), float(-SHEET_END_MM - reach - deep)) for deep in depths for x in xs]
    return [s for s in spots if all(math.dist(s, at) > reach + r + RADIUS_GAP_MM for at, r in taken)]


def _pose(pieces: PieceSet, shape: str, rng: np.random.Generator) -> Pose:
    """A pose in which the shape lies safely by itself."""
    kind = pieces.shapes[shape].kind
    poses: dict[Kind, tuple[tuple[int, Facing], ...]] = {
        "box": ((0, "front"), (0, "front"), (90, "front")),
        "cylinder": ((0, "front"), (90, "front")),
        "triangle": ((0, "front"),),
        "bridge": ((0, "front"), (0, "top"), (180, "front")),
        "crescent": ((0, "front"), (0, "top")),
        "half_disc": ((0, "front"), (0, "top")),
    }
    rotation, facing = poses[kind][rng.integers(len(poses[kind]))]
    return Pose(rotation, facing)


def _spot(rng: np.random.Generator, reach: float, taken: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """A free place: before the sheet on the player's side, seldom beside the field."""
    for relax in range(400):
        if rng.random() < 0.75:
            x, y = rng.uniform(-BEFORE_X_MM, BEFORE_X_MM), rng.uniform(-225, -SHEET_END_MM - reach)
        else:
            x, y = rng.choice([-1, 1]) * (97 + reach + rng.uniform(0, 12)), rng.uniform(-60, 40)
        air = RADIUS_GAP_MM - relax * 0.05
        if all(math.hypot(x - a, y - b) > reach + r + air for a, b, r in taken):
            break
    return float(x), float(y)


EARLIEST_PRESS_S = 1.15
"""Not even the fastest presses sooner after the go: under a second a Stop is void."""


@dataclass(frozen=True)
class PlayerProfile:
    """How a player plays. Times in seconds at pace 1; ``errs`` and ``falls`` are probabilities per duel."""

    pace: float = 1.0
    reaction_s: float = 0.6
    per_piece_s: float = 1.9
    spread: float = 0.18
    before_press_s: float = 0.8
    errs: float = 0.18
    falls: float = 0.04


FAST_PLAYER = PlayerProfile(pace=12.0, reaction_s=0.15, before_press_s=0.2)
"""For tests: hands faster than any human's, but never before the earliest Stop that counts."""


class Players:
    """The simulated players at one table: a world that changes with time. Safe in several threads."""

    def __init__(self, piece_set: PieceSet, zones: Sequence[str], seed: int, profile: PlayerProfile = PlayerProfile()):
        self.piece_set, self.zones, self.profile = piece_set, tuple(zones), profile
        self._rng = np.random.default_rng(seed)
        self._lock = threading.Lock()
        lying = {z: without_band(piece_set, loose_places(piece_set, seed * 31 + ord(z))) for z in self.zones}
        self._places = {z: tuple(pieces) for z, pieces in lying.items()}
        self._scripts = {z: Script(self._places[z], pace=profile.pace) for z in self.zones}
        self._targets: dict[str, tuple[Piece, ...]] = {}
        self._card_face: np.ndarray | None = None
        self._touches = 0
        self._staged: World | None = None
        self._fallen: set[str] = set()

    def world(self, t_s: float) -> World:
        """Everything on the table at that time."""
        with self._lock:
            scripts, face = dict(self._scripts), self._card_face
        states = {zone: script.at(t_s) for zone, script in scripts.items()}
        if self._staged is not None:
            return self._staged
        return World({z: s[0] for z, s in states.items()}, {z: s[1] for z, s in states.items()}, face)

    def look(self, t_s: float, last: tuple[int, float]) -> tuple[World, tuple[int, float], bool]:
        """The world, what to give as ``last`` the next time, and whether the world may differ from the last look's."""
        with self._lock:
            until = max(script.still_s for script in self._scripts.values())
            now, changed = (self._touches, t_s), last[0] != self._touches or last[1] <= until + 0.1
        return self.world(t_s), now, changed

    def stage(self, world: World | None) -> None:
        """Show this world instead (the empty rig, the colour frame); None goes back to the players' own."""
        with self._lock:
            self._staged = world
            self._touches += 1

    def show(self, face: np.ndarray | None) -> None:
        """Put a card (its face, BGR) into the holder, or take it out."""
        with self._lock:
            self._card_face = face
            self._touches += 1

    def begin(self, card: Card, go_s: float, zones: Sequence[str] | None = None) -> None:
        """The go: everyone (or who sits at these zones) builds the card in a way and at a speed of their own."""
        with self._lock:
            for zone in self.zones if zones is None else zones:
                self._scripts[zone] = self._script(card, zone, go_s)
            self._touches += 1

    def build(self, zone: str, built: tuple[Piece, ...], t_s: float) -> None:
        """Exactly that is built at the zone from then on, out of the pieces in their places."""
        with self._lock:
            self._targets[zone] = built
            self._touches += 1
            self._scripts[zone] = build_script(self._places[zone], built, t_s, self.profile, self._rng)

    def stop(self, t_s: float) -> None:
        """Stop has sounded: nobody acts any more."""
        with self._lock:
            self._scripts = {z: s.stopped(t_s) for z, s in self._scripts.items()}
            self._touches += 1

    def clear(self, t_s: float) -> None:
        """Both builds are broken and the pieces put back."""
        with self._lock:
            for zone in self.zones:
                now, _ = self._scripts[zone].at(t_s)
                self._scripts[zone] = clear_fields(now, self._places[zone], t_s, self.profile.pace)
            self._touches += 1

    def still_s(self, zone: str) -> float:
        """The time from which nothing moves at that zone any more."""
        with self._lock:
            return self._scripts[zone].still_s

    def presses(self) -> Mapping[str, float]:
        """When each player will press Stop, by zone; those who will not are left out."""
        with self._lock:
            return {z: s.press_s for z, s in self._scripts.items() if s.press_s is not None}

    def right(self, zone: str, card: Card) -> bool:
        """Whether what that player has built is right: the truth, for tests and the simulated referee."""
        with self._lock:
            target = self._targets.get(zone, ())
            return bool(target) and zone not in self._fallen and is_right(target, card, self.piece_set)

    def _script(self, card: Card, zone: str, go_s: float) -> Script:
        rng, profile = self._rng, self.profile
        built = plan_build(card, self.piece_set, rng)
        if rng.random() < profile.errs:
            built = with_mistake(built, card, self.piece_set, rng)
        self._targets[zone] = built
        self._fallen.discard(zone)
        script = build_script(self._places[zone], built, go_s, profile, rng)
        if rng.random() < profile.falls and script.press_s is not None and len(built) > 1:
            script = _with_fall(script, script.press_s, self.piece_set, rng)
            self._fallen.add(zone)
        return script


def build_script(
    places: Sequence[PosedPiece], built: Sequence[Piece], go_s: float, profile: PlayerProfile, rng: np.random.Generator
) -> Script:
    """Carry the pieces of ``built`` one after the other from ``places``, then press."""
    free, moves, t = list(range(len(places))), [], go_s + profile.reaction_s * rng.uniform(0.8, 1.4)
    speed = rng.normal(1.0, 0.12)
    for piece in built:
        index = next(i for i in free if (places[i].shape, places[i].color) == (piece.shape, piece.color))
        free.remove(index)
        takes = max(0.6, profile.per_piece_s * speed * rng.normal(1.0, profile.spread)) / profile.pace
        moves.append(Move(index, t, t + takes, place_piece(piece)))
        t += takes
    press = t + profile.before_press_s * rng.uniform(0.9, 1.5)
    earliest = go_s + EARLIEST_PRESS_S + rng.uniform(0, 0.3)
    return Script(tuple(places), tuple(moves), max(press, earliest), profile.pace)


def _with_fall(script: Script, press_s: float, pieces: PieceSet, rng: np.random.Generator) -> Script:
    """The last piece slips off right after Stop and comes to rest on the table in front of the build."""
    last = script.moves[-1]
    shape = last.goal.shape
    pose = Pose(0, "front") if pieces.shapes[shape].kind != "cylinder" else Pose(90, "front")
    x = float(np.clip(last.goal.centre[0] + rng.choice([-1, 1]) * 55, -70, 70))
    lying = Piece(shape, last.goal.color, pose, x, float(last.goal.centre[1]) - 24, 0.0, float(rng.uniform(-50, 50)))
    lying = lying.at(z=shape_of(pieces, lying).size(pose)[2] / 2)
    start = press_s + 0.15
    fall = Move(last.index, start, start + FALL_S, place_piece(lying), by_hand=False)
    return replace(script, moves=(*script.moves, fall))
