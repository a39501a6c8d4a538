"""``referee backup``: journal, people and settings of one moment, while a match is played; what is unpacked goes on."""

from __future__ import annotations

import io
import random
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from kill_loop import CARDS, NAMES, next_command

from referee.cli import cli
from referee.devices.ports import SystemClock
from referee.files import write_whole
from referee.journal import backup as backups
from referee.journal.file_lock import LOCK, lock_file
from referee.journal.journal import Journal
from referee.journal.recovery import copy_path, open_sound
from referee.journal.side_tables import PeopleStore
from referee.match.commands import CreateMatch
from referee.match.decide import decide
from referee.match.evolve import evolve, fold
from referee.session.people import People

REFEREE = [sys.executable, "-c", "from referee.cli import main; main()"]
BEGUN = 12


class Evening(threading.Thread):
    """Plays matches in a data folder; after every command one more person is known, then a setting says so too.

    ``longest_s``: how long a command and the person took at most.
    """

    def __init__(self, data: Path) -> None:
        super().__init__(daemon=True)
        self.data, self.over, self.begun, self.longest_s = data, threading.Event(), threading.Event(), 0.0
        data.mkdir(exist_ok=True)
        self.start()

    def run(self) -> None:
        with (
            lock_file(self.data / LOCK, "the data folder"),
            closing(open_sound(self.data / "journal.db")[0]) as journal,
            closing(PeopleStore(self.data / "journal.db")) as store,
        ):
            people, dice, state, count = People(store, SystemClock()), random.Random(1), fold([]), 0
            while not self.over.is_set():
                if state.phase in ("new", "finished"):
                    state = fold([])
                    command = CreateMatch(NAMES, seed=count, cards=CARDS, match_id=f"match {count}")
                else:
                    command = next_command(state, dice)
                events, began_s = decide(state, command, "2026-01-01"), time.monotonic()
                for event in events:
                    state = evolve(state, event)
                journal.append(state.match_id, events)
                people.add(f"Player {count}", "Org")
                self.longest_s = max(self.longest_s, time.monotonic() - began_s)
                write_whole(self.data / "setup.json", b"%d" % count)
                count += 1
                if count == BEGUN:
                    self.begun.set()

    def stop(self) -> None:
        self.over.set()
        self.join()


@pytest.fixture
def evening(tmp_path):
    running = Evening(tmp_path / "data")
    yield running
    running.stop()


def backup(file: Path, data: Path) -> subprocess.CompletedProcess:
    """The command in a program of its own, as an organiser types it."""
    return subprocess.run(
        [*REFEREE, "backup", str(file), "--data-dir", str(data)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def restored(file: Path, folder: Path) -> Path:
    """The backup in a folder of its own, by the command."""
    done = CliRunner().invoke(cli, ["restore", str(file), str(folder)])
    assert done.exit_code == 0 and done.output.startswith(f"{folder}: ") and done.output.endswith("sound\n"), (
        done.output
    )
    return folder


@pytest.mark.parametrize("number", range(3))
def test_what_is_copied_while_a_match_runs_is_of_one_moment_sound_and_goes_on(tmp_path, evening, number):
    assert evening.begun.wait(60)
    done = backup(tmp_path / "evening.tar", evening.data)
    assert (done.returncode, done.stderr) == (0, "")
    there = restored(tmp_path / "evening.tar", tmp_path / "again")
    evening.stop()
    assert sorted(p.name for p in there.iterdir()) == ["journal.db", "people.db", "setup.json"]
    journal, salvaged = open_sound(there / "journal.db")
    with closing(journal), closing(PeopleStore(there / "journal.db")) as store:
        assert salvaged is None
        commands = sum(fold(journal.events(match_id)).step for match_id in journal.matches())
        known = len(store.rows()[0])
        assert commands - known in (0, 1) and known >= BEGUN
        last = journal.matches()[-1]
        state = fold(journal.events(last))
        if state.phase != "finished":
            journal.append(last, decide(state, next_command(state, random.Random(2)), "2026-01-01"), after=state.seq)
    told = CliRunner().invoke(cli, ["journal", "verify", "-j", str(there / "journal.db")])
    assert told.exit_code == 0 and ", sound" in told.output
    assert "Player 3" in CliRunner().invoke(cli, ["people", "list", "-j", str(there / "journal.db")]).output
    assert copy_path(there / "journal.db").entries()


def test_nobody_writes_between_the_view_of_one_record_and_that_of_the_next(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    names, begun, refused = ("journal.db", "people.db"), backups._begun, []
    for name in names:
        with closing(sqlite3.connect(tmp_path / "data" / name)) as made:
            made.executescript("PRAGMA journal_mode = WAL; CREATE TABLE notes (n); INSERT INTO notes VALUES (1)")

    def watched(file, statement, stack):
        opened = begun(file, statement, stack)
        if statement == "BEGIN":
            for name in names:
                with closing(sqlite3.connect(tmp_path / "data" / name, timeout=0)) as other:
                    with pytest.raises(sqlite3.OperationalError, match="locked"):
                        other.execute("INSERT INTO notes VALUES (2)")
                    refused.append(name)
        return opened

    monkeypatch.setattr(backups, "_begun", watched)
    backups.back_up(tmp_path / "data", tmp_path / "b.tar")
    assert refused == [*names, *names]
    there = tmp_path / "again"
    there.mkdir()
    subprocess.run(["tar", "-xf", tmp_path / "b.tar", "-C", there], check=True)
    for name in names:
        with closing(sqlite3.connect(there / name)) as copy:
            assert copy.execute("SELECT n FROM notes").fetchall() == [(1,)]


def test_a_match_is_held_up_for_a_moment_only(tmp_path, evening):
    """However long copying takes: what is copied is a view of the moment, and writers write on beside it."""
    with closing(sqlite3.connect(evening.data / "cup.db")) as large:
        large.execute("CREATE TABLE waste (bytes)")
        large.execute("INSERT INTO waste VALUES (zeroblob(120000000))")
        large.commit()
    assert evening.begun.wait(60)
    evening.longest_s, began_s = 0.0, time.monotonic()
    assert backup(tmp_path / "evening.tar", evening.data).returncode == 0
    took_s = time.monotonic() - began_s
    evening.stop()
    print(f"{took_s:.2f} s for the backup, a command took {evening.longest_s:.2f} s at most")
    assert evening.longest_s < took_s / 2


def test_settings_games_and_halls_are_in_it_recordings_and_what_is_another_programs_are_not(referee, tmp_path):
    data = tmp_path / "data"
    kept = ("camera.yaml", "web-secret", "decks/own.json", "games/web-secret", "hall/logins.json", "journal-T1.lines")
    left = ("attempts/m-001/attempt.json", "attempts/.index.sqlite", "simulated/journal.db", "setup.json.tmp", LOCK)
    for name in kept + left + ("journal.db.lines", "journal.db.damaged-1"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(name)
    (data / "link").symlink_to("/etc/passwd")
    (data / "web-secret").chmod(0o600)
    assert referee("backup", tmp_path / "b.tar", "--data-dir", data).returncode == 0
    there = restored(tmp_path / "b.tar", tmp_path / "again")
    assert sorted(str(p.relative_to(there)) for p in there.rglob("*") if p.is_file()) == sorted(
        (*kept, "journal.db.damaged-1")
    )
    assert (there / "camera.yaml").read_text() == "camera.yaml"
    assert (tmp_path / "b.tar").stat().st_mode & 0o777 == (there / "web-secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("journal", [b"SQLite format 3\0" + b"\0" * 4096, b"SQLite format 3\0"])
def test_a_damaged_record_is_told_in_one_line_and_leaves_no_backup(referee, tmp_path, journal):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "journal.db").write_bytes(journal)
    done = referee("backup", tmp_path / "b.tar", "--data-dir", tmp_path / "data")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "journal.db: cannot be copied" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data"]


@pytest.mark.parametrize(
    ("file", "folder", "told"),
    [
        ("data/setup.json", "data", "setup.json: is there already"),
        ("b.tar", "none", "none"),
        ("none/b.tar", "data", "none/b.tar: No such file or directory"),
    ],
)
def test_what_cannot_be_is_told_in_one_line_and_nothing_is_overwritten(referee, tmp_path, file, folder, told):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "setup.json").write_text("{}")
    done = referee("backup", tmp_path / file, "--data-dir", tmp_path / folder)
    assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "data" / "setup.json").read_text() == "{}"


def packed(file: Path, **files: bytes) -> None:
    """A tar file with these files; two underscores of a name stand for ``../``."""
    with tarfile.open(file, "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "../").replace("_", "."))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("folder in use", "data: "),
        ("no tar", "cannot be restored there"),
        ("none", "No such file or directory"),
        ("outside", "outside the destination"),
        ("damaged", "not a database"),
    ],
)
def test_what_is_no_sound_backup_is_refused_in_one_line_and_leaves_nothing(referee, tmp_path, case, told):
    file, folder = tmp_path / "b.tar", tmp_path / ("data" if case == "folder in use" else "new")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "setup.json").write_text("{}")
    more = {"outside": {"__evil": b"x"}, "damaged": {"journal_db": b"x" * 9000}}
    packed(file, setup_json=b"[]", **more.get(case, {}))
    if case in ("no tar", "none"):
        file.unlink()
    if case == "no tar":
        file.write_bytes(b"no tar")
    before = sorted(p.name for p in tmp_path.iterdir())
    done = referee("restore", file, folder)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and told in done.stderr, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert (tmp_path / "data" / "setup.json").read_text() == "{}"


def test_a_forged_record_is_not_restored_whatever_its_name(referee, tmp_path):
    (tmp_path / "data").mkdir()
    with closing(Journal(tmp_path / "data" / "cup.db")) as journal:
        journal.append("m", decide(fold([]), CreateMatch(NAMES, seed=1, cards=CARDS, match_id="m"), "2026-01-01"))
    backups.back_up(tmp_path / "data", tmp_path / "sound.tar")
    with closing(sqlite3.connect(tmp_path / "data" / "cup.db")) as forged, forged:
        forged.execute("UPDATE events SET line = replace(line, ?, 'Eve')", (NAMES[0],))
    backups.back_up(tmp_path / "data", tmp_path / "forged.tar")
    assert ", 1 matches with " in backups.restore(tmp_path / "sound.tar", tmp_path / "sound")
    done = referee("restore", tmp_path / "forged.tar", tmp_path / "new")
    assert done.returncode == 2 and "cup.db" in done.stderr and not (tmp_path / "new").exists()
