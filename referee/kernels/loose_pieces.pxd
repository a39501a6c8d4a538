from referee.kernels.local_search cimport Climb, move
from referee.kernels.rasterizer cimport Won, draw_piece, draw_pieces, empty, weighed
from referee.kernels.scans cimport pixel_of
from referee.kernels.scene cimport *

cdef struct Prices:  # nats; see ``Prices`` of referee/vision/search/loose_pieces.py
    double outside, apart, beyond, hidden

cdef struct Box:
    i64 top, bottom, left, right

cdef struct Loose:  # candidates: where they are, what each wins drawn alone, where it is then in the picture
    i64 count
    Piece *pieces
    double *won
    Box *boxes

cdef bint shows(Stances *stances, Piece *piece, signed char *labels, View *view) noexcept nogil
cdef bint is_closed(Piece *piece, double *field) noexcept nogil
cdef i64 scan_stance(Stances *stances, i64 stance, double *places, i64 n_places, double *yaws, i64 n_yaws, double *field, signed char *labels, View *view, Placement *out, i64 most) noexcept nogil
cdef bint climb_once(Stances *stances, Placement *row, double *field, double *steps, View *view) noexcept nogil
cdef Box box_drawn(View *view) noexcept nogil
cdef bint touches_drawn(Box box, View *view) noexcept nogil
cdef bint overlap(Box a, Box b) noexcept nogil
cdef bint clashes(Stances *stances, Piece *own, Piece *pieces, i64 count, double c, double s) noexcept nogil
cdef void take_costs(Stances *stances, Piece *pieces, i64 count, double turn, Loose *loose, i64 *left, double *field, Prices *prices, double *costs) noexcept nogil
cdef void weigh_hidden(Stances *stances, Loose *loose, View *view, double hidden, double *worth, double *costs) noexcept nogil
cdef i64 most_worth(double *worth, double *costs, i64 count) noexcept nogil
cdef i64 add_greedily(Stances *stances, Loose *loose, i64 *left, double beyond, View *view, double *worth, double *costs, i64 *chosen, double *total) noexcept nogil
cdef i64 add_to(Stances *stances, Piece *pieces, i64 count, double turn, Loose *loose, i64 *left, double *field, View *view, Prices *prices, double *scratch, i64 *chosen, double *total) noexcept nogil
