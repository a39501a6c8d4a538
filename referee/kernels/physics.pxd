from referee.kernels.scene cimport *

cdef struct Rest:
    double z
    i64 carriers

cdef struct Span:
    double left, right

cdef struct Load:  # what a piece bears: mass in mm3 with all that rests on it, its own, their centre in x
    double mass, own, centre
    bint done

cdef double profile_at(double *profile, i64 samples, double share) noexcept nogil
cdef Span shared(Size *size, double x, double y, Size *other_size, Piece *other, double touch) noexcept nogil
cdef double top_of(Stances *stances, i64 stance, double x, Piece *other, Span span) noexcept nogil
cdef Rest rest_on(Stances *stances, i64 stance, double x, double y, Piece *pieces, i64 count) noexcept nogil
cdef void settle(Stances *stances, Piece *pieces, i64 first, i64 count) noexcept nogil
cdef Span foot_of(Stances *stances, Piece *piece) noexcept nogil
cdef Span contact(Stances *stances, Piece *piece, Piece *pieces, i64 count) noexcept nogil
cdef i64 carrier(Stances *stances, Piece *pieces, i64 count, Piece *piece, double centre) noexcept nogil
cdef i64 highest(Piece *pieces, i64 count, Load *loads) noexcept nogil
cdef double toppling(Stances *stances, Piece *pieces, i64 count) noexcept nogil
cdef double crookedness(Stances *stances, Piece *pieces, i64 count) noexcept nogil
