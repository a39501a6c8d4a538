"""``referee people films``: which recordings show a player, and their removal on request, which accuses nobody."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.devices.ports import SystemClock
from referee.recording import Recorder
from referee.recording.folder import META
from referee.recording.retention import read_removals
from referee.recording.writer import UNFINISHED


def attempt(root: Path, name: str, players: dict[str, str], **meta) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    record = {"card": "L01", "players": players, "recorded_at": "2026-01-01T20:00:00+00:00"} | meta
    (folder / META).write_text(json.dumps(record))
    (folder / "video.mp4").write_bytes(b"pictures of a child")
    return folder


def films(root: Path, name: str, *words: str):
    """Exit status and lines of the command."""
    done = CliRunner().invoke(cli, ["people", "films", name, str(root), *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output.splitlines()


@pytest.fixture
def archive(tmp_path):
    root = tmp_path / "attempts"
    attempt(root, "m-001", {"A": "Ann", "B": "Ben"})
    attempt(root, "m-002", {"A": "Cem", "B": "ANN"}, recorded_at="2026-01-02T20:00:00+00:00", human=[{"zone": "A"}])
    attempt(root / "old", "k-001", {"A": "Ann"}, recorded_at="2025-01-02T20:00:00+00:00")
    attempt(root, "m-003", {"A": "Anna", "B": "Cem"})
    (root / "m-004").mkdir()
    (root / "m-004" / META).write_text("{")
    return root


def test_the_recordings_that_show_a_player_are_listed_whatever_the_capitals(archive):
    status, told = films(archive, "ann")
    assert status == 0 and [line.split("  ")[0] for line in told[:3]] == ["old/k-001", "m-001", "m-002"]
    assert "m-002  2026-01-02T20:00  card L01  Cem, ANN" in told
    assert told[3:] == ["3 recordings show ann; 1 cannot be read"]
    assert len(list(archive.rglob("video.mp4"))) == 4


def test_who_is_in_no_recording_is_told_so(archive):
    assert films(archive, "Dia", "--remove", "--yes") == (0, ["0 recordings show Dia; 1 cannot be read"])
    assert read_removals(archive) == ()


def test_what_is_removed_is_gone_from_the_disk_contested_or_not_and_written_down_without_the_name(archive):
    status, told = films(archive, "Ann", "--remove", "--yes", "--who", "Eve")
    assert status == 0 and told[-1] == "3 recordings are removed"
    assert sorted(p.parent.name for p in archive.rglob("video.mp4")) == ["m-003"]
    assert not list(archive.rglob(".gone-*"))
    rows = read_removals(archive)
    assert [(row["removed"], row["who"], row["why"]) for row in rows] == [
        (name, "Eve", "on request") for name in ("k-001", "m-001", "m-002")
    ]
    assert "nn" not in (archive / "retention.jsonl").read_text()
    assert films(archive, "Ann")[1] == ["0 recordings show Ann; 1 cannot be read"]


def test_nothing_goes_unless_it_is_confirmed(archive):
    assert films(archive, "Ann", "--remove")[0] == 1
    assert len(list(archive.rglob("video.mp4"))) == 4 and read_removals(archive) == ()


def test_what_may_be_recorded_at_this_moment_stays_and_is_told(archive):
    now = datetime.now(UTC)
    attempt(archive, "m-005", {"A": "Ann"}, cut_short=UNFINISHED, recorded_at=now.isoformat())
    attempt(archive, "m-006", {"A": "Ann"}, cut_short=UNFINISHED, recorded_at=(now - timedelta(days=2)).isoformat())
    status, told = films(archive, "Ann", "--remove", "--yes")
    assert status == 1 and told[-2:] == ["m-005 stays: it may still be recording", "4 recordings are removed"]
    assert (archive / "m-005").exists() and not (archive / "m-006").exists()


def test_a_folder_that_may_not_be_touched_stays_and_is_told(archive, monkeypatch):
    def refused(folder, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refused)
    status, told = films(archive, "Ben", "--remove", "--yes")
    assert (status, told[-2:]) == (1, ["m-001 stays: Permission denied", "0 recordings are removed"])
    assert (archive / "m-001" / "video.mp4").exists() and read_removals(archive) == ()


def test_no_folder_is_told_in_one_line(tmp_path):
    status, told = films(tmp_path / "none", "Ann")
    assert status == 2 and "does not exist" in told[-1]


def test_the_name_of_a_recording_that_was_removed_is_given_to_no_other(tmp_path):
    attempt(tmp_path, "m-001", {"A": "Ann"})
    assert films(tmp_path, "Ann", "--remove", "--yes")[0] == 0
    recorder = Recorder(tmp_path, SystemClock(), reserve_bytes=0)
    try:
        assert recorder.begin({"card": "L01", "match_id": "m"}).name == "m-002"
    finally:
        recorder.close()
