"""What the search's compiled loops judge by: contacts, support and depth of pieces."""

from referee.kernels import scene
from referee.vision.measured import measured

TOUCH_MM = measured(
    3.0,
    "mm",
    "by hand: plans of two pieces must overlap by this much in x and in y for one to rest on the other; an "
    "overlap of less than 4 mm is no fault either way (CONTRACT.md)",
)
SEEN_INSET_MM = measured(0.1, "mm", "rounding: the samples stay so far within both outlines")
ON_TABLE_MM = measured(1.0, "mm", "by hand: a piece whose foot is lower stands on the table")
FOOT_MM = measured(0.6, "mm", "by hand: samples of an underside this low carry a piece that stands on the table")
SAME_LEVEL_MM = measured(0.5, "mm", "by hand: two pieces that would carry a third at levels this near do so both")
CARRIED_MM = measured(1.2, "mm", "by hand: a sample of an underside this near above what is below it is carried")
CARRIER_GAP_MM = measured(15.0, "mm", "by hand: half a piece; what is further from a piece's middle does not carry it")
STACKED_MM = measured(3.0, "mm", "by hand: a piece this much higher than it would stand on the table lies on another")
TOPPLE_FULL_MM = measured(8.0, "mm", "by hand: so much further beside, and a topple costs in full")
TOPPLE_SLACK_MM = measured(3.5, "mm", "by hand: so far beside what carries it a fitted centre may lie for nothing")
TOPPLE_COST = measured(1500.0, "nats", "against a piece whose centre lies well beside what carries it; by hand")
LOADED_COST = measured(
    400.0, "nats", "the same of one that carries others, whose balance this simple model only estimates; by hand"
)
Y_SLACK_MM = measured(3.0, "mm", "builders put pieces within 5 mm of one line (dev set, every session)")
YAW_SLACK = measured(0.08, "radians", "builders put pieces within 5 degrees of one turn (dev set, every session)")
Y_COST = measured(40.0, "nats", "at one slack off the build's common line; by hand")
YAW_COST = measured(14.0, "nats", "at one slack off the build's common turn; by hand")
MOST_COST = measured(450.0, "nats", "the most that one piece can cost: one astray on the table is not rare; by hand")
MOST_STACKED = measured(
    2000.0, "nats", "the same of a piece that lies across others far off their line and turn, which is rare; by hand"
)
MOST_TURN = measured(0.26, "radians", "CONTRACT.md: a build is turned by up to 15 degrees")
MISSING_NATS = measured(3.0, "nats a pixel", "by hand: a scanned pixel that loses more shows no such piece")
LEAST_NATS = measured(-2.0, "nats a pixel", "a place that loses more on average is not written down; by hand")
NEXT_BEST_MM = measured(12.0, "mm", "by hand: a stance's second place lies further than this beside its best")
NEAR_COPY_MM = measured(10.0, "mm", "by hand: the same stance this near is the same place")
ON_TOP_STEP = measured(5.0, "mm", "by hand: where a further piece is tried on others")
BESIDE_STEP = measured(7.0, "mm", "by hand: where a further piece is tried on the table")
REACH_ON_TOP = measured(30.0, "mm", "by hand: beyond the build's ends in x")
REACH_BESIDE = measured(80.0, "mm", "by hand: beyond the build's ends in x")
HIDDEN = measured(
    2.0, "nats a pixel", "a new piece may lose as much and still be tried: one behind others may win nothing; by hand"
)
PROP_GAP_MM = measured(4.0, "mm", "by hand: a prop's top is this near to the underside of what it is to carry")
CLASH_COST = measured(1e12, "nats", "against a loose piece where a piece of the build is: nothing wins as much")
PIECE_COST = measured(
    60.0, "nats", "a piece must explain as much before it is believed; a visible cube's face explains over 1000"
)
OPTIMISM = measured(0.4, "of the score", "weight of the optimistic score against regret; by hand")
QUICK_MM = measured(3.0, "mm", "half of STEP_X: step of the climb of a state that is looked at more closely")
QUICK_DEG = measured(4.0, "degrees", "by hand: turn of the same climb")
CELL_MM = measured(8.0, "mm", "by hand: states of the same stances whose places agree within this are one and the same")
SEEN_SAMPLES = measured(
    17, "samples", "across the shared width of two pieces one of which is not flat: 2 mm apart on the widest"
)
LEAST_PROBED = measured(
    3,
    "of those nine pixels",
    "arches and cups are hollow, others are half hidden: of the places on three canvases of the dev sets that win "
    "anything 1 in 200 shows fewer, of all places half",
)
BRANCH = measured(8, "places", "on the table tried for a further piece of a reading; by hand")
MAX_PIECES = measured(10, "pieces", "of a box (RULES.md)")
LOOKED_AT = measured(
    4, "times the beam's width", "of the states expanded at one level so many are looked at closely; 3 change a ruling"
)
MOST_ROWS = measured(200000, "rows", "storage for what scan_loose finds")
ACROSS = measured((0.0, -0.35, 0.35), "of a piece's width, from its middle", "by hand: at three places of each")
PROBED = measured(
    (-0.3, 0.0, 0.35), "of a piece's height, from its middle", "by hand: at three heights pixels are looked at"
)
SEEN_AT = measured(
    (-0.25, 0.0, 0.3),
    "of a piece's height, from its middle",
    "by hand: where the three pixels lie that show a loose piece",
)
NUDGES_MM = measured((-16.0, -8.0, 8.0, 16.0), "mm", "by hand: a piece nudged in x")
SHIFTS_MM = measured(
    (-48.0, -32.0, -16.0, 16.0, 32.0, 48.0),
    "mm",
    "a support may stand well before or behind the middle of a deep piece that it carries; by hand",
)

RULES = {name: globals()[name.upper()] for name in scene.RULES}
"""What the compiled loops judge by, by the names that they ask for."""
