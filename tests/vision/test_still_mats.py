"""Mats whose markers cannot be read: what an earlier picture of the same camera says of them, and what it does not."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration import markers
from calibration.camera import load_camera
from calibration.markers import Corners, find_markers
from calibration.mat import SHEET, detect_mats
from calibration.still import sheet_patches, still_markers
from referee.benchmark.effects.light import motion
from referee.vision.image import aids
from referee.vision.image.aids import believed_mats, corners_px

SESSION = Path(__file__).parents[2] / "referee" / "example" / "sessions" / "challenge"
EMPTY = cv2.imread(str(SESSION / "empty.jpg"), cv2.IMREAD_GRAYSCALE)
BUILT = cv2.imread(str(SESSION / "duel_01.jpg"), cv2.IMREAD_GRAYSCALE)
LENS = load_camera(SESSION / "camera.yaml")
KNOWN = find_markers(EMPTY)
MATS = detect_mats(EMPTY, LENS)


def of_mat_a() -> Corners:
    return {m: quad for m, quad in KNOWN.items() if m < 4}


def slid(mm: float) -> np.ndarray:
    """The empty frame with mat A's sheet that much further to its right."""
    pose = MATS.poses["A"]
    x, y = SHEET[0] / 2 + 2, SHEET[1] / 2 + 2
    corners = np.array([(-x, -y, 0.0), (x, -y, 0), (x, y, 0), (-x, y, 0)])
    here, there = (MATS.camera.project(pose.to_camera(corners + (step, 0, 0))).astype(np.float32) for step in (0.0, mm))
    matrix, size = cv2.getPerspectiveTransform(here, there), EMPTY.shape[::-1]
    cover = cv2.fillConvexPoly(np.zeros_like(EMPTY), here.round().astype(np.int32), 255)
    table = np.where(cover > 0, np.uint8(np.median(EMPTY[-60:])), EMPTY)
    moved = cv2.warpPerspective(cover, matrix, size) > 127
    return np.where(moved, cv2.warpPerspective(EMPTY, matrix, size, flags=cv2.INTER_CUBIC), table)


def test_markers_are_held_by_what_motion_has_left_of_them():
    shaken = motion(cv2.cvtColor(BUILT, cv2.COLOR_GRAY2BGR), 15.0, 70.0)[..., 0]
    assert len(find_markers(shaken)) < 2, "so blurred they are not read"
    held = still_markers(shaken, EMPTY, KNOWN)
    assert len(held) > 2
    assert max(float(np.abs(held[m] - KNOWN[m]).max()) for m in held) < 2.0
    assert not detect_mats(shaken, LENS).poses
    mats = believed_mats(shaken, LENS, KNOWN, cv2.cvtColor(EMPTY, cv2.COLOR_GRAY2BGR))
    off = {zone: np.abs(corners_px(mats, mats.poses[zone]) - corners_px(MATS, MATS.poses[zone])).max() for zone in "AB"}
    assert max(off.values()) < 2.0


@pytest.mark.parametrize(
    "picture", sorted(SESSION.parent.glob("*/*.jpg")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_still_markers_are_found_at_their_places_as_in_the_whole_picture(picture, monkeypatch):
    gray, looks = cv2.imread(str(picture), cv2.IMREAD_GRAYSCALE), []
    known = {m: quad for m, quad in find_markers(gray).items() if m < 8}
    detect = markers._detect
    monkeypatch.setattr(markers, "_detect", lambda part, *of: looks.append(part.shape) or detect(part, *of))
    again = find_markers(gray, known)
    plain = {m: quad for m, quad in detect(gray).items() if m < 8}
    assert plain.keys() <= again.keys()
    assert all(np.array_equal(quad, known[m]) for m, quad in again.items() if m < 8)
    assert (gray.shape in looks) == (len(markers.zone_markers(plain)) < markers.DUEL_MATS)


def test_a_camera_that_was_knocked_holds_no_marker_where_it_was():
    knocked = np.roll(BUILT, 12, axis=1)
    assert still_markers(knocked, EMPTY, KNOWN) == {}


def test_a_marker_that_is_covered_is_not_held():
    covered = EMPTY.copy()
    for quad in of_mat_a().values():
        middle = quad.mean(0)
        cv2.fillConvexPoly(covered, (middle + 0.9 * (quad - middle) + 6).round().astype(np.int32), 90)
    assert still_markers(covered, EMPTY, of_mat_a()) == {}


@pytest.mark.parametrize("mm", [4.0, 12.0, 35.0])
def test_a_sheet_that_slid_is_seen_to_have_moved(mm):
    patches = sheet_patches(slid(mm), EMPTY, of_mat_a())
    assert patches.has_moved and not patches.lies_still


def test_a_sheet_with_a_build_on_it_has_not_moved():
    patches = sheet_patches(BUILT, EMPTY, of_mat_a())
    assert patches.lies_still and not patches.has_moved
    nothing = sheet_patches(np.full_like(EMPTY, 128), EMPTY, of_mat_a())
    assert not nothing.has_moved and not nothing.lies_still, "nothing is seen of it: the camera has not moved"


@pytest.mark.parametrize("mm", [0.0, 12.0])
def test_a_mat_of_which_no_marker_is_seen_is_believed_only_where_it_lay(mm):
    now = slid(mm)
    for quad in of_mat_a().values():  # half of each is covered, where it lies now
        step = find_markers(now).get(0, KNOWN[0]) - KNOWN[0]
        cv2.fillConvexPoly(now, (quad + step)[[0, 1, 2]].round().astype(np.int32), 200)
    assert not {0, 1, 2, 3} & find_markers(now).keys()
    assert ("A" in believed_mats(now, LENS, KNOWN, EMPTY).poses) == (mm == 0)


def off_px(picture: np.ndarray) -> dict[str, float]:
    """By mat that is seen in a picture, how far off."""
    mats = believed_mats(picture, LENS, KNOWN, EMPTY)
    rows = {z: np.abs(corners_px(mats, pose) - corners_px(MATS, MATS.poses[z])).max() for z, pose in mats.poses.items()}
    return {zone: float(off) for zone, off in rows.items()}


def test_mats_of_which_no_marker_at_all_is_seen_lie_still_where_their_sheets_do():
    """Pieces lie on all eight; the camera is where it was, for both sheets are."""
    covered = EMPTY.copy()
    for quad in KNOWN.values():
        cv2.fillConvexPoly(covered, quad[[0, 1, 2]].round().astype(np.int32), 200)
    assert not find_markers(covered)
    assert off_px(covered).keys() == {"A", "B"} and max(off_px(covered).values()) < 0.5
    assert off_px(np.roll(covered, 9, axis=1)) == {}


def test_markers_that_are_read_elsewhere_than_they_lie_are_put_right_by_their_sheet():
    """Pieces cover an edge of each: what is read ends there."""
    read = {m: quad + np.linspace(8, 14, 4)[:, None].astype(quad.dtype) * (m % 2) for m, quad in KNOWN.items() if m < 8}
    mended, kept = aids._held_against(EMPTY, EMPTY, {m: quad for m, quad in read.items() if m in (1, 2, 5)}, KNOWN)
    assert kept.keys() == KNOWN.keys() and {*mended} >= {0, 1, 2, 3, 4, 5, 6, 7}
    assert max(np.abs(mended[m] - KNOWN[m]).max() for m in range(8)) <= 3.0


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_camera_on_its_side_is_seen_through_its_own_lens(quarters):
    turned = np.ascontiguousarray(np.rot90(BUILT, quarters))
    mats = believed_mats(turned, LENS, {})
    assert sorted(mats.poses) == ["A", "B"]
    assert not mats.camera.estimated
    assert mats.error_px < 1.5 * believed_mats(BUILT, LENS, {}).error_px + 0.1
