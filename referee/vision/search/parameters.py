"""Thresholds of the search: each with its unit and where its value comes from.

Most were chosen by trying: no command fits them, but ``TRIED`` shows over sessions with truth what another value does,
and ``tests/compare_bench.py`` holds two such runs side by side. Kernels are given the values (``stances.RULES``).
"""

from __future__ import annotations

from referee.vision.parameters import Parameter

TRIED = "referee bench devset devset2 --leave-one-out --json"
"""Try another value by this; it names what is judged otherwise."""

# -- stances -------------------------------------------------------------------------------------------------------
PROFILE = Parameter(
    33,
    "samples",
    "of an elevation across its width, for letting pieces down on one another: 2 mm apart on the widest piece",
)
RARE_COST = Parameter(
    150.0, "nats", "against a pose that no elevation shows clearly (top, or side upside down); by hand", TRIED
)
FLAT_MM = Parameter(0.01, "mm", "rounding: an elevation that varies by less is flat")
ROCKING_MM = Parameter(0.35, "mm", "by hand: a shape's samples this near to its lowest one carry it", TRIED)

# -- physics -------------------------------------------------------------------------------------------------------
TOUCH_MM = Parameter(
    3.0,
    "mm",
    "by hand: plans of two pieces must overlap by this much in x and in y for one to rest on the other; an "
    "overlap of less than 4 mm is no fault either way (CONTRACT.md)",
    TRIED,
)
SEEN_SAMPLES = Parameter(
    17, "samples", "across the shared width of two pieces one of which is not flat: 2 mm apart on the widest"
)
SEEN_INSET_MM = Parameter(0.1, "mm", "rounding: the samples stay so far within both outlines")
ON_TABLE_MM = Parameter(1.0, "mm", "by hand: a piece whose foot is lower stands on the table", TRIED)
FOOT_MM = Parameter(
    0.6, "mm", "by hand: samples of an underside this low carry a piece that stands on the table", TRIED
)
SAME_LEVEL_MM = Parameter(
    0.5, "mm", "by hand: two pieces that would carry a third at levels this near do so both", TRIED
)
CARRIED_MM = Parameter(
    1.2, "mm", "by hand: a sample of an underside this near above what is below it is carried", TRIED
)
CARRIER_GAP_MM = Parameter(
    15.0, "mm", "by hand: half a piece; what is further from a piece's middle does not carry it", TRIED
)
STACKED_MM = Parameter(
    3.0, "mm", "by hand: a piece this much higher than it would stand on the table lies on another", TRIED
)
Y_SLACK_MM = Parameter(3.0, "mm", "builders put pieces within 5 mm of one line (dev set, every session)", TRIED)
YAW_SLACK = Parameter(
    0.08, "radians", "builders put pieces within 5 degrees of one turn (dev set, every session)", TRIED
)
Y_COST = Parameter(40.0, "nats", "at one slack off the build's common line; by hand", TRIED)
YAW_COST = Parameter(14.0, "nats", "at one slack off the build's common turn; by hand", TRIED)
MOST_COST = Parameter(
    450.0, "nats", "the most that one piece can cost: one astray on the table is not rare; by hand", TRIED
)
MOST_STACKED = Parameter(
    2000.0,
    "nats",
    "the same of a piece that lies across others far off their line and turn, which is rare; by hand",
    TRIED,
)
MOST_TURN = Parameter(0.26, "radians", "CONTRACT.md: a build is turned by up to 15 degrees")
TOPPLE_COST = Parameter(1500.0, "nats", "against a piece whose centre lies well beside what carries it; by hand", TRIED)
LOADED_COST = Parameter(
    400.0, "nats", "the same of one that carries others, whose balance this simple model only estimates; by hand", TRIED
)
TOPPLE_SLACK_MM = Parameter(
    3.5, "mm", "by hand: so far beside what carries it a fitted centre may lie for nothing", TRIED
)
TOPPLE_FULL_MM = Parameter(8.0, "mm", "by hand: so much further beside, and a topple costs in full", TRIED)

# -- canvas --------------------------------------------------------------------------------------------------------
PIECE_COST = Parameter(
    60.0, "nats", "a piece must explain as much before it is believed; a visible cube's face explains over 1000"
)
BORROWED_COST = Parameter(
    500.0,
    "nats",
    "against a piece that the box has not: two wrong pieces are put right one after the other; by hand",
    TRIED,
)
COARSE = Parameter(
    3,
    "px of the view (mm) each way",
    "pieces are 15 mm and more: on the dev set the search judges as well as at half the resolution and costs "
    "half; what it finds is fitted at full resolution afterwards",
    TRIED,
)
LABELLED_NATS = Parameter(2.0, "nats", "by hand: a coarse pixel with less evidence for every colour shows none", TRIED)
QUICK = Parameter(
    ((3.0,), (4.0,), 2),
    "(steps in mm, steps in degrees, rounds at each)",
    "a hill climb from a place of the search's grid; by hand",
    TRIED,
)
FINE = Parameter(
    ((2.0, 1.0), (3.0, 1.5), 3),
    "(steps in mm, steps in degrees, rounds at each)",
    "a hill climb at full resolution; by hand",
    TRIED,
)
FINEST = Parameter(
    ((0.7,), (1.0,), 5),
    "(steps in mm, steps in degrees, rounds at each)",
    "the last hill climb: below a pixel; by hand",
    TRIED,
)
GOOD_SHARE = Parameter(
    0.83,
    "of the evidence",
    "on the dev set every reading that a wider search bettered by more than 400 nats was beyond this or the next two",
    TRIED,
)
GOOD_AGREEMENT = Parameter(0.75, "of a piece's pixels", "as GOOD_SHARE")
GOOD_BESIDE = Parameter(300.0, "nats", "as GOOD_SHARE: in one patch beside the build")
LEAST_POSSIBLE = Parameter(
    500.0, "nats", "by hand: where the view has less evidence in all, no share of it can be low", TRIED
)
AROUND_PX = Parameter(7, "px of the view (mm)", "by hand: so far around a build its evidence is counted", TRIED)
TOUCHING_PX = Parameter(4, "px of the view (mm)", "by hand: an unexplained patch this near touches the build", TRIED)
LEAST_SEEN_PX = Parameter(30, "px of the view (mm2)", "by hand: a piece that shows less agrees with anything", TRIED)
PATCH_NATS = Parameter(
    2.0, "nats a pixel", "by hand: a full-resolution pixel that loses this much counts for an unexplained patch", TRIED
)

# -- card_placement ------------------------------------------------------------------------------------------------
PLACE_X = Parameter(
    12.0, "mm", "by hand: steps at which a whole build is tried over the field; half of that around the best", TRIED
)
PLACE_Y = Parameter(16.0, "mm", "by hand: as PLACE_X, in y", TRIED)
PLACES = Parameter(8, "places", "by hand: around so many of the best it is tried at half the step", TRIED)
PLACED_MM = Parameter(
    (90.0, 40.0), "mm in x and y", "by hand: how far from the field's middle a whole build is tried", TRIED
)

# -- beam_search ---------------------------------------------------------------------------------------------------
TURNS_DEG = Parameter(
    (-14.0, -7.0, 0.0, 7.0, 14.0), "degrees", "CONTRACT.md: up to 15; hill climbs find what is between"
)
STEP_X = Parameter(6.0, "mm", "by hand: places at which first pieces are tried, a fifth of a piece", TRIED)
STEP_Y = Parameter(8.0, "mm", "as STEP_X, in y")
WIDE = Parameter((120, 48, 40, 30, 20, 14, 10, 8, 8, 8), "states after 1, 2, 3, … pieces", "by hand: for time", TRIED)
WIDEST = Parameter(
    (240, 140, 120, 90, 60, 40, 30, 24, 20, 20),
    "states after 1, 2, 3, … pieces",
    "only where WIDE leaves something unexplained; by hand",
    TRIED,
)
COVERED_NATS = Parameter(
    0.6,
    "nats a pixel",
    "cost, in the optimistic estimate, of a pixel that shows another piece's colour than the piece that covers "
    "it: something still to come may stand in front; by hand",
    TRIED,
)
FRONT_SHARE = Parameter(
    0.7, "of a column's best evidence", "by hand: the place nearest the camera must have this share", TRIED
)

# -- beam ----------------------------------------------------------------------------------------------------------
OPTIMISM = Parameter(0.4, "of the score", "weight of the optimistic score against regret; by hand", TRIED)
LOOKED_AT = Parameter(
    6,
    "times the beam's width",
    "of the states expanded at one level so many are looked at more closely; by hand",
    TRIED,
)
QUICK_MM = Parameter(3.0, "mm", "half of STEP_X: step of the climb of a state that is looked at more closely")
QUICK_DEG = Parameter(4.0, "degrees", "by hand: turn of the same climb", TRIED)
CELL_MM = Parameter(
    8.0, "mm", "by hand: states of the same stances whose places agree within this are one and the same", TRIED
)

# -- candidates ----------------------------------------------------------------------------------------------------
BRANCH = Parameter(8, "places", "on the table tried for a further piece of a reading; by hand", TRIED)
ON_TOP_STEP = Parameter(5.0, "mm", "by hand: where a further piece is tried on others", TRIED)
BESIDE_STEP = Parameter(7.0, "mm", "by hand: where a further piece is tried on the table", TRIED)
REACH_ON_TOP = Parameter(30.0, "mm", "by hand: beyond the build's ends in x", TRIED)
REACH_BESIDE = Parameter(80.0, "mm", "by hand: beyond the build's ends in x", TRIED)
HIDDEN = Parameter(
    2.0,
    "nats a pixel",
    "a new piece may lose as much and still be tried: one behind others may win nothing; by hand",
    TRIED,
)
NEXT_BEST_MM = Parameter(12.0, "mm", "by hand: a stance's second place lies further than this beside its best", TRIED)
NEAR_COPY_MM = Parameter(10.0, "mm", "by hand: the same stance this near is the same place", TRIED)

# -- scans ---------------------------------------------------------------------------------------------------------
MISSING_NATS = Parameter(3.0, "nats a pixel", "by hand: a scanned pixel that loses more shows no such piece", TRIED)
PROBED = Parameter(
    (-0.3, 0.0, 0.35), "of a piece's height, from its middle", "by hand: at three heights pixels are looked at", TRIED
)
ACROSS = Parameter((0.0, -0.35, 0.35), "of a piece's width, from its middle", "by hand: at three places of each", TRIED)
LEAST_PROBED = Parameter(
    3,
    "of those nine pixels",
    "arches and cups are hollow, others are half hidden: of the places on three canvases of the dev sets that win "
    "anything 1 in 200 shows fewer, of all places half",
    TRIED,
)
LEAST_NATS = Parameter(-2.0, "nats a pixel", "a place that loses more on average is not written down; by hand", TRIED)

# -- local_search --------------------------------------------------------------------------------------------------
MAX_PIECES = Parameter(10, "pieces", "of a box (RULES.md)")
NUDGES_MM = Parameter((-16.0, -8.0, 8.0, 16.0), "mm", "by hand: a piece nudged in x", TRIED)
SHIFTS_MM = Parameter(
    (-48.0, -32.0, -16.0, 16.0, 32.0, 48.0),
    "mm",
    "a support may stand well before or behind the middle of a deep piece that it carries; by hand",
    TRIED,
)
PROP_GAP_MM = Parameter(4.0, "mm", "by hand: a prop's top is this near to the underside of what it is to carry", TRIED)

# -- loose_pieces, kernels ------------------------------------------------------------------------------------------
SEEN_AT = Parameter(
    (-0.25, 0.0, 0.3),
    "of a piece's height, from its middle",
    "by hand: where the three pixels lie that show a loose piece",
    TRIED,
)
CLASH_COST = Parameter(1e12, "nats", "against a loose piece where a piece of the build is: nothing wins as much")
MOST_ROWS = Parameter(200000, "rows", "storage for what scan_loose finds")

# -- loose_pieces --------------------------------------------------------------------------------------------------
STEP_MM = Parameter(10.0, "mm", "by hand: the grid on which loose pieces are looked for, a third of a piece", TRIED)
YAWS = Parameter(8, "turns of a half circle", "22.5 degrees apart; hill climbs find what is between")
REACH_MM = Parameter(170.0, "mm", "by hand: how far beyond the field loose pieces are looked for", TRIED)
QUALITY = Parameter(
    0.3,
    "of the evidence",
    "that the silhouette could at best have (had each pixel its own colour's usual gain), from which a place is a "
    "candidate at all; by hand",
    TRIED,
)
USUAL_PERCENTILE = Parameter(60.0, "per cent", "by hand: which of a colour's gains is its usual one", TRIED)
USUAL_LEAST_PX = Parameter(20, "px", "by hand: fewer pixels of a colour say nothing of what is usual", TRIED)
MIN_PIXELS = Parameter(
    160, "px of the view (mm2)", "by hand: of the full resolution, that a loose piece must show", TRIED
)
MOST_CANDIDATES = Parameter(90, "candidates", "by hand, for time", TRIED)
MOST_LOOKED_AT = Parameter(3000, "places of a colour", "of the best, that are spread out; by hand, for time", TRIED)
SAME_SPOT_MM = Parameter(20.0, "mm", "by hand: candidates this near to one another share a spot", TRIED)
OF_A_SPOT = Parameter(6, "candidates", "by hand: so many of a spot are kept, the best first", TRIED)
SPREAD_MM = Parameter(18.0, "mm", "by hand: of one stance the places looked at are further apart than this", TRIED)
SAME_PLACE_MM = Parameter(6.0, "mm", "by hand: two candidates of one stance this near are one, if turned alike", TRIED)
SAME_TURN = Parameter(0.2, "radians", "by hand: turned alike", TRIED)
VIEWED_MM = Parameter(12.0, "mm", "by hand: height at which a place must be in the picture", TRIED)
BEFORE_CAMERA_MM = Parameter(
    50.0, "mm", "by hand: what is nearer to the camera, or behind it, has no place in the picture", TRIED
)
BEYOND_PX = Parameter(
    5, "px of the view (mm)", "by hand: a place so far beyond the picture's edge is still in it", TRIED
)
CLIMB_MM = Parameter((4.0, 2.0, 1.0), "mm", "steps of the candidates' hill climb; by hand", TRIED)
CLIMB_DEG = Parameter((8.0, 4.0, 2.0), "degrees", "as CLIMB_MM")
FINE_CLIMB_MM = Parameter((2.0, 0.7), "mm", "those of the fit at full resolution; by hand", TRIED)
FINE_CLIMB_DEG = Parameter((6.0, 2.0), "degrees", "as FINE_CLIMB_MM")
BEYOND_COST = Parameter(
    400.0,
    "nats",
    "against a loose piece that a box of this set cannot have beside the build: a neighbour's, perhaps; by hand",
    TRIED,
)
HIDDEN_COST = Parameter(
    150.0, "nats", "against a loose piece that the build hides in part: one log odd that it lies just there by chance"
)
APART_COST = Parameter(
    300.0,
    "nats",
    "against a piece that stands in the field but apart from the build: about one patch of worn paint or of a "
    "coloured shadow (GOOD_BESIDE)",
)
BEYOND_MM = Parameter(
    0.5, "mm", "a piece that is taken for loose lies at least so far beyond the field's line: on it, it would count"
)
PUSHED_MM = Parameter(
    20.0,
    "mm",
    "by hand: a loose piece this near to the field may be one that stands in it, pushed out because none was "
    "looked for there",
    TRIED,
)
LINE_MM = Parameter(6.0, "mm", "by hand: as near to the field's line a single piece is looked for outside only", TRIED)
CLOSE_BY_MM = Parameter(
    ((1.0, 7.0, 13.0), 6.0, (-4.0, -2.0, 0.0, 2.0, 4.0)),
    "mm",
    "by hand: gaps to the build at which a piece right behind or before it is tried, the step along it, and steps "
    "about the best place",
    TRIED,
)
UNEXPLAINED_NATS = Parameter(
    2.0,
    "nats a pixel",
    "by hand: a full-resolution pixel that a reading leaves with this much more to explain may show a further piece",
    TRIED,
)

# -- storeys -------------------------------------------------------------------------------------------------------
LEANING = Parameter(3, "readings", "by hand: of so many those of another height are tried", TRIED)
STOREYS = Parameter(2, "readings", "by hand: so many of them are improved", TRIED)
CROOKED = Parameter(
    100.0,
    "nats",
    "prior cost from which a build is crooked enough to look for another of the same picture; by hand",
    TRIED,
)

# -- sizes ---------------------------------------------------------------------------------------------------------
LEAST_PIECES = Parameter(4, "pieces over all mats", "by hand: fewer say nothing of the set", TRIED)

FACTORS = Parameter(
    (0.84, 0.88, 0.92, 0.96, 1.0, 1.04, 1.08, 1.12, 1.16),
    "of the piece file's lengths",
    "4 % apart: fits with a set's own file are off by up to that; a parabola finds what is between",
)

RIMS = Parameter(
    0.98, "of a piece's lengths", "what is seen of them: the rims' pixels are mixtures; median of 27 sessions' fits"
)

# -- readings ------------------------------------------------------------------------------------------------------
SEARCHED = Parameter(60, "readings", "by hand, for time: of the beam, completed by loose pieces", TRIED)
EDITS = Parameter(6, "edits", "by hand, for time: of a reading the best that are followed", TRIED)
EDIT_ROUNDS = Parameter(6, "rounds", "by hand, for time: so often a reading is improved", TRIED)
IMPROVED = Parameter(
    (3, 6), "readings", "by hand: of what a search of WIDE and of WIDEST finds, so many improve", TRIED
)
BORROWED = Parameter((0, 1), "pieces", "by hand: so many may be borrowed on the way of either search", TRIED)
COMPLETED = Parameter(15, "readings", "by hand: weighed again where a further single piece has been found", TRIED)
SHOWN = Parameter(2, "placements", "by hand: of what a layout card shows, improved before anything is searched", TRIED)
VARIANTS = Parameter(8, "edits", "by hand: of what a layout card shows, fitted whatever the card's own fit is", TRIED)
OF_A_RULING = Parameter(2, "readings", "by hand: looked for where none satisfies the card, or all do", TRIED)
LOOKED_THROUGH = Parameter(20, "readings", "by hand, for time: among so many tried ones those are looked for", TRIED)
APART_RIVALS = Parameter(4, "readings", "by hand: with a piece apart in the field, weighed without it too", TRIED)
ALL_EDITS = Parameter(10_000, "edits", "more than there are: if none is among those tried, all come into question")
NEIGHBOURS = Parameter(6, "edits", "by hand: so many of the best of them are fitted", TRIED)
RIGHT_PRIOR = Parameter(
    500.0,
    "nats",
    "for a reading that satisfies the card: who calls Stop believes it, and each of some 30 others tried is as much "
    "less likely beforehand (ln 30, at some 150 nats of margin for one unit of log odds: pixels err together). Right "
    "builds of the dev sets have a wrong reading up to 370 nats ahead, wrong ones no right one less than 2300 behind",
    TRIED,
)
FAR_BEHIND = Parameter(800.0, "nats", "by hand: further behind the best a reading cannot win by a finer fit", TRIED)
KEPT = Parameter(8, "readings", "by hand: so many distinct ones are handed on", TRIED)

# -- shapes that are drawn -----------------------------------------------------------------------------------------
ROUND = Parameter(8, "straight pieces of a half circle", "for judging: 0.3 mm from round for a 60 mm arch")
ROUGH = Parameter(4, "straight pieces of a half circle", "for searching: 1.2 mm from round for a 60 mm arch")
AS_IT_IS = Parameter(((1.0,), (1.0,), 0), "(steps in mm, steps in degrees, rounds)", "a hill climb without a step")
