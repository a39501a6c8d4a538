"""An empty frame is checked before it is believed, and the light is told where it is not the usual one."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
from made_cases import HIGHER, RED, WHITE_BESIDE, decided, of_a_tower, reading, spread_over_sheet

from calibration.errors import FewPieces
from calibration.markers import CORNERS, DICTIONARY, MARKER_CENTRES, find_markers
from calibration.mat import SHEET_CORNERS, detect_mats
from calibration.palette import LINEAR, nominal_palette
from calibration.quality import clipped_pixels
from cards.build import Build, Piece
from cards.kinds.height import HeightCard
from cards.kinds.shapes import ShapesCard
from cards.pieces import Pose
from referee.simulator.build_plans import spread_set
from referee.vision.observer import Observer
from referee.vision.render.solids import piece_tags
from referee.vision.search.sizes import scaled_set
from referee.vision.verdict.visibility import visibility_of

CARD = HeightCard("H", 1, 2, 1)
LAID = tuple(Piece("cube", "blue", Pose(), x, 10, 15) for x in (-60, 0, 60))


def relit(frame: np.ndarray, red: float, green: float, blue: float) -> np.ndarray:
    light = LINEAR[:, None] * np.float32((blue, green, red))
    levels = np.searchsorted(LINEAR, light.clip(0, 1)).clip(0, 255).astype(np.uint8)
    return cv2.LUT(frame, levels[None])


def notes(rig, frame: np.ndarray, empty: np.ndarray) -> str:
    return " | ".join(Observer(rig.piece_set, rig.camera, empty=empty).judge([frame], CARD).notes)


@pytest.fixture(scope="module")
def bare(rig):
    return rig.photograph()


@pytest.fixture(scope="module")
def built(rig, tower):
    return rig.photograph({"A": tower, "B": tower})


def test_an_empty_frame_that_fits_is_used_without_a_word(rig, bare, built):
    assert notes(rig, built, bare) == ""


def test_an_empty_frame_of_elsewhere_is_left_out_and_the_build_is_judged_without(rig, make_rig, built):
    elsewhere = make_rig({"A": (-150, 30, 4), "B": (170, -20, 186)}).photograph()
    judgement = Observer(rig.piece_set, rig.camera, empty=elsewhere).judge([built], CARD)
    assert "does not fit mat A and B" in judgement.notes[0]
    assert {zone: v.ruling for zone, v in judgement.zones.items()} == {"A": "match", "B": "match"}


def test_a_mat_placed_by_hand_is_judged_and_that_is_said_until_the_camera_moves(rig, bare, built):
    mats = detect_mats(cv2.cvtColor(bare, cv2.COLOR_BGR2GRAY), rig.camera)
    pose, spoilt = mats.poses["A"], built.copy()
    for centre in MARKER_CENTRES:
        square = mats.camera.project(pose.to_camera(np.c_[centre + 1.1 * CORNERS, np.zeros(4)]))
        cv2.fillConvexPoly(spoilt, square.round().astype(np.int32), (90, 90, 90))
    observer = Observer(rig.piece_set, rig.camera)
    assert observer.judge([spoilt], CARD).zones.keys() == {"B"}
    corners = mats.camera.project(pose.to_camera(np.c_[SHEET_CORNERS, np.zeros(4)]))
    observer.placed = {"A": (corners + 0.5) / (built.shape[1], built.shape[0])}
    observer.markers = find_markers(cv2.cvtColor(spoilt, cv2.COLOR_BGR2GRAY))
    judged = observer.judge([spoilt], CARD)
    assert judged.zones["A"].ruling == "match" and "placed by hand, for its markers" in judged.notes[0]
    assert observer.judge([np.roll(spoilt, 12, axis=1)], CARD).zones.keys() == {"B"}


def test_only_the_mat_that_slid_loses_its_empty_frame(rig, make_rig, built):
    slid = make_rig({"A": (-165, 0, 0), "B": (165, 30, 180)}).photograph()
    assert "does not fit mat B:" in notes(rig, built, slid)


def test_an_empty_frame_with_pieces_on_it_is_refused(rig, built):
    assert "does not fit mat A" in notes(rig, built, rig.photograph({"A": LAID}))


def renewed(rig, known: np.ndarray, frame: np.ndarray) -> np.ndarray:
    observer = Observer(rig.piece_set, rig.camera, empty=known)
    observer.renew_empty(frame)
    return observer.empty


def test_the_empty_table_of_today_has_its_light_and_none_of_the_pieces_that_lie_about(rig, bare, built):
    light = (0.8, 0.75, 0.7)
    today, found = relit(bare, *light), renewed(rig, bare, relit(built, *light))
    assert np.abs(found.astype(int) - today).mean() < 1.5
    assert np.abs(cv2.blur(found, (15, 15)).astype(int) - cv2.blur(today, (15, 15))).max() < 25
    assert np.abs(found.astype(int) - bare).mean() > 10


def test_the_empty_table_of_a_mat_that_slid_or_of_another_picture_size_stays_as_it_is(rig, make_rig, bare):
    slid = make_rig({"A": (-165, 0, 0), "B": (165, 30, 180)}).photograph()
    assert renewed(rig, bare, slid) is bare
    assert renewed(rig, bare, bare[:-8]) is bare


@pytest.mark.parametrize(
    ("x_mm", "high_mm", "ruling"), [(60, 20, "match"), (15, 90, "undecided")], ids=["beside it", "before it"]
)
def test_what_stood_there_before_is_no_piece_and_hides_what_it_covers(rig, bare, built, x_mm, high_mm, ruling):
    """A green cup that nobody took away, in the empty frame and the duel's."""
    outline = ((-30, 0), (30, 0), (30, high_mm), (-30, high_mm))
    corners = np.array([rig.pixel("A", x_mm + x, -50, z) for x, z in outline])
    before, now = (cv2.fillConvexPoly(frame.copy(), corners, (60, 130, 40)) for frame in (bare, built))
    judgement = Observer(rig.piece_set, rig.camera, empty=before).judge([now], CARD, ["A"])
    assert judgement.zones["A"].ruling == ruling
    assert judgement.notes == ("something stands before mat A, as in the empty frame: take it away",)


def test_a_piece_that_lies_as_before_the_go_tells_nothing_of_a_build(rig, bare):
    """Behind the field, where the top of a tower may be seen; what came since is seen."""
    lies, came = (Piece("cube", "blue", Pose(), x, 90.0, 15.0) for x in (-40.0, 40.0))
    observer = Observer(rig.piece_set, rig.camera, empty=bare)
    gains = []
    for at_go in (bare, rig.photograph({"A": (lies,)})):
        observer.renew_empty(at_go)
        view, evidence = observer.gather(rig.photograph({"A": (lies, came)}))[2]["A"]
        shown = [piece_tags(view, rig.piece_set, [piece]) == 0 for piece in (lies, came)]
        gains.append([float((evidence.gains.max(0) > 1)[where].mean()) for where in shown])
    assert gains[0][0] > 0.8 and gains[1][0] < 0.1
    assert min(gains[0][1], gains[1][1]) > 0.8


@pytest.mark.parametrize(
    ("light", "said"),
    [
        ((1.3, 1.3, 1.3), "mat A is overexposed"),
        ((0.7, 0.7, 0.7), "the light is darker"),
        ((1.0, 0.9, 0.75), "the light is warmer"),
    ],
)
def test_another_light_is_told(rig, bare, built, light, said):
    assert said in notes(rig, relit(built, *light), bare)


def test_one_shadowed_field_is_told(rig, bare, built):
    dark = built.copy()
    half = cv2.rectangle(np.zeros(dark.shape[:2], np.uint8), (0, 0), (640, 720), 1, -1) > 0
    dark[half] = relit(built, 0.5, 0.5, 0.5)[half]
    assert "mat A lies in shadow" in notes(rig, dark, bare)


@pytest.mark.parametrize(("focal", "bend"), [(0.92, 0.0), (0.7, 0.0), (1.5, 0.0), (1.0, -0.35), (1.0, 0.2)])
def test_a_lens_file_of_another_lens_is_left_out_and_the_build_is_judged_without(rig, built, focal, bend):
    matrix = rig.camera.matrix * [[focal, 1, 1], [1, focal, 1], [1, 1, 1]]
    other = dataclasses.replace(rig.camera, matrix=matrix, distortion=np.array([bend, 0, 0, 0, 0]))
    judgement = Observer(rig.piece_set, other).judge([built], CARD)
    assert "the lens file does not fit the markers; left out" in judgement.notes
    assert {zone: v.ruling for zone, v in judgement.zones.items()} == {"A": "match", "B": "match"}
    assert judgement.mats.camera.focal_px == pytest.approx(rig.camera.focal_px, rel=0.02)


def test_an_empty_frame_teaches_no_colour_by_a_builds_shadow(rig, bare, built):
    """Without a colours frame colours come from the build itself: a shadow is none of them, whatever the aids."""
    x, y, r = *rig.pixel("A", 45, 0, 0), 26
    dark = built.copy()
    spot = cv2.circle(np.zeros(dark.shape[:2], np.uint8), (x, y), r, 1, -1) > 0
    dark[spot] = relit(built, 0.11, 0.11, 0.11)[spot]
    observer = Observer(rig.piece_set, rig.camera, empty=bare)
    zone = observer.zones(dark, observer.look(dark))[0]
    taught = zone.foreground(shadows=False)
    assert len(taught) > 1000 and not (np.abs(taught[:, 1:]).max(1) < 0.1).any()
    assert (np.abs(zone.foreground()[:, 1:]).max(1) < 0.1).sum() > 300


def test_worn_wood_is_learnt_from_the_picture_that_is_judged_when_there_is_no_colours_frame(rig, bare):
    """Paint worn off in spots, to beech: without a colours frame too the spots have their piece's colour."""
    shapes = rig.piece_set.shapes
    standing = tuple(
        Piece(shape, color, Pose(), x, y, shapes[shape].height / 2)
        for shape, color, x, y in (
            ("cube", "blue", -75, 0),
            ("rectangle", "green", -15, 0),
            ("bridge", "orange", 60, 0),
            ("triangle", "red", 0, 60),
        )
    )
    sound = rig.photograph({"A": standing, "B": standing})
    of_pieces = np.abs(sound.astype(int) - bare).max(-1) > 40
    of_pieces = cv2.erode(of_pieces.astype(np.uint8), np.ones((7, 7), np.uint8)) > 0
    x, y = np.meshgrid(np.arange(sound.shape[1]), np.arange(sound.shape[0]))
    spots = of_pieces & (x % 23 < 10) & (y % 19 < 9)
    worn = sound.copy()
    worn[spots] = (96, 141, 178)
    learnt = {}
    for name, picture in (("sound", sound), ("worn", worn)):
        judgement = Observer(rig.piece_set, rig.camera).judge([picture], CARD)
        learnt[name] = judgement.views["A"]
        observer = Observer(rig.piece_set, rig.camera)
        wear = observer._palette_now(observer.zones(picture, judgement.mats)).wear
        assert (wear is not None) == (name == "worn")
    there = learnt["sound"].evidence.labels >= 0
    alike = (learnt["worn"].evidence.labels == learnt["sound"].evidence.labels)[there]
    assert alike.mean() > 0.93


def test_a_shadow_over_the_sheet_alone_does_not_fill_the_lit_room_with_pieces(rig, bare, built):
    """Beside paper in deep shadow a brown wall in the light is as bright as orange paint."""
    room = (np.abs(bare.astype(int) - (120, 118, 112)).max(-1) < 12) & (np.indices(bare.shape[:2])[0] < 330)
    wall = [np.where(room[..., None], np.uint8((44, 90, 150)), picture) for picture in (bare, built)]
    pieces = np.abs(built.astype(int) - bare).max(-1) > 20
    shaded = np.where((room & ~pieces)[..., None], wall[1], relit(built, 0.25, 0.25, 0.25))
    judgement = Observer(rig.piece_set, rig.camera, empty=wall[0]).judge([shaded], CARD, ["A"])
    beyond = ~judgement.views["A"].view.regions[0]
    assert (judgement.views["A"].evidence.labels[beyond] >= 0).mean() < 0.15
    assert judgement.zones["A"].ruling == "match"


def test_colours_are_not_learnt_from_a_picture_of_builds(rig, bare, built):
    observer = Observer(rig.piece_set, rig.camera, empty=bare)
    with pytest.raises(FewPieces, match="every piece of one player standing apart"):
        observer.learn_colors(built)
    assert observer.palette is None
    standing = spread_set(rig.piece_set)
    observer.learn_colors(rig.photograph({"A": standing}))  # one player's pieces on one mat are enough
    assert observer.palette is not None


def test_a_piece_file_that_is_far_off(rig, bare):
    """Pieces a tenth smaller than the file says: a build that is not the card's by it may be the card's."""
    standing = spread_over_sheet(rig.piece_set)
    colors = rig.photograph({"A": standing, "B": standing})
    factors = {}
    for scale in (1.0, 1.1):
        observer = Observer(scaled_set(rig.piece_set, scale), rig.camera, empty=bare)
        observer.learn_colors(colors)
        factors[scale] = observer.learn_sizes(colors)
    assert factors[1.0] == pytest.approx(1.0, abs=0.03)
    assert factors[1.1] == pytest.approx(1 / 1.1, abs=0.04)
    assert "% off what the piece file says" in " | ".join(observer.judge([colors], CARD).notes)
    touching = spread_set(rig.piece_set)
    observer.learn_colors(rig.photograph({"A": touching, "B": touching}))
    assert observer.learn_sizes(observer.colors) == 1.0, "pieces that cover one another tell no sizes"
    assert of_a_tower("mismatch", size_factor=factors[1.1]).doubts == ("wrong_sizes",)
    assert of_a_tower("mismatch", size_factor=factors[1.0]).doubts == ()


def test_heights_by_wrong_sizes():
    """A plank that is not there fills what the others' solids are too low for."""
    assert of_a_tower("match", size_factor=0.9).doubts == ("wrong_heights",)
    shapes = decided(
        ShapesCard("S", 1, (("cube", 2),), 1), [reading(RED, HIGHER, loose=(WHITE_BESIDE,))], size_factor=0.9
    )
    assert shapes.verdict.ruling == "match"


@pytest.mark.parametrize("ruling", ["match", "mismatch"])
def test_clipped_since(rig, tower, bare, built, ruling):
    """Half a stop: no piece is clipped, but the paper around it is, and was not when the field was empty. What seems to
    be too many is none the less."""
    observer, build = Observer(rig.piece_set, rig.camera, empty=bare), Build(rig.piece_set, tower)
    frame = relit(built, 1.5, 1.5, 1.5)
    zone = observer.zones(frame, observer.look(frame))[0]
    evidence, view = zone.evidence(nominal_palette(rig.piece_set)), zone.view
    then, field = zone.empty.clipped, view.regions[2]
    assert then[field].mean() < 0.01 and clipped_pixels(view.image)[field].mean() > 0.3
    seen = [visibility_of(view, evidence, rig.piece_set, build, empty) for empty in (None, then)]
    withheld = ("paper_lighter",) if ruling == "match" else ()
    assert [of_a_tower(ruling, visibility).doubts for visibility in seen] == [(), withheld]


def test_paper_clipped_elsewhere_on_the_sheet_withholds_no_match(rig, tower, bare, built):
    observer, frame = Observer(rig.piece_set, rig.camera, empty=bare), built.copy()
    x, y = rig.pixel("A", -95, -50, 0)
    frame[y - 60 : y + 20, x : x + 110] = 255
    verdict = observer.judge([frame], CARD, ["A"]).zones["A"]
    assert verdict.ruling == "match", verdict.reasons


@pytest.fixture(scope="module")
def misread(make_rig):
    """A rig with mat A alone, and its picture with one marker of a mat E in the table's texture, out of all scale."""
    rig = make_rig({"A": (-165, 0, 0)})
    frame, code = rig.photograph(), cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), 17, 96)
    code = cv2.copyMakeBorder(code, 16, 16, 16, 16, cv2.BORDER_CONSTANT, value=235)
    square = np.array([(16, 16), (112, 16), (112, 112), (16, 112)], np.float32) - 0.5
    there = np.array([(1175, 475), (1062, 656), (837, 593), (953, 412)], np.float32)
    onto, size = cv2.getPerspectiveTransform(square, there), frame.shape[1::-1]
    cover = cv2.warpPerspective(np.full_like(code, 255), onto, size) > 127
    frame[cover] = cv2.warpPerspective(code, onto, size, flags=cv2.INTER_AREA)[cover][:, None]
    return rig, frame


def test_a_marker_that_makes_a_mat_larger_than_the_picture_is_none(misread):
    rig, frame = misread
    assert 17 in find_markers(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY))
    mats = Observer(rig.piece_set).look(frame)
    assert set(mats.poses) == {"A"}
    assert mats.camera.focal_px == pytest.approx(980.0, rel=0.02), "nor does it pull on the lens"


def test_such_a_marker_is_none_in_the_pictures_after_it_either(misread):
    rig, frame = misread
    observer = Observer(rig.piece_set, empty=frame)
    assert 17 in observer.markers
    assert set(observer.look(rig.photograph()).poses) == {"A"}
