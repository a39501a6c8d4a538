"""Videos from outside become attempts: judged in the first settled view, with a fake eye here."""

from __future__ import annotations

import json
import shutil
import struct
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import av
import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.markers import find_markers
from referee.cli import cli
from referee.recording import load_attempt
from referee.recording.address import AttemptSource
from referee.recording.folder import read_times, write_json
from referee.recording.video import VideoWriter, read_video, remux
from referee.review import import_video as importing
from referee.review.film import find_mats
from referee.review.import_video import ImportOptions, copy_video, import_video
from referee.review.options import RejudgeOptions
from referee.review.rejudge import earlier_of, judge_again
from referee.vision.observer import EarlierPicture

GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "duel"
SHARED = Path(__file__).parents[3] / "shared" / "attempts"
FILES = dict.fromkeys(("deck.json", "pieces.json", "camera.yaml", "palette.json", "empty.png"))


@pytest.mark.slow
def test_the_collapse_is_judged_after_it_fell_and_says_so(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("FAKE_EYE_LOG", str(tmp_path / "looks.txt"))
    ticks = []
    attempt = import_video(
        GOLDEN,
        ImportOptions(files=FILES, players={"A": "Ann", "B": "Ben"}),
        tmp_path / "made",
        lambda: ticks.append(1),
        eye="fake_eye:look_fallen",
    )
    assert attempt.problems() == [] and attempt.cut_short is None
    assert attempt.meta["findings"] == {"A": ["fell_after_stop"]}
    assert 10.6 <= attempt.meta["judged"][0]["seconds"][0] <= 11.2
    frames = {round(f.seconds, 1): f.image for f in read_video(GOLDEN / "video.mp4")}
    at = round(attempt.meta["judged"][0]["seconds"][0], 1)
    assert np.array_equal(attempt.judged_frames()[0], frames[at])
    assert (attempt.meta["camera"], attempt.meta["piece_set"]) == ("video.mp4", attempt.piece_set.name)
    assert attempt.empty is None, "no opening picture shows the table bare"
    assert len(ticks) > 100 and attempt.meta["judged"][0]["unobstructed"]
    assert (attempt.stop_s, attempt.caller, attempt.players["A"]) == (9.565, "A", "Ann")


def test_the_earlier_pictures_that_a_verdict_rests_on_are_kept_beside_the_film(kit, tmp_path, monkeypatch):
    folder = kit.make_attempt(tmp_path / "a")
    attempt, shown = load_attempt(folder), SimpleNamespace(image=kit.picture(3))
    alone = np.dstack([255 - shown.image, shown.image[..., 0]])  # transparent here and there
    pictures = [EarlierPicture.of(shown.image), EarlierPicture.of(alone, lost=True)]
    asked = []

    def judge(attempt, card, palette, earlier):
        asked.append(earlier)
        return SimpleNamespace(views={"A": SimpleNamespace(earlier=pictures), "B": SimpleNamespace(earlier=())})

    monkeypatch.setattr(importing, "judge_recorded", judge)
    monkeypatch.setattr(importing, "is_shaken", lambda attempt: False)
    seen = SimpleNamespace(frames=[shown], earlier=lambda: {"A": pictures})
    kept = importing._keep_earlier(attempt, seen)
    assert asked == [{"A": pictures}]
    attempt.meta["earlier"] = kept
    found = earlier_of(attempt)["A"](False)
    assert [one.lost for one in found] == [False, True]
    assert all(np.array_equal(one.image, kept.image) for one, kept in zip(found, pictures, strict=True))


def gray(image):
    """What a phone shows that lies on the table."""
    return np.full_like(image, 90)


def lifted(image):
    """What it shows as it is taken off its stand."""
    return cv2.warpAffine(image, np.float32([[1, 0, 60], [0, 1, 45]]), image.shape[1::-1], borderValue=(90, 90, 90))


def filmed(folder, tail):
    """The collapse with a piece on two markers throughout, and two seconds of that picture after it."""
    folder.mkdir()
    writer = None
    for shown in read_video(GOLDEN / "video.mp4"):
        image = shown.image.copy()
        writer = writer or VideoWriter(folder / "video.mp4", image.shape[1], image.shape[0])
        for marker, quad in find_markers(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)).items():
            if marker in HIDDEN:
                cv2.fillConvexPoly(image, quad.round().astype(np.int32), (40, 60, 160))
        writer.write(image, shown.seconds)
    for n in range(1, 20):
        writer.write(tail(image), shown.seconds + n / 10)
    writer.close()
    for name in ("deck.json", "pieces.json", "camera.yaml", "attempt.json"):
        shutil.copyfile(GOLDEN / name, folder / name)
    return folder


HIDDEN = (3, 6)
"""Markers on which pieces lie: one of either mat."""


@pytest.mark.slow
@pytest.mark.parametrize("tail", [gray, lifted])
def test_a_film_that_ends_without_the_mats_is_judged_by_the_last_picture_that_shows_them(tmp_path, monkeypatch, tail):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("FAKE_EYE_LOG", str(tmp_path / "looks.txt"))
    film = filmed(tmp_path / "film", tail)
    attempt = import_video(film, ImportOptions(files=FILES), tmp_path / "made", eye="fake_eye:look_fallen")
    assert (attempt.meta["findings"], attempt.meta["zones"]) == ({"A": ["fell_after_stop"]}, ["A", "B"])
    stood, found = find_mats(load_attempt(GOLDEN)).poses, find_mats(attempt).poses
    for zone in "AB":
        apart_mm = stood[zone].to_camera(np.zeros((1, 3))) - found[zone].to_camera(np.zeros((1, 3)))
        assert np.linalg.norm(apart_mm) < 5


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["video.mp4"], "--card"),
        (["video.mp4", "--card", "H02"], "--stop"),
        (["video.mp4", "--card", "nope", "--stop", "1"], "no card 'nope'"),
        (["broken.mp4", "--card", "H02", "--stop", "1"], "not a video"),
        (["video.mp4", "--card", "H02", "--stop", "99"], "not in a video"),
        (["video.mp4", "--card", "H02", "--stop", "0.2"], "shows no mat"),
    ],
)
def test_what_is_missing_is_one_clear_line_and_nothing_is_left(kit, tmp_path, monkeypatch, words, fault):
    monkeypatch.chdir(tmp_path)
    writer = VideoWriter(tmp_path / "video.mp4", 160, 120)
    for n in range(10):
        writer.write(kit.picture(n), n / 25)
    writer.close()
    (tmp_path / "broken.mp4").write_bytes(b"no video at all")
    (tmp_path / "deck.json").write_text(json.dumps(kit.DECK))
    result = CliRunner().invoke(cli, ["import", *words, "-o", "made"])
    assert fault in str(result.exception) and "\n" not in str(result.exception)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--zone", "Q"], "--zone Q: no such mat is in view, only A and B"),
        (["--player", "Ann"], "--player Ann: write ZONE=NAME"),
    ],
)
def test_a_wrong_word_is_one_clear_line(tmp_path, words, fault):
    result = CliRunner().invoke(cli, ["import", str(GOLDEN), "-o", str(tmp_path / "made"), *words])
    assert fault in str(result.exception) and not (tmp_path / "made").exists()


def test_a_folder_without_a_film_says_what_it_lacks(tmp_path):
    words = ["import", str(tmp_path), "--card", "H02", "--stop", "1", "-o", str(tmp_path / "made")]
    assert "holds no video.mp4" in str(CliRunner().invoke(cli, words).exception)


def test_a_mirrored_film_is_told_from_one_without_mats(tmp_path):
    writer = VideoWriter(tmp_path / "video.mp4", 640, 360)
    for shown in islice(read_video(GOLDEN / "video.mp4"), 12):
        writer.write(np.ascontiguousarray(cv2.resize(shown.image, (640, 360))[:, ::-1]), shown.seconds)
    writer.close()
    words = ["import", str(tmp_path / "video.mp4"), "--card", "L01", "--stop", "0.5", "-o", str(tmp_path / "made")]
    assert "the film is mirrored" in str(CliRunner().invoke(cli, words).exception)


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "right_500").is_dir(), reason="the shared recordings are not here")
def test_a_piece_placed_after_the_stop_never_wins(tmp_path):
    given = ImportOptions(files=FILES, stop_s=10.897, players={"A": "Ann", "B": "Ben"})
    attempt = import_video(SHARED / "right_500", given, tmp_path / "made")
    assert attempt.verdicts["A"]["verdict"] == "mismatch"
    assert attempt.meta["findings"] == {"A": ["touched_after_stop"]}
    row = judge_again(AttemptSource(str(tmp_path / "made")), RejudgeOptions(look=False))
    assert (row["award_was"], row["award_now"], row["changed"]) == ("Ben", "Ben", False)
    assert row["findings"] == {"A": ["touched_after_stop"]}


@pytest.fixture(scope="module")
def long_film(kit, tmp_path_factory):
    """Ninety seconds of numbered pictures, four a second, a key frame every 15."""
    path = tmp_path_factory.mktemp("long") / "film.mp4"
    writer = VideoWriter(path, 160, 120)
    for n in range(360):
        writer.write(kit.picture(n % 256), n / 4)
    writer.close()
    return path


@pytest.mark.parametrize(
    ("part", "go_s", "kept", "begins_s"),
    [
        ((None, None), 40.0, (30, 76), 40.0),  # from the key frame ten seconds before the go to thirty after the Stop
        ((None, None), 0.0, (0, 76), 0.0),
        ((44.0, 50.0), None, (41, 50), 44.0),
        ((None, 60.0), 44.0, (33, 60), 44.0),
    ],
)
def test_of_a_long_film_only_the_part_that_is_judged_is_kept(
    kit, tmp_path, monkeypatch, long_film, part, go_s, kept, begins_s
):
    ticks = []
    monkeypatch.setattr(importing, "_judge", lambda out, meta, tick, eye: meta)
    given = ImportOptions("L01", stop_s=46.0, go_s=go_s, part=part)
    meta = import_video(long_film, given, tmp_path / "made", lambda: ticks.append(1))
    shown = [kit.number_in(f.image) for f in read_video(tmp_path / "made" / "video.mp4")]
    first, last = (round(4 * s) for s in meta["imported"]["part"])
    assert shown == [n % 256 for n in range(first, last + 1)] and (first // 4, last // 4) == kept
    assert meta["stop"]["seconds"] == pytest.approx(46 - first / 4) and meta["go"] == pytest.approx(
        begins_s - first / 4
    )
    assert len(ticks) >= 2 * len(shown)  # as it is cut, and as its times are read
    assert (tmp_path / "made" / "video.mp4").stat().st_size < long_film.stat().st_size


def test_a_film_that_is_hardly_longer_is_kept_as_it_is(tmp_path, monkeypatch, long_film):
    monkeypatch.setattr(importing, "_judge", lambda out, meta, tick, eye: meta)
    meta = import_video(long_film, ImportOptions("L01", stop_s=60.0), tmp_path / "made")
    assert "part" not in meta["imported"] and meta["stop"]["seconds"] == 60.0
    assert (tmp_path / "made" / "video.mp4").read_bytes() == long_film.read_bytes()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--stop", "1:10:00", "--from", "69:00"], "Stop at 4200.0 s is not in a video of 89.8 s"),
        (["--stop", "46", "--from", "47"], "the Stop at 46.00 s is not between --from and --to"),
        (["--stop", "1:46", "--to", "1:00"], "the Stop at 106.00 s is not between --from and --to"),
        (["--stop", "soon"], "'soon' is no time: write seconds, m:ss or h:mm:ss"),
    ],
)
def test_a_time_that_is_none_is_one_clear_line(tmp_path, long_film, words, fault):
    done = CliRunner().invoke(cli, ["import", str(long_film), "--card", "L01", *words, "-o", str(tmp_path / "made")])
    assert fault in str(done.exception) + done.output and not (tmp_path / "made").exists()


def test_an_attempt_is_never_written_over(tmp_path):
    (tmp_path / "made").mkdir()
    result = CliRunner().invoke(cli, ["import", str(GOLDEN), "-o", str(tmp_path / "made")])
    assert "is there already" in str(result.exception)
    assert load_attempt(GOLDEN).cut_short is None


def test_a_video_of_another_kind_is_encoded_with_its_frame_times(kit, tmp_path):
    source = tmp_path / "phone.avi"
    with av.open(str(source), "w") as container:
        stream = container.add_stream("mpeg4", rate=20)
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuv420p"
        for n in range(12):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(kit.picture(n), format="bgr24")))
        container.mux(stream.encode(None))
    out = tmp_path / "made"
    out.mkdir()
    copy_video(source, out)
    frames = list(read_video(out / "video.mp4"))
    assert [kit.number_in(f.image) for f in frames] == list(range(12))
    assert np.allclose([f.seconds for f in frames], read_times(out / "frames.csv"), atol=1e-3)
    assert np.allclose(np.diff(read_times(out / "frames.csv")), 0.05, atol=1e-3)


NINETY_CLOCKWISE = [0, 1 << 16, 0, -(1 << 16), 0, 0, 120 << 16, 0, 1 << 30]
HALF_ROUND = [-(1 << 16), 0, 0, 0, -(1 << 16), 0, 160 << 16, 120 << 16, 1 << 30]


@pytest.mark.parametrize(("matrix", "quarters"), [(NINETY_CLOCKWISE, -1), (HALF_ROUND, 2)])
def test_a_phone_held_upright_or_upside_down_is_turned(kit, tmp_path, matrix, quarters):
    writer = VideoWriter(tmp_path / "fragments.mp4", 160, 120)
    for n in range(5):
        writer.write(kit.picture(n), n / 20)
    writer.close()
    remux(tmp_path / "fragments.mp4", tmp_path / "phone.mp4")
    data = bytearray((tmp_path / "phone.mp4").read_bytes())
    at = data.index(b"tkhd") + 44  # ISO 14496-12, track header: the matrix says how to show the pictures
    data[at : at + 36] = struct.pack(">9i", *matrix)
    (tmp_path / "phone.mp4").write_bytes(data)
    out = tmp_path / "made"
    out.mkdir()
    copy_video(tmp_path / "phone.mp4", out)
    with av.open(str(out / "video.mp4")) as container:
        shown = next(container.decode(video=0))
    lying = np.rot90(shown.to_ndarray(format="bgr24"), -quarters)
    assert shown.rotation == 0 and lying.shape == (120, 160, 3)
    assert np.abs(lying.astype(int) - kit.picture(0)).mean() < 12  # encoded twice


@pytest.mark.slow
def test_watching_again_finds_the_fall_that_nobody_recorded(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("FAKE_EYE_LOG", str(tmp_path / "looks.txt"))
    folder = Path(shutil.copytree(GOLDEN, tmp_path / "M1-001"))
    meta = json.loads((folder / "attempt.json").read_text())
    row = {"verdict": "match", "confidence": 0.97, "reasons": []}
    write_json(folder / "attempt.json", meta | {"players": {"A": "Ann", "B": "Ben"}, "verdicts": {"A": row}})
    found = judge_again(AttemptSource(str(folder)), RejudgeOptions(look=False, watch=True))
    assert found["findings"] == {"A": ["fell_after_stop"]}
    assert (found["award_was"], found["award_now"], found["changed"]) == ("Ann", "Ben", True)


FOUND = {"duel": {"A": ["fell_after_stop"]}, "collapse_501": {"A": ["fell_after_stop"]}, "right_500": {}}
JUDGED = {"duel": {"mismatch"}, "collapse_501": {"mismatch"}, "right_500": {"match"}}
RECORDINGS = [GOLDEN, *sorted(SHARED.glob("*_50?"))]


@pytest.mark.slow
@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda f: f.name)
def test_a_recording_from_outside_is_judged_by_todays_vision(folder, tmp_path):
    result = CliRunner().invoke(cli, ["import", str(folder), "-o", str(tmp_path / "made")])
    assert result.exception is None
    attempt = load_attempt(tmp_path / "made")
    assert attempt.verdicts["A"]["verdict"] in JUDGED[folder.name]
    assert attempt.meta["findings"] == FOUND[folder.name]
    assert f"A: {attempt.verdicts['A']['verdict']}" in result.output


SESSION = Path(__file__).parents[2] / "referee" / "example" / "sessions" / "challenge"


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A film of a path-traced picture of two finished builds, with deck, pieces and lens beside it."""
    folder = tmp_path_factory.mktemp("still")
    image = cv2.imread(str(SESSION / "duel_01.jpg"))
    writer = VideoWriter(folder / "video.mp4", image.shape[1], image.shape[0])
    for n in range(30):
        writer.write(image, n / 10)
    writer.close()
    for name in ("deck.json", "pieces.json", "camera.yaml"):
        shutil.copyfile(SESSION / name, folder / name)
    cv2.imwrite(str(folder / "empty.png"), cv2.imread(str(SESSION / "empty.jpg")))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "empty", "palette"),
    [
        ([], True, False),
        (["--no-empty"], False, False),
        (["--no-empty", "--colors", str(SESSION / "colours.jpg")], False, True),
        (["--empty", str(SESSION / "empty.jpg"), "--colors", str(SESSION / "colours.jpg")], True, True),
    ],
    ids=["what is beside the film", "no empty", "colours", "both named"],
)
def test_an_empty_table_and_colours_are_taken_where_they_are_said(still, tmp_path, words, empty, palette):
    frame = next(f for f in json.loads((SESSION / "truth.json").read_text())["frames"] if f["image"] == "duel_01.jpg")
    given = ["import", str(still), "--card", frame["card"], "--stop", "1.0", "--zone", "A", *words]
    done = CliRunner().invoke(cli, [*given, "-o", str(tmp_path / "made")])
    assert done.exception is None, done.exception
    attempt = load_attempt(tmp_path / "made")
    assert (attempt.empty is not None, attempt.palette is not None) == (empty, palette)
    expected = {zone: row["expected"] for zone, row in frame["zones"].items()}
    assert {zone: row["verdict"] for zone, row in attempt.verdicts.items()} == expected
    assert verify_names(attempt.folder) == []


def verify_names(folder: Path) -> list[str]:
    """What is in the folder that its record does not list."""
    listed = json.loads((folder / "attempt.json").read_text())["hashes"]
    return [p.name for p in folder.iterdir() if p.name not in (*listed, "attempt.json")]


@pytest.mark.parametrize("option", ["--empty", "--colors"])
def test_a_picture_that_is_none_is_one_clear_line(still, tmp_path, option):
    (tmp_path / "text.png").write_text("no picture")
    words = ["import", str(still), "--card", "H01", "--stop", "1", option, str(tmp_path / "text.png")]
    result = CliRunner().invoke(cli, [*words, "-o", str(tmp_path / "made")])
    assert "text.png" in str(result.exception) and "\n" not in str(result.exception)
    assert type(result.exception).__name__ == "BadAttempt" and not (tmp_path / "made").exists()


def test_an_empty_picture_of_another_size_is_one_clear_line(still, tmp_path):
    cv2.imwrite(str(tmp_path / "small.png"), np.zeros((48, 64, 3), np.uint8))
    words = ["import", str(still), "--card", "H01", "--stop", "1", "--empty", str(tmp_path / "small.png")]
    said = str(CliRunner().invoke(cli, [*words, "-o", str(tmp_path / "made")]).exception)
    assert "small.png: is 64 x 48, the film 1280 x 720" in said and not (tmp_path / "made").exists()
