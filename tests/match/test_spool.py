"""A server that is slow, hangs or is gone: nobody waits, nothing is lost, and all is in order afterwards."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from referee.errors import HeldElsewhere, JournalDamaged, JournalUnwritable
from referee.events import Event
from referee.journal.journal import Journal
from referee.journal.lines import LineCopy
from referee.journal.recovery import open_server
from referee.journal.spool import SpooledJournal


def note(n: int) -> Event:
    return Event("foul", {"n": n}, f"2026-01-01T00:00:{n:02}+00:00")


class Gone(Journal):
    """A store that can be made to hang or to refuse."""

    def __init__(self, path) -> None:
        self.answers, self.refuses = threading.Event(), False
        self.answers.set()
        super().__init__(path)

    def append(self, *args, **named):
        self.answers.wait(20)
        if self.refuses:
            raise JournalUnwritable("the server is gone; nothing was recorded")
        return super().append(*args, **named)


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """A store that stands for the server's, and this machine's copy."""
    monkeypatch.setattr("referee.journal.spool.RETRY_S", 0.02)
    return Gone(tmp_path / "server.db"), LineCopy(tmp_path / "journal.lines")


def numbers(store: Journal, match_id: str = "m") -> list[int]:
    return [event.data["n"] for event in store.events(match_id)]


def delivered(record: SpooledJournal) -> None:
    with record._lock:
        assert record._lock.wait_for(lambda: not record._waiting, 10)


def test_while_the_server_answers_a_command_is_there_when_it_is_acknowledged(parts):
    store, copy = parts
    with closing(SpooledJournal(store, copy, "A")) as record:
        assert record.append("m", [note(1), note(2)], after=0) == [1, 2]
        delivered(record)
        assert numbers(store) == [1, 2] and store.matches("A") == ["m"] and record.problem is None


def test_a_hanging_server_keeps_nobody_waiting_and_gets_everything_in_order(parts, monkeypatch):
    monkeypatch.setattr("referee.journal.spool.LATE_S", 0.0)
    store, copy = parts
    with closing(SpooledJournal(store, copy, "A")) as record:
        store.answers.clear()
        for n in range(1, 6):
            assert record.append("m", [note(n)], after=n - 1) == [n]
        assert [e.data["n"] for e in record.events("m")] == [1, 2, 3, 4, 5]
        assert [e.event.data["n"] for e in copy.entries()] == [1, 2, 3, 4, 5]
        assert "does not answer; 5 events wait on this computer" in record.problem
        store.answers.set()
        delivered(record)
        assert numbers(store) == [1, 2, 3, 4, 5]
        assert record.problem is None


def test_what_comes_late_says_itself_when_it_happened(parts):
    store, copy = parts
    with closing(SpooledJournal(store, copy, "A")) as record:
        store.refuses = True
        record.append("m", [note(1)])
        with record._lock:
            assert record._lock.wait_for(lambda: record._fault, 10)
        assert "gone; 1 event waits on this computer" in record.problem
        store.refuses = False
        delivered(record)
        assert store.events("m")[0].at == note(1).at
        assert record.problem is None


def test_what_a_killed_program_had_not_handed_on_the_next_one_does(parts):
    store, copy = parts
    first = SpooledJournal(store, copy, "A")
    first.append("m", [note(1)])
    delivered(first)
    store.refuses = True
    first.append("m", [note(2), note(3)])
    first._closing = True  # as if killed
    with first._lock:
        first._lock.notify_all()
    first._thread.join()
    store.refuses = False
    with closing(SpooledJournal(store, copy, "A")) as again:
        assert [e.data["n"] for e in again.events("m")] == [1, 2, 3]
        delivered(again)
        assert numbers(store) == [1, 2, 3]


def test_a_new_machine_gets_a_copy_of_what_the_server_has(parts):
    store, copy = parts
    store.append("m", [note(1), note(2)], table="A")
    store.append("other", [note(9)], table="B")
    with closing(SpooledJournal(store, copy, "A")) as record:
        assert record.matches() == ["m"]
        assert [entry.seq for entry in copy.entries()] == [1, 2]


def test_two_stories_of_one_match_are_refused(parts, tmp_path):
    store, copy = parts
    with closing(Journal(tmp_path / "elsewhere.db", copy=copy)) as elsewhere:
        elsewhere.append("m", [note(7), note(8)])
    store.append("m", [note(1)], table="A")
    with closing(store), pytest.raises(JournalDamaged, match="two ways"):
        SpooledJournal(store, copy, "A")


def test_a_full_disk_refuses_the_command(parts, monkeypatch):
    store, copy = parts
    with closing(SpooledJournal(store, copy, "A")) as record:

        def full(lines):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(copy, "append", full)
        with pytest.raises(JournalUnwritable, match="nothing was recorded"):
            record.append("m", [note(1)])
        assert record.events("m") == []


def test_a_torn_line_of_the_copy_costs_that_line_alone(tmp_path):
    copy = LineCopy(tmp_path / "lines")
    with closing(Journal(tmp_path / "a.db", copy=copy)) as journal:
        journal.append("m", [note(1), note(2)])
        copy.path.write_bytes(copy.path.read_bytes()[:-20])
        journal.append("m", [note(3)])
    assert [entry.seq for entry in copy.entries()] == [1, 3]


def test_a_table_on_a_server_is_one_programs_and_the_second_is_told_whose(postgres, tmp_path):
    url = postgres.fresh_url()
    with closing(open_server(url, "A", tmp_path / "a.lines")) as first:
        with pytest.raises(HeldElsewhere, match=r"table 'A' .* in use: process \d+ on"):
            open_server(url, "A", tmp_path / "b.lines")
        with closing(open_server(url, "A-B", tmp_path / "c.lines")) as other:
            other.append("A-B-20260101-000000-1", [note(1)])
            delivered(other)
        assert first.matches() == []
    with closing(open_server(url, "A", tmp_path / "a.lines")) as again:
        assert again.matches() == []


def test_a_stopped_server_loses_nothing(postgres, tmp_path, monkeypatch):
    monkeypatch.setattr("referee.journal.spool.RETRY_S", 0.05)
    url = postgres.fresh_url()
    with closing(open_server(url, "A", tmp_path / "a.lines")) as record:
        record.append("m", [note(1)])
        delivered(record)
        postgres.stop("immediate")
        for n in range(2, 5):
            record.append("m", [note(n)])
        postgres.start()
        delivered(record)
    with closing(Journal(url)) as store:
        assert numbers(store) == [1, 2, 3, 4] and store.verify() == {"m": 4}
