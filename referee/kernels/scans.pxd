from referee.kernels.physics cimport Rest, rest_on
from referee.kernels.rasterizer cimport Won, weighed
from referee.kernels.scene cimport *

cdef struct Pixel:
    i64 row, column

cdef struct Point:  # in the picture, px
    double x, y

cdef struct Places:  # stances tried at each x, at each y
    i64 stances, xs, ys
    i64 *stance
    double *x
    double *y

cdef Pixel pixel_of(double x, double y, double z, View *view) noexcept nogil
cdef Point point_of(double x, double y, double z, View *view) noexcept nogil
cdef bint may_be_there(Stances *stances, Piece *piece, View *view) noexcept nogil
cdef bint may_show(Stances *stances, Piece *piece, View *view) noexcept nogil
cdef bint wins_anything(Stances *stances, Placement *row, View *view) noexcept nogil
cdef i64 on_table(Stances *stances, Places places, Piece *pieces, i64 count, View *view, Placement *out) noexcept nogil
cdef void mark_missing(Stances *stances, double x, double y, double high, View *view, truth *out) noexcept nogil
cdef double top_over(Stances *stances, Places places, Piece *pieces, i64 count) noexcept nogil
cdef i64 on_top(Stances *stances, Places places, Piece *pieces, i64 count, View *view, Placement *out) noexcept nogil
