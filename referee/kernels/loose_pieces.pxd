from referee.kernels.local_search cimport Climb, move
from referee.kernels.rasterizer cimport Won, draw_piece, draw_pieces, empty, weighed
from referee.kernels.scans cimport Point, pixel_of, point_of
from referee.kernels.scene cimport *

cdef struct Prices:  # nats; see ``PRICES`` of referee/vision/search/loose_pieces.py
    double outside, apart, beyond, hidden

cdef struct Box:
    i64 top, bottom, left, right

cdef struct Boxes:  # of a piece in a view and in that beside; the same where there is none
    Box here, beside

cdef struct Scan:  # where single pieces are tried, and what there is to win: by colour, summed from the left top
    i64 count
    Point *places
    double *yaws
    double *field
    signed char *labels
    double *to_win
    double *least
    double reach_mm

cdef struct Loose:  # candidates: what each wins drawn alone, and where it is then in the picture; the box's ``stock``
    i64 count, types
    Piece *pieces
    double *won
    Boxes *boxes
    i64 *stock
    double *field
    Prices prices
    i64 *left  # scratch: what is left of the stock, what each candidate is worth, what speaks against it
    double *worth
    double *costs

cdef struct Placed:  # a build in the frame turned by so many radians
    Piece *pieces
    i64 count
    double turn

cdef bint shows(Stances *stances, Piece *piece, signed char *labels, View *view) noexcept nogil
cdef bint may_win(Stances *stances, Piece *piece, Scan *scan, View *view) noexcept nogil
cdef bint is_closed(Piece *piece, double *field) noexcept nogil
cdef i64 scan_stance(Stances *stances, i64 stance, i64 n_yaws, Scan *scan, View *view, Placement *out, i64 most) noexcept nogil
cdef bint climb_once(Stances *stances, Placement *row, double *field, double *steps, View *view) noexcept nogil
cdef Boxes boxes_drawn(View *view) noexcept nogil
cdef Box box_drawn(View *view) noexcept nogil
cdef bint touches_drawn(Boxes boxes, View *view) noexcept nogil
cdef bint touches(Box box, View *view) noexcept nogil
cdef bint overlap(Boxes a, Boxes b) noexcept nogil
cdef bint have_common(Box a, Box b) noexcept nogil
cdef bint clashes(Stances *stances, Piece *own, Piece *pieces, i64 count, double c, double s) noexcept nogil
cdef void take_costs(Stances *stances, Placed *build, Loose *loose) noexcept nogil
cdef void weigh_hidden(Stances *stances, Loose *loose, View *view) noexcept nogil
cdef i64 most_worth(double *worth, double *costs, i64 count) noexcept nogil
cdef i64 add_greedily(Stances *stances, Loose *loose, View *view, i64 *chosen, double *total) noexcept nogil
cdef i64 add_to(Stances *stances, Placed *build, Loose *loose, View *view, i64 *chosen, double *total) noexcept nogil
