"""The journal, the same tests on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
import sqlalchemy as sa

from referee.errors import JournalDamaged, JournalUnwritable
from referee.events import Event
from referee.journal.chain import GENESIS, line_of, parse_line
from referee.journal.database import url_of
from referee.journal.journal import EVENTS, HEADS, Journal
from referee.match.evolve import fold


def note(n: int) -> Event:
    data = {"n": n, "text": "Ümlaut – „quoted“ 木"}
    return Event("foul", data, "2026-01-01T00:00:00+00:00", "Ref", True, 3, n)


def tamper(store: str, statement: sa.Executable) -> None:
    engine = sa.create_engine(url_of(store))
    with engine.begin() as connection:
        connection.execute(statement)
    engine.dispose()


def test_a_line_proves_itself():
    line, digest = line_of("m", 1, note(1), GENESIS)
    entry = parse_line(line)
    assert (entry.event, entry.hash, entry.prev) == (note(1), digest, GENESIS)
    assert (entry.match_id, entry.seq) == ("m", 1)
    for broken in (line.replace("木", "水"), line[:-1], line[1:], "", line.replace('"seq":1', '"seq":2')):
        with pytest.raises(ValueError):
            parse_line(broken)


def test_what_goes_in_comes_out(store):
    with closing(Journal(store)) as journal:
        assert journal.append("m", [note(1), note(2)]) == [1, 2]
        assert journal.append("m", [note(3)]) == [3]
        assert journal.events("m") == [note(1), note(2), note(3)]
        assert journal.events("unknown") == []
        assert journal.head("m")[0] == 3
    with closing(Journal(store)) as again:
        assert again.events("m") == [note(1), note(2), note(3)]
        assert again.verify() == {"m": 3}


def test_a_whole_match_comes_back_to_the_same_state(table, store):
    t = table()
    t.play_on(lambda s: min(s.seats.values()))
    with closing(Journal(store)) as journal:
        for event in t.log:
            journal.append("m1", [event])
        assert fold(journal.events("m1")) == t.state


def test_many_matches_live_in_one_store(store):
    with closing(Journal(store)) as journal:
        for n in range(3):
            journal.append("blue", [note(n)])
            journal.append("amber", [note(10 + n)])
        assert journal.matches() == ["blue", "amber"]
        assert journal.verify() == {"amber": 3, "blue": 3}
        assert [e.data["n"] for e in journal.events("blue")] == [0, 1, 2]


def test_many_tables_write_at_once(store):
    """Eight tables, each its own program with its own connection."""
    Journal(store).close()

    def table(name: str) -> None:
        with closing(Journal(store)) as journal:
            for n in range(10):
                journal.append(name, [note(n)], after=n)

    threads = [threading.Thread(target=table, args=(f"table {i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with closing(Journal(store)) as journal:
        assert journal.verify() == {f"table {i}": 10 for i in range(8)}


def test_who_reads_while_another_writes_sees_no_damage(store):
    Journal(store).close()
    done = threading.Event()

    def write() -> None:
        with closing(Journal(store)) as journal:
            for n in range(100):
                journal.append("m", [note(n), note(n)])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    with closing(Journal(store)) as journal:
        seen = [len(journal.events("m"))]
        while not done.is_set():
            seen.append(len(journal.events("m")))
    writer.join()
    assert seen == sorted(seen)
    assert {n % 2 for n in seen} == {0}


def test_two_programs_cannot_both_write_one_match(store):
    with closing(Journal(store)) as mine, closing(Journal(store)) as other:
        mine.append("m", [note(1)], after=0)
        with pytest.raises(JournalUnwritable, match="another program"):
            other.append("m", [note(2)], after=0)
        other.append("m", [note(2)], after=1)
        assert mine.events("m") == [note(1), note(2)]


def test_a_command_is_stored_as_a_whole_or_not_at_all(store):
    with closing(Journal(store)) as journal:
        journal.append("m", [note(1)])
        for bad in (float("nan"), "\ud800", object()):
            with pytest.raises(JournalUnwritable, match="foul cannot be recorded"):
                journal.append("m", [note(2), Event("foul", {"n": bad})])
        assert journal.events("m") == [note(1)]
        journal.append("m", [note(2)])
        assert journal.verify() == {"m": 2}


HERE = EVENTS.c.seq == 3
CHANGED = sa.func.replace(EVENTS.c.line, '"n":3', '"n":4')
OTHERS, ALIEN = line_of("m", 3, note(9), GENESIS)[0], line_of("x", 3, note(9), GENESIS)[0]
TAMPERED = [
    (sa.update(EVENTS).where(HERE).values(line=CHANGED), "event 3 is damaged"),
    (sa.update(EVENTS).where(HERE).values(line="{}"), "event 3 is damaged"),
    (sa.update(EVENTS).where(HERE).values(line=OTHERS), "event 3 does not follow"),
    (sa.update(EVENTS).where(HERE).values(line=ALIEN), "event 3 belongs to match x"),
    (sa.delete(EVENTS).where(HERE), "event 3 is missing"),
    (sa.delete(EVENTS).where(EVENTS.c.seq >= 3), "event 3 is missing: 5 were recorded"),
    (sa.delete(EVENTS), "event 1 is missing"),
    (sa.update(HEADS).values(hash=GENESIS), "event 6 is missing"),
    (sa.delete(HEADS), "event 6 is missing"),
]


@pytest.mark.parametrize("statement, message", TAMPERED, ids=range(len(TAMPERED)))
def test_tampering_is_found_and_named(store, statement, message):
    with closing(Journal(store)) as journal:
        for n in range(1, 6):
            journal.append("m", [note(n)])
        journal.append("sound", [note(1)])
    tamper(store, statement)
    with closing(Journal(store)) as journal, pytest.raises(JournalDamaged, match=message) as caught:
        journal.verify()
    assert "journal.db" in str(caught.value) or "postgres" in str(caught.value)


def test_acknowledged_events_outlive_a_crash_of_the_postgresql_server(postgres):
    url = postgres.fresh_url()
    with closing(Journal(url)) as journal:
        for n in range(20):
            journal.append("m", [note(n)])
        postgres.stop("immediate")  # as if its machine had lost power
        try:
            with pytest.raises(JournalUnwritable, match="nothing was recorded"):
                journal.append("m", [note(20)])
        finally:
            postgres.start()
        assert journal.append("m", [note(20)], after=20) == [21]
        assert journal.verify() == {"m": 21}


def test_a_server_that_is_not_there_is_one_clear_line():
    with pytest.raises(JournalUnwritable, match="could not be opened") as caught:
        Journal("postgresql://nobody:secret@/nothing?host=/nowhere")
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
