"""SIGKILL and a full disk while recording: the video plays on, the record says why it ends."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from referee.recording import load_attempt
from referee.recording.video import complete_bytes, cut_to_whole, frame_seconds, read_video

PROGRAM = Path(__file__).with_name("endless_recording.py")


def start(tmp_path, limit=0):
    program = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(tmp_path), str(limit)], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout.readline().startswith("recording")
    return program


def rows(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def test_sigkill_costs_less_than_the_last_second(tmp_path):
    with start(tmp_path) as program:
        while len(rows(tmp_path / "K-001" / "frames.csv")) < 100:
            time.sleep(0.05)
        program.kill()
    attempt = load_attempt(tmp_path / "K-001")
    assert attempt.cut_short == "the program ended while it was recording"
    frames = list(read_video(attempt.folder / "video.mp4"))
    assert frames[-1].seconds > attempt.seconds[-1] - 1.0
    assert len(attempt.seconds) >= len(frames)


def test_a_full_disk_ends_the_video_not_the_record(tmp_path):
    with start(tmp_path, limit=3_000_000) as program:
        said, _ = program.communicate(timeout=60)
        assert program.returncode == 0
    assert "File too large" in said or "No space" in said
    attempt = load_attempt(tmp_path / "K-001")
    assert "recording stopped" in attempt.cut_short
    assert attempt.meta["award"] == {"player": "Ann"}
    assert attempt.problems() == []
    video = attempt.folder / "video.mp4"
    assert len(list(read_video(video))) == len(frame_seconds(video)) > 20
    assert float(attempt.cut_short.split()[-2]) - frame_seconds(video)[-1] < 1.0


@pytest.mark.parametrize("share", [0.3, 0.55, 0.8, 0.999])
def test_a_video_torn_anywhere_is_playable_when_cut_to_its_whole_part(tmp_path, share):
    with start(tmp_path) as program:
        time.sleep(0.7)
        program.kill()
    video = tmp_path / "K-001" / "video.mp4"
    data = video.read_bytes()
    video.write_bytes(data[: int(len(data) * share)])
    whole = complete_bytes(video)
    cut_to_whole(video)
    assert video.stat().st_size == whole
    assert len(list(read_video(video))) == len(frame_seconds(video))
