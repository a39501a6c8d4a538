"""Where the parts of a piece are in the picture: rows, runs of columns, and the planes of what faces the camera.

A part is convex: its corners, its faces' outward normals and one corner on each, and its edges with the two faces
beside them are those of the stance table.
"""

import cython

BUILT_FROM = REFEREE_SOURCES
"""As in ``scene``: this module may have been built apart from it."""


def axis_of(camera, piece, c, s):
    """An axis of the camera (of its x, y, z) in the frame of a piece turned by (cos, sin), and where its middle is."""
    axis: Axis
    axis.x, axis.y, axis.z = c * camera[0] + s * camera[1], c * camera[1] - s * camera[0], camera[2]
    axis.middle = camera[0] * piece.x + camera[1] * piece.y + camera[2] * piece.z + camera[3]
    return axis


def along(axis, v):
    """A direction's part along an axis."""
    return axis.x * v.x + axis.y * v.y + axis.z * v.z


def take_part(stances, part, slot, piece, c, s, view):
    """Take a part of a piece turned by (cos, sin) into a slot: its rows, its runs of columns, its planes."""
    x, y = axis_of(view.camera[0], piece, c, s), axis_of(view.camera[1], piece, c, s)
    z = axis_of(view.camera[2], piece, c, s)
    low, high, points = 1e9, -1e9, stances.points + stances.point_at[part]
    for i in range(stances.point_at[part + 1] - stances.point_at[part]):
        corner = view.corners + i
        corner.u, corner.v = along(x, points[i]) + x.middle, along(y, points[i]) + y.middle
        corner.w = along(z, points[i]) + z.middle
        inverse = 1.0 / corner.w
        corner.x = view.fx * corner.u * inverse + view.cx
        corner.y = view.fy * corner.v * inverse + view.cy
        low, high = min(low, corner.y), max(high, corner.y)
    rows = view.parts + slot
    rows.first, rows.last = min(max(0, ceiling(low)), view.height), min(view.height - 1, flooring(high))
    rows.planes = planes_of(stances, part, slot, x, y, z, view)
    if rows.planes == 0 or rows.last < rows.first:
        rows.last = rows.first - 1
    take_runs(stances, part, slot, rows.first, rows.last, view)


def planes_of(stances, part, slot, x, y, z, view):
    """Write the part's planes that face the camera, as inverse depth; their number."""
    wide, high, planes = 1.0 / view.fx, 1.0 / view.fy, view.planes + MOST_FACES * slot
    start = stances.face_at[part]
    count: i64 = 0
    for f in range(stances.face_at[part + 1] - start):
        normal, corner = stances.normals[start + f], view.corners + stances.on_face[start + f]
        across, down, ahead = along(x, normal), along(y, normal), along(z, normal)
        away = across * corner.u + down * corner.v + ahead * corner.w
        view.front[f] = away < -1e-9
        if away < -1e-9:
            inverse = 1.0 / away
            kx, ky = across * inverse * wide, down * inverse * high
            planes[count].across, planes[count].down = kx, ky
            planes[count].start = ahead * inverse - kx * view.cx - ky * view.cy
            count += 1
    return count


def take_runs(stances, part, slot, first, last, view):
    """Write the part's run of columns in each row from ``first`` to ``last``, by its outline's edges.

    An edge of the outline has a face towards the camera on one side only; which way it goes round that
    face says whether the part lies to the right of it or to the left.
    """
    left, right = view.left + slot * view.height, view.right + slot * view.height
    for e in range(stances.edge_at[part], stances.edge_at[part + 1]):
        edge = stances.edges + e
        if view.front[edge.left] == view.front[edge.right]:
            continue
        a, b = view.corners + edge.begin, view.corners + edge.end
        falls: cython.bint = a.y < b.y
        is_left: cython.bint = falls == view.front[edge.left]
        if a.y > b.y:
            a, b = b, a
        top, bottom = max(first, ceiling(a.y)), min(last, flooring(b.y))
        if top > bottom:
            continue
        slope = (b.x - a.x) / (b.y - a.y) if b.y > a.y else 0.0
        at = a.x + (top - a.y) * slope
        if is_left:
            for row in range(top, bottom + 1):
                left[row] = max(ceiling(at), 0)
                at += slope
        else:
            for row in range(top, bottom + 1):
                right[row] = min(flooring(at), view.width - 1)
                at += slope
