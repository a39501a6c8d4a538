"""Thresholds of the decision: each with its unit and where its value comes from.

How far margins are trusted is fitted (``trust.json``, ``TRUST_COMMAND``); what is here decides before and beside that.
"""

from __future__ import annotations

from referee.vision.parameters import Parameter

TRIED = "referee bench devset devset2 --leave-one-out --json"
"""Try another value by this; it names what is judged otherwise."""

# -- decide --------------------------------------------------------------------------------------------------------
EXPLAINED_LOW = Parameter(
    0.45, "of the evidence near the build", "by hand: a reading that explains less says nothing", TRIED
)
EXPLAINED_HIGH = Parameter(0.75, "of the evidence near the build", "by hand: less is named as a doubt's cause", TRIED)
LEFT_ALWAYS = Parameter(0.02, "of the evidence", "left by rims and grain however good a reading is; by hand", TRIED)
NOTHING_ELSE = Parameter(
    4000.0, "nats", "margin at least where no reading of the other ruling was met: an empty field; by hand", TRIED
)
MOST_ALONE = Parameter(
    0.97,
    "confidence",
    "the most where a rival ought to have been met and was not: what else the picture shows was not weighed. Of 173 "
    "such mismatches under stress (seed 96) 169 were right",
    "referee bench devset devset2 --stress --every 2 --seed 96",
)
MATCH_UNSEEN = Parameter(
    0.93,
    "confidence",
    "the most of a match where a piece of the paper's colour is seen nowhere: it may stand in the build as one too "
    "many. Of 14 such matches in witness sessions 13 were right",
)
MATCH_AHEAD = Parameter(
    200.0,
    "nats",
    "a match is ahead of the best reading that does not satisfy the card, RIGHT_PRIOR counted for it: of 19 wrong ones "
    "under stress 7 are less, of 370 right ones 4; of the 215 right ones of devset to devset3 none (the least is 381)",
)
MISMATCH_AHEAD = Parameter(
    1000.0,
    "nats",
    "a mismatch is ahead of the best reading that satisfies the card: of 424 right ones of the dev sets, with fewer "
    "aids and under stress, the least is 1245 ahead; of 12 wrong ones three are less than 1000",
)
MISMATCH_EXPLAINED = Parameter(
    0.6,
    "of the evidence",
    "of 144 right mismatches under stress (seed 31) the least explains 0.64; an empty field seen instead of three "
    "pieces under a glare 0.49",
    "referee bench devset devset2 --stress --every 9 --seed 31",
)
SHAPES_EXPLAINED = Parameter(
    0.85,
    "of the evidence",
    "as MISMATCH_EXPLAINED where a card asks for pieces but not for places, so that none of its builds can be tried "
    "beside what was found: under stress (seeds 95 to 97) 7 of the 16 mismatches that explain less were wrong, 6 of "
    "130 that explain more; of a layout's or of pipes, whose builds are tried, none of 106",
    "referee bench devset devset2 --stress --every 2 --seed 97",
)
ON_LINE_MM = Parameter(
    3.0,
    "mm",
    "so near to the field's line it is not told on which side a piece stands that stands alone: clean pictures place "
    "it 1 mm off, blurred ones 5; one placed 0.6 mm beyond the line was counted out, and stood 4 mm within",
)
MARGIN_UNIT = Parameter(100.0, "nats", "by hand: a margin counts by its logarithm, from about here on", TRIED)
MARGIN_MOST = Parameter(4000.0, "nats", "by hand: beyond it a margin counts no further", TRIED)
SHOWN_UNIT = Parameter(
    0.05, "of the pixels", "by hand: what is shown counts by its logarithm, so that half is hardly less than all", TRIED
)
COVERING = Parameter(
    1.0,
    "of the smallest front",
    "what touches a build that is called wrong: clean frames have at most 0.71, hands behind it 1.9 to 2.5",
)
INSTABILITY_LIMIT = Parameter(
    120.0,
    "nats",
    "prior cost from which a build that would be right but for a piece is doubted: of those that cost 100 and more by "
    "seeds 96 to 98, one that was right cost 132, the others 195 and more; wrong ones from 101 on",
    "referee bench devset devset2 --stress --every 2 --seed 96 --seed 97 --seed 98",
)
LEAST_SHOWN = Parameter(
    0.35, "of the pixels", "without them no build is called wrong: one of 37 clean ones has less; a glare had 0.32"
)
MATCH_SHOWN = Parameter(
    0.05,
    "of the pixels",
    "without them no build is called right: the least of 110 clean ones has 0.054; under stress (seed 47) four had "
    "none, two of them wrong",
    "referee bench devset devset2 --stress --every 9 --seed 47",
)
LEANING_MOST = Parameter(
    0.65, "confidence", "the most where a doubt applies: of 62 rulings withheld under stress (seed 100) 40 were right"
)
OTHERS_TOLD = Parameter(3, "readings", "by hand: so many others are offered to a human")

# -- proof ---------------------------------------------------------------------------------------------------------
RIM_PX = Parameter(1, "px of the view (mm)", "about an outline pixels are mixtures, and a pose is right to so much")
THIN_PX = Parameter(
    17,
    "px of the view (mm)",
    "thinner things are rims of pieces and shadows, or both tongs laid down behind the build: up to 15 wide in two of "
    "182 clean pictures; with 13 as many hands and fingers are told as with 17 (93 builds, seed 92)",
    TRIED,
)
TOUCHING_PX = Parameter(8, "px of the view (mm)", "by hand: what is so near to a build touches it", TRIED)
LEAST_PX = Parameter(
    20, "px of the view (mm2)", "by hand: fewer say nothing: a sliver is looked at whole, a piece is not asked", TRIED
)
COLOUR_PATCH = Parameter(
    0.02,
    "of a piece's pixels",
    "by hand: a patch of another colour within it, an icon of a screen or a letter of a print, not grain",
    "referee bench devset devset2 --stress --effects phone --seed 97",
)

# -- visibility ----------------------------------------------------------------------------------------------------
NEAR_EDGE_PX = Parameter(5, "px of the view (mm)", "by hand: side of the square by which the picture's edge is widened")

# -- trust ---------------------------------------------------------------------------------------------------------
MOST_ODDS = Parameter(30.0, "log odds", "beyond them a probability is 0 or 1 to thirteen digits")
