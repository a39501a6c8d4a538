"""The recorder: what it writes, and what is left when the world breaks under it."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import av
import cv2
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from room import make_room

from calibration.camera import guessed_camera
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.devices.ports import Frame
from referee.recording import Budget, Recorder, find_attempts, load_attempt
from referee.recording.folder import bytes_of
from referee.recording.retention import read_removals
from referee.recording.video import VideoWriter, frame_seconds, read_frame, read_video, remux
from referee.recording.writer import AttemptWriter, write_file
from referee.review.options import RejudgeOptions, files_used
from referee.review.rejudge import earlier_of
from referee.session.duel_recording import kept_files


def record(kit, recorder, clock, before=20, during=30, **final):
    for n in range(before):
        recorder.frame(kit.shot(n, clock))
    recorder.begin(
        {
            "match_id": "M1",
            "card": "L00",
            "players": {"A": "Ann", "B": "Ben"},
            "files": {"deck.json": {"name": "d", "cards": []}, "camera.yaml": None},
        }
    )
    go = clock.now_s()
    for n in range(before, before + during):
        recorder.frame(last := kit.shot(n, clock))
    recorder.mark("stop", clock.now_s() - 0.2, zone="B", error_s=0.001)
    recorder.judged(last, {"A": {"verdict": "match", "confidence": 0.97, "reasons": []}})
    folder = recorder.finish(final)
    assert recorder.settle(20)
    return folder, go


@pytest.fixture
def recorder(tmp_path, clock):
    made = Recorder(tmp_path / "attempts", clock, before_s=0.5, budget=Budget(free_bytes=0))
    yield made
    made.close()


def test_an_attempt_is_whole_and_starts_before_the_go(kit, recorder, clock):
    folder, _ = record(kit, recorder, clock, award={"player": "Ben", "value": 2})
    attempt = load_attempt(folder)
    assert folder.name == "M1-001"
    assert attempt.cut_short is None and attempt.problems() == []
    assert attempt.go_s == pytest.approx(0.5, abs=0.05)
    assert attempt.stop_s == pytest.approx(0.5 + 30 / 25 - 0.2, abs=0.05)
    assert attempt.caller == "B"
    assert attempt.meta["award"]["player"] == "Ben"
    assert set(attempt.meta["hashes"]) == {"video.mp4", "frames.csv", "stop.png", "deck.json"}


def test_each_attempt_keeps_the_lens_that_was_in_use_at_its_go(kit, recorder, clock):
    rig = SimpleNamespace(camera=None, palette=None, empty=None, at_go=None, placed={})
    lenses = [None, guessed_camera(1280, 720, 900.0), guessed_camera(1280, 720, 950.0)]
    folders = []
    for lens in lenses:
        rig.camera = lens  # fitted in /setup between two duels
        recorder.frame(kit.shot(1, clock))
        files = kept_files(builtin_deck(), builtin_piece_set(), rig)
        folders.append(recorder.begin({"match_id": "M1", "card": "L01", "files": files}))
        recorder.finish()
    assert recorder.settle(20)
    recorded = [load_attempt(folder).camera for folder in folders]
    assert [lens and lens.focal_px for lens in recorded] == [None, 900.0, 950.0]


def test_frames_keep_their_true_times_and_order(kit, recorder, clock):
    folder, _ = record(kit, recorder, clock)
    seconds = load_attempt(folder).seconds
    assert np.allclose(np.diff(seconds), 0.04, atol=1e-3)
    assert np.allclose(frame_seconds(folder / "video.mp4"), seconds, atol=2e-4)
    numbers = [kit.number_in(f.image) for f in read_video(folder / "video.mp4")]
    assert numbers == list(range(numbers[0], 50))
    assert kit.number_in(read_frame(folder / "video.mp4", 7).image) == numbers[7]


def test_the_judged_frame_is_kept_bit_by_bit(kit, recorder, clock):
    folder, _ = record(kit, recorder, clock)
    assert np.array_equal(load_attempt(folder).judged_frames()[0], kit.picture(49))


def test_pictures_from_while_a_build_grew_are_kept_and_judged_by_again(kit, recorder, clock):
    pictures = [(kit.shot(n, clock).image, n == 1) for n in range(2)]
    names, keep = ["earlier_settled_A_0.png", "earlier_settled_A_lost_1.png"], recorder.finish
    recorder.finish = lambda final: [recorder.earlier("A", "settled", pictures) for _ in range(2)] and keep(final)
    attempt = load_attempt(record(kit, recorder, clock)[0])
    kept = earlier_of(attempt)["A"](None, (), None, False)
    assert all((one.image == p).all() and one.lost is lost for one, (p, lost) in zip(kept, pictures, strict=True))
    assert not attempt.problems() and {*names} <= set(attempt.meta["hashes"])
    assert {*names} <= set(files_used(attempt, RejudgeOptions()))


def test_the_video_is_an_ordinary_one_with_its_index_in_front(kit, recorder, clock):
    folder, _ = record(kit, recorder, clock)
    data = (folder / "video.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    assert b"moof" not in data


def test_a_changed_file_is_found_and_named(kit, recorder, clock):
    folder, _ = record(kit, recorder, clock)
    (folder / "frames.csv").write_text("index,seconds\n0,0\n")
    (folder / "deck.json").unlink()
    assert load_attempt(folder).problems() == ["deck.json is missing", "frames.csv is not the file that was recorded"]


def test_frames_the_camera_lost_are_written_down(kit, recorder, clock):
    recorder.begin({"match_id": "M", "card": "X"})
    for n in (0, 1, 2, 6, 7):
        recorder.frame(kit.shot(n, clock))
    folder = recorder.finish()
    assert recorder.settle(10)
    assert [(d["frames"], d["where"]) for d in load_attempt(folder).meta["dropped"]] == [(3, "camera")]


def test_frames_the_encoder_could_not_take_are_written_down_but_not_those_at_the_press(kit, tmp_path, clock):
    size = kit.picture(0).nbytes
    recorder = Recorder(tmp_path, clock, before_s=0.1, pending_bytes=60 * size, budget=Budget(free_bytes=0))
    recorder._wake.acquire()  # the encoder cannot start: as if it were far too slow
    recorder.begin({"match_id": "M", "card": "X"})
    for n in range(200):
        if n == 180:
            recorder.mark("stop", clock.now_s(), zone="A")
        recorder.frame(kit.shot(n, clock))
    recorder._wake.release()
    folder = recorder.finish()
    assert recorder.settle(20)
    recorder.close()
    meta = load_attempt(folder).meta
    assert recorder.dropped == sum(d["frames"] for d in meta["dropped"] if d["where"] == "recorder") > 0
    attempt = load_attempt(folder)
    assert len(attempt.seconds) + recorder.dropped == 200
    stop = attempt.stop_s
    near = np.array([s for s in attempt.seconds if abs(s - stop) < 0.97])  # the film ends 0.76 s after it
    assert near[0] < stop - 0.9 and near[-1] > stop + 0.7 and np.diff(near).max() < 0.05


def test_a_long_queue_is_encoded_for_less_but_not_what_is_near_the_stop(kit, tmp_path, clock, monkeypatch):
    told = []
    monkeypatch.setattr(AttemptWriter, "frame", lambda take, frame, hurried: told.append((frame.at_s, hurried)))
    recorder = Recorder(tmp_path, clock, pending_bytes=400 * kit.picture(0).nbytes, budget=Budget(free_bytes=0))
    with recorder._wake:  # the encoder cannot start
        recorder.begin({"match_id": "M", "card": "X"})
        for n in range(300):
            if n == 150:
                recorder.mark("stop", at_s := clock.now_s(), zone="A")
            recorder.frame(kit.shot(n, clock))
    recorder.close()
    far = [hurried for s, hurried in told if abs(s - at_s) > 1.01]
    assert len(told) == 300 and not any(hurried for s, hurried in told if abs(s - at_s) < 0.99)
    assert all(far[:100]) and not any(far[-50:])  # when little waits any more, all are well encoded again


def test_two_cameras_are_filmed_side_by_side_and_what_is_wrong_with_the_second_ends_its_film_alone(
    kit, recorder, clock
):
    def take(n, width=160):
        frame = kit.shot(n, clock)
        recorder.frame(frame)
        clock.sleep(0.011)
        recorder.frame(Frame(kit.picture(100 + n, width), n // 2, clock.now_s(), 2))

    for n in range(10):
        take(n)
    recorder.begin({"match_id": "M1", "card": "L00"})
    for n in range(10, 40):
        take(n)
    recorder.mark("stop", clock.now_s(), zone="A")
    take(40, 100)
    take(41)
    folder = recorder.finish({})
    assert recorder.settle(20)
    attempt = load_attempt(folder)
    first, second = attempt, attempt.seen_by(2)
    assert attempt.cut_short is None and attempt.meta["thin"] is None
    assert attempt.meta["second"]["cut_short"].startswith(
        "the camera changed its picture from (160, 120) to (100, 120)"
    )
    assert {"video_2.mp4", "frames_2.csv"} <= set(attempt.meta["hashes"]) and not list(folder.glob("*.tmp"))
    numbers = [kit.number_in(frame.image) for frame in read_video(second.film)]
    began = numbers[0] - 100
    assert numbers == list(range(numbers[0], 140)) and next(f.seconds for f in read_video(second.film)) == 0.0
    shown = [kit.number_in(frame.image) for frame in read_video(first.film)]
    at_s = dict(zip(shown, first.seconds, strict=True))
    late = [s - at_s[n - 100] for n, s in zip(numbers, second.seconds, strict=True) if n - 100 in at_s]
    assert began <= 1 and late == pytest.approx([0.011] * len(late), abs=1e-3)
    (folder / "video_2.mp4").write_bytes(b"another")
    assert attempt.problems() == ["video_2.mp4 is not the file that was recorded"]


def test_what_a_camera_filmed_long_before_it_was_lost_is_in_no_recording(kit, recorder, clock):
    recorder.frame(Frame(kit.picture(0), 0, clock.now_s(), 2))
    clock.sleep(60.0)
    folder, _ = record(kit, recorder, clock)
    assert "second" not in load_attempt(folder).meta and not (folder / "frames_2.csv").exists()


def test_a_vanished_camera_leaves_an_attempt_that_says_so(kit, recorder, clock):
    recorder.begin({"match_id": "M", "card": "X"})
    for n in range(30):
        recorder.frame(kit.shot(n, clock))
    clock.sleep(5.0)
    folder = recorder.finish()
    assert recorder.settle(10)
    attempt = load_attempt(folder)
    assert attempt.cut_short.startswith("the camera gave no frame after 1.")
    assert len(list(read_video(folder / "video.mp4"))) == 30


def test_no_camera_at_all_is_an_attempt_without_video(recorder):
    folder = (recorder.begin({"match_id": "M", "card": "X"}), recorder.finish())[1]
    assert recorder.settle(10)
    assert load_attempt(folder).cut_short == "the camera gave no frame"


def test_closing_in_the_middle_is_cut_short(kit, tmp_path, clock):
    recorder = Recorder(tmp_path, clock, budget=Budget(free_bytes=0))
    folder = recorder.begin({"match_id": "M", "card": "X"})
    for n in range(10):
        recorder.frame(kit.shot(n, clock))
    recorder.close()
    assert load_attempt(folder).cut_short == "the program was closed"
    assert len(list(read_video(folder / "video.mp4"))) == 10


def test_space_is_made_from_the_oldest_uncontested_and_it_is_logged(kit, tmp_path, clock):
    recorder = Recorder(tmp_path, clock, budget=Budget(most_bytes=0, free_bytes=0))
    first, _ = record(kit, recorder, clock, human=[{"who": "Eve", "ruling": "match"}])
    second, _ = record(kit, recorder, clock)
    clock.sleep(24 * 3600.0)
    third, _ = record(kit, recorder, clock)
    recorder.close()
    assert first.exists() and not second.exists() and third.exists()
    assert [r.name for r in recorder.removed] == [second.name]
    assert second.name in (tmp_path / "retention.jsonl").read_text()
    assert "only contested" in recorder.problem
    assert not list(tmp_path.glob(".gone-*"))


def test_recording_does_not_wait_for_files_to_be_deleted_and_counts_what_is_on_its_way_out(
    kit, tmp_path, clock, monkeypatch
):
    for n in range(3):
        kit.make_attempt(tmp_path / f"old-{n}", recorded_at=f"2026-01-0{n + 1}T20:00:00+00:00")
    size = bytes_of(tmp_path / "old-0")
    slow, deleted = threading.Event(), []
    monkeypatch.setattr("shutil.rmtree", lambda folder, **_: slow.wait(20) and deleted.append(folder.name))
    monkeypatch.setattr("referee.recording.recorder.free_bytes", lambda root: 1000)  # the disk gets no emptier
    recorder = Recorder(tmp_path, clock, budget=Budget(free_bytes=1000 + size))
    record(kit, recorder, clock)
    assert [r.name for r in recorder.removed] == ["old-0"] and not deleted
    slow.set()
    recorder.close()
    assert deleted == [".gone-old-0"]


def test_what_may_not_be_moved_stays_and_the_next_one_goes(kit, tmp_path, clock, monkeypatch):
    for n in range(3):
        kit.make_attempt(tmp_path / f"old-{n}", recorded_at=f"2026-01-0{n + 1}T20:00:00+00:00")
    rename = Path.rename

    def refused(folder, target):
        if folder.name == "old-0":
            raise PermissionError(13, "Permission denied")
        return rename(folder, target)

    monkeypatch.setattr(Path, "rename", refused)
    most = sum(bytes_of(tmp_path / f"old-{n}") for n in (0, 2))
    removed, warning = make_room(tmp_path, Budget(most_bytes=most, free_bytes=0), clock.utc())
    assert [r.name for r in removed] == ["old-1"] and warning is None
    with open(tmp_path / "retention.jsonl", "a") as log:
        log.write('{"at": "2026-')  # torn by a kill
    assert [row["removed"] for row in read_removals(tmp_path)] == ["old-1"]
    assert [a.name for a in find_attempts(tmp_path)] == ["old-0", "old-2"]


def test_the_evening_in_progress_is_never_removed(kit, tmp_path, clock):
    recorder = Recorder(tmp_path, clock, budget=Budget(most_bytes=0, free_bytes=0))
    folders = [record(kit, recorder, clock)[0] for _ in range(3)]
    recorder.close()
    assert all(f.exists() for f in folders) and "this evening's" in recorder.problem


def test_the_oldest_by_its_record_goes_first_whatever_the_files_time(kit, tmp_path, clock):
    old = kit.make_attempt(tmp_path / "old", recorded_at="2026-01-01T20:00:00+00:00")
    new = kit.make_attempt(tmp_path / "new", recorded_at="2026-05-01T20:00:00+00:00")
    os.utime(new / "attempt.json", (0, 0))
    budget = Budget(most_bytes=sum(p.stat().st_size for p in new.iterdir()), free_bytes=0)
    removed, warning = make_room(tmp_path, budget, clock.utc())
    assert [r.name for r in removed] == ["old"] and not old.exists() and warning is None


def test_few_pictures_around_the_stop_are_thin_evidence(kit, recorder, clock):
    folder, _ = record(kit, recorder, clock)
    assert load_attempt(folder).meta["thin"] is None and recorder.problem is None
    recorder.begin({"match_id": "M2", "card": "L00"})
    for n in range(100, 110):
        recorder.frame(kit.shot(n, clock))
    recorder.mark("stop", clock.now_s() + 0.5, zone="B")
    folder = recorder.finish()
    assert recorder.settle(20)
    assert load_attempt(folder).meta["thin"]["nearest_s"] == pytest.approx(0.5, abs=0.01)
    assert "few pictures around the Stop" in recorder.problem


def test_thin_evidence_is_told_by_the_next_pictures_whatever_else_happens(kit, recorder, clock, monkeypatch):
    monkeypatch.setattr("referee.recording.writer.MAX_STOP_GAP_S", -1.0)  # no picture is near enough
    recorder.begin({"match_id": "M1", "card": "L00"})
    recorder.frame(kit.shot(0, clock))
    recorder.mark("stop", clock.now_s(), zone="B")
    for n in range(1, 11):  # 0.4 s
        recorder.frame(kit.shot(n, clock))
    assert recorder.settle(20) and recorder.problem is None
    for n in range(11, 16):
        recorder.frame(kit.shot(n, clock))
    assert recorder.settle(20) and "few pictures around the Stop" in recorder.problem


@pytest.mark.parametrize("hurried", [range(0, 0), range(20, 50), range(60)])
def test_a_video_whose_quality_falls_back_and_comes_back_is_one_whole_video(kit, tmp_path, hurried):
    noise = np.random.default_rng(1).normal(0, 3, (60, 120, 160, 3))
    pictures = [
        np.clip(cv2.GaussianBlur(kit.picture(n), (5, 5), 0) + noise[n], 0, 255).astype(np.uint8) for n in range(60)
    ]
    writer = VideoWriter(tmp_path / "video.mp4", *pictures[0].shape[1::-1])
    for n, picture in enumerate(pictures):
        writer.write(picture, n / 30, n in hurried)
    writer.close()
    remux(tmp_path / "video.mp4", tmp_path / "ordinary.mp4")
    for name in ("video.mp4", "ordinary.mp4"):
        frames = list(read_video(tmp_path / name))
        assert [kit.number_in(f.image) for f in frames] == list(range(60))
        off = np.array([np.abs(f.image.astype(int) - p).mean() for f, p in zip(frames, pictures, strict=True)])
        assert off.max() < 8
    with av.open(str(tmp_path / "ordinary.mp4")) as film:
        sizes = [packet.size for packet in film.demux(video=0) if packet.size]
    told = {way: [s for n, s in enumerate(sizes) if (n in hurried) == way] for way in (True, False)}
    assert len(sizes) == 60 and (not all(told.values()) or np.median(told[True]) < 0.7 * np.median(told[False]))


def test_a_torn_picture_is_never_there_under_its_name(tmp_path, monkeypatch):
    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_file(tmp_path / "stop.png", np.zeros((4, 4, 3), np.uint8))
    assert list(tmp_path.iterdir()) == []
