"""What the search's compiled loops judge by: contacts, support and depth of pieces."""

import math

import numpy as np

from referee.kernels import scene
from referee.vision.image.view import PIECE_MM
from referee.vision.measured import measured

TOUCH_MM = measured(
    3.0,
    "mm",
    "by hand: plans of two pieces must overlap by this much in x and in y for one to rest on the other; an "
    "overlap of less than 4 mm is no fault either way (CONTRACT.md)",
)
EXACT_MM = measured(0.1, "mm", "rounding: outlines and elevations are no truer; samples stay so far within both")
LEVEL_MM = measured(1.0, "mm", "by hand: what is so near above a thing stands on it; by half of it levels differ")
SLACK_MM = measured(3.0, "mm", "builders put pieces within 5 mm of one line (dev sets): so much is chance")
TOPPLE_SLACK_MM = measured(3.5, "mm", "by hand: so far beside what carries it a fitted centre may lie for nothing")
PROP_GAP_MM = measured(4.0, "mm", "by hand: a prop's top is this near to the underside of what it is to carry")
CARRIER_GAP_MM = PIECE_MM / 2
"""What is further from a piece's middle does not carry it."""
TOPPLE_FULL_MM = PIECE_MM / 4
"""So much further beside, and a topple costs in full."""
RARELY_BUILT_COST = measured(
    1800.0, "nats", "the most against a piece that would topple, or lies across others far off their line; by hand"
)
MOST_COST = measured(
    450.0, "nats", "the most else: astray on the table, hardly balanced under others, or not of this box; by hand"
)
YAW_SLACK = measured(0.08, "radians", "builders put pieces within 5 degrees of one turn (dev set, every session)")
Y_COST = measured(40.0, "nats", "at one slack off the build's common line; by hand")
YAW_COST = measured(14.0, "nats", "at one slack off the build's common turn; by hand")
TURN_DEG = measured(7.0, "degrees", "CONTRACT.md: a build is turned by up to 15, twice this; climbs find the rest")
MOST_TURN = math.radians(2 * TURN_DEG)
MISSING_NATS = measured(3.0, "nats a pixel", "by hand: a scanned pixel that loses more shows no such piece")
PIXEL_NATS = measured(2.0, "nats a pixel", "by hand: less shows no colour; where more is lost is no piece")
STEP_X = PIECE_MM / 5
"""Places at which first pieces are tried."""
STEP_Y = measured(8.0, "mm", "by hand: as STEP_X, in y, where the camera tells less")
NEXT_BEST_MM = 2 * STEP_X
"""A stance's second place lies further than this beside its best."""
NEAR_COPY_MM = PIECE_MM / 3
"""The same stance this near is the same place."""
ON_TOP_STEP = measured(5.0, "mm", "by hand: where a further piece is tried on others")
BESIDE_STEP = measured(7.0, "mm", "by hand: where a further piece is tried on the table")
REACH_ON_TOP = PIECE_MM
REACH_BESIDE = measured(80.0, "mm", "by hand: beyond the build's ends in x")
PIECE_COST = measured(
    200.0,
    "nats",
    "a piece must explain as much before it is believed: edges and shadows explain 60, a visible cube's face over 1000",
)
OPTIMISM = measured(0.4, "of the score", "weight of the optimistic score against regret; by hand")
QUICK_MM = STEP_X / 2
QUICK_DEG = measured(4.0, "degrees", "by hand: turn of the climb, by QUICK_MM, of a place of the search's grid")
CELL_MM = STEP_Y
"""States of the same stances whose places agree within this are one and the same."""
SEEN_SAMPLES = measured(
    17, "samples", "across the shared width of two pieces one of which is not flat: 2 mm apart on the widest"
)
LEAST_PROBED = measured(
    3,
    "of those nine pixels",
    "arches and cups are hollow, others are half hidden: of the places on three canvases of the dev sets that win "
    "anything 1 in 200 shows fewer, of all places half",
)
BRANCH = measured(8, "trials", "by hand, for time: of a reading's further pieces, places or edits so many are followed")
MAX_PIECES = measured(10, "pieces", "of a box (RULES.md)")
LOOKED_AT = measured(
    4, "times the beam's width", "of the states expanded at one level so many are looked at closely; 3 change a ruling"
)
ACROSS = measured((0.0, -0.35, 0.35), "of a piece's width, from its middle", "by hand: at three places of each")
PROBED = measured((-0.3, 0.0, 0.35), "of its height, from its middle", "by hand: there pixels are looked at")
SEEN_AT = measured((-0.25, 0.0, 0.3), "of its height, from its middle", "by hand: where a loose piece is seen by")
NUDGES_MM = tuple(STEP_Y * np.array((-2, -1, 1, 2)))
SHIFTS_MM = tuple(2 * STEP_Y * np.array((-3, -2, -1, 1, 2, 3)))
"""A support may stand well before or behind the middle of a deep piece that it carries."""

RULES = {name: globals()[name.upper()] for name in scene.RULES}
"""What the compiled loops judge by, by the names that they ask for."""
