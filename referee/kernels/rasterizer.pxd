from referee.kernels.outlines cimport take_part
from referee.kernels.scene cimport *

cdef extern from "columns.h" nogil:
    ctypedef struct Columns:  # eight of a row
        pass
    ctypedef struct Mask:
        pass
    Columns load(float *at)
    void store(float *at, Columns v)
    Columns alike(float each)
    Columns numbered(i64 first)
    Columns plus(Columns a, Columns b)
    Columns minus(Columns a, Columns b)
    Columns times(Columns a, Columns b)
    Columns least(Columns a, Columns b)
    Columns pick(Mask where, Columns a, Columns b)
    Columns only(Mask where, Columns a)
    Mask above(Columns a, Columns b)
    Mask both(Mask a, Mask b)
    Mask up_to(i64 last, i64 first)
    Mask nowhere()
    Mask counted(Mask sum, Mask where)
    float sum_of(Columns v)
    i64 number_of(Mask counts)

cdef struct Won:
    float won, pixels

cdef struct Run:
    i64 first, last

cdef struct Three:  # planes along a row: inverse depth is slope * column + start
    Columns slope_a, start_a, slope_b, start_b, slope_c, start_c

cdef void take_plane(Plane *plane, float row, Columns *slope, Columns *start) noexcept nogil
cdef Three three_of(Plane *planes, i64 first, i64 count, i64 row) noexcept nogil
cdef Columns inverse_depth_of(Three *three, i64 column) noexcept nogil
cdef void take_surface(Plane *planes, i64 count, i64 row, i64 low, i64 high, float *out) noexcept nogil
cdef Mask wins(Columns depth, float *near, i64 column, i64 high) noexcept nogil
cdef Won weigh_part(float *gain, float *sums, View *view) noexcept nogil
cdef Won weigh_parts(float *gain, View *view, i64 parts, Run rows) noexcept nogil
cdef void join_parts(View *view, i64 parts, i64 row) noexcept nogil
cdef Run gather(View *view, i64 parts) noexcept nogil
cdef bint is_free(View *view, Run rows) noexcept nogil
cdef Won weigh_union(float *sums, View *view, i64 parts, Run rows) noexcept nogil
cdef Run next_run(View *view, i64 parts, i64 row, i64 reached) noexcept nogil
cdef Won weighed(Stances *stances, Piece *piece, View *view) noexcept nogil
cdef Won weighed_in(Stances *stances, Piece *piece, View *view) noexcept nogil
cdef float draw_part(float *gain, View *view) noexcept nogil
cdef float draw_piece(Stances *stances, Piece *piece, View *view) noexcept nogil
cdef float draw_in(Stances *stances, Piece *piece, View *view) noexcept nogil
cdef void empty(View *view) noexcept nogil
cdef double draw_pieces(Stances *stances, Piece *pieces, i64 count, i64 skip, View *view) noexcept nogil
