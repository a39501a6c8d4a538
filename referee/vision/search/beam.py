"""Kernels of the beam search: states are expanded piece by piece, and each expansion is worked out once.

A wider beam meets again what a narrower one has met: the search tree keeps it, so that searching narrowly first costs
nothing in the end. The tree is a handful of arrays because kernels neither keep nor follow Python objects: a node is an
index, and so is an edge. Pieces of a node are rows (stance, x, y, z, yaw): mm, radians; see ``rasterizer``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from referee.vision.search import parameters
from referee.vision.search.candidates import successors
from referee.vision.search.canvas import PIECE_COST
from referee.vision.search.jit import inlined, inner_loop, lean, loop
from referee.vision.search.local_search import copy, copy_row, refine, turned
from referee.vision.search.physics import straightness
from referee.vision.search.rasterizer import ALL, Gains, Scene, clear, draw, place

OPTIMISM = parameters.OPTIMISM.value

LOOKED_AT = parameters.LOOKED_AT.value

QUICK_MM = parameters.QUICK_MM.value
QUICK_RAD = float(np.deg2rad(parameters.QUICK_DEG.value))
CELL_MM = parameters.CELL_MM.value

EDGES_OF_A_NODE = parameters.EDGES_OF_A_NODE.value

UNSCORED = float(np.finfo(np.float64).min)
"""The current score of an edge of which only the optimistic one is known (kernels compare neither NaN nor infinity)."""


class Estimates(NamedTuple):
    """The evidence in three readings: an ``optimistic`` estimate of what a state may yet come to (the heuristic that
    leads the search), as it stands now (``current``), and as ``regret`` for what is already lost."""

    optimistic: Gains
    current: Gains
    regret: Gains


class Tree(NamedTuple):
    """Nodes are states: ``pieces`` (n, most, 5), ``sizes``, ``turn``, ``score`` and ``hope`` (the current and the
    optimistic evidence, less what speaks against it beforehand), and ``edges`` (n, 2): which edges leave it, -1 where
    it is not expanded yet.

    Edges are pieces that may be added: ``row`` (m, 7) as ``scan`` gives them, the ``scores`` (m, 3) that the state
    would have (optimistic, and of those looked at more closely current and regret, else ``UNSCORED``), the ``parent``
    (-1: none, a root) and the ``node`` that it became (-1: none yet). ``used`` (2,): how many nodes and edges there
    are.
    """

    pieces: np.ndarray
    sizes: np.ndarray
    turn: np.ndarray
    score: np.ndarray
    hope: np.ndarray
    edges: np.ndarray
    row: np.ndarray
    scores: np.ndarray
    parent: np.ndarray
    node: np.ndarray
    used: np.ndarray


def tree(nodes: int, most: int) -> Tree:
    """An empty tree with room for so many nodes of up to ``most`` pieces."""
    edges = nodes * EDGES_OF_A_NODE
    return Tree(
        np.empty((nodes, most, 5)),
        np.empty(nodes, np.int64),
        np.empty(nodes),
        np.empty(nodes),
        np.empty(nodes),
        np.empty((nodes, 2), np.int64),
        np.empty((edges, 7)),
        np.empty((edges, 3)),
        np.empty(edges, np.int64),
        np.empty(edges, np.int64),
        np.zeros(2, np.int64),
    )


@inlined
def _by(scene, gains):
    """The scene with other evidence."""
    return Scene(scene.camera, scene.matrix, gains, scene.maps)


@lean
def _add_edges(tree, rows, parent):
    """Append edges to the tree; their scores are not known yet, but for what a root's row gives. Returns (from, to)."""
    begin = tree.used[1]
    end = min(begin + len(rows), len(tree.row))
    for i in range(end - begin):
        for k in range(7):
            tree.row[begin + i, k] = rows[i, k]
        tree.parent[begin + i], tree.node[begin + i] = parent, -1
        tree.scores[begin + i, 0] = rows[i, 5] - PIECE_COST + (tree.hope[parent] if parent >= 0 else 0.0)
        tree.scores[begin + i, 1] = UNSCORED
    tree.used[1] = end
    return begin, end


@loop
def add_roots(tree, roots, cat, scene, estimates):
    """Take single pieces (n, 8) (row, turn) as the tree's first edges, and as its first nodes."""
    _add_edges(tree, roots, -1)
    clear(scene.maps)
    for i in range(len(roots)):
        there = turned(scene, roots[i, 7])
        tree.scores[i, 1] = place(cat, roots[i], _by(there, estimates.current), False)[0] - PIECE_COST
        tree.scores[i, 2] = place(cat, roots[i], _by(there, estimates.regret), False)[0] - PIECE_COST
        copy_row(roots[i], tree.pieces[i, 0])
        tree.sizes[i], tree.turn[i], tree.node[i] = 1, roots[i, 7], i
        cost = straightness(cat, tree.pieces[i], 1, scene.maps.points)
        tree.score[i], tree.hope[i] = tree.scores[i, 1] - cost, tree.scores[i, 0] - cost
        tree.edges[i, 0] = -1
    tree.used[0] = len(roots)


@loop
def beam(tree, roots, cat, stock, scene, estimates, widths):
    """Beam search from those roots (their edges), so many states of each size; returns every node met."""
    met = np.empty(widths.sum(), np.int64)
    begin, end = 0, 0
    edges = roots
    for level in range(len(widths)):
        if level > 0:
            edges = _expand(tree, met[begin:end], cat, stock, scene, estimates)
            edges = _distinct(tree, edges, level, LOOKED_AT * widths[level])
            _score(tree, met[begin:end], edges, cat, scene, estimates)
        begin, keys = end, set([np.uint64(0)])
        for i in _frontier(tree.scores[edges], widths[level]):
            node = _node_of(tree, edges[i], cat, scene, estimates)
            key = _key(tree.pieces[node], tree.sizes[node])
            if level > 0 and key in keys:
                continue
            keys.add(key)
            met[end] = node
            end += 1
        if begin == end:
            break
    return met[:end]


@inner_loop
def _expand(tree, nodes, cat, stock, scene, estimates):
    """The edges that leave some nodes."""
    total = 0
    for node in nodes:
        if tree.edges[node, 0] < 0:
            state, there = tree.pieces[node, : tree.sizes[node]], turned(scene, tree.turn[node])
            rows = successors(cat, stock, state, tree.turn[node], _by(there, estimates.optimistic))
            tree.edges[node, 0], tree.edges[node, 1] = _add_edges(tree, rows, node)
        total += tree.edges[node, 1] - tree.edges[node, 0]
    out = np.empty(total, np.int64)
    n = 0
    for node in nodes:
        for edge in range(tree.edges[node, 0], tree.edges[node, 1]):
            out[n] = edge
            n += 1
    return out


@inner_loop
def _node_of(tree, edge, cat, scene, estimates):
    """The node that an edge leads to, fitted roughly by the optimistic estimate; its parent if there is no room."""
    if tree.node[edge] >= 0:
        return tree.node[edge]
    node, parent = tree.used[0], tree.parent[edge]
    if node == len(tree.sizes):
        return parent
    count = tree.sizes[parent]
    state = tree.pieces[node, : count + 1]
    copy(tree.pieces[parent], state, count)
    copy_row(tree.row[edge], state[count])
    there = turned(scene, tree.turn[parent])
    steps = np.empty((1, 2))
    steps[0, 0], steps[0, 1] = QUICK_MM, QUICK_RAD
    cost = PIECE_COST * (count + 1)
    tree.hope[node] = refine(cat, state, count, _by(there, estimates.optimistic), steps, 2) - cost
    cost += straightness(cat, state, count + 1, scene.maps.points)
    tree.score[node] = draw(cat, state, count + 1, ALL, _by(there, estimates.current)) - cost
    tree.sizes[node], tree.turn[node], tree.edges[node, 0] = count + 1, tree.turn[parent], -1
    tree.node[edge] = node
    tree.used[0] += 1
    return node


@inner_loop
def _distinct(tree, edges, count, most):
    """The ``most`` edges with the best optimistic scores, near copies left out; their parents have ``count`` pieces."""
    chosen = np.empty(min(most, len(edges)), np.int64)
    n = 0
    seen = set([np.uint64(0)])
    child = np.empty((count + 1, 5))
    for i in np.argsort(-tree.scores[:, 0][edges]):
        if n == len(chosen):
            break
        copy(tree.pieces[tree.parent[edges[i]]], child, count)
        copy_row(tree.row[edges[i]], child[count])
        key = _key(child, count + 1)
        if key not in seen:
            seen.add(key)
            chosen[n] = edges[i]
            n += 1
    return chosen[:n]


@lean
def _key(pieces, count):
    """A number that is the same for states that are one and the same (see ``CELL_MM``), whatever the pieces' order.

    The sum of a hash of each piece. Kernels cannot hash tuples of varying length, so each is mixed here: by the odd
    constants of xxHash (Y. Collet), which spread neighbouring cells over all bits.
    """
    total = np.uint64(0)
    for i in range(count):
        h = np.uint64(int(pieces[i, 0]) + 1) * np.uint64(0x9E3779B97F4A7C15)
        h ^= np.uint64(round(pieces[i, 1] / CELL_MM) + 500) * np.uint64(0xC2B2AE3D27D4EB4F)
        h ^= np.uint64(round(pieces[i, 3] / CELL_MM) + 500) * np.uint64(0x165667B19E3779F9)
        h ^= h >> np.uint64(29)
        total += h * np.uint64(0xBF58476D1CE4E5B9)
    return total


@inner_loop
def _frontier(scores, width):
    """Indices of those to go on with, of ``scores`` (n, 3): in turn the best by optimistic and by current score, and
    by regret."""
    optimistic, current, regret = scores[:, 0], scores[:, 1], scores[:, 2]
    orders = (np.argsort(-optimistic), np.argsort(-current), np.argsort(-(regret + OPTIMISM * optimistic)))
    n = len(scores)
    taken = np.zeros(n, np.bool_)
    out = np.empty(min(width, n), np.int64)
    count = 0
    for rank in range(n):
        for order in orders:
            i = order[rank]
            if not taken[i] and count < len(out):
                taken[i] = True
                out[count] = i
                count += 1
    return out


@inner_loop
def _score(tree, nodes, edges, cat, scene, estimates):
    """Write the current score and the regret of those ``edges`` that leave these ``nodes`` and have none yet."""
    left = edges[tree.scores[:, 1][edges] <= UNSCORED]
    parents = tree.parent[left]
    for node in nodes:
        own = left[parents == node]
        if len(own) == 0:
            continue
        count = tree.sizes[node]
        state, there = tree.pieces[node, :count], turned(scene, tree.turn[node])
        cost = straightness(cat, state, count, scene.maps.points) + PIECE_COST * (count + 1)
        for k, gains in enumerate((estimates.current, estimates.regret)):
            against = _by(there, gains)
            drawn = draw(cat, state, count, ALL, against) - cost
            for edge in own:
                tree.scores[edge, k + 1] = drawn + place(cat, tree.row[edge], against, False)[0]
