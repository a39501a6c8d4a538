"""The beam search: states are expanded piece by piece, and each expansion is worked out once.

A wider beam meets again what a narrower one has met: the search tree keeps it, so that searching narrowly first costs
nothing in the end. A node of the tree is an index, and so is an edge.
"""

import cython
import numpy as np
from cython.cimports.libc.math import rint
from cython.cimports.libc.stdlib import free
from cython.cimports.libc.string import memset
from cython.cimports.referee.kernels.scene import Scene, StanceTable, doubles, indices, turned

EDGES_OF_A_NODE = cython.declare(cython.int, 32)
UNSCORED = cython.declare(cython.double, -1.7976931348623157e308)
RADIANS = cython.declare(cython.double, 0.017453292519943295)


class Estimates:
    """The evidence in three readings (``Gains``): an ``optimistic`` estimate of what a state may yet come to (the
    heuristic that leads the search), as it stands now (``current``), and as ``regret`` for what is already lost."""

    def __init__(self, optimistic, current, regret):
        self.optimistic, self.current, self.regret = optimistic, current, regret


class Tree:
    """Nodes are states: ``pieces`` (n, most, 5), ``sizes``, ``turn``, ``score`` and ``hope`` (the current and the
    optimistic evidence, less what speaks against it beforehand), and ``leaves`` (n, 2): the first and the last but one
    of the edges that leave it, -1 where it is not expanded yet.

    Edges are pieces that may be added: ``row`` (m, 7) as ``scan_table`` gives them, the ``scores`` (m, 3) that the
    state would have (optimistic, and of those looked at more closely current and regret, else ``UNSCORED``), the
    ``parent`` (-1: none, a root) and the ``node`` that it became (-1: none yet).
    """

    def __init__(self, nodes, most):
        """Empty, with room for so many nodes of up to ``most`` pieces."""
        edges, t = nodes * EDGES_OF_A_NODE, cython.address(self.nodes)
        self.pieces, self.sizes = np.zeros((nodes, most, 5)), np.zeros(nodes, np.int64)
        self.leaves = np.empty((nodes, 2), np.int64)
        self.turn, self.score, self.hope = np.zeros((3, nodes))
        self.row, self.scores = np.empty((edges, 7)), np.empty((edges, 3))
        self.parent, self.node = np.empty((2, edges), np.int64)
        t.most_nodes, t.most_edges, t.most_pieces, t.nodes, t.edges = nodes, edges, most, 0, 0
        t.pieces, t.sizes = cython.cast("Piece *", doubles(self.pieces)), indices(self.sizes)
        t.leaves, t.turn = cython.cast("Range *", indices(self.leaves)), doubles(self.turn)
        t.score, t.hope = doubles(self.score), doubles(self.hope)
        t.row, t.scores = cython.cast("Placement *", doubles(self.row)), cython.cast("Scores *", doubles(self.scores))
        t.parent, t.node = indices(self.parent), indices(self.node)


def state_of(tree, node):
    """The pieces of a node."""
    return tree.pieces + tree.most_pieces * node


def seen_by(search, node, evidence):
    """The view with one reading of the evidence, in a node's frame."""
    view = turned(search.view, search.tree.turn[node])
    view.evidence = evidence
    return view


def add_edges(search, rows, stride, count, parent):
    """Append edges to the tree, each so many numbers after the one before; their scores are not known yet, but for what
    their rows give."""
    tree, added = search.tree, cython.declare(Range)
    hope = tree.hope[parent] - search.stances.rules.piece_cost if parent >= 0 else -search.stances.rules.piece_cost
    added.begin, added.end = tree.edges, min(tree.edges + count, tree.most_edges)
    for i in range(added.end - added.begin):
        edge, row = added.begin + i, cython.cast("Placement *", cython.cast(cython.p_double, rows) + stride * i)
        tree.row[edge], tree.parent[edge], tree.node[edge] = row[0], parent, -1
        tree.scores[edge].optimistic = row.won + hope
        tree.scores[edge].current = tree.scores[edge].regret = UNSCORED
    tree.edges = added.end
    return added


def add_root(search, root, i):
    """Take a single piece (row, turn), the i-th, as an edge and a node."""
    tree, piece, cost = search.tree, cython.cast("Piece *", root), search.stances.rules.piece_cost
    tree.sizes[i], tree.turn[i], tree.node[i], tree.leaves[i].begin = 1, root[7], i, -1
    state_of(tree, i)[0] = piece[0]
    now, regret = seen_by(search, i, search.current), seen_by(search, i, search.regret)
    scores = tree.scores + i
    scores.current = weighed(search.stances, piece, cython.address(now)).won - cost
    scores.regret = weighed(search.stances, piece, cython.address(regret)).won - cost
    crooked = crookedness(search.stances, state_of(tree, i), 1)
    tree.score[i], tree.hope[i] = scores.current - crooked, scores.optimistic - crooked


def search_levels(search, roots, count, widths, levels, met):
    """Search from those roots (their edges), so many states of each size; writes every node met, and returns how
    many."""
    begin, end, n = cython.cast("i64", 0), cython.cast("i64", 0), count
    for i in range(count):
        search.edges[i] = roots[i]
    for level in range(levels):
        if level > 0:
            n = expand(search, met + begin, end - begin)
            n = keep_distinct(search, n, level, search.stances.rules.looked_at * widths[level])
            score_edges(search, met + begin, end - begin, n)
        n = take_frontier(search, n, widths[level])
        begin, end = end, end + take_nodes(search, n, level > 0, met + end)
        if begin == end:
            break
    return end


def expand(search, nodes, count):
    """Write the edges that leave some nodes to ``edges``; their number."""
    tree, n = search.tree, cython.cast("i64", 0)
    most = 2 * search.stances.count + search.stances.rules.branch
    rows = cython.cast("Placement *", room(most * cython.sizeof(Placement)))
    for i in range(count):
        node = nodes[i]
        if tree.leaves[node].begin < 0:
            view, state, size = seen_by(search, node, search.optimistic), state_of(tree, node), tree.sizes[node]
            got = successors_of(search.stances, search.limits, state, size, tree.turn[node], cython.address(view), rows)
            tree.leaves[node] = add_edges(search, rows, 7, got, node)
        for edge in range(tree.leaves[node].begin, tree.leaves[node].end):
            search.edges[n] = edge
            n += 1
    free(rows)
    return n


def keep_distinct(search, count, size, most):
    """Keep of the first ``count`` ``edges``, whose parents have ``size`` pieces, the ``most`` with the best optimistic
    scores, near copies left out; their number."""
    tree, cell_mm, n = search.tree, search.stances.rules.cell_mm, cython.cast("i64", 0)
    child: Piece[MOST_PIECES]
    for i in range(count):
        search.scores[i] = tree.scores[search.edges[i]]
    order = ranked(cython.address(search.scores[0].optimistic), 3, count)
    for i in range(count):
        if n == most:
            break
        edge = search.edges[order[i].index]
        copy(state_of(tree, tree.parent[edge]), child, size)
        child[size] = tree.row[edge].piece
        key = key_of(child, size + 1, cell_mm)
        if is_new(search.keys, n, key):
            search.keys[n], search.chosen[n] = key, edge
            n += 1
    for i in range(n):
        search.edges[i] = search.chosen[i]
    free(order)
    return n


def key_of(pieces, count, cell_mm):
    """A number that is the same for states that are one and the same (see ``CELL_MM``), whatever the pieces' order.

    The sum of a hash of each piece, mixed by the odd constants of xxHash (Y. Collet), which spread neighbouring cells
    over all bits.
    """
    total: u64 = 0
    for i in range(count):
        x, z = cython.cast("i64", rint(pieces[i].x / cell_mm)), cython.cast("i64", rint(pieces[i].z / cell_mm))
        h: u64 = cython.cast("u64", stance_of(pieces + i) + 1) * cython.cast("u64", 0x9E3779B97F4A7C15)
        h ^= cython.cast("u64", x + 500) * cython.cast("u64", 0xC2B2AE3D27D4EB4F)
        h ^= cython.cast("u64", z + 500) * cython.cast("u64", 0x165667B19E3779F9)
        h ^= h >> 29
        total += h * cython.cast("u64", 0xBF58476D1CE4E5B9)
    return total


def is_new(keys, count, key):
    """Whether a key is not among the first ``count``."""
    for i in range(count):
        if keys[i] == key:
            return False
    return True


def score_edges(search, nodes, count, n_edges):
    """Write the current score and the regret of those ``edges`` that leave these nodes and have none yet."""
    tree = search.tree
    for i in range(count):
        n: i64 = 0
        for j in range(n_edges):
            edge = search.edges[j]
            if tree.parent[edge] == nodes[i] and tree.scores[edge].current <= UNSCORED:
                search.chosen[n] = edge
                n += 1
        if n > 0:
            score_from(search, nodes[i], search.chosen, n)


def score_from(search, node, edges, count):
    """Write the current score and the regret of edges that leave one node."""
    tree, size, state = search.tree, search.tree.sizes[node], state_of(search.tree, node)
    cost = crookedness(search.stances, state, size) + search.stances.rules.piece_cost * (size + 1)
    view = seen_by(search, node, search.current)
    drawn = draw_pieces(search.stances, state, size, ALL, cython.address(view)) - cost
    for i in range(count):
        piece = cython.address(tree.row[edges[i]].piece)
        tree.scores[edges[i]].current = drawn + weighed(search.stances, piece, cython.address(view)).won
    view.evidence = search.regret
    drawn = draw_pieces(search.stances, state, size, ALL, cython.address(view)) - cost
    for i in range(count):
        piece = cython.address(tree.row[edges[i]].piece)
        tree.scores[edges[i]].regret = drawn + weighed(search.stances, piece, cython.address(view)).won


def take_frontier(search, count, width):
    """Write to ``chosen`` those of the first ``count`` ``edges`` to go on with, at most ``width``: in turn the best by
    optimistic and by current score, and by regret; their number."""
    taken, n = cython.cast("truth *", room(count)), cython.cast("i64", 0)
    memset(taken, 0, count)
    for i in range(count):
        search.scores[i] = search.tree.scores[search.edges[i]]
        search.scores[i].regret += search.stances.rules.optimism * search.scores[i].optimistic
    first = cython.address(search.scores[0])
    best, now = ranked(cython.address(first.optimistic), 3, count), ranked(cython.address(first.current), 3, count)
    spared = ranked(cython.address(first.regret), 3, count)
    for rank in range(count):
        for k in range(3):
            i = (best if k == 0 else (now if k == 1 else spared))[rank].index
            if not taken[i] and n < width:
                taken[i] = True
                search.chosen[n] = search.edges[i]
                n += 1
    free(best)
    free(now)
    free(spared)
    free(taken)
    return n


def take_nodes(search, count, unite, met):
    """Write to ``met`` the nodes that the first ``count`` ``chosen`` edges lead to, alike ones once if ``unite``; their
    number."""
    n: i64 = 0
    for i in range(count):
        node = node_of(search, search.chosen[i])
        key = key_of(state_of(search.tree, node), search.tree.sizes[node], search.stances.rules.cell_mm)
        if not unite or is_new(search.keys, n, key):
            search.keys[n], met[n] = key, node
            n += 1
    return n


def node_of(search, edge):
    """The node that an edge leads to, fitted roughly by the optimistic estimate; its parent if there is no room."""
    tree, stances, rules = search.tree, search.stances, cython.address(search.stances.rules)
    if tree.node[edge] >= 0:
        return tree.node[edge]
    node, parent = tree.nodes, tree.parent[edge]
    if node == tree.most_nodes:
        return parent
    count, state = tree.sizes[parent] + 1, state_of(tree, node)
    copy(state_of(tree, parent), state, count - 1)
    state[count - 1] = tree.row[edge].piece
    steps: cython.double[2]
    climb, view = cython.declare(Climb), seen_by(search, parent, search.optimistic)
    steps[0], steps[1] = rules.quick_mm, rules.quick_deg * RADIANS
    climb.steps, climb.levels, climb.rounds = steps, 1, 2
    cost = rules.piece_cost * count
    tree.hope[node] = refine(stances, state, count, count - 1, cython.address(view), climb) - cost
    cost += crookedness(stances, state, count)
    view.evidence = search.current
    tree.score[node] = draw_pieces(stances, state, count, ALL, cython.address(view)) - cost
    tree.sizes[node], tree.turn[node], tree.leaves[node].begin = count, tree.turn[parent], -1
    tree.node[edge] = node
    tree.nodes += 1
    return node


def begin(search, tree, table, scene, estimates):
    """Write what a search looks at."""
    search.tree, search.stances = cython.address(tree.nodes), cython.address(table.stances)
    search.view, search.optimistic = cython.address(scene.view), estimates.optimistic.evidence
    search.current, search.regret = estimates.current.evidence, estimates.regret.evidence


def add_roots(tree: Tree, roots, table: StanceTable, scene: Scene, estimates: Estimates):
    """Take single pieces (n, 8) (row, turn) as the tree's first edges, and as its first nodes."""
    search, rows, n = cython.declare(Search), doubles(roots), cython.cast("i64", len(roots))
    begin(cython.address(search), tree, table, scene, estimates)
    with cython.nogil:
        add_edges(cython.address(search), cython.cast("Placement *", rows), 8, n, -1)
        empty(search.view)
        for i in range(n):
            add_root(cython.address(search), rows + 8 * i, i)
        search.tree.nodes = n


def beam(tree: Tree, roots, table: StanceTable, stock: Stock, scene: Scene, estimates: Estimates, widths):
    """Beam search from those roots (their edges), so many states of each size; returns every node met."""
    search, edges = cython.declare(Search), max(tree.nodes.most_edges, len(roots))
    begin(cython.address(search), tree, table, scene, estimates)
    most = table.stances.rules.looked_at * int(max(widths)) + 1
    listed, chosen, keys = np.empty(edges, np.int64), np.empty(edges, np.int64), np.empty(most, np.int64)
    scores, met = np.empty((edges, 3)), np.empty(widths.sum(), np.int64)
    search.limits, search.edges, search.chosen = cython.address(stock.limits), indices(listed), indices(chosen)
    search.keys, search.scores = cython.cast("u64 *", indices(keys)), cython.cast("Scores *", doubles(scores))
    first, n, to = indices(roots), cython.cast("i64", len(roots)), indices(met)
    wide, levels = indices(widths), len(widths)
    with cython.nogil:
        n = search_levels(cython.address(search), first, n, wide, levels, to)
    return met[:n]
