"""Pieces that earlier pictures show and the settled one hides."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from dataclasses import replace

import cv2
import numpy as np
import pytest

from cards.build import Piece
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.pieces import Pose
from referee.devices.ports import Frame
from referee.recording.writer import file_bytes
from referee.vision.live.build_stages import MOST_STAGES, BuildStages
from referee.vision.live.gate import Gate
from referee.vision.live.gate_history import GateHistory
from referee.vision.observer import EarlierPicture, Observer
from referee.vision.search.hidden_pieces import earlier_views, is_covered, is_unlike

BEHIND_MM, OUTSIDE_MM = 31.0, 66.0
WALL = (
    Piece("rectangle", "green", Pose(90), -13.0, 0.0, 37.5),
    Piece("rectangle", "green", Pose(90), 13.0, 0.0, 37.5),
    Piece("bridge", "orange", Pose(), 0.0, 0.0, 90.0),
)
CARD = LayoutCard("L", 1, WALL)


@pytest.fixture(scope="module")
def observer(rig) -> Observer:
    """It knows the empty table."""
    return Observer(rig.piece_set, rig.camera, empty=rig.photograph())


@pytest.fixture(scope="module")
def cube(rig, observer) -> Piece:
    """A cube that the wall hides."""
    camera_y = observer.look(rig.photograph()).poses["A"].camera_at[1]
    return Piece("cube", "blue", Pose(), 0.0, float(-np.sign(camera_y)) * BEHIND_MM, 15.0)


@pytest.fixture(scope="module")
def away(rig, observer) -> np.ndarray:
    """(2,) unit vector on mat A, away from the camera."""
    to = -observer.look(rig.photograph()).poses["A"].camera_at[:2]
    return to / np.linalg.norm(to)


def known_but(rig, whole: bool) -> np.ndarray:
    """(h, w) the last channel of an earlier picture that shows the whole field, or not its right end."""
    known = np.full(rig.photograph().shape[:2], 255, np.uint8)
    left, right = sorted(rig.pixel("A", x, 0.0, 37.5)[0] for x in (22.0, 80.0))
    known[:, left:right] = 255 * whole
    return known


@pytest.mark.parametrize(
    ("at_first", "now", "sure"),
    [(False, WALL, False), (True, WALL, True), (False, (), True)],
    ids=["hidden now", "there at first", "place in sight now"],
)
def test_what_came_outside_the_field_and_is_hidden_now_may_stand_in_it(rig, observer, cube, away, at_first, now, sure):
    x, y = OUTSIDE_MM * away
    outside = replace(cube, x=float(x), y=float(y))
    shown = (outside,) if at_first else (), (outside,), now
    read = [observer.read_earlier(rig.photograph({"A": pieces}), "A", CARD) for pieces in shown]
    views = earlier_views([(one.searched, True) for one in read])
    assert len(views[1].outside) == 1 and len(views[1].surely_outside) == sure


def test_what_stands_in_the_field_shows_no_piece_of_its_colour_outside_it(rig, observer, away):
    x, y = OUTSIDE_MM * away
    front = tuple(Piece("cylinder", "red", Pose(), off, 0.0, 24.0) for off in (-15.0, 15.0))
    shown = (), (Piece("triangle", "red", Pose(), float(x), float(y), 17.5),), front
    read = [observer.read_earlier(rig.photograph({"A": pieces}), "A", CARD) for pieces in shown]
    views = earlier_views([(one.searched, True) for one in read])
    assert [len(view.outside) for view in views] == [0, 1, 0]


@pytest.mark.parametrize("whole", [True, False])
def test_a_picture_of_a_part_of_the_field_does_not_tell_that_a_later_one_is_covered(rig, observer, cube, whole):
    read = [observer.read_earlier(rig.photograph({"A": pieces}), "A", CARD) for pieces in ((cube,), (), (cube,))]
    *views, settled = earlier_views([(one.searched, whole or k > 0) for k, one in enumerate(read)])
    assert is_covered(1, views, settled) == whole


def test_a_piece_that_was_seen_before_it_was_hidden_counts(rig, observer, cube):
    settled = rig.photograph({"A": (*WALL, cube)})
    before = {"A": lambda *_: [EarlierPicture.of(rig.photograph({"A": (cube,)}))]}
    assert observer.judge(settled, CARD, ["A"]).zones["A"].ruling == "match"
    judgement = observer.judge(settled, CARD, ["A"], earlier=before)
    assert judgement.zones["A"].ruling == "mismatch"
    assert judgement.zones["A"].reasons[0].code == "extra_piece"
    assert len(judgement.views["A"].earlier) == 1
    assert any(getattr(note, "code", "") == "seen_earlier" for note in judgement.notes)


def test_a_piece_seen_alone_is_not_the_one_that_another_carries_in_line_with_it(rig, observer):
    eye = observer.look(rig.photograph()).poses["A"].camera_at
    plank = Piece("rectangle", "green", Pose(), 0.0, 0.0, 12.5)
    on_it = replace(plank, shape="cube", color="blue", z=40.0)
    x, y = eye[:2] * (1 - (eye[2] - 15.0) / (eye[2] - on_it.z))
    alone = replace(on_it, x=float(x), y=float(y), z=15.0)
    before = {"A": lambda *_: [EarlierPicture.of(rig.photograph({"A": (alone,)}))]}
    card, settled = LayoutCard("L", 1, (plank, on_it)), rig.photograph({"A": (plank, on_it, alone)})
    said = observer.judge(settled, card, ["A"], earlier=before).zones["A"]
    assert [reason.code for reason in said.reasons] == ["extra_piece"]


def test_a_piece_hidden_behind_a_build_with_a_piece_in_an_arch_is_found_without_growing_any(
    rig, observer, cube, monkeypatch
):
    """A cylinder lies in the arch of a bridge that is upside down, lower than the bridge is high."""
    monkeypatch.setattr("referee.vision.search.hidden_pieces._on_tracked", lambda *_: [])
    built = *WALL[:2], replace(WALL[2], pose=Pose(180)), Piece("cylinder", "red", Pose(90, "side"), 0.0, 0.0, 105.5)
    before = {"A": lambda *_: [EarlierPicture.of(rig.photograph({"A": (cube,)}))]}
    said = observer.judge(rig.photograph({"A": (*built, cube)}), LayoutCard("L", 1, built), ["A"], earlier=before)
    assert [reason.code for reason in said.zones["A"].reasons] == ["extra_piece"]


def test_a_picture_in_which_something_hides_what_stands_before_and_after_it_tells_nothing(rig, observer, cube):
    """A sleeve hid the cube, and something in it looks like a piece."""
    stray = Piece("triangle", "red", Pose(), -40.0, 25.0, 17.5)
    seen = [(cube,), (stray,), (cube, WALL[0])]
    before = {"A": lambda *_: [EarlierPicture.of(rig.photograph({"A": build})) for build in seen]}
    said = observer.judge(rig.photograph({"A": (*WALL, cube)}), CARD, ["A"], earlier=before)
    assert [reason.code for reason in said.zones["A"].reasons] == ["extra_piece"]
    assert len(said.views["A"].earlier) == 2


def test_a_picture_of_which_a_part_is_unknown_tells_of_the_rest(rig, observer, cube):
    """An arm was over a plank while the cube came, and until the wall hid it."""
    plank = Piece("rectangle", "green", Pose(90, "side"), 40.0, 0.0, 37.5)
    seen = [rig.photograph({"A": (plank,)}), np.dstack([rig.photograph({"A": (cube,)}), known_but(rig, False)])]
    before = {"A": lambda *_: [EarlierPicture.of(picture) for picture in seen]}
    said = observer.judge(rig.photograph({"A": (*WALL, plank, cube)}), CARD, ["A"], earlier=before)
    assert len(said.views["A"].earlier) == 2


def test_of_pictures_that_show_the_same_the_last_tells(rig, observer, cube):
    pictures = [EarlierPicture.of(rig.photograph({"A": (cube,)})) for _ in range(3)]
    said = observer.judge(rig.photograph({"A": (*WALL, cube)}), CARD, ["A"], earlier={"A": lambda *_: pictures})
    assert said.zones["A"].ruling == "mismatch"
    assert [one is pictures[2] for one in said.views["A"].earlier] == [True]


def test_earlier_pictures_of_what_is_in_sight_change_nothing(rig, observer):
    settled = rig.photograph({"A": WALL})
    alone = observer.judge(settled, CARD, ["A"])
    told = observer.judge(
        settled, CARD, ["A"], earlier={"A": lambda *_: [EarlierPicture.of(rig.photograph({"A": WALL[:2]}))]}
    )
    assert (told.zones["A"].ruling, told.views["A"].doubts) == (alone.zones["A"].ruling, alone.views["A"].doubts)


def test_a_piece_that_is_seen_to_be_gone_is_not_looked_for(rig, observer):
    """The bridge fell: before the wall nothing hides its place."""
    before = {"A": lambda *_: [EarlierPicture.of(rig.photograph({"A": WALL}))]}
    judgement = observer.judge(rig.photograph({"A": WALL[:2]}), CARD, ["A"], earlier=before)
    assert judgement.zones["A"].ruling == "mismatch" and "film_differs" not in judgement.views["A"].doubts


def test_a_build_that_was_right_until_a_piece_went(rig, observer):
    """Who called Stop believed in it; a neighbour may have been at it."""
    lost = {"A": lambda *_: [EarlierPicture.of(rig.photograph({"A": WALL}), lost=True)]}
    judgement = observer.judge(rig.photograph({"A": WALL[:2]}), CARD, ["A"], earlier=lost)
    assert (judgement.zones["A"].ruling, judgement.zones["A"].leaning) == ("undecided", "mismatch")
    assert judgement.views["A"].doubts == ("was_right",)


def test_a_piece_that_was_seen_to_go_is_in_no_earlier_picture_but_of_what_was_lost(rig, observer):
    history = played(rig, observer, [(), WALL[:2], WALL, WALL[:2]])
    (stage,), bare = history.stages["A"].lost(), rig.photograph()
    for lost, pieces in ((True, WALL), (False, WALL[:2])):
        build = observer.judge(stage.in_frame(bare, stage.gone & (not lost)), CARD, ["A"]).zones["A"].build
        assert sorted(p.shape for p in build.pieces) == sorted(p.shape for p in pieces)


def test_what_has_gone_lately_is_lost(rig, observer):
    history = played(rig, observer, [(), WALL[:2], WALL, WALL[:2]])
    assert history.stages["A"].lost() == [history.stages["A"].kept[-2]]
    assert played(rig, observer, [(), WALL[:2], WALL, *[WALL[:2]] * 4]).stages["A"].lost() == []
    assert played(rig, observer, [(), WALL[:1], WALL[:2]]).stages["A"].lost() == []


@pytest.mark.parametrize("built_before", [False, True])
@pytest.mark.parametrize(("seen_at_the_stop", "lost"), [(WALL[:2], True), (WALL, False)], ids=["until", "since"])
def test_what_went_until_the_stop_is_lost_though_its_place_is_clear_since_then_only(
    rig, observer, built_before, seen_at_the_stop, lost
):
    gate, history = Gate(observer), GateHistory()
    for n in range(20):
        standing = seen_at_the_stop if n == 19 else WALL if n >= 8 or built_before else ()
        frame = Frame(rig.photograph({"A": standing}), n, n / 10)
        history.add(frame, gate.look(frame), "building")
    before = history.earlier()
    for n in range(20, 28):
        frame = Frame(rig.photograph({"A": WALL[:2]}), n, n / 10)
        history.add(frame, gate.look(frame), "stopped")
    assert any(one.lost for one in history.earlier()["A"](False)) == lost
    assert not any(one.lost for one in before["A"](False)), "what was known before stays as it was"


def test_a_piece_that_lay_there_at_the_first_look_and_was_taken_has_no_stage_read_again(rig, observer, cube):
    """How its place looks when it is empty is not known."""
    beside = replace(cube, x=-60.0, y=0.0)
    stages = played(rig, observer, [(beside,), (beside, WALL[0]), (WALL[0],), WALL[:2]]).stages["A"]
    assert len(stages.kept) == 4
    assert not any(one.gone.any() for one in stages.kept)


def test_what_fits_the_earlier_pictures_must_fit_the_settled_one(rig, observer):
    pictures = [observer.read_earlier(rig.photograph({"A": pieces}), "A", CARD) for pieces in (WALL[:2], WALL)]
    before, _ = earlier_views([(one.searched, True) for one in pictures])
    settled = pictures[1].searched
    whole = settled.readings[0]
    short = replace(whole, pieces=whole.pieces[:2])  # without the bridge, which came last
    found = [is_unlike([settled], [(reading,)], [before], lambda reading: True) for reading in (whole, short)]
    assert found == [False, True]


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "a part unknown"])
def test_a_piece_seen_earlier_that_has_no_place_now(rig, observer, cube, whole):
    """Behind the wall lay a plank, and there are no three: one of the pictures is not of this build."""
    third = Piece("rectangle", "green", Pose(), 0.0, 0.8 * cube.y, 12.5, 90.0)
    known = known_but(rig, whole)
    before = {"A": lambda *_: [EarlierPicture.of(np.dstack([rig.photograph({"A": (third,)}), known]))]}
    judgement = observer.judge(rig.photograph({"A": WALL}), CARD, ["A"], earlier=before)
    assert judgement.zones["A"].ruling == "undecided"
    assert "film_differs" in judgement.views["A"].doubts


def test_a_piece_misplaced_where_a_part_of_the_field_is_unknown_is_no_further_one(rig, observer):
    picture = np.dstack([rig.photograph({"A": (replace(WALL[0], y=38.0),)}), known_but(rig, False)])
    before = {"A": lambda *_: [EarlierPicture.of(picture)]}
    assert observer.judge(rig.photograph({"A": WALL}), CARD, ["A"], earlier=before).zones["A"].ruling == "match"


def played(rig, observer, builds) -> GateHistory:
    """What the gate remembers of a build that is seen so for a second each."""
    gate, history = Gate(observer), GateHistory()
    for n in range(10 * len(builds)):
        frame = Frame(rig.photograph({"A": builds[n // 10]}), n, n / 10)
        history.add(frame, gate.look(frame), "building")
    return history


def judged(rig, observer, history, build, card=CARD):
    """What is said of a build with what the gate remembers."""
    return observer.judge(rig.photograph({"A": build}), card, ["A"], earlier=history.earlier())


def test_a_stage_is_kept_of_each_piece_that_came(rig, observer, cube):
    history = played(rig, observer, [(), (cube,), (cube, *WALL)])
    assert len(history.stages["A"].kept) == 3
    assert judged(rig, observer, history, WALL).zones["A"].ruling == "mismatch"
    _, picture = history.earlier()["A"](True)  # the last shows what the settled view does
    shown = np.ascontiguousarray(picture.image[..., :3])
    assert not picture.lost and observer.judge(shown, CARD, ["A"]).zones["A"].build.pieces[0].shape == "cube"
    assert (picture.image[..., 3] == 255).all(), "all was seen at rest since the cube came"


def test_a_stage_is_read_while_the_build_grows_and_anew_when_a_piece_has_gone(rig, observer, cube):
    history, read = played(rig, observer, [(), (cube,), (cube, *WALL)]), Counter()

    def begin(image: np.ndarray) -> Future:
        read["pictures"] += 1
        reading = Future()
        reading.set_result(observer.read_earlier(image, "A", CARD, file_bytes))
        return reading

    stages = history.stages["A"]
    assert all(stages.read_next(begin) for _ in range(2)) and stages.read_next(begin) is None
    settled = rig.photograph({"A": WALL})
    said = observer.judge(settled, CARD, ["A"], earlier=history.earlier())
    assert read["pictures"] == 2 and len(said.views["A"].earlier) == 1
    for one in said.views["A"].earlier:  # what is kept as evidence is encoded already
        file = np.frombuffer(one.evidence, np.uint8)
        assert one.read and np.array_equal(cv2.imdecode(file, cv2.IMREAD_UNCHANGED), one.image)
        assert np.array_equal(one._replace(reading=None).evidence, one.image)
    failed = Future()
    failed.set_exception(MemoryError())
    for reading in (None, failed):
        anew = {"A": lambda *_, r=reading: [one._replace(reading=r) for one in said.views["A"].earlier]}
        assert observer.judge(settled, CARD, ["A"], earlier=anew).zones["A"].build == said.zones["A"].build
    stood, beside = stages.kept[1].labels >= 0, np.s_[:12, :12]
    stages.kept[1].labels[beside], stages.kept[1].gone[beside] = 0, True
    assert all(one.reading for one in history.earlier()["A"](True)), "what has gone is none of the build"
    stages.kept[1].gone[stood] = True
    first = [one for _, one in (*stages.kept[0].readings, *stages.kept[1].readings)]
    assert [one.reading for one in history.earlier()["A"](True)] == [first[0], None], "it shows what has gone"
    again = stages.read_next(begin)
    assert again and stages.read_next(begin) is None
    assert [one.reading for one in history.earlier()["A"](True)] == [first[0], again]
    assert stages.earlier(stages.kept[1], lost=True).reading is first[1]


def test_what_has_not_been_at_rest_since_the_last_piece_came_is_unknown(rig, observer, cube):
    """Half a plank beside a hand is another piece."""
    gate, stages, bare = Gate(observer), BuildStages(), rig.photograph()
    for n in range(20):
        frame = Frame(rig.photograph({"A": (cube,) if n >= 5 else ()}), n, n / 10)
        look = gate.look(frame).snapshots["A"]
        middle = int(np.median(np.nonzero(look.piece)[1])) if n >= 5 else 0
        seen = np.arange(look.rest.shape[1]) < middle
        stages.add(frame, replace(look, rest=look.rest & (seen | (n < 5))))
    assert len(stages.kept) == 2
    (y, x), (h, w) = stages.kept[1].at, stages.kept[1].picture.shape[:2]
    none = np.zeros_like(look.rest)
    known = stages.kept[1].known_in(bare, none)[..., 3] == 255
    hidden = np.s_[y : y + h, x + (middle + 1) * stages.kept[1].factor : x + w]
    assert not known[hidden].any() and known[y : y + h, : x + (middle - 1) * stages.kept[1].factor].all()
    stages.add(frame, look)
    assert (stages.now.known_in(bare, none)[..., 3] == 255).all(), "as soon as it is seen again"


def test_what_is_transparent_in_an_earlier_picture_speaks_neither_for_nor_against(rig, observer, cube):
    settled = rig.photograph({"A": (*WALL, cube)})
    shown = rig.photograph({"A": (cube,)})
    for alpha, ruling in ((255, "mismatch"), (0, "match")):
        picture = np.dstack([shown, np.full(shown.shape[:2], alpha, np.uint8)])
        before = {"A": lambda *_, picture=picture: [EarlierPicture.of(picture)]}
        assert observer.judge(settled, CARD, ["A"], earlier=before).zones["A"].ruling == ruling


def test_a_piece_over_what_is_unknown_may_stand_on_what_was_not_seen(rig, observer, away):
    """Of a plank with a cube on its far end nothing but the cube was seen before a third piece hid it."""
    yaw = float(np.degrees(np.arctan2(-away[0], away[1])))
    plank = Piece("rectangle", "green", Pose(0, "side"), 0.0, 0.0, 12.5, yaw)
    on_it = Piece("cube", "blue", Pose(), *(11.0 * away), 40.0, yaw)
    front = Piece("rectangle", "green", Pose(90, "side"), *(-24.0 * away), 62.5, yaw)
    shown = rig.photograph({"A": (plank, on_it)})
    known = np.full(shown.shape[:2], 255, np.uint8)
    known[rig.pixel("A", on_it.x, on_it.y, 25.0)[1] :] = 0
    before = {"A": lambda *_: [EarlierPicture.of(np.dstack([shown, known]))]}
    said = observer.judge(rig.photograph({"A": (plank, on_it, front)}), HeightCard("H", 1, 3), ["A"], earlier=before)
    assert said.zones["A"].ruling != "mismatch", said.zones["A"].reasons


def test_what_was_seen_to_go_is_no_longer_there(rig, observer, cube):
    history = played(rig, observer, [(), (cube,), (), WALL])
    assert judged(rig, observer, history, WALL).zones["A"].ruling == "match"


def test_a_place_that_was_seen_empty_for_a_moment_is_empty(rig, observer, cube):
    gate, history = Gate(observer), GateHistory()
    builds = [(), (cube,), (), WALL]
    for n in range(32):
        build = builds[(n >= 8) + (n >= 18) + (n >= 22)]
        frame = Frame(rig.photograph({"A": build}), n, n / 10)
        history.add(frame, gate.look(frame), "building")
    assert judged(rig, observer, history, WALL).zones["A"].ruling == "match"


def test_stages_are_forgotten_when_the_duel_is_over(rig, observer):
    history = played(rig, observer, [(), WALL])
    frame = Frame(rig.photograph(), 99, 9.9)
    history.add(frame, Gate(observer).look(frame), "ready")
    assert not history.stages


def test_no_more_stages_are_kept_than_there_is_memory_for(rig, observer):
    stages = played(rig, observer, [(), WALL]).stages["A"]
    assert len(stages.kept) == 2
    stages.kept = stages.kept * (MOST_STAGES // 2)
    gate = Gate(observer)
    for n in range(20):
        frame = Frame(rig.photograph({"A": WALL[:1]}), n, 10 + n / 10)
        stages.add(frame, gate.look(frame).snapshots["A"])
    assert len(stages.kept) == MOST_STAGES and isinstance(stages, BuildStages)
