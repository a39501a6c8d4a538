"""What light does to paper, table and paint: densities of a pixel's features, and thresholds, each with its source.

Features are (log light, log R - log G, log B against yellow), relative to lit paper (``calibration.palette.features``).
A mixture's parts were set by hand to the spreads seen in the dev sets' rooms; no command fits them, ``TRIED`` shows
over sessions with truth what another value does, and ``tests/compare_bench.py`` holds two such runs side by side.
"""

from __future__ import annotations

from typing import NamedTuple

from referee.vision.parameters import Parameter

TRIED = "referee bench devset devset2 --leave-one-out --json"
"""Try another value by this; it names what is judged otherwise."""


class Part(NamedTuple):
    """One part of a mixture of normal densities: its share, and mean and standard deviation of each feature."""

    share: float
    mean: tuple[float, float, float]
    sd: tuple[float, float, float]


NEUTRAL = (0.0, 0.0, 0.0)
PART = "share; mean and standard deviation of the features"

# -- paper and its markers --------------------------------------------------------------------------------

PAPER_LIT = Parameter(Part(0.75, NEUTRAL, (0.10, 0.06, 0.07)), PART, "by hand: paper in the light", TRIED)
PAPER_SHADED = Parameter(Part(0.17, (-0.3, 0.0, 0.0), (0.25, 0.09, 0.12)), PART, "by hand: in a soft shadow", TRIED)
PAPER_DARK = Parameter(
    Part(0.07, (-0.9, 0.0, 0.1), (0.45, 0.15, 0.25)), PART, "by hand: in a deep one, which may be tinted", TRIED
)
INK = Parameter(Part(1.0, (-1.2, 0.0, 0.0), (1.2, 0.2, 0.25)), PART, "by hand: inside a marker, any grey", TRIED)
WHITE_LEAST_PX = Parameter(50, "px", "by hand: fewer pixels of paper do not tell its white", TRIED)
WHITE_USUAL = Parameter((0.8, 0.8, 0.8), "linear R, G, B", "by hand: taken for the paper's white where it is not told")
WHITE_BRIGHT = Parameter(50, "per cent of the pixels", "clipped paper is all of one light; the others are below it")
WHITE_PLAIN = Parameter(
    60, "per cent of the bright ones", "by hand: the least coloured of them are the paper's own", TRIED
)
WHITE_NEAR = Parameter(0.15, "of their light", "by hand: the white is told by pixels this near to it", TRIED)
PAPER_STRANGE = Parameter(0.05, "of the paper's pixels", "by hand: so often they are anything at all", TRIED)
PAPER_OTHER_LIGHT = Parameter(
    0.1, "of the paper's pixels", "by hand: a second lamp's edge, a crease: not the smooth light fitted", TRIED
)

# -- the empty frame --------------------------------------------------------------------------------------

UNCHANGED = Parameter(Part(0.8, NEUTRAL, (0.10, 0.08, 0.09)), PART, "by hand: as in the empty frame", TRIED)
SHADED = Parameter(Part(0.2, (-0.4, 0.0, 0.0), (0.35, 0.14, 0.18)), PART, "by hand: in a shadow of a piece", TRIED)
RELIT = Parameter(Part(0.3, NEUTRAL, (0.14, 0.10, 0.12)), PART, "by hand: by a shadow over the sheet alone", TRIED)
RELIT_STEP = Parameter(0.25, "log light", "by hand: a soft end of a shadow passes in steps of this", TRIED)
EMPTY_STRANGE = Parameter(0.02, "of the pixels", "by hand: so often they are anything at all", TRIED)

# -- what is off the mats ---------------------------------------------------------------------------------

OUTSIDE_LEAST_PX = Parameter(400, "px", "by hand: fewer pixels off the mats say nothing of its colours", TRIED)
OUTSIDE_SAMPLE = Parameter(3000, "px", "by hand, for time")
OUTSIDE_COLOURS = Parameter(6, "colours", "by hand: a shirt, a table, a wall and their shadows", TRIED)
OUTSIDE_STEPS = Parameter((12, 0.01), "steps of k-means, and the move at which it ends", "by hand, for time")
OUTSIDE_LEAST_SD = Parameter(0.08, "spread of a feature", "by hand: no colour is purer than a camera's noise", TRIED)
OUTSIDE_STRANGE = Parameter(0.3, "of the pixels off the mats", "by hand: so often they are anything at all", TRIED)
OUTSIDE_KNOWN = Parameter(0.7, "of the pixels off the mats", "the rest: of the frame's own frequent colours")
OUTSIDE_SHARE = Parameter(0.03, "of what is off the mats", "by hand: a colour is frequent from here on", TRIED)

# -- the light over a sheet ---------------------------------------------------------------------------------

LIT_TINTS = Parameter(
    (0.25, 0.3), "log R - log G, log B against yellow", "by hand: paper's tint stays below these", TRIED
)
LIT_LEAST = Parameter(-0.6, "log light", "by hand: paper in deeper shadow tells nothing of the light", TRIED)
LIGHT_LEAST_SHARE = Parameter(
    0.05, "of LIGHT_SAMPLE", "by hand: with less paper in sight its light is taken for even", TRIED
)
LIGHT_BEGIN = Parameter(
    (50, 70), "per cent of the pixels", "by hand: where the fit begins, without and with shadows", TRIED
)
LIGHT_STIFF = Parameter(0.01, "of a pixel's weight", "by hand: holds what no pixel tells")
LIGHT_SCALES = Parameter(
    (0.3, 0.15, 0.08, 0.08, 0.08), "log light", "by hand: off by this a pixel counts a quarter, step by step", TRIED
)
STRANGE_NATS = Parameter(2.0, "nats", "by hand: less likely than anything by this, a pixel is surely no paper", TRIED)
TOLD_NATS = Parameter(2.5, "nats", "by hand: a colour less likely than anything by this is not told", TRIED)

# -- evidence ---------------------------------------------------------------------------------------------

CLIP = Parameter(5.0, "nats", "by hand: no single pixel says more, for or against", TRIED)
CLUTTER_IN = Parameter(
    0.03, "of the field's pixels", "by hand: of a piece's colour where no piece of the build is", TRIED
)
CLUTTER_OUT = Parameter(0.3, "of the pixels outside", "by hand: the same there, where loose pieces lie", TRIED)
ANYTHING = Parameter(1 / 150.0, "density", "one over the volume of the features' box")
PAPER_SAMPLE = Parameter(15000, "px", "so many of the paper's pixels tell its white as well as all of them")
LEAST_RELIT = Parameter(
    0.4,
    "step of a feature",
    "of the sheet's white against the empty frame's, below which the room is taken to change with it: sessions without "
    "a shadow over the sheet have at most 0.36 (a camera that exposes anew), a lost third of light 0.4",
)
ALIKE = Parameter(
    1.5, "nats", "1.7 spreads: nearer to its best a piece's colour is the background's own; by hand", TRIED
)
LARGE_SHARE = Parameter(
    0.10, "of what is off the mats", "by hand: a shirt or a table covers more, loose pieces do not", TRIED
)
SHEEN = Parameter(
    0.04,
    "of the paper's light",
    "of photographed worn and varnished red blocks it takes whole faces to 0.04, spots to 0.08; with 0.06 one of the "
    "right builds of the dev sets is no longer proven",
    TRIED,
)
SHEEN_SHARE = Parameter(0.5, "of a piece's pixels", "by hand: under a sheen as often as not", TRIED)
SHEEN_TINT = Parameter(
    0.35, "log light of one channel against others", "by hand: less may be paper in the shade", TRIED
)
SHEEN_PLAIN = Parameter(0.0, "log density", "by hand: what is so like the background needs no paint", TRIED)
LABELLED = Parameter(0.5, "nats", "by hand: a pixel has the colour that beats the background by so much", TRIED)
OUTSHINES = Parameter(0.25, "log light, relative to paper", "by hand: only a mirror image sends as much", TRIED)
CLIPPED_LIGHT = Parameter(
    0.85, "linear light of the paper", "by hand: up to here what is clipped shines brighter", TRIED
)
BLEACHED_MM2 = Parameter(12.0, "mm2", "by hand: a core that large is no highlight of an edge", TRIED)
FOOT_RADII = Parameter(3.0, "radii of the core", "by hand: so far its foot reaches", TRIED)
WORN_REACH_PX = Parameter(
    9, "px of the view (mm)", "by hand: so far around worn wood its piece's paint is looked for", TRIED
)
PAINT_NEAR = Parameter(0.1, "of that neighbourhood", "by hand: so much of it must be paint", TRIED)
LIGHT_SAMPLE = Parameter(4000, "px", "for time: the paper's light is fitted to so many")
BELOW_WEIGHT = Parameter(
    0.5, "of a pixel's weight", "by hand: what lies below the light fitted may be in shadow", TRIED
)

# -- unknown ----------------------------------------------------------------------------------------------

DEEPEST = Parameter(-1.9, "log light", "by hand: of a shadow at its deepest, relative to the table in the light", TRIED)
BRIGHTER = Parameter(0.15, "log light", "by hand: what a second reflection adds", TRIED)
EDGE_SD = Parameter(0.12, "log light", "by hand: spread at the ends of a shadow's range", TRIED)
RED_SD = Parameter(0.14, "log R - log G", "by hand: spread of a shadow's tint about the room's own", TRIED)
BLUE_SD = Parameter(0.18, "log B against yellow", "as RED_SD")
GLOSS = Parameter(-0.35, "log light, relative to paper", "by hand: from here a pixel without tint may be gloss", TRIED)
TINT_SAMPLE = Parameter(400, "px", "by hand: a shadow's tint is learnt from so many at least", TRIED)
TINT_LIGHT = Parameter((-1.3, -0.3), "log light", "by hand: so deep shadows tell the room's tint", TRIED)
TINT_MIDDLE = Parameter((25, 75), "per cent of the pixels in shadow", "by hand: the middle half of them", TRIED)
TINT_MOST = Parameter(0.9, "tint a unit of depth", "by hand: more is no shadow's", TRIED)
SHADES = Parameter(
    (0.25, 0.45, 0.7), "of the light", "by hand: what a colour is looked for in beside its own light", TRIED
)
TINTED_SHADE = Parameter(
    0.25, "tint a unit of depth", "by hand: from here shaded paint is looked for; a colour's own spread has less", TRIED
)

INNER_PX = Parameter(
    2, "px of the view (mm)", "by hand: so far inside of what stands on the sheet no pixel is a mixture"
)

# -- view -------------------------------------------------------------------------------------------------

PX_PER_MM = Parameter(
    1.0, "px a mm at the mat's centre", "a 6 mm error is 6 pixels, and judging costs the same whatever the camera"
)
SIDE_MM = Parameter(22.0, "mm", "half a large piece: so much wider than the field a view is")
DEPTH_MM = Parameter(22.0, "mm", "as SIDE_MM, in depth")
ABOVE_MM = Parameter(15.0, "mm", "half a piece: so much higher than builds get a view is")
HORIZON = Parameter(-1e-4, "mm a mm", "rounding: rays that sink less meet no table")
FAR_MM = Parameter(1e6, "mm", "a kilometre: where such rays are taken to end")
MARKER_RIM_MM = Parameter(2, "mm", "by hand: so far around a marker its black bleeds into the paper")
SHRUNK = Parameter(
    0.7, "of the picture's scale", "by hand: shrinking further by linear interpolation alone would alias"
)
SHRUNK_BLUR_PX = Parameter(0.4, "px of the view", "by hand: standard deviation of the blur before that")

# -- aids, markers, files ---------------------------------------------------------------------------------

LENS_MARKERS = Parameter(4, "markers", "a lens is estimated well from more than one mat's only")
OCCUPIED_SHARE = Parameter(0.01, "of the sheet", "by hand: with more coloured pixels a frame is not of a bare mat")
CLIPPED_STEP = Parameter(7, "px", "for time: every so manieth pixel of the paper is looked at")
SAME_CARD_SHARE = Parameter(
    0.5, "of a marker's side", "finds whose middles are closer are one card: two cards' markers cannot overlap so far"
)
CARD_SMALL_PX = Parameter(
    14.0, "px", "smaller sides are misread: ArUco 4x4 has six cells, two pixels each at the least"
)
SMALLEST_PX = Parameter(64, "px", "by hand: a picture of less a side shows no mat")
LARGEST_PX = Parameter(3840, "px", "longer pictures are reduced: markers are looked for at a camera's sizes")

# -- columns of cards -------------------------------------------------------------------------------------
COLUMN_ASIDE_MM = Parameter(
    16.0, "mm", "by hand: a card of a column lies no farther beside its line, near the base card"
)
COLUMN_ASIDE_SHARE = Parameter(0.06, "of the distance", "by hand: and so much more the farther away it lies")
COLUMN_TURNED = Parameter(0.45, "radians", "by hand: a card turned further against the base card is not of its column")
COLUMN_OFF_MARK = Parameter(
    0.32, "storeys", "off a mark a column's end is read as neither: cards laid by hand lie within 3 mm"
)
FARTHEST_WEIGHT = Parameter(
    0.05, "of the middle's", "no card lies twenty times as far as the middle of all: keeps the fit from the horizon"
)
LAID_BADLY = Parameter(
    0.03, "of a marker's side", "by hand: misses from here on count less and less, of a card bent or half covered"
)
NO_TURN = Parameter(1e-9, "of a square", "guards a division: shorter sums of turns tell no turn")
