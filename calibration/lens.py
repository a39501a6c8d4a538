"""The ChArUco board, its geometry in one place for print and fit, and a lens from pictures of it at many angles.

The board's markers are 5x5, so that none of them can be taken for a mat's or a card's (4x4).

Zhang's method as OpenCV has it (``cv2.calibrateCamera``), with the five plumb-bob coefficients of
the camera file. A fit says how far off it is and how much of the picture the corners covered;
where none were, the distortion is a guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.errors import CannotSee
from cards.sentences import sentence

COLUMNS, ROWS = 7, 5
SQUARE_MM, MARKER_MM = 36.0, 27.0
DICTIONARY = cv2.aruco.DICT_5X5_100

LEAST_CORNERS = 10
"""Corners a view needs: fewer leave its pose loose. The board has 24."""

LEAST_VIEWS = 8
CELLS = (8, 6)
"""Columns and rows into which the picture is cut to say how much of it was covered."""


def charuco_board() -> cv2.aruco.CharucoBoard:
    """The board as OpenCV knows it; its object points are millimetres, origin at its upper left."""
    codes = cv2.aruco.getPredefinedDictionary(DICTIONARY)
    return cv2.aruco.CharucoBoard((COLUMNS, ROWS), SQUARE_MM, MARKER_MM, codes)


def board_markers() -> list[tuple[int, float, float]]:
    """(id, x, y) of each marker's middle in mm from the board's upper left corner, y downwards."""
    board = charuco_board()
    middles = np.mean(np.array(board.getObjPoints()), 1)[:, :2].tolist()
    return [(marker, x, y) for marker, (x, y) in zip(np.ravel(board.getIds()).tolist(), middles, strict=True)]


@dataclass(frozen=True, eq=False)
class BoardView:
    """The board's corners in one picture: ``board`` (n, 3) mm, ``pixels`` (n, 2); ``size``: width, height."""

    board: np.ndarray
    pixels: np.ndarray
    size: tuple[int, int]


@dataclass(frozen=True, eq=False)
class LensFit:
    """The lens, the RMS distance of corners from where it puts them, and the share of cells with corners."""

    camera: CameraModel
    error_px: float
    covered: float


def find_board(gray: np.ndarray) -> BoardView | None:
    """The board in an 8-bit grey picture (h, w); None when fewer than ``LEAST_CORNERS`` are seen."""
    board = charuco_board()
    corners, ids, _, _ = cv2.aruco.CharucoDetector(board).detectBoard(gray)
    if ids is None or len(ids) < LEAST_CORNERS:
        return None
    points, pixels = board.matchImagePoints(corners, ids)  # type: ignore[call-overload]  # its stubs want lists
    return BoardView(points.reshape(-1, 3), pixels.reshape(-1, 2), (gray.shape[1], gray.shape[0]))


def covered_share(views: Sequence[BoardView]) -> float:
    """The share of the picture's cells in which any view has a corner, 0 to 1."""
    if not views:
        return 0.0
    places = np.concatenate([view.pixels / view.size for view in views])
    cells = np.clip((places * CELLS).astype(int), 0, np.array(CELLS) - 1)
    return len({tuple(cell) for cell in cells.tolist()}) / (CELLS[0] * CELLS[1])


def fit_lens(views: Sequence[BoardView]) -> LensFit:
    """The lens that explains all views. Raises CannotSee for too few of them, or for two picture sizes."""
    if len(views) < LEAST_VIEWS:
        raise CannotSee(sentence("few_views", m=LEAST_VIEWS, n=len(views)))
    sizes = {view.size for view in views}
    if len(sizes) > 1:
        raise CannotSee(sentence("mixed_views", sizes=[" x ".join(map(str, size)) for size in sorted(sizes)]))
    size = sizes.pop()
    error, matrix, distortion, _, _ = cv2.calibrateCamera(
        [v.board.astype(np.float32) for v in views], [v.pixels.astype(np.float32) for v in views], size, None, None
    )
    camera = CameraModel(*size, matrix, distortion.ravel()[:5])
    return LensFit(camera, float(error), covered_share(views))
