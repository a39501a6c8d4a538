"""How a simulated player's hand carries pieces: a script of moves, and where everything is at any time.

A ``Script`` is a value: ``at(t_s)`` is a pure function of time, so any instant can be rendered again.
Times are seconds of the table's clock; coordinates are millimetres in the player's mat frame.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import cv2
import numpy as np

from referee.simulator.meshes import PosedPiece
from referee.simulator.table import Hand

REST_TIP = (115.0, -245.0, 70.0)
"""Where the hand waits: off the mat, behind its mark."""

REACH_SHARE = 0.4
"""Part of a move that the empty hand needs to get to the piece."""

CLEARANCE_MM = 65.0
GRIP_MM, OPEN_MM = 30.0, 44.0
RETREAT_S, FALL_S = 0.45, 0.35
"""How long the hand takes to leave the field, and a piece to fall."""


@dataclass(frozen=True, eq=False)
class Move:
    """Piece ``index`` goes to ``goal`` between ``start_s`` and ``end_s``; ``by_hand`` False is a fall."""

    index: int
    start_s: float
    end_s: float
    goal: PosedPiece
    by_hand: bool = True


@dataclass(frozen=True, eq=False)
class Script:
    """A player's doings in a duel: where the pieces lie first, the moves in order, when Stop is pressed."""

    places: tuple[PosedPiece, ...]
    moves: tuple[Move, ...] = ()
    press_s: float | None = None
    pace: float = 1.0

    def at(self, t_s: float) -> tuple[list[PosedPiece], Hand | None]:
        """Every piece and the hand (None while it is away) at that time."""
        now, tip, held = list(self.places), np.array(REST_TIP), None
        for move in self.moves:
            if t_s >= move.end_s:
                now[move.index] = move.goal
                tip = grasp_point(move.goal) if move.by_hand else tip
            elif t_s > move.start_s:
                now[move.index], tip, held = self._during(move, now[move.index], tip, t_s)
        return now, self._hand(t_s, tip, held)

    def stopped(self, t_s: float) -> Self:
        """The script when Stop sounds at that time: nobody acts any more; a piece in the air is put back."""
        done = tuple(m for m in self.moves if m.end_s <= t_s or not m.by_hand)
        current = next((m for m in self.moves if m.by_hand and m.start_s < t_s < m.end_s), None)
        press = self.press_s if self.press_s is not None and self.press_s <= t_s else None
        if current is None or t_s < current.start_s + REACH_SHARE * (current.end_s - current.start_s):
            return replace(self, moves=done, press_s=press)
        pieces, _ = self.at(t_s)
        origin = replace(self, moves=done).at(t_s)[0][current.index]
        places = tuple(pieces[i] if i == current.index else p for i, p in enumerate(self.places))
        back = Move(current.index, t_s - 1e-3, t_s + 1.1 / self.pace, origin)
        return replace(self, places=places, moves=(*done, back), press_s=press)

    @property
    def still_s(self) -> float:
        """The time from which nothing moves any more."""
        hand = [m.end_s + RETREAT_S / self.pace for m in self.moves]
        return max(hand, default=0.0)

    def _during(
        self, move: Move, start: PosedPiece, tip: np.ndarray, t_s: float
    ) -> tuple[PosedPiece, np.ndarray, PosedPiece | None]:
        share = (t_s - move.start_s) / (move.end_s - move.start_s)
        if not move.by_hand:
            return _between(start, move.goal, share * share, 0.0), tip, None
        if share < REACH_SHARE:
            return start, _reach(tip, grasp_point(start), share / REACH_SHARE), None
        carried = _between(start, move.goal, (share - REACH_SHARE) / (1 - REACH_SHARE), CLEARANCE_MM)
        return carried, grasp_point(carried), carried

    def _hand(self, t_s: float, tip: np.ndarray, held: PosedPiece | None) -> Hand | None:
        by_hand = [m for m in self.moves if m.by_hand]
        if not by_hand or t_s < by_hand[0].start_s:
            return None
        last = by_hand[-1].end_s
        if t_s > last:
            away = (t_s - last) * self.pace / RETREAT_S
            if away >= 1:
                return None
            tip = _reach(tip, np.array(REST_TIP), away)
        x, y, z = map(float, tip)
        return Hand((x, y, z), GRIP_MM if held is not None else OPEN_MM)


def grasp_point(piece: PosedPiece) -> np.ndarray:
    """Where the tongs hold a piece: a little above its centre, (3,) mm."""
    return piece.centre + np.array((0.0, -2.0, 6.0))


def _reach(start: np.ndarray, goal: np.ndarray, share: float) -> np.ndarray:
    """The empty hand's way: over, never through, what stands between."""
    s = ease(share)
    high = max(start[2], goal[2]) + CLEARANCE_MM * 0.7
    lift = math.sin(math.pi * s) * (high - start[2] * (1 - s) - goal[2] * s)
    return start + (goal - start) * s + (0.0, 0.0, max(0.0, lift))


def _between(start: PosedPiece, goal: PosedPiece, share: float, clearance: float) -> PosedPiece:
    """A piece on its way: up, across while it turns, down."""
    across = ease(min(1.0, max(0.0, (share - 0.2) / 0.55))) if clearance else share
    centre = start.centre + (goal.centre - start.centre) * across
    if clearance:
        high = max(start.centre[2], goal.centre[2]) + clearance
        up, down = ease(min(1.0, share / 0.3)), ease(min(1.0, max(0.0, (share - 0.7) / 0.3)))
        centre[2] = start.centre[2] + (high - start.centre[2]) * up + (goal.centre[2] - high) * down
    return replace(start, turn=_turned(start.turn, goal.turn, across), centre=centre)


def ease(share: float) -> float:
    """0..1 with a gentle start and end."""
    return share * share * (3 - 2 * share)


def _turned(start: np.ndarray, goal: np.ndarray, share: float) -> np.ndarray:
    """(3, 3) part of the way along the shortest turn."""
    part = share * cv2.Rodrigues(start.T @ goal)[0]
    return start @ cv2.Rodrigues(part)[0]


def clear_fields(pieces: Sequence[PosedPiece], places: Sequence[PosedPiece], start_s: float, pace: float) -> Script:
    """Both break what stands: the pieces go back to their places, two hands' work for two seconds."""
    moves = tuple(
        Move(i, start_s + 0.05 * i / pace, start_s + (0.9 + 0.08 * i) / pace, goal, by_hand=False)
        for i, (piece, goal) in enumerate(zip(pieces, places, strict=True))
        if piece is not goal
    )
    return Script(tuple(pieces), moves, None, pace)
