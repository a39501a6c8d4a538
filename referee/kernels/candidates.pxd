from referee.kernels.rasterizer cimport draw_pieces
from referee.kernels.scans cimport Places, on_table, on_top
from referee.kernels.scene cimport *

cdef struct Limits:
    i64 types
    i64 *free
    double *field

cdef class Stock:
    cdef readonly object free, field
    cdef Limits limits

cdef struct Ranked:
    double key
    i64 index

cdef struct Extent:  # of a state, mm: from the left to the right, and its middle line
    double low, high, middle

cdef int in_order(const void *a, const void *b) noexcept nogil
cdef Ranked *ranked(double *keys, i64 stride, i64 count) noexcept nogil
cdef i64 allowed_stances(Stances *stances, Limits *limits, Piece *pieces, i64 count, i64 *out) noexcept nogil
cdef Extent extent_of(Stances *stances, Piece *pieces, i64 count) noexcept nogil
cdef i64 steps_between(double low, double high, double step) noexcept nogil
cdef i64 keep_worthy(Rules *rules, Limits *limits, Placement *rows, i64 count, double turn) noexcept nogil
cdef i64 add_two_of_each(Rules *rules, Placement *rows, i64 count, Placement *out) noexcept nogil
cdef i64 add_apart(Rules *rules, Placement *rows, i64 count, Placement *out, i64 n) noexcept nogil
cdef i64 depths_of(Stances *stances, Piece *pieces, i64 count, double middle, double *out) noexcept nogil
cdef i64 successors_of(Stances *stances, Limits *limits, Piece *pieces, i64 count, double turn, View *view, Placement *out) noexcept nogil
