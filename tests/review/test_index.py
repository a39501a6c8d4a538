"""The archive's index: it says what the folders say, whatever happened to it or to them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.recording import Budget, find_attempts, load_attempt
from referee.recording.folder import REVIEW, append_line, bytes_of, stamp_of, write_json
from referee.recording.index import INDEX, ArchiveFilter, AttemptSummary, Index, read_summary
from referee.recording.retention import make_room
from referee.recording.writer import UNFINISHED


@pytest.fixture
def root(kit, tmp_path):
    """Four attempts, two of them an evening's in a folder of their own, and a stranger's letter."""
    made = tmp_path / "archive"
    for n, name in enumerate(("M1-001", "M1-002", "eve/M2-001", "eve/deep/M3-001")):
        kit.make_attempt(made / name, n, duel=n, recorded_at=f"2026-05-0{n + 1}T20:00:00+00:00")
    (made / "letters").mkdir()
    (made / "letters" / "aunt.txt").write_bytes(b"0" * 500)
    return made


COLUMNS = "card, match, duel, at, recorded_s, margin, may_go, overruled, cut_short, stamp, bytes"


def told(index: Index) -> dict[str, object]:
    """Path -> what the table says of everything that is listed."""
    rows = index.rows(f"SELECT path, players, {COLUMNS} FROM attempts WHERE listed")
    return {os.fsdecode(path): (tuple(json.loads(players)), *row) for path, players, *row in rows}


def true(root: Path) -> dict[str, object]:
    """The same, read from the folders."""
    return {os.fspath(f.relative_to(root)): said(f, entry) for f in find_attempts(root) if (entry := read_summary(f))}


def said(folder: Path, entry: AttemptSummary) -> tuple[object, ...]:
    when = (entry.players, entry.card, entry.match, entry.duel, entry.at, entry.recorded_s)
    ruled = (entry.margin, entry.may_go, entry.overruled, entry.cut_short)
    return *when, *ruled, stamp_of(folder), bytes_of(folder)


def count(index: Index) -> int:
    return index.count(ArchiveFilter())


def size(root: Path) -> int:
    return sum(p.stat().st_size for p in root.rglob("*") if p.is_file() and not p.name.startswith(INDEX))


@pytest.mark.parametrize("kept", [True, False])
def test_the_index_says_what_the_folders_say(root, kept):
    index = Index(root, kept)
    assert index.refresh() == 0 and told(index) == true(root) and len(true(root)) == count(index) == 4
    assert (root / INDEX).exists() is kept
    if not kept:
        assert index.total_bytes() == size(root)


def test_a_second_program_reads_no_attempt_again(root, monkeypatch):
    Index(root).refresh()
    monkeypatch.setattr("referee.recording.index.read_summary", lambda folder: pytest.fail(f"{folder} read again"))
    index = Index(root)
    assert index.refresh(thorough=True) == 0 and told(index).keys() == true(root).keys()


def later(path: Path) -> None:
    """As if what happened there had happened long ago."""
    os.utime(path, (time.time() - 1000, time.time() - 1000))


CHANGES = {
    "added": lambda root, kit: kit.make_attempt(root / "M9-001"),
    "added deep": lambda root, kit: kit.make_attempt(root / "new" / "evening" / "M9-001"),
    "removed": lambda root, kit: shutil.rmtree(root / "M1-001"),
    "an evening removed": lambda root, kit: shutil.rmtree(root / "eve"),
    "renamed": lambda root, kit: (root / "M1-001").rename(root / "M1-009"),
    "moved": lambda root, kit: (root / "M1-001").rename(root / "eve" / "deep" / "M1-001"),
    "verdict changed": lambda root, kit: write_json(root / "M1-001" / "attempt.json", {"card": "H03", "award": "Eve"}),
    "reviewed": lambda root, kit: append_line(root / "M1-001" / REVIEW, {"kind": "ruling", "who": "Eve"}),
    "record spoilt": lambda root, kit: (root / "M1-001" / "attempt.json").write_text("{"),
    "record removed": lambda root, kit: (root / "M1-001" / "attempt.json").unlink(),
    "letters become an attempt": lambda root, kit: (root / "letters" / "attempt.json").write_text('{"card": "H02"}'),
    "half a letter": lambda root, kit: (root / "M1-001" / "attempt.json").write_text(
        '{"card": "H02", "award": "\\ud800"}'
    ),
    "no number": lambda root, kit: (root / "M1-001" / "attempt.json").write_text(
        '{"card": "H02", "duel": "x", "verdicts": {"A": {"verdict": "match", "confidence": NaN}}}'
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("old", [False, True], ids=["just made", "old"])
def test_whatever_happens_outside_is_seen_by_a_thorough_look(root, kit, change, old):
    if old:
        for path in [*root.rglob("*"), root]:
            later(path)
    index = Index(root)
    index.refresh()
    CHANGES[change](root, kit)
    assert index.refresh(thorough=True) == 0
    assert told(index) == true(root) and count(index) == len(true(root))


def test_a_record_taken_away_and_put_back_is_seen(root):
    index = Index(root)
    index.refresh()
    record = root / "M1-001" / "attempt.json"
    text = record.read_text()
    record.unlink()
    index.refresh(thorough=True)
    record.write_text(text)
    index.refresh()
    assert told(index) == true(root)


def test_what_is_being_recorded_is_looked_at_without_asking(root, kit):
    folder = kit.make_attempt(root / "M4-001", cut_short=UNFINISHED)
    index = Index(root)
    index.refresh()
    write_json(folder / "attempt.json", json.loads((folder / "attempt.json").read_text()) | {"cut_short": None})
    index.refresh()
    assert (
        told(index) == true(root)
        and index.rows("SELECT cut_short FROM attempts") == [(None,)] * 5
        and index.loose() == []
    )


def test_an_interrupted_reading_goes_on_where_it_was(root, kit, monkeypatch):
    monkeypatch.setattr("referee.recording.index.BATCH", 2)
    seen = []
    index = Index(root)
    assert index.refresh(enough=lambda done, total: seen.append((done, total)) or done == 2) == 2
    assert seen == [(0, 4), (2, 4)]
    index.close()
    assert Index(root).refresh(enough=lambda done, total: seen.append((done, total))) == 0
    assert seen[2:] == [(0, 2), (2, 2)]


def spoil_text(path: Path) -> None:
    path.write_text("no database at all, but long enough to be read as one" * 100)


def spoil_inside(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100:] = bytes(len(data) - 100)
    path.write_bytes(data)


def other_version(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")


def no_tables(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE attempts")


@pytest.mark.parametrize("spoil", [spoil_text, spoil_inside, other_version, no_tables, Path.unlink])
def test_a_spoilt_index_is_made_anew(root, spoil):
    first = Index(root)
    first.refresh()
    first.close()
    spoil(root / INDEX)
    index = Index(root)
    assert index.refresh() == 0 and told(index) == true(root) and index.file is not None


@pytest.mark.parametrize("spoil", ["DROP TABLE attempts", "ALTER TABLE attempts RENAME stamp TO other"])
def test_an_index_spoilt_while_it_is_open_is_made_anew(root, spoil):
    index = Index(root)
    index.refresh()
    with sqlite3.connect(root / INDEX) as db:
        db.execute(spoil)
    index.put(root / "M1-001")
    index.refresh(thorough=True)
    index.refresh(thorough=True)
    assert told(index) == true(root)


def refuse(*args: object, **how: object) -> None:
    raise sqlite3.OperationalError("database or disk is full")


def test_where_nothing_can_be_written_the_index_goes_on_in_memory(root, kit, monkeypatch):
    index = Index(root)
    index.refresh()
    kit.make_attempt(root / "M9-001")
    index.rows("PRAGMA query_only = ON")  # what a full disk does to every write
    assert index.refresh() == 0 and told(index) == true(root)
    assert index.file is None and len(told(index)) == 5


def test_two_threads_may_list_the_archive_at_once(root, monkeypatch):
    index, asked = Index(root), []

    def bytes_meanwhile(path):
        asked.append(path)
        if len(asked) == 1:  # another thread lists all while this one is in the middle of it
            index.refresh(thorough=True)
        return bytes_of(path)

    monkeypatch.setattr("referee.recording.index.bytes_of", bytes_meanwhile)
    assert index.refresh() == 0 and told(index) == true(root)


@pytest.mark.parametrize("known", [True, False])
def test_a_read_only_disk_is_read_around(root, monkeypatch, known):
    if known:
        first = Index(root)
        first.refresh()
        first.close()
    connect = sqlite3.connect

    def connected(where, **how):
        if str(where).endswith(INDEX):
            raise sqlite3.OperationalError("unable to open database file")
        return connect(where, **how)

    monkeypatch.setattr("referee.recording.index.sqlite3.connect", connected)
    before = (root / INDEX).exists()
    index = Index(root)
    todo = []
    index.refresh(enough=lambda done, total: todo.append(total))
    assert index.file is None and told(index) == true(root) and (root / INDEX).exists() == before
    assert todo[0] == 4


def test_retention_asks_the_folder_before_it_goes_by_the_index(root):
    """The index is behind: one attempt is contested by now, another has been removed by hand."""
    index = Index(root)
    index.refresh()
    append_line(root / "M1-001" / REVIEW, {"kind": "ruling", "who": "Eve"})
    shutil.rmtree(root / "M1-002")
    removed, warning = make_room(root, Budget(0, 0), datetime(2026, 6, 1, tzinfo=UTC), index, 1)
    assert [r.name for r in removed] == ["M2-001", "M3-001"] and warning is not None
    assert [f.name for f in find_attempts(root)] == ["M1-001"]


def test_every_program_sees_what_another_wrote(root, kit):
    one, two = Index(root), Index(root)
    one.refresh(), two.refresh()
    one.put(kit.make_attempt(root / "M9-001", award="Eve"))
    assert "M9-001" in told(two) and two.of_duel("M1", 1) == [root / "M1-002"]


def test_folders_named_by_bytes_that_are_no_text_are_listed(root, kit):
    folder = Path(os.fsdecode(os.fsencode(root) + b"/M\xff-001"))
    kit.make_attempt(root / "new", award="\N{SNOWMAN}").rename(folder)
    index = Index(root)
    index.refresh()
    assert count(index) == 5 and load_attempt(folder).name in {os.path.basename(p) for p in told(index)}


def test_the_command_brings_the_index_up_to_date_and_says_what_there_is(root):
    (root / "M1-001" / "attempt.json").write_text("{")
    for words in ([], ["--anew"]):
        done = CliRunner().invoke(cli, ["attempts", "index", str(root), *words])
        assert done.exit_code == 0 and done.output.startswith("3 attempts, 0.0 GB; 1 that cannot be read")
    index = Index(root)
    assert count(index) == 3
    nowhere = CliRunner().invoke(cli, ["attempts", "index", str(root / "nowhere")])
    assert "no such folder" in str(nowhere.exception)


def test_a_new_duel_costs_no_look_at_what_is_known(root, kit, monkeypatch):
    """Who asks again and again while a folder is young (``RACY_NS``) reads no name of it from the index twice."""
    for n in range(20):
        kit.make_attempt(root / f"M4-{n:03d}", 0, duel=n)
    index = Index(root)
    index.refresh()
    read, rows = [], index.rows
    monkeypatch.setattr(index, "rows", lambda *asked: read.extend(found := rows(*asked)) or found)
    for n in range(20, 24):
        kit.make_attempt(root / f"M4-{n:03d}", 0, duel=n)
        index.refresh()
    assert not read
    shutil.rmtree(root / "M4-003")
    other = Index(root)  # another program takes two in and one out that this one never hears of
    kit.make_attempt(root / "M5-001", 0, duel=1)
    kit.make_attempt(root / "M5-002", 0, duel=2)
    other.refresh()
    shutil.rmtree(root / "M5-002")
    other.forget(root / "M5-002")
    (root / "M4-004" / "attempt.json").rename(root / "M4-004" / "kept.json")
    other.refresh(thorough=True)
    index.refresh()
    assert told(index) == told(other) == true(root)


def counted(index: Index) -> list[object]:
    """What pages are headed by, worked out from all attempts: matches with when they began, players, cards."""
    begun = "SELECT match, min(recorded_s) FROM attempts WHERE listed AND match <> '' GROUP BY match"
    names = (
        "SELECT DISTINCT value FROM attempts, json_each(players) WHERE listed ORDER BY 1",
        "SELECT DISTINCT card FROM attempts WHERE listed ORDER BY 1",
    )
    return [sorted(index.rows(begun)), *([row[0] for row in index.rows(asked)] for asked in names)]


def answered(index: Index) -> list[object]:
    """The same as pages are answered."""
    matches = index.matches(ArchiveFilter(), 100)[0]
    return [
        sorted((m, datetime.fromisoformat(one.at).timestamp()) for m, one in matches.items()),
        index.players(),
        index.cards(),
    ]


def test_matches_are_kept_up_with_their_attempts(root, kit):
    def at(hour: int) -> str:
        return f"2026-05-05T{hour}:00:00+00:00"

    index = Index(root)
    kit.make_attempt(root / "none", 9, match_id=None, players={}, recorded_at=at(23))
    for n, hour in enumerate((22, 19, 21)):
        kit.make_attempt(root / f"M7-00{n}", n, match_id="M7", players={"A": f"P{n}"}, recorded_at=at(hour))
        index.refresh()
        assert answered(index) == counted(index)
    for gone in ("M7-001", "M7-000", "M7-002"):
        assert next(iter(index.matches(ArchiveFilter(), 1)[0])) == "M7"
        shutil.rmtree(root / gone)
        index.refresh()
        assert answered(index) == counted(index)
    latest, older = index.matches(ArchiveFilter(), 1)
    assert list(latest) == ["M1"] and older == 0


def test_every_page_follows_the_one_before(root, kit):
    for n in range(5):
        kit.make_attempt(root / f"M8-00{n}", n)
    index = Index(root)
    index.refresh()
    whole = index.page(ArchiveFilter(), 0, 100)
    assert len(whole) == count(index) == 9
    for wanted in (ArchiveFilter(), ArchiveFilter(verdict="match")):
        assert [path for first in (0, 4, 8) for path in index.page(wanted, first, 4)] == whole
