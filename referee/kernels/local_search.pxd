from referee.kernels.physics cimport crookedness, rest_on, settle
from referee.kernels.rasterizer cimport draw_pieces, weighed
from referee.kernels.scene cimport *

cdef struct Climb:  # steps (mm, radians) at each of some levels, and so many rounds at each
    double *steps
    i64 levels, rounds

cdef struct Edit:
    double won, kind, piece, stance, place

cdef void copy(Piece *source, Piece *target, i64 count) noexcept nogil
cdef void move(Piece *piece, i64 axis, double step) noexcept nogil
cdef void move_all(Piece *pieces, i64 count, Piece *trial, i64 axis, double step) noexcept nogil
cdef bint others_stay(Piece *pieces, Piece *trial, i64 count, i64 i) noexcept nogil
cdef double step_once(Stances *stances, Piece *pieces, i64 count, i64 i, double best, double *steps, View *view) noexcept nogil
cdef double refine(Stances *stances, Piece *pieces, i64 count, i64 first, View *view, Climb climb) noexcept nogil
cdef double prop_x(Stances *stances, Piece *pieces, i64 i, i64 s, i64 place) noexcept nogil
cdef bint props(Stances *stances, Piece *piece, Piece *trial, i64 i) noexcept nogil
cdef i64 apply(Stances *stances, Piece *pieces, i64 count, Edit edit, Piece *out) noexcept nogil
cdef bint is_allowed(Stances *stances, i64 *free, Piece *pieces, i64 kind, i64 i, i64 s) noexcept nogil
cdef i64 edits_of(Stances *stances, i64 *free, Piece *pieces, i64 count, i64 i, bint alone, View *view, Edit *out) noexcept nogil
cdef i64 choices_of(i64 kind, i64 count, i64 stances) noexcept nogil
cdef i64 places_of(i64 kind) noexcept nogil
