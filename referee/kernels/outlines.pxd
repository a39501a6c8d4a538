from referee.kernels.scene cimport *

cdef struct Axis:
    double x, y, z, middle

cdef Axis axis_of(double *camera, Piece *piece, double c, double s) noexcept nogil
cdef double along(Axis axis, Vector v) noexcept nogil
cdef i64 planes_of(Stances *stances, i64 part, i64 slot, Axis x, Axis y, Axis z, View *view) noexcept nogil
cdef void take_runs(Stances *stances, i64 part, i64 slot, i64 first, i64 last, View *view) noexcept nogil
cdef void take_part(Stances *stances, i64 part, i64 slot, Piece *piece, double c, double s, View *view) noexcept nogil
