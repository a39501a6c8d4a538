"""``organ_pipes``: so many pieces side by side, falling like the pipes of an organ.

The law: ``count`` pieces stand on the table side by side, heights falling strictly from the player's left to right;
neighbours overlap in x by at most 3 mm and are within 40 mm in y (``Tolerances``). The field is the whole band between
the markers.
"""

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from cards.build import Build, Piece, shape_of
from cards.card import Card, Proofs
from cards.elevation import round_light, strips
from cards.generate import CAP_KINDS, GAP_MM, all_pieces, steady_poses
from cards.law import Reason, Tolerances, along_build, because, build_turn, worded_piece
from cards.pieces import PieceSet, Pose, Shape
from cards.scene import Patch, corners, patch, placed
from cards.sentences import sentence

SAME_HEIGHT_MM = 2.0
"""Organ pipes closer in height than this are level, not falling."""

STEP_BETWEEN_PIPES_MM = 4.0
"""Pipes of an example differ in height by more than this, so that a player and the camera can tell."""

ROW_MM = 185.0
"""A row of pipes fits into the field, 190 mm wide."""

PIPE, PIPE_LINE = (150, 152, 156), (92, 94, 98)


@dataclass(frozen=True)
class OrganCard(Card):
    """``count`` pieces side by side, heights falling from the player's left to right."""

    count: Annotated[int, Field(ge=2, le=40)]
    kind = "organ_pipes"
    fills_band = True

    @property
    def piece_count(self) -> int:
        """The card's number."""
        return self.count

    def law(self, build: Build, tolerances: Tolerances) -> tuple[Reason, ...]:
        """The number, all on the table side by side, and the order of heights."""
        found = list(self.wrong_count(build))
        if raised := tuple(i for i, on_table in enumerate(build.on_table) if not on_table):
            found.append(because("not_side_by_side", raised))
        xs, ys = along_build(build, build_turn(build)).T
        order = sorted(range(len(build.pieces)), key=lambda i: xs[i])
        widths, _, heights = np.array([shape_of(build.piece_set, p).size(p.pose) for p in build.pieces]).T
        for left, right in pairwise([i for i in order if build.on_table[i]]):
            overlap = (widths[left] + widths[right]) / 2 - (xs[right] - xs[left])
            apart = abs(ys[right] - ys[left])
            if overlap > tolerances.pipes_overlap or apart > tolerances.pipes_depth:
                found.append(_of_two("one_behind_another", build, left, right))
        for left, right in pairwise(order):
            if heights[right] > heights[left] - SAME_HEIGHT_MM:
                found.append(_of_two("wrong_order", build, left, right))
        return tuple(found)

    def usual_poses(self, pieces: PieceSet) -> tuple[tuple[str, Pose], ...]:
        """Whatever gives another height."""
        return tuple(
            (s.name, pose)
            for s in pieces.shapes.values()
            for pose in s.poses()
            if pose.rotation == 0 or (s.kind == "bridge" and pose.rotation != 180 and pose.facing == "side")
        )

    def picture(self, pieces: PieceSet) -> tuple[Patch, ...]:
        """Grey pipes."""
        made: list[Patch] = []
        wide, gap = 16.0, 3.0
        for k in range(self.count):
            tall = 112.0 - 76.0 * k / max(self.count - 1, 1)
            x = k * (wide + gap)
            made += placed(strips(wide, tall, PIPE, round_light, upright=True), 1.0, x, tall / 2)
            made.append(patch(corners(x - wide / 2, 0, wide, tall), None, PIPE_LINE, 0.35))
            made.append(patch([(x - 4, 9), (x + 4, 9), (x + 2.6, 15), (x - 2.6, 15)], PIPE_LINE))
        return tuple(made)

    def proved_example(
        self, pieces: PieceSet, seed: int = 0, proofs: Proofs | None = None
    ) -> tuple[tuple[Piece, ...], None]:
        """Pipes of falling height side by side; each piece is used for one height it can stand at."""
        chosen = falling_heights(pieces, self.count, random.Random(seed))
        if chosen is None:
            raise self.bad(sentence("few_heights", name=pieces.name, n=self.count))
        widths = [pieces.shapes[shape].size(pose)[0] for shape, _, pose in chosen]
        gap = min(GAP_MM, max((ROW_MM - sum(widths)) / (len(widths) - 1), 1.0))
        x, row = -(sum(widths) + gap * (len(widths) - 1)) / 2, []
        for (shape, color, pose), wide in zip(chosen, widths, strict=True):
            row.append(Piece(shape, color, pose, round(x + wide / 2, 1), 0.0, pieces.shapes[shape].size(pose)[2] / 2))
            x += wide + gap
        return tuple(row), None


def _of_two(code: str, build: Build, left: int, right: int) -> Reason:
    return because(code, (left, right), piece=worded_piece(build.pieces[right]), left=worded_piece(build.pieces[left]))


def _narrow(shape: Shape, pose: Pose) -> Pose:
    """The pose, or that turned a quarter about the vertical if it takes less room for the player."""
    return min(pose, shape.canonical(Pose(pose.rotation, "side")), key=lambda p: shape.size(p)[0])


def falling_heights(pieces: PieceSet, count: int, rng: random.Random) -> list[tuple[str, str, Pose]] | None:
    """``count`` pieces with poses whose heights fall by more than STEP_BETWEEN_PIPES_MM; None if none do."""
    each = all_pieces(pieces)
    rng.shuffle(each)
    ways = [
        (pieces.shapes[s].size(pose)[2], n, _narrow(pieces.shapes[s], pose))
        for n, (s, _) in enumerate(each)
        for pose in steady_poses(pieces.shapes[s])
    ]
    ways.sort(key=lambda w: (-w[0], pieces.shapes[each[w[1]][0]].kind in CAP_KINDS, w[1]))

    def extend(start: int, used: frozenset[Any], below: float, left: int) -> list[Any] | None:
        if left == 0:
            return []
        for k in range(start, len(ways)):
            high, n, pose = ways[k]
            if n not in used and high <= below - STEP_BETWEEN_PIPES_MM:
                rest = extend(k + 1, used | {n}, high, left - 1)
                if rest is not None:
                    return [(*each[n], pose), *rest]
        return None

    return extend(0, frozenset(), 1e9, count)
