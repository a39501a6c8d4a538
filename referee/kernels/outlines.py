"""Where the parts of a piece are in the picture: rows, runs of columns, and the planes of what faces the camera.

A part is convex: its corners, its faces' outward normals and one corner on each, and its edges with the two faces
beside them are those of the stance table.
"""

import cython
from cython.cimports.libc.string import memcmp

BUILT_FROM = REFEREE_SOURCES
"""As in ``scene``: this module may have been built apart from it."""


def axis_of(camera, c, s):
    """An axis of the camera (of its x, y, z) in the frame of a piece turned by (cos, sin)."""
    axis: Vector
    axis.x, axis.y, axis.z = c * camera[0] + s * camera[1], c * camera[1] - s * camera[0], camera[2]
    return axis


def middle_of(camera, piece):
    """Where a piece's middle is along an axis of the camera."""
    return camera[0] * piece.x + camera[1] * piece.y + camera[2] * piece.z + camera[3]


def along(axis, v):
    """A direction's part along an axis."""
    return axis.x * v.x + axis.y * v.y + axis.z * v.z


def turned_part(stances, part, c, s, view):
    """A part of a piece turned by (cos, sin), along the camera's axes; kept, for most pieces are moved unturned."""
    out, axes = view.turned + part % MOST_TURNED, cython.declare(Axes)
    axes.x, axes.y, axes.z = axis_of(view.camera[0], c, s), axis_of(view.camera[1], c, s), axis_of(view.camera[2], c, s)
    alike: cython.bint = memcmp(cython.address(axes), cython.address(out.axes), cython.sizeof(Axes)) == 0
    if alike and out.part == part and out.table == stances.table:
        return out
    out.table, out.part, out.axes = stances.table, part, axes
    points, normals = stances.points + stances.point_at[part], stances.normals + stances.face_at[part]
    for i in range(stances.point_at[part + 1] - stances.point_at[part]):
        out.u[i], out.v[i], out.w[i] = along(axes.x, points[i]), along(axes.y, points[i]), along(axes.z, points[i])
    for f in range(stances.face_at[part + 1] - stances.face_at[part]):
        normal, n = out.normals + f, normals[f]
        normal.x, normal.y, normal.z = along(axes.x, n), along(axes.y, n), along(axes.z, n)
    return out


def project(turned, piece, count, view):
    """Write where the first ``count`` corners of a turned part of a piece are."""
    corners, fx, fy, cx, cy = view.corners, view.fx, view.fy, view.cx, view.cy
    x, y, z = middle_of(view.camera[0], piece), middle_of(view.camera[1], piece), middle_of(view.camera[2], piece)
    for i in range(count):
        corners.u[i], corners.v[i], corners.w[i] = turned.u[i] + x, turned.v[i] + y, turned.w[i] + z
    for i in range(count):
        inverse = 1.0 / corners.w[i]
        corners.x[i] = fx * corners.u[i] * inverse + cx
        corners.y[i] = fy * corners.v[i] * inverse + cy


def take_part(stances, part, slot, piece, c, s, view):
    """Take a part of a piece turned by (cos, sin) into a slot: its rows, its runs of columns, its planes."""
    turned, count = turned_part(stances, part, c, s, view), stances.point_at[part + 1] - stances.point_at[part]
    project(turned, piece, count, view)
    low, high = 1e9, -1e9
    for i in range(count):
        low, high = min(low, view.corners.y[i]), max(high, view.corners.y[i])
    rows = view.parts + slot
    rows.first, rows.last = min(max(0, ceiling(low)), view.height), min(view.height - 1, flooring(high))
    rows.planes = planes_of(stances, part, slot, turned, view)
    if rows.planes == 0 or rows.last < rows.first:
        rows.last = rows.first - 1
    take_runs(stances, part, slot, rows.first, rows.last, view)


def planes_of(stances, part, slot, turned, view):
    """Write the part's planes that face the camera, as inverse depth; their number."""
    wide, high, planes = 1.0 / view.fx, 1.0 / view.fy, view.planes + MOST_FACES * slot
    start, corners = stances.face_at[part], view.corners
    count: i64 = 0
    for f in range(stances.face_at[part + 1] - start):
        normal, k = turned.normals + f, stances.on_face[start + f]
        away = normal.x * corners.u[k] + normal.y * corners.v[k] + normal.z * corners.w[k]
        view.front[f] = away < -1e-9
        if away < -1e-9:
            inverse = 1.0 / away
            kx, ky = normal.x * inverse * wide, normal.y * inverse * high
            planes[count].across, planes[count].down = kx, ky
            planes[count].start = normal.z * inverse - kx * view.cx - ky * view.cy
            count += 1
    return count


def take_runs(stances, part, slot, first, last, view):
    """Write the part's run of columns in each row from ``first`` to ``last``, by its outline's edges.

    An edge of the outline has a face towards the camera on one side only; which way it goes round that
    face says whether the part lies to the right of it or to the left.
    """
    left, right = view.left + slot * view.height, view.right + slot * view.height
    x, y = cython.cast(cython.p_double, view.corners.x), cython.cast(cython.p_double, view.corners.y)
    for e in range(stances.edge_at[part], stances.edge_at[part + 1]):
        edge = stances.edges + e
        if view.front[edge.left] == view.front[edge.right]:
            continue
        a, b = edge.begin, edge.end
        falls: cython.bint = y[a] < y[b]
        is_left: cython.bint = falls == view.front[edge.left]
        if y[a] > y[b]:
            a, b = b, a
        top, bottom = max(first, ceiling(y[a])), min(last, flooring(y[b]))
        if top > bottom:
            continue
        slope = (x[b] - x[a]) / (y[b] - y[a]) if y[b] > y[a] else 0.0
        at = x[a] + (top - y[a]) * slope
        if is_left:
            for row in range(top, bottom + 1):
                left[row] = max(ceiling(at), 0)
                at += slope
        else:
            for row in range(top, bottom + 1):
                right[row] = min(flooring(at), view.width - 1)
                at += slope
