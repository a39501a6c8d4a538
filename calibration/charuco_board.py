"""The ChArUco board that a lens is fitted with: its geometry, in one place for print and fit.

5x5 markers, so that none of them can be taken for a mat's or a card's (4x4).
"""

from __future__ import annotations

import cv2
import numpy as np

COLUMNS, ROWS = 7, 5
SQUARE_MM, MARKER_MM = 36.0, 27.0
DICTIONARY = cv2.aruco.DICT_5X5_100


def charuco_board() -> cv2.aruco.CharucoBoard:
    """The board as OpenCV knows it; its object points are millimetres, origin at its upper left."""
    codes = cv2.aruco.getPredefinedDictionary(DICTIONARY)
    return cv2.aruco.CharucoBoard((COLUMNS, ROWS), SQUARE_MM, MARKER_MM, codes)


def black_squares() -> list[tuple[int, int]]:
    """(column, row) of the black squares, row 0 at the top: those in which no marker lies."""
    centres = np.array([np.mean(c, 0)[:2] for c in charuco_board().getObjPoints()]) / SQUARE_MM
    white = {(int(x), int(y)) for x, y in centres}
    return [(c, r) for r in range(ROWS) for c in range(COLUMNS) if (c, r) not in white]


def board_markers() -> list[tuple[int, float, float]]:
    """(id, left, top) of each marker in mm from the board's upper left corner, y downwards."""
    board = charuco_board()
    rows = zip(np.ravel(board.getIds()).tolist(), map(np.asarray, board.getObjPoints()), strict=True)
    return [(marker, float(c[:, 0].min()), float(c[:, 1].min())) for marker, c in rows]
