"""Every stance at every place: on the table, and let down on the pieces of a state.

Most places can be told by a few pixels from those where a piece might be, long before it is weighed there.
"""

import cython
import numpy as np
from cython.cimports.libc.math import fabs
from cython.cimports.libc.stdlib import free
from cython.cimports.referee.kernels.scene import Scene, StanceTable, doubles, indices, pieces_of


def point_of(x, y, z, view):
    """Where a point is in the picture."""
    u, v, w = view.camera[0], view.camera[1], view.camera[2]
    ahead = w[0] * x + w[1] * y + w[2] * z + w[3]
    point: Point
    point.x = view.fx * (u[0] * x + u[1] * y + u[2] * z + u[3]) / ahead + view.cx
    point.y = view.fy * (v[0] * x + v[1] * y + v[2] * z + v[3]) / ahead + view.cy
    return point


def pixel_of(x, y, z, view):
    """The pixel of a point; (-1, -1) outside the picture."""
    point, pixel = point_of(x, y, z, view), cython.declare(Pixel)
    pixel.row, pixel.column = cython.cast("i64", point.y + 0.5), cython.cast("i64", point.x + 0.5)
    if not (0 <= pixel.column < view.width and 0 <= pixel.row < view.height):
        pixel.row, pixel.column = -1, -1
    return pixel


def may_be_there(stances, piece, view):
    """Whether the view, or that beside, may show a piece."""
    if may_show(stances, piece, view):
        return True
    other = beside_of(view)
    return other.height > 0 and may_show(stances, piece, cython.address(other))


def may_show(stances, piece, view):
    """Whether enough of nine pixels spread over the front of a piece, not turned, lose no more than ``missing_nats``,
    one of them on its middle line."""
    rules, stance = cython.address(stances.rules), stance_of(piece)
    size, gain = stances.size[stance], view.evidence.each + stances.color[stance] * view.height * view.width
    seen: i64 = 0
    for across in range(3):
        for up in range(3):
            x, z = piece.x + rules.across[across] * size.width, piece.z + rules.probed[up] * size.height
            pixel = pixel_of(x, piece.y, z, view)
            at = pixel.row * view.width + pixel.column
            if pixel.row >= 0 and gain[at] > view.gained[at] - rules.missing_nats:
                seen += 1
                if seen == rules.least_probed:
                    return True
        if seen == 0:
            return False
    return False


def wins_anything(stances, row, view):
    """Write to a row what it wins; whether that is anything at all."""
    got = weighed(stances, cython.address(row.piece), view)
    row.won, row.pixels = got.won, got.pixels
    return row.won > -stances.rules.pixel_nats * row.pixels - 1e-9 and row.pixels > 0


def on_table(stances, places, pieces, count, view, out):
    """Write to ``out`` the placements on the table that win anything and rest on none of the pieces; their number."""
    n: i64 = 0
    for a in range(places.stances):
        stance = places.stance[a]
        for i in range(places.xs):
            for j in range(places.ys):
                piece = cython.address(out[n].piece)
                piece.stance, piece.x, piece.y, piece.yaw = stance, places.x[i], places.y[j], 0.0
                piece.z = stances.size[stance].height / 2
                if not may_be_there(stances, piece, view):  # sooner told than whether it stands there
                    continue
                rest = rest_on(stances, stance, piece.x, piece.y, pieces, count)
                if rest.carriers == 0 and wins_anything(stances, out + n, view):
                    n += 1
    return n


def mark_missing(stances, x, y, high, view, out):
    """Write to ``out`` (colours,) whether a pixel of the vertical line at x, y, up to ``high`` mm, loses no more than
    ``missing_nats`` in that colour, in the view or that beside."""
    foot, head, colors = point_of(x, y, 0.0, view), point_of(x, y, high, view), view.evidence.colors
    other = beside_of(view)
    if other.height > 0:
        mark_missing(stances, x, y, high, cython.address(other), out)
    else:
        for k in range(colors):
            out[k] = False
    # cameras hang upside down, and aslant
    steps = cython.cast("i64", max(fabs(head.x - foot.x), fabs(head.y - foot.y))) + 1
    for i in range(steps + 1):
        row = flooring(foot.y + (head.y - foot.y) * i / steps + 0.5)
        column = flooring(foot.x + (head.x - foot.x) * i / steps + 0.5)
        if 0 <= row < view.height and 0 <= column < view.width:
            at = row * view.width + column
            least = view.gained[at] - stances.rules.missing_nats
            for k in range(colors):
                out[k] |= view.evidence.each[k * view.height * view.width + at] > least


def top_over(stances, places, pieces, count):
    """How high a further piece may reach on the pieces, mm."""
    high, tallest = 0.0, 0.0
    for i in range(count):
        high = max(high, pieces[i].z + stances.size[stance_of(pieces + i)].height / 2)
    for a in range(places.stances):
        tallest = max(tallest, stances.size[places.stance[a]].height)
    return high + tallest


def on_top(stances, places, pieces, count, view, out):
    """As ``on_table``, but let down on the pieces, at the first y alone."""
    colors, y, high = view.evidence.colors, places.y[0], top_over(stances, places, pieces, count)
    missing = cython.cast("truth *", room(places.xs * colors))
    for i in range(places.xs):
        mark_missing(stances, places.x[i], y, high, view, missing + i * colors)
    n: i64 = 0
    for a in range(places.stances):
        stance = places.stance[a]
        for i in range(places.xs):
            if not missing[i * colors + stances.color[stance]]:
                continue  # sooner told, for all stances of a colour, than where each would rest
            piece, rest = cython.address(out[n].piece), rest_on(stances, stance, places.x[i], y, pieces, count)
            piece.stance, piece.x, piece.y, piece.z, piece.yaw = stance, places.x[i], y, rest.z, 0.0
            if rest.carriers > 0 and may_be_there(stances, piece, view) and wins_anything(stances, out + n, view):
                n += 1
    free(missing)
    return n


def scan_table(table: StanceTable, stances, xs, ys, pieces, scene: Scene):
    """Evidence of every stance on the table at every x, y where it rests on none of a state's ``pieces``, not turned.

    Gives (n, 7) rows (stance, x, y, z, yaw, evidence, pixels), where anything at all was won.
    """
    out = np.empty((len(stances) * len(xs) * len(ys) + 1, 7))
    places: Places
    places.stances, places.xs, places.ys = len(stances), len(xs), len(ys)
    places.stance, places.x, places.y = indices(stances), doubles(xs), doubles(ys)
    rows, count, to = pieces_of(pieces), cython.cast("i64", len(pieces)), cython.cast("Placement *", doubles(out))
    with cython.nogil:
        n = on_table(cython.address(table.stances), places, rows, count, cython.address(scene.view), to)
    return out[:n].copy()
