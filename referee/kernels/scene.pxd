"""The types of ``scene``: rows of arrays as C structs, so that kernels say ``piece.x`` and not ``piece[1]``."""
from libc.stdint cimport int64_t as i64, uint64_t as u64

ctypedef unsigned char truth

cdef extern from "columns.h" nogil:
    i64 ceiling(double x)
    i64 flooring(double x)
    void *room(i64 bytes)
    i64 REFEREE_SOURCES  # what these modules were built from; see ``sources``

cdef enum:
    ALL = -1            # draw all pieces: none is left out
    BLOCK = 8           # columns that are drawn together
    MOST_PARTS = 20     # no piece has more
    MOST_FACES = 40     # no part has more
    MOST_CORNERS = 72   # no part has more
    MOST_PIECES = 64    # no build that is searched has more
    MOST_TURNED = 128   # so many parts are kept as they were turned last

cdef struct Rules:  # referee/vision/search/rules.py says what each is, in which unit
    double touch_mm, exact_mm, level_mm, slack_mm, topple_slack_mm, prop_gap_mm, carrier_gap_mm
    double topple_full_mm, rarely_built_cost, most_cost
    double yaw_slack, y_cost, yaw_cost, most_turn, missing_nats, pixel_nats, next_best_mm, near_copy_mm
    double on_top_step, beside_step, reach_on_top, reach_beside, piece_cost, optimism, quick_mm, quick_deg, cell_mm
    i64 seen_samples, least_probed, branch, max_pieces, looked_at
    double across[3]
    double probed[3]
    double seen_at[3]
    double nudges_mm[4]
    double shifts_mm[6]

cdef struct Piece:  # stance is an index
    double stance, x, y, z, yaw

cdef struct Placement:
    Piece piece
    double won, pixels

cdef struct Vector:
    double x, y, z

cdef struct Size:
    double width, depth, height

cdef struct Level:
    truth below, above

cdef struct Edge:  # from a corner to another; the faces to its left and its right
    i64 begin, end, left, right

cdef struct Stances:
    i64 table, count, samples  # no two tables have one number
    i64 *kind
    i64 *color
    truth *rare
    Size *size
    double *lower
    double *upper
    Level *level
    Vector *points
    Vector *normals
    i64 *on_face
    Edge *edges
    i64 *part_at
    i64 *point_at
    i64 *face_at
    i64 *edge_at
    Rules rules

cdef struct Corners:  # of a part, in the camera's frame, mm, and in the picture, px
    double u[MOST_CORNERS]
    double v[MOST_CORNERS]
    double w[MOST_CORNERS]
    double x[MOST_CORNERS]
    double y[MOST_CORNERS]

cdef struct Axes:  # a piece's own axes along the camera's x, y and z
    Vector x, y, z

cdef struct Turned:  # a part's corners about its piece's middle and its normals, along such axes
    i64 table, part
    Axes axes
    double u[MOST_CORNERS]
    double v[MOST_CORNERS]
    double w[MOST_CORNERS]
    Vector normals[MOST_FACES]

cdef struct Plane:  # inverse depth: across * column + down * row + start
    float across, down, start

cdef struct Part:
    i64 first, last, planes

cdef struct Evidence:
    i64 colors
    float *each
    float *sums
    Evidence *beside  # that of the view beside

cdef struct View:
    double camera[3][4]
    double fx, fy, cx, cy
    Evidence evidence
    i64 height, width
    float *near
    float *gained
    i64 *from_col
    i64 *to_col
    float *own
    i64 *left
    i64 *right
    Part *parts
    Corners *corners
    Turned *turned
    Plane *planes
    truth *front
    View *beside  # another camera's, which shows the same pieces
    double turn  # of the frame that its pieces are in, radians

cdef class StanceTable:
    cdef object arrays
    cdef Stances stances

cdef class Gains:
    cdef readonly object each, sums
    cdef readonly Gains beside
    cdef Evidence evidence

cdef class Maps:
    cdef readonly object near, gained, from_col, to_col
    cdef object own, left, right, parts, corners, turned, planes, front
    cdef View view

cdef class Scene:
    cdef readonly object camera, matrix
    cdef readonly Gains gains
    cdef readonly Maps maps
    cdef readonly Scene beside
    cdef View view

cdef inline i64 stance_of(Piece *piece) noexcept nogil:
    return <i64>piece.stance

cdef void *address(object array, bytes kinds) except NULL
cdef double *doubles(object array) except NULL
cdef float *floats(object array) except NULL
cdef i64 *indices(object array) except NULL
cdef truth *truths(object array) except NULL
cdef signed char *labels_of(object array) except NULL
cdef Piece *pieces_of(object array) except NULL
cdef View turned(View *view, double turn) noexcept nogil
cdef View beside_of(View *view) noexcept nogil
