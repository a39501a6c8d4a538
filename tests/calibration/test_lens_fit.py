"""A lens is found again from rendered pictures of the board; too few or mixed views are refused."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
import pytest

from calibration.camera import CameraModel
from calibration.errors import CannotSee
from calibration.lens import (
    COLUMNS,
    LEAST_VIEWS,
    ROWS,
    SQUARE_MM,
    BoardView,
    charuco_board,
    covered_share,
    find_board,
    fit_lens,
)

SIZE = (1280, 720)
TRUE = CameraModel(
    *SIZE, np.array([[980.0, 0, 652], [0, 984.0, 351], [0, 0, 1]]), np.array([0.06, -0.12, 0.0008, -0.0006, 0.03])
)
PX_PER_MM = 4


@cache
def true_rays() -> np.ndarray:
    """(n, 3): where each pixel of the true lens looks."""
    u, v = np.meshgrid(np.arange(SIZE[0]), np.arange(SIZE[1]))
    pixels = np.stack([u, v], -1).reshape(-1, 1, 2).astype(float)
    rays = cv2.undistortPoints(pixels, TRUE.matrix, TRUE.distortion).reshape(-1, 2)
    return np.column_stack([rays, np.ones(len(rays))])


def photographed(turn_deg, at_mm, rng) -> np.ndarray:
    """The board turned by three angles at a place before the camera, seen through the true lens."""
    sheet = charuco_board().generateImage((COLUMNS * 36 * PX_PER_MM, ROWS * 36 * PX_PER_MM))
    rotation = cv2.Rodrigues(np.radians(turn_deg))[0]
    centre = np.array([COLUMNS * SQUARE_MM / 2, ROWS * SQUARE_MM / 2, 0])
    rays = true_rays() @ rotation
    origin = -(rotation.T @ np.asarray(at_mm, float))
    points = origin + rays * (-origin[2] / rays[:, 2])[:, None] + centre
    where = (points[:, :2] * PX_PER_MM).reshape(*SIZE[::-1], 2).astype(np.float32)
    seen = cv2.remap(sheet, where[..., 0], where[..., 1], cv2.INTER_AREA, borderValue=180)
    noisy = cv2.GaussianBlur(seen, (3, 3), 0.7) + rng.normal(0, 2, seen.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def views() -> list[BoardView]:
    rng = np.random.default_rng(4)
    places = [(x, y, 470) for y in (-70, 70) for x in (-170, -60, 60, 170)] + [(0, 0, 380), (30, -20, 560)]
    found = [find_board(photographed(rng.uniform(-28, 28, 3), place, rng)) for place in places]
    return [view for view in found if view is not None]


def test_the_true_lens_is_found(views):
    fit = fit_lens(views)
    assert fit.error_px < 0.4 and fit.covered > 0.7
    assert fit.camera.focal_px == pytest.approx(TRUE.focal_px, rel=0.01)
    grid = np.array([(x, y, 600.0) for x in (-250, 0, 250) for y in (-130, 0, 130)])
    assert np.abs(fit.camera.project(grid) - TRUE.project(grid)).max() < 6


def test_a_picture_without_the_board_gives_no_view():
    assert find_board(np.full((720, 1280), 128, np.uint8)) is None


def test_too_few_views_are_refused(views):
    with pytest.raises(CannotSee, match=f"needs {LEAST_VIEWS} views"):
        fit_lens(views[: LEAST_VIEWS - 1])


def test_views_of_two_sizes_are_refused(views):
    other = BoardView(views[0].board, views[0].pixels, (640, 360))
    with pytest.raises(CannotSee, match="different sizes"):
        fit_lens([*views[:LEAST_VIEWS], other])


def test_nothing_covers_nothing():
    assert covered_share([]) == 0.0
