"""Thresholds of seeing that were measured: each with its unit and where its value comes from.

What a rig, a room or a piece set could change is relative to the calibrated scale (mm of the mat, a piece's size, the
paper's light), so that one value serves all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Number = TypeVar("Number")


@dataclass(frozen=True)
class Parameter(Generic[Number]):
    """One measured number, or a tuple of them: what it is, in which unit, where it comes from, and the command that
    fits it anew, or that shows what another value does, where there is one."""

    value: Number
    unit: str
    source: str
    refit: str = ""


UNKNOWN_DENSITY = Parameter(
    -6.0, "log density of (l, a, b)", "about 3.8 spreads off a usual colour; -4 calls worn rims unknown, -8 loses skin"
)
UNKNOWN_THIN_MM = Parameter(5.0, "mm", "rims of pieces at 1 px a mm are 3 px wide; fingers, tongs and pens are wider")
UNKNOWN_PIECES = Parameter(
    0.5, "of the smallest piece's front", "clean frames of devset and devset2 have at most 0.4, phones 0.6 to 4"
)
OUTSIZED_TIMES = Parameter(
    1.3,
    "of all that a colour's pieces can show",
    "clean frames of devset and devset2 have at most 1.0, hands 1.1 to 5.4; what is nearer looks larger",
)
OUTSIZED_THIN_MM = Parameter(7.0, "mm", "by hand: what joins two things is thinner, fingers are not")
FIELD_SEEN = Parameter(0.9, "of the field's pixels", "by hand: a build may stand anywhere in the field")
BUILD_CUT_MM = Parameter(8.0, "mm", "by hand: so much of the picture's edge may run through what stands in the field")
LEAST_COLOUR = Parameter(
    0.02, "standard deviation of log R - log G over the view", "gray pictures 0.00, devset and devset2 at least 0.33"
)
EMPTY_MOVED_SHARE = Parameter(
    0.003, "of the picture's width", "4 px of 1280; a mat's pose wanders by up to 1.5 px when markers are covered"
)
LENS_OFF_SHARE = Parameter(
    0.0012,
    "of the picture's width",
    "1.5 px of 1280 (RMS): a focal length 8 % off gives 2.2, a lens of its own up to 0.9",
)
LENS_WORSE = Parameter(2.0, "times an estimated lens's error", "by hand: a bent mat is off through any lens")
EMPTY_TINT = Parameter(0.5, "log R - log G, or log B - theirs", "tinted shadows have up to 0.4, painted wood 0.6 to 3")
SIZES_TOLD = Parameter(
    0.04, "of the piece file's lengths", "fits of the 27 sessions with their own files are off by up to 0.023"
)
SIZES_DOUBTED = Parameter(
    0.05, "of the piece file's lengths", "above what is told; files 10 % off are fitted 0.06 to 0.14 off"
)
PIECES_APART = Parameter(
    1.1,
    "of the least that all of a player's pieces show standing apart",
    "13 colours frames 1.38 to 1.90 on their fuller mat; of 91 frames of duels all but five, flat rows, less",
)
OVEREXPOSED_SHARE = Parameter(0.5, "of the paper's pixels", "by hand: beyond it the paper's white is a guess")
CLIPPED_INCREASE = Parameter(
    0.2,
    "of the field's pixels",
    "beyond the empty frame's: clean frames of 11 rigs at most 0.1, of two cameras that expose as they like up to 0.9; "
    "lamps on a sheet 0.4 to 0.5, 1.4 stops 0.5 to 0.8",
)
PIECES_CLIPPED = Parameter(
    0.05,
    "of the pieces' pixels",
    "two channels clipped: 0.000 in 66 zones of the dev sets, 0.1 to 0.4 two stops beyond",
)
PIECES_TINTED = Parameter(
    0.8,
    "of the pieces' pixels",
    "one channel clipped: at most 0.57 in 66 zones of the dev sets, 0.2 to 0.99 two stops beyond",
)
GLARE_TINT = Parameter(0.3, "log R - log G, or log B - theirs", "as EMPTY_TINT: what is more tinted is no bare paper")
GLARE_WHITE = Parameter(0.6, "least channel of the strongest", "lamps' mirror images are white; wood, skin have 0.5")
GLARE_LIGHT = Parameter(0.05, "of the paper's light", "as much again as paint sends in the channels that it absorbs")
GLARE_SHARE = Parameter(
    0.05,
    "of the bare table about a build",
    "46 clean frames of devset and devset2 at most 0.02, lamps beside a build 0.05 to 0.4",
)
GLARE_NEAR_MM = Parameter(12.0, "mm", "by hand: so far about a build the table tells what light is on it")
LIGHT_CHANGED = Parameter(1.2, "times the empty frame's", "0.26 stops; a build's own shadow takes up to 10 %")
SHADOWED_LIGHT = Parameter(0.75, "of the other mat's", "by hand: a quarter of the light is gone from one mat only")
WARMER = Parameter(
    1.12, "red over blue, times the empty frame's", "white balance drifts by up to 7 % from frame to frame"
)

# -- what light says of a reading: verdict/shading --------------------------------------------------------

FACE_SD_LIGHT = Parameter(
    0.09, "log light", "spread of a face about its neighbourhood: median of fitted true builds, dev set and witness"
)
FACE_SD_A = Parameter(0.08, "log R - log G", "as FACE_SD_LIGHT")
FACE_SD_B = Parameter(0.07, "log B against yellow", "as FACE_SD_LIGHT")
FACE_WIDER = Parameter(3.0, "spreads of a face", "by hand: grain, highlights and soft shadows")
FACE_WIDER_SHARE = Parameter(0.17, "of a face's pixels", "by hand: so often they are that wide")
FACE_STRANGE_SHARE = Parameter(0.03, "of a face's pixels", "by hand: so often they are anything at all")
FACE_LEAST = Parameter(-13.0, "nats a pixel", "about what an empty frame says of a pixel that shows a piece")
FACE_REACH_PX = Parameter(10, "px of the view (mm)", "by hand: half the side of the neighbourhood of a face's pixel")
FACE_STEP_PX = Parameter(2, "px of the view", "by hand: every second pixel of a neighbourhood is looked at")
LIGHT_WEIGHT = Parameter(
    0.1, "of each nat", "of 0.05 to 0.3 the one with the fewest wrong margins in witness sessions; the dev set's stay"
)
LIGHT_NEAR_PX = Parameter(5, "px of the view (mm)", "by hand: so much background around compared builds counts too")
LIGHT_RIVALS = Parameter(3, "readings of each ruling", "by hand: how many are compared")
LIGHT_CLEAR = Parameter(4000.0, "nats", "from this margin on light has never changed a ruling for the better")
ARCH_GLOW = Parameter(0.8, "of the evidence for an arch's colour", "by hand: what reflected light may give an opening")
ARCH_DARKER = Parameter(0.25, "log light", "by hand: an opening is this much darker than its face")
SAME_CURVE_DEG = Parameter(40.0, "degrees", "by hand: facets whose normals are nearer are one rounded face")

# -- what confidence is made of ------------------------------------------------------------------------------

TRUST_COMMAND = "referee bench devset devset2 --fit --rows rows.jsonl --lessons tests/golden/lessons.jsonl"
"""Fits ``verdict/trust.json`` anew: the weights of the features, and from which confidence on to speak."""
