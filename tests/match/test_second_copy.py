"""The record's second copy when the disk fills up, or somebody removes files, while a match is played."""

from __future__ import annotations

import multiprocessing
import shutil
import time
from contextlib import ExitStack, closing

import pytest

from referee.commands.serving import locked_data_folder
from referee.errors import HeldElsewhere
from referee.events import Event
from referee.journal.recovery import copy_path, open_sound


def note(n: int) -> Event:
    return Event("foul", {"n": n}, "2026-01-01T00:00:00+00:00", "Ref", True, 3, n)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / "journal.db"


def numbers(entries) -> list[int]:
    return sorted(entry.seq for entry in entries)


def test_what_the_copy_missed_on_a_full_disk_it_has_when_there_is_room_again(path, monkeypatch):
    with closing(open_sound(path)[0]) as journal:
        journal.append("m", [note(1)])
        with monkeypatch.context() as full:

            def no_room(lines):
                raise OSError(28, "No space left on device")

            full.setattr(journal._copy, "append", no_room)
            journal.append("m", [note(2)])
            assert "No space left" in journal.problem
            journal.append("m", [note(3)])
        assert numbers(copy_path(path).entries()) == [1]
        journal.append("m", [note(4)])
        assert journal.problem is None and numbers(copy_path(path).entries()) == [1, 2, 3, 4]


def test_a_folder_that_is_removed_while_a_match_is_played_costs_no_event(path):
    with closing(open_sound(path)[0]) as journal:
        for n in (1, 2):
            journal.append("m", [note(n)])
        shutil.rmtree(path.parent)
        journal.append("m", [note(3)])
        journal.append("m", [note(4)])
        assert "was removed while the program runs" in journal.problem
    again, _ = open_sound(path)
    with closing(again):
        assert numbers(again.entries("m")) == [1, 2, 3, 4]


def test_a_copy_that_is_removed_is_written_anew(path):
    with closing(open_sound(path)[0]) as journal:
        journal.append("m", [note(1)])
        copy_path(path).path.unlink()
        journal.append("m", [note(2)])
        assert journal.problem is None and numbers(copy_path(path).entries()) == [1, 2]


def begin(folder, at_s: float, said) -> None:
    """Take the folder at that moment, say how it went, and keep it until told to end."""
    with ExitStack() as stack:
        time.sleep(max(0.0, at_s - time.monotonic()))
        try:
            stack.enter_context(locked_data_folder(folder))
            said.send("")
        except HeldElsewhere as error:
            said.send(str(error))
        said.recv()


def test_of_programs_that_start_at_the_same_moment_one_has_the_folder(tmp_path):
    fork, at_s = multiprocessing.get_context("fork"), time.monotonic() + 0.5
    lines, children = [], []
    for _ in range(6):
        mine, theirs = fork.Pipe()
        children.append(fork.Process(target=begin, args=(tmp_path / "data", at_s, theirs)))
        children[-1].start()
        lines.append(mine)
    said = [line.recv() for line in lines]
    for line, child in zip(lines, children, strict=True):
        line.send("end")
        child.join()
    assert said.count("") == 1
    assert all("is in use" in text and "\n" not in text for text in said if text)
