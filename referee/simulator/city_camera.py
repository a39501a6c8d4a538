"""SIMULATED players of the tower games, who choose among the legal commands and can make no others; and SIMULATED
pictures of a city plan with its towers, from four sides and from above.

The stones stand as people put them: a little off their site's middle and turned. Nothing here is known to vision.
"""

import math
import random
from collections.abc import Sequence

import numpy as np

from cards.pieces import PieceSet, Pose
from referee.games.core import GameCommand, Tower
from referee.games.match import Match
from referee.simulator.lens import Lens, look_at_rotation
from referee.simulator.meshes import PosedPiece, turn_about_z, turn_of
from referee.simulator.room import MatPlace, typical_light
from referee.simulator.table import RigLayout, TableSim, World

TURN_ENDING_COMMANDS = ("EndTurn", "Draw", "GiveUpStone", "PassTurn")
"""What ends a turn is done when nothing else is liked: one choice in so many goes to it."""


def next_command(match: Match) -> GameCommand | None:
    """The next command of whoever can do something: the seat in turn first; the same one for the same match, also after
    a restart. None when the game is over."""
    for seat in match.state.in_order(match.state.turn):
        if legal := match.legal(seat):
            rng = random.Random(f"{match.setup.seed}/{len(match.played)}/{len(match.changes)}/{seat}")
            liked = [command for command in legal if command.NAME not in TURN_ENDING_COMMANDS]
            return rng.choice(liked if liked and rng.random() < 0.8 else legal)
    return None


HEIGHT_PX = 720
SIDES_DEG, UP_DEG, ABOVE_DEG = (20.0, 110.0, 200.0, 290.0), 52.0, 86.0
AWAY_MM, AIM_MM = 620.0, 40.0
OFF_MM, YAW_DEG = 1.5, 4.0
UPRIGHT = Pose()


def placed_stones(stones: PieceSet, towers: Sequence[Tower], site_mm: float, seed: int) -> list[PosedPiece]:
    """The stones of a city's nine ``towers``, (seat, height) from below, on sites so far apart; seats are colours."""
    names, out = list(stones.colors), []
    storey = min(shape.height for shape in stones.shapes.values())
    kinds = {round(shape.height / storey): name for name, shape in stones.shapes.items()}
    for site, tower in enumerate(towers):
        rng = np.random.default_rng((seed, site))
        row, column = divmod(site, 3)
        middle = np.array(((column - 1) * site_mm, (1 - row) * site_mm)) + rng.uniform(-OFF_MM, OFF_MM, 2)
        low = 0.0
        for seat, height in tower:
            turn = turn_about_z(float(rng.uniform(-YAW_DEG, YAW_DEG))) @ turn_of(UPRIGHT)
            out.append(PosedPiece(kinds[height], names[seat], turn, np.array((*middle, low + height * storey / 2))))
            low += height * storey
    return out


def city_pictures(stones: PieceSet, zone: str, placed: Sequence[PosedPiece], seed: int) -> list[np.ndarray]:
    """(h, w, 3) uint8 BGR of the plan ``zone`` with these stones: from each of four sides, and from above."""
    rng = np.random.default_rng(seed)
    light = typical_light(rng)
    places = [(side, UP_DEG) for side in SIDES_DEG] + [(0.0, ABOVE_DEG)]
    out = []
    for number, (side, up) in enumerate(places):
        table = TableSim(stones, seed, where=RigLayout(_lens(side, up), light, {zone: MatPlace(0.0, 0.0, 0.0)}))
        out.append(table.render(World({zone: placed}), number))
    return out


def _lens(side_deg: float, up_deg: float) -> Lens:
    """A camera that looks at the plan's middle from that side, so far up."""
    a, b = math.radians(side_deg), math.radians(up_deg)
    forward = np.array([math.sin(a) * math.cos(b), math.cos(a) * math.cos(b), -math.sin(b)])
    width = HEIGHT_PX * 16 // 9
    at = np.array([0.0, 0.0, AIM_MM]) - forward * AWAY_MM
    return Lens(width, HEIGHT_PX, width * 0.77, (width / 2, HEIGHT_PX / 2), -0.03, 0.01, look_at_rotation(forward), at)
