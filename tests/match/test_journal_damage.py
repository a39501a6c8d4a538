"""What may happen to a journal: kill -9, torn and overwritten files, a full disk."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.errors import JournalDamaged, JournalUnwritable
from referee.events import Event
from referee.journal.journal import Journal
from referee.journal.recovery import carve_events, open_sound, read_files, salvage
from referee.match.commands import Foul
from referee.match.evolve import fold

HERE = Path(__file__).parent


def driven(script: str, *arguments: object) -> dict:
    """Run a program beside this file; what it says as JSON."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


KILLS = 60
"""``python tests/match/kill_loop.py STORE 200 7`` and ``kill_program.py FOLDER 200 1`` kill more often."""


@pytest.mark.slow
def test_no_acknowledged_event_is_lost_however_often_it_is_killed(store):
    """And every restart goes on in the phase the record says. (On PostgreSQL the client is killed.)"""
    result = driven("kill_loop.py", store, KILLS, 7)
    assert result["lost"] == []
    assert result["kills"] == KILLS
    assert result["acknowledged"] > KILLS
    assert len(result["phases"]) >= 5


@pytest.mark.slow
def test_the_real_program_killed_at_random_instants_goes_on_where_it_was(tmp_path):
    """``referee run`` under a client that plays on its API: what it acknowledged is in the record."""
    result = driven("kill_program.py", tmp_path / "data", KILLS, 1)
    assert (result["lost"], result["strayed"]) == ([], [])
    assert result["kills"] == KILLS
    assert result["acknowledged"] > KILLS / 2
    assert len(result["phases"]) >= 6


# --- Damaged files ----------------------------------------------------------------------------------


DAMAGES = 150


@pytest.fixture(scope="module")
def sound(table, tmp_path_factory):
    """A journal of two matches as a program that was killed leaves it: folder, match -> events."""
    folder = tmp_path_factory.mktemp("sound")
    logs = {}
    with closing(Journal(folder / "open.db")) as journal:
        for match_id, players in (("one", 2), ("two", 4)):
            t = table(players=players)
            t.play_on(lambda s: min(s.seats.values()))
            logs[match_id] = t.log
            for step in sorted({e.step for e in t.log}):
                journal.append(match_id, [e for e in t.log if e.step == step])
        for suffix in ("", "-wal"):
            shutil.copy(folder / f"open.db{suffix}", folder / f"journal.db{suffix}")
    return folder, logs


def damaged_copy(folder: Path, to: Path, dice: random.Random) -> bool:
    """Copy the journal and cut off or overwrite a random part of the file (now and then of its WAL)."""
    for suffix in ("", "-wal"):
        shutil.copy(folder / f"journal.db{suffix}", to / f"journal.db{suffix}")
    victim = to / ("journal.db" if dice.random() < 0.85 else "journal.db-wal")
    data = bytearray(victim.read_bytes())
    at, length = dice.randrange(1, len(data)), dice.choice([1, 8, 64, 512, 4096, 20000])
    if dice.random() < 0.4:
        del data[at:]
    else:
        data[at : at + length] = (
            dice.randbytes(min(length, len(data) - at)) if dice.random() < 0.5 else bytes(min(length, len(data) - at))
        )
    victim.write_bytes(data)
    return victim.name == "journal.db"


def provable(path: Path, logs: dict) -> dict[str, int]:
    """For each match the events from the first on whose bytes still stand somewhere in the files."""
    standing = {(e.match_id, e.seq) for e in carve_events(read_files(path))}
    return {m: next((n for n in range(len(log)) if (m, n + 1) not in standing), len(log)) for m, log in logs.items()}


@pytest.mark.slow
def test_damage_at_random_offsets_is_found_and_everything_before_it_is_kept(sound, tmp_path):
    folder, logs = sound
    found = 0
    for seed in range(DAMAGES):
        case = tmp_path / str(seed)
        case.mkdir()
        damaged_copy(folder, case, random.Random(seed))
        before = provable(case / "journal.db", logs)
        journal, report = open_sound(case / "journal.db")
        with closing(journal):
            if report is None:
                assert {m: journal.events(m) for m in journal.matches()} == logs, seed
                continue
            found += 1
            assert "journal.db" in report.fault, seed
            assert len(report.text().splitlines()) == 1
            for match_id, log in logs.items():
                assert journal.events(match_id) == log[: before[match_id]], seed
            assert (case / "journal.db.damaged-1").exists()
            assert fold(journal.events("one")).seq == before["one"]
            journal.append("two", [Event("x", step=0)], after=before["two"])
        shutil.rmtree(case)
    assert found > DAMAGES / 4


def cut(folder: Path, at: int) -> Path:
    path = folder / "journal.db"
    path.write_bytes(path.read_bytes()[:at])
    return path


@pytest.fixture
def small(tmp_path):
    """A journal of one match with 30 events, closed."""
    with closing(Journal(tmp_path / "journal.db")) as journal:
        journal.append("m", [Event("foul", {"n": n, "text": "x" * 900}) for n in range(30)])
    return tmp_path / "journal.db"


def test_a_torn_file_is_named_with_what_was_kept(small):
    data = small.read_bytes()
    small.write_bytes(data[: len(data) - 20000])
    journal, report = open_sound(small)
    with closing(journal):
        kept = report.kept["m"]
        assert 0 < kept < 30
        assert f"m: {kept} of {report.recorded['m']} events kept" in report.text()
        assert "journal.db.damaged-1" in report.text()
        assert [e.data["n"] for e in journal.events("m")] == list(range(kept))


def test_a_gap_is_reported_with_what_lies_beyond(small):
    data = bytearray(small.read_bytes())
    at = data.index(b'"n":4,')
    data[at + 20] ^= 1
    small.write_bytes(data)
    journal, report = open_sound(small)
    journal.close()
    assert (report.kept, len(report.beyond["m"])) == ({"m": 4}, 25)
    assert "event 5 is damaged" in report.fault


def test_large_and_odd_events_are_found_in_the_raw_bytes(tmp_path):
    """Many nested objects, quotes and braces in texts, and what looks like the end of a line."""
    odd = ['"', "\\", "}", '","match":"m","prev":"' + "0" * 64 + '","seq":1}', "木"]
    events = [Event("foul", {"pieces": [{"n": n} for n in range(900)]}), Event("foul", {"texts": odd})]
    with closing(Journal(tmp_path / "journal.db")) as journal:
        journal.append('a "match"\\', events)
    assert [e.event for e in sorted(carve_events(read_files(tmp_path / "journal.db")), key=lambda e: e.seq)] == events


def test_an_event_longer_than_a_page_is_kept_as_long_as_sqlite_reads_it(tmp_path):
    path, events = tmp_path / "journal.db", [Event("foul", {"n": n, "text": "x" * 60_000}) for n in range(5)]
    with closing(Journal(path)) as journal:
        journal.append("m", events)
    path.write_bytes(path.read_bytes()[:-16384])
    journal, report = open_sound(path)
    journal.close()
    assert report.kept["m"] >= 3


def test_a_sound_journal_is_left_alone(small):
    before = small.read_bytes()
    journal, report = open_sound(small)
    journal.close()
    assert (report, small.read_bytes()) == (None, before)


def test_what_is_no_journal_at_all_keeps_nothing_but_itself(tmp_path):
    path = tmp_path / "journal.db"
    path.write_bytes(b"this is a shopping list\n" * 50)
    with pytest.raises(JournalDamaged, match="not a database"):
        Journal(path)
    journal, report = open_sound(path)
    journal.close()
    assert report.text().endswith("no event could be read")
    assert (tmp_path / "journal.db.damaged-1").read_bytes().startswith(b"this is a shopping list")


def test_a_file_that_has_lost_its_tables_is_not_taken_for_new(small):
    data = bytearray(small.read_bytes())
    data[103:105] = b"\0\0"  # page 1: number of cells, that is of tables
    small.write_bytes(data)
    with pytest.raises(JournalDamaged, match="is gone though there are events"):
        Journal(small)


def test_salvage_never_overwrites(small, tmp_path):
    (tmp_path / "other.db").write_text("precious")
    with pytest.raises(JournalDamaged, match="exists already"):
        salvage(small, tmp_path / "other.db")


def test_the_command_line_checks_and_salvages(small, tmp_path):
    said = CliRunner().invoke(cli, ["journal", "verify", "--journal", str(small)])
    assert said.output.startswith("m: 30 events, sound, last hash ")
    said = CliRunner().invoke(cli, ["journal", "salvage", str(small), str(tmp_path / "new.db")])
    assert "m: 30 of 30 events kept" in said.output and (tmp_path / "new.db").stat().st_mode & 0o077 == 0
    said = CliRunner().invoke(cli, ["journal", "verify", "--journal", str(tmp_path / "none.db")])
    assert "no such journal" in str(said.exception)
    assert not (tmp_path / "none.db").exists()


# --- A full disk ------------------------------------------------------------------------------------


def test_every_commit_reaches_the_disk_before_it_is_acknowledged(small):
    with closing(Journal(small)) as journal, journal._engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "wal_autocheckpoint")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "wal_autocheckpoint": 1}


@pytest.mark.parametrize("limit", [100_000, 300_000, 1_000_000])
def test_a_full_disk_refuses_clearly_and_loses_nothing(tmp_path, limit):
    store = tmp_path / "journal.db"
    result = driven("fill_disk.py", store, limit)
    assert "nothing was recorded" in result["refusal"]
    assert result["later"] == 3
    with closing(Journal(store)) as journal:
        assert journal.verify() == {"m": result["acknowledged"] + 3}


def test_sqlites_own_full_is_one_clear_line(tmp_path):
    with closing(Journal(tmp_path / "journal.db")) as journal:
        journal.append("m", [Event("foul", {"n": 0})])
        with journal._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count=8")
        with pytest.raises(JournalUnwritable, match="full; nothing was recorded"):
            journal.append("m", [Event("foul", {"text": "x" * 200_000})], after=1)
        assert journal.verify() == {"m": 1}
        assert journal.append("m", [Event("foul", {"n": 1})], after=1) == [2]


def test_a_folder_that_does_not_exist_is_one_clear_line(tmp_path):
    with pytest.raises(JournalUnwritable, match="unable to open database file"):
        Journal(tmp_path / "nowhere" / "journal.db")


# --- The second copy


def flipped(path, at: int) -> None:
    """One bit of the file is another."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.fixture
def copied(tmp_path):
    """A journal of one match of 40 events with its second copy, closed."""
    path = tmp_path / "journal.db"
    journal, _ = open_sound(path)
    with closing(journal):
        for n in range(40):
            journal.append("m", [Event("foul", {"n": n, "text": "x" * 300})], table="A")
    return path


def test_one_flipped_bit_costs_nothing(copied):
    flipped(copied, copied.read_bytes().index(b'"n":1,') + 30)
    journal, report = open_sound(copied)
    with closing(journal):
        assert "m: 40 of 40 events kept" in report.text() and not report.beyond
        assert [e.data["n"] for e in journal.events("m")] == list(range(40))
        journal.append("m", [Event("foul", {"n": 40})])
    journal, report = open_sound(copied)
    journal.close()
    assert report is None


def test_a_record_that_is_gone_or_older_than_its_copy_comes_back(copied):
    old = copied.with_name("old.db")
    with closing(Journal(old)) as journal:
        journal.append("m", [Event("foul", {"n": 0, "text": "x" * 300})])
    old.replace(copied)
    for path in (copied, *copied.parent.glob("journal.db-*")):
        path.unlink(missing_ok=True) if path != copied else None
    journal, report = open_sound(copied)
    journal.close()
    assert report.kept == {"m": 40} and "39 events are missing that its second copy holds" in report.text()
    copied.unlink()
    journal, report = open_sound(copied)
    journal.close()
    assert report.kept == {"m": 40}


def test_the_same_event_damaged_twice_leaves_a_gap_that_a_human_can_confirm(table, tmp_path):
    t, path, target = table(), tmp_path / "journal.db", tmp_path / "new.db"
    t.duel("A")
    for n in (1, 2):
        t.log.append(Event("foul", {**_foul(t), "text": f"note {n}"}, "2026-01-01", "Ref", step=100 + n))
    journal, _ = open_sound(path)
    with closing(journal):
        journal.append("m1", t.log)
    for file in (path, tmp_path / "journal.db.lines"):
        data = file.read_bytes()
        flipped(file, data.index(b"note 1"))
    kept = len(t.log) - 2
    report = salvage(path, tmp_path / "plain.db")
    assert f"m1: {kept} of {kept + 2} events kept" in report.text()
    assert [entry.event.data["text"] for entry in report.beyond["m1"]] == ["note 2"]
    asked = CliRunner().invoke(cli, ["journal", "salvage", str(path), str(target), "--confirm", "Eva"], input="y\n")
    assert asked.exit_code == 0, asked.output
    assert f"{kept} events are kept, then 1 are gone" in asked.output
    with closing(Journal(target)) as journal:
        last = journal.events("m1")[-1]
        assert last.data["text"] == "note 2" and "confirmed by Eva after a gap" in last.who


def _foul(t) -> dict:
    """The data of a foul that can follow at this table."""
    state, log = t.state, list(t.log)
    t.do(Foul(t.state.players[0], "x", "Ref", "none"))
    data = dict(t.log[-1].data)
    t.state, t.log[:] = state, log
    return data
