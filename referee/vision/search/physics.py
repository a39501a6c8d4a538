"""How pieces come to rest, compiled: let down on one another, in line, and without toppling.

Pieces of a state are rows (stance, x, y, z, yaw): mm, radians, in the frame of the build.
"""

from __future__ import annotations

from referee.vision.search import parameters
from referee.vision.search.jit import inlined, lean, lean_root

SEEN_SAMPLES = parameters.SEEN_SAMPLES.value
SEEN_INSET_MM = parameters.SEEN_INSET_MM.value
ON_TABLE_MM = parameters.ON_TABLE_MM.value
FOOT_MM = parameters.FOOT_MM.value
SAME_LEVEL_MM = parameters.SAME_LEVEL_MM.value
CARRIED_MM = parameters.CARRIED_MM.value
CARRIER_GAP_MM = parameters.CARRIER_GAP_MM.value
STACKED_MM = parameters.STACKED_MM.value
TOPPLE_FULL_MM = parameters.TOPPLE_FULL_MM.value
TOUCH_MM = parameters.TOUCH_MM.value


@inlined
def rest_on(cat, stance, x, y, pieces, count):
    """Where a piece let down at x, y rests among the first ``count`` of ``pieces``.

    Returns (z of its centre, how many pieces carry it; 0 is the table).
    """
    size, lower, upper = cat.size, cat.lower, cat.upper
    rest = size[stance, 2] / 2
    carriers = 0
    steps = lower.shape[1]
    wx, wy = size[stance, 0], size[stance, 1]
    for j in range(count):
        other = int(pieces[j, 0])
        ox, oy = size[other, 0], size[other, 1]
        if (min(y + wy / 2, pieces[j, 2] + oy / 2) - max(y - wy / 2, pieces[j, 2] - oy / 2)) < TOUCH_MM:
            continue
        left = max(x - wx / 2, pieces[j, 1] - ox / 2)
        right = min(x + wx / 2, pieces[j, 1] + ox / 2)
        if right - left < TOUCH_MM:
            continue
        top = -1e9
        samples = 1 if cat.flat[stance, 0] and cat.flat[other, 1] else SEEN_SAMPLES
        for i in range(samples):
            at = left + SEEN_INSET_MM + (right - left - 2 * SEEN_INSET_MM) * i / (SEEN_SAMPLES - 1)
            u = (at - x) / wx + 0.5
            v = (at - pieces[j, 1]) / ox + 0.5
            iu = min(max(u * (steps - 1), 0.0), steps - 1.001)
            iv = min(max(v * (steps - 1), 0.0), steps - 1.001)
            a, b = int(iu), int(iv)
            low = lower[stance, a] + (iu - a) * (lower[stance, a + 1] - lower[stance, a])
            high = upper[other, b] + (iv - b) * (upper[other, b + 1] - upper[other, b])
            top = max(top, pieces[j, 3] + high - low)
        if top > rest + SAME_LEVEL_MM:
            rest = top
            carriers = 1
        elif top > rest - SAME_LEVEL_MM and top > size[stance, 2] / 2 + SAME_LEVEL_MM:
            carriers += 1
    return rest, carriers


@lean
def settle(cat, pieces, count):
    """Let every piece down on those before it: rewrites the z of each row, in order."""
    for i in range(count):
        pieces[i, 3], _ = rest_on(cat, int(pieces[i, 0]), pieces[i, 1], pieces[i, 2], pieces, i)


Y_SLACK_MM = parameters.Y_SLACK_MM.value
YAW_SLACK = parameters.YAW_SLACK.value

Y_COST = parameters.Y_COST.value
YAW_COST = parameters.YAW_COST.value
MOST_COST = parameters.MOST_COST.value
MOST_STACKED = parameters.MOST_STACKED.value

MOST_TURN = parameters.MOST_TURN.value

TOPPLE_COST = parameters.TOPPLE_COST.value
LOADED_COST = parameters.LOADED_COST.value
TOPPLE_SLACK_MM = parameters.TOPPLE_SLACK_MM.value


@inlined
def contact(cat, stance, x, y, z, pieces, count, skip):
    """Extent in x of what carries a piece at x, y, z: (left, right); empty (left > right) if nothing."""
    size, lower, upper = cat.size, cat.lower, cat.upper
    steps = lower.shape[1]
    wx, wy = size[stance, 0], size[stance, 1]
    left, right = 1e9, -1e9
    if z - size[stance, 2] / 2 < ON_TABLE_MM:
        for a in range(steps):
            if lower[stance, a] + size[stance, 2] / 2 < FOOT_MM:
                at = x + (a / (steps - 1) - 0.5) * wx
                left = min(left, at)
                right = max(right, at)
    for j in range(count):
        if j == skip or pieces[j, 3] >= z:
            continue
        other = int(pieces[j, 0])
        ox, oy = size[other, 0], size[other, 1]
        if min(y + wy / 2, pieces[j, 2] + oy / 2) - max(y - wy / 2, pieces[j, 2] - oy / 2) < TOUCH_MM:
            continue
        low = max(x - wx / 2, pieces[j, 1] - ox / 2)
        high = min(x + wx / 2, pieces[j, 1] + ox / 2)
        if high - low < TOUCH_MM:
            continue
        for i in range(SEEN_SAMPLES):
            at = low + SEEN_INSET_MM + (high - low - 2 * SEEN_INSET_MM) * i / (SEEN_SAMPLES - 1)
            iu = min(max(((at - x) / wx + 0.5) * (steps - 1), 0.0), steps - 1.001)
            iv = min(max(((at - pieces[j, 1]) / ox + 0.5) * (steps - 1), 0.0), steps - 1.001)
            a, b = int(iu), int(iv)
            under = z + lower[stance, a] + (iu - a) * (lower[stance, a + 1] - lower[stance, a])
            above = pieces[j, 3] + upper[other, b] + (iv - b) * (upper[other, b + 1] - upper[other, b])
            if under - above < CARRIED_MM:
                left = min(left, at)
                right = max(right, at)
    return left, right


@inlined
def _carrier(cat, pieces, count, i, centre):
    """The piece that carries the middle of piece i, -1 where none is near enough."""
    size = cat.size
    foot = pieces[i, 3] - size[int(pieces[i, 0]), 2] / 2
    below, gap = -1, CARRIER_GAP_MM
    for j in range(count):
        if j != i and pieces[j, 3] < pieces[i, 3]:
            other = int(pieces[j, 0])
            away = max(abs(pieces[j, 1] - centre) - size[other, 0] / 2, 0.0)
            away += abs(foot - pieces[j, 3] - size[other, 2] / 2)
            if away < gap:
                gap, below = away, j
    return below


@lean
def topple(cat, pieces, count, scratch):
    """Prior cost of pieces that would tip: each piece's own weight and all that rests on it alone.

    ``scratch`` (count or more, 4 or more) is written to: mass, own mass, centre in x, and whether it is done.
    """
    size = cat.size
    cost = 0.0
    for i in range(count):
        s = int(pieces[i, 0])
        scratch[i, 0] = scratch[i, 1] = size[s, 0] * size[s, 1] * size[s, 2]
        scratch[i, 2], scratch[i, 3] = pieces[i, 1], 0.0
    for _ in range(count):
        i = -1
        for j in range(count):  # the highest that is left
            if scratch[j, 3] == 0.0 and (i < 0 or pieces[j, 3] > pieces[i, 3]):
                i = j
        scratch[i, 3] = 1.0
        left, right = contact(cat, int(pieces[i, 0]), pieces[i, 1], pieces[i, 2], pieces[i, 3], pieces, count, i)
        if left > right:
            continue
        off = max(left - scratch[i, 2], scratch[i, 2] - right)
        if off > TOPPLE_SLACK_MM:
            most = LOADED_COST if scratch[i, 0] > scratch[i, 1] else TOPPLE_COST
            cost += most * min((off - TOPPLE_SLACK_MM) / TOPPLE_FULL_MM, 1.0)
        below = _carrier(cat, pieces, count, i, scratch[i, 2])
        if below >= 0:
            total = scratch[below, 0] + scratch[i, 0]
            scratch[below, 2] = (scratch[below, 2] * scratch[below, 0] + scratch[i, 2] * scratch[i, 0]) / total
            scratch[below, 0] = total
    return cost


@lean_root
def straightness(cat, pieces, count, scratch):
    """Prior cost of a crooked or toppling build: off its own line, turned against it, not carried.

    ``scratch`` as in ``topple``.
    """
    if count == 0:
        return 0.0
    y, turn = 0.0, 0.0
    for i in range(count):
        y += pieces[i, 2] / count
        turn += pieces[i, 4] / count
    cost = YAW_COST * (turn / MOST_TURN) ** 2 / 2
    for i in range(count):
        d, t = (pieces[i, 2] - y) / Y_SLACK_MM, (pieces[i, 4] - turn) / YAW_SLACK
        stacked = pieces[i, 3] > cat.size[int(pieces[i, 0]), 2] / 2 + STACKED_MM
        cost += min(Y_COST * d * d / 2 + YAW_COST * t * t / 2, MOST_STACKED if stacked else MOST_COST)
    return cost + topple(cat, pieces, count, scratch)
