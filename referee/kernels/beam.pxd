from referee.kernels.candidates cimport Limits, Ranked, Stock, ranked, successors_of
from referee.kernels.local_search cimport Climb, copy, refine
from referee.kernels.physics cimport crookedness
from referee.kernels.rasterizer cimport draw_pieces, empty, weighed
from referee.kernels.scene cimport *

cdef struct Scores:
    double optimistic, current, regret

cdef struct Range:
    i64 begin, end

cdef struct Nodes:  # see ``Tree``
    i64 most_nodes, most_edges, most_pieces, nodes, edges
    Piece *pieces
    i64 *sizes
    double *turn
    double *score
    double *hope
    Range *leaves
    Placement *row
    Scores *scores
    i64 *parent
    i64 *node

cdef struct Search:  # what one search looks at, and its scratch
    Nodes *tree
    Stances *stances
    Limits *limits
    View *view
    Evidence optimistic, current, regret
    i64 *edges
    i64 *chosen
    u64 *keys
    Scores *scores

cdef class Tree:
    cdef readonly object pieces, sizes, turn, score
    cdef object hope, leaves, row, scores, parent, node
    cdef Nodes nodes

cdef class Estimates:
    cdef readonly Gains optimistic, current, regret

cdef Piece *state_of(Nodes *tree, i64 node) noexcept nogil
cdef View seen_by(Search *search, i64 node, Evidence evidence) noexcept nogil
cdef Range add_edges(Search *search, Placement *rows, i64 stride, i64 count, i64 parent) noexcept nogil
cdef void add_root(Search *search, double *root, i64 i) noexcept nogil
cdef u64 key_of(Piece *pieces, i64 count, double cell_mm) noexcept nogil
cdef bint is_new(u64 *keys, i64 count, u64 key) noexcept nogil
cdef i64 expand(Search *search, i64 *nodes, i64 count) noexcept nogil
cdef i64 keep_distinct(Search *search, i64 count, i64 size, i64 most) noexcept nogil
cdef void score_edges(Search *search, i64 *nodes, i64 count, i64 n_edges) noexcept nogil
cdef void score_from(Search *search, i64 node, i64 *edges, i64 count) noexcept nogil
cdef i64 take_frontier(Search *search, i64 count, i64 width) noexcept nogil
cdef i64 node_of(Search *search, i64 edge) noexcept nogil
cdef i64 take_nodes(Search *search, i64 count, bint unite, i64 *met) noexcept nogil
cdef i64 search_levels(Search *search, i64 *roots, i64 count, i64 *widths, i64 levels, i64 *met) noexcept nogil
cdef void begin(Search *search, Tree tree, StanceTable table, Scene scene, Estimates estimates) noexcept
