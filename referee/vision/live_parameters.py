"""Thresholds of live vision: each with its unit and where its value comes from.

No command fits them: another value is tried by running the tests of ``tests/vision``, ``tests/session`` and
``tests/review`` over recorded and staged duels, and ``tests/review/bench_fouls.py`` for fouls.
"""

from __future__ import annotations

from cards.build import TALLEST_MM
from referee.vision.parameters import Parameter

# -- gate ----------------------------------------------------------------------------------------------------------
WIDTH_PX = Parameter(
    320,
    "px",
    "width of the reduced picture: tongs 10 mm thick are still 3 pixels, a sleeve some ten, and averaging kills the "
    "noise",
)
CHANGED = Parameter(16, "levels of 255", "a reduced pixel has changed: five sigma of a dim webcam")
SETTLED = Parameter(0.004, "of the field's pixels", "less is noise: about five reduced pixels")
OVER_MM = Parameter(
    TALLEST_MM - 20.0, "mm", "by hand: hands reach into a box so high over the field, the last piece's tongs with them"
)
REST_S = Parameter(
    1.2, "s", "by hand: what has not changed for so long off the sheet is background, unless it looks like a piece"
)
ARM_REST_S = Parameter(8.0, "s", "as REST_S for whose arm it is: a sleeve rests longer than a hand works")
AWAKE_S = Parameter(0.7, "s", "by hand: what has moved within this time is a hand from a much smaller size on")
WARM_REST_S = Parameter(90.0, "s", "by hand: REST_S of what has the hue of skin, for a hand at rest is still a hand")
HAND_MOVING = Parameter(0.004, "of the box", "by hand: a moving thing that covers less of it is no hand")
HAND_RESTING = Parameter(0.03, "of the box", "by hand: a thing at rest that covers less of it is no hand")
AWAKE_SHARE = Parameter(0.3, "of HAND_MOVING", "by hand: so much of a moving thing must have moved of late")
REACHES_PX = Parameter(3, "reduced px", "by hand: a thing reaches out of the box by more than these, not by its rim")
WARM_SHARE = Parameter(
    0.2, "of a thing's pixels", "by hand: of the hue of skin or wood it is a hand, whatever its sleeve looks like"
)
FIELD_COVERED = Parameter(
    0.1,
    "of the field",
    "what covers more is no gap, rim or dark side of a build (at most 0.06 in the dev sets): a phone, a cup; phones "
    "that lie in the field cover 0.15 to 0.3",
)
CHECK_S = Parameter(2.0, "s", "by hand, for time: between looks for mats that are known")
SEEK_S = Parameter(0.5, "s", "by hand, for time: between looks for mats while none is known")
MISSED_CHECKS = Parameter(3, "looks", "by hand: a mat missed so often is gone")
SHADOW = Parameter(
    0.5, "of the light", "by hand: a shadow leaves at least this; a darker hand before wood must not be taken for one"
)
TINTED = Parameter(0.12, "of the light", "by hand: a shadow takes no colour more than another by so much")
SKIN_TINTED = Parameter(
    0.08, "of the light", "as TINTED, of what has the hue of skin: before wood it is nearly a shadow"
)
SHADE_FLOOR = Parameter(6, "levels of 255", "by hand: added to both pictures, so that noise in the dark is no shadow")
SHADE_STEPS = Parameter(100, "steps of the light's share", "finer than noise")
SHADE_LEAST = Parameter(80, "reduced px", "by hand: fewer shadows tell nothing of the table's lamp")
SHADE_RIM = Parameter(0.03, "of the shadows' pixels", "by hand: so many may be darker where pieces touch the paper")
SHADE_MARGIN = Parameter(0.04, "of the light", "by hand: a shadow of another place leaves as much but for this")
SHADE_PALEST = Parameter(0.75, "of the light", "by hand: no table's shadows are taken for paler than this")
SHADED = Parameter(60, "levels of 255", "by hand: what is darker without a shadow shows the share but badly")
WHITE_DRIFT = Parameter(0.06, "of the paper's light", "by hand: the label table is made anew when it changed by more")
AROUND_PX = Parameter(6, "reduced px", "by hand: so much around a zone's box is looked at, for what reaches out of it")
SHEET_INSET_MM = Parameter(3, "mm", "by hand: so far within its edge the sheet is surely paper")

# -- color_lut -----------------------------------------------------------------------------------------------------
BITS = Parameter(5, "bits a channel", "32 KB stay in the nearest cache; codes in a cell differ less than noise does")
DEEPEST = Parameter(-2.3, "log light", "by hand: from here down a colourless pixel is darker than a shadow on paper")
WARM_RED = Parameter((0.12, 1.0), "log R - log G", "by hand: of skin of all tones and bare wood")
WARM_YELLOW = Parameter((0.2, 1.6), "log yellow against blue", "as WARM_RED")
WARM_LIGHT = Parameter(-2.2, "log light", "as WARM_RED: the least")
SKIN_LIGHT = Parameter(-3.4, "log light", "as WARM_LIGHT, of dark skin in its own shade")
ANYTHING = Parameter(1 / 150.0, "density", "one over the volume of the features' box: what fits nothing is strange")
INK_SHARE = Parameter(0.124, "of the sheet", "its markers' area: any grey there, elsewhere rather a piece's dark side")
SURER = Parameter(0.5, "nats", "by hand: a piece's colour must beat anything by so much")
SURER_WARM = Parameter(
    1.0, "nats", "the same where it has the hue of skin; at 2 a falling orange piece, blurred, is a hand"
)

# -- hand_owner ----------------------------------------------------------------------------------------------------
DIFFERS = Parameter(24, "levels of 255", "by hand: a channel differs so from the empty table's where something is")
SHOULDERS_MM = Parameter(
    ((35.0, -560.0, 190.0), (-130.0, -560.0, 190.0)), "mm", "a sitting player's, right and left, in the own mat's frame"
)
STRANGERS_MM = Parameter(
    (
        (350.0, -560.0, 190.0),
        (-290.0, -560.0, 190.0),
        (-374.0, 620.0, 190.0),
        (-30.0, 620.0, 190.0),
        (314.0, 620.0, 190.0),
    ),
    "mm in the known mat's frame",
    "shoulders of who may sit beside or opposite: as SHOULDERS_MM, for a sheet 20 mm beside this one or facing it",
)
END_PX = Parameter(4, "reduced px", "by hand: the near end of a fist is that many of its pixels")
APART_DEG = Parameter(10.0, "degrees", "by hand: so much nearer to one player's way than to any other's it must be")
MOST_DEG = Parameter(60.0, "degrees", "by hand: further off a player's way it is nobody's known arm")
FAR_PERCENTILE = Parameter(90, "per cent", "an arm's far end is the tenth of its pixels that is farthest; by hand")
UP_THE_ARM = Parameter(3, "parts of the way", "the way is taken one part up: a shoulder may be behind the camera")

# -- fists ---------------------------------------------------------------------------------------------------------
FIST_MM = Parameter(26.0, "mm", "by hand: a fist is at least so thick; so far outside of the field it is short of it")
FIST_MM2 = Parameter(700.0, "mm2", "by hand: and at least so large as it shows behind its sleeve")
FINGERS_MM = Parameter(-22.0, "mm in y", "by hand: where the middle of a fist is whose fingers are at the field's line")
BARE_BELOW_MM = Parameter(
    100.0, "mm", "by hand: over that line no fist is seen so low whose tongs reach the table, from 18 degrees up"
)
SHOWN_AHEAD_MM = Parameter(35.0, "mm", "by hand: so far before a fist its tongs are looked for")
SHOWN_AHEAD = Parameter(0.6, "of the picture there", "by hand: where pieces hide less than the rest tongs would show")
TWO_FISTS_MM2 = Parameter(3000.0, "mm2", "by hand: a patch of less is one fist, however many arms lead to it")
FIST_OVER_MM = Parameter(90.0, "mm", "by hand: about so high over the table is a fist that works")
RIM_MM2 = Parameter(250.0, "mm2", "by hand: what shows of a fist behind its own sleeve is at least so large")
SLEEVE_MM = Parameter(60.0, "mm", "by hand: what has a piece's colour and is thicker than this is no piece")
DENSE = Parameter(0.45, "of the pixels", "by hand: beside a straight edge fewer are new, and noise is a twentieth")
DENSE_PX = Parameter(5, "reduced px", "side of the square in which they are counted; a sleeve is ten across")
ARM_MM = Parameter(150.0, "mm", "by hand: so far an arm leads away from fist or field; a fist's shadow is shorter")
ARM_SHARE = Parameter(0.9, "of the way", "by hand: so much of it must be arm; the rest is noise")
WIDEST_DEG = Parameter(150.0, "degrees", "by hand: what is wider is no arm but a body, or both")
RAYS = Parameter(90, "directions", "four degrees each; a sleeve is seen under twenty")
FROM_FIST = Parameter(0.3, "of ARM_MM", "by hand: so far from its middle a fist is all around it, and tells no sleeve")
SLEEVE_SHARE = Parameter(0.85, "of the way beyond", "as ARM_SHARE, where shade on a dark sleeve has left holes in it")
OFF_EDGE_PX = Parameter(5, "reduced px", "by hand: so near its edge nothing is told of the picture")
FINGER_MM = Parameter(14.0, "mm", "by hand: tongs are thinner, what shows of a hand between two pieces is not")
TONGS_MM = Parameter(15.0, "mm", "by hand: so far the tongs show beyond the fist that holds them")
TONGS_MM2 = Parameter(150.0, "mm2", "by hand: and so much of them there")
TONGS_LONG_MM = Parameter(150.0, "mm", "by hand: no tongs show further from the middle of the fist")
AHEAD = Parameter(0.5, "cosine", "by hand: tongs point away from the sleeve, by 60 degrees at most")
SAME_FIST_MM = Parameter(30.0, "mm", "by hand: a fist so near to where one was a look ago is the same one")
STAYS_MM = Parameter(15.0, "mm", "by hand: as SAME_FIST_MM, of one at work, or whose arm seems to be another player's")
RESTS_MM = Parameter(
    40.0, "mm", "by hand: a fist's breadth: further off it has left; a second one moves its middle less"
)
HIDDEN_MM = Parameter(130.0, "mm", "by hand: so far a hand goes between two looks, and is then behind another")
BEHIND_MM = Parameter(60.0, "mm", "by hand: so near to another's fist one is gone from sight at once")
HIDDEN_LOOKS = Parameter(25, "looks", "by hand: a hand that was not seen for longer has gone")
SCALE_MM = Parameter(50.0, "mm", "half the length at the field's centre by which the picture's scale is taken")

# -- arms ----------------------------------------------------------------------------------------------------------
IN_FIELD_MM = Parameter(40.0, "mm", "by hand: so low over the field a thing is in it, and so high a hand is over it")
BY_REACH_MM = Parameter(
    (10.0, 150.0, 60.0),
    "mm",
    "by hand: how far off the end of unseen tongs is guessed: in x, in y from in front and behind",
)
END_MM2 = Parameter(80.0, "mm2", "by hand: so much of tongs or fist is in the field")
OVER_FIELD_MM = Parameter(80.0, "mm", "by hand: so low over the field another player has nothing to do")
HANDS_APART_MM = Parameter(75.0, "mm", "by hand: two hands are so far apart; a tower may part one into two patches")
TONGS = Parameter((-18.0, 95.0, -62.0), "mm in the player's mat frame", "from a fist to its tongs' tip; by hand")
SHOWN_MM = Parameter(70.0, "mm", "by hand: where less of TONGS shows, a bare hand cannot be told from one with tongs")
BUILD_MM = Parameter(200.0, "mm", "by hand: so high a build is looked for over its field")
TOUCH_PX = Parameter(3, "reduced px", "by hand: a hand that is next to so many of a build's touches it")
NEAR_PX = Parameter(5, "reduced px", "by hand: side of the square within which a hand touches a piece")
STOOD_LOOKS = Parameter(4, "looks", "by hand: what shows so often in a row stands; what is carried is seen shorter")
TWO_ARMS_DEG = Parameter(
    88.0, "degrees", "by hand, seen from behind: one sleeve spreads over 40 to 80, two that lead to one place over 100"
)
WIDER_DEG = Parameter(72.0, "degrees", "as TWO_ARMS_DEG, where it spread less a moment ago with the fist where it is")
WIDENED_DEG = Parameter(16.0, "degrees", "by hand: by so much; noise is two rays of four degrees")
HIDES_MM2 = Parameter(60.0, "mm2", "by hand: a fist that hides so much of a build is before it; less is a build's rim")

# -- stays ---------------------------------------------------------------------------------------------------------
STAY_S = Parameter(0.7, "s", "by hand: a bare hand that is told by its leaving has worked for so long")
STAY_STILL_S = Parameter(0.6, "s", "by hand: and stayed for so long at one place, which what carries a piece does not")
STAY_GAP_S = Parameter(0.45, "s", "by hand: what has not been at work for longer is another visit")
LEAVES_MM = Parameter(48.0, "mm of TONGS", "by hand: so much of them shows beyond a fist, which is half as broad")
LEAVES_LOOKS = Parameter(2, "looks", "by hand: so often a leaving hand must be seen without them")
SHOWED = Parameter(
    0.5, "of a player's looks", "by hand: whose tongs were seen more seldom where they would show holds them unseen"
)
SHOWED_LOOKS = Parameter(3, "looks", "by hand: so many before this leaving tell whether a player's tongs are seen")

# -- fouls ---------------------------------------------------------------------------------------------------------
HAND_FOUL_S = Parameter(0.35, "s", "by hand: a sight must last so long; shorter may be two things that pass")
SHAKEN_S = Parameter(0.0, "s", "a mat that moved has moved, however shortly")
SEEN_SHARE = Parameter(0.75, "of the looks of that time", "by hand: so often it must be seen")
AWAY_S = Parameter(1.0, "s", "by hand: a sight that was away for so long is another one when it comes back")
UNSEEN_S = Parameter(1.0, "s", "by hand: a hand that is seen nowhere for longer has gone")
LOOK_S = Parameter(0.09, "s", "for time: looks are at least so far apart")
CLIP_S = Parameter(2.0, "s", "by hand: a proposal is shown by a clip of this length around its beginning")

# -- gate_history --------------------------------------------------------------------------------------------------
HISTORY_S = Parameter(4.0, "s", "by hand: so long looks are remembered while players build; longer than any question")
ALONE_S = Parameter(0.5, "s", "by hand: a hand so shortly before or after a motion may have made it")
HAND_LASTS_S = Parameter(0.15, "s", "by hand: a hand whose arm was not seen is over a field for longer than this")
BUSY_S = Parameter(0.3, "s", "by hand: a field in which something moved so lately is being worked in")
OWN_S = Parameter(0.5, "s", "by hand: a hand there for so long before the press, and alone, is the caller's own")
OWN_LOOKS = Parameter(2, "looks", "by hand: more than these must have shown it")
RECENT = Parameter(6, "frames", "kept for the view at the press: a fifth of a second")
AT_PRESS = Parameter(3, "frames", "by hand: so many of the last before the press are its view")
PIECE_SHARE = Parameter(0.012, "of the field", "half of what the smallest piece covers, but for its rim")
SIGHT_S = Parameter(0.08, "s", "for memory: what pixels show is kept so often at most")
SIGHTS = Parameter(160, "sights", "for memory: and so often in all, some fourteen seconds")
WINDOW_PX = Parameter(2, "reduced px", "a mat that lies still is located so far off at most; by hand")
BESIDE_PX = Parameter(8, "reduced px", "by hand: a long piece's corner may be so far beside the field: some 25 mm")
ON_GROUND = Parameter(0.6, "of a piece's foot", "by hand: so much of it is in the field when its corner is beside it")
FRAME_LATE_S = Parameter(0.02, "s", "by hand: a frame so little after the press shows what was there then")
FRESH_S = Parameter(0.35, "s", "by hand: between frames further apart some were lost, or vision was busy")
HOLE_S = Parameter(
    0.45, "s", "by hand: nobody saw what happened between looks further apart: a push takes a third of it"
)
SHOOK_S = Parameter(
    1.0, "s", "by hand: a mat that moved so shortly before or after a motion in its field may have made it"
)
TOUCHED = Parameter(0.01, "of the field's pixels", "change when anything in it is touched; noise is half of that")

# -- shake ---------------------------------------------------------------------------------------------------------
MOVED_MM = Parameter(1.2, "mm between two looks", "by hand: what leaning on the table does is less")
LEAST_CORNERS = Parameter(6, "corners", "by hand: so many of a mat must be seen again")
AGREE = Parameter(0.7, "of the corners", "by hand: so many must go the same way")
AGREE_PX = Parameter(0.8, "px", "by hand: within so much they go the same way")
PERSPECTIVE = Parameter(0.35, "of the way", "by which a sheet's near edge moves further in the picture than its middle")
STILL_PX = Parameter(0.4, "px", "by hand: what moves less stands still")
ROOM_CORNERS = Parameter(60, "corners", "by hand, for time: looked for outside of all mats")
ROOM_LEAST = Parameter(10, "corners", "by hand: so many of the room must be seen again")
ROOM_QUALITY = Parameter(0.01, "of the best corner's contrast", "the usual choice for good features to track")
ROOM_APART_PX = Parameter(12, "px", "by hand: corners of the room are at least so far apart")
BESIDE_MM = Parameter((60, 150), "mm in x and y", "by hand: so near a sheet's edge hands move: no corner of the room")
EDGE_PX = Parameter(5, "px", "by hand: corners nearer to the picture's edge are not followed")
TRACKED_PX = Parameter(15, "px", "by hand: side of the window by which a corner is followed, over two octaves")
LEAST_PX_PER_MM = Parameter(0.2, "px", "by hand: a mat that shows smaller is not followed any worse than this")

# -- annotate ------------------------------------------------------------------------------------------------------
SMALLEST_SHARE = Parameter(0.004, "of the field", "by hand: what is smaller is noise or a marker's corner")
HAND_SHARE = Parameter(0.02, "of the field", "by hand: parts of a hand that are smaller are its shadow's rim")
