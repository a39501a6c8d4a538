"""After a kill: nothing is left that nobody lists, counts or removes, and every video plays or is listed as lost."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from referee.devices.ports import Frame, SystemClock
from referee.recording import Budget, Recorder, load_attempt
from referee.recording.folder import find_attempts
from referee.recording.index import Index
from referee.recording.retention import make_room
from referee.recording.sweep import NO_PICTURE_WRITTEN, NO_RECORD, sweep
from referee.recording.video import cut_clip, read_video
from referee.recording.writer import UNFINISHED


def folder(root: Path, name: str, files: dict[str, bytes]) -> Path:
    made = root / name
    made.mkdir(parents=True)
    for file, content in files.items():
        (made / file).write_bytes(content)
    return made


def unfinished(**more) -> bytes:
    return json.dumps({"card": "L01", "cut_short": UNFINISHED, **more}).encode()


def test_space_set_aside_and_drafts_go(tmp_path):
    folder(tmp_path, "m-001", {"attempt.json": unfinished(), "reserve.tmp": b"0" * 1000, "video.tmp": b"1"})
    folder(tmp_path, ".m-002", {"attempt.json": unfinished()})
    folder(tmp_path, "m-003", {"frames.csv": b"index,seconds\n", "reserve.tmp": b"0"})
    mine = folder(tmp_path, "letters", {"to my aunt.txt": b"dear aunt"})
    with closing(Index(tmp_path, kept=False)) as index:
        assert set(sweep(tmp_path, index)) == {"m-001", ".m-002", "m-003"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["letters", "m-001"]
    assert [p.name for p in (tmp_path / "m-001").iterdir()] == ["attempt.json"] and list(mine.iterdir())


def test_a_video_without_a_picture_is_listed_as_lost_and_one_without_a_record_gets_one(tmp_path):
    folder(tmp_path, "m-001", {"attempt.json": unfinished(), "video.mp4": b"\0\0\0\x20ftypisom" + b"\0" * 20})
    folder(tmp_path, "m-002", {"attempt.json": unfinished()})
    whole = b"\0\0\0\x08moof\0\0\0\x08mdat"
    folder(tmp_path, "m-003", {"video.mp4": whole, "video_2.mp4": whole + whole[:12]})
    with closing(Index(tmp_path, kept=False)) as index:
        sweep(tmp_path, index)
    assert [load_attempt(tmp_path / f"m-00{n}").cut_short for n in (1, 2, 3)] == [
        NO_PICTURE_WRITTEN,
        NO_PICTURE_WRITTEN,
        NO_RECORD,
    ]
    assert (tmp_path / "m-003" / "video_2.mp4").read_bytes() == whole


def test_a_folder_says_what_it_is_from_its_first_instant(tmp_path, monkeypatch):
    seen = []
    rename = Path.rename
    monkeypatch.setattr(Path, "rename", lambda old, new: (seen.append(load_attempt(old).meta), rename(old, new))[1])
    recorder = Recorder(tmp_path, SystemClock())
    made = recorder.begin({"match_id": "m", "card": "L01"})
    recorder.close()
    assert seen[0]["card"] == "L01" and seen[0]["cut_short"] == UNFINISHED
    assert find_attempts(tmp_path) == [made]


def test_the_budget_counts_everything_in_the_archive(tmp_path):
    folder(tmp_path, "m-001", {"attempt.json": b'{"card": "L01"}', "video.mp4": b"0" * 1000})
    folder(tmp_path, "elsewhere", {"to my aunt.txt": b"0" * 5000})
    with closing(Index(tmp_path, kept=False)) as index:
        index.refresh()
        removed, warning = make_room(tmp_path, Budget(4000, 0), datetime.now(UTC), index, 1 << 40)
    assert [r.name for r in removed] == ["m-001"] and warning is not None


@pytest.mark.parametrize("where", ["", "evenings/first"])
def test_what_a_kill_left_on_its_way_out_is_no_attempt_and_goes_at_the_next_start(tmp_path, where):
    old = folder(tmp_path / where, "m-001", {"attempt.json": b'{"card": "L01"}', "video.mp4": b"0" * 5000})
    folder(tmp_path / where, "m-002", {"attempt.json": b'{"card": "L01"}', "review.jsonl": b'{"kind": "ruling"}\n'})
    index = Index(tmp_path, kept=False)
    index.refresh()
    removed, _ = make_room(tmp_path, Budget(4000, 0), datetime.now(UTC), index, 1 << 40)
    left = removed[0].left
    assert [r.name for r in removed] == ["m-001"] and (left / "video.mp4").exists() and not old.exists()
    again = Index(tmp_path, kept=False)
    again.refresh()
    for known in (index, again):
        assert [p.name for p in find_attempts(tmp_path)] == ["m-002"] and len(
            known.rows("SELECT path FROM attempts")
        ) == 1
        assert known.total_bytes() < 2000
    again.close()
    assert sweep(tmp_path, index) == [left.name]
    assert not left.exists() and len(index.rows("SELECT path FROM attempts")) == 1
    index.close()


def recorded(root: Path, seconds: float = 4.0, fps: int = 20) -> Path:
    """A recording of that length with noise for pictures."""
    recorder, rng = Recorder(root, SystemClock()), np.random.default_rng(1)
    made = recorder.begin({"match_id": "m", "card": "L01", "go_at_s": 0.0})
    noise = rng.integers(0, 255, (120, 160, 3), np.uint8)
    for n in range(round(seconds * fps)):
        recorder.frame(Frame(noise, n, n / fps))
    recorder.finish()
    recorder.close()
    return made


def test_a_clip_is_those_seconds_and_no_more(tmp_path):
    video = recorded(tmp_path) / "video.mp4"
    clip = cut_clip(video, 2.0, 3.0)
    (tmp_path / "clip.mp4").write_bytes(clip.data)
    frames = list(read_video(tmp_path / "clip.mp4"))
    assert 1.0 <= clip.offset_s <= 2.0
    assert frames[0].seconds == 0 and abs(clip.offset_s + frames[-1].seconds - 3.0) < 0.06
    assert len(clip.data) < video.stat().st_size * 0.6


@pytest.mark.slow
def test_killed_recordings_leave_no_orphan_and_every_video_plays_to_its_last_second(tmp_path):
    found = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("kill_recordings.py")), str(tmp_path), "12", "1"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    said = json.loads(found.stdout)
    assert said["kills"] == 12 and said["faults"] == [] and said["playable"] > 3
