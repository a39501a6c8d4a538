"""Drawing pieces into maps of evidence: what a piece at a place, or a whole build, would explain.

Each convex part of a piece covers one run of pixels a row, and its surface's inverse depth there is
the least of those of its planes that face the camera (a ray has entered a convex solid when it has
passed all of them). 1/depth is linear in pixels. Where nothing is drawn yet, a run's evidence is
the difference of two running sums.

Runs are looked at in blocks of columns (``columns.h``), with what lies beyond the run masked out: most are
shorter than two of them, and what is left over after whole vectors would take most of the time.
"""

import cython
from cython.cimports.libc.math import cos, sin
from cython.cimports.referee.kernels.scene import Scene, StanceTable, beside_of, pieces_of

BUILT_FROM = REFEREE_SOURCES
"""As in ``scene``: this module may have been built apart from it."""

NEARER_RATIO = cython.declare(cython.float, 1.00001)
"""So much nearer, as a ratio, is in front: 0.007 mm at 0.7 m, a hundred times what rounding can make of one plane."""


def take_plane(plane, row, slope, start):
    """Write a plane along a row, the same in all columns."""
    slope[0], start[0] = alike(plane.across), alike(plane.down * row + plane.start)


def three_of(planes, first, count, row):
    """Three planes from the ``first`` on along a row; the last is repeated when there are fewer."""
    three: Three
    take_plane(planes + first, row, cython.address(three.slope_a), cython.address(three.start_a))
    take_plane(planes + min(first + 1, count - 1), row, cython.address(three.slope_b), cython.address(three.start_b))
    take_plane(planes + min(first + 2, count - 1), row, cython.address(three.slope_c), cython.address(three.start_c))
    return three


def inverse_depth_of(three, column):
    """The least inverse depth of three planes, in a block of columns."""
    at = numbered(column)
    two = least(plus(times(three.slope_a, at), three.start_a), plus(times(three.slope_b, at), three.start_b))
    return least(two, plus(times(three.slope_c, at), three.start_c))


def take_surface(planes, count, row, low, high, out):
    """Write a part's inverse depth along a row, columns ``low`` to ``high`` and up to a block beyond."""
    for first in range(0, count, 3):
        three = three_of(planes, first, count, row)
        for column in range(low, high + 1, 8):
            depth = inverse_depth_of(cython.address(three), column)
            if first > 0:
                depth = least(load(out + column), depth)
            store(out + column, depth)


def wins(depth, near, column, high):
    """In which of a block of columns, up to the one at ``high``, a surface is in front of what is drawn. Of faces in
    one plane the one drawn first stays: which is nearer by the last bit of a number decides nothing."""
    return both(above(depth, times(load(near + column), alike(NEARER_RATIO))), up_to(high, column))


def weigh_part(gain, sums, view):
    """Evidence and pixels that the part in slot 0 would win."""
    won, pixels, planes = alike(0), nowhere(), view.parts[0].planes
    out: Won
    out.won, out.pixels = 0, 0
    for row in range(view.parts[0].first, view.parts[0].last + 1):
        low, high, sum_at = view.left[row], view.right[row], sums + row * (view.width + 1)
        if low > high:
            continue
        begin, end = max(low, view.from_col[row]), min(high, view.to_col[row])
        if begin > end:
            out.won += sum_at[high + 1] - sum_at[low]
            out.pixels += high - low + 1
            continue
        out.won += sum_at[begin] - sum_at[low]
        out.won += sum_at[high + 1] - sum_at[end + 1]
        out.pixels += begin - low + high - end
        start = row * view.width
        near, gained, more = view.near + start, view.gained + start, gain + start
        three = three_of(view.planes, 0, planes, row)
        if planes > 3:
            take_surface(view.planes, planes, row, begin, end, view.own)
        for column in range(begin, end + 1, 8):
            depth = load(view.own + column) if planes > 3 else inverse_depth_of(cython.address(three), column)
            where = wins(depth, near, column, end)
            won = plus(won, only(where, minus(load(more + column), load(gained + column))))
            pixels = counted(pixels, where)
    out.won += sum_of(won)
    out.pixels += number_of(pixels)
    return out


def draw_part(gain, view):
    """Draw the part in slot 0; the evidence it wins."""
    won, planes = alike(0), view.parts[0].planes
    for row in range(view.parts[0].first, view.parts[0].last + 1):
        low, high, start = view.left[row], view.right[row], row * view.width
        if low > high or planes == 0:
            continue
        near, gained, more = view.near + start, view.gained + start, gain + start
        three = three_of(view.planes, 0, planes, row)
        if planes > 3:
            take_surface(view.planes, planes, row, low, high, view.own)
        for column in range(low, high + 1, 8):
            depth = load(view.own + column) if planes > 3 else inverse_depth_of(cython.address(three), column)
            claim, had = load(more + column), load(gained + column)
            where = wins(depth, near, column, high)
            won = plus(won, only(where, minus(claim, had)))
            store(near + column, pick(where, depth, load(near + column)))
            store(gained + column, pick(where, claim, had))
        view.from_col[row], view.to_col[row] = min(view.from_col[row], low), max(view.to_col[row], high)
    return sum_of(won)


def join_parts(view, parts, row):
    """Write to ``own`` the greatest inverse depth along a row of the parts in slots 1 to ``parts``, 0 of none."""
    whole, own = view.own, view.own + view.width
    for column in range(view.left[row], view.right[row] + 1):
        whole[column] = 0
    for k in range(1, parts + 1):
        low, high = view.left[k * view.height + row], view.right[k * view.height + row]
        if row < view.parts[k].first or row > view.parts[k].last or low > high:
            continue
        take_surface(view.planes + MOST_FACES * k, view.parts[k].planes, row, low, high, own)
        for column in range(low, high + 1, 8):
            depth, before = load(own + column), load(whole + column)
            store(whole + column, pick(both(above(depth, before), up_to(high, column)), depth, before))


def weigh_parts(gain, view, parts, rows):
    """Evidence and pixels that the parts in slots 1 to ``parts`` would win, their runs together in slot 0."""
    won, pixels = alike(0), nowhere()
    for row in range(rows.first, rows.last + 1):
        low, high, start = view.left[row], view.right[row], row * view.width
        if low > high:
            continue
        join_parts(view, parts, row)
        near, gained, more = view.near + start, view.gained + start, gain + start
        for column in range(low, high + 1, 8):
            where = wins(load(view.own + column), near, column, high)
            won = plus(won, only(where, minus(load(more + column), load(gained + column))))
            pixels = counted(pixels, where)
    out: Won
    out.won, out.pixels = sum_of(won), number_of(pixels)
    return out


def gather(view, parts):
    """Write the runs of slots 1 to ``parts``, from the leftmost to the rightmost column, into slot 0; its rows."""
    rows: Run
    rows.first, rows.last = view.height, -1
    for k in range(1, parts + 1):
        part = view.parts[k]
        if part.first <= part.last:
            rows.first, rows.last = min(rows.first, part.first), max(rows.last, part.last)
    left, right = view.left, view.right
    for row in range(rows.first, rows.last + 1):
        left[row], right[row] = view.width, -1
    for k in range(1, parts + 1):
        for row in range(view.parts[k].first, view.parts[k].last + 1):
            left[row] = min(left[row], left[k * view.height + row])
            right[row] = max(right[row], right[k * view.height + row])
    return rows


def is_free(view, rows):
    """Whether nothing has been drawn where slot 0's runs are."""
    for row in range(rows.first, rows.last + 1):
        if view.left[row] <= view.to_col[row] and view.right[row] >= view.from_col[row]:
            return False
    return True


def weigh_union(sums, view, parts, rows):
    """Evidence and pixels of the union of the runs in slots 1 to ``parts``, where nothing is drawn yet."""
    out: Won
    out.won = 0
    pixels: i64 = 0
    for row in range(rows.first, rows.last + 1):
        sum_at = sums + row * (view.width + 1)
        run = next_run(view, parts, row, -1)
        while run.last >= 0:
            out.won += sum_at[run.last + 1] - sum_at[run.first]
            pixels += run.last - run.first + 1
            run = next_run(view, parts, row, run.last)
    out.pixels = pixels
    return out


def next_run(view, parts, row, reached):
    """The run that begins next in a row, of those that reach beyond a column; its ``last`` is -1 where none does."""
    run: Run
    run.first, run.last = view.width, -1
    for k in range(1, parts + 1):
        if view.parts[k].first <= row <= view.parts[k].last:
            first, last = max(view.left[k * view.height + row], reached + 1), view.right[k * view.height + row]
            if first <= last and (first < run.first or (first == run.first and last > run.last)):
                run.first, run.last = first, last
    return run


def weighed(stances, piece, view):
    """Evidence and pixels that a piece would win over what is in the maps, in the view and in that beside."""
    got, other = weighed_in(stances, piece, view), beside_of(view)
    if other.height > 0:
        more = weighed_in(stances, piece, cython.address(other))
        got.won += more.won
        got.pixels += more.pixels
    return got


def weighed_in(stances, piece, view):
    """Evidence and pixels that a piece would win over what is in the maps of one view."""
    stance = stance_of(piece)
    gain = view.evidence.each + stances.color[stance] * view.height * view.width
    sums = view.evidence.sums + stances.color[stance] * view.height * (view.width + 1)
    c, s, start = cos(piece.yaw), sin(piece.yaw), stances.part_at[stance]
    parts = stances.part_at[stance + 1] - start
    if parts == 1:
        take_part(stances, start, 0, piece, c, s, view)
        return weigh_part(gain, sums, view)
    for k in range(parts):
        take_part(stances, start + k, 1 + k, piece, c, s, view)
    rows = gather(view, parts)
    if is_free(view, rows):
        return weigh_union(sums, view, parts, rows)
    return weigh_parts(gain, view, parts, rows)


def draw_piece(stances, piece, view):
    """Draw a piece into the maps, of the view beside too; the evidence it wins."""
    won, other = draw_in(stances, piece, view), beside_of(view)
    if other.height > 0:
        won += draw_in(stances, piece, cython.address(other))
    return won


def draw_in(stances, piece, view):
    """Draw a piece into the maps of one view; the evidence it wins."""
    stance = stance_of(piece)
    gain = view.evidence.each + stances.color[stance] * view.height * view.width
    c, s = cos(piece.yaw), sin(piece.yaw)
    won: cython.float = 0
    for part in range(stances.part_at[stance], stances.part_at[stance + 1]):
        take_part(stances, part, 0, piece, c, s, view)
        won += draw_part(gain, view)
    return won


def empty(view):
    """Empty the maps where anything has been drawn, of the view beside too."""
    if view.beside != cython.NULL:
        empty(view.beside)
    for row in range(view.height):
        start = row * view.width
        for column in range(view.from_col[row], view.to_col[row] + 1, 8):  # and on, into what is empty or will be
            store(view.near + start + column, alike(0))
            store(view.gained + start + column, alike(0))
        view.from_col[row], view.to_col[row] = view.width, -1


def draw_pieces(stances, pieces, count, skip, view):
    """Draw the first ``count`` pieces, but the one at ``skip`` (or ``ALL``), afresh into the maps; their evidence."""
    empty(view)
    total = 0.0
    for i in range(count):
        if i != skip:
            total += draw_piece(stances, pieces + i, view)
    return total


def place(table: StanceTable, piece, scene: Scene, keep: cython.bint):
    """Evidence won by a piece (a row) over what is in the maps, and pixels; drawn into them if ``keep``, with no pixels
    then."""
    row, got = pieces_of(piece), cython.declare(Won)
    with cython.nogil:
        if keep:
            got.won, got.pixels = draw_piece(cython.address(table.stances), row, cython.address(scene.view)), 0
        else:
            got = weighed(cython.address(table.stances), row, cython.address(scene.view))
    return got.won, got.pixels


def draw(table: StanceTable, pieces, scene: Scene):
    """Draw pieces (n, 5) afresh into the maps; their evidence."""
    rows, count = pieces_of(pieces), cython.cast("i64", len(pieces))
    with cython.nogil:
        total = draw_pieces(cython.address(table.stances), rows, count, ALL, cython.address(scene.view))
    return total


def clear(scene: Scene):
    """Empty the maps."""
    empty(cython.address(scene.view))
