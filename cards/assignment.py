"""The cheapest way to pair off two sets."""

from __future__ import annotations

import math

import numpy as np


def cheapest_pairs(cost: np.ndarray) -> np.ndarray:
    """Of each row (n,) the column it is paired with, each column once at most, at the least total ``cost`` (n, m).

    m is at least n. Shortest augmenting paths, as in Jonker and Volgenant, "A shortest augmenting path algorithm for
    dense and sparse linear assignment problems", 1987; n² m steps.
    """
    n, m = cost.shape
    if n > m:
        raise ValueError(f"{n} rows cannot each have one of {m} columns")
    rows, row_price, column_price = cost.tolist(), [0.0] * n, [0.0] * m
    owner = [-1] * m
    for row in range(n):
        _augment(row, rows, row_price, column_price, owner)
    pairs = np.empty(n, np.int64)
    for column, row in enumerate(owner):
        if row >= 0:
            pairs[row] = column
    return pairs


def _augment(
    start: int, cost: list[list[float]], row_price: list[float], column_price: list[float], owner: list[int]
) -> None:
    """Give row ``start`` a column, along the shortest path of changes among the rows that have one already."""
    m = len(owner)
    distance, before, done = [math.inf] * m, [-1] * m, [False] * m
    row, column, length = start, -1, 0.0
    while row >= 0:
        for j in range(m):
            through = length + cost[row][j] - row_price[row] - column_price[j]
            if not done[j] and through < distance[j]:
                distance[j], before[j] = through, column
        column = min((j for j in range(m) if not done[j]), key=distance.__getitem__)
        length, done[column], row = distance[column], True, owner[column]
    row_price[start] += length
    for j in range(m):
        if done[j] and j != column:
            row_price[owner[j]] += length - distance[j]
            column_price[j] -= length - distance[j]
    while column >= 0:  # each column on the path takes the row of the one before it
        previous = before[column]
        owner[column] = owner[previous] if previous >= 0 else start
        column = previous
