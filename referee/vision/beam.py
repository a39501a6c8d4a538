"""The beam: what grows on beginnings, piece by piece, each growth worked out once. Compiled.

A wider beam meets again what a narrower one has met: the tree keeps it, so that looking narrowly first costs nothing
in the end. Pieces of a node are rows (stance, x, y, z, yaw): mm, radians; see ``paint``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from referee.vision.canvas import PIECE_COST
from referee.vision.compiled import lean, loop
from referee.vision.further import further
from referee.vision.paint import Gains, clear, draw, place
from referee.vision.rest import straightness
from referee.vision.search import copy, refine, turned_camera

EAGER = 0.4
"""Weight of hope against regret (see ``_promising``)."""

LOOKED_AT = 6
"""Of the readings grown at one level, so many times the beam's width are looked at more closely."""

QUICK_MM, QUICK_RAD = np.array([3.0]), np.deg2rad([4.0])
CELL_MM = 8.0
"""Readings of the same stances whose places agree within this are one and the same."""

ROWS_OF_A_NODE = 32
"""Room for what grows on a node, on average over the tree; ten are usual."""


class Hopes(NamedTuple):
    """The evidence in three lights: with hope, as it stands, and as regret."""

    hope: Gains
    now: Gains
    regret: Gains


class Tree(NamedTuple):
    """Nodes are states: ``pieces`` (n, most, 5), ``count``, ``turn``, ``score`` (evidence as it stands less what
    speaks against it beforehand), and ``grows`` (n, 2): which rows grow on it, -1 where that is not known yet.

    Rows are pieces that may be added: ``row`` (m, 7) as ``scan`` gives them, the ``light`` (m, 3) in which the state
    would stand (see ``Hopes``), the ``parent`` (-1: none, a beginning) and the ``node`` that it became (-1: none yet).
    ``used`` (2,): how many nodes and rows there are.
    """

    pieces: np.ndarray
    count: np.ndarray
    turn: np.ndarray
    score: np.ndarray
    grows: np.ndarray
    row: np.ndarray
    light: np.ndarray
    parent: np.ndarray
    node: np.ndarray
    used: np.ndarray


def tree(nodes: int, most: int) -> Tree:
    """An empty tree with room for so many nodes of up to ``most`` pieces."""
    rows = nodes * ROWS_OF_A_NODE
    return Tree(
        np.empty((nodes, most, 5)),
        np.empty(nodes, np.int64),
        np.empty(nodes),
        np.empty(nodes),
        np.empty((nodes, 2), np.int64),
        np.empty((rows, 7)),
        np.empty((rows, 3)),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.zeros(2, np.int64),
    )


@lean
def _add_rows(tree, rows, parent):
    """Append rows to the tree; their light is not known yet. Returns (from, to)."""
    begin = tree.used[1]
    end = min(begin + len(rows), len(tree.row))
    for i in range(end - begin):
        for k in range(7):
            tree.row[begin + i, k] = rows[i, k]
        tree.parent[begin + i], tree.node[begin + i] = parent, -1
    tree.used[1] = end
    return begin, end


@loop
def plant(tree, first, cat, camera, matrix, hopes, maps):
    """Take beginnings (n, 8) (row, turn) as the tree's first rows, and as its first nodes."""
    _add_rows(tree, first, -1)
    clear(maps)
    for i in range(len(first)):
        seen = turned_camera(camera, first[i, 7])
        tree.light[i, 0] = first[i, 5] - PIECE_COST
        tree.light[i, 1] = _added(cat, first, i, seen, matrix, hopes.now, maps) - PIECE_COST
        tree.light[i, 2] = _added(cat, first, i, seen, matrix, hopes.regret, maps) - PIECE_COST
        copy(first[i:], tree.pieces[i], 1)
        tree.count[i], tree.turn[i], tree.node[i] = 1, first[i, 7], i
        tree.score[i] = tree.light[i, 1] - straightness(cat, tree.pieces[i], 1, maps.points)
        tree.grows[i, 0] = -1
    tree.used[0] = len(first)


@loop
def beam(tree, rows, cat, stock, camera, matrix, hopes, maps, widths):
    """Grow those beginnings (their rows) and what grows on them, so many of each size; returns every node met."""
    met = np.empty(widths.sum(), np.int64)
    begin, end = 0, 0
    for level in range(len(widths)):
        if level > 0:
            rows = _grown(tree, met[begin:end], cat, stock, camera, matrix, hopes, maps)
            rows = _distinct(tree, rows, level, LOOKED_AT * widths[level])
        light = tree.light[rows]
        begin, keys = end, set([np.uint64(0)])
        for i in _promising(light[:, 0], light[:, 1], light[:, 2], widths[level]):
            node = _became(tree, rows[i], cat, camera, matrix, hopes, maps)
            key = _key(tree.pieces[node], tree.count[node])
            if level > 0 and key in keys:
                continue
            keys.add(key)
            met[end] = node
            end += 1
        if begin == end:
            break
    return met[:end]


@loop
def _grown(tree, nodes, cat, stock, camera, matrix, hopes, maps):
    """The rows that grow on some nodes."""
    total = 0
    for node in nodes:
        if tree.grows[node, 0] < 0:
            count = tree.count[node]
            state = tree.pieces[node, :count]
            seen = turned_camera(camera, tree.turn[node])
            rows = further(cat, stock, state, count, tree.turn[node], seen, matrix, hopes.hope, maps)
            begin, end = _add_rows(tree, rows, node)
            _lit(cat, state, count, rows[: end - begin], seen, matrix, hopes, maps, tree.light[begin:])
            tree.grows[node, 0], tree.grows[node, 1] = begin, end
        total += tree.grows[node, 1] - tree.grows[node, 0]
    out = np.empty(total, np.int64)
    n = 0
    for node in nodes:
        for row in range(tree.grows[node, 0], tree.grows[node, 1]):
            out[n] = row
            n += 1
    return out


@loop
def _became(tree, row, cat, camera, matrix, hopes, maps):
    """The node that a row becomes, fitted roughly with hope; its parent if there is no room for more."""
    if tree.node[row] >= 0:
        return tree.node[row]
    node, parent = tree.used[0], tree.parent[row]
    if node == len(tree.count):
        return parent
    count = tree.count[parent]
    state = tree.pieces[node, : count + 1]
    copy(tree.pieces[parent], state, count)
    copy(tree.row[row:], state[count:], 1)
    seen = turned_camera(camera, tree.turn[parent])
    refine(cat, state, count + 1, count, seen, matrix, hopes.hope, maps, QUICK_MM, QUICK_RAD, 2)
    cost = straightness(cat, state, count + 1, maps.points) + PIECE_COST * (count + 1)
    tree.score[node] = draw(cat, state, count + 1, -1, seen, matrix, hopes.now, maps) - cost
    tree.count[node], tree.turn[node], tree.grows[node, 0] = count + 1, tree.turn[parent], -1
    tree.node[row] = node
    tree.used[0] += 1
    return node


@loop
def _distinct(tree, rows, count, most):
    """The ``most`` most hopeful rows, near copies left out; their parents have ``count`` pieces."""
    chosen = np.empty(min(most, len(rows)), np.int64)
    n = 0
    seen = set([np.uint64(0)])
    child = np.empty((count + 1, 5))
    for i in np.argsort(-tree.light[:, 0][rows]):
        if n == len(chosen):
            break
        copy(tree.pieces[tree.parent[rows[i]]], child, count)
        copy(tree.row[rows[i] :], child[count:], 1)
        key = _key(child, count + 1)
        if key not in seen:
            seen.add(key)
            chosen[n] = rows[i]
            n += 1
    return chosen[:n]


@lean
def _key(pieces, count):
    """A number that is the same for readings that are one and the same (see ``CELL_MM``)."""
    total = np.uint64(0)
    for i in range(count):
        h = np.uint64(int(pieces[i, 0]) + 1) * np.uint64(0x9E3779B97F4A7C15)
        h ^= np.uint64(round(pieces[i, 1] / CELL_MM) + 500) * np.uint64(0xC2B2AE3D27D4EB4F)
        h ^= np.uint64(round(pieces[i, 3] / CELL_MM) + 500) * np.uint64(0x165667B19E3779F9)
        h ^= h >> np.uint64(29)
        total += h * np.uint64(0xBF58476D1CE4E5B9)
    return total


@loop
def _promising(hope, now, regret, width):
    """Indices of those to go on with, in turn the best by hope, by evidence as it stands, and by regret."""
    orders = (np.argsort(-hope), np.argsort(-now), np.argsort(-(regret + EAGER * hope)))
    n = len(hope)
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


@lean
def _lit(cat, state, count, rows, camera, matrix, hopes, maps, lights):
    """Write to ``lights`` (n or more, 3) the evidence of a state with each of the pieces ``rows`` (n, 7) added."""
    cost = straightness(cat, state, count, maps.points) + PIECE_COST * (count + 1)
    own = draw(cat, state, count, -1, camera, matrix, hopes.hope, maps) - cost
    for i in range(len(rows)):
        lights[i, 0] = own + rows[i, 5]
    own = draw(cat, state, count, -1, camera, matrix, hopes.now, maps) - cost
    for i in range(len(rows)):
        lights[i, 1] = own + _added(cat, rows, i, camera, matrix, hopes.now, maps)
    own = draw(cat, state, count, -1, camera, matrix, hopes.regret, maps) - cost
    for i in range(len(rows)):
        lights[i, 2] = own + _added(cat, rows, i, camera, matrix, hopes.regret, maps)


@lean
def _added(cat, rows, i, camera, matrix, gains, maps):
    """Evidence that the piece of row i would win over what is drawn."""
    return place(
        cat, int(rows[i, 0]), rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], camera, matrix, gains, maps, False
    )[0]
