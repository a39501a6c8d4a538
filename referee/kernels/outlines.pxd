from referee.kernels.scene cimport *

cdef Vector axis_of(double *camera, double c, double s) noexcept nogil
cdef double middle_of(double *camera, Piece *piece) noexcept nogil
cdef double along(Vector axis, Vector v) noexcept nogil
cdef Turned *turned_part(Stances *stances, i64 part, double c, double s, View *view) noexcept nogil
cdef void project(Turned *turned, Piece *piece, i64 count, View *view) noexcept nogil
cdef i64 planes_of(Stances *stances, i64 part, i64 slot, Turned *turned, View *view) noexcept nogil
cdef void take_runs(Stances *stances, i64 part, i64 slot, i64 first, i64 last, View *view) noexcept nogil
cdef void take_part(Stances *stances, i64 part, i64 slot, Piece *piece, double c, double s, View *view) noexcept nogil
