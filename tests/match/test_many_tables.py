"""An event with many tables: one store, one program a table, each going on with its own match."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from unittest.mock import MagicMock

import click
import psycopg
import pytest

from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.commands.serving import open_record
from referee.devices.ports import SystemClock
from referee.errors import FolderUnusable, HeldElsewhere, JournalDamaged, RefereeError
from referee.events import Event
from referee.journal.file_lock import LOCK, lock_file, usable_folder
from referee.journal.journal import Journal
from referee.match.commands import DrawCard, Ready
from referee.match.house_rules import HouseRules
from referee.session.session import Equipment, Session


def equipment(journal, folder, table="", clock=None):
    """What one table's program works with, its devices and eyes left out."""
    return Equipment(
        journal=journal,
        deck=builtin_deck(),
        piece_set=builtin_piece_set(),
        observer=MagicMock(),
        gate=MagicMock(),
        camera=MagicMock(),
        box=MagicMock(),
        clock=clock or SystemClock(),
        data_dir=folder,
        simulated=True,
        table=table,
    )


def program(journal, folder, table, clock=None):
    """The shell of one table's program."""
    return Session(equipment(journal, folder, table, clock))


def test_each_table_goes_on_with_its_own_match(store, tmp_path):
    with closing(Journal(store)) as one, closing(Journal(store)) as two:
        amber, blue = program(one, tmp_path, "amber"), program(two, tmp_path, "blue")
        amber.create_match(["Ann", "Ben"])
        amber.command(DrawCard())
        assert blue.state.phase == "new"
        blue.create_match(["Cem", "Dia", "Eva"])
        blue.command(DrawCard())
        blue.command(Ready())
    with closing(Journal(store)) as journal:
        again = {table: program(journal, tmp_path, table).state for table in ("amber", "blue", "new")}
        assert {table: state.phase for table, state in again.items()} == {
            "amber": "card_drawn",
            "blue": "ready",
            "new": "new",
        }
        assert again["blue"].players == ("Cem", "Dia", "Eva")
        assert len(journal.matches()) == 2
        assert sum(journal.verify().values()) == 5


def test_a_relative_data_folder_is_resolved_once_at_the_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(Journal("journal.db")) as journal:
        session = program(journal, Path("data"), "")
        monkeypatch.chdir("/")
        assert session.data_dir == tmp_path / "data"


def test_a_second_program_on_a_data_folder_is_told_who_holds_it(tmp_path):
    told = pytest.raises(HeldElsewhere, match=f"the data folder is in use: process {os.getpid()} on")
    with lock_file(tmp_path / LOCK, "the data folder"), told, lock_file(tmp_path / LOCK, "the data folder"):
        pass
    with lock_file(tmp_path / LOCK, "the data folder"):
        pass


@pytest.mark.parametrize("path", ["/proc/none", "file/below", "\0", "x" * 5000])
def test_a_data_folder_that_cannot_be_is_refused_in_one_line(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    with pytest.raises(FolderUnusable) as refused:
        usable_folder(Path(path))
    assert "\n" not in str(refused.value)


def begun_at_once(url: str, tables: int) -> list[str]:
    """So many programs open the store at the same moment and write a first event; what went wrong."""
    gate, wrong = threading.Barrier(tables), []

    def start(n: int) -> None:
        gate.wait()
        try:
            with closing(Journal(url, hold=f"table {n}")) as journal:
                journal.append(f"match {n}", [Event("foul", {})], table=f"table {n}")
        except RefereeError as error:
            wrong.append(f"table {n}: {error}")

    threads = [threading.Thread(target=start, args=(n,)) for n in range(tables)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_tables_that_start_at_the_same_moment_make_an_empty_server_ready_once(postgres):
    for _ in range(2):
        url = postgres.fresh_url()
        assert begun_at_once(url, 6) == []
        with closing(Journal(url)) as journal:
            assert sorted(journal.verify()) == [f"match {n}" for n in range(6)]


def test_tables_that_start_at_the_same_moment_take_over_an_old_servers_matches_once(postgres):
    for _ in range(2):
        url = postgres.fresh_url()
        with closing(Journal(url)) as journal:
            for n in range(3):
                journal.append(f"old {n}", [Event("foul", {})])
        with psycopg.connect(url) as connection:
            connection.execute("DROP TABLE matches")
        assert begun_at_once(url, 6) == []
        with closing(Journal(url)) as journal:
            assert journal.matches()[:3] == [f"old {n}" for n in range(3)]


# --- The wall clock


class SteppedClock(SystemClock):
    """A machine whose time of day has been set by so much; its monotonic clock runs on unless it booted anew."""

    def __init__(self, set_by_s: float = 0.0, boot: str = "boot 1", booted_s: float = 0.0) -> None:
        self.set_by_s, self.boot, self.booted_s = set_by_s, boot, booted_s

    def utc(self):
        return super().utc() + timedelta(seconds=self.set_by_s)

    def now_s(self) -> float:
        return super().now_s() - self.booted_s

    def boot_id(self) -> str:
        return self.boot


def test_the_match_begun_last_goes_on_whatever_the_time_of_day_was(store, tmp_path):
    with closing(Journal(store)) as journal:
        program(journal, tmp_path, "A").create_match(["Ann", "Ben"])
        program(journal, tmp_path, "A", SteppedClock(-7200)).create_match(["Cem", "Dia"])
        assert program(journal, tmp_path, "A").state.players == ("Cem", "Dia")


def since_go_s(session) -> float:
    """What the session makes of the time since the go."""
    return session.clock.now_s() + session.shift_s - session.state.duel.go_at_s


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
def test_a_duels_time_does_not_depend_on_the_time_of_day(store, tmp_path, step_s):
    with closing(Journal(store)) as journal:
        before = program(journal, tmp_path, "A", SteppedClock())
        before.create_match(["Ann", "Ben"], rules=HouseRules(earliest_stop_s=0.0))
        for command in (DrawCard(), Ready()):
            before.command(command)
        before.go()
        after = program(journal, tmp_path, "A", SteppedClock(step_s))
        assert after.state.phase == "building" and 0 <= since_go_s(after) < 60
        after.press("A")
        assert 0 <= after.state.duel.presses[-1].at_s - after.state.duel.go_at_s < 60


def test_after_a_reboot_the_time_of_day_is_all_there_is_and_that_is_said(store, tmp_path):
    with closing(Journal(store)) as journal:
        before = program(journal, tmp_path, "A", SteppedClock())
        before.create_match(["Ann", "Ben"])
        for command in (DrawCard(), Ready()):
            before.command(command)
        before.go()
        booted = SteppedClock(100.0, "boot 2", SystemClock().now_s())
        after = program(journal, tmp_path, "A", booted)
        assert 100 <= since_go_s(after) < 160
        assert [alarm["code"] for alarm in after.snapshot()["alarms"]] == ["restarted"]


def test_a_table_never_takes_up_the_match_of_one_whose_name_begins_alike(store, tmp_path):
    with closing(Journal(store)) as journal:
        program(journal, tmp_path, "A-B").create_match(["Ann", "Ben"])
        assert program(journal, tmp_path, "A").state.phase == "new"
        assert program(journal, tmp_path, "").state.phase == "new"
        assert program(journal, tmp_path, "A-B").state.players == ("Ann", "Ben")


def test_a_store_of_an_older_version_keeps_its_tables_and_their_order(tmp_path):
    with closing(Journal(tmp_path / "old.db")) as journal:
        for match_id in ("A-B-20260102-100000-1", "20260101-100000-1", "A-20260103-100000-1", "A-20260103-110000-2"):
            journal.append(match_id, [Event("foul", {})])
    with sqlite3.connect(tmp_path / "old.db") as connection:
        connection.execute("DROP TABLE matches")
    connection.close()
    with closing(Journal(tmp_path / "old.db")) as journal:
        assert journal.matches("A") == ["A-20260103-100000-1", "A-20260103-110000-2"]
        assert journal.matches("A-B") == ["A-B-20260102-100000-1"] and journal.matches("") == ["20260101-100000-1"]


def test_a_match_that_changed_tables_in_the_file_is_noticed(tmp_path):
    with closing(Journal(tmp_path / "j.db")) as journal:
        journal.append("m", [Event("foul", {})], table="A")
    with sqlite3.connect(tmp_path / "j.db") as connection:
        connection.execute("UPDATE matches SET table_name = 'B'")
    connection.close()
    with closing(Journal(tmp_path / "j.db")) as journal, pytest.raises(JournalDamaged, match="list of matches"):
        journal.matches("B")


def test_a_server_needs_a_tables_name(tmp_path):
    with pytest.raises(click.UsageError, match="--table"), open_record("postgresql://nowhere/x", tmp_path, ""):
        pass
