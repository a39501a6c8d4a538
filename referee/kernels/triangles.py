"""A small z-buffer rasteriser: triangles with light and shadow, four samples a pixel.

``shade`` fills the sample buffers, ``compose`` averages them over the background. Light-space depth
(``light_depth``) tells which samples the lamp sees.
"""

import cython
from cython.cimports.libc.math import ceil, fabs, floor

Triangle = cython.struct(x=cython.double[3], y=cython.double[3], area=cython.double, top=cython.int, bottom=cython.int)
Shares = cython.struct(a=cython.double, b=cython.double, c=cython.double)
Span = cython.struct(left=cython.int, right=cython.int)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def triangle_of(corners: cython.p_float, height: cython.int) -> Triangle:
    """A triangle of three corners (x, y, anything), and its rows in a picture."""
    t: Triangle
    for k in range(3):
        t.x[k], t.y[k] = corners[3 * k], corners[3 * k + 1]
    t.area = (t.x[1] - t.x[0]) * (t.y[2] - t.y[0]) - (t.x[2] - t.x[0]) * (t.y[1] - t.y[0])
    t.top = max(0, cython.cast(cython.int, ceil(min(t.y[0], t.y[1], t.y[2]))))
    t.bottom = min(height - 1, cython.cast(cython.int, floor(max(t.y[0], t.y[1], t.y[2]))))
    return t


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def span_of(t: cython.pointer(Triangle), row: cython.int, width: cython.int) -> Span:
    """First and last column between the triangle's edges on a row, a column too many at either end."""
    low, high, span = 1e9, -1e9, cython.declare(Span)
    for k in range(3):
        n = (k + 1) % 3
        falls: cython.bint = t.y[k] <= row
        falls_next: cython.bint = t.y[n] <= row
        if falls != falls_next or t.y[k] == row:
            x = t.x[k]
            if t.y[k] != t.y[n]:
                x += (row - t.y[k]) * (t.x[n] - t.x[k]) / (t.y[n] - t.y[k])
            low, high = min(low, x), max(high, x)
    span.left, span.right = (
        cython.cast(cython.int, max(0.0, floor(low))),
        cython.cast(cython.int, min(width - 1.0, ceil(high))),
    )
    return span


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shares_at(t: cython.pointer(Triangle), row: cython.int, column: cython.int) -> Shares:
    """How much of each corner a point has."""
    s: Shares
    s.a = ((t.x[1] - column) * (t.y[2] - row) - (t.x[2] - column) * (t.y[1] - row)) / t.area
    s.b = ((t.x[2] - column) * (t.y[0] - row) - (t.x[0] - column) * (t.y[2] - row)) / t.area
    s.c = 1.0 - s.a - s.b
    return s


def light_depth(triangles: cython.float[:, :, ::1], depth: cython.float[:, ::1]):
    """Fill ``depth`` (h, w) float32 with the greatest third coordinate of ``triangles`` (n, 3, 3)."""
    with cython.nogil:
        for n in range(triangles.shape[0]):
            t = triangle_of(cython.address(triangles[n, 0, 0]), depth.shape[0])
            if fabs(t.area) < 1e-9:
                continue
            for row in range(t.top, t.bottom + 1):
                span = span_of(cython.address(t), row, depth.shape[1])
                for column in range(span.left, span.right + 1):
                    s = shares_at(cython.address(t), row, column)
                    if s.a >= -0.02 and s.b >= -0.02 and s.c >= -0.02:
                        z = s.a * triangles[n, 0, 2] + s.b * triangles[n, 1, 2] + s.c * triangles[n, 2, 2]
                        depth[row, column] = max(depth[row, column], z)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def lit(depth: cython.float[:, ::1], x: cython.float, y: cython.float, most: cython.double) -> cython.double:
    """Share of the light that reaches a point, from four cells of the light's depth that is ``most`` at it."""
    column, row = cython.cast(cython.int, floor(x)), cython.cast(cython.int, floor(y))
    if row < 0 or column < 0 or row + 1 >= depth.shape[0] or column + 1 >= depth.shape[1]:
        return 1.0
    right, down, total = cython.cast(cython.double, x) - column, cython.cast(cython.double, y) - row, 0.0
    if depth[row, column] <= most:
        total += (1 - right) * (1 - down)
    if depth[row, column + 1] <= most:
        total += right * (1 - down)
    if depth[row + 1, column] <= most:
        total += (1 - right) * down
    if depth[row + 1, column + 1] <= most:
        total += right * down
    return total


def shade(
    screen: cython.float[:, :, ::1],
    values: cython.float[:, :, ::1],
    albedo: cython.float[:, ::1],
    depth: cython.float[:, ::1],
    slack: cython.double,
    tone: cython.uchar[::1],
    near: cython.float[:, ::1],
    color: cython.uchar[:, :, ::1],
):
    """Draw triangles whose corners run counter-clockwise as seen from outside into the sample buffers.

    screen (n, 3, 3): x, y in samples and 1/depth; values (n, 3, 6): light-space x, y, z, ambient, direct,
    gloss at each corner; albedo (n, 3) linear BGR; depth: see ``light_depth``; tone: 1024 uint8 from linear
    0..1; near (H, W) float32 1/depth and color (H, W, 3) uint8 are filled.
    """
    v: cython.float[6]
    with cython.nogil:
        for n in range(screen.shape[0]):
            t = triangle_of(cython.address(screen[n, 0, 0]), near.shape[0])
            if t.area > -1e-6:
                continue
            for row in range(t.top, t.bottom + 1):
                span = span_of(cython.address(t), row, near.shape[1])
                for column in range(span.left, span.right + 1):
                    s = shares_at(cython.address(t), row, column)
                    a, b, c = s.a * screen[n, 0, 2], s.b * screen[n, 1, 2], s.c * screen[n, 2, 2]
                    w = a + b + c
                    if s.a < 0 or s.b < 0 or s.c < 0 or w <= near[row, column]:
                        continue
                    near[row, column] = w
                    for k in range(6):
                        v[k] = (a * values[n, 0, k] + b * values[n, 1, k] + c * values[n, 2, k]) / w
                    seen = lit(depth, v[0], v[1], v[2] + slack) if v[4] > 0.0 else 0.0
                    for k in range(3):
                        light = albedo[n, k] * (v[3] + seen * v[4]) + seen * v[5]
                        color[row, column, k] = tone[min(1023, max(0, cython.cast(cython.int, light * 1023.0)))]


def compose(
    picture: cython.uchar[:, :, ::1],
    near: cython.float[:, ::1],
    color: cython.uchar[:, :, ::1],
    top: cython.int,
    bottom: cython.int,
    left: cython.int,
    right: cython.int,
):
    """Average the samples into ``picture`` (h, w, 3) uint8 in these rows and columns; empty them."""
    total: cython.int[3]
    with cython.nogil:
        for row in range(top, bottom):
            for column in range(left, right):
                full: cython.int = 0
                total[0] = total[1] = total[2] = 0
                for y in range(2 * row, 2 * row + 2):
                    for x in range(2 * column, 2 * column + 2):
                        if near[y, x] > 0.0:
                            full += 1
                            near[y, x] = 0.0
                            for k in range(3):
                                total[k] += color[y, x, k]
                if full:
                    for k in range(3):
                        picture[row, column, k] = (total[k] + (4 - full) * picture[row, column, k] + 2) // 4
