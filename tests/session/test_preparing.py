"""The first start on a machine: the board does not wait for compilers, the first judgement does."""

import errno
import threading

import pytest

from referee.commands import play, preparing
from referee.commands.preparing import Preparation
from referee.errors import CannotSee


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
    monkeypatch.setattr(preparing, "PROGRAM", "print('3 100'); raise SystemExit(1)")
    preparation = Preparation()
    preparation.wait()
    preparation.close()
    assert "first start on this machine" in capsys.readouterr().out


def test_who_waits_while_the_program_ends_is_told(not_compiled, monkeypatch):
    monkeypatch.setattr(preparing, "PROGRAM", "import time; time.sleep(3600)")
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
