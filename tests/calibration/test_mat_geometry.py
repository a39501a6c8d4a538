"""Poses of mats from exact pictures, and projections worked out by hand."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from calibration import markers, mat
from calibration.camera import CameraModel, camera_text, guessed_camera, load_camera
from calibration.errors import BadCamera
from calibration.markers import DICTIONARY, MARKER_MM, find_markers, marker_corners, marker_id
from calibration.mat import MatPose, detect_mats, solve_mats

LENS = CameraModel(1280, 720, np.array([[980.0, 0, 639.5], [0, 980.0, 359.5], [0, 0, 1]]), np.zeros(5))


def on_table(x_mm: float, y_mm: float, turn_deg: float) -> tuple[np.ndarray, np.ndarray]:
    """Pose of a mat on a table seen from 606 mm before and 390 mm above the origin, looking at it."""
    forward = np.array([0.0, 606.0, -390.0]) / math.hypot(606, 390)
    rotation = np.stack([np.array([1.0, 0, 0]), np.cross(forward, (1.0, 0, 0)), forward])
    c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    return (
        rotation @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]),
        rotation @ (np.array([x_mm, y_mm, 0.0]) - (0.0, -606.0, 390.0)),
    )


def corners_of(spots: dict[str, tuple[float, float, float]], lens: CameraModel = LENS) -> dict[int, np.ndarray]:
    """Exact marker corners of mats at (x, y, turn) on the table."""
    found = {}
    for zone, spot in spots.items():
        pose = MatPose(zone, *on_table(*spot), (), 0.0)
        for k in range(4):
            found[marker_id(zone, k)] = lens.project(pose.to_camera(np.c_[marker_corners(k), np.zeros(4)]))
    return found


def test_projection_by_hand():
    """(100, 50, 1000) mm: 980 * 0.1 = 98 right of the centre, 980 * 0.05 = 49 below."""
    assert LENS.project(np.array([(100.0, 50, 1000)]))[0] == pytest.approx((737.5, 408.5))


def test_barrel_distortion_by_hand():
    """k1 = -0.2 at r2 = 0.01 + 0.0025: both offsets shrink by the factor 1 - 0.2 * 0.0125 = 0.9975."""
    bent = CameraModel(1280, 720, LENS.matrix, np.array([-0.2, 0, 0, 0, 0]))
    assert bent.project(np.array([(100.0, 50, 1000)]))[0] == pytest.approx((639.5 + 97.755, 359.5 + 48.8775))


def test_no_points_project_to_no_pixels():
    assert LENS.project(np.zeros((0, 3))).shape == (0, 2)


def test_marker_corners_are_the_contracts():
    """Marker 0 is centred at (-121, -77.5), 44 wide; corners run from its upper left, clockwise."""
    assert marker_corners(0).tolist() == [[-143, -55.5], [-99, -55.5], [-99, -99.5], [-143, -99.5]]
    assert (MARKER_MM, marker_id("B", 3), marker_id("L", 0)) == (44.0, 7, 44)


@pytest.mark.parametrize(
    "spots",
    [
        {"A": (-165, 0, 0), "B": (165, 10, 0)},  # side by side
        {"A": (-165, -20, 0), "B": (170, 40, 180)},  # facing each other
        {"C": (0, 0, 12)},  # one mat alone
    ],
)
def test_poses_are_found_again_with_the_lens(spots):
    mats = solve_mats(corners_of(spots), (1280, 720), LENS)
    assert set(mats.poses) == set(spots) and mats.error_px < 0.05
    for zone, spot in spots.items():
        rotation, translation = on_table(*spot)
        assert mats.poses[zone].translation == pytest.approx(translation, abs=0.5)
        assert mats.poses[zone].rotation == pytest.approx(rotation, abs=2e-3)


def test_the_focal_length_is_found_from_two_mats():
    mats = solve_mats(corners_of({"A": (-165, 0, 0), "B": (165, 10, 180)}), (1280, 720), None)
    assert mats.camera.estimated and mats.camera.focal_px == pytest.approx(980, rel=0.02)


@pytest.mark.parametrize("bend", [-0.16, 0.04])
def test_the_bend_of_a_lens_is_found_from_two_mats(bend):
    """A wide-angle webcam's; taken for straight, such a lens puts the top of a tower up to 29 px beside itself."""
    bent = CameraModel(1280, 720, LENS.matrix, np.array([bend, 0, 0, 0, 0]))
    mats = solve_mats(corners_of({"A": (-165, 0, 0), "B": (165, 10, 180)}, bent), (1280, 720), None)
    assert mats.camera.focal_px == pytest.approx(980, rel=0.01)
    assert mats.camera.distortion[0] == pytest.approx(bend, abs=0.01) and mats.error_px < 0.1


def test_a_lens_that_is_given_stays_as_it_is():
    bent = CameraModel(1280, 720, LENS.matrix, np.array([-0.16, 0, 0, 0, 0]))
    assert solve_mats(corners_of({"A": (-165, 0, 0), "B": (165, 10, 180)}, bent), (1280, 720), LENS).camera is LENS


def test_one_marker_of_a_mat_is_enough_beside_a_whole_one():
    seen = corners_of({"A": (-165, 0, 0), "B": (165, 10, 5)})
    mats = solve_mats({m: c for m, c in seen.items() if m <= 4}, (1280, 720), LENS)
    assert mats.poses["B"].markers == (0,)
    assert mats.poses["B"].translation == pytest.approx(on_table(165, 10, 5)[1], abs=2)


def test_a_mat_of_which_a_single_marker_is_all_there_is_is_not_placed():
    """Blur left one of eight, and its mat was seen from below the table."""
    side = 5 * round(MARKER_MM)
    sheet = np.full((side + 200, side + 200), 235, np.uint8)
    code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), marker_id("A", 3), side)
    sheet[100:-100, 100:-100] = code
    one = np.random.default_rng(2).integers(120, 136, (720, 1280), np.uint8)
    one[300 : 300 + sheet.shape[0] // 4, 500 : 500 + sheet.shape[1] // 4] = cv2.resize(sheet, None, fx=0.25, fy=0.25)
    assert set(find_markers(one)) == {marker_id("A", 3)}
    assert detect_mats(one, LENS).poses == {}


def test_a_misread_marker_is_left_out():
    seen = corners_of({"A": (-165, 0, 0), "B": (165, 10, 0)})
    seen[marker_id("A", 2)] = seen[marker_id("A", 2)] + (160, -90)
    mats = solve_mats(seen, (1280, 720), LENS)
    assert mats.poses["A"].markers == (0, 1, 3)
    assert mats.poses["A"].translation == pytest.approx(on_table(-165, 0, 0)[1], abs=1)


def test_a_corner_that_is_four_pixels_off_hardly_moves_its_mat():
    """Plain least squares would move it by 0.2 mm."""
    seen = corners_of({"A": (-165, 0, 0), "B": (165, 10, 0)})
    seen[marker_id("A", 2)][1] += (0, 4)
    mats = solve_mats(seen, (1280, 720), LENS)
    assert mats.poses["A"].markers == (0, 1, 2, 3)
    assert mats.poses["A"].translation == pytest.approx(on_table(-165, 0, 0)[1], abs=0.1)


def test_no_markers_are_no_mats():
    assert not solve_mats({}, (1280, 720), LENS).poses
    for grey in (0, 128, 255):
        assert not detect_mats(np.full((720, 1280), grey, np.uint8)).poses


def test_a_marker_that_the_edge_cuts_is_none():
    """Cut by up to a quarter its bits are still read, and its corners lie beside where they are printed."""
    marker = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), 6, 60)
    for cut in (2, 5, 9):
        picture = np.full((300, 400), 220, np.uint8)
        picture[100:160, 400 - 60 + cut :] = marker[:, : 60 - cut]
        assert find_markers(picture, bgr=cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR)) == {}


def test_a_marker_that_a_piece_touches_is_seen_by_its_brightest_channel():
    marker = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), 6, 60)
    picture = np.full((300, 400, 3), 220, np.uint8)
    picture[100:160, 200:260] = np.maximum(marker, 25)[..., None]
    picture[90:151, 160:203] = (150, 60, 40)
    picture = cv2.GaussianBlur(picture, (0, 0), 0.8)
    gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    assert find_markers(gray) == {}
    assert np.abs(find_markers(gray, bgr=picture)[6].mean(0) - (229.5, 129.5)).max() < 1.0


def test_a_card_is_no_mat():
    picture = np.full((400, 600), 230, np.uint8)
    code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), 61, 120)
    picture[100:220, 200:320] = code
    assert set(find_markers(picture)) == {61}
    assert not detect_mats(picture).poses


def test_mats_that_lie_as_known_are_not_looked_for_twice(monkeypatch):
    """The looks at grown dark parts take four times as long as the first; what they might add is known already."""
    picture, looks = np.full((720, 1280), 230, np.uint8), []
    for k, (x, y) in enumerate([(100, 100), (500, 100), (500, 500), (100, 500)]):
        code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), marker_id("A", k), 96)
        picture[y : y + 96, x : x + 96] = code
    known, detect = find_markers(picture), markers._detect
    monkeypatch.setattr(markers, "_detect", lambda gray: looks.append(gray.shape) or detect(gray))
    found = find_markers(picture, known)
    assert len(looks) == 1 and all((found[m] == known[m]).all() for m in known)
    covered = picture.copy()
    covered[480:620, 80:620] = 230
    found = find_markers(covered, known)
    assert len(looks) == 2 and found.keys() == {marker_id("A", 0), marker_id("A", 1)}
    covered[80:220, 480:620] = 230
    assert find_markers(covered, known).keys() == {marker_id("A", 0)}
    assert looks[2] == picture.shape and len(looks) == 6 and max(map(max, looks[3:])) < 2 * 4 * 96
    assert find_markers(np.roll(picture, 20, axis=1), known).keys() == known.keys()
    assert looks[6:8] == [picture.shape] * 2, "who slid is looked for anew"


def test_a_covered_marker_is_looked_for_where_it_must_be(monkeypatch):
    """At twice its size a picture takes four times as long: where two markers of each mat are read, the others'
    places are known."""
    picture, looks, detect = np.full((720, 1280), 230, np.uint8), [], markers._detect
    for k, (x, y) in enumerate([(60, 400), (460, 400), (460, 150), (60, 150), (760, 400), (1160, 400), (1160, 150)]):
        code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), k, 72)
        picture[y : y + 72, x : x + 72] = code
    monkeypatch.setattr(markers, "_detect", lambda gray: looks.append(gray.shape) or detect(gray))
    assert find_markers(picture).keys() == set(range(7))
    assert looks[:2] == [picture.shape] * 2 and len(looks) == 3
    assert max(looks[2]) < 2 * 4 * 72


def test_a_face_down_mat_cannot_be_mistaken():
    """Mirrored markers are none of the dictionary's."""
    picture = np.full((400, 600), 230, np.uint8)
    code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), 3, 120)
    picture[100:220, 200:320] = code[:, ::-1]
    assert not find_markers(picture)


def test_a_camera_file_is_read_back(tmp_path):
    camera = CameraModel(1280, 720, LENS.matrix, np.array([0.1, -0.2, 0.001, 0.002, 0.03]))
    (tmp_path / "camera.yaml").write_text(camera_text(camera))
    back = load_camera(tmp_path / "camera.yaml")
    assert (back.width, back.height) == (1280, 720)
    assert back.matrix == pytest.approx(camera.matrix) and back.distortion == pytest.approx(camera.distortion)


def test_a_lens_scales_with_the_picture_but_not_to_another_format():
    assert LENS.scaled_to(1920, 1080).matrix[0, 0] == pytest.approx(1470)
    with pytest.raises(BadCamera, match="1280 x 720 pixels, the picture has 640 x 480"):
        LENS.scaled_to(640, 480)


def test_a_lens_turned_by_a_quarter_sees_what_the_turned_picture_shows():
    lens = CameraModel(
        1280, 720, np.array([[980.0, 0, 650], [0, 960, 340], [0, 0, 1]]), np.array([0.1, -0.02, 0.004, -0.003, 0.01])
    )
    point = np.array([(120.0, -70.0, 600.0)])
    (x, y), (turned_x, turned_y) = lens.project(point)[0], lens.turned().project(point[:, [1, 0, 2]] * (1, -1, 1))[0]
    # np.rot90 brings column x to row 1279 - x, and row y to column y.
    assert (turned_x, turned_y) == pytest.approx((y, 1279 - x))
    assert (lens.turned().width, lens.turned().height) == (720, 1280)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("image_width: 1280", "image_height"),
        ("[1, 2", "not YAML"),
        (
            "image_width: 0\nimage_height: 720\ncamera_matrix: {data: [1,0,0,0,1,0,0,0,1]}\n"
            "distortion_coefficients: {data: [0,0,0,0,0]}",
            "image_width",
        ),
        (
            "image_width: 1280\nimage_height: 720\ncamera_matrix: {data: [-1,0,0,0,1,0,0,0,1]}\n"
            "distortion_coefficients: {data: [0,0,0,0,0]}",
            "pinhole",
        ),
        (
            "image_width: 1280\nimage_height: 720\ndistortion_model: fisheye\n"
            "camera_matrix: {data: [1,0,0,0,1,0,0,0,1]}\n"
            "distortion_coefficients: {data: [0,0,0,0,0]}",
            "plumb_bob",
        ),
    ],
)
def test_a_bad_camera_file_is_refused_with_its_fault(tmp_path, text, fault):
    path = tmp_path / "camera.yaml"
    path.write_text(text)
    with pytest.raises(BadCamera, match=fault) as raised:
        load_camera(path)
    assert "camera.yaml" in str(raised.value) and "\n" not in str(raised.value)


def test_a_guessed_camera_says_so():
    assert guessed_camera(1000, 500).estimated and guessed_camera(1000, 500).focal_px == 780


def test_the_slopes_of_the_joint_solve_are_those_of_its_projection():
    lens = CameraModel(
        1280, 720, np.array([[1000.0, 0, 640], [0, 1000.0, 360], [0, 0, 1]]), np.array([-0.1, 0.02, 1e-3, -1e-3, 0.0])
    )
    table = mat._Table(["A", "B"], {"A": [0, 1, 2, 3], "B": [1, 3]}, lens)
    v = np.array([2.3, 0.1, -0.2, -150.0, 40.0, 800.0, 330.0, 12.0, 0.2, 0.3, 1.02, 0.05])
    steps = np.array([1e-6] * 3 + [1e-3] * 3 + [1e-3, 1e-3, 1e-6] + [1e-4, 1e-6, 1e-6])
    numeric = [
        (table.project(v + d)[0] - table.project(v - d)[0]).ravel() / (2 * s)
        for d, s in zip(np.diag(steps), steps, strict=True)
    ]
    assert np.allclose(table.slopes(v), np.stack(numeric, 1), rtol=1e-3, atol=1e-3)


def test_a_pose_from_two_sheets_of_one_letter_is_none():
    """Of each of two mats A two markers are seen: no sheet has its markers there."""
    one, other = corners_of({"A": (-165, 0, 0)}), corners_of({"A": (140, 90, 70)})
    mixed = {m: (one if m % 2 else other)[m] for m in one} | corners_of({"B": (165, 10, 180)})
    mats = solve_mats(mixed, (1280, 720), LENS)
    assert "A" not in mats.poses and mats.doubtful == ("A",)


def test_sound_poses_are_kept_at_any_resolution():
    mats = solve_mats(corners_of({"A": (-165, 0, 0), "B": (165, 10, 180)}), (1280, 720), LENS)
    assert set(mats.poses) == {"A", "B"} and mats.doubtful == ()
