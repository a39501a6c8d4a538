"""Every piece of a set in every pose it can rest in, packed into flat arrays for the search.

A *stance* is one (shape, colour, pose). Stances that a player would use when building from a card
come free; unusual ones (lying on the face, upside down sideways) carry a small prior cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from cards.build import piece_surfaces
from cards.pieces import PieceSet, Pose, Shape
from referee.kernels import scene
from referee.vision.measured import measured
from referee.vision.search.convex import ROUGH_ARC_STEPS, Part, parts
from referee.vision.search.rules import EXACT_MM, RULES, SEEN_SAMPLES

PROFILE = 2 * SEEN_SAMPLES - 1
"""Samples of an elevation across its width, for letting pieces down on one another: 2 mm apart on the widest."""
ROCKING_MM = measured(0.35, "mm", "by hand: a shape's samples this near to its lowest one carry it")

RARE_COST = measured(
    150.0,
    "nats",
    "one log odd of chance: against a pose that no elevation shows clearly (top, or side upside down), and a loose "
    "piece just where the build hides it in part; by hand",
)


class Solids(NamedTuple):
    """All stances' convex parts end to end: stance s has the parts from ``part_at[s]``, a part its
    corners from ``point_at``, its faces from ``face_at`` and its edges from ``edge_at``; see ``convex.Part``.
    """

    points: np.ndarray
    normals: np.ndarray
    on_face: np.ndarray
    edges: np.ndarray
    part_at: np.ndarray
    point_at: np.ndarray
    face_at: np.ndarray
    edge_at: np.ndarray


@dataclass(frozen=True)
class Catalogue:
    """Stances as arrays over their index s.

    ``kind`` (s,) which (shape, colour) of ``types``; ``color`` (s,) palette index; ``size`` (s, 3) mm;
    ``lower``, ``upper`` (s, PROFILE) mm about the centre; ``rare`` (s,) bool; ``solids``, ``rough`` their convex parts,
    the latter with fewer for searching.
    """

    piece_set: PieceSet
    types: tuple[tuple[str, str], ...]
    stock: np.ndarray
    poses: tuple[Pose, ...]
    kind: np.ndarray
    color: np.ndarray
    size: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    rare: np.ndarray
    solids: Solids
    rough: Solids

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def index(self) -> dict[tuple[str, str, Pose], int]:
        """Stance index of (shape, color, canonical pose)."""
        return {(*self.types[k], p): i for i, (k, p) in enumerate(zip(self.kind, self.poses, strict=True))}

    @cached_property
    def alike_after(self) -> np.ndarray:
        """(s,) radians: a turn about the vertical, of at most half a circle, after which each looks the same; 0 of
        what is round."""
        turns = np.full(len(self), math.pi)
        for s, pose in enumerate(self.poses):
            shape = self.piece_set.shapes[self.types[self.kind[s]][0]]
            if shape.kind == "cylinder" and shape.axis(pose) == "z":
                turns[s] = 0.0
            elif shape.kind == "box" and abs(self.size[s, 0] - self.size[s, 1]) < EXACT_MM:
                turns[s] = math.pi / 2
        return turns

    @cached_property
    def hollow(self) -> np.ndarray:
        """(s,) which stances are of several convex parts, about an opening."""
        return np.diff(self.solids.part_at) > 1

    def points_of(self, stance: int) -> np.ndarray:
        """(n, 3) mm: corners of all parts of a stance, about its centre."""
        first, last = self.solids.part_at[[stance, stance + 1]]
        return self.solids.points[self.solids.point_at[first] : self.solids.point_at[last]]

    @cached_property
    def lying(self) -> np.ndarray:
        """Stances that differ by more than a turn about the vertical: a piece lies loose at any turn."""
        kept: dict[tuple, int] = {}
        for s, pose in enumerate(self.poses):
            width, depth, height = (round(v, 2) for v in self.size[s])
            plain = self.piece_set.shapes[self.types[self.kind[s]][0]].kind in ("box", "cylinder")
            side = () if plain else (pose.rotation, pose.facing == "top")
            kept.setdefault((self.kind[s], min(width, depth), max(width, depth), height, side), s)
        return np.array(list(kept.values()))

    def resized(self, factor: float) -> Catalogue:
        """The same stances with all lengths times a factor."""
        solids, rough = (s._replace(points=factor * s.points) for s in (self.solids, self.rough))
        size, lower, upper = factor * self.size, factor * self.lower, factor * self.upper
        return replace(self, size=size, lower=lower, upper=upper, solids=solids, rough=rough)

    @cached_property
    def arrays(self) -> scene.StanceTable:
        """What the compiled loops take to judge by."""
        return self._arrays(self.solids)

    @cached_property
    def rough_arrays(self) -> scene.StanceTable:
        """What they take to search with: round shapes have fewer facets."""
        return self._arrays(self.rough)

    def _arrays(self, solids: Solids) -> scene.StanceTable:
        flat = np.stack([np.ptp(self.lower, axis=1) < EXACT_MM, np.ptp(self.upper, axis=1) < EXACT_MM], 1)
        return scene.StanceTable(self, flat, Solids(*map(np.ascontiguousarray, solids)), RULES)


def can_rest(shape: Shape, pose: Pose) -> bool:
    """Whether the shape stands in this pose on a flat surface, or rocks on a round bottom at rest."""
    if shape.kind == "cylinder" or pose.facing == "top":
        return True
    plan, lower, _ = piece_surfaces(shape, pose)
    low = lower <= lower.min() + ROCKING_MM
    across = plan[:, 0] if pose.facing == "front" else plan[:, 1]
    if shape.kind in ("crescent", "half_disc") and pose.rotation == 180:
        return True
    return bool(low.any() and across[low].min() < -1.0 and across[low].max() > 1.0)


def is_rare(shape: Shape, pose: Pose) -> bool:
    """Poses that a card's elevation hardly shows, so that builders seldom use them."""
    if shape.kind in ("cylinder", "box") and pose.facing != "top":
        return pose.facing == "side" and pose.rotation == 90 and shape.kind == "box"
    round_bottom = shape.kind in ("crescent", "half_disc")
    return (
        pose.facing == "top"
        or (pose.facing == "side" and (pose.rotation != 0 or round_bottom))
        or (round_bottom and pose.rotation % 180 == 90)
    )


def catalogue(piece_set: PieceSet, colors: tuple[str, ...], extra: tuple[tuple[str, Pose], ...] = ()) -> Catalogue:
    """The set's stances. ``colors`` gives the palette's order; ``extra`` (shape, pose) are never rare."""
    cat, shapes = _catalogue(piece_set, colors), piece_set.shapes
    asked = {(name, shapes[name].canonical(pose)) for name, pose in extra if name in shapes}
    names = [cat.types[k][0] for k in cat.kind]
    return replace(cat, rare=cat.rare & [(row not in asked) for row in zip(names, cat.poses, strict=True)])


@lru_cache(maxsize=4)
def _catalogue(piece_set: PieceSet, colors: tuple[str, ...]) -> Catalogue:
    """The set's stances, whatever is asked for."""
    types = tuple(piece_set.inventory)
    rows = [
        (k, piece_set.shapes[shape], pose, colors.index(color))
        for k, (shape, color) in enumerate(types)
        for pose in piece_set.shapes[shape].poses()
        if can_rest(piece_set.shapes[shape], pose)
    ]
    profiles = [_profile(shape, pose) for _, shape, pose, _ in rows]
    return Catalogue(
        piece_set,
        types,
        np.array([piece_set.inventory[t] for t in types]),
        tuple(pose for _, _, pose, _ in rows),
        np.array([k for k, *_ in rows]),
        np.array([c for *_, c in rows]),
        np.array([shape.size(pose) for _, shape, pose, _ in rows]),
        np.array([p[0] for p in profiles]),
        np.array([p[1] for p in profiles]),
        np.array([is_rare(shape, pose) for _, shape, pose, _ in rows]),
        _solids([parts(shape, pose) for _, shape, pose, _ in rows]),
        _solids([parts(shape, pose, ROUGH_ARC_STEPS) for _, shape, pose, _ in rows]),
    )


def _solids(stances: list[tuple[Part, ...]]) -> Solids:
    flat = [part for stance in stances for part in stance]
    return Solids(
        np.concatenate([p.points for p in flat]),
        np.concatenate([p.normals for p in flat]),
        np.concatenate([p.on_face for p in flat]),
        np.concatenate([p.edges for p in flat]),
        _offsets(stances),
        _offsets([p.points for p in flat]),
        _offsets([p.normals for p in flat]),
        _offsets([p.edges for p in flat]),
    )


def _offsets(rows: list) -> np.ndarray:
    return np.cumsum([0, *map(len, rows)])


@lru_cache(maxsize=1024)
def _profile(shape: Shape, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Underside and upper side in the elevation at PROFILE places across the width, mm."""
    plan, lower, upper = piece_surfaces(shape, pose)
    width = shape.size(pose)[0]
    at = (np.arange(PROFILE) / (PROFILE - 1) - 0.5) * width
    xs, first = np.unique(plan[:, 0], return_index=True)  # the plan goes column by column
    low, high = np.minimum.reduceat(lower, first), np.maximum.reduceat(upper, first)
    return np.interp(at, xs, low), np.interp(at, xs, high)
