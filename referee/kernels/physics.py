"""How pieces come to rest: let down on one another, in line, and without toppling.

Pieces of a state are in the frame of the build. A piece's elevation is a profile of its underside and one of its upper
side, samples across its width.
"""

import cython
from cython.cimports.libc.math import fabs
from cython.cimports.referee.kernels.scene import StanceTable, pieces_of

ROUNDING_MM = cython.declare(cython.double, 1e-6)


def profile_at(profile, samples, share):
    """A profile's height, mm about the centre, at a ``share`` of the width from the left."""
    at = min(max(share * (samples - 1), 0.0), samples - 1.001)
    i = cython.cast("i64", at)
    return profile[i] + (at - i) * (profile[i + 1] - profile[i])


def shared(size, x, y, other_size, other, touch):
    """The x that a piece at x, y has in common with another; empty (left > right) where they share no ``touch`` mm."""
    span: Span
    span.left = max(x - size.width / 2, other.x - other_size.width / 2)
    span.right = min(x + size.width / 2, other.x + other_size.width / 2)
    deep = min(y + size.depth / 2, other.y + other_size.depth / 2)
    deep -= max(y - size.depth / 2, other.y - other_size.depth / 2)
    if deep < touch or span.right - span.left < touch:
        span.left, span.right = 1e9, -1e9
    return span


def top_of(stances, stance, x, other, span):
    """How high a piece's centre lies that is let down at x on another, which shares this span."""
    rules, o = cython.address(stances.rules), stance_of(other)
    lower, upper = stances.lower + stances.samples * stance, stances.upper + stances.samples * o
    wide, other_wide = stances.size[stance].width, stances.size[o].width
    both_flat: cython.bint = stances.level[stance].below and stances.level[o].above
    top = -1e9
    for i in range(1 if both_flat else rules.seen_samples):
        at = span.left + rules.exact_mm
        at += (span.right - span.left - 2 * rules.exact_mm) * i / (rules.seen_samples - 1)
        low = profile_at(lower, stances.samples, (at - x) / wide + 0.5)
        high = profile_at(upper, stances.samples, (at - other.x) / other_wide + 0.5)
        top = max(top, other.z + high - low)
    return top


def rest_on(stances, stance, x, y, pieces, count):
    """Where a piece let down at x, y rests among the first ``count`` of ``pieces``: z of its centre, and how many
    pieces carry it; 0 is the table."""
    rules, size = cython.address(stances.rules), stances.size + stance
    rest: Rest
    rest.z, rest.carriers = size.height / 2, 0
    for j in range(count):
        other = pieces + j
        span = shared(size, x, y, stances.size + stance_of(other), other, rules.touch_mm)
        if span.left > span.right:
            continue
        highest = other.z + (stances.size[stance_of(other)].height + size.height) / 2 + ROUNDING_MM
        if highest < rest.z - rules.level_mm / 2:  # wherever they touch
            continue
        top = top_of(stances, stance, x, other, span)
        if top > rest.z + rules.level_mm / 2:
            rest.z, rest.carriers = top, 1
        elif top > rest.z - rules.level_mm / 2 and top > size.height / 2 + rules.level_mm / 2:
            rest.carriers += 1
    return rest


def settle(stances, pieces, first, count):
    """Let every piece, from the ``first`` on, down on those before it: rewrites the z of each, in order."""
    for i in range(first, count):
        pieces[i].z = rest_on(stances, stance_of(pieces + i), pieces[i].x, pieces[i].y, pieces, i).z


def foot_of(stances, piece):
    """Extent in x of a piece's underside on the table; empty (left > right) where it stands on none."""
    rules, stance, samples = cython.address(stances.rules), stance_of(piece), stances.samples
    size, lower = stances.size + stance, stances.lower + samples * stance
    span: Span
    span.left, span.right = 1e9, -1e9
    if piece.z - size.height / 2 < rules.level_mm:
        for i in range(samples):
            if lower[i] + size.height / 2 < rules.level_mm / 2:
                at = piece.x + (cython.cast(cython.double, i) / (samples - 1) - 0.5) * size.width
                span.left, span.right = min(span.left, at), max(span.right, at)
    return span


def contact(stances, piece, pieces, count):
    """Extent in x of what carries a piece; empty (left > right) if nothing."""
    rules, stance, samples = cython.address(stances.rules), stance_of(piece), stances.samples
    size, lower, span = stances.size + stance, stances.lower + samples * stance, foot_of(stances, piece)
    for j in range(count):
        other, o = pieces + j, stance_of(pieces + j)
        if other.z >= piece.z:
            continue
        common = shared(size, piece.x, piece.y, stances.size + o, other, rules.touch_mm)
        if common.left > common.right:
            continue
        for i in range(rules.seen_samples):
            at = common.left + rules.exact_mm
            at += (common.right - common.left - 2 * rules.exact_mm) * i / (rules.seen_samples - 1)
            under = piece.z + profile_at(lower, samples, (at - piece.x) / size.width + 0.5)
            above = other.z + profile_at(
                stances.upper + samples * o, samples, (at - other.x) / stances.size[o].width + 0.5
            )
            if under - above < rules.level_mm:
                span.left, span.right = min(span.left, at), max(span.right, at)
    return span


def carrier(stances, pieces, count, piece, centre):
    """The piece that carries the middle of another, -1 where none is near enough."""
    gap, foot = stances.rules.carrier_gap_mm, piece.z - stances.size[stance_of(piece)].height / 2
    below: i64 = -1
    for j in range(count):
        if pieces[j].z < piece.z:
            size = stances.size + stance_of(pieces + j)
            away = max(fabs(pieces[j].x - centre) - size.width / 2, 0.0)
            away += fabs(foot - pieces[j].z - size.height / 2)
            if away < gap:
                gap, below = away, j
    return below


def highest(pieces, count, loads):
    """The highest piece that is not done."""
    best: i64 = -1
    for j in range(count):
        if not loads[j].done and (best < 0 or pieces[j].z > pieces[best].z):
            best = j
    return best


def toppling(stances, pieces, count):
    """Prior cost of pieces that would tip: each piece's own weight and all that rests on it alone."""
    loads: Load[MOST_PIECES]
    rules, cost = cython.address(stances.rules), 0.0
    for i in range(count):
        size = stances.size + stance_of(pieces + i)
        loads[i].mass = loads[i].own = size.width * size.depth * size.height
        loads[i].centre, loads[i].done = pieces[i].x, False
    for _ in range(count):
        i = highest(pieces, count, loads)
        piece, load = pieces + i, loads + i
        load.done = True
        span = contact(stances, piece, pieces, count)
        if span.left > span.right:
            continue
        off = max(span.left - load.centre, load.centre - span.right)
        if off > rules.topple_slack_mm:
            most = rules.most_cost if load.mass > load.own else rules.rarely_built_cost
            cost += most * min((off - rules.topple_slack_mm) / rules.topple_full_mm, 1.0)
        j = carrier(stances, pieces, count, piece, load.centre)
        if j >= 0:
            total = loads[j].mass + load.mass
            loads[j].centre = (loads[j].centre * loads[j].mass + load.centre * load.mass) / total
            loads[j].mass = total
    return cost


def crookedness(stances, pieces, count):
    """Prior cost of a crooked or toppling build: off its own line, turned against it, not carried."""
    rules, y, turn = cython.address(stances.rules), 0.0, 0.0
    if count == 0:
        return 0.0
    for i in range(count):
        y += pieces[i].y / count
        turn += pieces[i].yaw / count
    cost = rules.yaw_cost * (turn / rules.most_turn) * (turn / rules.most_turn) / 2
    for i in range(count):
        off, turned = (pieces[i].y - y) / rules.slack_mm, (pieces[i].yaw - turn) / rules.yaw_slack
        own = rules.y_cost * off * off / 2 + rules.yaw_cost * turned * turned / 2
        stacked: cython.bint = pieces[i].z > stances.size[stance_of(pieces + i)].height / 2 + rules.slack_mm
        cost += min(own, rules.rarely_built_cost if stacked else rules.most_cost)
    return cost + toppling(stances, pieces, count)


def straightness(table: StanceTable, pieces):
    """``crookedness`` of pieces (n, 5), nats."""
    return crookedness(cython.address(table.stances), pieces_of(pieces), len(pieces))
