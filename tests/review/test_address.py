"""Attempts at addresses are judged, verified and told of where they lie; what cannot be read is no result."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.recording import load_attempt
from referee.recording.address import attempt_sources, fetched_attempt
from referee.recording.folder import hash_files, pack
from referee.review.batch import rejudge
from referee.review.options import RejudgeOptions
from referee.review.rejudge import needed_files

EYE = "fake_eye:look"


@pytest.fixture
def memory():
    """The file system of this process's memory, empty before and after."""
    made = fsspec.filesystem("memory")
    made.store.clear()
    yield made
    made.store.clear()


@pytest.fixture
def eye(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("FAKE_EYE_LOG", str(tmp_path / "looks.txt"))
    return tmp_path / "looks.txt"


@pytest.fixture
def archive(kit, tmp_path, memory):
    """Three attempts at memory://club, the last an evening deeper; the same in a folder."""
    for n, name in enumerate(("M1-001", "M1-002", "eve/M2-001")):
        folder = kit.make_attempt(tmp_path / "here" / name, n + 1)
        (folder / "video.mp4").write_bytes(bytes(10_000))
    for path in (tmp_path / "here").rglob("*.*"):
        memory.pipe(f"/club/{path.relative_to(tmp_path / 'here')}", path.read_bytes())
    return tmp_path / "here"


def without(rows):
    return [{**row, "seconds": 0, "folder": ""} for row in rows]


def test_an_archive_at_an_address_gives_what_its_folder_gives(archive, tmp_path, eye):
    there, here = attempt_sources("memory://club", tmp_path), attempt_sources(archive, tmp_path)
    assert [s.name for s in there] == [s.name for s in here] == ["M1-001", "M1-002", "M2-001"]
    rows = [rejudge(some, RejudgeOptions(eye=EYE), tmp_path / str(n), jobs=1) for n, some in enumerate((there, here))]
    assert without(rows[0]) == without(rows[1]) and all(row["problem"] is None for row in rows[0])
    assert [row["folder"] for row in rows[0]] == [s.address for s in there]


def test_a_file_address_is_a_folder(archive, tmp_path):
    assert attempt_sources(f"file://{archive}", tmp_path) == attempt_sources(archive, tmp_path)


def test_no_more_is_fetched_than_is_looked_at(archive, tmp_path):
    source = attempt_sources("memory://club/M1-001", tmp_path)[0]
    for options, names in (
        (RejudgeOptions(), {"attempt.json", "deck.json", "pieces.json", "stop.png"}),
        (RejudgeOptions(look=False), {"attempt.json", "deck.json", "pieces.json"}),
        (RejudgeOptions(watch=True), {"attempt.json", "deck.json", "pieces.json", "stop.png", "video.mp4"}),
    ):
        with fetched_attempt(source, partial(needed_files, options)) as folder:
            assert {p.name for p in folder.iterdir()} == names
        assert not folder.exists()


def test_what_is_done_is_not_done_again_until_it_changes(archive, memory, tmp_path, eye):
    for looks in (3, 3):
        rejudge(attempt_sources("memory://club", tmp_path), RejudgeOptions(eye=EYE), tmp_path / "out", jobs=1)
        assert len(eye.read_text().splitlines()) == looks
    memory.pipe("/club/M1-001/palette.txt", b"x")
    rejudge(attempt_sources("memory://club", tmp_path), RejudgeOptions(eye=EYE), tmp_path / "out", jobs=1)
    assert len(eye.read_text().splitlines()) == 4


def test_what_cannot_be_read_is_tried_again_and_the_exit_status_says_so(archive, memory, tmp_path, eye, monkeypatch):
    picture = memory.cat("/club/M1-002/stop.png")
    memory.pipe("/club/M1-002/stop.png", b"torn")
    words = ["rejudge", "memory://club", "--eye", EYE, "-j", "1", "-o", str(tmp_path / "out")]
    first = CliRunner().invoke(cli, words)
    assert first.exit_code == 1 and "1 not judged" in first.output and "stop.png" in first.output
    memory.pipe("/club/M1-002/stop.png", picture)
    looks = len(eye.read_text().splitlines())
    again = CliRunner().invoke(cli, words)
    assert again.exit_code == 0 and "3 attempts" in again.output and "0 not judged" in again.output
    assert len(eye.read_text().splitlines()) == looks + 1


def test_a_file_that_was_away_for_a_moment_is_read_in_the_same_run(kit, tmp_path, eye, monkeypatch):
    folder = kit.make_attempt(tmp_path / "archive" / "M1-001", 1)
    (folder / "deck.json").rename(tmp_path / "deck.away")

    def back(done, total):
        if done and (tmp_path / "deck.away").exists():
            (tmp_path / "deck.away").rename(folder / "deck.json")

    (row,) = rejudge([folder], RejudgeOptions(eye=EYE), tmp_path / "out", jobs=1, progress=back)
    assert row["problem"] is None


def test_verify_and_timeline_read_where_it_lies(archive, memory, tmp_path):
    checked = CliRunner().invoke(cli, ["verify", "memory://club"])
    assert checked.exit_code == 1 and checked.output.count("not sealed") == 3
    pack(load_attempt(archive / "M1-001"), tmp_path / "M1-001.zip")
    memory.put(str(tmp_path / "M1-001.zip"), "/bundles/M1-001.zip")
    checked = CliRunner().invoke(cli, ["verify", "memory://bundles/M1-001.zip"])
    assert checked.output.startswith("M1-001  not sealed")
    told = CliRunner().invoke(cli, ["timeline", "memory://club/M1-001"])  # its film is no film
    assert told.exit_code != 0 and "video.mp4" in str(told.exception)


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("memory://nowhere", "neither an attempt nor an archive"),
        ("nonsense://x", "nonsense"),
        ("memory://club/nowhere.zip", "nowhere.zip"),
        ("s3://bucket/x", "s3"),
    ],
)
def test_a_bad_address_is_one_clear_line(archive, address, fault, tmp_path, monkeypatch):
    result = CliRunner().invoke(cli, ["rejudge", address, "-o", str(tmp_path / "out")])
    assert fault in str(result.exception) and "\n" not in str(result.exception)
    assert type(result.exception).__name__ == "BadAttempt"


def test_the_program_starts_without_the_library(tmp_path):
    """Who names no address need not wait for it."""
    import subprocess
    import sys

    program = "import sys, referee.commands.attempts; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "fsspec" not in done.stdout.split()


def test_nothing_recorded_is_altered(archive, tmp_path, eye):
    before = {f: hash_files(f) for f in archive.rglob("M*-*") if f.is_dir()}
    rejudge(attempt_sources(archive, tmp_path), RejudgeOptions(eye=EYE), tmp_path / "out", jobs=1)
    assert {f: hash_files(f) for f in before} == before
