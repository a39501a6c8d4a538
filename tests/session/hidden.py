"""Builds that hide a piece behind another at the Stop, and the players who build them: the film alone saw it placed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
from staged import DECK, SET, Happens, Rig, Stage

from cards.build import Build, Piece, rest_height
from cards.card import Card
from cards.pieces import Pose
from referee.simulator.build_plans import in_field
from referee.simulator.players import PlayerProfile, Players
from referee.simulator.table import World
from referee.vision.image.view import ZoneView, zone_view
from referee.vision.render.solids import piece_tags
from referee.vision.search.stances import can_rest

HIDDEN_SHARE = 0.97
"""Of what a piece would show of itself alone."""

FRONT_MM, BACK_MM = 24.0, (9.0, 13.0)
"""How far before and behind the middle of a plank two pieces stand on it, one hidden by the other."""

TRIES = 2000
GO_S = 0.5
FRONTS = ((("rectangle", 90),), (("rectangle", 90), ("cube", 0)), (("cube", 0), ("cube", 0)), (("cylinder", 0),) * 2)
"""What stands before the hidden piece, lowest first: shape and rotation."""

TOPS = ((), (("cube", 0),), (("triangle", 0),), (("cylinder", 0),))
"""What more stands on that."""

BACKS = ("cylinder", "cube", "triangle", "crescent")
POSES = (Pose(), Pose(0, "side"), Pose(90, "side"), Pose(0, "top"))
COLOURS = {shape: color for shape, color, _ in SET.pieces}


def hiding(rig: Rig, zone: str, right: bool, rng: random.Random) -> tuple[Card, list[Piece]]:
    """A card, and a build in the order of placing that hides one of its pieces from the camera, ``right`` or not."""
    frame = rig.table.empty()
    mats = rig.observer.look(frame)
    view = zone_view(frame, mats.camera, mats.poses[zone])
    for _ in range(TRIES):
        card = DECK.card(rng.choice([c.id for c in DECK.cards if c.kind in ("height", "shapes", "layout")]))
        made = _behind_a_layout(view, card, rng) if card.kind == "layout" else _on_a_plank(view, rng)
        if made is None:
            continue
        built, hidden = made
        fits = not Counter(p.shape for p in built) - Counter({s: n for s, _, n in SET.pieces})
        fits = fits and in_field(built, SET) and right == (not card.faults(Build(SET, tuple(built))))
        if fits and _hidden_share(view, built, hidden) >= HIDDEN_SHARE and _tempts(card, built, hidden, right):
            return card, built
    raise ValueError(f"no build hides a piece at mat {zone} of rig {rig.table.seed}")


def _tempts(card: Card, built: Sequence[Piece], hidden: int, right: bool) -> bool:
    """Whether without the hidden piece the other would be said; or, on one card in four, wrong of another kind."""
    rest = [p for n, p in enumerate(built) if n != hidden]
    looks_right = not card.faults(Build(SET, tuple(rest)))
    return looks_right != right or (
        not right and card.kind == "shapes" and len(built) == sum(n for _, n in card.shapes)
    )


def _away(view: ZoneView) -> np.ndarray:
    """(2,) unit vector on the mat, away from the camera."""
    to = np.asarray(view.pose.camera_at)[:2]
    return -to / np.linalg.norm(to)


def _hidden_share(view: ZoneView, built: Sequence[Piece], n: int) -> float:
    alone = (piece_tags(view, SET, [built[n]]) >= 0).sum()
    return 1 - (piece_tags(view, SET, built) == n).sum() / max(1, alone)


def _put(built: list[Piece], shape: str, pose: Pose, at: np.ndarray, yaw: float = 0.0) -> Piece:
    """The piece let down there on what stands."""
    piece = Piece(shape, COLOURS[shape], pose, float(at[0]), float(at[1]), 0.0, yaw)
    piece = piece.at(z=rest_height(SET, piece, built))
    built.append(piece)
    return piece


def _pose(shape: str, rng: random.Random) -> Pose:
    """One in which it can stand."""
    return rng.choice([pose for pose in POSES if can_rest(SET.shapes[shape], pose)])


def _on_a_plank(view: ZoneView, rng: random.Random) -> tuple[list[Piece], int]:
    """A plank that points away from the camera, on its far end the piece that is hidden by what is put before it."""
    away, middle = _away(view), np.array([rng.uniform(-40, 40), rng.uniform(-8, 8)])
    yaw = (np.degrees(np.arctan2(-away[0], away[1])) + 90) % 180 - 90
    built: list[Piece] = []
    _put(built, "rectangle", Pose(0, "side"), middle, yaw)
    back = rng.choice(BACKS)
    _put(built, back, _pose(back, rng), middle + away * rng.uniform(*BACK_MM), yaw)
    for shape, rotation in rng.choice(FRONTS) + rng.choice(TOPS):
        _put(built, shape, Pose(rotation, "side" if shape != "cylinder" else "front"), middle - away * FRONT_MM, yaw)
    return built, 1


def _behind_a_layout(view: ZoneView, card: Card, rng: random.Random) -> tuple[list[Piece], int] | None:
    """What the card shows, behind a piece that the card does not ask for; it was put down first."""
    spare = Counter({s: n for s, _, n in SET.pieces}) - Counter(p.shape for p in card.pieces)
    shift, before = np.array([rng.uniform(-15, 15), -10 * np.sign(_away(view)[1])]), rng.choice(card.pieces)
    built: list[Piece] = []
    at = np.array([before.x, 0.0]) + shift + _away(view) * rng.uniform(27, 36)
    if not spare:
        return None
    shape = rng.choice(sorted(spare))
    _put(built, shape, _pose(shape, rng), at, rng.uniform(-10, 10))
    for p in sorted(card.pieces, key=lambda p: p.z):
        there = p.at(x=p.x + float(shift[0]), y=float(shift[1]))
        if abs(rest_height(SET, there, built) - p.z) > 1.0:
            return None
        built.append(there)
    return built, 0


def played_hiding(rig: Rig, zone: str, right: bool, rng: random.Random) -> tuple[Stage, Happens, float]:
    """A duel in which the player there hides a piece: its stage, what happens, and when the player presses."""
    card, built = hiding(rig, zone, right, rng)
    players = Players(SET, "AB", rng.randrange(10**6), PlayerProfile())
    players.build(zone, tuple(built), GO_S)
    press_s = players.presses()[zone]
    players.stop(press_s)
    rests_s = players.still_s(zone) + 0.1
    still = players.world(rests_s + 60)

    def happens(at_s: float) -> World:
        return still if at_s > rests_s else players.world(at_s)

    return Stage(rig, card, zone), happens, press_s
