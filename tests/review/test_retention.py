"""The disk budget by tables: what goes and what stays, what is written of it, and how files are deleted."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from room import make_room

from referee.recording.index import Index
from referee.recording.retention import Budget, Removed, Remover, parse_removals, read_removals, remove_on_request
from referee.recording.writer import UNFINISHED

MB = 1 << 20
NOW = datetime(2026, 6, 1, 20, 0, tzinfo=UTC)
PLENTY = 1 << 40


def attempt(root: Path, name: str, recorded_at: object = "2026-01-01T20:00:00+00:00", **meta) -> Path:
    """An attempt of one MB in all; None: its record does not say when."""
    folder = root / name
    folder.mkdir(parents=True)
    record = json.dumps({"card": "L01", **({"recorded_at": recorded_at} if recorded_at else {}), **meta}).encode()
    (folder / "attempt.json").write_bytes(record)
    (folder / "video.mp4").write_bytes(b"0" * (MB - len(record)))
    return folder


@pytest.fixture
def three(tmp_path):
    """An archive of three attempts of a MB each: a is the oldest, c the newest."""
    for month, name in enumerate("abc", 1):
        attempt(tmp_path, name, f"2026-0{month}-01T20:00:00+00:00")
    return tmp_path


@pytest.mark.parametrize(
    ("budget", "free", "gone"),
    [
        (Budget(3 * MB, 0), PLENTY, ""),  # as full as it may be
        (Budget(3 * MB - 1, 0), PLENTY, "a"),
        (Budget(2 * MB, 0), PLENTY, "a"),
        (Budget(2 * MB - 1, 0), PLENTY, "ab"),
        (Budget(0, 0), PLENTY, "abc"),
        (Budget(PLENTY, 2 * MB), 2 * MB, ""),  # the disk has as much left as it has to
        (Budget(PLENTY, 2 * MB), 2 * MB - 1, "a"),
        (Budget(PLENTY, 2 * MB), 0, "ab"),
        (Budget(2 * MB, 2 * MB), 0, "ab"),  # the stricter of the two
        (Budget(MB, 2 * MB), MB, "ab"),
    ],
)
def test_as_many_go_as_there_have_to_be_and_no_more(three, budget, free, gone):
    removed, warning = make_room(three, budget, NOW, free=lambda: free)
    assert "".join(r.name for r in removed) == gone and warning is None
    assert sorted(p.name for p in three.iterdir() if p.name in "abc") == sorted(set("abc") - set(gone))
    assert [(r.size_bytes, r.left) for r in removed] == [(MB, three / f".gone-{name}") for name in gone]


GB = 1 << 30


@pytest.mark.parametrize(
    ("size", "free", "goes"),
    [(40 * GB, 2 * GB, False), (40 * GB + 1, 2 * GB, True), (40 * GB, 2 * GB - 1, True)],
)
def test_an_archive_takes_40_gb_and_leaves_2_where_nobody_asks_for_another_budget(tmp_path, size, free, goes):
    video = attempt(tmp_path, "m") / "video.mp4"
    os.truncate(video, video.stat().st_size + size - MB)  # a hole: it takes no room
    removed, _ = make_room(tmp_path, Budget(), NOW, free=lambda: free)
    assert [r.name for r in removed] == ["m"] * goes


@pytest.mark.parametrize(
    ("meta", "goes"),
    [
        ({}, True),
        ({"verdicts": {"A": {"verdict": "match", "confidence": 1.0}}}, True),
        ({"verdicts": {"A": {"verdict": "undecided"}}}, False),
        ({"human": [{"who": "Eve"}]}, False),
        ({"keep": True}, False),
        ({"recorded_at": None}, True),  # its record does not say when
        ({"recorded_at": "yesterday"}, False),  # cannot be read
        ({"recorded_at": "2026-06-01T20:00:00+00:00"}, False),  # this evening's
        ({"recorded_at": "2026-06-01T08:00:01+00:00"}, False),
        ({"recorded_at": "2026-06-01T08:00:00+00:00"}, True),
        ({"recorded_at": "2026-06-01T08:00:01"}, False),  # UTC where no time zone is given
        ({"recorded_at": "2026-06-01T07:59:59"}, True),
        ({"recorded_at": "2026-06-01T10:00:01+02:00"}, False),
        ({"recorded_at": "2026-06-01T09:59:59+02:00"}, True),
        ({"recorded_at": "2026-06-01T20:00:01+00:00"}, True),  # of a clock that was wrong: not for ever
    ],
)
def test_what_may_go(tmp_path, meta, goes):
    attempt(tmp_path, "m", **meta)
    removed, warning = make_room(tmp_path, Budget(0, 0), NOW, free=lambda: PLENTY)
    assert [r.name for r in removed] == ["m"] * goes
    assert (warning is None) == goes


def test_what_cannot_be_read_stays(tmp_path):
    (attempt(tmp_path, "m") / "attempt.json").write_text("{")
    assert make_room(tmp_path, Budget(0, 0), NOW, free=lambda: PLENTY)[0] == []


def test_what_is_being_recorded_stays_and_the_next_one_goes(three):
    removed, warning = make_room(three, Budget(2 * MB, 0), NOW, busy=three / "a", free=lambda: PLENTY)
    assert [r.name for r in removed] == ["b"] and warning is None


def test_what_is_still_too_much_is_told_in_megabytes(three):
    attempt(three, "kept-1", keep=True)
    attempt(three, "kept-2", keep=True)
    removed, warning = make_room(three, Budget(0, 0), NOW, free=lambda: PLENTY)
    assert len(removed) == 3 and warning.startswith("2 MB over the disk budget")


def test_the_disk_is_asked_where_nobody_else_is(three, monkeypatch):
    class Usage:
        free = MB

    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage if path == three else None)
    removed, _ = make_room(three, Budget(PLENTY, 2 * MB), NOW)
    assert [r.name for r in removed] == ["a"]


def test_an_index_that_is_given_forgets_what_went(three):
    index = Index(three, kept=False)
    index.refresh()
    make_room(three, Budget(2 * MB, 0), NOW, free=lambda: PLENTY, index=index)
    assert index.total_bytes() == 2 * MB
    index.close()


def lines(root: Path) -> list[dict]:
    """The lines of the log."""
    return [json.loads(line) for line in (root / "retention.jsonl").read_text().splitlines()]


def test_a_removal_is_written_down(three):
    make_room(three, Budget(2 * MB, 0), NOW, free=lambda: PLENTY)
    row = {"at": "2026-06-01T20:00:00+00:00", "removed": "a", "bytes": MB, "why": "disk budget, uncontested"}
    assert lines(three) == [row] and read_removals(three) == (row,)


@pytest.mark.parametrize(
    ("error", "why"), [(PermissionError(13, "Permission denied"), "Permission denied"), (OSError("odd"), "odd")]
)
def test_what_could_not_be_taken_out_is_written_down_and_counts_as_there(three, monkeypatch, error, why):
    rename = Path.rename

    def refused(folder, target):
        if folder.name == "a":
            raise error
        return rename(folder, target)

    monkeypatch.setattr(Path, "rename", refused)
    removed, warning = make_room(three, Budget(2 * MB, 0), NOW, free=lambda: PLENTY)
    assert [r.name for r in removed] == ["b"] and warning is None and (three / "a").exists()
    assert lines(three)[1] == {"at": "2026-06-01T20:00:00+00:00", "kept": "a", "why": why}
    assert [row["removed"] for row in read_removals(three)] == ["b"]


def test_an_archive_that_never_was_full_tells_nothing(tmp_path):
    assert read_removals(tmp_path) == ()


def test_what_went_since_is_told_too(three):
    make_room(three, Budget(2 * MB, 0), NOW, free=lambda: PLENTY)
    before = read_removals(three)
    make_room(three, Budget(MB + 1000, 0), NOW, free=lambda: PLENTY)  # the log takes some, too
    assert [[row["removed"] for row in rows] for rows in (before, read_removals(three))] == [["a"], ["a", "b"]]


@pytest.mark.parametrize(
    ("log", "names"),
    [
        ("", []),
        ('{"removed": "a"}\n{"removed": "b"}\n', ["a", "b"]),
        ('{"removed": "a"}\n{"removed": "b"}\n{"kept": "b"}\n{"removed": "c"}\n', ["a", "c"]),
        ('{"kept": "a"}\n{"removed": "b"}\n', ["b"]),
        ('{"removed": "a"}\n{"removed": "b\n{"kept": "b"}\n', ["a"]),
        ('{"removed": "a"}\n1\n', ["a"]),
        ('{"removed": "a"}\n{"remo', ["a"]),  # torn by a kill
        ('{"remo\n{"removed": "b"}\n', ["b"]),
    ],
)
def test_a_log_tells_what_has_gone(log, names):
    assert [row["removed"] for row in parse_removals(log)] == names


def waiting(root: Path, name: str) -> Removed:
    """A folder that waits to be deleted."""
    folder = root / f".gone-{name}"
    folder.mkdir()
    (folder / "video.mp4").write_bytes(b"0" * 100)
    return Removed(name, 100, folder)


def test_files_are_deleted_one_after_another_and_count_until_they_are(tmp_path, monkeypatch):
    remover, go_on, deleted = Remover(), threading.Semaphore(0), threading.Semaphore(0)
    counted, threads = [], []

    def rmtree(folder, **_):
        assert go_on.acquire(timeout=20)
        counted.append((folder.name, remover.pending_bytes))
        threads.append(threading.current_thread())
        deleted.release()

    monkeypatch.setattr("shutil.rmtree", rmtree)
    remover.delete([waiting(tmp_path, "a"), waiting(tmp_path, "b")])
    assert remover.pending_bytes == 200
    go_on.release()
    assert deleted.acquire(timeout=20)
    remover.delete([waiting(tmp_path, "c")])
    go_on.release(2)
    remover.close()
    assert counted == [(".gone-a", 200), (".gone-b", 200), (".gone-c", 100)] and remover.pending_bytes == 0
    assert len(set(threads)) == 1 and threads[0].name.startswith("disk budget")


def test_what_cannot_be_deleted_holds_up_nothing(tmp_path):
    remover, there = Remover(), waiting(tmp_path, "there")
    remover.delete([Removed("lost", 5, tmp_path / ".gone-lost"), there])
    remover.close()
    assert not there.left.exists() and remover.pending_bytes == 0


def test_of_what_cannot_be_deleted_whole_the_rest_goes(tmp_path, monkeypatch):
    """Whichever file comes first is the one that stays."""
    remover, there, unlink, refused = Remover(), waiting(tmp_path, "there"), os.unlink, []
    (there.left / "attempt.json").write_text("{}")

    def held(name, **where):
        if name in refused or not refused:
            refused.append(name)
            raise PermissionError(13, "Permission denied")
        unlink(name, **where)

    monkeypatch.setattr("os.unlink", held)
    remover.delete([there])
    remover.close()
    assert [p.name for p in there.left.iterdir()] == refused


def test_nothing_is_waited_for_where_nothing_is_deleted():
    remover = Remover()
    remover.delete([])
    remover.close()
    assert remover.pending_bytes == 0


def test_a_remover_goes_on_after_a_rest(tmp_path, monkeypatch):
    remover, deleted, rmtree = Remover(), threading.Semaphore(0), shutil.rmtree

    def told(folder, **options):
        rmtree(folder, **options)
        deleted.release()

    monkeypatch.setattr("shutil.rmtree", told)
    for name in "ab":
        one = waiting(tmp_path, name)
        remover.delete([one])
        assert deleted.acquire(timeout=20) and not one.left.exists()
    remover.close()


@pytest.mark.parametrize(
    ("recorded_at", "cut_short", "stays"),
    [
        ("2026-06-01T19:00:00+00:00", UNFINISHED, "it may still be recording"),
        ("2026-06-01T19:00:00+00:00", "a power cut", None),
        ("2026-01-01T20:00:00+00:00", UNFINISHED, None),
    ],
)
def test_what_is_removed_on_request_and_what_stays(tmp_path, recorded_at, cut_short, stays):
    folder, index = attempt(tmp_path, "a", recorded_at, cut_short=cut_short), Index(tmp_path, kept=False)
    index.refresh()
    assert remove_on_request(index, folder, NOW, "Ann") == stays
    assert folder.exists() == bool(stays)
    assert len(read_removals(tmp_path)) == (not stays)
    if not stays:
        assert '"on request"' in (tmp_path / "retention.jsonl").read_text() and not index.latest(9)


def test_what_cannot_be_read_or_deleted_is_said(tmp_path, monkeypatch):
    unread, kept = attempt(tmp_path, "a"), attempt(tmp_path, "b")
    (unread / "attempt.json").write_text("{")
    index = Index(tmp_path, kept=False)
    index.refresh()
    assert "attempt.json" in remove_on_request(index, unread, NOW, "Ann")
    monkeypatch.setattr(shutil, "rmtree", lambda *given, **named: None)
    assert remove_on_request(index, kept, NOW, "Ann").endswith("could not be deleted")
