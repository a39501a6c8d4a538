"""The first start on a machine: the board does not wait for compilers, the first judgement does."""

import errno
import threading

import pytest

from referee.commands import play, preparing
from referee.commands.preparing import Preparation
from referee.errors import CannotSee

SLEEPS = "import time; time.sleep(3600) # {backwards}"


@pytest.fixture
def not_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(preparing, "all_compiled", lambda: tmp_path / "all")
    return tmp_path / "all"


def test_when_all_is_compiled_no_process_is_started(not_compiled, capsys):
    not_compiled.touch()
    preparation = Preparation()
    preparation.wait()
    preparation.close()
    assert capsys.readouterr().out == ""


def test_a_compiling_process_that_dies_is_no_reason_not_to_judge(not_compiled, monkeypatch, capsys):
    monkeypatch.setattr(preparing, "PROGRAM", "print('3 100'); raise SystemExit(1) # {backwards}")
    preparation = Preparation()
    preparation.wait()
    preparation.close()
    assert "first start on this machine" in capsys.readouterr().out


def test_who_waits_while_the_program_ends_is_told(not_compiled, monkeypatch):
    monkeypatch.setattr(preparing, "PROGRAM", SLEEPS)
    preparation, said = Preparation(), []

    def judge():
        with pytest.raises(CannotSee, match="before it was ready"):
            preparation.wait()
        said.append("told")

    waiting = threading.Thread(target=judge)
    waiting.start()
    preparation.close()
    waiting.join()
    assert said == ["told"]


def test_judging_begins_when_both_have_compiled_what_it_needs_though_they_go_on(not_compiled, monkeypatch):
    shared = "print(int({backwards}), 2, flush=True); " + SLEEPS
    monkeypatch.setattr(preparing, "PROGRAM", shared)
    preparation, alarms = Preparation(), []
    preparation.tell(lambda code, text: alarms.append((code, text)))
    preparation.wait()
    assert preparation.over and alarms[-1] == ("preparing", None)
    preparation.close()


def test_the_console_says_that_the_first_verdict_will_wait(not_compiled, monkeypatch):
    monkeypatch.setattr(preparing, "PROGRAM", SLEEPS)
    preparation, alarms = Preparation(), []
    preparation.tell(lambda code, text: alarms.append((code, text)))
    assert alarms == [("preparing", "")] and not preparation.over
    preparation.close()
    assert alarms[-1] == ("preparing", None)


def test_processes_share_the_work_from_both_ends(monkeypatch, capsys, not_compiled):
    prepared = []
    ways = [type("Way", (), {"prepare": lambda self, i=i: prepared.append(i)})() for i in range(5)]
    monkeypatch.setattr(preparing, "_all_ways", lambda: (ways, 3))
    monkeypatch.setattr(preparing.gc, "disable", lambda: None)
    preparing.compile_all()
    preparing.compile_all(backwards=True)
    assert prepared == [0, 1, 2, 3, 4, 2, 1, 0, 3, 4]
    assert capsys.readouterr().out.split("\n")[:3] == ["0 3", "1 3", "2 3"] and not_compiled.exists()


def test_a_taken_port_is_told_and_another_found(monkeypatch, capsys):
    def serve(app, host, port, tls):
        if port:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        return "served"

    monkeypatch.setattr(play, "serve", serve)
    assert play._served(None, "127.0.0.1", None, None) == "served"
    assert "port 8000 is taken" in capsys.readouterr().out
    with pytest.raises(OSError):  # who asks for a port gets that or none
        play._served(None, "127.0.0.1", 8000, None)
